//! Runs kernels on one upload: copies inputs to the device, chooses the size (number of workgroups) of each dispatch,
//! reads results back and measures times.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use wgpu::{BufferUsages, MapMode};

use super::along::{DeviceColumns, GameSlots};
use super::device::{Buffer, Device, Encoder, KernelPass, bind};
use super::driver::DriverResource;
use super::pack::{Caps, KEY_BYTES, MOVES_BYTES, SEGMENTS_MAX, START_BYTES, Upload};
use super::pipelines::Pipeline;
use super::wgsl::StageKernels;
use super::{GpuError, Kernel};
use crate::{Interrupt, carry::SlotColumn, columns::GameColumn};
use orbit_plan::{Read, StageCarry};
use orbit_reel::{Block, SEGMENT_SLOTS};

/// The maximum number of plan steps in one dispatch. Operating systems reset a card whose dispatch runs for seconds,
/// because the card cannot update the screen during that time.
const STEPS_MAX: u64 = (SEGMENTS_MAX * SEGMENT_SLOTS) as u64 * 4000;

/// The number by which `STEPS_MAX` is multiplied for cards with memory of their own, which are faster than graphics units of
/// processors, and which need more segments in a dispatch to be busy.
const DISCRETE_TIMES: u64 = 8;

/// The maximum number of dispatches of one submission. The interrupt is checked before each submission.
const DISPATCHES_MAX: usize = 4;

/// The maximum number of bytes that one round of the second pass reads back.
const OUTPUT_BYTES_MAX: u64 = 32 << 20;

/// The number of bytes to map if a buffer is mapped only to wait for the end of a submission.
const MAP_BYTES: u64 = 16;

/// The size of two timestamps of eight bytes, with room to align them.
const TIMESTAMP_BYTES: u64 = 24;

/// The size of the shader's struct `Entry` (shaders/words.wgsl), in words.
pub(super) const ENTRY_WORDS: usize = 3;

/// An upload (a batch of blocks) in buffers on the device.
pub(super) struct KernelInput {
    keys: Buffer,
    moves: Buffer,
    starts: Buffer,
    games: Buffer,
    segments: usize,
    start_count: usize,
    /// True if a side may have several kings in one of the games.
    several_kings: bool,
    /// The number of games in the upload; `None` until [`KernelInput::set_games`] has written their ranges of slots.
    game_count: Option<usize>,
}

/// The buffers for one upload (a batch of blocks) and for the kernels that run on it.
pub(super) struct BufferSet {
    pub(super) input: KernelInput,
    pub(super) run: KernelRun,
}

/// The buffers and the state that kernels need in addition to their input.
pub(super) struct KernelRun {
    /// Preparations that must be made before the next commands are recorded. The field comes before the buffers, so
    /// that it is dropped first.
    first: Vec<Preparation>,
    staging: Buffer,
    params: Buffer,
    columns: Buffer,
    tables: Buffer,
    carried: Buffer,
    entries: Buffer,
    output: Buffer,
    readback: Buffer,
    column_bytes: u64,
    carried_bytes: u64,
    along: DeviceColumns,
    /// The submission that copies data from the staging buffer; `None` after a caller has waited for it.
    uploading: Option<wgpu::SubmissionIndex>,
    clock: Option<DriverResource<Clock>>,
    kernel_time: Duration,
    /// The interrupt of the request that uses the buffers.
    pub(super) interrupt: Interrupt,
}

/// A pair of timestamps, and the buffer to which they are resolved.
#[derive(Clone)]
struct Clock {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
}

/// A preparation: work that is done before commands are recorded.
enum Preparation {
    Write(wgpu::Buffer, Vec<u32>),
    Unmap(wgpu::Buffer),
    /// Copies bytes from one buffer to another. The fields are the source, the number of bytes, the destination, and
    /// the offset into the destination.
    Copy(wgpu::Buffer, u64, wgpu::Buffer, u64),
}

impl Preparation {
    fn record(self, queue: &wgpu::Queue, encoder: &mut wgpu::CommandEncoder) {
        match self {
            Preparation::Write(buffer, words) => {
                queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&words));
            }
            Preparation::Unmap(buffer) => buffer.unmap(),
            Preparation::Copy(from, bytes, to, at) => encoder.copy_buffer_to_buffer(&from, 0, &to, at, bytes),
        }
    }
}

