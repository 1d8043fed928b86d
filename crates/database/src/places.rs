//! Finds a game by its number without reading all games before it.
//!
//! A reel records where its games are. In PGN text, the number of a game is known only after all text before it has been read. This
//! knowledge may be recorded in a sidecar, a small file in a folder that the caller chooses. For each stretch of text, a sidecar
//! records the offset, the number of games before it, and a hash of its bytes. Invariant: a game that is found through a sidecar is
//! the game that reading all text would find. So a sidecar is used only if the files still have the same sizes, times and inodes,
//! and a stretch only if its bytes have the same hash. A sidecar that cannot be read or written is ignored.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use super::blocks::build;
use super::{BlockStream, Input, StreamError, StreamOptions, StreamedBlock, Summary};
use orbit_core::files::{OutputFile, open_regular, user_caches};
use orbit_pgn::{Chunk, READER_VERSION, SourceKind, SourceText, Sources, Stamp};
use orbit_reel::Block;

/// The version of the format of sidecars (files that record where games are in PGN text). It is increased when the meaning of the
/// bytes changes.
const VERSION: u32 = 1;
/// The file extension of sidecars.
const ENDING: &str = "places";
/// The maximum number of sidecars in a folder. If there are more, the oldest are removed.
const SIDECARS_MAX: usize = 256;
/// The maximum size of a sidecar that is read: 32 MiB, enough for about 600,000 stretches of text.
const SIDECAR_BYTES_MAX: u64 = 32 << 20;
/// The time for which a file must have been unchanged. After a more recent change, another write might leave the modification time
/// unchanged, because file systems store times with a coarse resolution.
const SETTLED: Duration = Duration::from_secs(2);
/// The number of bytes at the start of each file that are compared with the decompressed text. If they are equal, the file is not
/// compressed.
const HEAD_BYTES: usize = 64;

/// The folder in which sidecars (files that record where games are in PGN text) are stored, and the minimum amount of text for
/// which one is written.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PlaceCache {
    /// The folder for sidecars. It is created if it is missing.
    pub folder: PathBuf,
    /// The minimum amount of text, in bytes, for which a sidecar is written. Less text is read just as quickly without one.
    pub bytes_min: u64,
}

impl PlaceCache {
    /// Creates a cache in a folder. Sidecars (files that record where games are) are written for texts of at least 4 MB.
    pub fn new(folder: PathBuf) -> PlaceCache {
        PlaceCache { folder, bytes_min: 4 << 20 }
    }

    /// Returns the cache in the user's cache folder, or `None` if the environment names no such folder.
    pub fn from_environment() -> Option<PlaceCache> {
        user_caches().map(PlaceCache::new)
    }
}

/// The result of [`BlockStream::block_of_game`].
#[derive(Debug)]
#[non_exhaustive]
pub struct GameBlock {
    /// The block that contains the game, or `None` if the database has no game with this number. If the game was skipped, the block
    /// states the reason.
    pub block: Option<Arc<Block>>,
    /// The number of games up to the end of the block, or the number of all games if no block was found.
    pub games: u32,
    /// The summary of the reading.
    pub summary: Summary,
}

impl BlockStream {
    /// Returns the block of a game. `number` is the game's number across all sources, from 1. In reels, and in text for which there
    /// is a sidecar ([`StreamOptions::places`]), only the block itself is read. All other text before the game must be read.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`BlockStream::for_each_block`].
    pub fn block_of_game(mut self, number: u32, threads: usize) -> Result<GameBlock, StreamError> {
        let mut before = 0_u32;
        let mut notes = None;
        while let Some(input) = self.inputs.front_mut() {
            let games = match input {
                Input::Reel { reel, next, .. } => {
                    let games = reel.games_before(reel.blocks());
                    if let Some(index) = reel.block_of_game(number - before) {
                        *next = index;
                        before += reel.games_before(index);
                        break;
                    }
                    games
                }
                Input::Pgn { sources, base } => {
                    let Some(cache) = &self.options.places else { break };
                    let base = *base;
                    let Some(sidecar) = Sidecar::from_sources(sources, cache) else { break };
                    match sidecar.find(number - before, &self.options) {
                        SourcePlace::Found { mut block, games_before } => {
                            block.games_before = before.saturating_add(games_before);
                            block.source_games_mut().iter_mut().for_each(|part| part.source += base);
                            let (games, summary) = (
                                block.games_before.saturating_add(block.games_read()),
                                self.unread_summary(),
                            );
                            return Ok(GameBlock { block: Some(Arc::new(*block)), games, summary });
                        }
                        SourcePlace::Behind { games } => games,
                        SourcePlace::Unknown => {
                            notes = Some(Notes::new(sidecar, base, before));
                            break;
                        }
                    }
                }
                Input::Passed { games } => *games,
                Input::Block(_) | Input::Held { .. } => break,
            };
            let Some(after) = before.checked_add(games) else { return Err(StreamError::TooManyGames) };
            before = after;
            self.inputs.pop_front();
        }
        self.games_before = before;
        self.options.keep_text = notes.is_some();
        let (mut block, mut games) = (None, before);
        let take = |taken: StreamedBlock, ()| {
            games = taken.block.games_before + taken.block.games_read();
            notes.iter_mut().for_each(|notes| notes.add(&taken));
            if games < number {
                return ControlFlow::Continue(());
            }
            block = Some(taken.block);
            ControlFlow::Break(())
        };
        let summary = self.for_each_block(threads, |_| (), take)?;
        if let Some(notes) = notes {
            notes.write(&summary);
        }
        Ok(GameBlock { block, games, summary })
    }

