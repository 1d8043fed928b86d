//! Prints all output of the program.
//!
//! Messages and text are escaped here, so that no tag, file name or argument can send control characters to a terminal. A test
//! forbids printing in the other files of this crate. Games, tables and position lists are data: they are escaped only if they are
//! printed on a terminal.

use std::fmt::{self, Display};
use std::io::{self, BufWriter, IsTerminal as _, StdoutLock, Write};
use std::sync::OnceLock;

use clap::ValueEnum;
use orbit_core::diagnostic::Diagnostic;
use orbit_core::visible::{EscapeContext, VisibleBytes, escape};
use serde::Serialize;
use serde_json::{Value, json};

use super::failure::Failure;

/// The process-wide options for the appearance of messages and text. Only this module can read them.
static LOOK: OnceLock<LookArgs> = OnceLock::new();

/// The options for the look of messages and text.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(super) struct LookArgs {
    /// Use colours for hits and messages: on terminals (`auto`, unless NO_COLOR is set), `always` or `never`.
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        hide_short_help = true
    )]
    color: ColorWhen,
    /// Print messages on stderr as `text`, or as `json`: one JSON object on each line.
    ///
    /// An object has kind (`error`, `warning`, `note`, `info`), code and message; a message about a query or another text
    /// also has file, line, column (from 1), start and end (bytes from 0), label and help. docs/output.md explains them.
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "FORMAT",
        default_value = "text",
        hide_possible_values = true,
        hide_short_help = true
    )]
    message_format: MessageFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum ColorWhen {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum MessageFormat {
    #[default]
    Text,
    Json,
}

impl LookArgs {
    /// The appearance with JSON messages, which is used if the arguments cannot be parsed.
    pub(super) const JSON: LookArgs =
        LookArgs { color: ColorWhen::Auto, message_format: MessageFormat::Json };

    /// Applies these options to everything that is printed. Later calls have no effect.
    pub(super) fn apply(self) {
        let _ = LOOK.set(self);
    }
}

fn look() -> LookArgs {
    LOOK.get().copied().unwrap_or_default()
}

/// Returns whether messages are JSON.
pub(super) fn has_json_messages() -> bool {
    look().message_format == MessageFormat::Json
}

/// Prints one message line. Unlike `eprintln!`, it does not panic if stderr is closed.
pub fn message(line: fmt::Arguments) {
    let line = line.to_string();
    if has_json_messages() {
        let (kind, text) = ["error", "warning", "note"]
            .iter()
            .find_map(|kind| Some((*kind, line.strip_prefix(kind)?.strip_prefix(": ")?)))
            .unwrap_or(("info", &line));
        return json_message(&json!({ "kind": kind, "message": text }));
    }
    let _ = writeln!(io::stderr(), "{}", escape(&line, EscapeContext::Line));
}

/// Prints a line without escaping it, so it must be trusted text. Allocates no memory, and does not wait for other threads that use
/// stderr.
#[cfg(unix)]
#[expect(unsafe_code, reason = "the standard library locks stderr")]
pub(super) fn message_at_once(line: &[u8]) {
    // SAFETY: the pointer and the length are those of the slice. A failed or partial write only loses output.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}

/// Prints a line without escaping it, so it must be trusted text. Allocates no memory.
#[cfg(not(unix))]
pub(super) fn message_at_once(line: &[u8]) {
    let _ = io::stderr().write_all(line);
}

/// Prints an error that does not refer to a place in a text.
pub(super) fn error_message(code: &str, text: &str) {
    match has_json_messages() {
        true => json_message(&json!({ "kind": "error", "code": code, "message": text })),
        false => message(format_args!("error: {text}")),
    }
}

/// Returns a message about a place in a text, either as lines that show the place or as JSON. `line` is the line number in the file
/// at which the text begins.
pub(super) fn rendered(diagnostic: &Diagnostic, text: &str, origin: &str, line: usize) -> String {
    if !has_json_messages() {
        return diagnostic.render_line(text, origin, line, has_colors());
    }
    json(&diagnostic.json(text, origin, line))
}

/// Prints a message of several lines, which may contain colours.
pub(super) fn drawn_message(text: &str) {
    let _ = writeln!(io::stderr(), "{}", but_for_colors(text, has_colors()));
}

pub(super) fn json_message(value: &impl Serialize) {
    let _ = writeln!(io::stderr(), "{}", json(value));
}

/// A message with fields that are printed only if messages are JSON.
pub(super) struct Remark {
    text: String,
    fields: Value,
}

impl Remark {
    /// Returns the remark with `words` before its text.
    pub(super) fn behind(self, words: &str) -> Remark {
        Remark { text: format!("{words}{}", self.text), ..self }
    }

    pub(super) fn print(&self) {
        match (&self.fields, has_json_messages()) {
            (Value::Object(fields), true) => {
                let mut object = fields.clone();
                object.insert(String::from("kind"), "info".into());
                object.insert(String::from("message"), self.text.clone().into());
                json_message(&object);
            }
            _ => message(format_args!("{}", self.text)),
        }
    }
}

impl From<String> for Remark {
    fn from(text: String) -> Remark {
        Remark { text, fields: Value::Null }
    }
}

/// Creates a remark from its text and its JSON fields.
impl From<(String, Value)> for Remark {
    fn from((text, fields): (String, Value)) -> Remark {
        Remark { text, fields }
    }
}

pub(super) fn is_stderr() -> bool {
    io::stderr().is_terminal()
}

pub(super) fn is_stdout() -> bool {
    io::stdout().is_terminal()
}

/// Returns whether messages are coloured.
pub(super) fn has_colors() -> bool {
    colors(is_stderr())
}

pub(super) fn has_colors_on_stdout() -> bool {
    colors(is_stdout())
}

fn colors(is_terminal: bool) -> bool {
    let is_plain = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match look().color {
        ColorWhen::Auto => is_terminal && !is_plain(),
        ColorWhen::Always => true,
        ColorWhen::Never => false,
    }
}

/// Returns a value as JSON in which all terminal control characters are escaped.
pub(super) fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("all that is printed can be written as JSON");
    escape(&text, EscapeContext::Json).into_owned()
}

/// Prints one line of JSON on standard output. Can be called from any thread; the line is flushed immediately and never mixed with
/// other lines.
pub(super) fn data_line(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(format!("{}\n", escape(line, EscapeContext::Json)).as_bytes())?;
    out.flush()
}

/// Buffered standard output for text that people read.
pub(super) struct Out(BufWriter<StdoutLock<'static>>);

impl Out {
    pub(super) fn new() -> Out {
        Out(BufWriter::new(io::stdout().lock()))
    }

    /// Prints one line, in which terminal control characters are escaped.
    pub(super) fn line(&mut self, line: impl Display) -> Result<(), Failure> {
        writeln!(self.0, "{}", escape(&line.to_string(), EscapeContext::Line)).map_err(Failure::from_stdout)
    }

    pub(super) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        writeln!(self.0, "{}", json(value)).map_err(Failure::from_stdout)
    }

    /// Prints complete lines. Colours are kept; all other terminal control characters are escaped.
    pub(super) fn drawn(&mut self, text: &str) -> Result<(), Failure> {
        self.0
            .write_all(but_for_colors(text, has_colors_on_stdout()).as_bytes())
            .map_err(Failure::from_stdout)
    }

    pub(super) fn finish(mut self) -> Result<(), Failure> {
        self.0.flush().map_err(Failure::from_stdout)
    }
}

/// Standard output for data. Bytes are written unchanged unless standard output is a terminal; then control characters are escaped.
pub(super) enum Stdout {
    Bytes(io::Stdout),
    Terminal(VisibleBytes<io::Stdout>),
    /// Standard output for complete lines of text. Only the program's own colours are kept; other control characters are escaped.
    Drawn(io::Stdout),
}

impl Stdout {
    pub(super) fn new() -> Stdout {
        match is_stdout() {
            true => Stdout::Terminal(VisibleBytes::new(io::stdout())),
            false => Stdout::Bytes(io::stdout()),
        }
    }

    /// Opens standard output for lines of text, which are coloured if the options and the terminal allow it.
    pub(super) fn with_colors() -> Stdout {
        if has_colors_on_stdout() { Stdout::Drawn(io::stdout()) } else { Stdout::new() }
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stdout::Bytes(out) => out.write(bytes),
            Stdout::Drawn(out) => {
                out.write_all(but_for_colors(&String::from_utf8_lossy(bytes), true).as_bytes())?;
                Ok(bytes.len())
            }
            Stdout::Terminal(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stdout::Bytes(out) | Stdout::Drawn(out) => out.flush(),
            Stdout::Terminal(out) => out.flush(),
        }
    }
}

/// Escapes all terminal control characters except line ends. If `has_colors` is true, colour sequences are kept.
fn but_for_colors(text: &str, has_colors: bool) -> String {
    let mut pieces = text.split('\x1b');
    let mut out = escape(pieces.next().unwrap_or_default(), EscapeContext::Lines).into_owned();
    for piece in pieces {
        let end = piece.find(|letter: char| !matches!(letter, '[' | ';' | '0'..='9')).unwrap_or(piece.len());
        let is_color = has_colors && piece.starts_with('[') && piece[end..].starts_with('m');
        out.push_str(if is_color { "\x1b" } else { "\\x1b" });
        out.push_str(&escape(piece, EscapeContext::Lines));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_alone_reach_a_terminal() {
        let text = "\x1b[1m\x1b[38;5;9merror\x1b[0m: \x1b]0;a\x07\x1b[2J\n";
        assert_eq!(but_for_colors(text, true), "\x1b[1m\x1b[38;5;9merror\x1b[0m: \\x1b]0;a\\x07\\x1b[2J\n");
        assert!(!but_for_colors(text, false).contains('\x1b'));
    }
}
