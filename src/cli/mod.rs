//! The command line: arguments, printing and exit codes; everything else is the library's.
//!
//! Data goes to stdout, messages and progress to stderr.

mod batch;
mod batch_table;
mod bench;
mod beside;
mod board;
mod choosing;
mod common;
mod completions;
mod convert;
mod devices;
mod explain;
mod games;
mod index;
mod info;
mod outputs;
mod pictures;
mod problems;
mod queries;
mod query_text;
mod scan;
mod show;
mod stats;
mod transform;
mod transform_lines;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use orbit_chess::database::DatabaseError;
use orbit_chess::reel::ReelError;

/// Search chess games for patterns, wherever and however they stand on the board.
#[derive(Debug, Parser)]
#[command(name = "orbit", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Find the positions that a CQL query describes.
    Scan(scan::Args),
    /// Count the hits of many named queries in one pass.
    Batch(batch::Args),
    /// Say how a query is understood: its types, its copies, its plan.
    Explain(explain::Args),
    /// Write a list of CQL 5 as a query of CQL 6.
    Convert(convert::Args),
    /// Make a reel from PGN, so that it need not be read again for every search.
    Index(index::Args),
    /// Say what a reel holds, and check it.
    Info(info::Args),
    /// Print one game: tags, moves and a position.
    Show(show::Args),
    /// Turn, mirror or shift positions, swap their colours, test their symmetry.
    Transform(transform::Args),
    /// List the graphics cards that could run queries.
    Devices(devices::Args),
    /// Measure the engines against each other on this machine.
    Bench(bench::Args),
    /// Print a completion script for a shell.
    Completions(completions::Args),
}

/// How a command ended, when nothing went wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Exit {
    /// The command did what it should.
    Done,
    /// Nothing was found, and `--fail-if-none` was given.
    NoHits,
    /// Some source was not read to its end.
    SourceFailed,
    /// Ctrl-C.
    Interrupted,
}

/// Why a command could not do what it should.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Reel(#[from] ReelError),
    /// A block that was read while the run was under way: results so far are incomplete.
    #[error("{0}")]
    Midway(DatabaseError),
    /// A query, with the place of the error drawn.
    #[error("{0}")]
    Query(String),
    #[error("stdout: {0}")]
    Stdout(io::Error),
    #[error("{0}")]
    Other(String),
}

/// Runs a command, prints its error and gives the code to exit with.
pub fn run(cli: Cli) -> ExitCode {
    let outcome = match cli.command {
        Command::Scan(args) => scan::run(args),
        Command::Batch(args) => batch::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Index(args) => index::run(args),
        Command::Info(args) => info::run(args),
        Command::Show(args) => show::run(args),
        Command::Transform(args) => transform::run(args),
        Command::Devices(args) => devices::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Completions(args) => completions::run(args),
    };
    match outcome {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::NoHits) => ExitCode::from(1),
        Ok(Exit::SourceFailed) => ExitCode::from(3),
        Ok(Exit::Interrupted) => ExitCode::from(130),
        // Whoever reads us has had enough.
        Err(Failure::Stdout(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Failure::Query(rendered)) => {
            eprintln!("{rendered}");
            ExitCode::from(2)
        }
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(if matches!(failure, Failure::Midway(_)) { 3 } else { 2 })
        }
    }
}
