//! The graphics card while it lasts, then the processor.

use std::sync::OnceLock;

use super::{Engine, EngineError, Hits, Want, cpu::Cpu, gpu::Gpu, gpu::GpuError};
use crate::reel::Block;

/// Evaluates on the GPU until it fails, and from there on, blocks of the failure included, on the CPU.
#[derive(Debug)]
pub struct Fallback {
    gpu: Gpu,
    cpu: Cpu,
    failure: OnceLock<GpuError>,
}

impl Fallback {
    /// Two engines for the same query.
    pub fn new(gpu: Gpu, cpu: Cpu) -> Fallback {
        Fallback { gpu, cpu, failure: OnceLock::new() }
    }

    fn run<T>(
        &self,
        on_gpu: impl FnOnce(&Gpu) -> Result<T, EngineError>,
        on_cpu: impl FnOnce(&Cpu) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        if self.failure.get().is_none() {
            match on_gpu(&self.gpu) {
                Err(EngineError::Gpu(error)) => {
                    // Another thread's failure may have come first; either will do.
                    let _ = self.failure.set(error);
                }
                other => return other,
            }
        }
        on_cpu(&self.cpu)
    }
}

impl Engine for Fallback {
    fn name(&self) -> &'static str {
        if self.failure.get().is_some() { "gpu, then cpu" } else { "gpu" }
    }

    fn notice(&self) -> Option<String> {
        let failure = self.failure.get()?;
        Some(format!("{failure}; the rest was done on the CPU, and the answer is complete"))
    }

    fn scan(&self, block: &Block, want: Want) -> Result<Hits, EngineError> {
        self.run(|gpu| gpu.scan(block, want), |cpu| cpu.scan(block, want))
    }

    fn scan_many(&self, blocks: &[&Block], want: Want) -> Result<Vec<Hits>, EngineError> {
        self.run(|gpu| gpu.scan_many(blocks, want), |cpu| cpu.scan_many(blocks, want))
    }

    fn blocks_at_once(&self) -> usize {
        self.gpu.blocks_at_once()
    }

    fn copies(&self) -> usize {
        self.cpu.copies()
    }

    fn copy_counts(&self, block: &Block, hits: &Hits, counts: &mut [u64]) -> Result<(), EngineError> {
        // An engine adds to the counts only when it has finished the block.
        let mut on_gpu = vec![0; counts.len()];
        let mut on_cpu = counts.to_vec();
        let from_gpu = self.run(
            |gpu| gpu.copy_counts(block, hits, &mut on_gpu).map(|()| true),
            |cpu| cpu.copy_counts(block, hits, &mut on_cpu).map(|()| false),
        )?;
        if from_gpu {
            counts.iter_mut().zip(on_gpu).for_each(|(count, more)| *count += more);
        } else {
            counts.copy_from_slice(&on_cpu);
        }
        Ok(())
    }
}
