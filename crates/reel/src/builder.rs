//! Builds a block from games.
//!
//! A *stretch* is a run of consecutive games from one source.

use super::block::{
    Block, GameRecord, GameRow, Key, LineRecord, Problem, ProblemKind, SEGMENT_SLOTS, SourceGames, Start,
    Tags,
};
use super::replay::position_at;
use super::strings::Interner;
use orbit_core::board::{PackedMove, Position};
use orbit_pgn::{Game, GameStatus, ReadFault, SideLine};

/// Builds a block by appending games.
#[derive(Default)]
pub struct BlockBuilder {
    block: Block,
    names: Interner,
    values: Interner,
}

impl BlockBuilder {
    /// Makes a builder without games.
    pub fn new() -> BlockBuilder {
        BlockBuilder::default()
    }

    /// Returns the number of positions so far.
    pub fn slots(&self) -> usize {
        self.block.slots()
    }

    /// Appends a game of a source. `game.number` is the number of the game in the current stretch (run of games from one source),
    /// from 1. Numbers must ascend. A skipped game gets no slots (indices of positions).
    ///
    /// # Panics
    ///
    /// Panics if `game.moves` contains a start code (a mark that replaces a move in a block), or if the block grows beyond 2^32
    /// slots.
    pub fn push(&mut self, source: u32, game: &Game) {
        let stretch = self.stretch(source);
        let record = &mut self.block.source_games[stretch as usize];
        let number = game.number.max(record.games + 1);
        record.games = number;
        self.push_problems(stretch, number, game);
        if !matches!(game.status, GameStatus::Skipped(_)) {
            self.push_slots(stretch, number, game);
        }
    }

    /// Creates a builder for a block with the stretches of another block (runs of games from one source), but without problems or
    /// games.
    pub(super) fn with_source_games(stretches: &[SourceGames]) -> BlockBuilder {
        let mut builder = BlockBuilder::new();
        builder.block.source_games =
            stretches.iter().map(|stretch| SourceGames { first_game: 0, ..*stretch }).collect();
        builder
    }

    /// Appends a game of another block, from which [`BlockBuilder::with_source_games`] has copied the stretches (runs of games from
    /// one source). The game keeps its number.
    pub(super) fn push_row(&mut self, row: GameRow<'_>) {
        self.push_row_as(row, &row.to_game());
    }

    /// Appends `game` with the number of `row`, a game of another block. [`BlockBuilder::with_source_games`] has copied the
    /// stretches (runs of games from one source) of that block, and `game` belongs to the stretch of `row`.
    pub(super) fn push_row_as(&mut self, row: GameRow<'_>, game: &Game) {
        let record = row.record();
        self.push_slots(record.stretch, record.number, game);
        for later in &mut self.block.source_games[record.stretch as usize + 1..] {
            later.first_game += 1;
        }
    }

    fn push_slots(&mut self, stretch: u32, number: u32, game: &Game) {
        let start = game.start.filter(|start| *start != Position::STANDARD);
        let block = &mut self.block;
        let from_table = match (block.moves.last_mut(), start) {
            (Some(last), Some(start)) => {
                *last = PackedMove::START_TABLE;
                block.starts.push(Start { position: start, ply: 0 });
                true
            }
            _ => false,
        };
        block.games.push(GameRecord {
            first_slot: u32::try_from(block.moves.len()).expect("a block has fewer than 2^32 slots"),
            stretch,
            number,
            offset: game.offset,
            outcome: game.outcome,
            cut: matches!(game.status, GameStatus::Cut(_)),
            from_table,
            is_swapped: game.is_swapped,
        });
        self.push_moves(start.unwrap_or(Position::STANDARD), game);
        self.push_lines(game);
        let annotations = &mut self.block.annotations;
        annotations.all.extend_from_slice(&game.annotations);
        annotations.ends.push(annotations.all.len());
        self.push_tags(game);
    }

    /// Returns the finished block.
    pub fn finish(mut self) -> Block {
        self.block.tags.names = self.names.finish();
        self.block.tags.values = self.values.finish();
        if self.block.annotations.all.is_empty() {
            self.block.annotations.ends.clear();
        }
        self.block
    }

    /// Returns the index of the stretch (a run of successive games from one source) to which the next game belongs. `source` is the
    /// source of this game. If the last stretch has another source, a new stretch is added.
    fn stretch(&mut self, source: u32) -> u32 {
        let block = &mut self.block;
        if block.source_games.last().is_none_or(|stretch| stretch.source != source) {
            let first_game = block.games.len() as u32;
            block.source_games.push(SourceGames { source, first_game, games: 0, games_before: 0 });
        }
        block.source_games.len() as u32 - 1
    }

