//! One open device: limits, buffers, pipelines, and waiting without ever hanging or panicking.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use pollster::block_on;
use wgpu::{BufferUsages, ErrorFilter};

use super::adapters::{self, AdapterChoice, AdapterReport, STORAGE_BUFFERS};
use super::{GpuError, Kernel, Variant};

/// How long the device may be silent before it counts as lost.
const SILENCE_MAX: Duration = Duration::from_secs(120);

/// Pipelines that are kept, so that a process which runs queries for days does not grow.
const PIPELINES_MAX: usize = 256;

/// Limits beyond those of the adapter. Tests shrink them, so that every way of splitting work is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GpuLimits {
    /// The largest buffer that a shader can see, in bytes.
    pub binding_bytes: u64,
    /// Workgroups in a dispatch.
    pub workgroups: u32,
    /// All buffers together, in bytes.
    pub memory_bytes: u64,
}

impl Default for GpuLimits {
    fn default() -> GpuLimits {
        GpuLimits { binding_bytes: u64::MAX, workgroups: u32::MAX, memory_bytes: u64::MAX }
    }
}

/// Something that goes wrong on purpose, in tests of what happens then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[doc(hidden)]
pub enum Fault {
    /// The device is destroyed before its `n`-th submission (from 0) and every later one, on as many
    /// devices as are opened.
    Destroyed(u64),
    /// The same, but only on the first device.
    DestroyedOnce(u64),
    /// The `n`-th readback (from 0) is destroyed before it is mapped.
    MapFails(u64),
}

/// How to open a device. The defaults suit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct GpuOptions {
    /// Which adapter.
    pub adapter: AdapterChoice,
    /// Limits beyond the adapter's.
    pub limits: GpuLimits,
    /// How kernels are written and run where an engine or an upload does not say otherwise.
    pub variant: Variant,
    /// Fill outputs with ones before a kernel runs, so that what it leaves out shows.
    pub poison: bool,
    #[doc(hidden)]
    pub fault: Option<Fault>,
}

/// A device, shared by all kernels of a run.
pub(super) struct Device {
    pub(super) report: AdapterReport,
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    /// The adapter's limits, or smaller ones that were asked for.
    pub(super) limits: GpuLimits,
    pub(super) poison: bool,
    fault: Option<Fault>,
    allocated: Arc<AtomicU64>,
    submissions: AtomicU64,
    readbacks: AtomicU64,
    lost: Arc<Mutex<Option<String>>>,
    layouts: Layouts,
    pipelines: Mutex<HashMap<String, Arc<wgpu::ComputePipeline>>>,
}

struct Layouts {
    hits: (wgpu::BindGroupLayout, wgpu::PipelineLayout),
    words: (wgpu::BindGroupLayout, wgpu::PipelineLayout),
}

