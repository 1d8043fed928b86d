//! Filters whose value is a set of squares.

use shakmaty::Bitboard;

use super::{
    Any, Control, Dirs, Form, GameSquares, Number, OfSquares, OneOrMore, PawnKind, Pieces, PinPart, PureKind,
    Special, Squares, VarId,
};

operands! {
    /// The operations of sets of squares.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum SquaresOp<P: Form> {
        /// The squares of `squares` whose content is one of `pieces`.
        Designator { pieces: Pieces, squares: Bitboard },
        /// `.` or `makesquare "e4"`: a constant that is no designator and that no transform changes; `[]` is the empty one.
        Constant(Bitboard),
        /// `x | y`.
        Union(Squares<P>, Squares<P>),
        /// `x & y`.
        Intersect(Squares<P>, Squares<P>),
        /// `~x`.
        Complement(Squares<P>),
        /// `x attacks y`, `x->y`: the squares of x whose piece attacks a square of y.
        Attacks(Squares<P>, Squares<P>),
        /// `y attackedby x`, `y<-x`: the squares of y that a piece on x attacks.
        AttackedBy(Squares<P>, Squares<P>),
        /// A chain of three or more arrows, a subset of the first operand. `forward` is `->` (the first operand
        /// attacks), else `<-` (the last one does).
        Xray { forward: bool, sets: OneOrMore<Squares<P>> },
        /// The squares between a square of x and a square of y.
        Between(Squares<P>, Squares<P>),
        /// `ray`, `xray`: squares of the last set. With `attack` a slider must stand at the start.
        Ray { dirs: Dirs, attack: bool, sets: OneOrMore<Squares<P>> },
        /// `pin`, with defaults filled in.
        Pin { value: PinPart, from: Squares<P>, through: Squares<P>, to: Squares<P> },
        /// `up 1 7 S` and the other directions.
        Direction { dirs: Dirs, lo: i8, hi: i8, of: Squares<P> },
        /// The same with variables for the range; steps beyond 7 reach nothing.
        DirectionWithin { dirs: Dirs, lo: Number<P>, hi: Number<P>, of: Squares<P> },
        /// `light S`, `dark S`.
        Shade { light: bool, of: Squares<P> },
        /// `passedpawns` and the other pawn filters; no transform changes them.
        Pawns(PawnKind),
        /// `puremate` and similar filters: the squares of the men that take part; empty if the position is no such mate (or
        /// stalemate, without `mate`). Every transform gives the same set. The rule is in `docs/mates.md`.
        Pure { kind: PureKind, mate: bool },
        /// `makesquare(file rank)`.
        MakeSquare { file: Number<P>, rank: Number<P> },
        /// `square v in S body`: the squares of S for which the body matches.
        SquareLoop { var: VarId, domain: Squares<P>, body: Any<P> },
        /// `legal L--R(...)`: the arrival squares; of castling, the king's.
        Legal(Moves<P>),
        /// An operation that hands on a set.
        Control(Control<P, Squares<P>>),
        /// A set that depends on the game, or on what was evaluated before.
        Game(GameSquares<P>),
        /// A set that only this form of the tree has.
        Form(OfSquares<P>),
    }
}

operands! {
    /// Moves that could be played.
    #[derive(Clone, Debug)]
    pub struct Moves<P: Form> {
        /// True if moves may leave the king in check.
        pub pseudo: bool,
        /// The kind of the moves.
        pub only: Special,
        /// The set that contains the squares that they leave.
        pub from: Squares<P>,
        /// The set that contains the squares that they reach.
        pub to: Squares<P>,
    }
}
