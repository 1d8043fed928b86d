//! Rows as CSV (RFC 4180), with a head line.

use std::borrow::Cow;

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

/// The columns, in order. The last two, [`NODE_COLUMNS`], are those of searches of side lines.
pub const COLUMNS: [(&str, ColumnType); 28] = {
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
        ("node", Number),
        ("line", Text),
    ]
};

/// How many columns say where in the tree of a game a position is.
pub const NODE_COLUMNS: usize = 2;

/// The columns of a table, in order; `nodes` tells whether it says where in the trees of games positions are.
pub(super) fn columns(nodes: bool) -> &'static [(&'static str, ColumnType)] {
    &COLUMNS[..COLUMNS.len() - if nodes { 0 } else { NODE_COLUMNS }]
}

/// The line with the names of the columns.
pub(super) fn head(nodes: bool) -> Vec<u8> {
    let mut out = writer();
    out.write_record(columns(nodes).iter().map(|(name, _)| name)).expect("writing to memory");
    out.into_inner().expect("writing to memory")
}

/// Appends the rows of a game; returns how many positions of it hit.
pub(super) fn write(found: &Found, game: &GameRow, rows: Rows, nodes: bool, out: &mut Vec<u8>) -> usize {
    let mut table = writer();
    let columns = columns(nodes).len();
    let count = found.rows(game, rows, |row| {
        let cells = cells(found, row);
        table.write_record(cells[..columns].iter().map(|cell| cell.as_bytes())).expect("writing to memory");
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
        number(row.node.into()),
        Borrowed(&row.line),
    ]
}
