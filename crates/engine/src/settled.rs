//! An engine that lets the reference engine locate the errors of queries.
//!
//! The other engines run flat programs, which only detect that a query ran into an error, such as a variable without a
//! value. The reference engine then evaluates the same blocks and finds the position of the error and its place in the
//! query.

use super::{Answers, BlockRequest, Engine, EngineError, EngineInfo, reference::Bulk};
use orbit_reel::Block;

/// An engine that evaluates queries with another engine. If a query runs into an error, the reference engine evaluates
/// the same blocks again and returns the error with its position.
pub struct SettledHits {
    engine: Box<dyn Engine>,
    reference: Bulk,
}

impl SettledHits {
    /// Combines an engine with the reference engine, which locates errors.
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
