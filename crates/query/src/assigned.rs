//! Checks that each position can be evaluated without the positions before it. Plans, the code that engines run on many positions
//! at once, require this.
//!
//! A query passes if it assigns every variable before it reads the variable, no matter at which position the evaluation begins. No
//! value is then kept from one position to the next. A query that fails the check can run only on an engine that visits the
//! positions of a game in order.

use super::tree::{
    Assigned, ConditionKeyword, ConditionOp as C, Control, GameCondition, GameNumber, GamePosition,
    GameSquares, GameText, Keyword, Kind, Life, Node, NumberKeyword, NumberOp as N, PositionOp as P, Ref,
    SquaresOp as S, TextOp as T, TypedQuery, VarId, Written,
};
use orbit_core::diagnostic::{Diagnostic, Span};

/// The maximum number of variables. A set of variables is a 64-bit word with one bit for each variable.
const VARS_MAX: usize = 64;

/// The sets of variables that are assigned after a filter has been evaluated. Bit k represents variable k.
#[derive(Clone, Copy)]
struct After {
    /// The variables that are assigned after the evaluation if the filter matched.
    matched: u64,
    /// The variables that are assigned after the evaluation, whether or not the filter matched.
    always: u64,
}

/// Checks that a query evaluates each position independently.
///
/// # Errors
///
/// Returns an error about the first filter that keeps, or may keep, a value from one position to the next.
pub(super) fn check(query: &TypedQuery) -> Result<(), Diagnostic> {
    let whole = query.body.span();
    if let Some(var) = query.vars.iter().find(|var| var.life != Life::Game) {
        return Err(keeps(whole, &format!("the persistent variable `{}`", var.name)));
    }
    if let Some(dictionary) = query.dictionaries.first() {
        return Err(keeps(whole, &format!("the dictionary `{}`", dictionary.name)));
    }
    if query.vars.len() > VARS_MAX {
        return Err(Diagnostic::error(
            whole,
            format!("the query has {} variables", query.vars.len()),
            format!("plans have at most {VARS_MAX}"),
        ));
    }
    visit(query.body.node(), 0, AssignmentRules { query, shares: false }).map(|_| ())
}

/// Returns true if a query assigns every variable before it reads the variable, no matter at which position the evaluation begins.
/// Unlike in [`check`], filters that are evaluated at other positions may share variables with the filters around them.
pub(super) fn assigns_first(query: &TypedQuery) -> bool {
    query.vars.len() <= VARS_MAX
        && visit(query.body.node(), 0, AssignmentRules { query, shares: true }).is_ok()
}

#[derive(Clone, Copy)]
struct AssignmentRules<'q> {
    query: &'q TypedQuery,
    /// True if a filter that is evaluated at other positions, such as the operand of `find`, may share variables with the filters
    /// around it.
    shares: bool,
}

fn keeps(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error(
        span,
        format!("{what} keeps values from one position to the next"),
        "evaluated in order",
    )
}

/// Returns the name, for a message, of a filter that reads or changes a value that other filters set. Returns `None` for all other
/// filters.
fn state_of(node: Ref<Written>) -> Option<&'static str> {
    Some(match node {
        Ref::Condition(f) => match f.op() {
            C::Game(GameCondition::SetSlice { .. }) => "a part of a variable",
            C::Game(GameCondition::AssignSome { .. }) => "`=?`",
            C::Game(GameCondition::Unbind(_)) => "`unbind`",
            C::Game(GameCondition::IsBound { .. }) => "`isbound`",
            C::Game(GameCondition::Loop(_)) => "`loop`",
            C::Game(GameCondition::While { .. } | GameCondition::WhileMatch { .. }) => "`while`",
            C::Game(GameCondition::WriteFile { .. }) => "`writefile`",
            _ => return None,
        },
        Ref::Number(f) if let N::Game(GameNumber::GroupStart(_)) = f.op() => "a group of `~~`",
        Ref::Text(f) => match f.op() {
            T::Game(GameText::Group(_)) => "a group of `~~`",
            T::Game(GameText::ReadFile(_)) => "`readfile`",
            _ => return None,
        },
        _ => return None,
    })
}

