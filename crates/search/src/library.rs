//! The programming interface: open databases, prepared queries, and hits that outlive the search.
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
//! For each request, a [`Database`] opens a new stream of blocks (groups of games), from memory or from the files, and an
//! [`Executor`](crate::executor::Executor) evaluates the queries on it. Invariant: the answer does not depend on whether the blocks
//! are in memory or read again, nor on concurrent requests.

mod game;
mod hit;
mod options;
mod picture;
mod query;
mod scan;
mod seen;
#[cfg(feature = "arrow")]
mod table;
mod written;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

pub use self::game::GameRef;
pub use self::hit::{Hit, HitSpan, MatchedCopy};
pub use self::options::{DatabaseOptions, Residence};
pub use self::picture::board_svg;
pub use self::query::{Query, QueryError};
pub use self::scan::{HitIter, Scan};
pub use self::seen::{SeenPosition, seen_game_json};
#[cfg(feature = "arrow")]
pub use self::table::{Table, TableColumns};

pub use crate::executor::EngineChoice;
use crate::executor::{Card, EngineOptions, ScanError};
use crate::report::behind_sentence;
use crate::request::{Request, RequestError};
use crate::run::{RunError, TakeError};
use crate::stats::GroupingError;
use orbit_core::files::{Clash, OutputError, Unfinished};
use orbit_core::sync::lock;
pub use orbit_database::Turns;
use orbit_database::{BlockStream, Held, StreamError, StreamedBlock, Summary};
use orbit_engine::EngineError;
use orbit_pgn::Stamp;
use orbit_reel::Block;

