//! The parser of CQL 5. It reads position lists such as `(position Rc3 qg3 :shift)` into the typed tree that CQL 6 also uses.
//!
//! A list is a condition: it matches if every designator in it has a square, every keyword holds, and every list inside it matches.
//! Most keywords become the CQL 6 filter with the same meaning. Transforms ([`ConditionKeyword::Lists`]), attack counts and line
//! counts have their own operations, because no CQL 6 filter means the same.
//!
//! Source: the CQL 5 manual. Where the manual says nothing, this parser follows the help text of the program CQL-S.
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

/// Returns true if a word, preceded by a `:`, is a keyword of CQL 5 position lists.
pub(super) fn is_keyword(word: &str) -> bool {
    keywords::is_keyword(word)
}

/// Returns true if a word, preceded by a `:`, is the keyword of a transform in CQL 5.
pub(super) fn is_transform(word: &str) -> bool {
    keywords::transform(word).is_some()
}

/// The words with which a CQL 5 list begins.
const WORDS: [&str; 2] = ["position", "match"];

/// If a text begins like a CQL 5 query, with `(position ...` or `(match ...`, returns the byte offset and the first word of the
/// list.
pub(super) fn outer_form(text: &str) -> Option<(usize, &'static str)> {
    let rest = skip_blank(text);
    let inside = skip_blank(rest.strip_prefix('(')?);
    let word = WORDS.into_iter().find(|word| {
        let Some(after) = behind_word(inside, word) else { return false };
        // In CQL 6, `(position 3)` and `(position (ply-1))` are positions of the game. No CQL 5 list begins with a number like
        // this.
        let inside = skip_blank(after);
        let number = inside.strip_prefix('(').map(skip_blank);
        let numbered = *word == "position"
            && (inside.starts_with(|c: char| c.is_ascii_digit())
                || number.is_some_and(|inside| WORDS.iter().all(|word| behind_word(inside, word).is_none())));
        !numbered
    })?;
    Some((text.len() - rest.len(), word))
}

/// Returns whether a text begins with `(position (`, which can begin both a CQL 5 list and a position of the game in CQL 6.
pub(super) fn may_be_list(text: &str) -> bool {
    let inside = skip_blank(text).strip_prefix('(').map(skip_blank);
    let after = inside.and_then(|inside| behind_word(inside, "position"));
    after.is_some_and(|after| skip_blank(after).starts_with('('))
}

/// Returns whether there is more text after the list with which a text begins.
pub(super) fn goes_on(text: &str) -> bool {
    let (mut depth, mut is_quoted) = (0u32, false);
    let ends_list = |c: char| {
        match c {
            '"' => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ')' && !is_quoted && depth == 0
    };
    text.find(ends_list).is_some_and(|end| !skip_blank(&text[end + 1..]).is_empty())
}

/// If a text begins with `word`, returns the text after this word; otherwise returns `None`.
fn behind_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(word)?;
    (!rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')).then_some(rest)
}

/// Reads a CQL 5 query.
///
/// # Errors
///
/// Returns the first error, with its location in the text.
pub(super) fn parse(text: &str) -> Cql5Result<Query> {
    let mut parsed = parser::Cql5Parser::new(text).and_then(parser::Cql5Parser::query).map_err(readable)?;
    parsed.remarks = parsed.remarks.into_iter().map(readable).collect();
    Ok(parsed)
}

/// Escapes invisible characters, such as tabs, in the parts of the query that a message quotes.
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