impl Clock {
    /// Returns the destination of the timestamps of one of several passes, or `None` if there is no clock. The first
    /// pass writes the time at which it begins, and the last pass the time at which it ends.
    fn writes(
        clock: Option<&Clock>,
        is_first: bool,
        is_last: bool,
    ) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        clock.filter(|_| is_first || is_last).map(|clock| wgpu::ComputePassTimestampWrites {
            query_set: &clock.queries,
            beginning_of_pass_write_index: is_first.then_some(0),
            end_of_pass_write_index: is_last.then_some(1),
        })
    }

    /// Copies the timestamps to the readback buffer, after its first `bytes` bytes.
    fn read(clock: Option<&Clock>, encoder: &mut wgpu::CommandEncoder, readback: &wgpu::Buffer, bytes: u64) {
        let Some(Clock { queries, resolved }) = clock else { return };
        encoder.resolve_query_set(queries, 0..2, resolved, 0);
        let end = bytes.next_multiple_of(8);
        encoder.copy_buffer_to_buffer(resolved, 0, readback, end, TIMESTAMP_BYTES - 8);
    }
}

/// Returns the maximum size of an upload (a batch of blocks) for the given kernels.
pub(super) fn caps(device: &Device, kernels: &[&Kernel], columns: usize) -> Result<Caps, GpuError> {
    let binding = device.limits.binding_bytes;
    // The input and its staging buffer use two fifths of a buffer set's memory. The output and readback buffers use
    // less than the rest. The staging buffer contains the whole input.
    let bytes = (device.working_bytes() / device.buffer_sets / 5).min(device.buffer_bytes_max);
    let kernels: Vec<&Kernel> = kernels.iter().flat_map(|kernel| kernel.all()).collect();
    let outputs = kernels.iter().map(|kernel| kernel.outputs).max().unwrap_or(1) as u64;
    let tables = kernels.iter().map(|kernel| 8 * kernel.tables.len()).max().unwrap_or(0) as u64;
    if tables > binding {
        return Err(GpuError::TooSmall { what: "the query's tables", needed: tables, available: binding });
    }
    let each = kernels.iter().map(|kernel| 4 * kernel.carried_words as u64).max().unwrap_or(0);
    let carried = binding.min(bytes) / each.max(1);
    if each > binding.min(bytes) {
        let available = binding.min(bytes);
        return Err(GpuError::TooSmall { what: "what `find` carries", needed: each, available });
    }
    let segments = (binding / MOVES_BYTES).min(binding / (4 * outputs)).min(carried).min(SEGMENTS_MAX as u64);
    let games = if columns == 0 { u64::MAX } else { binding / (8 * columns as u64) };
    Ok(Caps {
        segments: segments as usize,
        starts: (binding / START_BYTES) as usize,
        games: usize::try_from(games).unwrap_or(usize::MAX),
        bytes,
    })
}

impl KernelInput {
    pub(super) fn new() -> KernelInput {
        KernelInput {
            keys: Buffer::storage(),
            moves: Buffer::storage(),
            starts: Buffer::storage(),
            games: Buffer::storage(),
            segments: 0,
            start_count: 0,
            several_kings: false,
            game_count: None,
        }
    }

