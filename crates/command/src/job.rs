//! Implements `orbit job`, and `orbit scan --resume`.

mod choose;
mod slurm;

use std::env;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use orbit_search::job::{
    JOB_NAME, Job, JobError, JobPart, JobRequest, OnePartReason, PartFault, PartWriter, RecordError, Replay,
    divide, record,
};
use orbit_search::run::Run;
use serde_json::json;

use self::choose::{chosen, ranges};
use super::common::{
    CtrlC, Out, ProgressArgs, ProgressDisplay, counted, from_one, grouped, print_failures, unfinished,
};
use super::failure::{Exit, Failure};
use super::scan::{self, EngineOfPart, JobInputs, PreparedScan, RunOptions, ScanPurpose};
use super::terminal::error_message;
use super::{Cli, Command, Invocation, dashes};

const AFTER_HELP: &str = "\
A job is a search that is fixed once and divided into numbered parts. Parts are computed in any
order, on any machine that sees the same files, and merged to the bytes that one run of `orbit scan`
writes. A part that is computed twice, even at the same time, is the same file; a part that was
interrupted has no file. Who computes which part is left to others: a shell, xargs, Slurm, Ray.

Examples:
  orbit index --shards 256M games/ -o db/
  orbit job plan 'mate flip {Rd8 kg8}' db/ --stats year -o out/
  orbit job part out/
  orbit job part 3 7-9 out/
  orbit job part 2/16 out/
  orbit job part --engine gpu 5 out/
  orbit job status out/
  orbit job merge out/ > hits.txt
  orbit job slurm out/ --array 16";

const PLAN_AFTER_HELP: &str = "\
`orbit scan --help` explains queries, formats and options. `-o FOLDER/`, with a slash, names the
folder of the job; any other -o names a file, which `orbit job merge` writes. Paths begin in the
folder in which the job is planned, wherever its parts are computed.

Examples:
  orbit job plan 'stalemate' db/ -o out/
  orbit job plan --stats year,eco 'passedpawns' all.reel -o out/ --parts 64
  orbit job plan -F csv -o hits.csv -o page.html 'flipcolor {Bh7 kg8}' db/ -o out/";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    #[command(subcommand)]
    command: JobCommand,
}

#[derive(Debug, clap::Subcommand)]
enum JobCommand {
    /// Fix a search and divide it into parts.
    Plan(Box<PlanArgs>),
    /// Compute parts of the job.
    Part(PartArgs),
    /// Merge the parts, and write the outputs of the search.
    Merge(MergeArgs),
    /// Print which parts are missing or damaged; the exit code is 3 if any are.
    Status(StatusArgs),
    /// Write scripts that compute the parts as a job array of Slurm, and merge them.
    Slurm(slurm::Args),
}

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "orbit job plan [OPTIONS] QUERY PATH... -o FOLDER/",
    after_help = PLAN_AFTER_HELP
)]
struct PlanArgs {
    /// Divide the job into about N parts [default: one for each reel of a folder of reels; 16 for a single reel].
    #[arg(long, value_name = "N", value_parser = from_one::<NonZeroUsize>)]
    parts: Option<NonZeroUsize>,
    #[command(flatten)]
    scan: scan::Args,
}

#[derive(Debug, clap::Args)]
struct PartArgs {
    /// The parts to compute, then the folder of the job. Without parts, all missing parts are computed.
    ///
    /// `5` is a part, `3-7` are several, and `2/16` is every sixteenth part from the second one on.
    #[arg(required = true, value_name = "PART FOLDER")]
    words: Vec<OsString>,
    /// Compute complete parts again.
    #[arg(long)]
    again: bool,
    /// Use N threads [default: the number with which the job was planned, else one for each core].
    #[arg(short = 'j', long, value_name = "N", value_parser = from_one::<NonZeroUsize>)]
    threads: Option<NonZeroUsize>,
    /// Print nothing but errors.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    engine: EngineOfPart,
    #[command(flatten)]
    progress: ProgressArgs,
}

#[derive(Debug, clap::Args)]
struct MergeArgs {
    /// The folder of the job.
    folder: PathBuf,
}

#[derive(Debug, clap::Args)]
struct StatusArgs {
    /// The folder of the job.
    folder: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Args, invocation: &Invocation) -> Result<Exit, Failure> {
    match args.command {
        JobCommand::Plan(args) => plan(*args, invocation),
        JobCommand::Part(args) => part(args),
        JobCommand::Merge(args) => merge(&args.folder),
        JobCommand::Status(args) => status(&args),
        JobCommand::Slurm(args) => slurm::run(&args, &invocation.program),
    }
}

