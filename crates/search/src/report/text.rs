//! Text output for people: one line for each game.

use std::borrow::Cow;
use std::ops::Range;

use unicode_width::UnicodeWidthStr as _;

use super::findings::{ListedGame, TEXT_MAX};
use super::labels::{label, push_difference};
use super::words::push_number;
use super::{NodeWalk, Report, SpanMoves};
use crate::found::Found;
use orbit_core::board::Color;
use orbit_core::game::{Date, Rating, date, tags};
use orbit_core::text::{clipped, shortened};
use orbit_core::visible;
use orbit_engine::Answer;
use orbit_reel::GameRow;

/// The maximum width of the players column. Longer names shift only the rest of their own line.
const PLAYERS_WIDTH_MAX: usize = 56;
/// The maximum width of the event column. On a terminal, longer names are truncated.
const EVENT_WIDTH_MAX: usize = 32;

/// The maximum number of squares of a value that are listed by name, unless all hits are requested.
const SQUARES_MAX: usize = 4;

/// The default maximum number of runs (consecutive hits with the same value) in a line.
pub const RUNS_MAX: usize = 12;
/// The default maximum number of moves that are shown for a hit.
pub const MOVES_MAX: usize = 12;

/// The maximum length, in characters, of the text that [`listed`] returns for the hits. Hits in side lines can have long names.
const HITS_TEXT_MAX: usize = 2_000;

/// The widths of columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// Each column is as wide as its longest entry among the games written together.
    Fitted,
    /// Each column has the same width for all games.
    Fixed,
}

/// The column widths for [`Layout::Fixed`]: players, result, year and event, and then the game number.
const FIXED_WIDTHS: ([usize; 4], usize) = ([PLAYERS_WIDTH_MAX, 7, 4, EVENT_WIDTH_MAX], 8);

/// The line about one game: its cells, without the game number.
struct TextLine<'a> {
    game: GameRow<'a>,
    cells: [String; 4],
    plies: Vec<u8>,
    hits: usize,
    /// For each hit, its label and the moves that matched (its span).
    spans: Vec<(String, String)>,
}

/// Limits on the text about a game.
#[derive(Clone, Copy)]
pub(super) struct TextLimits {
    /// The maximum number of runs (consecutive hits with the same value) that are shown.
    pub(super) runs_max: usize,
    /// The maximum number of moves that are shown of a hit's span (the moves that matched), or `None` to show no moves.
    pub(super) moves_max: Option<usize>,
    /// True if the moves that led to hits are coloured.
    pub(super) styled: bool,
    /// True if long event names are truncated.
    pub(super) cut: bool,
}

/// The escape codes that turn the colour for moves that led to hits on and off.
const HIT: (&str, &str) = ("\x1b[1;33m", "\x1b[0m");

/// Writes the found games of a block (a group of games).
pub(super) fn write(
    found: &Found,
    games: Range<usize>,
    limits: TextLimits,
    layout: Layout,
    report: &mut Report,
) {
    let games = games.map(|index| found.block.game(index));
    let games = games.filter(|game| found.answers.finds(game));
    let lines: Vec<TextLine> = games.map(|game| line(game, found, limits)).collect();
    let (widths, number_width) = match layout {
        Layout::Fitted => fitted(&lines),
        Layout::Fixed => FIXED_WIDTHS,
    };
    for line in lines {
        let out = &mut report.text;
        out.extend_from_slice(format!("{:>number_width$}", line.game.number()).as_bytes());
        for (cell, &width) in line.cells.iter().zip(&widths).filter(|(_, width)| **width > 0) {
            out.extend_from_slice(b"  ");
            out.extend_from_slice(cell.as_bytes());
            out.resize(out.len() + width.saturating_sub(cell.width()), b' ');
        }
        out.extend_from_slice(b"  ");
        out.extend_from_slice(&line.plies);
        out.extend_from_slice(b"  (");
        push_number(out, line.hits);
        out.extend_from_slice(b")\n");
        let label_width = line.spans.iter().map(|(label, _)| label.width()).max().unwrap_or(0);
        for (label, moves) in &line.spans {
            let indent = number_width + 2;
            out.extend_from_slice(format!("{:indent$}{label:<label_width$}  {moves}\n", "").as_bytes());
        }
        report.end_game(&line.game, line.hits, true);
    }
}

