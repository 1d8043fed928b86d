//! Prints the results of `--count`, `--copies` and `--heat`.

use orbit_search::report::findings::{Findings, TransformSum};
use orbit_search::report::heat::HeatMap;
use orbit_search::report::{HitTotals, copy_lines};
use serde_json::json;

use super::options::ScanOptions;
use crate::common::Out;
use crate::failure::Failure;
use crate::pictures::{heat_maps, print_heat};
use crate::table_format::{TableFormat, print_csv};

/// The numbers that a scan prints instead of a list of hits.
pub(super) struct ScanCounts {
    /// The number of games and of positions that are listed, or that would be listed without `--count`.
    pub(super) listed: HitTotals,
    /// The total number of games and of positions in the database, if all were read.
    pub(super) all: Option<(u64, u64)>,
    /// The number of positions that match each transformed copy of the query.
    pub(super) copies: Vec<u64>,
}

pub(super) fn print(
    options: &ScanOptions,
    counted: &ScanCounts,
    texts: &[String],
    findings: Option<&Findings>,
) -> Result<(), Failure> {
    let (format, args) = (options.table_format(), options.args);
    if args.count {
        print_count(counted, format)?;
    }
    if let Some(lines_max) = args.copies {
        print_copies(&counted.copies, texts, lines_max, format)?;
    }
    match findings.filter(|_| args.heat) {
        None => Ok(()),
        Some(findings) if format == TableFormat::Csv => print_heat_table(findings),
        Some(findings) => print_heat(findings, format == TableFormat::Json),
    }
}

fn print_count(counted: &ScanCounts, format: TableFormat) -> Result<(), Failure> {
    let ScanCounts { listed: HitTotals { games, positions }, all, .. } = *counted;
    let mut out = Out::new();
    match format {
        TableFormat::Json => {
            let (all_games, all_positions) = all.unzip();
            out.json(&json!({
                "games_hit": games, "positions_hit": positions, "games": all_games, "positions": all_positions
            }))?;
        }
        TableFormat::Csv => {
            let (all_games, all_positions) = all.unzip();
            let known = |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
            let row = [games.to_string(), positions.to_string(), known(all_games), known(all_positions)];
            return print_csv(&["games_hit", "positions_hit", "games", "positions"], [row]);
        }
        TableFormat::Text => {
            out.line(format_args!("games hit {games}"))?;
            out.line(format_args!("positions hit {positions}"))?;
        }
    }
    out.finish()
}

/// Prints the transformed copies of the query with their hit counts. Text output contains only the requested number of copies; CSV
/// and JSON output contain all copies.
fn print_copies(
    copies: &[u64],
    texts: &[String],
    lines_max: usize,
    format: TableFormat,
) -> Result<(), Failure> {
    let numbered = copies.iter().zip(texts).enumerate();
    let mut out = Out::new();
    match format {
        TableFormat::Json => {
            let copies = numbered.map(
                |(index, (positions, text))| json!({ "copy": index + 1, "text": text, "positions": positions }),
            );
            out.json(&json!({ "copies": copies.collect::<Vec<_>>() }))?;
        }
        TableFormat::Csv => {
            let rows = numbered.map(|(index, (positions, text))| {
                [(index + 1).to_string(), text.clone(), positions.to_string()]
            });
            return print_csv(&["copy", "text", "positions"], rows);
        }
        TableFormat::Text => {
            copy_lines(copies, texts, lines_max).iter().try_for_each(|line| out.line(line))?
        }
    }
    out.finish()
}

/// Prints the number of hits for each kind of transform, and then the hits on each square of the heat maps.
fn print_heat_table(findings: &Findings) -> Result<(), Failure> {
    let sums = |table: &'static str, sums: &[TransformSum]| -> Vec<[String; 4]> {
        let row = |sum: &TransformSum| {
            [table.to_owned(), sum.transform.clone(), sum.copies.to_string(), sum.positions.to_string()]
        };
        sums.iter().map(row).collect()
    };
    let orbit = findings.orbit.as_ref();
    let mut rows = orbit.map_or(Vec::new(), |orbit| sums("symmetry", &orbit.symmetries));
    rows.extend(orbit.map_or(Vec::new(), |orbit| sums("colors", &orbit.colors)));
    let [places, squares] = heat_maps(findings);
    for (table, map) in [("heat", places), ("squares", squares)] {
        let cells = map.into_iter().flat_map(HeatMap::cells);
        rows.extend(cells.map(|(name, count)| [table.to_owned(), name, String::new(), count.to_string()]));
    }
    print_csv(&["table", "key", "copies", "positions"], rows)
}
