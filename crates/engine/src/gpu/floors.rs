//! Measures the limits that no kernel can beat on a device: how fast it reads memory, copies memory, and computes.
//!
//! Times are taken from a submission to its last byte read back, over so many dispatches that the fixed costs do not
//! count. Every answer is compared with the expected one, so a kernel from which a driver has removed work is not taken
//! for a fast one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wgpu::{BufferUsages, MapMode};

use super::device::{Buffer, Device};
use super::driver::DriverResource;
use super::{Floor, GpuDevice, GpuError};

const FLOORS: &str = orbit_shaders::FLOORS;

/// `FLOOR_WORKGROUP` in shaders/floors.wgsl.
const WORKGROUP: u64 = 256;
/// `AT_ONCE` there.
const AT_ONCE: u64 = 4;
/// `STEPS` there.
const STEPS: u64 = 16;
/// Chains of an invocation, and the operations of a step of each.
const CHAINS: u64 = 8;
const STEP_OPERATIONS: u64 = 3;
const VECTOR_BYTES: u64 = 16;
/// Workgroups of a dispatch: some for every core of the largest cards.
const GROUPS: u64 = 2048;
/// Bytes of `Extent` there.
const EXTENT_BYTES: u64 = 16;
/// Bytes that are written at a time when a buffer is filled.
const PIECE_BYTES: u64 = 16 << 20;
/// The least time of a measurement: waiting for a device alone takes a tenth of a millisecond.
const ENOUGH: Duration = Duration::from_millis(60);
/// The duration from which a submission is not repeated to find its shortest time.
const SUBMISSION_MAX: Duration = Duration::from_millis(500);
/// Dispatches in a submission, and turns of a loop: adapters in software leave a loop after 65,535.
const DISPATCHES_MAX: u64 = 256;
const TURNS_MAX: u64 = 32_768;
/// The word that `compute` adds at each step.
const ADD: u32 = 0x9e37_79b9;

impl GpuDevice {
    /// Measures the bytes a second of a kernel that only reads, from a buffer of about `bytes` bytes.
    ///
    /// # Errors
    ///
    /// What keeps the device from it.
    pub fn read_floor(&self, bytes: u64) -> Result<Floor, GpuError> {
        self.attempt(|open| {
            let memory = KernelBuffers::fill(&open.device, bytes)?;
            let took = memory.run(&open.device, "read_all", 0)?;
            let is_right = memory.sum(&open.device)? == memory.expected();
            Ok(Floor { rate: rate(memory.bytes(), took), amount: memory.bytes(), is_right })
        })
    }

    /// The same for a kernel that copies; a byte that is read and written counts twice.
    ///
    /// # Errors
    ///
    /// What keeps the device from it.
    pub fn copy_floor(&self, bytes: u64) -> Result<Floor, GpuError> {
        self.attempt(|open| {
            let device = &open.device;
            let mut memory = KernelBuffers::fill(device, bytes)?;
            let took = memory.run(device, "copy_all", 0)?;
            std::mem::swap(&mut memory.source, &mut memory.copied);
            memory.run(device, "read_all", 0)?;
            let is_right = memory.sum(device)? == memory.expected();
            Ok(Floor { rate: rate(2 * memory.bytes(), took), amount: memory.bytes(), is_right })
        })
    }

    /// Operations a second on words of 32 bits: additions, shifts and exclusive ors in equal parts, eight
    /// in each invocation that do not wait for each other.
    ///
    /// # Errors
    ///
    /// What keeps the device from it.
    pub fn operations_floor(&self) -> Result<Floor, GpuError> {
        self.attempt(|open| {
            let device = &open.device;
            let memory = KernelBuffers::fill(device, 0)?;
            let each = memory.invocations * STEPS * CHAINS * STEP_OPERATIONS;
            let mut turns = 1;
            // The dispatches that warm up tell how many turns there must be.
            let work = memory.prepare(device, "compute")?;
            while turns < TURNS_MAX && memory.once(device, &work, turns, 1)? < ENOUGH / 4 {
                turns *= 2;
            }
            let took = memory.run(device, "compute", turns)?;
            let sums = memory.sums(device)?;
            let some = [0, 1, sums.len() / 2, sums.len() - 1];
            let is_right = some.into_iter().all(|id| sums[id] == chains(id as u32, turns));
            Ok(Floor { rate: rate(each * turns, took), amount: each * turns, is_right })
        })
    }
}

