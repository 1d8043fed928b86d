//! The engine for graphics cards: a plan printed as WGSL, run through wgpu on Vulkan, Metal or
//! Direct3D 12.
//!
//! One invocation replays one segment of 32 slots and evaluates the query at each; its answer is one
//! word of 32 bits. A [`Variant`] may share the work out in another way, with the same answers. Values and counts of copies take a second pass over the segments that hit. Blocks
//! are packed into uploads of up to 8 M positions; while one is uploaded, another computes.
//! Knows plans and reels, nothing of queries.
//!
//! Nothing here panics or hangs when a driver fails, see [`GpuError`]: whatever calls wgpu does so through
//! `Device` in `device.rs`, on a helper thread (`driver.rs`). A device that is lost is opened once more, and what was under way
//! is done again from the start, so that answers stay exact.

mod adapters;
mod along;
mod carry;
mod device;
mod driver;
mod edges;
mod engine;
mod floors;
mod pack;
mod run;
mod uploads;
mod walks;
mod ways;
mod wgsl;
mod work;

use std::sync::{Arc, Condvar, Mutex, atomic::Ordering};

use super::{Hits, Interrupt, context::Context};
use carry::Staged;
use device::{BUFFER_SETS, Device};
use orbit_core::sync::{lock, wait};
use orbit_plan::{Column, Plan};
use orbit_reel::{Block, SEGMENT_SLOTS};
use pack::{Caps, Upload, uploads};
use run::{BufferSet, Input, Run, caps, timed};

pub use super::cards::*;
pub use adapters::adapters;
pub use engine::Gpu;
pub use wgsl::Kernel;
pub use work::Work;

/// The kernel of a plan's hits, as it is written for any card.
///
/// # Errors
///
/// That there is no GPU engine, in a build without it.
pub fn kernel(plan: &Plan, variant: Variant) -> Result<Kernel, GpuError> {
    Ok(Kernel::hits(&plan.program, &[plan.hit], plan.columns.len(), variant))
}

impl GpuError {
    /// Tells whether a new device may do better.
    fn is_loss(&self) -> bool {
        matches!(self, GpuError::Lost { .. })
    }

    /// The same as it is called while a device is looked for or opened.
    fn of_opening(self) -> GpuError {
        match self {
            GpuError::Lost { reason } => GpuError::Open { name: "the GPU".into(), reason },
            other => other,
        }
    }
}

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

/// A device and the sets of buffers that no thread uses at the moment.
struct Open {
    device: Device,
    sets: Mutex<BufferSets>,
    returned: Condvar,
}

#[derive(Default)]
struct BufferSets {
    idle: Vec<BufferSet>,
    lent: u64,
}

impl Open {
    fn new(options: &GpuOptions) -> Result<Arc<Open>, GpuError> {
        let device = Device::open(options)?;
        Ok(Arc::new(Open { device, sets: Mutex::default(), returned: Condvar::new() }))
    }

    /// Lends a set of buffers, once there is one.
    fn set(&self) -> Lent<'_> {
        let mut sets = lock(&self.sets);
        while sets.lent == BUFFER_SETS {
            sets = wait(&self.returned, sets);
        }
        sets.lent += 1;
        Lent { open: self, set: sets.idle.pop().unwrap_or_else(BufferSet::new), is_sound: false }
    }

    /// Frees the sets that no thread uses: they grew to what other queries needed.
    fn trim(&self) {
        lock(&self.sets).idle.clear();
    }
}

/// A set of buffers that goes back when its work is done. After an error or a panic its buffers may be in any state,
/// and another set takes its place.
struct Lent<'a> {
    open: &'a Open,
    set: BufferSet,
    is_sound: bool,
}

