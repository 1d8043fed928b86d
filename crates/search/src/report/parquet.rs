//! Writes hits as Parquet, for data frames and databases. The cells equal those of CSV and are collected as Arrow columns.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::Array as _;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int64Type};
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::arrow::ArrowCells;
use super::columns::{Column, ColumnType, Columns, TableCell, push_rows};
use super::csv;
use super::row::Rows;
use crate::found::Found;
use orbit_reel::GameRow;

/// The maximum size of a row group of the Parquet file, in rows and in bytes. Only one row group is in memory at a time.
const GROUP_ROWS: usize = 65_536;
const GROUP_BYTES: usize = 64 << 20;

/// Appends the rows of a game in the binary form that [`ParquetWriter`] reads. Returns the number of hits.
pub(super) fn write(found: &Found, game: &GameRow, rows: Rows, columns: Columns, out: &mut Vec<u8>) -> usize {
    push_rows((found, game), (rows, columns), |_, cell, out| push(cell, out), b"", out)
}

/// Appends a cell: numbers in binary form, all other values as in CSV. An empty string is null.
fn push(cell: TableCell, out: &mut Vec<u8>) {
    let written = match cell {
        TableCell::Number(number) | TableCell::Decimal(number) => postcard::to_io(&Some(number), out),
        cell => postcard::to_io(&Some(csv::text(cell)).filter(|text| !text.is_empty()), out),
    };
    written.expect("writing to memory");
}

/// Reads a cell from the front of `bytes`, and removes the bytes that were read.
fn take<'a>(ty: ColumnType, bytes: &mut &'a [u8]) -> Result<TableCell<'a>, postcard::Error> {
    fn next<'a, T: serde::Deserialize<'a>>(bytes: &mut &'a [u8]) -> Result<Option<T>, postcard::Error> {
        let (cell, rest) = postcard::take_from_bytes(bytes)?;
        *bytes = rest;
        Ok(cell)
    }
    let cell = match ty {
        ColumnType::Number => next(bytes)?.map(TableCell::Number),
        ColumnType::Decimal => next(bytes)?.map(TableCell::Decimal),
        _ => next(bytes)?.map(|text: &str| TableCell::Text(Cow::Borrowed(text))),
    };
    Ok(cell.unwrap_or(TableCell::Null))
}

/// Writes rows as Parquet, compressed with Zstandard. Whole numbers are 64-bit integers, numbers with a fraction are 64-bit floats,
/// and all other values are UTF-8 strings; empty cells are null. Each write must consist of whole rows in
/// [`Format::Parquet`](super::Format::Parquet).
pub struct ParquetWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<(ColumnType, ArrowCells)>,
    rows: usize,
    bytes: usize,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Starts a Parquet file whose rows have the columns `columns`.
    ///
    /// # Errors
    ///
    /// Returns the errors of `out`.
    pub fn new(out: W, columns: Columns) -> io::Result<ParquetWriter<W>> {
        let field = |column: &Column| match column.ty() {
            ColumnType::Number => format!("OPTIONAL INT64 {};", column.name()),
            ColumnType::Decimal => format!("OPTIONAL DOUBLE {};", column.name()),
            _ => format!("OPTIONAL BYTE_ARRAY {} (UTF8);", column.name()),
        };
        let fields: Vec<String> = columns.list().iter().map(field).collect();
        let schema = parse_message_type(&format!("message hits {{ {} }}", fields.join(" ")));
        let schema = Arc::new(schema.expect("the columns are our own"));
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
        let file = SerializedFileWriter::new(out, schema, Arc::new(properties.build())).map_err(fault)?;
        let columns = columns.list().iter().map(|column| (column.ty(), ArrowCells::flat(column.ty())));
        Ok(ParquetWriter { file, columns: columns.collect(), rows: 0, bytes: 0 })
    }

    /// Appends the first row in `row` to the columns, and returns the remaining bytes.
    fn add<'a>(&mut self, row: &'a [u8]) -> io::Result<&'a [u8]> {
        let mut rest = row;
        for (ty, cells) in &mut self.columns {
            cells.push(&take(*ty, &mut rest).map_err(io::Error::other)?);
        }
        self.rows += 1;
        self.bytes += row.len() - rest.len();
        if self.rows >= GROUP_ROWS || self.bytes >= GROUP_BYTES {
            self.end_group()?;
        }
        Ok(rest)
    }

    fn end_group(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group().map_err(fault)?;
        for (_, cells) in &mut self.columns {
            let array = cells.finish();
            let levels: Vec<i16> = (0..array.len()).map(|row| array.is_valid(row).into()).collect();
            let mut column = group.next_column().map_err(fault)?.expect("there are as many as in the schema");
            match column.untyped() {
                ColumnWriter::Int64ColumnWriter(writer) => {
                    let numbers: Vec<i64> = array.as_primitive::<Int64Type>().iter().flatten().collect();
                    writer.write_batch(&numbers, Some(&levels), None)
                }
                ColumnWriter::DoubleColumnWriter(writer) => {
                    let numbers: Vec<f64> = array.as_primitive::<Float64Type>().iter().flatten().collect();
                    writer.write_batch(&numbers, Some(&levels), None)
                }
                ColumnWriter::ByteArrayColumnWriter(writer) => {
                    let texts: Vec<ByteArray> =
                        array.as_string::<i32>().iter().flatten().map(ByteArray::from).collect();
                    writer.write_batch(&texts, Some(&levels), None)
                }
                _ => unreachable!("there are three types of columns"),
            }
            .map_err(fault)?;
            column.close().map_err(fault)?;
        }
        group.close().map_err(fault)?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }

    /// Returns the underlying writer.
    pub fn out(&self) -> &W {
        self.file.inner()
    }

    /// Writes the last rows and the footer.
    ///
    /// # Errors
    ///
    /// Returns the errors of `out`.
    pub fn finish(mut self) -> io::Result<W> {
        self.end_group()?;
        self.file.into_inner().map_err(fault)
    }
}

