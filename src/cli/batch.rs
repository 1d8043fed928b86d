//! `orbit batch`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::ValueEnum;
use orbit_chess::choice::{Choice, Condition};
use orbit_chess::database::{Database, DatabaseOptions};
use orbit_chess::diagnostic::{Severity, nearest};
use orbit_chess::engine::PreparedQuery;
use orbit_chess::files::refuse_clashes;
use orbit_chess::plan::Options;
use orbit_chess::report::Phases;
use orbit_chess::run::{Collectors, StatisticsCollector};
use orbit_chess::scan::{EngineChoice, EngineOptions, Scan};
use orbit_chess::stats::{By, Grouping, Stats};
use orbit_chess::themes::{self, CATALOGUE, Fault, Theme, ThemesError};

use super::batch_table::{self, Matrix};
use super::common::{
    GpuArgs, Interrupt, Progress, ProgressArgs, counted, create_output, print_failures, threads,
};
use super::pass;
use super::problems::Problems;
use super::reading::{ReadingArgs, print_substitutes};
use super::table_format::{Sink, TableFormat};
use super::terminal::{self};
use super::{Exit, Failure};

const USAGE: &str = "orbit batch [OPTIONS] THEMES PATH...\n       orbit batch --list [THEMES]\n       \
orbit batch --show NAME [THEMES]";

