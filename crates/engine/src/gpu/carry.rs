//! Runs the stages of a program on the device. The device or the processor then propagates their results along games,
//! which gives each position facts about earlier or later positions of its game. The code calls this *carrying*.
//!
//! A *stage* is a part of a program that runs at all positions before the rest of the program. If each upload contains
//! whole games, the stages of a program run on an upload in sequence, and the propagated columns stay on the device
//! (`along.rs`). But an upload may begin or end in the middle of a game, and some operations are possible only on the
//! processor (`ways.rs`). In these cases, the results of a stage are read back like the results of any query, and the
//! processor propagates them along whole games. The columns are then uploaded for the program that reads them. So the
//! answers do not depend on the memory of the device.

use super::{
    GpuError,
    device::Device,
    hits_of,
    pack::Upload,
    run::{KernelInput, KernelRun},
    wgsl::{Kernel, StageKernels},
};
use crate::{carry::SlotColumn, context::Context};
use orbit_plan::Read;
use orbit_reel::SEGMENT_SLOTS;

/// The masks and words that a stage (a part of a program that runs before the rest) computed, for each block.
type StageFindings = Vec<Vec<SlotColumn>>;

/// A function that is called for each upload (a batch of blocks) in turn, while the upload is on the device.
pub(super) type OnUpload<'a> = dyn FnMut(&Upload, &KernelInput, &mut KernelRun) -> Result<(), GpuError> + 'a;

/// A kernel, with the settings for its stages (the parts of its plan that run before the rest).
#[derive(Clone, Copy)]
pub(super) struct Staged<'a> {
    pub(super) kernel: &'a Kernel,
    /// The number of per-game columns that the kernel reads.
    pub(super) columns: usize,
    /// True if the device, not the processor, propagates the results of the kernel's stages (the parts of its plan that
    /// run before the rest) along games.
    pub(super) on_device: bool,
}

