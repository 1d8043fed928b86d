//! Prepares a search up to the point where games are read. This may be a complete search, a part of a job, or the merging of parts.

use std::ops::Range;
use std::time::Instant;

use orbit_core::files::refuse_clashes;
use orbit_database::BlockStream;
use orbit_search::Request;
use orbit_search::choice::{Choice, ExactPosition};
use orbit_search::executor::Executor;
use orbit_search::found::Names;
use orbit_search::job::{JobRequest, Replay, hash_text};
use orbit_search::report::Phases;
use orbit_search::run::{Collectors, ProblemsCollector, Run, TotalsCollector};
use orbit_transforms::AsText;
use orbit_visits::{NarrowedStream, OpenTables};
use serde_json::Value;

use super::options::{RunOptions, ScanOptions};
use super::queries::QueryFile;
use super::run::ScanRun;
use super::{Args, failure, misses, print_summary};
use crate::common::{CtrlC, ProgressDisplay, is_unread, print_failures, threads};
use crate::failure::{Exit, Failure};
use crate::pass::print_notes;
use crate::positions::{unused_line, used_line};
use crate::query_text::QueryText;
use crate::reading::{open, print_substitutes};
use crate::sink::OutputFiles;
use crate::stats::Statistics;

pub(crate) struct PreparedScan<'a> {
    options: ScanOptions<'a>,
    asked: ScanQuery,
    /// A description of the outputs as JSON, without file names: see [`ScanOptions::output`].
    output: Value,
    scan: Executor,
    database: BlockStream,
    begun: Instant,
    planned: Instant,
}

/// The query or queries of a search.
pub(super) enum ScanQuery {
    One(QueryText),
    Many(QueryFile),
}

/// Everything that determines the plan of a job and the results of its parts: the search, the database, and the selected games and
/// outputs.
pub(crate) struct JobInputs {
    /// The query, or `None` if a file contains the queries.
    pub(crate) query: Option<QueryText>,
    pub(crate) scan: Executor,
    pub(crate) database: BlockStream,
    pub(crate) choice: Choice,
    pub(crate) collectors: Collectors,
    pub(crate) names: Names,
    pub(crate) question: JobRequest,
    pub(crate) progress: ProgressDisplay,
}

