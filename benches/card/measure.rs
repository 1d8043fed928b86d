//! The measurements of the benchmark `card`. Each function performs one and returns the fields of its row.

use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orbit_command::measuring::{
    BenchGames, Failure, NamedQuery, best, failed, in_parallel, positions, rate, side_by_side,
};
use orbit_engine::gpu::{Gpu, GpuDevice, GpuError, Resident, Variant};
use orbit_engine::{Engine, Hits, cpu::Cpu};
use orbit_reel::Block;
use serde_json::{Value, json};

use super::floors::Floor;
use super::instructions::{Vendor, per_position};

/// The size of an unpacked position in memory, in bytes.
const POSITION_BYTES: u64 = 32;

/// A query, and the hits that the processor finds in the original games. Measurements repeat these games to reach the wanted
/// number of positions.
pub struct KnownAnswer {
    pub query: NamedQuery,
    pub truth: Vec<Hits>,
}

impl KnownAnswer {
    pub fn new(query: NamedQuery, games: &BenchGames) -> Result<KnownAnswer, Failure> {
        let blocks: Vec<&Block> = games.blocks.iter().collect();
        let groups: Vec<&[&Block]> = blocks.chunks(1).collect();
        let truth = in_parallel(games.threads, &groups, &query.prepared.cpu().map_err(failed)?)?;
        Ok(KnownAnswer { query, truth })
    }

    pub fn name(&self) -> &str {
        &self.query.name
    }
}

/// The measured speeds that no kernel can exceed.
#[derive(Clone, Copy, Default)]
pub struct Roofs {
    /// The number of bytes per second that a kernel can read.
    pub read: Option<f64>,
    /// The number of instructions per second on 32-bit words.
    pub instructions: Option<f64>,
    /// The manufacturer of the card. Instruction counts depend on the manufacturer's compiler.
    pub vendor: Vendor,
    /// The number of bytes per second of the fastest upload method.
    pub upload: Option<f64>,
}

impl Roofs {
    /// Returns the number of instructions that a query's kernel executes per position, and the resulting upper limit for the
    /// positions per second. Each is `None` if it is unknown.
    pub fn by_instructions(&self, query: &str, variant: Variant) -> (Option<f64>, Option<f64>) {
        let each = per_position(query, variant, self.vendor);
        (each, self.instructions.zip(each).map(|(all, each)| all / each))
    }
}

/// A comparison of a device's answers with the processor's. To test the comparison, an answer of the query with the name `spoil` is
/// falsified first.
#[derive(Clone)]
pub struct Check {
    pub spoil: Option<String>,
}

impl Check {
    /// Returns the number of positions at which the answers differ. `truth` contains the hits in the original games, and `found`
    /// those in `blocks`, which repeat these games.
    pub fn differing(&self, name: &str, truth: &[Hits], found: &mut [Hits], blocks: &[&Block]) -> u64 {
        if self.spoil.as_deref() == Some(name)
            && let Some(word) = found.last_mut().and_then(|hits| hits.bits.first_mut())
        {
            *word ^= 1;
        }
        let missing: usize = blocks.iter().skip(found.len()).map(|block| block.slots()).sum();
        let differ = found.iter().zip(truth.iter().cycle()).zip(blocks).map(|((found, truth), block)| {
            if found.bits.len() != truth.bits.len() {
                return block.slots() as u64;
            }
            let bits = found.bits.iter().zip(&truth.bits).map(|(a, b)| u64::from((a ^ b).count_ones()));
            bits.sum()
        });
        differ.sum::<u64>() + missing as u64
    }
}

fn agreement(row: &mut Value, differing: u64) {
    row["agree"] = json!(differing == 0);
    if differing > 0 {
        row["positions_differing"] = json!(differing);
    }
}

fn nanoseconds(rate: f64) -> f64 {
    1e9 / rate
}

