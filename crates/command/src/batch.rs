//! Implements `orbit batch`, which counts the games and positions that many themes hit.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use orbit_core::diagnostic::{Diagnostic, Severity};
use orbit_core::files::refuse_clashes;
use orbit_engine::PreparedQuery;
use orbit_plan::PlanOptions;
use orbit_search::choice::Condition;
use orbit_search::executor::{EngineChoice, EngineOptions, Executor};
use orbit_search::run::{Collectors, StatisticsCollector, WholeTextsCollector};
use orbit_search::stats::{Grouping, Stats, ThemeLabel, ThemeMatrix};
use orbit_search::themes::{self, CATALOGUE, Theme, ThemeFault, ThemesError};
use orbit_search::{Chosen, Request};

use super::batch_table;
use super::choosing::{missed_lines, texts};
use super::common::{
    CtrlC, GpuArgs, ProgressArgs, ProgressDisplay, counted, fast_engine, holds_games, shown, threads,
};
use super::failure::{Exit, Failure};
use super::pass::{BatchPass, PassSource};
use super::players::{self, PlayerArgs};
use super::problems::Problems;
use super::reading::{ReadingArgs, open};
use super::sink::{OutputFiles, Sink, named};
use super::table_format::TableFormat;
use super::terminal::{self, Remark};

const USAGE: &str = "orbit batch [OPTIONS] THEMES PATH...\n       orbit batch --list [THEMES]\n       \
orbit batch --show NAME [THEMES]";

