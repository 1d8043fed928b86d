//! The command line: arguments, printing and exit codes. All other code is in library crates.
//!
//! Results go to stdout; messages and progress go to stderr.

#![deny(unsafe_code, missing_docs)]

/// Prints a message line.
macro_rules! message {
    ($($line:tt)*) => { $crate::terminal::message(format_args!($($line)*)) };
}

pub mod allocator;
mod batch;
mod batch_table;
mod bench;
mod board;
mod choosing;
mod common;
mod completions;
mod convert;
mod cql;
mod dashes;
mod devices;
pub mod drivers;
mod explain;
mod explore;
mod failure;
mod games;
mod help;
mod index;
mod info;
mod job;
mod man;
mod manners;
#[doc(hidden)]
pub mod measuring;
pub mod memory;
mod outputs;
mod pass;
mod pictures;
mod player;
mod players;
mod positions;
mod problems;
mod progress;
mod queries;
mod query_text;
mod reading;
mod repl;
mod scan;
mod serve;
mod show;
mod sink;
mod stats;
mod table_format;
mod terminal;
mod transform;
mod transform_lines;

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use orbit_core::visible;

use self::failure::{Exit, Failure};
use self::terminal::LookArgs;

const AFTER_HELP: &str = "\
Examples:
  orbit scan 'shift flip flipcolor {Nd4 kf3}' games.pgn
  orbit index games/ -o all.reel
  orbit explain --copies 2 --boards 'flip {Rd8 kg8}'

`orbit COMMAND --help` explains a command, with examples. `orbit help language` lists the words of
the query language. A reel is a file that `orbit index` makes from PGN; it is searched faster.";

/// The texts that a build without the GPU engine adds to `--version` and to the help.
const WITHOUT_GPU: [&str; 2] = if cfg!(feature = "gpu") {
    ["", ""]
} else {
    [
        " (without the GPU engine)",
        "\n\nThis orbit was built without the GPU engine: it uses no graphics card.",
    ]
};

/// Search chess games for positions that match a pattern: as written, turned, mirrored, shifted, colours swapped.
#[derive(Debug, Parser)]
#[command(
    name = "orbit",
    version = format!("{}{}", env!("CARGO_PKG_VERSION"), WITHOUT_GPU[0]),
    max_term_width = 100,
    after_help = format!("{AFTER_HELP}{}", WITHOUT_GPU[1]),
    disable_help_subcommand = true
)]
pub struct Cli {
    #[command(flatten)]
    look: LookArgs,
    #[command(subcommand)]
    command: Command,
    #[arg(skip)]
    invocation: Invocation,
}

/// The command line with which the program was started.
#[derive(Clone, Debug, Default)]
struct Invocation {
    /// The words that start the program, without its arguments. A generated script can start the program with them.
    program: Vec<OsString>,
    /// The program name and its arguments, as the user typed them.
    words: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Find the positions that match a CQL query.
    Scan(Box<scan::Args>),
    /// Count the hits of many named queries in one pass over the games.
    Batch(Box<batch::Args>),
    /// Show how orbit understands a query: its types, the copies that its transforms make, its plan.
    Explain(explain::Args),
    /// Show the moves played in a position, their results and games, as an opening explorer does.
    Explore(explore::Args),
    /// Show a player's own games on one page: results, openings, themes and endings, against expectation and the field.
    Player(player::Args),
    /// Run a CQL script with the options of CQL, and write the games with its comments.
    Cql(cql::Args),
    /// Rewrite a CQL 5 position list as a CQL 6 query.
    Convert(convert::Args),
    /// Convert PGN files to a reel, a file that orbit searches faster than PGN.
    Index(index::Args),
    /// Run a search in parts, on one or several machines, and merge them into the output of a single run.
    Job(job::Args),
    /// Print what a reel contains, and check it for damage.
    Info(info::Args),
    /// Show how often a position of a reel was played, when first and last, and by whom; or list novelties.
    Positions(positions::Args),
    /// Print one game: its tags, its moves and one of its positions.
    Show(show::Args),
    /// Keep databases in memory and answer requests in JSON, for programs.
    Serve(serve::Args),
    /// Search databases that stay in memory, query after query.
    Repl(repl::Args),
    /// Rotate, reflect or shift positions, swap their colours, or test their symmetry.
    Transform(transform::Args),
    /// List the graphics cards of this machine, and whether they can run queries.
    Devices(devices::Args),
    /// Measure how fast the engines search on this machine.
    Bench(bench::Args),
    /// Print a completion script for a shell.
    Completions(completions::Args),
    /// Print a manual page, or write the pages of all commands to a folder.
    Man(man::Args),
    /// Explain a command, or the words of the query language.
    Help(help::Args),
}

