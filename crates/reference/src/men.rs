//! Identifies the pieces of a game. Each piece keeps its number through all moves.

use shakmaty::{Bitboard, Square};

use super::played::PlayedMove;
use orbit_core::board::Position;

/// The number of the piece on each square of a position.
#[derive(Clone, Debug)]
pub(super) struct PieceMap([Option<u8>; 64]);

impl PieceMap {
    /// Numbers the pieces of the first position in square order.
    pub(super) fn at_start(position: &Position) -> PieceMap {
        let mut numbers = 0..=u8::MAX;
        let occupied = |s| position.board.at(s).piece().is_some();
        PieceMap(std::array::from_fn(|n| if occupied(Square::new(n as u32)) { numbers.next() } else { None }))
    }

    /// Returns the numbers of the pieces after a move.
    pub(super) fn after(&self, played: &PlayedMove) -> PieceMap {
        let mut out = self.clone();
        if let Some(captured) = played.captured {
            out.0[captured as usize] = None;
        }
        for (from, _) in played.shifts() {
            out.0[from as usize] = None;
        }
        for (from, to) in played.shifts() {
            out.0[to as usize] = self.on(from);
        }
        out
    }

    /// Returns the number of the piece on a square, or `None` if the square is empty.
    pub(super) fn on(&self, s: Square) -> Option<u8> {
        self.0[s as usize]
    }

    /// Returns the numbers of the pieces on a set of squares.
    pub(super) fn on_any(&self, squares: Bitboard) -> impl Iterator<Item = u8> {
        squares.into_iter().filter_map(|s| self.on(s))
    }

    /// Returns the square of a piece, given its number, or `None` if the piece has been captured.
    pub(super) fn square_of(&self, piece: u8) -> Option<Square> {
        Square::ALL.into_iter().find(|&s| self.on(s) == Some(piece))
    }
}