/// Returns a game as [`Format::Text`](super::Format::Text) lists it, with limits that bound its memory. `spans` is true if the
/// moves of spans are shown.
pub(crate) fn listed(game: GameRow, found: &Found, spans: bool) -> ListedGame {
    let moves_max = spans.then_some(MOVES_MAX);
    let limits = TextLimits { runs_max: RUNS_MAX, moves_max, styled: false, cut: false };
    let TextLine { cells: [players, result, _, event], plies, hits, spans, .. } = line(game, found, limits);
    let place = Some(event.into()).filter(|event: &Cow<str>| !event.is_empty());
    let place = place.or_else(|| tags::known(&game, "Site").filter(|site| *site != players));
    let place = place.unwrap_or_default();
    ListedGame {
        game: game.number().into(),
        source: found.names.source(&game).to_owned(),
        players: shortened(&players, TEXT_MAX),
        result,
        date: date::known_text(&game).map_or(String::new(), |date| shortened(&date, TEXT_MAX)),
        event: shortened(&visible::line(&place), TEXT_MAX),
        hits: hits as u64,
        moves: shortened(&String::from_utf8_lossy(&plies), HITS_TEXT_MAX),
        spans: spans.iter().map(|(label, moves)| shortened(&format!("{label} {moves}"), TEXT_MAX)).collect(),
        sorts: Vec::new(),
    }
}

fn fitted(lines: &[TextLine]) -> ([usize; 4], usize) {
    let mut widths = [0; 4];
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(&line.cells) {
            *width = cell.width().max(*width);
        }
    }
    widths[0] = widths[0].min(PLAYERS_WIDTH_MAX);
    widths[3] = widths[3].min(EVENT_WIDTH_MAX);
    (widths, lines.last().map_or(0, |line| line.game.number().to_string().len()))
}

fn line<'a>(game: GameRow<'a>, found: &Found, limits: TextLimits) -> TextLine<'a> {
    let first = game.first_slot();
    let count = found.answers.hits.count_in(first..game.end_slot()) as usize;
    let mut walk = NodeWalk::from_game(&game);
    let runs = runs(&game, found, &mut walk, limits);
    let (mut plies, mut listed, mut around) = (Vec::new(), 0, None);
    for (index, run) in runs.iter().enumerate() {
        walk.to(run.first);
        let line = walk.line();
        let is_same = around.as_ref().is_none_or(|around| *around == line);
        let is_side_line = |line: &Option<String>| line.as_ref().is_some_and(|line| !line.is_empty());
        if !is_same && is_side_line(&around) {
            plies.push(b')');
        }
        if index > 0 {
            plies.extend_from_slice(b"; ");
        }
        if !line.is_empty() && around.as_ref() != Some(&line) {
            plies.extend_from_slice(format!("({line}: ").as_bytes());
        }
        run.push(&game, found, &mut walk, limits.styled, &mut plies);
        listed += (run.last - run.first + 1) as usize;
        around = Some(line);
        if index + 1 == runs.len() && is_side_line(&around) {
            plies.push(b')');
        }
    }
    if count > listed {
        plies.extend_from_slice(b"; +");
        push_number(&mut plies, count - listed);
    }
    let title = title(&game);
    let event = if title.is_some() { String::new() } else { event(&game, limits.cut) };
    let title = title.unwrap_or_else(|| players(&game));
    let cells = [title, game.outcome().text().to_owned(), year(&game), event];
    let spans = limits.moves_max.map_or(Vec::new(), |max| spans(&game, found, limits.runs_max, max));
    TextLine { game, cells, plies, hits: count, spans }
}

/// A run: consecutive hits with the same value.
struct HitRun {
    first: u32,
    last: u32,
    /// The value in words.
    label: String,
}

impl HitRun {
    /// Appends a run, such as `23. Nxf6+ to 24... Kh8, king on g8, next Rxf6`. The next move is left out if it leads to another
    /// hit, because that hit already shows it.
    fn push(&self, game: &GameRow, found: &Found, walk: &mut NodeWalk, styled: bool, out: &mut Vec<u8>) {
        walk.to(self.first);
        push_move(walk, styled, out);
        if self.last > self.first {
            walk.to(self.last);
            out.extend_from_slice(b" to ");
            push_move(walk, styled, out);
        }
        if !self.label.is_empty() {
            out.extend_from_slice(format!(", {}", self.label).as_bytes());
        }
        let next = walk.next();
        let slot = game.first_slot() + self.last as usize;
        let leads_to_hit = found.answers.hits.slots(slot + 1..game.end_slot()).next() == Some(slot + 1);
        if !next.is_empty() && !leads_to_hit {
            out.extend_from_slice(format!(", next {next}").as_bytes());
        }
    }
}

