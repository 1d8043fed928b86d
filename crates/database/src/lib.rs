//! PGN sources and reels (orbit's own files of games) as one ordered stream of blocks (groups of whole games).
//!
//! A reel yields the blocks that it contains. PGN text yields the same blocks as a reel built from it, so code that works on blocks
//! need not distinguish the two. The blocks, the game numbers and the order of results do not depend on the number of threads. Only
//! a few blocks are in memory at once.

#![deny(unsafe_code, missing_docs)]

mod additions;
mod blocks;
mod count;
mod each;
mod held;
mod numbers;
mod ordered;
mod places;
mod ranges;
mod repeats;
mod substitutes;
mod summary;
mod texts;
mod turns;

use std::cell::LazyCell;
use std::collections::VecDeque;
use std::fs::File;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use self::additions::{Additions, AlreadyHeld, additions};
pub use self::held::{Held, HeldReading};
pub use self::ordered::MemoryBudget;
pub use self::places::{GameBlock, PlaceCache};
pub use self::ranges::SourceMark;
pub use self::substitutes::{Outdated, PassedOver, Substitute};
pub use self::summary::{SourceSummary, Summary};
pub use self::texts::{GameTexts, TextError};
pub use self::turns::{ThreadShare, Turns};
pub use orbit_witness::{Agreement, Difference};

use self::blocks::{BlockGroup, BlockTask, BlockWork, PreparedBlock};
use self::each::NumberedWork;
use self::numbers::RunningNumbers;
use self::repeats::OpenedFiles;
use orbit_pgn::{ParseOptions, PgnError, READER_VERSION, Sources, Stamp, Url, canonical};
use orbit_reel::{
    Alike, Block, GameSet, MAGIC, Manifest, ManifestError, Reel, ReelError, ReelSource, Totals,
};
use orbit_witness::Readers;

const DUPLICATES_NEED_TAGS: &str = "finding duplicates needs the tags of games: leave out one of the two";

/// Options for reading a database. The defaults suit most uses.
#[derive(Clone, Debug, Default)]
pub struct StreamOptions {
    /// Options for reading PGN text, such as the sizes of chunks and games.
    pub pgn: orbit_pgn::Options,
    /// The parts of each game to keep.
    pub parse: ParseOptions,
    /// True to read, instead of a PGN file, an up-to-date reel that was built from this file alone: see
    /// [`BlockStream::substitutes`].
    pub substitute_reels: bool,
    /// True if the PGN text of a block's games is kept with the block: see [`BlockStream::texts`].
    pub keep_text: bool,
    /// The PGN readers that parse text: see [`Summary::agreement`]. The games of reels are not parsed again.
    pub readers: Readers,
    /// The cache of sidecars (files that record where games are), for [`BlockStream::block_of_game`]. If it is `None`, no sidecars
    /// are used.
    pub places: Option<PlaceCache>,
    /// The rule by which games that equal an earlier game are recognized and dropped, or `None` to keep all games: see
    /// [`BlockStream::without_duplicates`].
    pub unique: Option<Alike>,
    /// A flag that stops the stream when it becomes true.
    pub interrupt: Arc<AtomicBool>,
    /// The stream's share of a set of threads that several streams use. If it is `None`, the stream has its own threads.
    pub share: Option<Arc<ThreadShare>>,
}

