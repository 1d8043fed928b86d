//! The program `orbit` as its users run it.
//!
//! * `scan`, `outputs`, `stats`, `themes`, `transform`: one command and what it writes.
//! * `cql`: CQL's command line.
//! * `commands`: the other commands.
//! * `gpu_commands`, `card`: what users of graphics cards see, and `orbit bench --card`.
//! * `indexing`: reels that grow.
//! * `parquet`: the table of the optional feature.
//! * `promises`: names, endings and words promise nothing that is not done.
//! * `readme`: every command of the README.
//! * `terminal`: nothing that a game holds acts on a terminal.
//! * `trees`: games with side lines.
//! * `without_gpu`: what a build without the GPU engine says.

#[macro_use]
extern crate attribute;

#[cfg(feature = "gpu")]
mod adapter;
#[cfg(feature = "gpu")]
mod card;
mod commands;
#[path = "../common/mod.rs"]
mod common;
mod cql;
mod game_queries;
#[cfg(feature = "gpu")]
mod gpu_commands;
mod indexing;
mod outputs;
#[cfg(feature = "parquet")]
mod parquet;
mod promises;
mod readme;
mod scan;
mod spans;
mod stats;
mod terminal;
mod themes;
mod transform;
mod trees;
#[cfg(not(feature = "gpu"))]
mod without_gpu;

use std::process::ExitCode;

fn main() -> ExitCode {
    common::harness::main()
}
