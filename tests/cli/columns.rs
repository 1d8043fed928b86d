//! Tests the columns of tables: their documentation in `docs/output.md`, and the equality of values in JSON Lines and CSV.

use std::fs;

use orbit_search::report::{Column, ColumnType, SCHEMA};
use serde_json::Value;

use crate::program::{QUERY, SAMPLE, run, stdout};

#[track_caller]
fn scan(args: &[&str]) -> String {
    stdout(&[&["scan", "-q"], args].concat())
}

fn objects(args: &[&str]) -> Vec<serde_json::Map<String, Value>> {
    let lines = scan(&[args, &["--format", "jsonl"]].concat());
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_document_has_each_column_and_its_type() {
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/output.md");
    let document = fs::read_to_string(document).unwrap();
    let table = document.split_once("<!-- columns").unwrap().1.split_once("<!-- end of columns").unwrap().0;
    let rows: Vec<(&str, &str)> = table
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let mut cells = line.split('|').map(str::trim).skip(1);
            (cells.next().unwrap().trim_matches('`'), cells.next().unwrap())
        })
        .collect();
    let columns = Column::ALL.map(|column| {
        let ty = match column.ty() {
            ColumnType::Number => "number",
            ColumnType::Decimal => "decimal",
            ColumnType::Text => "text",
            ColumnType::List => "list",
            ColumnType::Object => "object",
        };
        (column.name(), ty)
    });
    assert_eq!(rows, columns);
    assert!(document.contains(&format!("the version of this list, {SCHEMA}.")));
}

/// Converts a JSON value to a CSV cell by the rules in `docs/output.md`.
fn as_cell(name: &str, value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(entries) => {
            let entry = |entry: &Value| entry.as_str().map_or_else(|| entry.to_string(), str::to_owned);
            entries.iter().map(entry).collect::<Vec<_>>().join(" ")
        }
        Value::Object(pieces) if name == "matched" => {
            let piece = |(name, squares): (&String, &Value)| {
                let squares = squares.as_array().unwrap().iter().map(|square| square.as_str().unwrap());
                format!("{name}={}", squares.collect::<Vec<_>>().join(","))
            };
            let mut pieces: Vec<String> = pieces.iter().map(piece).collect();
            pieces.sort();
            pieces.join(" ")
        }
        other => panic!("{name}: {other}"),
    }
}

/// Compares JSON Lines with CSV for queries that cover every type of value, side lines and spans.
#[test]
fn json_and_csv_say_the_same() {
    let queries: [&[&str]; 7] = [
        &[QUERY],
        &["check", "--limit", "40"],
        &["power A - power a", "--limit", "5"],
        &["flipcolor line --> check --> check", "--limit", "20"],
        &["check str(\"at \" ply)", "--limit", "5"],
        &["flipcolor {Bh7 k[g8,h8] P[a2,b2]}", "--variations"],
        &["N attackedby p", "--limit", "10", "--variations"],
    ];
    for query in queries {
        let args = [query, &[SAMPLE]].concat();
        let rows = objects(&args);
        assert!(rows.len() >= 5, "{query:?}: {}", rows.len());
        let csv = scan(&[&args[..], &["--format", "csv"]].concat());
        let mut table = csv::Reader::from_reader(csv.as_bytes());
        let names = table.headers().unwrap().clone();
        let records: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), records.len(), "{query:?}");
        let keys: Vec<&String> = rows[0].keys().collect();
        assert_eq!(keys.contains(&&String::from("span")), names.iter().any(|name| name == "span_kind"));
        for (row, record) in rows.iter().zip(&records) {
            for (name, cell) in names.iter().zip(record) {
                let value = match name.strip_prefix("span_") {
                    Some(part) => row["span"].get(part).unwrap_or(&Value::Null),
                    None => &row[name],
                };
                let mut cell = cell.to_owned();
                if name == "matched" {
                    let mut pieces: Vec<&str> = cell.split(' ').collect();
                    pieces.sort_unstable();
                    cell = pieces.join(" ");
                }
                assert_eq!(cell, as_cell(name, value), "{query:?} {name}: {row:?}");
            }
            let of_csv = names.iter().filter(|name| !name.starts_with("span_")).count();
            let of_json = row.keys().filter(|name| *name != "span" && *name != "tags").count();
            assert_eq!(of_csv, of_json, "{query:?}");
        }
    }
}

