//! Derives a weaker condition from a query. The condition is cheaper to evaluate than the query, contains no moves, lines or state,
//! and is true at some position of every game in which the query matches.
//!
//! If no plan (straight-line code for many positions at once) can express a query, orbit must interpret it, which is expensive at
//! each position. Most games, however, contain no match. [`necessary`] returns a weaker query that a plan can express and that
//! matches wherever the original query matches. A game without a match of the weaker query can therefore be skipped.
//!
//! Each filter is replaced by a condition that is true wherever the filter matches. A filter without such a condition is left out,
//! as if it were `true`. The operand of `not` cannot be weakened: the whole `not` filter is either kept unchanged or left out. The
//! same applies to a transform whose copies (transformed filters) are counted. A transform drops a copy if a designator in it has
//! lost all of its squares. Weakening never adds a designator, so it never causes a copy to be dropped.

use super::tree::{
    Any, Assigned, Condition, ConditionKeyword, ConditionOp as C, Control, Counted, Echo, Edge, Elsewhere,
    Focus, GameCondition, GameNumber, GamePosition, GameSquares, GameText, Keyword, Kind, Line, Move, Node,
    Number, NumberKeyword, NumberOp as N, OneOrMore, Path, PathStep, PositionOp as P, Ref, Squares,
    SquaresOp as S, Text, TextOp as T, TypedQuery, VarId, Written,
};
use orbit_core::diagnostic::Span;

/// Returns a query that matches at every position at which `query` matches. Returns `None` if the result would be `true`, or if
/// even games without a match of `query` must be evaluated.
pub fn necessary(query: &TypedQuery) -> Option<TypedQuery> {
    if !passes_over(query) {
        return None;
    }
    let body = Weaken { variations: query.variations }.filter(query.body.node())?;
    Some(TypedQuery { vars: query.vars.clone(), variations: query.variations, ..TypedQuery::new(body) })
}

/// Returns true if a game without a match can be skipped, because evaluating it would have no visible effect.
fn passes_over(query: &TypedQuery) -> bool {
    let asks_for_none = query.header.match_count.is_some_and(|(least, _)| least == 0);
    !(query.outlives_games() || query.prints_messages() || asks_for_none)
}

struct Weaken {
    variations: bool,
}

impl Weaken {
    fn filter(&self, filter: Ref<'_, Written>) -> Option<Node> {
        if is_plain(filter) {
            return Some(filter.cloned());
        }
        let span = *filter.mark();
        match filter {
            Ref::Condition(f) => self.condition(f, span),
            Ref::Squares(f) => self.squares(f, span),
            Ref::Number(f) => self.number(f, span),
            Ref::Text(f) => self.text(f),
            Ref::Position(f) => match f.op() {
                P::Find { back, of, .. } => self.found(*back, of.node(), span),
                P::Control(of) => self.control(of, span),
                P::Game(op) => self.game_position(op, span),
                P::Form(of) => self.still(of.0.node(), span),
            },
        }
    }

    fn condition(&self, f: &Condition, span: Span) -> Option<Node> {
        match f.op() {
            C::And(a, b) => self.all([a.node(), b.node()], span),
            C::Braces(all) => self.all(all.iter().map(Kind::node), span),
            C::Or(a, b) => self.either(a.node(), b.node(), span),
            C::If { then, other: Some(other), .. } => self.either(then.node(), other.node(), span),
            C::Assign(_, value) => match value {
                Assigned::Squares(_) => None,
                Assigned::Number(f) => self.filter(f.node()),
                Assigned::Text(f) => self.filter(f.node()),
                Assigned::Position(f) => self.filter(f.node()),
            },
            C::ContentIs { of, .. } => self.filter(of.node()),
            C::Form(ConditionKeyword::Transform(kind, of)) => {
                let of = self.filter(of.node())?;
                Some(condition(C::Form(ConditionKeyword::Transform(*kind, of)), span))
            }
            C::Form(ConditionKeyword::NoTransform(of)) => self.still(of.node(), span),
            C::Game(op) => self.game_condition(op, span),
            _ => None,
        }
    }

    fn squares(&self, f: &Squares, span: Span) -> Option<Node> {
        match f.op() {
            S::Intersect(a, b) | S::Attacks(a, b) | S::AttackedBy(a, b) | S::Between(a, b) => {
                self.all([a.node(), b.node()], span)
            }
            S::Union(a, b) => self.either(a.node(), b.node(), span),
            S::Xray { sets, .. } | S::Ray { sets, .. } => self.each(sets, span),
            S::Direction { of, .. } | S::DirectionWithin { of, .. } | S::Shade { of, .. } => {
                self.filter(of.node())
            }
            S::Pin { from, through, to, .. } => self.all([from.node(), through.node(), to.node()], span),
            S::SquareLoop { domain, body, .. } => self.all([domain.node(), body.node()], span),
            S::Control(of) => self.control(of, span),
            S::Form(Keyword::Transform(kind, of)) => {
                let of = self.filter(of.node())?;
                Some(condition(C::Form(ConditionKeyword::Transform(*kind, of)), span))
            }
            S::Form(Keyword::NoTransform(of)) => self.still(of.node(), span),
            S::Game(op) => self.game_squares(op, span),
            _ => None,
        }
    }

