//! Tests Parquet output: its table is the same as that of CSV.

use std::fs::File;
use std::process::Command;

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;

#[test]
fn parquet_says_what_csv_says() {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/games/sample.pgn");
    for (arguments, columns) in [(&[][..], 31), (&["--variations"], 33)] {
        check(sample, arguments, columns, 633);
    }
    let clocks = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/games/measures.pgn");
    check(clocks, &["--columns", "game,ply,clock,spent,eval,eval_mate"], 6, CLOCKS);
}

/// The number of hits of the query in the games with clocks.
const CLOCKS: usize = 8;

fn check(games: &str, arguments: &[&str], columns: usize, hits: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (csv_file, parquet_file) = (folder.path().join("hits.csv"), folder.path().join("hits.parquet"));
    let run = Command::new(env!("CARGO_BIN_EXE_orbit"))
        .args(["scan", "shift flip flipcolor {Nd4 kf3}", games])
        .args(arguments)
        .args(["--quiet", "-o"])
        .arg(&csv_file)
        .arg("-o")
        .arg(&parquet_file)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let mut table = csv::Reader::from_path(&csv_file).unwrap();
    let names = table.headers().unwrap().clone();
    assert_eq!(names.len(), columns);
    let records: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    let reader = SerializedFileReader::new(File::open(&parquet_file).unwrap()).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!((rows.len(), records.len()), (hits, hits));
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
        assert_eq!(cells, expected);
    }
}
