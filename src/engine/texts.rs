//! The strings that queries yield, for engines that tell only where there is one.

use super::{Answers, Engine, EngineError, Outputs, Request, Values, reference::Bulk};
use crate::reel::Block;

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
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn queries(&self) -> usize {
        self.engine.queries()
    }

    fn scan(&self, blocks: &[&Block], request: &Request<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
        let mut all = self.engine.scan(blocks, request)?;
        for (block, answers) in blocks.iter().zip(&mut all) {
            for (query, (answers, outputs)) in answers.iter_mut().zip(request.outputs).enumerate() {
                if outputs.contains(Outputs::VALUES) && answers.hits.values == Values::None {
                    self.reference.add_texts(query, block, &mut answers.hits, &request.switch())?;
                }
            }
        }
        Ok(all)
    }

    fn notice(&self) -> Option<String> {
        self.engine.notice()
    }

    fn persistent(&self) -> Vec<(String, Vec<u8>)> {
        self.engine.persistent()
    }

    fn verified(&self) -> Option<(u64, &'static str)> {
        self.engine.verified()
    }

    fn in_order(&self) -> bool {
        self.engine.in_order()
    }

    fn blocks_at_once(&self) -> usize {
        self.engine.blocks_at_once()
    }

    fn copies(&self, query: usize) -> usize {
        self.engine.copies(query)
    }
}
