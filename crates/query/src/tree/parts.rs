//! Parts of filters that are not themselves filters: pieces, directions, operators, and kinds of moves and transforms.

use orbit_core::board::{Code, PieceSet, moves::MoveRequest};

/// The pieces that a designator names. `A` and `a` are separate flags, because copies (transformed filters) are compared by their
/// structure: `A` and `[KQRBNP]` name the same pieces but are different designators.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pieces {
    /// `A`: any white piece.
    pub all_white: bool,
    /// `a`: any black piece.
    pub all_black: bool,
    /// Pieces that are named one by one. They may include the empty square, `_`.
    pub list: PieceSet,
}

impl Pieces {
    /// No piece and no empty square.
    pub const NONE: Pieces = Pieces::listed(PieceSet::NONE);

    /// The pieces of a designator that names no piece, such as `a4`. It accepts white pieces, black pieces and the empty square.
    pub const UNNAMED: Pieces = Pieces { all_white: true, all_black: true, list: PieceSet::EMPTY };

    /// Returns pieces that are named one by one.
    pub const fn listed(list: PieceSet) -> Pieces {
        Pieces { all_white: false, all_black: false, list }
    }

    /// Returns the pieces that either of two designators names.
    #[must_use]
    pub fn union(self, other: Pieces) -> Pieces {
        Pieces {
            all_white: self.all_white | other.all_white,
            all_black: self.all_black | other.all_black,
            list: self.list.union(other.list),
        }
    }

    /// Returns the square contents that the designator accepts.
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
    /// The set of all eight directions.
    pub const ALL: Dirs = Dirs(0xff);
    /// The steps of the eight directions as (files, ranks), in the order of the bits.
    pub const STEPS: [(i8, i8); 8] = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];

    /// Returns the steps of the directions in the set.
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
    /// Returns the operator as CQL writes it.
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

    /// Returns the operator that expresses the same relation after the operands are swapped: `<` for `>`, because `a > b` means `b
    /// < a`.
    pub const fn swapped(self) -> Cmp {
        match self {
            Cmp::Lt => Cmp::Gt,
            Cmp::Le => Cmp::Ge,
            Cmp::Gt => Cmp::Lt,
            Cmp::Ge => Cmp::Le,
            same => same,
        }
    }

    /// Returns true if operands with this ordering satisfy the comparison.
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

/// The arithmetic operators that have two operands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// The four kinds of pawn sets, such as passed pawns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum PawnKind {
    Passed,
    Isolated,
    Doubled,
    Connected,
}

/// The kind of a pure mate or stalemate, defined by the men that must take part in it; see `docs/mates.md`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PureKind {
    /// No man is required to take part.
    Pure,
    /// All queens, rooks, bishops and knights of the side that mates (or stalemates) must take part.
    Model,
    /// All men of both sides must take part.
    Ideal,
}

/// The part of a `pin` filter that determines its value: the one that the query names first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum PinPart {
    From,
    Through,
    To,
}

/// The result with which a game's movetext ends.
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

/// The transform keywords in a CQL 5 position list. Shifts differ from those of CQL 6: if a shift moves a square away from the edge
/// of the board, the result contains both the old square and the new one.
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

/// The value of a filter that counts matches: matching copies of a transformed filter, or matching positions of `find`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Counted {
    /// `count`: the value is the number of matches.
    All,
    /// `lo hi`: the value is the number of matches if it lies in the range. Otherwise there is no value.
    Range(i32, i32),
}

/// The spelling of a piece's letter in a string.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Spelt {
    /// `typename`: upper case for both sides.
    Type,
    /// `piecename`: lower case for Black.
    Piece,
}

impl Spelt {
    /// Returns the letter for the content of a square. It is `_` if the square is empty.
    pub fn letter(self, content: Code) -> char {
        match (content.piece(), self) {
            (None, _) => '_',
            (Some(piece), Spelt::Piece) => piece.char(),
            (Some(piece), Spelt::Type) => piece.role.upper_char(),
        }
    }
}

/// A kind of move to which a filter can be restricted.
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
    /// Returns the request for the moves of this kind: pseudolegal moves if `pseudo` is true, otherwise legal moves.
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

/// Returns the set of square contents (every piece, and the empty square) that pass a test.
pub fn contents_where(mut test: impl FnMut(Code) -> bool) -> PieceSet {
    let contents = (0..15u8).map(Code).filter(|&code| PieceSet::ALL.contains(code) && test(code));
    PieceSet(contents.fold(0, |set, code| set | 1 << code.0))
}
