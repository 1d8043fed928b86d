//! The engine for graphics cards. It translates a plan to WGSL, the shader language of WebGPU, and runs it through wgpu
//! on Vulkan, Metal or Direct3D 12.
//!
//! One shader invocation replays one segment of 32 slots and evaluates the query at each slot. Its answer is one 32-bit
//! word. A [`Variant`] of the kernel may divide the work in another way, but gives the same answers. The values at hits
//! and the matching copies need a second pass over the segments that have hits. Blocks are packed into *uploads* of up
//! to 8 million positions. While one upload is copied to the card, the card evaluates another one. This module depends
//! on plans and reels (packed games), but not on queries.
//!
//! If the driver fails, this code neither panics nor hangs, but returns a [`GpuError`]. To achieve this, all calls to
//! wgpu go through `Device` in `device.rs`, which runs them on a helper thread (`driver.rs`). If a device is lost, it
//! is reopened once and the unfinished work is repeated from its start, so that answers stay exact.

mod adapters;
mod along;
mod attempts;
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

use super::carry::clear_after;
use super::{BlockRequest, Hits, Interrupt, context::Context};
use attempts::Attempts;
use device::Device;
use orbit_core::sync::{lock, wait};
use orbit_plan::Plan;
use orbit_reel::Block;
use pack::Upload;
use resident::Residents;
use run::{BufferSet, KernelInput, KernelRun};

pub use super::cards::*;
#[doc(hidden)]
pub use adapters::STAND_IN;
pub use adapters::adapters;
pub use engine::Gpu;
pub use resident::Resident;
pub use wgsl::Kernel;

/// Returns the kernel that computes the hits of a plan. The kernel is the same for every card.
///
/// # Errors
///
/// Fails if this build does not contain the GPU engine.
pub fn kernel(plan: &Plan, variant: Variant) -> Result<Kernel, GpuError> {
    Ok(Kernel::hits(&plan.program, &[plan.hit], plan.columns.len(), variant))
}

impl GpuError {
    /// Returns true if the device was lost, so that repeating the work on a new device may succeed.
    fn is_loss(&self) -> bool {
        matches!(self, GpuError::Lost { .. })
    }

    /// Converts the error to one that reports a failure to find or open an adapter.
    fn while_opening(self) -> GpuError {
        match self {
            GpuError::Lost { reason } => GpuError::Open { name: "the GPU".into(), reason },
            other => other,
        }
    }
}

/// An open graphics card, which any number of engines can use.
pub struct GpuDevice {
    options: GpuOptions,
    state: Mutex<DeviceState>,
    /// The lock that a thread holds while it opens a device in place of a lost one.
    reopening: Mutex<()>,
    attempts: Attempts,
    /// The number of engines that were created for this device.
    engines: AtomicU64,
}

struct DeviceState {
    open: Arc<OpenDevice>,
    /// True if an earlier device was lost.
    lost: bool,
}

/// An open device and its idle buffer sets. A set contains the buffers for one upload and for the kernels that run on
/// it.
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
        let residents = Residents::new(resident::stay_bytes(options, &device.report, device.memory_bytes));
        Ok(Arc::new(OpenDevice { device, sets: Mutex::default(), returned: Condvar::new(), residents }))
    }

    /// Lends a buffer set to the caller. If all sets are lent, waits until one is returned.
    fn set(&self, interrupt: &Interrupt) -> Lent<'_> {
        let mut sets = lock(&self.sets);
        while sets.lent == self.device.buffer_sets {
            sets = wait(&self.returned, sets);
        }
        sets.lent += 1;
        let mut set = sets.idle.pop().unwrap_or_else(BufferSet::new);
        set.run.interrupt = interrupt.clone();
        Lent { open: self, set, is_sound: false }
    }

    /// Frees the idle buffer sets, whose buffers may have grown large in earlier queries.
    fn trim(&self) {
        // Freeing waits for the driver, so the lock is released before.
        let idle = std::mem::take(&mut lock(&self.sets).idle);
        drop(idle);
    }
}

