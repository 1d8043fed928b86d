//! Many queries over the same games in one pass: `orbit batch`, `orbit scan --queries`.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use orbit_chess::choice::Choice;
use orbit_chess::database::{Database, Summary};
use orbit_chess::report::{Phases, side_lines_line};
use orbit_chess::run::{Collector as _, Collectors, Parts, ProblemsCollector, Run};
use orbit_chess::scan::Scan;

use super::Failure;
use super::common::{Interrupt, Progress, grouped, threads, totals_line};
use super::problems::Problems;

/// Collects everything, and lists problems as they come.
pub(super) fn collect(
    scan: &Scan,
    choice: &Choice,
    mut collectors: Collectors,
    database: Database,
    mut problems: Problems,
    progress: &Progress,
) -> Result<(Parts, Summary), Failure> {
    collectors.problems = problems.are_wanted().then_some(ProblemsCollector);
    let run = Run::new(scan, choice, &collectors);
    let names = run.names(database.source_names());
    let (mut sums, mut texts, mut fault) = (Parts::default(), database.texts(), None);
    let ran = run.for_each_part(database, &names, |streamed, mut parts| {
        progress.update(&streamed);
        let listed = problems.list(parts.problems.take(), progress);
        let added = collectors.take(&mut sums, parts, &streamed, &mut texts).map_err(Failure::from);
        fault = added.and(listed).err();
        if fault.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    progress.clear();
    problems.finish()?;
    match (ran, fault) {
        (_, Some(fault)) => Err(fault),
        (ran, None) => Ok((sums, ran?)),
    }
}

/// What one pass of many queries came to.
pub(super) fn print_summary(
    what: &str,
    scan: &Scan,
    phases: Phases,
    given: Option<NonZeroUsize>,
    summary: &Summary,
    interrupt: &Interrupt,
) {
    let until = if interrupt.is_set() { "interrupted; until then " } else { "" };
    let Phases { planning, scanning } = phases;
    let rate = summary.totals.positions as f64 / scanning.as_secs_f64().max(1e-9);
    message!("{until}{}", totals_line(&summary.totals));
    side_lines_line(summary.side_lines).iter().for_each(|line| message!("{line}"));
    message!(
        "{what} in one pass; planning {:.3} s, reading and scanning {:.3} s; {} positions/s ({}, {} threads)",
        planning.as_secs_f64(),
        scanning.as_secs_f64(),
        grouped(rate as u64),
        scan.engine().name(),
        threads(given)
    );
}
