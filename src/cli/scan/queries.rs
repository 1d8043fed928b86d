//! `orbit scan --queries`: a table of counts.

use std::path::PathBuf;
use std::time::Instant;

use orbit_chess::choice::Choice;
use orbit_chess::database::{Database, DatabaseOptions};
use orbit_chess::engine::PreparedQuery;
use orbit_chess::report::{HitTotals, Phases};
use orbit_chess::run::{Collectors, TotalsCollector};
use orbit_chess::scan::Scan;
use serde_json::json;

use super::Args;
use crate::cli::common::{Interrupt, Out, Progress, counted, grouped, print_failures, threads};
use crate::cli::outputs::FormatName;
use crate::cli::pass;
use crate::cli::problems::Problems;
use crate::cli::queries::{NamedQuery, read};
use crate::cli::reading::print_substitutes;
use crate::cli::{Exit, Failure};

pub(super) fn run(args: &Args, interrupt: &Interrupt) -> Result<Exit, Failure> {
    let begun = Instant::now();
    let queries = read(args.queries.as_deref(), "", args.dialect)?;
    let is_json = match args.outputs.format {
        None | Some(FormatName::Text) => false,
        Some(FormatName::Jsonl) => true,
        _ => return Err(Failure::Other("--queries prints counts: choose --format text or jsonl".into())),
    };
    let mut options = DatabaseOptions::default();
    options.interrupt = interrupt.flag.clone();
    args.beside.apply(&mut options);
    let paths: Vec<PathBuf> = args.words.iter().map(PathBuf::from).collect();
    let database = Database::open(&paths, options)?;
    print_substitutes(&database, args.quiet);
    let prepared: Vec<PreparedQuery> = queries.iter().map(|query| query.prepared.clone()).collect();
    let scan = Scan::of(prepared, &args.engine_options(database.positions_known())?)?;
    let scan = scan.threads(threads(args.threads));
    let problems = Problems::create(args.problems.as_deref(), args.verbose, &database, interrupt)?;
    let progress = Progress::of(&args.progress, args.quiet);
    let planned = Instant::now();
    let collectors = Collectors { totals: Some(TotalsCollector), ..Collectors::default() };
    let choice = Choice::default();
    let (parts, summary) = pass::collect(&scan, &choice, collectors, database, problems, &progress)?;
    let mut hit_totals = parts.totals.unwrap_or_default().queries;
    hit_totals.resize(queries.len(), HitTotals::default());
    if let Some(notice) = scan.engine().notice() {
        message!("warning: {notice}");
    }
    let mut out = Out::new();
    if !is_json {
        out.line(format_args!("{:>12}{:>14}  query", "games hit", "positions hit"))?;
    }
    for (query, HitTotals { games, positions }) in queries.iter().zip(&hit_totals) {
        if is_json {
            let NamedQuery { name, text, .. } = query;
            out.json(
                &json!({ "name": name, "query": text, "games_hit": games, "positions_hit": positions }),
            )?;
        } else {
            out.line(format_args!("{:>12}{:>14}  {}", grouped(*games), grouped(*positions), query.name))?;
        }
    }
    out.finish()?;
    if !interrupt.is_set() {
        progress.done();
    }
    if !args.quiet {
        let phases = Phases { planning: planned - begun, scanning: planned.elapsed() };
        pass::print_summary(
            &counted(queries.len(), "query", "queries"),
            &scan,
            phases,
            args.threads,
            &summary,
            interrupt,
        );
    }
    Ok(match print_failures(&summary) {
        _ if interrupt.is_set() => Exit::Interrupted,
        Exit::Done if args.fail_if_none && hit_totals.iter().all(|hits| hits.positions == 0) => Exit::NoHits,
        exit => exit,
    })
}
