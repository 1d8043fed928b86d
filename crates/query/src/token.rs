//! Tokens of CQL 6, and functions for reading text that both dialects share.

use shakmaty::Bitboard;

use super::tree::Pieces;
use orbit_core::diagnostic::{Diagnostic, Span};

/// The maximum length of a query text in bytes.
pub(super) const QUERY_BYTES_MAX: usize = 1 << 20;

/// One token.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Tok {
    Designator {
        pieces: Pieces,
        squares: Bitboard,
    },
    Word(String),
    Int(i32),
    Str(String),
    /// `\1`, `\-1`: a group of the last match, or the place where it began.
    Group {
        start: bool,
        number: u32,
    },
    /// Punctuation and operators, in their ASCII spelling.
    Sign(&'static str),
    End,
}

/// A token, its place, and whether blank space precedes it.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub tok: Tok,
    pub span: Span,
    pub spaced: bool,
    /// True if a blank line precedes it, which ends a path.
    pub apart: bool,
}

/// Returns the text after blanks, byte order marks and comments.
pub(super) fn skip_blank(mut text: &str) -> &str {
    loop {
        text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        if text.starts_with("//") || text.starts_with(';') {
            text = text.split_once('\n').map_or("", |(_, rest)| rest);
        } else if text.starts_with("/*") {
            text = text.split_once("*/").map_or("", |(_, rest)| rest);
        } else {
            return text;
        }
    }
}

/// Returns the error for a part of CQL that is not supported yet.
pub(super) fn unsupported(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error(span, format!("{what} is not supported yet"), "not supported yet")
}
