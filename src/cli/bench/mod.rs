//! `orbit bench`: the engines against each other, or a graphics card by itself, on this machine, each answer checked.

mod engines;
mod games;

use std::path::PathBuf;

use super::common::{GpuArgs, count};
use super::query_text::DialectArgs;
use super::{Exit, Failure};

/// Threads that stream to a card.
const STREAMS: usize = 3;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Everything is in memory before a measurement begins, and each figure is the best of several
runs. The columns, in million positions a second:
  cpu 1     the cpu engine on one thread
  cpu       the same on all threads
  kernel    the card alone, by its own clock
  resident  the card with the answers read back, games on the card
  streamed  the same with the games uploaded meanwhile
and: the time to compile the query, the size of its shader, and the kernel's rate as a multiple
of the memory floor of one thread. Every answer of every engine is compared with that of `cpu`
on one thread.

Examples:
  orbit bench                                  the games that are built in, 16 M positions
  orbit bench all.reel --positions 512M --gpu 0 --json > run.json")]
pub(super) struct Args {
    /// Reels or PGN [default: a thousand games that are built in].
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Repeat the games until there are so many positions [default: 16M].
    #[arg(long, value_name = "N", value_parser = count)]
    positions: Option<u64>,
    /// Queries, one a line, after a name and a tab if they should have one.
    #[arg(long, value_name = "FILE")]
    queries: Option<PathBuf>,
    #[command(flatten)]
    dialect: DialectArgs,
    /// Take the best of so many runs.
    #[arg(long, value_name = "N", default_value_t = 3)]
    runs: usize,
    #[command(flatten)]
    gpu: GpuArgs,
    /// Threads for the CPU [default: one a core].
    #[arg(long, value_name = "N")]
    threads: Option<std::num::NonZeroUsize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    engines::run(args)
}
