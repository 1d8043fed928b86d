//! The hits: the positions of a block (a group of games) at which a query matches. A *slot* is the number of a position
//! within its block.

use std::ops::{Index, Range};

use shakmaty::Bitboard;

use super::carry::has;
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
    /// True if the query was evaluated only on main lines, although the block contains side lines for another query.
    pub main_lines: bool,
}

/// The values of a query at its hits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Values {
    /// No values, because none were requested or because the query is a condition.
    None,
    /// Numbers.
    Numbers(HitValues<i32>),
    /// Sets of squares.
    Sets(HitValues<u64>),
    /// Strings.
    Texts(HitValues<Option<Box<[u8]>>>),
}

/// The values of a query at the hits of a block. Removing a hit leaves its value in place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HitValues<T> {
    /// For each segment (32 slots) up to the last one with a value: the slots that have a value, as bits (see [`Hits::bits`]), and
    /// the number of values in earlier segments.
    segments: Vec<(u32, u32)>,
    /// The values, in the order of their slots.
    values: Vec<T>,
}

impl<T> Default for HitValues<T> {
    fn default() -> HitValues<T> {
        HitValues { segments: Vec::new(), values: Vec::new() }
    }
}

impl<T> HitValues<T> {
    /// Adds the value of a slot (position). The slot must come after all slots that have a value.
    pub fn push(&mut self, slot: usize, value: T) {
        self.slots_of(slot / SEGMENT_SLOTS, 1 << (slot % SEGMENT_SLOTS));
        self.values.push(value);
    }

    /// Adds values for slots of one segment (32 slots). `bits` is the mask of the slots that get a value, and `value`
    /// maps a bit number to the value of its slot. The slots must come after all slots that have a value.
    pub(super) fn push_segment(&mut self, segment: usize, bits: u32, value: impl Fn(usize) -> T) {
        if bits != 0 {
            self.slots_of(segment, bits);
            self.values.extend(Bitboard(bits.into()).into_iter().map(|slot| value(slot as usize)));
        }
    }

    /// Records that the slots in the mask `bits` of a segment have values.
    fn slots_of(&mut self, segment: usize, bits: u32) {
        if self.segments.len() <= segment {
            self.segments.resize(segment + 1, (0, self.values.len() as u32));
        }
        let is_last =
            segment + 1 == self.segments.len() && self.segments[segment].0 < bits & bits.wrapping_neg();
        debug_assert!(is_last, "slots are in ascending order");
        self.segments[segment].0 |= bits;
    }

    /// Returns the value of a slot (position); `None` if the slot was not a hit.
    pub fn get(&self, slot: usize) -> Option<&T> {
        let &(bits, before) = self.segments.get(slot / SEGMENT_SLOTS)?;
        let bit = 1_u32 << (slot % SEGMENT_SLOTS);
        (bits & bit != 0).then(|| &self.values[before as usize + (bits & (bit - 1)).count_ones() as usize])
    }

    /// Returns the values, in the order of their slots.
    pub fn all(&self) -> &[T] {
        &self.values
    }

    /// Returns the number of bytes that the values occupy, excluding the contents of strings.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(&self.segments[..]) + size_of_val(&self.values[..])
    }
}

impl<T: Copy + Default> HitValues<T> {
    /// Returns the value of a slot (position), or 0 or the empty set if the slot was not a hit.
    pub fn at(&self, slot: usize) -> T {
        self.get(slot).copied().unwrap_or_default()
    }
}

/// Indexing by slot (position) returns the value of the slot, which must have been a hit.
impl<T> Index<usize> for HitValues<T> {
    type Output = T;

    fn index(&self, slot: usize) -> &T {
        self.get(slot).expect("the slot is a hit")
    }
}

/// Collects pairs of a slot (position) and its value. The slots must be in ascending order.
impl<T> FromIterator<(usize, T)> for HitValues<T> {
    fn from_iter<I: IntoIterator<Item = (usize, T)>>(values: I) -> HitValues<T> {
        let mut out = HitValues::default();
        values.into_iter().for_each(|(slot, value)| out.push(slot, value));
        out
    }
}

impl Hits {
    /// Creates an empty set of hits.
    pub fn new(block: &Block) -> Hits {
        Hits { bits: vec![0; block.segments()], values: Values::None, main_lines: false }
    }

    /// Sets `values` to an empty list of the right kind for a query of type `ty`, if values are requested and queries
    /// of this type have values.
    pub fn set_kind(&mut self, outputs: Wants, ty: Type) {
        self.values = match ty {
            _ if !outputs.contains(Wants::VALUES) => Values::None,
            Type::Set => Values::Sets(HitValues::default()),
            Type::Num | Type::Position => Values::Numbers(HitValues::default()),
            Type::Bool | Type::Str => Values::None,
        };
    }