impl Cli {
    /// Parses the program name and its arguments. For `--help` or an error, prints the text and exits. `program` contains the words
    /// with which a script can start the program.
    pub fn parse(program: Vec<OsString>, words: Vec<OsString>) -> Cli {
        let cli = Cli::read(words.clone());
        Cli { invocation: Invocation { program, words }, ..cli }
    }

    fn read(words: Vec<OsString>) -> Cli {
        let arguments = dashes::guarded(words);
        let read = |arguments: &[OsString]| {
            let mut command = manners::with_help_for(Cli::command(), arguments);
            Cli::from_arg_matches(&command.try_get_matches_from_mut(arguments)?)
        };
        read(&arguments).unwrap_or_else(|error| {
            if error.use_stderr() && manners::asks_for_json(&arguments) {
                LookArgs::JSON.apply();
                let text = error.render().to_string();
                terminal::error_message("usage", text.trim_end().trim_start_matches("error: "));
                std::process::exit(error.exit_code());
            }
            // The error message quotes the arguments, so the arguments are escaped and parsed again.
            let shown = arguments.iter().map(|word| visible::line(&word.to_string_lossy()).into_owned());
            match read(&shown.map(OsString::from).collect::<Vec<_>>()) {
                Err(again) if again.kind() == error.kind() => with_remedy(again, &arguments).exit(),
                _ => {
                    terminal::drawn_message(error.render().to_string().trim_end());
                    std::process::exit(error.exit_code())
                }
            }
        })
    }
}

/// Options of other programs and commands that users try, with the commands that do not have them and what to write instead.
const MEANT_OPTIONS: &[(&[&str], &str, &str)] = &[
    (&["scan"], "--json", "`--format jsonl` writes JSON, one line for each hit"),
    (&["batch"], "--json", "`--format json` writes JSON"),
    (&["scan", "batch"], "--csv", "`--format csv` writes CSV"),
    (&["scan", "batch", "explore"], "--eco", "`--where eco=B90` chooses games by a tag"),
    (&["scan", "batch"], "--year", "`--where year=2015` chooses games by a tag"),
    (&["scan", "batch"], "--elo", "`--where 'elo>=2600'` chooses games by ratings"),
    (&["scan"], "--group-by", "`--stats year` counts hits by groups"),
    (&["batch"], "--group-by", "`--by year` counts hits by groups"),
    (&["scan"], "--fen", "`--at FEN` finds a position, and `--board FEN` a pattern of pieces"),
    (
        &["scan"],
        "--material",
        "a query finds material: `{#A == 3 R P #a == 2 r}` is rook and pawn against rook",
    ),
    (&["scan"], "--color", "`--as white` chooses the side of --player"),
    (&["scan"], "--validate", "`orbit explain QUERY` checks a query"),
    (&["index"], "--unique", "`--no-duplicates` drops equal games"),
    #[cfg(not(feature = "http"))]
    (&["serve"], "--http", "this program was built without HTTP: build it with `--features http`"),
];

/// Replaces the suggestion of clap's error about an unknown option, which would turn the option into a path, by one from
/// [`MEANT_OPTIONS`]. Adds a suggestion to the error about a repeated option, since clap gives none.
fn with_remedy(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return error };
    if error.kind() == ErrorKind::UnknownArgument {
        let is_asked = |commands: &[&str]| {
            arguments.iter().skip(1).take(2).any(|word| commands.iter().any(|name| word == name))
        };
        let option = given.split('=').next().unwrap_or_default();
        let meant = MEANT_OPTIONS.iter().find(|(commands, name, _)| *name == option && is_asked(commands));
        let makes_path = matches!(error.get(ContextKind::Suggested), Some(ContextValue::StyledStrs(all))
            if all.iter().any(|tip| tip.to_string().contains("'-- ")));
        if let Some((_, _, remedy)) = meant {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![(*remedy).into()]));
            error.remove(ContextKind::SuggestedArg);
        } else if makes_path {
            error.remove(ContextKind::Suggested);
        }
        return error;
    }
    if error.kind() != ErrorKind::ArgumentConflict
        || error.get(ContextKind::PriorArg) != error.get(ContextKind::InvalidArg)
    {
        return error;
    }
    let remedy = match given.split_whitespace().next() {
        Some("--query") => "a run takes one query: `{A} or {B}` finds what either of two finds",
        _ => "give it once",
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![remedy.into()]));
    error
}