/// A buffer set that a thread has borrowed. It is returned when the work is done. After an error or a panic, its
/// buffers may be in any state, so a new set replaces it.
struct Lent<'a> {
    open: &'a OpenDevice,
    set: BufferSet,
    is_sound: bool,
}

impl Lent<'_> {
    fn parts(&mut self) -> (&mut KernelInput, &mut KernelRun) {
        (&mut self.set.input, &mut self.set.run)
    }

    /// Records that the work has succeeded, so that the buffer set can be used again.
    fn done(mut self) {
        self.is_sound = true;
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let set = std::mem::replace(&mut self.set, BufferSet::new());
        // An unsound set is freed here. Freeing waits for the driver, so it happens before the lock is taken.
        let sound = self.is_sound.then_some(set);
        let mut sets = lock(&self.open.sets);
        sets.idle.extend(sound);
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
    /// Opens the adapter that the options select. If the first attempt fails, tries once more.
    ///
    /// # Errors
    ///
    /// Fails if there is no such adapter, or if it cannot be opened.
    pub fn open(options: GpuOptions) -> Result<GpuDevice, GpuError> {
        let (open, lost) = match OpenDevice::new(&options) {
            Err(GpuError::Open { .. } | GpuError::OutOfMemory { .. }) => (OpenDevice::new(&options)?, true),
            other => (other?, false),
        };
        let state = Mutex::new(DeviceState { open, lost });
        Ok(GpuDevice {
            options,
            state,
            reopening: Mutex::default(),
            attempts: Attempts::default(),
            engines: AtomicU64::new(0),
        })
    }

    /// Returns the report of the device's adapter.
    pub fn report(&self) -> AdapterReport {
        self.current().device.report.clone()
    }

    /// Returns the number of submissions to the device since it was opened. Each submits an upload or a group of
    /// dispatches.
    #[doc(hidden)]
    pub fn submissions(&self) -> u64 {
        self.current().device.submissions.load(Ordering::Relaxed)
    }

    /// Returns the number of stages (parts of plans that run before the rest) whose results the device itself, not the
    /// processor, has propagated along games since it was opened.
    #[doc(hidden)]
    pub fn stages_carried(&self) -> u64 {
        self.current().device.stages_carried.load(Ordering::Relaxed)
    }

    /// Returns the number of pipelines that were compiled, or loaded from the pipeline cache, since the device was
    /// opened.
    #[doc(hidden)]
    pub fn pipelines_compiled(&self) -> u64 {
        self.current().device.pipelines.compiled.load(Ordering::Relaxed)
    }

    /// Returns a message for the user about the pipeline cache's file, or `None` if there is no new message.
    pub fn take_note(&self) -> Option<String> {
        self.current().device.pipelines.take_note()
    }

    /// Returns true if the device can run queries without being reopened.
    pub fn is_alive(&self) -> bool {
        self.current().device.is_alive()
    }

    fn current(&self) -> Arc<OpenDevice> {
        Arc::clone(&lock(&self.state).open)
    }

    /// Calls `work`, which must be repeatable. If memory runs out, frees the memory that other queries left on the
    /// device and calls it once more, as [`Attempts::run`] says. If the device is lost, calls it on a new device.
    fn attempt<T>(&self, mut work: impl FnMut(&OpenDevice) -> Result<T, GpuError>) -> Result<T, GpuError> {
        let mut attempt = |open: &OpenDevice| {
            let free = || {
                open.trim();
                open.residents.shrink(&open.device);
            };
            self.attempts.run(|| work(open), free)
        };
        let open = self.current();
        match attempt(&open) {
            Err(error) if error.is_loss() => attempt(&*self.reopen(&open, error)?),
            other => other,
        }
    }

    /// Returns the device that replaces the lost device `old`, and opens it if no other thread has done so.
    fn reopen(&self, old: &Arc<OpenDevice>, error: GpuError) -> Result<Arc<OpenDevice>, GpuError> {
        let _one = lock(&self.reopening);
        {
            let mut state = lock(&self.state);
            if !Arc::ptr_eq(&state.open, old) {
                return Ok(Arc::clone(&state.open));
            }
            if std::mem::replace(&mut state.lost, true) {
                return Err(error);
            }
        }
        // If no new device can be opened, the error reports the loss of the old one.
        let open = OpenDevice::new(&Device::options_after_loss(&self.options)).map_err(|_| error)?;
        lock(&self.state).open = Arc::clone(&open);
        Ok(open)
    }

    /// Runs driver calls, which must be repeatable, as the engine runs its own calls: on a helper thread and with a
    /// time limit. Driver errors and panics are returned as errors. `what` describes the calls in an error message.
    /// Only benchmarks use this method.
    ///
    /// # Errors
    ///
    /// Fails if the driver refuses a call, or if the device is lost.
    #[doc(hidden)]
    pub fn with_driver<T: Send + 'static>(
        &self,
        what: &'static str,
        calls: impl FnOnce(&wgpu::Device, &wgpu::Queue) -> T + Clone + Send + 'static,
    ) -> Result<T, GpuError> {
        self.attempt(|open| open.device.guarded(what, calls.clone()))
    }

    /// Compiles a kernel that computes hits, without running it. Benchmarks use this to measure compilation time
    /// separately.
    ///
    /// # Errors
    ///
    /// Fails if the driver refuses the kernel, or if the device is lost.
    pub fn compile(&self, kernel: &Kernel) -> Result<(), GpuError> {
        self.attempt(|open| open.device.pipeline(kernel, device::KernelPass::Hits, false).map(|_| ()))
    }
}