const AFTER_HELP: &str = "\
A file of themes is TOML:
  include = [\"more.toml\", \"catalogue\"]   # beside this file; what is built in

  [[theme]]
  name = \"knight-fork\"                   # letters from a to z, digits and `-`
  query = 'flipcolor {(N->k) & (N->q)}'   # CQL; '''...''' over several lines
  title = \"Knight fork\"                  # this and all that follows may be left out
  group = \"tactics\"
  description = \"One knight attacks king and queen.\"
  source = \"where it is explained\"
  hits = [\"FEN\"]                         # positions that it hits
  misses = [\"FEN\"]                       # and some that it does not

Formats:
  text  a table, grouped; with --by, for each theme the share of each group's games that hit,
        in percent
  csv   a row for each theme, then one for each of its groups under --by: theme, title, group,
        grouping (`total` or as under --by), key, games_hit, games, positions_hit, positions,
        share_games (from 0 to 1, with share_games_low and share_games_high, an interval of
        95 %), share_positions, white_score_hit, white_score_all
  json  one object: games, positions, and themes, each with the same names and `groupings`

Exit code: 0 if the search was done, whether or not something was found; 1 if nothing was found
under --fail-if-none; 2 for wrong themes, usage or output; 3 if a source was not read to its end;
130 after Ctrl-C.

Examples:
  orbit batch catalogue games.pgn
  orbit batch catalogue all.reel --group mates -o mates.csv
  orbit batch mine.toml all.reel --by year,elo:200 --where 'elo>=2400'
  orbit batch --list
  orbit batch --show greek-gift";

#[derive(Debug, clap::Args)]
#[command(override_usage = USAGE, after_help = AFTER_HELP)]
pub(super) struct Args {
    /// A file of themes, or `catalogue` for those that are built in.
    #[arg(required_unless_present_any = ["list", "show"])]
    themes: Option<PathBuf>,
    /// Where the games are: PGN, EPD or FEN files, folders, reels, or `-` for standard input.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Take these themes alone, by name.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Take the themes of these groups alone (and those of --only).
    #[arg(long, value_name = "GROUP", value_delimiter = ',')]
    group: Vec<String>,
    /// Split the games, or their positions, into groups: year, decade, eco, result, elo:100, ply:10,
    /// player, tag:Name and more; several with commas.
    #[arg(long, value_name = "GROUPING")]
    by: Option<String>,
    /// Count only games of which this is true, as in `orbit scan`: `white~Carlsen`, `elo>=2600`, `eco=B9*`.
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    /// How the counts are printed [default: what the name of --output ends in (.txt, .csv, .json), else text].
    #[arg(long, value_enum)]
    format: Option<TableFormat>,
    /// Write them to a file, whose name ends in .txt, .csv or .json (perhaps with .zst after it).
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// List the themes, and search nothing.
    #[arg(long, conflicts_with_all = ["show", "by", "conditions"])]
    list: bool,
    /// Print all of one theme, and search nothing.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["by", "conditions", "only", "group"])]
    show: Option<String>,
    /// Which engine to use; `auto` takes the fastest that can.
    #[arg(long, value_enum, default_value_t = EngineName::Auto)]
    engine: EngineName,
    #[command(flatten)]
    gpu: GpuArgs,
    #[command(flatten)]
    beside: ReadingArgs,
    /// Threads to work with [default: one a core].
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print neither summary nor progress.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    progress: ProgressArgs,
    /// Exit with 1 if no theme hits.
    #[arg(long)]
    fail_if_none: bool,
    /// List every game that was cut, skipped or repaired in a file.
    #[arg(long, value_name = "FILE")]
    problems: Option<PathBuf>,
    /// List them on stderr as well, and print notes about the queries.
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EngineName {
    Auto,
    Cpu,
    Gpu,
}

impl Args {
    /// What was asked for, or what the name of the file ends in.
    fn table_format(&self) -> Result<TableFormat, Failure> {
        TableFormat::of(self.format, "--format", self.output.as_deref())
    }

    fn engine_options(&self, positions: u64) -> Result<EngineOptions, Failure> {
        let choice = match self.engine {
            EngineName::Auto => EngineChoice::Auto,
            EngineName::Cpu => EngineChoice::Cpu,
            EngineName::Gpu => EngineChoice::Gpu,
        };
        self.gpu.engine_options(choice, positions)
    }

    /// The groupings of `--by`: of games and positions alone, since the hits of themes have nothing in common.
    fn groupings(&self) -> Result<Vec<Grouping>, Failure> {
        let Some(text) = &self.by else { return Ok(Vec::new()) };
        let groupings = Grouping::list(text).map_err(|error| Failure::Other(error.to_string()))?;
        match groupings.iter().find(|by| by.second.is_some() || by.properties().any(By::is_of_hits)) {
            Some(other) => Err(Failure::Other(format!(
                "`{other}` is no grouping for themes: choose a property of games or positions, such as year, eco \
                 or ply; several with commas make a table each"
            ))),
            None => Ok(groupings),
        }
    }
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let all = themes::load(args.themes.as_deref().unwrap_or(Path::new(CATALOGUE))).map_err(failure)?;
    if let Some(name) = &args.show {
        let theme = find(&all, name)?;
        batch_table::show(theme, args.table_format()?, Sink::open(args.output.as_deref())?)?;
        return Ok(Exit::Done);
    }
    let chosen = choose(all, &args.only, &args.group)?;
    if args.list {
        batch_table::list(&chosen, args.table_format()?, Sink::open(args.output.as_deref())?)?;
        return Ok(Exit::Done);
    }
    if args.paths.is_empty() {
        let missing = "there are no games to search: name PGN files, folders or reels after the themes, or `-` for \
                       standard input; `orbit batch catalogue games.pgn` takes the themes that are built in";
        return Err(Failure::Other(missing.into()));
    }
    search(&args, &chosen)
}

/// Runs all themes over the games and writes what they hit.
fn search(args: &Args, themes: &[Theme]) -> Result<Exit, Failure> {
    let begun = Instant::now();
    refuse_clashes(&args.themes, args.output.iter().chain(&args.problems))?;
    let interrupt = Interrupt::install()?;
    let stats = Stats::new(args.groupings()?);
    let queries = themes.iter().map(prepared).collect::<Result<Vec<PreparedQuery>, Failure>>()?;
    print_remarks(themes, args.verbose);
    let mut options = DatabaseOptions::default();
    options.interrupt = interrupt.flag.clone();
    args.beside.apply(&mut options);
    let database = Database::open(&args.paths, options)?;
    print_substitutes(&database, args.quiet);
    let options = args.engine_options(database.positions_known())?;
    let scan = Scan::of(queries, &options)?.threads(threads(args.threads));
    let create = |path: &PathBuf| create_output(path, &database, &interrupt);
    let sink = Sink(args.output.as_ref().map(create).transpose()?);
    let format = args.table_format()?;
    let planned = Instant::now();
    let progress = Progress::of(&args.progress, args.quiet);
    let choice = Choice { conditions: args.conditions.clone(), first: false };
    let problems = Problems::create(args.problems.as_deref(), args.verbose, &database, &interrupt)?;
    let counter = StatisticsCollector::new(stats);
    let collectors = Collectors { statistics: Some(counter.clone()), ..Collectors::default() };
    let (parts, summary) = pass::collect(&scan, &choice, collectors, database, problems, &progress)?;
    let counts = counter.counts(parts.statistics.unwrap_or_default(), themes.len());
    if let Some(notice) = scan.engine().notice() {
        message!("warning: {notice}");
    }
    match &args.output {
        // A file that ends early would pass for a whole one.
        Some(path) if interrupt.is_set() => message!("interrupted; {} was not written", path.display()),
        _ => {
            Matrix { themes, counts: &counts, groupings: counter.stats().groupings() }.write(format, sink)?
        }
    }
    if !interrupt.is_set() {
        progress.done();
    }
    if !args.quiet {
        let phases = Phases { planning: planned - begun, scanning: planned.elapsed() };
        pass::print_summary(
            &counted(themes.len(), "theme", "themes"),
            &scan,
            phases,
            args.threads,
            &summary,
            &interrupt,
        );
    }
    Ok(match print_failures(&summary) {
        _ if interrupt.is_set() => Exit::Interrupted,
        Exit::Done if args.fail_if_none && counts.iter().all(|counts| counts.total().hit.games == 0) => {
            Exit::NoHits
        }
        exit => exit,
    })
}

/// The themes that are wanted, in the order in which they were loaded.
fn choose(mut all: Vec<Theme>, names: &[String], groups: &[String]) -> Result<Vec<Theme>, Failure> {
    if names.is_empty() && groups.is_empty() {
        return Ok(all);
    }
    names.iter().try_for_each(|name| find(&all, name).map(drop))?;
    for group in groups {
        let known: Vec<&str> = all.iter().map(|theme| &*theme.group).collect();
        if !known.contains(&group.as_str()) {
            return Err(unknown("group of themes", group, &known));
        }
    }
    all.retain(|theme| names.contains(&theme.name) || groups.contains(&theme.group));
    Ok(all)
}

fn find<'a>(all: &'a [Theme], name: &str) -> Result<&'a Theme, Failure> {
    all.iter().find(|theme| theme.name == name).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|theme| &*theme.name).collect();
        unknown("theme", name, &known)
    })
}

