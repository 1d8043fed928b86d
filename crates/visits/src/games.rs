//! The games in which positions occur. While a table is written they are in memory, with 8 bytes per game.

use super::format::{BlockEntry, DateOrder, GameEntry, checked};

/// All games so far.
#[derive(Default)]
pub(super) struct VisitedGames {
    blocks: Vec<BlockEntry>,
    /// For each block, the first slots of its games. They are stored apart from the dates so a search reads little memory.
    starts: Vec<Vec<u32>>,
    dates: Vec<Vec<DateOrder>>,
    slots: u64,
}

/// A summary of the games in which a position occurs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SeenIn {
    pub(super) games: u64,
    /// The first visit in the earliest game, by date of play.
    pub(super) first: u64,
    /// The first visit in the latest game, by date of play.
    pub(super) last: u64,
}

impl VisitedGames {
    pub(super) fn slots(&self) -> u64 {
        self.slots
    }

    pub(super) fn blocks(&self) -> &[BlockEntry] {
        &self.blocks
    }

    /// Adds the games of the next block. Returns the games as bytes, which the caller writes at `offset` in the file.
    pub(super) fn add(&mut self, slots: u64, games: &[GameEntry], offset: u64) -> Vec<u8> {
        let bytes = checked(bytemuck::cast_slice(games));
        self.blocks.push(BlockEntry { first_slot: self.slots, offset, games: games.len() as u32, zero: 0 });
        self.starts.push(games.iter().map(|game| game.first_slot).collect());
        self.dates.push(games.iter().map(|game| game.date).collect());
        self.slots += slots;
        bytes
    }

    /// Summarizes visits (occurrences of a position). Their slots must be in ascending order.
    pub(super) fn seen(&self, slots: impl Iterator<Item = u64>) -> SeenIn {
        let mut seen = VisitSum::default();
        // Consecutive visits are usually in the same block, and close together if there are many. So the search for the game of a
        // visit begins at the game of the visit before it.
        let (mut block, mut game) = (0, 0);
        for slot in slots {
            if self.blocks.get(block + 1).is_some_and(|next| next.first_slot <= slot) {
                block = self.blocks.partition_point(|block| block.first_slot <= slot) - 1;
                game = 0;
            }
            let in_block = (slot - self.blocks[block].first_slot) as u32;
            game += steps_while(&self.starts[block][game + 1..], |start| *start <= in_block);
            seen.add((block, game), self.dates[block][game], slot);
        }
        seen.finish()
    }
}

/// Returns the length of the list's longest prefix whose elements all satisfy `holds`. No element after the prefix may satisfy it.
/// Small results are found faster.
pub(super) fn steps_while<T>(list: &[T], holds: impl Fn(&T) -> bool) -> usize {
    let mut reach = 1;
    while list.get(reach - 1).is_some_and(&holds) {
        reach *= 2;
    }
    let (start, end) = (reach / 2, reach.min(list.len()));
    start + list[start..end].partition_point(holds)
}

/// Returns the game that contains a slot (position) of a block, as its index in the block and its date.
pub(super) fn game_of(games: &[GameEntry], slot: u32) -> (usize, DateOrder) {
    let index = games.partition_point(|game| game.first_slot <= slot).saturating_sub(1);
    (index, games.get(index).map_or(DateOrder::from_date(None), |game| game.date))
}

/// Summarizes visits that are added in slot order.
#[derive(Default)]
pub(super) struct VisitSum {
    games: u64,
    game: Option<(usize, usize)>,
    first: Option<(DateOrder, u64)>,
    last: Option<(DateOrder, u64)>,
}

impl VisitSum {
    /// Adds a visit in a game. The game is given by the index of its block and by its index in the block.
    pub(super) fn add(&mut self, game: (usize, usize), date: DateOrder, slot: u64) {
        if self.game == Some(game) {
            return;
        }
        self.game = Some(game);
        self.games += 1;
        if self.first.is_none_or(|(first, _)| date < first) {
            self.first = Some((date, slot));
        }
        if self.last.is_none_or(|(last, _)| date.is_later(last)) {
            self.last = Some((date, slot));
        }
    }

    pub(super) fn finish(self) -> SeenIn {
        let slot = |found: Option<(DateOrder, u64)>| found.map_or(0, |(_, slot)| slot);
        SeenIn { games: self.games, first: slot(self.first), last: slot(self.last) }
    }
}