    /// Copies an upload to the staging buffer, and returns the commands that copy it to the device. If `transposed` is
    /// true, keys (first positions of segments) and moves are stored transposed (see `Variant::transposed`). `after` is
    /// the submission that must be complete before the staging buffer can be written.
    pub(super) fn upload(
        &mut self,
        device: &Device,
        staging: &mut Buffer,
        after: Option<wgpu::SubmissionIndex>,
        (upload, transposed): (&Upload, bool),
        blocks: &[&Block],
    ) -> Result<Encoder, GpuError> {
        (self.segments, self.start_count, self.game_count) = (upload.segments, upload.starts, None);
        self.several_kings = upload.has_several_kings(blocks);
        let key_bytes = KEY_BYTES * upload.segments as u64;
        let move_bytes = MOVES_BYTES * upload.segments as u64;
        let start_bytes = START_BYTES * upload.starts as u64;
        let bytes = key_bytes + move_bytes + start_bytes;
        let staged = staging.with_room(device, bytes)?;
        let view = device
            .map(staged, MapMode::Write, bytes, after, move |staged| staged.get_mapped_range_mut(0..bytes))?;
        let mut view = view.map_err(|error| GpuError::Lost { reason: error.to_string() })?;
        let mut write = |at: u64, bytes: &[u8]| {
            let at = at as usize;
            view.slice(at..at + bytes.len()).copy_from_slice(bytes);
        };
        if transposed {
            upload.key_words(blocks, |at, words| write(at, bytemuck::cast_slice(words)));
            upload.move_words(blocks, |at, words| write(key_bytes + at, bytemuck::cast_slice(words)));
        } else {
            let mut at = 0;
            upload.keys(blocks, |keys| {
                write(at, bytemuck::cast_slice(keys));
                at += size_of_val(keys) as u64;
            });
            for (moves, missing) in upload.moves(blocks) {
                write(at, moves);
                at += moves.len() as u64;
                write(at, &[0; MOVES_BYTES as usize][..missing]);
                at += missing as u64;
            }
        }
        write(key_bytes + move_bytes, bytemuck::cast_slice(&upload.start_table(blocks)));
        drop(view);
        let parts = [
            (self.keys.with_room(device, key_bytes)?.clone(), key_bytes),
            (self.moves.with_room(device, move_bytes)?.clone(), move_bytes),
            (self.starts.with_room(device, start_bytes)?.clone(), start_bytes),
        ];
        let staged = staged.clone();
        let encoder = device.guarded("an upload", move |device, _| {
            staged.unmap();
            let mut encoder = device.create_command_encoder(&Default::default());
            let mut from = 0;
            for (buffer, bytes) in parts.iter().filter(|(_, bytes)| *bytes > 0) {
                encoder.copy_buffer_to_buffer(&staged, from, buffer, 0, *bytes);
                from += bytes;
            }
            encoder
        })?;
        Ok(device.keep(encoder))
    }

    /// Writes the range of slots of each game of the upload to the device, where all later submissions can read it.
    pub(super) fn set_games(&mut self, device: &Device, games: &[GameSlots]) -> Result<(), GpuError> {
        let bytes: Vec<u8> = bytemuck::cast_slice(games).to_vec();
        let buffer = self.games.with_room(device, bytes.len() as u64)?.clone();
        device.guarded("an upload", move |_, queue| queue.write_buffer(&buffer, 0, &bytes))?;
        self.game_count = Some(games.len());
        Ok(())
    }

    /// Returns the number of games of the upload, or `None` if the ranges of slots of these games have not been written to the
    /// device.
    pub(super) fn game_count(&self) -> Option<usize> {
        self.game_count
    }
}

impl BufferSet {
    pub(super) fn new() -> BufferSet {
        BufferSet { input: KernelInput::new(), run: KernelRun::new() }
    }
}

/// A segment (32 positions) with hits for which the second pass computes words. The numbers are the index of the
/// segment, its hits as bits, and the index of the first hit's words in the output.
pub(super) type HitEntry = [u32; ENTRY_WORDS];

impl KernelRun {
    pub(super) fn new() -> KernelRun {
        KernelRun {
            first: Vec::new(),
            staging: Buffer::new(BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC),
            params: Buffer::new(BufferUsages::UNIFORM | BufferUsages::COPY_DST),
            columns: Buffer::storage(),
            tables: Buffer::storage(),
            carried: Buffer::storage(),
            entries: Buffer::storage(),
            output: Buffer::storage(),
            readback: Buffer::new(BufferUsages::MAP_READ | BufferUsages::COPY_DST),
            column_bytes: 0,
            carried_bytes: 0,
            along: DeviceColumns::new(),
            uploading: None,
            clock: None,
            kernel_time: Duration::ZERO,
            interrupt: Interrupt::default(),
        }
    }

    /// Sends an upload to the device. If the flag in `upload` is true, keys (first positions of segments) and moves are
    /// stored transposed (see `Variant::transposed`).
    pub(super) fn upload(
        &mut self,
        device: &Device,
        input: &mut KernelInput,
        upload: (&Upload, bool),
        blocks: &[&Block],
    ) -> Result<(), GpuError> {
        self.look()?;
        self.along.forget();
        let after = self.uploading.take();
        let encoder = input.upload(device, &mut self.staging, after, upload, blocks)?;
        self.uploading = Some(device.submit("an upload", Some(encoder), |_, _, _| {})?);
        Ok(())
    }

