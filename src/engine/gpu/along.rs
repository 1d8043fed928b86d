//! What stages of a program found, carried along games by the device.
//!
//! One invocation walks through one game, so an upload must hold its games whole, and they must have no side lines. What is
//! carried stays on the device as a column for each answer until other games come, and is copied to where a program
//! reads it. The twin of `shaders/carry.wgsl` is `src/engine/carry.rs`.

use std::{collections::HashMap, ops::Range, sync::Arc};

use super::{
    GpuError,
    device::{BUFFER_SETS, Buffer, Device, Pass, bind},
    driver::Kept,
    pack::Upload,
    wgsl::{Kernel, StageKernels},
};
use crate::{
    engine::carry::slots,
    plan::{Carried, CarryId, Made, Operand, StageCarry},
    reel::{Block, SEGMENT_SLOTS},
};

const CARRY: &str = include_str!("../../../shaders/carry.wgsl");

/// Invocations in a workgroup, `CARRY_WORKGROUP` in the shader.
const WORKGROUP: u32 = 64;

/// Words of `Carry` in the shader.
const CARRY_WORDS: usize = 8;

/// Slots of the longest game that is carried on a device. Systems reset a card that is busy for seconds, and a driver
/// in software leaves loops after 65,535 turns.
const GAME_SLOTS_MAX: usize = 20_000;

/// Bytes of all columns together.
const COLUMNS_BYTES_MAX: u64 = 512 << 20;

/// First slot and the one after the last, counted from the upload's first slot.
pub(super) type GameSlots = [u32; 2];

/// Bytes of a column for each segment.
pub(super) const fn column_bytes(is_mask: bool) -> u64 {
    if is_mask { 4 } else { 8 * SEGMENT_SLOTS as u64 }
}

impl Upload {
    /// The slots of each game; `None` if the device cannot carry something along all of them: where one is not whole in
    /// the upload, has side lines or is too long.
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
    /// Whether the device can carry what its stages find, wherever it can carry anything.
    pub(super) fn carries_on_device(&self) -> bool {
        let is_along = |carry: &StageCarry| matches!(carry.what, Made::Along { .. });
        !self.variant.host_carry
            && !self.stages.is_empty()
            && self.stages.iter().flat_map(|stage| &stage.carries).all(is_along)
    }

    /// Bytes for each segment: of all columns that its stages carry, of the largest one, and of what one stage finds.
    fn column_bytes(&self) -> [u64; 3] {
        let carries = || self.stages.iter().flat_map(|stage| &stage.carries);
        let carried = || carries().map(|carry| column_bytes(carry.what.is_mask()));
        let found = |stage: &StageKernels| stage.found.iter().map(|word| column_bytes(word.is_mask)).sum();
        let found = self.stages.iter().map(found).max().unwrap_or(0);
        [carried().sum(), carried().max().unwrap_or(0), found]
    }
}

/// Whether the columns of some kernels fit on a device, where uploads have so many segments and games at most.
pub(super) fn has_room<'a>(
    device: &Device,
    kernels: impl Iterator<Item = &'a Kernel>,
    (segments, games): (usize, usize),
) -> bool {
    let (mut carried, mut largest, mut found) = (0u64, 0, 0);
    for [all, column, of_stage] in kernels.map(Kernel::column_bytes) {
        (carried, largest, found) = (carried.saturating_add(all), largest.max(column), found.max(of_stage));
    }
    let bytes = |each: u64| each.saturating_mul(segments as u64);
    let games = 8 * games as u64;
    let together = bytes(carried.saturating_add(found)).saturating_add(games);
    let largest = bytes(largest.max(found)).max(games);
    largest <= device.limits.binding_bytes
        && together <= (device.limits.memory_bytes / BUFFER_SETS / 10).min(COLUMNS_BYTES_MAX)
}

/// Columns of an upload on the device.
pub(super) struct Along {
    /// What a stage found: masks, one column behind the other.
    pub(super) masks: Buffer,
    /// Sets, those of a slot together.
    pub(super) words: Buffer,
    /// What dispatches are told.
    pub(super) params: Buffer,
    columns: HashMap<CarryId, Column>,
}

/// Something that was carried.
struct Column {
    buffer: Buffer,
    is_mask: bool,
    /// Whether it is of the games that are on the device now.
    is_known: bool,
}

/// What carries all that a stage found.
pub(super) struct Work {
    /// The words of `Carry` of each dispatch, each in a stride.
    pub(super) params: Vec<u32>,
    carries: Vec<Dispatches>,
}

/// The dispatches of one column.
struct Dispatches {
    pipeline: Arc<Kept<wgpu::ComputePipeline>>,
    /// Games, what was found, the column.
    buffers: [(wgpu::Buffer, u64); 3],
    /// For each dispatch, where its parameters stand and how many workgroups it has.
    each: Vec<(u32, u32)>,
}

/// The shader that carries.
fn shader(what: Carried, back: bool) -> String {
    let what = match what {
        Carried::Any => "ANY",
        Carried::Count => "COUNT",
        Carried::Nearest => "NEAREST",
        Carried::Union => "UNION",
    };
    format!("const WHAT = {what};\nconst BACK = {back};\n\n{CARRY}")
}

impl Along {
    pub(super) fn new() -> Along {
        Along {
            masks: Buffer::storage(),
            words: Buffer::storage(),
            params: Buffer::new(wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST),
            columns: HashMap::new(),
        }
    }

