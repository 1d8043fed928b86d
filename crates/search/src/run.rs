//! Computes all kinds of results from hits.
//!
//! A [`Run`] combines the queries of an [`Executor`], a [`Choice`] of games, and a [`Collector`]. The collector declares the facts
//! that it [`Wants`], examines the hits in one block (a group of whole games) on any thread, and returns a [`Part`], the partial
//! result for the block. Parts are then processed in database order: sums are merged, lists are written. Parts can be stored, so a
//! database can be split, each piece can be searched separately, even on another machine, and the parts can be merged. Invariant:
//! the merged parts yield the same bytes as a single run.
//!
//! ```
//! use orbit_search::choice::Choice;
//! use orbit_database::{BlockStream, StreamOptions};
//! use orbit_search::run::{Part, Run, TotalsCollector, TotalsPart};
//! use orbit_search::executor::{EngineOptions, Executor};
//!
//! let parsed = orbit_query::parse("flipcolor {Bb5 nc6}").map_err(|fault| fault.to_string())?;
//! let scan = Executor::with_query(parsed, &EngineOptions::default())?;
//! let choice = Choice::default();
//! let run = Run::new(&scan, &choice, &TotalsCollector);
//! let mut sum = TotalsPart::default();
//! for games in ["1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *", "1. e4 c5 2. Nf3 Nc6 3. Bb5 *"] {
//!     let database = BlockStream::from_pgn_bytes("games", games.into(), StreamOptions::default());
//!     let (part, _) = run.collect(database)?;
//!     // Perhaps on another machine.
//!     sum.merge(TotalsPart::from_bytes(&part.to_bytes())?)?;
//! }
//! assert_eq!((sum.queries[0].games, sum.queries[0].positions), (2, 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod collector;
mod copies;
mod findings;
mod games;
mod lists;
mod messages;
mod ordered;
mod part;
mod players;
mod problems;
mod statistics;
mod totals;
mod whole;

use std::ops::ControlFlow;

pub use self::collector::{Collector, Collectors, Parts};
pub use self::copies::CopiesCollector;
pub use self::findings::{About, FindingsCollector, FindingsPart, without_folders};
pub use self::games::{Comment, GamesCollector, GamesPart, GamesTaken, WrittenGame};
#[cfg(feature = "arrow")]
pub(crate) use self::lists::ReportRoom;
pub use self::lists::{ListPart, ListReach, ListsCollector};
pub use self::messages::{MessagesCollector, MessagesPart};
pub use self::ordered::{HeldGame, OrderedCollector, OrderedPart};
pub use self::part::{BLOCK_COUNT_MAX, PART_COUNT_MAX, Part, PartError};
pub use self::players::{SpellingsCollector, SpellingsPart};
pub use self::problems::{ProblemsCollector, ProblemsPart};
pub use self::statistics::StatisticsCollector;
pub use self::totals::{TotalsCollector, TotalsPart};
pub use self::whole::{WholeTextsCollector, WholeTextsPart};

use crate::choice::Choice;
use crate::executor::{Executor, ScanError};
use crate::found::{BlockResult, Names};
use crate::report::Extras;
use orbit_database::{BlockStream, MemoryBudget, StreamedBlock, Summary, TextError};
use orbit_engine::Wants;
use orbit_query::Type;
use orbit_transforms::OutermostOrbit as _;
use orbit_transforms::{Filter, Likeness};

/// A run combines queries, a selection of games and hits, and a collector.
pub struct Run<'a, C> {
    scan: &'a Executor,
    choice: &'a Choice,
    collector: &'a C,
}

/// The cause of a run's early end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The engine or the database failed.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// The results cannot be collected.
    #[error(transparent)]
    Take(#[from] TakeError),
}

/// The reason why a block's partial result cannot be added to the results.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TakeError {
    /// The text of a game cannot be read.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The block's partial result cannot be merged with the results of the earlier blocks.
    #[error(transparent)]
    Part(#[from] PartError),
}

/// The reason why a run cannot be split into parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotSplit {
    /// Games that equal an earlier game are dropped.
    #[error("whether a game is a duplicate depends on the games before it: run the database as one part")]
    Duplicates,
}