    /// Returns an error if the interrupt of the request is set.
    fn look(&self) -> Result<(), GpuError> {
        if self.interrupt.is_set() { Err(GpuError::Interrupted) } else { Ok(()) }
    }

    /// Waits until the last upload (a batch of blocks) is on the device.
    pub(super) fn wait(&mut self, device: &Device) -> Result<(), GpuError> {
        let Some(submission) = self.uploading.take() else { return Ok(()) };
        // Once the staging buffer can be mapped, the device has finished reading it.
        let staging = self.staging.get();
        device.map(staging, MapMode::Write, MAP_BYTES, Some(submission), wgpu::Buffer::unmap)
    }

    /// Writes the per-game columns of the upload's games, if the plan has any.
    pub(super) fn set_columns(
        &mut self,
        device: &Device,
        upload: &Upload,
        columns: &[&[GameColumn]],
    ) -> Result<(), GpuError> {
        self.column_bytes = write(device, &mut self.first, &mut self.columns, upload.columns(columns))?;
        Ok(())
    }

    /// Writes the columns that stages (parts of a program that run before the rest) propagated along the games of the
    /// blocks.
    pub(super) fn set_carried(
        &mut self,
        device: &Device,
        upload: &Upload,
        carried: &[Vec<&SlotColumn>],
    ) -> Result<(), GpuError> {
        self.carried_bytes = write(device, &mut self.first, &mut self.carried, upload.carried(carried))?;
        Ok(())
    }

    /// Marks the propagated per-position columns as outdated. This is called when other games are uploaded.
    pub(super) fn forget_carried(&mut self) {
        self.along.forget();
    }

    /// Runs those stages of a kernel (the parts of its plan that run before the rest) whose columns are not on the
    /// device yet, and copies the columns that the kernel reads to its input buffer. The per-game columns of the upload
    /// and the ranges of slots of its games must already be on the device. `made` returns the columns that the
    /// processor computes.
    pub(super) fn carry(
        &mut self,
        device: &Device,
        input: &KernelInput,
        kernel: &Kernel,
        made: impl Fn(&StageCarry) -> Vec<u32>,
    ) -> Result<(), GpuError> {
        for stage in kernel.stages.iter() {
            if self.along.knows(&stage.carries) {
                continue;
            }
            let made = self.along.take_in(device, stage, input.segments, &made)?;
            self.first.extend(made.into_iter().map(|(buffer, words)| Preparation::Write(buffer, words)));
            self.gather(device, input, &stage.reads)?;
            if let Some(masks) = &stage.masks {
                let output_bytes = 4 * (input.segments * masks.outputs) as u64;
                let work = Submission {
                    pass: KernelPass::Hits,
                    count: input.segments,
                    output_bytes,
                    is_first: true,
                    to: To::Masks,
                };
                let pending = self.begin(device, input, masks, work)?;
                self.settle(device, pending)?;
            }
            if let Some(sets) = stage.sets.as_ref().filter(|_| stage.reads_sets()) {
                self.keep_words(device, input, sets)?;
            }
            self.carry_stage(device, input, stage)?;
            device.stages_carried.fetch_add(1, Ordering::Relaxed);
        }
        self.gather(device, input, &kernel.reads)
    }

    /// Copies per-position columns consecutively into the buffer from which a program reads them.
    fn gather(&mut self, device: &Device, input: &KernelInput, reads: &[Read]) -> Result<(), GpuError> {
        let columns: Vec<_> = reads.iter().map(|read| self.along.column(read.id, input.segments)).collect();
        self.carried_bytes = columns.iter().map(|(_, bytes)| bytes).sum();
        let to = self.carried.with_room(device, self.carried_bytes)?;
        let mut at = 0;
        for (from, bytes) in columns {
            self.first.push(Preparation::Copy(from, bytes, to.clone(), at));
            at += bytes;
        }
        Ok(())
    }