/// The cause of an error while a database is opened or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// An input cannot be opened.
    #[error(transparent)]
    Pgn(#[from] PgnError),
    /// A reel cannot be read, or is damaged.
    #[error(transparent)]
    Reel(#[from] ReelError),
    /// A folder of reels is incomplete or has been modified.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Side lines were requested, but a reel has none.
    #[error(
        "{} contains only the main lines of its games: make it again with `orbit index --variations`, or leave side \
         lines out", path.display()
    )]
    NoVariations {
        /// The reel.
        path: PathBuf,
    },
    /// Comments were requested, but a reel has none.
    #[error(
        "{} contains no comments of its games, and they are asked for (by the query, or for clocks and evaluations): make \
         it again with `orbit index --variations`, or search the PGN that it was made from", path.display()
    )]
    NoAnnotations {
        /// The reel.
        path: PathBuf,
    },
    /// The number of games was requested before the search, but standard input, pipes and web files can be read only once.
    #[error(
        "`lastgamenumber` needs the number of games before the first one is searched, and standard input, pipes and the \
         web are read once: name a file, or a reel that `orbit index` makes of it"
    )]
    ReadOnce,
    /// There are more games than 32-bit numbers can count.
    #[error("the database has more than 4,294,967,295 games: search it in parts")]
    TooManyGames,
    /// A reel that is read instead of a file is damaged: see [`BlockStream::substitutes`].
    #[error("{error}; this reel is read instead of {0}: --no-reel reads {0} itself", file.display())]
    Substitute {
        /// The error of the reel.
        error: ReelError,
        /// The file, as it was given.
        file: PathBuf,
    },
    /// Two PGN readers disagree about a game: see [`StreamOptions::readers`].
    #[error(
        "verification failed: the two readers of games differ on game {number} of {source_name} (byte {}), half-move {}: \
         {}; one of them is wrong: please report it", difference.offset, difference.ply, difference.what
    )]
    ReadersDiffer {
        /// The source.
        source_name: String,
        /// The game's number in its source, from 1.
        number: u32,
        /// The difference.
        difference: Difference,
    },
    /// A file to append is already in the reel, with different content.
    #[error(
        "{} {how} {} was made from it: index all files again, or append only the new games, in a file of \
         another name", path.display(), reel.display()
    )]
    SourceChanged {
        /// The file.
        path: PathBuf,
        /// The reel.
        reel: PathBuf,
        /// The part of the message that describes the change. The name of the reel follows it.
        how: &'static str,
    },
    /// The input to append is a folder of reels.
    #[error(
        "{} is a folder of reels, which cannot be appended: `orbit index` without --append makes one reel of it",
        path.display()
    )]
    FolderOfReels {
        /// The folder.
        path: PathBuf,
    },
    /// Some, but not all, of the sources of the reel to append are already in the target reel.
    #[error(
        "{} contains {source_name}, and {} contains it already: append the files of the other sources instead",
        path.display(), reel.display()
    )]
    PartlyHeld {
        /// The reel to append.
        path: PathBuf,
        /// The target reel.
        reel: PathBuf,
        /// A source that both reels contain.
        source_name: String,
    },
    /// The reel to append contains a part of a file, and the target reel contains games of this file, perhaps the same ones.
    #[error(
        "{} contains a part of {source_name}, and {} contains games of it, perhaps the same: make a new reel of all reels with \
         `orbit index` without --append",
        path.display(), reel.display()
    )]
    OtherPart {
        /// The reel to append.
        path: PathBuf,
        /// The target reel.
        reel: PathBuf,
        /// The file of which both reels contain games.
        source_name: String,
    },
    /// Some, but not all, of the sources of the reel to append are in earlier inputs.
    #[error(
        "{} contains {source_name}, and so does an input before it: give the files of the other sources instead",
        path.display()
    )]
    PartlyGiven {
        /// The reel to append.
        path: PathBuf,
        /// A source that an earlier input also contains.
        source_name: String,
    },
}

/// A block and its totals, as the stream returns them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StreamedBlock {
    /// The block, with numbered games. It may be shared with hits and with databases in memory.
    pub block: Arc<Block>,
    /// The totals of this block: games, positions and problems.
    pub totals: Totals,
    /// The number of side lines that were left out when the block was built from text. For reels see [`Summary::side_lines`].
    pub side_lines: u64,
    /// The result of comparing two PGN readers on the text, if two readers were used.
    pub agreement: Agreement,
    /// The number of input bytes that were read up to the end of this block, before decompression.
    pub bytes: u64,
    /// The total number of input bytes, if every size is known.
    pub bytes_total: Option<u64>,
    /// The text from which the block was built, if there is one and it is kept.
    pub(crate) text: Vec<orbit_pgn::SourceText>,
}

enum Input {
    /// PGN files and other texts. `base` is the index of their first source among all sources of the stream.
    Pgn {
        sources: Box<Sources>,
        base: u32,
    },
    Reel {
        reel: Arc<Reel>,
        base: u32,
        next: usize,
        /// The index of the block at which reading stops.
        end: usize,
    },
    /// The games in skipped blocks of a reel. They are counted so that later games keep their numbers.
    Passed {
        games: u32,
    },
    Block(Box<Block>),
    Held {
        held: Held,
        next: usize,
    },
}

