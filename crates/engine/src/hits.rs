//! The positions of a block at which a query matches. They are numbered by *slots*: each position of a block has one.

use std::ops::Range;

use shakmaty::Bitboard;

use super::{Answer, Wants};
use orbit_core::isa::{Isa, for_each_isa};
use orbit_query::Type;
use orbit_reel::{Block, SEGMENT_SLOTS};

/// The slots of one block at which a query matches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hits {
    /// One word for each segment: bit `i` is set if the query matches at slot `32 * segment + i`.
    pub bits: Vec<u32>,
    /// The values of the query at its hits, if they were requested.
    pub values: Values,
    /// True if the query was evaluated on main lines only, in a search in which other queries are evaluated on side
    /// lines too.
    pub main_lines: bool,
}

/// The values of a query, with one entry for each slot of the block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Values {
    /// No values, because none were requested or because the query is a condition.
    None,
    /// Numbers. An entry is valid where the slot is a hit.
    Numbers(Vec<i32>),
    /// Sets of squares. Every entry is valid; it is empty where the slot is not a hit.
    Sets(Vec<u64>),
    /// Strings. An entry is valid where the slot is a hit.
    Texts(Vec<Option<Box<[u8]>>>),
}

impl Hits {
    /// Creates an empty set of hits.
    pub fn new(block: &Block) -> Hits {
        Hits { bits: vec![0; block.segments()], values: Values::None, main_lines: false }
    }

    /// Allocates the values of a query of type `ty`, if values are requested and queries of this type have any.
    pub fn make_room(&mut self, block: &Block, outputs: Wants, ty: Type) {
        self.values = match ty {
            _ if !outputs.contains(Wants::VALUES) => Values::None,
            Type::Set => Values::Sets(vec![0; block.slots()]),
            Type::Num | Type::Position => Values::Numbers(vec![0; block.slots()]),
            Type::Bool | Type::Str => Values::None,
        };
    }

    /// Moves hits that were found in a part of a block to their slots in the whole block. For each game of the part,
    /// `places` yields the first slot of the game in the whole block, and whether the two sides of the game were
    /// swapped. If they were, sets of squares are reflected back.
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

    /// Returns whether the query matches at a slot.
    pub fn contains(&self, slot: usize) -> bool {
        self.bits[slot / SEGMENT_SLOTS] >> (slot % SEGMENT_SLOTS) & 1 != 0
    }

    /// Returns the value of the query at a slot. If values were not requested, returns whether the slot is a hit.
    pub fn answer(&self, slot: usize) -> Answer {
        match &self.values {
            Values::None => Answer::Bool(self.contains(slot)),
            Values::Numbers(numbers) => Answer::Num(self.contains(slot).then(|| numbers[slot])),
            Values::Sets(sets) => Answer::Set(Bitboard(sets[slot])),
            Values::Texts(_) => Answer::Bool(self.contains(slot)),
        }
    }

    /// Returns the string that the query yields at a slot. Returns `None` if the slot is not a hit or if strings were
    /// not requested.
    pub fn text(&self, slot: usize) -> Option<&[u8]> {
        match &self.values {
            Values::Texts(texts) if self.contains(slot) => texts[slot].as_deref(),
            _ => None,
        }
    }

    /// Returns the number of hits.
    pub fn count(&self) -> u64 {
        ones(Isa::detected(), &self.bits)
    }

    /// Returns the number of hits in a range of slots.
    pub fn count_in(&self, range: Range<usize>) -> u64 {
        let first = range.start / SEGMENT_SLOTS;
        let last = range.end.div_ceil(SEGMENT_SLOTS);
        let words = self.bits[first..last].iter().zip(first..);
        words.map(|(&bits, segment)| u64::from(within(bits, segment, &range).count_ones())).sum()
    }

    /// Removes the hits in a range of slots. Their values stay in place.
    pub fn clear(&mut self, range: Range<usize>) {
        let first = range.start / SEGMENT_SLOTS;
        let last = range.end.div_ceil(SEGMENT_SLOTS).max(first);
        for (bits, segment) in self.bits[first..last].iter_mut().zip(first..) {
            *bits &= !within(*bits, segment, &range);
        }
    }

    /// Returns the number of games of the block that have at least one hit.
    pub fn games(&self, ends: &GameEnds) -> u64 {
        games_hit(Isa::detected(), &self.bits, &ends.0)
    }

    /// Returns the hits in a range of slots, in ascending order.
    pub fn slots(&self, range: Range<usize>) -> impl Iterator<Item = usize> {
        slots_of(&self.bits, range)
    }
}

/// The ends of the games of a block: bit `i` of word `n` is set if slot `64 * n + i` is the last of its game.
#[derive(Clone, Debug)]
pub struct GameEnds(Vec<u64>);

impl GameEnds {
    /// Computes the ends of the games of a block.
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
    /// Returns the number of set bits.
    pub(super) fn ones(bits: &[u32]) -> u64 {
        bits.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }
}

for_each_isa! {
    /// Returns the number of games that contain a slot whose bit is set. Bit `i` of word `n` of `ends` is set if slot
    /// `64 * n + i` is the last slot of its game.
    pub(super) fn games_hit(bits: &[u32], ends: &[u64]) -> u64 {
        let (mut games, mut carry) = (0, false);
        // To the hits of a game, the addition adds ones in all slots of the game except the last. If there is a hit in
        // these slots, the addition carries into the last slot of the game and sets its bit. It carries no further,
        // because the last bit is 0 in both operands. The words are added as one long number, so a game may extend over
        // many words.
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

/// Returns the slots of a range whose bits are set, in ascending order.
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

/// Clears the bits of a segment whose slots lie outside a range. The range must overlap the segment.
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
