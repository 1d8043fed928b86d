//! Answers explorer requests from tables of positions, without reading most blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::collect::{ExploredGame, Explorer, ExplorerPart};
use orbit_database::BlockStream;
use orbit_reel::{Block, Contents, Reel};
use orbit_visits::{
    HeldBlocks, NarrowedStream, OpenTables, PositionTable, TableError, UsedTable, narrow, with_tables,
};

/// The moves and results that position tables provide, and the blocks that no table covers and that must still be read.
#[non_exhaustive]
pub struct TabledGames {
    /// The games counted from the tables.
    pub part: ExplorerPart,
    /// The blocks (groups of games) that are not covered by a table. If the request needs facts that tables do not contain, these
    /// are all blocks that contain the position.
    pub rest: BlockStream,
    /// The tables that were used.
    pub used: Vec<UsedTable>,
    /// The reasons why some tables were not used. All blocks in the corresponding reels (database files of orbit) must still be
    /// read.
    pub unused: Vec<TableError>,
}

impl Explorer {
    /// Counts the games of reels that have tables of positions. To get the result for the whole database, merge this part with the
    /// part collected from the remaining blocks.
    ///
    /// If the request names a player, no games are counted, because tables do not contain names; all blocks that contain the
    /// position must then be read. The same applies if the database contains PGN text, because the games in reels after the text
    /// can be numbered only when the text has been read.
    ///
    /// `tables` are the tables of positions that are already open. If the database is in memory, `held` returns the block that
    /// contains the game with a given number.
    pub fn from_tables(
        &self,
        database: BlockStream,
        tables: &OpenTables,
        held: impl Fn(u32) -> Option<Arc<Block>>,
    ) -> TabledGames {
        let mut part = self.none();
        if self.asked().player.is_some() || database.positions_of_blocks().is_none() {
            let NarrowedStream { database: rest, used, unused, .. } =
                narrow(database, &self.asked().position, tables);
            return TabledGames { part, rest, used, unused };
        }
        let narrowed = with_tables(database, tables, |reel, table, before| {
            let held = |block| held(before + reel.games_before(block) + 1);
            let (more, read, untotalled) = self.of_table((reel, &held), table, before)?;
            part.add_all(more);
            let appended = table.blocks()..reel.blocks();
            let mut used = UsedTable::new(table, read + appended.len(), reel);
            used.untotalled = untotalled;
            Ok((appended.collect(), used))
        });
        let NarrowedStream { database: rest, used, unused, .. } = narrowed;
        TabledGames { part, rest, used, unused }
    }

    /// Counts the games that a table covers. Also returns how many blocks had to be read, and, if the table has totals that could
    /// not be used, how many games were counted individually. `before` is the number of games before the reel.
    fn of_table(
        &self,
        (reel, held): (&Reel, HeldBlocks),
        table: &PositionTable,
        before: u32,
    ) -> Result<(ExplorerPart, usize, Option<u64>), TableError> {
        let (mut part, asked) = (self.none(), self.asked());
        let totals = table.totals((reel, held), &asked.position)?;
        if let Some(totals) = &totals
            && let Some(mut part) = self.of_totals(totals)
        {
            let mut read = totals.read.clone();
            read.extend(part.read_listed((reel, held), before)?);
            return Ok((part, read.len(), None));
        }
        let mut games = 0;
        let way = asked.way.as_deref().unwrap_or_default();
        let mut read = table.for_each_game_at((reel, held), &asked.position, way, |game| {
            games += 1;
            if asked.takes(&game.facts) {
                part.other_way += u64::from(!way.is_empty() && !game.is_by_way);
                // The table does not record which games were skipped when the reel was built. Until a game is read, it therefore
                // has its index in the reel instead of its number. Indices and numbers have the same order.
                let place = reel.games_before(game.block) + game.game as u32;
                let turn = asked.position.state.turn();
                part.add((&game.facts, place), game.mv, turn, |mv| ExploredGame::at_place(place, mv));
            }
        })?;
        read.extend(part.read_listed((reel, held), before)?);
        Ok((part, read.len(), totals.map(|_| games)))
    }
}

impl ExplorerPart {
    /// Reads the games in the lists and replaces their indices in the reel by their numbers in the database. `before` is the number
    /// of games before the reel. Returns the blocks that were read.
    fn read_listed(
        &mut self,
        (reel, held): (&Reel, HeldBlocks),
        before: u32,
    ) -> Result<BTreeSet<usize>, TableError> {
        let mut read = BTreeSet::new();
        let mut of_blocks: BTreeMap<usize, Vec<&mut ExploredGame>> = BTreeMap::new();
        let listed = self.top.iter_mut().chain(&mut self.recent).map(|(_, game)| game);
        for game in listed.chain(self.moves.values_mut().filter_map(|sum| sum.only.as_mut())) {
            let block = reel.block_of_game(game.number + 1).unwrap_or_default();
            of_blocks.entry(block).or_default().push(game);
        }
        for (&index, games) in &mut of_blocks {
            let block = match held(index) {
                Some(block) => block,
                None => {
                    read.insert(index);
                    Arc::new(reel.block_with(index, Contents { tags: true, annotations: false })?)
                }
            };
            for game in games {
                let before_block = reel.games_before(index);
                let at = (game.number - before_block) as usize;
                let row = block.games().nth(at).ok_or_else(|| TableError::foreign(reel))?;
                let number = before.saturating_add(before_block + (row.number() - block.games_before));
                **game = ExploredGame::new(&row, number, game.mv);
            }
        }
        let ranked = |rank: u64, number: u32| rank >> 32 << 32 | u64::from(number);
        self.top.iter_mut().for_each(|(rank, game)| *rank = ranked(*rank, !game.number));
        self.recent.iter_mut().for_each(|(rank, game)| *rank = ranked(*rank, game.number));
        Ok(read)
    }
}
