//! Tables of the positions of a reel: which games visited a position, and where.
//!
//! A table stands beside its reel, `all.reel.positions` beside `all.reel`, and names for each position of a main line all
//! places of the reel where it stands. Positions are equal as repetitions are counted: the same board, side to move and
//! castling rights, and the same en passant square if a pawn can capture there.
//!
//! Of queries it knows nothing. The invariants: a table answers for those blocks of a reel alone of which it was made, byte for
//! byte; and every answer was compared with a board of the reel, so that a hash never decides alone which position it is.

#![deny(unsafe_code, missing_docs)]

mod bits;
mod format;
mod games;
mod key;
mod narrow;
mod novelties;
mod read;
mod seen;
mod write;

pub use self::format::{DateOrder, TableError, table_path};
pub use self::narrow::{NarrowedStream, UsedTable, narrow};
pub use self::novelties::{MoveCount, Novelty, novelties};
pub use self::read::{FoundPosition, PositionTable, Visit};
pub use self::seen::{PositionFacts, SeenGame, seen};
pub use self::write::{TableOptions, TableSize, write_table};
