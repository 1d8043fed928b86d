//! Runs one search: collects results from each block (a group of whole games), and writes them to the outputs.

use std::ops::ControlFlow;

use orbit_database::{BlockStream, GameTexts, SourceSummary, StreamedBlock, Summary};
use orbit_query::Type;
use orbit_reel::Totals;
use orbit_search::choice::{Choice, missing_rights};
use orbit_search::executor::{Executor, ScanError};
use orbit_search::found::Names;
use orbit_search::job::{Replay, ReplayError};
use orbit_search::report::HitTotals;
use orbit_search::report::findings::{Findings, Misses, NO_HEAT_MAP, SAMPLE_MAX};
use orbit_search::run::{
    About, Collector as _, Collectors, CopiesCollector, FindingsCollector, Parts, ProblemsCollector, Run,
    SpellingsPart, StatisticsCollector, TotalsCollector, WholeTextsCollector, extras_of,
};
use orbit_search::stats::Stats;

use super::counts as printed_counts;
use super::options::ScanOptions;
use crate::choosing::missed_lines;
use crate::common::ProgressDisplay;
use crate::failure::Failure;
use crate::outputs::Outputs;
use crate::players;
use crate::problems::Problems;
use crate::sink::OutputFiles;
use crate::stats::Statistics;
use crate::terminal::Remark;

/// The collectors of a search, and its outputs.
pub(super) struct ScanRun {
    choice: Choice,
    chosen: String,
    /// The name of the engine at the start of the search. If a graphics card fails later, the CPU may finish the search.
    engine: &'static str,
    collectors: Collectors,
    names: Names,
    pub(super) sinks: ScanSinks,
}

/// The outputs that receive the results of each block.
pub(super) struct ScanSinks {
    /// The merged results so far. Lists are not kept here, since they are written immediately.
    sums: Parts,
    texts: GameTexts,
    pub(super) outputs: Outputs,
    pub(super) stats: Option<Statistics>,
    pub(super) problems: Problems,
    pub(super) progress: ProgressDisplay,
    pub(super) fault: Option<Failure>,
}

impl ScanRun {
    pub(super) fn new(
        options: &ScanOptions,
        scan: &Executor,
        files: OutputFiles,
    ) -> Result<ScanRun, Failure> {
        let database = files.database;
        let ScanOptions { args, run, chosen, .. } = options;
        let choice = chosen.choice.clone();
        let is = (options.lists(), scan.sorts_games());
        let mut extras = extras_of(scan, &choice);
        extras.spans &= !args.outputs.no_spans;
        let outputs = Outputs::create(&options.outputs, chosen, is, extras, files)?;
        let mut collectors = Collectors { totals: Some(TotalsCollector), ..outputs.collectors() };
        collectors.copies = args.copies.map(|_| CopiesCollector);
        if args.heat || outputs.have_pictures() {
            let (filter, ty) = (scan.filter(), scan.ty());
            let findings = FindingsCollector::new(filter, ty, SAMPLE_MAX, args.choosing.seed);
            let findings = findings.with_spans(extras.spans).sorted_by(&scan.queries()[0].query);
            let findings = chosen.order.into_iter().fold(findings, FindingsCollector::ordered);
            let findings = if choice.player.is_some() { findings.for_player() } else { findings };
            if outputs.have_heat_map() && !findings.has_heat() {
                return Err(Failure::Other(NO_HEAT_MAP.into()));
            }
            collectors.findings = Some(findings);
        }
        let stats = Statistics::new(&args.stats, files)?;
        if let Some(stats) = &stats {
            choice.check_groupings(stats.stats().groupings(), scan.has_spans())?;
        }
        let of_choice = |stats: Stats| if choice.player.is_some() { stats.for_player() } else { stats };
        let of_query = |stats: Stats| if scan.ty() == Type::Num { stats.with_values() } else { stats };
        let of = |stats: &Statistics| of_query(of_choice(stats.stats().clone().with_sides()));
        collectors.statistics = stats.as_ref().map(|stats| StatisticsCollector::new(of(stats)));
        collectors.spellings = players::spellings(&choice);
        collectors.whole_texts = WholeTextsCollector::new(&choice);
        let problems = match files.are_written {
            true => Problems::create(args.problems.as_deref(), args.verbose, files)?,
            false => Problems::unlisted(options.lists_problems()),
        };
        collectors.problems = problems.are_wanted().then_some(ProblemsCollector);
        let names = Run::new(scan, &choice, &collectors).names(database.source_names());
        let sinks = ScanSinks {
            sums: Parts::default(),
            texts: database.texts(),
            outputs,
            stats,
            problems,
            progress: run.progress(),
            fault: None,
        };
        let (chosen, engine) = (choice.in_words(), scan.engine().info().name);
        Ok(ScanRun { choice, chosen, engine, collectors, names, sinks })
    }

