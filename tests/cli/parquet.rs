//! Tests Parquet output: its table must equal the CSV table.

use std::fs::File;
use std::process::Command;

use orbit_chess::Column;
use parquet::basic::Type as PhysicalType;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;

/// The document with the types of columns.
const OUTPUTS: &str = include_str!("../../docs/output.md");

/// Returns all column names, so that each column type and each form of cell is compared.
fn all_columns() -> String {
    Column::ALL.map(Column::name).join(",")
}

#[test]
fn parquet_says_what_csv_says() {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/games/sample.pgn");
    let clocks = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/games/measures.pgn");
    let (orbit, all) = ("shift flip flipcolor {Nd4 kf3}", all_columns());
    let (every, all) = (Column::ALL.len(), ["--columns", &all]);
    for (games, arguments, columns, hits) in [
        (sample, &[orbit][..], 31, 633),
        (sample, &[orbit, "--variations"], 33, 633),
        (sample, &[orbit, "--rows", "games"], 31, 354),
        (clocks, &[orbit, "--columns", "game,ply,clock,spent,eval,eval_mate"], 6, 8),
        (clocks, &[&["true"], &all[..]].concat(), every, 5_126),
        // These searches have sets, numbers and strings as values, an order of games, and the games of one player.
        (sample, &[&["A attacks k"], &all[..]].concat(), every, 2_425),
        (
            sample,
            &[&["#(A attacks k) - 1", "--sort", "value", "--limit", "9"], &all[..]].concat(),
            every,
            700,
        ),
        (sample, &[&["player", "--first"], &all[..]].concat(), every, 1_000),
        (sample, &[&["flip {check Nf7}", "--player", "Carlsen"], &all[..]].concat(), every, 23),
        (sample, &["line --> check --> check", "--sample", "20", "--seed", "4"], 37, 26),
        (sample, &["false"], 31, 0),
    ] {
        check(games, arguments, columns, hits);
    }
}

fn check(games: &str, arguments: &[&str], columns: usize, hits: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (csv_file, parquet_file) = (folder.path().join("hits.csv"), folder.path().join("hits.parquet"));
    let run = Command::new(env!("CARGO_BIN_EXE_orbit"))
        .arg("scan")
        .args(arguments)
        .args([games, "--quiet", "-o"])
        .arg(&csv_file)
        .arg("-o")
        .arg(&parquet_file)
        .output()
        .unwrap();
    assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
    let mut table = csv::Reader::from_path(&csv_file).unwrap();
    let names = table.headers().unwrap().clone();
    assert_eq!(names.len(), columns, "{arguments:?}");
    let records: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    let reader = SerializedFileReader::new(File::open(&parquet_file).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema();
    let types: Vec<(&str, PhysicalType)> =
        schema.get_fields().iter().map(|field| (field.name(), field.get_physical_type())).collect();
    let expected: Vec<(&str, PhysicalType)> = names.iter().map(|name| (name, type_of(name))).collect();
    assert_eq!(types, expected, "{arguments:?}");
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!((rows.len(), records.len()), (hits, hits), "{arguments:?}");
    for (row, record) in rows.iter().zip(&records) {
        let cells: Vec<(String, String)> = row
            .get_column_iter()
            .map(|(name, field)| {
                let text = match field {
                    Field::Null => String::new(),
                    Field::Str(text) => text.clone(),
                    Field::Long(number) => number.to_string(),
                    Field::Double(number) => number.to_string(),
                    other => panic!("{name}: {other}"),
                };
                (name.clone(), text)
            })
            .collect();
        let expected: Vec<(String, String)> =
            names.iter().zip(record).map(|(name, cell)| (name.to_owned(), cell.to_owned())).collect();
        assert_eq!(cells, expected, "{arguments:?}");
    }
}

/// Returns the Parquet type that corresponds to the type of a column in `docs/output.md`.
fn type_of(name: &str) -> PhysicalType {
    let row = OUTPUTS.lines().find_map(|line| line.strip_prefix(&format!("| `{name}` | ")));
    match row.and_then(|row| row.split(' ').next()) {
        Some("number") => PhysicalType::INT64,
        Some("decimal") => PhysicalType::DOUBLE,
        Some("text" | "list" | "object") => PhysicalType::BYTE_ARRAY,
        other => panic!("{name}: {other:?}"),
    }
}
