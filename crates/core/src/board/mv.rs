//! [`PackedMove`], a move in two bytes.

use bytemuck::{Pod, Zeroable};
use shakmaty::{Move, Position as _, Square};

use super::Code;

/// The kind of a [`PackedMove`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MoveKind {
    /// Castling, in standard chess or Chess960. `from` is the square of the king, and `to` the square of the rook.
    Castle,
    /// A pawn captures en passant.
    EnPassant,
    /// The side to move passes.
    Null,
    /// A mark in a reel (orbit's file of games), not a move. A reel stores for each position the move that was played from it, and
    /// for the last position of a line this mark. The next position of the reel is in another game, or in another line of the same
    /// game.
    Start,
    /// A move of any other kind, including captures and promotions. The code is the content of `to` after the move, so a promotion
    /// has the code of the new piece.
    Piece(Code),
}

/// A move in 16 bits: from (bits 0-5), to (bits 6-11) and a code (bits 12-15). The code is the [`Code`] of the content of `to`
/// after the move, or one of four codes that are not pieces: 0 for castling, 7 for en passant, 8 for a null move, 15 for a start
/// mark.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Pod, Zeroable)]
pub struct PackedMove(pub u16);

impl PackedMove {
    /// The codes of pieces as a bit mask: bit `c` is set if a move with the code `c` is a [`MoveKind::Piece`].
    pub const PIECE_CODES: u32 = 0x7e7e;
    /// The null move.
    pub const NULL: PackedMove = PackedMove(8 << 12);
    /// A mark instead of a move: the next position of the reel begins a game, and is the standard start position.
    pub const START_STANDARD: PackedMove = PackedMove(15 << 12);
    /// A mark instead of a move: the next position of the reel begins a game, and is the next entry of the start table, the block's
    /// list of start positions.
    pub const START_TABLE: PackedMove = PackedMove(15 << 12 | 1);
    /// A mark instead of a move: the next position of the reel begins a side line of the same game, and is the next entry of the
    /// start table, the block's list of start positions.
    pub const START_LINE: PackedMove = PackedMove(15 << 12 | 3);

    const fn new(from: Square, to: Square, code: u8) -> PackedMove {
        PackedMove(from as u16 | (to as u16) << 6 | (code as u16) << 12)
    }

    /// Creates an ordinary move. `code` is the content of `to` after the move.
    pub const fn piece(from: Square, to: Square, code: Code) -> PackedMove {
        PackedMove::new(from, to, code.0)
    }

    /// Creates the castling move of the king on `king` and the rook on `rook`.
    pub const fn castle(king: Square, rook: Square) -> PackedMove {
        PackedMove::new(king, rook, 0)
    }

    /// Creates the en passant capture of a pawn that moves from `from` to `to`.
    pub const fn en_passant(from: Square, to: Square) -> PackedMove {
        PackedMove::new(from, to, 7)
    }

    /// Packs a shakmaty move. `turn` is the side that plays the move.
    ///
    /// # Panics
    ///
    /// Panics if the move is a drop, because reels do not support Crazyhouse.
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

    /// Returns the square from which the piece moves.
    pub const fn from(self) -> Square {
        Square::new((self.0 & 63) as u32)
    }

    /// Returns the square to which the piece moves or, for castling, the square of the rook.
    pub const fn to(self) -> Square {
        Square::new((self.0 >> 6 & 63) as u32)
    }

    /// Returns the squares of king and rook after castling.
    pub const fn castled(self) -> (Square, Square) {
        let (from, to) = (self.from() as u32, self.to() as u32);
        let rank = from & 56;
        let (king, rook) = if to > from { (rank + 6, rank + 5) } else { (rank + 2, rank + 3) };
        (Square::new(king), Square::new(rook))
    }

    /// Returns the kind of the move.
    pub const fn kind(self) -> MoveKind {
        match (self.0 >> 12) as u8 {
            0 => MoveKind::Castle,
            7 => MoveKind::EnPassant,
            8 => MoveKind::Null,
            15 => MoveKind::Start,
            code => MoveKind::Piece(Code(code)),
        }
    }

    /// Returns true for a start mark, after which the next position of the reel begins another game or another line of the same
    /// game.
    #[inline]
    pub const fn is_start(self) -> bool {
        self.0 >> 12 == 15
    }

    /// Returns true for a start mark after which the next position of the reel begins another game.
    pub const fn is_game_start(self) -> bool {
        self.0 >> 12 == 15 && self.0 & 2 == 0
    }

    /// Returns true for a start mark after which the next position of the reel is the next entry of the start table, the block's
    /// list of start positions.
    pub const fn is_start_table(self) -> bool {
        self.0 >> 12 == 15 && self.0 & 1 == 1
    }

    /// Returns this move as a shakmaty move, which can be written as SAN. Returns `None` if the move is not legal in `position`.
    pub fn to_shakmaty(self, position: &shakmaty::Chess) -> Option<Move> {
        position.legal_moves().into_iter().find(|&mv| PackedMove::from_shakmaty(mv, position.turn()) == self)
    }
}
