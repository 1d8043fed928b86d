//! The engine for graphics cards: a plan printed as WGSL, run through wgpu on Vulkan, Metal or
//! Direct3D 12.
//!
//! One invocation replays one segment of 32 slots and evaluates the query at each; its answer is one
//! word of 32 bits. A [`Variant`] may share the work out in another way, with the same answers. Values and counts of copies take a second pass over the segments that hit. Blocks
//! are packed into chunks of up to 8 M positions; while one is uploaded, another computes.
//! Knows plans and reels, nothing of queries.
//!
//! Nothing here panics or hangs when a driver fails, see [`GpuError`]: whatever calls wgpu does so through
//! `Device` in `device.rs`, on a helper thread (`driver.rs`). A device that is lost is opened once more, and what was under way
//! is done again from the start, so that answers stay exact.

mod adapters;
mod carry;
mod device;
mod driver;
mod error;
mod floors;
mod pack;
mod run;
mod uploads;
mod variant;
mod wgsl;
mod work;

use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};

use super::{
    Batch, Engine, EngineError, Hits, Values, Want,
    columns::{GameColumn, game_columns},
};
use crate::{
    plan::{Column, CopiesPlan, Output, Plan, Planner, SharedPlan},
    reel::{Block, SEGMENT_SLOTS},
};
use device::Device;
use pack::{Caps, Chunk, chunks};
use run::{Input, LANES, Lane, Run, caps, timed};

pub use adapters::{AdapterChoice, AdapterReport, adapters};
#[doc(hidden)]
pub use device::Fault;
pub use device::{GpuLimits, GpuOptions};
pub use error::GpuError;
pub use floors::Floor;
pub use run::Times;
pub use variant::{UnknownVariant, Variant};
pub use wgsl::Kernel;
pub use work::Work;

/// A graphics card that is open, for any number of engines.
pub struct GpuDevice {
    options: GpuOptions,
    state: Mutex<State>,
}

struct State {
    open: Arc<Open>,
    /// Whether a device was lost before.
    lost: bool,
}

/// A device and the lanes that no thread uses at the moment.
struct Open {
    device: Device,
    lanes: Mutex<Lanes>,
    returned: Condvar,
}

#[derive(Default)]
struct Lanes {
    idle: Vec<Lane>,
    lent: u64,
}

impl Open {
    fn new(options: &GpuOptions) -> Result<Arc<Open>, GpuError> {
        let device = Device::open(options)?;
        Ok(Arc::new(Open { device, lanes: Mutex::default(), returned: Condvar::new() }))
    }

    /// Lends a lane, once there is one.
    fn lane(&self) -> Lent<'_> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        while lanes.lent == LANES {
            lanes = self.returned.wait(lanes).unwrap_or_else(PoisonError::into_inner);
        }
        lanes.lent += 1;
        Lent { open: self, lane: lanes.idle.pop().unwrap_or_else(Lane::new), is_sound: false }
    }
}

impl Open {
    /// Runs the stages of a kernel on blocks.
    fn carry(
        &self,
        kernel: &Kernel,
        blocks: &[&Block],
        columns: &[Vec<GameColumn>],
        caps: &Caps,
    ) -> Result<carry::Carried, GpuError> {
        carry::carry(&self.device, kernel, blocks, columns, |work| {
            for chunk in chunks(blocks, caps)? {
                let mut lane = self.lane();
                let (input, run) = lane.parts();
                let encoder = run.upload(&self.device, input, (&chunk, kernel.variant.transposed), blocks)?;
                run.submit(&self.device, encoder)?;
                work(&chunk, input, run)?;
                lane.done();
            }
            Ok(())
        })
    }
}

/// A lane that goes back when its work is done. After an error or a panic its buffers may be in any state,
/// and another lane takes its place.
struct Lent<'a> {
    open: &'a Open,
    lane: Lane,
    is_sound: bool,
}

impl Lent<'_> {
    fn parts(&mut self) -> (&mut Input, &mut Run) {
        (&mut self.lane.input, &mut self.lane.run)
    }

    /// Gives the lane back for others.
    fn done(mut self) {
        self.is_sound = true;
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let lane = std::mem::replace(&mut self.lane, Lane::new());
        let mut lanes = self.open.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.idle.extend(self.is_sound.then_some(lane));
        lanes.lent -= 1;
        self.open.returned.notify_one();
    }
}

