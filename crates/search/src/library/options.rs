//! The options for opening a database.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use super::{CancelToken, Database, DatabaseError, Progress, stamp_of, working_folder};
use crate::executor::{EngineChoice, EngineOptions};
use orbit_core::files::Unfinished;
use orbit_database::{BlockStream, Held, HeldReading, PlaceCache, StreamError, StreamOptions, Turns};
use orbit_engine::gpu::GpuOptions;
use orbit_pgn::PgnError;
use orbit_reel::Totals;

/// The default memory limit of a database in bytes. It is enough for about 250 million positions.
const RESIDENT_BYTES_MAX: u64 = 1 << 30;

/// The minimum memory per position: the two bytes of a move.
const POSITION_BYTES: u64 = 2;

/// The storage from which requests read the blocks (groups of games) of a database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Residence {
    /// Memory. The files are read again only for the text of games.
    Resident {
        /// The approximate number of bytes that the blocks use.
        bytes: u64,
    },
    /// The files. Each request reads them again, because the blocks exceed the memory limit.
    Streamed {
        /// The memory limit in bytes: [`DatabaseOptions::resident_bytes_max`].
        bytes_max: u64,
    },
}

impl fmt::Display for Residence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Residence::Resident { bytes } => write!(f, "in memory ({bytes} bytes)"),
            Residence::Streamed { bytes_max } => {
                write!(f, "read anew for each request (it needs more than {bytes_max} bytes of memory)")
            }
        }
    }
}

/// Options for opening a [`Database`]. The defaults suit most uses.
///
/// ```
/// use orbit_search::{EngineChoice, DatabaseOptions};
///
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// let database = DatabaseOptions::new()
///     .resident_bytes_max(64 << 20)
///     .engine(EngineChoice::Cpu)
///     .open(["games/sample.pgn"])?;
/// println!("{} positions, {}", database.positions(), database.residence());
/// # Ok::<(), orbit_search::DatabaseError>(())
/// ```
#[must_use]
pub struct DatabaseOptions<'a> {
    stream: StreamOptions,
    resident_bytes_max: u64,
    engine: EngineOptions,
    threads: usize,
    turns: Option<Turns>,
    cancel: CancelToken,
    unfinished: Unfinished,
    progress: Option<Box<dyn FnMut(Progress) + 'a>>,
}

impl Default for DatabaseOptions<'_> {
    fn default() -> Self {
        DatabaseOptions {
            stream: StreamOptions {
                substitute_reels: true,
                places: PlaceCache::from_environment(),
                ..StreamOptions::default()
            },
            resident_bytes_max: RESIDENT_BYTES_MAX,
            engine: EngineOptions { gpu: GpuOptions::from_name("auto"), ..EngineOptions::default() },
            threads: std::thread::available_parallelism().map_or(1, |threads| threads.get()),
            turns: None,
            cancel: CancelToken::new(),
            unfinished: Unfinished::default(),
            progress: None,
        }
    }
}

