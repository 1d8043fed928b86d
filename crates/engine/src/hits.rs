//! Where queries match in a block.

use std::ops::Range;

use shakmaty::Bitboard;

use super::{Answer, Wants};
use orbit_core::isa::{Isa, for_each_isa};
use orbit_query::Type;
use orbit_reel::{Block, SEGMENT_SLOTS};

/// Where a query matches in one block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hits {
    /// One word for each segment: bit `i` is set if the query matches at slot `32 * segment + i`.
    pub bits: Vec<u32>,
    /// The values, if they were wanted.
    pub values: Values,
    /// Whether the query was asked of main lines alone, in a run in which others are asked of side lines too.
    pub main_lines: bool,
}

/// Values of a query, one for each slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Values {
    /// None wanted, or the query is a condition.
    None,
    /// Numbers; a slot has one where its bit is set.
    Numbers(Vec<i32>),
    /// Sets of squares; every slot has one.
    Sets(Vec<u64>),
    /// Strings; a slot has one where its bit is set.
    Texts(Vec<Option<Box<[u8]>>>),
}

impl Hits {
    /// No hits yet.
    pub fn new(block: &Block) -> Hits {
        Hits { bits: vec![0; block.segments()], values: Values::None, main_lines: false }
    }

    /// Makes room for the values of a query of type `ty`, if they are wanted and it has any.
    pub fn make_room(&mut self, block: &Block, outputs: Wants, ty: Type) {
        self.values = match ty {
            _ if !outputs.contains(Wants::VALUES) => Values::None,
            Type::Set => Values::Sets(vec![0; block.slots()]),
            Type::Num | Type::Position => Values::Numbers(vec![0; block.slots()]),
            Type::Bool | Type::Str => Values::None,
        };
    }

    /// The same hits, found in a part of a block, where they stand in the whole block. For each game of the part `places` has
    /// the slot of the whole block at which the game begins, and whether its sides have changed places.
    pub fn put_back(&self, part: &Block, whole: &Block, places: impl Iterator<Item = (usize, bool)>) -> Hits {
        let mut out = Hits { main_lines: self.main_lines, ..Hits::new(whole) };
        out.values = match self.values {
            Values::None => Values::None,
            Values::Numbers(_) => Values::Numbers(vec![0; whole.slots()]),
            Values::Sets(_) => Values::Sets(vec![0; whole.slots()]),
            Values::Texts(_) => Values::Texts(vec![None; whole.slots()]),
        };
        for (game, (to, is_swapped)) in part.games().zip(places) {
            let slots = game.slots();
            for slot in self.slots(slots.clone()) {
                let slot = slot - slots.start + to;
                out.bits[slot / SEGMENT_SLOTS] |= 1 << (slot % SEGMENT_SLOTS);
            }
            let range = to..to + slots.len();
            match (&mut out.values, &self.values) {
                (Values::Numbers(out), Values::Numbers(found)) => out[range].copy_from_slice(&found[slots]),
                (Values::Sets(out), Values::Sets(found)) => {
                    let turned = |&set: &u64| if is_swapped { set.swap_bytes() } else { set };
                    out[range].iter_mut().zip(&found[slots]).for_each(|(out, set)| *out = turned(set));
                }
                (Values::Texts(out), Values::Texts(found)) => out[range].clone_from_slice(&found[slots]),
                _ => {}
            }
        }
        out
    }

    /// Whether a slot is a hit.
    pub fn contains(&self, slot: usize) -> bool {
        self.bits[slot / SEGMENT_SLOTS] >> (slot % SEGMENT_SLOTS) & 1 != 0
    }

    /// The value of the query at a slot, as far as it was wanted.
    pub fn answer(&self, slot: usize) -> Answer {
        match &self.values {
            Values::None => Answer::Bool(self.contains(slot)),
            Values::Numbers(numbers) => Answer::Num(self.contains(slot).then(|| numbers[slot])),
            Values::Sets(sets) => Answer::Set(Bitboard(sets[slot])),
            Values::Texts(_) => Answer::Bool(self.contains(slot)),
        }
    }

