//! pgn-reader's events to games as it finds them.

use std::io::{self, Cursor, Seek as _};
use std::ops::ControlFlow;

use pgn_reader::{RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::san::San;
use shakmaty::{Color, KnownOutcome, Role, Square};

use super::rules::{Rule, Rules};
use orbit_pgn::{Outcome, Tag};

/// What movetext is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MovetextToken {
    San(San),
    /// `(`.
    Open,
    /// `)`.
    Close,
    End(Outcome),
    /// A move by its squares, whatever stands there. Only [`plain`](super::plain) tells this and what follows.
    Coordinates {
        from: Square,
        to: Square,
        promotion: Option<Role>,
    },
    /// A word that is no move.
    Junk,
    /// A comment or side line begins that nobody closes.
    Unclosed,
    /// The result in a side line that nothing has followed.
    Inner(Outcome),
}

impl MovetextToken {
    /// Whether the side to move passes.
    pub(super) fn is_null(self) -> bool {
        self == MovetextToken::San(San::Null)
    }
}

/// A game as pgn-reader finds it, before any move is played.
#[derive(Clone, Default, Debug)]
pub(super) struct VisitedGame {
    /// Where it begins in the text.
    pub(super) start: usize,
    pub(super) tags: Vec<Tag>,
    /// Its position, if it is one of a list.
    pub(super) fen: Option<Vec<u8>>,
    pub(super) tokens: Vec<MovetextToken>,
    /// Where each token begins, as far as that is known.
    pub(super) places: Vec<usize>,
    /// By which it differs from what pgn-reader finds.
    pub(super) rules: Rules,
    /// The rule without which nothing can be kept of it, if so.
    pub(super) broken: Option<Rule>,
}

/// The longest line with a tag pair that pgn-reader must take.
const TAG_BYTES: usize = 1 << 16;

/// How a line begins from which reading goes on after a game that pgn-reader gave up.
const EVENT: &[u8] = b"\n[Event \"";

struct TokenCollector {
    /// Whether side lines are read and not passed over.
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

/// All games of a text. After a game that pgn-reader gives up it is set on the next line that begins with `[Event "`.
pub(super) fn games(text: &[u8], variations: bool) -> Vec<VisitedGame> {
    let mut out = Vec::new();
    let mut from = 0;
    while let Some(broken) = games_from(text, from, variations, &mut out) {
        let Some(line) = memchr::memmem::find(&text[broken..], EVENT) else { break };
        from = broken + line + 1;
    }
    out
}

/// Appends the games from a place on; tells where a game begins that was given up.
fn games_from(text: &[u8], from: usize, variations: bool, out: &mut Vec<VisitedGame>) -> Option<usize> {
    let input = Cursor::new(&text[from..]);
    let mut reader = Reader::build(input).set_supported_tag_line_length(TAG_BYTES).finish();
    let mut collector = TokenCollector { variations, found: VisitedGame::default() };
    loop {
        let start = match begin(&mut reader) {
            Ok(Some(at)) => from + at,
            // There is nothing but text in memory to read, which ends.
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

/// What pgn-reader gives games up for: a comment without end, or a line that begins as a tag pair and is none.
fn rule_of(error: &io::Error) -> Rule {
    if error.to_string().contains("comment") { Rule::OpenComment } else { Rule::TagForm }
}

/// Where the next game begins, if there is one.
fn begin(reader: &mut Reader<Cursor<&[u8]>>) -> io::Result<Option<usize>> {
    let more = reader.has_more()?;
    let at = reader.stream_position()?;
    Ok(more.then_some(at as usize))
}
