//! Measures the speed limits of a device, which no kernel can exceed: how fast it reads memory, copies memory, and computes.
//!
//! Each time is measured from submitting the work to reading back the last byte of the result. Each submission contains enough
//! dispatches to make fixed costs negligible. Every result is checked, so a kernel that a driver has optimised away does not
//! count as fast.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use orbit_engine::gpu::{GpuDevice, GpuError};
use wgpu::{BufferUsages, MapMode, PollType};

/// The source of the shader.
pub const FLOORS: &str = include_str!("floors.wgsl");

/// The value of `FLOOR_WORKGROUP` in the shader.
pub const WORKGROUP: u64 = 256;
/// The value of `AT_ONCE` in the shader.
pub const AT_ONCE: u64 = 4;
/// The value of `STEPS` in the shader.
pub const STEPS: u64 = 16;
/// The number of independent chains of operations that each invocation computes.
const CHAINS: u32 = 8;
/// The size of a four-word vector, in bytes.
pub const VECTOR_BYTES: u64 = 16;
/// The number of workgroups per dispatch. It gives every core of the largest cards several workgroups.
const GROUPS: u64 = 2048;
/// The size of the shader's struct `Extent`, in bytes.
pub const EXTENT_BYTES: u64 = 16;
/// The number of bytes that are written at a time while a buffer is filled.
const PIECE_BYTES: u64 = 16 << 20;
/// The minimum time of a measurement. Waiting for an idle device takes a tenth of a millisecond, which is negligible in
/// comparison.
const ENOUGH: Duration = Duration::from_millis(60);
/// A submission that takes at least this time is timed only once. Shorter ones are repeated, and the shortest time
/// counts.
const SUBMISSION_MAX: Duration = Duration::from_millis(500);
/// The maximum number of dispatches in a submission, and of iterations of a kernel's loop. Software adapters end a loop after
/// 65,535 iterations.
const DISPATCHES_MAX: u64 = 256;
const TURNS_MAX: u64 = 32_768;
/// The word that `compute` adds at each step.
pub const ADD: u32 = 0x9e37_79b9;

/// A rate that was measured on a device.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Floor {
    /// The measured speed, in bytes or instructions per second.
    pub rate: f64,
    /// The number of bytes of the buffer, or the number of instructions of a dispatch.
    pub amount: u64,
    /// True if the device computed the same words as the processor.
    pub is_right: bool,
}

/// The device whose floors (speed limits) are measured, and the number of bytes of its memory that may be used.
pub struct FloorDevice<'a> {
    pub gpu: &'a GpuDevice,
    pub memory_bytes: u64,
}

impl FloorDevice<'_> {
    /// Measures how many bytes per second a kernel reads if it does nothing else. The buffer has about `bytes` bytes.
    pub fn read(&self, bytes: u64) -> Result<Floor, GpuError> {
        let memory = KernelBuffers::fill(self, bytes)?;
        let (took, sums) = memory.run(self.gpu, "read_all", 0)?;
        let is_right = sum(&sums) == memory.expected();
        Ok(Floor { rate: rate(memory.bytes(), took), amount: memory.bytes(), is_right })
    }

    /// Measures how many bytes per second a copying kernel moves. Each byte counts twice: as read and as written.
    pub fn copy(&self, bytes: u64) -> Result<Floor, GpuError> {
        let mut memory = KernelBuffers::fill(self, bytes)?;
        let (took, _) = memory.run(self.gpu, "copy_all", 0)?;
        std::mem::swap(&mut memory.source, &mut memory.copied);
        let (_, sums) = memory.run(self.gpu, "read_all", 0)?;
        let is_right = sum(&sums) == memory.expected();
        Ok(Floor { rate: rate(2 * memory.bytes(), took), amount: memory.bytes(), is_right })
    }

    /// Measures the instructions per second on 32-bit words, in equal parts additions, shifts and exclusive ors. Each invocation of
    /// the kernel computes eight independent chains of operations. One iteration of the kernel's loop executes `turn` instructions.
    pub fn instructions(&self, turn: f64) -> Result<Floor, GpuError> {
        let memory = KernelBuffers::fill(self, 0)?;
        let each = memory.invocations * turn as u64;
        let mut turns = 1;
        // These dispatches warm up the device and determine how many iterations make a dispatch long enough to measure.
        let work = memory.prepare(self.gpu, "compute")?;
        while turns < TURNS_MAX && memory.once(self.gpu, &work, turns, 1)?.0 < ENOUGH / 4 {
            turns *= 2;
        }
        let (took, sums) = memory.run(self.gpu, "compute", turns)?;
        let some = [0, 1, sums.len() / 2, sums.len() - 1];
        let is_right = some.into_iter().all(|id| sums[id] == chains(id as u32, turns));
        Ok(Floor { rate: rate(each * turns, took), amount: each * turns, is_right })
    }
}

