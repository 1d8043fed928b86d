//! What filters hold beside other filters: pieces, directions, operators, kinds.

use orbit_core::board::{Code, PieceSet, moves::MoveRequest};

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

    /// The operator that says the same of exchanged operands.
    pub const fn swapped(self) -> Cmp {
        match self {
            Cmp::Lt => Cmp::Gt,
            Cmp::Le => Cmp::Ge,
            Cmp::Gt => Cmp::Lt,
            Cmp::Ge => Cmp::Le,
            same => same,
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

/// How the copies or positions that match are counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Counted {
    /// `count`: how many match.
    All,
    /// `lo hi`: that number if it lies in the range, else no value.
    Range(i32, i32),
}

/// How the letter of a piece is written where it is a string.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Spelt {
    /// `typename`: large letters for both sides.
    Type,
    /// `piecename`: small letters for Black.
    Piece,
}

impl Spelt {
    /// The letter of what stands on a square, `_` where nothing does.
    pub fn letter(self, content: Code) -> char {
        match (content.piece(), self) {
            (None, _) => '_',
            (Some(piece), Spelt::Piece) => piece.char(),
            (Some(piece), Spelt::Type) => piece.role.upper_char(),
        }
    }
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

impl Special {
    /// These moves, pseudolegal ones or legal ones.
    pub fn asked(self, pseudo: bool) -> MoveRequest {
        let any = self == Special::Any;
        let castling = [Special::KingSide, Special::QueenSide];
        MoveRequest {
            pseudo,
            ordinary: any,
            castling: castling.map(|side| any || self == Special::Castle || self == side),
            en_passant: any || self == Special::EnPassant,
        }
    }
}

/// The contents of a square that pass a test.
pub fn contents_where(mut test: impl FnMut(Code) -> bool) -> PieceSet {
    let contents = (0..15u8).map(Code).filter(|&code| PieceSet::ALL.contains(code) && test(code));
    PieceSet(contents.fold(0, |set, code| set | 1 << code.0))
}
