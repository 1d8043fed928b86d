//! The operands of every filter, and how a tree is walked.

use std::{convert::Infallible, fmt::Debug};

use super::{
    Any, Assigned, Condition, ConditionOp, Control, Form, Kind, Moves, Number, NumberOp, Position,
    PositionOp, Ref, Squares, SquaresOp, Text, TextOp, game,
};

/// What only one form of the tree has.
pub trait Extension<P: Form>: Clone + Debug {
    /// Calls `visit` on the filters in it, in order.
    fn each_child<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>));
}

/// A form has nothing of its own for a kind.
impl<P: Form> Extension<P> for Infallible {
    fn each_child<'a>(&'a self, _: &mut dyn FnMut(Ref<'a, P>)) {
        match *self {}
    }
}

impl<'a, P: Form> Ref<'a, P> {
    /// Calls `visit` on the operands, in order.
    pub fn each_child(self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        match self {
            Ref::Condition(f) => condition(f, visit),
            Ref::Squares(f) => squares(f, visit),
            Ref::Number(f) => number(f, visit),
            Ref::Text(f) => text(f, visit),
            Ref::Position(f) => position(f, visit),
        }
    }

    /// Whether it is an operation of the game language.
    pub fn is_of_game(self) -> bool {
        match self {
            Ref::Condition(f) => matches!(f.op(), ConditionOp::Game(_)),
            Ref::Squares(f) => matches!(f.op(), SquaresOp::Game(_)),
            Ref::Number(f) => matches!(f.op(), NumberOp::Game(_)),
            Ref::Text(f) => matches!(f.op(), TextOp::Game(_)),
            Ref::Position(f) => matches!(f.op(), PositionOp::Game(_)),
        }
    }

    /// Whether it is braces around its operands.
    pub fn is_braces(self) -> bool {
        match self {
            Ref::Condition(f) => matches!(f.op(), ConditionOp::Braces(_)),
            Ref::Squares(f) => matches!(f.op(), SquaresOp::Control(Control::Braces { .. })),
            Ref::Number(f) => matches!(f.op(), NumberOp::Control(Control::Braces { .. })),
            Ref::Text(f) => matches!(f.op(), TextOp::Control(Control::Braces { .. })),
            Ref::Position(f) => matches!(f.op(), PositionOp::Control(Control::Braces { .. })),
        }
    }

    /// The operands, in order.
    pub fn children(self) -> Vec<Ref<'a, P>> {
        let mut out = Vec::new();
        self.each_child(&mut |child| out.push(child));
        out
    }

    /// Calls `visit` on this filter and everything below it, parents first.
    pub fn walk(self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        visit(self);
        self.each_child(&mut |child| child.walk(visit));
    }

    /// Whether this filter or one below it passes a test.
    pub fn any(self, test: &mut dyn FnMut(Ref<'a, P>) -> bool) -> bool {
        let mut found = false;
        self.walk(&mut |filter| found = found || test(filter));
        found
    }
}

fn condition<'a, P: Form>(filter: &'a Condition<P>, visit: &mut dyn FnMut(Ref<'a, P>)) {
    use ConditionOp as C;
    match filter.op() {
        C::Bool(_)
        | C::Check
        | C::Mate
        | C::Stalemate
        | C::Initial
        | C::Terminal
        | C::ToMove(_)
        | C::Result(_) => {}
        C::And(a, b) | C::Or(a, b) => all([a, b], visit),
        C::Not(of) => visit(of.node()),
        C::If { condition, then, other } => all([condition, then].into_iter().chain(other), visit),
        C::Braces(filters) => all(filters, visit),
        C::Subset(a, b) | C::SetEq { left: a, right: b, .. } => all([a, b], visit),
        C::Assign(_, Assigned::Squares(f)) => visit(f.node()),
        C::Assign(_, Assigned::Number(f)) => visit(f.node()),
        C::Assign(_, Assigned::Text(f)) => visit(f.node()),
        C::Assign(_, Assigned::Position(f)) => visit(f.node()),
        C::ContentIs { of, .. } => visit(of.node()),
        C::SquareAll { domain, body, .. } => {
            visit(domain.node());
            visit(body.node());
        }
        C::Differ(a, b) => all([a, b], visit),
        C::TextCompare(_, a, b) | C::TextIn(a, b) => all([a, b], visit),
        C::Game(op) => game::visit_condition(op, visit),
        C::Form(part) => part.each_child(visit),
    }
}

