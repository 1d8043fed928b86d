//! Games to PGN: as their sources have them, or from their moves and tags alone.

use std::io::{self, Write};
use std::num::NonZeroU32;

use orbit_core::board::Position;
use orbit_core::fen::FenRecord;
use orbit_core::game::{GameHeader as _, MoveNumbers};
use orbit_database::{GameTexts, StreamedBlock, TextError};
use orbit_reel::GameRow;

use super::{MoveToken, movetext};

/// Characters of a line of movetext at most.
const LINE_MAX: usize = 80;

/// A game as its source has it, or, where it has no text that can stand by itself (a list of positions, for
/// instance), as [`game_pgn`] writes it.
///
/// # Errors
///
/// Those of [`GameTexts::text`].
pub fn game_text(
    texts: &mut GameTexts,
    streamed: &StreamedBlock,
    game: &GameRow,
) -> Result<Vec<u8>, TextError> {
    Ok(texts.text(streamed, game)?.unwrap_or_else(|| game_pgn(game)))
}

/// A game from its block alone: tags, moves in SAN, side lines, comments and glyphs as far as they are in the block, and the
/// result. It reads back as the same game. Of tags it leaves out those whose names PGN cannot have, which operations of
/// EPD may.
pub fn game_pgn(game: &GameRow) -> Vec<u8> {
    let mut out = Vec::new();
    push_tags(game, MoveNumbers::from_header(game), &mut out);
    if !out.is_empty() {
        out.extend_from_slice(b"\n\n");
    }
    // What stands on the line.
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

/// Lines of tags, without a line end after the last one.
fn push_tags(game: &GameRow, numbers: MoveNumbers, out: &mut Vec<u8>) {
    let mut has_event = false;
    let mut push = |name: &[u8], value: &[u8]| {
        // A second `Event` at the start of a line would begin a game.
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
    if !has_fen && game.start() != Position::standard() {
        push(b"SetUp", b"1");
        push(b"FEN", start_fen(game, numbers).as_bytes());
    }
}

/// The start position with its counters. Its en passant square is written whether or not a pawn can take.
fn start_fen(game: &GameRow, numbers: MoveNumbers) -> String {
    let mut setup = game.start().to_setup();
    setup.halfmoves = numbers.clock;
    setup.fullmoves = NonZeroU32::new(numbers.full(0)).unwrap_or(NonZeroU32::MIN);
    FenRecord::new(setup).to_string()
}

/// `1. e4`, `e5`, `(1... c5`, `{Sicilian})`, ..., `1-0`. A word that ends its line ends with a line feed.
fn words(game: &GameRow) -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    // What stands directly before the next word.
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
            // A brace would end a comment in braces; one that has any stood behind a semicolon, on one line.
            MoveToken::Comment(text) if text.contains(&b'}') => [b";", text, b"\n"].concat(),
            MoveToken::Comment(text) => [b"{", text, b"}"].concat(),
            MoveToken::End(outcome) => outcome.text().into(),
        };
        words.push([std::mem::take(&mut begun), word].concat());
    }
    words
}

/// The text between games that are written one after the other, so that each is read as it is alone.
#[derive(Debug, Default)]
pub struct PgnSeparator {
    /// The game that was written last.
    before: Vec<u8>,
}

impl PgnSeparator {
    /// The text before the next game: nothing before the first, and else [`orbit_pgn::separator`].
    pub fn next(&mut self, text: &[u8]) -> Vec<u8> {
        let between =
            if self.before.is_empty() { Vec::new() } else { orbit_pgn::separator(&self.before, text) };
        self.before.clear();
        self.before.extend_from_slice(text);
        between
    }

    /// The end of the last line.
    pub fn end(&self) -> &'static [u8] {
        if self.before.is_empty() { b"" } else { orbit_pgn::line_end(&self.before) }
    }
}

/// Writes games one after the other, with what [`PgnSeparator`] puts between them.
pub struct PgnWriter<W> {
    out: W,
    separator: PgnSeparator,
}

impl<W: Write> PgnWriter<W> {
    /// Writes to `out`, to which nothing was written before.
    pub fn new(out: W) -> PgnWriter<W> {
        PgnWriter { out, separator: PgnSeparator::default() }
    }

    /// Writes the text of a game, byte for byte.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.out.write_all(&self.separator.next(text))?;
        self.out.write_all(text)
    }

    /// Ends the last line.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(self.separator.end())?;
        Ok(self.out)
    }
}