/// The column `matched` must contain, for each piece of the query, the squares of this piece in the transformed pattern.
#[test]
fn pieces_are_matched_where_the_copy_has_them() {
    let rows = objects(&[QUERY, SAMPLE]);
    assert!(rows.len() > 300);
    for row in &rows {
        let pattern = row["pattern"].as_str().unwrap().trim_matches(['{', '}']);
        let squares: Vec<&str> = pattern.split(' ').map(|piece| &piece[1..]).collect();
        let matched = &row["matched"];
        assert_eq!(matched["Nd4"], Value::from(vec![squares[0]]), "{row:?}");
        assert_eq!(matched["kf3"], Value::from(vec![squares[1]]), "{row:?}");
        let (value, count) = (&row["value"], &row["squares_count"]);
        assert_eq!((value, count), (&Value::Null, &Value::from(row["squares"].as_array().unwrap().len())));
    }
}

#[test]
fn dates_are_iso_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dates.pgn");
    let cases = [
        ("2014.11.08", Some("2014-11-08"), Some(2014)),
        ("2014/3/7", Some("2014-03-07"), Some(2014)),
        ("2014.11.??", None, Some(2014)),
        ("2014", None, Some(2014)),
        ("????.??.??", None, None),
        ("2015.02.29", None, Some(2015)),
        ("2016.02.29", Some("2016-02-29"), Some(2016)),
        ("2014.04.31", None, Some(2014)),
    ];
    let games: String = cases
        .iter()
        .map(|(date, ..)| format!("[Date \"{date}\"]\n[Round \"1.10\"]\n\n1. e4 *\n\n"))
        .collect();
    fs::write(&path, games).unwrap();
    let rows = objects(&["initial", path.to_str().unwrap()]);
    for (row, (date, iso, year)) in rows.iter().zip(cases) {
        assert_eq!((&row["date"], &row["year"]), (&Value::from(iso), &Value::from(year)), "{date}");
        assert_eq!(row["round"], "1.10");
    }
    assert_eq!(rows.len(), cases.len());
}

#[test]
fn columns_can_be_chosen() {
    let csv = scan(&[
        QUERY,
        SAMPLE,
        "--limit",
        "1",
        "--format",
        "csv",
        "--columns",
        "san,game,next,line,span_text",
    ]);
    assert_eq!(csv, "san,game,next,line,span_text\nNxf6+,4,Rxf6,,\n");
    let json =
        scan(&[QUERY, SAMPLE, "--limit", "1", "--format", "jsonl", "--columns", "squares,move,squares"]);
    assert_eq!(json, "{\"squares\":[\"g8\"],\"move\":\"23. Nxf6+\"}\n");
    let tags = scan(&["initial", SAMPLE, "--limit", "1", "--format", "csv", "--columns", "tags"]);
    let mut table = csv::Reader::from_reader(tags.as_bytes());
    let record = table.records().next().unwrap().unwrap();
    let tags: Value = serde_json::from_str(&record[0]).unwrap();
    assert_eq!(tags["Black"], "Navara, David");
    for (columns, part) in [("movv", "did you mean `move`"), ("xyzzyx", "choose `schema`, `game`")] {
        let (code, _, stderr) = run(&["scan", QUERY, SAMPLE, "--format", "csv", "--columns", columns]);
        assert_eq!(code, Some(2));
        assert!(stderr.contains(part), "{stderr}");
    }
    let (_, _, stderr) = run(&["scan", QUERY, SAMPLE, "--columns", "move"]);
    assert!(stderr.contains("--columns is for tables"), "{stderr}");
}

/// The move in a row must lead from the position in the previous row to the position in this row.
#[test]
fn moves_join_positions() {
    let rows = objects(&["true", SAMPLE, "--limit", "30"]);
    for pair in rows.windows(2).filter(|pair| pair[0]["game"] == pair[1]["game"]) {
        assert_eq!(pair[0]["next"], pair[1]["san"]);
        let (mv, san) = (pair[1]["move"].as_str().unwrap(), pair[1]["san"].as_str().unwrap());
        let fen: Vec<&str> = pair[0]["fen"].as_str().unwrap().split(' ').collect();
        let dots = if fen[1] == "w" { "." } else { "..." };
        assert_eq!(mv, format!("{}{dots} {san}", fen[5]));
    }
    let shown = stdout(&["show", SAMPLE, "4:45"]);
    assert!(shown.contains("23. >Nxf6+< Rxf6"), "{shown}");
    assert!(shown.contains("\ngame 4, ply 45 of 52, after 23. Nxf6+, next Rxf6\n"), "{shown}");
    assert!(!stdout(&["show", SAMPLE, "4"]).contains('>'));
}
