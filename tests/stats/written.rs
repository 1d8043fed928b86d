//! Counts as text, CSV and JSON.

use serde_json::json;

use super::{KNIGHT, counts};

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn text(query: &str, groupings: &str, rows_max: usize) -> String {
    let copies = super::scanner(query).copies();
    written(|out| counts(query, groupings).write_text(rows_max, &copies, out))
}

#[test]
fn lists_are_aligned() {
    println!("{}", text(KNIGHT, "year,event,result*year,white*player", 2));
    assert_eq!(text(KNIGHT, "year", 20), "");
}

#[test]
fn csv_has_one_header() {
    let csv = written(|out| counts(KNIGHT, "year,event*result").write_csv(&[], out));
    println!("{csv}");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(reader.headers().unwrap().len(), 16);
}

#[test]
fn json_is_one_object() {
    let text = written(|out| counts(KNIGHT, "year").write_json(&[], out));
    println!("{text}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), json!({}));
}
