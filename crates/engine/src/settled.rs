//! An engine that leaves errors of queries to the reference engine.
//!
//! A flat program notices only that a query runs into an error, such as a variable without a value. The reference
//! engine then evaluates the same blocks and finds the place in the query and the position.

use super::{Answers, BlockRequest, Engine, EngineError, EngineInfo, reference::Bulk};
use orbit_reel::Block;

/// An engine that evaluates with another engine. If a query fails there, the reference engine evaluates it again and returns the
/// error.
pub struct SettledHits {
    engine: Box<dyn Engine>,
    reference: Bulk,
}

impl SettledHits {
    /// Combines an engine and the reference engine that locates errors of queries.
    pub fn new(engine: Box<dyn Engine>, reference: Bulk) -> SettledHits {
        SettledHits { engine, reference }
    }
}

impl Engine for SettledHits {
    fn info(&self) -> EngineInfo {
        self.engine.info()
    }

    fn scan(&self, blocks: &[&Block], request: &BlockRequest<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
        match self.engine.scan(blocks, request) {
            Err(EngineError::Stopped) => self.reference.scan(blocks, request),
            other => other,
        }
    }
}
