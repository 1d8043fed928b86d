//! What CQL 6.2 answers to queries of the game language on real games, by the reference engine.
//!
//! Those that plans say ([`crate::planned`]) are asked of every engine in [`crate::golden`] and [`crate::game_trees`].

use crate::{
    common::{blocks_with, by_length, corpus, corpus_blocks},
    golden::{self, Golden},
    runners::Runner,
};
use orbit_chess::internals::{database::DatabaseOptions, reel::Block};

/// Rows of `golden-game-otb.tsv` for which the reference engine takes more than a minute; plans say them.
const SLOW: &[&str] = &["v02", "v03"];

/// Asks the reference engine for rows, on all games.
fn check(rows: Vec<Golden>, blocks: &[Block]) {
    golden::for_each_row(rows, |golden| {
        let ours = golden::answer(golden, &*Runner::reference().engine(&golden.parsed()).unwrap(), blocks);
        if ours == *golden { vec![] } else { vec![format!("is due\n  {golden:?}\nfound\n  {ours:?}")] }
    });
}

/// Every `long`th row, or of a test that is to be short every `step`th one.
fn rows(table: &str, long: usize, step: usize) -> Vec<Golden> {
    golden::all_rows(table).into_iter().step_by(by_length(long, step)).collect()
}

#[test]
fn reference_answers_as_cql_on_studies_with_side_lines() {
    let mut options = DatabaseOptions::default();
    options.parse.variations = true;
    let blocks = blocks_with(&corpus().join("dev-studies-annotated/cql/sample.pgn"), options);
    check(golden::all_rows("golden-game-variations.tsv"), &blocks);
}

#[test]
fn reference_answers_as_cql_on_problems() {
    check(rows("golden-game-fen.tsv", 1, 4), &corpus_blocks("fen.pgn"));
}

#[test]
fn reference_answers_as_cql_on_tournament_games() {
    let mut rows = rows("golden-game-otb.tsv", 3, 16);
    rows.retain(|row| !SLOW.contains(&&*row.id));
    check(rows, &corpus_blocks("otb.pgn"));
}
