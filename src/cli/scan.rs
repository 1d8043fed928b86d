//! `orbit scan`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Instant;

use clap::ValueEnum;
use orbit_chess::choice::Choice;
use orbit_chess::database::{Database, DatabaseOptions, Summary, Taken};
use orbit_chess::engine::{CopyHits, Hits, Job, Want, verify::Sample};
use orbit_chess::query::Type;
use orbit_chess::reel::{Block, Totals};
use orbit_chess::report::{Found, Names, Phases, Report, Tally, copy_lines, summary_lines};
use orbit_chess::scan::{EngineChoice, EngineOptions, Scan, ScanError};
use orbit_chess::stats::{Counts, Stats};
use orbit_chess::study::{Study, View};
use orbit_chess::survey::{self, Survey};
use serde_json::json;

use super::beside::{BesideArgs, print_substitutes};
use super::board::BoardArgs;
use super::choosing::ChoosingArgs;
use super::common::{
    GpuArgs, Interrupt, Out, Progress, ProgressArgs, grouped, print_failures, refuse_clashes, threads,
    totals_line,
};
use super::outputs::{FormatName, OutputArgs, Outputs};
use super::pictures::{NOWHERE, SAMPLE_MAX, print_heat};
use super::problems::Problems;
use super::queries::{self, NamedQuery};
use super::query_text::{DialectArgs, QueryText};
use super::stats::{Statistics, StatsArgs};
use super::{Exit, Failure};

const USAGE: &str = "orbit scan [OPTIONS] QUERY PATH...\n       orbit scan [OPTIONS] -f FILE.cql PATH...\n       \
orbit scan [OPTIONS] --board FEN PATH...";

