//! Errors that affect a whole source. Errors within a game are [`ReadFault`](super::ReadFault)s.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// An error that prevents the inputs from being opened at all.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PgnError {
    /// The path is empty.
    #[error("a path is empty: name a file or folder")]
    Empty,
    /// There is no such file or folder.
    #[error("{} does not exist: check the path", path.display())]
    Missing {
        /// The path as the user gave it.
        path: PathBuf,
    },
    /// A folder, or the metadata of a file, cannot be read.
    #[error("{} cannot be read ({error}): check its permissions", path.display())]
    Unreadable {
        /// The path as the user gave it, or as it was found in a folder.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        error: io::Error,
    },
    /// The folder contains no file whose name looks like games.
    #[error(
        "folder {} holds no .pgn, .epd or .fen file (nor one of these with .zst, .gz or .bz2) and no archive: give the \
         files by name to read them whatever they are called{}",
        path.display(), others.as_ref().map_or(String::new(), |others| format!("; {others}"))
    )]
    EmptyFolder {
        /// The folder as the user gave it.
        path: PathBuf,
        /// A sentence about files in the folder that may contain games in unsupported formats.
        others: Option<String>,
    },
    /// The archive contains no member whose name looks like games.
    #[error(
        "archive {0} holds no .pgn, .epd or .fen file (nor one of these with .zst, .gz or .bz2), but {members}: to read a \
         member whatever it is called, give its name after that of the archive, as in {0}/games.txt",
        path.display()
    )]
    EmptyArchive {
        /// The archive as the user gave it.
        path: PathBuf,
        /// The names of the first members.
        members: String,
    },
    /// A path names a member that is not in the archive.
    #[error("{} is not in the archive, which holds {members}: check the name", path.display())]
    NoMember {
        /// The path as the user gave it.
        path: PathBuf,
        /// The first member names of the archive.
        members: String,
    },
    /// `-` was given more than once.
    #[error("standard input can be read only once: give `-` once")]
    StdinTwice,
    /// A file on the web could not be read.
    #[error("{name} cannot be read: {reason}")]
    Web {
        /// The URL without user, password and query.
        name: String,
        /// The reason, and what to do.
        reason: String,
    },
    /// A URL was given to a build without a web client.
    #[error(
        "{name}: this orbit was built without https: install it with `--features https`, or pipe the file: \
         `curl -L URL | orbit scan QUERY -`"
    )]
    WithoutWeb {
        /// The URL without user, password and query.
        name: String,
    },
    /// A URL names a reel.
    #[error("{name} is a reel, of which any part may be read at any time: download it first")]
    ReelOnWeb {
        /// The URL without user, password and query.
        name: String,
    },
    /// The interrupt flag was set while the program was waiting for a server.
    #[error("interrupted")]
    Interrupted,
}

impl PgnError {
    /// Returns the error for a file or folder that the system could not open.
    pub(super) fn at(path: &Path, error: io::Error) -> PgnError {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::NotFound if path.as_os_str().is_empty() => PgnError::Empty,
            io::ErrorKind::NotFound => PgnError::Missing { path },
            _ => PgnError::Unreadable { path, error },
        }
    }
}

/// A source that was not read to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceFailure {
    /// The index of the source in [`Sources::sources`](super::Sources::sources).
    pub source: u32,
    /// The number of decompressed bytes that were read before the failure.
    pub offset: u64,
    /// The reason in lower case, without a full stop: `the gz file ends too early: get it anew`.
    pub reason: String,
}
