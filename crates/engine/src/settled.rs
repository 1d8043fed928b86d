//! An engine that leaves errors of queries to the reference engine.
//!
//! A flat program notices that a query runs into an error, such as a variable that holds nothing; where in the text
//! that is, and at which position, the reference engine says, which is asked of the same blocks.

use super::{Answers, BlockRequest, Engine, EngineError, EngineInfo, reference::Bulk};
use orbit_reel::Block;

/// See the module.
pub struct SettledHits {
    engine: Box<dyn Engine>,
    reference: Bulk,
}

impl SettledHits {
    /// An engine, and the one that is asked where a query goes wrong.
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
