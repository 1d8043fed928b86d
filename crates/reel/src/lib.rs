//! Reels, which store all positions of a database in compact form.
//!
//! A reel is a sequence of [`Block`]s. Each block is independent and contains whole games from about 1 MiB of PGN. The block is the
//! unit of work, of checksums, of transfers to a GPU and of memory: a search or an indexing run has only a few blocks in memory at
//! a time, however large the database is.
//!
//! In a block every position has a *slot*, its index. Each *segment* of 32 slots has a *key position*, the position in its first
//! slot. The two-byte move in each slot leads to the position in the next slot. [`replay`] computes the positions of a segment from
//! its key and its moves. Invariant: replaying a segment from its key gives the same positions as replaying the block from its
//! first slot.
//!
//! This crate uses the games and the file stamps that `orbit_pgn` returns. It never reads PGN itself.

#![deny(unsafe_code, missing_docs)]

mod block;
pub mod bounds;
mod builder;
mod bytes;
mod counts;
mod decode;
mod duplicates;
mod encode;
mod facts;
mod fen;
mod format;
pub mod lanes;
mod main_lines;
mod manifest;
mod material;
mod measures;
mod reader;
pub mod replay;
mod scratch;
mod seen;
mod shards;
mod source;
mod start_codes;
mod strings;
mod totals;
mod writer;

pub use block::{
    Block, GameRow, Key, LineRow, Problem, ProblemKind, SEGMENT_SLOTS, SourceGames, Start, TagName, TagValue,
};
pub use builder::BlockBuilder;
pub use bytes::sees_refusals;
pub use decode::Contents;
pub use duplicates::{Alike, Duplicate, GameHash, GameSet};
pub use encode::EncodedBlock;
pub use format::{FORMAT_VERSION, FilePart, MAGIC, ReelError, SectionBytes};
pub use manifest::{MANIFEST_NAME, Manifest, ManifestError, ManifestSource, Shard};
pub use material::{MATERIAL_SEGMENTS, Material, Numbers};
pub use measures::GameMeasures;
pub use reader::Reel;
pub use shards::ShardsWriter;
pub use source::ReelSource;
pub use strings::Strings;
pub use totals::{DUPLICATE, OTHER_REASONS, REASONS_MAX, SAME_MOVES, Totals, reason_class};
pub use writer::ReelWriter;