    fn number(&self, f: &Number, span: Span) -> Option<Node> {
        match f.op() {
            N::Rank(of) | N::File(of) | N::ContentType { of, .. } => self.filter(of.node()),
            N::Arith(_, a, b) | N::Compare(_, a, b) => self.all([a.node(), b.node()], span),
            N::Neg(of) | N::Abs(of) | N::Sqrt(of) => self.filter(of.node()),
            N::InRange { of, .. } => self.filter(of.node()),
            N::Find { back, counted: Counted::Range(least, _), of, .. } if *least > 0 => {
                self.found(*back, of.node(), span)
            }
            N::Control(of) => self.control(of, span),
            N::Form(NumberKeyword::Counted(kind, Counted::Range(least, _), of)) if *least > 0 => {
                let of = self.filter(of.node())?;
                Some(condition(C::Form(ConditionKeyword::Transform(*kind, of)), span))
            }
            N::Form(NumberKeyword::Number(Keyword::Transform(kind, of))) => {
                let of = self.filter(of.node())?;
                Some(condition(C::Form(ConditionKeyword::Transform(*kind, of)), span))
            }
            N::Form(NumberKeyword::Number(Keyword::NoTransform(of))) => self.still(of.node(), span),
            N::Game(op) => self.game_number(op, span),
            _ => None,
        }
    }

    fn text(&self, f: &Text) -> Option<Node> {
        let span = f.span();
        match f.op() {
            T::Control(of) => self.control(of, span),
            T::Form(of) => self.still(of.0.node(), span),
            T::Game(GameText::Sort { of, .. } | GameText::Case { of, .. }) => self.filter(of.node()),
            T::Game(GameText::Joined(a, b)) => self.all([a.node(), b.node()], span),
            _ => None,
        }
    }

    fn game_condition(&self, op: &GameCondition<Written>, span: Span) -> Option<Node> {
        match op {
            GameCondition::Edge { edge, target } => {
                let target = target.as_ref().map(Kind::node);
                self.edge(edge, target.into_iter(), span)
            }
            GameCondition::Move(of) => self.moves(of, span),
            GameCondition::BindPiece { of, .. } | GameCondition::AssignSome { of, .. } => {
                self.filter(of.node())
            }
            GameCondition::Assert(of) | GameCondition::Loop(of) => self.filter(of.node()),
            GameCondition::Echo(echo) => self.echo(echo, span),
            _ => None,
        }
    }

    fn game_squares(&self, op: &GameSquares<Written>, span: Span) -> Option<Node> {
        match op {
            GameSquares::Elsewhere(of) => self.elsewhere(of, span),
            GameSquares::Move(of) => self.moves(of, span),
            GameSquares::PieceLoop { domain, body, .. } => self.all([domain.node(), body.node()], span),
            _ => None,
        }
    }

    fn game_number(&self, op: &GameNumber<Written>, span: Span) -> Option<Node> {
        match op {
            GameNumber::Elsewhere(of) => self.elsewhere(of, span),
            GameNumber::Sort { of, .. } => self.filter(of.node()),
            GameNumber::Line(line) => self.line(line, span),
            GameNumber::Path(path) => self.path(path, span),
            GameNumber::Echo(echo) => self.echo(echo, span),
            GameNumber::PieceId(of) => self.filter(of.node()),
            _ => None,
        }
    }

    fn game_position(&self, op: &GamePosition<Written>, span: Span) -> Option<Node> {
        match op {
            GamePosition::Elsewhere(of) => self.elsewhere(of, span),
            GamePosition::LineEnd(line) => self.line(line, span),
            GamePosition::PathEnd(path) => self.path(path, span),
            GamePosition::Compare { left, right, .. } => self.all([left.node(), right.node()], span),
            _ => None,
        }
    }

    // ---- parts