impl<'a, C: Collector> Run<'a, C> {
    /// Combines queries, a selection and a collector.
    pub fn new(scan: &'a Executor, choice: &'a Choice, collector: &'a C) -> Run<'a, C> {
        Run { scan, choice, collector }
    }

    /// Returns the facts about games and hits that the queries, the selection and the collector need.
    pub fn wants(&self) -> Wants {
        let queries = Wants::TAGS.when(self.scan.reads_tags());
        queries | self.choice.wants() | self.collector.wants()
    }

    /// Checks that the result can be computed in pieces: if the database is split, the merged parts must equal the part of a single
    /// run.
    ///
    /// # Errors
    ///
    /// Returns the reason why it cannot be split.
    pub fn splits(&self, stream: &BlockStream) -> Result<(), CannotSplit> {
        if stream.drops_duplicates() { Err(CannotSplit::Duplicates) } else { self.collector.splits() }
    }

    /// Returns the source names and, if the run needs them, the names of the queries' transformed copies.
    pub fn names(&self, sources: Vec<String>) -> Names {
        names_of(self.scan, self.wants(), sources)
    }

    /// Returns the result for the whole database.
    ///
    /// # Errors
    ///
    /// Fails if the engine or the database fails, the text of a game cannot be read, or the results exceed the memory limit.
    pub fn collect(&self, stream: BlockStream) -> Result<(C::Part, Summary), RunError> {
        self.collect_watched(stream, |_| ())
    }

    /// Returns the result for the whole database, and calls `watch` with each block before its partial result is added.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Run::collect`].
    pub fn collect_watched(
        &self,
        stream: BlockStream,
        mut watch: impl FnMut(&StreamedBlock),
    ) -> Result<(C::Part, Summary), RunError> {
        let mut sum = C::Part::default();
        let mut texts = stream.texts();
        let mut fault = Ok(());
        let names = self.names(stream.source_names());
        let summary = self.for_each_part(stream, &names, |streamed, part| {
            watch(&streamed);
            fault = self.collector.take(&mut sum, part, &streamed, &mut texts);
            if fault.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        fault?;
        Ok((sum, summary))
    }

    /// Passes the partial result for each block to `take`, in database order and on the caller's thread, until `take` returns
    /// `Break`.
    ///
    /// # Errors
    ///
    /// Fails if the engine or the database fails. By then, the results for all earlier blocks have been passed to `take`.
    pub fn for_each_part(
        &self,
        stream: BlockStream,
        names: &Names,
        take: impl FnMut(StreamedBlock, C::Part) -> ControlFlow<()>,
    ) -> Result<Summary, ScanError> {
        let wants = self.wants();
        let reads_tags = wants.contains(Wants::TAGS) || stream.tells_games_by_tags();
        let stream = if reads_tags { stream } else { stream.without_tags() };
        let stream = if wants.contains(Wants::GAME_TEXTS) { stream.with_texts() } else { stream };
        let outputs: Vec<Wants> = self.scan.filters().map(|filter| wanted_of(wants, filter)).collect();
        let work = |result: BlockResult<'_>, room: &MemoryBudget| self.collector.look(&result, room);
        self.scan.for_each_block(stream, &outputs, self.choice, names, work, take)
    }
}

/// Returns the facts that an engine must report for this filter.
pub(crate) fn wanted_of(wants: Wants, filter: &Filter) -> Wants {
    wants.for_filter(filter.has_one_copy(), filter.copy_sides().is_some())
}

/// Returns the source names. If `wants` requires them, also returns the names of the copies that the first query's transform makes,
/// and the sides and placements of the copies of all queries.
pub(crate) fn names_of(scan: &Executor, wants: Wants, sources: Vec<String>) -> Names {
    let filter = scan.filter();
    let names = match wants.contains(Wants::COPY_NAMES) {
        true => Names::new(filter, sources),
        false => Names { sources, ..Names::default() },
    };
    let likeness = scan.finds_likeness().then(|| Likeness::new(filter)).flatten();
    let copy_sides = match wants.contains(Wants::SIDES) {
        true => scan.filters().map(Filter::copy_sides).collect(),
        false => Vec::new(),
    };
    let placements = match wants.contains(Wants::PLACEMENTS) {
        true => scan.filters().map(Filter::placements).collect(),
        false => Vec::new(),
    };
    Names { likeness, copy_sides, placements, ..names }
}

/// Returns the set of optional facts that the rows of the first query have.
pub fn extras_of(scan: &Executor, choice: &Choice) -> Extras {
    Extras {
        nodes: scan.searches_variations(),
        spans: scan.has_spans(),
        texts: scan.ty() == Type::Str,
        likeness: scan.finds_likeness(),
        player: choice.player.is_some(),
        measures: choice.reads_comments(),
    }
}
