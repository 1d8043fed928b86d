//! Where all that the program prints leaves it.
//!
//! Messages and text are escaped here whatever they are made of, so that no tag, no name of a file and no argument acts on
//! a terminal; a test forbids the other files of the command to print. Games, tables and lists of positions are data: they keep their bytes
//! unless they go to a terminal.

use std::fmt::{self, Display};
use std::io::{self, BufWriter, IsTerminal as _, StdoutLock, Write};

use orbit_chess::internals::visible::{Context, Filter, escape};
use serde::Serialize;

use super::Failure;

/// Prints one line of messages. Unlike `eprintln!` it does not panic if stderr is closed.
pub(super) fn message(line: fmt::Arguments) {
    let _ = writeln!(io::stderr(), "{}", escape(&line.to_string(), Context::Line));
}

/// Prints a message that is drawn over several lines, perhaps in colours.
pub(super) fn drawn_message(text: &str) {
    let _ = writeln!(io::stderr(), "{}", but_for_colors(text, is_stderr()));
}

/// Prints an object for programs among the messages.
pub(super) fn json_message(value: &impl Serialize) {
    let _ = writeln!(io::stderr(), "{}", json(value));
}

/// Whether messages go to a terminal.
pub(super) fn is_stderr() -> bool {
    io::stderr().is_terminal()
}

/// Whether data go to a terminal.
pub(super) fn is_stdout() -> bool {
    io::stdout().is_terminal()
}

/// Whether messages are drawn in colours.
pub(super) fn has_colors() -> bool {
    let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_plain && is_stderr()
}

/// A value as JSON, in which no letter acts on a terminal.
pub(super) fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("all that is printed can be written as JSON");
    escape(&text, Context::Json).into_owned()
}

/// Text for people on standard output, with a buffer.
pub(super) struct Out(BufWriter<StdoutLock<'static>>);

impl Out {
    pub(super) fn new() -> Out {
        Out(BufWriter::new(io::stdout().lock()))
    }

    /// One line.
    pub(super) fn line(&mut self, line: impl Display) -> Result<(), Failure> {
        writeln!(self.0, "{}", escape(&line.to_string(), Context::Line)).map_err(Failure::Stdout)
    }

    /// One line with a value as JSON.
    pub(super) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        writeln!(self.0, "{}", json(value)).map_err(Failure::Stdout)
    }

    /// Lines with their ends, in our own colours.
    pub(super) fn drawn(&mut self, text: &str) -> Result<(), Failure> {
        self.0.write_all(but_for_colors(text, is_stdout()).as_bytes()).map_err(Failure::Stdout)
    }

    pub(super) fn finish(mut self) -> Result<(), Failure> {
        self.0.flush().map_err(Failure::Stdout)
    }
}

/// Standard output for data: bytes as they are, or, on a terminal, with all escaped that acts on it.
pub(super) enum Stdout {
    Bytes(io::Stdout),
    Terminal(Filter<io::Stdout>),
}

impl Stdout {
    pub(super) fn new() -> Stdout {
        match is_stdout() {
            true => Stdout::Terminal(Filter::new(io::stdout())),
            false => Stdout::Bytes(io::stdout()),
        }
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stdout::Bytes(out) => out.write(bytes),
            Stdout::Terminal(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stdout::Bytes(out) => out.flush(),
            Stdout::Terminal(out) => out.flush(),
        }
    }
}

/// Lines of which everything is escaped but, where `has_colors`, the sequences that choose a colour.
fn but_for_colors(text: &str, has_colors: bool) -> String {
    let mut pieces = text.split('\x1b');
    let mut out = escape(pieces.next().unwrap_or_default(), Context::Lines).into_owned();
    for piece in pieces {
        let end = piece.find(|letter: char| !matches!(letter, '[' | ';' | '0'..='9')).unwrap_or(piece.len());
        let is_color = has_colors && piece.starts_with('[') && piece[end..].starts_with('m');
        out.push_str(if is_color { "\x1b" } else { "\\x1b" });
        out.push_str(&escape(piece, Context::Lines));
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
