//! Compares the answers of the reference engine with those of CQL 6.2, for queries about games, on real games.
//!
//! [`crate::golden`] and [`crate::game_trees`] run those queries that plans can express on every engine (see
//! [`crate::planned`]).

use std::sync::{Arc, OnceLock};

use crate::{
    common::{blocks_with, corpus, corpus_blocks, harness, length::stride},
    golden::{self, Golden},
    runners::Runner,
};
use orbit_database::StreamOptions;
use orbit_reel::Block;

/// Rows of `golden-game-otb.tsv` for which the reference engine takes more than a minute. Plans can express them, so
/// other tests cover them.
const SLOW: &[&str] = &["v02", "v03"];

/// Returns the rows of a table that this run uses: every `all`-th row, or every `sample`-th row for a sample.
fn table(name: &str, all: usize, sample: usize, blocks: fn() -> Arc<[Block]>) -> Vec<harness::Row> {
    let rows = stride(all, sample).of(golden::all_rows(name).into_iter());
    let rows = rows.filter(|row| name != "golden-game-otb.tsv" || !SLOW.contains(&&*row.id));
    let row = |row: Golden| {
        harness::Row::new(row.id.clone(), move || golden::check(&row, &Runner::reference(), &blocks()))
    };
    rows.map(row).collect()
}

#[table]
fn reference_answers_as_cql_on_studies_with_side_lines() -> Vec<harness::Row> {
    table("golden-game-variations.tsv", 1, 1, || {
        static BLOCKS: OnceLock<Arc<[Block]>> = OnceLock::new();
        let read = || {
            let mut options = StreamOptions::default();
            options.parse.variations = true;
            blocks_with(&corpus().join("dev-studies-annotated/cql/sample.pgn"), options).into()
        };
        Arc::clone(BLOCKS.get_or_init(read))
    })
}

#[table]
fn reference_answers_as_cql_on_problems() -> Vec<harness::Row> {
    table("golden-game-fen.tsv", 1, 4, || corpus_blocks("fen.pgn"))
}

#[table]
fn reference_answers_as_cql_on_tournament_games() -> Vec<harness::Row> {
    table("golden-game-otb.tsv", 3, 16, || corpus_blocks("otb.pgn"))
}
