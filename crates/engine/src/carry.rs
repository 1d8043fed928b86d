//! Propagates the results of a stage to other positions of each game. This gives each position facts about earlier or
//! later positions of its game. The code calls this *carrying* the results along games.
//!
//! A *stage* is a part of a plan that runs over a whole block of games before the rest of the plan. Filters such as
//! `find` need its results at other positions: they test whether a condition holds at any earlier or later position of
//! the game, count the positions at which it holds, or find the nearest of them. A block holds whole games, so results
//! never cross from one block to another. The module depends on plans and reels (packed games), but not on queries. The
//! engines `cpu` and `gpu` both use it.
//!
//! A *slot* is the number of a position within its block.

use std::ops::Range;

use super::within;
use orbit_plan::Carried;
use orbit_reel::{Block, GameRow, SEGMENT_SLOTS};

/// A column, which has an entry for each slot (position) of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum SlotColumn {
    /// One bit for each slot. Each word holds the bits of a segment of 32 slots: bit `i` is for slot `32 * segment +
    /// i`.
    Bits(Vec<u32>),
    /// One word for each slot (position): a set of squares, or a sign-extended number.
    Words(Vec<u64>),
}

/// Computes a column from `found`, a mask with one bit for each slot. The value at a slot depends on the bit of the slot itself
/// and on the bits of all earlier slots of its game if `back` is true, or of all later ones if it is false. `what` selects the value:
/// whether any of these bits is set, how many are set, or which of the slots with a set bit is nearest. `words` creates
/// a column of zero words.
pub(super) fn carried_bits(
    found: &[u32],
    (what, back): (Carried, bool),
    block: &Block,
    words: impl FnOnce() -> Vec<u64>,
) -> SlotColumn {
    if what == Carried::Any {
        let mut out = vec![0; found.len()];
        for game in block.games() {
            let slots = slots(game);
            if game.has_lines() {
                let mut tree: Vec<u64> = slots.clone().map(|slot| has(found, slot).into()).collect();
                along_tree(game, &mut tree, back, |to, from| *to |= from);
                let matching = slots.zip(tree).filter(|(_, word)| *word != 0);
                matching.for_each(|(slot, _)| set(&mut out, slot..slot + 1));
            } else if back {
                if let Some(first) = first_set(found, slots.clone()) {
                    set(&mut out, first..slots.end);
                }
            } else if let Some(last) = last_set(found, slots.clone()) {
                set(&mut out, slots.start..last + 1);
            }
        }
        return SlotColumn::Bits(out);
    }
    let mut out = words();
    for game in block.games() {
        let (slots, start) = (slots(game), game.first_slot());
        if game.has_lines() {
            for slot in slots.clone() {
                out[slot] = match (what, has(found, slot)) {
                    (Carried::Count, is_found) => is_found.into(),
                    (_, true) => (slot - start) as u64,
                    (_, false) => NOWHERE,
                };
            }
            let tree = &mut out[slots];
            match what {
                Carried::Count => along_tree(game, tree, back, |to, from| *to += from),
                // The nearest of the later nodes (positions) is the one with the lowest number.
                _ if !back => along_tree(game, tree, false, |to, from| *to = from.min(*to)),
                _ => along_tree(game, tree, true, |to, from| *to = if *to == NOWHERE { from } else { *to }),
            }
            continue;
        }
        let mut number = if what == Carried::Count { 0 } else { NOWHERE };
        for slot in order(slots, back) {
            if has(found, slot) {
                number = if what == Carried::Count { number + 1 } else { (slot - start) as u64 };
            }
            out[slot] = number;
        }
    }
    SlotColumn::Words(out)
}

/// The word for "no node": -1, sign-extended.
const NOWHERE: u64 = u64::MAX;

/// Merges words along a game's tree of lines, in place. If `back` is true, the word of each parent is merged into the
/// words of its children; otherwise the word of each child is merged into that of its parent. A parent always has a
/// lower number than its children.
fn along_tree(game: GameRow<'_>, words: &mut [u64], back: bool, merge: impl Fn(&mut u64, u64)) {
    let ends = game.lines().map(|line| (line.first_node(), line.parent()));
    let mut parents: Vec<u32> = (0..words.len() as u32).map(|node| node.wrapping_sub(1)).collect();
    ends.for_each(|(node, parent)| parents[node as usize] = parent);
    for step in 1..words.len() {
        let node = if back { step } else { words.len() - step };
        let parent = parents[node] as usize;
        let (from, to) = if back { (parent, node) } else { (node, parent) };
        let word = words[from];
        merge(&mut words[to], word);
    }
}

/// Returns, for each position, the union of its own set of squares and the sets of all earlier positions of its game
/// or, if `back` is false, all later positions. `words` contains the set of each slot.
pub(super) fn carried_words(mut words: Vec<u64>, back: bool, block: &Block) -> SlotColumn {
    for game in block.games() {
        let slots = slots(game);
        if game.has_lines() {
            along_tree(game, &mut words[slots], back, |to, from| *to |= from);
            continue;
        }
        let mut all = 0;
        for slot in order(slots, back) {
            all |= words[slot];
            words[slot] = all;
        }
    }
    SlotColumn::Words(words)
}

/// Clears all bits of a mask after the first `slots` bits, because no position corresponds to them.
pub(super) fn clear_after(bits: &mut [u32], slots: usize) {
    if let (Some(last), tail @ 1..) = (bits.last_mut(), slots % SEGMENT_SLOTS) {
        *last &= (1 << tail) - 1;
    }
}

pub(super) fn slots(game: GameRow<'_>) -> Range<usize> {
    game.first_slot()..game.end_slot()
}

/// Returns an iterator over the slots of a game, in reverse order if `forwards` is false.
fn order(slots: Range<usize>, forwards: bool) -> impl Iterator<Item = usize> {
    let len = slots.len();
    (0..len).map(move |k| if forwards { slots.start + k } else { slots.end - 1 - k })
}

pub(super) fn has(bits: &[u32], slot: usize) -> bool {
    bits[slot / SEGMENT_SLOTS] >> (slot % SEGMENT_SLOTS) & 1 != 0
}

fn segments(slots: &Range<usize>) -> Range<usize> {
    slots.start / SEGMENT_SLOTS..slots.end.div_ceil(SEGMENT_SLOTS)
}

pub(super) fn first_set(bits: &[u32], slots: Range<usize>) -> Option<usize> {
    let mut found = segments(&slots).map(|segment| (segment, within(bits[segment], segment, &slots)));
    let (segment, word) = found.find(|(_, word)| *word != 0)?;
    Some(segment * SEGMENT_SLOTS + word.trailing_zeros() as usize)
}

fn last_set(bits: &[u32], slots: Range<usize>) -> Option<usize> {
    let mut found = segments(&slots).rev().map(|segment| (segment, within(bits[segment], segment, &slots)));
    let (segment, word) = found.find(|(_, word)| *word != 0)?;
    Some(segment * SEGMENT_SLOTS + word.ilog2() as usize)
}

/// Sets the bits of the slots in a non-empty range.
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
