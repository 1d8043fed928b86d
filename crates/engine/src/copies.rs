//! Records which copies match at each hit (matching position). A *copy* is one of the distinct patterns that the
//! query's outermost transform, such as `flip` or `shift`, generates from its filter.

use shakmaty::ByColor;

use super::Hits;
use orbit_plan::{Apart, CopiesPlan};
use orbit_reel::SEGMENT_SLOTS;

/// The amount of detail that is recorded about the copies (transformed patterns) that match at a hit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CopyDetail {
    /// Only the number of hits at which each copy (transformed pattern) matches.
    #[default]
    Counts,
    /// For each hit, the matching copy with the lowest number, and the number of matching copies.
    Lowest,
    /// For each hit, all copies that match. There can be many: 671 of the 672 patterns of `shift flip flipcolor {not
    /// {Nd4 kf3}}` match at most of its hits.
    All,
    /// For each hit, the sides whose pieces form the pattern of a matching copy. The copies must have sides
    /// (`OutermostOrbit::copy_sides`). The sides are recorded as if they were two copies: 0 for White and 1 for Black.
    Sides,
}

/// The copies of the query's outermost transform that match at the hits of one block. Copies are numbered from 0 in the order in
/// which the transform generates them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CopyHits {
    /// For each hit, in the order of slots: the lowest number of a matching copy, and the number of matching copies.
    /// Empty if the detail is [`CopyDetail::Counts`].
    hits: Vec<(u32, u32)>,
    /// For each segment of 32 slots, the number of hits in the segments before it.
    before: Vec<u32>,
    /// For each copy, the number of hits at which it matches.
    sums: Vec<u64>,
    detail: CopyDetail,
    lists: Option<Lists>,
}

/// The concatenated lists of the copies (transformed patterns) that match at each hit. The copies of hit `n` end before
/// index `ends[n]` of `copies`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Lists {
    ends: Vec<usize>,
    copies: Vec<u32>,
}

impl CopyDetail {
    /// Returns the kind of plan that computes this detail: a plan with one result for each side, or with one result for
    /// each copy (transformed pattern).
    pub(super) fn apart(self) -> Apart {
        if self == CopyDetail::Sides { Apart::Sides } else { Apart::Copies }
    }

    /// Returns the detail that the reference engine must record so that `self` can be derived from it. Sides are derived from all
    /// matching copies.
    pub(super) fn by_copies(self) -> CopyDetail {
        if self == CopyDetail::Sides { CopyDetail::All } else { self }
    }
}

impl CopyHits {
    /// Creates an empty record of the copies (transformed patterns) that match at the hits of one block.
    pub fn new(copies: usize, detail: CopyDetail, hits: &Hits) -> CopyHits {
        let lists = (detail == CopyDetail::All).then(Lists::default);
        let copies = if detail == CopyDetail::Sides { 2 } else { copies };
        CopyHits { before: before(hits), hits: Vec::new(), sums: vec![0; copies], detail, lists }
    }

    /// Records the next hit. `words` are the results that `plan` computed at its position.
    pub(super) fn push_words(&mut self, plan: &CopiesPlan, words: &[u64]) {
        if self.detail == CopyDetail::Counts {
            plan.add_counts(words, &mut self.sums);
        } else {
            self.push(plan.matching(words));
        }
    }

    /// Records the next hit, at which the transformed patterns `matching` (in ascending order) match.
    pub(super) fn push(&mut self, matching: impl Iterator<Item = u32>) {
        if self.detail == CopyDetail::Counts {
            matching.for_each(|copy| self.sums[copy as usize] += 1);
            return;
        }
        let (mut lowest, mut count) = (0, 0);
        for copy in matching {
            if count == 0 {
                lowest = copy;
            }
            count += 1;
            self.sums[copy as usize] += 1;
            self.lists.iter_mut().for_each(|lists| lists.copies.push(copy));
        }
        self.hits.push((lowest, count));
        self.lists.iter_mut().for_each(|lists| lists.ends.push(lists.copies.len()));
    }

    /// Assigns the recorded hits, in order, to the slots of `hits`, which must contain as many hits as the record.
    pub fn at(self, hits: &Hits) -> CopyHits {
        CopyHits { before: before(hits), ..self }
    }

    /// Returns a record of only the hits in `kept`. `all` must be the hits of this record, and `kept` a subset of them.
    ///
    /// # Panics
    ///
    /// Panics if this record was not created with [`CopyDetail::All`].
    pub fn only(&self, all: &Hits, kept: &Hits) -> CopyHits {
        let mut out = CopyHits::new(self.sums.len(), self.detail, kept);
        let slots = all.slots(0..all.bits.len() * SEGMENT_SLOTS).enumerate();
        let copies = slots.filter(|(_, slot)| kept.contains(*slot)).map(|(hit, _)| self.at_hit(hit));
        copies.for_each(|copies| out.push(copies.iter().copied()));
        out
    }

    /// Returns the detail of the record.
    pub fn detail(&self) -> CopyDetail {
        self.detail
    }