/// Returns the first runs (consecutive hits with the same value) of a game.
fn runs(game: &GameRow, found: &Found, walk: &mut NodeWalk, limits: TextLimits) -> Vec<HitRun> {
    let first = game.first_slot();
    let squares_max = if limits.runs_max == usize::MAX { usize::MAX } else { SQUARES_MAX };
    let mut runs: Vec<HitRun> = Vec::new();
    let mut around = (None, (Answer::Bool(true), None));
    for slot in found.answers.hits.slots(first..game.end_slot()) {
        let node = (slot - first) as u32;
        let line = game.line_of(node).map(|line| line.index());
        walk.to(node);
        let value = (found.answers.hits.answer(slot), found.answers.hits.text(slot));
        let board = walk.position().board;
        let mut label = label(value, &board, squares_max);
        if let Some(difference) = found.difference(game, &board) {
            push_difference(&difference, &mut label);
        }
        let is_like =
            |run: &&mut HitRun| run.last + 1 == node && around == (line, value) && run.label == label;
        if let Some(run) = runs.last_mut().filter(is_like) {
            run.last = node;
        } else if runs.len() < limits.runs_max {
            runs.push(HitRun { first: node, last: node, label });
        } else {
            break;
        }
        around = (line, value);
    }
    runs
}

/// Appends the move that led to a position: `23. Nxf6+`, or `start`.
fn push_move(walk: &NodeWalk, styled: bool, out: &mut Vec<u8>) {
    let (begin, end) = if styled { HIT } else { ("", "") };
    let san = walk.san().map_or(String::new(), |san| format!(" {san}"));
    out.extend_from_slice(format!("{begin}{}{san}{end}", walk.label()).as_bytes());
}

/// Returns the moves that matched at the first `hits_max` hits of a game. Moves that equal those of the previous hit are left out.
fn spans(game: &GameRow, found: &Found, hits_max: usize, moves_max: usize) -> Vec<(String, String)> {
    let first = game.first_slot();
    let mut walk = NodeWalk::from_game(game);
    let mut out: Vec<(String, String)> = Vec::new();
    for slot in found.answers.hits.slots(first..game.end_slot()).take(hits_max) {
        let node = (slot - first) as u32;
        let Some(span) = found.span(game, node) else { continue };
        // The moves that lead to found positions are written separately, with gaps between them, so fewer of them fit on a line.
        let moves_max = if span.kind.is_of_moves() { moves_max } else { moves_max.div_ceil(4) };
        let moves = SpanMoves::shown(&span, game).text(moves_max);
        if moves.is_empty() || out.last().is_some_and(|(_, last)| *last == moves) {
            continue;
        }
        walk.to(node);
        let label = match &*walk.line() {
            "" => walk.label(),
            line => format!("({line}: {})", walk.label()),
        };
        out.push((label, moves));
    }
    out
}

/// Returns the title of a game without players, such as a study or a lesson. It is the event, the site or the annotator, whichever
/// is known first, and is not truncated. Returns `None` if a player is known.
fn title(game: &GameRow) -> Option<String> {
    if [Color::White, Color::Black].into_iter().any(|side| tags::player(game, side).is_some()) {
        return None;
    }
    let mut names = ["Event", "Site", "Annotator"].into_iter().filter_map(|name| tags::known(game, name));
    names.next().map(|name| visible::line(&name).into_owned())
}

/// Returns the players and their ratings: `Carlsen, Magnus (2882) - Caruana, Fabiano (2820)`.
fn players(game: &GameRow) -> String {
    let side = |side, rating: Rating| {
        let name = tags::player(game, side);
        let name = visible::line(name.as_deref().unwrap_or("?"));
        match rating.of_game(game) {
            Some(elo) => format!("{name} ({elo})"),
            None => name.into_owned(),
        }
    };
    format!("{} - {}", side(Color::White, Rating::White), side(Color::Black, Rating::Black))
}

fn year(game: &GameRow) -> String {
    Date::from_game(game).map_or(String::new(), |date| date.year.to_string())
}

fn event(game: &GameRow, cut: bool) -> String {
    let event = tags::known(game, "Event").unwrap_or_default();
    let event = visible::line(&event);
    if cut { clipped(&event, EVENT_WIDTH_MAX) } else { event.into_owned() }
}
