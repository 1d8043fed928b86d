//! Reads PGN, FEN and EPD files, as found in the wild, into games.
//!
//! ```text
//! files, web, folders, stdin -> decode -> cut into chunks -> tokenize -> parse -> Game
//!                               `----- serial: Sources ---'  `- Chunk::parse, on any thread -'
//! ```
//!
//! [`Sources`] is the serial part: it opens the inputs in order, unpacks them and cuts the text into [`Chunk`]s at game boundaries.
//! Each chunk is parsed independently, so any number of threads can parse chunks. Games, their numbers, offsets and faults depend
//! only on the decompressed bytes, not on the compression, the chunk size or the number of threads.
//!
//! # Game boundaries
//!
//! A game has a tag section, or movetext, or both. A new game begins
//!
//! * at a line that starts with `[Event "`, even inside a comment that was not closed; but if other tag pairs directly precede
//!   the line, as in files whose tags are in alphabetical order, it is one more tag of the same game;
//! * at a tag pair after movetext;
//! * after a tag pair without `]`, on the same line: at a tag pair `Event`, or at a tag pair with the name of the section's first
//!   tag;
//! * at a tag pair after an empty line, if it has the name of the section's first tag;
//! * after a terminator (`1-0`, `0-1`, `1/2-1/2`, `*`): at move number 1, or, after an empty line, at
//!   any move;
//! * after moves and an empty line, at `1.` outside variations. Such games have neither tags nor terminators.
//!
//! Text before the first game and after a terminator is skipped. Comments, escape lines (lines that begin with `%`, perhaps after
//! blanks) and prose do not form a game on their own. Brackets on one line that are not a tag pair are annotations. Comments cannot
//! be nested.
//!
//! A whole text is refused unless it begins with a tag pair, a move, a result or a position. Comments or a short preface may come
//! first. The source of a refused text is reported as a failure. A file that was found in a given folder is skipped instead.
//!
//! # The contents of a game
//!
//! A [`Game`] contains the main line up to the first token that is not a legal move, all tags, and the result, which is read only
//! from the terminator. Moves may be written in most dialects of SAN, in long algebraic notation or as coordinates. A wrong or
//! missing `x` is accepted; apart from that, moves must be legal. Unicode blanks and dashes are treated like ASCII ones. Null moves
//! are played, even in check.
//!
//! The names of the tags `FEN` and `Variant` may be in upper or lower case. A game of Chess960 without a FEN is skipped, since its
//! start position is unknown. A game of any other variant is skipped, too. In a list with a FEN or EPD on each line, each line
//! becomes a game with one position. The EPD operation `id` becomes the tag `Event`; other operations become tags with their own
//! names.
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

/// The version of the reading rules. It increases with every change that affects the number, place, start, moves, result or tags of
/// any game, or the messages about its faults.
pub const READER_VERSION: u32 = 9;

pub use amend::{Amendment, amend, is_tag_name};
pub use annotate::{annotate, comment_text};
pub use archive::{canonical, file_of};
pub use chunk::{Chunk, SourceKind, SourceText};
pub use decode::Compression;
pub use error::{PgnError, SourceFailure};
pub use extent::{first_game, game_text, line_end, read_game, separator};
pub use game::{Game, GameStatus, ReadFault, SideLine, Tag};
pub use options::{Options, WebOptions};
pub use orbit_core::record::{Annotation, AnnotationKind, Outcome};
pub use parse::ParseOptions;
pub use place::{hash_file, is_file};
pub use sources::{Source, Sources, list};
pub use stamp::{Freshness, Stamp};
pub use tree::SIDE_LINE_DEPTH_MAX;
pub use url::Url;
