//! Compares the reference engine's results with those of CQL 6.2, for queries about games, on real games.
//!
//! [`crate::golden`] and [`crate::game_trees`] run the queries that have a plan (code for the fast engines) on every engine (see
//! [`crate::planned`]).

use std::sync::{Arc, OnceLock};

use crate::{
    common::{blocks_with, corpus, corpus_blocks, harness, length::stride},
    golden::{self, Golden},
    runners::Runner,
};
use orbit_database::StreamOptions;
use orbit_reel::Block;

/// Rows of `golden-game-otb.tsv` for which the reference engine needs more than a minute. Their queries have plans, so other
/// tests cover them.
const SLOW: &[&str] = &["v02", "v03"];

/// Returns the table rows that this run uses: every `all`-th row or, in a sample, every `sample`-th row.
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