impl std::fmt::Debug for GpuDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GpuDevice").field("options", &self.options).finish_non_exhaustive()
    }
}

impl GpuDevice {
    /// Opens an adapter; if that fails for once, again.
    ///
    /// # Errors
    ///
    /// No such adapter, or one that cannot be opened.
    pub fn open(options: GpuOptions) -> Result<GpuDevice, GpuError> {
        let (open, lost) = match Open::new(&options) {
            Err(GpuError::Open { .. } | GpuError::OutOfMemory { .. }) => (Open::new(&options)?, true),
            other => (other?, false),
        };
        Ok(GpuDevice { options, state: Mutex::new(State { open, lost }) })
    }

    /// What its adapter says of itself.
    pub fn report(&self) -> AdapterReport {
        self.current().device.report.clone()
    }

    fn current(&self) -> Arc<Open> {
        Arc::clone(&self.state.lock().unwrap_or_else(PoisonError::into_inner).open)
    }

    /// Runs something that can be repeated; if the device is lost, once more on a new one.
    fn attempt<T>(&self, mut work: impl FnMut(&Open) -> Result<T, GpuError>) -> Result<T, GpuError> {
        let open = self.current();
        match work(&open) {
            Err(error) if error.is_loss() => work(&*self.reopen(&open, error)?),
            other => other,
        }
    }

    /// The device after one that was lost.
    fn reopen(&self, old: &Arc<Open>, error: GpuError) -> Result<Arc<Open>, GpuError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&state.open, old) {
            if state.lost {
                return Err(error);
            }
            state.lost = true;
            // If there is none any more, the loss is what happened.
            state.open = Open::new(&Device::options_after_loss(&self.options)).map_err(|_| error)?;
        }
        Ok(Arc::clone(&state.open))
    }

    /// Compiles a kernel of the first pass, so that its time can be told from others.
    ///
    /// # Errors
    ///
    /// What the driver refuses.
    pub fn compile(&self, kernel: &Kernel) -> Result<(), GpuError> {
        self.attempt(|open| open.device.pipeline(kernel, device::Pass::Hits).map(|_| ()))
    }

    /// Uploads blocks, to run any number of queries on them. What a plan knows of games (tags, ratings)
    /// is uploaded with each query.
    ///
    /// # Errors
    ///
    /// What keeps the device from holding them.
    pub fn upload<'a>(&self, blocks: &[&'a Block]) -> Result<Resident<'a>, GpuError> {
        self.upload_as(blocks, self.options.variant)
    }

    /// The same for engines of a variant, or of any other that lays blocks out alike.
    ///
    /// # Errors
    ///
    /// What keeps the device from holding them.
    pub fn upload_as<'a>(&self, blocks: &[&'a Block], variant: Variant) -> Result<Resident<'a>, GpuError> {
        let transposed = variant.transposed;
        let open = self.current();
        let mut times = Times::default();
        let device = &open.device;
        let resident = timed(&mut times.upload, || {
            // A chunk must suit whatever runs on it, also a query with many columns.
            let caps = Caps { bytes: u64::MAX, ..caps(device, &[], COLUMNS_MAX)? };
            let mut run = Run::new();
            let chunks = chunks(blocks, &caps)?.into_iter().map(|chunk| {
                let mut input = Input::new();
                let encoder = run.upload(device, &mut input, (&chunk, transposed), blocks)?;
                run.submit(device, encoder)?;
                Ok((chunk, input))
            });
            let chunks = chunks.collect::<Result<Vec<_>, GpuError>>()?;
            run.wait(device)?;
            Ok::<_, GpuError>(chunks)
        })?;
        let runs = Mutex::new([Run::new(), Run::new()]);
        Ok(Resident { blocks: blocks.to_vec(), chunks: resident, transposed, runs, open, times })
    }
}

/// Columns of a query that a chunk which stays on the device has room for.
const COLUMNS_MAX: usize = 64;

/// Blocks that stay on a device. One thread at a time runs queries on them.
pub struct Resident<'a> {
    blocks: Vec<&'a Block>,
    chunks: Vec<(Chunk, Input)>,
    /// How they lie there.
    transposed: bool,
    runs: Mutex<[Run; 2]>,
    open: Arc<Open>,
    times: Times,
}

