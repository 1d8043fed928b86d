//! Implements `orbit bench`, which compares the engines on this machine and checks each answer. `benches/card` measures a
//! graphics card alone.

mod engines;
pub(super) mod games;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::common::{GpuArgs, count, from_one};
use super::failure::{Exit, Failure};
use super::query_text::DialectArgs;

/// The built-in queries. Together they cover every way in which the planner evaluates an orbit, the set of transformed copies of a
/// query.
pub const QUERIES: &str = "\
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

/// The number of threads that send games to a graphics card.
pub const STREAMS: usize = 3;

/// The games, the queries and the machine of a measurement.
#[derive(Debug, clap::Args)]
pub struct MeasuredArgs {
    /// The games to measure with: reels, PGN files or folders [default: a thousand built-in games].
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Measure the queries of this file instead of the built-in ones.
    ///
    /// Each line of the file is a query, or a name, a tab and a query.
    #[arg(long, value_name = "FILE")]
    pub queries: Option<PathBuf>,
    /// The dialect of the queries.
    #[command(flatten)]
    pub dialect: DialectArgs,
    /// Run each measurement N times, and print the best run.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub runs: usize,
    /// The graphics card.
    #[command(flatten)]
    pub gpu: GpuArgs,
    /// Use N threads of the processor [default: one for each core].
    #[arg(long, value_name = "N", value_parser = from_one::<NonZeroUsize>)]
    pub threads: Option<NonZeroUsize>,
}

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

A program of its own measures a graphics card alone: `cargo bench --features full --bench card` in
the source of orbit.

Examples:
  orbit bench                                  the built-in games, 16 M positions
  orbit bench all.reel --positions 512M --gpu 0 --json > run.json")]
pub(super) struct Args {
    /// Repeat the games until there are N positions [default: 16M].
    #[arg(long, value_name = "N", value_parser = positions_argument)]
    positions: Option<u64>,
    #[command(flatten)]
    measured: MeasuredArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// No longer supported: another program measures a graphics card alone. The option takes all words that follow.
    #[arg(long, hide = true, num_args = 0.., allow_hyphen_values = true)]
    card: Option<Vec<OsString>>,
}

/// The maximum number of positions. This is more than any graphics card can hold, but lists of their blocks (groups of games) still
/// fit in memory.
const POSITIONS_MAX: u64 = 64_000_000_000;

/// Reads a number of positions.
pub fn positions_argument(text: &str) -> Result<u64, String> {
    let positions = count(text)?;
    (positions <= POSITIONS_MAX).then_some(positions).ok_or_else(|| "expected at most 64G positions".into())
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    if args.card.is_some() {
        return Err(Failure::Other(
            "orbit bench has no --card: a graphics card is measured by a program of its own, `cargo bench --features full --bench \
             card` in the source of orbit; benches/README.md says how to copy it to a machine that has a card"
                .into(),
        ));
    }
    engines::run(args)
}
