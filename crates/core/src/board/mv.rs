//! The two-byte move.

use bytemuck::{Pod, Zeroable};
use shakmaty::{Move, Position as _, Square};

use super::Code;

/// What a [`PackedMove`] does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MoveKind {
    /// King takes own rook: castling, standard or Chess960. `from` is the king, `to` the rook.
    Castle,
    /// A pawn takes in passing.
    EnPassant,
    /// The side to move passes.
    Null,
    /// No move: the next slot begins another game or another line of the same game.
    Start,
    /// Any other move; the code is what stands on `to` afterwards, so promotion needs no more.
    Piece(Code),
}

/// A move in 16 bits: from (bits 0-5), to (bits 6-11), and in bits 12-15 the [`Code`] that stands
/// on `to` afterwards, or one of the four codes that are no piece: 0 castling, 7 en passant,
/// 8 null move, 15 start.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Pod, Zeroable)]
pub struct PackedMove(pub u16);

impl PackedMove {
    /// Bit `c` is set where code `c` is a piece, so that the move is a [`MoveKind::Piece`].
    pub const PIECE_CODES: u32 = 0x7e7e;
    /// Passing.
    pub const NULL: PackedMove = PackedMove(8 << 12);
    /// The next slot begins a game from the standard start position.
    pub const START_STANDARD: PackedMove = PackedMove(15 << 12);
    /// The next slot begins a game from the next entry of the start table.
    pub const START_TABLE: PackedMove = PackedMove(15 << 12 | 1);
    /// The next slot begins a side line of the same game, from the next entry of the start table.
    pub const START_LINE: PackedMove = PackedMove(15 << 12 | 3);

    const fn new(from: Square, to: Square, code: u8) -> PackedMove {
        PackedMove(from as u16 | (to as u16) << 6 | (code as u16) << 12)
    }

    /// A move that leaves `code` on `to`.
    pub const fn piece(from: Square, to: Square, code: Code) -> PackedMove {
        PackedMove::new(from, to, code.0)
    }

    /// Castling of the king on `king` with the rook on `rook`.
    pub const fn castle(king: Square, rook: Square) -> PackedMove {
        PackedMove::new(king, rook, 0)
    }

    /// A capture in passing.
    pub const fn en_passant(from: Square, to: Square) -> PackedMove {
        PackedMove::new(from, to, 7)
    }

    /// Packs a move of shakmaty's that is about to be played by `turn`.
    ///
    /// # Panics
    ///
    /// On a drop: Crazyhouse has no place in the reel.
    pub fn from_shakmaty(mv: Move, turn: shakmaty::Color) -> PackedMove {
        match mv {
            Move::Normal { role, from, to, promotion, .. } => {
                let piece = shakmaty::Piece { color: turn, role: promotion.unwrap_or(role) };
                PackedMove::piece(from, to, Code::from_piece(piece))
            }
            Move::EnPassant { from, to } => PackedMove::en_passant(from, to),
            Move::Castle { king, rook } => PackedMove::castle(king, rook),
            Move::Put { .. } => panic!("drops cannot be packed"),
        }
    }

    /// The square moved from.
    pub const fn from(self) -> Square {
        Square::new((self.0 & 63) as u32)
    }

    /// The square moved to (the rook's, when castling).
    pub const fn to(self) -> Square {
        Square::new((self.0 >> 6 & 63) as u32)
    }

    /// Of castling, the squares on which king and rook come to stand.
    pub const fn castled(self) -> (Square, Square) {
        let (from, to) = (self.from() as u32, self.to() as u32);
        let rank = from & 56;
        let (king, rook) = if to > from { (rank + 6, rank + 5) } else { (rank + 2, rank + 3) };
        (Square::new(king), Square::new(rook))
    }

    /// What the move does.
    pub const fn kind(self) -> MoveKind {
        match (self.0 >> 12) as u8 {
            0 => MoveKind::Castle,
            7 => MoveKind::EnPassant,
            8 => MoveKind::Null,
            15 => MoveKind::Start,
            code => MoveKind::Piece(Code(code)),
        }
    }

    /// Whether this is no move: the next slot begins another game or another line of the same game.
    #[inline]
    pub const fn is_start(self) -> bool {
        self.0 >> 12 == 15
    }

    /// Whether this is no move and the next slot begins another game.
    pub const fn is_game_start(self) -> bool {
        self.0 >> 12 == 15 && self.0 & 2 == 0
    }

    /// Whether the next slot begins from the next entry of the start table.
    pub const fn is_start_table(self) -> bool {
        self.0 >> 12 == 15 && self.0 & 1 == 1
    }

    /// Finds the move among the legal moves of a position, for printing it as SAN.
    pub fn to_shakmaty(self, position: &shakmaty::Chess) -> Option<Move> {
        position.legal_moves().into_iter().find(|&mv| PackedMove::from_shakmaty(mv, position.turn()) == self)
    }
}
