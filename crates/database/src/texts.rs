//! Fetches the text of games from their sources.
//!
//! A block that was built from PGN text may keep the text. The text of a reel's games is fetched from the files from which the reel
//! was built, and these may have changed since. Invariant: a text is returned for a game only if parsing the text yields this game.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::{BlockStream, SourceSummary, StreamedBlock};
use orbit_pgn::{Compression, Freshness, ParseOptions, SourceKind, SourceText, Sources};
use orbit_reel::GameRow;

/// The reason why the text of a game is not available.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// A source of a reel no longer exists.
    #[error(
        "the text of the games is missing: {name}, from which {} was made, is not there any more; put it back, or \
         search the PGN where it is now", reel.display()
    )]
    Missing {
        /// The name of the source, as the reel stores it.
        name: String,
        /// The reel.
        reel: PathBuf,
    },
    /// A source of a reel has been replaced by a different file.
    #[error("{name} has changed since {} was made from it: index it again", reel.display())]
    Changed {
        /// The name of the source, as the reel stores it.
        name: String,
        /// The reel.
        reel: PathBuf,
    },
    /// The source has different content at the offset of the game.
    #[error(
        "game {number} of {name} is not at its old place: the file has changed since {} was made from it; index it \
         again", reel.display()
    )]
    Moved {
        /// The name of the source, as the reel stores it.
        name: String,
        /// The reel.
        reel: PathBuf,
        /// The number of the game in the source, from 1.
        number: u32,
    },
    /// A source of a reel cannot be read.
    #[error("{name} cannot be read ({error}): check the path and its permissions")]
    Unreadable {
        /// The name of the source, as the reel stores it.
        name: String,
        /// The reason.
        error: io::Error,
    },
    /// The text was not kept when the game was read.
    #[error("the text of game {number} was not kept: open the database with `keep_text`")]
    NotKept {
        /// The game's number across all sources, from 1.
        number: u32,
    },
}

/// Provides the text of games in a database.
pub struct GameTexts {
    sources: Vec<SourceSummary>,
    options: orbit_pgn::Options,
    /// True if the games of the blocks have their tags. These are then compared with the tags in the text.
    has_tags: bool,
    /// The source of the last game that was fetched.
    current: Option<OpenedSource>,
}

impl BlockStream {
    /// Returns an object that provides the text of games in blocks that the stream has returned. For PGN, text is available only
    /// with [`StreamOptions::keep_text`](super::StreamOptions::keep_text).
    pub fn texts(&self) -> GameTexts {
        let (sources, options) = (self.sources.clone(), self.options.pgn.clone());
        GameTexts { sources, options, has_tags: self.options.parse.tags, current: None }
    }
}

impl GameTexts {
    /// Returns the text of a game, from its first byte up to the next game, without trailing blanks. Returns `None` if the text on
    /// its own does not parse to this game: its source is a list of positions, or the start or the end of the game depends on the
    /// text around it. The caller can then write the game from its block.
    ///
    /// Games of a compressed source should be fetched in order: going back means decompressing the source from its beginning.
    ///
    /// # Errors
    ///
    /// Fails if a source of a reel is missing, unreadable or changed, or if the text was not kept.
    pub fn text(&mut self, streamed: &StreamedBlock, game: &GameRow) -> Result<Option<Vec<u8>>, TextError> {
        let here = |part: &&SourceText| {
            let end = part.offset + part.bytes.len() as u64;
            part.source == game.source() && (part.offset..end).contains(&game.offset())
        };
        if let Some(part) = streamed.text.iter().find(here) {
            if part.kind == SourceKind::Epd {
                return Ok(None);
            }
            let text = &part.bytes[(game.offset() - part.offset) as usize..];
            let text = orbit_pgn::first_game(text, self.options.game_bytes_max);
            return Ok(self.is_of(text, game).then(|| text.to_vec()));
        }
        self.fetch(game)
    }

    fn fetch(&mut self, game: &GameRow) -> Result<Option<Vec<u8>>, TextError> {
        let index = game.source();
        let source = &self.sources[index as usize];
        let name = || source.name.clone();
        let Some(reel) = &source.reel else { return Err(TextError::NotKept { number: game.number() }) };
        let unreadable = |error| TextError::Unreadable { name: name(), error };
        let current = match self.current.take().filter(|current| current.index == index) {
            Some(current) => current,
            None => OpenedSource::open(index, source, reel, &self.options)?,
        };
        let current = self.current.insert(current);
        let text = current.reader.text(game.offset(), &self.options).map_err(unreadable)?;
        let is_same = current.is_same;
        match text {
            None => Ok(None),
            Some(text) if self.is_of(&text, game) => Ok(Some(text)),
            // The text is the one that was read, but on its own it does not parse to the game.
            Some(_) if is_same => Ok(None),
            Some(_) => {
                Err(TextError::Moved { name: name(), reel: reel.clone(), number: game.number_in_source() })
            }
        }
    }

    /// Returns whether parsing a text yields the given game.
    fn is_of(&self, text: &[u8], game: &GameRow) -> bool {
        let options = ParseOptions { variations: game.has_lines(), ..ParseOptions::default() };
        let Some(found) = orbit_pgn::read_game(text, &options) else { return false };
        let lines = || found.lines.iter().map(|line| (line.parent, line.moves[0], &line.moves[1..]));
        let tags = found.tags.iter().map(|tag| (&tag.name[..], &tag.value[..]));
        found.positions.first() == Some(&game.start())
            && found.moves == game.moves()
            && lines().eq(game.lines().map(|line| (line.parent(), line.edge(), line.moves())))
            && found.outcome == game.outcome()
            && (!self.has_tags || tags.eq(game.tags()))
    }
}

