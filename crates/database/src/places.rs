//! Games by their numbers: where a game lies, without reading all that stands before it.
//!
//! A reel knows it. Of text it is known once the text before the game was read: what is seen then may be noted in a sidecar,
//! a small file in a folder of the caller's choice. It says of each stretch of text where it lies, how many games come before it
//! and what its bytes hash to. The invariant: a game that is found by a sidecar is the one that reading everything finds. A
//! sidecar is believed only if the files have the sizes, times and inodes that they had, and a stretch only if its bytes have
//! the same hash; a sidecar that cannot be read or written is passed over.

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

/// Counts up when the meaning of a sidecar's bytes changes.
const VERSION: u32 = 1;
/// What the name of a sidecar ends in.
const ENDING: &str = "places";
/// Sidecars in a folder at most; those that were written first are removed.
const SIDECARS_MAX: usize = 256;
/// The largest sidecar that is read: one of some 600,000 stretches.
const SIDECAR_BYTES_MAX: u64 = 32 << 20;
/// Files that were written to so lately may be written to again without a change of their times.
const SETTLED: Duration = Duration::from_secs(2);
/// Bytes of each source that are compared to see that it is not packed.
const HEAD_BYTES: usize = 64;

/// Where sidecars lie.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PlaceCache {
    /// The folder, which is made where it is missing.
    pub folder: PathBuf,
    /// Of less text nothing is noted: it is read as quickly.
    pub bytes_min: u64,
}

impl PlaceCache {
    /// Sidecars in a folder, of 4 MB of text and more.
    pub fn new(folder: PathBuf) -> PlaceCache {
        PlaceCache { folder, bytes_min: 4 << 20 }
    }

    /// In the user's folder for what can be made again, if the environment names one.
    pub fn of_user() -> Option<PlaceCache> {
        user_caches().map(PlaceCache::new)
    }
}

/// A game's block, if there is such a game.
#[derive(Debug)]
#[non_exhaustive]
pub struct GameBlock {
    /// The block that holds the game, or says why it was skipped; `None` if there are fewer games.
    pub block: Option<Arc<Block>>,
    /// How many games there are up to the end of the block, or in all.
    pub games: u32,
    /// What was read for it.
    pub summary: Summary,
}

impl BlockStream {
    /// The block of a game, by the game's number over all sources, from 1. Reels and text of which a sidecar knows the games
    /// ([`StreamOptions::places`]) are passed over; all else is read from its beginning.
    ///
    /// # Errors
    ///
    /// Those of [`BlockStream::for_each_block`].
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

/// What is known of a file, so that a change shows: more than [`Stamp`] has, which outlives copies.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct FileMark {
    path: Vec<u8>,
    bytes: u64,
    modified_ns: u64,
    /// Where the system has them: device, inode, and when the inode changed (seconds and nanoseconds). A time of a file can be
    /// set back, this one cannot.
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

    /// Whether the next change of the file will change its time.
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

/// A stretch of text that was made into one block.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Stretch {
    /// Games of the sources before it.
    games_before: u32,
    /// Games in it, skipped ones included.
    games: u32,
    /// Games before it of its first text's source; those of its other texts begin in it.
    in_source: u32,
    texts: Vec<TextMark>,
    /// XXH3 of all its bytes.
    hash: u64,
}

/// A stretch of one source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct TextMark {
    source: u32,
    is_list: bool,
    offset: u64,
    bytes: u64,
}

/// What is known of the games of some sources that are read together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct GamePlaces {
    version: u32,
    /// The rules by which games were read.
    reader: u32,
    /// Which decides where games end.
    game_bytes_max: u64,
    files: Vec<FileMark>,
    stretches: Vec<Stretch>,
    /// Whether no game follows the last stretch.
    is_whole: bool,
}

/// A sidecar: where it lies, and what it says or is to say.
struct Sidecar {
    cache: PlaceCache,
    path: PathBuf,
    paths: Vec<PathBuf>,
    places: GamePlaces,
}

enum SourcePlace {
    Found {
        block: Box<Block>,
        /// Games of the sources before the block.
        games_before: u32,
    },
    /// The sources have so many games, and that is fewer.
    Behind {
        games: u32,
    },
    Unknown,
}

impl Sidecar {
    /// The sidecar of sources that are all files and have text enough, with what it says if it is there and these are the
    /// files that it is about.
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

    /// Where a game is, by its number in these sources.
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
        let (mut block, _) = build(&Chunk::of_texts(texts, options.pgn.game_bytes_max), options);
        if block.games_read() != stretch.games {
            return SourcePlace::Unknown;
        }
        if let Some(first) = block.source_games_mut().first_mut() {
            first.games_before = stretch.in_source;
        }
        SourcePlace::Found { block: Box::new(block), games_before: stretch.games_before }
    }

    /// The bytes of a stretch as they are now.
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

/// XXH3 of texts, end to end.
fn hash(texts: &[SourceText]) -> u64 {
    use std::hash::Hasher as _;
    let mut hasher = XxHash3_64::new();
    texts.iter().for_each(|text| hasher.write(&text.bytes));
    hasher.finish()
}

/// What a sidecar says, if its bytes are as they were written.
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

/// What is seen while text is read from its beginning.
struct Notes {
    sidecar: Sidecar,
    /// The index of the first of the sources, and how many games come before them.
    base: u32,
    before: u32,
    /// Whether a text came that cannot be found again: the source is packed.
    is_broken: bool,
    stretches: Vec<Stretch>,
    /// Whether all texts of these sources have come.
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
        // A block of a reel has no text, and comes after all of these sources.
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

    /// Writes what was noted, unless the files have changed meanwhile or may yet change unseen, or something was said of
    /// them that whoever finds a game by the sidecar would not hear.
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
        // Without a sidecar the game is found all the same.
        let _ = store(&cache, &path, &places);
    }
}

fn store(cache: &PlaceCache, path: &Path, places: &GamePlaces) -> io::Result<()> {
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

/// Makes room for one more sidecar.
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
