//! What a stage of a program found at each position of a block, carried along its games.
//!
//! Games lie whole in a block, so nothing is carried from one block to another. Knows plans and reels,
//! nothing of queries; the engines `cpu` and `gpu` share it.

use std::ops::Range;

use super::within;
use crate::{
    plan::{Carried, StageCarry},
    reel::{Block, SEGMENT_SLOTS},
};

/// A column with an entry for each slot of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Column {
    /// Masks: one word for each segment, bit `i` for slot `32 * segment + i`.
    Bits(Vec<u32>),
    /// Sets of squares, or numbers, sign-extended: one word for each slot.
    Words(Vec<u64>),
}

impl Column {
    /// An empty column for what a stage finds.
    pub(super) fn found(what: Carried, block: &Block) -> Column {
        if what.of_masks() {
            Column::Bits(vec![0; block.segments()])
        } else {
            Column::Words(vec![0; block.slots()])
        }
    }

    /// Carries what was found along the games of the block.
    ///
    /// # Panics
    ///
    /// If the column is not of the kind that [`Column::found`] makes.
    pub(super) fn carried(self, carry: &StageCarry, block: &Block) -> Column {
        let games = || block.games().map(|game| game.first_slot()..game.end_slot());
        let order = |slots: Range<usize>| {
            let len = slots.len();
            (0..len).map(move |k| if carry.back { slots.start + k } else { slots.end - 1 - k })
        };
        match (self, carry.what) {
            (Column::Bits(found), Carried::Any) => {
                let mut out = vec![0; found.len()];
                for slots in games() {
                    if carry.back {
                        if let Some(first) = first_set(&found, slots.clone()) {
                            set(&mut out, first..slots.end);
                        }
                    } else if let Some(last) = last_set(&found, slots.clone()) {
                        set(&mut out, slots.start..last + 1);
                    }
                }
                Column::Bits(out)
            }
            (Column::Bits(found), Carried::Count | Carried::Nearest) => {
                let mut out = vec![0; block.slots()];
                for slots in games() {
                    let start = slots.start;
                    let mut number = if carry.what == Carried::Count { 0 } else { -1 };
                    for slot in order(slots) {
                        if has(&found, slot) {
                            number =
                                if carry.what == Carried::Count { number + 1 } else { (slot - start) as i64 };
                        }
                        out[slot] = number as u64;
                    }
                }
                Column::Words(out)
            }
            (Column::Words(mut words), Carried::Union) => {
                for slots in games() {
                    let mut all = 0;
                    for slot in order(slots) {
                        all |= words[slot];
                        words[slot] = all;
                    }
                }
                Column::Words(words)
            }
            (column, what) => panic!("{what:?} is not carried in {column:?}"),
        }
    }
}

fn has(bits: &[u32], slot: usize) -> bool {
    bits[slot / SEGMENT_SLOTS] >> (slot % SEGMENT_SLOTS) & 1 != 0
}

fn segments(slots: &Range<usize>) -> Range<usize> {
    slots.start / SEGMENT_SLOTS..slots.end.div_ceil(SEGMENT_SLOTS)
}

fn first_set(bits: &[u32], slots: Range<usize>) -> Option<usize> {
    let mut found = segments(&slots).map(|segment| (segment, within(bits[segment], segment, &slots)));
    let (segment, word) = found.find(|(_, word)| *word != 0)?;
    Some(segment * SEGMENT_SLOTS + word.trailing_zeros() as usize)
}

fn last_set(bits: &[u32], slots: Range<usize>) -> Option<usize> {
    let mut found = segments(&slots).rev().map(|segment| (segment, within(bits[segment], segment, &slots)));
    let (segment, word) = found.find(|(_, word)| *word != 0)?;
    Some(segment * SEGMENT_SLOTS + word.ilog2() as usize)
}

/// Sets the bits of a range that is not empty.
fn set(bits: &mut [u32], slots: Range<usize>) {
    let (first, last) = (slots.start / SEGMENT_SLOTS, (slots.end - 1) / SEGMENT_SLOTS);
    let from = u32::MAX << (slots.start % SEGMENT_SLOTS);
    let to = u32::MAX >> (SEGMENT_SLOTS - 1 - (slots.end - 1) % SEGMENT_SLOTS);
    if first == last {
        bits[first] |= from & to;
        return;
    }
    bits[first] |= from;
    bits[first + 1..last].fill(u32::MAX);
    bits[last] |= to;
}