    /// Runs the kernel that computes the words of a stage, for all slots (positions), and keeps the words on the
    /// device.
    fn keep_words(&mut self, device: &Device, input: &KernelInput, kernel: &Kernel) -> Result<(), GpuError> {
        let all: Vec<(u32, u32)> = (0..input.segments as u32).map(|segment| (segment, u32::MAX)).collect();
        let output_bytes = (8 * SEGMENT_SLOTS * kernel.outputs * input.segments) as u64;
        for (n, &window) in windows(device.slots_at_once(kernel)?).iter().enumerate() {
            let entries = entries(&all, window, kernel.outputs as u32);
            let (count, is_first) = (entries.len(), n == 0);
            write(device, &mut self.first, &mut self.entries, entries.into_flattened())?;
            let work = Submission { pass: KernelPass::Words, count, output_bytes, is_first, to: To::Words };
            let pending = self.begin(device, input, kernel, work)?;
            self.settle(device, pending)?;
        }
        Ok(())
    }

    /// Propagates the results of a stage (a part of a program that runs before the rest) along games, on the device.
    fn carry_stage(
        &mut self,
        device: &Device,
        input: &KernelInput,
        stage: &StageKernels,
    ) -> Result<(), GpuError> {
        let games = (input.games.get(), input.game_count.expect("it is known where games are"));
        let mut work = self.along.work(device, stage, games, input.segments)?;
        if work.is_empty() {
            return Ok(());
        }
        self.look()?;
        write(device, &mut self.first, &mut self.along.params, std::mem::take(&mut work.params))?;
        let params = self.along.params.get().clone();
        let readback = self.readback.with_room(device, TIMESTAMP_BYTES)?.clone();
        let (layout, clock) = (device.bind_layout(KernelPass::Carry), self.clock.as_deref().cloned());
        let first = std::mem::take(&mut self.first);
        let submission = device.submit("a dispatch", None, move |device, queue, encoder| {
            first.into_iter().for_each(|first| first.record(queue, encoder));
            let timestamps = |is_first, is_last| Clock::writes(clock.as_ref(), is_first, is_last);
            work.record(device, &layout, &params, encoder, timestamps);
            Clock::read(clock.as_ref(), encoder, &readback, 0);
        })?;
        self.settle(device, Pending { submission, bytes: 0 })
    }

    /// Completes a submission whose output stays on the device. Waits only if there is a clock, because the clock must
    /// be read before it is restarted.
    fn settle(&mut self, device: &Device, pending: Pending) -> Result<(), GpuError> {
        if self.clock.is_some() { self.finish(device, pending, |_| {}) } else { Ok(()) }
    }

    /// Submits the first pass. [`KernelRun::finish`] then returns its output: for each of the kernel's queries, one
    /// word for each segment (32 positions).
    pub(super) fn begin_hits(
        &mut self,
        device: &Device,
        input: &KernelInput,
        kernel: &Kernel,
    ) -> Result<Pending, GpuError> {
        let output_bytes = 4 * (input.segments * kernel.outputs) as u64;
        let (count, is_first) = (input.segments, true);
        let work = Submission { pass: KernelPass::Hits, count, output_bytes, is_first, to: To::Host };
        self.begin(device, input, kernel, work)
    }

    /// Runs the second pass: calls `take` with segments (32 positions each), their hits, and the words of each hit, in order.
    pub(super) fn words(
        &mut self,
        device: &Device,
        input: &KernelInput,
        kernel: &Kernel,
        hits: &[(u32, u32)],
        mut take: impl FnMut(&[(u32, u32)], &[u64]),
    ) -> Result<(), GpuError> {
        let needed = (8 * SEGMENT_SLOTS * kernel.outputs).max(4 * ENTRY_WORDS) as u64;
        let available = output_budget(device);
        if needed > available {
            return Err(GpuError::TooSmall { what: "a segment's values", needed, available });
        }
        // If an adapter limits loops, the slots (positions) of each segment are divided among dispatches. A dispatch
        // evaluates the same slots of all segments, because neighbouring invocations run in lockstep.
        let windows = windows(device.slots_at_once(kernel)?);
        let each = 8 * kernel.outputs as u64;
        let entries_max = (available / (4 * ENTRY_WORDS) as u64) as usize;
        for range in batches(hits, (available / each) as u32, entries_max) {
            let hits = &hits[range];
            let count: u32 = hits.iter().map(|(_, slots)| slots.count_ones()).sum();
            let output_bytes = u64::from(count) * each;
            let dispatches: Vec<Vec<HitEntry>> = windows
                .iter()
                .map(|&window| entries(hits, window, kernel.outputs as u32))
                .filter(|entries| !entries.is_empty())
                .collect();
            let number = dispatches.len();
            for (n, entries) in dispatches.into_iter().enumerate() {
                let (count, is_first) = (entries.len(), n == 0);
                write(device, &mut self.first, &mut self.entries, entries.into_flattened())?;
                let work =
                    Submission { pass: KernelPass::Words, count, output_bytes, is_first, to: To::Host };
                let pending = self.begin(device, input, kernel, work)?;
                // All dispatches write to one output, which is complete after the last of them.
                let is_last = n + 1 == number;
                self.finish(device, pending, |bytes| {
                    if is_last {
                        take(hits, bytemuck::cast_slice(bytes));
                    }
                })?;
            }
        }
        Ok(())
    }

