//! Numbers the games of blocks and drops duplicate games. Both steps depend on all earlier blocks, so blocks are processed in
//! order.

use std::sync::Arc;

use super::{SourceSummary, StreamError};
use orbit_reel::{Block, GameHash, GameSet};
use orbit_witness::Difference;

/// The scope of the numbers that the games of a block already have before the stream numbers them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbered {
    /// No numbers: the block was built from text.
    Nowhere,
    /// Numbers within each source, as the reel stores them.
    InSource,
    /// Numbers in the whole database. The first run over the block assigned them, and the block was then kept in memory.
    Wholly,
}

/// The number of games so far, in total and in each source, and the set of earlier games if duplicates are dropped.
pub(super) struct RunningNumbers {
    games: u32,
    by_source: Vec<SourceCount>,
    seen: Option<GameSet>,
}

struct SourceCount {
    name: String,
    games: u32,
    duplicates: u32,
}

impl RunningNumbers {
    pub(super) fn new(games: u32, sources: &[SourceSummary], seen: Option<GameSet>) -> RunningNumbers {
        // A crafted reel can contain a number that does not fit into 32 bits.
        let games_of = |source: &SourceSummary| u32::try_from(source.games).unwrap_or(u32::MAX);
        let count = |source: &SourceSummary| SourceCount {
            name: source.name.clone(),
            games: games_of(source),
            duplicates: 0,
        };
        RunningNumbers { games, by_source: sources.iter().map(count).collect(), seen }
    }

    /// Numbers the games of the next block. `passed` is the number of games that were skipped before it.
    pub(super) fn assign(
        &mut self,
        block: &mut Arc<Block>,
        numbered: Numbered,
        passed: u32,
    ) -> Result<(), StreamError> {
        let games_before = self.games.checked_add(passed).ok_or(StreamError::TooManyGames)?;
        let games = games_before.checked_add(block.games_read());
        self.games = games.ok_or(StreamError::TooManyGames)?;
        if numbered == Numbered::Wholly {
            // The block is shared and already has the right numbers, so its games are only counted.
            block.source_games().iter().for_each(|part| _ = self.count(part.source, part.games));
            return Ok(());
        }
        let block = Arc::make_mut(block);
        block.games_before = games_before;
        for part in block.source_games_mut() {
            let before = self.count(part.source, part.games);
            if numbered == Numbered::Nowhere {
                part.games_before = before;
            }
        }
        Ok(())
    }

    /// Returns the error for a block on which the two PGN readers differ. The block is already numbered, so the error states the
    /// game's number in its source.
    pub(super) fn place(&self, block: &Block, difference: Difference) -> StreamError {
        let part = block.source_games().iter().find(|part| part.source == difference.source);
        let before = part.map_or(0, |part| part.games_before);
        StreamError::ReadersDiffer {
            source_name: self.by_source[difference.source as usize].name.clone(),
            number: before.saturating_add(difference.number),
            difference,
        }
    }

    /// Adds games to the game count of a source. Returns the count before that, which is the number of earlier games in the source.
    fn count(&mut self, source: u32, games: u32) -> u32 {
        let count = &mut self.by_source[source as usize].games;
        std::mem::replace(count, count.saturating_add(games))
    }

    /// Drops all games of a numbered block that equal an earlier game, if duplicates are to be dropped. Returns whether any game
    /// was dropped.
    pub(super) fn drop_duplicates(&mut self, block: &mut Arc<Block>, hashes: &[GameHash]) -> bool {
        let Some(seen) = &mut self.seen else { return false };
        let duplicates = seen.duplicates(block, hashes);
        if duplicates.is_empty() {
            return false;
        }
        for duplicate in &duplicates {
            self.by_source[block.game(duplicate.index).source() as usize].duplicates += 1;
        }
        // The caller provides the set of earlier games, so a game in it may be from a source that is not listed here.
        let name = |source: u32| {
            self.by_source.get(source as usize).map_or("what came before", |it| it.name.as_str())
        };
        *block = Arc::new(block.without_duplicates(&duplicates, seen.alike(), name));
        true
    }

    /// Stores the number of games and of duplicates in each source in the summary of that source.
    pub(super) fn tell(&self, sources: &mut [SourceSummary]) {
        for (source, count) in sources.iter_mut().zip(&self.by_source) {
            source.games = count.games.into();
            source.duplicates += u64::from(count.duplicates);
        }
    }
}