fn plan(args: PlanArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let [folder] = args.scan.folders()[..] else {
        let why = "name one folder for the job, with a slash at its end: `-o out/`";
        return Err(Failure::Other(why.into()));
    };
    let words = invocation.words.iter().cloned();
    let words = texts(words.skip_while(|word| word != "job").skip_while(|word| word != "plan").skip(1))?;
    let interrupt = CtrlC::install()?;
    let run = RunOptions::new(&args.scan, ScanPurpose::Part);
    let asked = PreparedScan::new(&args.scan, run, &interrupt)?.asked()?;
    let job = fixed(&asked, words, args.parts)?;
    job.write(folder)?;
    let mut out = Out::new();
    let (path, parts) = (folder.join(JOB_NAME), counted(job.parts.len(), "part", "parts"));
    out.line(format_args!("{}: {parts}", path.display()))?;
    if let Some(whole) = job.whole {
        out.line(format_args!("one part only: {}", whole.text()))?;
    } else {
        let positions: u64 = job.parts.iter().filter_map(|part| part.positions).sum();
        let largest = job.parts.iter().filter_map(|part| part.positions).max().unwrap_or(0);
        out.line(format_args!("{} positions, at most {} in a part", grouped(positions), grouped(largest)))?;
    }
    out.finish()?;
    Ok(Exit::Done)
}

/// Converts arguments to text. They must be valid UTF-8, since a job is stored as JSON.
fn texts(words: impl Iterator<Item = OsString>) -> Result<Vec<String>, Failure> {
    let text = |word: OsString| {
        let why = |word: OsString| {
            Failure::Other(format!(
                "`{}` is not UTF-8, and the arguments of a job are kept as text: give it another name",
                word.display()
            ))
        };
        word.into_string().map_err(why)
    };
    words.map(text).collect()
}

/// Plans the job for a search, and divides it into parts.
fn fixed(asked: &JobInputs, arguments: Vec<String>, parts: Option<NonZeroUsize>) -> Result<Job, Failure> {
    let JobInputs { scan, database, choice, collectors, .. } = asked;
    if let Some(name) = database.remote_sources().next() {
        return Err(Failure::Other(format!(
            "{name}: a job reads files that stay where and as they are: download it first"
        )));
    }
    let whole = if !database.is_repeatable() {
        Some(OnePartReason::Stream)
    } else if scan.queries().iter().any(|prepared| prepared.query.outlives_games())
        || scan.engine().info().in_order
    {
        Some(OnePartReason::State)
    } else if Run::new(scan, choice, collectors).splits(database).is_err() {
        Some(OnePartReason::Duplicates)
    } else {
        None
    };
    let blocks = database.positions_of_blocks();
    let whole = whole.or_else(|| blocks.is_none().then_some(OnePartReason::Text));
    let parts = match blocks.filter(|_| whole.is_none()) {
        Some(blocks) => divide(&blocks, parts.map(NonZeroUsize::get)),
        None => vec![JobPart { number: 1, blocks: None, positions: None }],
    };
    let here = env::current_dir().map_err(|error| Failure::Other(format!("the current folder: {error}")))?;
    let folder = texts(std::iter::once(here.into_os_string()))?.remove(0);
    let question = JobRequest { arguments, ..asked.question.clone() };
    Ok(Job::new(folder, question, whole, parts))
}

/// A job, and the absolute path of its folder.
struct OpenedJob {
    job: Job,
    folder: PathBuf,
    /// The arguments of the search: those of the plan, or those of a later command that has the same request but other output
    /// files.
    arguments: Vec<String>,
}

impl OpenedJob {
    /// Opens a job, and changes the working directory to the one in which it was planned.
    fn new(folder: &Path) -> Result<OpenedJob, Failure> {
        let opened = OpenedJob::here(folder)?;
        env::set_current_dir(&opened.job.folder).map_err(|error| {
            Failure::Other(format!(
                "the job was planned in {}, which cannot be entered here ({error}): its paths begin there",
                opened.job.folder
            ))
        })?;
        Ok(opened)
    }

    fn here(folder: &Path) -> Result<OpenedJob, Failure> {
        let job = Job::read(folder)?;
        let folder =
            folder.canonicalize().map_err(|error| JobError::Unreadable { path: folder.to_owned(), error })?;
        let arguments = job.question.arguments.clone();
        Ok(OpenedJob { job, folder, arguments })
    }