/// Measures memory bandwidth by summing words on `threads` threads.
pub fn cpu_memory(bytes: u64, threads: usize, runs: usize) -> Result<Value, Failure> {
    let count = (bytes / POSITION_BYTES).max(1);
    let word = |k: u64| [k, k + 1, k + 2, k + 3];
    let words: Vec<[u64; 4]> = (0..count).map(word).collect();
    let sum =
        |words: &[[u64; 4]]| words.iter().fold(0u64, |all, [a, b, c, d]| all.wrapping_add(a ^ b ^ c ^ d));
    let part = words.len().div_ceil(threads.max(1)).max(1);
    let (took, found) = best(runs + 1, || {
        Ok(std::thread::scope(|scope| {
            let start = |part| match std::thread::Builder::new().spawn_scoped(scope, move || sum(part)) {
                Ok(thread) => Err(thread),
                // The system cannot start another thread, so this thread sums the part itself.
                Err(_) => Ok(sum(part)),
            };
            let parts: Vec<_> = black_box(&words).chunks(part).map(start).collect();
            let sums = parts
                .into_iter()
                .map(|part| part.unwrap_or_else(|thread| thread.join().expect("adding does not panic")));
            black_box(sums.fold(0u64, u64::wrapping_add))
        }))
    })?;
    let expected = (0..count).map(word).fold(0u64, |all, [a, b, c, d]| all.wrapping_add(a ^ b ^ c ^ d));
    let bytes = count * POSITION_BYTES;
    Ok(
        json!({ "threads": threads, "bytes": bytes, "bytes_s": rate(bytes, took), "agree": found == expected }),
    )
}

pub fn memory_row(floor: Floor) -> Value {
    json!({ "bytes": floor.amount, "bytes_s": floor.rate, "agree": floor.is_right })
}

pub fn instructions_row(floor: Floor, vendor: Vendor) -> Value {
    json!({
        "vendor": vendor.name(),
        "instructions": floor.amount,
        "instructions_s": floor.rate,
        "agree": floor.is_right,
    })
}

/// Returns the number of positions in the blocks that are used for `wanted` positions. Blocks are used as a whole, so there may be
/// more positions than wanted.
pub fn whole_blocks(games: &BenchGames, wanted: u64) -> u64 {
    positions(&games.blocks(wanted))
}

/// Uploads the games to the card, or as many of them as fit.
pub fn upload<'a>(
    device: &GpuDevice,
    games: &'a BenchGames,
    wanted: u64,
    variant: Variant,
) -> Result<(Resident<'a>, u64), GpuError> {
    let mut wanted = wanted;
    loop {
        let blocks = games.blocks(wanted);
        match device.upload_as(&blocks, variant) {
            Ok(resident) => return Ok((resident, positions(&blocks))),
            Err(GpuError::OutOfMemory { .. }) if blocks.len() > 1 => wanted = positions(&blocks) / 2,
            Err(error) => return Err(error),
        }
    }
}

/// Games in the card's memory, in one of the two memory layouts (see `Variant::transposed`).
pub struct GamesOnCard<'a> {
    pub resident: Resident<'a>,
    pub blocks: Vec<&'a Block>,
    pub positions: u64,
}

impl<'a> GamesOnCard<'a> {
    pub fn new(
        device: &GpuDevice,
        games: &'a BenchGames,
        wanted: u64,
        variant: Variant,
    ) -> Result<GamesOnCard<'a>, Failure> {
        let (resident, positions) = upload(device, games, wanted, variant).map_err(failed)?;
        Ok(GamesOnCard { resident, blocks: games.blocks(positions), positions })
    }

    pub fn row(&self) -> Value {
        let bytes = self.resident.bytes();
        json!({
            "positions": self.positions,
            "bytes": bytes,
            "bytes_s": rate(bytes, self.resident.times().upload),
        })
    }

    /// Returns the average number of bytes that a kernel reads and writes per position.
    fn position_bytes(&self) -> f64 {
        let words: u64 = self.blocks.iter().map(|block| block.segments() as u64).sum();
        (self.resident.bytes() + 4 * words) as f64 / self.positions as f64
    }
}

/// Compiles a query's kernel and runs it once on a block, because some drivers compile only at the first run.
pub fn compile(device: &GpuDevice, gpu: &Gpu, games: &BenchGames) -> Result<Duration, Failure> {
    let begun = Instant::now();
    device.compile(gpu.kernel()).map_err(failed)?;
    gpu.hits(&[&games.blocks[0]]).map_err(failed)?;
    Ok(begun.elapsed())
}