fn rate(amount: u64, took: Duration) -> f64 {
    amount as f64 / took.as_secs_f64().max(1e-9)
}

/// Returns the word that `compute` must write for an invocation.
fn chains(id: u32, turns: u64) -> u32 {
    let chain = |first: u32| {
        (0..turns * STEPS).fold(id.wrapping_add(first), |word, _| word.wrapping_add(ADD) ^ (word >> 5))
    };
    (0..CHAINS as u32).map(chain).fold(0, |all, word| all ^ word)
}

/// A word of the buffer that is read.
fn pattern(word: u64) -> u32 {
    (word as u32).wrapping_mul(0x0100_0193) ^ 0x5bd1_e995
}

/// A kernel with its buffers.
#[derive(Clone)]
struct FloorWork {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
}

/// The buffers that kernels read and write.
struct KernelBuffers {
    extent: Buffer,
    source: Buffer,
    copied: Buffer,
    sums: Buffer,
    readback: Buffer,
    vectors: u64,
    invocations: u64,
}

impl KernelBuffers {
    /// A buffer with a known content of about so many bytes, as far as the device lets it.
    fn fill(device: &Device, bytes: u64) -> Result<KernelBuffers, GpuError> {
        let most = device.limits.binding_bytes.min(device.limits.memory_bytes / 4);
        let invocations = WORKGROUP * GROUPS.min(u64::from(device.limits.workgroups)).max(1);
        let piece = AT_ONCE * invocations;
        let vectors = if bytes == 0 { 0 } else { (bytes.min(most) / VECTOR_BYTES / piece).max(1) * piece };
        let mut memory = KernelBuffers {
            extent: Buffer::new(BufferUsages::UNIFORM | BufferUsages::COPY_DST),
            source: Buffer::storage(),
            copied: Buffer::storage(),
            sums: Buffer::storage(),
            readback: Buffer::new(BufferUsages::MAP_READ | BufferUsages::COPY_DST),
            vectors,
            invocations,
        };
        let words: Arc<[u32]> = (0..PIECE_BYTES / 4).map(pattern).collect();
        let source = memory.source.with_room(device, VECTOR_BYTES * vectors)?;
        for from in (0..VECTOR_BYTES * vectors).step_by(PIECE_BYTES as usize) {
            let len = PIECE_BYTES.min(VECTOR_BYTES * vectors - from) as usize;
            let (source, words) = (source.clone(), Arc::clone(&words));
            device.guarded("an upload", move |_, queue| {
                queue.write_buffer(&source, from, &bytemuck::cast_slice(&words)[..len]);
                queue.submit([]);
            })?;
        }
        memory.copied.with_room(device, VECTOR_BYTES * vectors)?;
        memory.extent.with_room(device, EXTENT_BYTES)?;
        memory.sums.with_room(device, 4 * invocations)?;
        memory.readback.with_room(device, 4 * invocations)?;
        Ok(memory)
    }

    fn bytes(&self) -> u64 {
        VECTOR_BYTES * self.vectors
    }

    fn sum_bytes(&self) -> u64 {
        4 * self.invocations
    }

    /// The sum of all words of the buffer.
    fn expected(&self) -> u32 {
        let sum = |words: u64| (0..words).map(pattern).fold(0u32, u32::wrapping_add);
        let (words, piece) = (self.bytes() / 4, PIECE_BYTES / 4);
        sum(piece).wrapping_mul((words / piece) as u32).wrapping_add(sum(words % piece))
    }