impl<'a> PreparedScan<'a> {
    pub(crate) fn new(
        args: &'a Args,
        run: RunOptions,
        interrupt: &CtrlC,
    ) -> Result<PreparedScan<'a>, Failure> {
        let begun = Instant::now();
        let options = ScanOptions::new(args, run)?;
        let outputs = options.outputs.files.iter().copied().chain(args.problems.as_deref());
        refuse_clashes(args.file.iter().chain(&args.queries), outputs.chain(args.stats.file()))?;
        if args.queries.is_some() {
            if let [path, ..] = options.outputs.files[..] {
                return Err(Failure::Other(format!(
                    "--queries prints counts and writes no {}: leave out -o, and choose --format text, csv or jsonl",
                    path.display()
                )));
            }
            let output = options.output()?;
            let (many, scan, database) = QueryFile::open(&options, interrupt)?;
            let (asked, planned) = (ScanQuery::Many(many), Instant::now());
            return Ok(PreparedScan { options, asked, output, scan, database, begun, planned });
        }
        let output = options.output()?;
        options.refuse_formats()?;
        options.outputs.refuse_idle(options.lists())?;
        options.refuse_limits()?;
        let query = args.query()?;
        let mut parsed = query.parse(args.dialect);
        let asked = parsed.as_mut().ok().map(|parsed| &mut parsed.query);
        // Notes about the games are not printed yet, because errors and notes about the query come first.
        let database = open(&query.paths, options.stream(asked, options.wants(), interrupt), true);
        // Few games contain the given position, so starting a graphics card would not pay off.
        let is_rare = options.chosen.choice.position.is_some();
        let known = database.as_ref().map_or(0, BlockStream::positions_known);
        let positions = if is_rare { 0 } else { known };
        let engine = options.engine_options(positions)?;
        let scan = Executor::with_query(parsed?, &engine).map_err(|error| failure(&query, error))?;
        let RunOptions { threads: given, quiet, .. } = options.run;
        let scan = scan.threads(threads(given));
        query.print_remarks(scan.remarks(), options.least_remark());
        print_notes(&scan, quiet);
        let planned = Instant::now();
        options.refuse_orders(&scan)?;
        let database = database?;
        print_substitutes(&database, quiet);
        let asked = ScanQuery::One(query);
        Ok(PreparedScan { options, asked, output, scan, database, begun, planned })
    }

    /// Returns the inputs of the job. Creates no output files.
    pub(crate) fn asked(self) -> Result<JobInputs, Failure> {
        let question = self.question();
        let PreparedScan { options, asked, scan, database, .. } = self;
        let progress = options.run.progress();
        let (choice, collectors, names) = match &asked {
            ScanQuery::One(_) => {
                let files = OutputFiles { database: &database, are_written: false };
                ScanRun::new(&options, &scan, files)?.collects()
            }
            ScanQuery::Many(_) => {
                let problems = options.lists_problems().then_some(ProblemsCollector);
                let totals = Some(TotalsCollector);
                let (choice, collectors) =
                    (Choice::default(), Collectors { totals, problems, ..Collectors::default() });
                let names = Run::new(&scan, &choice, &collectors).names(database.source_names());
                (choice, collectors, names)
            }
        };
        let query = match asked {
            ScanQuery::One(query) => Some(query),
            ScanQuery::Many(_) => None,
        };
        Ok(JobInputs { query, scan, database, choice, collectors, names, question, progress })
    }

    /// Returns those parts of the request that affect the results. The command-line arguments are left out.
    pub(crate) fn question(&self) -> JobRequest {
        let query = match &self.asked {
            ScanQuery::One(query) => vec![query.text.clone()],
            ScanQuery::Many(many) => many.texts(),
        };
        let request = Request { query, ..self.options.request.clone() };
        let filters =
            self.scan.queries().iter().map(|prepared| AsText(prepared.planner.filter()).to_string());
        let plan = hash_text(&filters.collect::<Vec<_>>().join("\n"));
        let (output, sources) = (self.output.clone(), self.database.marks());
        JobRequest { arguments: Vec::new(), request, output, plan, sources }
    }

    /// Restricts the search to a range of blocks (groups of whole games), which are numbered from 0 across all reels (orbit
    /// database files). Returns `None` if the database has fewer blocks.
    pub(crate) fn only(self, range: Range<usize>) -> Option<PreparedScan<'a>> {
        let blocks: usize = self.database.positions_of_blocks()?.iter().map(Vec::len).sum();
        (range.end <= blocks).then(|| PreparedScan { database: self.database.only_blocks(range), ..self })
    }

    /// Reads the games, or replays the parts of a job, and writes all outputs.
    pub(crate) fn run(self, interrupt: &CtrlC, replay: Option<Replay>) -> Result<Exit, Failure> {
        let PreparedScan { options, asked, scan, database, begun, planned, .. } = self;
        let quiet = options.run.quiet;
        let query = match asked {
            ScanQuery::One(query) => query,
            ScanQuery::Many(many) => {
                return many.run(&options, interrupt, &scan, (database, replay), (begun, planned));
            }
        };
        let is_merged = replay.is_some();
        let files = OutputFiles::new(&database);
        let mut search = ScanRun::new(&options, &scan, files)?;
        let is_of_hits = options.reads_hits_alone(&scan, &database) && !search.sinks.outputs.have_pictures();
        let database = match &options.chosen.choice.position {
            Some(position) if is_of_hits && !is_merged => narrowed(database, position, quiet),
            _ => database,
        };
        let summary = match replay {
            None => search.run(&scan, database).map_err(|error| failure(&query, error)),
            Some(replay) => search.merge(database.sources(), replay).map_err(Failure::from),
        };
        search.sinks.progress.clear();
        search.sinks.problems.finish()?;
        let summary = match (summary, search.sinks.fault.take()) {
            (_, Some(fault)) => return Err(fault),
            (summary, None) => summary?,
        };
        if interrupt.is_set() {
            let files = search
                .sinks
                .outputs
                .abandoned()
                .chain(search.sinks.stats.as_ref().and_then(Statistics::abandoned));
            files.for_each(|path| message!("interrupted; {} was not written", path.display()));
        } else if is_unread(&summary) {
            // Counts of games that could not be read would look like a result, so they are not written.
            search.sinks.outputs.abandoned().for_each(|path| message!("{} was not written", path.display()));
            return Ok(print_failures(&summary));
        } else {
            let misses = || misses::find(&options, &query, interrupt);
            let command = options.args.command_line(options.request.clone(), &query);
            search.finish(&options, &scan, (&query.text, command), summary.finished, misses)?;
        }
        if let Some(notice) = scan.engine().info().notice {
            message!("warning: {notice}");
        }
        if !quiet && !is_merged {
            let phases = Phases { planning: planned - begun, scanning: planned.elapsed() };
            print_summary(&options, &search, &scan, phases, &summary, interrupt.is_set());
        }
        Ok(match print_failures(&summary) {
            _ if interrupt.is_set() => Exit::Interrupted,
            Exit::Done if options.args.fail_if_none && search.hit_totals().games == 0 => Exit::NoHits,
            exit => exit,
        })
    }
}

/// Restricts the stream to those blocks whose games contain the position, according to the position tables of the reels.
fn narrowed(database: BlockStream, position: &ExactPosition, quiet: bool) -> BlockStream {
    let NarrowedStream { database, used, unused, .. } =
        orbit_visits::narrow(database, position.position(), &OpenTables::default());
    if !quiet {
        used.iter().for_each(|used| message!("{}", used_line(used)));
    }
    unused.iter().for_each(|error| message!("warning: {}", unused_line(error)));
    database
}
