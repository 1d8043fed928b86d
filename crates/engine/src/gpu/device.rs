//! Opens a device, enforces its limits and the memory limit, compiles pipelines, allocates and binds buffers, and waits
//! for submitted commands.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use pollster::block_on;
use wgpu::{BufferUsages, ErrorFilter};

use super::adapters::{self, STORAGE_BUFFERS};
use super::driver::{Driver, DriverResource, SILENCE_MAX, first_lines};
use super::pack::{self, SEGMENTS_MAX};
use super::pipelines::{self, CacheFile, PIPELINES_MAX, Pipeline, Pipelines};
use super::{AdapterReport, GpuError, GpuLimits, GpuOptions, InjectedFault, Kernel, PipelineCache, Variant};
use orbit_reel::SEGMENT_SLOTS;

/// The factor by which a call's time limit is extended if the call compiles a shader. Shaders are compiled on the
/// processor, which may be busy with other work.
const COMPILING: u32 = 5;

/// The number of iterations of the loops that replay a segment (32 positions), including one final test for each loop.
const REPLAY_TURNS: u64 = 64;

/// The time that is added to the limit of a call on a helper thread if the call itself waits with a time limit, so that
/// this inner limit expires first.
const GRACE: Duration = Duration::from_secs(1);

/// The minimum and maximum number of buffer sets. While one set uploads data, another is used by a running kernel, and
/// a third is read back. On a fast card, packing an upload takes longer than running its kernel. So several threads
/// pack uploads at a time, and each needs a set of its own.
const BUFFER_SETS: (u64, u64) = (3, 8);

/// The number of bytes that a buffer set needs for the largest upload: see [`caps`](super::run::caps).
const SET_BYTES: u64 = 5 * pack::bytes(SEGMENTS_MAX, 0);

/// Returns the number of buffer sets: one for each thread of the machine. The number is limited so that an upload can
/// have its full size even if blocks that stay on the device take four fifths of the memory.
fn buffer_sets(threads: usize, memory_bytes: u64) -> u64 {
    let (least, most) = BUFFER_SETS;
    (threads as u64).min(memory_bytes / 5 / SET_BYTES).clamp(least, most)
}

/// The memory that is used if the user sets no limit and the driver does not report the free memory, in bytes.
const MEMORY_BYTES_UNKNOWN: u64 = 4 << 30;

/// Returns the memory of a device that orbit may use, in bytes: the limit in the options, or the free memory of a graphics card, if
/// that is less.
pub(super) fn memory_bytes(options: &GpuOptions, report: &AdapterReport) -> u64 {
    let free = report.free_bytes.filter(|_| !report.is_software());
    match (options.limits.memory_bytes, free) {
        (u64::MAX, free) => free.unwrap_or(MEMORY_BYTES_UNKNOWN),
        (limit, free) => limit.min(free.unwrap_or(u64::MAX)),
    }
}

/// A device that the kernels of all engines share.
pub(super) struct Device {
    pub(super) report: AdapterReport,
    device: DriverResource<wgpu::Device>,
    queue: DriverResource<wgpu::Queue>,
    driver: Arc<Driver>,
    /// For each limit, the smaller of the adapter's own value and the value in the options.
    pub(super) limits: GpuLimits,
    /// The size of the largest buffer that the adapter allows, in bytes.
    pub(super) buffer_bytes_max: u64,
    /// The alignment of offsets into uniform buffers, in bytes.
    pub(super) offset_alignment: u64,
    /// The length of one tick of the device's clock, in nanoseconds.
    pub(super) tick: f64,
    /// The memory of the device that orbit may use, in bytes, determined by [`memory_bytes`] when the device was opened.
    pub(super) memory_bytes: u64,
    /// The number of buffer sets that share the memory.
    pub(super) buffer_sets: u64,
    pub(super) poison: bool,
    fault: Option<InjectedFault>,
    allocated: Arc<AtomicU64>,
    /// The part of the memory limit that is reserved for blocks that stay on the device, in bytes.
    pub(super) set_aside: AtomicU64,
    pub(super) submissions: Arc<AtomicU64>,
    readbacks: AtomicU64,
    /// The number of stages (parts of programs that run before the rest) whose results this device, not the processor, has
    /// propagated along games.
    pub(super) stages_carried: AtomicU64,
    layouts: DriverResource<Layouts>,
    pub(super) pipelines: Pipelines,
}

