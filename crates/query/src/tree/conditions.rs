//! Filters whose value is true or false.

use shakmaty::Color;

use super::{
    Any, Assigned, Cmp, Form, GameCondition, GameResult, Number, OfCondition, Spelt, Squares, Text, VarId,
};
use orbit_core::board::PieceSet;

operands! {
    /// The operations of conditions.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum ConditionOp<P: Form> {
        /// `true`, `false`.
        Bool(bool),
        /// `F and G`: evaluated left to right, up to the first failure.
        And(Any<P>, Any<P>),
        /// `F or G`: evaluated left to right, up to the first success.
        Or(Any<P>, Any<P>),
        /// `not F`.
        Not(Any<P>),
        /// `if c then t [else e]`; without `else` it is true where c fails.
        If { condition: Any<P>, then: Any<P>, other: Option<Any<P>> },
        /// `{f1 ... fn}` whose last filter is a condition: true if all match, evaluated left to right up to the first failure.
        Braces(Vec<Any<P>>),
        /// `in` on sets: subset.
        Subset(Squares<P>, Squares<P>),
        /// `==`, `!=` on sets.
        SetEq { equal: bool, left: Squares<P>, right: Squares<P> },
        /// The side to move is in check.
        Check,
        /// In check without a legal move.
        Mate,
        /// Not in check, without a legal move.
        Stalemate,
        /// The first position of a game.
        Initial,
        /// The last position of a game.
        Terminal,
        /// `wtm`, `btm`.
        ToMove(Color),
        /// `result 1-0`.
        Result(GameResult),
        /// `v = F`: true if F has a value (a set always has one), which then becomes the variable's value.
        Assign(VarId, Assigned<P>),
        /// `typename S == "N"` and all other tests of a square's letter against a literal: true if S is one square and its content
        /// is in the set. With `spelt` it is the letter itself, which the grammar treats as a string; it is true where there is a
        /// letter.
        ContentIs { contents: PieceSet, of: Squares<P>, spelt: Option<Spelt> },
        /// `square all v in S body`: the body matches for all squares of S.
        SquareAll { var: VarId, domain: Squares<P>, body: Any<P> },
        /// `a != b` on numbers; also true where a side has no value.
        Differ(Number<P>, Number<P>),
        /// A bytewise comparison; if an operand has no value, `!=` is true and all others are false. The grammar treats all but
        /// `!=` as strings: see [`super::TextOp::Compare`].
        TextCompare(Cmp, Text<P>, Text<P>),
        /// `a in b`: substring; false without a value.
        TextIn(Text<P>, Text<P>),
        /// A condition that depends on the game, or on what was evaluated before.
        Game(GameCondition<P>),
        /// A condition that only this form of the tree has.
        Form(OfCondition<P>),
    }
}