impl<'a> DatabaseOptions<'a> {
    /// Creates the default options.
    pub fn new() -> DatabaseOptions<'a> {
        DatabaseOptions::default()
    }

    /// Sets the memory limit of the database in bytes (1 GiB by default). A larger database is read from its files for each
    /// request. With 0, requests always read the files.
    pub fn resident_bytes_max(mut self, bytes: u64) -> Self {
        self.resident_bytes_max = bytes;
        self
    }

    /// Sets the engine. [`EngineChoice::Auto`], the default, uses a graphics card (never a software adapter) for requests with
    /// enough positions. From the second request on, a tenth as many are enough if the games are in memory and fit on the card.
    /// Once opened, the card stays open for later requests.
    pub fn engine(mut self, choice: EngineChoice) -> Self {
        self.engine.engine = choice;
        self
    }

    /// Sets the options for opening the graphics card. If `None`, [`EngineChoice::Auto`] uses no card.
    pub fn gpu(mut self, options: Option<GpuOptions>) -> Self {
        self.engine.gpu = options;
        self
    }

    /// Sets the number of threads per request. The default is one per core. Answers do not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Makes the opening share the threads in `turns` with requests: while the database is read, a thread can serve another request
    /// after each block.
    pub(crate) fn in_turn(mut self, turns: &Turns) -> Self {
        self.turns = Some(turns.clone());
        self
    }

    /// Sets whether to read the reel of a PGN file (a database file built from it) instead of the file, if the reel is next to the
    /// file and up to date. True by default.
    pub fn substitute_reels(mut self, is_wanted: bool) -> Self {
        self.stream.substitute_reels = is_wanted;
        self
    }

    /// Sets the cache of the offsets of games in large PGN files, used by [`Database::game`]. The default is the user's cache
    /// folder. `None` disables the cache.
    pub fn places(mut self, cache: Option<PlaceCache>) -> Self {
        self.stream.places = cache;
        self
    }

    /// Sets whether to keep side lines (variations), comments and glyphs. [`Query::with_variations`](super::Query::with_variations)
    /// searches side lines. Other queries still search only main lines and are slower, because side lines must be removed for each
    /// request. Reels can be opened with this option only if they were built with side lines.
    pub fn variations(mut self, are_kept: bool) -> Self {
        (self.stream.parse.variations, self.stream.parse.annotations) = (are_kept, are_kept);
        self
    }

    /// Sets the options for reading PGN.
    pub fn reading(mut self, pgn: orbit_pgn::Options) -> Self {
        self.stream.pgn = pgn;
        self
    }

    /// Sets a token that can cancel the opening of the database.
    pub fn cancel_token(mut self, cancel: &CancelToken) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// Adds the temporary files of outputs to a list while they are written.
    pub(crate) fn unfinished(mut self, unfinished: &Unfinished) -> Self {
        self.unfinished = unfinished.clone();
        self
    }

    /// Calls `watch` with the progress of reading the database into memory, on the thread that opens the database.
    pub fn progress(mut self, watch: impl FnMut(Progress) + 'a) -> Self {
        self.progress = Some(Box::new(watch));
        self
    }

    /// Opens files, folders, reels, URLs (with the feature `https`) and `-` (standard input). Games are numbered in the order of
    /// `paths`. Reels are recognized by their first bytes. In folders, all PGN, EPD and FEN files are opened, including those in
    /// subfolders.
    ///
    /// # Errors
    ///
    /// Fails if a path or URL cannot be read, a reel is damaged, or standard input does not fit into memory.
    pub fn open<P: Into<PathBuf>>(
        mut self,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Database, DatabaseError> {
        let paths: Vec<PathBuf> = paths.into_iter().map(Into::into).collect();
        self.stream.interrupt = Arc::clone(&self.cancel.0);
        let stream = match BlockStream::open(&paths, std::mem::take(&mut self.stream)) {
            Err(StreamError::Pgn(PgnError::Interrupted)) => return Err(DatabaseError::Cancelled),
            opened => opened?,
        };
        self.open_stream(stream)
    }

    /// Opens a PGN text in memory, plain or compressed. `name` is its source name.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`DatabaseOptions::open`].
    pub fn open_bytes(mut self, name: &str, bytes: Vec<u8>) -> Result<Database, DatabaseError> {
        let stream = BlockStream::from_pgn_bytes(name, bytes, std::mem::take(&mut self.stream));
        self.open_stream(stream)
    }

    fn open_stream(mut self, stream: BlockStream) -> Result<Database, DatabaseError> {
        let stamps = stream.files_read().map(|path| (stamp_of(&path), path));
        let stamps = stamps.map(|(stamp, path)| (path, stamp)).collect();
        let (held, positions) = self.hold(&stream)?;
        if held.is_none() && !stream.is_repeatable() {
            let name = stream.source_names().join(", ");
            return Err(DatabaseError::TooLarge { name, bytes_max: self.resident_bytes_max });
        }
        Ok(Database {
            sources: stream.source_names().into(),
            inputs: Mutex::new(stream),
            held,
            stamps,
            folder: working_folder(),
            failures: Mutex::default(),
            positions: AtomicU64::new(positions),
            resident_bytes_max: self.resident_bytes_max,
            tables: orbit_visits::OpenTables::default(),
            engine: self.engine,
            threads: self.threads,
            unfinished: self.unfinished,
            is_searched: AtomicBool::new(false),
        })
    }

    /// Reads a database into memory if it fits. Also returns the number of positions, which may be estimated.
    fn hold(&mut self, stream: &BlockStream) -> Result<(Option<Held>, u64), DatabaseError> {
        let known = stream.positions_known();
        if known.saturating_mul(POSITION_BYTES) > self.resident_bytes_max || self.resident_bytes_max == 0 {
            return Ok((None, known));
        }
        let bytes_total = stream.bytes_total();
        let mut progress = Progress { bytes_total, ..Progress::default() };
        let mut watch = self.progress.take().unwrap_or_else(|| Box::new(|_| ()));
        let unread = stream.unread().interrupted_by(&self.cancel.0).in_turn(self.turns.as_ref());
        let reading = Held::read(unread, self.threads, self.resident_bytes_max, |streamed| {
            progress.add(streamed);
            watch(progress);
        })?;
        if self.cancel.is_cancelled() {
            return Err(DatabaseError::Cancelled);
        }
        Ok(match reading {
            HeldReading::Whole(held) => {
                progress.finish(held.summary());
                watch(progress);
                let positions = held.totals().positions;
                (Some(held), positions)
            }
            HeldReading::Partial { totals, bytes } => {
                (None, known.max(estimate(&totals, bytes, bytes_total)))
            }
        })
    }
}

/// Estimates the number of positions in the whole input. It assumes that the unread part has as many positions per byte as the read
/// part.
fn estimate(totals: &Totals, bytes: u64, bytes_total: Option<u64>) -> u64 {
    let total = bytes_total.unwrap_or(bytes);
    let positions = u128::from(totals.positions) * u128::from(total) / u128::from(bytes.max(1));
    u64::try_from(positions).unwrap_or(u64::MAX)
}