    fn unread_summary(&self) -> Summary {
        Summary { sources: self.sources.clone(), ..Summary::default() }
    }
}

/// The properties by which a change to a file is detected. They are stricter than a [`Stamp`], which stays the same when a file is
/// copied.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct FileMark {
    path: Vec<u8>,
    bytes: u64,
    modified_ns: u64,
    /// The device, the inode, and the time of the inode's last change (seconds and nanoseconds), as far as the system provides
    /// them. Unlike the modification time of a file, this time cannot be set back.
    inode: (u64, u64, i64, i64),
}

impl FileMark {
    fn from_path(path: &Path) -> Option<FileMark> {
        let path = path.canonicalize().ok()?;
        let metadata = fs::metadata(&path).ok()?;
        let stamp = Stamp::from_metadata(&metadata);
        Some(FileMark {
            bytes: stamp.bytes?,
            modified_ns: stamp.modified_ns?,
            inode: inode(&metadata),
            path: path.as_os_str().as_encoded_bytes().to_vec(),
        })
    }

    /// Returns whether the file has been unchanged for so long that a further change would also change its modification time.
    fn is_settled(&self, now: SystemTime) -> bool {
        let modified = SystemTime::UNIX_EPOCH + Duration::from_nanos(self.modified_ns);
        now.duration_since(modified).is_ok_and(|age| age > SETTLED)
    }
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> (u64, u64, i64, i64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> (u64, u64, i64, i64) {
    (0, 0, 0, 0)
}

/// A stretch of text from which one block was made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Stretch {
    /// The number of games before this stretch of text, across all sources.
    games_before: u32,
    /// The number of games in this stretch of text, including skipped games.
    games: u32,
    /// The number of games before this stretch in the source of its first text. All other texts of a stretch are at the start of
    /// their sources, so no games precede them.
    in_source: u32,
    texts: Vec<TextMark>,
    /// The XXH3 hash of all bytes of the stretch of text.
    hash: u64,
}

/// The part of a stretch of text (the text of one block) that is in one source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct TextMark {
    source: u32,
    is_list: bool,
    offset: u64,
    bytes: u64,
}

/// The content of a sidecar: the places of games in sources that are read together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct GamePlaces {
    version: u32,
    /// The version of the rules by which the games were read.
    reader: u32,
    /// The maximum size of a game with which the text was read. It can affect where games end.
    game_bytes_max: u64,
    files: Vec<FileMark>,
    stretches: Vec<Stretch>,
    /// True if the games of the stretches are all games of the files.
    is_whole: bool,
}

struct Sidecar {
    cache: PlaceCache,
    path: PathBuf,
    paths: Vec<PathBuf>,
    places: GamePlaces,
}

enum SourcePlace {
    Found {
        block: Box<Block>,
        /// The number of games before the block, in all sources of the sidecar.
        games_before: u32,
    },
    /// The game comes after the sidecar's sources, which have only `games` games in total.
    Behind {
        games: u32,
    },
    Unknown,
}

