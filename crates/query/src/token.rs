//! The tokens of CQL 6, and the text functions that the parsers of CQL 5 and CQL 6 share.

use shakmaty::Bitboard;

use super::tree::Pieces;
use orbit_core::diagnostic::{Diagnostic, Span};

/// The maximum length of a query text in bytes.
pub(super) const QUERY_BYTES_MAX: usize = 1 << 20;

/// A token without its location in the text.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Tok {
    Designator {
        pieces: Pieces,
        squares: Bitboard,
    },
    Word(String),
    Int(i32),
    Str(String),
    /// `\1`, a group of the last match of a regular expression. With `start`, `\-1`, the index at which that group began.
    Group {
        start: bool,
        number: u32,
    },
    /// Punctuation and operators, in their ASCII spelling.
    Sign(&'static str),
    End,
}

/// A token, its location in the text, and the blank space before it.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub tok: Tok,
    pub span: Span,
    pub spaced: bool,
    /// True if a blank line precedes the token. A blank line ends a path.
    pub apart: bool,
}

/// Returns the text after any blanks, byte order marks and comments at its start.
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

/// The squares at the start of a text, and the number of bytes that were read. `None` if the text does not begin with squares.
pub(super) type SquaresRead<E> = Result<Option<(Bitboard, usize)>, E>;

/// Reads the elements of a list of squares, up to its closing bracket, and returns their union. `text` begins with the opening
/// bracket, and `at` is its offset in the query. The first element is expected after `len` bytes.
pub(super) fn square_list<E>(
    text: &str,
    at: usize,
    mut len: usize,
    element: impl Fn(&str, usize) -> SquaresRead<E>,
) -> SquaresRead<E> {
    let mut out = Bitboard(0);
    loop {
        len += blanks(&text[len..]);
        let Some((part, bytes)) = element(&text[len..], at + len)? else { return Ok(None) };
        out |= part;
        len += bytes;
        len += blanks(&text[len..]);
        match text.as_bytes().get(len) {
            Some(b',') => len += 1,
            Some(b']') => return Ok(Some((out, len + 1))),
            _ => return Ok(None),
        }
    }
}

pub(super) fn blanks(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_whitespace).count()
}

/// Returns the error for a part of CQL that is not supported yet.
pub(super) fn unsupported(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error(span, format!("{what} is not supported yet"), "not supported yet")
}
