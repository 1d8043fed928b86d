//! Reads the query from the command line or from a file, and shows its diagnostics.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use orbit_core::diagnostic::{Diagnostic, Severity};
use orbit_core::visible;
use orbit_pgn::Url;
use orbit_query::{Dialect, Parsed};
use orbit_search::themes;

use super::common::{choice, read_text, shown};
use super::dashes::unguarded;
use super::failure::Failure;
use super::terminal;

/// The origin that diagnostics show for a query from `--board`.
const BOARD_QUERY: &str = "query of --board";

/// The language of queries.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct DialectArgs {
    /// Read queries in this dialect [default: cql5 for `(position ...)` and `(match ...)`, else cql6].
    #[arg(long, value_parser = choice::<Dialect>())]
    dialect: Option<Dialect>,
}

impl DialectArgs {
    pub(super) fn choice(self) -> Option<Dialect> {
        self.dialect
    }
}

/// A query, its origin, and the arguments that are paths of games.
pub(super) struct QueryText {
    pub(super) text: String,
    /// The origin of the query: `query`, or a file name.
    origin: String,
    pub(super) paths: Vec<PathBuf>,
}

impl QueryText {
    /// Uses the query from `-e`, a board or a file if one of these is given, and otherwise the first argument.
    pub(super) fn take(
        given: Option<&str>,
        file: Option<&Path>,
        board: Option<String>,
        words: &[OsString],
    ) -> Result<QueryText, Failure> {
        match (given, file, board) {
            (Some(text), ..) => {
                refuse_query_twice("-e", "the command line", words)?;
                QueryText::over(unguarded(text).to_owned(), String::from("query"), words)
            }
            (None, _, Some(text)) => {
                refuse_query_and_board(&text, words)?;
                QueryText::over(text, String::from(BOARD_QUERY), words)
            }
            (None, Some(file), None) => {
                refuse_query_twice("-f", &file.display().to_string(), words)?;
                QueryText::over(read(file)?, file.display().to_string(), words)
            }
            (None, None, None) => {
                let (text, paths) = query_and_paths(words)?;
                let text = text.to_str().ok_or_else(|| Failure::Other("the query is not UTF-8".into()))?;
                QueryText::over(unguarded(text).to_owned(), String::from("query"), paths)
            }
        }
    }

    /// Uses the query for the position of `--at`. All arguments are paths.
    pub(super) fn at(text: String, words: &[OsString]) -> Result<QueryText, Failure> {
        refuse_query_twice("--at", "the position", words)?;
        QueryText::over(text, String::from(BOARD_QUERY), words)
    }

    /// Uses the query of a built-in theme. All arguments are paths.
    pub(super) fn from_theme(name: &str, words: &[OsString]) -> Result<QueryText, Failure> {
        if name.contains(',') {
            return Err(Failure::Other(format!(
                "--theme takes one theme, whose hits are listed: `orbit batch catalogue --only {name} games.pgn` counts the \
                 hits of several"
            )));
        }
        let theme = themes::named(name).map_err(|unknown| Failure::Other(unknown.to_string()))?;
        refuse_query_twice("--theme", "the theme", words)?;
        QueryText::over(theme.query, format!("theme {name}"), words)
    }

    fn over(text: String, origin: String, words: &[OsString]) -> Result<QueryText, Failure> {
        if words.is_empty() {
            return Err(Failure::Other(String::from(
                "there are no games to search: name PGN files, folders or reels after the query, or `-` for \
                 standard input",
            )));
        }
        let paths = words.iter().map(PathBuf::from).collect();
        Ok(QueryText { text, origin, paths })
    }

    /// Returns the query for a command that reads no games: from a board or a file if one is given, and otherwise from the
    /// argument.
    pub(super) fn alone(
        file: Option<&Path>,
        board: Option<String>,
        query: Option<&str>,
    ) -> Result<QueryText, Failure> {
        let (text, origin) = match (file, board, query) {
            (_, Some(text), _) => (text, String::from(BOARD_QUERY)),
            (Some(file), None, _) => (read(file)?, file.display().to_string()),
            (None, None, query) => (unguarded(query.unwrap_or_default()).to_owned(), String::from("query")),
        };
        Ok(QueryText { text, origin, paths: Vec::new() })
    }

