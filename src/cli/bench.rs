//! `orbit bench`: the engines against each other, on this machine, each answer checked.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use orbit_chess::database::{Database, DatabaseOptions};
use orbit_chess::engine::gpu::{AdapterReport, GpuBatch, GpuDevice, Resident};
use orbit_chess::engine::{Batch, Engine, Hits, Job, Want, cpu::CpuBatch};
use orbit_chess::plan::Planner;
use orbit_chess::reel::{Block, replay::SegmentColumns};
use serde_json::{Value, json};

use super::common::{GpuArgs, Out, count, grouped, size_text, threads};
use super::devices::as_json;
use super::queries::{self, NamedQuery};
use super::query_text::DialectArgs;
use super::{Exit, Failure};

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
    /// Repeat the games until there are so many positions.
    #[arg(long, value_name = "N", default_value = "16M", value_parser = count)]
    positions: u64,
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

/// Positions that the CPU is given at most: its rate does not depend on how many there are.
const CPU_POSITIONS_MAX: u64 = 32_000_000;
/// Positions of 32 bytes that are added up for the floor: 128 MB, more than caches hold.
const FLOOR_POSITIONS: usize = 4 << 20;

/// Threads that stream to a card.
const STREAMS: usize = 3;

const SAMPLE: &[u8] = include_bytes!("../../games/sample.pgn");

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let games = Games::open(&args)?;
    let queries = queries::read(args.queries.as_deref(), QUERIES, args.dialect)?;
    let cpu = CpuFigures::measure(&games, &args);
    let device = match args.gpu.options() {
        None => None,
        Some(options) => match GpuDevice::open(options) {
            Ok(device) => Some(Arc::new(device)),
            Err(error) => {
                message!("warning: {error}");
                None
            }
        },
    };
    let card = device.as_ref().map(|device| Card::open(device, &games)).transpose()?;
    let mut rows = Vec::new();
    for query in &queries {
        rows.push(Row::measure(query, &games, card.as_ref(), &args)?);
    }
    let shared = Shared::measure(&queries, &games, card.as_ref(), &args)?;
    let mut out = Out::new();
    if args.json {
        out.line(json_of(&games, &cpu, card.as_ref(), &rows, &shared, &args))?;
    } else {
        text_of(&games, &cpu, card.as_ref(), &rows, &shared)
            .into_iter()
            .try_for_each(|line| out.line(line))?;
    }
    out.finish()?;
    Ok(Exit::Done)
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Other(error.to_string())
}

struct Games {
    blocks: Vec<Block>,
    /// How often all of them are given.
    repeats: usize,
    threads: usize,
}

impl Games {
    fn open(args: &Args) -> Result<Games, Failure> {
        let database = if args.paths.is_empty() {
            Database::from_pgn_bytes("built in", SAMPLE.to_vec(), DatabaseOptions::default())
        } else {
            Database::open(&args.paths, DatabaseOptions::default())?
        };
        let threads = threads(args.threads);
        let mut blocks = Vec::new();
        database.for_each_block(threads, Block::clone, |_, block| {
            blocks.push(block);
            ControlFlow::Continue(())
        })?;
        blocks.retain(|block| block.slots() > 0);
        let once: u64 = blocks.iter().map(|block| block.slots() as u64).sum();
        if once == 0 {
            return Err(Failure::Other("there is no game to measure with".into()));
        }
        Ok(Games { repeats: args.positions.div_ceil(once).max(1) as usize, blocks, threads })
    }

    /// Blocks with at least so many positions, the same ones again and again.
    fn blocks(&self, positions: u64) -> Vec<&Block> {
        let mut left = positions as i64;
        let all = std::iter::repeat_n(&self.blocks, self.repeats).flatten();
        all.take_while(|block| {
            let wanted = left > 0;
            left -= block.slots() as i64;
            wanted
        })
        .collect()
    }

    fn positions(&self) -> u64 {
        positions(&self.blocks.iter().collect::<Vec<_>>()) * self.repeats as u64
    }
}

fn positions(blocks: &[&Block]) -> u64 {
    blocks.iter().map(|block| block.slots() as u64).sum()
}

/// The shortest of several runs.
fn best<T>(runs: usize, mut run: impl FnMut() -> Result<T, Failure>) -> Result<(Duration, T), Failure> {
    let mut best: Option<(Duration, T)> = None;
    for _ in 0..runs.max(1) {
        let begun = Instant::now();
        let out = run()?;
        let took = begun.elapsed();
        if best.as_ref().is_none_or(|(time, _)| took < *time) {
            best = Some((took, out));
        }
    }
    Ok(best.expect("there is a run"))
}