/// Returns a new, empty context for each block.
fn contexts<'a>(blocks: &[&'a Block], request: &BlockRequest<'_>) -> Vec<Context<'a>> {
    blocks.iter().map(|block| Context::new(block, Vec::new(), request)).collect()
}

/// Returns an empty record of hits for each query and each block.
fn no_hits(blocks: &[&Block], queries: usize) -> Vec<Vec<Hits>> {
    let none = |block: &&Block| Hits::new(block);
    (0..queries).map(|_| blocks.iter().map(none).collect()).collect()
}

/// Stores the output of the first pass as hits. The output contains all words of the first query, then all words of the
/// second, and so on.
fn store(upload: &Upload, bytes: &[u8], blocks: &[&Block], out: &mut [Vec<Hits>]) {
    let words: &[u32] = bytemuck::cast_slice(bytes);
    for (words, hits) in words.chunks_exact(upload.segments).zip(out) {
        store_bits(upload, words, blocks, hits);
    }
}

/// Stores one query's words for the segments of an upload as hits of the blocks to which the segments belong. Clears
/// the bits after the last position of each block.
fn store_bits(upload: &Upload, words: &[u32], blocks: &[&Block], out: &mut [Hits]) {
    let mut words = words;
    for slice in &upload.slices {
        let (these, others) = words.split_at(slice.segments.len());
        words = others;
        let bits = &mut out[slice.block].bits;
        bits[slice.segments.clone()].copy_from_slice(these);
        let block = blocks[slice.block];
        if slice.segments.end == block.segments() {
            clear_after(bits, block.slots());
        }
    }
}

/// Returns the segments of an upload that have hits, each with one bit for each of its 32 positions. Segments are numbered from
/// the start of the upload.
fn hits_of(upload: &Upload, bits: impl Fn(usize, usize) -> u32) -> Vec<(u32, u32)> {
    upload
        .segments()
        .zip(0..)
        .map(|((block, segment), index)| (index, bits(block, segment)))
        .filter(|&(_, bits)| bits != 0)
        .collect()
}