/// The reason why a database cannot be opened or a request was not completed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The query is invalid.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// Fields of the request are mutually exclusive.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A database cannot be opened or read.
    #[error(transparent)]
    Database(#[from] StreamError),
    /// The engine rejects the query or fails, or its results differ from those of the verifying engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The results cannot be collected.
    #[error(transparent)]
    Take(#[from] TakeError),
    /// The groupings of statistics are invalid.
    #[error(transparent)]
    Groupings(#[from] GroupingError),
    /// The query searches side lines, but the database was opened without them.
    #[error(
        "the query searches side lines, which the database does not keep: open it with the option `variations`"
    )]
    NoVariations,
    /// The query, a condition, a grouping or a column needs the games' comments, but the database was opened without them.
    #[error(
        "the query, a condition, a grouping or a column needs the comments of the games (clocks and evaluations stand in \
         them), which the database does not keep: open it with the option `variations`"
    )]
    NoAnnotations,
    /// A file has changed since the database was opened.
    #[error("{name} has changed since it was opened: open it again")]
    Changed {
        /// The name of the file, as the user gave it.
        name: String,
    },
    /// The database was opened by a relative path, and the working folder is another one now.
    #[error("{name} was opened in the folder {}, which is no longer the working folder: open it by its absolute path", folder.display())]
    Moved {
        /// The name of the file, as the user gave it.
        name: String,
        /// The working folder in which the database was opened.
        folder: PathBuf,
    },
    /// The source (standard input, a pipe or a file on the web) can be read only once and does not fit into memory.
    #[error(
        "{name} can be read only once and needs more memory than the {bytes_max} bytes that are allowed: \
         write it to a file, or allow more"
    )]
    TooLarge {
        /// The name of the source.
        name: String,
        /// The limit that [`DatabaseOptions::resident_bytes_max`] sets.
        bytes_max: u64,
    },
    /// [`Database::scan_all`] was called without a query.
    #[error("no query is given: give at least one")]
    NoQuery,
    /// The requested range of blocks exceeds the blocks in the database.
    #[error(
        "there are no blocks {blocks:?}: the reels have {there}, counted from 0, and other files have none"
    )]
    NoBlocks {
        /// The requested blocks.
        blocks: Range<usize>,
        /// The number of blocks in the database.
        there: usize,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The output file is also an input of the database.
    #[error(transparent)]
    Clash(#[from] Clash),
    /// The results cannot be written.
    #[error(transparent)]
    Write(#[from] std::io::Error),
    /// [`CancelToken::cancel`] was called.
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

/// Stops a request, or the opening of a database, from another thread. Clones share one state.
///
/// ```
/// use orbit_search::{CancelToken, DatabaseError, DatabaseOptions, Query};
///
/// let database = DatabaseOptions::new().open_bytes("games", b"1. e4 e5 *".to_vec())?;
/// let cancel = CancelToken::new();
/// cancel.cancel();
/// let found = database.scan(&Query::parse("true")?).cancel_token(&cancel).hits();
/// assert!(matches!(found, Err(DatabaseError::Cancelled)));
/// # Ok::<(), DatabaseError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Creates a token that has not been cancelled.
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Stops every request that uses this token. The requests return [`DatabaseError::Cancelled`].
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether [`CancelToken::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The progress of a request or of the opening of a database.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Progress {
    /// The number of input bytes read so far, before decompression. For a database in memory, the number of bytes that had been
    /// read when the current block was loaded.
    pub bytes: u64,
    /// The total number of input bytes, if all sizes are known.
    pub bytes_total: Option<u64>,
    /// The number of games, including skipped games.
    pub games: u64,
    /// The number of positions.
    pub positions: u64,
}

impl Progress {
    /// Adds a block: counts its games and positions, and sets `bytes` to the number of bytes read up to its end.
    fn add(&mut self, streamed: &StreamedBlock) {
        self.games += streamed.totals.games();
        self.positions += streamed.totals.positions;
        (self.bytes, self.bytes_total) = (streamed.bytes, streamed.bytes_total);
    }

    /// Sets `bytes` to the size of the input. Text after the last game is not in any block and therefore not counted yet.
    fn finish(&mut self, summary: &Summary) {
        self.bytes = self.bytes_total.unwrap_or(summary.bytes);
    }
}

/// An open database. Any number of requests can run on it concurrently.
///
/// It is created by [`Database::open`], or with options by [`DatabaseOptions`].
pub struct Database {
    /// A stream of all games in the database. It is never read itself; each request reads a copy of it.
    inputs: Mutex<BlockStream>,
    /// All blocks, if they fit into memory.
    held: Option<Held>,
    sources: Arc<[String]>,
    /// The stamp of each file when the database was opened. A different stamp shows that the file has changed.
    stamps: Vec<(PathBuf, Stamp)>,
    /// The working folder when the database was opened, to which relative paths refer.
    folder: PathBuf,
    /// Descriptions of the files that requests could not read completely, and how many of them were returned by
    /// [`Database::take_failures`].
    failures: Mutex<(Vec<String>, usize)>,
    /// The number of positions, which may be an estimate: see [`Database::positions`].
    positions: AtomicU64,
    resident_bytes_max: u64,
    /// The tables of positions that requests have opened so far.
    tables: orbit_visits::OpenTables,
    engine: EngineOptions,
    threads: usize,
    /// The list of temporary files of outputs that are being written.
    unfinished: Unfinished,
    /// True if a request has read the whole database.
    is_searched: AtomicBool,
}

impl Database {
    /// Opens files, folders and reels (database files of orbit) with the default options. Games are numbered in the order of
    /// `paths`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`DatabaseOptions::open`].
    pub fn open<P: Into<PathBuf>>(paths: impl IntoIterator<Item = P>) -> Result<Database, DatabaseError> {
        DatabaseOptions::new().open(paths)
    }

    /// Starts a request for the positions that match a query.
    pub fn scan(&self, query: &Query) -> Scan<'_> {
        Scan::new(self, vec![query.clone()])
    }

    /// Starts a request with several queries, for which the database is read only once: see [`Scan::collect`]. Without a query, all
    /// methods that run the request return [`DatabaseError::NoQuery`].
    pub fn scan_all<'q>(&self, queries: impl IntoIterator<Item = &'q Query>) -> Scan<'_> {
        Scan::new(self, queries.into_iter().cloned().collect())
    }

    /// Starts the request described by a [`Request`].
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
    /// Fails if a query is invalid or fields of the request are mutually exclusive.
    pub fn ask(&self, request: &Request) -> Result<Scan<'_>, DatabaseError> {
        Ok(Scan::new(self, Query::from_request(request)?).chosen_by(request)?)
    }

    /// Returns the game with this number. Games are counted from 1 across all sources. Returns `None` if there are fewer games, or
    /// if the game was skipped because none of its positions could be read.
    ///
    /// Games in memory or in reels are found immediately. For plain PGN files, the first call reads up to the game and stores the
    /// offsets of games in the user's cache; later calls read a few hundred kilobytes.
    ///
    /// # Errors
    ///
    /// Fails if a file has changed or cannot be read.
    pub fn game(&self, number: u32) -> Result<Option<GameRef>, DatabaseError> {
        if number == 0 {
            return Ok(None);
        }
        let block = match &self.held {
            Some(_) => self.held_block(number),
            None => {
                let stream = self.stream(&CancelToken::new(), false)?;
                stream.block_of_game(number, self.threads)?.block
            }
        };
        let found = block.and_then(|block| {
            let index = block.games().position(|game| game.number() == number)?;
            Some(GameRef::new(&block, index, &self.sources))
        });
        Ok(found)
    }

    /// Returns the names of the sources, which are files. The sources of a reel are the files from which it was built.
    pub fn sources(&self) -> &[String] {
        &self.sources
    }

    /// Returns whether blocks are read from memory or from the files.
    pub fn residence(&self) -> Residence {
        match &self.held {
            Some(held) => Residence::Resident { bytes: held.bytes() },
            None => Residence::Streamed { bytes_max: self.resident_bytes_max },
        }
    }

    /// Returns a summary of reading the database: the games, positions, problems, and files that were not read completely. Returns
    /// `None` if the database is not in memory, because each request then has its own summary.
    pub fn summary(&self) -> Option<&Summary> {
        self.held.as_ref().map(Held::summary)
    }

    /// Returns warnings about the inputs: files and archive members that may contain games but are not read, bytes after the end of
    /// a reel, and reels built by the rules of another version (with the command that rebuilds them). For a database in memory,
    /// this includes files that contain no games or were not read completely.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if let Some(summary) = self.summary() {
            problems.extend(failures_of(summary));
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

    /// Returns descriptions of the files that contain no games or that requests could not read completely, except those that
    /// earlier calls returned. For a database in memory, [`Database::problems`] returns them.
    pub fn take_failures(&self) -> Vec<String> {
        let mut failures = lock(&self.failures);
        let (all, taken) = &mut *failures;
        let new = all[*taken..].to_vec();
        *taken = all.len();
        new
    }

    /// Returns the number of positions. It is exact for databases in memory, for reels, and after a request has read the whole
    /// database. Otherwise, it is extrapolated from what was read when the database was opened. If nothing was read then, only the
    /// positions in reels are counted.
    pub fn positions(&self) -> u64 {
        self.positions.load(Ordering::Relaxed)
    }

    /// Opens a stream of all blocks. If `with_texts` is true and the files can be read again, the blocks are read from the files,
    /// because blocks in memory do not contain the text of games.
    fn stream(&self, cancel: &CancelToken, with_texts: bool) -> Result<BlockStream, DatabaseError> {
        let stream = match &self.held {
            Some(held) if !with_texts || !self.is_repeatable() => held.stream(),
            _ => {
                self.refuse_changed()?;
                lock(&self.inputs).unread()
            }
        };
        Ok(stream.interrupted_by(&cancel.0))
    }

    /// Opens a stream of a range of blocks, which are read from the files.
    fn stream_of_blocks(
        &self,
        cancel: &CancelToken,
        blocks: Range<usize>,
    ) -> Result<BlockStream, DatabaseError> {
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

    /// Returns the number of positions in each block, reel by reel, for programs that divide a search: see [`Scan::blocks`].
    /// Returns `None` if the database contains files other than reels, because the games after such a file can be numbered only
    /// when the file has been read.
    pub fn positions_of_blocks(&self) -> Option<Vec<Vec<u64>>> {
        lock(&self.inputs).unread().positions_of_blocks()
    }

    /// Returns the input files, including the files from which reels were built.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        lock(&self.inputs).files().map(|path| self.folder.join(path)).collect()
    }

    /// Returns the files that are read, without those from which reels were built. A member of an archive is represented by its
    /// archive.
    pub(crate) fn files_read(&self) -> impl Iterator<Item = &Path> {
        self.stamps.iter().map(|(path, _)| path.as_path())
    }

    /// Returns the open tables of positions, which requests share.
    #[cfg(feature = "http")]
    pub(crate) fn tables(&self) -> &orbit_visits::OpenTables {
        &self.tables
    }

    /// Returns the block that contains the game with this number, if the blocks are in memory.
    pub(crate) fn held_block(&self, number: u32) -> Option<Arc<Block>> {
        let held = self.held.as_ref()?;
        held.block_of_game(number).map(|streamed| Arc::clone(&streamed.block))
    }

    /// Returns the default engine for requests.
    pub(crate) fn engine(&self) -> EngineChoice {
        self.engine.engine
    }

    /// Returns the number of bytes on the graphics card that hold games of this database.
    pub(crate) fn card_bytes(&self) -> u64 {
        self.numbers().map_or(0, |numbers| self.card().bytes_of(&numbers))
    }

    /// Returns whether an earlier request has read all blocks in memory. Always false if the database keeps side lines, because
    /// blocks without side lines are then rebuilt for each request.
    fn is_repeated(&self) -> bool {
        self.is_resident() && self.is_searched.load(Ordering::Relaxed) && !self.keeps_variations()
    }

    /// Returns the graphics card, which may not be open yet.
    pub(crate) fn card(&self) -> &Card {
        &self.engine.card
    }

    /// Returns the range of block numbers, if the blocks are in memory.
    pub(crate) fn numbers(&self) -> Option<Range<u64>> {
        self.held.as_ref().map(Held::numbers)
    }

    pub(crate) fn is_resident(&self) -> bool {
        self.held.is_some()
    }

    /// Returns whether the database keeps side lines and comments.
    pub fn keeps_variations(&self) -> bool {
        lock(&self.inputs).keeps_variations()
    }

    fn is_repeatable(&self) -> bool {
        lock(&self.inputs).is_repeatable()
    }

    /// Returns an error if a file has changed. The numbers of its games could then differ from those in earlier answers.
    fn refuse_changed(&self) -> Result<(), DatabaseError> {
        let relative = self.stamps.iter().find(|(path, _)| path.is_relative());
        if let Some((path, _)) = relative.filter(|_| working_folder() != self.folder) {
            let (name, folder) = (path.display().to_string(), self.folder.clone());
            return Err(DatabaseError::Moved { name, folder });
        }
        let is_same = |(path, stamp): &&(PathBuf, Stamp)| stamp_of(path) == *stamp;
        match self.stamps.iter().find(|file| !is_same(file)) {
            Some((path, _)) => Err(DatabaseError::Changed { name: path.display().to_string() }),
            None => Ok(()),
        }
    }

    /// Records the files that a request could not read completely.
    fn note_failures(&self, summary: &Summary) {
        let mut failures = lock(&self.failures);
        for failure in failures_of(summary).filter(|_| !self.is_resident()) {
            if !failures.0.contains(&failure) {
                failures.0.push(failure);
            }
        }
    }

    /// Records that the whole database was read, and its number of positions. The number is not recorded if side lines are kept but
    /// were omitted from the request, because the request then read fewer positions.
    fn learn(&self, summary: &Summary, variations: bool) {
        self.is_searched.fetch_or(summary.finished, Ordering::Relaxed);
        if summary.finished && variations == lock(&self.inputs).keeps_variations() {
            self.positions.store(summary.totals.positions, Ordering::Relaxed);
        }
    }
}

impl Drop for Database {
    /// Frees the card memory of the blocks, which no request can use any more.
    fn drop(&mut self) {
        self.numbers().into_iter().for_each(|numbers| self.card().release(&numbers));
    }
}

/// Describes the files that contain no games or were not read completely.
fn failures_of(summary: &Summary) -> impl Iterator<Item = String> {
    let skipped = summary.skipped().map(|(source, reason)| format!("{}: skipped: {reason}", source.name));
    let cut = summary
        .failures()
        .map(|(source, offset, reason)| format!("{}: not read beyond byte {offset}: {reason}", source.name));
    skipped.chain(cut)
}

/// Returns the working folder. If it no longer exists, returns an empty path.
fn working_folder() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

/// Returns the stamp of a file (such as its size and time), which shows later whether the file has changed. If the file does not
/// exist, returns the default stamp.
fn stamp_of(path: &Path) -> Stamp {
    std::fs::metadata(path).map_or(Stamp::default(), |metadata| Stamp::from_metadata(&metadata))
}
