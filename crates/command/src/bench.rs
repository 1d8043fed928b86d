//! `orbit bench`: compares the engines, or measures a graphics card, on this machine, with each answer checked.

mod card;
mod engines;
mod games;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use super::common::{GpuArgs, count, from_one};
use super::failure::{Exit, Failure};
use super::query_text::DialectArgs;

/// Queries that cover each way in which orbits are planned.
const QUERIES: &str = "\
knight_check\tshift {Nd4 kf3}
knight_check_flip\tshift flip {Nd4 kf3}
knight_check_all\tshift flip flipcolor {Nd4 kf3}
pawns\tshift {P[a2,b2,c2] p[a3]}
ranges_and_not\tshift flip flipcolor {R[a-c1-2] not P[a-c2-3] k[g-h7-8]}
fianchetto\tflip {Kg1 Rf1 P[f2,g2,h2] Nf3 Bg2 pd5}
knight_attacks\tN attacks k
passed_pawns\t#passedpawns >= 3
check\tcheck
eight_designators\tshift flip flipcolor {N[a-c1-3] k[d-f3-5] P[a-g2-3] p[a-g6-7] R[a-b1-2] not q[c-d4-5] B[c-f1-2] not n[b-e7-8]}
xray\tR->A->k
pin\tpin from r through N to K
table\tshift {Na1 attacks qb3}
mate\tmate
";

/// The number of threads that stream to a card.
const STREAMS: usize = 3;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The games are in memory before a measurement begins, and each figure is the best of several runs.
Every answer is compared with that of the engine `cpu` on one thread. A row is a query. Its columns
give million positions a second:
  cpu 1     the engine `cpu` on one thread
  cpu       the engine `cpu` on all threads
  kernel    the graphics card, by its own clock, without any transfer
  resident  the card with the games already on it, until the answers are back in memory
  streamed  the same, with the games uploaded during the search
and then:
  compile   the time to compile the query, and the size of its shader
  floor     the rate of `kernel`, divided by the rate at which one thread reads 32 bytes of memory
            for each position

--card measures the graphics card alone, in one run that stops at --budget: the speed of its
memory, arithmetic and uploads; variants of the kernels; twelve queries, with the games on the card
and uploaded; many queries at once; `find`; the processor for comparison; and from how many
positions on the card is faster than the processor. Each row is written to card.json and card.txt
as soon as it is measured; at the end, the table is printed.

Examples:
  orbit bench                                  the built-in games, 16 M positions
  orbit bench all.reel --positions 512M --gpu 0 --json > run.json
  orbit bench --card                           the card, 512 M positions, 8 minutes at most
  orbit bench --card --output run --budget 90s")]
pub(super) struct Args {
    /// The games to measure with: reels, PGN files or folders [default: a thousand built-in games].
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Repeat the games until there are N positions [default: 16M; 512M with --card].
    #[arg(long, value_name = "N", value_parser = positions)]
    positions: Option<u64>,
    /// Measure the queries of this file instead of the built-in ones.
    ///
    /// Each line of the file is a query, or a name, a tab and a query.
    #[arg(long, value_name = "FILE")]
    queries: Option<PathBuf>,
    #[command(flatten)]
    dialect: DialectArgs,
    /// Run each measurement N times, and print the best run.
    #[arg(long, value_name = "N", default_value_t = 3)]
    runs: usize,
    #[command(flatten)]
    gpu: GpuArgs,
    /// Use N threads of the processor [default: one for each core].
    #[arg(long, value_name = "N", value_parser = from_one::<NonZeroUsize>)]
    threads: Option<NonZeroUsize>,
    /// Measure the graphics card alone, and write a JSON document and a table.
    #[arg(long)]
    card: bool,
    /// Write the two files of --card to this folder [default: a new folder, named by the date and the card].
    #[arg(long, value_name = "FOLDER", requires = "card")]
    output: Option<PathBuf>,
    /// Stop --card after this time, such as 90s or 8m.
    #[arg(long, value_name = "TIME", default_value = "8m", value_parser = duration, requires = "card")]
    budget: Duration,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Falsify an answer of the query of this name, to test that the fault is found.
    #[arg(long, value_name = "NAME", requires = "card", hide = true)]
    spoil: Option<String>,
}

/// The most positions: more than fit on any card, and few enough for lists of their blocks.
const POSITIONS_MAX: u64 = 64_000_000_000;

/// Reads a number of positions.
fn positions(text: &str) -> Result<u64, String> {
    let positions = count(text)?;
    (positions <= POSITIONS_MAX).then_some(positions).ok_or_else(|| "expected at most 64G positions".into())
}

/// Reads a time: `90`, `90s` or `8m`.
fn duration(text: &str) -> Result<Duration, String> {
    let (digits, unit) = match (text.strip_suffix('s'), text.strip_suffix('m')) {
        (Some(digits), _) => (digits, 1),
        (_, Some(digits)) => (digits, 60),
        _ => (text, 1),
    };
    let seconds = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(unit));
    let seconds = seconds.filter(|seconds| (1..=86_400).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(|| "expected a time of 1s to 1440m, such as 90s or 8m".into())
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    if args.card { card::run(args) } else { engines::run(args) }
}