impl Lent<'_> {
    fn parts(&mut self) -> (&mut Input, &mut Run) {
        (&mut self.set.input, &mut self.set.run)
    }

    /// Gives the set of buffers back for others.
    fn done(mut self) {
        self.is_sound = true;
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let set = std::mem::replace(&mut self.set, BufferSet::new());
        let mut sets = lock(&self.open.sets);
        sets.idle.extend(self.is_sound.then_some(set));
        sets.lent -= 1;
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

    /// How many stages of plans were carried along games on the device, since it was opened, and not by the processor.
    #[doc(hidden)]
    pub fn stages_carried(&self) -> u64 {
        self.current().device.stages_carried.load(Ordering::Relaxed)
    }

    fn current(&self) -> Arc<Open> {
        Arc::clone(&lock(&self.state).open)
    }

    /// Runs something that can be repeated; if the device is lost, once more on a new one, and if there is too little
    /// memory, once more without what other queries have left there.
    fn attempt<T>(&self, mut work: impl FnMut(&Open) -> Result<T, GpuError>) -> Result<T, GpuError> {
        let open = self.current();
        let first = match work(&open) {
            Err(GpuError::OutOfMemory { .. }) => {
                open.trim();
                work(&open)
            }
            other => other,
        };
        match first {
            Err(error) if error.is_loss() => work(&*self.reopen(&open, error)?),
            other => other,
        }
    }

    /// The device after one that was lost.
    fn reopen(&self, old: &Arc<Open>, error: GpuError) -> Result<Arc<Open>, GpuError> {
        let mut state = lock(&self.state);
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
            // An upload must suit whatever runs on it, also a query with many columns.
            let caps = Caps { bytes: u64::MAX, ..caps(device, &[], COLUMNS_MAX)? };
            let mut run = Run::new();
            let uploads = uploads(blocks, &caps)?.into_iter().map(|upload| {
                let mut input = Input::new();
                run.upload(device, &mut input, (&upload, transposed), blocks)?;
                if let Some(games) = upload.whole_games(blocks) {
                    input.set_games(device, &games)?;
                }
                Ok((upload, input))
            });
            let uploads = uploads.collect::<Result<Vec<_>, GpuError>>()?;
            run.wait(device)?;
            Ok::<_, GpuError>(uploads)
        })?;
        let runs = Mutex::new([Run::new(), Run::new()]);
        Ok(Resident { blocks: blocks.to_vec(), uploads: resident, transposed, runs, open, times })
    }
}

/// Columns of a query that an upload which stays on the device has room for.
const COLUMNS_MAX: usize = 64;