/// Commands that have not been submitted yet.
pub(super) type Encoder = DriverResource<wgpu::CommandEncoder>;

#[derive(Clone)]
struct Layouts {
    hits: (wgpu::BindGroupLayout, wgpu::PipelineLayout),
    words: (wgpu::BindGroupLayout, wgpu::PipelineLayout),
    carry: (wgpu::BindGroupLayout, wgpu::PipelineLayout),
}

/// A kind of pass on the device. The first pass computes hits and the second pass computes words at hits, each with a
/// kernel (the shader of a query). The third kind of pass propagates results along games.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KernelPass {
    Hits,
    Words,
    Carry,
}

impl KernelPass {
    /// Returns the number of storage buffers that the shaders of this pass bind.
    fn buffers(self) -> u32 {
        match self {
            KernelPass::Hits => STORAGE_BUFFERS - 1,
            KernelPass::Words => STORAGE_BUFFERS,
            KernelPass::Carry => 4,
        }
    }

    /// Returns the size of a dispatch's parameters in bytes. They are the struct `Params` in shaders/replay.wgsl or
    /// `Making` in shaders/games.wgsl.
    pub(super) const fn params_bytes(self) -> u64 {
        match self {
            KernelPass::Hits | KernelPass::Words => 16,
            KernelPass::Carry => 32,
        }
    }
}

struct OpenedAdapter {
    device: wgpu::Device,
    queue: wgpu::Queue,
    layouts: Layouts,
    adapter_limits: wgpu::Limits,
    /// The driver's cache of compiled pipelines, and the path of the file in which it is saved.
    cache: Option<(wgpu::PipelineCache, PathBuf)>,
    /// A message for the user if the pipeline cache's file could not be used.
    note: Option<String>,
}

impl Device {
    pub(super) fn open(options: &GpuOptions) -> Result<Device, GpuError> {
        let silence = options.silence.unwrap_or(SILENCE_MAX);
        let choice = options.adapter.clone();
        let choosing = Driver::new(silence).call(silence, move || adapters::choose(&choice));
        let (report, adapter) = choosing.map_err(GpuError::while_opening)?;
        fits(&report, &options.variant)?;
        // A software adapter compiles a shader only when the shader first runs, so the adapter may take longer to
        // answer at that time.
        let by_default = if report.is_software() { SILENCE_MAX * COMPILING } else { SILENCE_MAX };
        let silence = options.silence.unwrap_or(by_default);
        let driver = Driver::new(silence);
        let (name, watcher) = (report.name.clone(), Arc::clone(&driver));
        let keeps = |cache: &&PipelineCache| cache.of_software || !report.is_software();
        let folder = options.pipeline_cache.as_ref().filter(keeps).map(|cache| cache.folder.clone());
        let opened = driver.call(silence, move || open(&adapter, &watcher, name, folder)).map_err(
            |error| match error {
                GpuError::Lost { reason } => GpuError::Open { name: report.name.clone(), reason },
                other => other,
            },
        )?;
        let OpenedAdapter { device, queue, layouts, adapter_limits: theirs, cache, note } = opened;
        let cache = cache.map(|(cache, path)| CacheFile { cache: DriverResource::new(cache, &driver), path });
        let pipelines = Pipelines::new(options.pipelines_max.unwrap_or(PIPELINES_MAX), cache, note);
        let limits = GpuLimits {
            binding_bytes: theirs
                .max_storage_buffer_binding_size
                .min(theirs.max_buffer_size)
                .min(options.limits.binding_bytes),
            workgroups: theirs.max_compute_workgroups_per_dimension.min(options.limits.workgroups),
            memory_bytes: options.limits.memory_bytes,
        };
        let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
        let memory_bytes = memory_bytes(options, &report);
        Ok(Device {
            report,
            limits,
            memory_bytes,
            buffer_bytes_max: theirs.max_buffer_size,
            offset_alignment: device.limits().min_uniform_buffer_offset_alignment.into(),
            tick: queue.get_timestamp_period().into(),
            device: DriverResource::new(device, &driver),
            queue: DriverResource::new(queue, &driver),
            layouts: DriverResource::new(layouts, &driver),
            driver,
            buffer_sets: buffer_sets(threads, memory_bytes),
            poison: options.poison,
            fault: options.fault,
            allocated: Arc::default(),
            set_aside: AtomicU64::new(0),
            submissions: Arc::default(),
            readbacks: AtomicU64::new(0),
            stages_carried: AtomicU64::new(0),
            pipelines,
        })
    }

