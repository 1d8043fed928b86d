//! The operations of the game language.

use shakmaty::Bitboard;

use super::{copies::Explicit, eval::Evaluation};
use crate::query::tree::{GameCondition, GameNumber, GamePosition, GameSquares, GameText};

impl Evaluation<'_> {
    pub(super) fn game_condition(&mut self, op: &GameCondition<Explicit>) -> bool {
        match op {
            _ => false,
        }
    }

    pub(super) fn game_squares(&mut self, op: &GameSquares<Explicit>) -> Bitboard {
        match op {
            _ => Bitboard::EMPTY,
        }
    }

    pub(super) fn game_number(&mut self, op: &GameNumber<Explicit>) -> Option<i32> {
        match op {
            _ => None,
        }
    }

    pub(super) fn game_text(&mut self, op: &GameText<Explicit>) -> Option<Vec<u8>> {
        match op {
            _ => None,
        }
    }

    /// The number of a position in its game.
    pub(super) fn game_position(&mut self, op: &GamePosition<Explicit>) -> Option<i32> {
        match op {
            _ => None,
        }
    }
}