    fn begin(
        &mut self,
        device: &Device,
        input: &KernelInput,
        kernel: &Kernel,
        work: Submission,
    ) -> Result<Pending, GpuError> {
        let pipeline = device.pipeline(kernel, work.pass, input.several_kings)?;
        let table_bytes =
            write(device, &mut self.first, &mut self.tables, bytemuck::cast_slice(&kernel.tables).to_vec())?;
        self.columns.with_room(device, self.column_bytes)?;
        self.carried.with_room(device, self.carried_bytes)?;
        let output = match work.to {
            To::Host => &mut self.output,
            To::Masks => &mut self.along.masks,
            To::Words => &mut self.along.words,
        };
        let output = output.with_room(device, work.output_bytes)?.clone();
        let back_bytes = if work.to == To::Host { work.output_bytes } else { 0 };
        self.readback.with_room(device, back_bytes.max(MAP_BYTES) + TIMESTAMP_BYTES)?;
        // In the second pass, the entries (segments with hits) have already been divided by slots, so a dispatch may evaluate
        // every hit of an entry.
        let at_once =
            if work.pass == KernelPass::Hits { device.slots_at_once(kernel)? } else { SEGMENT_SLOTS as u32 };
        let windows = windows(at_once);
        let spans: Vec<(Range<u32>, u32)> = spans(device, kernel, work.count)
            .into_iter()
            .flat_map(|span| windows.iter().map(move |&slots| (span.clone(), slots)))
            .collect();
        let params_bytes = work.pass.params_bytes();
        let stride = device.offset_alignment.max(params_bytes);
        let mut params: Vec<u32> = Vec::with_capacity(spans.len() * stride as usize / 4);
        for (k, (span, slots)) in spans.iter().enumerate() {
            params.extend([span.start, span.end, input.segments as u32, *slots]);
            params.resize((k + 1) * stride as usize / 4, 0);
        }
        write(device, &mut self.first, &mut self.params, params)?;
        if device.poison && work.is_first {
            self.first
                .push(Preparation::Write(output.clone(), vec![u32::MAX; work.output_bytes as usize / 4]));
        }
        let mut buffers = vec![
            (&input.keys, KEY_BYTES * input.segments as u64),
            (&input.moves, MOVES_BYTES * input.segments as u64),
            (&input.starts, START_BYTES * input.start_count as u64),
            (&self.columns, self.column_bytes),
            (&self.tables, table_bytes),
            (&self.carried, self.carried_bytes),
        ];
        if work.pass == KernelPass::Words {
            buffers.push((&self.entries, (4 * ENTRY_WORDS * work.count) as u64));
        }
        let buffers = buffers.into_iter().map(|(buffer, bytes)| (buffer.get().clone(), bytes));
        let buffers: Vec<(wgpu::Buffer, u64)> = buffers
            .chain([(output.clone(), work.output_bytes)])
            .map(|(buffer, bytes)| (buffer, bytes.max(64)))
            .collect();
        let params = (self.params.get().clone(), params_bytes);
        let all = KernelDispatches { pipeline, layout: device.bind_layout(work.pass), params, buffers };
        let groups: Vec<(u32, u32)> = (0..)
            .step_by(stride as usize)
            .zip(&spans)
            .map(|(offset, (span, _))| {
                (offset, span.len().div_ceil(kernel.variant.segments_at_once() as usize) as u32)
            })
            .collect();
        let mut submissions: Vec<&[(u32, u32)]> = groups.chunks(DISPATCHES_MAX).collect();
        let last = submissions.pop().unwrap_or_default();
        for groups in submissions {
            let pending = self.submit(device, all.clone(), groups, (MAP_BYTES, None))?;
            self.finish(device, pending, |_| {})?;
        }
        self.submit(device, all, last, (back_bytes, (back_bytes > 0).then_some(output)))
    }

