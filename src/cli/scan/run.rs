//! One scan: what it gathers of each block, and where that goes.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use orbit_chess::choice::Choice;
use orbit_chess::database::{Database, Room, Summary, Taken};
use orbit_chess::engine::{Answers, CopyHits, Hits, Outputs as Wanted};
use orbit_chess::reel::{Block, Totals};
use orbit_chess::report::{Found, Names, Report, Tally};
use orbit_chess::scan::{BlockAnswers, Scan, ScanError};
use orbit_chess::stats::{Counts, Stats};
use orbit_chess::study::{Study, View};

use super::{Args, print_totals};
use crate::cli::Failure;
use crate::cli::common::{Interrupt, Progress};
use crate::cli::outputs::Outputs;
use crate::cli::pictures::{NOWHERE, SAMPLE_MAX};
use crate::cli::problems::Problems;
use crate::cli::stats::Statistics;

/// What a scan gathers and writes to.
pub(super) struct Run {
    database: Option<Database>,
    choice: Choice,
    pub(super) outputs: Outputs,
    /// Copies have names only if `names_copies`.
    names: Arc<Names>,
    names_copies: bool,
    /// The positions that each copy hit, if these are wanted.
    pub(super) copies: Vec<u64>,
    pub(super) study: Option<Study>,
    /// What hits and counts, listed or not.
    pub(super) tally: Tally,
    /// Games that the conditions fit, if there are any.
    pub(super) passing: Option<u64>,
    pub(super) stats: Option<Statistics>,
    pub(super) totals: Totals,
    pub(super) problems: Problems,
    pub(super) progress: Progress,
    pub(super) fault: Option<Failure>,
}

/// What counts in one block.
struct Counted {
    hits: Hits,
    /// The games that the conditions fit, if there are any.
    games: Option<Vec<bool>>,
    copies: Option<CopyHits>,
}

/// What was made of one block, on the scan's threads.
struct Finding {
    counted: Counted,
    /// The positions that each copy hit, if these are wanted.
    copies: Vec<u64>,
    reports: Vec<Report>,
    stats: Option<Counts>,
    view: Option<View>,
}

impl Run {
    pub(super) fn new(
        args: &Args,
        scan: &Scan,
        database: Database,
        interrupt: &Interrupt,
    ) -> Result<Run, Failure> {
        let sources: Vec<String> = database.sources().iter().map(|source| source.name.clone()).collect();
        let choice = args.choosing.choice();
        let outputs = Outputs::create(&args.outputs, &args.choosing, args.lists(), &database, interrupt)?;
        let has_conditions = !choice.conditions.is_empty();
        let mut study = None;
        if args.heat || outputs.have_pictures() {
            let seen = Study::new(scan, SAMPLE_MAX, args.choosing.seed());
            let seen = seen.with_sources(&sources).with_choice(args.choosing.in_words());
            if outputs.have_heat_map() && !seen.has_heat() {
                return Err(Failure::Other(NOWHERE.into()));
            }
            study = Some(seen);
        }
        let stats = Statistics::new(&args.stats, &database, interrupt)?;
        let names_copies = outputs.formats().names_copies()
            || study.is_some()
            || stats.as_ref().is_some_and(|stats| stats.stats().wants_copies());
        let names = match names_copies {
            true => Names::new(scan.filter(), sources),
            false => Names { sources, ..Names::default() },
        };
        Ok(Run {
            names: Arc::new(names),
            names_copies,
            study,
            copies: vec![0; if args.copies.is_some() { scan.engine().copies(0) } else { 0 }],
            tally: Tally::default(),
            passing: has_conditions.then_some(0),
            stats,
            totals: Totals::default(),
            problems: Problems::create(args.problems.as_deref(), args.verbose, &database)?,
            progress: Progress::of(&args.progress, args.quiet),
            fault: None,
            database: Some(database),
            choice,
            outputs,
        })
    }

    /// Writes what was held until the end, and gives all files their names.
    pub(super) fn finish(
        &mut self,
        args: &Args,
        scan: &Scan,
        query: &str,
        is_whole: bool,
    ) -> Result<(), Failure> {
        self.outputs.finish(&self.progress)?;
        if let Some(study) = &self.study {
            self.outputs.draw(study, query)?;
        }
        // A file must not suffer from whoever reads no more of standard output.
        let (to_file, printed) = match self.stats.take() {
            Some(stats) if stats.have_file() => (Some(stats), None),
            printed => (None, printed),
        };
        to_file.map_or(Ok(()), |stats| stats.finish(&self.names.copies))?;
        print_totals(args, self, scan, is_whole)?;
        printed.map_or(Ok(()), |stats| stats.finish(&self.names.copies))?;
        self.progress.done();
        Ok(())
    }

