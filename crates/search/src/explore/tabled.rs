//! Answers a request from tables of positions, without reading most blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use super::collect::{ExploredGame, Explorer, ExplorerPart, ranked};
use crate::run::Part as _;
use orbit_database::BlockStream;
use orbit_reel::{Contents, Reel};
use orbit_visits::{NarrowedStream, PositionTable, TableError, UsedTable, narrow};

/// The games that tables of positions tell, and the blocks that must still be read.
#[non_exhaustive]
pub struct TabledGames {
    /// The games that the tables tell.
    pub part: ExplorerPart,
    /// The blocks that no table covers. If the request needs facts that tables do not have, all blocks with the position.
    pub rest: BlockStream,
    /// The tables that were used.
    pub used: Vec<UsedTable>,
    /// The tables that were not used, with the reasons. All blocks of their reels are in the rest.
    pub unused: Vec<TableError>,
}

impl Explorer {
    /// Adds up the games of reels that have tables of positions. The parts of these games and of the rest, merged, are the part
    /// of the whole database.
    ///
    /// Tables have no names of players. If the request is about a player, the rest is all blocks that have the position. The same
    /// goes for reels after text, whose games have no numbers yet.
    pub fn from_tables(&self, database: BlockStream) -> TabledGames {
        let (mut part, mut used, mut unused) = (self.none(), Vec::new(), Vec::new());
        if self.asked().player.is_some() || database.positions_of_blocks().is_none() {
            let NarrowedStream { database: rest, used, unused, .. } =
                narrow(database, &self.asked().position);
            return TabledGames { part, rest, used, unused };
        }
        let mut before = 0u32;
        let Ok(rest) = database.choose_blocks(|reel| -> Result<_, Infallible> {
            let before_reel = before;
            before = before.saturating_add(reel.games_before(reel.blocks()));
            let told = PositionTable::open(reel).and_then(|table| {
                table.map(|table| Ok((self.of_table(reel, &table, before_reel)?, table))).transpose()
            });
            Ok(match told {
                Ok(None) => None,
                Ok(Some(((more, read), table))) => {
                    part.merge(more).unwrap_or_else(|error| unreachable!("{error}"));
                    let appended = reel.blocks() - table.blocks();
                    used.push(UsedTable::new(&table, read + appended, reel));
                    Some((table.blocks()..reel.blocks()).collect())
                }
                Err(error) => {
                    unused.push(error);
                    None
                }
            })
        });
        TabledGames { part, rest, used, unused }
    }

    /// Returns the games of the blocks that a table covers, and the number of these blocks that were read. `before` is the number
    /// of games before the reel.
    fn of_table(
        &self,
        reel: &Reel,
        table: &PositionTable,
        before: u32,
    ) -> Result<(ExplorerPart, usize), TableError> {
        let (mut part, asked) = (self.none(), self.asked());
        let way = asked.way.as_deref().unwrap_or_default();
        let mut read = table.for_each_game_at(reel, &asked.position, way, |game| {
            if asked.takes(&game.facts) {
                part.other_way += u64::from(!way.is_empty() && !game.is_by_way);
                // The table does not know which games were skipped when the reel was made, so games have their places in the
                // reel until they are read. Places are in the order of numbers.
                let place = reel.games_before(game.block) + game.game as u32;
                let turn = asked.position.state.turn();
                part.add((&game.facts, place), game.mv, turn, |mv| ExploredGame::at_place(place, mv));
            }
        })?;
        read.extend(part.read_listed(reel, before)?);
        Ok((part, read.len()))
    }
}

impl ExplorerPart {
    /// Reads the games in the lists, which have their places in the reel, and gives them their numbers in the database. `before`
    /// is the number of games before the reel. Returns the blocks that were read.
    fn read_listed(&mut self, reel: &Reel, before: u32) -> Result<BTreeSet<usize>, TableError> {
        let mut of_blocks: BTreeMap<usize, Vec<&mut ExploredGame>> = BTreeMap::new();
        let listed = self.top.iter_mut().chain(&mut self.recent).map(|(_, game)| game);
        for game in listed.chain(self.moves.values_mut().filter_map(|sum| sum.only.as_mut())) {
            let block = reel.block_of_game(game.number + 1).unwrap_or_default();
            of_blocks.entry(block).or_default().push(game);
        }
        for (&index, games) in &mut of_blocks {
            let block = reel.block_with(index, Contents { tags: true, annotations: false })?;
            for game in games {
                let at = (game.number - reel.games_before(index)) as usize;
                let row = block.games().nth(at).ok_or_else(|| TableError::foreign(reel))?;
                **game = ExploredGame::new(&row, before.saturating_add(row.number()), game.mv);
            }
        }
        let read = of_blocks.into_keys().collect();
        self.top.iter_mut().for_each(|(rank, game)| *rank = ranked(*rank >> 32, !game.number));
        self.recent.iter_mut().for_each(|(rank, game)| *rank = ranked(*rank >> 32, game.number));
        Ok(read)
    }
}
