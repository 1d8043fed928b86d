//! The text of games as their sources have it.
//!
//! A block made from PGN may keep the text that it was made from; of a reel's games the text is fetched
//! from the files that the reel was made from, which may have changed since. The invariant: a text that
//! is handed out reads as the game that it is handed out for.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::{BlockStream, SourceSummary, StreamedBlock};
use orbit_pgn::{Compression, Freshness, ParseOptions, SourceKind, SourceText, Sources};
use orbit_reel::GameRow;

/// Why the text of a game is not available.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// A reel's source is gone.
    #[error(
        "the text of the games is missing: {name}, from which {} was made, is not there any more; put it back, or \
         search the PGN where it is now", reel.display()
    )]
    Missing {
        /// The source, as the reel names it.
        name: String,
        /// The reel.
        reel: PathBuf,
    },
    /// A reel's source is another file by now.
    #[error("{name} has changed since {} was made from it: index it again", reel.display())]
    Changed {
        /// The source, as the reel names it.
        name: String,
        /// The reel.
        reel: PathBuf,
    },
    /// The place of a game in its source has other content now.
    #[error(
        "game {number} of {name} is not at its old place: the file has changed since {} was made from it; index it \
         again", reel.display()
    )]
    Moved {
        /// The source, as the reel names it.
        name: String,
        /// The reel.
        reel: PathBuf,
        /// The game's number in the source, from 1.
        number: u32,
    },
    /// A reel's source cannot be read.
    #[error("{name} cannot be read ({error}): check the path and its permissions")]
    Unreadable {
        /// The source, as the reel names it.
        name: String,
        /// The reason.
        error: io::Error,
    },
    /// Nobody asked for the text when the game was read.
    #[error("the text of game {number} was not kept: open the database with `keep_text`")]
    NotKept {
        /// The game's number over all sources, from 1.
        number: u32,
    },
}

/// Where the text of a database's games is.
pub struct GameTexts {
    sources: Vec<SourceSummary>,
    options: orbit_pgn::Options,
    /// Whether games have tags to compare.
    has_tags: bool,
    /// The source that a game was fetched from last.
    current: Option<OpenedSource>,
}

impl BlockStream {
    /// Where the text of its games will be, once they are taken. Games of PGN have none without
    /// [`StreamOptions::keep_text`](super::StreamOptions::keep_text).
    pub fn texts(&self) -> GameTexts {
        let (sources, options) = (self.sources.clone(), self.options.pgn.clone());
        GameTexts { sources, options, has_tags: self.options.parse.tags, current: None }
    }
}

impl GameTexts {
    /// The text of a game, from its first byte to the next game, without blanks at the end. `None` where there
    /// is none that can stand by itself: the source is a list of positions, or the game begins or ends in a
    /// way that means something else in another place. Then it can still be written from the block.
    ///
    /// Games of packed sources are best asked for in their order: going back means to unpack again.
    ///
    /// # Errors
    ///
    /// That the source of a reel is missing, unreadable or has changed, or that the text was not kept.
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
            // What is there is what was read: it only cannot stand by itself.
            Some(_) if is_same => Ok(None),
            Some(_) => {
                Err(TextError::Moved { name: name(), reel: reel.clone(), number: game.number_in_source() })
            }
        }
    }

    /// Whether a text reads as a game.
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

/// A source of a reel that is being read again.
struct OpenedSource {
    index: u32,
    /// Whether it is known to be what the reel was made from.
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
    /// PGN that can be read from anywhere.
    Plain(File),
    /// PGN that is unpacked from its beginning, members of archives among it.
    Packed(Box<Packed>),
    /// Nothing.
    Empty,
}

/// Bytes that are read of a game at first: more than most have.
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

    /// The text of the game that begins at an offset of the unpacked source; `None` in a list.
    fn text(&mut self, offset: u64, options: &orbit_pgn::Options) -> io::Result<Option<Vec<u8>>> {
        match self {
            TextReader::List => Ok(None),
            TextReader::Empty => Ok(Some(Vec::new())),
            TextReader::Plain(file) => read_at(file, offset, options.game_bytes_max).map(Some),
            TextReader::Packed(packed) => packed.text(offset, options).map(Some),
        }
    }
}

/// A packed source, as far as it has been unpacked.
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
        // What follows a game that is too long is in no part.
        let text =
            offset.checked_sub(self.text.offset).map_or(&[][..], |from| &self.text.bytes[from as usize..]);
        Ok(orbit_pgn::first_game(text, options.game_bytes_max).to_vec())
    }
}

fn open(path: &Path, options: &orbit_pgn::Options) -> io::Result<Sources> {
    Sources::open(&[path.to_owned()], options.clone()).map_err(io::Error::other)
}

/// The next part of a single source.
fn next_text(sources: &mut Sources) -> io::Result<Option<SourceText>> {
    if let Some(chunk) = sources.next_chunk() {
        return Ok(chunk.texts.into_iter().next());
    }
    match sources.failures().first() {
        Some(failure) => Err(io::Error::other(failure.reason.clone())),
        None => Ok(None),
    }
}

/// The game that begins at an offset of a file. What goes on longer than a game may is cut there or
/// a little later: the game that was read ends before.
fn read_at(file: &mut File, offset: u64, game_bytes_max: usize) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut text = Vec::new();
    let mut want = GAME_BYTES;
    // Whether a game has ended is seen some bytes later.
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
            // A new one: many games may be held at once, and this one has room for longer ones.
            return Ok(game.to_vec());
        }
        want *= 2;
    }
}
