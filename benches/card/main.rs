//! The benchmark `card`, which measures a graphics card in a limited time. See `benches/README.md`.
//!
//! The most important rows are measured first. A separate thread ends the run when the time budget is used up, even if the card
//! does not respond. The program is a single file that contains the games, so it can be copied to a machine that has a card. The
//! tests in `tests/cli/card.rs` also compile these files, and the test binary can run as this program.

/// Prints a message line.
macro_rules! message {
    ($($line:tt)*) => { orbit_command::measuring::message(format_args!($($line)*)) };
}

pub mod crossover;
pub mod floors;
pub mod instructions;
pub mod measure;
pub mod place;
pub mod recorder;
mod session;
mod table;
mod targets;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use orbit_command::measuring::{
    BenchGames, Failure, MeasuredArgs, QUERIES, as_json, exit_code, failed, positions_argument, print_json,
    print_lines, read, threads,
};
use orbit_core::diagnostic::Severity;
use orbit_engine::gpu::{GpuDevice, GpuError};
use serde_json::{Map, Value, json};

use measure::{Check, KnownAnswer};
use recorder::{JSON_FILE, Recorder, TABLE_FILE};
use session::Session;

/// The number of positions if `--positions` is missing. They take 1.9 GB of memory on the card.
const POSITIONS: u64 = 512_000_000;

/// The query with 672 copies (transformed patterns). Its speed has targets.
const TARGET_QUERY: &str = "shift flip flipcolor {Nd4 kf3}";

/// Line prefixes of the built-in queries that are left out because they would show nothing new about a card.
const LEFT_OUT: [&str; 2] = ["knight_check_flip\t", "xray\t"];

/// Returns the built-in queries, except those in [`LEFT_OUT`]. The query that has targets comes first.
pub fn twelve() -> String {
    let wanted = QUERIES.lines().filter(|line| !LEFT_OUT.iter().any(|name| line.starts_with(name)));
    let (first, others): (Vec<&str>, Vec<&str>) = wanted.partition(|line| line.ends_with(TARGET_QUERY));
    [first, others].concat().join("\n")
}

/// A query that is trivial to evaluate, so its time is that of the replay of moves.
pub const REPLAY: &str = "replay\tB\n";
/// Queries about other positions of the game: two look ahead, one looks back and counts, one tests a move and the position after
/// it, one is a `line`, and one is a `path`.
const ALONG: &str = "\
find_check\tNd4 find check
find_count\tfind <-- 2 check
find_copies\tcheck find shift flip flipcolor {Nd4 kf3}
edge_check\tN--(check)
line_check\tline --> check --> true --> check
path_check\tpath -- check -- -- check
";

/// Measures a graphics card: the speed of its memory, arithmetic and uploads; variants of the kernels; twelve queries, with the
/// games on the card and uploaded; many queries at once; `find`; the processor for comparison; and from how many positions on the
/// card is faster than the processor.
#[derive(Debug, Parser)]
#[command(
    name = "card",
    version,
    max_term_width = 100,
    after_help = "\
Each row is written to card.json and card.txt as soon as it is measured; at the end, the table is
printed.

