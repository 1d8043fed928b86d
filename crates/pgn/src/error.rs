//! What can go wrong with a source as a whole. Trouble inside a game is a [`ReadFault`](super::ReadFault).

use std::io;
use std::path::{Path, PathBuf};

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
        "folder {} holds no .pgn, .epd or .fen file (nor one of these with .zst, .gz or .bz2) and no archive: give the \
         files by name to read them whatever they are called{}",
        path.display(), others.as_ref().map_or(String::new(), |others| format!("; {others}"))
    )]
    EmptyFolder {
        /// The folder as given.
        path: PathBuf,
        /// A sentence about files in it of other formats that may hold games.
        others: Option<String>,
    },
    /// Nothing in an archive looks like games.
    #[error(
        "archive {0} holds no .pgn, .epd or .fen file (nor one of these with .zst, .gz or .bz2), but {members}: to read a \
         member whatever it is called, give its name after that of the archive, as in {0}/games.txt",
        path.display()
    )]
    EmptyArchive {
        /// The archive as given.
        path: PathBuf,
        /// The names of its first members.
        members: String,
    },
    /// A path leads to no member of an archive.
    #[error("{} is not in the archive, which holds {members}: check the name", path.display())]
    NoMember {
        /// The path as given.
        path: PathBuf,
        /// The names of the first members of the archive.
        members: String,
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

impl PgnError {
    /// The reason why the system does not give a file or a folder.
    pub(super) fn at(path: &Path, error: io::Error) -> PgnError {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::NotFound => PgnError::Missing { path },
            _ => PgnError::Unreadable { path, error },
        }
    }
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