    /// The string that the query yields at a slot, if it is a hit and yields a string that was wanted.
    pub fn text(&self, slot: usize) -> Option<&[u8]> {
        match &self.values {
            Values::Texts(texts) if self.contains(slot) => texts[slot].as_deref(),
            _ => None,
        }
    }

    /// The number of hits.
    pub fn count(&self) -> u64 {
        ones(Isa::detected(), &self.bits)
    }

    /// The number of hits in a range of slots.
    pub fn count_in(&self, range: Range<usize>) -> u64 {
        let first = range.start / SEGMENT_SLOTS;
        let last = range.end.div_ceil(SEGMENT_SLOTS);
        let words = self.bits[first..last].iter().zip(first..);
        words.map(|(&bits, segment)| u64::from(within(bits, segment, &range).count_ones())).sum()
    }

    /// Takes the hits of a range of slots away. Values stay.
    pub fn clear(&mut self, range: Range<usize>) {
        let first = range.start / SEGMENT_SLOTS;
        let last = range.end.div_ceil(SEGMENT_SLOTS).max(first);
        for (bits, segment) in self.bits[first..last].iter_mut().zip(first..) {
            *bits &= !within(*bits, segment, &range);
        }
    }

    /// The number of games of the block with a hit.
    pub fn games(&self, ends: &GameEnds) -> u64 {
        games_hit(Isa::detected(), &self.bits, &ends.0)
    }

    /// The hits of a range of slots, ascending.
    pub fn slots(&self, range: Range<usize>) -> impl Iterator<Item = usize> {
        slots_of(&self.bits, range)
    }
}

/// Where the games of a block end: bit `i` of word `n` for slot `64 * n + i`.
#[derive(Clone, Debug)]
pub struct GameEnds(Vec<u64>);

impl GameEnds {
    /// Those of a block.
    pub fn from_block(block: &Block) -> GameEnds {
        let mut words = vec![0; block.slots().div_ceil(64)];
        for game in block.games() {
            let last = game.end_slot() - 1;
            words[last / 64] |= 1 << (last % 64);
        }
        GameEnds(words)
    }
}

for_each_isa! {
    /// How many bits are set.
    pub(super) fn ones(bits: &[u32]) -> u64 {
        bits.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }
}

for_each_isa! {
    /// How many games have a slot whose bit is set. Bit `i` of word `n` of `ends` is set if slot `64 * n + i` is the last of
    /// its game.
    pub(super) fn games_hit(bits: &[u32], ends: &[u64]) -> u64 {
        let (mut games, mut carry) = (0, false);
        // The slots of a game before its last one, all set, are added to its hits there: the sum reaches the last slot if
        // there is one, and goes no further. The words are added as one number, so a game may lie in many.
        let mut add = |bits: u64, ends: u64| {
            let sum;
            (sum, carry) = (bits & !ends).carrying_add(!ends, carry);
            games += u64::from(((sum | bits) & ends).count_ones());
        };
        let (pairs, last) = bits.as_chunks();
        for (&[low, high], &ends) in pairs.iter().zip(ends) {
            add(u64::from(low) | u64::from(high) << 32, ends);
        }
        if let (&[last], Some(&ends)) = (last, ends.last()) {
            add(last.into(), ends);
        }
        games
    }
}

/// The slots of a range whose bits are set, ascending.
pub(super) fn slots_of(bits: &[u32], range: Range<usize>) -> impl Iterator<Item = usize> {
    let first = range.start / SEGMENT_SLOTS;
    let last = range.end.div_ceil(SEGMENT_SLOTS);
    (first..last).flat_map(move |segment| {
        let from = segment * SEGMENT_SLOTS;
        let mut bits = within(bits[segment], segment, &range);
        std::iter::from_fn(move || {
            (bits != 0).then(|| {
                let slot = from + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                slot
            })
        })
    })
}

/// Those bits of a segment whose slots lie in a range that meets it.
pub(super) fn within(mut bits: u32, segment: usize, range: &Range<usize>) -> u32 {
    let from = segment * SEGMENT_SLOTS;
    if range.start > from {
        bits &= u32::MAX << (range.start - from);
    }
    if range.end < from + SEGMENT_SLOTS {
        bits &= !(u32::MAX << (range.end - from));
    }
    bits
}
