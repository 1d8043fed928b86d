//! Implements `orbit help`, which explains commands and the words of the query language.

use std::collections::BTreeSet;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, Command, CommandFactory as _, Parser as _};
use orbit_query::{
    Dialect,
    words::{self, Word, WordGroup, WordStatus, WordValue},
};

use super::Cli;
use super::failure::{Exit, Failure};
use super::terminal::Out;

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "orbit help [COMMAND]\n       orbit help language [WORD | TOPIC]",
    after_help = "Examples:
  orbit help scan
  orbit help language
  orbit help language passedpawns
  orbit help language moves
  orbit help language '->'"
)]
pub(super) struct Args {
    #[command(subcommand)]
    topic: Option<Topic>,
    /// The command to explain; `orbit help scan` prints what `orbit scan --help` prints.
    command: Option<String>,
}

#[derive(Debug, clap::Subcommand)]
enum Topic {
    /// List the words of the query language, or explain one.
    Language {
        /// The word to explain: a filter, keyword, sign or piece letter of CQL 6, or `:WORD` for a keyword of CQL 5. A word
        /// from a heading of `orbit help language`, such as `moves` or `pawns`, explains all words of this topic.
        #[arg(value_parser = SomeWord, allow_hyphen_values = true)]
        word: Option<String>,
    },
}

/// An argument parser that accepts any string. To shells, it offers the words of the query language as completions.
#[derive(Clone)]
struct SomeWord;

impl TypedValueParser for SomeWord {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(plain_spellings().into_iter().map(PossibleValue::new)))
    }
}

/// Returns the spellings of query words that need no quotation marks in any shell.
pub(super) fn plain_spellings() -> BTreeSet<&'static str> {
    let spellings = words::groups().flat_map(|group| &group.words).flat_map(|word| word.spellings);
    let is_plain = |spelling: &&str| {
        spelling.len() > 1 && spelling.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    spellings.copied().filter(is_plain).collect()
}

/// Returns completions of positional arguments for fish, which clap's generator leaves out.
pub(super) fn for_fish() -> String {
    let orbit = Cli::command();
    let commands: Vec<&str> = orbit.get_subcommands().map(Command::get_name).collect();
    let words: Vec<&str> = plain_spellings().into_iter().collect();
    format!(
        "complete -c orbit -n \"__fish_orbit_using_subcommand help; and not __fish_seen_subcommand_from language\" \
         -f -a \"{}\"\n\
         complete -c orbit -n \"__fish_orbit_using_subcommand help; and __fish_seen_subcommand_from language\" \
         -f -a \"{}\"\n",
        commands.join(" "),
        words.join(" ")
    )
}

/// Returns `orbit` with a `help` command that lists the other commands as possible arguments, so shells complete their names.
pub(super) fn with_commands(orbit: Command) -> Command {
    let names: Vec<String> = orbit.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    orbit.mut_subcommand("help", |help| {
        help.mut_arg("command", |arg| arg.value_parser(PossibleValuesParser::new(names)))
    })
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    match (args.topic, args.command) {
        (Some(Topic::Language { word: None }), _) => overview(),
        (Some(Topic::Language { word: Some(word) }), _) => explain(&word),
        (None, None) => of_command(&["orbit", "--help"]),
        (None, Some(name)) => {
            let orbit = Cli::command();
            if orbit.find_subcommand(&name).is_none() {
                let names: Vec<&str> = orbit.get_subcommands().map(Command::get_name).collect();
                let names = names.join(", ");
                return Err(Failure::Other(format!(
                    "there is no command `{name}`: the commands are {names}; see also `orbit help language`"
                )));
            }
            of_command(&["orbit", &name, "--help"])
        }
    }
}

/// Shows the help of a command, as its `--help` does.
pub(super) fn of_command(call: &[&str]) -> Result<Exit, Failure> {
    match Cli::try_parse_from(call) {
        Err(help) => help.exit(),
        Ok(_) => unreachable!("`--help` is no command that runs"),
    }
}

