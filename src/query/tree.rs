//! The typed tree of a query: what every stage after the parser works on.
//!
//! Every [`Node`] is an operation with members of its own ([`Op`]) and children (`args`). Members
//! hold all that a transform can change; children are transformed recursively. Transforms stand in
//! the tree as written: nobody has expanded anything yet.
//!
//! Invariant: a tree that the parser hands out is well typed. Children have the types that the
//! operation's documentation names, and every variable is assigned before it is read.

use shakmaty::{Bitboard, Color};

use crate::{
    board::{Code, PieceSet},
    diagnostic::Span,
};

/// A whole query.
#[derive(Clone, Debug)]
pub struct Query {
    /// The top-level filters, as one [`Op::Compound`] if there are several.
    pub body: Node,
    /// The local variables, indexed by [`VarId`].
    pub vars: Vec<Var>,
}

/// A local variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Var {
    /// Its name in the query.
    pub name: String,
    /// [`Type::Set`] or [`Type::Num`].
    pub ty: Type,
}

/// Index into [`Query::vars`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VarId(pub u32);

/// The type of a filter's value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Type {
    /// True or false. Matches if true.
    Bool,
    /// A set of squares. Matches if not empty.
    Set,
    /// A 32-bit number or no value. Matches if it has a value, 0 included.
    Num,
    /// A string that is constant in a game, or no value. Matches if it has a value.
    Str,
    /// A position of the game, named by the half-moves played before it, or no value. Matches if it has a
    /// value.
    Position,
}

/// One filter.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// The type of its value.
    pub ty: Type,
    /// Where it stands in the query text.
    pub span: Span,
    /// Its operands.
    pub args: Vec<Node>,
}

impl Node {
    /// Builds a node.
    pub fn new(op: Op, ty: Type, span: Span, args: Vec<Node>) -> Node {
        Node { op, ty, span, args }
    }

    /// Calls `visit` on this node and everything below it, parents first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        visit(self);
        for arg in &self.args {
            arg.walk(visit);
        }
    }
}

/// The pieces of a designator. `A` and `a` are flags apart from the list: orbit copies are compared
/// by structure, and `A` is not the same structure as `[KQRBNP]`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pieces {
    /// `A`: any white piece.
    pub all_white: bool,
    /// `a`: any black piece.
    pub all_black: bool,
    /// Pieces (and the empty square, `_`) named one by one.
    pub list: PieceSet,
}

impl Pieces {
    /// The pieces of a designator that names none (`a4`): white, black and empty.
    pub const UNNAMED: Pieces = Pieces { all_white: true, all_black: true, list: PieceSet::EMPTY };

    /// All contents that the designator accepts.
    pub fn accepts(self) -> PieceSet {
        let mut out = self.list;
        if self.all_white {
            out = out.union(PieceSet::WHITE);
        }
        if self.all_black {
            out = out.union(PieceSet::BLACK);
        }
        out
    }
}

/// A set of the eight compass directions. Bit `k` is direction `k`, counted counter-clockwise from
/// right: 0 right, 1 northeast, 2 up, 3 northwest, 4 left, 5 southwest, 6 down, 7 southeast.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Dirs(pub u8);

impl Dirs {
    /// All eight.
    pub const ALL: Dirs = Dirs(0xff);
    /// Steps (files, ranks) of the eight directions, in bit order.
    pub const STEPS: [(i8, i8); 8] = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];

    /// The steps of the directions in the set.
    pub fn steps(self) -> impl Iterator<Item = (i8, i8)> {
        (0..8).filter(move |k| self.0 >> k & 1 != 0).map(|k| Dirs::STEPS[k as usize])
    }
}

/// Comparison operators.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Cmp {
    /// The operator as CQL writes it.
    pub const fn sign(self) -> &'static str {
        match self {
            Cmp::Eq => "==",
            Cmp::Ne => "!=",
            Cmp::Lt => "<",
            Cmp::Le => "<=",
            Cmp::Gt => ">",
            Cmp::Ge => ">=",
        }
    }

    /// Applies the operator to an ordering of its operands.
    pub fn holds(self, ordering: std::cmp::Ordering) -> bool {
        match self {
            Cmp::Eq => ordering.is_eq(),
            Cmp::Ne => ordering.is_ne(),
            Cmp::Lt => ordering.is_lt(),
            Cmp::Le => ordering.is_le(),
            Cmp::Gt => ordering.is_gt(),
            Cmp::Ge => ordering.is_ge(),
        }
    }
}