    /// Submits dispatches, each with the offset of its parameters and its number of workgroups. Then copies `back_bytes`
    /// bytes of the output, if there is one, to the readback buffer.
    fn submit(
        &mut self,
        device: &Device,
        KernelDispatches { pipeline, layout, params, buffers }: KernelDispatches,
        groups: &[(u32, u32)],
        (back_bytes, output): (u64, Option<wgpu::Buffer>),
    ) -> Result<Pending, GpuError> {
        self.look()?;
        let groups = groups.to_vec();
        let (clock, readback) = (self.clock.as_deref().cloned(), self.readback.get().clone());
        let first = std::mem::take(&mut self.first);
        let submission = device.submit("a dispatch", None, move |device, queue, encoder| {
            first.into_iter().for_each(|first| first.record(queue, encoder));
            let group = bind(device, &layout, (&params.0, params.1), &buffers);
            {
                let timestamp_writes = Clock::writes(clock.as_ref(), true, true);
                let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
                let mut pass = encoder.begin_compute_pass(&descriptor);
                pass.set_pipeline(&pipeline);
                for (offset, workgroups) in groups {
                    pass.set_bind_group(0, &group, &[offset]);
                    pass.dispatch_workgroups(workgroups, 1, 1);
                }
            }
            if let Some(output) = output {
                encoder.copy_buffer_to_buffer(&output, 0, &readback, 0, back_bytes);
            }
            Clock::read(clock.as_ref(), encoder, &readback, back_bytes);
        })?;
        Ok(Pending { submission, bytes: back_bytes })
    }

    /// Waits for a submission, and calls `take` with its output.
    pub(super) fn finish(
        &mut self,
        device: &Device,
        pending: Pending,
        take: impl FnOnce(&[u8]),
    ) -> Result<(), GpuError> {
        let Pending { submission, bytes } = pending;
        let all = if self.clock.is_some() { bytes.next_multiple_of(8) + TIMESTAMP_BYTES - 8 } else { bytes };
        let readback = self.readback.get();
        let view = device.map(readback, MapMode::Read, all, Some(submission), move |readback| {
            readback.get_mapped_range(0..all)
        })?;
        let view = view.map_err(|error| GpuError::Lost { reason: error.to_string() })?;
        let (output, ticks) = view.split_at(bytes as usize);
        if self.clock.is_some() {
            let ticks: Vec<u64> =
                ticks[ticks.len() - 16..].chunks(8).map(bytemuck::pod_read_unaligned).collect();
            let nanoseconds = ticks[1].saturating_sub(ticks[0]) as f64 * device.tick;
            self.kernel_time += Duration::from_nanos(nanoseconds as u64);
        }
        take(output);
        drop(view);
        self.first.push(Preparation::Unmap(readback.clone()));
        Ok(())
    }

    /// Starts measuring the running time of kernels, if the device has a clock.
    pub(super) fn start_clock(&mut self, device: &Device) -> Result<(), GpuError> {
        if !device.report.has_timestamps {
            return Ok(());
        }
        let clock = device.guarded("a clock", |device, _| {
            let queries = device.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            });
            let resolved = device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: 256,
                usage: BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            });
            Clock { queries, resolved }
        })?;
        self.clock = Some(device.keep(clock));
        Ok(())
    }

    /// Stops the clock, and returns the total running time of the kernels since it was started.
    pub(super) fn stop_clock(&mut self) -> Option<Duration> {
        self.clock.take().map(|_| std::mem::take(&mut self.kernel_time))
    }
}

/// The pipeline of some dispatches, its bindings, and the bytes of the parameters of each dispatch.
#[derive(Clone)]
struct KernelDispatches {
    pipeline: Pipeline,
    layout: wgpu::BindGroupLayout,
    params: (wgpu::Buffer, u64),
    buffers: Vec<(wgpu::Buffer, u64)>,
}