impl Resident<'_> {
    /// What the upload took.
    pub fn times(&self) -> Times {
        self.times
    }

    /// Bytes of keys, moves and start tables on the device.
    pub fn bytes(&self) -> u64 {
        self.chunks.iter().map(|(chunk, _)| pack::bytes(chunk.segments, chunk.starts)).sum()
    }

    /// First pass over everything: the hits of each of the kernel's queries on each block. While one
    /// chunk is computed, the one before is read back.
    fn scan(&self, kernel: &Kernel, columns: &[Column]) -> Result<(Vec<Vec<Hits>>, Times), GpuError> {
        let Resident { blocks, chunks, runs, open, .. } = self;
        if kernel.variant.transposed != self.transposed {
            return Err(GpuError::OtherLayout { variant: kernel.variant });
        }
        if columns.len() > COLUMNS_MAX {
            let (needed, available) = (columns.len() as u64, COLUMNS_MAX as u64);
            return Err(GpuError::TooSmall { what: "a game's columns", needed, available });
        }
        let device = &open.device;
        let needed = kernel.all().map(|kernel| 4 * kernel.carried_words).max().unwrap_or(0) as u64
            * chunks.iter().map(|(chunk, _)| chunk.segments as u64).max().unwrap_or(0);
        if needed > device.limits.binding_bytes {
            let available = device.limits.binding_bytes;
            return Err(GpuError::TooSmall { what: "what `find` carries along games", needed, available });
        }
        let mut times = Times::default();
        let mut out = no_hits(blocks, kernel.outputs);
        let columns = columns_of(columns, blocks);
        let mut lent = runs.lock().unwrap_or_else(PoisonError::into_inner);
        // After an error their buffers may be in any state: new ones stand there until all is done.
        let mut runs = std::mem::replace(&mut *lent, [Run::new(), Run::new()]);
        let mut waiting: Option<(usize, run::Pending)> = None;
        timed(&mut times.run, || {
            for run in &mut runs {
                run.start_clock(device)?;
            }
            let carried = carry::carry(device, kernel, blocks, &columns, |work| {
                chunks.iter().try_for_each(|(chunk, input)| work(chunk, input, &mut runs[0]))
            })?;
            for (index, (chunk, input)) in chunks.iter().enumerate() {
                let run = &mut runs[index % 2];
                run.set_columns(device, chunk, &columns)?;
                run.set_carried(device, chunk, &carried)?;
                let pending = run.begin_hits(device, input, kernel, None)?;
                if let Some((before, pending)) = waiting.replace((index, pending)) {
                    let run = &mut runs[before % 2];
                    run.finish(device, pending, |bytes| store(&chunks[before].0, bytes, blocks, &mut out))?;
                }
            }
            if let Some((last, pending)) = waiting {
                let run = &mut runs[last % 2];
                run.finish(device, pending, |bytes| store(&chunks[last].0, bytes, blocks, &mut out))?;
            }
            Ok::<(), GpuError>(())
        })?;
        times.kernel = runs.iter_mut().filter_map(Run::stop_clock).reduce(|a, b| a + b);
        *lent = runs;
        Ok((out, times))
    }
}

/// Blocks that are best given together: about 4 M positions, an invocation for every lane of a large
/// card.
const BLOCKS_AT_ONCE: usize = 32;

/// A plan and its kernel.
#[derive(Debug)]
struct Printed<P> {
    plan: P,
    kernel: Kernel,
}

/// See the module.
#[derive(Debug)]
pub struct Gpu {
    planner: Arc<Planner>,
    device: Arc<GpuDevice>,
    variant: Variant,
    hits: Printed<Plan>,
    values: OnceLock<Printed<Plan>>,
    copies: OnceLock<Printed<CopiesPlan>>,
}

impl Gpu {
    /// An engine for one query, its kernels written as the device's options say.
    pub fn new(planner: Arc<Planner>, device: Arc<GpuDevice>) -> Gpu {
        let variant = device.options.variant;
        Gpu::with_variant(planner, device, variant)
    }

    /// The same with kernels of a variant.
    pub fn with_variant(planner: Arc<Planner>, device: Arc<GpuDevice>, variant: Variant) -> Gpu {
        let plan = planner.hits();
        let kernel = Kernel::hits(&plan.program, &[plan.hit], plan.columns.len(), variant);
        let hits = Printed { plan, kernel };
        Gpu { planner, device, variant, hits, values: OnceLock::new(), copies: OnceLock::new() }
    }

    /// The kernel of the first pass.
    pub fn kernel(&self) -> &Kernel {
        &self.hits.kernel
    }

