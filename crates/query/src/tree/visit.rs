//! Visits the filters of a tree.

use std::{convert::Infallible, fmt::Debug};

use super::{
    Any, ConditionOp, Control, Form, Kind as _, NumberOp, Operand as _, PositionOp, Ref, SquaresOp, TextOp,
};

/// A filter that exists only in one form of the tree.
pub trait Extension<P: Form>: Clone + Debug {
    /// Calls `visit` on each filter that this filter contains directly, in order.
    fn each_child<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>));
}

/// If a form has no filters of its own for a kind, its extension type for that kind is `Infallible`, which has no values.
impl<P: Form> Extension<P> for Infallible {
    fn each_child<'a>(&'a self, _: &mut dyn FnMut(Ref<'a, P>)) {
        match *self {}
    }
}

impl<'a, P: Form> Ref<'a, P> {
    /// Calls `visit` on each operand of the filter, in order.
    pub fn each_child(self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        match self {
            Ref::Condition(f) => f.op().each_filter(visit),
            Ref::Squares(f) => f.op().each_filter(visit),
            Ref::Number(f) => f.op().each_filter(visit),
            Ref::Text(f) => f.op().each_filter(visit),
            Ref::Position(f) => f.op().each_filter(visit),
        }
    }

    /// Returns true if the operation needs more of the game than the current position; see [`super::game`].
    pub fn is_of_game(self) -> bool {
        match self {
            Ref::Condition(f) => matches!(f.op(), ConditionOp::Game(_)),
            Ref::Squares(f) => matches!(f.op(), SquaresOp::Game(_)),
            Ref::Number(f) => matches!(f.op(), NumberOp::Game(_)),
            Ref::Text(f) => matches!(f.op(), TextOp::Game(_)),
            Ref::Position(f) => matches!(f.op(), PositionOp::Game(_)),
        }
    }

    /// Returns true if the filter consists of several filters in braces.
    pub fn is_braces(self) -> bool {
        match self {
            Ref::Condition(f) => matches!(f.op(), ConditionOp::Braces(_)),
            Ref::Squares(f) => matches!(f.op(), SquaresOp::Control(Control::Braces { .. })),
            Ref::Number(f) => matches!(f.op(), NumberOp::Control(Control::Braces { .. })),
            Ref::Text(f) => matches!(f.op(), TextOp::Control(Control::Braces { .. })),
            Ref::Position(f) => matches!(f.op(), PositionOp::Control(Control::Braces { .. })),
        }
    }

    /// Returns the operands of the filter, in order.
    pub fn children(self) -> Vec<Ref<'a, P>> {
        let mut out = Vec::new();
        self.each_child(&mut |child| out.push(child));
        out
    }

    /// Calls `visit` on this filter and on all filters below it. A filter is visited before its operands.
    pub fn walk(self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        visit(self);
        self.each_child(&mut |child| child.walk(visit));
    }

    /// Returns true if this filter or any filter below it passes a test.
    pub fn any(self, test: &mut dyn FnMut(Ref<'a, P>) -> bool) -> bool {
        let mut found = test(self);
        if !found {
            self.each_child(&mut |child| found = found || child.any(test));
        }
        found
    }
}

impl<P: Form> Any<P> {
    /// Calls `visit` on each operand of the filter, in order.
    pub fn each_child<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        self.node().each_child(visit);
    }
}
