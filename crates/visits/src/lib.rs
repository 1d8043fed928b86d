//! Tables of the positions in a reel, orbit's file of games. A table lists the games in which each position occurs, and its places
//! in these games.
//!
//! A table is in the folder of its reel: `all.reel.positions` for `all.reel`. For each position of a main line, it lists all slots
//! (numbers of positions in the reel) at which the position occurs. Positions are equal if they would count for threefold
//! repetition: they have the same board, side to move and castling rights, and the same en passant square if a pawn can capture
//! there.
//!
//! The crate does not depend on queries. It has two invariants. First, a table is used only for the blocks from which it was made,
//! and only if they are unchanged byte for byte. Second, every result is compared with a board of the reel, so a hash alone never
//! identifies a position.

#![deny(unsafe_code, missing_docs)]

mod bits;
mod facts;
mod format;
mod games;
mod kept;
mod key;
mod narrow;
mod novelties;
mod played;
mod read;
mod seen;
mod totals;
mod write;

pub use self::facts::{RATING_GROUPS, TabledFacts};
pub use self::format::{DateOrder, TableError, table_path};
pub use self::kept::OpenTables;
pub use self::narrow::{NarrowedStream, UsedTable, narrow, with_tables};
pub use self::novelties::{
    ChosenNovelties, MoveCount, Novelty, POSITIONS_MAX, novelties, novelties_in_groups, novelties_of,
    novelties_without_table,
};
pub use self::played::{HeldBlocks, PlayedGame};
pub use self::read::{FoundPosition, PositionTable, Visit};
pub use self::seen::{PositionFacts, SeenGame, TabledPosition, seen};
pub use self::totals::{GameSum, LISTED_GAMES, PositionTotals, RankedGame, RankedGames, offer};
pub use self::write::{TableOptions, TableSize, write_table};
