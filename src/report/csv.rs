//! Rows as CSV (RFC 4180), with a head line.

use std::borrow::Cow;

use super::SpanMoves;
use super::row::{Found, Row, Rows};
use crate::engine::Answer;
use crate::game::{Header as _, Rating, date};
use crate::reel::GameRow;
use crate::text::decode;

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnType {
    /// A number; nothing where it is not known.
    Number,
    /// Text.
    Text,
}

/// The columns of all tables, in order.
pub const COLUMNS: [(&str, ColumnType); 26] = {
    use ColumnType::{Number, Text};
    [
        ("game", Number),
        ("source", Text),
        ("number_in_source", Number),
        ("offset", Number),
        ("event", Text),
        ("site", Text),
        ("date", Text),
        ("round", Text),
        ("white", Text),
        ("black", Text),
        ("result", Text),
        ("white_elo", Number),
        ("black_elo", Number),
        ("eco", Text),
        ("ply", Number),
        ("move", Text),
        ("fen", Text),
        ("next", Text),
        ("value", Number),
        ("squares", Text),
        ("copy", Number),
        ("pattern", Text),
        ("transform", Text),
        ("copies", Number),
        ("hits", Number),
        ("url", Text),
    ]
};

/// Where in the tree of a game a position is.
pub const NODE_COLUMNS: [(&str, ColumnType); 2] = [("node", ColumnType::Number), ("line", ColumnType::Text)];

/// The positions and moves of which a hit consists.
pub const SPAN_COLUMNS: [(&str, ColumnType); 4] = [
    ("span_kind", ColumnType::Text),
    ("span_nodes", ColumnType::Text),
    ("span_moves", ColumnType::Text),
    ("span_length", ColumnType::Number),
];

/// The value of a query that yields a string.
pub const TEXT_COLUMNS: [(&str, ColumnType); 1] = [("text", ColumnType::Text)];

/// What rows have besides that which all rows have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Extras {
    /// The node and the line of their positions: so of searches of side lines.
    pub nodes: bool,
    /// The positions and moves of which hits consist: so of queries with filters that match more than a position.
    pub spans: bool,
    /// The strings that the query yields.
    pub texts: bool,
}

impl Extras {
    /// The columns of a table, in order.
    pub fn columns(self) -> Vec<(&'static str, ColumnType)> {
        let chosen = |is_chosen: bool, columns: &'static [(&'static str, ColumnType)]| {
            if is_chosen { columns } else { &[] }
        };
        let parts = [
            &COLUMNS[..],
            chosen(self.nodes, &NODE_COLUMNS),
            chosen(self.spans, &SPAN_COLUMNS),
            chosen(self.texts, &TEXT_COLUMNS),
        ];
        parts.concat()
    }
}

/// The line with the names of the columns.
pub(super) fn head(extras: Extras) -> Vec<u8> {
    let mut out = writer();
    out.write_record(extras.columns().iter().map(|(name, _)| name)).expect("writing to memory");
    out.into_inner().expect("writing to memory")
}

/// Appends the rows of a game; returns how many positions of it hit.
pub(super) fn write(found: &Found, game: &GameRow, rows: Rows, extras: Extras, out: &mut Vec<u8>) -> usize {
    let mut table = writer();
    let count = found.rows(game, rows, |row| {
        let mut record: Vec<Cow<str>> = cells(found, row).into();
        if extras.nodes {
            record.extend([Cow::Owned(row.node.to_string()), Cow::Borrowed(&*row.line)]);
        }
        if extras.spans {
            record.extend(span_cells(found, row).map(Cow::Owned));
        }
        if extras.texts {
            record.push(row.text.map_or(Cow::Borrowed(""), decode));
        }
        table.write_record(record.iter().map(|cell| cell.as_bytes())).expect("writing to memory");
    });
    out.append(&mut table.into_inner().expect("writing to memory"));
    count
}

fn writer() -> csv::Writer<Vec<u8>> {
    csv::Writer::from_writer(Vec::new())
}

fn cells<'a>(found: &'a Found, row: &'a Row) -> [Cow<'a, str>; COLUMNS.len()] {
    use Cow::{Borrowed, Owned};
    let game = &row.game;
    let tag = |name| game.tag_named(name).map_or(Borrowed(""), decode);
    let elo = |rating: Rating| rating.of_game(game).map_or(Borrowed(""), |elo| Owned(elo.to_string()));
    let named = |names: &'a [String]| {
        Borrowed(row.copy.and_then(|copy| names.get(copy as usize)).map_or("", String::as_str))
    };
    let number = |number: u64| Owned(number.to_string());
    let (value, squares) = match row.value {
        Answer::Num(Some(number)) => (Owned(number.to_string()), Borrowed("")),
        Answer::Set(squares) => {
            let names: Vec<String> = squares.into_iter().map(|square| square.to_string()).collect();
            (Owned(names.len().to_string()), Owned(names.join(" ")))
        }
        Answer::Bool(_) | Answer::Num(None) => (Borrowed(""), Borrowed("")),
    };
    [
        number(game.number().into()),
        Borrowed(found.names.source(game)),
        number(game.number_in_source().into()),
        number(game.offset()),
        tag("Event"),
        tag("Site"),
        tag(date::tag(game)),
        tag("Round"),
        tag("White"),
        tag("Black"),
        Borrowed(game.outcome().text()),
        elo(Rating::White),
        elo(Rating::Black),
        tag("ECO"),
        number(row.ply.into()),
        Borrowed(&row.label),
        Borrowed(&row.fen),
        Borrowed(&row.next),
        value,
        squares,
        row.copy.map_or(Borrowed(""), |copy| number(u64::from(copy) + 1)),
        named(&found.names.copies),
        named(&found.names.transforms),
        number(row.copies as u64),
        number(row.hits as u64),
        row.url().map_or(Borrowed(""), Owned),
    ]
}

/// The cells of [`SPAN_COLUMNS`].
fn span_cells(found: &Found, row: &Row) -> [String; SPAN_COLUMNS.len()] {
    let Some(span) = found.span(&row.game, row.node) else { return Default::default() };
    let nodes: Vec<String> = span.nodes.iter().map(u32::to_string).collect();
    let moves = SpanMoves::of(&span, &row.game);
    [span.kind.name().to_owned(), nodes.join(" "), moves.text(usize::MAX), moves.count().to_string()]
}
