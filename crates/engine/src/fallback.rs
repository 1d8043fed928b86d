//! An engine that uses the graphics card until the card fails, and the processor from then on.

use std::sync::OnceLock;

use super::{Answers, BlockRequest, Engine, EngineError, EngineInfo, gpu::GpuError};
use orbit_reel::Block;

/// An engine that evaluates queries on a graphics card until the card fails. It then evaluates the blocks of the failed
/// call, and all later blocks, with another engine.
pub struct Fallback {
    card: Box<dyn Engine>,
    spare: Box<dyn Engine>,
    failure: OnceLock<GpuError>,
}

impl Fallback {
    /// Combines two engines that were prepared for the same queries. The engine `card` is used until it fails.
    pub fn new(card: Box<dyn Engine>, spare: Box<dyn Engine>) -> Fallback {
        Fallback { card, spare, failure: OnceLock::new() }
    }
}

impl Engine for Fallback {
    fn info(&self) -> EngineInfo {
        let card = self.card.info();
        let Some(failure) = self.failure.get() else { return card };
        let notice = Some(format!("{failure}; the CPU searched the rest, and the answer is complete"));
        EngineInfo { name: "gpu, then cpu", notice, ..card }
    }

    fn scan(&self, blocks: &[&Block], request: &BlockRequest<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
        if self.failure.get().is_none() {
            match self.card.scan(blocks, request) {
                Err(EngineError::Gpu(error)) => {
                    // If another thread has already recorded a failure, that one is kept, because only one is reported.
                    let _ = self.failure.set(error);
                }
                other => return other,
            }
        }
        self.spare.scan(blocks, request)
    }
}