/// A stream of blocks from sources and reels, in input order.
pub struct BlockStream {
    inputs: VecDeque<Input>,
    sources: Vec<SourceSummary>,
    options: StreamOptions,
    bytes_total: Option<u64>,
    /// The number of games before the first game of the stream: games in skipped inputs, or in the reel to which games are
    /// appended.
    games_before: u32,
    substitutes: Vec<Substitute>,
    passed_over: Vec<PassedOver>,
    outdated: Vec<Outdated>,
    /// The set of earlier games, if duplicates are dropped.
    seen: Option<GameSet>,
    /// The sentences of [`BlockStream::notes`].
    notes: Vec<String>,
    /// The files that have been opened so far, by which repeated files are detected.
    opened: OpenedFiles,
    /// The folders of reels.
    folders: Vec<SourceMark>,
    /// The number of the last game in the whole database. It is set only if the stream is restricted to some blocks, because more
    /// games may follow these.
    last_game: Option<u32>,
}

impl BlockStream {
    /// Opens files, folders, URLs and `-` (standard input) in the given order. A file is a reel if it begins with the magic bytes
    /// of reels or its name ends in `.reel`. For a folder, all PGN, EPD and FEN files in it and its subfolders are opened.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Sources::open`] and [`Reel::open`].
    pub fn open(paths: &[PathBuf], options: StreamOptions) -> Result<BlockStream, StreamError> {
        let mut database = BlockStream::empty(options);
        database.add_paths(paths)?;
        Ok(database)
    }

    /// Opens inputs that are to be appended to a reel, as [`BlockStream::open`] does. Their sources and games are numbered after
    /// those of the reel.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`BlockStream::open`].
    pub fn open_after(
        reel: &Reel,
        paths: &[PathBuf],
        options: StreamOptions,
    ) -> Result<BlockStream, StreamError> {
        let mut database = BlockStream::empty(options);
        database.games_before = reel.games_before(reel.blocks());
        let sources = reel.sources().iter();
        let counted = |source: &ReelSource| SourceSummary {
            games: source.games,
            ..SourceSummary::from_reel(reel.path(), source)
        };
        database.sources = sources.map(counted).collect();
        database.add_paths(paths)?;
        Ok(database)
    }

    /// Creates a stream of one PGN text, plain or compressed.
    pub fn from_pgn_bytes(name: &str, bytes: Vec<u8>, options: StreamOptions) -> BlockStream {
        let sources = Sources::from_bytes_with(name, bytes, options.pgn.clone());
        let mut database = BlockStream::empty(options);
        database.add_sources(sources);
        database
    }

    /// Creates a stream of one reel.
    pub fn from_reel(reel: Reel, options: StreamOptions) -> BlockStream {
        let mut database = BlockStream::empty(options);
        database.add_reel(reel);
        database
    }

    /// Creates a stream of one block.
    pub fn from_block(block: Block) -> BlockStream {
        let mut database = BlockStream::empty(StreamOptions::default());
        let sources = block.source_games().iter().map(|part| part.source as usize + 1).max().unwrap_or(0);
        database.sources = vec![SourceSummary::default(); sources];
        database.inputs.push_back(Input::Block(Box::new(block)));
        database
    }

    /// Skips tags when games are read, which saves time if they are not needed. The start positions of games are not affected.
    ///
    /// # Panics
    ///
    /// Panics if tags are needed to detect duplicates.
    #[must_use]
    pub fn without_tags(mut self) -> BlockStream {
        assert!(!self.tells_games_by_tags(), "{DUPLICATES_NEED_TAGS}");
        self.options.parse.tags = false;
        self
    }

    /// Returns whether side lines are kept: see [`ParseOptions::variations`].
    pub fn keeps_variations(&self) -> bool {
        self.options.parse.variations
    }

    /// Returns whether comments and glyphs are kept: see [`ParseOptions::annotations`].
    pub fn keeps_annotations(&self) -> bool {
        self.options.parse.annotations
    }

    /// Leaves out side lines. Comments and glyphs are also left out, unless `annotations` is true.
    #[must_use]
    pub fn without_variations(mut self, annotations: bool) -> BlockStream {
        self.options.parse.variations = false;
        self.options.parse.annotations &= annotations;
        self
    }