    /// Forgets what was carried: other games come to the device.
    pub(super) fn forget(&mut self) {
        self.columns.values_mut().for_each(|column| column.is_known = false);
    }

    /// Whether all of these were carried along the games that are on the device.
    pub(super) fn knows(&self, carries: &[StageCarry]) -> bool {
        let knows = |carry: &StageCarry| self.columns.get(&carry.id).is_some_and(|column| column.is_known);
        carries.iter().all(knows)
    }

    /// A column that was carried, and its bytes.
    ///
    /// # Panics
    ///
    /// If it was not carried along the games that are on the device.
    pub(super) fn column(&self, id: CarryId, segments: usize) -> (wgpu::Buffer, u64) {
        let column = self.columns.get(&id).filter(|column| column.is_known);
        let column = column.expect("stages run before what reads them");
        (column.buffer.get().clone(), column_bytes(column.is_mask) * segments as u64)
    }

    /// Prepares all that a stage carries of what it found in an upload of so many segments.
    pub(super) fn work(
        &mut self,
        device: &Device,
        stage: &StageKernels,
        (games, count): (&wgpu::Buffer, usize),
        segments: usize,
    ) -> Result<Work, GpuError> {
        let mut work = Work { params: Vec::new(), carries: Vec::new() };
        let games = (games.clone(), 8 * count as u64);
        let stride = params_stride(device);
        for carry in &stage.carries {
            let Made::Along { what, back } = carry.what else { unreachable!("the processor carries others") };
            let [operand] = carry.operands[..] else { unreachable!("one word is gathered") };
            let (found, source) = self.source(stage, operand, &games, segments);
            let is_mask = carry.what.is_mask();
            let none = || Column { buffer: Buffer::storage(), is_mask, is_known: true };
            let column = self.columns.entry(carry.id).or_insert_with(none);
            (column.is_mask, column.is_known) = (is_mask, true);
            let bytes = column_bytes(is_mask) * segments as u64;
            let to = (column.buffer.with_room(device, bytes)?.clone(), bytes);
            let mut each = Vec::new();
            for Range { start, end } in spans(count, device.limits.workgroups) {
                each.push(((4 * work.params.len()) as u32, (end - start).div_ceil(WORKGROUP)));
                work.params.extend([start, end]);
                work.params.extend(source);
                work.params.resize(work.params.len().next_multiple_of(stride as usize / 4), 0);
            }
            let pipeline = device.shader(&shader(what, back), Pass::Carry)?;
            work.carries.push(Dispatches { pipeline, buffers: [games.clone(), found, to], each });
        }
        Ok(work)
    }

    /// Where an operand stands, as a buffer with its bytes and as `Carry` says it from `place` on.
    fn source(
        &self,
        stage: &StageKernels,
        operand: Operand,
        games: &(wgpu::Buffer, u64),
        segments: usize,
    ) -> ((wgpu::Buffer, u64), [u32; CARRY_WORDS - 2]) {
        match operand {
            Operand::Constant(word) => (games.clone(), [0, 0, 1, word as u32, (word >> 32) as u32, 0]),
            Operand::Carried(id) => (self.column(id, segments), [0, 2, 0, 0, 0, 0]),
            Operand::Found(word, is_mask) => {
                let words = || stage.found.iter().filter(|found| found.is_mask == is_mask);
                let place = words().position(|found| found.word == word).expect("a stage finds it");
                let bytes = words().count() as u64 * column_bytes(is_mask) * segments as u64;
                let (buffer, place, stride) = match is_mask {
                    true => (&self.masks, place * segments, 0),
                    false => (&self.words, 2 * place, 2 * words().count()),
                };
                ((buffer.get().clone(), bytes), [place as u32, stride as u32, 0, 0, 0, 0])
            }
        }
    }
}

/// Bytes from the parameters of one dispatch to those of the next one.
fn params_stride(device: &Device) -> u64 {
    device.offset_alignment.max(Pass::Carry.params_bytes())
}

/// The ranges of games that one dispatch each takes.
fn spans(games: usize, workgroups: u32) -> impl Iterator<Item = Range<u32>> {
    let most = workgroups.max(1).saturating_mul(WORKGROUP);
    let games = games as u32;
    (0..games).step_by(most as usize).map(move |from| from..from.saturating_add(most).min(games))
}

impl Work {
    /// Records what comes before the dispatches: all columns are 0.
    pub(super) fn clear(&self, encoder: &mut wgpu::CommandEncoder) {
        for Dispatches { buffers: [.., (column, bytes)], .. } in &self.carries {
            encoder.clear_buffer(column, 0, Some(*bytes));
        }
    }

    /// Records the dispatches.
    pub(super) fn record(
        &self,
        device: &wgpu::Device,
        layout: &wgpu::BindGroupLayout,
        params: &wgpu::Buffer,
        pass: &mut wgpu::ComputePass<'_>,
    ) {
        for Dispatches { pipeline, buffers, each } in &self.carries {
            let buffers = buffers.each_ref().map(|(buffer, bytes)| (buffer.clone(), (*bytes).max(64)));
            let group = bind(device, layout, (params, Pass::Carry.params_bytes()), &buffers);
            pass.set_pipeline(pipeline);
            for &(offset, workgroups) in each {
                pass.set_bind_group(0, &group, &[offset]);
                pass.dispatch_workgroups(workgroups, 1, 1);
            }
        }
    }
}
