//! Checks that every variable is assigned before it is read.
//!
//! CQL stops a run at the first read of an unassigned variable. Here a query in which that could
//! happen at any position is refused before it runs, so that no engine needs a notion of
//! "unassigned".

use super::tree::{
    Assigned, ConditionKeyword, ConditionOp as C, Control, Keyword, Kind, Node, NumberKeyword, NumberOp as N,
    PositionOp as P, Query, Ref, SquaresOp as S, TextOp as T, VarId, Written,
};
use crate::diagnostic::{Diagnostic, Span};

/// Variables are bits of a word.
pub(super) const VARS_MAX: usize = 64;

/// What is assigned once a filter has been evaluated.
#[derive(Clone, Copy)]
struct After {
    /// If it matched.
    matched: u64,
    /// Whether it matched or not.
    always: u64,
}

/// Checks a whole query.
///
/// # Errors
///
/// The first variable that may be read before it is assigned.
pub(super) fn check(query: &Query) -> Result<(), Diagnostic> {
    visit(query.body.node(), 0, query).map(|_| ())
}

fn bit(var: VarId) -> u64 {
    1 << var.0
}

fn same(set: u64) -> After {
    After { matched: set, always: set }
}

fn visit(node: Ref<Written>, before: u64, query: &Query) -> Result<After, Diagnostic> {
    match node {
        Ref::Condition(f) => match f.op() {
            C::Assign(var, value) => {
                let always =
                    |value: After, set: u64| After { matched: value.always | bit(*var), always: set };
                return Ok(match value {
                    Assigned::Squares(f) => {
                        let value = visit(f.node(), before, query)?;
                        always(value, value.always | bit(*var))
                    }
                    Assigned::Number(_) | Assigned::Text(_) | Assigned::Position(_) => {
                        let value = operands(node, before, query)?;
                        always(value, value.always)
                    }
                });
            }
            C::Braces(all) => return sequence(all, before, query),
            C::And(a, b) => return sequence([a, b], before, query),
            C::Or(a, b) => {
                let left = visit(a.node(), before, query)?;
                let right = visit(b.node(), left.always, query)?;
                return Ok(After { matched: left.matched & right.matched, always: left.always });
            }
            C::Not(of) => return Ok(same(visit(of.node(), before, query)?.always)),
            C::If { condition, then, other: Some(other) } => {
                return branches([condition.node(), then.node(), other.node()], before, query);
            }
            C::If { condition, then, other: None } => {
                let condition = visit(condition.node(), before, query)?;
                visit(then.node(), condition.matched, query)?;
                return Ok(same(condition.always));
            }
            C::SquareAll { var, domain, body } => {
                return square_loop(*var, [domain.node(), body.node()], before, query);
            }
            C::Form(ConditionKeyword::Transform(_, of)) => return transform(of.node(), before, query),
            _ => {}
        },
        Ref::Squares(f) => match f.op() {
            S::SquareLoop { var, domain, body } => {
                return square_loop(*var, [domain.node(), body.node()], before, query);
            }
            S::Control(of) => return control(of, f.span(), before, query),
            S::Form(Keyword::Transform(_, of)) => return transform(of.node(), before, query),
            _ => {}
        },
        Ref::Number(f) => match f.op() {
            N::Find { of, .. } => return find(of, f.span(), before, query),
            N::Control(of) => return control(of, f.span(), before, query),
            N::Form(NumberKeyword::Counted(_, _, of)) => return transform(of.node(), before, query),
            N::Form(NumberKeyword::Number(Keyword::Transform(_, of))) => {
                return transform(of.node(), before, query);
            }
            _ => {}
        },
        Ref::Text(f) => {
            if let T::Control(of) = f.op() {
                return control(of, f.span(), before, query);
            }
        }
        Ref::Position(f) => match f.op() {
            P::Find { of, .. } => return find(of, f.span(), before, query),
            P::Control(of) => return control(of, f.span(), before, query),
            P::Game(_) | P::Form(_) => {}
        },
    }
    operands(node, before, query)
}

/// All operands are evaluated, whatever their values.
fn operands(node: Ref<Written>, before: u64, query: &Query) -> Result<After, Diagnostic> {
    let mut set = before;
    for operand in node.children() {
        set = visit(operand, set, query)?.always;
    }
    Ok(same(set))
}

/// Each is evaluated where all before it match.
fn sequence<'a>(
    filters: impl IntoIterator<Item = &'a Node>,
    before: u64,
    query: &Query,
) -> Result<After, Diagnostic> {
    let mut after: Option<After> = None;
    for filter in filters {
        let before = after.map_or(before, |after| after.matched);
        let next = visit(filter.node(), before, query)?;
        // The first is evaluated in any case.
        after =
            Some(After { matched: next.matched, always: after.map_or(next.always, |after| after.always) });
    }
    Ok(after.unwrap_or(same(before)))
}

fn branches(
    [condition, then, other]: [Ref<Written>; 3],
    before: u64,
    query: &Query,
) -> Result<After, Diagnostic> {
    let condition = visit(condition, before, query)?;
    let then = visit(then, condition.matched, query)?;
    let other = visit(other, condition.always, query)?;
    Ok(After { matched: then.matched & other.matched, always: then.always & other.always })
}

fn square_loop(
    var: VarId,
    [domain, body]: [Ref<Written>; 2],
    before: u64,
    query: &Query,
) -> Result<After, Diagnostic> {
    let domain = visit(domain, before, query)?.always;
    visit(body, domain | bit(var), query)?;
    Ok(same(domain))
}

/// An orbit may be empty, so nothing inside is sure to be evaluated.
fn transform(of: Ref<Written>, before: u64, query: &Query) -> Result<After, Diagnostic> {
    visit(of, before, query).map(|_| same(before))
}

fn control<F: Kind<Written>>(
    of: &Control<Written, F>,
    span: Span,
    before: u64,
    query: &Query,
) -> Result<After, Diagnostic> {
    match of {
        Control::Var(var) if before & bit(*var) == 0 => {
            let name = &query.vars[var.0 as usize].name;
            Err(Diagnostic::error(
                span,
                format!("`{name}` may be read before it is assigned"),
                "not assigned on every way to here",
            )
            .help("variables that carry a value from one position to the next are not supported yet"))
        }
        Control::Var(_) => Ok(same(before)),
        Control::If { condition, then, other } => {
            branches([condition.node(), then.node(), other.node()], before, query)
        }
        Control::Braces { first, last } => {
            let first = sequence(first, before, query)?;
            let last = visit(last.node(), first.matched, query)?;
            Ok(After { matched: last.matched, always: first.always })
        }
    }
}

fn find(of: &Node, span: Span, before: u64, query: &Query) -> Result<After, Diagnostic> {
    if let Some(var) = shared_variable(of, before) {
        let name = &query.vars[var.0 as usize].name;
        return Err(Diagnostic::error(
            span,
            format!("`{name}` is used both inside and outside of `find`"),
            "not supported yet",
        )
        .help("filters inside `find` see other positions; give them variables of their own"));
    }
    visit(of.node(), 0, query).map(|_| same(before))
}

/// A variable of a filter that has a value before it.
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