const AFTER_HELP: &str = "\
Formats:
  text    a line for each game with hits: number, players, result, year, event, the moves that
          led to the positions that hit (`23...` is Black's 23rd, `start` the position before the
          first), and how many there are; the value or the squares, if the query has any,
          stand where they change
  pgn     the games that hit, as their source has them; --comment marks the hits in them
  jsonl   a JSON object for each position that hits: game (its number over all sources),
          source, number_in_source, offset (the game's first byte in its decompressed source),
          ply, move (that led there), fen, next (the move that follows), `squares` of a set, or
          else `value`: a number, or `true` if the query is a condition; copy (the first that
          matches, from 1), pattern (that copy as CQL), transform (how it came about), copies
          (how many match), hits (of the game), url (at lichess or chess.com), tags
  csv     a table with a head line: game, source, number_in_source, offset, event, site, date,
          round, white, black, result, white_elo, black_elo, eco, ply, move, fen, next, value (of
          a set the number of its squares), squares, copy, pattern, transform, copies, hits, url;
          columns may be added at the end. Parquet has the same
  epd     the position of each hit, with the next move, game and ply as operations
  fen     the position of each hit
  plain   `game ply` for each position that hits
  values  `game ply value` for each position at which the query has a value: a number, a set as
          `[a1,h1]`, `a1` or `[]`, or `true` where a condition holds

Exit code: 0 if the search was done, whether or not something was found; 1 if nothing was found
under --fail-if-none; 2 for a wrong query, usage or output; 3 if a source was not read to its end;
130 after Ctrl-C.

Examples:
  orbit scan 'shift flip flipcolor {Nd4 kf3}' games.pgn
  orbit scan 'mate flip {Rd8 kg8}' twic/ lichess.pgn.zst
  orbit scan --stats year,eco,year*result 'flipcolor {Bh7 kg8}' games.pgn
  orbit scan --format jsonl -f windmill.cql all.reel | jq .fen
  orbit scan 'flipcolor {Bh7 kg8 btm check}' games.pgn -o gifts.pgn --comment -o gifts.html
  orbit scan --where white~carlsen --sort date --limit 10 'stalemate' games.pgn
  orbit scan --stats year,eco,elo:100 --stats-output years.csv 'passedpawns' games.reel
  zstdcat big.pgn.zst | orbit scan --count 'Q attackedby q' -
  orbit scan --board '8/8/8/8/3N4/5k2/8/8' --shift --flip --flipcolor games.pgn";

#[derive(Debug, clap::Args)]
#[command(override_usage = USAGE, after_help = AFTER_HELP)]
pub(super) struct Args {
    /// The query (CQL 6.2, or a list of CQL 5; not with -f), then where the games are: PGN, EPD or FEN files (plain,
    /// .zst, .gz, .bz2), folders of such files, reels, or `-` for standard input.
    #[arg(value_name = "QUERY PATH")]
    words: Vec<OsString>,
    /// Read the query from a file.
    #[arg(short, long, value_name = "FILE.cql")]
    file: Option<PathBuf>,
    /// Read many queries from a file, one a line (after a name and a tab, if it should have one), and
    /// print for each how many games and positions it hits. All arguments are paths then.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "board", "count", "copies", "heat", "verify", "stats",
          "conditions", "first", "skip", "limit", "sort", "sample", "seed", "files", "rows", "comment", "all_plies"])]
    queries: Option<PathBuf>,
    #[command(flatten)]
    dialect: DialectArgs,
    /// Print how many games and positions hit, and nothing else.
    #[arg(long)]
    count: bool,
    /// Print which copies of the outermost transform hit most often, N of them (20), and nothing else.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "20",
          conflicts_with_all = ["count", "limit", "skip"])]
    copies: Option<usize>,
    /// Print where on the board hits are, and nothing else: how many by each kind of transform, and a heat map of the
    /// squares on which the copies stand, or of the squares that the query finds.
    #[arg(long, conflicts_with_all = ["count", "limit", "skip"])]
    heat: bool,
    /// Which engine to use; `auto` takes the fastest that can.
    #[arg(long, value_enum, default_value_t = EngineName::Auto)]
    engine: EngineName,
    #[command(flatten)]
    gpu: GpuArgs,
    /// Recompute N segments of 32 positions, spread over the games, on another engine (without N:
    /// everything), and stop if it answers anything else.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    verify: Option<SampleArg>,
    /// Threads to work with [default: one a core].
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print neither summary nor progress.
    #[arg(short, long)]
    quiet: bool,
    /// Exit with 1 if nothing hits.
    #[arg(long)]
    fail_if_none: bool,
    /// List every game that was cut, skipped or repaired in a file.
    #[arg(long, value_name = "FILE")]
    problems: Option<PathBuf>,
    /// List them on stderr as well, and print notes about the query.
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    beside: BesideArgs,
    #[command(flatten)]
    progress: ProgressArgs,
    #[command(flatten)]
    board: BoardArgs,
    #[command(flatten)]
    choosing: ChoosingArgs,
    #[command(flatten)]
    outputs: OutputArgs,
    #[command(flatten)]
    stats: StatsArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EngineName {
    Auto,
    Cpu,
    Gpu,
    Reference,
}

#[derive(Clone, Copy, Debug)]
struct SampleArg(Sample);

impl FromStr for SampleArg {
    type Err = String;

    fn from_str(text: &str) -> Result<SampleArg, String> {
        match (text, text.parse()) {
            ("all", _) => Ok(SampleArg(Sample::All)),
            (_, Ok(segments)) => Ok(SampleArg(Sample::Segments(segments))),
            _ => Err("expected the number of segments to recompute, or `all`".into()),
        }
    }
}

impl Args {
    /// Whether hits are listed, not only counted.
    fn lists(&self) -> bool {
        let is_counted = self.count || self.heat || self.copies.is_some();
        let is_listed = !self.stats.are_wanted() || self.outputs.format.is_some();
        !is_counted && is_listed
    }

