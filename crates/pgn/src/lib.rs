//! Reads PGN, FEN and EPD files, as found in the wild, into games.
//!
//! ```text
//! files, web, folders, stdin -> decode -> cut into chunks -> tokenize -> parse -> Game
//!                               `----- serial: Sources ---'  `- Chunk::parse, on any thread -'
//! ```
//!
//! [`Sources`] is the serial part: it opens the inputs in order, unpacks them and cuts the text into [`Chunk`]s at game
//! boundaries. A chunk is parsed on its own, so any number of threads can parse chunks. The boundaries depend on the decompressed
//! bytes alone: games, numbers, offsets and faults do not depend on compression, chunk size or the number of threads.
//!
//! # What a game is
//!
//! A tag section and/or movetext. A new game begins
//!
//! * at a line that starts with `[Event "`, always, even inside a comment that nobody closed; only
//!   after other tag lines of the same section (tags in alphabetical order) it is one more tag;
//! * at a tag pair after movetext;
//! * at a tag pair `Event`, or one with the name of the section's first one, on the line of a tag pair that nobody closed;
//! * at a tag pair after an empty line, if it has the name of the section's first one;
//! * after a terminator (`1-0`, `0-1`, `1/2-1/2`, `*`): at move number 1, or, after an empty line, at
//!   any move;
//! * after an empty line, at `1.` outside variations, if moves have been seen: headless games whose
//!   terminators are missing.
//!
//! Text before the first game and after a terminator is skipped. Comments alone, escape lines (`%` first in its line, perhaps
//! after blanks) and prose form no game. Brackets on one line that are no tag pair are annotations. Comments do not nest.
//!
//! A text that does not begin with a tag pair, a move, a result or a position, after comments or a short preface, is no PGN:
//! nothing of it is read. Its source becomes a failure, or is skipped if its folder was given.
//!
//! # What is kept of a game
//!
//! The main line up to the first word that is no legal move, all tags, and the terminator, which alone decides the outcome. Moves
//! may be SAN in most of its dialects, long algebraic notation or coordinates; a wrong or missing `x` is forgiven, everything
//! else must be legal. Blanks and dashes of Unicode count as blanks and dashes. Null moves are played, even in check. `FEN` and
//! `Variant` are found whatever the case of their names. Chess960 without a FEN is skipped (its array is unknown), and so is
//! every other variant. Lists of FEN or EPD, one per line, become games of one position; the operation `id` becomes the tag
//! `Event`, other operations keep their names.
//!
//! ```
//! use orbit_pgn::{ParseOptions, Sources};
//!
//! let mut sources = Sources::from_bytes("example", b"1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0".to_vec());
//! let mut plies = 0;
//! while let Some(chunk) = sources.next_chunk() {
//!     chunk.parse(&ParseOptions::default(), &mut |_source, game| plies += game.moves.len());
//! }
//! assert_eq!(plies, 5);
//! assert!(sources.failures().is_empty());
//! ```

#![deny(unsafe_code, missing_docs)]

mod amend;
mod annotate;
mod archive;
mod chunk;
mod decode;
mod edit;
mod error;
mod extent;
mod folder;
mod format;
mod game;
mod letters;
mod lex;
mod members;
mod opening;
mod options;
mod parse;
#[cfg(any(feature = "https", feature = "sevenz"))]
mod pieces;
mod place;
mod quick;
mod resolve;
mod san;
mod sources;
mod stamp;
mod start;
mod swapped;
mod tokenizer;
mod tree;
mod unpack;
mod url;
#[cfg(feature = "https")]
mod web;

/// The version of the rules by which games are read. It increases with every change that affects some game: its number, place,
/// start, moves, result, tags, or the messages about its faults.
pub const READER_VERSION: u32 = 4;

pub use amend::{Amendment, amend, comment_bytes, is_tag_name};
pub use annotate::{annotate, comment_text};
pub use archive::{canonical, file_of};
pub use chunk::{Chunk, SourceKind, SourceText};
pub use decode::Compression;
pub use error::{PgnError, SourceFailure};
pub use extent::{first_game, game_text, line_end, read_game, separator};
pub use game::{Annotation, AnnotationKind, Game, GameStatus, Outcome, ReadFault, SideLine, Tag};
pub use options::{Options, WebOptions};
pub use parse::ParseOptions;
pub use place::{hash_file, is_file};
pub use sources::{Source, Sources, list};
pub use stamp::{Freshness, Stamp};
pub use tree::SIDE_LINE_DEPTH_MAX;
pub use url::Url;