/// Things a second.
fn rate(things: u64, time: Duration) -> f64 {
    things as f64 / time.as_secs_f64()
}

/// What no engine on the CPU can beat: positions a second on one thread.
struct CpuFigures {
    sum: f64,
    replay: f64,
}

impl CpuFigures {
    fn measure(games: &Games, args: &Args) -> CpuFigures {
        let words: Vec<[u64; 4]> = (0..FLOOR_POSITIONS as u64).map(|k| [k, k + 1, k + 2, k + 3]).collect();
        let (sum, _) = best(args.runs + 2, || {
            let sum = |all: u64, [a, b, c, d]: &[u64; 4]| all.wrapping_add(a ^ b ^ c ^ d);
            Ok(black_box(black_box(&words).iter().fold(0, sum)))
        })
        .expect("adding cannot fail");
        let blocks = games.blocks(CPU_POSITIONS_MAX / 4);
        let mut columns = SegmentColumns::new();
        let (replay, _) = best(args.runs, || {
            let mut sum = 0u64;
            for block in &blocks {
                for segment in 0..block.segments() {
                    columns.replay(block, segment);
                    sum = sum.wrapping_add(columns.planes[0][31] ^ columns.planes[3][31]);
                }
            }
            Ok(black_box(sum))
        })
        .expect("replaying cannot fail");
        CpuFigures { sum: rate(FLOOR_POSITIONS as u64, sum), replay: rate(positions(&blocks), replay) }
    }
}

/// A card with the games on it.
struct Card<'a> {
    device: &'a Arc<GpuDevice>,
    report: AdapterReport,
    uploads: [(&'static str, f64); 3],
    resident: Resident<'a>,
}

impl<'a> Card<'a> {
    fn open(device: &'a Arc<GpuDevice>, games: &'a Games) -> Result<Card<'a>, Failure> {
        let uploads = device.upload_rates().map_err(failed)?;
        let resident = device.upload(&games.blocks(u64::MAX / 2)).map_err(failed)?;
        Ok(Card { device, report: device.report(), uploads, resident })
    }

    /// What it may be called.
    fn kind(&self) -> &'static str {
        if self.report.is_software() { "software adapter, not a GPU" } else { "GPU" }
    }
}

struct Row {
    name: String,
    query: String,
    copies: usize,
    hits: u64,
    cpu_1: f64,
    cpu: f64,
    card: Option<CardFigures>,
}

struct CardFigures {
    wgsl_bytes: usize,
    compile: Duration,
    kernel: Option<f64>,
    resident: f64,
    streamed: f64,
    readback: Option<Duration>,
}

impl Row {
    fn measure(query: &NamedQuery, games: &Games, card: Option<&Card>, args: &Args) -> Result<Row, Failure> {
        let NamedQuery { name, text, job } = query;
        let cpu = job.cpu();
        let blocks = games.blocks(CPU_POSITIONS_MAX);
        let scan = |block: &&Block| cpu.scan(block, Want::Bits).map_err(failed);
        let (alone, hits) = best(args.runs, || blocks.iter().map(scan).collect::<Result<Vec<_>, _>>())?;
        let groups: Vec<&[&Block]> = blocks.chunks(1).collect();
        let (together, others) = best(args.runs, || in_parallel(games.threads, &groups, &cpu))?;
        agree(name, "cpu on all threads", &hits, &others)?;
        let card = card.map(|card| card_figures(name, job, games, card, &hits, args)).transpose()?;
        let count = positions(&blocks);
        Ok(Row {
            name: name.clone(),
            query: text.clone(),
            copies: cpu.copies(),
            hits: hits.iter().take(games.blocks.len()).map(Hits::count).sum(),
            cpu_1: rate(count, alone),
            cpu: rate(count, together),
            card,
        })
    }
}