fn rate(amount: u64, took: Duration) -> f64 {
    amount as f64 / took.as_secs_f64().max(1e-9)
}

fn sum(words: &[u32]) -> u32 {
    words.iter().fold(0, |sum, word| sum.wrapping_add(*word))
}

/// Returns the word that the invocation of `compute` with the global id `id` must write after `turns` iterations of its loop.
pub fn chains(id: u32, turns: u64) -> u32 {
    let chain = |first: u32| {
        (0..turns * STEPS).fold(id.wrapping_add(first), |word, _| word.wrapping_add(ADD) ^ (word >> 5))
    };
    (0..CHAINS).map(chain).fold(0, |all, word| all ^ word)
}

/// Returns the word at the index `word` of the source buffer.
fn pattern(word: u64) -> u32 {
    (word as u32).wrapping_mul(0x0100_0193) ^ 0x5bd1_e995
}

fn bytes_of(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// A kernel and its buffers.
#[derive(Clone)]
struct FloorWork {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
}

/// The buffers that kernels read and write.
#[derive(Clone)]
struct KernelBuffers {
    extent: wgpu::Buffer,
    source: wgpu::Buffer,
    copied: wgpu::Buffer,
    sums: wgpu::Buffer,
    readback: wgpu::Buffer,
    vectors: u64,
    invocations: u64,
}

impl KernelBuffers {
    /// Creates the buffers of the kernels, and fills the source buffer with known contents. This buffer has about `bytes` bytes, or
    /// fewer if that exceeds a limit of the device.
    fn fill(device: &FloorDevice, bytes: u64) -> Result<KernelBuffers, GpuError> {
        let memory_bytes = device.memory_bytes;
        let memory = device
            .gpu
            .with_driver("a buffer", move |device, _| KernelBuffers::allocate(device, bytes, memory_bytes))?;
        let (filled, vectors) = (memory.source.clone(), memory.vectors);
        device.gpu.with_driver("an upload", move |_, queue| {
            let piece = bytes_of((0..PIECE_BYTES / 4).map(pattern));
            for from in (0..VECTOR_BYTES * vectors).step_by(PIECE_BYTES as usize) {
                let len = PIECE_BYTES.min(VECTOR_BYTES * vectors - from) as usize;
                queue.write_buffer(&filled, from, &piece[..len]);
                queue.submit([]);
            }
        })?;
        Ok(memory)
    }

    fn allocate(device: &wgpu::Device, bytes: u64, memory_bytes: u64) -> KernelBuffers {
        let limits = device.limits();
        let most = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size).min(memory_bytes / 4);
        let groups = GROUPS.min(limits.max_compute_workgroups_per_dimension.into());
        let invocations = WORKGROUP * groups.max(1);
        let piece = AT_ONCE * invocations;
        let vectors = if bytes == 0 { 0 } else { (bytes.min(most) / VECTOR_BYTES / piece).max(1) * piece };
        let buffer = |size: u64, usage| {
            let size = size.max(64);
            device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        let storage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        KernelBuffers {
            extent: buffer(EXTENT_BYTES, BufferUsages::UNIFORM | BufferUsages::COPY_DST),
            source: buffer(VECTOR_BYTES * vectors, storage),
            copied: buffer(VECTOR_BYTES * vectors, storage),
            sums: buffer(4 * invocations, storage),
            readback: buffer(4 * invocations, BufferUsages::MAP_READ | BufferUsages::COPY_DST),
            vectors,
            invocations,
        }
    }

    fn bytes(&self) -> u64 {
        VECTOR_BYTES * self.vectors
    }

    /// Returns the sum of all words of the source buffer. The sum that the device computes must equal it.
    fn expected(&self) -> u32 {
        let sum = |words: u64| (0..words).map(pattern).fold(0u32, u32::wrapping_add);
        let (words, piece) = (self.bytes() / 4, PIECE_BYTES / 4);
        sum(piece).wrapping_mul((words / piece) as u32).wrapping_add(sum(words % piece))
    }

    /// Returns the shortest time per dispatch, and the words that a dispatch writes. Whole submissions are timed, each with
    /// enough dispatches to make fixed costs negligible.
    fn run(
        &self,
        gpu: &GpuDevice,
        entry: &'static str,
        turns: u64,
    ) -> Result<(Duration, Vec<u32>), GpuError> {
        let work = self.prepare(gpu, entry)?;
        let mut dispatches = 1;
        let (mut took, mut sums) = self.once(gpu, &work, turns, dispatches)?;
        while took < ENOUGH && dispatches < DISPATCHES_MAX {
            let more = (ENOUGH.as_secs_f64() / took.as_secs_f64().max(1e-6)).ceil() as u64;
            dispatches = (dispatches * more.clamp(2, 16)).min(DISPATCHES_MAX);
            (took, sums) = self.once(gpu, &work, turns, dispatches)?;
        }
        let again = if took < SUBMISSION_MAX { 2 } else { 0 };
        for _ in 0..again {
            let once;
            (once, sums) = self.once(gpu, &work, turns, dispatches)?;
            took = took.min(once);
        }
        Ok((took / dispatches as u32, sums))
    }

    /// Compiles a kernel and binds its buffers.
    fn prepare(&self, gpu: &GpuDevice, entry: &'static str) -> Result<FloorWork, GpuError> {
        let buffers = [&self.extent, &self.source, &self.copied, &self.sums].map(wgpu::Buffer::clone);
        let used: &[usize] = match entry {
            "read_all" => &[0, 1, 3],
            "copy_all" => &[0, 1, 2],
            _ => &[0, 3],
        };
        gpu.with_driver("a shader", move |device, _| {
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("floors"),
                source: wgpu::ShaderSource::Wgsl(FLOORS.into()),
            });
            let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some("floors"),
                layout: None,
                module: &module,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            });
            let entry = |&binding: &usize| wgpu::BindGroupEntry {
                binding: binding as u32,
                resource: buffers[binding].as_entire_binding(),
            };
            let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.get_bind_group_layout(0),
                entries: &used.iter().map(entry).collect::<Vec<_>>(),
            });
            FloorWork { pipeline, group }
        })
    }

    /// Returns the time of one submission with `dispatches` dispatches, and the words that the last dispatch wrote, one per
    /// invocation.
    fn once(
        &self,
        gpu: &GpuDevice,
        work: &FloorWork,
        turns: u64,
        dispatches: u64,
    ) -> Result<(Duration, Vec<u32>), GpuError> {
        let (memory, work) = (self.clone(), work.clone());
        gpu.with_driver("a dispatch", move |device, queue| {
            let extent = [memory.vectors as u32, memory.invocations as u32, turns as u32, ADD];
            queue.write_buffer(&memory.extent, 0, &bytes_of(extent));
            queue.submit([]);
            let begun = Instant::now();
            let mut encoder = device.create_command_encoder(&Default::default());
            for _ in 0..dispatches {
                let mut pass = encoder.begin_compute_pass(&Default::default());
                pass.set_pipeline(&work.pipeline);
                pass.set_bind_group(0, &work.group, &[]);
                pass.dispatch_workgroups((memory.invocations / WORKGROUP) as u32, 1, 1);
            }
            encoder.copy_buffer_to_buffer(&memory.sums, 0, &memory.readback, 0, 4 * memory.invocations);
            let submission = queue.submit([encoder.finish()]);
            memory.map_readback(device, submission)?;
            let took = begun.elapsed();
            let view = memory.readback.get_mapped_range(..).map_err(lost)?;
            let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("a word has four bytes"));
            let sums = view.chunks_exact(4).map(word).collect();
            drop(view);
            memory.readback.unmap();
            Ok((took, sums))
        })?
    }

    /// Maps the readback buffer after a submission has ended.
    fn map_readback(&self, device: &wgpu::Device, after: wgpu::SubmissionIndex) -> Result<(), GpuError> {
        let (sender, mapped) = mpsc::channel();
        self.readback.map_async(MapMode::Read, .., move |result| {
            let _ = sender.send(result);
        });
        device.poll(PollType::Wait { submission_index: Some(after), timeout: None }).map_err(lost)?;
        mapped.recv().map_err(lost)?.map_err(lost)
    }
}

fn lost(error: impl ToString) -> GpuError {
    GpuError::Lost { reason: error.to_string() }
}
