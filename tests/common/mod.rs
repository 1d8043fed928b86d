//! Helpers for all tests: the corpus of real files, positions and blocks (groups of games).

#![allow(dead_code, reason = "each integration binary uses its own part")]

pub mod archives;
pub mod folders;
pub mod harness;
pub mod http;
pub mod length;
pub mod marks;
pub mod openings;
pub mod waiting;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use orbit_core::board::Position;
use orbit_database::{BlockStream, StreamOptions};
use orbit_pgn::{Game, GameStatus, Outcome, Tag};
use orbit_reel::{Block, BlockBuilder};
use orbit_search::executor::{EngineOptions, Executor};
use shakmaty::fen::Fen;

/// Returns the folder with real files that `ORBIT_CORPUS` names. If this environment variable is not set, the test is ignored.
pub fn corpus() -> PathBuf {
    harness::CORPUS.met(corpus_if_any())
}

/// Returns the folder of [`corpus`], or `None` if `ORBIT_CORPUS` is not set, for tests that can also run without the corpus.
pub fn corpus_if_any() -> Option<PathBuf> {
    std::env::var_os("ORBIT_CORPUS").map(PathBuf::from)
}

/// Reads a file below `tests/data`.
pub fn data(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns all blocks (groups of games) of a corpus file, which is read only once.
pub fn corpus_blocks(name: &str) -> Arc<[Block]> {
    static READ: Mutex<BTreeMap<PathBuf, Arc<[Block]>>> = Mutex::new(BTreeMap::new());
    let path = corpus().join(name);
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(read.entry(path).or_insert_with_key(|path| blocks_of(path).into()))
}

/// Returns all blocks of a file.
pub fn blocks_of(path: &Path) -> Vec<Block> {
    blocks_with(path, StreamOptions::default())
}

pub fn blocks_with(path: &Path, options: StreamOptions) -> Vec<Block> {
    blocks(BlockStream::open(&[path.to_owned()], options).unwrap())
}

/// Returns all blocks of a PGN text.
pub fn pgn_blocks(text: &str) -> Vec<Block> {
    pgn_blocks_with(text, StreamOptions::default())
}

pub fn pgn_blocks_with(text: &str, options: StreamOptions) -> Vec<Block> {
    blocks(BlockStream::from_pgn_bytes("test", text.as_bytes().to_vec(), options))
}

fn blocks(database: BlockStream) -> Vec<Block> {
    let mut out = Vec::new();
    database
        .for_each_block(2, Block::clone, |_, block| {
            out.push(block);
            ControlFlow::Continue(())
        })
        .unwrap();
    out
}

/// Returns a single block that contains every `step`-th game of some blocks, starting at game `first`.
pub fn every_nth_game(blocks: &[Block], first: usize, step: usize) -> Block {
    let mut builder = BlockBuilder::new();
    let games = blocks.iter().flat_map(Block::games).skip(first).step_by(step);
    for (number, row) in (1..).zip(games) {
        builder.push(0, &Game { number, offset: 0, status: GameStatus::Whole, ..row.to_game() });
    }
    builder.finish()
}

/// Two selections of games: many games for long tests, and a few for short ones.
pub struct Samples {
    long: Block,
    short: Block,
}

impl Samples {
    /// Selects every `long`-th game and every `short`-th game, starting at game `first`.
    pub fn from_blocks(blocks: &[Block], first: usize, long: usize, short: usize) -> Samples {
        Samples { long: every_nth_game(blocks, first, long), short: every_nth_game(blocks, first, short) }
    }

    /// Returns many or few games for the trial (piece of work) `number`, depending on the length of the run.
    pub fn of_trial(&self, number: usize) -> &Block {
        if length::length().is_long(number) { &self.long } else { &self.short }
    }

    /// Calls `hits` for each query with many or few games, depending on the length of the run. Returns the queries for which `hits`
    /// returns 0.
    pub fn without_hits<'a>(
        &self,
        queries: &[&'a str],
        hits: impl Fn(&str, &Block) -> usize,
    ) -> Vec<&'a str> {
        let numbered = queries.iter().copied().enumerate();
        numbered
            .filter(|&(number, text)| hits(text, self.of_trial(number)) == 0)
            .map(|(_, text)| text)
            .collect()
    }
}

/// Returns the sample games that `stride` selects, starting at game `first`, and small files with all kinds of games. If
/// `variations` is true, they include their side lines.
pub fn some_and_small(variations: bool, first: usize, stride: length::Stride) -> Vec<Block> {
    let mut options = StreamOptions::default();
    options.parse.variations = variations;
    let games = concat!(env!("CARGO_MANIFEST_DIR"), "/games/sample.pgn");
    let text = std::fs::read_to_string(games).unwrap();
    let games = pgn_blocks_with(&text, options.clone());
    let some = every_nth_game(&games, first + stride.first, stride.step);
    let small = ["main.pgn", "vars.pgn", "fens.pgn", "rep.pgn"];
    let small =
        small.iter().flat_map(|name| pgn_blocks_with(&data(&format!("games/{name}")), options.clone()));
    std::iter::once(some).chain(small).collect()
}

/// Returns the position of a FEN, or the standard start position if the FEN is `startpos`.
pub fn position(fen: &str) -> Position {
    match fen {
        "startpos" => Position::STANDARD,
        fen => {
            let fen: Fen = fen.parse().unwrap_or_else(|error| panic!("{fen}: {error}"));
            Position::from_setup(&fen.into_setup())
        }
    }
}

/// Returns an executor that evaluates a query on the processor.
pub fn scan(query: &str) -> Executor {
    let parsed = orbit_query::parse(query).unwrap_or_else(|error| panic!("{query}: {error}"));
    Executor::with_query(parsed, &EngineOptions::default()).unwrap_or_else(|error| panic!("{query}: {error}"))
}

pub fn block_of(positions: &[Position]) -> Block {
    block_of_games(positions.iter().map(|&start| Game { start: Some(start), ..Game::default() }))
}

/// Returns a block with the given games, numbered from 1.
pub fn block_of_games(games: impl IntoIterator<Item = Game>) -> Block {
    let mut builder = BlockBuilder::new();
    for (number, game) in (1..).zip(games) {
        builder.push(0, &Game { number, ..game });
    }
    builder.finish()
}

/// Returns a game with a single position and with tags.
pub fn game_with_tags(start: Position, tags: &[(&str, &str)], outcome: Outcome) -> Game {
    let tags = tags
        .iter()
        .map(|(name, value)| Tag { name: name.as_bytes().to_vec(), value: value.as_bytes().to_vec() })
        .collect();
    Game { start: Some(start), tags, outcome, ..Game::default() }
}
