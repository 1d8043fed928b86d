//! Counts the hits of several queries in one set of games.

use serde::{Deserialize, Serialize};

use super::{CountedGames, Counts, Stats, TooManyGroups, people};
use crate::found::Found;

/// The counts of several queries in one set of games. Counts that do not depend on hits are computed once for all queries.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ManyCounts {
    /// The counts of each query. Those of the first query contain the groups of all games, the others only the groups of games with
    /// hits. If only some queries search side lines, the first query with side lines and the first query without them contain the
    /// groups of all games.
    counts: Vec<Counts>,
    /// For each query, true if it searches only main lines while others also search side lines.
    main_lines: Vec<bool>,
}

impl Stats {
    /// Counts the hits of several queries in one block (a group of games).
    ///
    /// # Panics
    ///
    /// Panics if the hits belong to another block, or if a grouping needs all matching copies of the query and these are unknown.
    pub fn count_many(&self, found: &[Found]) -> ManyCounts {
        let Some(first) = found.first() else { return ManyCounts::default() };
        let columns = self.columns(first);
        let main_lines: Vec<bool> = found.iter().map(|found| found.answers.hits.main_lines).collect();
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
    /// Returns the errors of [`Counts::add`].
    ///
    /// # Panics
    ///
    /// Panics if the counts differ in their groupings or their number of queries.
    pub fn add(&mut self, other: ManyCounts) -> Result<(), TooManyGroups> {
        assert_eq!(self.counts.len(), other.counts.len(), "counts of as many queries");
        self.main_lines.iter_mut().zip(other.main_lines).for_each(|(is, more)| *is |= more);
        self.counts.iter_mut().zip(other.counts).try_for_each(|(sum, more)| sum.add(more))
    }

    /// Checks counts that were read from a file: no number may exceed `most`, and the numbers must be consistent.
    ///
    /// # Errors
    ///
    /// Returns a description of the error.
    pub fn check(&self, most: u64) -> Result<(), &'static str> {
        if self.main_lines.len() != self.counts.len() {
            return Err("there are not as many counts as queries");
        }
        let all = |query| &self.counts[first_like(&self.main_lines, query)];
        (0..self.counts.len()).try_for_each(|query| self.counts[query].check(all(query), most))
    }

    /// Returns whether all counts use the groupings of `stats`.
    pub fn are_of(&self, stats: &Stats) -> bool {
        self.counts.iter().all(|counts| counts.stats == *stats)
    }

    /// Returns whether `self` and `other` can be added, that is, have the same number of queries and the same groupings.
    pub fn is_like(&self, other: &ManyCounts) -> bool {
        let is_like = |(ours, theirs): (&Counts, &Counts)| ours.stats == theirs.stats;
        self.counts.len() == other.counts.len() && self.counts.iter().zip(&other.counts).all(is_like)
    }

    /// Returns the counts of each query, and merges the groups for all spellings of a player's name. Spellings are recognized only
    /// after all games have been counted, so that the result does not depend on the division into blocks.
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

/// Returns the index of the first query that searches the same positions (with or without side lines) as this query. Only that
/// query counts the groups of all games.
fn first_like(main_lines: &[bool], query: usize) -> usize {
    main_lines.iter().position(|is| *is == main_lines[query]).unwrap_or(query)
}