    /// Weakens each filter, and joins the results to one condition, which is true if all of them match.
    fn all<'f>(&self, filters: impl IntoIterator<Item = Ref<'f, Written>>, span: Span) -> Option<Node> {
        conjunction(filters.into_iter().filter_map(|filter| self.filter(filter)), span)
    }

    fn each<F: Kind<Written>>(&self, filters: &OneOrMore<F>, span: Span) -> Option<Node> {
        self.all(filters.iter().map(Kind::node), span)
    }

    fn either(&self, a: Ref<'_, Written>, b: Ref<'_, Written>, span: Span) -> Option<Node> {
        Some(condition(C::Or(self.filter(a)?, self.filter(b)?), span))
    }

    fn control<F: Kind<Written>>(&self, of: &Control<Written, F>, span: Span) -> Option<Node> {
        match of {
            Control::Var(_) => None,
            Control::If { then, other, .. } => self.either(then.node(), other.node(), span),
            Control::Braces { first, last } => {
                self.all(first.iter().map(Kind::node).chain([last.node()]), span)
            }
        }
    }

    fn still(&self, of: Ref<'_, Written>, span: Span) -> Option<Node> {
        let of = as_condition(self.filter(of)?);
        Some(condition(C::Form(ConditionKeyword::NoTransform(of)), span))
    }

    fn found(&self, back: bool, of: Ref<'_, Written>, span: Span) -> Option<Node> {
        Some(find(back, self.filter(of)?, span))
    }

    fn elsewhere<F: Kind<Written>>(&self, of: &Elsewhere<Written, F>, span: Span) -> Option<Node> {
        match of {
            Elsewhere::At { .. } => None,
            Elsewhere::Edge { edge, target } => self.edge(edge, [target.node()].into_iter(), span),
        }
    }

    /// Weakens the filter `L--R(T)`. The result is true if L and R are not empty at some position, and T matches at that position
    /// or a later one.
    fn edge<'f>(
        &self,
        edge: &Edge<Written>,
        targets: impl Iterator<Item = Ref<'f, Written>>,
        span: Span,
    ) -> Option<Node> {
        let before = self.all(edge.from.iter().chain(&edge.to).map(Kind::node), span);
        let behind = self.all(targets, span);
        let (before, behind) = match edge.entering {
            true => (before.map(|before| find(true, before, span)), behind),
            false => (before, behind.map(|behind| find(false, behind, span))),
        };
        conjunction(before.into_iter().chain(behind), span)
    }

    fn moves(&self, of: &Move<Written>, span: Span) -> Option<Node> {
        let sets = [&of.from, &of.to, &of.capture, &of.en_passant_square];
        let before = self.all(sets.into_iter().flatten().map(Kind::node), span)?;
        Some(match of.of {
            super::tree::MoveOf::Previous => find(true, before, span),
            _ => before,
        })
    }

    fn line(&self, line: &Line<Written>, span: Span) -> Option<Node> {
        let mut needed = Vec::new();
        line.chain.each_needed(&mut |step| {
            needed.extend(self.found(line.back, step.filter.node(), span));
        });
        conjunction(needed.into_iter(), span)
    }

    fn path(&self, path: &Path<Written>, span: Span) -> Option<Node> {
        let mut needed = Vec::new();
        if let Some(Focus::Pieces { of, .. }) = &path.focus {
            needed.extend(self.filter(of.node()));
        }
        path.chain.each_needed(&mut |step| {
            let found = match step {
                PathStep::Edge { edge, targets } => self.edge(edge, targets.iter().map(Kind::node), span),
                PathStep::Filter(filter) => self.filter(filter.node()),
            };
            needed.extend(found.map(|found| find(false, found, span)));
        });
        conjunction(needed.into_iter(), span)
    }

    /// Weakens an `echo` filter. The result is true if the body matches at some position of the game. In a game without side lines,
    /// two `find` filters, one in each direction, cover all positions.
    fn echo<F: Kind<Written>>(&self, echo: &Echo<F>, span: Span) -> Option<Node> {
        if self.variations {
            return None;
        }
        let body = self.filter(echo.body.node())?;
        let [after, before] = [false, true].map(|back| find(back, body.clone(), span));
        Some(condition(C::Or(after, before), span))
    }
}

fn condition(op: C<Written>, span: Span) -> Node {
    Any::Condition(Condition::new(op, span))
}

fn find(back: bool, of: Node, span: Span) -> Node {
    Any::Position(super::tree::Position::new(P::Find { back, of, quiet: true }, span))
}

fn conjunction(all: impl Iterator<Item = Node>, span: Span) -> Option<Node> {
    let mut all: Vec<Node> = all.collect();
    if all.len() < 2 {
        return all.pop();
    }
    all.push(condition(C::Bool(true), span));
    Some(condition(C::Braces(all), span))
}

fn as_condition(node: Node) -> Condition {
    let span = node.span();
    match node {
        Any::Condition(condition) => condition,
        other => Condition::new(C::Braces(vec![other, condition(C::Bool(true), span)]), span),
    }
}

/// Returns true if a plan can express a filter, and the value of the filter does not depend on variables assigned outside of it.
fn is_plain(filter: Ref<'_, Written>) -> bool {
    let (mut plain, mut bound, mut read) = (true, Vec::<VarId>::new(), Vec::<VarId>::new());
    filter.walk(&mut |filter| {
        plain &= !filter.is_of_game();
        match filter {
            Ref::Condition(f) => match f.op() {
                C::Assign(..) => plain = false,
                C::SquareAll { var, .. } => bound.push(*var),
                _ => {}
            },
            Ref::Squares(f) => match f.op() {
                S::SquareLoop { var, .. } => bound.push(*var),
                S::Control(Control::Var(var)) => read.push(*var),
                _ => {}
            },
            Ref::Number(f) if let N::Control(Control::Var(var)) = f.op() => read.push(*var),
            Ref::Text(f) if let T::Control(Control::Var(var)) = f.op() => read.push(*var),
            Ref::Position(f) if let P::Control(Control::Var(var)) = f.op() => read.push(*var),
            _ => {}
        }
    });
    plain && read.iter().all(|var| bound.contains(var))
}
