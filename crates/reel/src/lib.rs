//! A reel: all positions of a database, one after the other, in a compact form.
//!
//! A reel is a sequence of [`Block`]s. Each block is independent and contains whole games from about 1 MiB of PGN. Work,
//! checksums, transfers to a device and memory are all managed by block: a search or an indexing run has only a few blocks in
//! memory at a time, however long the database is.
//!
//! In a block every position is a *slot*. Each *segment* of 32 slots has a *key position*, the position at its first slot. A
//! two-byte move in each slot leads to the position of the next slot. [`replay`] turns a segment back into positions. The
//! invariant of this crate: replaying a segment from its key, and replaying the block from its first slot, give the same
//! positions.
//!
//! This crate uses the games and the stamps of files that `orbit_pgn` returns, and never reads PGN itself.

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
