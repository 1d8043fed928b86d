//! Converts a tree to another form, or to another tree of the same form.
//!
//! A [`Rewrite`] defines what replaces the filters that it changes, and the filters that exist only in the original form. For all
//! other filters, the functions in this module keep the operation and rewrite its operands, in order.

use shakmaty::{Bitboard, Color};

use super::{
    Any, Arith, Chain, Cmp, Condition, ConditionOp, Counted, DictionaryId, Dirs, Echo, Form, GameResult,
    MoveOf, MoveValue, Number, NumberOp, OneOrMore, PawnKind, Pieces, PinPart, Position, PositionOp,
    PositionOrder, PureKind, Ref, Sibling, SortId, Special, Spelt, Squares, SquaresOp, Text, TextOp, VarId,
};
use orbit_core::board::PieceSet;

/// A conversion of trees. By default it keeps each operation and rewrites its operands.
pub trait Rewrite<P: Form, Q: Form>: Sized {
    /// The value that is returned if the conversion stops early.
    type Stop;

    /// Converts the mark ([`Form::Mark`]) of a filter whose operation is kept.
    fn mark(&mut self, mark: &P::Mark) -> Q::Mark;

    /// Rewrites a condition that exists only in the form `P`.
    fn of_condition(&mut self, part: &P::OfCondition, mark: &P::Mark) -> Result<Condition<Q>, Self::Stop>;

    /// Rewrites a set that exists only in the form `P`.
    fn of_squares(&mut self, part: &P::OfSquares, mark: &P::Mark) -> Result<Squares<Q>, Self::Stop>;

    /// Rewrites a number that exists only in the form `P`.
    fn of_number(&mut self, part: &P::OfNumber, mark: &P::Mark) -> Result<Number<Q>, Self::Stop>;

    /// Rewrites a string that exists only in the form `P`.
    fn of_text(&mut self, part: &P::OfText, mark: &P::Mark) -> Result<Text<Q>, Self::Stop>;

    /// Rewrites a position that exists only in the form `P`.
    fn of_position(&mut self, part: &P::OfPosition, mark: &P::Mark) -> Result<Position<Q>, Self::Stop>;

    /// Rewrites a condition.
    fn condition(&mut self, filter: &Condition<P>) -> Result<Condition<Q>, Self::Stop> {
        condition(filter, self)
    }

    /// Rewrites a set.
    fn squares(&mut self, filter: &Squares<P>) -> Result<Squares<Q>, Self::Stop> {
        squares(filter, self)
    }

    /// Rewrites a number.
    fn number(&mut self, filter: &Number<P>) -> Result<Number<Q>, Self::Stop> {
        number(filter, self)
    }

    /// Rewrites a string.
    fn text(&mut self, filter: &Text<P>) -> Result<Text<Q>, Self::Stop> {
        text(filter, self)
    }

    /// Rewrites a position.
    fn position(&mut self, filter: &Position<P>) -> Result<Position<Q>, Self::Stop> {
        position(filter, self)
    }

    /// Rewrites a filter of any kind.
    fn any(&mut self, filter: &Any<P>) -> Result<Any<Q>, Self::Stop> {
        Ok(match filter {
            Any::Condition(f) => Any::Condition(self.condition(f)?),
            Any::Squares(f) => Any::Squares(self.squares(f)?),
            Any::Number(f) => Any::Number(self.number(f)?),
            Any::Text(f) => Any::Text(self.text(f)?),
            Any::Position(f) => Any::Position(self.position(f)?),
        })
    }
}

