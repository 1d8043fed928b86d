//! Propagates the results of stages along games, on the device.
//!
//! A *stage* is a part of a program that runs at all positions before the rest of the program, because the rest needs
//! the stage's results (masks and words) at other positions of the game. The code calls this propagation *carrying*.
//! Each shader invocation processes one game. So an upload must contain whole games, and these must have no side lines
//! (variations). Each result stays on the device as a column until other games are uploaded, and is copied to the input
//! buffer of each program that reads it. `ways.rs` defines how each kind of column is computed. Columns that depend
//! only on the moves of games are computed by the processor and uploaded.

use std::{collections::HashMap, ops::Range};

use super::{
    GpuError,
    device::{Buffer, Device, KernelPass, bind},
    pack::Upload,
    pipelines::Pipeline,
    ways::ColumnWay,
    wgsl::{Kernel, StageKernels},
};
use crate::carry::slots;
use orbit_plan::{CarryId, ColumnOperand, StageCarry};
use orbit_reel::{Block, SEGMENT_SLOTS};

/// The number of invocations in a workgroup. The shader calls it `GAMES_WORKGROUP`.
const WORKGROUP: u32 = 64;

/// The size of the shader's struct `Making`, in words.
const MAKING_WORDS: usize = 8;

/// The maximum number of slots (positions) of a game along which the device propagates results. With longer games, a dispatch
/// might run for seconds, and operating systems would reset the card. In addition, software adapters end a loop after 65,535
/// iterations.
const GAME_SLOTS_MAX: usize = 20_000;

/// The largest total size of the per-position columns of one upload, in bytes.
const COLUMNS_BYTES_MAX: u64 = 512 << 20;

/// A game's range of slots (positions): the first slot and the slot after the last, relative to the first slot of the
/// upload.
pub(super) type GameSlots = [u32; 2];

/// Returns the number of bytes that a column takes for each segment of 32 slots: one bit for each slot of a mask,
/// otherwise one 64-bit word for each slot.
pub(super) const fn column_bytes(is_mask: bool) -> u64 {
    if is_mask { 4 } else { 8 * SEGMENT_SLOTS as u64 }
}

impl Upload {
    /// Returns the range of slots of each game of the upload. Returns `None` if the device cannot propagate results
    /// along one of the games, because the game is not entirely in the upload, has side lines or is too long.
    pub(super) fn whole_games(&self, blocks: &[&Block]) -> Option<Vec<GameSlots>> {
        let (mut out, mut segments) = (Vec::new(), 0);
        for slice in &self.slices {
            let block = blocks[slice.block];
            if slice.segments != (0..block.segments()) || block.has_lines() {
                return None;
            }
            for slots in block.games().map(slots) {
                if slots.len() > GAME_SLOTS_MAX {
                    return None;
                }
                out.push([slots.start, slots.end].map(|slot| (segments * SEGMENT_SLOTS + slot) as u32));
            }
            segments += slice.segments.len();
        }
        Some(out)
    }
}

impl Kernel {
    /// Returns true if the device can propagate the results of all stages (parts of a program that run before the rest) along
    /// games. Whether it does so also depends on the uploads.
    pub(super) fn carries_on_device(&self) -> bool {
        !self.stages.is_empty() && self.stages.iter().all(|stage| stage.on_device)
    }

    /// Returns three sizes in bytes per segment (32 positions): the total size of the columns that stages propagate
    /// along games, the size of the largest of these columns, and, for the stage that needs most, the total size of the
    /// masks and words that it computes and combines.
    fn column_bytes(&self) -> [u64; 3] {
        let carries = || self.stages.iter().flat_map(|stage| &stage.carries);
        let carried = || carries().map(|carry| column_bytes(carry.what.is_mask()));
        let found = |stage: &StageKernels| {
            let masks = stage.edges.len() + most_masks(stage);
            let found = stage.found.iter().map(|word| column_bytes(word.is_mask)).sum::<u64>();
            found + masks as u64 * column_bytes(true)
        };
        let found = self.stages.iter().map(found).max().unwrap_or(0);
        [carried().sum(), carried().max().unwrap_or(0), found]
    }
}