const AFTER_HELP: &str = "\
A theme is a query with a name. A file of themes is TOML:
  include = [\"more.toml\", \"catalogue\"]   # another file beside this one; the built-in themes

  [[theme]]
  name = \"knight-fork\"                   # letters from a to z, digits and `-`
  query = 'flipcolor {(N->k) & (N->q)}'   # CQL; '''...''' if it has several lines
  title = \"Knight fork\"                  # this field and the next ones may be left out
  group = \"tactics\"
  description = \"One knight attacks king and queen.\"
  source = \"where it is explained\"
  hits = [\"FEN\"]                         # positions that the query hits; moves may follow after a
                                         # comma: \"FEN, Bxh7+ Kxh7\"
  misses = [\"FEN\"]                       # positions that it does not hit

Formats:
  text  a table of the themes under the names of their groups; with --by, one table for each
        grouping: the percentage of each group's games that each theme hits; of two groups also the
        difference in percentage points, with its 95 % interval
  csv   a row for each theme, and with --by another one for each group of games or positions:
        theme, title, group, grouping (`total`, or a grouping of --by), key, games_hit, games,
        positions_hit, positions, share_games (from 0 to 1; share_games_low and share_games_high
        are its 95 % interval), share_positions, score_of (white, or player), score_hit, score_all,
        difference (the group's share_games less that of the first group; difference_low and
        difference_high are its 95 % interval), side_wins, side_draws, side_losses, side_score (of
        themes under flipcolor: how the games ended for the side that has the pattern)
  json  one object: games, positions, and themes; each theme has the names and counts of csv, and
        groupings with the counts of its groups

Exit code: 0 if the search succeeded, with or without hits; 1 if no theme hits and --fail-if-none is
given; 2 if a theme, an option or an output is wrong; 3 if a source was not read to its end; 4
if the system refuses memory; 130 after Ctrl-C.

Examples:
  orbit batch catalogue games.pgn
  orbit batch catalogue all.reel --group mates -o mates.csv
  orbit batch mine.toml all.reel --by year,elo:200 --where 'elo>=2400'
  orbit batch catalogue ours.pgn theirs.pgn --by source
  orbit batch --list
  orbit batch --show greek-gift";

#[derive(Debug, clap::Args)]
#[command(override_usage = USAGE, after_help = AFTER_HELP)]
pub(super) struct Args {
    /// A file of themes, or `catalogue` for the built-in themes.
    #[arg(required_unless_present_any = ["list", "show"])]
    themes: Option<PathBuf>,
    /// The files to search: PGN, EPD or FEN files (plain, .zst, .gz or .bz2), .zip archives and folders of such files, reels,
    /// or `-` for standard input.
    ///
    /// A build with the feature `https` also reads URLs of such files, and one with the feature `sevenz` also .7z archives.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Search only for the themes with these names; with --group, also for those of the groups.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Search only for the themes of these groups; with --only, also for those with the names.
    #[arg(long, value_name = "GROUP", value_delimiter = ',')]
    group: Vec<String>,
    /// Count the hits of each group of games or positions separately, such as `year` or `elo:200`.
    ///
    /// Groups are made by year, decade, eco, result, source (the file), folder, elo:100 (in steps of 100), ply:10, player,
    /// tag:Name and more; see --stats of `orbit scan --help`. `year,eco` groups by year, and separately by opening.
    #[arg(long, value_name = "GROUPING")]
    by: Option<String>,
    /// Count only games that meet a condition, such as `elo>=2600`, or hits at positions that meet it, such as `clock<30`.
    ///
    /// This option may be given several times; then all conditions must be met. `orbit scan --help` explains how to write
    /// them.
    #[arg(short = 'w', long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    #[command(flatten)]
    player: PlayerArgs,
    /// Print the counts in this format [default: the ending of the name of --output, else text].
    #[arg(short = 'F', long, value_enum)]
    format: Option<TableFormat>,
    /// Write the counts to a file whose name ends in .txt, .csv or .json (.zst may follow).
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// List the themes without searching.
    #[arg(long, conflicts_with_all = ["show", "by", "conditions", "whose"])]
    list: bool,
    /// Print one theme with its query, description and examples, without searching.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["by", "conditions", "whose", "only", "group"])]
    show: Option<String>,
    /// Choose the engine that evaluates the queries; all engines give the same answers.
    #[arg(long, value_parser = fast_engine(), default_value_t)]
    engine: EngineChoice,
    #[command(flatten)]
    gpu: GpuArgs,
    #[command(flatten)]
    beside: ReadingArgs,
    /// Use N threads [default: one for each core].
    #[arg(short = 'j', long, value_name = "N", value_parser = super::common::from_one::<NonZeroUsize>)]
    threads: Option<NonZeroUsize>,
    /// Print neither a summary nor progress.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    progress: ProgressArgs,
    /// Exit with code 1 if no theme hits.
    #[arg(long)]
    fail_if_none: bool,
    /// Write to FILE a list of the games that were cut, skipped or repaired.
    ///
    /// A game that cannot be read to its end is cut; the moves before the fault are kept. A game is skipped if none of its
    /// positions can be read, and trimmed if side lines were left out or cut. Each line of the list names the source, the
    /// game, the byte, the ply and the reason.
    #[arg(long, value_name = "FILE")]
    problems: Option<PathBuf>,
    /// Print on stderr which games were cut, skipped or repaired, and notes about the queries.
    #[arg(short, long)]
    verbose: bool,
}

impl Args {
    /// Returns a request with the conditions, the player, the engine and the reading options from the arguments.
    fn request(&self) -> Request {
        let mut request = Request { conditions: texts(&self.conditions), ..Request::default() };
        request.engine = Some(self.engine);
        self.player.put(&mut request);
        self.beside.put(&mut request);
        request
    }

    /// Returns the format that `--format` names, or else the one that the extension of the output file implies.
    fn table_format(&self) -> Result<TableFormat, Failure> {
        TableFormat::from_option(self.format, "--format", self.output())
    }

    /// Returns the path of the output file, or `None` for standard output.
    fn output(&self) -> Option<&Path> {
        named(self.output.as_deref())
    }

    fn engine_options(&self, positions: u64) -> Result<EngineOptions, Failure> {
        self.gpu.engine_options(self.engine, None, positions)
    }

    /// Returns the groupings of `--by`.
    fn groupings(&self) -> Result<Vec<Grouping>, Failure> {
        let groupings = self.by.as_deref().map_or(Ok(Vec::new()), Grouping::list);
        groupings.map_err(|error| Failure::Other(error.to_string()))
    }
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let path = args.themes.as_deref().unwrap_or(Path::new(CATALOGUE));
    let all = themes::load(path).map_err(|error| failure(error, path))?;
    if let Some(name) = &args.show {
        let theme = themes::find(&all, name).map_err(unknown)?;
        batch_table::show(theme, args.table_format()?, Sink::open(args.output())?)?;
        return Ok(Exit::Done);
    }
    let chosen = themes::choose(all, &args.only, &args.group).map_err(unknown)?;
    if args.list {
        batch_table::list(&chosen, args.table_format()?, Sink::open(args.output())?)?;
        return Ok(Exit::Done);
    }
    if args.paths.is_empty() {
        let missing = "there are no games to search: name PGN files, folders or reels after the themes, or `-` for \
                       standard input; `orbit batch catalogue games.pgn` searches for the built-in themes";
        return Err(Failure::Other(missing.into()));
    }
    search(&args, &chosen)
}

/// Searches the games for all themes, and writes the number of games and positions that match each theme.
fn search(args: &Args, themes: &[Theme]) -> Result<Exit, Failure> {
    let begun = Instant::now();
    refuse_clashes(&args.themes, args.output().into_iter().chain(args.problems.as_deref()))?;
    let interrupt = CtrlC::install()?;
    let groupings = args.groupings()?;
    let Chosen { choice, .. } = args.request().check()?;
    choice.check_theme_groupings(&groupings)?;
    let stats = Stats::new(groupings);
    let stats = if choice.player.is_some() { stats.for_player() } else { stats };
    // CSV and JSON contain the score of each theme's matching side (the side whose pieces form the pattern). Text does not, so the
    // results of these sides are not counted for it, which saves time. An invalid format is reported later, after the check that
    // the output is not an input.
    let is_text = matches!(args.table_format(), Ok(TableFormat::Text));
    let stats = if is_text { stats } else { stats.with_sides() };
    let mut queries = themes.iter().map(prepared).collect::<Result<Vec<PreparedQuery>, Failure>>()?;
    print_remarks(themes, if args.verbose { Severity::Note } else { Severity::Warning });
    let asked = queries.iter_mut().map(|prepared| &mut prepared.query);
    let options = args.beside.options(asked, choice.wants() | stats.wants(), &interrupt);
    let database = open(&args.paths, options, args.quiet)?;
    let options = args.engine_options(database.positions_known())?;
    let scan = Executor::new(queries, &options)?.threads(threads(args.threads));
    let files = OutputFiles::new(&database);
    let sink = files.open(args.output())?;
    let format = args.table_format()?;
    let pass = BatchPass {
        scan: &scan,
        interrupt: &interrupt,
        progress: ProgressDisplay::from_args(&args.progress, args.quiet),
        queries: counted(themes.len(), "theme", "themes"),
        begun,
        planned: Instant::now(),
        quiet: args.quiet,
        fail_if_none: args.fail_if_none,
    };
    let problems = Problems::create(args.problems.as_deref(), args.verbose, files)?;
    let counter = StatisticsCollector::new(stats);
    let (statistics, spellings) = (Some(counter.clone()), players::spellings(&choice));
    let whole_texts = WholeTextsCollector::new(&choice);
    let collectors =
        Collectors { statistics, spellings, whole_texts: whole_texts.clone(), ..Collectors::default() };
    let (parts, summary) = pass.collect(&choice, collectors, PassSource::Read(database), problems)?;
    let counts = counter.counts(parts.statistics.unwrap_or_default(), scan.filters());
    let mut lines: Vec<Remark> = args.beside.unique_line(&summary).into_iter().map(Remark::from).collect();
    lines.extend(players::summary(&choice, &parts.spellings.unwrap_or_default(), summary.finished));
    if let (Some(collector), Some(part), true) = (whole_texts, parts.whole_texts, summary.finished) {
        lines.extend(missed_lines(&collector, &part).map(Remark::from));
    }
    let is_hit = counts.iter().any(|counts| counts.total().hit.games > 0);
    pass.finish(&summary, is_hit, &lines, || match args.output() {
        // A truncated file would look complete, so none is written.
        Some(path) if interrupt.is_set() => {
            message!("interrupted; {} was not written", path.display());
            Ok(())
        }
        _ => {
            let labels = themes.iter().map(ThemeLabel::from).collect();
            batch_table::write(&ThemeMatrix::new(labels, counts, counter.stats().groupings()), format, sink)
        }
    })
}

fn unknown(error: Diagnostic) -> Failure {
    Failure::Other(error.to_string())
}

fn prepared(theme: &Theme) -> Result<PreparedQuery, Failure> {
    let prepared = PreparedQuery::new(theme.parsed.query.clone(), PlanOptions::default())
        .map_err(|error| Failure::Query(render(&theme.fault(&error))))?;
    for warning in prepared.planner.warnings() {
        terminal::drawn_message(&render(&theme.fault(&warning)));
    }
    Ok(prepared)
}

fn print_remarks(themes: &[Theme], least: Severity) {
    for theme in themes {
        let remarks = theme.parsed.remarks.iter();
        for remark in remarks.filter(|remark| remark.severity <= least) {
            terminal::drawn_message(&render(&theme.fault(remark)));
        }
    }
}

fn render(fault: &ThemeFault) -> String {
    let (text, origin) = fault.text();
    terminal::rendered(&fault.diagnostic, text, origin, 1)
}

fn failure(error: ThemesError, path: &Path) -> Failure {
    if holds_games(path) {
        let path = shown(path);
        return Failure::Other(format!(
            "{path} holds games, but the first argument is the themes: write `orbit batch catalogue {path}` to search it for \
             the built-in themes, or `orbit batch THEMES.toml {path}` for your own"
        ));
    }
    match error {
        ThemesError::Fault(fault) => Failure::Query(render(&fault)),
        other => Failure::Other(other.to_string()),
    }
}