/// Measures a query on games that are already in the card's memory.
pub fn resident(
    known: &KnownAnswer,
    device: &Arc<GpuDevice>,
    games: &BenchGames,
    card: &GamesOnCard,
    (variant, runs, roofs, check): (Variant, usize, Roofs, &Check),
) -> Result<Value, Failure> {
    let NamedQuery { name, text, prepared } = &known.query;
    let gpu = prepared.gpu_with(device, variant).map_err(failed)?;
    let compile = compile(device, &gpu, games)?;
    let (took, (mut found, times)) = best(runs, || gpu.scan_resident(&card.resident).map_err(failed))?;
    let differing = check.differing(name, &known.truth, &mut found[0], &card.blocks);
    let whole = rate(card.positions, took);
    let kernel = times.kernel.filter(|time| !time.is_zero()).map(|time| rate(card.positions, time));
    let fast = kernel.unwrap_or(whole);
    let bytes = card.position_bytes();
    // A query with stages (programs that first run over a whole block of games) reads the games several times and
    // partly runs on the processor, so the limits for reads and instructions do not apply to it.
    let has_stages = gpu.kernel().all().count() > 1;
    let roof_bytes = roofs.read.filter(|_| !has_stages).map(|read| read / bytes);
    let (instructions, roof_instructions) =
        if has_stages { (None, None) } else { roofs.by_instructions(text, variant) };
    let mut row = json!({
        "query": text,
        "copies": gpu.info().copies[0],
        "variant": variant.to_string(),
        "positions": card.positions,
        "hits": found[0].iter().map(Hits::count).sum::<u64>(),
        "ns": nanoseconds(whole),
        "positions_s": whole,
        "kernel_ns": kernel.map(nanoseconds),
        "kernel_positions_s": kernel,
        "position_bytes": bytes,
        "share_bytes": roof_bytes.map(|roof| fast / roof),
        "position_instructions": instructions,
        "share_instructions": roof_instructions.map(|roof| fast / roof),
        "roof_positions_s": roof_bytes.zip(roof_instructions).map(|(a, b)| a.min(b)),
        "wgsl_bytes": gpu.kernel().wgsl.len(),
        "compile_s": compile.as_secs_f64(),
    });
    agreement(&mut row, differing);
    Ok(row)
}

/// Measures a query on games that are uploaded during the search.
pub fn streamed(
    known: &KnownAnswer,
    device: &Arc<GpuDevice>,
    (blocks, threads): (&[&Block], usize),
    card_bytes: f64,
    (variant, runs, roofs, check): (Variant, usize, Roofs, &Check),
) -> Result<Value, Failure> {
    let NamedQuery { name, text, prepared } = &known.query;
    let gpu = prepared.gpu_with(device, variant).map_err(failed)?;
    // As in a scan, several threads process groups of blocks: while the card evaluates one group, the next ones are packed and
    // uploaded.
    let groups: Vec<&[&Block]> = blocks.chunks(gpu.info().blocks_at_once).collect();
    let (took, mut found) = best(runs, || in_parallel(threads.max(2), &groups, &gpu))?;
    let differing = check.differing(name, &known.truth, &mut found, blocks);
    let positions_s = rate(positions(blocks), took);
    let mut row = json!({
        "query": text,
        "variant": variant.to_string(),
        "positions": positions(blocks),
        "ns": nanoseconds(positions_s),
        "positions_s": positions_s,
        "bytes_s": positions_s * card_bytes,
        "share_upload": roofs.upload.map(|upload| positions_s * card_bytes / upload),
    });
    agreement(&mut row, differing);
    Ok(row)
}

/// Games that are held in memory like those of a database, so they stay on the card for later queries.
pub struct HeldGames {
    blocks: Vec<Block>,
    numbers: Range<u64>,
}

impl HeldGames {
    pub fn new(games: &BenchGames, wanted: u64) -> HeldGames {
        // Blocks are cloned, because a block that occurs twice would be uploaded only once.
        let blocks: Vec<Block> = games.blocks(wanted).into_iter().cloned().collect();
        let numbers = Block::hold_all(blocks.iter());
        HeldGames { blocks, numbers }
    }

    /// Frees the card's memory that the games occupy.
    pub fn release(self, device: &GpuDevice) {
        device.release(&self.numbers);
    }
}

/// Measures a query on a database in memory, as `orbit serve` runs it: the games stay on the card after the first search.
pub fn session(
    known: &KnownAnswer,
    device: &Arc<GpuDevice>,
    held: &HeldGames,
    threads: usize,
    (variant, runs, check): (Variant, usize, &Check),
) -> Result<Value, Failure> {
    let NamedQuery { name, text, prepared } = &known.query;
    let gpu = prepared.gpu_with(device, variant).map_err(failed)?;
    let blocks: Vec<&Block> = held.blocks.iter().collect();
    let groups: Vec<&[&Block]> = blocks.chunks(gpu.info().blocks_at_once).collect();
    let uploaded = || gpu.info().card.map_or(0, |card| card.uploaded);
    let begun = Instant::now();
    in_parallel(threads.max(2), &groups, &gpu)?;
    let (first, sent) = (begun.elapsed(), uploaded());
    let (took, mut found) = best(runs, || in_parallel(threads.max(2), &groups, &gpu))?;
    let differing = check.differing(name, &known.truth, &mut found, &blocks);
    let positions_s = rate(positions(&blocks), took);
    let mut row = json!({
        "query": text,
        "variant": variant.to_string(),
        "positions": positions(&blocks),
        "first_s": first.as_secs_f64(),
        "bytes": sent,
        "bytes_again": uploaded() - sent,
        "ns": nanoseconds(positions_s),
        "positions_s": positions_s,
    });
    agreement(&mut row, differing);
    Ok(row)
}