/// Two-operand arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// The four pawn-structure sets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum PawnKind {
    Passed,
    Isolated,
    Doubled,
    Connected,
}

/// How many men have to take part in a pure mate or stalemate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PureKind {
    /// Any number.
    Pure,
    /// All queens, rooks, bishops and knights of the side that gave it.
    Model,
    /// All men of both sides.
    Ideal,
}

/// Which of its three parts a `pin` returns: the one written first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum PinPart {
    From,
    Through,
    To,
}

/// The result that a game's movetext ends with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum GameResult {
    WhiteWins,
    BlackWins,
    Draw,
}

/// The transform keywords.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names are CQL's")]
pub enum TransformKind {
    Flip,
    FlipVertical,
    FlipHorizontal,
    Rotate90,
    Rotate45,
    FlipColor,
    ReverseColor,
    Shift,
    ShiftHorizontal,
    ShiftVertical,
}

/// The transform keywords of a position list of CQL 5. Its shifts are not those of CQL 6: squares at
/// the edge that a shift leads away from move and stay as well.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names are those of CQL 5")]
pub enum ListTransform {
    Flip,
    FlipHorizontal,
    FlipVertical,
    FlipDiagonal,
    FlipOffDiagonal,
    FlipColor,
    Shift,
    ShiftHorizontal,
    ShiftVertical,
    ShiftMainDiagonal,
    ShiftOffDiagonal,
    ShiftDiagonal,
}

/// What a transform makes of its copies, and `find` of the positions that it tries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Tally {
    /// Nothing written: union, maximum or "any", by the argument's type; the nearest position.
    Any,
    /// `count`: the number of copies or positions that match.
    Count,
    /// `lo hi`: that number if it lies in the range, else no value.
    Range(i32, i32),
}

/// Restricts `legal --(...)` to some moves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names are CQL's")]
pub enum Special {
    Any,
    Castle,
    KingSide,
    QueenSide,
    EnPassant,
}