    /// Refuses orders that change nothing.
    fn refuse_orders(&self, scan: &Scan) -> Result<(), Failure> {
        let is_by_value = self.choosing.order().is_some_and(|order| order.reads_values());
        if is_by_value && scan.ty() == Type::Bool {
            let why = "--sort value needs a query that has one; this one is a condition, true or not";
            return Err(Failure::Other(why.into()));
        }
        if self.lists() || self.outputs.lists_to_files() {
            return Ok(());
        }
        self.choosing.refuse_order("--count, --copies, --heat and --stats alone list nothing")
    }

    /// Refuses formats that what is printed cannot have.
    fn refuse_formats(&self) -> Result<(), Failure> {
        let is_either = matches!(self.outputs.format, None | Some(FormatName::Text | FormatName::Jsonl));
        if is_either || !(self.count || self.heat || self.copies.is_some()) {
            return Ok(());
        }
        let why = "--count, --copies and --heat print text or one JSON object: choose --format text or jsonl";
        Err(Failure::Other(why.into()))
    }

    fn is_json(&self) -> bool {
        self.outputs.format == Some(FormatName::Jsonl)
    }

    fn engine_options(&self, positions: u64) -> Result<EngineOptions, Failure> {
        let mut options = EngineOptions::default();
        options.engine = match self.engine {
            EngineName::Auto => EngineChoice::Auto,
            EngineName::Cpu => EngineChoice::Cpu,
            EngineName::Gpu => EngineChoice::Gpu,
            EngineName::Reference => EngineChoice::Reference,
        };
        options.gpu = self.gpu.options();
        if options.engine == EngineChoice::Gpu && options.gpu.is_none() {
            return Err(Failure::Other("--engine gpu and --gpu none exclude each other".into()));
        }
        options.positions = positions;
        options.verify = self.verify.map(|sample| sample.0);
        Ok(options)
    }
}

pub(super) fn run(mut args: Args) -> Result<Exit, Failure> {
    let begun = Instant::now();
    let interrupt = Interrupt::install()?;
    let inputs = args.file.iter().chain(&args.queries).map(PathBuf::as_path);
    let outputs = args.outputs.files().iter().chain(&args.problems).map(PathBuf::as_path);
    refuse_clashes(inputs, outputs.chain(args.stats.file()))?;
    if args.queries.is_some() {
        return survey(&args, &interrupt);
    }
    args.refuse_formats()?;
    let board = args.board.query()?;
    let query = QueryText::take(args.file.as_deref(), board, std::mem::take(&mut args.words))?;
    let mut options = DatabaseOptions::default();
    options.interrupt = interrupt.flag.clone();
    options.keep_text = args.outputs.write_games();
    args.beside.apply(&mut options);
    let database = Database::open(&query.paths, options);
    let positions = database.as_ref().map_or(0, Database::positions_known);
    let options = args.engine_options(positions)?;
    let parsed = query.parse(args.dialect)?;
    let scan = Scan::with_query(parsed, &options).map_err(|error| failure(&query, error))?;
    let scan = scan.threads(threads(args.threads));
    query.print_remarks(scan.remarks(), args.verbose);
    let planned = Instant::now();
    args.refuse_orders(&scan)?;
    let database = database?;
    print_substitutes(&database, args.quiet);
    let mut run = Run::new(&args, &scan, database, &interrupt)?;
    let summary = run.scan(&scan).map_err(|error| failure(&query, error));
    run.progress.clear();
    run.problems.finish()?;
    let summary = match (summary, run.fault.take()) {
        (_, Some(fault)) => return Err(fault),
        (summary, None) => summary?,
    };
    if interrupt.is_set() {
        let files = run.outputs.abandoned().chain(run.stats.as_ref().and_then(Statistics::abandoned));
        files.for_each(|path| eprintln!("interrupted; {} was not written", path.display()));
    } else {
        run.finish(&args, &scan, query.text.trim(), summary.finished)?;
    }
    if let Some(notice) = scan.engine().notice() {
        eprintln!("warning: {notice}");
    }
    if !args.quiet {
        let phases = Phases { planning: planned - begun, scanning: planned.elapsed() };
        print_summary(&args, &run, &scan, phases, &summary, interrupt.is_set());
    }
    Ok(match print_failures(&summary) {
        _ if interrupt.is_set() => Exit::Interrupted,
        Exit::Done if args.fail_if_none && run.tally.games == 0 => Exit::NoHits,
        exit => exit,
    })
}

