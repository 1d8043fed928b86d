//! The program `orbit` as its users run it.
//!
//! * `scan`, `outputs`, `stats`, `themes`, `transform`: one command and what it writes.
//! * `cql`: CQL's command line.
//! * `columns`: what tables hold, and `docs/output.md`.
//! * `command_lines`: lines whose output stays what it is.
//! * `commands`: the other commands.
//! * `gpu_commands`, `card`: what users of graphics cards see, and `orbit bench --card`.
//! * `indexing`: reels that grow.
//! * `jobs`: searches in parts, and folders of reels.
//! * `manners`: colours, standard output, counts as tables, messages as JSON.
//! * `memory`: what is said where the system refuses memory.
//! * `parquet`: the table of the optional feature.
//! * `program`: the program itself.
//! * `promises`: names, endings and words promise nothing that is not done.
//! * `readme`: every command of the README.
//! * `serve`, `repl`: databases that stay in memory.
//! * `terminal`: nothing that a game holds acts on a terminal.
//! * `trees`: games with side lines.
//! * `web`, `without_web`: files on the web, and what a build without a client for it says.
//! * `without_gpu`: what a build without the GPU engine says.

#[macro_use]
extern crate attribute;

#[cfg(feature = "gpu")]
mod adapter;
#[cfg(feature = "gpu")]
mod card;
mod columns;
#[cfg(unix)]
mod command_lines;
mod commands;
#[path = "../common/mod.rs"]
mod common;
mod cql;
mod game_queries;
#[cfg(feature = "gpu")]
mod gpu_commands;
mod indexing;
mod jobs;
mod manners;
mod measures;
#[cfg(target_os = "linux")]
mod memory;
mod outputs;
#[cfg(feature = "parquet")]
mod parquet;
mod players;
mod positions;
mod program;
mod promises;
mod readme;
mod repl;
mod scan;
mod serve;
mod similar;
mod spans;
mod stats;
mod terminal;
mod themes;
mod transform;
mod trees;
#[cfg(feature = "https")]
mod web;
#[cfg(not(feature = "gpu"))]
mod without_gpu;
#[cfg(not(feature = "https"))]
mod without_web;

use std::process::ExitCode;

fn main() -> ExitCode {
    common::harness::main()
}