fn squares<'a, P: Form>(filter: &'a Squares<P>, visit: &mut dyn FnMut(Ref<'a, P>)) {
    use SquaresOp as S;
    match filter.op() {
        S::Designator { .. } | S::Constant(_) | S::Pawns(_) | S::Pure { .. } => {}
        S::Union(a, b) | S::Intersect(a, b) | S::Attacks(a, b) | S::AttackedBy(a, b) | S::Between(a, b) => {
            all([a, b], visit)
        }
        S::Complement(of) | S::Direction { of, .. } | S::Shade { of, .. } => visit(of.node()),
        S::Xray { sets, .. } | S::Ray { sets, .. } => all(sets.iter(), visit),
        S::Pin { from, through, to, .. } => all([from, through, to], visit),
        S::DirectionWithin { lo, hi, of, .. } => {
            all([lo, hi], visit);
            visit(of.node());
        }
        S::MakeSquare { file, rank } => all([file, rank], visit),
        S::SquareLoop { domain, body, .. } => {
            visit(domain.node());
            visit(body.node());
        }
        S::Legal(of) => moves(of, visit),
        S::Control(of) => control(of, visit),
        S::Game(op) => game::visit_squares(op, visit),
        S::Form(part) => part.each_child(visit),
    }
}

fn number<'a, P: Form>(filter: &'a Number<P>, visit: &mut dyn FnMut(Ref<'a, P>)) {
    use NumberOp as N;
    match filter.op() {
        N::Int(_)
        | N::ColorValue(_)
        | N::SideToMove
        | N::Ply
        | N::MoveNumber
        | N::GameNumber
        | N::Year
        | N::Elo(_) => {}
        N::Cardinality(of) | N::Power(of) | N::Rank(of) | N::File(of) | N::ContentType { of, .. } => {
            visit(of.node());
        }
        N::AttackCount(x, y) => all([x, y], visit),
        N::RayCount { sets, .. } => all(sets.iter(), visit),
        N::Arith(_, a, b) | N::Compare(_, a, b) => all([a, b], visit),
        N::Neg(of) | N::Abs(of) | N::Sqrt(of) => visit(of.node()),
        N::InRange { lo, hi, of } => all([lo, hi, of], visit),
        N::Max(of) | N::Min(of) => all(of.iter(), visit),
        N::LegalCount(of) => moves(of, visit),
        N::Find { of, .. } => visit(of.node()),
        N::Control(of) => control(of, visit),
        N::Game(op) => game::visit_number(op, visit),
        N::Form(part) => part.each_child(visit),
    }
}

fn text<'a, P: Form>(filter: &'a Text<P>, visit: &mut dyn FnMut(Ref<'a, P>)) {
    match filter.op() {
        TextOp::Literal(_) | TextOp::Tag(_) | TextOp::Player(_) => {}
        TextOp::ContentName { of, .. } => visit(of.node()),
        TextOp::Compare(_, a, b) => all([a, b], visit),
        TextOp::Control(of) => control(of, visit),
        TextOp::Game(op) => game::visit_text(op, visit),
        TextOp::Form(part) => part.each_child(visit),
    }
}

fn position<'a, P: Form>(filter: &'a Position<P>, visit: &mut dyn FnMut(Ref<'a, P>)) {
    match filter.op() {
        PositionOp::Find { of, .. } => visit(of.node()),
        PositionOp::Control(of) => control(of, visit),
        PositionOp::Game(op) => game::visit_position(op, visit),
        PositionOp::Form(part) => part.each_child(visit),
    }
}

fn all<'a, P: Form, F: Kind<P> + 'a>(
    filters: impl IntoIterator<Item = &'a F>,
    visit: &mut dyn FnMut(Ref<'a, P>),
) {
    filters.into_iter().for_each(|filter| visit(filter.node()));
}

fn moves<'a, P: Form>(of: &'a Moves<P>, visit: &mut dyn FnMut(Ref<'a, P>)) {
    all([&of.from, &of.to], visit);
}

fn control<'a, P: Form, F: Kind<P>>(of: &'a Control<P, F>, visit: &mut dyn FnMut(Ref<'a, P>)) {
    match of {
        Control::Var(_) => {}
        Control::If { condition, then, other } => {
            visit(condition.node());
            all([then, other], visit);
        }
        Control::Braces { first, last } => {
            all(first, visit);
            visit(last.node());
        }
    }
}

impl<P: Form> Any<P> {
    /// Calls `visit` on the operands, in order.
    pub fn each_child<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        self.node().each_child(visit);
    }
}