/// A submission whose output has not been read yet.
pub(super) struct Pending {
    submission: wgpu::SubmissionIndex,
    bytes: u64,
}

/// The parameters of one submission.
#[derive(Clone, Copy)]
struct Submission {
    pass: KernelPass,
    /// The number of segments (32 positions each) that the first pass evaluates, or of entries (segments with hits)
    /// that the second pass evaluates.
    count: usize,
    output_bytes: u64,
    /// True for the first of several submissions that write to one output.
    is_first: bool,
    to: To,
}

/// The destination of an output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum To {
    Host,
    /// The buffer on the device for the masks that a stage (a part of a program that runs before the rest) computes.
    /// [`To::Words`] is the buffer for its words.
    Masks,
    Words,
}

/// Divides `count` segments (32 positions each) or entries (segments with hits) into ranges, one for each dispatch.
fn spans(device: &Device, kernel: &Kernel, count: usize) -> Vec<Range<u32>> {
    let times = if device.report.kind == "discrete" { DISCRETE_TIMES } else { 1 };
    let by_time = times * STEPS_MAX / SEGMENT_SLOTS as u64 / kernel.cost.max(1);
    let group = u64::from(kernel.variant.segments_at_once());
    let by_groups = u64::from(device.limits.workgroups) * group;
    let most = by_time.clamp(group, by_groups.max(group)) as u32;
    (0..count as u32).step_by(most as usize).map(|from| from..(from + most).min(count as u32)).collect()
}

/// Returns the maximum number of bytes that one round of the second pass may read back.
fn output_budget(device: &Device) -> u64 {
    device.limits.binding_bytes.min(device.working_bytes() / device.buffer_sets / 10).min(OUTPUT_BYTES_MAX)
}

/// Divides the slots (positions) of a segment into windows of at most `slots` slots, and returns them as masks.
fn windows(slots: u32) -> Vec<u32> {
    let width = SEGMENT_SLOTS as u32;
    (0..width).step_by(slots as usize).map(|from| mask(from, slots.min(width - from))).collect()
}

fn mask(from: u32, len: u32) -> u32 {
    (((1u64 << len) - 1) << from) as u32
}

/// Returns the entries of the hits in a window of slots (positions). `words` is the number of words for each hit. The
/// index of a hit in the output does not depend on the window.
fn entries(hits: &[(u32, u32)], window: u32, words: u32) -> Vec<HitEntry> {
    let (mut out, mut first) = (Vec::with_capacity(hits.len()), 0);
    let below = window.wrapping_sub(1) & !window;
    for &(segment, slots) in hits {
        if slots & window != 0 {
            out.push([segment, slots & window, (first + (slots & below).count_ones()) * words]);
        }
        first += slots.count_ones();
    }
    out
}

/// Divides a list of segments (32 positions each) with hits into ranges of at most `hits_max` hits and `entries_max` segments.
fn batches(hits: &[(u32, u32)], hits_max: u32, entries_max: usize) -> Vec<Range<usize>> {
    let (mut out, mut from, mut count) = (Vec::new(), 0, 0);
    for (k, (_, slots)) in hits.iter().enumerate() {
        if count + slots.count_ones() > hits_max || k - from == entries_max {
            out.push(from..k);
            (from, count) = (k, 0);
        }
        count += slots.count_ones();
    }
    if from < hits.len() {
        out.push(from..hits.len());
    }
    out
}

/// Schedules a write to a small buffer before the next commands. Returns the number of bytes to write.
fn write(
    device: &Device,
    first: &mut Vec<Preparation>,
    buffer: &mut Buffer,
    words: Vec<u32>,
) -> Result<u64, GpuError> {
    let bytes = size_of_val(&words[..]) as u64;
    let buffer = buffer.with_room(device, bytes)?;
    if !words.is_empty() {
        first.push(Preparation::Write(buffer.clone(), words));
    }
    Ok(bytes)
}

/// Runs a closure, and adds the time that it takes to `total`.
pub(super) fn timed<T>(total: &mut Duration, run: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let out = run();
    *total += begun.elapsed();
    out
}