/// Which of the two passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pass {
    Hits,
    Words,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Device {
    pub(super) fn open(options: &GpuOptions) -> Result<Device, GpuError> {
        let (report, adapter) = adapters::choose(&options.adapter)?;
        fits(&report, &options.variant)?;
        let theirs = adapter.limits();
        let useful = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::SHADER_INT64;
        let required_limits = wgpu::Limits {
            max_storage_buffer_binding_size: theirs.max_storage_buffer_binding_size,
            max_buffer_size: theirs.max_buffer_size,
            max_compute_workgroups_per_dimension: theirs.max_compute_workgroups_per_dimension,
            max_storage_buffers_per_shader_stage: STORAGE_BUFFERS
                .max(wgpu::Limits::downlevel_defaults().max_storage_buffers_per_shader_stage),
            ..wgpu::Limits::downlevel_defaults()
        };
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("orbit"),
            required_features: useful & adapter.features(),
            required_limits,
            memory_hints: wgpu::MemoryHints::Performance,
            ..Default::default()
        };
        let opened = block_on(adapter.request_device(&descriptor));
        let (device, queue) = opened
            .map_err(|error| GpuError::Open { name: report.name.clone(), reason: error.to_string() })?;
        let lost = Arc::new(Mutex::new(None));
        let told = Arc::clone(&lost);
        device.set_device_lost_callback(move |reason, text| {
            lock(&told).get_or_insert(format!("{reason:?}: {}", first_lines(&text)));
        });
        // What no scope catches must not panic; the next map tells that something is wrong.
        let told = Arc::clone(&lost);
        device.on_uncaptured_error(Arc::new(move |error| {
            lock(&told).get_or_insert(first_lines(&error.to_string()));
        }));
        let limits = GpuLimits {
            binding_bytes: theirs
                .max_storage_buffer_binding_size
                .min(theirs.max_buffer_size)
                .min(options.limits.binding_bytes),
            workgroups: theirs.max_compute_workgroups_per_dimension.min(options.limits.workgroups),
            memory_bytes: options.limits.memory_bytes,
        };
        let layouts = Layouts { hits: layout(&device, Pass::Hits), words: layout(&device, Pass::Words) };
        Ok(Device {
            report,
            device,
            queue,
            limits,
            poison: options.poison,
            fault: options.fault,
            allocated: Arc::default(),
            submissions: AtomicU64::new(0),
            readbacks: AtomicU64::new(0),
            lost,
            layouts,
            pipelines: Mutex::new(HashMap::new()),
        })
    }

    fn loss(&self) -> GpuError {
        let reason = lock(&self.lost).clone();
        GpuError::Lost { reason: reason.unwrap_or_else(|| "it does not say why".into()) }
    }

    /// Runs something that may meet the driver's refusal, which becomes an error.
    pub(super) fn guarded<T>(&self, what: &'static str, run: impl FnOnce() -> T) -> Result<T, GpuError> {
        let filters = [ErrorFilter::Internal, ErrorFilter::OutOfMemory, ErrorFilter::Validation];
        let scopes = filters.map(|filter| self.device.push_error_scope(filter));
        let out = run();
        let mut error = None;
        for scope in scopes.into_iter().rev() {
            let caught = block_on(scope.pop());
            error = error.or(caught);
        }
        match error {
            None => Ok(out),
            Some(wgpu::Error::OutOfMemory { source }) => {
                Err(GpuError::OutOfMemory { reason: first_lines(&source.to_string()) })
            }
            Some(_) if self.is_lost() => Err(self.loss()),
            Some(error) => Err(GpuError::Refused { what, reason: first_lines(&error.to_string()) }),
        }
    }

    /// Whether the device is lost. Everything that a lost device is asked for is refused, but it tells of
    /// its loss only when it has nothing to do and is polled.
    fn is_lost(&self) -> bool {
        let timeout = Some(Duration::from_secs(1));
        let polled = self.device.poll(wgpu::PollType::Wait { submission_index: None, timeout });
        polled.is_err() || lock(&self.lost).is_some()
    }

    /// Bytes that may still be allocated.
    fn allocate(&self, bytes: u64) -> Result<Allocation, GpuError> {
        let before = self.allocated.fetch_add(bytes, Ordering::Relaxed);
        let allocation = Allocation { bytes, allocated: Arc::clone(&self.allocated) };
        let limit = self.limits.memory_bytes;
        if before + bytes > limit {
            return Err(GpuError::OutOfMemory {
                reason: format!("{bytes} bytes are wanted beside {before}, the limit is {limit}"),
            });
        }
        Ok(allocation)
    }

    /// The pipeline of a kernel, compiled once a device.
    pub(super) fn pipeline(
        &self,
        kernel: &Kernel,
        pass: Pass,
    ) -> Result<Arc<wgpu::ComputePipeline>, GpuError> {
        if let Some(known) = lock(&self.pipelines).get(&kernel.wgsl) {
            return Ok(Arc::clone(known));
        }
        fits(&self.report, &kernel.variant)?;
        let layout = &self.layout(pass).1;
        let pipeline = self.guarded("a shader", || {
            let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("query"),
                source: wgpu::ShaderSource::Wgsl(kernel.wgsl.as_str().into()),
            });
            self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some("query"),
                layout: Some(layout),
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: false,
                    ..Default::default()
                },
                cache: None,
            })
        })?;
        let pipeline = Arc::new(pipeline);
        let mut pipelines = lock(&self.pipelines);
        if pipelines.len() >= PIPELINES_MAX {
            pipelines.clear();
        }
        pipelines.insert(kernel.wgsl.clone(), Arc::clone(&pipeline));
        Ok(pipeline)
    }

    fn layout(&self, pass: Pass) -> &(wgpu::BindGroupLayout, wgpu::PipelineLayout) {
        match pass {
            Pass::Hits => &self.layouts.hits,
            Pass::Words => &self.layouts.words,
        }
    }

    /// Binds buffers in the order of the shader's bindings: parameters first, then as many bytes of each
    /// buffer as are given.
    pub(super) fn bind(
        &self,
        pass: Pass,
        params: &wgpu::Buffer,
        buffers: &[(&wgpu::Buffer, u64)],
    ) -> wgpu::BindGroup {
        let part = |buffer, size| {
            let size = wgpu::BufferSize::new(size);
            wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset: 0, size })
        };
        let first = (0, part(params, PARAMS_BYTES));
        let others = (1..).zip(buffers.iter().map(|&(buffer, size)| part(buffer, size)));
        let entries: Vec<wgpu::BindGroupEntry> = std::iter::once(first)
            .chain(others)
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        let layout = &self.layout(pass).0;
        self.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
    }

    /// Submits commands.
    pub(super) fn submit(&self, encoder: wgpu::CommandEncoder) -> wgpu::SubmissionIndex {
        let number = self.submissions.fetch_add(1, Ordering::Relaxed);
        if let Some(Fault::Destroyed(at) | Fault::DestroyedOnce(at)) = self.fault
            && number >= at
        {
            self.device.destroy();
        }
        self.queue.submit([encoder.finish()])
    }

    /// Maps the first bytes of a buffer, once what was submitted is done.
    pub(super) fn map(
        &self,
        buffer: &wgpu::Buffer,
        mode: wgpu::MapMode,
        bytes: u64,
        after: Option<wgpu::SubmissionIndex>,
    ) -> Result<(), GpuError> {
        if mode == wgpu::MapMode::Read {
            let number = self.readbacks.fetch_add(1, Ordering::Relaxed);
            if self.fault == Some(Fault::MapFails(number)) {
                buffer.destroy();
            }
        }
        let (sender, receiver) = mpsc::channel();
        self.guarded("a map", || {
            buffer.map_async(mode, 0..bytes, move |result| {
                let _ = sender.send(result);
            });
        })
        .map_err(|error| self.as_loss(error))?;
        let end = Instant::now() + SILENCE_MAX;
        let mut pause = Duration::ZERO;
        loop {
            let poll = match &after {
                // Until the end and not in slices: wgpu 30 panics if another thread empties the queue just after a
                // wait gave up ("If the queue is empty, the current submission index ...").
                Some(index) => wgpu::PollType::Wait {
                    submission_index: Some(index.clone()),
                    timeout: Some(end.saturating_duration_since(Instant::now())),
                },
                None => wgpu::PollType::Poll,
            };
            let polled = self.device.poll(poll);
            match receiver.recv_timeout(pause) {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(_)) | Err(mpsc::RecvTimeoutError::Disconnected) => return Err(self.loss()),
                Err(mpsc::RecvTimeoutError::Timeout) if Instant::now() < end => {
                    pause = Duration::from_millis(u64::from(polled.is_ok()));
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    let reason = format!("it is silent for {} s", SILENCE_MAX.as_secs());
                    return Err(GpuError::Lost { reason });
                }
            }
        }
    }

    /// A map that fails is a device that is lost, whatever it says.
    fn as_loss(&self, error: GpuError) -> GpuError {
        match error {
            GpuError::Refused { reason, .. } => GpuError::Lost { reason },
            other => other,
        }
    }

    /// Forgets a fault that was to happen on the first device only.
    pub(super) fn options_after_loss(options: &GpuOptions) -> GpuOptions {
        let fault = options.fault.filter(|fault| matches!(fault, Fault::Destroyed(_)));
        GpuOptions { fault, ..options.clone() }
    }
}