    fn values(&self) -> &Printed<Plan> {
        self.values.get_or_init(|| {
            let plan = self.planner.values();
            let word = match plan.output {
                Output::Set(reg) | Output::Num(reg) => reg,
                Output::Bool => plan.hit,
            };
            let kernel = Kernel::words(&plan.program, &[word], plan.columns.len(), self.variant);
            Printed { plan, kernel }
        })
    }

    fn copy_words(&self) -> &Printed<CopiesPlan> {
        self.copies.get_or_init(|| {
            let plan = self.planner.each_copy();
            let kernel = Kernel::words(&plan.program, &plan.words, plan.columns.len(), self.variant);
            Printed { plan, kernel }
        })
    }

    /// Evaluates blocks that are on the device.
    ///
    /// # Errors
    ///
    /// What keeps the engine from finishing; a device that is lost takes what was on it along.
    pub fn scan_resident(&self, resident: &Resident<'_>) -> Result<(Vec<Hits>, Times), GpuError> {
        let (mut hits, times) = resident.scan(&self.hits.kernel, &self.hits.plan.columns)?;
        Ok((hits.pop().expect("one query has one answer"), times))
    }

    fn scan_on(&self, open: &Open, blocks: &[&Block], want: Want) -> Result<Vec<Hits>, GpuError> {
        let device = &open.device;
        let mut out: Vec<Hits> =
            blocks.iter().map(|block| Hits::new(block, want, self.planner.ty())).collect();
        let values = out.iter().any(|hits| hits.values != Values::None).then(|| self.values());
        let columns = columns_of(&self.hits.plan.columns, blocks);
        let value_columns = values.map(|values| columns_of(&values.plan.columns, blocks));
        let width = self.hits.plan.columns.len().max(values.map_or(0, |values| values.plan.columns.len()));
        let kernels: Vec<&Kernel> =
            [&self.hits.kernel].into_iter().chain(values.map(|values| &values.kernel)).collect();
        let caps = caps(device, &kernels, width)?;
        let carried = open.carry(&self.hits.kernel, blocks, &columns, &caps)?;
        let value_carried = match (values, &value_columns) {
            (Some(values), Some(columns)) => Some(open.carry(&values.kernel, blocks, columns, &caps)?),
            _ => None,
        };
        for chunk in chunks(blocks, &caps)? {
            let mut lane = open.lane();
            let (input, run) = lane.parts();
            let encoder = run.upload(device, input, (&chunk, self.variant.transposed), blocks)?;
            run.set_columns(device, &chunk, &columns)?;
            run.set_carried(device, &chunk, &carried)?;
            let pending = run.begin_hits(device, input, &self.hits.kernel, Some(encoder))?;
            run.finish(device, pending, |bytes| {
                store_bits(&chunk, bytemuck::cast_slice(bytes), blocks, &mut out);
            })?;
            if let (Some(values), Some(columns), Some(carried)) = (values, &value_columns, &value_carried) {
                run.set_columns(device, &chunk, columns)?;
                run.set_carried(device, &chunk, carried)?;
                let hits = hits_of(&chunk, |block, segment| out[block].bits[segment]);
                run.words(device, input, &values.kernel, &hits, |hits, words| {
                    store_values(&chunk, hits, words, &mut out);
                })?;
            }
            lane.done();
        }
        Ok(out)
    }

    fn count_on(&self, open: &Open, block: &Block, hits: &Hits) -> Result<Vec<u64>, GpuError> {
        let Printed { plan, kernel } = self.copy_words();
        let device = &open.device;
        let blocks = [block];
        let columns = columns_of(&plan.columns, &blocks);
        let mut counts = vec![0u64; plan.copies.len()];
        let caps = caps(device, &[kernel], plan.columns.len())?;
        let carried = open.carry(kernel, &blocks, &columns, &caps)?;
        for chunk in chunks(&blocks, &caps)? {
            let list = hits_of(&chunk, |_, segment| hits.bits[segment]);
            if list.is_empty() {
                continue;
            }
            let mut lane = open.lane();
            let (input, run) = lane.parts();
            let encoder = run.upload(device, input, (&chunk, self.variant.transposed), &blocks)?;
            run.submit(device, encoder)?;
            run.set_columns(device, &chunk, &columns)?;
            run.set_carried(device, &chunk, &carried)?;
            run.words(device, input, kernel, &list, |_, words| {
                for words in words.chunks_exact(plan.words.len()) {
                    plan.add_counts(words, &mut counts);
                }
            })?;
            lane.done();
        }
        Ok(counts)
    }
}

