//! The engine for graphics cards: a plan printed as WGSL, run through wgpu on Vulkan, Metal or
//! Direct3D 12.
//!
//! One invocation replays one segment of 32 slots and evaluates the query at each; its answer is one word of 32 bits. A
//! [`Variant`] may divide the work in another way, with the same answers. Values and counts of copies take a second
//! pass over the segments that hit. Blocks are packed into uploads of up to 8 M positions; while one is uploaded,
//! another computes. This module knows plans and reels, nothing of queries.
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
mod pack;
mod pipelines;
mod resident;
mod run;
mod uploads;
mod walks;
mod ways;
mod wgsl;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use super::{Hits, Interrupt, context::Context};
use device::{BUFFER_SETS, Device};
use orbit_core::sync::{lock, wait};
use orbit_plan::Plan;
use orbit_reel::{Block, SEGMENT_SLOTS};
use pack::Upload;
use resident::Residents;
use run::{BufferSet, KernelInput, KernelRun};

pub use super::cards::*;
pub use adapters::adapters;
pub use engine::Gpu;
pub use resident::Resident;
pub use wgsl::Kernel;

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
    state: Mutex<DeviceState>,
    /// The engines so far.
    engines: AtomicU64,
}

struct DeviceState {
    open: Arc<OpenDevice>,
    /// True if an earlier device was lost.
    lost: bool,
}

/// A device and the sets of buffers that no thread uses at the moment.
struct OpenDevice {
    device: Device,
    sets: Mutex<BufferSets>,
    returned: Condvar,
    residents: Residents,
}

#[derive(Default)]
struct BufferSets {
    idle: Vec<BufferSet>,
    lent: u64,
}

impl OpenDevice {
    fn new(options: &GpuOptions) -> Result<Arc<OpenDevice>, GpuError> {
        let device = Device::open(options)?;
        let residents = Residents::new(resident::stay_bytes(options, &device.report));
        Ok(Arc::new(OpenDevice { device, sets: Mutex::default(), returned: Condvar::new(), residents }))
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
    open: &'a OpenDevice,
    set: BufferSet,
    is_sound: bool,
}

impl Lent<'_> {
    fn parts(&mut self) -> (&mut KernelInput, &mut KernelRun) {
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
        let (open, lost) = match OpenDevice::new(&options) {
            Err(GpuError::Open { .. } | GpuError::OutOfMemory { .. }) => (OpenDevice::new(&options)?, true),
            other => (other?, false),
        };
        Ok(GpuDevice { options, state: Mutex::new(DeviceState { open, lost }), engines: AtomicU64::new(0) })
    }

    /// Returns the report of the device's adapter.
    pub fn report(&self) -> AdapterReport {
        self.current().device.report.clone()
    }

    /// Returns the number of stages that the device, not the processor, has carried along games since it was opened.
    #[doc(hidden)]
    pub fn stages_carried(&self) -> u64 {
        self.current().device.stages_carried.load(Ordering::Relaxed)
    }

    /// The number of pipelines that were compiled since it was opened, or loaded in place of that.
    #[doc(hidden)]
    pub fn pipelines_compiled(&self) -> u64 {
        self.current().device.pipelines.compiled.load(Ordering::Relaxed)
    }

    /// A note for the user on the file of compiled kernels; it is given once.
    pub fn take_note(&self) -> Option<String> {
        self.current().device.pipelines.take_note()
    }

    /// Returns whether the device can still run queries without being opened again.
    pub fn is_alive(&self) -> bool {
        self.current().device.is_alive()
    }

    fn current(&self) -> Arc<OpenDevice> {
        Arc::clone(&lock(&self.state).open)
    }

    /// Runs something that can be repeated; if the device is lost, once more on a new one, and if there is too little
    /// memory, once more without what other queries have left there.
    fn attempt<T>(&self, mut work: impl FnMut(&OpenDevice) -> Result<T, GpuError>) -> Result<T, GpuError> {
        let open = self.current();
        let first = match work(&open) {
            Err(GpuError::OutOfMemory { .. }) => {
                open.trim();
                open.residents.shrink(&open.device);
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
    fn reopen(&self, old: &Arc<OpenDevice>, error: GpuError) -> Result<Arc<OpenDevice>, GpuError> {
        let mut state = lock(&self.state);
        if Arc::ptr_eq(&state.open, old) {
            if state.lost {
                return Err(error);
            }
            state.lost = true;
            // If there is none any more, the loss is what happened.
            state.open = OpenDevice::new(&Device::options_after_loss(&self.options)).map_err(|_| error)?;
        }
        Ok(Arc::clone(&state.open))
    }

    /// Runs calls of the driver that may be repeated, as the engine runs its own: on a helper thread, whose errors and panics become
    /// errors, for as long as the device may be silent. `what` names them in an error. For benches.
    ///
    /// # Errors
    ///
    /// The driver refuses a call, or the device is lost.
    #[doc(hidden)]
    pub fn with_driver<T: Send + 'static>(
        &self,
        what: &'static str,
        calls: impl FnOnce(&wgpu::Device, &wgpu::Queue) -> T + Clone + Send + 'static,
    ) -> Result<T, GpuError> {
        self.attempt(|open| open.device.guarded(what, calls.clone()))
    }

    /// Compiles a kernel of the first pass, so that its compilation can be timed on its own.
    ///
    /// # Errors
    ///
    /// The driver refuses the kernel, or the device is lost.
    pub fn compile(&self, kernel: &Kernel) -> Result<(), GpuError> {
        self.attempt(|open| open.device.pipeline(kernel, device::KernelPass::Hits, false).map(|_| ()))
    }
}

/// Returns the contexts of blocks, with no columns carried yet.
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
