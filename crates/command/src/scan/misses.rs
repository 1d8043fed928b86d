//! Runs similar queries for the report of a query without hits.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use orbit_engine::PreparedQuery;
use orbit_pgn::file_of;
use orbit_plan::PlanOptions;
use orbit_query::{Dialect, TypedQuery};
use orbit_search::executor::{EngineOptions, Executor};
use orbit_search::report::findings::{Miss, Misses};
use orbit_search::run::{Collector as _, Run, TotalsCollector, TotalsPart};

use super::options::ScanOptions;
use crate::common::{CtrlC, threads};
use crate::query_text::QueryText;
use crate::reading::open;

/// The number of positions after which the search with similar queries stops. Up to this number, all similar queries together take
/// a second or two.
const POSITIONS_MAX: u64 = 5_000_000;

/// Runs queries that are similar to `query` on the games of the search, or only on the first of these games if there are many.
/// Returns `None` if there are no similar queries, or if the games cannot be read again; the report then has no section on similar
/// queries.
pub(super) fn find(options: &ScanOptions, query: &QueryText, interrupt: &CtrlC) -> Option<Misses> {
    let ScanOptions { args, run, chosen, .. } = options;
    // Standard input and pipes cannot be read again, and opening them would block.
    let is_kept = |path: &Path| {
        path != Path::new("-")
            && fs::metadata(file_of(path)).is_ok_and(|found| found.is_file() || found.is_dir())
    };
    if !query.paths.iter().all(|path| is_kept(path)) || args.dialect.choice() == Some(Dialect::Cql5) {
        return None;
    }
    let weaker = orbit_query::weaker(&query.text);
    let mut queries: Vec<TypedQuery> = weaker.iter().map(|query| query.parsed.query.clone()).collect();
    let stream = options.stream(&mut queries, chosen.choice.wants(), interrupt);
    let asked = weaker.into_iter().zip(queries);
    let (asked, prepared): (Vec<_>, Vec<_>) = asked
        .filter(|(_, query)| query.keeps_state.is_none() && query.judges_apart())
        .filter_map(|(weaker, query)| Some((weaker, PreparedQuery::new(query, PlanOptions::default()).ok()?)))
        .unzip();
    if asked.is_empty() {
        return None;
    }
    let database = open(&query.paths, stream, true).ok()?;
    let scan = Executor::new(prepared, &EngineOptions::default()).ok()?.threads(threads(run.threads));
    let (choice, collector) = (&chosen.choice, TotalsCollector);
    let (run, mut sum, mut texts) =
        (Run::new(&scan, choice, &collector), TotalsPart::default(), database.texts());
    let names = run.names(database.source_names());
    let summary = run.for_each_part(database, &names, |streamed, part| {
        let taken = collector.take(&mut sum, part, &streamed, &mut texts);
        match taken {
            Ok(()) if sum.totals.positions < POSITIONS_MAX => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    });
    let is_whole = summary.ok()?.finished;
    if interrupt.is_set() {
        return None;
    }
    let tried = asked.into_iter().zip(sum.queries).map(|(query, hits)| Miss {
        change: query.change,
        query: query.text,
        games_hit: hits.games,
        positions_hit: hits.positions,
    });
    let (games, positions) = (sum.totals.games(), sum.totals.positions);
    Some(Misses { games: sum.passing.unwrap_or(games), positions, is_whole, tried: tried.collect() })
}
