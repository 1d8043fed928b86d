//! Stages of a program on the device, what they find carried along games by the processor.
//!
//! A chunk may begin and end in the middle of a game, and what is carried is a bit or a word for each slot:
//! the answers of a stage come back as those of any query do, are carried in memory that knows nothing of
//! chunks, and go up again with the chunks of the program that reads them. So answers do not depend on how
//! much a device can hold.

use super::{
    GpuError,
    device::Device,
    hits_of,
    pack::Chunk,
    run::{Input, Run},
    wgsl::{Kernel, StageKernels},
};
use crate::{
    engine::{carry::Column, columns::GameColumn},
    reel::{Block, SEGMENT_SLOTS},
};

/// For each block, what the stages so far have carried.
pub(super) type Carried = Vec<Vec<Column>>;

/// Does something with each chunk while it is on the device.
pub(super) type OnChunk<'a> = dyn FnMut(&Chunk, &Input, &mut Run) -> Result<(), GpuError> + 'a;

/// Runs the stages of a kernel on blocks. `columns` are the columns of games of each block, `each` brings all
/// their chunks to the device, one after the other.
pub(super) fn carry(
    device: &Device,
    kernel: &Kernel,
    blocks: &[&Block],
    columns: &[Vec<GameColumn>],
    mut each: impl FnMut(&mut OnChunk<'_>) -> Result<(), GpuError>,
) -> Result<Carried, GpuError> {
    let mut carried: Carried = vec![Vec::new(); blocks.len()];
    for stage in &kernel.stages {
        let none = |block: &&Block| stage.carries.iter().map(|it| Column::found(it.what, block)).collect();
        let mut found: Carried = blocks.iter().map(none).collect();
        each(&mut |chunk, input, run| {
            run.set_columns(device, chunk, columns)?;
            run.set_carried(device, chunk, &carried)?;
            run_stage(device, stage, chunk, input, run, &mut found)
        })?;
        for ((block, found), carried) in blocks.iter().zip(found).zip(&mut carried) {
            let columns = found.into_iter().zip(&stage.carries);
            carried.extend(columns.map(|(column, carry)| column.carried(carry, block)));
        }
    }
    Ok(carried)
}

/// Adds what a stage finds in a chunk. What it says of the tail of a block, where there are no positions, is in
/// no game and so goes nowhere.
fn run_stage(
    device: &Device,
    stage: &StageKernels,
    chunk: &Chunk,
    input: &Input,
    run: &mut Run,
    found: &mut Carried,
) -> Result<(), GpuError> {
    let of = |masks: bool| {
        let carries = stage.carries.iter().enumerate();
        carries.filter(move |(_, carry)| carry.what.of_masks() == masks).map(|(index, _)| index)
    };
    if let Some(kernel) = &stage.masks {
        let pending = run.begin_hits(device, input, kernel, None)?;
        run.finish(device, pending, |bytes| {
            let words: &[u32] = bytemuck::cast_slice(bytes);
            for (words, index) in words.chunks_exact(chunk.segments).zip(of(true)) {
                let mut from = 0;
                for piece in &chunk.pieces {
                    let Column::Bits(bits) = &mut found[piece.block][index] else { unreachable!("masks") };
                    let to = from + piece.segments.len();
                    bits[piece.segments.clone()].copy_from_slice(&words[from..to]);
                    from = to;
                }
            }
        })?;
    }
    if let Some(kernel) = &stage.sets {
        let all = hits_of(chunk, |_, _| u32::MAX);
        let places: Vec<(usize, usize)> = chunk.segments().collect();
        run.words(device, input, kernel, &all, |hits, words| {
            let mut words = words.chunks_exact(kernel.outputs);
            for &(segment, slots) in hits {
                let (block, segment) = places[segment as usize];
                for i in (0..SEGMENT_SLOTS).filter(|i| slots >> i & 1 != 0) {
                    let words = words.next().expect("each slot has its words");
                    for (&word, index) in words.iter().zip(of(false)) {
                        let Column::Words(out) = &mut found[block][index] else { unreachable!("sets") };
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

impl Chunk {
    /// For each segment, what was carried: a word for each column of masks, two for each slot of the others.
    pub(super) fn carried(&self, carried: &Carried) -> Vec<u32> {
        let mut out = Vec::new();
        for (block, segment) in self.segments() {
            for column in &carried[block] {
                match column {
                    Column::Bits(bits) => out.push(bits[segment]),
                    Column::Words(words) => {
                        let slots = segment * SEGMENT_SLOTS..(segment + 1) * SEGMENT_SLOTS;
                        let word = |slot| words.get(slot).copied().unwrap_or(0);
                        out.extend(slots.flat_map(|slot| [word(slot) as u32, (word(slot) >> 32) as u32]));
                    }
                }
            }
        }
        out
    }

    /// The segments as (block, segment of it).
    pub(super) fn segments(&self) -> impl Iterator<Item = (usize, usize)> {
        self.pieces.iter().flat_map(|piece| piece.segments.clone().map(|segment| (piece.block, segment)))
    }
}