/// Runs the stages of a kernel (the parts of its plan that run before the rest) if the processor propagates their
/// results along games and these results have not been computed yet. If the device propagates them, computes only the
/// columns that depend solely on the moves of games. `each` sends the uploads of the blocks to the device in turn, and
/// calls its argument after each upload.
pub(super) fn carry(
    device: &Device,
    Staged { kernel, columns, on_device }: Staged<'_>,
    contexts: &mut [Context<'_>],
    mut each: impl FnMut(&mut OnUpload<'_>) -> Result<(), GpuError>,
) -> Result<(), GpuError> {
    if on_device {
        for carry in kernel.stages.iter().flat_map(StageKernels::told) {
            for context in contexts.iter_mut() {
                context.carry_found(std::slice::from_ref(carry));
            }
        }
        return Ok(());
    }
    for stage in &kernel.stages {
        let carries = &stage.carries;
        // This computes columns in every block before `known` is tested, because the columns must become available in
        // all blocks.
        let known: Vec<bool> = contexts.iter_mut().map(|context| context.carry_found(carries)).collect();
        if known.iter().all(|known| *known) {
            continue;
        }
        let none =
            |context: &mut Context<'_>| stage.found.iter().map(|word| context.column(word.is_mask)).collect();
        let mut found: StageFindings = contexts.iter_mut().map(none).collect();
        each(&mut |upload, input, run| {
            set_beside(device, (&stage.reads, columns), upload, contexts, run)?;
            run_stage(device, stage, upload, input, run, &mut found)
        })?;
        let all = contexts.iter_mut().zip(found);
        all.for_each(|(context, found)| context.add_found(&stage.found, carries, found));
    }
    Ok(())
}

/// Sends the inputs of a kernel other than positions to the device: the per-game columns, and the columns that stages
/// propagate along games. If the device propagates them, runs the stages first.
pub(super) fn set(
    device: &Device,
    Staged { kernel, columns, on_device }: Staged<'_>,
    (upload, input): (&Upload, &KernelInput),
    contexts: &[Context<'_>],
    run: &mut KernelRun,
) -> Result<(), GpuError> {
    if !on_device {
        return set_beside(device, (&kernel.reads, columns), upload, contexts, run);
    }
    set_columns(device, columns, upload, contexts, run)?;
    run.carry(device, input, kernel, |carry| {
        let read = Read { id: carry.id, is_mask: carry.what.is_mask() };
        let made: Vec<_> = contexts.iter().map(|context| context.carried(&[read])).collect();
        upload.carried(&made)
    })
}

fn set_columns(
    device: &Device,
    columns: usize,
    upload: &Upload,
    contexts: &[Context<'_>],
    run: &mut KernelRun,
) -> Result<(), GpuError> {
    let columns: Vec<_> = contexts.iter().map(|context| &context.columns()[..columns]).collect();
    run.set_columns(device, upload, &columns)
}

fn set_beside(
    device: &Device,
    (reads, columns): (&[Read], usize),
    upload: &Upload,
    contexts: &[Context<'_>],
    run: &mut KernelRun,
) -> Result<(), GpuError> {
    set_columns(device, columns, upload, contexts, run)?;
    let carried: Vec<_> = contexts.iter().map(|context| context.carried(reads)).collect();
    run.set_carried(device, upload, &carried)
}

/// Runs a stage (a part of a program that runs before the rest) on one upload and adds its results to `found`. Results
/// after the last position of a block belong to no game, so they are never used.
fn run_stage(
    device: &Device,
    stage: &StageKernels,
    upload: &Upload,
    input: &KernelInput,
    run: &mut KernelRun,
    found: &mut StageFindings,
) -> Result<(), GpuError> {
    let of = |masks: bool| {
        let words = stage.found.iter().enumerate();
        words.filter(move |(_, word)| word.is_mask == masks).map(|(index, _)| index)
    };
    if let Some(kernel) = &stage.masks {
        let pending = run.begin_hits(device, input, kernel)?;
        run.finish(device, pending, |bytes| {
            let words: &[u32] = bytemuck::cast_slice(bytes);
            for (words, index) in words.chunks_exact(upload.segments).zip(of(true)) {
                let mut from = 0;
                for slice in &upload.slices {
                    let SlotColumn::Bits(bits) = &mut found[slice.block][index] else {
                        unreachable!("masks")
                    };
                    let to = from + slice.segments.len();
                    bits[slice.segments.clone()].copy_from_slice(&words[from..to]);
                    from = to;
                }
            }
        })?;
    }
    if let Some(kernel) = &stage.sets {
        let all = hits_of(upload, |_, _| u32::MAX);
        let places: Vec<(usize, usize)> = upload.segments().collect();
        run.words(device, input, kernel, &all, |hits, words| {
            let mut words = words.chunks_exact(kernel.outputs);
            for &(segment, slots) in hits {
                let (block, segment) = places[segment as usize];
                for i in (0..SEGMENT_SLOTS).filter(|i| slots >> i & 1 != 0) {
                    let words = words.next().expect("each slot has its words");
                    for (&word, index) in words.iter().zip(of(false)) {
                        let SlotColumn::Words(out) = &mut found[block][index] else { unreachable!("sets") };
                        if let Some(out) = out.get_mut(segment * SEGMENT_SLOTS + i) {
                            *out = word;
                        }
                    }
                }
            }
        })?;
    }
    Ok(())
}

impl Upload {
    /// Returns the concatenated columns that stages (parts of a program that run before the rest) propagated. A mask
    /// takes one 32-bit word for each segment, and a column of 64-bit words takes two 32-bit words for each slot
    /// (position).
    pub(super) fn carried(&self, carried: &[Vec<&SlotColumn>]) -> Vec<u32> {
        let mut out = Vec::new();
        let columns = carried.first().map_or(0, Vec::len);
        let of =
            |column: usize| self.segments().map(move |(block, segment)| (carried[block][column], segment));
        for (column, segment) in (0..columns).flat_map(of) {
            match column {
                SlotColumn::Bits(bits) => out.push(bits[segment]),
                SlotColumn::Words(words) => {
                    let [from, to] =
                        [segment, segment + 1].map(|segment| (segment * SEGMENT_SLOTS).min(words.len()));
                    out.extend(words[from..to].iter().flat_map(|&word| [word as u32, (word >> 32) as u32]));
                    out.resize(out.len() + 2 * (SEGMENT_SLOTS - (to - from)), 0);
                }
            }
        }
        out
    }

    /// Returns, for each segment (32 positions) of the upload, the index of its block and its index in the block.
    pub(super) fn segments(&self) -> impl Iterator<Item = (usize, usize)> {
        self.slices.iter().flat_map(|slice| slice.segments.clone().map(|segment| (slice.block, segment)))
    }
}