    /// The shortest time of a dispatch, from submissions that are long enough.
    fn run(&self, device: &Device, entry: &'static str, turns: u64) -> Result<Duration, GpuError> {
        let work = self.prepare(device, entry)?;
        let mut dispatches = 1;
        let mut took = self.once(device, &work, turns, dispatches)?;
        while took < ENOUGH && dispatches < DISPATCHES_MAX {
            let more = (ENOUGH.as_secs_f64() / took.as_secs_f64().max(1e-6)).ceil() as u64;
            dispatches = (dispatches * more.clamp(2, 16)).min(DISPATCHES_MAX);
            took = self.once(device, &work, turns, dispatches)?;
        }
        let again = if took < SUBMISSION_MAX { 2 } else { 0 };
        for _ in 0..again {
            took = took.min(self.once(device, &work, turns, dispatches)?);
        }
        Ok(took / dispatches as u32)
    }

    /// Compiles a kernel and binds its buffers.
    fn prepare(&self, device: &Device, entry: &'static str) -> Result<DriverResource<FloorWork>, GpuError> {
        let buffers =
            [&self.extent, &self.source, &self.copied, &self.sums].map(|buffer| buffer.get().clone());
        let used: &[usize] = match entry {
            "read_all" => &[0, 1, 3],
            "copy_all" => &[0, 1, 2],
            _ => &[0, 3],
        };
        let work = device.guarded("a shader", move |device, _| {
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
        })?;
        Ok(device.keep(work))
    }

    /// The time of one submission with so many dispatches, its sums read back.
    fn once(
        &self,
        device: &Device,
        work: &FloorWork,
        turns: u64,
        dispatches: u64,
    ) -> Result<Duration, GpuError> {
        let extent = [self.vectors as u32, self.invocations as u32, turns as u32, ADD];
        let (buffer, readback) = (self.extent.get().clone(), self.readback.get());
        device.guarded("an upload", move |_, queue| {
            queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&extent));
        })?;
        let (work, sums, target) = (FloorWork::clone(work), self.sums.get().clone(), readback.clone());
        let (groups, bytes) = ((self.invocations / WORKGROUP) as u32, self.sum_bytes());
        let begun = Instant::now();
        let submission = device.submit("a dispatch", None, move |_, _, encoder| {
            for _ in 0..dispatches {
                let mut pass = encoder.begin_compute_pass(&Default::default());
                pass.set_pipeline(&work.pipeline);
                pass.set_bind_group(0, &work.group, &[]);
                pass.dispatch_workgroups(groups, 1, 1);
            }
            encoder.copy_buffer_to_buffer(&sums, 0, &target, 0, bytes);
        })?;
        device.map(readback, MapMode::Read, bytes, Some(submission), wgpu::Buffer::unmap)?;
        Ok(begun.elapsed())
    }

    /// Reads back the words that the last submission wrote, one for each invocation.
    fn sums(&self, device: &Device) -> Result<Vec<u32>, GpuError> {
        let bytes = self.sum_bytes();
        let readback = self.readback.get();
        let sums = device.map(readback, MapMode::Read, bytes, None, move |readback| {
            let view = readback.get_mapped_range(0..bytes);
            let sums = view.map(|view| bytemuck::cast_slice(&view).to_vec());
            readback.unmap();
            sums
        })?;
        sums.map_err(|error| GpuError::Lost { reason: error.to_string() })
    }

    fn sum(&self, device: &Device) -> Result<u32, GpuError> {
        Ok(self.sums(device)?.into_iter().fold(0, u32::wrapping_add))
    }
}

#[cfg(test)]
mod tests {
    use wgpu::naga::{self, BinaryOperator, Expression, Literal, Module, Statement, TypeInner};

    use super::*;

    fn module() -> Module {
        naga::front::wgsl::parse_str(FLOORS)
            .unwrap_or_else(|error| panic!("{}", error.emit_to_string(FLOORS)))
    }

    fn constant(module: &Module, name: &str) -> u64 {
        let found = module.constants.iter().find(|(_, constant)| constant.name.as_deref() == Some(name));
        let (_, constant) = found.unwrap_or_else(|| panic!("no constant {name}"));
        match module.global_expressions[constant.init] {
            Expression::Literal(Literal::U32(word)) => u64::from(word),
            ref other => panic!("{name} is {other:?}"),
        }
    }

