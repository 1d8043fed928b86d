//! Writes rows as JSON Lines, with one JSON object for each row.

use serde_json::{Map, Value, json};

use super::columns::{Columns, TableCell, push_rows};
use super::row::Rows;
use super::words::push_number;
use crate::found::Found;
use orbit_core::game::measures::thousandths_text;
use orbit_core::visible::{EscapeContext, escape};
use orbit_reel::GameRow;

/// Appends the rows of a game as JSON objects, one per line. Returns the number of hits.
pub(super) fn write(found: &Found, game: &GameRow, rows: Rows, columns: Columns, out: &mut Vec<u8>) -> usize {
    let push = |index: usize, cell: TableCell, out: &mut Vec<u8>| {
        out.extend_from_slice(if index == 0 { b"{\"" } else { b",\"" });
        out.extend_from_slice(columns.list()[index].name().as_bytes());
        out.extend_from_slice(b"\":");
        push(&cell, out);
    };
    push_rows((found, game), (rows, columns), push, b"}\n", out)
}

/// Returns a cell as JSON.
pub(super) fn text(cell: &TableCell) -> String {
    let mut out = Vec::new();
    push(cell, &mut out);
    String::from_utf8(out).expect("JSON is text")
}

fn push(cell: &TableCell, out: &mut Vec<u8>) {
    match cell {
        TableCell::Null => out.extend_from_slice(b"null"),
        TableCell::Number(number) => push_number(out, *number),
        TableCell::Decimal(number) => out.extend_from_slice(thousandths_text(*number).as_bytes()),
        TableCell::Text(text) if text.bytes().all(is_plain) => {
            out.push(b'"');
            out.extend_from_slice(text.as_bytes());
            out.push(b'"');
        }
        TableCell::Text(text) => push_value(&json!(text), out),
        TableCell::Numbers(numbers) => push_value(&json!(numbers), out),
        TableCell::Words(words) => push_value(&json!(words), out),
        TableCell::Pieces(pieces) => {
            let pieces = pieces.iter().map(|(name, squares)| ((*name).to_owned(), json!(squares)));
            push_value(&Value::Object(pieces.collect()), out);
        }
        TableCell::Span(span) => {
            let span = json!({
                "kind": span.kind,
                "nodes": span.nodes,
                "plies": span.plies,
                "moves": span.moves,
                "text": span.text,
                "length": span.moves.len(),
            });
            push_value(&span, out);
        }
        TableCell::Tags(tags) => {
            let tags = tags.iter().map(|(name, value)| (name.to_string(), json!(value)));
            push_value(&Value::Object(tags.collect::<Map<_, _>>()), out);
        }
    }
}

/// Returns whether a byte needs no escape in a JSON string.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}

/// Appends a value as JSON. Terminal control characters such as `\u202e` are escaped.
fn push_value(value: &Value, out: &mut Vec<u8>) {
    out.extend_from_slice(escape(&value.to_string(), EscapeContext::Json).as_bytes());
}
