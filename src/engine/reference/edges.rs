//! Moves that were played or could be played.

use shakmaty::Bitboard;

use super::{
    copies::{Explicit, Filter},
    eval::Evaluation,
};
use crate::query::tree::{Edge, Move, Sibling, Special, Squares};

impl Evaluation<'_> {
    /// What a function yields behind the first move that fits and behind which it yields something.
    pub(super) fn edge_value<T>(
        &mut self,
        _edge: &Edge<Explicit>,
        _target: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<T> {
        None
    }

    pub(super) fn edge_condition(&mut self, edge: &Edge<Explicit>, target: Option<&Filter>) -> bool {
        let target = |there: &mut Self| target.is_none_or(|target| there.matches(target)).then_some(());
        self.edge_value(edge, target).is_some()
    }

    /// The set behind the first move that fits, even if it is empty.
    pub(super) fn edge_squares(&mut self, edge: &Edge<Explicit>, target: &Squares<Explicit>) -> Bitboard {
        self.edge_value(edge, |there| Some(there.squares(target))).unwrap_or(Bitboard::EMPTY)
    }

    pub(super) fn count_moves(&mut self, _edge: &Edge<Explicit>, _target: Option<&Filter>) -> i32 {
        0
    }

    pub(super) fn move_condition(&mut self, _of: &Move<Explicit>) -> bool {
        false
    }

    pub(super) fn move_squares(&mut self, _of: &Move<Explicit>) -> Bitboard {
        Bitboard::EMPTY
    }

    pub(super) fn move_count(&mut self, _of: &Move<Explicit>) -> i32 {
        0
    }

    pub(super) fn is_sibling(&self, _sibling: Sibling) -> bool {
        false
    }

    pub(super) fn arrived_by(&self, _special: Special) -> bool {
        false
    }

    pub(super) fn arrived_by_null_move(&self) -> bool {
        false
    }

    pub(super) fn from_squares(&self) -> Bitboard {
        Bitboard::EMPTY
    }

    pub(super) fn to_squares(&self) -> Bitboard {
        Bitboard::EMPTY
    }

    pub(super) fn en_passant_square(&self) -> Bitboard {
        Bitboard::EMPTY
    }
}