    /// Runs driver calls on a helper thread. If the driver rejects a call, returns [`GpuError::Refused`], which
    /// contains `what`.
    pub(super) fn guarded<T: Send + 'static>(
        &self,
        what: &'static str,
        run: impl FnOnce(&wgpu::Device, &wgpu::Queue) -> T + Send + 'static,
    ) -> Result<T, GpuError> {
        self.guarded_for(self.driver.silence(), what, run)
    }

    /// Like [`Device::guarded`], but waits at most for the duration `limit`.
    fn guarded_for<T: Send + 'static>(
        &self,
        limit: Duration,
        what: &'static str,
        run: impl FnOnce(&wgpu::Device, &wgpu::Queue) -> T + Send + 'static,
    ) -> Result<T, GpuError> {
        let (device, queue) = (self.device.clone(), self.queue.clone());
        let driver = Arc::clone(&self.driver);
        self.driver.call(limit, move || scoped(&device, &driver, what, || run(&device, &queue)))
    }

    /// Wraps a wgpu resource so that it is dropped on a helper thread.
    pub(super) fn keep<T: Send + 'static>(&self, value: T) -> DriverResource<T> {
        DriverResource::new(value, &self.driver)
    }

    /// Returns the number of bytes that all buffers together may use, apart from the blocks that stay on the device.
    pub(super) fn working_bytes(&self) -> u64 {
        self.memory_bytes.saturating_sub(self.set_aside.load(Ordering::Relaxed))
    }

    /// Returns true until the device is lost or fails to answer.
    pub(super) fn is_alive(&self) -> bool {
        self.driver.end().is_none()
    }

    /// Reserves memory for a buffer. Fails if the memory limit would be exceeded.
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

    /// Returns the pipeline of a kernel, and compiles it if necessary. `several_kings` is true if a side may have
    /// several kings in the games on which the kernel runs.
    pub(super) fn pipeline(
        &self,
        kernel: &Kernel,
        pass: KernelPass,
        several_kings: bool,
    ) -> Result<Pipeline, GpuError> {
        fits(&self.report, &kernel.variant)?;
        let some_slots = pass == KernelPass::Hits && self.slots_at_once(kernel)? < SEGMENT_SLOTS as u32;
        let form = usize::from(some_slots) + 2 * usize::from(several_kings);
        let get = || self.shader(&kernel.text(some_slots, several_kings), pass);
        kernel.pipelines.get(&self.pipelines, form, get)
    }

    /// Returns the number of slots of each segment that an invocation may evaluate in one dispatch. It is less than 32
    /// if the adapter would end a longer loop too early.
    pub(super) fn slots_at_once(&self, kernel: &Kernel) -> Result<u32, GpuError> {
        let (turns, most) = (kernel.turns.max(1), self.report.turns_max());
        let slots = (most / u64::from(kernel.variant.segments)).saturating_sub(REPLAY_TURNS) / turns;
        if slots == 0 {
            return Err(GpuError::TooLong { name: self.report.name.clone(), turns, most });
        }
        Ok(slots.min(SEGMENT_SLOTS as u64) as u32)
    }

    /// Returns the pipeline of a shader, and compiles it if necessary.
    pub(super) fn shader(&self, text: &str, pass: KernelPass) -> Result<Pipeline, GpuError> {
        self.pipelines.get(text, || self.compile(text, pass))
    }

    fn compile(&self, text: &str, pass: KernelPass) -> Result<Pipeline, GpuError> {
        let (layout, wgsl) = (self.layout(pass).1.clone(), text.to_string());
        let cache = self.pipelines.file.as_ref().map(|file| file.cache.clone());
        let silence = self.driver.silence();
        let limit = (silence.min(SILENCE_MAX) * COMPILING).max(silence);
        let pipeline = self.guarded_for(limit, "a shader", move |device, _| {
            let descriptor = wgpu::ShaderModuleDescriptor {
                label: Some("query"),
                source: wgpu::ShaderSource::Wgsl(wgsl.into()),
            };
            let checks = wgpu::ShaderRuntimeChecks { force_loop_bounding: false, ..Default::default() };
            // SAFETY: every loop ends. Each loop either counts up to a number that it does not change, or removes the
            // squares of a set one by one. The test `layout::every_loop_of_a_shader_ends` checks each loop. All other
            // runtime checks of the shader stay on.
            #[expect(
                unsafe_code,
                reason = "a count of turns in each loop takes registers that shorter shaders do without"
            )]
            let module = unsafe { device.create_shader_module_trusted(descriptor, checks) };
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some("query"),
                layout: Some(&layout),
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: false,
                    ..Default::default()
                },
                cache: cache.as_ref(),
            })
        })?;
        Ok(Arc::new(self.keep(pipeline)))
    }

    /// Saves the compiled kernels to the pipeline cache's file, unless the file already contains all of them. If the driver does not
    /// return them, they are not saved.
    pub(super) fn save_pipelines(&self) {
        self.pipelines.save(|file| {
            let cache = file.cache.clone();
            self.guarded("a cache", move |_, _| cache.get_data()).ok().flatten()
        });
    }

    fn layout(&self, pass: KernelPass) -> &(wgpu::BindGroupLayout, wgpu::PipelineLayout) {
        match pass {
            KernelPass::Hits => &self.layouts.hits,
            KernelPass::Words => &self.layouts.words,
            KernelPass::Carry => &self.layouts.carry,
        }
    }

    /// Returns the bind group layout of a pass.
    pub(super) fn bind_layout(&self, pass: KernelPass) -> wgpu::BindGroupLayout {
        self.layout(pass).0.clone()
    }

    /// Submits the commands in `encoder`, followed by those that `record` adds.
    pub(super) fn submit(
        &self,
        what: &'static str,
        encoder: Option<Encoder>,
        record: impl FnOnce(&wgpu::Device, &wgpu::Queue, &mut wgpu::CommandEncoder) + Send + 'static,
    ) -> Result<wgpu::SubmissionIndex, GpuError> {
        let encoder = encoder.map(DriverResource::into_inner);
        let (fault, submissions) = (self.fault, Arc::clone(&self.submissions));
        self.guarded(what, move |device, queue| {
            let mut encoder = encoder.unwrap_or_else(|| device.create_command_encoder(&Default::default()));
            record(device, queue, &mut encoder);
            let number = submissions.fetch_add(1, Ordering::Relaxed);
            use InjectedFault::{Destroyed, DestroyedOnce, DestroyedUnreported};
            if let Some(Destroyed(at) | DestroyedOnce(at) | DestroyedUnreported(at)) = fault
                && number >= at
            {
                if let Some(DestroyedUnreported(_)) = fault {
                    device.set_device_lost_callback(|_, _| {});
                }
                device.destroy();
            }
            queue.submit([encoder.finish()])
        })
    }

    /// Waits until the submission `after` is done, maps the first `bytes` bytes of a buffer, and returns the result of
    /// calling `look` with them.
    pub(super) fn map<T: Send + 'static>(
        &self,
        buffer: &wgpu::Buffer,
        mode: wgpu::MapMode,
        bytes: u64,
        after: Option<wgpu::SubmissionIndex>,
        look: impl FnOnce(&wgpu::Buffer) -> T + Send + 'static,
    ) -> Result<T, GpuError> {
        let mut fails = false;
        if mode == wgpu::MapMode::Read {
            let number = self.readbacks.fetch_add(1, Ordering::Relaxed);
            fails = self.fault == Some(InjectedFault::MapFails(number));
        }
        let (device, driver, buffer) = (self.device.clone(), Arc::clone(&self.driver), buffer.clone());
        self.driver.call(self.driver.silence() + GRACE, move || {
            if fails {
                buffer.destroy();
            }
            let (sender, receiver) = mpsc::channel();
            let begun = scoped(&device, &driver, "a map", || {
                buffer.map_async(mode, 0..bytes, move |result| {
                    let _ = sender.send(result);
                });
            });
            // Any error while mapping a buffer is treated as the loss of the device.
            begun.map_err(|error| match error {
                GpuError::Refused { reason, .. } => driver.lose(reason),
                other => other,
            })?;
            wait(&device, &driver, &receiver, after)?;
            scoped(&device, &driver, "a map", || look(&buffer))
        })
    }

    /// Returns the options for the device that replaces a lost one. They omit an injected fault that is meant only for
    /// the first device.
    pub(super) fn options_after_loss(options: &GpuOptions) -> GpuOptions {
        let fault = options.fault.filter(|fault| matches!(fault, InjectedFault::Destroyed(_)));
        GpuOptions { fault, ..options.clone() }
    }
}

