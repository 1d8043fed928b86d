//! Runs many queries in one pass over the games, for `orbit batch` and `orbit scan --queries`.

use std::ops::ControlFlow;
use std::time::Instant;

use orbit_database::{BlockStream, StreamedBlock, Summary};
use orbit_search::choice::Choice;
use orbit_search::executor::Executor;
use orbit_search::job::Replay;
use orbit_search::report::{Phases, side_lines_line, totals_fields};
use orbit_search::run::{Collector as _, Collectors, Parts, ProblemsCollector, Run};

use super::common::{
    CtrlC, ProgressDisplay, agreement_line, grouped, is_unread, print_failures, totals_line,
};
use super::failure::{Exit, Failure};
use super::problems::Problems;
use super::terminal::Remark;

/// A run of many queries over a database that is read only once.
pub(super) struct BatchPass<'a> {
    pub(super) scan: &'a Executor,
    pub(super) interrupt: &'a CtrlC,
    pub(super) progress: ProgressDisplay,
    /// The number of queries and the noun: `84 themes`.
    pub(super) queries: String,
    pub(super) begun: Instant,
    /// The time at which query planning ended.
    pub(super) planned: Instant,
    pub(super) quiet: bool,
    pub(super) fail_if_none: bool,
}

/// The source of a run's results: games that are read and searched now, or job parts, which contain the results of earlier
/// searches.
pub(super) enum PassSource {
    Read(BlockStream),
    Searched(BlockStream, Replay),
}

pub(super) fn print_notes(scan: &Executor, quiet: bool) {
    scan.notes().iter().filter(|_| !quiet).for_each(|note| message!("note: {note}"));
}

impl BatchPass<'_> {
    /// Runs the queries, or replays the parts of a job, and returns the combined results. Problems in games are listed during the
    /// run.
    pub(super) fn collect(
        &self,
        choice: &Choice,
        mut collectors: Collectors,
        games: PassSource,
        mut problems: Problems,
    ) -> Result<(Parts, Summary), Failure> {
        let progress = &self.progress;
        print_notes(self.scan, self.quiet);
        collectors.problems = problems.are_wanted().then_some(ProblemsCollector);
        let run = Run::new(self.scan, choice, &collectors);
        let (PassSource::Read(database) | PassSource::Searched(database, _)) = &games;
        let names = run.names(database.source_names());
        let (mut sums, mut texts, mut fault) = (Parts::default(), database.texts(), None);
        let take = |streamed: StreamedBlock, mut parts: Parts| {
            progress.update(&streamed);
            let listed = problems.list(parts.problems.take(), progress);
            let added = collectors.take(&mut sums, parts, &streamed, &mut texts).map_err(Failure::from);
            fault = added.and(listed).err();
            if fault.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let ran = match games {
            PassSource::Read(database) => run.for_each_part(database, &names, take).map_err(Failure::from),
            PassSource::Searched(database, replay) => {
                replay.for_each_part(database.sources(), &collectors, take).map_err(Failure::from)
            }
        };
        progress.clear();
        problems.finish()?;
        match (ran, fault) {
            (_, Some(fault)) => Err(fault),
            (ran, None) => Ok((sums, ran?)),
        }
    }

    /// Calls `write` to write the counts, then prints the summary and `lines`. Returns the exit code of the command. `is_hit` is
    /// true if any query has hits.
    pub(super) fn finish(
        &self,
        summary: &Summary,
        is_hit: bool,
        lines: &[Remark],
        write: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<Exit, Failure> {
        if let Some(notice) = self.scan.engine().info().notice {
            message!("warning: {notice}");
        }
        if is_unread(summary) {
            return Ok(print_failures(summary));
        }
        write()?;
        if !self.interrupt.is_set() {
            self.progress.done();
        }
        if !self.quiet {
            let phases = Phases { planning: self.planned - self.begun, scanning: self.planned.elapsed() };
            self.print_summary(phases, summary);
            lines.iter().for_each(Remark::print);
        }
        Ok(match print_failures(summary) {
            _ if self.interrupt.is_set() => Exit::Interrupted,
            Exit::Done if self.fail_if_none && !is_hit => Exit::NoHits,
            exit => exit,
        })
    }

    fn print_summary(&self, phases: Phases, summary: &Summary) {
        let totals = &summary.totals;
        let interrupted = if self.interrupt.is_set() { "interrupted after " } else { "" };
        let games = format!("{interrupted}{}", totals_line(totals));
        Remark::from((games, totals_fields(totals))).print();
        side_lines_line(summary.side_lines, self.scan.searches_variations())
            .iter()
            .for_each(|line| message!("{line}"));
        agreement_line(&summary.agreement).iter().for_each(|line| message!("{line}"));
        let Phases { planning, scanning } = phases;
        let rate = totals.positions as f64 / scanning.as_secs_f64().max(1e-9);
        let line = format!(
            "{} in one pass; planning {:.3} s, reading and scanning {:.3} s; {} positions/s ({})",
            self.queries,
            planning.as_secs_f64(),
            scanning.as_secs_f64(),
            grouped(rate as u64),
            self.scan.engine_and_threads(),
        );
        Remark::from((line, phases.fields(totals))).print();
    }
}
