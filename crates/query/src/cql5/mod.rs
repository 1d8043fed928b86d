//! The second front end: position lists of CQL 5, `(position Rc3 qg3 :shift)`, to the same typed tree.
//!
//! A list is a condition: all of its designators have a square, all of its keywords hold, all lists in it
//! match. What CQL 6 has is the same node here; only transforms ([`ConditionKeyword::Lists`]) and numbers of
//! attacks and of lines differ.
//!
//! Source: CQL 5 manual; the help of CQL-S where that is silent.
//!
//! [`ConditionKeyword::Lists`]: super::tree::ConditionKeyword::Lists

mod arguments;
mod designator;
mod keywords;
mod lexer;
mod lists;
mod notes;
mod parser;

pub(super) use keywords::{TABLE, nearest};

use crate::{Parsed as Query, token::skip_blank};
use orbit_core::diagnostic::Diagnostic;

type Cql5Result<T> = Result<T, Diagnostic>;

/// Whether a word is a keyword of lists, behind its `:`.
pub(super) fn is_keyword(word: &str) -> bool {
    keywords::is_keyword(word)
}

/// Whether a word is the keyword of a transform.
pub(super) fn is_transform(word: &str) -> bool {
    keywords::transform(word).is_some()
}

/// The words of a list.
const WORDS: [&str; 2] = ["position", "match"];

/// Whether a text has the outer form of CQL 5: the place and the word of its list.
pub(super) fn outer_form(text: &str) -> Option<(usize, &'static str)> {
    let rest = skip_blank(text);
    let inside = skip_blank(rest.strip_prefix('(')?);
    let word = WORDS.into_iter().find(|word| {
        let Some(after) = behind_word(inside, word) else { return false };
        // `(position 3)` and `(position (ply-1))` are positions of the game in CQL 6: a list has none of them.
        let inside = skip_blank(after);
        let number = inside.strip_prefix('(').map(skip_blank);
        let numbered = *word == "position"
            && (inside.starts_with(|c: char| c.is_ascii_digit())
                || number.is_some_and(|inside| WORDS.iter().all(|word| behind_word(inside, word).is_none())));
        !numbered
    })?;
    Some((text.len() - rest.len(), word))
}

/// What follows a word that a text begins with.
fn behind_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(word)?;
    (!rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')).then_some(rest)
}

/// Reads a query of CQL 5.
///
/// # Errors
///
/// The first thing that is wrong, with its place in the text.
pub(super) fn parse(text: &str) -> Cql5Result<Query> {
    let mut parsed = parser::Cql5Parser::new(text).and_then(parser::Cql5Parser::query).map_err(readable)?;
    parsed.remarks = parsed.remarks.into_iter().map(readable).collect();
    Ok(parsed)
}

/// Writes out what cannot be seen in the parts of the query that a message quotes, such as tabs.
fn readable(mut diagnostic: Diagnostic) -> Diagnostic {
    let visible = |text: &str| -> String {
        let mut out = String::new();
        for c in text.chars() {
            match c {
                '"' | '\'' | '\\' => out.push(c),
                _ => out.extend(c.escape_debug()),
            }
        }
        out
    };
    diagnostic.message = visible(&diagnostic.message);
    diagnostic.label = visible(&diagnostic.label);
    diagnostic.help = diagnostic.help.as_deref().map(visible);
    diagnostic
}
