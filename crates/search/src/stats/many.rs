//! Several queries over the same games.

use serde::{Deserialize, Serialize};

use super::{CountedGames, Counts, Stats, TooManyGroups, people};
use crate::report::Found;

/// The counts of several queries over the same games. What does not depend on hits is counted once.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ManyCounts {
    /// Of the first query with the groups of all games, of the others with those that hit alone; so too of the first
    /// query that is asked of main lines alone where others are asked of side lines.
    counts: Vec<Counts>,
    /// Which queries are asked of main lines alone, though others are not.
    main_lines: Vec<bool>,
}

impl Stats {
    /// The counts of nothing for so many queries.
    pub fn none_of_many(&self, queries: usize) -> ManyCounts {
        ManyCounts { counts: vec![self.none(); queries], main_lines: vec![false; queries] }
    }

    /// Counts what several queries found in one block.
    ///
    /// # Panics
    ///
    /// When the hits are not those of this block, or copies are wanted and were not all told.
    pub fn count_many(&self, found: &[Found]) -> ManyCounts {
        let Some(first) = found.first() else { return ManyCounts::default() };
        let columns = self.columns(first);
        let main_lines: Vec<bool> = found.iter().map(|found| found.hits.main_lines).collect();
        let counts = found.iter().enumerate().map(|(query, found)| {
            let which =
                if first_like(&main_lines, query) == query { CountedGames::All } else { CountedGames::Hit };
            self.count_with(&columns, found, which)
        });
        ManyCounts { counts: counts.collect(), main_lines }
    }
}

impl ManyCounts {
    /// Adds the counts of other blocks.
    ///
    /// # Errors
    ///
    /// What [`Counts::add`] reports.
    ///
    /// # Panics
    ///
    /// When they are not of the same groupings and as many queries.
    pub fn add(&mut self, other: ManyCounts) -> Result<(), TooManyGroups> {
        assert_eq!(self.counts.len(), other.counts.len(), "counts of as many queries");
        self.main_lines.iter_mut().zip(other.main_lines).for_each(|(is, more)| *is |= more);
        self.counts.iter_mut().zip(other.counts).try_for_each(|(sum, more)| sum.add(more))
    }

    /// Checks counts that were read from a file: no number is above `most`, and they fit each other.
    ///
    /// # Errors
    ///
    /// The fault.
    pub fn check(&self, most: u64) -> Result<(), &'static str> {
        if self.main_lines.len() != self.counts.len() {
            return Err("there are not as many counts as queries");
        }
        let all = |query| &self.counts[first_like(&self.main_lines, query)];
        (0..self.counts.len()).try_for_each(|query| self.counts[query].check(all(query), most))
    }

    /// Tells whether they are counts by these groupings, of however many queries.
    pub fn are_of(&self, stats: &Stats) -> bool {
        self.counts.iter().all(|counts| counts.stats == *stats)
    }

    /// Whether these are counts of as many queries by the same groupings, so that they add up.
    pub fn is_like(&self, other: &ManyCounts) -> bool {
        let is_like = |(ours, theirs): (&Counts, &Counts)| ours.stats == theirs.stats;
        self.counts.len() == other.counts.len() && self.counts.iter().zip(&other.counts).all(is_like)
    }

    /// The counts of each query. Spellings of a player's name are one group from here on: which they are is known when all
    /// games are counted, so that it does not depend on how these were divided.
    pub fn into_counts(mut self) -> Vec<Counts> {
        people::take_together(&mut self.counts);
        for query in 0..self.counts.len() {
            let (before, rest) = self.counts.split_at_mut(query);
            let Some(first) = before.get(first_like(&self.main_lines, query)) else { continue };
            rest[0].total[0] = first.total[0];
            for (table, all) in rest[0].tables.iter_mut().zip(&first.tables) {
                table.all = all.all.clone();
            }
        }
        self.counts
    }
}

/// The first query that is asked of the same positions.
fn first_like(main_lines: &[bool], query: usize) -> usize {
    main_lines.iter().position(|is| *is == main_lines[query]).unwrap_or(query)
}
