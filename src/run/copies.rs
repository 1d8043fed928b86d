//! How often each copy of the outermost transform hits.

use super::{BlockResult, Collector, Needs};
use crate::database::Room;

/// Counts the hits of each copy, in the order of their declaration.
#[derive(Clone, Copy, Debug, Default)]
pub struct CopiesCollector;

impl Collector for CopiesCollector {
    type Part = Vec<u64>;

    fn needs(&self) -> Needs {
        Needs::COPY_COUNTS
    }

    fn look(&self, result: &BlockResult, _: &Room) -> Vec<u64> {
        result.queries.first().map_or(Vec::new(), |query| query.copy_counts.clone())
    }
}