/// Opens an adapter. This must be called on a helper thread.
fn open(
    adapter: &wgpu::Adapter,
    driver: &Arc<Driver>,
    name: String,
    folder: Option<PathBuf>,
) -> Result<OpenedAdapter, GpuError> {
    let theirs = adapter.limits();
    let useful =
        wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::SHADER_INT64 | wgpu::Features::PIPELINE_CACHE;
    let required_limits = wgpu::Limits {
        max_storage_buffer_binding_size: theirs.max_storage_buffer_binding_size,
        max_buffer_size: theirs.max_buffer_size,
        max_compute_workgroups_per_dimension: theirs.max_compute_workgroups_per_dimension,
        max_compute_workgroup_storage_size: theirs.max_compute_workgroup_storage_size,
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
    let (device, queue) = opened.map_err(|error| GpuError::Open { name, reason: error.to_string() })?;
    // Errors that no error scope catches, and the loss of the device, must not cause a panic. They are recorded, and
    // the next call returns them.
    let lost = Arc::clone(driver);
    device.set_device_lost_callback(move |reason, text| {
        lost.lose(format!("{reason:?}: {}", first_lines(&text)));
    });
    let failed = Arc::clone(driver);
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        failed.lose(first_lines(&error.to_string()));
    }));
    let layouts = scoped(&device, driver, "a layout", || Layouts {
        hits: layout(&device, KernelPass::Hits),
        words: layout(&device, KernelPass::Words),
        carry: layout(&device, KernelPass::Carry),
    })?;
    let key = wgpu::util::pipeline_cache_key(&adapter.get_info());
    let file = folder.zip(key).filter(|_| device.features().contains(wgpu::Features::PIPELINE_CACHE));
    let (mut cache, mut note) = (None, None);
    if let Some((folder, key)) = file {
        let path = pipelines::path_of(&folder, &key);
        let data;
        (data, note) = pipelines::read(&path);
        // If the driver rejects the cache, compiled kernels are not saved.
        let made = scoped(&device, driver, "a cache", || pipeline_cache(&device, data.as_deref()));
        cache = made.ok().map(|cache| (cache, path));
    }
    Ok(OpenedAdapter { device, queue, layouts, adapter_limits: theirs, cache, note })
}

