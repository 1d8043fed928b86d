//! The card while it lasts, then the processor.

use std::sync::OnceLock;

use super::{Answers, Engine, EngineError, Request, gpu::GpuError};
use crate::reel::Block;

/// Evaluates on a graphics card until it fails, and from there on, blocks of the failure included, on another engine.
pub struct Fallback {
    card: Box<dyn Engine>,
    spare: Box<dyn Engine>,
    failure: OnceLock<GpuError>,
}

impl Fallback {
    /// Two engines for the same queries.
    pub fn new(card: Box<dyn Engine>, spare: Box<dyn Engine>) -> Fallback {
        Fallback { card, spare, failure: OnceLock::new() }
    }
}

impl Engine for Fallback {
    fn name(&self) -> &'static str {
        if self.failure.get().is_some() { "gpu, then cpu" } else { self.card.name() }
    }

    fn queries(&self) -> usize {
        self.card.queries()
    }

    fn scan(&self, blocks: &[&Block], request: &Request<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
        if self.failure.get().is_none() {
            match self.card.scan(blocks, request) {
                Err(EngineError::Gpu(error)) => {
                    // Another thread's failure may have come first; either will do.
                    let _ = self.failure.set(error);
                }
                other => return other,
            }
        }
        self.spare.scan(blocks, request)
    }

    fn notice(&self) -> Option<String> {
        let failure = self.failure.get()?;
        Some(format!("{failure}; the CPU searched the rest, and the answer is complete"))
    }

    fn blocks_at_once(&self) -> usize {
        self.card.blocks_at_once()
    }

    fn copies(&self, query: usize) -> usize {
        self.card.copies(query)
    }
}
