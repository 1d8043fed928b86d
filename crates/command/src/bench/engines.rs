//! Compares the engines on games in memory, and checks each answer.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orbit_core::diagnostic::Severity;
use orbit_engine::gpu::{AdapterReport, Gpu, GpuDevice, Resident};
use orbit_engine::{Engine, Hits, PreparedQuery, Wants, cpu::Cpu};
use orbit_reel::{Block, replay::SegmentColumns};
use serde_json::{Value, json};

use super::super::common::{Out, grouped, size_text, threads};
use super::super::devices::as_json;
use super::super::failure::{Exit, Failure};
use super::super::queries::{self, NamedQuery};
use super::games::{BenchGames, best, failed, in_parallel, positions, rate};
use super::{Args, QUERIES, STREAMS};

/// The number of positions if `--positions` is not given.
const POSITIONS: u64 = 16_000_000;
/// The maximum number of positions for the CPU. More positions would not change the measured speed.
const CPU_POSITIONS_MAX: u64 = 32_000_000;
/// The size, in positions of 32 bytes, of the buffer whose words are summed to measure memory bandwidth. This bandwidth limits
/// every engine that reads unpacked positions from memory. The buffer takes 128 MB, so it does not fit in a cache.
const FLOOR_POSITIONS: usize = 4 << 20;

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let games = BenchGames::open(
        &args.measured.paths,
        args.positions.unwrap_or(POSITIONS),
        threads(args.measured.threads),
    )?;
    let queries =
        queries::read(args.measured.queries.as_deref(), QUERIES, args.measured.dialect, Severity::Hint)?;
    let cpu = CpuFigures::measure(&games, &args);
    let device = match args.measured.gpu.options() {
        None => None,
        Some(options) => match GpuDevice::open(options) {
            Ok(device) => Some(Arc::new(device)),
            Err(error) => {
                message!("warning: {error}");
                None
            }
        },
    };
    let card = device.as_ref().map(|device| BenchCard::open(device, &games)).transpose()?;
    let mut rows = Vec::new();
    for query in &queries {
        rows.push(Timing::measure(query, &games, card.as_ref(), &args)?);
    }
    let shared = SharedRun::measure(&queries, &games, card.as_ref(), &args)?;
    let mut out = Out::new();
    if args.json {
        out.json(&json_of(&games, &cpu, card.as_ref(), &rows, &shared, &args))?;
    } else {
        text_of(&games, &cpu, card.as_ref(), &rows, &shared)
            .into_iter()
            .try_for_each(|line| out.line(line))?;
    }
    out.finish()?;
    Ok(Exit::Done)
}

/// Upper limits for the speed of CPU engines, in positions per second on one thread: `sum` is the speed of adding up 32 bytes for
/// each position, `replay` that of replaying the moves.
struct CpuFigures {
    sum: f64,
    replay: f64,
}

