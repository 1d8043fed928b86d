//! Counts the games and positions that were read, and those with hits.

use serde::{Deserialize, Serialize};

use super::part::COUNT_FAULT;
use super::{Collector, Part, PartError, TakeError};
use crate::found::BlockResult;
use crate::report::HitTotals;
use orbit_database::{GameTexts, MemoryBudget, StreamedBlock};
use orbit_engine::{Answers, GameEnds, Wants};
use orbit_reel::Totals;

/// Counts games and positions, and those with hits.
#[derive(Clone, Copy, Debug, Default)]
pub struct TotalsCollector;

/// The counts of [`TotalsCollector`].
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TotalsPart {
    /// The totals of the games and positions that were read.
    pub totals: Totals,
    /// The number of games that meet the conditions, or `None` if there are no conditions.
    pub passing: Option<u64>,
    /// For each query, the number of games and of positions with hits.
    pub queries: Vec<HitTotals>,
}

impl Collector for TotalsCollector {
    type Part = TotalsPart;

    fn wants(&self) -> Wants {
        Wants::HITS
    }

    fn look(&self, result: &BlockResult, _: &MemoryBudget) -> TotalsPart {
        let passing = |games: &[bool]| games.iter().filter(|passes| **passes).count() as u64;
        let ends = GameEnds::from_block(&result.block);
        let hit_totals = |answers: &Answers| HitTotals {
            games: answers.count_games(&ends),
            positions: answers.hits.count(),
        };
        TotalsPart {
            // The totals of blocks are added up later, in `take`.
            totals: Totals::default(),
            passing: result.games.as_deref().map(passing),
            queries: result.answers.iter().map(hit_totals).collect(),
        }
    }

    fn take(
        &self,
        sum: &mut TotalsPart,
        mut part: TotalsPart,
        streamed: &StreamedBlock,
        _: &mut GameTexts,
    ) -> Result<(), TakeError> {
        part.totals.clone_from(&streamed.totals);
        Ok(sum.merge(part)?)
    }
}

impl Part for TotalsPart {
    fn merge(&mut self, next: TotalsPart) -> Result<(), PartError> {
        self.totals.add(&next.totals);
        self.passing.merge(next.passing)?;
        self.queries.merge(next.queries)
    }

    fn check(&self, most: u64) -> Result<(), &'static str> {
        self.totals.check(most)?;
        self.passing.check(most)?;
        self.queries.check(most)
    }
}

impl Part for HitTotals {
    fn merge(&mut self, next: HitTotals) -> Result<(), PartError> {
        self.games += next.games;
        self.positions += next.positions;
        Ok(())
    }

    fn check(&self, most: u64) -> Result<(), &'static str> {
        self.games.check(most)?;
        self.positions.check(most)
    }
}

/// A count is a part, and merging two counts adds them up.
impl Part for u64 {
    fn merge(&mut self, next: u64) -> Result<(), PartError> {
        *self += next;
        Ok(())
    }

    fn check(&self, most: u64) -> Result<(), &'static str> {
        if *self <= most { Ok(()) } else { Err(COUNT_FAULT) }
    }
}
