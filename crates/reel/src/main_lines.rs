//! Removes the side lines from the games of a block.

use std::borrow::Cow;

use super::block::{Annotations, Block, Key, ProblemKind, SEGMENT_SLOTS, Start};
use super::material::FoundMaterial;
use super::replay::position_at;
use orbit_core::board::{PackedMove, Position};
use orbit_pgn::Annotation;

impl Block {
    /// Like [`Block::into_main_lines`], for a borrowed block. The block is copied only if something changes.
    pub fn main_lines(&self, annotations: bool) -> Cow<'_, Block> {
        let has_problems = self.problems.iter().any(|problem| problem.kind == ProblemKind::SideLine);
        let loses_annotations = !annotations && !self.annotations.all.is_empty();
        if self.lines.is_empty() && !loses_annotations && !has_problems {
            return Cow::Borrowed(self);
        }
        Cow::Owned(self.clone().into_main_lines(annotations))
    }

    /// Removes side lines and their problems. The result equals a block that was read from the same text without side lines. If
    /// `annotations` is true, the annotations of main lines are kept.
    #[must_use]
    pub fn into_main_lines(mut self, annotations: bool) -> Block {
        self.annotations =
            if annotations { self.annotations_of_main_lines() } else { Annotations::default() };
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
        Block { keys, moves, starts, lines: Vec::new(), found: FoundMaterial::default(), ..self }
    }

    /// Returns the annotations of main lines. The nodes of a main line have the same numbers with and without side lines.
    fn annotations_of_main_lines(&self) -> Annotations {
        let mut kept = Annotations::default();
        for game in self.games() {
            let of_main_line = |annotation: &&Annotation| annotation.node as usize <= game.plies();
            kept.all.extend(game.annotations().iter().filter(of_main_line).cloned());
            kept.ends.push(kept.all.len());
        }
        if kept.all.is_empty() { Annotations::default() } else { kept }
    }
}