/// Returns the maximum number of masks from which one column of a stage (a part of a program that runs before the rest)
/// is computed.
fn most_masks(stage: &StageKernels) -> usize {
    stage.carries.iter().map(|carry| carry.operands.len().max(1)).max().unwrap_or(0)
}

/// Returns true if the device has room for the per-position columns of the given kernels. `sizes` are the number of segments (32
/// positions each) and of games of each upload.
pub(super) fn has_room<'a>(
    device: &Device,
    kernels: impl Iterator<Item = &'a Kernel>,
    sizes: impl Iterator<Item = (usize, usize)>,
) -> bool {
    let (segments, games) =
        sizes.fold((0, 0), |(segments, games), of_one| (segments.max(of_one.0), games.max(of_one.1)));
    let (mut carried, mut largest, mut found) = (0u64, 0, 0);
    for [all, column, of_stage] in kernels.map(Kernel::column_bytes) {
        (carried, largest, found) = (carried.saturating_add(all), largest.max(column), found.max(of_stage));
    }
    let bytes = |each: u64| each.saturating_mul(segments as u64);
    let games = 8 * games as u64;
    let together = bytes(carried.saturating_add(found)).saturating_add(games);
    let largest = bytes(largest.max(found)).max(games);
    largest <= device.limits.binding_bytes
        && together <= (device.working_bytes() / device.buffer_sets / 10).min(COLUMNS_BYTES_MAX)
}

/// The per-position columns of an upload that are on the device.
pub(super) struct DeviceColumns {
    /// The masks that a stage (a part of a program that runs before the rest) computed, as consecutive columns.
    pub(super) masks: Buffer,
    /// The words that a stage (a part of a program that runs before the rest) computed. The words of a slot are
    /// adjacent.
    pub(super) words: Buffer,
    /// The masks from which a per-position column is computed, stored consecutively.
    operands: Buffer,
    /// The parameters of the dispatches that compute per-position columns.
    pub(super) params: Buffer,
    columns: HashMap<CarryId, CarriedColumn>,
}

/// A per-position column that was propagated along games.
struct CarriedColumn {
    buffer: Buffer,
    is_mask: bool,
    /// True if the column was computed for the games that are on the device now.
    is_known: bool,
}

/// The dispatches that propagate all results of a stage (a part of a program that runs before the rest) along games.
pub(super) struct CarryWork {
    /// The parameters (the struct `Making` of the shader) of each dispatch, at intervals of [`params_stride`] bytes.
    pub(super) params: Vec<u32>,
    carries: Vec<Dispatches>,
}

/// A buffer, and a number of bytes: the offset of a mask in the buffer, or the size of the column that it contains.
type BufferRange = (wgpu::Buffer, u64);

/// The dispatches that compute one column.
struct Dispatches {
    /// The masks that are copied consecutively into one buffer before the dispatches run.
    masks: Vec<BufferRange>,
    mask_bytes: u64,
    pipeline: Pipeline,
    /// The buffers that the shader binds: the games, the masks, the words, and the column that it computes.
    buffers: [(wgpu::Buffer, u64); 4],
    /// For each dispatch, the offset of its parameters and the number of its workgroups.
    each: Vec<(u32, u32)>,
}

impl DeviceColumns {
    pub(super) fn new() -> DeviceColumns {
        DeviceColumns {
            masks: Buffer::storage(),
            words: Buffer::storage(),
            operands: Buffer::storage(),
            params: Buffer::new(wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST),
            columns: HashMap::new(),
        }
    }

    /// Marks all per-position columns as outdated. This is called when other games are uploaded.
    pub(super) fn forget(&mut self) {
        self.columns.values_mut().for_each(|column| column.is_known = false);
    }

    /// Returns true if all per-position columns in `carries` have been computed for the games that are now on the device.
    pub(super) fn knows(&self, carries: &[StageCarry]) -> bool {
        let knows = |carry: &StageCarry| self.columns.get(&carry.id).is_some_and(|column| column.is_known);
        carries.iter().all(knows)
    }

    /// Returns the buffer of a column that was propagated along games, and its size in bytes.
    ///
    /// # Panics
    ///
    /// Panics if the column has not been computed for the games that are now on the device.
    pub(super) fn column(&self, id: CarryId, segments: usize) -> (wgpu::Buffer, u64) {
        let column = self.columns.get(&id).filter(|column| column.is_known);
        let column = column.expect("stages run before what reads them");
        (column.buffer.get().clone(), column_bytes(column.is_mask) * segments as u64)
    }