fn print_summary(
    args: &Args,
    run: &Run,
    scan: &Scan,
    phases: Phases,
    summary: &Summary,
    is_interrupted: bool,
) {
    let stop = match (is_interrupted, summary.finished) {
        (true, _) => "interrupted; until then ",
        (false, false) => "stopped at the limit; until then ",
        (false, true) => "",
    };
    let how = match threads(args.threads) {
        1 => format!("{}, 1 thread", scan.engine().name()),
        threads => format!("{}, {threads} threads", scan.engine().name()),
    };
    let tally = if summary.finished { run.tally } else { run.outputs.listed() };
    let lines = summary_lines(&run.totals, tally, phases, !summary.finished, &how);
    eprint!("{stop}");
    lines.iter().for_each(|line| eprintln!("{line}"));
    if let Some(games) = run.passing {
        eprintln!("of all games {} fit --where", grouped(games));
    }
    let listed = run.outputs.listed();
    if listed != tally && args.lists() {
        eprintln!("listed: {} games, {} positions", grouped(listed.games), grouped(listed.positions));
    }
    if let Some((positions, other)) = scan.engine().verified() {
        eprintln!("{} positions recomputed by {other}: no difference", grouped(positions));
    }
}

/// `--queries`: a table of counts.
fn survey(args: &Args, interrupt: &Interrupt) -> Result<Exit, Failure> {
    let begun = Instant::now();
    let queries = queries::read(args.queries.as_deref(), "", args.dialect)?;
    let is_json = match args.outputs.format {
        None | Some(FormatName::Text) => false,
        Some(FormatName::Jsonl) => true,
        _ => return Err(Failure::Other("--queries prints counts: choose --format text or jsonl".into())),
    };
    if matches!(args.engine, EngineName::Reference) {
        return Err(Failure::Other("the reference engine takes one query at a time, not --queries".into()));
    }
    let mut options = DatabaseOptions::default();
    options.interrupt = interrupt.flag.clone();
    args.beside.apply(&mut options);
    let paths: Vec<PathBuf> = args.words.iter().map(PathBuf::from).collect();
    let database = Database::open(&paths, options)?;
    print_substitutes(&database, args.quiet);
    let jobs: Vec<&Job> = queries.iter().map(|query| &query.job).collect();
    let other = |error: ScanError| match error {
        ScanError::Database(error) => Failure::Midway(error),
        error => Failure::Other(error.to_string()),
    };
    let survey = Survey::new(&jobs, &args.engine_options(database.positions_known())?).map_err(other)?;
    let mut problems = Problems::create(args.problems.as_deref(), args.verbose, &database)?;
    let progress = Progress::of(&args.progress, args.quiet);
    let planned = Instant::now();
    let mut fault = None;
    let count = threads(args.threads);
    let ran = survey.run(database, count, |taken| {
        progress.update(taken);
        fault = fault.take().or_else(|| problems.list(taken, &progress).err());
    });
    progress.clear();
    problems.finish()?;
    let (tallies, summary) = match (ran.map_err(other), fault) {
        (_, Some(fault)) => return Err(fault),
        (ran, None) => ran?,
    };
    if let Some(notice) = survey.notice() {
        eprintln!("warning: {notice}");
    }
    let mut out = Out::new();
    if !is_json {
        out.line(format_args!("{:>12}{:>14}  query", "games hit", "positions hit"))?;
    }
    for (query, survey::Tally { games, positions }) in queries.iter().zip(&tallies) {
        if is_json {
            let NamedQuery { name, text, .. } = query;
            out.line(json!({ "name": name, "query": text, "games_hit": games, "positions_hit": positions }))?;
        } else {
            out.line(format_args!("{:>12}{:>14}  {}", grouped(*games), grouped(*positions), query.name))?;
        }
    }
    out.finish()?;
    if !args.quiet {
        let seconds = planned.elapsed().as_secs_f64();
        let rate = (summary.totals.positions as f64 / seconds) as u64;
        let until = if interrupt.is_set() { "interrupted; until then " } else { "" };
        eprintln!("{until}{}", totals_line(&summary.totals));
        eprintln!(
            "{} queries; planning {:.3} s, reading and scanning {seconds:.3} s; {} positions/s ({}, {count} threads)",
            queries.len(),
            (planned - begun).as_secs_f64(),
            grouped(rate),
            survey.engine()
        );
    }
    Ok(match print_failures(&summary) {
        _ if interrupt.is_set() => Exit::Interrupted,
        Exit::Done if args.fail_if_none && tallies.iter().all(|tally| tally.positions == 0) => Exit::NoHits,
        exit => exit,
    })
}

