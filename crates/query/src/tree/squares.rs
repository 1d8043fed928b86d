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
        /// A designator such as `Nd4`. Its value contains each square of `squares` whose content is one of `pieces`.
        Designator { pieces: Pieces, squares: Bitboard },
        /// A constant set that no transform changes: `.`, `makesquare "e4"`, or `[]`, the empty set. It is not a designator.
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
        /// Three or more operands joined by arrows. The value is a subset of the first operand. If `forward` is true, the arrows
        /// are `->` and the first operand attacks. Otherwise the arrows are `<-` and the last operand attacks.
        Xray { forward: bool, sets: OneOrMore<Squares<P>> },
        /// `between(x y)`: the squares between a square of x and a square of y.
        Between(Squares<P>, Squares<P>),
        /// `ray`, `xray`: the squares of the last set that lie on a line with squares of all the other sets. With `attack`, a
        /// queen, rook or bishop must stand at the start of the line.
        Ray { dirs: Dirs, attack: bool, sets: OneOrMore<Squares<P>> },
        /// `pin`: the squares of the pinning, the pinned or the protected pieces. If the query leaves out `from`, `through` or
        /// `to`, the parser fills in a default set.
        Pin { value: PinPart, from: Squares<P>, through: Squares<P>, to: Squares<P> },
        /// `up 1 7 S` and the other directions: the squares that are `lo` to `hi` steps away from a square of S.
        Direction { dirs: Dirs, lo: i8, hi: i8, of: Squares<P> },
        /// A direction whose range contains a variable. A distance above 7 reaches no square.
        DirectionWithin { dirs: Dirs, lo: Number<P>, hi: Number<P>, of: Squares<P> },
        /// `light S`, `dark S`: the squares of S that are light or dark.
        Shade { light: bool, of: Squares<P> },
        /// `passedpawns` and the other pawn filters. No transform changes them.
        Pawns(PawnKind),
        /// `puremate` and similar filters: the squares of the men that take part in the mate or, without `mate`, in the
        /// stalemate. The set is empty if the position is not such a mate or stalemate. No transform changes the set.
        /// The rule is in `docs/mates.md`.
        Pure { kind: PureKind, mate: bool },
        /// `makesquare(file rank)`: the square with the given file and rank.
        MakeSquare { file: Number<P>, rank: Number<P> },
        /// `square v in S body`: the squares of S for which the body matches.
        SquareLoop { var: VarId, domain: Squares<P>, body: Any<P> },
        /// `legal L--R(...)`: the target squares of legal moves. For castling, this is the king's target square.
        Legal(Moves<P>),
        /// An operation, such as braces or `if`, whose value is the value of another set.
        Control(Control<P, Squares<P>>),
        /// A set that needs more of the game than the current position, or that depends on filters evaluated before it.
        Game(GameSquares<P>),
        /// A set that exists only in the form `P` of the tree, such as a transform.
        Form(OfSquares<P>),
    }
}

operands! {
    /// Legal or pseudolegal moves of the current position.
    #[derive(Clone, Debug)]
    pub struct Moves<P: Form> {
        /// True if moves that leave the mover's king in check are included.
        pub pseudo: bool,
        /// The kind of moves that are included.
        pub only: Special,
        /// The origin square of the move must be in this set.
        pub from: Squares<P>,
        /// The target square of the move must be in this set.
        pub to: Squares<P>,
    }
}
