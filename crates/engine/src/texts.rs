//! The strings that queries yield, for engines that tell only where there is one.

use super::{Answers, BlockRequest, Engine, EngineError, EngineInfo, Values, Wants, reference::Bulk};
use orbit_reel::Block;

/// Gives the hits of an engine the strings that the reference engine finds there.
pub struct Texts {
    engine: Box<dyn Engine>,
    /// For the same queries.
    reference: Bulk,
}

impl Texts {
    /// Two engines for the same queries.
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
                    self.reference.add_texts(query, block, &mut answers.hits, &request.switch())?;
                }
            }
        }
        Ok(all)
    }
}