    pub(super) fn named(text: &str, origin: String) -> QueryText {
        QueryText { text: text.into(), origin, paths: Vec::new() }
    }

    pub(super) fn parse(&self, dialect: DialectArgs) -> Result<Parsed, Failure> {
        orbit_query::parse_dialect(&self.text, dialect.choice()).map_err(|error| self.failure(&error))
    }

    pub(super) fn failure(&self, diagnostic: &Diagnostic) -> Failure {
        if self.origin != "query" || !Path::new(&self.text).exists() {
            return Failure::Query(self.render(diagnostic));
        }
        let name = visible::line(&self.text);
        let mut hint = format!("{name} is a file, but the first argument is the query: ");
        if !self.paths.is_empty() {
            hint.push_str(&format!("write `orbit scan 'QUERY' {name}` to search it, "));
        }
        hint.push_str(&format!("write `-f {name}` to read the query from it"));
        Failure::Query(match terminal::has_json_messages() {
            true => self.render(&diagnostic.clone().help(hint)),
            false => format!("{}\n{hint}", self.render(diagnostic)),
        })
    }

    /// Returns the failure for an error that occurred during the evaluation of the query at a position in a game.
    pub(super) fn failure_in_game(&self, diagnostic: &Diagnostic, place: &str) -> Failure {
        let message = format!("{place}: {}", diagnostic.message);
        Failure::Query(self.render(&Diagnostic { message, ..diagnostic.clone() }))
    }

    /// Prints the remarks whose severity is `least` or higher.
    pub(super) fn print_remarks(&self, remarks: &[Diagnostic], least: Severity) {
        for remark in remarks.iter().filter(|remark| remark.severity <= least) {
            terminal::drawn_message(&self.render(remark));
        }
    }

    fn render(&self, diagnostic: &Diagnostic) -> String {
        terminal::rendered(diagnostic, &self.text, &self.origin, 1)
    }
}

pub(super) fn read(file: &Path) -> Result<String, Failure> {
    read_text("query file", file)
}

/// Fails if the first argument is a query although an option already provides the query. In that case all arguments are paths.
fn refuse_query_twice(option: &str, origin: &str, words: &[OsString]) -> Result<(), Failure> {
    match words.first() {
        Some(word) if word != "-" && !is_there(word) => Err(Failure::Other(format!(
            "`{}` does not exist: with {option} the query comes from {origin} and every argument is a path; leave out \
             one of the two queries, or check the path",
            word.display(),
        ))),
        _ => Ok(()),
    }
}

/// Returns whether a word names existing games. URLs always count as existing; they are not checked here.
fn is_there(word: &OsString) -> bool {
    Path::new(word).exists() || Url::from_path(Path::new(word)).is_some()
}

/// Fails if the first argument is a query although a board is given. In that case all arguments are paths.
fn refuse_query_and_board(text: &str, words: &[OsString]) -> Result<(), Failure> {
    match words.first() {
        Some(word) if word != "-" && !is_there(word) => Err(Failure::Other(format!(
            "`{}` does not exist: with --board every argument is a path, since the board is the query; check the \
             path, or leave out --board and put both into one query, which begins `{text}`",
            word.display(),
        ))),
        _ => Ok(()),
    }
}

fn query_and_paths(words: &[OsString]) -> Result<(&OsString, &[OsString]), Failure> {
    match words {
        [path] if path == "-" || is_there(path) => Err(Failure::Other(format!(
            "the query is missing: write `orbit scan 'QUERY' {0}`, or `orbit scan -f FILE.cql {0}`; the query `initial` finds each \
             game once",
            shown(Path::new(path))
        ))),
        [] => Err(Failure::Other(String::from(
            "the query and the games are missing: write `orbit scan 'QUERY' games.pgn`",
        ))),
        [query, paths @ ..] => Ok((query, paths)),
    }
}