fn failure(query: &QueryText, error: ScanError) -> Failure {
    match error {
        ScanError::Query(diagnostic) => query.failure(&diagnostic),
        ScanError::Database(error) => Failure::Midway(error),
        other => Failure::Other(other.to_string()),
    }
}

/// What `--count` and `--copies` print.
fn print_totals(args: &Args, run: &Run, scan: &Scan, is_whole: bool) -> Result<(), Failure> {
    let mut out = Out::new();
    if args.count {
        let Tally { games, positions } = run.outputs.listed();
        if args.is_json() {
            let mut counts = json!({ "games_hit": games, "positions_hit": positions });
            if is_whole {
                counts["games"] = run.totals.games().into();
                counts["positions"] = run.totals.positions.into();
            }
            out.line(counts)?;
        } else {
            out.line(format_args!("games hit {games}\npositions hit {positions}"))?;
        }
    }
    if let Some(lines_max) = args.copies {
        if args.is_json() {
            let copies = run.copies.iter().zip(scan.copies()).enumerate().map(|(index, (positions, text))| {
                json!({ "copy": index + 1, "text": text, "positions": positions })
            });
            out.line(json!({ "copies": copies.collect::<Vec<_>>() }))?;
        } else {
            copy_lines(&run.copies, &scan.copies(), lines_max).iter().try_for_each(|line| out.line(line))?;
        }
    }
    out.finish()?;
    match &run.study {
        Some(study) if args.heat => print_heat(study, args.is_json()),
        _ => Ok(()),
    }
}

/// What a scan gathers and writes to.
struct Run {
    database: Option<Database>,
    choice: Choice,
    outputs: Outputs,
    names: Names,
    /// The positions that each copy hit, if these are wanted.
    copies: Vec<u64>,
    study: Option<Study>,
    /// What hits and counts, listed or not.
    tally: Tally,
    /// Games that the conditions fit, if there are any.
    passing: Option<u64>,
    stats: Option<Statistics>,
    totals: Totals,
    problems: Problems,
    progress: Progress,
    fault: Option<Failure>,
}

/// What was found in one block, on the scan's threads.
struct Finding {
    hits: Hits,
    games: Option<Vec<bool>>,
    copy_hits: Option<CopyHits>,
    copies: Vec<u64>,
    reports: Vec<Report>,
    stats: Option<Counts>,
    view: Option<View>,
}

