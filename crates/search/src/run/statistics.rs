//! Counts hits by groups of games and positions, for one or more queries.

use super::{Collector, Part, PartError};
use crate::found::BlockResult;
use crate::stats::{Counts, ManyCounts, Stats};
use orbit_database::MemoryBudget;
use orbit_engine::Wants;
use orbit_transforms::Filter;
use orbit_transforms::OutermostOrbit as _;

/// Counts the hits of each query in groups.
#[derive(Clone, Debug)]
pub struct StatisticsCollector {
    stats: Stats,
}

impl StatisticsCollector {
    /// Creates a collector that counts hits by the groupings in `stats`. Only the first query can be grouped by copy.
    pub fn new(stats: Stats) -> StatisticsCollector {
        StatisticsCollector { stats }
    }

    /// Returns the rules by which hits are counted.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Returns the counts for each query. `filters` are the filters of the queries.
    pub fn counts<'a>(&self, part: ManyCounts, filters: impl IntoIterator<Item = &'a Filter>) -> Vec<Counts> {
        let mut counts = part.into_counts().into_iter();
        let of_filter = |filter: &Filter| {
            let counts = counts.next().unwrap_or_else(|| self.stats.none());
            counts.telling_sides(self.stats.tells_sides() && filter.copy_sides().is_some())
        };
        filters.into_iter().map(of_filter).collect()
    }
}

impl Collector for StatisticsCollector {
    type Part = ManyCounts;

    fn wants(&self) -> Wants {
        self.stats.wants()
    }

    fn look(&self, result: &BlockResult, _: &MemoryBudget) -> ManyCounts {
        let found: Vec<_> = (0..result.answers.len()).map(|query| result.of_query(query)).collect();
        self.stats.count_many(&found)
    }

    fn could_make(&self, part: &ManyCounts) -> bool {
        part.are_of(&self.stats)
    }
}

/// The default value contains the counts of no queries.
impl Part for ManyCounts {
    fn merge(&mut self, next: ManyCounts) -> Result<(), PartError> {
        if *self == ManyCounts::default() {
            *self = next;
            return Ok(());
        }
        if next == ManyCounts::default() {
            return Ok(());
        }
        if !self.is_like(&next) {
            return Err(PartError::Differ("groupings"));
        }
        Ok(self.add(next)?)
    }

    fn check(&self, most: u64) -> Result<(), &'static str> {
        ManyCounts::check(self, most)
    }
}
