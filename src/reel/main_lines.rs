//! A block without the side lines of its games.

use std::borrow::Cow;

use super::block::{Annotations, Block, Key, ProblemKind, SEGMENT_SLOTS, Start};
use super::replay::position_at;
use crate::board::{PackedMove, Position};

impl Block {
    /// [`Block::into_main_lines`] of a block that stays, without a copy where that changes nothing.
    pub(crate) fn main_lines(&self) -> Cow<'_, Block> {
        let has_problems = self.problems.iter().any(|problem| problem.kind == ProblemKind::SideLine);
        if self.lines.is_empty() && self.annotations.all.is_empty() && !has_problems {
            return Cow::Borrowed(self);
        }
        Cow::Owned(self.clone().into_main_lines())
    }

    /// The same games without side lines and what is said of them: the block that is made where they are not kept.
    #[must_use]
    pub fn into_main_lines(mut self) -> Block {
        self.annotations = Annotations::default();
        self.problems.retain(|problem| problem.kind != ProblemKind::SideLine);
        if self.lines.is_empty() {
            return self;
        }
        let mut keys = Vec::new();
        let mut moves = Vec::with_capacity(self.slots());
        let mut starts = Vec::new();
        let mut first_slots = Vec::with_capacity(self.games.len());
        for game in self.games() {
            let record = &self.games[game.index()];
            if record.from_table
                && let Some(last) = moves.last_mut()
            {
                *last = PackedMove::START_TABLE;
                starts.push(Start { position: game.start(), ply: 0 });
            }
            let first = moves.len();
            first_slots.push(first as u32);
            let first_key = first.next_multiple_of(SEGMENT_SLOTS) - first;
            for ply in (first_key..=game.plies()).step_by(SEGMENT_SLOTS) {
                let Position { board, state } = position_at(&self, game.first_slot() + ply);
                let (first_game, first_start) = (game.index() as u32, starts.len() as u32);
                keys.push(Key { board, state, ply: ply as u32, first_game, first_start });
            }
            moves.extend_from_slice(game.moves());
            moves.push(PackedMove::START_STANDARD);
        }
        for (record, first_slot) in self.games.iter_mut().zip(first_slots) {
            record.first_slot = first_slot;
        }
        Block { keys, moves, starts, lines: Vec::new(), ..self }
    }
}