impl Run {
    fn new(args: &Args, scan: &Scan, database: Database, interrupt: &Interrupt) -> Result<Run, Failure> {
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
        Ok(Run {
            names: Names::new(&scan.filter(), sources),
            study,
            copies: vec![0; if args.copies.is_some() { scan.engine().copies() } else { 0 }],
            tally: Tally::default(),
            passing: has_conditions.then_some(0),
            stats: Statistics::new(&args.stats, &database, interrupt)?,
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
    fn finish(&mut self, args: &Args, scan: &Scan, query: &str, is_whole: bool) -> Result<(), Failure> {
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

    fn scan(&mut self, scan: &Scan) -> Result<Summary, ScanError> {
        let mut database = self.database.take().expect("a run scans once");
        let formats = self.outputs.formats();
        let lens = self.study.as_ref().map(Study::lens);
        let stats = self.stats.as_ref().map(|stats| stats.stats().clone());
        let stats_want = |test: fn(&Stats) -> bool| stats.as_ref().is_some_and(test);
        let reads_tags = scan.reads_tags() || formats.reads_tags() || self.choice.reads_tags();
        if !reads_tags && lens.is_none() && !stats_want(Stats::reads_tags) {
            database = database.without_tags();
        }
        let (names, choice, copies) = (self.names.clone(), self.choice.clone(), self.copies.len());
        let names_copies = (formats.names_copies() || lens.is_some()) && names.copies.len() > 1;
        let names_copies = names_copies || stats_want(Stats::wants_copies);
        let wants_values = lens.is_some() || stats_want(Stats::wants_values);
        let want = if wants_values { Want::Values } else { formats.want() };
        let work = |block: &Block, mut hits: Hits| {
            let games = choice.games(block);
            choice.apply(block, games.as_deref(), &mut hits);
            let mut counts = vec![0; copies];
            if copies > 0 {
                scan.engine().copy_counts(block, &hits, &mut counts)?;
            }
            let copy_hits = if names_copies { Some(scan.copy_hits(block, &hits)?) } else { None };
            let mut finding = Finding {
                hits,
                games,
                copy_hits,
                copies: counts,
                reports: Vec::new(),
                stats: None,
                view: None,
            };
            let found = finding.found(block, &names);
            let stats = stats.as_ref().map(|stats| stats.count(&found));
            (finding.reports, finding.view) =
                (formats.reports(&found), lens.as_ref().map(|lens| lens.look(&found)));
            finding.stats = stats;
            Ok(finding)
        };
        scan.for_each_block(database, want, work, |taken, finding| {
            self.take(&taken, finding).unwrap_or_else(|fault| {
                self.fault = Some(fault);
                ControlFlow::Break(())
            })
        })
    }

    fn take(&mut self, taken: &Taken, mut finding: Finding) -> Result<ControlFlow<()>, Failure> {
        self.totals.add(&taken.totals);
        let games_hit = finding.hits.games(&taken.block);
        self.progress.update_search(taken, games_hit);
        self.problems.list(taken, &self.progress)?;
        for (sum, count) in self.copies.iter_mut().zip(&finding.copies) {
            *sum += count;
        }
        if let (Some(passing), Some(games)) = (&mut self.passing, &finding.games) {
            *passing += games.iter().filter(|passes| **passes).count() as u64;
        }
        if let (Some(study), Some(view)) = (&mut self.study, finding.view.take()) {
            study.add(view);
        }
        if let (Some(stats), Some(counts)) = (&mut self.stats, finding.stats.take()) {
            stats.take(counts);
        }
        let found = finding.found(&taken.block, &self.names);
        self.tally.games += games_hit;
        self.tally.positions += found.hits.count();
        let flow = self.outputs.take(taken, &found, &finding.reports, &self.progress)?;
        if self.outputs.are_closed() && !self.stats.as_ref().is_some_and(Statistics::have_file) {
            // Nobody reads on, and a thread that waits for standard input might never notice.
            self.progress.clear();
            self.problems.finish()?;
            std::process::exit(0);
        }
        // Statistics and pictures are of all games, however many are listed.
        let needs_all = self.stats.is_some() || self.study.is_some();
        Ok(if needs_all { ControlFlow::Continue(()) } else { flow })
    }
}

impl Finding {
    fn found<'a>(&'a self, block: &'a Block, names: &'a Names) -> Found<'a> {
        let Finding { hits, games, copy_hits, .. } = self;
        Found { block, hits, games: games.as_deref(), copies: copy_hits.as_ref(), names }
    }
}