fn bit(var: VarId) -> u64 {
    1 << var.0
}

fn same(set: u64) -> After {
    After { matched: set, always: set }
}

fn visit(node: Ref<Written>, before: u64, rules: AssignmentRules<'_>) -> Result<After, Diagnostic> {
    if let Some(what) = state_of(node) {
        return Err(keeps(*node.mark(), what));
    }
    match node {
        Ref::Condition(f) => match f.op() {
            C::Assign(var, value) => {
                let always =
                    |value: After, set: u64| After { matched: value.always | bit(*var), always: set };
                return Ok(match value {
                    Assigned::Squares(f) => {
                        let value = visit(f.node(), before, rules)?;
                        always(value, value.always | bit(*var))
                    }
                    Assigned::Number(_) | Assigned::Text(_) | Assigned::Position(_) => {
                        let value = operands(node, before, rules)?;
                        always(value, value.always)
                    }
                });
            }
            C::Braces(all) => return sequence(all, before, rules),
            C::And(a, b) => return sequence([a, b], before, rules),
            C::Or(a, b) => {
                let left = visit(a.node(), before, rules)?;
                let right = visit(b.node(), left.always, rules)?;
                return Ok(After { matched: left.matched & right.matched, always: left.always });
            }
            C::Not(of) => return Ok(same(visit(of.node(), before, rules)?.always)),
            C::If { condition, then, other: Some(other) } => {
                return branches([condition.node(), then.node(), other.node()], before, rules);
            }
            C::If { condition, then, other: None } => {
                let condition = visit(condition.node(), before, rules)?;
                visit(then.node(), condition.matched, rules)?;
                return Ok(same(condition.always));
            }
            C::SquareAll { var, domain, body } => {
                return square_loop(*var, [domain.node(), body.node()], before, rules);
            }
            C::Game(op) => return game(op, node, before, rules),
            C::Form(ConditionKeyword::Transform(_, of)) => return transform(of.node(), before, rules),
            _ => {}
        },
        Ref::Squares(f) => match f.op() {
            S::Game(GameSquares::Piece(var)) => return read(*var, f.span(), before, rules),
            S::Game(GameSquares::PieceLoop { var, domain, body }) => {
                return square_loop(*var, [domain.node(), body.node()], before, rules);
            }
            S::Game(GameSquares::Elsewhere(_)) => return apart(node, before, rules),
            S::Game(GameSquares::Move(_)) => return apart(node, before, rules),
            S::SquareLoop { var, domain, body } => {
                return square_loop(*var, [domain.node(), body.node()], before, rules);
            }
            S::Control(of) => return control(of, f.span(), before, rules),
            S::Form(Keyword::Transform(_, of)) => return transform(of.node(), before, rules),
            _ => {}
        },
        Ref::Number(f) => match f.op() {
            N::Find { of, .. } => return find(of, f.span(), before, rules),
            N::Game(GameNumber::Elsewhere(_)) => return apart(node, before, rules),
            N::Game(
                GameNumber::Echo(_)
                | GameNumber::Line(_)
                | GameNumber::Path(_)
                | GameNumber::CountMoves { .. }
                | GameNumber::Move(_),
            ) => return apart(node, before, rules),
            N::Control(of) => return control(of, f.span(), before, rules),
            N::Form(NumberKeyword::Counted(_, _, of)) => return transform(of.node(), before, rules),
            N::Form(NumberKeyword::Number(Keyword::Transform(_, of))) => {
                return transform(of.node(), before, rules);
            }
            _ => {}
        },
        Ref::Text(f) => match f.op() {
            T::Control(of) => return control(of, f.span(), before, rules),
            T::Game(GameText::Elsewhere(_)) => return apart(node, before, rules),
            _ => {}
        },
        Ref::Position(f) => match f.op() {
            P::Find { of, .. } => return find(of, f.span(), before, rules),
            P::Control(of) => return control(of, f.span(), before, rules),
            P::Game(GamePosition::Elsewhere(_)) => return apart(node, before, rules),
            P::Game(GamePosition::LineEnd(_) | GamePosition::PathEnd(_)) => {
                return apart(node, before, rules);
            }
            P::Game(_) | P::Form(_) => {}
        },
    }
    operands(node, before, rules)
}

