//! Many queries over one database in one run: how many games and positions each of them hits.
//!
//! ```
//! use orbit_chess::database::{Database, DatabaseOptions};
//! use orbit_chess::{engine::Job, plan::Options, query, scan::EngineOptions, survey::Survey};
//!
//! let queries = ["check", "shift flip flipcolor {Nd4 kf3}"];
//! let jobs = queries.map(|text| Job::new(query::parse(text).unwrap().query, Options::default()).unwrap());
//! let games = b"1. f3 e5 2. g4 Qh4# 0-1".to_vec();
//! let database = Database::from_pgn_bytes("games", games, DatabaseOptions::default());
//! let survey = Survey::new(&jobs.iter().collect::<Vec<_>>(), &EngineOptions::default())?;
//! let (tallies, _) = survey.run(database, 1, |_| {})?;
//! assert_eq!((tallies[0].games, tallies[0].positions), (1, 1));
//! assert_eq!(tallies[1].positions, 0);
//! # Ok::<(), orbit_chess::scan::ScanError>(())
//! ```

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use crate::database::{Database, Summary, Taken};
use crate::engine::cpu::CpuBatch;
use crate::engine::gpu::{GpuBatch, GpuError};
use crate::engine::{Batch, EngineError, Hits, Job};
use crate::plan::Planner;
use crate::reel::Block;
use crate::scan::{EngineChoice, EngineOptions, ScanError, card};

/// What one query hits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Games with a position that hits.
    pub games: u64,
    /// Positions that hit.
    pub positions: u64,
}

/// Several queries, ready to run together.
pub struct Survey {
    batch: Box<dyn Batch>,
    reads_tags: bool,
    /// Does the rest when a graphics card fails, if the choice of the engine was ours.
    spare: Option<CpuBatch>,
    failure: OnceLock<GpuError>,
}

impl Survey {
    /// Plans queries together. The reference engine takes one query at a time, so it cannot be chosen.
    ///
    /// # Errors
    ///
    /// No such graphics card.
    ///
    /// # Panics
    ///
    /// When the reference engine or a verification is asked for.
    pub fn new(jobs: &[&Job], options: &EngineOptions) -> Result<Survey, ScanError> {
        assert!(options.engine != EngineChoice::Reference, "the reference engine takes one query at a time");
        assert!(options.verify.is_none(), "queries are verified one at a time");
        let planners: Vec<&Planner> = jobs.iter().map(|job| &*job.planner).collect();
        let work = options.positions.saturating_mul(jobs.len() as u64);
        let device = card(&EngineOptions { positions: work, ..options.clone() })?;
        let (batch, spare): (Box<dyn Batch>, _) = match device {
            Some(device) => {
                let spare = (options.engine == EngineChoice::Auto).then(|| CpuBatch::new(&planners));
                (Box::new(GpuBatch::new(&planners, Arc::new(device))), spare)
            }
            None => (Box::new(CpuBatch::new(&planners)), None),
        };
        let reads_tags = planners.iter().any(|planner| planner.reads_tags());
        Ok(Survey { batch, reads_tags, spare, failure: OnceLock::new() })
    }

    /// How many queries there are.
    pub fn queries(&self) -> usize {
        self.batch.queries()
    }

    /// The engine that runs.
    pub fn engine(&self) -> &'static str {
        if self.failure.get().is_some() { "gpu, then cpu" } else { self.batch.name() }
    }

    /// What a user should know of how it went.
    pub fn notice(&self) -> Option<String> {
        self.failure
            .get()
            .map(|failure| format!("{failure}; the rest was done on the CPU, and the answer is complete"))
    }

    /// Whether a query depends on the tags of games; else a [`Database::without_tags`] gives the same
    /// hits sooner.
    pub fn reads_tags(&self) -> bool {
        self.reads_tags
    }

    /// Counts the hits of every query; `progress` is called after each block.
    ///
    /// # Errors
    ///
    /// What keeps the engine or the database from coming to the end.
    pub fn run(
        &self,
        database: Database,
        threads: usize,
        mut progress: impl FnMut(&Taken),
    ) -> Result<(Vec<Tally>, Summary), ScanError> {
        let needs_tags = self.reads_tags || database.drops_duplicates();
        let database = if needs_tags { database } else { database.without_tags() };
        let mut tallies = vec![Tally::default(); self.batch.queries()];
        let summary = self.for_each_block(database, threads, count, |taken, counts| {
            for (tally, more) in tallies.iter_mut().zip(counts) {
                tally.games += more.games;
                tally.positions += more.positions;
            }
            progress(&taken);
            ControlFlow::Continue(())
        })?;
        Ok((tallies, summary))
    }

    /// Evaluates every query on every block, runs `work` on a block and the hits of each query, in
    /// their order and without values, on `threads` threads, and hands the results to `take` in
    /// database order, on the caller's thread, until it breaks.
    ///
    /// # Errors
    ///
    /// What keeps the engine or the database from coming to the end; all blocks before it have been
    /// taken then.
    pub fn for_each_block<T: Send>(
        &self,
        database: Database,
        threads: usize,
        work: impl Fn(&Block, &[&Hits]) -> T + Sync,
        mut take: impl FnMut(Taken, T) -> ControlFlow<()>,
    ) -> Result<Summary, ScanError> {
        let mut fault = None;
        let scan = |blocks: &[&Block]| match self.scan(blocks) {
            Ok(hits) => {
                blocks.iter().enumerate().map(|(k, block)| Ok(work(block, &of_block(&hits, k)))).collect()
            }
            // The first block stands for all: nothing is taken after an error.
            Err(error) => blocks.iter().map(|_| Err(error.clone())).collect(),
        };
        let at_once = self.batch.blocks_at_once();
        // While one group waits for a graphics card, another one is read.
        let threads = if at_once > 1 { threads.max(2) } else { threads };
        let summary = database.for_each_group(threads, at_once, scan, |taken, result| match result {
            Ok(result) => take(taken, result),
            Err(error) => {
                fault = Some(error);
                ControlFlow::Break(())
            }
        })?;
        fault.map_or(Ok(summary), |error| Err(ScanError::Engine(error)))
    }

    fn scan(&self, blocks: &[&Block]) -> Result<Vec<Vec<Hits>>, EngineError> {
        if self.failure.get().is_none() {
            match (self.batch.scan_many(blocks), &self.spare) {
                (Err(EngineError::Gpu(failure)), Some(_)) => {
                    // Another thread's failure may have come first; either will do.
                    let _ = self.failure.set(failure);
                }
                (other, _) => return other,
            }
        }
        let spare = self.spare.as_ref().expect("a failure is kept only where there is a spare");
        spare.scan_many(blocks)
    }
}

/// The hits of each query on one of several blocks.
fn of_block(hits: &[Vec<Hits>], block: usize) -> Vec<&Hits> {
    hits.iter().map(|query| &query[block]).collect()
}

/// What each query hits in a block.
fn count(block: &Block, hits: &[&Hits]) -> Vec<Tally> {
    hits.iter().map(|hits| Tally { games: hits.games(block), positions: hits.count() }).collect()
}
