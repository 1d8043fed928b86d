//! Prepares a search up to the point where games are read. The search may be a single run, a part of a job, or the merging of
//! parts.

use std::mem;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;

use orbit_core::files::refuse_clashes;
use orbit_database::{BlockStream, StreamOptions};
use orbit_search::choice::{Choice, ExactPosition};
use orbit_search::executor::{EngineChoice, Executor};
use orbit_search::found::Names;
use orbit_search::job::{JobRequest, Replay, hash_text};
use orbit_search::report::Phases;
use orbit_search::run::{Collectors, ProblemsCollector, Run, TotalsCollector};
use orbit_search::{Chosen, Request};
use orbit_transforms::AsText;
use orbit_visits::NarrowedStream;
use serde_json::Value;

use super::queries::QueryFile;
use super::run::ScanRun;
use super::{Args, failure, misses, print_summary};
use crate::common::{CtrlC, ProgressArgs, ProgressDisplay, fast_engine, is_unread, print_failures, threads};
use crate::failure::{Exit, Failure};
use crate::pass::print_notes;
use crate::positions::{unused_line, used_line};
use crate::query_text::QueryText;
use crate::reading::print_substitutes;
use crate::sink::OutputFiles;
use crate::stats::Statistics;

/// The purpose for which a search is prepared.
pub(crate) enum ScanPurpose {
    /// Games are searched.
    Search,
    /// The parts of a job are merged, so the games were already searched.
    Merge,
}

/// What computes a part of a job, in the place of what the job was planned with. All engines give the same answers.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct EngineOfPart {
    /// Use a different engine from that of the plan; all engines give the same answers.
    ///
    /// A job that was planned with `--engine reference` is computed by that engine.
    #[arg(long, value_parser = fast_engine())]
    engine: Option<EngineChoice>,
    /// Choose the graphics card, as in `orbit scan`.
    #[arg(long, value_name = "CARD")]
    gpu: Option<String>,
}

/// A search that is ready to run.
pub(crate) struct PreparedScan {
    args: Args,
    chosen: Chosen,
    asked: ScanQuery,
    /// The request. `output` describes the outputs that are made from its answers.
    request: Request,
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

/// The inputs that determine a job and the computation of its parts.
pub(crate) struct JobInputs {
    pub(crate) scan: Executor,
    pub(crate) database: BlockStream,
    pub(crate) choice: Choice,
    pub(crate) collectors: Collectors,
    pub(crate) names: Names,
    pub(crate) question: JobRequest,
    pub(crate) progress: ProgressDisplay,
}

impl Args {
    /// Removes and returns the folder of `--resume`: the folder of the job as which the search is run.
    pub(crate) fn take_resumed(&mut self) -> Option<PathBuf> {
        self.resume.take()
    }

    /// Removes and returns the outputs that are folders.
    pub(crate) fn take_folders(&mut self) -> Vec<PathBuf> {
        self.outputs.take_folders()
    }

    /// Sets the settings that the command for a part gives, in place of those with which the job was planned.
    pub(crate) fn run_as(&mut self, threads: Option<NonZeroUsize>, quiet: bool, progress: ProgressArgs) {
        self.threads = threads.or(self.threads);
        self.quiet = quiet;
        self.progress = progress;
    }

    /// Sets the engine that computes a part, in place of the one with which the job was planned.
    pub(crate) fn compute_by(&mut self, engine: EngineOfPart) {
        self.engine_of_part = engine;
    }

    /// Chooses the engine and the card of a part. The reference engine cannot be replaced, since it comes with another reader of
    /// games.
    fn choose_engine_of_part(&mut self, chosen: EngineOfPart) {
        let EngineOfPart { engine, gpu } = chosen;
        if let EngineChoice::Reference = self.engine {
            return;
        }
        match engine {
            None => {}
            Some(engine) => self.engine = engine,
        }
        if let Some(card) = gpu {
            self.gpu.choose(card);
        }
    }

