//! Finds the sides that have a pattern, and counts the results of games for them.
//!
//! A query under `flipcolor` hits if White has the pattern or if Black has it, so White's score says little about the pattern. The
//! transformed copies of the query that match at a hit show which side has it.

use serde::{Deserialize, Serialize};
use shakmaty::ByColor;

use super::seen_from;
use crate::found::Found;
use orbit_core::board::Color;
use orbit_engine::{CopyHits, Hits, Outcome, any_side};

/// The results of games for the sides that have a pattern in them, if the query determines these sides
/// (`OutermostOrbit::copy_sides`). A game in which both sides have the pattern is counted for each of them. A game with an unknown
/// result is not counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SideResults {
    /// The number of games that the side won.
    pub wins: u64,
    /// The number of drawn games.
    pub draws: u64,
    /// The number of games that the side lost.
    pub losses: u64,
}

impl SideResults {
    /// Creates the results of one game. `outcome` is the result for the side that the query regards as White.
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

    /// Adds the results of other games.
    pub(crate) fn add(&mut self, other: &SideResults) {
        self.wins += other.wins;
        self.draws += other.draws;
        self.losses += other.losses;
    }

    /// Returns the mean score of the sides that have the pattern, from 0 to 1. Returns `None` if there are no games.
    pub fn score(&self) -> Option<f64> {
        let games = self.wins + self.draws + self.losses;
        (games > 0).then(|| (self.wins as f64 + self.draws as f64 / 2.0) / games as f64)
    }

    /// Returns whether the results are consistent with this number of games with results.
    pub(super) fn is_sound(&self, results: u64) -> bool {
        let all = [self.wins, self.draws, self.losses];
        all.iter().all(|&games| games <= 2 * results) && all.iter().sum::<u64>() <= 2 * results
    }
}

/// The sides that have the pattern at the hits of a block (a group of games), if the query determines them.
pub(crate) struct PatternSides<'a> {
    hits: &'a Hits,
    told: Option<&'a CopyHits>,
    of_copies: &'a [ByColor<bool>],
    /// The sides that have the pattern at each hit, in the order of the positions in the block.
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

    /// Returns the sides that have the pattern of a transformed copy of the query.
    pub(super) fn of_copy(&self, copy: usize) -> Option<ByColor<bool>> {
        self.of_copies.get(copy).copied()
    }

    /// Returns the sides that have the pattern at any of `hits` consecutive hits. `first` is the index of the first of these
    /// among the hits of the block.
    pub(super) fn in_hits(&self, first: usize, hits: u64) -> ByColor<bool> {
        let hits = self.of_hits.get(first..first + hits as usize);
        any_side(hits.unwrap_or_default().iter().copied())
    }

    /// Returns the sides that have the pattern at any of the next `hits` hits, from the position `first_slot` of the block on.
    pub(crate) fn from(&self, first_slot: usize, hits: u64) -> ByColor<bool> {
        match self.told {
            Some(told) if hits > 0 => self.in_hits(told.first_in(self.hits, first_slot), hits),
            _ => ByColor::default(),
        }
    }
}
