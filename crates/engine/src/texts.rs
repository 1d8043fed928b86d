//! Adds the strings that queries yield to the answers of engines that find hits but cannot compute strings.

use super::{Answers, BlockRequest, Engine, EngineError, EngineInfo, Values, Wants, reference::Bulk};
use orbit_reel::Block;

/// An engine that finds hits with another engine and computes the strings at these hits with the reference engine.
pub struct Texts {
    engine: Box<dyn Engine>,
    /// The reference engine, with the same queries.
    reference: Bulk,
}

impl Texts {
    /// Combines an engine that finds hits with the reference engine. Both must be prepared for the same queries.
    pub fn new(engine: Box<dyn Engine>, reference: Bulk) -> Texts {
        Texts { engine, reference }
    }
}

impl Engine for Texts {
    fn info(&self) -> EngineInfo {
        self.engine.info()
    }

    fn scan(&self, blocks: &[&Block], request: &BlockRequest<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
        let mut all = self.engine.scan(blocks, request)?;
        for (block, answers) in blocks.iter().zip(&mut all) {
            for (query, (answers, outputs)) in answers.iter_mut().zip(request.outputs).enumerate() {
                if outputs.contains(Wants::VALUES) && answers.hits.values == Values::None {
                    self.reference.add_texts(query, block, &mut answers.hits, request)?;
                }
            }
        }
        Ok(all)
    }
}
