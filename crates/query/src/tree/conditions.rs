//! Filters whose value is true or false.

use shakmaty::Color;

use super::{
    Any, Assigned, Cmp, Form, GameCondition, GameResult, Number, OfCondition, Spelt, Squares, Text, VarId,
};
use orbit_core::board::PieceSet;

operands! {
    /// The operations whose value is true or false.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum ConditionOp<P: Form> {
        /// `true`, `false`.
        Bool(bool),
        /// `F and G`. G is evaluated only if F matches.
        And(Any<P>, Any<P>),
        /// `F or G`. G is evaluated only if F does not match.
        Or(Any<P>, Any<P>),
        /// `not F`: true if F does not match.
        Not(Any<P>),
        /// `if c then t [else e]`. Without `else`, it is true if c does not match.
        If { condition: Any<P>, then: Any<P>, other: Option<Any<P>> },
        /// `{f1 ... fn}`, where fn is a condition. It is true if all filters match. Once a filter fails, the filters after it are
        /// not evaluated.
        Braces(Vec<Any<P>>),
        /// `in` on sets: the left set is a subset of the right one.
        Subset(Squares<P>, Squares<P>),
        /// `==` on sets, or `!=` if `equal` is false.
        SetEq { equal: bool, left: Squares<P>, right: Squares<P> },
        /// The side to move is in check.
        Check,
        /// The side to move is in check and has no legal move.
        Mate,
        /// The side to move is not in check and has no legal move.
        Stalemate,
        /// `initial`: the position is the first one of its game.
        Initial,
        /// `terminal`: the position is the last one of its line.
        Terminal,
        /// `wtm`, `btm`: this side is to move.
        ToMove(Color),
        /// `result 1-0`: the game has this result.
        Result(GameResult),
        /// `v = F`. It is true if F has a value, which is then assigned to the variable. A set always has a value.
        Assign(VarId, Assigned<P>),
        /// A comparison of a square's letter with a literal, such as `typename S == "N"`. It is true if S is exactly one square and
        /// the content of this square is in `contents`. `typename S` alone is stored in the same way, with all contents. If `spelt`
        /// is present, the condition can be used as a string: the letter, in this spelling.
        ContentIs { contents: PieceSet, of: Squares<P>, spelt: Option<Spelt> },
        /// `square all v in S body`: the body matches for each square of S.
        SquareAll { var: VarId, domain: Squares<P>, body: Any<P> },
        /// `a != b` on numbers. It is also true if one of the numbers has no value.
        Differ(Number<P>, Number<P>),
        /// A comparison of strings, byte by byte. If an operand has no value, `!=` is true and all other comparisons are false. The
        /// grammar treats all string comparisons except `!=` as strings; see [`super::TextOp::Compare`].
        TextCompare(Cmp, Text<P>, Text<P>),
        /// `a in b` on strings: a is a substring of b. It is false if either string has no value.
        TextIn(Text<P>, Text<P>),
        /// A condition that needs more of the game than the current position, or that depends on filters evaluated before it.
        Game(GameCondition<P>),
        /// A condition that exists only in the form `P` of the tree, such as a transform.
        Form(OfCondition<P>),
    }
}