/// Creates the driver's pipeline cache, initialised with `data` from an earlier run, if any.
fn pipeline_cache(device: &wgpu::Device, data: Option<&[u8]>) -> wgpu::PipelineCache {
    let descriptor = wgpu::PipelineCacheDescriptor { label: None, data, fallback: true };
    // SAFETY: the data come from `get_data` in an earlier run. The file in which they were kept begins with this
    // program's magic bytes, and the hash of its content is correct. In addition, wgpu and the driver check the
    // adapter, driver and version, and ignore data from others.
    #[expect(unsafe_code, reason = "there is no other way to give the driver what it has compiled before")]
    unsafe {
        device.create_pipeline_cache(&descriptor)
    }
}

/// Runs driver calls, and returns an error if the driver rejects one of them. This must be called on a helper thread.
fn scoped<T>(
    device: &wgpu::Device,
    driver: &Driver,
    what: &'static str,
    run: impl FnOnce() -> T,
) -> Result<T, GpuError> {
    let scopes = SCOPES.map(|filter| device.push_error_scope(filter));
    let out = run();
    error_of(scopes, device, driver, what).map_or(Ok(out), Err)
}

/// The kinds of errors that are caught during driver calls.
const SCOPES: [ErrorFilter; 3] = [ErrorFilter::Internal, ErrorFilter::OutOfMemory, ErrorFilter::Validation];

