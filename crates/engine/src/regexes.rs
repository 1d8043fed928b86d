//! Regular expressions of ECMAScript on bytes: each byte is the character with its number.
//!
//! The machine is our own because every search must end: it counts its steps, and gives up a search that takes too
//! many, at the same step on every computer. Whether a text is a regular expression at all is checked when the query is
//! read.

mod machine;
mod syntax;

use orbit_query::tree::{ConditionOp, Form, GameCondition, GameText, Ref, TextOp};

pub(super) use machine::{Captures, CompiledPattern, TooLong};

/// The groups of the last match of a regular expression: for each group that took part, its start and its text.
pub(super) type Groups = Vec<Option<(usize, Vec<u8>)>>;

/// Returns the regular expression that a filter searches for, if it searches for one.
pub(super) fn pattern_of<P: Form>(filter: Ref<'_, P>) -> Option<&str> {
    match filter {
        Ref::Text(f) if let TextOp::Game(GameText::Match { pattern, .. }) = f.op() => Some(pattern),
        Ref::Condition(f) if let ConditionOp::Game(GameCondition::WhileMatch { pattern, .. }) = f.op() => {
            Some(pattern)
        }
        _ => None,
    }
}

/// Returns the start and the text of each group of a match.
pub(super) fn groups_of(found: &Captures, text: &[u8]) -> Groups {
    found.iter().map(|group| group.map(|(start, end)| (start, text[start..end].to_vec()))).collect()
}

#[cfg(test)]
mod tests;