impl<W: Write + Send> Write for ParquetWriter<W> {
    fn write(&mut self, rows: &[u8]) -> io::Result<usize> {
        let mut rest = rows;
        while !rest.is_empty() {
            rest = self.add(rest)?;
        }
        Ok(rows.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Converts an error of the Parquet library. If the underlying writer caused the error, its message is kept.
fn fault(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => io::Error::other(error),
        error => io::Error::other(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Extras;

    /// Row groups have a fixed number of rows, no matter how many rows are written at once.
    #[test]
    fn row_groups_do_not_follow_parts() {
        let columns = Columns::with_table_defaults(Extras {
            nodes: true,
            spans: true,
            texts: true,
            likeness: true,
            player: true,
            measures: true,
        });
        let row = |row: usize| {
            let mut bytes = Vec::new();
            for (index, column) in columns.list().iter().enumerate() {
                let number = (row * 31 + index) as i64;
                let cell = match column.ty() {
                    ColumnType::Number => TableCell::Number(number),
                    ColumnType::Decimal => TableCell::Decimal(number),
                    _ => TableCell::Text(format!("t{}", row % 100 + index).into()),
                };
                push(cell, &mut bytes);
            }
            bytes
        };
        let rows: Vec<Vec<u8>> = (0..70_000).map(row).collect();
        let written = |rows_at_once: usize| {
            let mut table = ParquetWriter::new(Vec::new(), columns).unwrap();
            rows.chunks(rows_at_once).for_each(|rows| table.write_all(&rows.concat()).unwrap());
            table.finish().unwrap()
        };
        let whole = written(rows.len());
        for rows_at_once in [501, 40_000] {
            assert!(written(rows_at_once) == whole, "{rows_at_once} rows at once");
        }
    }

    /// Checks that bytes that are not rows are rejected. They can come from the file of a job part that another version of the
    /// program wrote.
    #[test]
    fn bytes_that_are_no_rows_are_refused() {
        let columns = Columns::new(&[Column::Game, Column::White]);
        let written = |rows: &[u8]| ParquetWriter::new(Vec::new(), columns).unwrap().write_all(rows);
        let mut row = Vec::new();
        push(TableCell::Number(7), &mut row);
        push(TableCell::Text("Anderssen".into()), &mut row);
        assert!(written(&row).is_ok());
        assert!(written(&row[..row.len() - 1]).is_err());
        assert!(written(b"1,Anderssen\n").is_err());
    }
}
