//! Runs the queries of the golden tables (results of CQL 6.2) on `games/sample.pgn`, which is part of the repository.
//!
//! `tests/data/golden-sample.tsv` contains the expected results, computed by the reference engine. `UPDATE_GOLDEN=1` rewrites the
//! file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use orbit_reel::Block;

use crate::{
    common::{blocks_of, harness::GPU},
    golden::{FIND_ROWS, Golden, answer, rows},
    runners::Runner,
};

const TABLE: &str = "golden-sample.tsv";

/// The tables whose queries are run.
const QUERIES: [&str; 3] = ["golden-otb.tsv", "golden-game-otb.tsv", "golden-mates-otb.tsv"];

fn sample() -> Vec<Block> {
    blocks_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("games/sample.pgn"))
}

/// Returns the results of a runner (engine with options), one row for each query.
fn answers(runner: &Runner) -> Vec<Golden> {
    let blocks = sample();
    let of_table = |table: &str| -> Vec<Golden> {
        let is_of_sample = |row: &Golden| table != "golden-game-otb.tsv" || FIND_ROWS.contains(&&*row.id);
        rows(table).into_iter().filter(is_of_sample).collect()
    };
    let queries: Vec<Golden> = QUERIES.into_iter().flat_map(of_table).collect();
    queries.iter().map(|row| answer(row, &*runner.engine(&row.parsed()).unwrap(), &blocks)).collect()
}

fn check(runner: &Runner) {
    let (stored, found) = (rows(TABLE), answers(runner));
    assert_eq!(stored.len(), found.len());
    let wrong: Vec<String> = stored
        .iter()
        .zip(&found)
        .filter(|(stored, found)| stored != found)
        .map(|(stored, found)| format!("is due\n  {stored:?}\nfound\n  {found:?}"))
        .collect();
    assert!(wrong.is_empty(), "{} answers of {} differ:\n{}", wrong.len(), runner.name, wrong.join("\n"));
}

#[test(part = 3)]
fn reference_answers_as_stored() {
    if std::env::var_os("UPDATE_GOLDEN").is_none() {
        return check(&Runner::reference());
    }
    let mut table = String::from("id\tquery\tgames\tgames_hit\tpositions_hit\tsha256_16\n");
    for row in answers(&Runner::reference()) {
        let Golden { id, query, games, games_hit, positions_hit, digest } = row;
        writeln!(table, "{id}\t{query}\t{games}\t{games_hit}\t{positions_hit}\t{digest}").unwrap();
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(TABLE);
    std::fs::write(path, table).unwrap();
}

#[test]
fn cpu_answers_as_stored() {
    check(&Runner::cpu(0));
}

#[test(part = 1)]
fn gpu_answers_as_stored() {
    check(&GPU.met(Runner::gpu(0)));
}