/// What a node does. `[...]` names its operands and their types, `->` the type of its value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    // ---- sets of squares
    /// Piece designator -> Set: the squares of `squares` whose content is one of `pieces`.
    Designator {
        #[allow(missing_docs)]
        pieces: Pieces,
        #[allow(missing_docs)]
        squares: Bitboard,
    },
    /// `.` or `makesquare "e4"` -> Set: a constant that no transform changes and that is no
    /// designator; `[]` is the empty one.
    Squares(Bitboard),
    /// `[Set, Set] -> Set`.
    Union,
    /// `[Set, Set] -> Set`.
    Intersect,
    /// `[Set] -> Set`.
    Complement,
    /// `X attacks Y`, `X->Y`: `[X: Set, Y: Set] -> Set`, the squares of X whose piece attacks a
    /// square of Y.
    Attacks,
    /// `Y attackedby X`, `Y<-X`: `[Y: Set, X: Set] -> Set`, the squares of Y that a piece on X
    /// attacks.
    AttackedBy,
    /// A chain of three or more arrows: `[Set; n] -> Set`, a subset of the first operand. `forward`
    /// is `->` (the first operand attacks), else `<-` (the last one does).
    Xray {
        #[allow(missing_docs)]
        forward: bool,
    },
    /// `[Set, Set] -> Set`.
    Between,
    /// `ray`, `xray`: `[Set; n] -> Set`, n >= 2. `attack` asks for a slider at the start.
    Ray {
        #[allow(missing_docs)]
        dirs: Dirs,
        #[allow(missing_docs)]
        attack: bool,
    },
    /// `[from: Set, through: Set, to: Set] -> Set`, defaults filled in.
    Pin {
        #[allow(missing_docs)]
        value: PinPart,
    },
    /// `up 1 7 S` and the like: `[Set] -> Set`.
    Direction {
        #[allow(missing_docs)]
        dirs: Dirs,
        #[allow(missing_docs)]
        lo: i8,
        #[allow(missing_docs)]
        hi: i8,
    },
    /// The same with a range of variables: `[lo: Num, hi: Num, Set] -> Set`; steps beyond 7 reach nothing.
    DirectionWithin {
        #[allow(missing_docs)]
        dirs: Dirs,
    },
    /// `light S`, `dark S`: `[Set] -> Set`.
    Shade {
        #[allow(missing_docs)]
        light: bool,
    },
    /// `[] -> Set`; `notransform` by nature.
    Pawns(PawnKind),
    /// `puremate` and its kin: `[] -> Set`, the squares of the men that take part, none where the position
    /// is no such mate (or stalemate, without `mate`); the same under every transform. `docs/mates.md` has
    /// the rule.
    Pure {
        #[allow(missing_docs)]
        kind: PureKind,
        #[allow(missing_docs)]
        mate: bool,
    },
    /// `makesquare(file rank)`: `[Num, Num] -> Set`.
    MakeSquare,
    /// `square v in S body`: `[domain: Set, body: any type] -> Set`.
    SquareLoop {
        #[allow(missing_docs)]
        var: VarId,
    },
    /// `square all v in S body`: `[domain: Set, body: any type] -> Bool`.
    SquareAll {
        #[allow(missing_docs)]
        var: VarId,
    },
    /// `legal L--R(...)`: `[L: Set, R: Set] -> Set` of arrival squares (castling: the king's), or
    /// with `count` `-> Num`, the number of (from, to) pairs. `pseudo` leaves out king safety.
    Legal {
        #[allow(missing_docs)]
        pseudo: bool,
        #[allow(missing_docs)]
        count: bool,
        #[allow(missing_docs)]
        only: Special,
    },

    // ---- any type
    /// A variable's value -> its type.
    Var(VarId),
    /// `if c then t [else e]`: `[any, any(, any)]`. With else and two branches of one type other
    /// than Str, that type; otherwise Bool, and without else true where c fails.
    If,
    /// `{f1 ... fn}`: the type of fn, or Bool: whether all match. All must match; if an earlier one
    /// fails the value is false, the empty set, or no value. Later filters are not evaluated then.
    Compound,
    /// A transform: `[F]`, the filter transformed. With `Tally::Any` Set and Num keep their type,
    /// all else becomes Bool; otherwise Num.
    Transform(TransformKind, Tally),
    /// The transform keywords of a CQL 5 list, each once: `[F: Bool] -> Bool`, whether a copy by one
    /// element of each of them matches, taken in any order.
    ListTransforms(Vec<ListTransform>),
    /// `notransform F`: `[F] ->` F's type.
    NoTransform,

    // ---- other positions of the game
    /// `find F`: `[F: any]`, evaluated at this position and at all that follow it, or with `back` at this one
    /// and at all before it. `Tally::Any -> Position`, the nearest at which F matches; otherwise `-> Num`, at
    /// how many it does. F and what is around it share no variables.
    Find {
        #[allow(missing_docs)]
        back: bool,
        #[allow(missing_docs)]
        tally: Tally,
    },

    // ---- booleans
    /// `true`, `false`.
    Bool(bool),
    /// `[any, any] -> Bool`, left to right, stops at the first failure.
    And,
    /// `[any, any] -> Bool`, left to right, stops at the first success.
    Or,
    /// `[any] -> Bool`.
    Not,
    /// `in` on sets: `[Set, Set] -> Bool`, subset.
    Subset,
    /// `==`, `!=` on sets: `[Set, Set] -> Bool`.
    SetEq {
        #[allow(missing_docs)]
        equal: bool,
    },
    /// `[] -> Bool`: the side to move is in check.
    Check,
    /// `[] -> Bool`: in check without a legal move.
    Mate,
    /// `[] -> Bool`: not in check, without a legal move.
    Stalemate,
    /// `[] -> Bool`: the first position of a game.
    Initial,
    /// `[] -> Bool`: the last position of a game.
    Terminal,
    /// `wtm`, `btm`: `[] -> Bool`.
    ToMove(Color),
    /// `result 1-0`: `[] -> Bool`.
    Result(GameResult),
    /// `v = F`: `[Set or Num] -> Bool`, true if F has a value (a set always has one).
    Assign(VarId),
    /// `typename S == "N"` and all other tests of a square's letter against a literal:
    /// `[Set] -> Bool`, true if S is one square and its content is in the set.
    ContentIs(PieceSet),

    // ---- numbers
    /// A literal.
    Int(i32),
    /// `#S`: `[Set] -> Num`.
    Cardinality,
    /// `:attackcount` of CQL 5: `[X: Set, Y: Set] -> Num`, the number of pairs of a square of X and
    /// one of Y of which the first holds a piece that attacks the second.
    AttackCount,
    /// `:ray` and its kin of CQL 5: `[Set; n] -> Num`, n >= 2, the number of lines, each in its
    /// direction, whose occupied squares are n and lie in these sets, in this order, the first and
    /// the last at the ends. `attack` asks for a slider at the start. No transform changes `dirs`.
    RayCount {
        #[allow(missing_docs)]
        dirs: Dirs,
        #[allow(missing_docs)]
        attack: bool,
    },
    /// `[Set] -> Num`: 9, 5, 3, 3, 1, 0.
    Power,
    /// `[Set] -> Num`: 1..8 if the set is one square.
    Rank,
    /// `[Set] -> Num`: 1..8 if the set is one square.
    File,
    /// `type`, `colortype` (`signed`): `[Set] -> Num` if the set is one square.
    ContentType {
        #[allow(missing_docs)]
        signed: bool,
    },
    /// `[Num, Num] -> Num`, wrapping; division by zero has no value.
    Arith(Arith),
    /// `[Num] -> Num`.
    Neg,
    /// `[Num] -> Num`.
    Abs,
    /// `[Num] -> Num`: the integer part of the root, none of a negative number.
    Sqrt,
    /// `flip lo hi F` and `find lo hi F` with variables for the range: `[lo: Num, hi: Num, n: Num] -> Num`, n if
    /// it lies in the range, else no value.
    InRange,
    /// `[Num; n] -> Num`, n >= 2, operands without value skipped.
    Max,
    /// `[Num; n] -> Num`, n >= 2, operands without value skipped.
    Min,
    /// `[Num, Num] -> Num`, the left value if the relation holds. `!=` is Bool, and true where a side has no value.
    Compare(Cmp),
    /// `white`, `black`: `[] -> Num`, 1 and -1.
    ColorValue(Color),
    /// `sidetomove`: `[] -> Num`, 1 and -1.
    SideToMove,
    /// `[] -> Num`: half-moves played.
    Ply,
    /// `[] -> Num`: counted from 1 at the start of the game, one more after each move of Black.
    MoveNumber,
    /// `[] -> Num`: numbered from 1, skipped games included, over all sources.
    GameNumber,
    /// `[] -> Num`: the year of the date tag, if it is at least 1.
    Year,
    /// `elo white`, `elo black`, `elo` (the larger): `[] -> Num`, ratings of at least 1.
    Elo(Option<Color>),

    // ---- strings, constant in a game
    /// A literal -> Str.
    Str(String),
    /// `tag "X"`, `event`, `site`, `date`, `eventdate`, `eco`: `[] -> Str`, none if absent. White, Black, Event
    /// and Site are `?` if absent, names have their blanks in order, and dates are filled with `?`.
    Tag(String),
    /// `player white`, `player black`, `player` (white, line feed, black): `[] -> Str`.
    Player(Option<Color>),
    /// `[Str, Str] -> Bool`, bytewise; without a value `!=` is true, all else false.
    StrCompare(Cmp),
    /// `a in b`: `[a: Str, b: Str] -> Bool`, substring; false without a value.
    StrIn,
}

impl Op {
    /// Whether this is the tag of a player's name.
    pub fn is_name_tag(&self) -> bool {
        matches!(self, Op::Tag(name) if name == "White" || name == "Black")
    }

    /// The set of contents that a piece letter test names, for [`Op::ContentIs`].
    pub fn contents_where(mut test: impl FnMut(Code) -> bool) -> PieceSet {
        PieceSet(
            (0..15u8)
                .map(Code)
                .filter(|&c| PieceSet::ALL.contains(c) && test(c))
                .fold(0, |set, c| set | 1 << c.0),
        )
    }
}
