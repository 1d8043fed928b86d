//! `orbit bench`: the engines against each other, or a graphics card by itself, on this machine, each answer checked.

mod card;
mod engines;
mod games;

use std::path::PathBuf;
use std::time::Duration;

use super::common::{GpuArgs, count};
use super::query_text::DialectArgs;
use super::{Exit, Failure};

/// Queries that touch each way in which orbits are planned.
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

With --card, a graphics card by itself, in one run that ends when its budget is over: floors,
uploads, variants of kernels, twelve queries with the games on the card and streamed, many
queries at once, `find`, the processor beside it, and where the card begins to pay. card.json
and card.txt grow row by row in a folder, and the table is printed in the end.

Examples:
  orbit bench                                  the games that are built in, 16 M positions
  orbit bench all.reel --positions 512M --gpu 0 --json > run.json
  orbit bench --card                           a card, 512 M positions, 8 minutes at most
  orbit bench --card --output run --budget 90s")]
pub(super) struct Args {
    /// Reels or PGN [default: a thousand games that are built in].
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Repeat the games until there are so many positions [default: 16M, with --card 512M].
    #[arg(long, value_name = "N", value_parser = positions)]
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
    /// Measure a graphics card by itself: a JSON document and a table of all that is to be known of it.
    #[arg(long)]
    card: bool,
    /// Where `--card` puts its two files [default: a new folder, named by the date and the card].
    #[arg(long, value_name = "FOLDER", requires = "card")]
    output: Option<PathBuf>,
    /// How long `--card` may take, such as 90s or 8m.
    #[arg(long, value_name = "TIME", default_value = "8m", value_parser = duration, requires = "card")]
    budget: Duration,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Change an answer of the query of that name, to see that it is noticed.
    #[arg(long, value_name = "NAME", requires = "card", hide = true)]
    spoil: Option<String>,
}

/// Positions at most: more than any card holds, and few enough for lists of their blocks.
const POSITIONS_MAX: u64 = 64_000_000_000;

/// A number of positions.
fn positions(text: &str) -> Result<u64, String> {
    let positions = count(text)?;
    (positions <= POSITIONS_MAX)
        .then_some(positions)
        .ok_or_else(|| "at most 64G positions can be measured".into())
}

/// A time: `90`, `90s` or `8m`.
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