    /// Keeps the PGN text from which blocks are built, together with the blocks, like [`StreamOptions::keep_text`].
    #[must_use]
    pub fn with_texts(mut self) -> BlockStream {
        self.options.keep_text = true;
        self
    }

    /// Drops games that equal an earlier game or a game in `seen`, the games of the reel that was passed to
    /// [`BlockStream::open_after`]. Dropped games count as skipped; the recorded problem names the earlier game and its source.
    /// [`GameSet`] describes the memory use.
    ///
    /// # Panics
    ///
    /// Panics if tags are left out although they are needed to detect duplicates.
    #[must_use]
    pub fn without_duplicates(mut self, seen: GameSet) -> BlockStream {
        assert!(self.options.parse.tags || seen.alike() == Alike::Moves, "{DUPLICATES_NEED_TAGS}");
        self.seen = Some(seen);
        self
    }

    /// Returns true if duplicates are dropped and tags are needed to detect them.
    pub fn tells_games_by_tags(&self) -> bool {
        self.seen.as_ref().is_some_and(|seen| seen.alike() == Alike::Tags)
    }

    /// Returns whether [`BlockStream::without_duplicates`] was called.
    pub fn drops_duplicates(&self) -> bool {
        self.seen.is_some()
    }

    fn empty(options: StreamOptions) -> BlockStream {
        let unique = options.unique;
        let stream = BlockStream {
            inputs: VecDeque::new(),
            sources: Vec::new(),
            options,
            bytes_total: Some(0),
            games_before: 0,
            substitutes: Vec::new(),
            passed_over: Vec::new(),
            outdated: Vec::new(),
            seen: None,
            notes: Vec::new(),
            opened: OpenedFiles::default(),
            folders: Vec::new(),
            last_game: None,
        };
        match unique {
            None => stream,
            Some(alike) => stream.without_duplicates(GameSet::new(alike)),
        }
    }

    fn add_paths(&mut self, paths: &[PathBuf]) -> Result<(), StreamError> {
        let mut texts = Vec::new();
        let reels = if self.options.substitute_reels { paths } else { &[] };
        let named = LazyCell::new(|| substitutes::NamedReels::among(reels));
        for path in paths {
            if Url::from_path(path).is_some() {
                texts.push(path.clone());
            } else if is_reel(path) {
                self.add_texts(&mut texts)?;
                let reel = Reel::open(path)?;
                self.refuse_bare(path, reel.keeps_variations())?;
                self.outdated.extend(Outdated::from_reel(&reel));
                self.add_reel(reel);
            } else if let Some(manifest) = Manifest::locate(path)? {
                self.add_texts(&mut texts)?;
                self.add_shards(path, &manifest)?;
            } else if let Some((reel, notes)) = named.holding(path) {
                self.notes.extend(notes);
                // The user also named this reel, so it is read at its own position among the inputs.
                self.substitutes.push(Substitute { reel: reel.to_owned(), file: path.clone() });
            } else if let Some(fresh) = self.fresh_reel(path) {
                self.add_texts(&mut texts)?;
                self.add_fresh(fresh, path);
            } else {
                texts.push(path.clone());
            }
        }
        self.add_texts(&mut texts)?;
        self.notes.extend(std::mem::take(&mut self.opened).note());
        Ok(())
    }

    /// Returns an error if side lines or comments were requested but the reel was made without side lines. Such a reel has no
    /// comments either.
    fn refuse_bare(&self, path: &Path, keeps_variations: bool) -> Result<(), StreamError> {
        match &self.options.parse {
            _ if keeps_variations => Ok(()),
            parse if parse.variations => Err(StreamError::NoVariations { path: path.to_owned() }),
            parse if parse.annotations => Err(StreamError::NoAnnotations { path: path.to_owned() }),
            _ => Ok(()),
        }
    }