/// No hits yet of some queries on some blocks.
fn no_hits(blocks: &[&Block], queries: usize) -> Vec<Vec<Hits>> {
    let none = |block: &&Block| Hits { bits: vec![0; block.segments()], values: Values::None };
    (0..queries).map(|_| blocks.iter().map(none).collect()).collect()
}

/// Puts the first pass's words, those of one query after those of another, where they belong.
fn store(chunk: &Chunk, bytes: &[u8], blocks: &[&Block], out: &mut [Vec<Hits>]) {
    let words: &[u32] = bytemuck::cast_slice(bytes);
    for (words, hits) in words.chunks_exact(chunk.segments).zip(out) {
        store_bits(chunk, words, blocks, hits);
    }
}

fn columns_of(columns: &[Column], blocks: &[&Block]) -> Vec<Vec<GameColumn>> {
    blocks.iter().map(|block| game_columns(columns, block)).collect()
}

/// Puts the words of a chunk's segments where they belong, the tail of each block without bits.
fn store_bits(chunk: &Chunk, words: &[u32], blocks: &[&Block], out: &mut [Hits]) {
    let mut words = words;
    for piece in &chunk.pieces {
        let (these, others) = words.split_at(piece.segments.len());
        words = others;
        let bits = &mut out[piece.block].bits;
        bits[piece.segments.clone()].copy_from_slice(these);
        let block = blocks[piece.block];
        let tail = block.slots() % SEGMENT_SLOTS;
        if tail != 0 && piece.segments.end == block.segments() {
            bits[piece.segments.end - 1] &= (1 << tail) - 1;
        }
    }
}

/// The segments of a chunk that have hits, counted from its first, with their bits.
fn hits_of(chunk: &Chunk, bits: impl Fn(usize, usize) -> u32) -> Vec<(u32, u32)> {
    let segments = chunk.pieces.iter().flat_map(|piece| piece.segments.clone().map(|seg| (piece.block, seg)));
    segments
        .zip(0..)
        .map(|((block, segment), index)| (index, bits(block, segment)))
        .filter(|&(_, bits)| bits != 0)
        .collect()
}

/// Puts the values of hits where they belong.
fn store_values(chunk: &Chunk, hits: &[(u32, u32)], words: &[u64], out: &mut [Hits]) {
    let mut words = words.iter();
    let mut pieces = chunk.pieces.iter();
    let (mut first, mut piece) = (0, pieces.next().expect("a chunk has a piece"));
    for &(segment, slots) in hits {
        while segment as usize - first >= piece.segments.len() {
            first += piece.segments.len();
            piece = pieces.next().expect("hits are those of the chunk's pieces");
        }
        let slot = (piece.segments.start + segment as usize - first) * SEGMENT_SLOTS;
        for i in (0..SEGMENT_SLOTS).filter(|i| slots >> i & 1 != 0) {
            let word = *words.next().expect("each hit has a word");
            match &mut out[piece.block].values {
                Values::Numbers(numbers) => numbers[slot + i] = word as i32,
                Values::Sets(sets) => sets[slot + i] = word,
                Values::None => {}
            }
        }
    }
}

impl Engine for Gpu {
    fn name(&self) -> &'static str {
        "gpu"
    }

    fn scan(&self, block: &Block, want: Want) -> Result<Hits, EngineError> {
        let mut hits = self.scan_many(&[block], want)?;
        Ok(hits.pop().expect("one block has one answer"))
    }

    fn scan_many(&self, blocks: &[&Block], want: Want) -> Result<Vec<Hits>, EngineError> {
        Ok(self.device.attempt(|open| self.scan_on(open, blocks, want))?)
    }

    fn blocks_at_once(&self) -> usize {
        BLOCKS_AT_ONCE
    }

    fn copies(&self) -> usize {
        self.planner.copies()
    }

    fn copy_counts(&self, block: &Block, hits: &Hits, counts: &mut [u64]) -> Result<(), EngineError> {
        let found = self.device.attempt(|open| self.count_on(open, block, hits))?;
        counts.iter_mut().zip(found).for_each(|(count, found)| *count += found);
        Ok(())
    }
}