    #[test]
    fn the_shader_is_what_is_counted() {
        let module = module();
        let constants = [("FLOOR_WORKGROUP", WORKGROUP), ("AT_ONCE", AT_ONCE), ("STEPS", STEPS)];
        for (name, value) in constants {
            assert_eq!(constant(&module, name), value, "{name}");
        }
        let names: Vec<&str> = module.entry_points.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["read_all", "copy_all", "compute"]);
        assert!(module.entry_points.iter().all(|entry| entry.workgroup_size == [WORKGROUP as u32, 1, 1]));
        let (_, extent) = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some("Extent")).unwrap();
        let TypeInner::Struct { members, span } = &extent.inner else { panic!("Extent is no struct") };
        assert_eq!(u64::from(*span), EXTENT_BYTES);
        let offsets: Vec<_> =
            members.iter().map(|it| (it.name.clone().unwrap_or_default(), it.offset)).collect();
        let expected = [("vectors", 0), ("invocations", 4), ("turns", 8), ("add", 12)];
        assert_eq!(offsets, expected.map(|(name, offset)| (name.to_string(), offset)));
    }

    /// The shader has as many steps in a turn and operations in a step as the computed rate assumes.
    #[test]
    fn operations_are_counted_as_they_are_written() {
        let module = module();
        let (_, next) = module.functions.iter().find(|(_, it)| it.name.as_deref() == Some("next")).unwrap();
        let found = next.expressions.iter().filter_map(|(_, expression)| match expression {
            Expression::Binary { op, .. } => Some(*op),
            _ => None,
        });
        let found: Vec<BinaryOperator> = found.collect();
        assert_eq!(found.len() as u64, STEP_OPERATIONS);
        let wanted = [BinaryOperator::Add, BinaryOperator::ShiftRight, BinaryOperator::ExclusiveOr];
        assert!(wanted.iter().all(|op| found.contains(op)), "{found:?}");
        fn calls(block: &naga::Block) -> u64 {
            let of = |statement: &Statement| match statement {
                Statement::Call { .. } => 1,
                Statement::Block(inner) => calls(inner),
                Statement::Loop { body, continuing, .. } => calls(body) + calls(continuing),
                Statement::If { accept, reject, .. } => calls(accept) + calls(reject),
                _ => 0,
            };
            block.iter().map(of).sum()
        }
        // A call is a step of four chains.
        assert_eq!(4 * calls(&module.entry_points[2].function.body), CHAINS * STEPS);
    }

    /// A device that leaves out steps, or computes something else, is detected.
    #[test]
    fn wrong_answers_are_seen() {
        assert_ne!(chains(1, 1), chains(1, 2));
        assert_ne!(chains(0, 3), chains(1, 3));
        // One chain by hand: (0 + 1 + ADD) ^ (1 >> 5) and so on.
        let mut word = 1u32;
        for _ in 0..STEPS {
            word = word.wrapping_add(ADD) ^ (word >> 5);
        }
        let all = (0..8u32).fold(0, |all, k| {
            let mut word = k;
            (0..STEPS).for_each(|_| word = word.wrapping_add(ADD) ^ (word >> 5));
            all ^ word
        });
        assert_eq!(chains(0, 1), all);
        assert_ne!(chains(0, 1), word);
    }

    #[test]
    fn floors_are_measured_and_right() {
        let Ok(device) = GpuDevice::open(crate::gpu::GpuOptions::default()) else {
            assert!(std::env::var_os("ORBIT_GPU_REQUIRED").is_none(), "an adapter is required");
            eprintln!("ignored: no GPU adapter");
            return;
        };
        let read = device.read_floor(40 << 20).unwrap();
        let copy = device.copy_floor(40 << 20).unwrap();
        let operations = device.operations_floor().unwrap();
        eprintln!("{read:?}\n{copy:?}\n{operations:?}");
        for floor in [read, copy, operations] {
            assert!(floor.is_right && floor.rate > 1e6, "{floor:?}");
        }
        assert_eq!(read.amount % (VECTOR_BYTES * AT_ONCE * WORKGROUP), 0);
        assert!((32 << 20..=40 << 20).contains(&read.amount), "{}", read.amount);
    }
}
