//! Collects facts about a position: the number of its occurrences, and the first and the last game in which it occurred, with their
//! players.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::format::{DateOrder, TableError};
use super::games::VisitSum;
use super::kept::OpenTables;
use super::key::counted;
use super::narrow::{NarrowedStream, UsedTable, with_tables};
use super::played::{HeldBlocks, ReadBlocks};
use super::read::{PositionTable, block_of};
use orbit_core::board::Color;
use orbit_core::board::Position;
use orbit_core::game::{Date, Rating, date, tags};
use orbit_database::{BlockStream, StreamError, StreamedBlock, Summary};
use orbit_reel::replay::SegmentColumns;
use orbit_reel::{Block, GameRow, Reel};

/// Facts about a position.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PositionFacts {
    /// The number of times that the position occurred.
    pub visits: u64,
    /// The number of games in which the position occurred.
    pub games: u64,
    /// The earliest and the latest game by date: see [`DateOrder`]. Games with the same date are ordered as in the database. If any
    /// game has a year, the latest game has one.
    pub ends: Option<[SeenGame; 2]>,
    /// The tables that were used.
    pub used: Vec<UsedTable>,
}

/// A game in which a given position occurs.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SeenGame {
    /// The date of the game, as a number by which games are ordered.
    pub order: DateOrder,
    /// The number of the game in the database.
    pub number: u32,
    /// The date as spelt in the game's tag, if it is known.
    pub date: Option<String>,
    /// The names of White and Black, if they are known.
    pub players: [Option<String>; 2],
    /// The ratings of White and Black, if they are known.
    pub ratings: [Option<i64>; 2],
    /// The number of half-moves from the first position of the game to this position.
    pub moves: usize,
}

impl SeenGame {
    pub(super) fn from_game(game: &GameRow, moves: usize) -> SeenGame {
        SeenGame {
            order: DateOrder::from_date(Date::from_game(game)),
            number: game.number(),
            date: date::known_text(game).map(|text| text.into_owned()),
            players: Color::ALL.map(|side| tags::player(game, side).map(|name| name.into_owned())),
            ratings: [Rating::White, Rating::Black].map(|rating| rating.of_game(game)),
            moves,
        }
    }
}

impl PositionFacts {
    /// Adds the facts about the next part of the database.
    fn add(&mut self, other: PositionFacts) {
        self.visits += other.visits;
        self.games += other.games;
        self.ends = match (self.ends.take(), other.ends) {
            (Some([first, last]), Some([other_first, other_last])) => {
                let first = if other_first.order < first.order { other_first } else { first };
                let is_later = DateOrder::is_later(other_last.order, last.order);
                Some([first, if is_later { other_last } else { last }])
            }
            (ours, theirs) => ours.or(theirs),
        };
    }
}

/// Looks up a position in the main lines of a database. For blocks that a table of positions covers, the table is used. All other
/// blocks are searched. `refused` is called for each table that cannot be used.
///
/// # Errors
///
/// Fails if a reel cannot be read or is damaged.
pub fn seen(
    database: BlockStream,
    position: &Position,
    threads: usize,
    refused: impl FnMut(TableError),
) -> Result<(PositionFacts, Summary), TableError> {
    let mut tabled = TabledPosition::new(database, position, &OpenTables::default(), |_| None);
    tabled.unused.drain(..).for_each(refused);
    Ok(tabled.with_rest(threads, |_| ())?)
}

/// The facts about a position from the tables of a database, and the blocks that must still be searched.
#[non_exhaustive]
pub struct TabledPosition {
    wanted: Position,
    /// The facts from the tables. Each entry begins with the number of games in the database before the reel of its table.
    parts: Vec<(u32, PositionFacts)>,
    /// The blocks that no table covers.
    pub rest: BlockStream,
    /// The tables that were used.
    pub used: Vec<UsedTable>,
    /// The errors for tables that could not be used.
    pub unused: Vec<TableError>,
}