/// Queries that share a kernel at most, and the steps that they may have together: what is gained by
/// replaying once is lost again when a kernel needs more registers than the card has.
const SHARED_QUERIES_MAX: usize = 16;
const SHARED_STEPS_MAX: u64 = 1000;

/// Several queries on a graphics card, those that are cheap in one kernel.
#[derive(Debug)]
pub struct GpuBatch {
    device: Arc<GpuDevice>,
    variant: Variant,
    shared: Vec<Printed<SharedPlan>>,
}

impl GpuBatch {
    /// An engine for several queries, its kernels written as the device's options say.
    pub fn new(planners: &[&Planner], device: Arc<GpuDevice>) -> GpuBatch {
        let variant = device.options.variant;
        GpuBatch::with_variant(planners, device, variant)
    }

    /// The same with kernels of a variant.
    pub fn with_variant(planners: &[&Planner], device: Arc<GpuDevice>, variant: Variant) -> GpuBatch {
        let mut shared = Vec::new();
        let mut rest = planners;
        while !rest.is_empty() {
            let (mut plan, mut len) = (Planner::shared(&rest[..1]), 1);
            while len < rest.len().min(SHARED_QUERIES_MAX) {
                let more = Planner::shared(&rest[..len + 1]);
                if more.program.cost() > SHARED_STEPS_MAX {
                    break;
                }
                (plan, len) = (more, len + 1);
            }
            let kernel = Kernel::shared(&plan.program, plan.columns.len(), variant);
            shared.push(Printed { plan, kernel });
            rest = &rest[len..];
        }
        GpuBatch { device, variant, shared }
    }

    /// Evaluates blocks that are on the device: the hits of each query on each block.
    ///
    /// # Errors
    ///
    /// What keeps the engine from finishing.
    pub fn scan_resident(&self, resident: &Resident<'_>) -> Result<(Vec<Vec<Hits>>, Times), GpuError> {
        let (mut out, mut all) = (Vec::new(), Times::default());
        for Printed { plan, kernel } in &self.shared {
            let (hits, times) = resident.scan(kernel, &plan.columns)?;
            out.extend(hits);
            all.run += times.run;
            all.kernel = all.kernel.zip(times.kernel).map(|(a, b)| a + b).or(times.kernel);
        }
        Ok((out, all))
    }

    fn scan_on(&self, open: &Open, blocks: &[&Block]) -> Result<Vec<Vec<Hits>>, GpuError> {
        let device = &open.device;
        let columns: Vec<_> = self.shared.iter().map(|it| columns_of(&it.plan.columns, blocks)).collect();
        let mut out: Vec<Vec<Vec<Hits>>> =
            self.shared.iter().map(|it| no_hits(blocks, it.plan.queries)).collect();
        let kernels: Vec<&Kernel> = self.shared.iter().map(|it| &it.kernel).collect();
        let width = self.shared.iter().map(|it| it.plan.columns.len()).max().unwrap_or(0);
        let caps = caps(device, &kernels, width)?;
        let carried =
            kernels.iter().zip(&columns).map(|(kernel, columns)| open.carry(kernel, blocks, columns, &caps));
        let carried = carried.collect::<Result<Vec<_>, GpuError>>()?;
        for chunk in chunks(blocks, &caps)? {
            let mut lane = open.lane();
            let (input, run) = lane.parts();
            let mut encoder = Some(run.upload(device, input, (&chunk, self.variant.transposed), blocks)?);
            let each = kernels.iter().zip(&columns).zip(&carried).zip(&mut out);
            for (((kernel, columns), carried), out) in each {
                run.set_columns(device, &chunk, columns)?;
                run.set_carried(device, &chunk, carried)?;
                let pending = run.begin_hits(device, input, kernel, encoder.take())?;
                run.finish(device, pending, |bytes| store(&chunk, bytes, blocks, out))?;
            }
            lane.done();
        }
        Ok(out.into_iter().flatten().collect())
    }
}

impl Batch for GpuBatch {
    fn name(&self) -> &'static str {
        "gpu"
    }

    fn queries(&self) -> usize {
        self.shared.iter().map(|it| it.plan.queries).sum()
    }

    fn scan_many(&self, blocks: &[&Block]) -> Result<Vec<Vec<Hits>>, EngineError> {
        Ok(self.device.attempt(|open| self.scan_on(open, blocks))?)
    }

    fn blocks_at_once(&self) -> usize {
        BLOCKS_AT_ONCE
    }
}
