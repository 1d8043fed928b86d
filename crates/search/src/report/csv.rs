//! Rows as CSV (RFC 4180), with a header line.

use std::borrow::Cow;

use super::columns::{Columns, TableCell, push_rows};
use super::jsonl;
use super::row::{Found, Rows};
use orbit_core::game::measures::thousandths_text;
use orbit_reel::GameRow;

/// Returns the line with the names of the columns.
pub(super) fn head(columns: Columns) -> Vec<u8> {
    let names: Vec<&str> = columns.list().iter().map(|column| column.name()).collect();
    format!("{}\n", names.join(",")).into_bytes()
}

/// Appends the rows of a game. Returns the number of positions that hit.
pub(super) fn write(found: &Found, game: &GameRow, rows: Rows, columns: Columns, out: &mut Vec<u8>) -> usize {
    let is_alone = columns.list().len() == 1;
    let push = |index: usize, cell: TableCell, out: &mut Vec<u8>| {
        out.extend_from_slice(if index == 0 { b"" } else { b"," });
        let text = text(cell);
        // Readers skip empty lines.
        let is_quoted = text.is_empty() && is_alone;
        if is_quoted || text.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n')) {
            out.extend_from_slice(format!("\"{}\"", text.replace('"', "\"\"")).as_bytes());
        } else {
            out.extend_from_slice(text.as_bytes());
        }
    };
    push_rows((found, game), (rows, columns), push, b"\n", out)
}

/// Returns a cell as text, with blanks between the entries of a list.
pub(super) fn text(cell: TableCell<'_>) -> Cow<'_, str> {
    match cell {
        TableCell::Null => Cow::Borrowed(""),
        TableCell::Number(number) => number.to_string().into(),
        TableCell::Decimal(number) => thousandths_text(number).into(),
        TableCell::Text(text) => text,
        TableCell::Numbers(numbers) => {
            numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" ").into()
        }
        TableCell::Words(words) => words.join(" ").into(),
        TableCell::Pieces(pieces) => {
            let piece = |(name, squares): (&str, Vec<String>)| format!("{name}={}", squares.join(","));
            pieces.into_iter().map(piece).collect::<Vec<_>>().join(" ").into()
        }
        TableCell::Span(_) | TableCell::Tags(_) => jsonl::text(&cell).into(),
    }
}
