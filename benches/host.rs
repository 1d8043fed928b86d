//! Measures the work that the processor does for a graphics card. See `benches/README.md`.
//!
//! In place of a card, the engine `gpu` uses wgpu's backend `noop`: buffers are memory of the processor, copies are made at once,
//! and kernels do nothing. So all time is spent by the processor, and none by a card or its driver.

use std::{
    fmt::Display,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use orbit_command::measuring::{BenchGames, NamedQuery, in_parallel, positions, threads};
use orbit_engine::{
    Engine as _, PreparedQuery,
    gpu::{GpuDevice, GpuOptions, STAND_IN, Variant},
};
use orbit_plan::PlanOptions;
use orbit_reel::Block;

/// The queries: one that needs the games alone, one with many copies (transformed patterns), one that is computed from results at
/// other positions of a game, and one that reads tags.
const QUERIES: [(&str, &str); 4] = [
    ("squares", "Nd4"),
    ("copies", "shift flip flipcolor {Nd4 kf3}"),
    ("find", "check find 3 <-- mate"),
    ("tags", "Nd4 elo > 2000"),
];

/// The number of positions that a measurement searches at a time. They need several uploads.
const POSITIONS: u64 = 24_000_000;
/// The maximum number of bytes of games that stay on the card. All games of a measurement fit.
const RESIDENT_BYTES_MAX: u64 = 1 << 30;
/// The shortest time of a measurement. The system counts processor time in hundredths of a second.
const SECONDS_MIN: f64 = 2.0;

/// The times of one way of searching.
struct Measured {
    /// The wall-clock time and the processor time of all threads for one search, in seconds.
    wall: f64,
    processor: f64,
    /// The number of submissions (uploads, or groups of dispatches) of one search.
    submissions: f64,
}

/// Returns the processor time that this process has used so far, in seconds.
fn processor_seconds() -> Result<f64, String> {
    let stat =
        std::fs::read_to_string("/proc/self/stat").map_err(|error| format!("/proc/self/stat: {error}"))?;
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    let ticks: u64 =
        after_name.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    // Linux reports these times in ticks of 10 ms to all programs.
    Ok(ticks as f64 / 100.0)
}

/// Repeats a search until [`SECONDS_MIN`] have passed.
fn measure<E: Display>(
    device: &GpuDevice,
    mut search: impl FnMut() -> Result<(), E>,
) -> Result<Measured, String> {
    let mut run = || search().map_err(|error| error.to_string());
    // The first search compiles kernels and allocates buffers.
    run()?;
    let (mut runs, submissions) = (0_u32, device.submissions());
    let (begun, processor) = (Instant::now(), processor_seconds()?);
    while begun.elapsed() < Duration::from_secs_f64(SECONDS_MIN) {
        run()?;
        runs += 1;
    }
    let of_one = |all: f64| all / f64::from(runs);
    Ok(Measured {
        wall: of_one(begun.elapsed().as_secs_f64()),
        processor: of_one(processor_seconds()? - processor),
        submissions: of_one((device.submissions() - submissions) as f64),
    })
}

fn row(name: &str, way: &str, bytes: Option<f64>, searched: u64, of: &Measured) {
    let giga = |amount: f64| format!("{:.2}", amount / 1e9);
    let bytes = bytes.map_or("".into(), |bytes| giga(bytes / of.processor));
    println!(
        "| {name} | {way} | {} | {} | {bytes} | {:.0} | {:.0} |",
        giga(searched as f64 / of.wall),
        giga(searched as f64 / of.processor),
        of.submissions,
        1e6 * of.processor / of.submissions.max(1.0),
    );
}

fn run() -> Result<(), String> {
    let threads = threads(None);
    let games = BenchGames::open(&[], POSITIONS, threads).map_err(|error| error.to_string())?;
    let blocks = games.blocks(POSITIONS);
    // A database holds each of its blocks once.
    let held: Vec<Block> = blocks.iter().map(|&block| block.clone()).collect();
    let numbers = Block::hold_all(held.iter());
    let held: Vec<&Block> = held.iter().collect();
    let mut options = GpuOptions::default();
    options.adapter = STAND_IN.parse().expect("it is a name");
    options.resident_bytes_max = Some(RESIDENT_BYTES_MAX);
    let device = Arc::new(GpuDevice::open(options).map_err(|error| error.to_string())?);
    let resident = device.upload_as(&blocks, Variant::default()).map_err(|error| error.to_string())?;
    let (searched, bytes) = (positions(&blocks), resident.bytes());
    println!("{searched} positions, {bytes} bytes, {threads} threads\n");

    let (from, mut to) = (vec![1_u8; bytes as usize], vec![0_u8; bytes as usize]);
    let copied = measure(&device, || {
        to.copy_from_slice(std::hint::black_box(&from));
        std::hint::black_box(&to);
        Ok::<(), String>(())
    })?;
    println!(
        "| query | way | G positions/s | G positions/processor s | GB/processor s | submissions | processor µs each |"
    );
    println!("|---|---|---|---|---|---|---|");
    row("", "one copy in memory", Some(bytes as f64), searched, &copied);
    for (name, text) in QUERIES {
        let query = orbit_query::parse(text).expect("the queries are CQL").query;
        let prepared = PreparedQuery::new(query, PlanOptions::default()).expect("they can be planned");
        let prepared = NamedQuery { name: name.into(), text: text.into(), prepared };
        let gpu =
            prepared.prepared.gpu_with(&device, Variant::default()).map_err(|error| error.to_string())?;
        let at_once = gpu.info().blocks_at_once;
        let search = |blocks: &[&Block]| {
            let groups: Vec<&[&Block]> = blocks.chunks(at_once).collect();
            in_parallel(threads.max(2), &groups, &gpu).map(drop).map_err(|error| error.to_string())
        };
        let sent = measure(&device, || search(&blocks))?;
        row(name, "sent", Some(bytes as f64), searched, &sent);
        let kept = measure(&device, || search(&held))?;
        row(name, "kept on the card", None, searched, &kept);
        let alone = measure(&device, || gpu.scan_resident(&resident).map(drop))?;
        row(name, "kept, hits alone", None, searched, &alone);
    }
    device.release(&numbers);
    Ok(())
}

fn main() -> ExitCode {
    // Cargo passes options such as `--bench`. There are no others.
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