/// Defines the functions that keep an operation and rewrite its operands.
macro_rules! same {
    ($($(#[$doc:meta])* $function:ident $kind:ident $op:ident $of_form:ident)+) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        ///
        /// Returns the [`Rewrite::Stop`] value if `by` stops the rewriting.
        pub fn $function<P: Form, Q: Form, R: Rewrite<P, Q>>(
            filter: &$kind<P>,
            by: &mut R,
        ) -> Result<$kind<Q>, R::Stop> {
            let mark = by.mark(&filter.mark);
            match filter.op() {
                $op::Form(part) => by.$of_form(part, &filter.mark),
                op => Ok($kind::new(op.remade(by)?, mark)),
            }
        }
    )+};
}

same! {
    /// Keeps the operation of a condition and rewrites its operands.
    condition Condition ConditionOp of_condition
    /// Keeps the operation of a set and rewrites its operands.
    squares Squares SquaresOp of_squares
    /// Keeps the operation of a number and rewrites its operands.
    number Number NumberOp of_number
    /// Keeps the operation of a string and rewrites its operands.
    text Text TextOp of_text
    /// Keeps the operation of a position and rewrites its operands.
    position Position PositionOp of_position
}

/// A field of an operation: a filter, several filters, or data without filters.
pub trait Operand<P: Form> {
    /// The corresponding type in another form of the tree.
    type Out<Q: Form>;

    /// Calls `visit` on each filter that the field contains directly, in order. Filters below these are not visited.
    fn each_filter<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>));

    /// Rewrites all filters in the field, in order.
    ///
    /// # Errors
    ///
    /// Returns the [`Rewrite::Stop`] value if `by` stops the rewriting.
    fn remade<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<Self::Out<Q>, R::Stop>;
}

/// Implements [`Operand`] for types that contain no filters.
macro_rules! leaves {
    ($($ty:ty),+) => {$(
        impl<P: Form> Operand<P> for $ty {
            type Out<Q: Form> = $ty;

            fn each_filter<'a>(&'a self, _: &mut dyn FnMut(Ref<'a, P>)) {}

            fn remade<Q: Form, R: Rewrite<P, Q>>(&self, _: &mut R) -> Result<$ty, R::Stop> {
                Ok(self.clone())
            }
        }
    )+};
}

leaves! {
    bool, u8, i8, u32, i32, String, Bitboard, Color, PieceSet, VarId, DictionaryId, SortId, Arith, Cmp, Counted, Dirs,
    GameResult, MoveOf, MoveValue, PositionOrder, PawnKind, Pieces, PinPart, PureKind, Sibling, Special, Spelt
}

impl<P: Form, T: Operand<P>> Operand<P> for Option<T> {
    type Out<Q: Form> = Option<T::Out<Q>>;

    fn each_filter<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        self.iter().for_each(|of| of.each_filter(visit));
    }

    fn remade<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<Self::Out<Q>, R::Stop> {
        self.as_ref().map(|of| of.remade(by)).transpose()
    }
}

impl<P: Form, T: Operand<P>> Operand<P> for Vec<T> {
    type Out<Q: Form> = Vec<T::Out<Q>>;

    fn each_filter<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        self.iter().for_each(|of| of.each_filter(visit));
    }

    fn remade<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<Self::Out<Q>, R::Stop> {
        self.iter().map(|of| of.remade(by)).collect()
    }
}

impl<P: Form, T: Operand<P>> Operand<P> for [T; 2] {
    type Out<Q: Form> = [T::Out<Q>; 2];

    fn each_filter<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        self.iter().for_each(|of| of.each_filter(visit));
    }

    fn remade<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<Self::Out<Q>, R::Stop> {
        Ok([self[0].remade(by)?, self[1].remade(by)?])
    }
}

impl<P: Form, T: Operand<P>> Operand<P> for OneOrMore<T> {
    type Out<Q: Form> = OneOrMore<T::Out<Q>>;

    fn each_filter<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        self.iter().for_each(|of| of.each_filter(visit));
    }

    fn remade<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<Self::Out<Q>, R::Stop> {
        self.try_map(|of| of.remade(by))
    }
}

impl<P: Form, T: Operand<P>> Operand<P> for Chain<T> {
    type Out<Q: Form> = Chain<T::Out<Q>>;

    fn each_filter<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        self.each(&mut |of| of.each_filter(visit));
    }

    fn remade<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<Self::Out<Q>, R::Stop> {
        self.try_map(&mut |of| of.remade(by))
    }
}

impl<P: Form, F: Operand<P>> Operand<P> for Echo<F> {
    type Out<Q: Form> = Echo<F::Out<Q>>;

    fn each_filter<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        self.body.each_filter(visit);
    }

    fn remade<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<Self::Out<Q>, R::Stop> {
        let Echo { source, target, in_all, quiet, ref body } = *self;
        Ok(Echo { source, target, in_all, quiet, body: body.remade(by)? })
    }
}
