//! Filters whose value is a set of squares.

use shakmaty::Bitboard;

use super::{
    Any, Control, Dirs, Form, GameSquares, Number, OfSquares, OneOrMore, PawnKind, Pieces, PinPart, PureKind,
    Special, Squares, VarId,
};

operands! {
    /// The operations whose value is a set of squares.
    #[derive(Clone, Debug)]
    #[expect(missing_docs, reason = "operands are named as CQL names them")]
    pub enum SquaresOp<P: Form> {
        /// A designator such as `Nd4`: the squares among `squares` whose content is one of `pieces`.
        Designator { pieces: Pieces, squares: Bitboard },
        /// `.`, `makesquare "e4"` or `[]`, the empty set: a constant that is not a designator and that no transform changes.
        Constant(Bitboard),
        /// `x | y`: the squares that are in x or in y.
        Union(Squares<P>, Squares<P>),
        /// `x & y`: the squares that are in both x and y.
        Intersect(Squares<P>, Squares<P>),
        /// `~x`: the squares that are not in x.
        Complement(Squares<P>),
        /// `x attacks y`, `x->y`: the squares of x whose pieces attack a square of y.
        Attacks(Squares<P>, Squares<P>),
        /// `y attackedby x`, `y<-x`: the squares of y that are attacked by a piece on x.
        AttackedBy(Squares<P>, Squares<P>),
        /// A chain of three or more arrows. Its value is a subset of the first operand. In a chain of `->` (`forward`) the first
        /// operand attacks; in a chain of `<-` the last one does.
        Xray { forward: bool, sets: OneOrMore<Squares<P>> },
        /// `between(x y)`: the squares between a square of x and a square of y.
        Between(Squares<P>, Squares<P>),
        /// `ray`, `xray`: squares of the last set that are on a line with squares of all sets. With `attack`, a slider must stand
        /// at the start.
        Ray { dirs: Dirs, attack: bool, sets: OneOrMore<Squares<P>> },
        /// `pin`: the squares of one part of a pin. `from`, `through` and `to` have default sets if the query leaves them out.
        Pin { value: PinPart, from: Squares<P>, through: Squares<P>, to: Squares<P> },
        /// `up 1 7 S` and the other directions: the squares that are `lo` to `hi` steps away from a square of S.
        Direction { dirs: Dirs, lo: i8, hi: i8, of: Squares<P> },
        /// A direction whose range contains a variable. Steps beyond 7 reach no square.
        DirectionWithin { dirs: Dirs, lo: Number<P>, hi: Number<P>, of: Squares<P> },
        /// `light S`, `dark S`: the squares of S that have this colour.
        Shade { light: bool, of: Squares<P> },
        /// `passedpawns` and the other pawn filters; no transform changes them.
        Pawns(PawnKind),
        /// `puremate` and similar filters: the squares of the men that take part in the mate or, without `mate`, in the
        /// stalemate. The set is empty if the position is not such a mate or stalemate. No transform changes the set.
        /// The rule is in `docs/mates.md`.
        Pure { kind: PureKind, mate: bool },
        /// `makesquare(file rank)`: the square on a file and a rank.
        MakeSquare { file: Number<P>, rank: Number<P> },
        /// `square v in S body`: the squares of S for which the body matches.
        SquareLoop { var: VarId, domain: Squares<P>, body: Any<P> },
        /// `legal L--R(...)`: the squares that legal moves reach. For castling, the square that the king reaches.
        Legal(Moves<P>),
        /// An operation whose value is that of another set.
        Control(Control<P, Squares<P>>),
        /// A set that needs the game, or depends on filters that were evaluated before.
        Game(GameSquares<P>),
        /// A set that only this form of the tree has.
        Form(OfSquares<P>),
    }
}

operands! {
    /// Legal or pseudolegal moves of the current position.
    #[derive(Clone, Debug)]
    pub struct Moves<P: Form> {
        /// True if moves that leave the king in check are included.
        pub pseudo: bool,
        /// The kind to which the moves are restricted.
        pub only: Special,
        /// The set that must contain the square that a move leaves.
        pub from: Squares<P>,
        /// The set that must contain the square that a move reaches.
        pub to: Squares<P>,
    }
}
