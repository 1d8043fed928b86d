//! One line for each game, for reading.

use std::ops::Range;

use unicode_width::UnicodeWidthStr as _;

use super::words::{push_number, push_squares, push_text};
use super::{Found, Report, SpanMoves, Walk};
use crate::board::Color;
use crate::engine::Answer;
use crate::game::{Date, MoveNumbers, Rating, tags};
use crate::reel::GameRow;
use crate::text::clipped;
use crate::visible;

/// Columns beyond which players do not push the rest to the right.
const PLAYERS_WIDTH_MAX: usize = 56;
/// Longer names of events are shortened; JSON Lines have all of them.
const EVENT_WIDTH_MAX: usize = 32;

/// How wide the columns of text are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// As wide as the games need that are written together.
    Fitted,
    /// The same widths for all games.
    Fixed,
}

/// Players, result, year and event under [`Layout::Fixed`], and the game's number.
const FIXED_WIDTHS: ([usize; 4], usize) = ([PLAYERS_WIDTH_MAX, 7, 4, EVENT_WIDTH_MAX], 8);

/// The cells of a line, the number apart.
struct Line<'a> {
    game: GameRow<'a>,
    cells: [String; 4],
    plies: Vec<u8>,
    hits: usize,
    /// The hits that consist of moves: their names and the moves.
    spans: Vec<(String, String)>,
}

/// How much of a game is listed.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Plies at most.
    pub(super) plies_max: usize,
    /// The moves that are shown of a hit; `None` for none.
    pub(super) moves_max: Option<usize>,
}

/// Writes those games of a block that are found.
pub(super) fn write(found: &Found, games: Range<usize>, limits: Limits, layout: Layout, report: &mut Report) {
    let games = games.map(|index| found.block.game(index));
    let games = games.filter(|game| found.is_found(game));
    let lines: Vec<Line> = games.map(|game| line(game, found, limits)).collect();
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

fn fitted(lines: &[Line]) -> ([usize; 4], usize) {
    let mut widths = [0; 4];
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(&line.cells) {
            *width = cell.width().max(*width);
        }
    }
    widths[0] = widths[0].min(PLAYERS_WIDTH_MAX);
    (widths, lines.last().map_or(0, |line| line.game.number().to_string().len()))
}

fn line<'a>(game: GameRow<'a>, found: &Found, limits: Limits) -> Line<'a> {
    let (hits, plies_max) = (found.hits, limits.plies_max);
    let first = game.first_slot();
    let numbers = MoveNumbers::of(&game);
    let mut walk = Walk::of(&game);
    let (mut plies, mut count, mut last) = (Vec::new(), 0, (Answer::Bool(true), None));
    let mut around = None;
    for slot in hits.slots(first..game.end_slot()) {
        count += 1;
        if count > plies_max {
            continue;
        }
        let node = (slot - first) as u32;
        let line = game.line_of(node);
        let is_same = line.map(|line| line.index()) == around;
        if !is_same && around.is_some() {
            plies.push(b')');
        }
        if count > 1 {
            plies.push(b' ');
        }
        if let Some(line) = line.filter(|_| !is_same) {
            walk.to(line.first_node());
            plies.extend_from_slice(format!("({}: ", walk.line()).as_bytes());
        }
        around = line.map(|line| line.index());
        numbers.push_label(line.map_or(node, |line| walk.ply() + node - line.first_node()), &mut plies);
        let value = (hits.answer(slot), hits.text(slot));
        if value != last {
            push_value(value, &mut plies);
            last = value;
        }
    }
    if around.is_some() {
        plies.push(b')');
    }
    if count > plies_max {
        plies.extend_from_slice(b" +");
        push_number(&mut plies, count - plies_max);
    }
    let cells = [players(&game), game.outcome().text().to_owned(), year(&game), event(&game)];
    let spans = limits.moves_max.map_or(Vec::new(), |max| spans(&game, found, plies_max, max));
    Line { game, cells, plies, hits: count, spans }
}

/// The moves of which the first hits consist. What was found at the hit before is not repeated.
fn spans(game: &GameRow, found: &Found, plies_max: usize, moves_max: usize) -> Vec<(String, String)> {
    let first = game.first_slot();
    let mut walk = Walk::of(game);
    let mut out: Vec<(String, String)> = Vec::new();
    for slot in found.hits.slots(first..game.end_slot()).take(plies_max) {
        let node = (slot - first) as u32;
        let Some(span) = found.span(game, node) else { continue };
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

/// Appends ` =5`, ` =e4`, ` =[a1,h1]` or ` ="text"`.
fn push_value((value, text): (Answer, Option<&[u8]>), out: &mut Vec<u8>) {
    out.extend_from_slice(b" =");
    match (value, text) {
        (_, Some(text)) => push_text(out, text),
        (Answer::Num(Some(number)), _) => push_number(out, number),
        (Answer::Set(squares), _) => push_squares(out, squares),
        (Answer::Num(None) | Answer::Bool(_), None) => {}
    }
}

/// `Carlsen, Magnus (2882) - Caruana, Fabiano (2820)`.
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
    Date::of_game(game).map_or(String::new(), |date| date.year.to_string())
}

fn event(game: &GameRow) -> String {
    tags::known(game, "Event").map_or(String::new(), |event| clipped(&visible::line(&event), EVENT_WIDTH_MAX))
}
