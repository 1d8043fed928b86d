//! Reads lines that the user types, with history and completion. If standard input is not a terminal, plain lines are read.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Stdin};

use orbit_search::serve::LINE_BYTES_MAX;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use super::COMMANDS;
use crate::failure::Failure;
use crate::help::plain_spellings;

const PROMPT: &str = "orbit> ";
const HISTORY_MAX: usize = 1000;

/// The result of reading a line.
pub(super) enum Typed {
    Line(String),
    /// Ctrl-C was pressed, and the line was dropped.
    Nothing,
    /// The line is not UTF-8.
    NoText,
}

/// The source of lines.
pub(super) enum LineSource {
    Typed(Box<Editor<WordCompleter, DefaultHistory>>),
    Read(Stdin),
}

impl LineSource {
    /// Opens standard input.
    pub(super) fn open(stdin: Stdin) -> Result<LineSource, Failure> {
        if !stdin.is_terminal() || !super::super::terminal::is_stdout() {
            return Ok(LineSource::Read(stdin));
        }
        let config = Config::builder().max_history_size(HISTORY_MAX).map_err(failure)?;
        let config = config.completion_type(CompletionType::List).auto_add_history(true).build();
        let mut editor = Editor::with_config(config).map_err(failure)?;
        editor.set_helper(Some(WordCompleter::new()));
        Ok(LineSource::Typed(Box::new(editor)))
    }

    /// Returns whether the user types the lines at a prompt.
    pub(super) fn have_prompt(&self) -> bool {
        matches!(self, LineSource::Typed(_))
    }

    /// Returns the next line, or `None` at the end of the input.
    pub(super) fn next(&mut self) -> Result<Option<Typed>, Failure> {
        match self {
            LineSource::Typed(editor) => match editor.readline(PROMPT) {
                Ok(line) => Ok(Some(Typed::Line(line))),
                Err(ReadlineError::Interrupted) => Ok(Some(Typed::Nothing)),
                Err(ReadlineError::Eof) => Ok(None),
                Err(error) => Err(failure(error)),
            },
            LineSource::Read(stdin) => {
                let mut line = Vec::new();
                let mut bounded = stdin.lock().take(LINE_BYTES_MAX as u64 + 1);
                let read = bounded.read_until(b'\n', &mut line).map_err(|error| unreadable(&error))?;
                if line.len() > LINE_BYTES_MAX {
                    let why =
                        format!("stdin: a line is longer than {LINE_BYTES_MAX} bytes: shorten the query");
                    return Err(Failure::Other(why));
                }
                let line = String::from_utf8(line).map_or(Typed::NoText, Typed::Line);
                Ok((read > 0).then_some(line))
            }
        }
    }
}

fn failure(error: ReadlineError) -> Failure {
    Failure::Other(format!("the terminal cannot be read: {error}"))
}

fn unreadable(error: &io::Error) -> Failure {
    Failure::Other(format!("stdin: {error}"))
}

/// Completes words of the query language, command names and file names.
pub(super) struct WordCompleter {
    words: BTreeSet<&'static str>,
    files: FilenameCompleter,
}

impl WordCompleter {
    fn new() -> WordCompleter {
        WordCompleter { words: plain_spellings(), files: FilenameCompleter::new() }
    }

    /// Returns the offset at which the word before the cursor begins, and the possible completions of this word.
    fn completions(&self, line: &str) -> (usize, Vec<&'static str>) {
        let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | ':');
        let start = line
            .rfind(|letter| !is_of_word(letter))
            .map_or(0, |before| before + line[before..].chars().next().map_or(0, char::len_utf8));
        let begun = &line[start..];
        let found: Vec<&str> = match begun.starts_with(':') {
            true if start == 0 => COMMANDS.into_iter().filter(|word| word.starts_with(begun)).collect(),
            _ if begun.is_empty() => Vec::new(),
            _ => self.words.iter().copied().filter(|word| word.starts_with(begun)).collect(),
        };
        (start, found)
    }
}

impl Completer for WordCompleter {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        at: usize,
        context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        if [":open ", ":save "].iter().any(|command| line.starts_with(command)) {
            return self.files.complete(line, at, context);
        }
        let (start, found) = self.completions(&line[..at]);
        let pair = |word: &str| Pair { display: word.to_owned(), replacement: format!("{word} ") };
        Ok((start, found.into_iter().map(pair).collect()))
    }
}

impl Helper for WordCompleter {}
impl Highlighter for WordCompleter {}
impl Validator for WordCompleter {}

impl Hinter for WordCompleter {
    type Hint = String;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_commands_are_completed() {
        let words = WordCompleter::new();
        assert_eq!(words.completions("shift flip flipc"), (11, vec!["flipcolor"]));
        assert_eq!(words.completions("{passedp"), (1, vec!["passedpawns"]));
        assert_eq!(words.completions(":b"), (0, vec![":board"]));
        assert_eq!(words.completions(":"), (0, COMMANDS.to_vec()));
        assert_eq!(words.completions("mate :b").1, Vec::<&str>::new());
        assert_eq!(words.completions("mate "), (5, vec![]));
        assert_eq!(words.completions("é flipc"), (3, vec!["flipcolor"]));
    }
}
