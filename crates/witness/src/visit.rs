//! Collects pgn-reader's events into games.

use std::io::{self, Cursor, Seek as _};
use std::ops::ControlFlow;

use pgn_reader::{RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::san::San;
use shakmaty::{Color, KnownOutcome, Role, Square};

use super::rules::{Rule, Rules};
use orbit_pgn::{Outcome, Tag};

/// The elements of movetext.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MovetextToken {
    San(San),
    /// `(`.
    Open,
    /// `)`.
    Close,
    End(Outcome),
    /// A move given by two squares, whatever piece is on the first one. Only [`plain`](super::plain) creates this and the following
    /// variants.
    Coordinates {
        from: Square,
        to: Square,
        promotion: Option<Role>,
    },
    /// A token that is not a move.
    Junk,
    /// The beginning of a comment or side line that is never closed.
    Unclosed,
    /// A result in a side line that no token and no new side line follows.
    Inner(Outcome),
}

impl MovetextToken {
    /// Returns whether the token is a null move.
    pub(super) fn is_null(self) -> bool {
        self == MovetextToken::San(San::Null)
    }
}

/// A game as read by pgn-reader, before any move is played.
#[derive(Clone, Default, Debug)]
pub(super) struct VisitedGame {
    /// The offset in the text at which the game begins.
    pub(super) start: usize,
    pub(super) tags: Vec<Tag>,
    /// The FEN of the position, if the game comes from a list of positions.
    pub(super) fen: Option<Vec<u8>>,
    pub(super) tokens: Vec<MovetextToken>,
    /// The offset of each token in the text, if it is known.
    pub(super) places: Vec<usize>,
    /// The rules that explain how the game differs from pgn-reader's reading.
    pub(super) rules: Rules,
    /// The rule because of which nothing of the game was kept, if there is one.
    pub(super) broken: Option<Rule>,
}

/// The maximum length of a tag-pair line, which is set in pgn-reader.
const TAG_BYTES: usize = 1 << 16;

/// A line end and the start of a tag pair. If pgn-reader gives up on a game, reading resumes at such a line.
const EVENT: &[u8] = b"\n[Event \"";

struct TokenCollector {
    /// True to read side lines, false to skip them.
    variations: bool,
    found: VisitedGame,
}

impl Visitor for TokenCollector {
    type Tags = ();
    type Movetext = ();
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<()> {
        self.found.tags.push(Tag { name: name.to_vec(), value: value.decode().into_owned() });
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn san(&mut self, (): &mut (), san: SanPlus) -> ControlFlow<()> {
        self.found.tokens.push(MovetextToken::San(san.san));
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, (): &mut ()) -> ControlFlow<(), Skip> {
        self.found.tokens.push(MovetextToken::Open);
        ControlFlow::Continue(Skip(!self.variations))
    }

    fn end_variation(&mut self, (): &mut ()) -> ControlFlow<()> {
        self.found.tokens.push(MovetextToken::Close);
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, (): &mut (), outcome: shakmaty::Outcome) -> ControlFlow<()> {
        self.found.tokens.push(MovetextToken::End(match outcome {
            shakmaty::Outcome::Known(KnownOutcome::Decisive { winner: Color::White }) => Outcome::WhiteWins,
            shakmaty::Outcome::Known(KnownOutcome::Decisive { winner: Color::Black }) => Outcome::BlackWins,
            shakmaty::Outcome::Known(KnownOutcome::Draw) => Outcome::Draw,
            shakmaty::Outcome::Unknown => Outcome::Unknown,
        }));
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, (): ()) {}
}

/// Returns all games of a text. If pgn-reader gives up on a game, reading resumes at the next line that begins with `[Event "`.
pub(super) fn games(text: &[u8], variations: bool) -> Vec<VisitedGame> {
    let mut out = Vec::new();
    let mut from = 0;
    while let Some(broken) = games_from(text, from, variations, &mut out) {
        let Some(line) = memchr::memmem::find(&text[broken..], EVENT) else { break };
        from = broken + line + 1;
    }
    out
}

/// Appends the games of a text from the offset `from` on. If pgn-reader gives up on a game, returns the offset of that game.
fn games_from(text: &[u8], from: usize, variations: bool, out: &mut Vec<VisitedGame>) -> Option<usize> {
    let input = Cursor::new(&text[from..]);
    let mut reader = Reader::build(input).set_supported_tag_line_length(TAG_BYTES).finish();
    let mut collector = TokenCollector { variations, found: VisitedGame::default() };
    loop {
        let start = match begin(&mut reader) {
            Ok(Some(at)) => from + at,
            // Reading from memory does not fail, so both cases mean the end of the text.
            Ok(None) | Err(_) => return None,
        };
        let broken = reader.read_game(&mut collector).err().map(|error| rule_of(&error));
        let found = VisitedGame { start, broken, ..std::mem::take(&mut collector.found) };
        let is_broken = found.broken.is_some();
        out.push(found);
        if is_broken {
            return Some(start);
        }
    }
}

/// Returns the rule that explains why pgn-reader gave up on a game: an unclosed comment, or a line that begins like a tag pair but
/// is not one.
fn rule_of(error: &io::Error) -> Rule {
    if error.to_string().contains("comment") { Rule::OpenComment } else { Rule::TagForm }
}

/// Returns the offset at which the next game begins, or `None` if there is none.
fn begin(reader: &mut Reader<Cursor<&[u8]>>) -> io::Result<Option<usize>> {
    let more = reader.has_more()?;
    let at = reader.stream_position()?;
    Ok(more.then_some(at as usize))
}
