//! Calls a function for every block (a group of whole games) of a stream.
//!
//! The functions here are generic over the result type, so they are kept short: [`BlockStream::for_each_numbered`] does the work.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::{BlockStream, MemoryBudget, StreamError, StreamedBlock, Summary};
use orbit_core::sync::WaitingValues;
use orbit_reel::Block;

/// A function that computes one result for each block in a list, and returns the indices under which the results are stored.
pub(super) type NumberedWork<'a> = dyn Fn(&[&Arc<Block>], &MemoryBudget) -> Vec<usize> + Sync + 'a;

impl BlockStream {
    /// Runs `work` on every block, on `threads` threads. Passes the results to `take` on the caller's thread, in database order,
    /// until `take` breaks. If `threads` is 0 or 1, the caller's thread does all the work. If fewer threads can be started, they
    /// share the work.
    ///
    /// # Errors
    ///
    /// Fails if a block of a reel is damaged, or if there are more than 2^32 games. The results of all earlier blocks have been
    /// passed to `take` by then. It is not an error if a PGN source cannot be read to its end: see [`Summary::failures`].
    ///
    /// # Panics
    ///
    /// Panics if `work` or `take` panics.
    pub fn for_each_block<T: Send>(
        self,
        threads: usize,
        work: impl Fn(&Block) -> T + Sync,
        take: impl FnMut(StreamedBlock, T) -> ControlFlow<()>,
    ) -> Result<Summary, StreamError> {
        let work =
            |blocks: &[&Arc<Block>], _: &MemoryBudget| blocks.iter().map(|block| work(block)).collect();
        self.for_each_group(threads, 1, work, take)
    }

    /// Runs `work` as [`BlockStream::for_each_block`] does, but passes up to `blocks` blocks to it at once. `work` returns one
    /// result for each. The first groups of blocks are smaller, so that all threads soon have work. If the results are large,
    /// `work` reserves memory in the budget before it creates them.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`BlockStream::for_each_block`].
    ///
    /// # Panics
    ///
    /// Panics if `work` or `take` panics.
    pub fn for_each_group<T: Send>(
        self,
        threads: usize,
        blocks: usize,
        work: impl Fn(&[&Arc<Block>], &MemoryBudget) -> Vec<T> + Sync,
        mut take: impl FnMut(StreamedBlock, T) -> ControlFlow<()>,
    ) -> Result<Summary, StreamError> {
        let results = WaitingValues::default();
        let numbered = |blocks: &[&Arc<Block>], room: &MemoryBudget| {
            work(blocks, room).into_iter().map(|result| results.put(result)).collect()
        };
        self.for_each_numbered(threads, blocks, &numbered, &mut |streamed, number| {
            take(streamed, results.take(number))
        })
    }
}
