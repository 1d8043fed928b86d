//! What can go wrong with a source as a whole. Trouble inside a game is a [`Fault`](super::Fault).

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why inputs cannot be opened at all.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PgnError {
    /// No such file or folder.
    #[error("{} does not exist: check the path, or give `-` for standard input", path.display())]
    Missing {
        /// The path as given.
        path: PathBuf,
    },
    /// A folder or a file's metadata cannot be read.
    #[error("{} cannot be read ({error}): check its permissions", path.display())]
    Unreadable {
        /// The path as given or found.
        path: PathBuf,
        /// The system's reason.
        #[source]
        error: io::Error,
    },
    /// Nothing in a folder looks like games.
    #[error(
        "folder {} holds no .pgn, .epd or .fen file (nor one of these with .zst, .gz or .bz2): give the \
         files by name to read them whatever they are called",
        path.display()
    )]
    EmptyFolder {
        /// The folder as given.
        path: PathBuf,
    },
    /// `-` was given more than once.
    #[error("standard input can be read only once: give `-` once")]
    StdinTwice,
    /// A file on the web cannot be had.
    #[error("{name} cannot be read: {reason}")]
    Web {
        /// The URL without secrets.
        name: String,
        /// Why, and what to do.
        reason: String,
    },
    /// A URL was given to a build that has no client for the web.
    #[error(
        "{name}: this orbit was built without https: install it with `--features https`, or pipe the file: \
         `curl -L URL | orbit scan QUERY -`"
    )]
    WithoutWeb {
        /// The URL without secrets.
        name: String,
    },
    /// A URL leads to a reel.
    #[error("{name} is a reel, of which any part may be read at any time: download it first")]
    ReelOnWeb {
        /// The URL without secrets.
        name: String,
    },
    /// It was interrupted while the web was asked for a file.
    #[error("interrupted")]
    Interrupted,
}

/// A source that was not read to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceFailure {
    /// Index into [`Sources::sources`](super::Sources::sources).
    pub source: u32,
    /// Bytes of the decompressed source that were read before.
    pub offset: u64,
    /// Lower case, no full stop: `the gz file ends too early: get it anew`.
    pub reason: String,
}