/// Checks the operands of a filter for variables that are read before they are assigned. All operands are evaluated in any case,
/// one after the other, so each can rely on variables that earlier ones assign.
fn operands(node: Ref<Written>, before: u64, rules: AssignmentRules<'_>) -> Result<After, Diagnostic> {
    let mut set = before;
    for operand in node.children() {
        set = visit(operand, set, rules)?.always;
    }
    Ok(same(set))
}

/// Checks a sequence of filters for variables that are read before they are assigned. Each filter is evaluated only if all filters
/// before it match, so it can rely on variables that these filters assign.
fn sequence<'a>(
    filters: impl IntoIterator<Item = &'a Node>,
    before: u64,
    rules: AssignmentRules<'_>,
) -> Result<After, Diagnostic> {
    let mut after: Option<After> = None;
    for filter in filters {
        let before = after.map_or(before, |after| after.matched);
        let next = visit(filter.node(), before, rules)?;
        // The first filter is always evaluated.
        after =
            Some(After { matched: next.matched, always: after.map_or(next.always, |after| after.always) });
    }
    Ok(after.unwrap_or(same(before)))
}

fn branches(
    [condition, then, other]: [Ref<Written>; 3],
    before: u64,
    rules: AssignmentRules<'_>,
) -> Result<After, Diagnostic> {
    let condition = visit(condition, before, rules)?;
    let then = visit(then, condition.matched, rules)?;
    let other = visit(other, condition.always, rules)?;
    Ok(After { matched: then.matched & other.matched, always: then.always & other.always })
}

fn square_loop(
    var: VarId,
    [domain, body]: [Ref<Written>; 2],
    before: u64,
    rules: AssignmentRules<'_>,
) -> Result<After, Diagnostic> {
    let domain = visit(domain, before, rules)?.always;
    visit(body, domain | bit(var), rules)?;
    Ok(same(domain))
}

/// Checks the operand of a transform for variables that are read before they are assigned. A transform may have no copies
/// (transformed versions of its operand) at all, so variables assigned inside it are not known to be assigned afterwards.
fn transform(of: Ref<Written>, before: u64, rules: AssignmentRules<'_>) -> Result<After, Diagnostic> {
    visit(of, before, rules).map(|_| same(before))
}

/// Checks a condition of the game language (moves, other positions, stored values) for variables that are read before they are
/// assigned. Returns the variables that are assigned after the condition.
fn game(
    op: &GameCondition<Written>,
    node: Ref<Written>,
    before: u64,
    rules: AssignmentRules<'_>,
) -> Result<After, Diagnostic> {
    match op {
        GameCondition::BindPiece { var, of } => {
            let set = visit(of.node(), before, rules)?.always;
            Ok(After { matched: set | bit(*var), always: set })
        }
        GameCondition::PieceAll { var, domain, body } => {
            square_loop(*var, [domain.node(), body.node()], before, rules)
        }
        GameCondition::At { .. }
        | GameCondition::Edge { .. }
        | GameCondition::Move(_)
        | GameCondition::Echo(_) => apart(node, before, rules),
        _ => operands(node, before, rules),
    }
}

