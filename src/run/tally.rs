//! How much was read, and how much of it hit.

use serde::{Deserialize, Serialize};

use super::{BlockResult, Collector, Needs, Part, PartError, TakeError};
use crate::database::{GameTexts, Room, StreamedBlock};
use crate::reel::Totals;
use crate::report::Tally;

/// Counts games and positions, and those that hit.
#[derive(Clone, Copy, Debug, Default)]
pub struct TallyCollector;

/// What [`TallyCollector`] counts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TallyPart {
    /// What was read.
    pub totals: Totals,
    /// The games that the conditions fit, if there are conditions.
    pub passing: Option<u64>,
    /// What each query hits.
    pub queries: Vec<Tally>,
}

impl Collector for TallyCollector {
    type Part = TallyPart;

    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    fn look(&self, result: &BlockResult, _: &Room) -> TallyPart {
        let passing = |games: &[bool]| games.iter().filter(|passes| **passes).count() as u64;
        let hits = result.answers.iter().map(|answers| &answers.hits);
        TallyPart {
            // They are summed up with each block that is taken.
            totals: Totals::default(),
            passing: result.games.map(passing),
            queries: hits
                .map(|hits| Tally { games: hits.games(result.block), positions: hits.count() })
                .collect(),
        }
    }

    fn take(
        &self,
        sum: &mut TallyPart,
        mut part: TallyPart,
        streamed: &StreamedBlock,
        _: &mut GameTexts,
    ) -> Result<(), TakeError> {
        part.totals.clone_from(&streamed.totals);
        Ok(sum.merge(part)?)
    }
}

impl Part for TallyPart {
    fn merge(&mut self, next: TallyPart) -> Result<(), PartError> {
        self.totals.add(&next.totals);
        self.passing.merge(next.passing)?;
        self.queries.merge(next.queries)
    }
}

impl Part for Tally {
    fn merge(&mut self, next: Tally) -> Result<(), PartError> {
        self.games += next.games;
        self.positions += next.positions;
        Ok(())
    }
}

/// A sum.
impl Part for u64 {
    fn merge(&mut self, next: u64) -> Result<(), PartError> {
        *self += next;
        Ok(())
    }
}
