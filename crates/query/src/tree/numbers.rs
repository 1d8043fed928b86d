//! Filters whose value is a number, or none.

use shakmaty::Color;

use super::{
    Any, Arith, Cmp, Control, Counted, Dirs, Form, GameNumber, Moves, Number, OfNumber, OneOrMore, Squares,
};

operands! {
    /// The operations of numbers.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum NumberOp<P: Form> {
        /// A literal.
        Int(i32),
        /// `#S`.
        Cardinality(Squares<P>),
        /// `:attackcount` of CQL 5: the number of pairs of a square of the first set and one of the second such that the piece on
        /// the first attacks the second.
        AttackCount(Squares<P>, Squares<P>),
        /// `:ray` and similar keywords of CQL 5: the number of lines in any of the directions that have as many occupied squares as
        /// there are sets, one in each set in order, with the first and the last at the ends. With `attack` a slider must stand at
        /// the start. No transform changes `dirs`.
        RayCount { dirs: Dirs, attack: bool, sets: OneOrMore<Squares<P>> },
        /// The value of the pieces on a set: 9, 5, 3, 3, 1, 0 for each kind.
        Power(Squares<P>),
        /// The rank, 1..8, if the set is one square.
        Rank(Squares<P>),
        /// The file, 1..8, if the set is one square.
        File(Squares<P>),
        /// `type`, `colortype` (`signed`), if the set is one square.
        ContentType { signed: bool, of: Squares<P> },
        /// 32-bit arithmetic, which wraps; a division by zero has no value.
        Arith(Arith, Number<P>, Number<P>),
        /// `-n`.
        Neg(Number<P>),
        /// `abs n`.
        Abs(Number<P>),
        /// The integer part of the square root; no value for a negative number.
        Sqrt(Number<P>),
        /// `flip lo hi F` and `find lo hi F` with variables for the range: the value of `of` if it lies in the range, else no
        /// value.
        InRange { lo: Number<P>, hi: Number<P>, of: Number<P> },
        /// The largest operand; operands without a value are skipped.
        Max(OneOrMore<Number<P>>),
        /// The smallest operand; operands without a value are skipped.
        Min(OneOrMore<Number<P>>),
        /// The left operand if the relation holds. `!=` is a condition: [`super::ConditionOp::Differ`].
        Compare(Cmp, Number<P>, Number<P>),
        /// `white`, `black`: 1 and -1.
        ColorValue(Color),
        /// `sidetomove`: 1 and -1.
        SideToMove,
        /// The number of half-moves played.
        Ply,
        /// The move number: 1 at the start of the game, and one more after each move of Black.
        MoveNumber,
        /// The number of the game, from 1, over all sources; skipped games count.
        GameNumber,
        /// The year of the date tag, if it is at least 1.
        Year,
        /// `elo white`, `elo black`, `elo` (the higher one): ratings of at least 1.
        Elo(Option<Color>),
        /// `countmoves legal L--R(...)`: the number of (from, to) pairs.
        LegalCount(Moves<P>),
        /// `find count F`, `find lo hi F`: the number of positions from this one on, or with `back` up to this one, at which F
        /// matches.
        Find { back: bool, quiet: bool, counted: Counted, of: Any<P> },
        /// An operation that hands on a number.
        Control(Control<P, Number<P>>),
        /// A number that depends on the game, or on what was evaluated before.
        Game(GameNumber<P>),
        /// A number that only this form of the tree has.
        Form(OfNumber<P>),
    }
}