    /// Searches all games of a database, but stops early once enough games are listed.
    pub(super) fn run(&mut self, scan: &Executor, database: BlockStream) -> Result<Summary, ScanError> {
        let ScanRun { choice, collectors, names, sinks, .. } = self;
        let take = |taken: StreamedBlock, parts| sinks.take_or_stop(collectors, &taken, parts);
        Run::new(scan, choice, collectors).for_each_part(database, names, take)
    }

    /// Like [`ScanRun::run`], but reads the results from the parts of a job, in which the games have already been searched.
    /// `sources` are the sources of the database.
    pub(super) fn merge(
        &mut self,
        sources: &[SourceSummary],
        replay: Replay,
    ) -> Result<Summary, ReplayError> {
        let ScanRun { collectors, sinks, .. } = self;
        replay
            .for_each_part(sources, collectors, |taken, parts| sinks.take_or_stop(collectors, &taken, parts))
    }

    pub(super) fn choice(&self) -> &Choice {
        &self.choice
    }

    pub(super) fn collects(self) -> (Choice, Collectors, Names) {
        (self.choice, self.collectors, self.names)
    }

    /// Writes the results that were kept until the end, and renames all files to their final names. `misses` returns the hits of
    /// similar queries, for the report of a query without hits.
    pub(super) fn finish(
        &mut self,
        options: &ScanOptions,
        scan: &Executor,
        (query, command): (&str, String),
        is_whole: bool,
        misses: impl FnOnce() -> Option<Misses>,
    ) -> Result<(), Failure> {
        let held = self.sinks.sums.ordered.take().unwrap_or_default().list();
        self.sinks.outputs.finish(held, &self.sinks.progress)?;
        let mut findings = self.findings(options.args.outputs.title(), &scan.sentence(query), query.trim());
        let counts = self.sinks.sums.statistics.take().unwrap_or_default();
        let counts =
            self.collectors.statistics.as_ref().and_then(|all| all.counts(counts, [scan.filter()]).pop());
        if let Some(findings) = findings.as_mut().filter(|_| self.sinks.outputs.have_page()) {
            // If no game was searched, similar queries would have no hits either.
            let is_searched = is_whole && findings.totals.games > 0 && self.hit_totals().games == 0;
            findings.misses = is_searched.then(misses).flatten();
            (findings.command, findings.command_outputs) = (command, options.args.outputs.of_page());
            if let Some((stats, counts)) = self.sinks.stats.as_ref().zip(counts.as_ref()) {
                findings.tables = counts.tables(stats.limits(), &self.names.copies);
                if !findings.tables.is_empty() {
                    findings.command_outputs += &options.args.stats.of_page();
                }
            }
        }
        if let Some(findings) = &findings {
            self.sinks.outputs.draw(findings)?;
        }
        // A file of statistics is written first, so that a closed pipe on standard output does not leave it incomplete.
        let (to_file, printed) = match self.sinks.stats.take().zip(counts) {
            Some((stats, counts)) if stats.have_file() => (Some((stats, counts)), None),
            printed => (None, printed),
        };
        let copies = &self.names.copies;
        to_file.map_or(Ok(()), |(stats, counts)| stats.finish(&counts, copies))?;
        let counted = printed_counts::ScanCounts {
            listed: self.sinks.outputs.listed(self.hit_totals()),
            all: is_whole.then(|| self.totals()).map(|totals| (totals.games(), totals.positions)),
            copies: self.copies(scan),
        };
        printed_counts::print(options, &counted, &scan.copies(), findings.as_ref())?;
        printed.map_or(Ok(()), |(stats, counts)| stats.finish(&counts, copies))?;
        self.sinks.progress.done();
        Ok(())
    }

