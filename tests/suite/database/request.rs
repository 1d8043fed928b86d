//! Tests that a JSON request gives the same results as the command with the options of the same names: from memory and from
//! files, as hits, as tables and as PGN.

use std::fs;
use std::process::Command;

use orbit_chess::{Database, Request};
#[cfg(feature = "arrow")]
use orbit_chess::{Rows, TableColumns};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{SAMPLE, options};

/// Returns the path of the sample twice, so that half of the games are duplicates.
fn twice() -> [&'static str; 2] {
    [SAMPLE; 2]
}

/// Returns equivalent selections of games and hits, each as fields of a JSON request and as command-line options.
fn choices() -> Vec<(Value, &'static [&'static str])> {
    vec![
        (json!({}), &[]),
        (json!({ "unique": "tags" }), &["--unique"]),
        (json!({ "unique": "moves", "skip": 3 }), &["--unique=moves", "--skip", "3"]),
        (json!({ "skip": 5, "limit": 7 }), &["--skip", "5", "--limit", "7"]),
        (json!({ "skip": 1999 }), &["--skip", "1999"]),
        (
            json!({ "sort": "date", "skip": 2, "limit": 9, "first": true }),
            &["--sort", "date", "--skip", "2", "--limit", "9", "--first"],
        ),
        (
            json!({ "sort": "elo", "reverse": true, "limit": 4 }),
            &["--sort", "elo", "--reverse", "--limit", "4"],
        ),
        (json!({ "sample": 6, "seed": 3 }), &["--sample", "6", "--seed", "3"]),
        (
            json!({ "where": ["elo>=2600", "result=1-0"], "engine": "reference", "verify": 8 }),
            &["--where", "elo>=2600", "--where", "result=1-0", "--engine", "cpu"],
        ),
        (
            json!({ "player": "Carlsen", "as": "black", "opponent_rating": "2500-", "unique": "tags" }),
            &["--player", "Carlsen", "--as", "black", "--opponent-rating", "2500-", "--unique"],
        ),
    ]
}

fn printed(folder: &TempDir, query: &str, arguments: &[&str]) -> (Vec<(u64, u64)>, String) {
    let games = folder.path().join("command.pgn");
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    command.args(["scan", "-q", "--format", "jsonl", query]).args(arguments).arg("-o").arg(&games);
    let out = command.args(twice()).output().unwrap();
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    let place = |row: &str| {
        let row: Value = serde_json::from_str(row).unwrap();
        (row["game"].as_u64().unwrap(), row["ply"].as_u64().unwrap())
    };
    let rows = String::from_utf8(out.stdout).unwrap();
    (rows.lines().map(place).collect(), fs::read_to_string(games).unwrap())
}

fn request(query: &str, choices: &Value) -> Request {
    let mut fields = choices.clone();
    fields["query"] = query.into();
    serde_json::from_value(fields).unwrap()
}

fn check(database: &Database, folder: &TempDir, query: &str, row: &(Value, &[&str])) {
    let (choices, arguments) = row;
    let (places, games) = printed(folder, query, arguments);
    let request = request(query, choices);
    let asked = || database.ask(&request).unwrap();
    let hits = asked().hits().unwrap();
    let found: Vec<_> =
        hits.iter().map(|hit| (u64::from(hit.game().number()), u64::from(hit.ply()))).collect();
    assert_eq!(found, places, "{choices}");
    #[cfg(feature = "arrow")]
    {
        let mut rows = 0;
        let take = |batch: arrow_array::RecordBatch| {
            rows += batch.num_rows();
            std::ops::ControlFlow::Continue(())
        };
        asked().table(Rows::Hits, &TableColumns::All).unwrap().for_each(take).unwrap();
        assert_eq!(rows, places.len(), "{choices}");
    }
    if request.sort.is_none() && request.sample.is_none() {
        let file = folder.path().join("session.pgn");
        asked().pgn(&file).unwrap();
        assert_eq!(fs::read_to_string(file).unwrap(), games, "{choices}");
    }
}

#[test]
fn a_request_answers_as_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let databases =
        [options().open(twice()).unwrap(), options().resident_bytes_max(100_000).open(twice()).unwrap()];
    for row in &choices() {
        databases.iter().for_each(|database| check(database, &folder, "mate", row));
    }
    let all = databases[0].scan(&orbit_chess::Query::parse("true").unwrap()).count().unwrap()[0];
    assert_eq!(databases[0].positions(), all.positions, "duplicates that were left out still count");
}
