//! Stores the values that queries keep from one game to the next, while the programs of these queries run on a block.

use std::{cell::RefCell, sync::Arc};

use orbit_plan::RunValues;

/// The kept values of all queries of a search. A program may run several times on a block, for hits, values and copies,
/// so the values from before the block are stored until the block is done. All lists are empty if no query keeps a
/// value.
#[derive(Debug, Default)]
pub(crate) struct BlockRuns {
    /// The values of each query before the block.
    before: Arc<Vec<RunValues>>,
    /// The values of each query after the block; `None` for queries whose program has not run.
    after: RefCell<Vec<Option<RunValues>>>,
    /// The values at the beginning of each game, for the query whose program ran last; `None` if they are not
    /// requested.
    at_games: Option<RefCell<Vec<RunValues>>>,
}

impl BlockRuns {
    /// Creates the values for a block. If `by_game` is true, the values at the beginning of each game are recorded.
    pub(crate) fn new(before: Arc<Vec<RunValues>>, by_game: bool) -> BlockRuns {
        let after = RefCell::new(vec![None; before.len()]);
        BlockRuns { before, after, at_games: by_game.then(RefCell::default) }
    }

    /// Prepares for a run of a query's program: removes the recorded values at the beginning of games, and returns the
    /// query's values from before the block.
    pub(super) fn begin(&self, query: usize) -> &RunValues {
        if let Some(at_games) = &self.at_games {
            at_games.borrow_mut().clear();
        }
        &self.before[query]
    }

    /// Calls `values` at the beginning of a game, and records the result, if it is requested.
    pub(super) fn begin_game(&self, values: impl FnOnce() -> RunValues) {
        if let Some(at_games) = &self.at_games {
            at_games.borrow_mut().push(values());
        }
    }

    /// Records the values of a query after the block. If the program runs on the block again, to compute the query's
    /// answers at hits, it ends with equal values, which are not used: [`BlockRuns::take`] was called after the first
    /// run.
    pub(super) fn end(&self, query: usize, values: RunValues) {
        if let Some(after) = self.after.borrow_mut().get_mut(query) {
            *after = Some(values);
        }
    }

    /// Returns the values of each query after the block, and those at the beginning of each game.
    pub(crate) fn take(&self) -> [Vec<RunValues>; 2] {
        let or_before =
            |(after, before): (Option<RunValues>, &RunValues)| after.unwrap_or_else(|| before.clone());
        let after = self.after.take().into_iter().zip(&*self.before).map(or_before).collect();
        [after, self.at_games.as_ref().map(RefCell::take).unwrap_or_default()]
    }
}
