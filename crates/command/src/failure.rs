//! Defines the outcomes of commands: success, or a failure with its message.

use std::io;

use orbit_core::files::{Clash, OutputError};
use orbit_database::StreamError;
use orbit_engine::EngineError;
use orbit_pgn::PgnError;
use orbit_reel::{ManifestError, ReelError};
use orbit_search::RequestError;
use orbit_search::executor::ScanError;
use orbit_search::job::{JobError, RecordError, ReplayError};
use orbit_search::run::{RunError, TakeError};
use orbit_visits::TableError;

/// The outcome of a command that does not fail. Each variant has its own exit code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exit {
    /// The command succeeded.
    Done,
    /// Nothing hit, and `--fail-if-none` was given.
    NoHits,
    /// A source was only partly read.
    SourceFailed,
    /// A script for `orbit repl` had an invalid line.
    Wrong,
    /// The command was interrupted by Ctrl-C.
    Interrupted,
}

/// The cause of a command's failure, as the message reports it.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Games cannot be read.
    #[error(transparent)]
    Database(#[from] StreamError),
    /// A reel (a database file of orbit) cannot be read.
    #[error(transparent)]
    Reel(#[from] ReelError),
    /// A block (a group of games) became unreadable during a run, so the results are incomplete.
    #[error("{0}")]
    Midway(StreamError),
    /// A query has an error; the text shows its place.
    #[error("{0}")]
    Query(String),
    /// An engine cannot run the query, or an engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A job does not exist, or its request differs from the one on the command line.
    #[error(transparent)]
    Job(#[from] JobError),
    /// Parts of a job are missing or damaged.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A position table cannot be written or used.
    #[error(transparent)]
    Table(TableError),
    /// Options cannot be combined.
    #[error("{}", .0.in_options())]
    Request(#[from] RequestError),
    /// Standard output cannot be written.
    #[error("stdout: {0}")]
    Stdout(io::Error),
    /// The reader of standard output closed the pipe. No more output is needed, so this is not an error.
    #[error("the reader of standard output closed the pipe")]
    Closed,
    /// An output file cannot be written. The error names the file.
    #[error("{0}")]
    File(io::Error),
    /// Any other failure, with its complete message.
    #[error("{0}")]
    Other(String),
}

impl Failure {
    pub(super) fn from_stdout(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::Stdout(error),
        }
    }

    /// Returns an identifier for this kind of failure, for machine-readable output.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Failure::Database(_) | Failure::Reel(_) | Failure::Midway(_) | Failure::Replay(_) => "database",
            Failure::Query(_) => "query",
            Failure::Engine(_) => "engine",
            Failure::Table(TableError::Write { .. }) => "output",
            Failure::Table(_) => "database",
            Failure::Stdout(_) | Failure::Closed | Failure::File(_) => "output",
            Failure::Job(_) | Failure::Request(_) | Failure::Other(_) => "usage",
        }
    }

    /// Returns whether the command was interrupted before it read any games.
    pub(super) fn is_interrupt(&self) -> bool {
        matches!(self, Failure::Database(StreamError::Pgn(PgnError::Interrupted)))
    }

    /// Returns whether the failure means that some of the games to search are missing.
    pub(super) fn is_incomplete(&self) -> bool {
        use StreamError::Manifest;
        matches!(
            self,
            Failure::Midway(_)
                | Failure::Replay(_)
                | Failure::Database(Manifest(ManifestError::MissingShard { .. }))
        )
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Failure {
        Failure::File(error.into())
    }
}

impl From<Clash> for Failure {
    fn from(clash: Clash) -> Failure {
        Failure::Other(clash.to_string())
    }
}

impl From<TakeError> for Failure {
    fn from(error: TakeError) -> Failure {
        Failure::Other(error.to_string())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        match error {
            RunError::Scan(error) => error.into(),
            RunError::Take(error) => error.into(),
            other => Failure::Other(other.to_string()),
        }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Failure {
        match error {
            RecordError::Scan(error) => error.into(),
            RecordError::Take(error) => error.into(),
            RecordError::File(error) => Failure::File(error),
            other => Failure::Other(other.to_string()),
        }
    }
}

impl From<ScanError> for Failure {
    fn from(error: ScanError) -> Failure {
        match error {
            ScanError::Database(error @ StreamError::ReadOnce) => Failure::Other(error.to_string()),
            ScanError::Database(error) => Failure::Midway(error),
            ScanError::Engine(error) => Failure::Engine(error),
            other => Failure::Other(other.to_string()),
        }
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Failure {
        match error {
            TableError::Reel(error) => Failure::Reel(error),
            TableError::Database(error) => Failure::Database(error),
            error => Failure::Table(error),
        }
    }
}