    /// Parses the arguments of the job's search.
    fn search(&self) -> Result<scan::Args, Failure> {
        let before = ["orbit", "job", "plan"].map(OsString::from).into_iter();
        let words = before.chain(self.arguments.iter().map(OsString::from));
        let read = Cli::try_parse_from(dashes::guarded(words.collect()));
        match read.map(|cli| cli.command) {
            Ok(Command::Job(Args { command: JobCommand::Plan(plan) })) => Ok(plan.scan),
            _ => Err(JobError::Malformed {
                path: self.folder.join(JOB_NAME),
                what: String::from("its arguments are not understood"),
            }
            .into()),
        }
    }

    /// Computes one part of the job, and writes the part's file. By default, it uses the number of threads with which the job was
    /// planned.
    fn compute(&self, part: &JobPart, interrupt: &CtrlC, run: RunOptions) -> Result<Exit, Failure> {
        let (args, quiet) = (self.search()?, run.quiet);
        let planned = RunOptions::new(&args, ScanPurpose::Part);
        let run = RunOptions { threads: run.threads.or(planned.threads), ..run };
        let whole = PreparedScan::new(&args, run, interrupt)?;
        self.job.demand(&whole.question(), &self.folder)?;
        let ready = match part.range() {
            None => whole,
            Some(range) => whole.only(range).ok_or_else(|| {
                let path = self.folder.join(JOB_NAME);
                JobError::Other { path, what: "the blocks are others" }
            })?,
        };
        let asked = ready.asked()?;
        let JobInputs { query, scan, database, choice, collectors, names, progress, .. } = asked;
        let out = PartWriter::create(&self.job, part, &self.folder)?;
        out.temporary_path().into_iter().for_each(|path| unfinished().add(path));
        let run = Run::new(&scan, &choice, &collectors);
        let watch = |streamed: &_, hit| ProgressDisplay::update_search(&progress, streamed, hit);
        let summary = record(&run, &collectors, &names, database, out, watch);
        progress.clear();
        let summary = summary.map_err(|error| match (error, &query) {
            (RecordError::Scan(error), Some(query)) => scan::failure(query, error),
            (error, _) => error.into(),
        })?;
        if interrupt.is_set() {
            message!("interrupted; part {} was not written", part.number);
            return Ok(Exit::Interrupted);
        }
        if let Some(notice) = scan.engine().info().notice {
            message!("warning: {notice}");
        }
        if !quiet {
            let (games, positions) = (summary.totals.games(), summary.totals.positions);
            message!(
                "part {} of {}: {} games, {} positions",
                part.number,
                self.job.parts.len(),
                grouped(games),
                grouped(positions)
            );
        }
        Ok(print_failures(&summary))
    }
}

fn part(args: PartArgs) -> Result<Exit, Failure> {
    let Some((folder, words)) = args.words.split_last() else { return Ok(Exit::Done) };
    let interrupt = CtrlC::install()?;
    let opened = OpenedJob::new(Path::new(folder))?;
    let all = opened.job.parts.len();
    let numbers =
        if words.is_empty() { (1..=all).collect() } else { chosen(&texts(words.iter().cloned())?, all)? };
    let PartArgs { threads, quiet, progress, engine, .. } = args;
    let run = RunOptions { purpose: ScanPurpose::Part, threads, quiet, progress, engine };
    let (mut exit, mut failure) = (Exit::Done, None);
    for number in numbers {
        let part = &opened.job.parts[number - 1];
        if !args.again && opened.job.check_part(part, &opened.folder).is_ok() {
            if !quiet {
                message!("part {number} of {all} is complete: --again computes it again");
            }
            continue;
        }
        match opened.compute(part, &interrupt, run.clone()) {
            Ok(Exit::Done) => {}
            Ok(Exit::Interrupted) => return Ok(Exit::Interrupted),
            Ok(other) => exit = other,
            // The reel of one part may be damaged, and those of other parts whole.
            Err(error @ Failure::Midway(_)) => {
                if let Some(earlier) = failure.replace(error) {
                    error_message(earlier.code(), &earlier.to_string());
                }
            }
            Err(error) => return Err(error),
        }
    }
    failure.map_or(Ok(exit), Err)
}