fn card_figures(
    name: &str,
    job: &Job,
    games: &Games,
    card: &Card,
    hits: &[Hits],
    args: &Args,
) -> Result<CardFigures, Failure> {
    let begun = Instant::now();
    let gpu = job.gpu(card.device);
    card.device.compile(gpu.kernel()).map_err(failed)?;
    // Some drivers compile only when a kernel is run first.
    gpu.scan(&games.blocks[0], Want::Bits).map_err(failed)?;
    let compile = begun.elapsed();
    let (run, (found, times)) = best(args.runs, || gpu.scan_resident(&card.resident).map_err(failed))?;
    agree(name, "the card with games on it", hits, &found)?;
    let blocks = games.blocks(u64::MAX / 2);
    // As a scan does it: while one group is computed, others are packed and uploaded.
    let groups: Vec<&[&Block]> = blocks.chunks(2 * gpu.blocks_at_once()).collect();
    let (streamed, found) = best(args.runs, || in_parallel(STREAMS, &groups, &gpu))?;
    agree(name, "the card with games streamed", hits, &found)?;
    let count = games.positions();
    Ok(CardFigures {
        wgsl_bytes: gpu.kernel().wgsl.len(),
        compile,
        kernel: times.kernel.map(|time| rate(count, time)),
        resident: rate(count, run),
        streamed: rate(count, streamed),
        readback: times.kernel.map(|kernel| times.run.saturating_sub(kernel)),
    })
}

/// Fails if two engines differ. The blocks repeat, so all are compared even if one engine ran fewer.
fn agree(query: &str, engine: &str, hits: &[Hits], others: &[Hits]) -> Result<(), Failure> {
    let same = others.iter().zip(hits.iter().cycle()).all(|(a, b)| a.bits == b.bits);
    if same && !hits.is_empty() {
        return Ok(());
    }
    Err(Failure::Other(format!("{query}: {engine} answers otherwise than cpu; please report this")))
}

/// Runs an engine on groups of blocks on several threads.
fn in_parallel(threads: usize, groups: &[&[&Block]], engine: &impl Engine) -> Result<Vec<Hits>, Failure> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(group) = groups.get(index) else { return done };
            done.push((index, engine.scan_many(group, Want::Bits)));
        }
    };
    let mut done: Vec<_> = std::thread::scope(|scope| {
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
        let all: Vec<_> = (1..threads).map_while(start).collect();
        // This thread does what is left: all of it where the system starts no other.
        let here = work();
        let there = all.into_iter().flat_map(|thread| thread.join().expect("an engine does not panic"));
        here.into_iter().chain(there).collect()
    });
    done.sort_by_key(|(index, _)| *index);
    let mut out = Vec::new();
    for (_, hits) in done {
        out.extend(hits.map_err(failed)?);
    }
    Ok(out)
}

/// All queries at once, against one after the other.
struct Shared {
    queries: usize,
    cpu: f64,
    resident: Option<f64>,
}

impl Shared {
    fn measure(
        queries: &[NamedQuery],
        games: &Games,
        card: Option<&Card>,
        args: &Args,
    ) -> Result<Shared, Failure> {
        let planners: Vec<&Planner> = queries.iter().map(|query| &*query.job.planner).collect();
        let cpu = CpuBatch::new(&planners);
        let blocks = games.blocks(CPU_POSITIONS_MAX / 4);
        let (alone, hits) = best(args.runs, || cpu.scan_many(&blocks).map_err(failed))?;
        for (NamedQuery { name, job, .. }, hits) in queries.iter().zip(&hits) {
            let one = job.cpu().scan_many(&blocks, Want::Bits).map_err(failed)?;
            agree(name, "cpu with all queries at once", &one, hits)?;
        }
        let resident = card
            .map(|card| {
                let batch = GpuBatch::new(&planners, Arc::clone(card.device));
                let (time, (found, _)) =
                    best(args.runs + 1, || batch.scan_resident(&card.resident).map_err(failed))?;
                for (query, (found, hits)) in queries.iter().zip(found.iter().zip(&hits)) {
                    agree(&query.name, "the card with all queries at once", hits, found)?;
                }
                Ok::<f64, Failure>(rate(games.positions(), time))
            })
            .transpose()?;
        Ok(Shared { queries: queries.len(), cpu: rate(positions(&blocks), alone), resident })
    }
}

const MILLION: f64 = 1e6;
const GIGA: f64 = 1e9;
/// Bytes that are read for a position where it lies in memory unpacked.
const POSITION_BYTES: f64 = 32.0;

