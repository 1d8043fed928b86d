//! What programs take: databases that stay open, queries that are prepared once, hits that can be kept.
//!
//! ```
//! use orbit_search::{DatabaseOptions, Query};
//!
//! let database = DatabaseOptions::new().open_bytes("games", b"1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *".to_vec())?;
//! let query = Query::parse("flip flipcolor {Bb5 nc6}")?;
//! let hits = database.scan(&query).hits()?;
//! assert_eq!(hits.len(), 2);
//! assert_eq!((hits[0].game().number(), hits[0].ply()), (1, 5));
//! assert_eq!((hits[0].san_before().as_deref(), hits[0].san_after().as_deref()), (Some("Bb5"), Some("a6")));
//! # Ok::<(), orbit_search::DatabaseError>(())
//! ```
//!
//! A [`Database`] hands a fresh stream of blocks to each request, from memory or from the files; what runs on it is an
//! [`Executor`](crate::executor::Executor). The invariant: a request answers the same whether the blocks are held or read again, and
//! whichever requests run beside it.

mod game;
mod hit;
mod options;
mod picture;
mod query;
mod scan;
#[cfg(feature = "arrow")]
mod table;
mod written;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

pub use self::game::GameRef;
pub use self::hit::{Hit, HitSpan, MatchedCopy};
pub use self::options::{DatabaseOptions, Residence};
pub use self::picture::board_svg;
pub use self::query::{Query, QueryError};
pub(crate) use self::scan::BlockFindings;
pub use self::scan::Scan;
#[cfg(feature = "arrow")]
pub use self::table::{Table, TableColumns};

use crate::executor::{Card, EngineOptions, ScanError};
use crate::report::behind_sentence;
use crate::request::{Request, RequestError};
use crate::run::{RunError, TakeError};
use crate::stats::GroupingError;
use orbit_core::files::{Clash, OutputError};
use orbit_core::sync::lock;
pub use orbit_database::Turns;
use orbit_database::{BlockStream, Held, StreamError, StreamedBlock, Summary};
use orbit_engine::EngineError;
use orbit_pgn::Stamp;

