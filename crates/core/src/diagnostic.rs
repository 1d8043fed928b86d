//! Where in a query something is wrong, and how that is shown.
//!
//! Knows text and byte ranges, nothing of chess or CQL. What it draws is escaped as [`visible`] does it.

use std::fmt;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use serde_json::{Value, json};

use crate::visible::{self, EscapeContext};

/// A byte range of the query text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The range `start..end`.
    pub const fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    /// The smallest range that covers both.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span::new(self.start.min(other.start), self.end.max(other.end))
    }
}

/// Whether a diagnostic stops the run; the gravest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// The query cannot be run.
    Error,
    /// The query runs, perhaps not as meant.
    Warning,
    /// The query runs and says little; something else was probably meant. Programs get it as a note.
    Hint,
    /// For information.
    Note,
}

/// One message about a query: what was found, where, and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Error, warning or note.
    pub severity: Severity,
    /// The message: lower case, no full stop.
    pub message: String,
    /// Where it is.
    pub span: Span,
    /// What stands beside the caret.
    pub label: String,
    /// A remedy, if one is known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(span: Span, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            span,
            label: label.into(),
            help: None,
        }
    }

    /// A warning at `span`.
    pub fn warning(span: Span, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message, label) }
    }

    /// A note at `span`.
    pub fn note(span: Span, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Note, ..Diagnostic::error(span, message, label) }
    }

    /// A note on what was probably meant, at `span`.
    pub fn hint(span: Span, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Hint, ..Diagnostic::error(span, message, label) }
    }

    /// Adds a remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Line and column of its first letter in a text, from 1.
    pub fn place(&self, text: &str) -> (usize, usize) {
        let before = &text[..text.floor_char_boundary(self.span.start)];
        let line = before.rfind('\n').map_or(before, |end| &before[end + 1..]);
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }

    /// The message as an object for programs: kind, code `query`, message, file, line and column (from 1), start and end (bytes
    /// from 0), label, help. The text begins at line `line`, from 1, of its origin. docs/output.md lists the fields.
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

    /// Draws the message with the line it is about and a caret. `origin` names the text (`query`,
    /// or a file), `styled` adds ANSI colours.
    pub fn render(&self, text: &str, origin: &str, styled: bool) -> String {
        self.render_line(text, origin, 1, styled)
    }

    /// The same for a text that begins at line `line`, from 1, of its origin.
    pub fn render_line(&self, text: &str, origin: &str, line: usize, styled: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Hint | Severity::Note => Level::NOTE,
        };
        // A span may end inside of a character that some reader took for a byte.
        let end = text.ceil_char_boundary(self.span.end.max(self.span.start));
        let start = text.floor_char_boundary(self.span.start.min(end));
        // What is drawn is escaped before, so that the caret stands below what it points at.
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

/// Lines of a text, whatever ends them.
fn escaped(text: &str) -> String {
    visible::escape(&text.replace("\r\n", "\n"), EscapeContext::Lines).into_owned()
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.label)
    }
}

/// The known word that a misspelt one most resembles: at most one edit (a letter added, left out, replaced or swapped
/// with its neighbour) in three letters away. Of several the first.
pub fn nearest<'a, 'k: 'a>(word: &str, among: impl Iterator<Item = &'a &'k str>) -> Option<&'k str> {
    // What is compared is bounded, whatever is given for a word.
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
