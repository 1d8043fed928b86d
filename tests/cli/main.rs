//! Tests the program `orbit` end to end, by running its commands.
//!
//! * `scan`, `outputs`, `stats`, `themes`, `transform`: single commands and their output.
//! * `cql`: CQL's command line.
//! * `columns`: the table columns, and `docs/output.md`.
//! * `command_lines`: command lines whose output must not change.
//! * `commands`: the other commands.
//! * `gpu_commands`: commands and options for graphics cards.
//! * `card`: the benchmark for graphics cards.
//! * `indexing`: reels (packed games) and their sources.
//! * `jobs`: searches in parts, and folders of reels.
//! * `manners`: colours, standard output, counts as tables, messages as JSON.
//! * `memory`: messages when memory allocation fails.
//! * `parquet`: tables as Parquet, which is an optional feature.
//! * `player`, `players`: profiles of players, and searches of their games.
//! * `program`: the program itself.
//! * `promises`: arguments that promise more than the program does, which must be rejected.
//! * `readme`: the commands in the user documentation.
//! * `reports`: the title of a report, its sentence and its sample.
//! * `serve`, `repl`: databases that stay in memory.
//! * `terminal`: escape sequences in games do not reach a terminal.
//! * `trees`: games with side lines.
//! * `web`, `without_web`: files on the web, and the errors of a build without web access.
//! * `without_gpu`: the errors of a build without the GPU engine.

#[macro_use]
extern crate attribute;

#[cfg(feature = "gpu")]
mod adapter;
#[cfg(feature = "gpu")]
mod card;
#[cfg(feature = "gpu")]
#[path = "../../benches/card/main.rs"]
mod card_program;
mod columns;
#[cfg(unix)]
mod command_lines;
mod commands;
#[path = "../common/mod.rs"]
mod common;
mod cql;
mod explore;
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
mod player;
mod players;
mod positions;
mod program;
mod promises;
mod readme;
mod repl;
mod reports;
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
    #[cfg(feature = "gpu")]
    if std::env::var_os(card::AS_CARD_PROGRAM).is_some() {
        return card_program::main();
    }
    common::harness::main()
}