/// Why a database cannot be opened, or a request was not answered to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The query is not understood.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// Fields of a request do not go together.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A database cannot be opened or read.
    #[error(transparent)]
    Database(#[from] StreamError),
    /// The engine refuses the query, fails, or differs from the one that checks it.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// What was found cannot be collected.
    #[error(transparent)]
    Take(#[from] TakeError),
    /// The groupings of statistics are not understood.
    #[error(transparent)]
    Groupings(#[from] GroupingError),
    /// The query searches side lines, and the database does not keep them.
    #[error(
        "the query searches side lines, which the database does not keep: open it with the option `variations`"
    )]
    NoVariations,
    /// The query, a condition, a grouping or a column needs the comments of games, and the database does not keep them.
    #[error(
        "the query, a condition, a grouping or a column needs the comments of the games (clocks and evaluations stand in \
         them), which the database does not keep: open it with the option `variations`"
    )]
    NoAnnotations,
    /// A file is not what it was when the database was opened.
    #[error("{name} has changed since it was opened: open it again")]
    Changed {
        /// The file, as it was given.
        name: String,
    },
    /// Standard input, a pipe or a file on the web is read once only and does not fit into memory.
    #[error(
        "{name} can be read only once and needs more memory than the {bytes_max} bytes that are allowed: \
         write it to a file, or allow more"
    )]
    TooLarge {
        /// What was read.
        name: String,
        /// What [`DatabaseOptions::resident_bytes_max`] allows.
        bytes_max: u64,
    },
    /// There are no such blocks.
    #[error(
        "there are no blocks {blocks:?}: the reels have {there}, counted from 0, and other files have none"
    )]
    NoBlocks {
        /// The blocks asked for.
        blocks: Range<usize>,
        /// How many there are.
        there: usize,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A file that would be written is one that the database is read from.
    #[error(transparent)]
    Clash(#[from] Clash),
    /// What was found cannot be written.
    #[error(transparent)]
    Write(#[from] std::io::Error),
    /// [`Cancel::cancel`] was called.
    #[error("cancelled")]
    Cancelled,
}

impl From<ScanError> for DatabaseError {
    fn from(error: ScanError) -> DatabaseError {
        match error {
            ScanError::Query(diagnostic) => QueryError::new("", diagnostic).into(),
            ScanError::Engine(error) => error.into(),
            ScanError::NoVariations => DatabaseError::NoVariations,
            ScanError::NoAnnotations => DatabaseError::NoAnnotations,
            ScanError::Database(error) => error.into(),
        }
    }
}

impl From<RunError> for DatabaseError {
    fn from(error: RunError) -> DatabaseError {
        match error {
            RunError::Scan(error) => error.into(),
            RunError::Take(error) => error.into(),
        }
    }
}

/// A switch that stops a request, or the opening of a database, from another thread. Clones are the same switch.
///
/// ```
/// use orbit_search::{Cancel, DatabaseError, DatabaseOptions, Query};
///
/// let database = DatabaseOptions::new().open_bytes("games", b"1. e4 e5 *".to_vec())?;
/// let cancel = Cancel::new();
/// cancel.cancel();
/// let found = database.scan(&Query::parse("true")?).cancelled_by(&cancel).hits();
/// assert!(matches!(found, Err(DatabaseError::Cancelled)));
/// # Ok::<(), DatabaseError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A switch that is not thrown.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Stops what was given this switch; it ends with [`DatabaseError::Cancelled`].
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was thrown.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How far a request, or the opening of a database, has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes of input that were read, before decompression; of a database in memory, those that its reading took.
    pub bytes: u64,
    /// Bytes of input in all, where every size is known.
    pub bytes_total: Option<u64>,
    /// Games, skipped ones included.
    pub games: u64,
    /// Positions.
    pub positions: u64,
}

impl Progress {
    /// Adds a block.
    fn add(&mut self, streamed: &StreamedBlock) {
        self.games += streamed.totals.games();
        self.positions += streamed.totals.positions;
        (self.bytes, self.bytes_total) = (streamed.bytes, streamed.bytes_total);
    }

    /// All was read: what follows the last game counts as well.
    fn finish(&mut self, summary: &Summary) {
        self.bytes = self.bytes_total.unwrap_or(summary.bytes);
    }
}

/// Open databases, on which any number of requests run, also at the same time from several threads.
///
/// Made by [`Database::open`], or with choices by [`DatabaseOptions`].
pub struct Database {
    /// The inputs, of which nothing was read.
    inputs: Mutex<BlockStream>,
    /// All blocks, if they fit.
    held: Option<Held>,
    sources: Arc<[String]>,
    /// What each file was known by when the database was opened.
    stamps: Vec<(PathBuf, Stamp)>,
    /// How many there are, as far as is known.
    positions: AtomicU64,
    resident_bytes_max: u64,
    engine: EngineOptions,
    threads: usize,
}

impl Database {
    /// Opens files, folders and reels, in the order given, with the options that suit most.
    ///
    /// # Errors
    ///
    /// What [`DatabaseOptions::open`] reports.
    pub fn open<P: Into<PathBuf>>(paths: impl IntoIterator<Item = P>) -> Result<Database, DatabaseError> {
        DatabaseOptions::new().open(paths)
    }

    /// Begins a request: which positions of the database does a query hit?
    pub fn scan(&self, query: &Query) -> Scan<'_> {
        Scan::new(self, vec![query.clone()])
    }

    /// The same for several queries, which are answered in one pass: see [`Scan::collect`].
    pub fn scan_all<'q>(&self, queries: impl IntoIterator<Item = &'q Query>) -> Scan<'_> {
        Scan::new(self, queries.into_iter().cloned().collect())
    }

    /// Begins what a request asks for.
    ///
    /// ```
    /// use orbit_search::{Database, Request};
    ///
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// let database = Database::open(["games/sample.pgn"])?;
    /// let request: Request = serde_json::from_str(r#"{"query":"mate","where":"result=1-0","sort":"date","limit":2}"#)?;
    /// let hits = database.ask(&request)?.hits()?;
    /// assert_eq!(hits.len(), 2);
    /// assert!(hits[0].game().date() >= hits[1].game().date());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What is wrong with a query, or with the choices of the request.
    pub fn ask(&self, request: &Request) -> Result<Scan<'_>, DatabaseError> {
        Ok(Scan::new(self, Query::of_request(request)?).chosen_by(request)?)
    }

    /// The game of a number, counted from 1 over all sources; `None` if there are fewer games, or if this one was
    /// skipped because no position of it could be read.
    ///
    /// A database in memory and a reel have it at once. Of plain PGN files the first call reads up to the game, and notes
    /// in the user's cache where games are; later calls read a few hundred kilobytes.
    ///
    /// # Errors
    ///
    /// A file that has changed or cannot be read.
    pub fn game(&self, number: u32) -> Result<Option<GameRef>, DatabaseError> {
        if number == 0 {
            return Ok(None);
        }
        let block = match &self.held {
            Some(held) => held.block_of_game(number).map(|streamed| Arc::clone(&streamed.block)),
            None => {
                let stream = self.stream(&Cancel::new(), false)?;
                stream.block_of_game(number, self.threads)?.block
            }
        };
        let found = block.and_then(|block| {
            let index = block.games().position(|game| game.number() == number)?;
            Some(GameRef::new(&block, index, &self.sources))
        });
        Ok(found)
    }

    /// The names of the sources: files, and those of which reels were made.
    pub fn sources(&self) -> &[String] {
        &self.sources
    }

    /// Whether the database is in memory.
    pub fn residence(&self) -> Residence {
        match &self.held {
            Some(held) => Residence::Resident { bytes: held.bytes() },
            None => Residence::Streamed { bytes_max: self.resident_bytes_max },
        }
    }

    /// What reading the database came to: games, positions, problems, files that were not read to their ends. `None`
    /// unless it is in memory; then each request has a summary of its own.
    pub fn summary(&self) -> Option<&Summary> {
        self.held.as_ref().map(Held::summary)
    }

    /// The faults of the files: those that hold no games or were not read to their ends, if the database is in memory, files
    /// of folders and archives that are not read although they may hold games, bytes behind the ends of reels, and reels of other rules
    /// with the command that makes them again.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if let Some(summary) = self.summary() {
            let skipped = summary.skipped();
            problems.extend(skipped.map(|(source, reason)| format!("{}: skipped: {reason}", source.name)));
            problems.extend(summary.failures().map(|(source, offset, reason)| {
                format!("{}: not read beyond byte {offset}: {reason}", source.name)
            }));
        }
        let inputs = lock(&self.inputs);
        problems.extend_from_slice(inputs.notes());
        problems.extend(inputs.passed_over().iter().map(ToString::to_string));
        let behind = inputs.bytes_behind_reels();
        problems
            .extend(behind.map(|(reel, bytes)| format!("{}: {}", reel.display(), behind_sentence(bytes))));
        problems.extend(inputs.outdated().iter().map(ToString::to_string));
        problems
    }

    /// How many positions there are: exactly, of a database in memory, of reels, and once a request has come to its end.
    /// Until then text that is not held counts none.
    pub fn positions(&self) -> u64 {
        self.positions.load(Ordering::Relaxed)
    }

    /// The database from its beginning. Texts of games are in the files alone.
    fn stream(&self, cancel: &Cancel, with_texts: bool) -> Result<BlockStream, DatabaseError> {
        let stream = match &self.held {
            Some(held) if !with_texts || !self.is_repeatable() => held.stream(),
            _ => {
                self.refuse_changed()?;
                lock(&self.inputs).unread()
            }
        };
        Ok(stream.interrupted_by(&cancel.0))
    }

    /// These blocks of the database, from the files.
    fn stream_of_blocks(&self, cancel: &Cancel, blocks: Range<usize>) -> Result<BlockStream, DatabaseError> {
        self.refuse_changed()?;
        let stream = lock(&self.inputs).unread();
        let there = stream.positions_of_blocks().map(|reels| reels.iter().map(Vec::len).sum());
        match there {
            Some(there) if blocks.start <= blocks.end && blocks.end <= there => {
                Ok(stream.only_blocks(blocks).interrupted_by(&cancel.0))
            }
            _ => Err(DatabaseError::NoBlocks { there: there.unwrap_or(0), blocks }),
        }
    }

    /// The positions of each block, reel by reel, for programs that divide a search: see [`Scan::blocks`]. `None` if other
    /// files than reels are read: the numbers of their games are known only once all text before them was read.
    pub fn positions_of_blocks(&self) -> Option<Vec<Vec<u64>>> {
        lock(&self.inputs).unread().positions_of_blocks()
    }

    /// The files that the database is read from or was made of.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        lock(&self.inputs).files().collect()
    }

    /// The graphics card, once it is open.
    pub(crate) fn card(&self) -> &Card {
        &self.engine.card
    }

    /// The numbers of the blocks, if they are in memory.
    pub(crate) fn numbers(&self) -> Option<Range<u64>> {
        self.held.as_ref().map(Held::numbers)
    }

    /// Whether the blocks of the database are in memory.
    pub(crate) fn is_resident(&self) -> bool {
        self.held.is_some()
    }

    /// Whether side lines and comments are kept.
    pub fn keeps_variations(&self) -> bool {
        lock(&self.inputs).keeps_variations()
    }

    fn is_repeatable(&self) -> bool {
        lock(&self.inputs).is_repeatable()
    }

    /// Numbers of games would no longer be those of earlier answers.
    fn refuse_changed(&self) -> Result<(), DatabaseError> {
        let is_same = |(path, stamp): &&(PathBuf, Stamp)| stamp_of(path) == *stamp;
        match self.stamps.iter().find(|file| !is_same(file)) {
            Some((path, _)) => Err(DatabaseError::Changed { name: path.display().to_string() }),
            None => Ok(()),
        }
    }

    /// Notes how many positions a whole reading has found. Without the side lines there are fewer.
    fn learn(&self, summary: &Summary, variations: bool) {
        if summary.finished && variations == lock(&self.inputs).keeps_variations() {
            self.positions.store(summary.totals.positions, Ordering::Relaxed);
        }
    }
}

impl Drop for Database {
    /// Nobody will ask for its blocks again.
    fn drop(&mut self) {
        self.numbers().into_iter().for_each(|numbers| self.card().release(&numbers));
    }
}

/// What a file is known by; nothing, if it is not there.
fn stamp_of(path: &std::path::Path) -> Stamp {
    std::fs::metadata(path).map_or(Stamp::default(), |metadata| Stamp::from_metadata(&metadata))
}