    /// Returns the buffer of a per-position column, with room for `segments` segments (32 positions each). The column is marked as
    /// computed, so the caller must fill the buffer.
    fn column_to_fill(
        &mut self,
        device: &Device,
        carry: &StageCarry,
        segments: usize,
    ) -> Result<BufferRange, GpuError> {
        let is_mask = carry.what.is_mask();
        let none = || CarriedColumn { buffer: Buffer::storage(), is_mask, is_known: true };
        let column = self.columns.entry(carry.id).or_insert_with(none);
        (column.is_mask, column.is_known) = (is_mask, true);
        let bytes = column_bytes(is_mask) * segments as u64;
        Ok((column.buffer.with_room(device, bytes)?.clone(), bytes))
    }

    /// Allocates buffers for the columns of a stage that the processor computes, because they depend only on the moves of games.
    /// Returns each buffer with the words to write to it.
    pub(super) fn take_in(
        &mut self,
        device: &Device,
        stage: &StageKernels,
        segments: usize,
        made: impl Fn(&StageCarry) -> Vec<u32>,
    ) -> Result<Vec<(wgpu::Buffer, Vec<u32>)>, GpuError> {
        let column = |carry: &StageCarry| {
            self.column_to_fill(device, carry, segments).map(|(buffer, _)| (buffer, made(carry)))
        };
        stage.told().map(column).collect()
    }

    /// Prepares the dispatches that propagate a stage's results along the games of an upload. The upload has `segments` segments
    /// (32 positions each).
    pub(super) fn work(
        &mut self,
        device: &Device,
        stage: &StageKernels,
        (games, count): (&wgpu::Buffer, usize),
        segments: usize,
    ) -> Result<CarryWork, GpuError> {
        let mut work = CarryWork { params: Vec::new(), carries: Vec::new() };
        let (games, mask_bytes) = ((games.clone(), 8 * count as u64), column_bytes(true) * segments as u64);
        let together = self.operands.with_room(device, most_masks(stage) as u64 * mask_bytes)?.clone();
        let stride = params_stride(device);
        for (form, carry) in stage.carries.iter().enumerate() {
            let way = ColumnWay::from_carry(carry).expect("the device can make what the stage carries");
            if !way.is_on_device() {
                continue;
            }
            let (operands, word) = way.operands(carry);
            let masks: Vec<BufferRange> = match way {
                ColumnWay::Edge(_) => vec![self.edge(stage, carry.id, mask_bytes)],
                _ => operands.iter().filter_map(|&operand| self.mask(stage, operand, mask_bytes)).collect(),
            };
            let (words, source) = match word {
                Some(word) => self.word(stage, word, &games, segments),
                None => (games.clone(), [0; MAKING_WORDS - 3]),
            };
            let to = self.column_to_fill(device, carry, segments)?;
            let mut each = Vec::new();
            for Range { start, end } in spans(count, device.limits.workgroups) {
                each.push(((4 * work.params.len()) as u32, (end - start).div_ceil(WORKGROUP)));
                work.params.extend([start, end, segments as u32]);
                work.params.extend(source);
                work.params.resize(work.params.len().next_multiple_of(stride as usize / 4), 0);
            }
            let compile = || device.shader(&way.shader(carry), KernelPass::Carry);
            let pipeline = stage.pipelines.get(&device.pipelines, form, compile)?;
            let of_masks = (together.clone(), masks.len() as u64 * mask_bytes);
            let buffers = [games.clone(), of_masks, words, to];
            work.carries.push(Dispatches { masks, mask_bytes, pipeline, buffers, each });
        }
        Ok(work)
    }

    /// Returns the buffer range of the answers to a condition on moves. They are stored after the masks that the stage
    /// computed.
    fn edge(&self, stage: &StageKernels, id: CarryId, mask_bytes: u64) -> BufferRange {
        let masks = stage.found.iter().filter(|found| found.is_mask).count();
        let place = stage.edges.iter().position(|edge| *edge == id).expect("the stage tests it");
        (self.masks.get().clone(), (masks + place) as u64 * mask_bytes)
    }

