//! One JSON object for each row.

use serde_json::{Map, Value, json};

use super::SpanMoves;
use super::csv::Extras;
use super::row::{Found, Row, Rows};
use super::words::{self, push_number};
use crate::engine::Answer;
use crate::reel::GameRow;
use crate::text::decode;
use crate::visible::{Context, escape};

/// Appends the rows of a game; returns how many positions of it hit.
pub(super) fn write(found: &Found, game: &GameRow, rows: Rows, extras: Extras, out: &mut Vec<u8>) -> usize {
    // What all positions of a game share is written once.
    let mut shared = None;
    found.rows(game, rows, |row| {
        let (head, tags) =
            shared.get_or_insert_with(|| (head(found, game), written(&Value::Object(tags(game)))));
        out.extend_from_slice(head.as_bytes());
        push_number(out, row.ply);
        if extras.nodes {
            out.extend_from_slice(b",\"node\":");
            push_number(out, row.node);
            out.extend_from_slice(b",\"line\":");
            push_text(Some(row.line.as_str()).filter(|line| !line.is_empty()), out);
        }
        // No character of a label, a FEN or SAN needs an escape.
        for (name, text) in [(",\"move\":\"", &row.label), ("\",\"fen\":\"", &row.fen)] {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(text.as_bytes());
        }
        out.extend_from_slice(b"\",\"next\":");
        push_text(Some(row.next.as_str()).filter(|next| !next.is_empty()), out);
        out.push(b',');
        push_value(row, out);
        push_copy(found, row, out);
        if extras.spans {
            push_span(found, row, out);
        }
        out.extend_from_slice(b",\"hits\":");
        push_number(out, row.hits);
        out.extend_from_slice(b",\"url\":");
        push_text(row.url().as_deref(), out);
        out.extend_from_slice(b",\"tags\":");
        out.extend_from_slice(tags.as_bytes());
        out.extend_from_slice(b"}\n");
    })
}

fn head(found: &Found, game: &GameRow) -> String {
    format!(
        "{{\"game\":{},\"source\":{},\"number_in_source\":{},\"offset\":{},\"ply\":",
        game.number(),
        written(&json!(found.names.source(game))),
        game.number_in_source(),
        game.offset()
    )
}

/// Of several tags of one name the first counts, as in queries.
fn tags(game: &GameRow) -> Map<String, Value> {
    let mut tags = Map::new();
    for (name, value) in game.tags() {
        tags.entry(decode(name)).or_insert_with(|| Value::String(decode(value).into_owned()));
    }
    tags
}

fn push_text(text: Option<&str>, out: &mut Vec<u8>) {
    out.extend_from_slice(written(&json!(text)).as_bytes());
}

fn push_value(row: &Row, out: &mut Vec<u8>) {
    if let Some(text) = row.text {
        out.extend_from_slice(b"\"value\":");
        words::push_text(out, text);
        return;
    }
    match row.value {
        Answer::Bool(_) | Answer::Num(None) => out.extend_from_slice(b"\"value\":true"),
        Answer::Num(Some(number)) => {
            out.extend_from_slice(b"\"value\":");
            push_number(out, number);
        }
        Answer::Set(squares) => {
            let names: Vec<String> = squares.into_iter().map(|square| square.to_string()).collect();
            out.extend_from_slice(format!("\"squares\":{}", json!(names)).as_bytes());
        }
    }
}

/// The lowest copy that matches, from 1, what it is, and how many match.
fn push_copy(found: &Found, row: &Row, out: &mut Vec<u8>) {
    let name = |names: &[String]| row.copy.and_then(|copy| names.get(copy as usize).cloned());
    let copy = row.copy.map(|copy| copy + 1);
    let (pattern, transform) = (name(&found.names.copies), name(&found.names.transforms));
    let text = format!(
        ",\"copy\":{},\"pattern\":{},\"transform\":{},\"copies\":{}",
        json!(copy),
        written(&json!(pattern)),
        json!(transform),
        row.copies
    );
    out.extend_from_slice(text.as_bytes());
}

/// The positions and moves of which a hit consists, or null.
fn push_span(found: &Found, row: &Row, out: &mut Vec<u8>) {
    let span = found.span(&row.game, row.node).map(|span| {
        let moves = SpanMoves::of(&span, &row.game);
        let plies: Vec<u32> = span.nodes.iter().map(|&node| row.game.ply_of(node)).collect();
        json!({
            "kind": span.kind.name(),
            "nodes": span.nodes,
            "plies": plies,
            "moves": moves.sans().collect::<Vec<_>>(),
            "text": moves.text(usize::MAX),
            "length": moves.count(),
        })
    });
    out.extend_from_slice(b",\"span\":");
    out.extend_from_slice(written(&json!(span)).as_bytes());
}

/// A value as JSON, in which no letter acts on a terminal: `\u202e` stands for the letter.
fn written(value: &Value) -> String {
    escape(&value.to_string(), Context::Json).into_owned()
}