    /// Adds the reels in a folder. All of them refer to the source list of the manifest.
    fn add_shards(&mut self, folder: &Path, path: &Path) -> Result<(), StreamError> {
        let manifest = Manifest::read(path)?;
        self.opened.add(canonical(path), path.display());
        self.refuse_bare(folder, manifest.variations)?;
        self.outdated.extend(Outdated::from_shards(folder, &manifest));
        let base = self.sources.len() as u32;
        let sources = manifest.reel_sources();
        self.sources.extend(sources.iter().map(|source| SourceSummary::from_reel(path, source)));
        let mut bytes = 0;
        for reel in manifest.open_shards(folder)? {
            bytes += reel.bytes();
            self.add_blocks(reel, base);
        }
        self.folders.push(SourceMark {
            name: path.display().to_string(),
            bytes: Some(bytes),
            mark: format!("manifest {}", manifest.checksum()),
        });
        Ok(())
    }

    /// Opens a run of consecutive PGN paths together, so that small files share blocks.
    fn add_texts(&mut self, paths: &mut Vec<PathBuf>) -> Result<(), StreamError> {
        if !paths.is_empty() {
            let mut options = self.options.pgn.clone();
            options.interrupt = Arc::clone(&self.options.interrupt);
            let sources = Sources::open(&std::mem::take(paths), options)?;
            self.add_sources(sources);
        }
        Ok(())
    }

    fn add_sources(&mut self, sources: Sources) {
        let base = self.sources.len() as u32;
        self.notes.extend_from_slice(sources.notes());
        for source in sources.sources() {
            self.bytes_total = self.bytes_total.zip(source.bytes).map(|(a, b)| a + b);
            // A source without a known size is not a file, so it gets no canonical path.
            let path = source.bytes.and(source.path.as_ref()).and_then(|path| canonical(path));
            self.opened.add(path.clone(), &source.name);
            self.sources.push(SourceSummary {
                name: source.name.clone(),
                path,
                reader: READER_VERSION,
                ..SourceSummary::default()
            });
        }
        self.inputs.push_back(Input::Pgn { sources: Box::new(sources), base });
    }

    fn add_reel(&mut self, reel: Reel) {
        self.opened.add(canonical(reel.path()), reel.path().display());
        let base = self.sources.len() as u32;
        let sources = reel.sources().iter();
        self.sources.extend(sources.map(|source| SourceSummary::from_reel(reel.path(), source)));
        self.add_blocks(reel, base);
    }

    /// Adds a reel whose sources are already in the list of sources, starting at the index `base`.
    fn add_blocks(&mut self, reel: Reel, base: u32) {
        self.bytes_total = self.bytes_total.map(|bytes| bytes + reel.bytes());
        let end = reel.blocks();
        self.inputs.push_back(Input::Reel { reel: Arc::new(reel), base, next: 0, end });
    }

    /// Returns the reels that are read instead of PGN files.
    pub fn substitutes(&self) -> &[Substitute] {
        &self.substitutes
    }

    /// Returns the reels that could be read instead of files but are not, because they were built by another version of orbit with
    /// different rules for reading games.
    pub fn passed_over(&self) -> &[PassedOver] {
        &self.passed_over
    }

    /// Returns the reels that are read although they were built by another version of orbit with different rules for reading games.
    pub fn outdated(&self) -> &[Outdated] {
        &self.outdated
    }

    /// Returns notes about files that are read more than once, and about files and members that may contain games but are not read:
    /// see [`Sources::notes`].
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the sources, indexed by [`GameRow::source`](orbit_reel::GameRow::source).
    pub fn sources(&self) -> &[SourceSummary] {
        &self.sources
    }

    /// Returns the names of the sources that are read from the web.
    pub fn remote_sources(&self) -> impl Iterator<Item = &str> {
        let read = self.sources.iter().filter(|source| source.reel.is_none());
        read.map(|source| &*source.name).filter(|name| Url::from_path(Path::new(name)).is_some())
    }

    /// Returns the reels that are read.
    pub fn reels(&self) -> impl Iterator<Item = &Reel> {
        self.inputs.iter().filter_map(|input| match input {
            Input::Reel { reel, .. } => Some(&**reel),
            _ => None,
        })
    }

    /// Returns the reels with extra bytes at the end, and the number of these bytes: see [`Reel::bytes_behind`].
    pub fn bytes_behind_reels(&self) -> impl Iterator<Item = (&Path, u64)> {
        self.reels().map(|reel| (reel.path(), reel.bytes_behind())).filter(|(_, bytes)| *bytes > 0)
    }

