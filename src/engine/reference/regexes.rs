//! Regular expressions as ECMAScript has them, on bytes: each byte is the character with its number.

use regress::{Match, Regex};

use crate::query::tree::{ConditionOp, Form, GameCondition, GameText, Ref, TextOp};

/// The last match of a regular expression: for each group where it began, and its text, if it took part.
pub(super) type Groups = Vec<Option<(usize, Vec<u8>)>>;

/// The regular expression that a filter searches for.
pub(super) fn pattern_of<P: Form>(filter: Ref<'_, P>) -> Option<&str> {
    match filter {
        Ref::Text(f) if let TextOp::Game(GameText::Match { pattern, .. }) = f.op() => Some(pattern),
        Ref::Condition(f) if let ConditionOp::Game(GameCondition::WhileMatch { pattern, .. }) = f.op() => {
            Some(pattern)
        }
        _ => None,
    }
}

/// A regular expression, or what is wrong with it.
pub(super) fn compiled(pattern: &str) -> Result<Regex, String> {
    Regex::new(&characters(pattern.as_bytes()).0).map_err(|error| error.to_string())
}

/// Each byte as a character of its own, and where in the text that makes each of them begins; the end as well.
pub(super) fn characters(text: &[u8]) -> (String, Vec<usize>) {
    let mut out = String::new();
    let mut starts = Vec::with_capacity(text.len() + 1);
    for &byte in text {
        starts.push(out.len());
        out.push(char::from(byte));
    }
    starts.push(out.len());
    (out, starts)
}

/// What a match has found in a text, whose characters begin there.
pub(super) fn groups_of(found: &Match, text: &[u8], starts: &[usize]) -> Groups {
    let byte = |at: usize| starts.partition_point(|&start| start < at);
    let group = |range: std::ops::Range<usize>| {
        (byte(range.start), text[byte(range.start)..byte(range.end)].to_vec())
    };
    found.groups().map(|range| range.map(group)).collect()
}
