//! Implements `orbit cql`, which accepts the command line of the CQL program.

mod options;
mod script;
mod search;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use orbit_core::diagnostic::Diagnostic;
use orbit_core::files::refuse_clashes;
use orbit_database::StreamOptions;
use orbit_engine::EngineError;
use orbit_query::TypedQuery;
use orbit_search::executor::{EngineOptions, Executor, ScanError};
use orbit_search::report::Phases;

use self::options::{Action, CqlOptions};
use self::script::{Script, with_ending};
use self::search::CqlSearch;
use super::common::{CtrlC, Out, print_failures, threads};
use super::failure::{Exit, Failure};
use super::help;
use super::reading::{open, print_substitutes};

const USAGE: &str = "orbit cql [OPTIONS] SCRIPT.cql";

const BEFORE_OPTIONS: &str = "\
Takes the same arguments as CQL: in a shell script, replace `cql` with `orbit cql`. Games that \
match are written as PGN, with their side lines, comments and glyphs, and with the comments of the script and those of \
CQL: the number of the game, CQL at each matching position, what `find`, `line`, `path` and `echo` found. The file is \
SCRIPT-out.pgn in the current folder unless -output or the header of the script names another one.

The games are those of -input, or of `input` in the header of the script: a path relative to the folder of the script or \
to the current folder. PGN, .zst, .gz, .bz2 and .zip files and reels are read. `.pgn` and `.cql` may be left out of names.

Options, with one dash or two:
";

const EXAMPLES: &str = "
Exit code: 0 if the search succeeded, with or without matches; 2 if the script, an option or the output is wrong; 3 if \
a source was not read to its end; 4 if the system refuses memory; 130 after Ctrl-C.

Examples:
  orbit cql -i games.pgn -o out.pgn -matchcount 2 5 script.cql
  orbit cql -i games.pgn -cql 'flip {Rd8 kg8} mate'
  orbit cql -i games.pgn.zst -flipcolor -white Carlsen -year 2010 2020 x.cql";

/// Returns the help text that follows the usage line.
fn after_help() -> String {
    format!("{BEFORE_OPTIONS}{}{EXAMPLES}", options::list())
}

#[derive(Debug, clap::Args)]
#[command(override_usage = USAGE, after_help = after_help())]
pub(super) struct Args {
    /// Options of CQL, and a script.
    #[arg(value_name = "OPTIONS SCRIPT.cql", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let begun = Instant::now();
    let options = match options::read(args.words)? {
        Action::Help => return help::of_command(&["orbit", "cql", "--help"]),
        Action::Version => return version(),
        Action::Search(options) => options,
    };
    let interrupt = CtrlC::install()?;
    let script = Script::from_options(&options)?;
    let mut parsed = script.parse()?;
    options.apply(&mut parsed.query);
    let input = input(&options, &parsed.query, &script)?;
    let output = output(&options, &parsed.query, &script);
    if output != Path::new("-") {
        refuse_clashes(&script.path, [&output])?;
    }
    let mut database_options =
        StreamOptions { interrupt: interrupt.flag.clone(), ..StreamOptions::default() };
    database_options.parse.variations = parsed.query.variations;
    database_options.parse.annotations = parsed.query.reads_comments();
    // Notes about the games are not printed yet, because notes about the script come first.
    let database = open(&[input], database_options, true)?;
    let mut engine = EngineOptions::default();
    engine.positions = database.positions_known();
    let scan = Executor::with_query(parsed, &engine).map_err(|error| failure(&script, error))?;
    let scan = scan.threads(threads(options.threads));
    script.print_remarks(scan.remarks());
    scan.notes().iter().for_each(|note| message!("note: {note}"));
    print_substitutes(&database, false);
    let planned = Instant::now();
    let mut search = CqlSearch::new(&options, &scan, &database, &output)?;
    let summary = search.run(&scan, database).map_err(|error| failure(&script, error))?;
    if interrupt.is_set() {
        message!("interrupted; {} was not written", output.display());
    } else {
        search.finish(&scan)?;
    }
    let phases = Phases { planning: planned - begun, scanning: planned.elapsed() };
    search.print_summary(&scan, phases, &summary, interrupt.is_set());
    if !interrupt.is_set() && output != Path::new("-") {
        message!("written: {}", output.display());
    }
    Ok(match print_failures(&summary) {
        _ if interrupt.is_set() => Exit::Interrupted,
        exit => exit,
    })
}

fn version() -> Result<Exit, Failure> {
    let mut out = Out::new();
    out.line(format_args!("orbit {}, for scripts of CQL 6.2", env!("CARGO_PKG_VERSION")))?;
    out.finish()?;
    Ok(Exit::Done)
}

fn input(options: &CqlOptions, query: &TypedQuery, script: &Script) -> Result<PathBuf, Failure> {
    let path = match (&options.input, &query.header.input) {
        (Some(path), _) if path == Path::new("-") => return Ok(path.clone()),
        (Some(path), _) => with_ending(path, "pgn"),
        (None, Some(name)) => {
            let folder = script.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
            let beside = with_ending(&folder.join(name), "pgn");
            if beside.exists() { beside } else { with_ending(Path::new(name), "pgn") }
        }
        (None, None) => {
            return Err(Failure::Other(
                "there are no games to search: name them with -input, or with `cql(input games.pgn)` in the script"
                    .into(),
            ));
        }
    };
    if options.input.is_none() && !path.exists() {
        return Err(Failure::Other(format!(
            "{}: the script's header names this file, and it does not exist: name the games with -input",
            path.display()
        )));
    }
    Ok(path)
}

/// Returns the path of the output. For standard output, this is `-`.
fn output(options: &CqlOptions, query: &TypedQuery, script: &Script) -> PathBuf {
    let named = query.header.output.as_ref().map(PathBuf::from);
    options.output.clone().or(named).unwrap_or_else(|| script.output())
}

/// Converts an error to a failure. For an error in the query, the message shows its place in the text.
fn failure(script: &Script, error: ScanError) -> Failure {
    match error {
        ScanError::Query(diagnostic) => script.failure(&diagnostic),
        ScanError::Engine(EngineError::Query { game, place, diagnostic, .. }) => {
            let message = format!("game {game}, {place}: {}", diagnostic.message);
            script.failure(&Diagnostic { message, ..*diagnostic })
        }
        other => other.into(),
    }
}