Examples:
  cargo bench --features full --bench card                        512 M positions, 8 minutes at most
  cargo bench --features full --bench card -- --output run --budget 90s"
)]
struct Args {
    /// Repeat the games until there are N positions [default: 512M].
    #[arg(long, value_name = "N", value_parser = positions_argument)]
    positions: Option<u64>,
    #[command(flatten)]
    measured: MeasuredArgs,
    /// Write the two files to this folder [default: a new folder, named by the date and the card].
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Stop after this time, such as 90s or 8m.
    #[arg(long, value_name = "TIME", default_value = "8m", value_parser = duration)]
    budget: Duration,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Falsify an answer of the query of this name, to test that the fault is found.
    #[arg(long, value_name = "NAME", hide = true)]
    spoil: Option<String>,
    /// Given by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
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

pub fn main() -> ExitCode {
    // The stack, the allocator and the drivers are set up as in the `orbit` command, whose engines are measured here.
    orbit_command::memory::reserve_stack();
    orbit_command::allocator::keep_freed_memory();
    orbit_command::drivers::quiet();
    let args = Args::parse();
    // Without `--bench`, cargo runs this program as a test, and there is nothing to test.
    if !args.bench && std::env::var_os("CARGO_MANIFEST_DIR").is_some() {
        return ExitCode::SUCCESS;
    }
    ExitCode::from(exit_code(run(args)))
}

/// Runs the whole measurement.
fn run(args: Args) -> Result<(), Failure> {
    let begun = Instant::now();
    let moment = place::Moment::now();
    let measured = &args.measured;
    let mut options = measured.gpu.options().ok_or_else(|| {
        Failure::Other(
            "this program measures a graphics card, and --gpu none asks for none: leave it out".into(),
        )
    })?;
    // Kernels of an earlier run would not be compiled, and the compile time is measured.
    options.pipeline_cache = None;
    let memory_bytes = options.limits.memory_bytes;
    let opening = Instant::now();
    let device = GpuDevice::open(options).map_err(|error| match error {
        GpuError::NoAdapter => Failure::Other(
            "no GPU adapter found, so there is no card to measure; install the card's driver and the Vulkan loader \
             (`libvulkan.so.1`), see `orbit devices`; `orbit bench` measures the processor"
                .into(),
        ),
        other => failed(other),
    })?;
    let open_s = opening.elapsed().as_secs_f64();
    let report = device.report();
    let threads = threads(measured.threads);
    let wanted = args.positions.unwrap_or(POSITIONS);
    let games = BenchGames::open(&measured.paths, wanted, threads)?;
    let asked = wanted;
    // Only whole blocks are used, so there are slightly more positions than requested.
    let wanted = games.positions();
    let known = |text: &str, file| -> Result<Vec<KnownAnswer>, Failure> {
        let read = read(file, text, measured.dialect, Severity::Hint)?;
        read.into_iter().map(|query| KnownAnswer::new(query, &games)).collect()
    };
    let queries = known(&twelve(), measured.queries.as_deref())?;
    let (replay, along) = (known(REPLAY, None)?, known(ALONG, None)?);
    let folder = args.output.clone().unwrap_or_else(|| place::folder(moment, &report.name));
    let head = json!({
        "orbit": env!("CARGO_PKG_VERSION"),
        "format": 1,
        "begun": moment.text(),
        "software": report.is_software(),
        "called": if report.is_software() { "software adapter, not a GPU" } else { "GPU" },
        "device": as_json(&report),
        "machine": place::machine(threads),
        "budget_s": args.budget.as_secs_f64(),
        "runs": measured.runs,
        "positions_wanted": asked,
        "positions": null,
        "games": if measured.paths.is_empty() { "built in" } else { "given" },
        "fastest": null,
    });
    let Value::Object(head) = head else { unreachable!("it is an object") };
    let recorder = Recorder::begin(&folder, Map::from_iter(head), begun, args.budget)?;
    message!(
        "measuring {} for {} s at most; {JSON_FILE} and {TABLE_FILE} grow in {}",
        report.name,
        args.budget.as_secs(),
        folder.display()
    );
    if report.is_software() {
        recorder.note(
            "this adapter is a program that stands in for a card: nothing here is a figure of a GPU".into(),
        );
    }
    let json = args.json;
    recorder.at_the_end(move |recorder| {
        if let Some(end) = recorder.end("cut off by the budget") {
            std::process::exit(exit_code(print(end, json)).into());
        }
    });
    let session = Session {
        device: Arc::new(device),
        report,
        games: &games,
        queries,
        replay,
        along,
        recorder: recorder.clone(),
        runs: measured.runs.max(1),
        check: Check { spoil: args.spoil },
        budget: args.budget,
        open_s,
        memory_bytes,
    };
    session.measure(wanted);
    match recorder.end("finished") {
        Some(end) => print(end, json),
        // The thread that watches the time prints the result and ends the process.
        None => loop {
            std::thread::park();
        },
    }
}

/// Prints the result. Fails if any engine's answer was wrong.
fn print((document, unwritten): (Value, Option<String>), json: bool) -> Result<(), Failure> {
    if json { print_json(&document) } else { print_lines(table::lines(&document)) }?;
    let wrong: Vec<&str> =
        document["wrong"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !wrong.is_empty() {
        return Err(Failure::Other(format!(
            "{} differ from the processor's answers or failed: {}; please report this with {JSON_FILE}",
            if wrong.len() == 1 { "1 row".into() } else { format!("{} rows", wrong.len()) },
            wrong.join(", ")
        )));
    }
    match unwritten {
        Some(error) => Err(Failure::Other(format!("{error}; what was measured is printed above"))),
        None => Ok(()),
    }
}
