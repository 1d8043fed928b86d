//! Filters whose value is a number. Such a filter may have no value.

use shakmaty::Color;

use super::{
    Any, Arith, Cmp, Control, Counted, Dirs, Form, GameNumber, Moves, Number, OfNumber, OneOrMore, Squares,
};

operands! {
    /// The operations whose value is a number.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum NumberOp<P: Form> {
        /// A literal number.
        Int(i32),
        /// `#S`: the number of squares in a set.
        Cardinality(Squares<P>),
        /// CQL 5 `:attackcount`: the number of pairs of squares, one from each set, in which the piece on the first square attacks
        /// the second square.
        AttackCount(Squares<P>, Squares<P>),
        /// CQL 5 `:ray` and similar keywords: the number of lines of squares with one occupied square in each set, in the order of
        /// the sets, and no other occupied square. The first and the last of these squares are the ends of the line. With `attack`,
        /// a queen, rook or bishop must stand at the start. `dirs` lists the directions in which the line may run; no transform
        /// changes it.
        RayCount { dirs: Dirs, attack: bool, sets: OneOrMore<Squares<P>> },
        /// `power S`: the total value of the pieces on a set. A queen counts 9, a rook 5, a bishop or a knight 3, a pawn 1 and a
        /// king 0.
        Power(Squares<P>),
        /// The rank of a square, 1..8, if the set is one square; otherwise no value.
        Rank(Squares<P>),
        /// The file of a square, 1..8, if the set is one square; otherwise no value.
        File(Squares<P>),
        /// The kind of the piece as a number, if the set is one square; otherwise no value. The word is `type`, or `colortype` if
        /// `signed` is true.
        ContentType { signed: bool, of: Squares<P> },
        /// 32-bit arithmetic that wraps around on overflow. A division by zero has no value.
        Arith(Arith, Number<P>, Number<P>),
        /// `-n`: the number with the opposite sign.
        Neg(Number<P>),
        /// `abs n`: the absolute value of the number.
        Abs(Number<P>),
        /// The integer part of the square root. For a negative number, there is no value.
        Sqrt(Number<P>),
        /// The value of `of` if it lies in the range; otherwise no value. The parser generates this operation for `flip lo hi F`
        /// and `find lo hi F` if a bound is a variable.
        InRange { lo: Number<P>, hi: Number<P>, of: Number<P> },
        /// The largest of the operands' values. Operands without a value are skipped.
        Max(OneOrMore<Number<P>>),
        /// The smallest of the operands' values. Operands without a value are skipped.
        Min(OneOrMore<Number<P>>),
        /// A comparison. If it is true, its value is the left operand; otherwise it has no value. `!=` is a condition instead:
        /// [`super::ConditionOp::Differ`].
        Compare(Cmp, Number<P>, Number<P>),
        /// `white`, `black`: the numbers 1 and -1.
        ColorValue(Color),
        /// `sidetomove`: 1 if White is to move, -1 if Black is.
        SideToMove,
        /// The number of half-moves played.
        Ply,
        /// The move number. It is 1 at the start of the game and increases by one after each move by Black.
        MoveNumber,
        /// The number of the game, counted from 1 across all inputs. Skipped games are counted, too.
        GameNumber,
        /// The year in the Date tag. There is no value if the year is unknown or below 1.
        Year,
        /// `elo white`, `elo black`: the rating of a player. `elo` alone is the higher rating. There is no value if the rating is
        /// unknown or below 1.
        Elo(Option<Color>),
        /// `countmoves legal L--R(...)`: the number of legal moves. Moves with the same origin and target squares count as one.
        LegalCount(Moves<P>),
        /// `find count F`, `find lo hi F`: the number of positions at which F matches. The search runs from the current position
        /// to the end or, with `back`, from the start to the current position.
        Find { back: bool, quiet: bool, counted: Counted, of: Any<P> },
        /// An operation, such as braces or `if`, whose value is the value of another number.
        Control(Control<P, Number<P>>),
        /// A number that needs more of the game than the current position, or that depends on filters evaluated before it.
        Game(GameNumber<P>),
        /// A number that exists only in the form `P` of the tree, such as a transform.
        Form(OfNumber<P>),
    }
}
