//! Regular expressions of ECMAScript that work on bytes. Each byte is the character with that number.
//!
//! This is an implementation of our own, because every search must end: it counts its steps and gives up after too
//! many, at the same step on every computer. Query parsing has already checked that the texts are valid regular
//! expressions.

mod machine;
mod syntax;

use orbit_query::tree::{ConditionOp, Form, GameCondition, GameText, Ref, TextOp};

pub(super) use machine::{Captures, CompiledPattern, TooLong};

/// The groups of a match of a regular expression: for each group that is part of the match, its start and its text.
pub(super) type Groups = Vec<Option<(usize, Vec<u8>)>>;

/// Returns the regular expression of a filter, if the filter searches for one.
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
