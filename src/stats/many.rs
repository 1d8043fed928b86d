//! Several queries over the same games.

use serde::{Deserialize, Serialize};

use super::{Counts, Games, Stats, TooManyGroups};
use crate::report::Found;

/// The counts of several queries over the same games. What does not depend on hits is counted once.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ManyCounts {
    /// Of the first query with the groups of all games, of the others with those that hit alone.
    counts: Vec<Counts>,
}

impl Stats {
    /// The counts of nothing for so many queries.
    pub fn none_of_many(&self, queries: usize) -> ManyCounts {
        ManyCounts { counts: vec![self.none(); queries] }
    }

    /// Counts what several queries found in one block.
    ///
    /// # Panics
    ///
    /// When the hits are not those of this block, or copies are wanted and were not all told.
    pub fn count_many(&self, found: &[Found]) -> ManyCounts {
        let Some(first) = found.first() else { return ManyCounts::default() };
        let columns = self.columns(first.block);
        let which = std::iter::once(Games::All).chain(std::iter::repeat(Games::Hit));
        let counts = found.iter().zip(which).map(|(found, which)| self.count_with(&columns, found, which));
        ManyCounts { counts: counts.collect() }
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
        self.counts.iter_mut().zip(other.counts).try_for_each(|(sum, more)| sum.add(more))
    }

    /// Whether these are counts of as many queries by the same groupings, so that they add up.
    pub fn is_like(&self, other: &ManyCounts) -> bool {
        let is_like = |(ours, theirs): (&Counts, &Counts)| ours.stats == theirs.stats;
        self.counts.len() == other.counts.len() && self.counts.iter().zip(&other.counts).all(is_like)
    }

    /// The counts of each query.
    pub fn into_counts(mut self) -> Vec<Counts> {
        if let [first, others @ ..] = &mut *self.counts {
            for other in others {
                other.total[0] = first.total[0];
                for (table, all) in other.tables.iter_mut().zip(&first.tables) {
                    table.all = all.all.clone();
                }
            }
        }
        self.counts
    }
}