    pub(super) fn scan(&mut self, scan: &Scan) -> Result<Summary, ScanError> {
        let mut database = self.database.take().expect("a run scans once");
        let formats = self.outputs.formats();
        let lens = self.study.as_ref().map(Study::lens);
        let stats = self.stats.as_ref().map(|stats| stats.stats().clone());
        let stats_want = |test: fn(&Stats) -> bool| stats.as_ref().is_some_and(test);
        let reads_tags = scan.reads_tags() || formats.reads_tags() || self.choice.reads_tags();
        if !reads_tags && lens.is_none() && !stats_want(Stats::reads_tags) {
            database = database.without_tags();
        }
        let (names, copies) = (Arc::clone(&self.names), self.copies.len());
        let lists_copies = stats_want(Stats::wants_copies);
        let tells_copies = lists_copies || (self.names_copies && !scan.filter().has_one_copy());
        let wants_values = lens.is_some() || stats_want(Stats::wants_values);
        let mut wanted = if wants_values { Wanted::VALUES } else { formats.outputs() };
        if copies > 0 {
            wanted = wanted | Wanted::COPY_COUNTS;
        }
        if tells_copies {
            wanted = wanted | if lists_copies { Wanted::ALL_COPIES } else { Wanted::LOWEST_COPY };
        }
        // What is beyond the limit of a list is not written out.
        let is_listed = AtomicBool::new(false);
        let work = |result: BlockAnswers<'_>, room: &Room| {
            let BlockAnswers { block, games, mut answers, .. } = result;
            let Answers { hits, copies: told } = answers.pop().expect("one query has one answer");
            let counts = told.as_ref().filter(|_| copies > 0).map_or(Vec::new(), |told| told.sums().to_vec());
            let counted = Counted { hits, games, copies: told.filter(|_| tells_copies) };
            let found = counted.found(block, &names);
            let lists = !is_listed.load(Ordering::Relaxed);
            let reports = if lists { formats.reports(&found, room) } else { Vec::new() };
            let stats = stats.as_ref().map(|stats| stats.count(&found));
            let view = lens.as_ref().map(|lens| lens.look(&found));
            Finding { counted, copies: counts, reports, stats, view }
        };
        scan.for_each_block(database, &[wanted], &self.choice.clone(), work, |taken, finding| {
            let flow = self.take(&taken, finding).unwrap_or_else(|fault| {
                self.fault = Some(fault);
                ControlFlow::Break(())
            });
            is_listed.store(flow.is_break(), Ordering::Relaxed);
            // Statistics and pictures are of all games, however many are listed.
            let goes_on = self.fault.is_none() && (self.stats.is_some() || self.study.is_some());
            if goes_on { ControlFlow::Continue(()) } else { flow }
        })
    }

    fn take(&mut self, taken: &Taken, finding: Finding) -> Result<ControlFlow<()>, Failure> {
        let Finding { counted, copies, reports, stats, view } = finding;
        self.totals.add(&taken.totals);
        let games_hit = counted.hits.games(&taken.block);
        self.progress.update_search(taken, games_hit);
        self.problems.list(taken, &self.progress)?;
        for (sum, count) in self.copies.iter_mut().zip(copies) {
            *sum += count;
        }
        if let (Some(passing), Some(games)) = (&mut self.passing, &counted.games) {
            *passing += games.iter().filter(|passes| **passes).count() as u64;
        }
        if let (Some(study), Some(view)) = (&mut self.study, view) {
            study.add(view);
        }
        if let (Some(all), Some(counts)) = (&mut self.stats, stats) {
            all.take(counts)?;
        }
        let found = counted.found(&taken.block, &self.names);
        self.tally.games += games_hit;
        self.tally.positions += found.hits.count();
        let flow = self.outputs.take(taken, &found, &reports, &self.progress)?;
        if self.outputs.are_closed() && !self.stats.as_ref().is_some_and(Statistics::have_file) {
            // Nobody reads on, and a thread that waits for standard input might never notice.
            self.progress.clear();
            self.problems.finish()?;
            std::process::exit(0);
        }
        Ok(flow)
    }
}

impl Counted {
    fn found<'a>(&'a self, block: &'a Block, names: &'a Names) -> Found<'a> {
        let Counted { hits, games, copies } = self;
        Found { block, hits, games: games.as_deref(), copies: copies.as_ref(), names }
    }
}
