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
    let (mut used, mut unused) = (Vec::new(), Vec::new());
    let narrowed = database.choose_blocks(|reel: &Reel| -> Result<_, std::convert::Infallible> {
        let blocks = tables.table(reel).and_then(|table| match table {
            None => Ok(None),
            Some(table) => table.blocks_with(reel, position).map(|blocks| Some((table, blocks))),
        });
        Ok(match blocks {
            Ok(None) => None,
            Ok(Some((table, mut blocks))) => {
                blocks.extend(table.blocks()..reel.blocks());
                used.push(UsedTable::new(&table, blocks.len(), reel));
                Some(blocks)
            }
            Err(error) => {
                unused.push(error);
                None
            }
        })
    });
    let Ok(database) = narrowed;
    NarrowedStream { database, used, unused }
}
