//! Tables of the positions of a reel: the games that visited each position, and where.
//!
//! A table lies beside its reel, `all.reel.positions` beside `all.reel`, and lists for each position of a main line all its slots
//! in the reel. Positions are equal as they count for repetitions: the same board, side to move and castling rights, and the same
//! en passant square if a pawn can capture there.
//!
//! It knows nothing of queries. The invariants: a table answers only for those blocks of a reel from which it was made, byte for
//! byte; and every answer was compared with a board of the reel, so that a hash alone never decides which position it is.

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
pub use self::novelties::{ChosenNovelties, MoveCount, Novelty, novelties, novelties_of};
pub use self::read::{FoundPosition, PositionTable, Visit};
pub use self::seen::{PositionFacts, SeenGame, seen};
pub use self::write::{TableOptions, TableSize, write_table};
