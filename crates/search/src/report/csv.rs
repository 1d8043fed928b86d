//! Rows as CSV (RFC 4180), with a header line.

use std::borrow::Cow;

use super::columns::{Columns, TableCell, push_rows};
use super::jsonl;
use super::row::Rows;
use crate::found::Found;
use orbit_core::game::measures::thousandths_text;
use orbit_reel::GameRow;

/// Returns the header line with the column names.
pub(super) fn head(columns: Columns) -> Vec<u8> {
    let names: Vec<&str> = columns.list().iter().map(|column| column.name()).collect();
    format!("{}\n", names.join(",")).into_bytes()
}

/// Appends the rows of a game as lines of CSV. Returns the number of hits.
pub(super) fn write(found: &Found, game: &GameRow, rows: Rows, columns: Columns, out: &mut Vec<u8>) -> usize {
    let is_alone = columns.list().len() == 1;
    let push = |index: usize, cell: TableCell, out: &mut Vec<u8>| {
        out.extend_from_slice(if index == 0 { b"" } else { b"," });
        push_field(&text(cell), is_alone, out);
    };
    push_rows((found, game), (rows, columns), push, b"\n", out)
}

/// Appends a field exactly as the csv crate would. The crate's writer cannot append fields that are already quoted.
fn push_field(text: &str, is_alone: bool, out: &mut Vec<u8>) {
    // If an empty field is alone on its line, it is quoted, because readers skip empty lines.
    let is_quoted = text.is_empty() && is_alone;
    if is_quoted || text.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n')) {
        out.extend_from_slice(format!("\"{}\"", text.replace('"', "\"\"")).as_bytes());
    } else {
        out.extend_from_slice(text.as_bytes());
    }
}

/// Returns a cell as text. The entries of a list are separated by blanks.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the output equals that of the csv crate.
    #[test]
    fn fields_are_quoted_as_the_csv_crate_quotes_them() {
        let mut random = fastrand::Rng::with_seed(11);
        let letters = ['a', 'é', ' ', ',', ';', '"', '\'', '\r', '\n', '\t', '\\', '#'];
        let mut quoted = 0;
        for _ in 0..20_000 {
            let word = |random: &mut fastrand::Rng| -> String {
                (0..random.usize(..5)).map(|_| letters[random.usize(..letters.len())]).collect()
            };
            let fields: Vec<String> = (0..random.usize(1..4)).map(|_| word(&mut random)).collect();
            let mut out = Vec::new();
            for (index, field) in fields.iter().enumerate() {
                out.extend_from_slice(if index == 0 { b"" } else { b"," });
                push_field(field, fields.len() == 1, &mut out);
            }
            out.push(b'\n');
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record(&fields).unwrap();
            assert_eq!(out, writer.into_inner().unwrap(), "{fields:?}");
            quoted += usize::from(out.contains(&b'"'));
        }
        assert!(quoted > 1_000, "{quoted}");
    }
}