fn unknown(what: &str, name: &str, known: &[&str]) -> Failure {
    let hint = match nearest(name, known.iter()) {
        Some(hint) => format!("did you mean `{hint}`?"),
        None => String::from("`orbit batch --list THEMES` lists what there is"),
    };
    Failure::Other(format!("there is no {what} `{name}`: {hint}"))
}

fn prepared(theme: &Theme) -> Result<PreparedQuery, Failure> {
    let prepared = PreparedQuery::new(theme.parsed.query.clone(), Options::default())
        .map_err(|error| Failure::Query(render(&theme.fault(&error))))?;
    for warning in prepared.planner.warnings() {
        message!("{}", render(&theme.fault(&warning)));
    }
    Ok(prepared)
}

fn print_remarks(themes: &[Theme], with_notes: bool) {
    for theme in themes {
        let remarks = theme.parsed.remarks.iter();
        for remark in remarks.filter(|remark| with_notes || remark.severity != Severity::Note) {
            terminal::drawn_message(&render(&theme.fault(remark)));
        }
    }
}

fn render(fault: &Fault) -> String {
    fault.render(terminal::has_colors())
}

fn failure(error: ThemesError) -> Failure {
    match error {
        ThemesError::Fault(fault) => Failure::Query(render(&fault)),
        other => Failure::Other(other.to_string()),
    }
}
