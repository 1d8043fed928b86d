//! From hits to everything that a user gets.
//!
//! A [`Collector`] says what it [`Needs`], looks at the results of one block on any thread, and makes a [`Part`] of them.
//! Parts are taken in the order of the database: sums are merged, lists are written. A part is data, so that a
//! database may be split, each piece run by itself, perhaps elsewhere, and the parts merged. The invariant: that makes the same
//! bytes as one run.

mod collector;
mod copies;
mod findings;
mod games;
mod lists;
mod needs;
mod ordered;
mod part;
mod problems;
mod statistics;
mod tally;

pub use self::collector::{Collector, Collectors, Parts};
pub use self::copies::CopiesCollector;
pub use self::findings::{About, FindingsCollector, FindingsPart};
pub use self::games::{Comment, GameText, GamesCollector, GamesPart, GamesTaken, Texts};
pub use self::lists::{ListPart, ListsCollector, Reach};
pub use self::needs::Needs;
pub use self::ordered::{HeldGame, OrderedCollector, OrderedPart};
pub use self::part::{Part, PartError};
pub use self::problems::{ProblemsCollector, ProblemsPart};
pub use self::statistics::StatisticsCollector;
pub use self::tally::{TallyCollector, TallyPart};

use crate::engine::{CopyHits, Hits};
use crate::reel::{Block, Totals};
use crate::report::{Found, Names};

/// What was found in one block.
#[derive(Clone, Copy)]
pub struct BlockResult<'a> {
    /// The block.
    pub block: &'a Block,
    /// Sums over the block.
    pub totals: &'a Totals,
    /// For each game, whether it counts; `None` if all do.
    pub games: Option<&'a [bool]>,
    /// What each query found.
    pub queries: &'a [QueryResult],
    /// What is called how.
    pub names: &'a Names,
}

/// What one query found in one block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueryResult {
    /// The hits that count.
    pub hits: Hits,
    /// Which copies match at them, if that is needed and not told by the hits:
    /// see [`Filter::has_one_copy`](crate::orbit::Filter::has_one_copy).
    pub copies: Option<CopyHits>,
    /// At how many of them each copy matches, if that is needed.
    pub copy_counts: Vec<u64>,
}

impl<'a> BlockResult<'a> {
    /// What one of the queries found.
    ///
    /// # Panics
    ///
    /// When there is no such query.
    pub fn of(&self, query: usize) -> Found<'a> {
        let BlockResult { block, games, names, queries, .. } = *self;
        let QueryResult { hits, copies, .. } = &queries[query];
        Found { block, hits, games, copies: copies.as_ref(), names }
    }

    /// What the first query found.
    ///
    /// # Panics
    ///
    /// When there is no query.
    pub fn first(&self) -> Found<'a> {
        self.of(0)
    }
}

/// Why a run cannot be split into parts.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotSplit {
    /// Something depends on games in other parts.
    #[error("{0} depends on the games before: run it as one part")]
    DependsOnGamesBefore(&'static str),
}