impl Sidecar {
    /// Returns the sidecar (the record of where games are) for some sources, if all of them are files and they have enough text.
    /// Its content is read from disk if a sidecar for these files exists and they have not changed since; otherwise it is empty.
    fn from_sources(sources: &Sources, cache: &PlaceCache) -> Option<Sidecar> {
        let bytes: u64 = sources.sources().iter().map(|source| source.bytes.unwrap_or(0)).sum();
        if bytes < cache.bytes_min {
            return None;
        }
        let paths = sources.sources().iter().map(|source| source.path.clone()).collect::<Option<Vec<_>>>()?;
        let files = paths.iter().map(|path| FileMark::from_path(path)).collect::<Option<Vec<_>>>()?;
        let names = files.iter().flat_map(|file| [&file.path[..], &[0]].concat()).collect::<Vec<u8>>();
        let path = cache.folder.join(format!("{:016x}.{ENDING}", XxHash3_64::oneshot(&names)));
        let unknown = GamePlaces {
            version: VERSION,
            reader: READER_VERSION,
            game_bytes_max: sources.game_bytes_max() as u64,
            files,
            stretches: Vec::new(),
            is_whole: false,
        };
        let is_of_these = |found: &GamePlaces| {
            let bare = GamePlaces { stretches: Vec::new(), is_whole: false, ..found.clone() };
            bare == unknown
        };
        let places = read(&path).filter(is_of_these).unwrap_or(unknown);
        Some(Sidecar { cache: cache.clone(), path, paths, places })
    }

    /// Looks up the stretch of text with a game of this number in the sidecar, and reads the block from this text.
    fn find(&self, number: u32, options: &StreamOptions) -> SourcePlace {
        let stretches = &self.places.stretches;
        let games = stretches.last().map_or(0, |last| last.games_before.saturating_add(last.games));
        if number > games {
            return if self.places.is_whole { SourcePlace::Behind { games } } else { SourcePlace::Unknown };
        }
        let index = stretches.partition_point(|stretch| stretch.games_before < number);
        let Some(stretch) = index.checked_sub(1).map(|index| &stretches[index]) else {
            return SourcePlace::Unknown;
        };
        let Ok(texts) = self.texts(stretch) else { return SourcePlace::Unknown };
        if hash(&texts) != stretch.hash {
            return SourcePlace::Unknown;
        }
        let (mut block, _) = build(&Chunk::from_texts(texts, options.pgn.game_bytes_max), options);
        if block.games_read() != stretch.games {
            return SourcePlace::Unknown;
        }
        if let Some(first) = block.source_games_mut().first_mut() {
            first.games_before = stretch.in_source;
        }
        SourcePlace::Found { block: Box::new(block), games_before: stretch.games_before }
    }

    /// Reads a stretch of text from the files again. The stretch may extend over several files, and the files may have changed
    /// since the sidecar was written.
    fn texts(&self, stretch: &Stretch) -> io::Result<Vec<SourceText>> {
        let read = |mark: &TextMark| {
            let index = mark.source as usize;
            let (path, file) = (self.paths.get(index), self.places.files.get(index));
            let fits = file
                .is_some_and(|file| mark.offset.checked_add(mark.bytes).is_some_and(|end| end <= file.bytes));
            let Some(path) = path.filter(|_| fits) else { return Err(io::ErrorKind::InvalidData.into()) };
            let bytes = read_at(path, mark.offset, mark.bytes)?;
            let kind = if mark.is_list { SourceKind::Epd } else { SourceKind::Pgn };
            let is_last = file.is_some_and(|file| mark.offset + mark.bytes == file.bytes);
            Ok(SourceText { source: mark.source, offset: mark.offset, bytes, kind, is_last })
        };
        stretch.texts.iter().map(read).collect()
    }
}

