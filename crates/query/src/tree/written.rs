//! The form of the tree that the parser produces. Filters have spans, and transforms are keywords. The *copies* of a transform are
//! the filters that result from transforming its operand.

use super::{
    Cmp, Condition, ConditionOp, Counted, Extension, Form, Kind, ListTransform, Node, Number, NumberOp,
    Position, PositionOp, Ref, Squares, SquaresOp, Text, TextOp, TransformKind,
};
use orbit_core::diagnostic::Span;

/// The form of the tree that the parser produces. The mark of each filter is its span in the text.
#[derive(Clone, Copy, Debug)]
pub enum Written {}

impl Form for Written {
    type Mark = Span;
    type OfCondition = ConditionKeyword;
    type OfSquares = Keyword<Squares>;
    type OfNumber = NumberKeyword;
    type OfText = NoTransform<Text>;
    type OfPosition = NoTransform<Position>;
}

/// A keyword around a filter, such as a transform. The keyword has the same kind of value as the filter.
#[derive(Clone, Debug)]
pub enum Keyword<F> {
    /// A transform. Its value is the union of the sets of its copies, or the largest of their numbers.
    Transform(TransformKind, F),
    /// `notransform F`: F is not transformed by transforms around it.
    NoTransform(F),
}

/// A keyword whose value is a number.
#[derive(Clone, Debug)]
pub enum NumberKeyword {
    /// A keyword around a number.
    Number(Keyword<Number>),
    /// A transform with `count` or a range. Its value is the number of its copies that match.
    Counted(TransformKind, Counted, Node),
}

/// A keyword around a filter, such as a transform, whose value is true or false.
#[derive(Clone, Debug)]
pub enum ConditionKeyword {
    /// A transform of a filter of any kind. It is true if a copy matches.
    Transform(TransformKind, Node),
    /// A CQL 5 list and the distinct transform keywords in it. A copy results from one transformation of each keyword, applied one
    /// after the other in some order. The condition is true if a copy matches.
    Lists(Vec<ListTransform>, Node),
    /// `notransform F`: F is not transformed by transforms around it.
    NoTransform(Condition),
}

/// `notransform F` for strings and positions, to which no other transform keyword applies.
#[derive(Clone, Debug)]
pub struct NoTransform<F>(pub F);

impl<F: Kind<Written>> Extension<Written> for Keyword<F> {
    fn each_child<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, Written>)) {
        let (Keyword::Transform(_, of) | Keyword::NoTransform(of)) = self;
        visit(of.node());
    }
}

impl Extension<Written> for NumberKeyword {
    fn each_child<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, Written>)) {
        match self {
            NumberKeyword::Number(keyword) => keyword.each_child(visit),
            NumberKeyword::Counted(_, _, of) => visit(of.node()),
        }
    }
}

impl Extension<Written> for ConditionKeyword {
    fn each_child<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, Written>)) {
        match self {
            ConditionKeyword::Transform(_, of) | ConditionKeyword::Lists(_, of) => visit(of.node()),
            ConditionKeyword::NoTransform(of) => visit(of.node()),
        }
    }
}

impl<P: Form, F: Kind<P>> Extension<P> for NoTransform<F> {
    fn each_child<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        visit(self.0.node());
    }
}

impl Node {
    /// Returns true if the filter is a condition that the grammar treats as a string: a piece's letter, or a comparison of strings.
    /// The condition may also be the last filter in braces, or the operand of `notransform`.
    pub fn yields_text(&self) -> bool {
        let Node::Condition(condition) = self else { return false };
        let mut condition = condition;
        loop {
            condition = match condition.op() {
                ConditionOp::ContentIs { spelt, .. } => return spelt.is_some(),
                // `!=` is also true if a value is missing, so it cannot yield its left side.
                ConditionOp::TextCompare(cmp, ..) => return *cmp != Cmp::Ne,
                ConditionOp::Form(ConditionKeyword::NoTransform(of)) => of,
                ConditionOp::Braces(all) => match all.last() {
                    Some(Node::Condition(last)) => last,
                    _ => return false,
                },
                _ => return false,
            }
        }
    }
}

impl<'a> Ref<'a, Written> {
    /// Returns true if the filter is a transform.
    pub fn is_transform(self) -> bool {
        matches!(self, Ref::Condition(f) if matches!(f.op(), ConditionOp::Form(ConditionKeyword::Lists(..))))
            || self.keyword().is_some()
    }

    /// If the operand of this transform is itself a transform, and both form one orbit (one set of copies), returns the inner
    /// transform. This is the case if the outer transform has neither `count` nor a range.
    pub fn fused(self) -> Option<Ref<'a, Written>> {
        match self.keyword() {
            Some((inner, false)) if inner.keyword().is_some() => Some(inner),
            _ => None,
        }
    }

    /// Returns true if the filter is `notransform`, which protects its operand from transforms.
    pub fn shields(self) -> bool {
        match self {
            Ref::Condition(f) => matches!(f.op(), ConditionOp::Form(ConditionKeyword::NoTransform(_))),
            Ref::Squares(f) => matches!(f.op(), SquaresOp::Form(Keyword::NoTransform(_))),
            Ref::Number(f) => {
                matches!(f.op(), NumberOp::Form(NumberKeyword::Number(Keyword::NoTransform(_))))
            }
            Ref::Text(f) => matches!(f.op(), TextOp::Form(NoTransform(_))),
            Ref::Position(f) => matches!(f.op(), PositionOp::Form(NoTransform(_))),
        }
    }

    /// If the filter is a transform of CQL 6, returns its operand, and true if its copies are counted. Otherwise returns `None`.
    pub(crate) fn keyword(self) -> Option<(Ref<'a, Written>, bool)> {
        match self {
            Ref::Condition(f) => match f.op() {
                ConditionOp::Form(ConditionKeyword::Transform(_, of)) => Some((of.node(), false)),
                _ => None,
            },
            Ref::Squares(f) => match f.op() {
                SquaresOp::Form(Keyword::Transform(_, of)) => Some((of.node(), false)),
                _ => None,
            },
            Ref::Number(f) => match f.op() {
                NumberOp::Form(NumberKeyword::Number(Keyword::Transform(_, of))) => Some((of.node(), false)),
                NumberOp::Form(NumberKeyword::Counted(_, _, of)) => Some((of.node(), true)),
                _ => None,
            },
            Ref::Text(_) | Ref::Position(_) => None,
        }
    }
}