/// Checks a filter whose operands are evaluated at other positions, any number of times and in any order. If `rules.shares` is
/// false, the operands must not share variables with the filters around them, and must not keep a value.
fn apart(node: Ref<Written>, before: u64, rules: AssignmentRules<'_>) -> Result<After, Diagnostic> {
    if rules.shares {
        let echo = match node {
            Ref::Condition(f) if let C::Game(GameCondition::Echo(echo)) = f.op() => {
                [echo.source, echo.target]
            }
            Ref::Number(f) if let N::Game(GameNumber::Echo(echo)) = f.op() => [echo.source, echo.target],
            _ => return inside(node, before, rules),
        };
        return inside(node, before | bit(echo[0]) | bit(echo[1]), rules).map(|_| same(before));
    }
    let uses = |node: Ref<Written>| match node {
        Ref::Condition(f) => {
            matches!(
                f.op(),
                C::Assign(..) | C::Game(GameCondition::BindPiece { .. } | GameCondition::Echo(_))
            )
        }
        Ref::Squares(f) => {
            matches!(f.op(), S::Control(Control::Var(_)) | S::Game(GameSquares::Piece(_)))
        }
        Ref::Number(f) => {
            matches!(f.op(), N::Control(Control::Var(_)) | N::Game(GameNumber::Echo(_)))
        }
        Ref::Text(f) => matches!(f.op(), T::Control(Control::Var(_))),
        Ref::Position(f) => matches!(f.op(), P::Control(Control::Var(_))),
    };
    if node.any(&mut |node| uses(node) || state_of(node).is_some()) {
        return Err(keeps(*node.mark(), "a variable at other positions of the game"));
    }
    Ok(same(before))
}

/// Checks the operands of a filter for variables that are read before they are assigned. The operands may be evaluated in any
/// order, so none of them can rely on a variable that another one assigns.
fn inside(node: Ref<Written>, before: u64, rules: AssignmentRules<'_>) -> Result<After, Diagnostic> {
    node.children().into_iter().try_for_each(|operand| visit(operand, before, rules).map(|_| ()))?;
    Ok(same(before))
}

/// Checks that a variable is assigned before the query reads it at `span`.
fn read(var: VarId, span: Span, before: u64, rules: AssignmentRules<'_>) -> Result<After, Diagnostic> {
    if before & bit(var) != 0 {
        return Ok(same(before));
    }
    let name = &rules.query.vars[var.0 as usize].name;
    Err(Diagnostic::error(
        span,
        format!("`{name}` may be read before it is assigned"),
        "not assigned on every way to here",
    )
    .help("it may keep its value from one position to the next"))
}

fn control<F: Kind<Written>>(
    of: &Control<Written, F>,
    span: Span,
    before: u64,
    rules: AssignmentRules<'_>,
) -> Result<After, Diagnostic> {
    match of {
        Control::Var(var) => read(*var, span, before, rules),
        Control::If { condition, then, other } => {
            branches([condition.node(), then.node(), other.node()], before, rules)
        }
        Control::Braces { first, last } => {
            let first = sequence(first, before, rules)?;
            let last = visit(last.node(), first.matched, rules)?;
            Ok(After { matched: last.matched, always: first.always })
        }
    }
}

fn find(of: &Node, span: Span, before: u64, rules: AssignmentRules<'_>) -> Result<After, Diagnostic> {
    if rules.shares {
        return visit(of.node(), before, rules).map(|_| same(before));
    }
    if let Some(var) = shared_variable(of, before) {
        let name = &rules.query.vars[var.0 as usize].name;
        return Err(Diagnostic::error(
            span,
            format!("`{name}` is used both inside and outside of `find`"),
            "not supported yet",
        )
        .help("filters inside `find` see other positions; give them variables of their own"));
    }
    visit(of.node(), 0, rules).map(|_| same(before))
}

/// Returns a variable that occurs in `filter` and already has a value before the filter is evaluated.
fn shared_variable(filter: &Node, before: u64) -> Option<VarId> {
    let mut shared = None;
    filter.walk(&mut |node| {
        let var = match node {
            Ref::Condition(f) => match f.op() {
                C::Assign(var, _) | C::SquareAll { var, .. } => Some(*var),
                _ => None,
            },
            Ref::Squares(f) => match f.op() {
                S::SquareLoop { var, .. } | S::Control(Control::Var(var)) => Some(*var),
                _ => None,
            },
            Ref::Number(f) if let N::Control(Control::Var(var)) = f.op() => Some(*var),
            Ref::Text(f) if let T::Control(Control::Var(var)) = f.op() => Some(*var),
            Ref::Position(f) if let P::Control(Control::Var(var)) = f.op() => Some(*var),
            _ => None,
        };
        if let Some(var) = var.filter(|var| before & bit(*var) != 0) {
            shared = Some(var);
        }
    });
    shared
}
