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
//! let (tallies, _) = survey.run(database, |_| {})?;
//! assert_eq!((tallies[0].games, tallies[0].positions), (1, 1));
//! assert_eq!(tallies[1].positions, 0);
//! # Ok::<(), orbit_chess::scan::ScanError>(())
//! ```

use std::ops::ControlFlow;

use crate::choice::Choice;
use crate::database::{Database, Summary, Taken};
use crate::engine::{Hits, Job, Outputs};
use crate::reel::Block;
use crate::scan::{EngineOptions, Scan, ScanError};

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
    scan: Scan,
}

impl Survey {
    /// Plans queries together.
    ///
    /// # Errors
    ///
    /// No such graphics card, or a query that the engine refuses.
    pub fn new(jobs: &[&Job], options: &EngineOptions) -> Result<Survey, ScanError> {
        let jobs = jobs.iter().map(|&job| job.clone()).collect();
        Ok(Survey { scan: Scan::of(jobs, options)? })
    }

    /// Sets the number of threads; the hits and their order do not depend on it.
    #[must_use]
    pub fn threads(self, threads: usize) -> Survey {
        Survey { scan: self.scan.threads(threads) }
    }

    /// How many queries there are.
    pub fn queries(&self) -> usize {
        self.scan.jobs().len()
    }

    /// The engine that runs.
    pub fn engine(&self) -> &'static str {
        self.scan.engine().name()
    }

    /// What a user should know of how it went.
    pub fn notice(&self) -> Option<String> {
        self.scan.engine().notice()
    }

    /// Whether a query depends on the tags of games; else a [`Database::without_tags`] gives the same
    /// hits sooner.
    pub fn reads_tags(&self) -> bool {
        self.scan.reads_tags()
    }

    /// Counts the hits of every query; `progress` is called after each block.
    ///
    /// # Errors
    ///
    /// What keeps the engine or the database from coming to the end.
    pub fn run(
        &self,
        database: Database,
        mut progress: impl FnMut(&Taken),
    ) -> Result<(Vec<Tally>, Summary), ScanError> {
        let needs_tags = self.reads_tags() || database.drops_duplicates();
        let database = if needs_tags { database } else { database.without_tags() };
        let mut tallies = vec![Tally::default(); self.queries()];
        let summary = self.for_each_block(database, count, |taken, counts| {
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
    /// their order and without values, on the threads of the run, and hands the results to `take` in
    /// database order, on the caller's thread, until it breaks.
    ///
    /// # Errors
    ///
    /// What keeps the engine or the database from coming to the end; all blocks before it have been
    /// taken then.
    pub fn for_each_block<T: Send>(
        &self,
        database: Database,
        work: impl Fn(&Block, &[&Hits]) -> T + Sync,
        take: impl FnMut(Taken, T) -> ControlFlow<()>,
    ) -> Result<Summary, ScanError> {
        let outputs = vec![Outputs::BITS; self.queries()];
        self.scan.for_each_block(
            database,
            &outputs,
            &Choice::default(),
            |result, _| {
                let hits: Vec<&Hits> = result.answers.iter().map(|answers| &answers.hits).collect();
                work(result.block, &hits)
            },
            take,
        )
    }
}

/// What each query hits in a block.
fn count(block: &Block, hits: &[&Hits]) -> Vec<Tally> {
    hits.iter().map(|hits| Tally { games: hits.games(block), positions: hits.count() }).collect()
}
