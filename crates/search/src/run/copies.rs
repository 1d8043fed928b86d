//! Counts the hits of each copy of the query that the outermost transform makes.

use super::Collector;
use crate::found::BlockResult;
use orbit_database::MemoryBudget;
use orbit_engine::Wants;

/// Counts the hits of each copy, in the order of the orbit (the set of all copies).
#[derive(Clone, Copy, Debug, Default)]
pub struct CopiesCollector;

impl Collector for CopiesCollector {
    type Part = Vec<u64>;

    fn wants(&self) -> Wants {
        Wants::COPY_COUNTS
    }

    fn look(&self, result: &BlockResult, _: &MemoryBudget) -> Vec<u64> {
        let copies = result.answers.first().and_then(|answers| answers.copies.as_ref());
        copies.map_or(Vec::new(), |copies| copies.sums().to_vec())
    }
}