/// A reel's source that is being read again.
struct OpenedSource {
    index: u32,
    /// True if the source is known to be the file from which the reel was built.
    is_same: bool,
    reader: TextReader,
}

impl OpenedSource {
    fn open(
        index: u32,
        source: &SourceSummary,
        reel: &Path,
        options: &orbit_pgn::Options,
    ) -> Result<OpenedSource, TextError> {
        let (name, reel) = (source.name.clone(), reel.to_owned());
        let Some(path) = source.to_reel_source().locate(&reel) else {
            return Err(TextError::Missing { name, reel });
        };
        let freshness = source.stamp.compare(&path);
        let is_same = match freshness {
            Ok(Freshness::Missing) => return Err(TextError::Missing { name, reel }),
            Ok(Freshness::Changed) => return Err(TextError::Changed { name, reel }),
            Ok(freshness) => freshness.is_same(),
            Err(error) => return Err(TextError::Unreadable { name, error }),
        };
        let reader =
            TextReader::open(path, options).map_err(|error| TextError::Unreadable { name, error })?;
        Ok(OpenedSource { index, is_same, reader })
    }
}

enum TextReader {
    /// A list of positions.
    List,
    /// PGN that can be read at any offset.
    Plain(File),
    /// PGN that must be decompressed from its beginning, including members of archives.
    Packed(Box<Packed>),
    /// An empty source.
    Empty,
}

/// The number of bytes that are read first for each game. Most games are shorter.
const GAME_BYTES: usize = 16 << 10;

impl TextReader {
    fn open(path: PathBuf, options: &orbit_pgn::Options) -> io::Result<TextReader> {
        let mut sources = open(&path, options)?;
        let Some(text) = next_text(&mut sources)? else { return Ok(TextReader::Empty) };
        Ok(match (text.kind, sources.sources()[0].compression) {
            (SourceKind::Epd, _) => TextReader::List,
            (SourceKind::Pgn, Some(Compression::Plain)) => TextReader::Plain(File::open(path)?),
            (SourceKind::Pgn, _) => TextReader::Packed(Box::new(Packed { path, sources, text })),
        })
    }

    /// Returns the text of the game at an offset in the decompressed source. Returns `None` if the source is a list of positions.
    fn text(&mut self, offset: u64, options: &orbit_pgn::Options) -> io::Result<Option<Vec<u8>>> {
        match self {
            TextReader::List => Ok(None),
            TextReader::Empty => Ok(Some(Vec::new())),
            TextReader::Plain(file) => read_at(file, offset, options.game_bytes_max).map(Some),
            TextReader::Packed(packed) => packed.text(offset, options).map(Some),
        }
    }
}

/// A compressed source, and the part of its text that was decompressed last.
struct Packed {
    path: PathBuf,
    sources: Sources,
    text: SourceText,
}

impl Packed {
    fn text(&mut self, offset: u64, options: &orbit_pgn::Options) -> io::Result<Vec<u8>> {
        if offset < self.text.offset {
            self.sources = open(&self.path, options)?;
            self.text.bytes.clear();
            self.text.offset = 0;
        }
        while self.text.offset + self.text.bytes.len() as u64 <= offset {
            let Some(next) = next_text(&mut self.sources)? else { return Ok(Vec::new()) };
            self.text = next;
        }
        // The reader truncates a game that is too long and skips the rest of it, so no part contains this rest. If `offset` is in
        // the rest, the last part begins after `offset`.
        let text =
            offset.checked_sub(self.text.offset).map_or(&[][..], |from| &self.text.bytes[from as usize..]);
        Ok(orbit_pgn::first_game(text, options.game_bytes_max).to_vec())
    }
}

fn open(path: &Path, options: &orbit_pgn::Options) -> io::Result<Sources> {
    Sources::open(&[path.to_owned()], options.clone()).map_err(io::Error::other)
}

/// Reads the next part of a source's text. `sources` contains only this source. Returns `None` at the end of the source.
fn next_text(sources: &mut Sources) -> io::Result<Option<SourceText>> {
    if let Some(chunk) = sources.next_chunk() {
        return Ok(chunk.texts.into_iter().next());
    }
    match sources.failures().first() {
        Some(failure) => Err(io::Error::other(failure.reason.clone())),
        None => Ok(None),
    }
}

/// Reads the game at an offset in a file. If the game exceeds the maximum length, its text is truncated at this length or a little
/// later.
fn read_at(file: &mut File, offset: u64, game_bytes_max: usize) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut text = Vec::new();
    let mut want = GAME_BYTES;
    // The end of a game is recognized only a few bytes after it, so slightly more than the maximum length is read.
    let want_max = game_bytes_max.saturating_add(GAME_BYTES / 4);
    loop {
        want = want.min(want_max);
        let more = (want - text.len()) as u64;
        let is_end = (file.by_ref().take(more).read_to_end(&mut text)? as u64) < more;
        let game = match orbit_pgn::game_text(&text, game_bytes_max) {
            None if is_end || want == want_max => Some(orbit_pgn::first_game(&text, game_bytes_max)),
            game => game,
        };
        if let Some(game) = game {
            // The text is copied to a buffer of its exact size, because many games may be in memory at once and `text` has room for
            // a longer game.
            return Ok(game.to_vec());
        }
        want *= 2;
    }
}