    /// Returns the buffer range of a mask on the device, or `None` if the mask is constant.
    fn mask(&self, stage: &StageKernels, operand: ColumnOperand, mask_bytes: u64) -> Option<BufferRange> {
        match operand {
            ColumnOperand::Constant(_) => None,
            ColumnOperand::Carried(id) => Some((self.column(id, 0).0, 0)),
            ColumnOperand::Found(word, _) => {
                let mut masks = stage.found.iter().filter(|found| found.is_mask);
                let place = masks.position(|found| found.word == word).expect("a stage finds it");
                Some((self.masks.get().clone(), place as u64 * mask_bytes))
            }
        }
    }

    /// Returns the buffer that contains the words of an operand, one for each slot, and the values of the fields of the
    /// shader's struct `Making` from `place` on. The shader finds the words with these values. For a constant operand,
    /// the values contain the word itself.
    fn word(
        &self,
        stage: &StageKernels,
        operand: ColumnOperand,
        games: &(wgpu::Buffer, u64),
        segments: usize,
    ) -> ((wgpu::Buffer, u64), [u32; MAKING_WORDS - 3]) {
        match operand {
            ColumnOperand::Constant(word) => (games.clone(), [0, 0, word as u32, (word >> 32) as u32, 0]),
            ColumnOperand::Carried(id) => (self.column(id, segments), [0, 2, 0, 0, 0]),
            ColumnOperand::Found(word, _) => {
                let words = || stage.found.iter().filter(|found| !found.is_mask);
                let place = words().position(|found| found.word == word).expect("a stage finds it");
                let bytes = words().count() as u64 * column_bytes(false) * segments as u64;
                let found = (self.words.get().clone(), bytes);
                (found, [2 * place as u32, 2 * words().count() as u32, 0, 0, 0])
            }
        }
    }
}

/// Returns the number of bytes between the parameters of consecutive dispatches.
fn params_stride(device: &Device) -> u64 {
    device.offset_alignment.max(KernelPass::Carry.params_bytes())
}

/// Divides games into ranges, one for each dispatch.
fn spans(games: usize, workgroups: u32) -> impl Iterator<Item = Range<u32>> {
    let most = workgroups.max(1).saturating_mul(WORKGROUP);
    let games = games as u32;
    (0..games).step_by(most as usize).map(move |from| from..from.saturating_add(most).min(games))
}

impl CarryWork {
    /// Returns true if the stage (a part of a program that runs before the rest) has no results to propagate.
    pub(super) fn is_empty(&self) -> bool {
        self.carries.is_empty()
    }

    /// Records all dispatches, one compute pass for each column. `timestamps` receives two flags, one that is true for
    /// the first pass and one that is true for the last, and returns the destination of the pass's timestamps.
    pub(super) fn record<'a>(
        &self,
        device: &wgpu::Device,
        layout: &wgpu::BindGroupLayout,
        params: &wgpu::Buffer,
        encoder: &mut wgpu::CommandEncoder,
        timestamps: impl Fn(bool, bool) -> Option<wgpu::ComputePassTimestampWrites<'a>>,
    ) {
        let last = self.carries.len().saturating_sub(1);
        for (index, carry) in self.carries.iter().enumerate() {
            let Dispatches { masks, mask_bytes, pipeline, buffers, each } = carry;
            let [_, (together, _), _, (column, bytes)] = buffers;
            for ((from, at), to) in masks.iter().zip(0..) {
                encoder.copy_buffer_to_buffer(from, *at, together, to * mask_bytes, *mask_bytes);
            }
            encoder.clear_buffer(column, 0, Some(*bytes));
            let buffers = buffers.each_ref().map(|(buffer, bytes)| (buffer.clone(), (*bytes).max(64)));
            let group = bind(device, layout, (params, KernelPass::Carry.params_bytes()), &buffers);
            let timestamp_writes = timestamps(index == 0, index == last);
            let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
            let mut pass = encoder.begin_compute_pass(&descriptor);
            pass.set_pipeline(pipeline);
            for &(offset, workgroups) in each {
                pass.set_bind_group(0, &group, &[offset]);
                pass.dispatch_workgroups(workgroups, 1, 1);
            }
        }
    }
}
