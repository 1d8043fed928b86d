//! Restricts a database to the blocks (groups of whole games) that may contain a position.

use std::path::PathBuf;

use super::format::TableError;
use super::kept::OpenTables;
use super::read::PositionTable;
use orbit_core::board::Position;
use orbit_database::BlockStream;
use orbit_reel::Reel;

/// A database restricted to some blocks, and the tables used to restrict it.
#[non_exhaustive]
pub struct NarrowedStream {
    /// The blocks that may contain the position, including all blocks that no table covers. Games keep their numbers in the whole
    /// database.
    pub database: BlockStream,
    /// The tables that were used.
    pub used: Vec<UsedTable>,
    /// The errors for tables that could not be used. All blocks of their reels are read.
    pub unused: Vec<TableError>,
}

/// A table that was used.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct UsedTable {
    /// The table.
    pub path: PathBuf,
    /// The number of blocks of the reel that are read.
    pub blocks: usize,
    /// The number of all blocks in the reel, including blocks that the table does not cover.
    pub of_blocks: usize,
    /// The number of blocks in the reel that the table does not cover.
    pub appended: usize,
    /// The number of games that were counted one by one although the table has totals for the position.
    pub untotalled: Option<u64>,
}

impl UsedTable {
    /// Creates the note that a table was used and that `blocks` blocks of its reel are read.
    pub fn new(table: &PositionTable, blocks: usize, reel: &Reel) -> UsedTable {
        UsedTable {
            path: table.path().to_owned(),
            blocks,
            of_blocks: reel.blocks(),
            appended: reel.blocks() - table.blocks(),
            untotalled: None,
        }
    }
}

/// Leaves out the blocks that, according to the tables, do not contain a position. A search for exactly this position in main lines
/// finds the same hits in the remaining blocks.
pub fn narrow(database: BlockStream, position: &Position, tables: &OpenTables) -> NarrowedStream {
    with_tables(database, tables, |reel, table, _| {
        let mut blocks = table.blocks_with(reel, position)?;
        blocks.extend(table.blocks()..reel.blocks());
        let used = UsedTable::new(table, blocks.len(), reel);
        Ok((blocks, used))
    })
}

/// Reads the table of each reel that has one, and restricts the reel to some blocks. `read` gets a reel, its table, and the number
/// of games before the reel if the database consists of reels alone. It returns the blocks of the reel that must still be read, and
/// the note that the table was used. If a table cannot be used, all blocks of its reel remain.
pub fn with_tables(
    database: BlockStream,
    tables: &OpenTables,
    mut read: impl FnMut(&Reel, &PositionTable, u32) -> Result<(Vec<usize>, UsedTable), TableError>,
) -> NarrowedStream {
    let (mut used, mut unused, mut games_before) = (Vec::new(), Vec::new(), 0u32);
    let database = database.choose_blocks(|reel| {
        let before = games_before;
        games_before = games_before.saturating_add(reel.games_before(reel.blocks()));
        let told = tables.table(reel).and_then(|table| match table {
            None => Ok(None),
            Some(table) => read(reel, &table, before).map(Some),
        });
        match told {
            Ok(told) => told.map(|(blocks, note)| {
                used.push(note);
                blocks
            }),
            Err(error) => {
                unused.push(error);
                None
            }
        }
    });
    NarrowedStream { database, used, unused }
}
