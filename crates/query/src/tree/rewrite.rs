//! From one form of the tree to another, or to another tree of the same form.
//!
//! A [`Rewrite`] says what becomes of the filters that it is about, and of what only its first form has. The
//! functions of this module make the rest: the same operation on operands that were rewritten, in their order. An
//! [`Operand`] is what an operation holds.

use shakmaty::{Bitboard, Color};

use super::{
    Any, Arith, Chain, Cmp, Condition, ConditionOp, Counted, DictionaryId, Dirs, Echo, Form, GameResult,
    MoveOf, MoveValue, Number, NumberOp, OneOrMore, PawnKind, Pieces, PinPart, Position, PositionOp,
    PositionOrder, PureKind, Ref, Sibling, SortId, Special, Spelt, Squares, SquaresOp, Text, TextOp, VarId,
};
use orbit_core::board::PieceSet;

/// A rewriting of trees. Where it says nothing filters stay what they are, and their operands are rewritten.
pub trait Rewrite<P: Form, Q: Form>: Sized {
    /// What ends the rewriting early.
    type Stop;

    /// The mark of a filter that stays what it is.
    fn mark(&mut self, mark: &P::Mark) -> Q::Mark;

    /// What a condition of the first form alone becomes.
    fn of_condition(&mut self, part: &P::OfCondition, mark: &P::Mark) -> Result<Condition<Q>, Self::Stop>;

    /// What a set of the first form alone becomes.
    fn of_squares(&mut self, part: &P::OfSquares, mark: &P::Mark) -> Result<Squares<Q>, Self::Stop>;

    /// What a number of the first form alone becomes.
    fn of_number(&mut self, part: &P::OfNumber, mark: &P::Mark) -> Result<Number<Q>, Self::Stop>;

    /// What a string of the first form alone becomes.
    fn of_text(&mut self, part: &P::OfText, mark: &P::Mark) -> Result<Text<Q>, Self::Stop>;

    /// What a position of the first form alone becomes.
    fn of_position(&mut self, part: &P::OfPosition, mark: &P::Mark) -> Result<Position<Q>, Self::Stop>;

    /// What a condition becomes.
    fn condition(&mut self, filter: &Condition<P>) -> Result<Condition<Q>, Self::Stop> {
        condition(filter, self)
    }

    /// What a set becomes.
    fn squares(&mut self, filter: &Squares<P>) -> Result<Squares<Q>, Self::Stop> {
        squares(filter, self)
    }

    /// What a number becomes.
    fn number(&mut self, filter: &Number<P>) -> Result<Number<Q>, Self::Stop> {
        number(filter, self)
    }

    /// What a string becomes.
    fn text(&mut self, filter: &Text<P>) -> Result<Text<Q>, Self::Stop> {
        text(filter, self)
    }

    /// What a position becomes.
    fn position(&mut self, filter: &Position<P>) -> Result<Position<Q>, Self::Stop> {
        position(filter, self)
    }

    /// What a filter of any kind becomes.
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

/// Defines the functions that make the same operation of operands that were rewritten.
macro_rules! same {
    ($($(#[$doc:meta])* $function:ident $kind:ident $op:ident $of_form:ident)+) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        ///
        /// What ends the rewriting.
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
    /// The same condition of operands that were rewritten.
    condition Condition ConditionOp of_condition
    /// The same set of operands that were rewritten.
    squares Squares SquaresOp of_squares
    /// The same number of operands that were rewritten.
    number Number NumberOp of_number
    /// The same string of operands that were rewritten.
    text Text TextOp of_text
    /// The same position of operands that were rewritten.
    position Position PositionOp of_position
}

/// A part of an operation: a filter, some of them, or something that holds none.
pub trait Operand<P: Form> {
    /// The same in another form of the tree.
    type Out<Q: Form>;

    /// Calls `visit` on the filters, in order, but on none below them.
    fn each_filter<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>));

    /// The same with all filters rewritten, in order.
    ///
    /// # Errors
    ///
    /// The first that ends the rewriting.
    fn remade<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<Self::Out<Q>, R::Stop>;
}

/// Things that hold no filters.
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