/// Blocks that stay on a device. One thread at a time runs queries on them.
pub struct Resident<'a> {
    blocks: Vec<&'a Block>,
    uploads: Vec<(Upload, Input)>,
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
        self.uploads.iter().map(|(upload, _)| pack::bytes(upload.segments, upload.starts)).sum()
    }

    /// Whether the device carries what the stages of a kernel find.
    fn carries(&self, kernel: &Kernel) -> bool {
        let games: Option<Vec<usize>> = self.uploads.iter().map(|(_, input)| input.game_count()).collect();
        let segments = self.uploads.iter().map(|(upload, _)| upload.segments).max().unwrap_or(0);
        kernel.carries_on_device()
            && games.is_some_and(|games| {
                let games = games.into_iter().max().unwrap_or(0);
                along::has_room(&self.open.device, [kernel].into_iter(), (segments, games))
            })
    }

    /// First pass over everything: the hits of each of the kernel's queries on each block. While one
    /// upload is computed, the one before is read back.
    fn scan(&self, kernel: &Kernel, columns: &[Column]) -> Result<(Vec<Vec<Hits>>, Times), GpuError> {
        let Resident { blocks, uploads, runs, open, .. } = self;
        if kernel.variant.transposed != self.transposed {
            return Err(GpuError::OtherLayout { variant: kernel.variant.to_string() });
        }
        if columns.len() > COLUMNS_MAX {
            let (needed, available) = (columns.len() as u64, COLUMNS_MAX as u64);
            return Err(GpuError::TooSmall { what: "a game's columns", needed, available });
        }
        let device = &open.device;
        let needed = kernel.all().map(|kernel| 4 * kernel.carried_words).max().unwrap_or(0) as u64
            * uploads.iter().map(|(upload, _)| upload.segments as u64).max().unwrap_or(0);
        if needed > device.limits.binding_bytes {
            let available = device.limits.binding_bytes;
            return Err(GpuError::TooSmall { what: "what `find` carries along games", needed, available });
        }
        let mut times = Times::default();
        let mut out = no_hits(blocks, kernel.outputs);
        let mut contexts = contexts(blocks, &Interrupt::default());
        contexts.iter_mut().for_each(|context| context.add_columns(columns));
        let mut lent = lock(runs);
        // After an error their buffers may be in any state: new ones stand there until all is done.
        let mut runs = std::mem::replace(&mut *lent, [Run::new(), Run::new()]);
        let mut waiting: Option<(usize, run::Pending)> = None;
        timed(&mut times.run, || {
            for run in &mut runs {
                run.start_clock(device)?;
            }
            let staged = Staged { kernel, columns: columns.len(), on_device: self.carries(kernel) };
            let all = |work: &mut carry::OnUpload<'_>| {
                uploads.iter().try_for_each(|(upload, input)| work(upload, input, &mut runs[0]))
            };
            carry::carry(device, staged, &mut contexts, all)?;
            for (index, (upload, input)) in uploads.iter().enumerate() {
                let run = &mut runs[index % 2];
                run.forget_carried();
                carry::set(device, staged, (upload, input), &contexts, run)?;
                let pending = run.begin_hits(device, input, kernel)?;
                if let Some((before, pending)) = waiting.replace((index, pending)) {
                    let run = &mut runs[before % 2];
                    run.finish(device, pending, |bytes| store(&uploads[before].0, bytes, blocks, &mut out))?;
                }
            }
            if let Some((last, pending)) = waiting {
                let run = &mut runs[last % 2];
                run.finish(device, pending, |bytes| store(&uploads[last].0, bytes, blocks, &mut out))?;
            }
            Ok::<(), GpuError>(())
        })?;
        times.kernel = runs.iter_mut().filter_map(Run::stop_clock).reduce(|a, b| a + b);
        *lent = runs;
        Ok((out, times))
    }
}

/// What is known of blocks beside their positions: nothing yet.
fn contexts<'a>(blocks: &[&'a Block], interrupt: &Interrupt) -> Vec<Context<'a>> {
    blocks.iter().map(|block| Context::new(block, Vec::new(), interrupt.clone())).collect()
}

/// No hits yet of some queries on some blocks.
fn no_hits(blocks: &[&Block], queries: usize) -> Vec<Vec<Hits>> {
    let none = |block: &&Block| Hits::new(block);
    (0..queries).map(|_| blocks.iter().map(none).collect()).collect()
}

/// Puts the first pass's words, those of one query after those of another, where they belong.
fn store(upload: &Upload, bytes: &[u8], blocks: &[&Block], out: &mut [Vec<Hits>]) {
    let words: &[u32] = bytemuck::cast_slice(bytes);
    for (words, hits) in words.chunks_exact(upload.segments).zip(out) {
        store_bits(upload, words, blocks, hits);
    }
}

/// Puts the words of an upload's segments where they belong, the tail of each block without bits.
fn store_bits(upload: &Upload, words: &[u32], blocks: &[&Block], out: &mut [Hits]) {
    let mut words = words;
    for slice in &upload.slices {
        let (these, others) = words.split_at(slice.segments.len());
        words = others;
        let bits = &mut out[slice.block].bits;
        bits[slice.segments.clone()].copy_from_slice(these);
        let block = blocks[slice.block];
        let tail = block.slots() % SEGMENT_SLOTS;
        if tail != 0 && slice.segments.end == block.segments() {
            bits[slice.segments.end - 1] &= (1 << tail) - 1;
        }
    }
}

/// The segments of an upload that have hits, counted from its first, with their bits.
fn hits_of(upload: &Upload, bits: impl Fn(usize, usize) -> u32) -> Vec<(u32, u32)> {
    upload
        .segments()
        .zip(0..)
        .map(|((block, segment), index)| (index, bits(block, segment)))
        .filter(|&(_, bits)| bits != 0)
        .collect()
}