    /// Returns the names of the sources.
    pub fn source_names(&self) -> Vec<String> {
        self.sources.iter().map(|source| source.name.clone()).collect()
    }

    /// Returns the total number of input bytes, if every size is known.
    pub fn bytes_total(&self) -> Option<u64> {
        self.bytes_total
    }

    /// Implements [`BlockStream::for_each_block`] and [`BlockStream::for_each_group`] for results that are indices of stored
    /// results.
    fn for_each_numbered(
        self,
        threads: usize,
        blocks: usize,
        work: &NumberedWork<'_>,
        take: &mut dyn FnMut(StreamedBlock, usize) -> ControlFlow<()>,
    ) -> Result<Summary, StreamError> {
        let BlockStream {
            mut inputs, sources, options, bytes_total, games_before, seen, substitutes, ..
        } = self;
        for input in &mut inputs {
            if let Input::Pgn { sources, .. } = input {
                sources.unpack_on(threads);
                sources.interrupted_by(&options.interrupt);
            }
        }
        let mut feed = Feed {
            inputs,
            bytes: 0,
            passed: 0,
            side_lines: 0,
            variations: options.parse.variations,
            stamps: Vec::new(),
            failures: Vec::new(),
            skipped: Vec::new(),
        };
        let alike = seen.as_ref().map(GameSet::alike);
        let mut numbers = RunningNumbers::new(games_before, &sources, seen);
        let mut summary = Summary { sources, ..Summary::default() };
        let mut size = 1;
        let steps = ordered::Steps {
            next: || {
                let tasks: Vec<BlockTask> = std::iter::from_fn(|| feed.next()).take(size).collect();
                size = (2 * size).min(blocks.max(1));
                (!tasks.is_empty()).then_some(tasks)
            },
            prepare: |tasks: Vec<BlockTask>| Ok(BlockGroup::prepare(tasks, &options, bytes_total, alike)),
            number: |group: &mut BlockGroup| {
                group.number(&mut numbers);
                Ok(())
            },
            work: |group: &BlockGroup, room: &MemoryBudget| {
                let blocks: Vec<&Arc<Block>> =
                    group.prepared.iter().map(|prepared| &prepared.streamed.block).collect();
                work(&blocks, room)
            },
        };
        let (totals, side_lines, agreement) =
            (&mut summary.totals, &mut summary.side_lines, &mut summary.agreement);
        let mut failure = None;
        let limits = ordered::TaskLimits {
            share: options.share.as_deref(),
            ..ordered::TaskLimits::with_threads(threads)
        };
        let finished: Result<bool, std::convert::Infallible> =
            ordered::run(limits, &options.interrupt, steps, |group, results| {
                for (PreparedBlock { streamed, .. }, result) in group.prepared.into_iter().zip(results) {
                    totals.add(&streamed.totals);
                    *side_lines += streamed.side_lines;
                    agreement.add(&streamed.agreement);
                    take(streamed, result)?;
                }
                failure = group.failure;
                if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        let Ok(finished) = finished;
        if let Some(failure) = failure {
            return Err(substitutes::name_file(failure, substitutes));
        }
        summary.finished = finished;
        feed.finish_input();
        summary.bytes = feed.bytes;
        summary.side_lines += feed.side_lines;
        numbers.tell(&mut summary.sources);
        for (source, stamp) in feed.stamps {
            summary.sources[source as usize].stamp = stamp;
        }
        for (source, offset, reason) in feed.failures {
            summary.sources[source as usize].failure = Some((offset, reason));
        }
        for (source, reason) in feed.skipped {
            summary.sources[source as usize].skipped = Some(reason);
        }
        Ok(summary)
    }

    /// Returns the number of positions in reels and in-memory blocks. The positions in text are unknown, and count as 0.
    pub fn positions_known(&self) -> u64 {
        let known = |input: &Input| match input {
            Input::Reel { reel, next, end, .. } if (*next, *end) != (0, reel.blocks()) => {
                (*next..*end).map(|index| reel.block_positions(index)).sum()
            }
            Input::Reel { reel, .. } if self.options.parse.variations => reel.totals().positions,
            Input::Reel { reel, .. } => reel.totals().positions - reel.totals().side_positions,
            Input::Block(block) => block.slots() as u64,
            Input::Held { held, .. } if self.options.parse.variations => held.totals().positions,
            Input::Held { held, .. } => held.totals().positions - held.totals().side_positions,
            Input::Pgn { .. } | Input::Passed { .. } => 0,
        };
        self.inputs.iter().map(known).sum()
    }
}

/// Returns whether a file is a reel or is named like one. The name matters because a truncated reel must not be read as PGN.
fn is_reel(path: &Path) -> bool {
    // Reading from a pipe would consume its first bytes, so only regular files are read.
    let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let is_named = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("reel"));
    let mut head = [0; MAGIC.len()];
    let mut begins_so = || File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok();
    is_file && (is_named || begins_so() && Reel::sniff(&head))
}

/// The sequential part of the stream, which issues the tasks.
struct Feed {
    inputs: VecDeque<Input>,
    /// The total size of the finished inputs, in bytes.
    bytes: u64,
    /// The number of games that were skipped together with their blocks since the last task was issued. It is passed on with the
    /// next task, so that later games keep their numbers.
    passed: u32,
    /// The number of side lines in fully read reels.
    side_lines: u64,
    /// True if the stream keeps the side lines of games from reels.
    variations: bool,
    /// The stamps (size, time and hash) of the sources that have been opened, each with the index of the source.
    stamps: Vec<(u32, Stamp)>,
    failures: Vec<(u32, u64, String)>,
    skipped: Vec<(u32, String)>,
}

impl Feed {
    fn next(&mut self) -> Option<BlockTask> {
        let (work, bytes) = self.next_work()?;
        Some(BlockTask { work, bytes, passed: std::mem::take(&mut self.passed) })
    }