fn text_of(
    games: &Games,
    cpu: &CpuFigures,
    card: Option<&Card>,
    rows: &[Row],
    shared: &Shared,
) -> Vec<String> {
    let mut lines = vec![
        format!("orbit {}, {} threads", env!("CARGO_PKG_VERSION"), games.threads),
        format!("{} positions, the games {} times over", grouped(games.positions()), games.repeats),
        format!(
            "floor: {:.0} M positions/s when 32 bytes each are added up ({:.1} GB/s), {:.0} when moves are replayed, one thread",
            cpu.sum / MILLION,
            cpu.sum * POSITION_BYTES / GIGA,
            cpu.replay / MILLION
        ),
    ];
    if let Some(card) = card {
        let AdapterReport { name, backend, driver, .. } = &card.report;
        lines.push(format!("{}: {name}, {backend}, {driver}", card.kind()));
        let uploads: Vec<String> =
            card.uploads.iter().map(|(way, rate)| format!("{way} {:.1}", rate / GIGA)).collect();
        let bytes = card.resident.bytes();
        lines.push(format!(
            "upload in GB/s: {}; these games, {}: {:.1}",
            uploads.join(", "),
            size_text(bytes),
            rate(bytes, card.resident.times().upload) / GIGA
        ));
    }
    lines.push(String::new());
    let mut head = format!("{:<20}{:>7}{:>10}{:>10}", "M positions/s", "copies", "cpu 1", "cpu");
    if card.is_some() {
        head +=
            &format!("{:>10}{:>10}{:>10}{:>9}{:>8}", "kernel", "resident", "streamed", "compile", "floor");
    }
    lines.push(head);
    let number = |rate: f64| format!("{:>10.1}", rate / MILLION);
    for row in rows {
        let mut line = format!("{:<20}{:>7}{}{}", row.name, row.copies, number(row.cpu_1), number(row.cpu));
        if let Some(card) = &row.card {
            line += &card.kernel.map_or_else(|| format!("{:>10}", "-"), number);
            line += &format!("{}{}", number(card.resident), number(card.streamed));
            line += &format!("{:>6} ms{:>6.1} KB", card.compile.as_millis(), card.wgsl_bytes as f64 / 1000.0);
            line += &format!("{:>8.2}", card.kernel.unwrap_or(card.resident) / cpu.sum);
        }
        lines.push(line);
    }
    let mut line =
        format!("{:<20}{:>7}{:>10}{}", format!("all {} at once", shared.queries), "", number(shared.cpu), "");
    if let Some(resident) = shared.resident {
        line += &format!("{:>10}{:>10}{}", "", "", number(resident));
    }
    lines.push(line);
    lines.push("every answer was compared with that of cpu on one thread: no difference".into());
    lines
}

fn json_of(
    games: &Games,
    cpu: &CpuFigures,
    card: Option<&Card>,
    rows: &[Row],
    shared: &Shared,
    args: &Args,
) -> Value {
    let seconds = |time: Duration| time.as_secs_f64();
    let rows = rows.iter().map(|row| {
        let card = row.card.as_ref().map(|card| {
            json!({
                "wgsl_bytes": card.wgsl_bytes,
                "compile_s": seconds(card.compile),
                "kernel_positions_s": card.kernel,
                "resident_positions_s": card.resident,
                "streamed_positions_s": card.streamed,
                "readback_s": card.readback.map(seconds),
                "kernel_to_floor": card.kernel.map(|rate| rate / cpu.sum),
            })
        });
        json!({
            "name": row.name,
            "query": row.query,
            "copies": row.copies,
            "positions_hit_once": row.hits,
            "cpu_1_positions_s": row.cpu_1,
            "cpu_positions_s": row.cpu,
            "card": card,
            "agree": true,
        })
    });
    let rows: Vec<Value> = rows.collect();
    let card = card.map(|card| {
        json!({
            "called": card.kind(),
            "adapter": as_json(&card.report),
            "upload_bytes_s": card.uploads.iter().map(|(way, rate)| ((*way).to_string(), json!(rate)))
                .collect::<serde_json::Map<_, _>>(),
            "games_bytes": card.resident.bytes(),
            "games_upload_s": seconds(card.resident.times().upload),
        })
    });
    json!({
        "orbit": env!("CARGO_PKG_VERSION"),
        "threads": games.threads,
        "positions": games.positions(),
        "runs": args.runs,
        "floor": { "sum_positions_s": cpu.sum, "sum_bytes_s": cpu.sum * POSITION_BYTES, "replay_positions_s": cpu.replay },
        "card": card,
        "queries": rows,
        "together": { "queries": shared.queries, "cpu_1_positions_s": shared.cpu, "resident_positions_s": shared.resident },
    })
}