    /// Converts the hits of `part`, a block made from some games of `whole`, to hits of `whole`. For each game of `part`, `places`
    /// yields the first slot of the game in `whole`, and true if White and Black are swapped in `part`. In that case, sets of
    /// squares are reflected back.
    pub fn put_back(&self, part: &Block, whole: &Block, places: impl Iterator<Item = (usize, bool)>) -> Hits {
        let mut out = Hits { main_lines: self.main_lines, ..Hits::new(whole) };
        // For each hit: its slot in the part, its slot in the whole block, and true if White and Black were swapped in
        // its game.
        let mut moved = Vec::new();
        for (game, (to, is_swapped)) in part.games().zip(places) {
            let first = game.first_slot();
            moved.extend(self.slots(game.slots()).map(|slot| (slot, slot - first + to, is_swapped)));
        }
        for &(_, slot, _) in &moved {
            out.bits[slot / SEGMENT_SLOTS] |= 1 << (slot % SEGMENT_SLOTS);
        }
        let turned = |set: u64, is_swapped: bool| if is_swapped { set.swap_bytes() } else { set };
        let moved = moved.into_iter();
        out.values = match &self.values {
            Values::None => Values::None,
            Values::Numbers(found) => Values::Numbers(moved.map(|(from, to, _)| (to, found[from])).collect()),
            Values::Sets(found) => Values::Sets(
                moved.map(|(from, to, is_swapped)| (to, turned(found[from], is_swapped))).collect(),
            ),
            Values::Texts(found) => {
                Values::Texts(moved.map(|(from, to, _)| (to, found.get(from).cloned().flatten())).collect())
            }
        };
        out
    }

    /// Returns true if the query matches at a slot (position).
    pub fn contains(&self, slot: usize) -> bool {
        has(&self.bits, slot)
    }

    /// Returns the value of the query at a slot (position). If values were not requested, returns whether the slot is a hit.
    pub fn answer(&self, slot: usize) -> Answer {
        match &self.values {
            Values::None => Answer::Bool(self.contains(slot)),
            Values::Numbers(numbers) => Answer::Num(self.contains(slot).then(|| numbers[slot])),
            Values::Sets(sets) => Answer::Set(Bitboard(sets.at(slot))),
            Values::Texts(_) => Answer::Bool(self.contains(slot)),
        }
    }

    /// Returns the value of the query at a slot (position) as a string. Returns `None` if the slot is not a hit, or if
    /// strings were not requested.
    pub fn text(&self, slot: usize) -> Option<&[u8]> {
        match &self.values {
            Values::Texts(texts) if self.contains(slot) => texts.get(slot)?.as_deref(),
            _ => None,
        }
    }

    /// Returns the number of hits.
    pub fn count(&self) -> u64 {
        ones(Isa::detected(), &self.bits)
    }

    /// Returns the number of hits (matching positions) in a range of slots.
    pub fn count_in(&self, range: Range<usize>) -> u64 {
        let first = range.start / SEGMENT_SLOTS;
        let last = range.end.div_ceil(SEGMENT_SLOTS);
        let words = self.bits[first..last].iter().zip(first..);
        words.map(|(&bits, segment)| u64::from(within(bits, segment, &range).count_ones())).sum()
    }

    /// Returns true if there is a hit in a range of slots (positions).
    pub fn any_in(&self, range: Range<usize>) -> bool {
        self.slots(range).next().is_some()
    }

    /// Removes the hits in a range of slots (positions). Their values stay in place.
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

    /// Returns the slots of the hits in a range, in ascending order.
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
    pub(super) fn ones(bits: &[u32]) -> u64 {
        bits.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }
}

for_each_isa! {
    /// Returns the number of games in which at least one slot has its bit set. In `ends`, bit `i` of word `n` is set if slot
    /// `64 * n + i` is the last slot of its game.
    pub(super) fn games_hit(bits: &[u32], ends: &[u64]) -> u64 {
        let (mut games, mut carry) = (0, false);
        // The sum has two operands: the hits, and a 1 in each slot of a game except the last. If a game has a hit
        // before its last slot, the addition carries into the last slot and sets its bit. It carries no further,
        // because the last bit is 0 in both operands. The words are added as one long number, so a game may span many
        // words.
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

/// Clears the bits of the slots of a segment (32 slots) that are outside a range. The range must overlap the segment.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Test data: the words of segments in which no bit, one bit, neighbouring bits, the first and last bits, or all
    /// bits are set.
    const BITS: [u32; 7] = [0, 1 << 31, 0b110, 0, 0x8000_0001, u32::MAX, 0];

    #[test]
    fn slots_have_the_values_that_were_pushed() {
        let value = |slot: usize| 1000 + slot as i32;
        let mut by_segment = HitValues::default();
        for (segment, &bits) in BITS.iter().enumerate() {
            by_segment.push_segment(segment, bits, |slot| value(segment * SEGMENT_SLOTS + slot));
        }
        let all = 0..BITS.len() * SEGMENT_SLOTS;
        let one_by_one: HitValues<i32> =
            slots_of(&BITS, all.clone()).map(|slot| (slot, value(slot))).collect();
        assert_eq!(by_segment, one_by_one);
        for slot in all {
            let is_hit = BITS[slot / SEGMENT_SLOTS] >> (slot % SEGMENT_SLOTS) & 1 != 0;
            assert_eq!(one_by_one.get(slot), is_hit.then(|| value(slot)).as_ref(), "slot {slot}");
            assert_eq!(one_by_one.at(slot), if is_hit { value(slot) } else { 0 });
        }
        let hits = BITS.iter().map(|bits| bits.count_ones() as usize).sum::<usize>();
        assert_eq!(one_by_one.all().len(), hits);
        assert!(one_by_one.memory_bytes() <= 8 * BITS.len() + 4 * hits);
    }

    #[test]
    fn values_stay_when_hits_are_removed() {
        let numbers: HitValues<i32> = [(3, -1), (40, 7)].into_iter().collect();
        let mut hits =
            Hits { bits: vec![1 << 3, 1 << 8], values: Values::Numbers(numbers), main_lines: false };
        hits.clear(0..32);
        assert_eq!(hits.answer(3), Answer::Num(None));
        assert_eq!(hits.answer(40), Answer::Num(Some(7)));
        assert_eq!(hits.answer(41), Answer::Num(None));
    }
}
