//! Writes games as PGN: either the text of their sources, or a text that is written from their moves and tags.

use std::io::{self, Write};
use std::num::NonZeroU32;

use orbit_core::board::Position;
use orbit_core::fen::FenRecord;
use orbit_core::game::{GameHeader as _, MoveNumbers};
use orbit_database::{GameTexts, StreamedBlock, TextError};
use orbit_reel::GameRow;

use super::{MoveToken, movetext};

/// The maximum number of characters in a line of movetext.
const LINE_MAX: usize = 80;

/// Returns the text of a game from its source. If there is none, for example for an entry in a position list, returns the output of
/// [`game_pgn`].
///
/// # Errors
///
/// Returns the errors of [`GameTexts::text`].
pub fn game_text(
    texts: &mut GameTexts,
    streamed: &StreamedBlock,
    game: &GameRow,
) -> Result<Vec<u8>, TextError> {
    Ok(texts.text(streamed, game)?.unwrap_or_else(|| game_pgn(game)))
}

/// Writes a game from its block (a group of games): its tags, its moves in SAN, the result, and those side lines, comments and
/// glyphs that the block contains. Parsing the text yields the same game. Tags whose names are not allowed in PGN are left out;
/// such tags can come from EPD operations.
pub fn game_pgn(game: &GameRow) -> Vec<u8> {
    let mut out = Vec::new();
    push_tags(game, MoveNumbers::from_header(game), &mut out);
    if !out.is_empty() {
        out.extend_from_slice(b"\n\n");
    }
    // The number of characters on the line so far.
    let mut width = 0;
    for word in words(game) {
        if width > 0 && width + 1 + word.len() > LINE_MAX {
            out.push(b'\n');
            width = 0;
        } else if width > 0 {
            out.push(b' ');
            width += 1;
        }
        out.extend_from_slice(&word);
        let line = word.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        width = if line.len() < word.len() { line.len() } else { width + word.len() };
    }
    out
}

/// Appends the tags, one per line, without a line end after the last one.
fn push_tags(game: &GameRow, numbers: MoveNumbers, out: &mut Vec<u8>) {
    let mut has_event = false;
    let mut push = |name: &[u8], value: &[u8]| {
        // A second `Event` tag at the start of a line would start a new game.
        let between = if has_event && name == b"Event" { b" " } else { b"\n" };
        if !out.is_empty() {
            out.extend_from_slice(between);
        }
        has_event |= name == b"Event";
        out.push(b'[');
        out.extend_from_slice(name);
        out.extend_from_slice(b" \"");
        for &byte in value {
            if matches!(byte, b'"' | b'\\') {
                out.push(b'\\');
            }
            out.push(byte);
        }
        out.extend_from_slice(b"\"]");
    };
    let has_fen = game.tag_named("FEN").is_some();
    game.tags().filter(|(name, _)| orbit_pgn::is_tag_name(name)).for_each(|(name, value)| push(name, value));
    if !has_fen && game.start() != Position::STANDARD {
        push(b"SetUp", b"1");
        push(b"FEN", start_fen(game, numbers).as_bytes());
    }
}

/// Returns the start position as FEN, with its halfmove clock and move number. The en passant square is included even if no pawn
/// can capture there.
fn start_fen(game: &GameRow, numbers: MoveNumbers) -> String {
    let mut setup = game.start().to_setup();
    setup.halfmoves = numbers.clock;
    setup.fullmoves = NonZeroU32::new(numbers.full(0)).unwrap_or(NonZeroU32::MIN);
    FenRecord::new(setup).to_string()
}

/// Returns the words of the movetext, between which a line can be broken: `1. e4`, `e5`, `(1... c5`, `{Sicilian})`, ..., `1-0`. A
/// word that must end its line ends with a line feed.
fn words(game: &GameRow) -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    // Opening parentheses and move numbers, which are prepended to the next move or comment.
    let mut begun = Vec::new();
    for token in movetext(game) {
        let word = match token {
            MoveToken::Open => {
                begun.push(b'(');
                continue;
            }
            MoveToken::Number(number) => {
                begun.extend_from_slice(number.as_bytes());
                begun.push(b' ');
                continue;
            }
            MoveToken::Close => match words.last_mut().filter(|word| !word.ends_with(b"\n")) {
                Some(last) => {
                    last.push(b')');
                    continue;
                }
                None => b")".to_vec(),
            },
            MoveToken::Move(san, _) => san.into_bytes(),
            MoveToken::Nag(nag) => format!("${nag}").into_bytes(),
            // In braces, a comment with a closing brace would end early. Such a comment followed a semicolon in the source, so it
            // fits on one line and can be written after a semicolon again.
            MoveToken::Comment(text) if text.contains(&b'}') => [b";", text, b"\n"].concat(),
            MoveToken::Comment(text) => [b"{", text, b"}"].concat(),
            MoveToken::End(outcome) => outcome.text().into(),
        };
        words.push([std::mem::take(&mut begun), word].concat());
    }
    words
}

/// Determines the text between two games, so that a parser reads each game as if it were alone.
#[derive(Debug, Default)]
pub struct PgnSeparator {
    /// The text of the previous game.
    before: Vec<u8>,
}

impl PgnSeparator {
    /// Returns the text to write before the next game: nothing before the first game, and otherwise [`orbit_pgn::separator`].
    pub fn next(&mut self, text: &[u8]) -> Vec<u8> {
        let between =
            if self.before.is_empty() { Vec::new() } else { orbit_pgn::separator(&self.before, text) };
        self.before.clear();
        self.before.extend_from_slice(text);
        between
    }

    /// Returns the line end to write after the last game, or nothing if there was no game.
    pub fn end(&self) -> &'static [u8] {
        if self.before.is_empty() { b"" } else { orbit_pgn::line_end(&self.before) }
    }
}

/// Writes games one after the other, with a [`PgnSeparator`] between them.
pub struct PgnWriter<W> {
    out: W,
    separator: PgnSeparator,
}

impl<W: Write> PgnWriter<W> {
    /// Creates a writer that appends games to `out`, which must be empty.
    pub fn new(out: W) -> PgnWriter<W> {
        PgnWriter { out, separator: PgnSeparator::default() }
    }

    /// Writes the text of a game, byte for byte.
    ///
    /// # Errors
    ///
    /// Returns the errors of `out`.
    pub fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.out.write_all(&self.separator.next(text))?;
        self.out.write_all(text)
    }

    /// Writes the line end after the last game, and returns the underlying writer.
    ///
    /// # Errors
    ///
    /// Returns the errors of `out`.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(self.separator.end())?;
        Ok(self.out)
    }
}