    fn next_work(&mut self) -> Option<(BlockWork, u64)> {
        loop {
            match self.inputs.front_mut()? {
                Input::Pgn { sources, base } => {
                    if let Some(chunk) = sources.next_chunk() {
                        let bytes = self.bytes + sources.bytes_read();
                        return Some((BlockWork::Chunk { chunk, base: *base }, bytes));
                    }
                }
                Input::Reel { reel, base, next, end } if *next < *end => {
                    let index = *next;
                    *next += 1;
                    self.bytes += reel.block_bytes(index);
                    let work = BlockWork::Reel { reel: Arc::clone(reel), base: *base, index };
                    return Some((work, self.bytes));
                }
                Input::Block(block) => {
                    let work = BlockWork::Block(std::mem::take(block));
                    self.inputs.pop_front();
                    return Some((work, self.bytes));
                }
                Input::Held { held, next } if *next < held.blocks().len() => {
                    let block = held.blocks()[*next].clone();
                    *next += 1;
                    // `block.bytes` is the number of bytes read up to this block when the database was loaded. With the last block,
                    // the whole input counts as read.
                    let bytes = if *next == held.blocks().len() { held.bytes_read() } else { block.bytes };
                    self.bytes = bytes;
                    return Some((BlockWork::Held(Box::new(block)), bytes));
                }
                // If the sum overflows, the error is reported when the games are numbered.
                Input::Passed { games } => self.passed = self.passed.saturating_add(*games),
                Input::Reel { .. } | Input::Held { .. } => {}
            }
            self.finish_input();
        }
    }

    /// Removes the first input, even if it was only partly read. Stores the stamps and failures of its sources, and adds up its
    /// counts.
    fn finish_input(&mut self) {
        let input = self.inputs.pop_front();
        if let Some(Input::Reel { reel, next, .. }) = &input
            && *next == reel.blocks()
        {
            self.side_lines += reel.side_lines();
            if !self.variations {
                self.side_lines += reel.totals().side_lines;
            }
        }
        if let Some(Input::Held { held, next }) = &input
            && *next == held.blocks().len()
        {
            self.side_lines += held.side_lines_of_reels();
        }
        if let Some(Input::Pgn { sources, base }) = input {
            self.bytes += sources.bytes_read();
            let stamps = (base..).zip(sources.sources()).map(|(index, source)| (index, source.stamp));
            self.stamps.extend(stamps);
            for failure in sources.failures() {
                self.failures.push((base + failure.source, failure.offset, failure.reason.clone()));
            }
            let skipped = sources.skipped().iter();
            self.skipped.extend(skipped.map(|file| (base + file.source, file.reason.clone())));
        }
    }
}