/// Returns the error that the error scopes caught, or the error that made the device unusable.
fn error_of(
    scopes: [wgpu::ErrorScopeGuard; SCOPES.len()],
    device: &wgpu::Device,
    driver: &Driver,
    what: &'static str,
) -> Option<GpuError> {
    let mut error = None;
    for scope in scopes.into_iter().rev() {
        let caught = block_on(scope.pop());
        error = error.or(caught);
    }
    match error {
        None => driver.end().cloned(),
        Some(wgpu::Error::OutOfMemory { source }) => {
            Some(GpuError::OutOfMemory { reason: first_lines(&source.to_string()) })
        }
        Some(error) => {
            let reason = first_lines(&error.to_string());
            Some(match is_lost(device, driver) {
                true => driver.lose(reason),
                false => GpuError::Refused { what, reason },
            })
        }
    }
}

/// Returns true if the device is lost. A lost device calls its callback only when it is idle and is polled, and another thread may
/// have polled it and not yet have called the callback. So a small buffer is requested: on a lost device, it is invalid and cannot
/// be unmapped.
fn is_lost(device: &wgpu::Device, driver: &Driver) -> bool {
    let memory = device.push_error_scope(ErrorFilter::OutOfMemory);
    let validation = device.push_error_scope(ErrorFilter::Validation);
    let usage = BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC;
    let descriptor = wgpu::BufferDescriptor { label: None, size: 4, usage, mapped_at_creation: true };
    device.create_buffer(&descriptor).unmap();
    let is_invalid = block_on(validation.pop()).is_some();
    let has_memory = block_on(memory.pop()).is_none();
    is_invalid && has_memory || driver.end().is_some()
}