    /// Returns true if the record contains, for each hit, all matching copies of the pattern or the one with the lowest
    /// number.
    pub fn tells_copies(&self) -> bool {
        matches!(self.detail, CopyDetail::Lowest | CopyDetail::All)
    }

    /// Returns true if [`CopyHits::sides`] can be called: the record contains the sides of each hit, or all matching
    /// copies, from which the sides follow. The copies must have sides.
    pub fn tells_sides(&self) -> bool {
        matches!(self.detail, CopyDetail::Sides | CopyDetail::All)
    }

    /// Returns the number of recorded hits, or 0 if the record only counts the hits of each transformed pattern.
    pub fn len(&self) -> usize {
        self.hits.len()
    }

    /// Returns true if no hit is recorded.
    pub fn is_empty(&self) -> bool {
        self.hits.is_empty()
    }

    /// Returns the number of hits before the position in slot `first_slot`. This is also the index of the first hit at or after
    /// this position. `hits` must be the hits of this record.
    ///
    /// # Panics
    ///
    /// Panics if the block has no such slot.
    pub fn first_in(&self, hits: &Hits, first_slot: usize) -> usize {
        let (segment, bit) = (first_slot / SEGMENT_SLOTS, first_slot % SEGMENT_SLOTS);
        let below = hits.bits[segment] & ((1 << bit) - 1);
        (self.before[segment] + below.count_ones()) as usize
    }

    /// Returns the lowest number of a copy (transformed pattern) that matches at a hit, or `None` if no copy matches there. Hits
    /// without a matching copy occur if a query accepts a range of counts, as `flip 3 4 Ra1` does.
    ///
    /// # Panics
    ///
    /// Panics if there is no such hit.
    pub fn lowest(&self, hit: usize) -> Option<u32> {
        let (lowest, count) = self.hits[hit];
        (count > 0).then_some(lowest)
    }

    /// Returns the number of transformed patterns that match at a hit.
    ///
    /// # Panics
    ///
    /// Panics if there is no such hit.
    pub fn count(&self, hit: usize) -> usize {
        self.hits[hit].1 as usize
    }

    /// Returns the number of hits at which each transformed pattern matches.
    pub fn sums(&self) -> &[u64] {
        &self.sums
    }

    /// Returns the sides whose pieces form the pattern of a copy that matches at a hit. If the detail is
    /// [`CopyDetail::All`], `of_copies` must contain the sides of each copy.
    ///
    /// # Panics
    ///
    /// Panics if there is no such hit, or if the detail is neither [`CopyDetail::Sides`] nor [`CopyDetail::All`].
    pub fn sides(&self, hit: usize, of_copies: &[ByColor<bool>]) -> ByColor<bool> {
        if self.detail == CopyDetail::Sides {
            let (lowest, count) = self.hits[hit];
            let matches = |side| count == 2 || count == 1 && lowest == side;
            return ByColor { white: matches(0), black: matches(1) };
        }
        any_side(self.at_hit(hit).iter().map(|&copy| of_copies[copy as usize]))
    }

    /// Returns the numbers of the transformed patterns that match at a hit, in ascending order.
    ///
    /// # Panics
    ///
    /// Panics if there is no such hit, or if the detail is not [`CopyDetail::All`].
    pub fn at_hit(&self, hit: usize) -> &[u32] {
        let lists = self.lists.as_ref().expect("lists are read where all copies were asked for");
        let start = hit.checked_sub(1).map_or(0, |before| lists.ends[before]);
        &lists.copies[start..lists.ends[hit]]
    }
}

/// Returns the union of several sets of sides.
pub fn any_side(sides: impl Iterator<Item = ByColor<bool>>) -> ByColor<bool> {
    sides.fold(ByColor::default(), |one, other| one.zip(other).map(|(one, other)| one || other))
}

/// Returns, for each segment (32 slots), the number of hits in the segments before it.
fn before(hits: &Hits) -> Vec<u32> {
    let mut count = 0;
    let before = hits.bits.iter().map(|bits| {
        count += bits.count_ones();
        count - bits.count_ones()
    });
    before.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Values;

    #[test]
    fn what_is_told_is_the_same_with_lists_and_without() {
        let of_hits: [&[u32]; 4] = [&[1, 2], &[], &[0], &[2]];
        for detail in [CopyDetail::Lowest, CopyDetail::All] {
            let hits = Hits { bits: vec![0x8000_0001, 0, 0b110], values: Values::None, main_lines: false };
            let mut found = CopyHits::new(3, detail, &hits);
            of_hits.iter().for_each(|copies| found.push(copies.iter().copied()));
            assert_eq!(found.sums(), [1, 1, 2]);
            assert_eq!(found.len(), 4);
            let places = [0, 1, 31, 32, 64, 65, 66, 67].map(|slot| found.first_in(&hits, slot));
            assert_eq!(places, [0, 1, 1, 2, 2, 2, 3, 4]);
            for (hit, copies) in of_hits.iter().enumerate() {
                assert_eq!((found.lowest(hit), found.count(hit)), (copies.first().copied(), copies.len()));
                assert!(detail == CopyDetail::Lowest || found.at_hit(hit) == *copies);
            }
        }
    }
}