/// Prints all words of the query language by group.
fn overview() -> Result<Exit, Failure> {
    let mut out = Out::new();
    for group in words::groups() {
        out.line(group.title)?;
        for (status, title) in [(true, ""), (false, "not supported yet: ")] {
            let names = group.words.iter().filter(|word| {
                matches!(word.status, WordStatus::Here | WordStatus::Within(_)) == status
                    && !matches!(word.status, WordStatus::Refused(_))
            });
            let names: Vec<String> =
                names.map(|word| shown(group.dialect, word, word.spellings[0])).collect();
            for line in wrapped(title, &names, "  ") {
                out.line(format!("  {line}"))?;
            }
        }
        out.line("")?;
    }
    out.line(
        "`orbit help language WORD` explains a word, `orbit help language TOPIC` all words of a group, such",
    )?;
    out.line("as `moves`, `pawns` or `counting`. docs/language.md has them all, with examples.")?;
    out.finish()?;
    Ok(Exit::Done)
}

/// Lays out `names` after `title`, separated by `gap`, in lines of at most 96 characters.
fn wrapped(title: &str, names: &[impl AsRef<str>], gap: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::from(title);
    for name in names {
        let name = name.as_ref();
        if line.chars().count() + name.chars().count() > 96 {
            lines.push(std::mem::take(&mut line));
        }
        line += name;
        line += gap;
    }
    if !names.is_empty() {
        lines.push(line);
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

/// Returns a spelling as queries contain it: with a leading colon if the word needs one.
fn shown(dialect: Dialect, word: &Word, spelling: &str) -> String {
    if word.takes_colon(dialect) { format!(":{spelling}") } else { spelling.into() }
}

/// Words that chess players use, and the corresponding words of the query language.
const CHESS: [(&str, &[&str]); 22] = [
    ("king", &["K"]),
    ("queen", &["Q"]),
    ("rook", &["R"]),
    ("bishop", &["B"]),
    ("knight", &["N"]),
    ("pawn", &["P"]),
    ("piece", &["A", "a"]),
    ("designator", &["K", "[]"]),
    ("rank", &["[]", "up"]),
    ("file", &["[]", "up"]),
    ("castling", &["castle", "o-o", "o-o-o", "--"]),
    ("castles", &["castle", "o-o", "o-o-o", "--"]),
    ("promotion", &["promote", "--"]),
    ("promotes", &["promote", "--"]),
    ("checkmate", &["mate", "--"]),
    ("takes", &["[x]", "capture"]),
    ("exchange", &["[x]", "path"]),
    ("recapture", &["path", "[x]", "to"]),
    ("fork", &["attacks", "->"]),
    ("square", &["[]", "square"]),
    ("rating", &["elo"]),
    ("last", &["currentmove", "to", "from"]),
];

fn explain(asked: &str) -> Result<Exit, Failure> {
    let (dialects, spelling): (&[Dialect], &str) =
        match asked.strip_prefix(':').filter(|rest| !rest.is_empty()) {
            Some(keyword) => (&[Dialect::Cql5], keyword),
            None => (&[Dialect::Cql6, Dialect::Cql5], asked),
        };
    let known: Vec<(&WordGroup, &Word)> = words::groups()
        .filter(|group| dialects.contains(&group.dialect))
        .flat_map(|group| group.words.iter().map(move |&word| (group, word)))
        .collect();
    let named = |spelling: &str| -> Vec<(&'static WordGroup, &'static Word)> {
        known.iter().copied().filter(|(_, word)| word.spellings.contains(&spelling)).collect()
    };
    let mut found = named(spelling);
    if !found.iter().any(|(group, _)| group.dialect == Dialect::Cql6) && dialects.len() > 1 {
        // Chess terms take precedence over CQL 5 keywords with the same letters.
        let meant = CHESS.iter().find(|(word, _)| word.eq_ignore_ascii_case(asked));
        let meant = meant.map_or(&[][..], |(_, spellings)| spellings).iter().flat_map(|word| named(word));
        found.splice(0..0, meant);
    }
    if found.is_empty() && asked.contains(' ') {
        // `asked` may be the beginning of a form that a topic page shows, such as `move capture S`.
        let form = |(_, word): &(&WordGroup, &Word)| word.form(word.spellings[0]);
        found = known.iter().copied().filter(|word| form(word).starts_with(asked)).collect();
    }
    if let (true, Some(group)) = (found.is_empty(), topic(asked)) {
        return explain_all(group);
    }
    if found.is_empty() {
        let nearest = dialects.iter().find_map(|&dialect| words::nearest(dialect, spelling));
        let hint = nearest.map_or(String::from("`orbit help language` lists the words"), |word| {
            format!("did you mean `{word}`?")
        });
        return Err(Failure::Other(format!("there is no word `{asked}` in the query language; {hint}")));
    }
    let mut out = Out::new();
    for (index, (group, word)) in found.into_iter().enumerate() {
        if index > 0 {
            out.line("")?;
        }
        let spelling = if word.spellings.contains(&spelling) { spelling } else { word.spellings[0] };
        for line in page(group, word, spelling) {
            out.line(line)?;
        }
    }
    out.finish()?;
    Ok(Exit::Done)
}

/// Returns the word group whose title contains `asked`, such as `moves` or `pawns`.
fn topic(asked: &str) -> Option<&'static WordGroup> {
    let asked = asked.to_lowercase();
    words::groups().find(|group| {
        let title = group.title.to_lowercase();
        title == asked || asked.len() > 3 && title.split([' ', ',']).any(|word| word == asked)
    })
}

/// Explains all words of a group, each with an example that uses the built-in games.
fn explain_all(group: &WordGroup) -> Result<Exit, Failure> {
    let mut out = Out::new();
    out.line(group.title)?;
    for word in
        group.words.iter().filter(|word| matches!(word.status, WordStatus::Here | WordStatus::Within(_)))
    {
        let name = shown(group.dialect, word, word.spellings[0]);
        out.line("")?;
        out.line(format!("  {}", word.form(&name)))?;
        let meaning = format!("{}.", word.meaning);
        let meaning: Vec<&str> = meaning.split(' ').collect();
        for line in wrapped("", &meaning, " ") {
            out.line(format!("      {line}"))?;
        }
        if !word.example.is_empty() {
            let example = word.example.replace('\'', "'\\''");
            out.line(format!("      orbit scan '{example}' games/sample.pgn"))?;
        }
    }
    out.finish()?;
    Ok(Exit::Done)
}

fn page(group: &WordGroup, word: &Word, asked: &str) -> Vec<String> {
    let name = shown(group.dialect, word, asked);
    let dialect = if group.dialect == Dialect::Cql5 { "" } else { "CQL 6: " };
    let mut lines = vec![format!("{name} ({dialect}{})", group.title), String::new()];
    if let WordStatus::Refused(why) = word.status {
        lines.push(format!("  Not a word of orbit: {why}."));
        return lines;
    }
    lines.push(format!("  {}", word.form(&name)));
    lines.push(String::new());
    let meaning = format!("{}.", word.meaning);
    let meaning: Vec<&str> = meaning.split(' ').collect();
    lines.extend(wrapped("", &meaning, " ").iter().map(|line| format!("  {line}")));
    lines.push(String::new());
    let others: Vec<String> = word
        .spellings
        .iter()
        .filter(|&&other| other != asked)
        .map(|other| shown(group.dialect, word, other))
        .collect();
    if !others.is_empty() {
        lines.push(format!("  also written  {}", others.join(", ")));
    }
    let value = match word.value {
        WordValue::NoValue => "",
        WordValue::AsF => "that of F",
        WordValue::Condition => "a condition",
        WordValue::Squares => "a set of squares",
        WordValue::Number => "a number",
        WordValue::Text => "a string",
        WordValue::Position => "a position of the game",
    };
    if !value.is_empty() {
        lines.push(format!("  value         {value}"));
    }
    match word.status {
        WordStatus::Here => lines.push(format!("  example       {}", word.example)),
        WordStatus::Within(subject) => {
            lines.push(format!("  example       {}", word.example));
            lines.push(format!("  status        {subject} is not supported yet"));
        }
        _ => lines.push("  status        not supported yet".into()),
    }
    lines
}