    fn findings(&mut self, title: Option<&str>, sentence: &str, query: &str) -> Option<Findings> {
        let collector = self.collectors.findings.as_ref()?;
        let part = self.sinks.sums.findings.take().unwrap_or_default();
        let (engine, sources) = (self.engine, &self.names.sources);
        let about = About { title, query, sentence, engine, sources, chosen: &self.chosen };
        Some(collector.findings(part, &about))
    }

    pub(super) fn totals(&self) -> Totals {
        self.sinks.sums.totals.as_ref().map_or(Totals::default(), |part| part.totals.clone())
    }

    /// Returns the number of games and of positions with hits, including those that are not listed.
    pub(super) fn hit_totals(&self) -> HitTotals {
        self.sinks.sums.totals.as_ref().and_then(|part| part.queries.first().copied()).unwrap_or_default()
    }

    /// Returns the number of games that meet the conditions on games, if there are such conditions.
    pub(super) fn passing(&self) -> Option<u64> {
        let passing = self.sinks.sums.totals.as_ref().and_then(|part| part.passing);
        self.choice.of_games().next().map(|_| passing.unwrap_or(0))
    }

    /// Returns lines about the player and the spellings of the player's name, if a player is selected.
    pub(super) fn spellings(&self, is_whole: bool) -> Vec<Remark> {
        let spellings = self.sinks.sums.spellings.as_ref();
        players::summary(&self.choice, spellings.unwrap_or(&SpellingsPart::default()), is_whole)
    }

    /// Returns notes about conditions such as `white=Carlsen` that no game meets, although the string is part of a tag value in
    /// some games, and about a position without castling rights that no game has.
    pub(super) fn missed(&self) -> Vec<String> {
        let counted = self.collectors.whole_texts.as_ref().zip(self.sinks.sums.whole_texts.as_ref());
        let mut lines: Vec<String> =
            counted.map_or(Vec::new(), |(collector, part)| missed_lines(collector, part).collect());
        if let Some(at) = self.choice.position.as_ref().filter(|_| self.hit_totals().positions == 0) {
            lines.extend(missing_rights(at.position()).map(|note| format!("note: {note}")));
        }
        lines
    }

    /// Returns the number of positions that match each transformed copy of the query, or an empty list if these numbers were not
    /// requested.
    pub(super) fn copies(&self, scan: &Executor) -> Vec<u64> {
        let mut copies = self.sinks.sums.copies.clone().unwrap_or_default();
        copies.resize(scan.engine().info().copies[0], 0);
        copies
    }
}

impl ScanSinks {
    /// Passes the results of the next block to the outputs. Returns `Break` if an output fails, or if enough games are listed and
    /// neither statistics nor pictures need the remaining games.
    fn take_or_stop(
        &mut self,
        collectors: &Collectors,
        taken: &StreamedBlock,
        parts: Parts,
    ) -> ControlFlow<()> {
        match self.take(collectors, taken, parts) {
            Ok(_) if collectors.take_all() => ControlFlow::Continue(()),
            Ok(flow) => flow,
            Err(fault) => {
                self.fault = Some(fault);
                ControlFlow::Break(())
            }
        }
    }

    fn take(
        &mut self,
        collectors: &Collectors,
        taken: &StreamedBlock,
        mut parts: Parts,
    ) -> Result<ControlFlow<()>, Failure> {
        let hit = parts.totals.iter().flat_map(|part| &part.queries).map(|part| part.games).sum();
        self.progress.update_search(taken, hit);
        self.problems.list(parts.problems.take(), &self.progress)?;
        let (lists, games) = (parts.lists.take(), parts.games.take());
        collectors.take(&mut self.sums, parts, taken, &mut self.texts)?;
        let flow = self.outputs.take(taken, lists, games, &mut self.texts, &self.progress)?;
        if flow.is_break() {
            collectors.lists.iter().for_each(|lists| lists.reach().end());
            collectors.games.iter().for_each(|games| games.reach().end());
        }
        if self.outputs.are_closed() && !self.stats.as_ref().is_some_and(Statistics::have_file) {
            // The reader closed the pipe. A thread that waits for standard input might never notice this, so the process ends
            // here.
            self.progress.clear();
            self.problems.finish()?;
            std::process::exit(0);
        }
        Ok(flow)
    }
}
