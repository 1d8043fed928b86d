//! Reads the options of `orbit cql`: words that begin with one or two dashes, some of them followed by operands.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use orbit_core::diagnostic::nearest;
use orbit_query::TypedQuery;
use orbit_query::tree::Comments;

use crate::failure::Failure;

/// The names, operands, effect and help text of an option.
struct OptionRow {
    names: &'static [&'static str],
    operands: &'static str,
    does: Does,
    help: &'static str,
}

/// The filter `virtualmainline`. The command-line option of the same name adds this filter, and makes the search include side
/// lines.
const VIRTUAL_MAINLINE: &str = "virtualmainline";

/// The effect of an option.
#[derive(Clone, Copy)]
enum Does {
    Input,
    Output,
    /// Reads the games from the file with this name, or from standard input.
    InputNamed(&'static str),
    OutputToStdout,
    Filters,
    Assign,
    /// Adds a filter with this query text.
    Filter(&'static str),
    /// Adds a filter: this text, followed by the option's operand as a quoted string.
    FilterOfText(&'static str),
    /// Adds a filter: this text, followed by the option's operand without quotes.
    FilterOfWord(&'static str),
    /// Restricts the search to a range of game numbers.
    Games,
    /// Adds two comparisons with this numeric filter, such as `year`: its value must be at least the first operand and at most the
    /// second.
    FilterOfRange(&'static str),
    Transform(&'static str),
    Variations(bool),
    Comments(Comments),
    MatchString,
    MatchCount,
    NoHeader,
    NoSetTag,
    NoRemoveComment,
    Threads,
    OneThread,
    LineIncrement,
    ShowMatches,
    Files,
    Help,
    Version,
    /// Rejects a CQL option that orbit does not support. The string gives the reason.
    Refused(&'static str),
}

macro_rules! rows {
    ($([$($name:literal),+] $operands:literal $does:expr, $help:literal;)+) => {
        &[$(OptionRow { names: &[$($name),+], operands: $operands, does: $does, help: $help },)+]
    };
}

const ROWS: &[OptionRow] = rows! {
    ["input", "i"] "GAMES.pgn" Does::Input, "search these games instead of those that the script names; `-` is standard input";
    ["output", "o"] "OUT.pgn" Does::Output, "write the games here; `-` is standard output";
    ["vi"] "" Does::InputNamed("hhdbvi.pgn"), "search hhdbvi.pgn";
    ["guipgnstdin"] "" Does::InputNamed("-"), "search the games on standard input";
    ["guipgnstdout"] "" Does::OutputToStdout, "write the games to standard output";
    ["cql"] "FILTERS" Does::Filters, "add these filters before those of the script; may be given several times";
    ["assign"] "NAME VALUE" Does::Assign, "assign a number or a string to a variable at the start of each game";
    ["gamenumber", "g"] "N [M]" Does::Games, "search only games with these numbers; games after the last one are not read";
    ["year"] "N [M]" Does::FilterOfRange("year"), "search only games of these years";
    ["player"] "NAME" Does::FilterOfText("player"), "search only games of a player";
    ["white"] "NAME" Does::FilterOfText("player white"), "search only games of a player with the white pieces";
    ["black"] "NAME" Does::FilterOfText("player black"), "search only games of a player with the black pieces";
    ["event"] "NAME" Does::FilterOfText("event"), "search only games of an event";
    ["site"] "NAME" Does::FilterOfText("site"), "search only games of a site";
    ["result"] "RESULT" Does::FilterOfWord("result"), "search only games with the result 1-0, 0-1 or 1/2-1/2";
    ["hhdb"] "WORD" Does::FilterOfWord("hhdb"), "add the filter `hhdb WORD`";
    ["fen"] "FEN" Does::FilterOfText("fen"), "find only this position";
    ["wtm"] "" Does::Filter("wtm"), "find only positions with White to move";
    ["btm"] "" Does::Filter("btm"), "find only positions with Black to move";
    ["virtualmainline"] "" Does::Filter(VIRTUAL_MAINLINE), "find only positions of the virtual main line; searches side lines";
    ["flip"] "" Does::Transform("flip"), "apply all rotations and reflections to the filters";
    ["flipcolor"] "" Does::Transform("flipcolor"), "apply the filters as they are and with colours swapped";
    ["reversecolor"] "" Does::Transform("reversecolor"), "apply the filters with colours swapped";
    ["fliphorizontal"] "" Does::Transform("fliphorizontal"), "apply the filters and their mirror images, 1<->8";
    ["flipvertical"] "" Does::Transform("flipvertical"), "apply the filters and their mirror images, a<->h";
    ["rotate45"] "" Does::Transform("rotate45"), "apply rotations by multiples of 45 degrees to the filters";
    ["rotate90"] "" Does::Transform("rotate90"), "apply rotations by multiples of 90 degrees to the filters";
    ["shift"] "" Does::Transform("shift"), "apply all shifts to the filters";
    ["shifthorizontal"] "" Does::Transform("shifthorizontal"), "apply shifts to the left and to the right to the filters";
    ["shiftvertical"] "" Does::Transform("shiftvertical"), "apply shifts up and down to the filters";
    ["variations"] "" Does::Variations(true), "search side lines even if the script does not";
    ["mainline"] "" Does::Variations(false), "search only main lines even if the script searches side lines";
    ["matchcount"] "N [M]" Does::MatchCount, "write only games with N (to M) matching positions";
    ["matchstring"] "TEXT" Does::MatchString, "write TEXT at matching positions in place of CQL";
    ["quiet"] "" Does::Comments(Comments::Quiet), "write only the comments of the script, and numbers of games";
    ["silent"] "" Does::Comments(Comments::Silent), "write no comments";
    ["noheader"] "" Does::NoHeader, "write no numbers of games";
    ["nosettag"] "" Does::NoSetTag, "ignore `settag`";
    ["noremovecomment"] "" Does::NoRemoveComment, "ignore `removecomment`";
    ["threads"] "N" Does::Threads, "use N threads";
    ["singlethreaded", "s"] "" Does::OneThread, "use one thread";
    ["lineincrement"] "N" Does::LineIncrement, "print a line after every N games";
    ["showmatches"] "" Does::ShowMatches, "print the numbers of the games that match";
    ["files"] "FOLDER" Does::Files, "let `readfile` and `writefile` use files below FOLDER (not an option of CQL)";
    ["help", "h"] "" Does::Help, "print this help";
    ["version"] "" Does::Version, "print the version of orbit";
    ["alwayscomment"] "" Does::Refused("a filter that fails takes its comments back"), "";
    ["similarposition"] "" Does::Refused("orbit has no search for similar positions"), "";
    ["gui"] "" Does::Refused("orbit prints no messages for CQL's graphical programs"), "";
    ["html"] "" Does::Refused("orbit does not print scripts"), "";
    ["a"] "" Does::Refused("orbit does not rewrite scripts; it reads both spellings"), "";
    ["u"] "" Does::Refused("orbit does not rewrite scripts; it reads both spellings"), "";
    ["parse"] "" Does::Refused("`orbit explain -f SCRIPT` shows how a script is understood"), "";
    ["echo"] "" Does::Refused("it is a tool for the makers of CQL"), "";
    ["colorize"] "" Does::Refused("it is a tool for the makers of CQL"), "";
};

/// The action that the command line requests.
pub(super) enum Action {
    Help,
    Version,
    Search(Box<CqlOptions>),
}

/// The options of a search.
#[derive(Debug, Default)]
pub(super) struct CqlOptions {
    pub(super) script: Option<PathBuf>,
    pub(super) input: Option<PathBuf>,
    pub(super) output: Option<PathBuf>,
    /// Variable assignments, which are inserted before all filters.
    pub(super) assignments: Vec<String>,
    /// Filters, which are inserted before the filters of the script.
    pub(super) filters: Vec<String>,
    /// Transforms that apply to all filters, outermost first.
    pub(super) transforms: Vec<&'static str>,
    variations: Option<bool>,
    comments: Option<Comments>,
    match_string: Option<String>,
    match_count: Option<(u32, u32)>,
    games: Option<(u32, u32)>,
    pub(super) no_header: bool,
    pub(super) no_set_tag: bool,
    pub(super) no_remove_comment: bool,
    pub(super) threads: Option<NonZeroUsize>,
    pub(super) line_increment: Option<u64>,
    pub(super) shows_matches: bool,
    files: Option<PathBuf>,
}

impl CqlOptions {
    /// Overrides the query's header settings with the options that were given.
    pub(super) fn apply(&self, query: &mut TypedQuery) {
        let virtual_mainline = self.filters.iter().any(|filter| filter == VIRTUAL_MAINLINE);
        query.variations = self.variations.unwrap_or(query.variations || virtual_mainline);
        let header = &mut query.header;
        header.comments = self.comments.unwrap_or(header.comments);
        header.files = self.files.clone();
        header.match_count = self.match_count.or(header.match_count);
        self.games.into_iter().for_each(|games| header.narrow_games(games));
        if let Some(text) = &self.match_string {
            header.match_string = Some(text.clone());
        }
    }
}

/// Parses the command line.
///
/// # Errors
///
/// Fails if an option is unknown, not available or given twice, if its operands are missing or wrong, or if there is a second
/// script.
pub(super) fn read(words: Vec<OsString>) -> Result<Action, Failure> {
    let mut words = ArgumentWords { words: words.into_iter().peekable() };
    let (mut options, mut seen) = (CqlOptions::default(), HashSet::new());
    while let Some(word) = words.words.next() {
        let Some(name) =
            word.to_str().and_then(|word| word.strip_prefix('-')).filter(|name| !name.is_empty())
        else {
            if let Some(script) = options.script.replace(PathBuf::from(word)) {
                return Err(Failure::Other(format!(
                    "`{}` is a second script: put options before the script, and name one script",
                    options.script.unwrap_or(script).display()
                )));
            }
            continue;
        };
        let name = name.strip_prefix('-').unwrap_or(name);
        let row = ROWS.iter().find(|row| row.names.contains(&name)).ok_or_else(|| unknown(name))?;
        let may_repeat = matches!(row.does, Does::Filters | Does::Assign);
        if !seen.insert(row.names[0]) && !may_repeat {
            return Err(Failure::Other(format!("-{} is given twice: leave one out", row.names[0])));
        }
        match row.does {
            Does::Help => return Ok(Action::Help),
            Does::Version => return Ok(Action::Version),
            Does::Refused(why) => {
                return Err(Failure::Other(format!("CQL's -{name} is not supported: {why}: leave it out")));
            }
            _ => options.take(row, &mut words)?,
        }
    }
    Ok(Action::Search(Box::new(options)))
}

impl CqlOptions {
    fn take(&mut self, row: &OptionRow, words: &mut ArgumentWords) -> Result<(), Failure> {
        match row.does {
            Does::Input => self.set_input(PathBuf::from(words.operand(row)?))?,
            Does::InputNamed(name) => self.set_input(PathBuf::from(name))?,
            Does::Output => self.set_output(PathBuf::from(words.operand(row)?))?,
            Does::OutputToStdout => self.set_output(PathBuf::from("-"))?,
            Does::Filters => self.filters.push(words.text(row)?),
            Does::Assign => {
                let (name, value) = (words.text(row)?, words.text(row)?);
                let value = match value.parse::<i32>() {
                    Ok(i32::MIN) => {
                        return Err(Failure::Other(format!(
                            "-assign {name} {value}: the least number is {}",
                            -i32::MAX
                        )));
                    }
                    Ok(number) => number.to_string(),
                    Err(_) => quoted(row, &value)?,
                };
                // A value from the command line is assigned at the start of each game; the script may change it later.
                self.assignments.push(format!("if initial {name}={value}"));
            }
            Does::Filter(text) => self.filters.push(text.into()),
            Does::FilterOfText(text) => {
                let value = words.text(row)?;
                self.filters.push(format!("{text} {}", quoted(row, &value)?));
            }
            Does::FilterOfWord(text) => {
                let value = words.text(row)?;
                self.filters.push(format!("{text} {value}"));
            }
            Does::Games => {
                let (low, high) = words.range(row)?;
                // This filter is inserted first, so that the other filters are not evaluated for games outside the range.
                self.filters.insert(0, format!("gamenumber>={low} gamenumber<={high}"));
                self.games = Some((low, high));
            }
            Does::FilterOfRange(number) => {
                let (low, high) = words.range(row)?;
                self.filters.push(format!("{number}>={low} {number}<={high}"));
            }
            Does::Transform(word) => self.transforms.push(word),
            Does::Variations(wanted) => set(&mut self.variations, wanted, "-variations and -mainline")?,
            Does::Comments(level) => set(&mut self.comments, level, "-quiet and -silent")?,
            Does::MatchString => self.match_string = Some(words.text(row)?),
            Does::MatchCount => self.match_count = Some(words.range(row)?),
            Does::NoHeader => self.no_header = true,
            Does::NoSetTag => self.no_set_tag = true,
            Does::NoRemoveComment => self.no_remove_comment = true,
            Does::Threads => {
                let threads = NonZeroUsize::new(words.number(row)? as usize).unwrap_or(NonZeroUsize::MIN);
                set(&mut self.threads, threads, "-threads and -singlethreaded")?;
            }
            Does::OneThread => set(&mut self.threads, NonZeroUsize::MIN, "-threads and -singlethreaded")?,
            Does::LineIncrement => self.line_increment = Some(u64::from(words.number(row)?.max(1))),
            Does::ShowMatches => self.shows_matches = true,
            Does::Files => self.files = Some(PathBuf::from(words.operand(row)?)),
            Does::Help | Does::Version | Does::Refused(_) => {}
        }
        Ok(())
    }

    fn set_input(&mut self, path: PathBuf) -> Result<(), Failure> {
        set(&mut self.input, path, "-input, -vi and -guipgnstdin")
    }

    fn set_output(&mut self, path: PathBuf) -> Result<(), Failure> {
        set(&mut self.output, path, "-output and -guipgnstdout")
    }
}

/// Stores the value of an option. Fails if an option has already set it.
fn set<T>(to: &mut Option<T>, value: T, names: &str) -> Result<(), Failure> {
    match to.replace(value) {
        None => Ok(()),
        Some(_) => Err(Failure::Other(format!("{names} exclude each other: give one of them"))),
    }
}

/// The arguments that have not been read yet.
struct ArgumentWords {
    words: std::iter::Peekable<std::vec::IntoIter<OsString>>,
}

impl ArgumentWords {
    fn operand(&mut self, row: &OptionRow) -> Result<OsString, Failure> {
        self.words.next().ok_or_else(|| {
            Failure::Other(format!("-{} lacks its value: write `-{0} {}`", row.names[0], row.operands))
        })
    }

    fn text(&mut self, row: &OptionRow) -> Result<String, Failure> {
        let word = self.operand(row)?;
        let wrong = |word: OsString| {
            Failure::Other(format!("the value `{}` of -{} is not UTF-8", word.display(), row.names[0]))
        };
        word.into_string().map_err(wrong)
    }

    fn number(&mut self, row: &OptionRow) -> Result<u32, Failure> {
        let word = self.text(row)?;
        word.parse().ok().filter(|number| i32::try_from(*number).is_ok()).ok_or_else(|| {
            let (name, operands) = (row.names[0], row.operands);
            Failure::Other(format!("`{word}` is no number from 0: write `-{name} {operands}`"))
        })
    }

    /// Reads one or two numbers as the bounds of a range.
    fn range(&mut self, row: &OptionRow) -> Result<(u32, u32), Failure> {
        let low = self.number(row)?;
        let is_number = |word: &OsString| {
            word.to_str()
                .is_some_and(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let high = if self.words.peek().is_some_and(is_number) { self.number(row)? } else { low };
        if high < low {
            let name = row.names[0];
            return Err(Failure::Other(format!(
                "-{name} {low} {high} runs backwards: write the lower number first"
            )));
        }
        Ok((low, high))
    }
}

/// Formats a value as a CQL string.
fn quoted(row: &OptionRow, value: &str) -> Result<String, Failure> {
    if value.contains('"') || value.chars().any(char::is_control) {
        return Err(Failure::Other(format!(
            "the value of -{} has a quotation mark or a control character, which a string of CQL cannot have: write \
             a shorter part of it",
            row.names[0]
        )));
    }
    Ok(format!("\"{value}\""))
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = ROWS.iter().flat_map(|row| row.names).copied().collect();
    let near = nearest(name, names.iter()).map(|near| format!("; did you mean -{near}?"));
    Failure::Other(format!(
        "CQL has no option -{name}{}: `orbit cql -help` lists the options",
        near.unwrap_or_default()
    ))
}

/// The column at which option descriptions begin in the help text.
const HELP_COLUMN: usize = 25;
/// The maximum line width of the help text.
const HELP_WIDTH: usize = 80;

/// Returns the list of options for the help. Lines are wrapped here because clap cannot format columns within a text.
pub(super) fn list() -> String {
    let mut out = String::new();
    for row in ROWS.iter().filter(|row| !matches!(row.does, Does::Refused(_))) {
        let names: Vec<String> = row.names.iter().map(|name| format!("-{name}")).collect();
        let mut line = format!("  {} {}", names.join(", "), row.operands).trim_end().to_owned();
        let mut column = line.len().max(HELP_COLUMN - 1);
        for word in row.help.split(' ') {
            if column + 1 + word.len() > HELP_WIDTH {
                let _ = writeln!(out, "{line}");
                line.clear();
                column = HELP_COLUMN - 1;
            }
            let _ = write!(line, "{:1$}{word}", "", column + 1 - line.len());
            column = line.len();
        }
        let _ = writeln!(out, "{line}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_words(line: &str) -> Result<CqlOptions, String> {
        let words = line.split_whitespace().map(OsString::from).collect();
        match read(words) {
            Ok(Action::Search(options)) => Ok(*options),
            Ok(_) => Err("help".into()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn options_have_one_dash_or_two_and_come_in_any_order() {
        let options = read_words(
            "-i a.pgn --output b.pgn -matchcount 2 5 -flip -shift -cql Ra3 -cql kb1 -quiet x.cql -year 1990",
        )
        .unwrap();
        assert_eq!(options.input, Some("a.pgn".into()));
        assert_eq!(options.output, Some("b.pgn".into()));
        assert_eq!(options.script, Some("x.cql".into()));
        assert_eq!(options.match_count, Some((2, 5)));
        assert_eq!(options.transforms, ["flip", "shift"]);
        assert_eq!(options.filters, ["Ra3", "kb1", "year>=1990 year<=1990"]);
        assert_eq!(options.comments, Some(Comments::Quiet));
    }

    #[test]
    fn a_second_number_is_taken_if_there_is_one() {
        assert_eq!(read_words("-matchcount 2 x.cql").unwrap().match_count, Some((2, 2)));
        assert_eq!(read_words("-g 7 9 -").unwrap().filters, ["gamenumber>=7 gamenumber<=9"]);
        assert_eq!(read_words("-g 7 9 -").unwrap().script, Some("-".into()));
    }

    #[test]
    fn values_become_filters() {
        let options = read_words("-white Tal -assign n -4 -assign s x.cqo -result 1-0 -wtm").unwrap();
        assert_eq!(options.filters, ["player white \"Tal\"", "result 1-0", "wtm"]);
        assert_eq!(options.assignments, ["if initial n=-4", "if initial s=\"x.cqo\""]);
    }

    #[test]
    fn mistakes_are_named() {
        for (line, part) in [
            ("-i", "-input lacks its value: write `-input GAMES.pgn`"),
            ("-imput a", "did you mean -input?"),
            ("-i a -input b", "-input is given twice"),
            ("-i a -vi", "exclude each other"),
            ("-quiet -silent", "-quiet and -silent exclude each other"),
            ("-matchcount x", "`x` is no number from 0: write `-matchcount N [M]`"),
            ("-matchcount 5 2", "runs backwards"),
            ("-g 99999999999", "is no number"),
            ("-player a\"b", "quotation mark"),
            ("a.cql b.cql", "`b.cql` is a second script"),
            ("-alwayscomment", "CQL's -alwayscomment is not supported: a filter that fails"),
            ("-similarposition a.pgn", "not supported: orbit has no search"),
        ] {
            let error = read_words(line).unwrap_err();
            assert!(error.contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn the_list_has_two_columns() {
        for line in list().lines() {
            assert!(line.len() <= HELP_WIDTH, "{line}");
            let begins = line.len() - line.trim_start().len();
            assert!([2, HELP_COLUMN].contains(&begins), "{line}");
            assert_eq!(line.trim_end(), line);
        }
        assert!(ROWS.iter().all(|row| row.help.is_empty() == matches!(row.does, Does::Refused(_))));
    }

    #[test]
    fn names_are_told_apart() {
        let mut names: Vec<&str> = ROWS.iter().flat_map(|row| row.names).copied().collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