impl CpuFigures {
    fn measure(games: &BenchGames, args: &Args) -> CpuFigures {
        let words: Vec<[u64; 4]> = (0..FLOOR_POSITIONS as u64).map(|k| [k, k + 1, k + 2, k + 3]).collect();
        let (sum, _) = best(args.measured.runs + 2, || {
            let sum = |all: u64, [a, b, c, d]: &[u64; 4]| all.wrapping_add(a ^ b ^ c ^ d);
            Ok(black_box(black_box(&words).iter().fold(0, sum)))
        })
        .expect("adding cannot fail");
        let blocks = games.blocks(CPU_POSITIONS_MAX / 4);
        let mut columns = SegmentColumns::new();
        let (replay, _) = best(args.measured.runs, || {
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

/// A graphics card whose memory holds the games of the benchmark.
struct BenchCard<'a> {
    device: &'a Arc<GpuDevice>,
    report: AdapterReport,
    uploads: [(&'static str, f64); 3],
    resident: Resident<'a>,
}

impl<'a> BenchCard<'a> {
    fn open(device: &'a Arc<GpuDevice>, games: &'a BenchGames) -> Result<BenchCard<'a>, Failure> {
        let uploads = device.upload_rates().map_err(failed)?;
        let resident = device.upload(&games.blocks(u64::MAX / 2)).map_err(failed)?;
        Ok(BenchCard { device, report: device.report(), uploads, resident })
    }

    fn kind(&self) -> &'static str {
        if self.report.is_software() { "software adapter, not a GPU" } else { "GPU" }
    }
}

struct Timing {
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

impl Timing {
    fn measure(
        query: &NamedQuery,
        games: &BenchGames,
        card: Option<&BenchCard>,
        args: &Args,
    ) -> Result<Timing, Failure> {
        let NamedQuery { name, text, prepared } = query;
        let cpu = prepared.cpu().map_err(failed)?;
        let blocks = games.blocks(CPU_POSITIONS_MAX);
        let scan = |block: &&Block| Ok(cpu.answer(block, Wants::HITS).map_err(failed)?.hits);
        let (alone, hits) =
            best(args.measured.runs, || blocks.iter().map(scan).collect::<Result<Vec<_>, Failure>>())?;
        let groups: Vec<&[&Block]> = blocks.chunks(1).collect();
        let (together, others) = best(args.measured.runs, || in_parallel(games.threads, &groups, &cpu))?;
        agree(name, "cpu on all threads", &hits, &others)?;
        let card = card.map(|card| card_figures(name, prepared, games, card, &hits, args)).transpose()?;
        let count = positions(&blocks);
        Ok(Timing {
            name: name.clone(),
            query: text.clone(),
            copies: cpu.info().copies[0],
            hits: hits.iter().take(games.blocks.len()).map(Hits::count).sum(),
            cpu_1: rate(count, alone),
            cpu: rate(count, together),
            card,
        })
    }
}

fn card_figures(
    name: &str,
    prepared: &PreparedQuery,
    games: &BenchGames,
    card: &BenchCard,
    hits: &[Hits],
    args: &Args,
) -> Result<CardFigures, Failure> {
    let begun = Instant::now();
    let gpu = prepared.gpu(card.device).map_err(failed)?;
    card.device.compile(gpu.kernel()).map_err(failed)?;
    // Some drivers compile a kernel only when it first runs, so the first run is part of the compile time.
    gpu.hits(&[&games.blocks[0]]).map_err(failed)?;
    let compile = begun.elapsed();
    let (run, (found, times)) =
        best(args.measured.runs, || gpu.scan_resident(&card.resident).map_err(failed))?;
    agree(name, "the card with games on it", hits, &found[0])?;
    let blocks = games.blocks(u64::MAX / 2);
    // The groups are streamed as in a scan: while one group is searched, others are packed and uploaded.
    let groups: Vec<&[&Block]> = blocks.chunks(2 * gpu.info().blocks_at_once).collect();
    let (streamed, found) = best(args.measured.runs, || in_parallel(STREAMS, &groups, &gpu))?;
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

/// Fails if two engines found different hits. Both search the same repeated games, so if `hits` covers fewer blocks than `others`,
/// `hits` is repeated for the comparison.
fn agree(query: &str, engine: &str, hits: &[Hits], others: &[Hits]) -> Result<(), Failure> {
    let same = others.iter().zip(hits.iter().cycle()).all(|(a, b)| a.bits == b.bits);
    if same && !hits.is_empty() {
        return Ok(());
    }
    Err(Failure::Other(format!("{query}: {engine} differs from cpu on one thread: please report this")))
}

/// The speed of running all queries in one pass, in positions per second, on the CPU and on the graphics card.
struct SharedRun {
    queries: usize,
    cpu: f64,
    resident: Option<f64>,
}

impl SharedRun {
    fn measure(
        queries: &[NamedQuery],
        games: &BenchGames,
        card: Option<&BenchCard>,
        args: &Args,
    ) -> Result<SharedRun, Failure> {
        let plans = orbit_engine::plans(queries.iter().map(|query| &query.prepared)).map_err(failed)?;
        let cpu = Cpu::new(Arc::clone(&plans));
        let blocks = games.blocks(CPU_POSITIONS_MAX / 4);
        let (alone, hits) = best(args.measured.runs, || cpu.hits(&blocks).map_err(failed))?;
        for (NamedQuery { name, prepared, .. }, hits) in queries.iter().zip(&hits) {
            let one = prepared.cpu().map_err(failed)?.hits(&blocks).map_err(failed)?;
            agree(name, "cpu with all queries at once", &one[0], hits)?;
        }
        let resident = card
            .map(|card| {
                let gpu = Gpu::new(Arc::clone(&plans), Arc::clone(card.device));
                let (time, (found, _)) =
                    best(args.measured.runs + 1, || gpu.scan_resident(&card.resident).map_err(failed))?;
                for (query, (found, hits)) in queries.iter().zip(found.iter().zip(&hits)) {
                    agree(&query.name, "the card with all queries at once", hits, found)?;
                }
                Ok::<f64, Failure>(rate(games.positions(), time))
            })
            .transpose()?;
        Ok(SharedRun { queries: queries.len(), cpu: rate(positions(&blocks), alone), resident })
    }
}

const MILLION: f64 = 1e6;
const GIGA: f64 = 1e9;
/// The size of an unpacked position in bytes.
const POSITION_BYTES: f64 = 32.0;

fn text_of(
    games: &BenchGames,
    cpu: &CpuFigures,
    card: Option<&BenchCard>,
    rows: &[Timing],
    shared: &SharedRun,
) -> Vec<String> {
    let mut lines = vec![
        format!("orbit {}, {} threads", env!("CARGO_PKG_VERSION"), games.threads),
        format!("{} positions: the games, repeated {} times", grouped(games.positions()), games.repeats),
        format!(
            "floor, one thread: {:.0} M positions/s to add up 32 bytes for each ({:.1} GB/s), {:.0} to replay the moves",
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
    games: &BenchGames,
    cpu: &CpuFigures,
    card: Option<&BenchCard>,
    rows: &[Timing],
    shared: &SharedRun,
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
        "runs": args.measured.runs,
        "floor": { "sum_positions_s": cpu.sum, "sum_bytes_s": cpu.sum * POSITION_BYTES, "replay_positions_s": cpu.replay },
        "card": card,
        "queries": rows,
        "together": { "queries": shared.queries, "cpu_1_positions_s": shared.cpu, "resident_positions_s": shared.resident },
    })
}