/// Measures a query on the processor, with all threads and with one.
pub fn cpu(
    known: &KnownAnswer,
    games: &BenchGames,
    (all, one): (&[&Block], &[&Block]),
    runs: usize,
    check: &Check,
) -> Result<Value, Failure> {
    let NamedQuery { name, text, prepared } = &known.query;
    let cpu = prepared.cpu().map_err(failed)?;
    let groups: Vec<&[&Block]> = all.chunks(1).collect();
    let (together, mut found) = best(runs, || in_parallel(games.threads, &groups, &cpu))?;
    let (alone, mut found_alone) = best(1, || cpu.hits(one).map_err(failed))?;
    let differing = check.differing(name, &known.truth, &mut found, all)
        + check.differing("", &known.truth, &mut found_alone[0], one);
    let positions_s = rate(positions(all), together);
    let mut row = json!({
        "query": text,
        "threads": games.threads,
        "positions": positions(all),
        "ns": nanoseconds(positions_s),
        "positions_s": positions_s,
        "thread_positions_s": rate(positions(one), alone),
    });
    agreement(&mut row, differing);
    Ok(row)
}

/// Measures several queries at once: on games in the card's memory, on games that are uploaded during the search, and on the
/// processor. A rate counts each position once, not once per query.
pub fn shared(
    queries: &[&KnownAnswer],
    device: &Arc<GpuDevice>,
    card: &GamesOnCard,
    cpu_blocks: &[&Block],
    threads: usize,
    (variant, runs, check): (Variant, usize, &Check),
) -> Result<Value, Failure> {
    let plans = orbit_engine::plans(queries.iter().map(|known| &known.query.prepared)).map_err(failed)?;
    let gpu = Gpu::with_variant(Arc::clone(&plans), Arc::clone(device), variant);
    let begun = Instant::now();
    gpu.hits(&card.blocks[..1]).map_err(failed)?;
    let compile = begun.elapsed();
    let (took, (found, _)) = best(runs, || gpu.scan_resident(&card.resident).map_err(failed))?;
    let mut differing = 0;
    let mut compare = |found: Vec<Vec<Hits>>, blocks: &[&Block]| {
        if found.len() != queries.len() {
            differing += positions(blocks);
        }
        for (known, mut hits) in queries.iter().zip(found) {
            differing += check.differing(known.name(), &known.truth, &mut hits, blocks);
        }
    };
    compare(found, &card.blocks);
    let groups: Vec<&[&Block]> = card.blocks.chunks(gpu.info().blocks_at_once).collect();
    let (streamed, found) =
        best(runs, || side_by_side(threads.max(2), &groups, |group| gpu.hits(group).map_err(failed)))?;
    compare(by_query(found, queries.len()), &card.blocks);
    let on_cpu = Cpu::new(plans);
    let groups: Vec<&[&Block]> = cpu_blocks.chunks(1).collect();
    let (cpu, found) =
        best(runs, || side_by_side(threads, &groups, |group| on_cpu.hits(group).map_err(failed)))?;
    compare(by_query(found, queries.len()), cpu_blocks);
    let resident = rate(card.positions, took);
    let mut row = json!({
        "queries": queries.len(),
        "variant": variant.to_string(),
        "positions": card.positions,
        "compile_s": compile.as_secs_f64(),
        "ns": nanoseconds(resident),
        "positions_s": resident,
        "streamed_positions_s": rate(card.positions, streamed),
        "cpu_positions_s": rate(positions(cpu_blocks), cpu),
    });
    agreement(&mut row, differing);
    Ok(row)
}

/// Merges the answers, which are grouped by blocks, into one list per query.
fn by_query(groups: Vec<Vec<Vec<Hits>>>, queries: usize) -> Vec<Vec<Hits>> {
    let mut out: Vec<Vec<Hits>> = (0..queries).map(|_| Vec::new()).collect();
    for group in groups {
        out.iter_mut().zip(group).for_each(|(all, hits)| all.extend(hits));
    }
    out
}