    fn push_problems(&mut self, stretch: u32, number: u32, game: &Game) {
        let mut push = |kind, fault: &ReadFault| {
            let reason = fault.reason.clone();
            let ReadFault { offset, ply, .. } = *fault;
            self.block.problems.push(Problem { kind, stretch, number, offset, ply, reason });
        };
        game.notes.iter().for_each(|note| push(ProblemKind::Note, note));
        game.lost.iter().for_each(|lost| push(ProblemKind::SideLine, lost));
        match &game.status {
            GameStatus::Whole => {}
            GameStatus::Cut(fault) => push(ProblemKind::Cut, fault),
            GameStatus::Skipped(fault) => push(ProblemKind::Skipped, fault),
        }
    }

    fn push_moves(&mut self, start: Position, game: &Game) {
        let Game { moves, positions, .. } = game;
        // This loop has no early exit, because only then can it be vectorised.
        let has_start = moves.iter().fold(false, |has_start, mv| has_start | mv.is_start());
        assert!(!has_start, "a start code is no move");
        let block = &mut self.block;
        let (first_game, first_start) = (block.games.len() as u32 - 1, block.starts.len() as u32);
        let first = block.moves.len();
        let key = |ply: usize, Position { board, state }| Key {
            board,
            state,
            ply: ply as u32,
            first_game,
            first_start,
        };
        let first_key = first.next_multiple_of(SEGMENT_SLOTS) - first;
        let plies = (first_key..=moves.len()).step_by(SEGMENT_SLOTS);
        if positions.len() == moves.len() + 1 {
            block.keys.extend(plies.map(|ply| key(ply, positions[ply])));
        } else {
            let mut position = start;
            let mut played = 0;
            for ply in plies {
                moves[played..ply].iter().for_each(|&mv| position.play(mv));
                played = ply;
                block.keys.push(key(ply, position));
            }
        }
        block.moves.extend_from_slice(moves);
        block.moves.push(PackedMove::START_STANDARD);
    }

    fn push_lines(&mut self, game: &Game) {
        let block = &mut self.block;
        let first_game = block.games.len() as u32 - 1;
        let (first_line, game_slot) = (block.lines.len(), block.games[first_game as usize].first_slot);
        for SideLine { parent, sibling, moves } in &game.lines {
            assert!(!moves.is_empty() && !moves.iter().any(|mv| mv.is_start()), "a side line has moves");
            let (parent, sibling, edge) = (*parent, *sibling, moves[0]);
            let mut position = position_at(block, (game_slot + parent) as usize);
            position.play(edge);
            if let Some(last) = block.moves.last_mut() {
                *last = PackedMove::START_LINE;
            }
            let first_slot = u32::try_from(block.moves.len()).expect("a block has fewer than 2^32 slots");
            let mut line = LineRecord { first_slot, parent, sibling, edge, ply: 0, depth: 0 };
            line.follow(&block.lines[first_line..], game_slot);
            block.lines.push(line);
            block.starts.push(Start { position, ply: line.ply });
            for (ply, mv) in (line.ply..).zip(moves[1..].iter().copied().chain([PackedMove::START_STANDARD]))
            {
                if block.moves.len().is_multiple_of(SEGMENT_SLOTS) {
                    let (Position { board, state }, first_start) = (position, block.starts.len() as u32);
                    block.keys.push(Key { board, state, ply, first_game, first_start });
                }
                block.moves.push(mv);
                if !mv.is_start() {
                    position.play(mv);
                }
            }
        }
    }

    fn push_tags(&mut self, game: &Game) {
        let BlockBuilder { block, names, values } = self;
        let Tags { ends, pairs, .. } = &mut block.tags;
        // Most games have the same tag names as the previous game, in the same order, and some values in common with it. So each
        // tag is compared with the tag at the same place in that game before its name and its value are looked up.
        let guess = ends.len().checked_sub(2).map_or(0, |before| ends[before]);
        for (tag, guess) in game.tags.iter().zip(guess..) {
            let likely = pairs.get(guess).copied();
            let likely = likely.filter(|&(name, _)| names.is(name, &tag.name));
            let name = likely.map(|pair| pair.0).unwrap_or_else(|| names.intern(&tag.name));
            let value = likely.map(|pair| pair.1).filter(|&value| values.is(value, &tag.value));
            pairs.push((name, value.unwrap_or_else(|| values.intern(&tag.value))));
        }
        ends.push(pairs.len());
    }
}
