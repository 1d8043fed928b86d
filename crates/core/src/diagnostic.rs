//! Describes problems in a query, with their positions in the text, and renders them for a terminal.
//!
//! This module works on text and byte ranges, and does not depend on chess or CQL. [`visible`] escapes its output.

use std::fmt;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use serde_json::{Value, json};

use crate::visible::{self, EscapeContext};

/// A byte range of the query text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// Makes the range `start..end`.
    pub const fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    /// Returns the smallest range that covers both ranges.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span::new(self.start.min(other.start), self.end.max(other.end))
    }
}

/// The severity of a diagnostic, in order from the most severe. Only an error prevents the query from running.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// The query cannot be run.
    Error,
    /// The query runs, but perhaps not as its author intended.
    Warning,
    /// The query runs, but its author probably meant something else, for instance because it matches nearly everything. In JSON,
    /// the `kind` is `note`.
    Hint,
    /// Information, for instance about a word that has no effect.
    Note,
}

/// One message about a query: the problem, its place, and a remedy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Error, warning, hint or note.
    pub severity: Severity,
    /// The message: lower case, no full stop.
    pub message: String,
    /// The place of the problem.
    pub span: Span,
    /// The text beside the caret.
    pub label: String,
    /// A remedy, if one is known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Makes an error at `span`.
    pub fn error(span: Span, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            span,
            label: label.into(),
            help: None,
        }
    }

    /// Makes a warning at `span`.
    pub fn warning(span: Span, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message, label) }
    }

    /// Makes a note at `span`.
    pub fn note(span: Span, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Note, ..Diagnostic::error(span, message, label) }
    }

    /// Creates a hint at `span`: the author of the query probably meant a different query.
    pub fn hint(span: Span, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Hint, ..Diagnostic::error(span, message, label) }
    }

    /// Adds a remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Returns the line and the column, both counted from 1, of the span's first character in the query text.
    pub fn place(&self, text: &str) -> (usize, usize) {
        let before = &text[..text.floor_char_boundary(self.span.start)];
        let line = before.rfind('\n').map_or(before, |end| &before[end + 1..]);
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }

    /// Returns the message as a JSON object with these fields: kind, code (always `query`), message, file, line and column (counted
    /// from 1), start and end (byte offsets, counted from 0), label, help. `origin` is the file that contains the query. The query
    /// text begins at line `line` of that file, counted from 1. docs/output.md explains the fields.
    pub fn json(&self, text: &str, origin: &str, line: usize) -> Value {
        let kind = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Hint | Severity::Note => "note",
        };
        let (row, column) = self.place(text);
        json!({
            "kind": kind,
            "code": "query",
            "message": self.message,
            "file": origin,
            "line": row + line - 1,
            "column": column,
            "start": self.span.start,
            "end": self.span.end,
            "label": self.label,
            "help": self.help,
        })
    }

    /// Renders the message as text, with the affected line of the query and a caret below it. `origin` is the source named in the
    /// output: `query`, or a file. If `styled` is true, the output has ANSI colours.
    pub fn render(&self, text: &str, origin: &str, styled: bool) -> String {
        self.render_line(text, origin, 1, styled)
    }

    /// Like [`Diagnostic::render`], but for a query that begins at line `line` of the file `origin`, counted from 1.
    pub fn render_line(&self, text: &str, origin: &str, line: usize, styled: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Hint | Severity::Note => Level::NOTE,
        };
        // Both ends of the span are moved to character boundaries, since a span computed byte by byte may begin or end inside a
        // character.
        let end = text.ceil_char_boundary(self.span.end.max(self.span.start));
        let start = text.floor_char_boundary(self.span.start.min(end));
        // The text is escaped before it is drawn. Escapes differ in width from the characters that they replace, so escaping it
        // later would put the caret in the wrong column.
        let [before, within, after] = [&text[..start], &text[start..end], &text[end..]].map(escaped);
        let span = before.len()..before.len() + within.len();
        let text = before + &within + &after;
        let mut group = level.primary_title(visible::line(&self.message)).element(
            Snippet::source(text)
                .line_start(line)
                .path(visible::line(origin))
                .annotation(AnnotationKind::Primary.span(span).label(visible::line(&self.label))),
        );
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(visible::line(help)));
        }
        let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }
}

/// Escapes the lines of a text. CRLF line ends become LF.
fn escaped(text: &str) -> String {
    visible::escape(&text.replace("\r\n", "\n"), EscapeContext::Lines).into_owned()
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.label)
    }
}

/// Returns the word in `among` that is nearest to the misspelt `word`, or `None` if no word is near enough. A word is near enough
/// if it differs by at most one edit for every three letters. An edit adds, drops or replaces a letter, or swaps two neighbours. Of
/// several equally near words, the first is returned.
pub fn nearest<'a, 'k: 'a>(word: &str, among: impl Iterator<Item = &'a &'k str>) -> Option<&'k str> {
    // `word` may be arbitrarily long, so only its first 64 characters are compared.
    let lower: String = word.to_lowercase().chars().take(64).collect();
    among
        .map(|known| (strsim::osa_distance(&lower, known), *known))
        .filter(|(distance, known)| 3 * distance <= known.len().min(lower.len() + 1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found() {
        let words = ["year", "white", "elo", "player"];
        for (word, found) in [
            ("yaer", Some("year")),
            ("wihte", Some("white")),
            ("Whit", Some("white")),
            ("whitte", Some("white")),
            ("palyre", Some("player")),
            ("palryes", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(nearest(word, words.iter()), found, "{word}");
        }
    }
}