/// Waits until the submission `after` is done and a buffer is mapped. This must be called on a helper thread.
fn wait(
    device: &wgpu::Device,
    driver: &Driver,
    mapped: &mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>,
    after: Option<wgpu::SubmissionIndex>,
) -> Result<(), GpuError> {
    let end = Instant::now() + driver.silence();
    let mut pause = Duration::ZERO;
    loop {
        let poll = match &after {
            // This is a single long wait, not several short ones. If a wait times out just before another thread
            // empties the queue, wgpu 30 panics ("If the queue is empty, the current submission index ...").
            Some(index) => wgpu::PollType::Wait {
                submission_index: Some(index.clone()),
                timeout: Some(end.saturating_duration_since(Instant::now())),
            },
            None => wgpu::PollType::Poll,
        };
        let polled = device.poll(poll);
        match mapped.recv_timeout(pause) {
            // A buffer that the submission does not use is mapped even if the submission has not ended.
            Ok(Ok(())) if matches!(polled, Err(wgpu::PollError::Timeout)) => break,
            Ok(Ok(())) => return Ok(()),
            Ok(Err(_)) | Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(driver.lose("it does not say why".into()));
            }
            Err(mpsc::RecvTimeoutError::Timeout) if Instant::now() < end => {
                pause = Duration::from_millis(u64::from(polled.is_ok()));
            }
            Err(mpsc::RecvTimeoutError::Timeout) => break,
        }
    }
    Err(driver.hang(driver.silence()))
}

/// Binds buffers in the order of the shader's bindings: the parameters first, then the given number of bytes of each
/// buffer.
pub(super) fn bind(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    (params, params_bytes): (&wgpu::Buffer, u64),
    buffers: &[(wgpu::Buffer, u64)],
) -> wgpu::BindGroup {
    let part = |buffer, size| {
        let size = wgpu::BufferSize::new(size);
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset: 0, size })
    };
    let first = (0, part(params, params_bytes));
    let others = (1..).zip(buffers.iter().map(|(buffer, size)| part(buffer, *size)));
    let entries: Vec<wgpu::BindGroupEntry> = std::iter::once(first)
        .chain(others)
        .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
}

fn fits(report: &AdapterReport, variant: &Variant) -> Result<(), GpuError> {
    let Some(reason) = variant.unfit(report) else { return Ok(()) };
    Err(GpuError::Unfit { name: report.name.clone(), reason })
}

fn layout(device: &wgpu::Device, pass: KernelPass) -> (wgpu::BindGroupLayout, wgpu::PipelineLayout) {
    let buffers = pass.buffers();
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

/// Reserved bytes of device memory. Dropping the value releases them.
struct Allocation {
    bytes: u64,
    allocated: Arc<AtomicU64>,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.allocated.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A buffer that grows on demand. Growing replaces it with a larger buffer, and its contents are lost.
pub(super) struct Buffer {
    usage: BufferUsages,
    buffer: Option<(DriverResource<wgpu::Buffer>, Allocation)>,
}

impl Buffer {
    pub(super) fn new(usage: BufferUsages) -> Buffer {
        Buffer { usage, buffer: None }
    }

    /// Creates a buffer that shaders can read and write.
    pub(super) fn storage() -> Buffer {
        Buffer::new(BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC)
    }

    /// Returns the buffer, enlarged if it has no room for `bytes` bytes.
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
            let buffer = device.guarded("a buffer", move |device, _| device.create_buffer(&descriptor))?;
            self.buffer = Some((device.keep(buffer), allocation));
        }
        Ok(self.get())
    }

    /// Returns the current buffer.
    ///
    /// # Panics
    ///
    /// Panics if [`Buffer::with_room`] was never called.
    pub(super) fn get(&self) -> &wgpu::Buffer {
        &self.buffer.as_ref().expect("room is made before a buffer is used").0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_buffer_sets_while_uploads_stay_large() {
        for (threads, sets) in [(1, 3), (3, 3), (6, 6), (8, 8), (64, 8)] {
            assert_eq!(buffer_sets(threads, u64::MAX), sets, "{threads} threads");
            assert_eq!(buffer_sets(threads, 1 << 30), 3, "{threads} threads, little memory");
        }
        assert_eq!(buffer_sets(64, 4 << 30), 5);
        assert_eq!(buffer_sets(64, 0), 3);
    }
}
