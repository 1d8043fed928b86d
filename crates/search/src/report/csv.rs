//! Rows as CSV (RFC 4180), with a header line.

use std::borrow::Cow;

use super::columns::{Columns, TableCell, cell, span_cells};
use super::jsonl;
use super::row::{Found, Rows};
use orbit_core::game::measures::thousandths_text;
use orbit_reel::GameRow;

/// Returns the line with the names of the columns.
pub(super) fn head(columns: Columns) -> Vec<u8> {
    let mut out = writer();
    out.write_record(columns.list().iter().map(|column| column.name())).expect("writing to memory");
    out.into_inner().expect("writing to memory")
}

/// Appends the rows of a game. Returns the number of positions that hit.
pub(super) fn write(found: &Found, game: &GameRow, rows: Rows, columns: Columns, out: &mut Vec<u8>) -> usize {
    let mut table = writer();
    // Cells that are equal for all positions of a game are made once.
    let mut shared: Vec<Option<String>> = vec![None; columns.list().len()];
    let count = found.rows(game, rows, |row| {
        let span = columns.have_spans().then(|| span_cells(found, row)).flatten();
        for (&column, shared) in columns.list().iter().zip(&mut shared) {
            let text = || text(cell(column, found, row, span.as_ref()));
            let field = match column.is_of_game() {
                true => Cow::Borrowed(&**shared.get_or_insert_with(|| text().into_owned())),
                false => Cow::Owned(text().into_owned()),
            };
            table.write_field(field.as_bytes()).expect("writing to memory");
        }
        table.write_record(None::<&[u8]>).expect("writing to memory");
    });
    out.append(&mut table.into_inner().expect("writing to memory"));
    count
}

fn writer() -> csv::Writer<Vec<u8>> {
    csv::Writer::from_writer(Vec::new())
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