    /// Removes and returns the settings of the run that do not affect answers.
    pub(crate) fn take_manner(&mut self) -> (Option<NonZeroUsize>, bool, ProgressArgs) {
        (self.threads, self.quiet, mem::take(&mut self.progress))
    }
}

impl PreparedScan {
    pub(crate) fn new(
        mut args: Args,
        interrupt: &CtrlC,
        purpose: ScanPurpose,
    ) -> Result<PreparedScan, Failure> {
        let begun = Instant::now();
        args.outputs.take_stdout();
        let engine = mem::take(&mut args.engine_of_part);
        let request = args.request()?;
        let chosen = request.check()?;
        args.choose_engine_of_part(engine);
        let outputs = args.outputs.files().iter().chain(&args.problems).map(PathBuf::as_path);
        refuse_clashes(args.file.iter().chain(&args.queries), outputs.chain(args.stats.file()))?;
        if let ScanPurpose::Merge = purpose {
            // Merging searches nothing, so it needs no card.
            args.gpu.leave_out();
            if let EngineChoice::Gpu = args.engine {
                args.engine = EngineChoice::Cpu;
            }
        }
        if args.queries.is_some() {
            if let [path, ..] = args.outputs.files() {
                return Err(Failure::Other(format!(
                    "--queries prints counts and writes no {}: leave out -o, and choose --format text, csv or jsonl",
                    path.display()
                )));
            }
            let output = args.output()?;
            let (many, scan, database) = QueryFile::open(&args, interrupt)?;
            let (asked, planned) = (ScanQuery::Many(many), Instant::now());
            return Ok(PreparedScan { args, chosen, asked, request, output, scan, database, begun, planned });
        }
        let output = args.output()?;
        args.refuse_formats()?;
        args.outputs.refuse_idle(args.lists())?;
        let board = args.board()?;
        let words = mem::take(&mut args.words);
        let query = match &args.theme {
            Some(name) => QueryText::of_theme(name, words)?,
            None => QueryText::take(args.query.take(), args.file.as_deref(), board, words)?,
        };
        let mut parsed = query.parse(args.dialect);
        let mut database_options =
            StreamOptions { interrupt: interrupt.flag.clone(), ..StreamOptions::default() };
        let asked = parsed.as_mut().ok().map(|parsed| &mut parsed.query);
        args.beside.apply(&mut database_options, asked, args.wants(&chosen));
        args.choose_readers(&mut database_options);
        let database = BlockStream::open(&query.paths, database_options);
        // Few games have one given position, so a card would not pay off.
        let is_rare = chosen.choice.position.is_some();
        let known = database.as_ref().map_or(0, BlockStream::positions_known);
        let positions = if is_rare { 0 } else { known };
        let engine = args.engine_options(positions)?;
        let scan = Executor::with_query(parsed?, &engine).map_err(|error| failure(&query, error))?;
        let scan = scan.threads(threads(args.threads));
        query.print_remarks(scan.remarks(), args.least_remark());
        print_notes(&scan, args.quiet);
        let planned = Instant::now();
        args.refuse_orders(&chosen, &scan)?;
        let database = args.beside.unique(database?);
        print_substitutes(&database, args.quiet);
        let asked = ScanQuery::One(query);
        Ok(PreparedScan { args, chosen, asked, request, output, scan, database, begun, planned })
    }

    /// Returns the inputs of the job, without beginning any output.
    pub(crate) fn asked(self, interrupt: &CtrlC) -> Result<JobInputs, Failure> {
        let question = self.question();
        let PreparedScan { args, chosen, asked, scan, database, .. } = self;
        let progress = ProgressDisplay::from_args(&args.progress, args.quiet);
        let (choice, collectors, names) = match &asked {
            ScanQuery::One(_) => {
                let files = OutputFiles { database: &database, interrupt, are_written: false };
                ScanRun::new(&args, &chosen, &scan, files)?.collects()
            }
            ScanQuery::Many(_) => {
                let problems = (args.problems.is_some() || args.verbose).then_some(ProblemsCollector);
                let totals = Some(TotalsCollector);
                let (choice, collectors) =
                    (Choice::default(), Collectors { totals, problems, ..Collectors::default() });
                let names = Run::new(&scan, &choice, &collectors).names(database.source_names());
                (choice, collectors, names)
            }
        };
        Ok(JobInputs { scan, database, choice, collectors, names, question, progress })
    }