fn merge(folder: &Path) -> Result<Exit, Failure> {
    let interrupt = CtrlC::install()?;
    OpenedJob::new(folder)?.merge(&interrupt, None)
}

impl OpenedJob {
    fn merge(&self, interrupt: &CtrlC, quiet: Option<bool>) -> Result<Exit, Failure> {
        let replay = Replay::open(&self.job, &self.folder)?;
        let args = self.search()?;
        let planned = RunOptions::new(&args, ScanPurpose::Merge);
        let run = RunOptions { quiet: quiet.unwrap_or(planned.quiet), ..planned };
        let ready = PreparedScan::new(&args, run, interrupt)?;
        self.job.demand(&ready.question(), &self.folder)?;
        ready.run(interrupt, Some(replay))
    }
}

fn status(args: &StatusArgs) -> Result<Exit, Failure> {
    let OpenedJob { job, folder, .. } = OpenedJob::here(&args.folder)?;
    let found = job.check(&folder);
    let (mut complete, mut missing, mut bad) = (Vec::new(), Vec::new(), Vec::new());
    for (number, state) in found {
        match state {
            Ok(()) => complete.push(number),
            Err(PartFault::Missing) => missing.push(number),
            Err(fault) => bad.push((number, fault)),
        }
    }
    let mut out = Out::new();
    if args.json {
        let bad = bad.iter().map(|(number, why)| json!({ "part": number, "why": why.to_string() }));
        out.json(&json!({
            "job": job.hash(),
            "orbit": job.orbit,
            "parts": job.parts.len(),
            "whole": job.whole.map(OnePartReason::text),
            "complete": complete,
            "missing": missing,
            "bad": bad.collect::<Vec<_>>(),
        }))?;
    } else {
        out.line(format_args!(
            "{} of {} {} complete",
            complete.len(),
            counted(job.parts.len(), "part", "parts"),
            if job.parts.len() == 1 { "is" } else { "are" }
        ))?;
        if !missing.is_empty() {
            out.line(format_args!("missing: {}", ranges(&missing)))?;
        }
        for (number, why) in &bad {
            out.line(format_args!(
                "part {number}: {why}; `orbit job part {number} FOLDER` computes it again"
            ))?;
        }
    }
    out.finish()?;
    Ok(if missing.is_empty() && bad.is_empty() { Exit::Done } else { Exit::SourceFailed })
}

/// Runs a job in a single process, and continues where an earlier run was interrupted.
pub(super) fn resume(args: &scan::Args, folder: &Path, invocation: &Invocation) -> Result<Exit, Failure> {
    let words = invocation.words.iter().cloned();
    let mut words: Vec<String> = texts(words.skip_while(|word| word != "scan").skip(1))?;
    let options = words.iter().take_while(|word| *word != "--");
    let is_resume = |word: &String| word == "--resume" || word.starts_with("--resume=");
    if let Some(at) = options.clone().position(is_resume) {
        let count = if words[at] == "--resume" { 2 } else { 1 };
        words.drain(at..words.len().min(at + count));
    }
    if let [folder, ..] = args.folders()[..] {
        return Err(Failure::Other(format!(
            "{}: -o writes files; the folder of a job stands after --resume",
            folder.display()
        )));
    }
    let interrupt = CtrlC::install()?;
    let run = RunOptions::new(args, ScanPurpose::Part);
    let quietly = RunOptions { quiet: true, progress: ProgressArgs::default(), ..run.clone() };
    let asked = PreparedScan::new(args, quietly, &interrupt)?.asked()?;
    let is_remote = asked.database.remote_sources().next().is_some();
    if !is_remote && !asked.database.is_repeatable() {
        // A later run could not detect that it reads other games.
        let why = "--resume needs files that can be read again: save standard input to a file first";
        return Err(Failure::Other(why.into()));
    }
    let opened = match OpenedJob::here(folder) {
        Ok(opened) => {
            opened.job.demand(&asked.question, folder)?;
            OpenedJob { arguments: words, ..opened }
        }
        Err(Failure::Job(JobError::Missing { .. })) => {
            fixed(&asked, words, None)?.write(folder)?;
            OpenedJob::here(folder)?
        }
        Err(failure) => return Err(failure),
    };
    for part in &opened.job.parts {
        if opened.job.check_part(part, &opened.folder).is_err()
            && opened.compute(part, &interrupt, run.clone())? == Exit::Interrupted
        {
            return Ok(Exit::Interrupted);
        }
    }
    opened.merge(&interrupt, Some(run.quiet))
}
