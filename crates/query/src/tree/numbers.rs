//! Filters whose value is a number, or none.

use shakmaty::Color;

use super::{
    Any, Arith, Cmp, Control, Counted, Dirs, Form, GameNumber, Moves, Number, OfNumber, OneOrMore, Squares,
};

operands! {
    /// What a number does.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum NumberOp<P: Form> {
        /// A literal.
        Int(i32),
        /// `#S`.
        Cardinality(Squares<P>),
        /// `:attackcount` of CQL 5: the number of pairs of a square of the first set and one of the second of which
        /// the first holds a piece that attacks the second.
        AttackCount(Squares<P>, Squares<P>),
        /// `:ray` and its kin of CQL 5: the number of lines, each in its direction, whose occupied squares are as
        /// many as there are sets and lie in them, in this order, the first and the last at the ends. `attack` asks
        /// for a slider at the start. No transform changes `dirs`.
        RayCount { dirs: Dirs, attack: bool, sets: OneOrMore<Squares<P>> },
        /// 9, 5, 3, 3, 1, 0 for each piece.
        Power(Squares<P>),
        /// 1..8 if the set is one square.
        Rank(Squares<P>),
        /// 1..8 if the set is one square.
        File(Squares<P>),
        /// `type`, `colortype` (`signed`), if the set is one square.
        ContentType { signed: bool, of: Squares<P> },
        /// Wrapping; division by zero has no value.
        Arith(Arith, Number<P>, Number<P>),
        /// `-n`.
        Neg(Number<P>),
        /// `abs n`.
        Abs(Number<P>),
        /// The integer part of the root, none of a negative number.
        Sqrt(Number<P>),
        /// `flip lo hi F` and `find lo hi F` with variables for the range: `of` if it lies in the range, else no value.
        InRange { lo: Number<P>, hi: Number<P>, of: Number<P> },
        /// The largest; operands without value are skipped.
        Max(OneOrMore<Number<P>>),
        /// The smallest; operands without value are skipped.
        Min(OneOrMore<Number<P>>),
        /// The left value if the relation holds. `!=` is a condition: [`super::ConditionOp::Differ`].
        Compare(Cmp, Number<P>, Number<P>),
        /// `white`, `black`: 1 and -1.
        ColorValue(Color),
        /// `sidetomove`: 1 and -1.
        SideToMove,
        /// Half-moves played.
        Ply,
        /// Counted from 1 at the start of the game, one more after each move of Black.
        MoveNumber,
        /// Numbered from 1, skipped games included, over all sources.
        GameNumber,
        /// The year of the date tag, if it is at least 1.
        Year,
        /// `elo white`, `elo black`, `elo` (the larger): ratings of at least 1.
        Elo(Option<Color>),
        /// `countmoves legal L--R(...)`: the number of (from, to) pairs.
        LegalCount(Moves<P>),
        /// `find count F`, `find lo hi F`: at how many positions from this one on, or with `back` up to this one, F
        /// matches.
        Find { back: bool, quiet: bool, counted: Counted, of: Any<P> },
        /// What hands on a number.
        Control(Control<P, Number<P>>),
        /// What needs the game, or what was evaluated before.
        Game(GameNumber<P>),
        /// What only this form of the tree has.
        Form(OfNumber<P>),
    }
}
