//! The columns of CSV as Parquet, for data frames and databases.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::columns::{Column, ColumnType, Columns};

/// The maximum rows and bytes of text of a group, which is the part that is in memory at a time.
const GROUP_ROWS: usize = 65_536;
const GROUP_BYTES: usize = 64 << 20;

/// Converts CSV to Parquet: numbers are 64-bit integers, texts are strings, an empty cell is null; Zstandard compresses the data.
/// Each write must consist of whole records; the first record is the header.
pub struct ParquetWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<ParquetCells>,
    has_head: bool,
    rows: usize,
    bytes: usize,
}

/// A column of the group that is being filled.
struct ParquetCells {
    column: Column,
    /// 1 for a value, 0 for null.
    levels: Vec<i16>,
    numbers: Vec<i64>,
    decimals: Vec<f64>,
    texts: Vec<ByteArray>,
}

impl ParquetCells {
    fn new(column: Column) -> ParquetCells {
        ParquetCells {
            column,
            levels: Vec::new(),
            numbers: Vec::new(),
            decimals: Vec::new(),
            texts: Vec::new(),
        }
    }
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Starts a file; `columns` are those of [`Format::Csv`](super::Format::Csv).
    ///
    /// # Errors
    ///
    /// Those of `out`.
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
        Ok(ParquetWriter {
            file,
            columns: columns.list().iter().copied().map(ParquetCells::new).collect(),
            has_head: false,
            rows: 0,
            bytes: 0,
        })
    }

    fn add(&mut self, record: &csv::StringRecord) -> io::Result<()> {
        for (cell, column) in record.iter().zip(&mut self.columns) {
            let (name, ty) = (column.column.name(), column.column.ty());
            column.levels.push(i16::from(!cell.is_empty()));
            match ty {
                _ if cell.is_empty() => {}
                ColumnType::Number => {
                    let number =
                        cell.parse().map_err(|_| io::Error::other(format!("{name} is no number: {cell}")))?;
                    column.numbers.push(number);
                }
                ColumnType::Decimal => {
                    let number =
                        cell.parse().map_err(|_| io::Error::other(format!("{name} is no number: {cell}")))?;
                    column.decimals.push(number);
                }
                _ => column.texts.push(cell.into()),
            }
        }
        self.rows += 1;
        self.bytes += record.as_slice().len();
        if self.rows >= GROUP_ROWS || self.bytes >= GROUP_BYTES { self.end_group() } else { Ok(()) }
    }

    fn end_group(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group().map_err(fault)?;
        for cells in &mut self.columns {
            let empty = ParquetCells::new(cells.column);
            let ParquetCells { levels, numbers, decimals, texts, .. } = std::mem::replace(cells, empty);
            let mut column = group.next_column().map_err(fault)?.expect("there are as many as in the schema");
            match column.untyped() {
                ColumnWriter::Int64ColumnWriter(writer) => writer.write_batch(&numbers, Some(&levels), None),
                ColumnWriter::DoubleColumnWriter(writer) => {
                    writer.write_batch(&decimals, Some(&levels), None)
                }
                ColumnWriter::ByteArrayColumnWriter(writer) => {
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
    /// Those of `out`.
    pub fn finish(mut self) -> io::Result<W> {
        self.end_group()?;
        self.file.into_inner().map_err(fault)
    }
}

impl<W: Write + Send> Write for ParquetWriter<W> {
    fn write(&mut self, records: &[u8]) -> io::Result<usize> {
        let is_head = !std::mem::replace(&mut self.has_head, true);
        let mut table = csv::ReaderBuilder::new().has_headers(is_head).from_reader(records);
        for record in table.records() {
            self.add(&record?)?;
        }
        Ok(records.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Converts an error; an error of the underlying writer keeps its message.
fn fault(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => io::Error::other(error),
        error => io::Error::other(error.to_string()),
    }
}