/// Runs a command, prints its error if it fails, and returns the exit code.
pub fn run(cli: Cli) -> u8 {
    cli.look.apply();
    let outcome = match cli.command {
        Command::Scan(args) => match args.resumed() {
            None => scan::run(&args),
            Some(folder) => job::resume(&args, folder, &cli.invocation),
        },
        Command::Batch(args) => batch::run(*args),
        Command::Explain(args) => explain::run(args),
        Command::Explore(args) => explore::run(args),
        Command::Player(args) => player::run(args),
        Command::Cql(args) => cql::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Index(args) => index::run(args),
        Command::Job(args) => job::run(args, &cli.invocation),
        Command::Info(args) => info::run(args),
        Command::Positions(args) => positions::run(args),
        Command::Show(args) => show::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Repl(args) => repl::run(args),
        Command::Transform(args) => transform::run(args),
        Command::Devices(args) => devices::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
        Command::Help(args) => help::run(args),
    };
    code(outcome)
}

/// Returns the exit code of a finished command, and prints the error if the command failed.
fn code(outcome: Result<Exit, Failure>) -> u8 {
    match outcome {
        Ok(Exit::Done) | Err(Failure::Closed) => 0,
        Ok(Exit::NoHits) => 1,
        Ok(Exit::Wrong) => 2,
        Ok(Exit::SourceFailed) => 3,
        Ok(Exit::Interrupted) => 130,
        Err(Failure::Query(rendered)) => {
            terminal::drawn_message(&rendered);
            2
        }
        Err(failure) if failure.is_interrupt() => {
            message!("{failure}");
            130
        }
        Err(failure) => {
            terminal::error_message(failure.code(), &failure.to_string());
            if failure.is_incomplete() { 3 } else { 2 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the examples of a command: the lines under the heading `Examples` that are indented by two blanks.
    fn examples(command: &clap::Command) -> Vec<String> {
        let help = command.get_after_help().map_or(String::new(), ToString::to_string);
        let shown = help.split_once("Examples:\n").map_or("", |(_, shown)| shown);
        shown.lines().map_while(|line| line.strip_prefix("  ")).map(str::to_owned).collect()
    }

    /// Splits a shell line into commands at `|`, and each command into words. Redirections with `<` and `>` are left out.
    fn words(line: &str) -> Vec<Vec<String>> {
        let (mut commands, mut word, mut quote) = (vec![vec![]], None::<String>, None);
        let mut is_redirected = false;
        for letter in line.chars().chain([' ']) {
            match (letter, quote) {
                (letter, Some(open)) if letter == open => quote = None,
                ('\'' | '"', None) => {
                    quote = Some(letter);
                    word.get_or_insert_default();
                }
                (' ' | '|' | '<' | '>', None) => {
                    if let Some(word) = word.take()
                        && !std::mem::take(&mut is_redirected)
                    {
                        commands.last_mut().unwrap().push(word);
                    }
                    is_redirected |= matches!(letter, '<' | '>');
                    if letter == '|' {
                        commands.push(vec![]);
                    }
                }
                (letter, _) => word.get_or_insert_default().push(letter),
            }
        }
        assert_eq!(quote, None, "{line}");
        commands
    }

    #[test]
    fn shell_words_are_told_apart() {
        let found = words("zcat 'a b'\"c\" | orbit scan '' -q <in >out - | jq .fen");
        assert_eq!(found, [vec!["zcat", "a bc"], vec!["orbit", "scan", "", "-q", "-"], vec!["jq", ".fen"]]);
    }

    #[test]
    fn every_command_has_examples_that_are_understood() {
        let mut orbit = Cli::command();
        orbit.build();
        let commands: Vec<&clap::Command> = std::iter::once(&orbit).chain(orbit.get_subcommands()).collect();
        assert!(commands.len() > 10);
        for command in commands {
            let name = command.get_display_name().unwrap_or_default().replace('-', " ");
            let examples = examples(command);
            let own = examples.iter().filter(|line| line.contains(&name)).count();
            assert!(own >= 2, "`{name} --help` has {own} examples");
            for line in examples {
                let calls = words(&line).into_iter().filter(|words| words[0] == "orbit");
                for call in calls.clone() {
                    Cli::try_parse_from(&call).unwrap_or_else(|error| panic!("{line}: {error}"));
                }
                assert!(calls.count() > 0, "{line}");
            }
        }
    }

    /// Checks that no line of the help exceeds the maximum help width, so that a terminal of this width wraps no line.
    #[test]
    fn what_stands_below_the_options_fits() {
        let mut orbit = Cli::command();
        orbit.build();
        for command in std::iter::once(&orbit).chain(orbit.get_subcommands()) {
            let help = command.get_after_help().map_or(String::new(), ToString::to_string);
            let wide = help.lines().find(|line| line.len() > 100 && line.starts_with(' '));
            assert_eq!(wide, None, "{}", command.get_name());
        }
    }

    /// Runs clap's own checks of all commands and arguments, for example that no argument name is used twice.
    #[test]
    fn arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
