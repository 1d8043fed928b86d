//! Splits the text of a CQL 5 list into tokens: parentheses, keywords, and other blank-separated texts.
//!
//! A text between blanks can be a designator, a number or a result, depending on the keyword before it. The lexer therefore does
//! not interpret it.

use crate::token::QUERY_BYTES_MAX;
use orbit_core::diagnostic::{Diagnostic, Span};

use super::Cql5Result;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cql5Tok<'a> {
    Open,
    Close,
    /// A keyword `:name`, or `!:name` if it is negated.
    Keyword {
        negated: bool,
        name: &'a str,
    },
    /// Any other text. It ends at a blank, a parenthesis or a keyword. Blanks inside brackets are part of the text.
    Text(&'a str),
    End,
}

/// A token and its span in the query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cql5Token<'a> {
    pub tok: Cql5Tok<'a>,
    pub span: Span,
}

/// Splits a list into tokens, the last of which is [`Cql5Tok::End`].
///
/// # Errors
///
/// Fails if a comment or a bracket is not closed, if a colon has no keyword, or if the text is too long.
pub(super) fn lex(text: &str) -> Cql5Result<Vec<Cql5Token<'_>>> {
    if text.len() > QUERY_BYTES_MAX {
        return Err(Diagnostic::error(
            Span::new(0, 0),
            format!("the query is {} bytes long", text.len()),
            format!("at most {QUERY_BYTES_MAX} bytes are read"),
        ));
    }
    let (mut tokens, mut at) = (Vec::new(), 0);
    loop {
        at += blank(&text[at..], at)?;
        let rest = &text[at..];
        let (tok, len) = match rest.chars().next() {
            None => (Cql5Tok::End, 0),
            Some('(') => (Cql5Tok::Open, 1),
            Some(')') => (Cql5Tok::Close, 1),
            Some(':' | '!') => keyword(rest, at)?,
            Some(_) => {
                let len = text_len(rest, at)?;
                (Cql5Tok::Text(&rest[..len]), len)
            }
        };
        tokens.push(Cql5Token { tok, span: Span::new(at, at + len) });
        if tok == Cql5Tok::End {
            return Ok(tokens);
        }
        at += len;
    }
}

/// Returns the length in bytes of the blanks and comments at the start of a text.
fn blank(text: &str, at: usize) -> Cql5Result<usize> {
    let mut len = 0;
    loop {
        let rest = &text[len..];
        if let Some(c) = rest.chars().next().filter(|c| c.is_whitespace() || *c == '\u{feff}') {
            len += c.len_utf8();
        } else if rest.starts_with(';') || rest.starts_with("//") {
            len += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            let Some(close) = rest.find("*/") else {
                return Err(Diagnostic::error(
                    Span::new(at + len, at + len + 2),
                    "comment is not closed",
                    "begins here; close it with `*/`",
                ));
            };
            len += close + 2;
        } else {
            return Ok(len);
        }
    }
}

/// Reads a keyword with its colon. A `!` may precede or follow the colon.
fn keyword(rest: &str, at: usize) -> Cql5Result<(Cql5Tok<'_>, usize)> {
    let signs = rest.bytes().take_while(|b| b":!".contains(b)).count();
    let name = rest[signs..].bytes().take_while(|&b| b.is_ascii_alphanumeric() || b == b'*').count();
    let len = signs + name;
    let negated = match &rest[..signs] {
        ":" => false,
        "!:" | ":!" => true,
        _ => {
            return Err(Diagnostic::error(
                Span::new(at, at + len),
                format!("`{}` begins no keyword", &rest[..signs]),
                "expected `:` and a keyword, or `!:` and one that is not to hold",
            ));
        }
    };
    if name == 0 {
        return Err(Diagnostic::error(
            Span::new(at, at + len),
            "a colon without a keyword",
            "expected a keyword directly behind it, such as `:wtm` or `:shift`",
        ));
    }
    Ok((Cql5Tok::Keyword { negated, name: &rest[signs..len] }, len))
}

fn text_len(rest: &str, at: usize) -> Cql5Result<usize> {
    let mut open = None;
    for (k, c) in rest.char_indices() {
        let ends = match c {
            '[' => {
                open = open.or(Some(k));
                false
            }
            ']' => {
                open = None;
                false
            }
            '(' | ')' | ':' | ';' | '\n' => true,
            '/' => rest[k..].starts_with("//") || rest[k..].starts_with("/*"),
            c => open.is_none() && c.is_whitespace(),
        };
        if ends {
            return open.map_or(Ok(k), |open| Err(open_bracket(at + open)));
        }
    }
    open.map_or(Ok(rest.len()), |open| Err(open_bracket(at + open)))
}

fn open_bracket(at: usize) -> Diagnostic {
    Diagnostic::error(Span::new(at, at + 1), "`[` is not closed", "close it with `]`")
        .help("a list of pieces is `[♖♗]`, a list of squares `[a1,c4]`, both are `[♖♗][a1,c4]`")
}
