//! Encodes the content of a square (a piece or nothing) in four bits.

use shakmaty::{Color, Piece, Role};

/// Returns the English name of a kind of piece.
pub fn role_name(role: Role) -> &'static str {
    match role {
        Role::Pawn => "pawn",
        Role::Knight => "knight",
        Role::Bishop => "bishop",
        Role::Rook => "rook",
        Role::Queen => "queen",
        Role::King => "king",
    }
}

/// The content of one square in four bits: role 1..=6 (pawn to king) in bits 0-2, colour in bit 3 (set for Black). `0` is an
/// empty square; 7, 8 and 15 never occur on a board.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Code(pub u8);

impl Code {
    /// The empty square.
    pub const EMPTY: Code = Code(0);

    /// Returns the code of a piece.
    pub const fn from_piece(piece: Piece) -> Code {
        Code(piece.role as u8 | if matches!(piece.color, Color::Black) { 8 } else { 0 })
    }

    /// Returns the piece with this code, or `None` for the empty square and for 7, 8 and 15, which are not pieces.
    pub const fn piece(self) -> Option<Piece> {
        let role = match self.0 & 7 {
            1 => Role::Pawn,
            2 => Role::Knight,
            3 => Role::Bishop,
            4 => Role::Rook,
            5 => Role::Queen,
            6 => Role::King,
            _ => return None,
        };
        let color = if self.0 & 8 == 0 { Color::White } else { Color::Black };
        Some(Piece { color, role })
    }
}

/// A set of square contents: bit `c` is set if the set contains [`Code`] `c`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PieceSet(pub u16);

impl PieceSet {
    /// The set with no element. [`PieceSet::EMPTY`], in contrast, contains the code of an empty square.
    pub const NONE: PieceSet = PieceSet(0);
    /// The empty square alone.
    pub const EMPTY: PieceSet = PieceSet(1);
    /// Every white piece.
    pub const WHITE: PieceSet = PieceSet(0x007e);
    /// Every black piece.
    pub const BLACK: PieceSet = PieceSet(0x7e00);
    /// Every piece and the empty square.
    pub const ALL: PieceSet = PieceSet(0x7e7f);

    /// Returns the set whose only element is `code`.
    pub const fn only(code: Code) -> PieceSet {
        PieceSet(1 << code.0)
    }

    /// Returns whether `code` is in the set.
    pub const fn contains(self, code: Code) -> bool {
        self.0 & (1 << code.0) != 0
    }

    /// Returns the union of two sets of square contents.
    #[must_use]
    pub const fn union(self, other: PieceSet) -> PieceSet {
        PieceSet(self.0 | other.0)
    }
}
