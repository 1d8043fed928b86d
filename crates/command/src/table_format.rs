//! Defines the formats of count tables, and their file extensions.

use std::path::Path;

use clap::ValueEnum;

use super::common::ending;
use super::failure::Failure;
use super::sink::Sink;

/// A table for people or for programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum TableFormat {
    Text,
    Csv,
    Json,
}

/// The file extensions of formats that are not count tables.
const OTHERS: [&str; 10] = ["pgn", "jsonl", "ndjson", "epd", "fen", "parquet", "html", "htm", "svg", "reel"];

impl TableFormat {
    /// Returns the format that `option` specifies, or else the one that the file extension implies. Without an extension, the
    /// format is text. Fails if the extension belongs to a format that is not for tables.
    pub(super) fn from_option(
        asked: Option<TableFormat>,
        option: &str,
        file: Option<&Path>,
    ) -> Result<TableFormat, Failure> {
        let Some(file) = file else { return Ok(asked.unwrap_or(TableFormat::Text)) };
        let ending = ending(file);
        let (name, end) = (file.display(), ending.as_str());
        let named = match end {
            "" => None,
            "txt" => Some(TableFormat::Text),
            "csv" => Some(TableFormat::Csv),
            "json" => Some(TableFormat::Json),
            other if asked.is_some() && !OTHERS.contains(&other) => None,
            _ => {
                return Err(Failure::Other(format!(
                    "{name}: counts cannot be written as .{end}: give a name that ends in .csv, .json or .txt (.zst may \
                     follow), or that has no ending"
                )));
            }
        };
        match (asked, named) {
            (Some(asked), Some(named)) if asked != named => Err(Failure::Other(format!(
                "{name}: the name ends in .{end}, but {option} chooses another format: leave out {option}, or give \
                 another name"
            ))),
            (asked, named) => Ok(asked.or(named).unwrap_or(TableFormat::Text)),
        }
    }
}

/// Prints rows as CSV on standard output, with the column names as the header.
pub(super) fn print_csv<const N: usize>(
    names: &[&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> Result<(), Failure> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let in_memory = "writing to memory";
    table.write_record(names).expect(in_memory);
    rows.into_iter().for_each(|row| table.write_record(&row).expect(in_memory));
    Sink::open(None)?.write_whole(&table.into_inner().expect(in_memory))
}