    /// Returns the part of the request on which answers depend. The arguments are left out.
    pub(crate) fn question(&self) -> JobRequest {
        let query = match &self.asked {
            ScanQuery::One(query) => vec![query.text.clone()],
            ScanQuery::Many(many) => many.texts(),
        };
        let request = Request { query, ..self.request.clone() };
        let filters =
            self.scan.queries().iter().map(|prepared| AsText(prepared.planner.filter()).to_string());
        let plan = hash_text(&filters.collect::<Vec<_>>().join("\n"));
        let (output, sources) = (self.output.clone(), self.database.marks());
        JobRequest { arguments: Vec::new(), request, output, plan, sources }
    }

    /// Restricts the search to a range of blocks, which are counted from 0 over all reels. Returns `None` if the database does
    /// not have these blocks.
    pub(crate) fn only(self, range: Range<usize>) -> Option<PreparedScan> {
        let blocks: usize = self.database.positions_of_blocks()?.iter().map(Vec::len).sum();
        (range.end <= blocks).then(|| PreparedScan { database: self.database.only_blocks(range), ..self })
    }

    /// Reads the games, or replays the parts of a job, and writes all outputs.
    pub(crate) fn run(self, interrupt: &CtrlC, replay: Option<Replay>) -> Result<Exit, Failure> {
        let PreparedScan { args, chosen, asked, request, scan, database, begun, planned, .. } = self;
        let query = match asked {
            ScanQuery::One(query) => query,
            ScanQuery::Many(many) => {
                return many.run(&args, interrupt, &scan, (database, replay), (begun, planned));
            }
        };
        let is_merged = replay.is_some();
        let files = OutputFiles::new(&database, interrupt);
        let mut search = ScanRun::new(&args, &chosen, &scan, files)?;
        let is_of_hits = args.reads_hits_alone(&scan, &database) && !search.sinks.outputs.have_pictures();
        let database = match &chosen.choice.position {
            Some(position) if is_of_hits && !is_merged => narrowed(database, position, args.quiet),
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
            // The counts of games that could not be read would look like an answer, so they are not written.
            search.sinks.outputs.abandoned().for_each(|path| message!("{} was not written", path.display()));
            return Ok(print_failures(&summary));
        } else {
            let misses = || misses::find(&args, &chosen, &query, interrupt);
            let command = args.command_line(request, &query);
            search.finish(&args, &scan, (&query.text, command), summary.finished, misses)?;
        }
        if let Some(notice) = scan.engine().info().notice {
            message!("warning: {notice}");
        }
        if !args.quiet && !is_merged {
            let phases = Phases { planning: planned - begun, scanning: planned.elapsed() };
            print_summary(&args, &search, &scan, phases, &summary, interrupt.is_set());
        }
        Ok(match print_failures(&summary) {
            _ if interrupt.is_set() => Exit::Interrupted,
            Exit::Done if args.fail_if_none && search.hit_totals().games == 0 => Exit::NoHits,
            exit => exit,
        })
    }
}

/// Leaves out the blocks of reels that do not contain a position, according to the reels' tables of positions.
fn narrowed(database: BlockStream, position: &ExactPosition, quiet: bool) -> BlockStream {
    let NarrowedStream { database, used, unused, .. } = orbit_visits::narrow(database, position.position());
    if !quiet {
        used.iter().for_each(|used| message!("{}", used_line(used)));
    }
    unused.iter().for_each(|error| message!("warning: {}", unused_line(error)));
    database
}