/// Refuses a variant that an adapter cannot run.
fn fits(report: &AdapterReport, variant: &Variant) -> Result<(), GpuError> {
    let Some(reason) = variant.unfit(report) else { return Ok(()) };
    Err(GpuError::Unfit { name: report.name.clone(), reason })
}

/// Bytes of `Params` in shaders/replay.wgsl.
pub(super) const PARAMS_BYTES: u64 = 16;

fn layout(device: &wgpu::Device, pass: Pass) -> (wgpu::BindGroupLayout, wgpu::PipelineLayout) {
    let buffers = match pass {
        Pass::Hits => STORAGE_BUFFERS - 1,
        Pass::Words => STORAGE_BUFFERS,
    };
    let entries: Vec<wgpu::BindGroupLayoutEntry> = (0..=buffers)
        .map(|binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: match binding {
                    0 => wgpu::BufferBindingType::Uniform,
                    _ => wgpu::BufferBindingType::Storage { read_only: binding < buffers },
                },
                has_dynamic_offset: binding == 0,
                min_binding_size: None,
            },
            count: None,
        })
        .collect();
    let group =
        device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&group)],
        immediate_size: 0,
    });
    (group, layout)
}

/// Enough of a driver's words for one line.
fn first_lines(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(60).collect();
    words.join(" ")
}

/// Bytes on the device that are given back when dropped.
struct Allocation {
    bytes: u64,
    allocated: Arc<AtomicU64>,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.allocated.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A buffer that grows when more is asked of it. Its content does not survive that.
pub(super) struct Buffer {
    usage: BufferUsages,
    buffer: Option<(wgpu::Buffer, Allocation)>,
}

impl Buffer {
    pub(super) fn new(usage: BufferUsages) -> Buffer {
        Buffer { usage, buffer: None }
    }

    /// Storage that a shader reads or writes.
    pub(super) fn storage() -> Buffer {
        Buffer::new(BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC)
    }

    /// The buffer with room for at least so many bytes.
    pub(super) fn with_room(&mut self, device: &Device, bytes: u64) -> Result<&wgpu::Buffer, GpuError> {
        let bytes = bytes.next_multiple_of(16).max(64);
        if self.buffer.as_ref().is_none_or(|(buffer, _)| buffer.size() < bytes) {
            self.buffer = None;
            let allocation = device.allocate(bytes)?;
            let descriptor = wgpu::BufferDescriptor {
                label: None,
                size: bytes,
                usage: self.usage,
                mapped_at_creation: false,
            };
            let buffer = device.guarded("a buffer", || device.device.create_buffer(&descriptor))?;
            self.buffer = Some((buffer, allocation));
        }
        Ok(self.get())
    }

    /// The buffer as it is.
    ///
    /// # Panics
    ///
    /// If nothing was ever asked of it.
    pub(super) fn get(&self) -> &wgpu::Buffer {
        &self.buffer.as_ref().expect("room is made before a buffer is used").0
    }
}
