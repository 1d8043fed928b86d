//! The correctness suite: all engines must have the same results, with and without each optimisation.
//!
//! * `tables`: rows of queries, positions and values, on every runner.
//! * `cql5`: CQL 5 position lists, and the worked examples of the CQL 5 manual.
//! * `golden`: the results of CQL 6.2 on real games, on every runner.
//! * `game_golden`: the results of CQL 6.2 for queries about games on real games, compared with `reference`.
//! * `scripts`: the games that the scripts of CQL 6.2 find, if these scripts are available.
//! * `golden_sample`: the queries of `golden` and `game_golden` on `games/sample.pgn`.
//! * `differential`: generated queries on positions that are generated from them; `cpu` is compared with `reference`, and `gpu`
//!   with `cpu`.
//! * `find`: conditions on other positions of the game, on every runner.
//! * `flat`: queries with state, which are compiled to flat programs, compared with the reference engine.
//! * `flat_walks`: `line` and `path` in flat programs.
//! * `gpu`: the GPU engine at the boundaries of blocks and limits, and after a device failure.
//! * `variants`: the kernel variants of the GPU engine, which must all have the same results.
//! * `language`: the keyword table, its examples, and the page that is generated from it.
//! * `length`: the parts into which long tests are divided.
//! * `layout`: the layouts on which Rust and the shaders must agree.
//! * `machine_code`: plans that are compiled to machine code at run time.
//! * `mates`: pure mates and stalemates in random positions, on every engine.
//! * `moves`: sets of moves, compared with shakmaty and with a list of moves.
//! * `measures`: clock times and evaluations in comments, compared with the results of python-chess.
//! * `mutations`: game queries and scripts with a few changes. None of them may cause a crash, and the engines must agree on
//!   them.
//! * `planned`: plans for queries about games, compared with CQL 6.2 and the reference engine.
//! * `plans`: which loops and conditions plans rearrange, and why a query has no plan.
//! * `player`: queries from a player's side, compared with queries whose colours were swapped by hand, and with python-chess.
//! * `parts`: searches of a database in pieces.
//! * `errors`: the parser's messages for invalid queries.
//! * `second`: CQL 5 position lists, compared with the tests' own evaluator.
//! * `second_chains`: `line` and `path`, compared with the tests' own evaluator.
//! * `soup`: random text, which must never crash the parser.
//! * `visits`: position tables, compared with counts by shakmaty; table files that are damaged or were made for other games.
//! * `verify`: engines that check and replace one another, and several queries in one search.
//! * `reference`: tests of the reference engine that do not fit into tables.
//! * `gpu_faults`: the GPU engine behind a driver that fails, call by call.
//! * `pgn`: PGN files as they are found in the wild.
//! * `reel`: the positions in reels (packed games), compared with shakmaty, and damaged reel files.
//! * `game_state`: the state of queries (strings, dictionaries, regular expression groups), and errors that end a run.
//! * `game_trees`: games with side lines, compared with a tree replayed by shakmaty.
//! * `game_vectors`: the results of CQL 6.2 for queries about games on a few games.
//! * `games_out`: the games with hits, written as PGN and read back.
//! * `choice`, `stats`, `report`: the selection of hits, statistics by groups, and the output of hits.
//! * `examples`: the library's example programs.
//! * `explore`: the moves played in a position, compared with shakmaty.
//! * `database`: the library's results from memory, from files and on several threads; and access to games by number.
//! * `positions`: transforms of square sets, boards and positions.
//! * `conformance`: the statements in the documents that define the transforms, and `docs/conformance.md`.
//! * `fuzz_smoke`: the fuzz targets on their seeds.
//! * `tree_outputs`: how outputs name and write the nodes of games with side lines.
//! * `trees`: query trees that no query text can produce.
//! * `told`: comments and sort keys of queries, computed together with the hits or afterwards.
//! * `tidy`: project rules.

#[macro_use]
extern crate attribute;

mod chains;
mod choice;
#[path = "../common/mod.rs"]
mod common;
mod conformance;
mod cql5;
mod database;
mod differential;
mod direct;
mod errors;
mod examples;
mod explore;
mod field;
mod find;
mod flat;
mod flat_searches;
mod flat_state;
mod flat_walks;
mod fuzz_smoke;
mod game_golden;
mod game_state;
mod game_trees;
mod game_vectors;
mod games_out;
mod golden;
mod golden_sample;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(feature = "gpu")]
mod gpu_carry;
#[cfg(all(feature = "gpu", target_os = "linux"))]
mod gpu_faults;
#[cfg(feature = "gpu")]
mod gpu_games;
mod guards;
mod interrupts;
mod language;
mod lasting;
#[cfg(feature = "gpu")]
mod layout;
mod length;
mod machine_code;
mod mates;
mod measures;
mod moves;
mod mutations;
mod names;
mod narrowed;
mod parts;
mod pgn;
#[cfg(feature = "gpu")]
mod pipelines;
mod planned;
mod plans;
mod player;
mod positions;
mod reel;
mod reference;
mod report;
#[cfg(feature = "gpu")]
mod resident;
mod runners;
mod screens;
mod scripts;
mod second;
mod second_chains;
mod similar;
mod soup;
mod stats;
mod tables;
mod tidy;
mod told;
mod tree_outputs;
mod trees;
#[cfg(feature = "gpu")]
mod variants;
mod verify;
mod visits;

use std::process::ExitCode;

fn main() -> ExitCode {
    common::harness::main()
}