impl TabledPosition {
    /// Looks up a position in the tables of a database. `tables` are the tables opened so far. If the database is in memory, `held`
    /// returns the block that contains the game with a given number.
    pub fn new(
        database: BlockStream,
        position: &Position,
        tables: &OpenTables,
        held: impl Fn(u32) -> Option<Arc<Block>>,
    ) -> TabledPosition {
        let wanted = counted(position);
        // If the database contains text, the number of games before a reel may not be known yet, so no table is used.
        if database.positions_of_blocks().is_none() {
            let (parts, used, unused) = (Vec::new(), Vec::new(), Vec::new());
            return TabledPosition { wanted, parts, rest: database, used, unused };
        }
        let mut parts = Vec::new();
        let narrowed = with_tables(database, tables, |reel, table, before| {
            let held = |block| held(before + reel.games_before(block) + 1);
            parts.push((before, of_table((reel, &held), table, &wanted, before)?));
            let appended = table.blocks()..reel.blocks();
            let used = UsedTable::new(table, appended.len(), reel);
            Ok((appended.collect(), used))
        });
        let NarrowedStream { database: rest, used, unused } = narrowed;
        TabledPosition { wanted, parts, rest, used, unused }
    }

    /// Searches the blocks that no table covers. Returns the facts about all blocks, and a summary of the searched blocks. `watch`
    /// is called after each searched block.
    ///
    /// # Errors
    ///
    /// Fails if a reel cannot be read or is damaged.
    pub fn with_rest(
        self,
        threads: usize,
        mut watch: impl FnMut(&StreamedBlock),
    ) -> Result<(PositionFacts, Summary), StreamError> {
        let TabledPosition { wanted, mut parts, rest, used, .. } = self;
        let summary = rest.for_each_block(
            threads,
            |block| scanned(block, &wanted),
            |taken, seen| {
                watch(&taken);
                if seen.visits > 0 {
                    parts.push((taken.block.games_before, seen));
                }
                ControlFlow::Continue(())
            },
        )?;
        // Facts must be added in database order, in which blocks appended to a reel come before the next reel.
        parts.sort_by_key(|(before, _)| *before);
        let mut sum = PositionFacts { used, ..PositionFacts::default() };
        parts.into_iter().for_each(|(_, seen)| sum.add(seen));
        Ok((sum, summary))
    }
}

/// Returns the facts in the table of a reel. `before` is the number of games before the reel.
fn of_table(
    (reel, held): (&Reel, HeldBlocks),
    table: &PositionTable,
    wanted: &Position,
    before: u32,
) -> Result<PositionFacts, TableError> {
    let mut seen = PositionFacts::default();
    let mut blocks = ReadBlocks::new(reel, held);
    if let Some(found) = table.find_in(wanted, &mut |block| blocks.get(block))? {
        (seen.visits, seen.games) = (found.visits, found.games);
        let game = |visit: super::Visit| -> Result<SeenGame, TableError> {
            let block = match held(visit.block) {
                Some(block) => block,
                None => Arc::new(block_of(reel, visit.block, true)?),
            };
            let game = SeenGame::from_game(&block.game(visit.game.min(block.games_len() - 1)), visit.moves);
            let in_block = game.number - block.games_before;
            Ok(SeenGame { number: before.saturating_add(reel.games_before(visit.block) + in_block), ..game })
        };
        seen.ends = Some([game(found.first)?, game(found.last)?]);
    }
    Ok(seen)
}

/// Finds a position in a block by comparing it with all boards of the block, and returns the facts about it.
fn scanned(block: &Block, wanted: &Position) -> PositionFacts {
    let mut columns = SegmentColumns::new();
    let (mut seen, mut sum) = (PositionFacts::default(), VisitSum::default());
    for segment in 0..block.segments() {
        columns.replay(block, segment);
        for i in 0..columns.masks.valid.count_ones() as usize {
            let position = columns.position(i);
            if position.board != wanted.board || counted(&position) != *wanted {
                continue;
            }
            let slot = segment * orbit_reel::SEGMENT_SLOTS + i;
            let game = block.game(block.game_of_slot(slot));
            sum.add((0, game.index()), DateOrder::from_date(Date::from_game(&game)), slot as u64);
            seen.visits += 1;
        }
    }
    let found = sum.finish();
    seen.games = found.games;
    if seen.visits > 0 {
        let of = |slot: u64| {
            let game = block.game(block.game_of_slot(slot as usize));
            SeenGame::from_game(&game, slot as usize - game.first_slot())
        };
        seen.ends = Some([of(found.first), of(found.last)]);
    }
    seen
}
