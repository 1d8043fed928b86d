//! Determines which side's pattern matched, and counts the game results for this side.
//!
//! A copy of the query with the colours as written is White's pattern, and a copy with swapped colours is Black's. A query with
//! `flipcolor` matches if either of them matches, so White's score says little about the pattern. The copies that match at a hit
//! show whose pattern it is.

use serde::{Deserialize, Serialize};
use shakmaty::ByColor;

use super::seen_from;
use crate::found::Found;
use orbit_core::board::Color;
use orbit_engine::{CopyHits, Hits, Outcome, any_side};

/// The results of games for one side, such as the side whose pattern matched: White if a copy of the query with the colours as
/// written matched, Black if a copy with swapped colours did (see `OutermostOrbit::copy_sides`). A game in which the patterns of
/// both sides matched is counted for each side. Games with an unknown result are not counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SideResults {
    /// The number of games won by the side whose results are counted.
    pub wins: u64,
    /// The number of drawn games.
    pub draws: u64,
    /// The number of games lost by the side whose results are counted.
    pub losses: u64,
}

impl SideResults {
    /// Creates the results of one game. `outcome` is the result for the side that the query treats as White.
    pub(crate) fn from_outcome(outcome: Outcome, sides: ByColor<bool>) -> SideResults {
        let mut results = SideResults::default();
        for side in Color::ALL.into_iter().filter(|&side| *sides.get(side)) {
            match seen_from(outcome, side) {
                Outcome::WhiteWins => results.wins += 1,
                Outcome::Draw => results.draws += 1,
                Outcome::BlackWins => results.losses += 1,
                Outcome::Unknown => {}
            }
        }
        results
    }

    pub(crate) fn add(&mut self, other: &SideResults) {
        self.wins += other.wins;
        self.draws += other.draws;
        self.losses += other.losses;
    }

    /// Returns the mean score of the sides whose results are counted, from 0 to 1, or `None` if there are no games.
    pub fn score(&self) -> Option<f64> {
        let games = self.wins + self.draws + self.losses;
        (games > 0).then(|| (self.wins as f64 + self.draws as f64 / 2.0) / games as f64)
    }

    /// Returns whether these numbers can be the results of `results` games with a known result. Numbers read from a damaged file
    /// may be impossible.
    pub(super) fn is_sound(&self, results: u64) -> bool {
        let all = [self.wins, self.draws, self.losses];
        all.iter().all(|&games| games <= 2 * results) && all.iter().sum::<u64>() <= 2 * results
    }
}

/// The sides whose pattern matched at the hits in a block (a group of games), if the query determines them.
pub(crate) struct PatternSides<'a> {
    hits: &'a Hits,
    told: Option<&'a CopyHits>,
    of_copies: &'a [ByColor<bool>],
    /// The sides whose pattern matched at each hit, in the order of positions in the block.
    of_hits: Vec<ByColor<bool>>,
}

impl<'a> PatternSides<'a> {
    pub(crate) fn from_found(found: &Found<'a>) -> PatternSides<'a> {
        let (hits, hit_sides) = (&found.answers.hits, found.answers.hit_sides());
        let (Some(told), Some(of_copies)) = (hit_sides, found.copy_sides()) else {
            return PatternSides { hits, told: None, of_copies: &[], of_hits: Vec::new() };
        };
        let of_hits = (0..told.len()).map(|hit| told.sides(hit, of_copies)).collect();
        PatternSides { hits, told: hit_sides, of_copies, of_hits }
    }

    /// Returns the side or sides whose pieces form the pattern of the transformed copy `copy`, or `None` if the query does not
    /// determine them.
    pub(super) fn of_copy(&self, copy: usize) -> Option<ByColor<bool>> {
        self.of_copies.get(copy).copied()
    }

    /// Returns the sides whose pattern matched at any of `hits` consecutive hits. `first` is the index of the first one among the
    /// block's hits.
    pub(super) fn in_hits(&self, first: usize, hits: u64) -> ByColor<bool> {
        let hits = self.of_hits.get(first..first + hits as usize);
        any_side(hits.unwrap_or_default().iter().copied())
    }

    /// Returns the sides whose pattern matched at any of the next `hits` hits, starting at the position `first_slot` in the block.
    pub(crate) fn from(&self, first_slot: usize, hits: u64) -> ByColor<bool> {
        match self.told {
            Some(told) if hits > 0 => self.in_hits(told.first_in(self.hits, first_slot), hits),
            _ => ByColor::default(),
        }
    }
}
