//! Implements `orbit scan --queries`, which prints a table of hit counts.

use std::path::PathBuf;
use std::time::Instant;

use orbit_database::BlockStream;
use orbit_engine::PreparedQuery;
use orbit_engine::Wants;
use orbit_search::choice::Choice;
use orbit_search::executor::Executor;
use orbit_search::job::Replay;
use orbit_search::report::{FormatName, HitTotals};
use orbit_search::run::{Collectors, TotalsCollector};
use serde_json::json;

use super::options::ScanOptions;
use crate::common::{CtrlC, Out, counted, grouped, threads};
use crate::failure::{Exit, Failure};
use crate::pass::{BatchPass, PassSource};
use crate::problems::Problems;
use crate::queries::{NamedQuery, read};
use crate::reading::open;
use crate::sink::OutputFiles;
use crate::table_format::{TableFormat, print_csv};
use crate::terminal::Remark;

/// The queries of a file.
pub(super) struct QueryFile {
    queries: Vec<NamedQuery>,
    format: TableFormat,
}

impl QueryFile {
    pub(super) fn open(
        options: &ScanOptions,
        interrupt: &CtrlC,
    ) -> Result<(QueryFile, Executor, BlockStream), Failure> {
        let ScanOptions { args, run, outputs, .. } = options;
        let mut queries = read(args.queries.as_deref(), "", args.dialect, options.least_remark())?;
        use FormatName::{Csv, Jsonl, Text};
        let format = match outputs.format {
            None | Some(Text | Jsonl | Csv) => options.table_format(),
            _ => {
                return Err(Failure::Other(
                    "--queries prints counts: choose --format text, csv or jsonl".into(),
                ));
            }
        };
        let asked = queries.iter_mut().map(|query| &mut query.prepared.query);
        let stream = options.stream(asked, Wants::HITS, interrupt);
        let paths: Vec<PathBuf> = args.words.iter().map(PathBuf::from).collect();
        let database = open(&paths, stream, run.quiet)?;
        let prepared: Vec<PreparedQuery> = queries.iter().map(|query| query.prepared.clone()).collect();
        let scan = Executor::new(prepared, &options.engine_options(database.positions_known())?)?;
        let scan = scan.threads(threads(run.threads));
        Ok((QueryFile { queries, format }, scan, database))
    }

    /// Returns each query as text: its name, a tab, and the query.
    pub(super) fn texts(&self) -> Vec<String> {
        self.queries.iter().map(|query| format!("{}\t{}", query.name, query.text)).collect()
    }

    pub(super) fn run(
        &self,
        options: &ScanOptions,
        interrupt: &CtrlC,
        scan: &Executor,
        (database, replay): (BlockStream, Option<Replay>),
        (begun, planned): (Instant, Instant),
    ) -> Result<Exit, Failure> {
        let (queries, ScanOptions { args, run, .. }) = (&self.queries, options);
        let problems = Problems::create(args.problems.as_deref(), args.verbose, OutputFiles::new(&database))?;
        let pass = BatchPass {
            scan,
            interrupt,
            progress: run.progress(),
            queries: counted(queries.len(), "query", "queries"),
            begun,
            planned,
            quiet: run.quiet || replay.is_some(),
            fail_if_none: args.fail_if_none,
        };
        let games = match replay {
            None => PassSource::Read(database),
            Some(replay) => PassSource::Searched(database, replay),
        };
        let collectors = Collectors { totals: Some(TotalsCollector), ..Collectors::default() };
        let (parts, summary) = pass.collect(&Choice::default(), collectors, games, problems)?;
        let mut hit_totals = parts.totals.unwrap_or_default().queries;
        hit_totals.resize(queries.len(), HitTotals::default());
        let is_hit = hit_totals.iter().any(|hits| hits.positions > 0);
        let lines: Vec<Remark> = args.beside.unique_line(&summary).into_iter().map(Remark::from).collect();
        pass.finish(&summary, is_hit, &lines, || print_counts(queries, &hit_totals, self.format))
    }
}

/// Prints the number of games and of positions that match each query.
fn print_counts(queries: &[NamedQuery], totals: &[HitTotals], format: TableFormat) -> Result<(), Failure> {
    if format == TableFormat::Csv {
        let row = |(query, total): (&NamedQuery, &HitTotals)| {
            [query.name.clone(), query.text.clone(), total.games.to_string(), total.positions.to_string()]
        };
        let names = ["name", "query", "games_hit", "positions_hit"];
        return print_csv(&names, queries.iter().zip(totals).map(row));
    }
    let is_json = format == TableFormat::Json;
    let mut out = Out::new();
    if !is_json {
        out.line(format_args!("{:>12}{:>14}  query", "games hit", "positions hit"))?;
    }
    for (query, HitTotals { games, positions }) in queries.iter().zip(totals) {
        if is_json {
            let NamedQuery { name, text, .. } = query;
            out.json(
                &json!({ "name": name, "query": text, "games_hit": games, "positions_hit": positions }),
            )?;
        } else {
            out.line(format_args!("{:>12}{:>14}  {}", grouped(*games), grouped(*positions), query.name))?;
        }
    }
    out.finish()
}
