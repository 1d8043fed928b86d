//! A block without the side lines of its games.

use super::block::{Annotations, Block, Key, ProblemKind, SEGMENT_SLOTS, Start};
use super::replay::SegmentColumns;
use crate::board::{PackedMove, Position};

impl Block {
    /// Whether [`Block::into_main_lines`] would change nothing.
    pub(crate) fn is_main_lines(&self) -> bool {
        let has_problems = self.problems.iter().any(|problem| problem.kind == ProblemKind::SideLine);
        self.lines.is_empty() && self.annotations.all.is_empty() && !has_problems
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
        let mut replayed = Replayed { block: &self, columns: SegmentColumns::new(), segment: None };
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
                let Position { board, state } = replayed.position(game.first_slot() + ply);
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

/// Positions of a block, asked for in rising order.
struct Replayed<'a> {
    block: &'a Block,
    columns: SegmentColumns,
    segment: Option<usize>,
}

impl Replayed<'_> {
    fn position(&mut self, slot: usize) -> Position {
        let segment = slot / SEGMENT_SLOTS;
        if self.segment != Some(segment) {
            self.columns.replay(self.block, segment);
            self.segment = Some(segment);
        }
        self.columns.position(slot % SEGMENT_SLOTS)
    }
}
