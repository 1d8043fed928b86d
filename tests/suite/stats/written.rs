//! Tests counts as text, CSV and JSON.

use std::io;

use serde_json::{Value, json};

use orbit_search::stats::TableLimits;

use super::{KNIGHT, counts};
use crate::common::scan;

fn written(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn text(query: &str, groupings: &str, rows_max: usize) -> String {
    text_within(query, groupings, rows_max.into())
}

fn text_within(query: &str, groupings: &str, limits: TableLimits) -> String {
    let copies = scan(query).copies();
    written(|out| counts(query, groupings).write_text(limits, &copies, true, out))
}

#[test]
fn groups_of_few_games_are_left_out() {
    let names = |rows_max, games_min| -> Vec<String> {
        let text = text_within(KNIGHT, "event", TableLimits { rows_max, games_min });
        text.lines().skip(1).map(|line| line.split("  ").next().unwrap().to_owned()).collect()
    };
    assert_eq!(names(usize::MAX, 1), ["Open", "M\u{fc}, \\x07", "... and 1 more", "total"]);
    assert_eq!(names(usize::MAX, 2), ["Open", "... and 2 more", "total"]);
    assert_eq!(names(1, 1), ["Open", "... and 2 more", "total"]);
    assert_eq!(names(5, 3), ["... and 3 more", "total"]);
    // Groups with a natural order, such as years, are all listed.
    let years = text_within(KNIGHT, "year", TableLimits { rows_max: 1, games_min: 9 });
    assert_eq!(years.lines().count(), 5);
}

#[test]
fn lists_are_aligned_and_cut() {
    assert_eq!(
        text(KNIGHT, "year,event", 2),
        " year  games hit  games                 share  positions hit  positions    share  White's score  of all
 1997          2      2  100.0 % (34.2-100.0)              6         11  54.55 %         75.0 %  75.0 %
 1999          1      1  100.0 % (20.7-100.0)              2          3  66.67 %          0.0 %   0.0 %
    ?          0      1      0.0 % (0.0-79.3)              0          2   0.00 %
total          3      4    75.0 % (30.1-95.4)              8         16  50.00 %         50.0 %  50.0 %

event     games hit  games                 share  positions hit  positions    share  White's score  of all
Open              2      2  100.0 % (34.2-100.0)              5          9  55.56 %         50.0 %  50.0 %
M\u{fc}, \\x07          1      1  100.0 % (20.7-100.0)              3          5  60.00 %         50.0 %  50.0 %
... and 1 more
total             3      4    75.0 % (30.1-95.4)              8         16  50.00 %         50.0 %  50.0 %
"
    );
}

#[test]
fn cross_tables_show_the_games_that_hit() {
    assert_eq!(
        text(KNIGHT, "result*year,white*player", 2),
        "\
games hit by result (down) and year (across)
result   1997  1999  ?  total
1-0         1               1
1/2-1/2     1               1
0-1               1         1
*                    0      0
total       2     1  0      3

games hit by white (down) and player (across)
white  A  B  total
A      1  1      1
B      1  1      1
... and 1 more
total  2  2      3
... and 1 more across
"
    );
}

#[test]
fn copies_are_named() {
    let query = "flipcolor {Nf3}";
    assert_eq!(
        text(query, "copy", 20),
        " copy  games hit  games               share  positions hit  positions    share  White's score  of all  pattern
    1          3      4  75.0 % (30.1-95.4)              8         16  50.00 %         50.0 %  50.0 %  Nf3
    2          1      4   25.0 % (4.6-69.9)              1         16   6.25 %          0.0 %  50.0 %  nf6
total          3      4  75.0 % (30.1-95.4)              8         16  50.00 %         50.0 %  50.0 %
"
    );
    let copies = scan(query).copies();
    let csv = written(|out| counts(query, "result*copy").write_csv(&copies, out));
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let last: Vec<[&str; 4]> = rows.iter().map(|row| [&row[0], &row[1], &row[2], &row[16]]).collect();
    assert_eq!(last[0], ["total", "", "", ""]);
    assert_eq!(last[4], ["result*copy", "0-1", "2", "nf6"]);
}

const COLUMNS: [&str; 21] = [
    "grouping",
    "key",
    "key2",
    "games",
    "games_hit",
    "positions",
    "positions_hit",
    "share_games",
    "share_games_low",
    "share_games_high",
    "share_positions",
    "share_positions_low",
    "share_positions_high",
    "score_of",
    "score_hit",
    "score_all",
    "pattern",
    "wins",
    "draws",
    "losses",
    "hits_share",
];

#[test]
fn csv_and_json_have_the_same_rows() {
    let counts = counts(KNIGHT, "year,event*result,ply:4");
    let csv = written(|out| counts.write_csv(&[], out));
    let json: Value = serde_json::from_str(&written(|out| counts.write_json(&[], out))).unwrap();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(reader.headers().unwrap(), COLUMNS.to_vec());
    let mut rows = reader.records().map(Result::unwrap);
    let mut compare = |grouping: &str, object: &Value| {
        let row = rows.next().unwrap();
        assert_eq!(&row[0], grouping);
        for (column, cell) in COLUMNS.iter().zip(&row).skip(1) {
            match &object[*column] {
                Value::Null => assert_eq!(cell, ""),
                Value::String(text) => assert_eq!(cell, text),
                number => assert_eq!(cell.parse::<f64>().ok(), number.as_f64(), "{column} of {row:?}"),
            }
        }
    };
    compare("total", &json["total"]);
    for grouping in ["year", "event*result", "ply:4"] {
        let objects = json["groupings"][grouping].as_array().unwrap();
        assert!(objects.len() >= 2, "{json}");
        objects.iter().for_each(|object| compare(grouping, object));
    }
    assert!(rows.next().is_none());
    assert_eq!(json["groupings"]["event*result"][2]["key"], "M\u{fc}, \u{7}");
    assert_eq!(
        json["groupings"]["year"][0],
        json!({
            "key": 1997, "key2": null, "games": 2, "games_hit": 2, "positions": 11, "positions_hit": 6,
            "share_games": 1.0, "share_games_low": 0.34238, "share_games_high": 1.0,
            "share_positions": 0.545455, "share_positions_low": 0.280092, "share_positions_high": 0.787287,
            "score_of": "white", "score_hit": 0.75, "score_all": 0.75, "pattern": null,
            "wins": 1, "draws": 1, "losses": 0, "hits_share": 0.75
        })
    );
    let unknown = &json["groupings"]["year"][2];
    assert_eq!((&unknown["key"], &unknown["score_all"]), (&Value::Null, &Value::Null));
}

/// `docs/statistics.md` names every column, and no others.
#[test]
fn columns_are_documented() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/statistics.md");
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    let named: Vec<&str> = rows.flat_map(|(names, _)| names.split("`, `")).collect();
    let columns: Vec<&str> = named.iter().copied().filter(|name| COLUMNS.contains(name)).collect();
    assert_eq!(columns, COLUMNS);
    let of_sides = ["side_wins", "side_draws", "side_losses", "side_score"];
    assert_eq!(named[named.iter().position(|name| *name == "side_wins").unwrap()..][..4], of_sides);
}