fn read_at(path: &Path, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut out = Vec::new();
    file.take(bytes).read_to_end(&mut out)?;
    if out.len() as u64 == bytes { Ok(out) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Returns the XXH3 hash of the concatenated texts.
fn hash(texts: &[SourceText]) -> u64 {
    use std::hash::Hasher as _;
    let mut hasher = XxHash3_64::new();
    texts.iter().for_each(|text| hasher.write(&text.bytes));
    hasher.finish()
}

/// Reads a sidecar, the file that records where games are. Returns `None` if it cannot be read or its checksum is wrong.
fn read(path: &Path) -> Option<GamePlaces> {
    let file = open_regular(path).ok()?;
    if file.metadata().ok()?.len() > SIDECAR_BYTES_MAX {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(SIDECAR_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let (bytes, sum) = bytes.split_last_chunk()?;
    if XxHash3_64::oneshot(bytes) != u64::from_le_bytes(*sum) {
        return None;
    }
    postcard::from_bytes(bytes).ok()
}

/// The records for a new sidecar. They are collected while the text of its sources is read from the beginning.
struct Notes {
    sidecar: Sidecar,
    /// The index of the sidecar's first source in the stream. `before` is the number of games before this source.
    base: u32,
    before: u32,
    /// True if no more stretches can be recorded: a source is compressed, so its text cannot be read at an offset.
    is_broken: bool,
    stretches: Vec<Stretch>,
    /// True once all text of the sidecar's sources has been read.
    is_past: bool,
}

impl Notes {
    fn new(sidecar: Sidecar, base: u32, before: u32) -> Notes {
        Notes { sidecar, base, before, is_broken: false, stretches: Vec::new(), is_past: false }
    }

    fn add(&mut self, taken: &StreamedBlock) {
        let sources = self.sidecar.paths.len() as u32;
        let is_ours =
            |text: &SourceText| text.source.checked_sub(self.base).is_some_and(|index| index < sources);
        if self.is_broken || self.is_past {
            return;
        }
        // A block without text comes from a reel. The stream reads the reel after all sources of this sidecar.
        if taken.text.is_empty() || !taken.text.iter().all(is_ours) {
            self.is_past = true;
            return;
        }
        let mark = |text: &SourceText| TextMark {
            source: text.source - self.base,
            is_list: text.kind == SourceKind::Epd,
            offset: text.offset,
            bytes: text.bytes.len() as u64,
        };
        let texts: Vec<TextMark> = taken.text.iter().map(mark).collect();
        let is_as_stored = |(mark, text): (&TextMark, &SourceText)| {
            let head = &text.bytes[..text.bytes.len().min(HEAD_BYTES)];
            let path = &self.sidecar.paths[mark.source as usize];
            mark.offset > 0 || read_at(path, 0, head.len() as u64).is_ok_and(|found| found == head)
        };
        self.is_broken = !texts.iter().zip(&taken.text).all(is_as_stored);
        let parts = taken.block.source_games();
        let first = parts.first().filter(|part| part.source == taken.text[0].source);
        if self.is_broken {
            return;
        }
        self.stretches.push(Stretch {
            games_before: taken.block.games_before - self.before,
            games: taken.block.games_read(),
            in_source: first.map_or(0, |part| part.games_before),
            texts,
            hash: hash(&taken.text),
        });
    }

    /// Writes the sidecar, unless the files have changed meanwhile, or changed so recently that another change could go unnoticed.
    /// It is also not written if sources were skipped or only partly read, because a search with the sidecar would not report this.
    fn write(self, summary: &Summary) {
        let Notes { sidecar: Sidecar { cache, path, paths, mut places }, stretches, .. } = self;
        let now = SystemTime::now();
        let is_same = |(path, mark): (&PathBuf, &FileMark)| FileMark::from_path(path).as_ref() == Some(mark);
        let is_settled = places.files.iter().all(|file| file.is_settled(now));
        let is_faultless = summary.failures().next().is_none() && summary.skipped().next().is_none();
        let is_whole = !self.is_broken && (self.is_past || summary.finished);
        let is_more = stretches.len() > places.stretches.len() || is_whole && !places.is_whole;
        if !is_more || !is_settled || !is_faultless || !paths.iter().zip(&places.files).all(is_same) {
            return;
        }
        places.is_whole = is_whole;
        places.stretches = stretches;
        // An error is ignored: the game has been found, even if no sidecar can be written.
        let _ = store(&cache, &path, &places);
    }
}

/// Writes a sidecar, unless something other than an ordinary file, such as a pipe, has its name.
fn store(cache: &PlaceCache, path: &Path, places: &GamePlaces) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|known| !known.is_file()) {
        return Ok(());
    }
    let mut bytes = postcard::to_stdvec(places).map_err(io::Error::other)?;
    bytes.extend_from_slice(&XxHash3_64::oneshot(&bytes).to_le_bytes());
    if bytes.len() as u64 > SIDECAR_BYTES_MAX {
        return Ok(());
    }
    fs::create_dir_all(&cache.folder)?;
    prune(&cache.folder)?;
    let mut file = OutputFile::create(path)?;
    file.write_all(&bytes)?;
    Ok(file.finish()?)
}

/// Removes the oldest sidecars, so that there is room for one more.
fn prune(folder: &Path) -> io::Result<()> {
    let mut sidecars = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == ENDING) {
            let modified = fs::metadata(&path).and_then(|metadata| metadata.modified());
            sidecars.push((modified.unwrap_or(SystemTime::UNIX_EPOCH), path));
        }
    }
    sidecars.sort();
    let surplus = (sidecars.len() + 1).saturating_sub(SIDECARS_MAX);
    sidecars[..surplus].iter().try_for_each(|(_, path)| fs::remove_file(path))
}
