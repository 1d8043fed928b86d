//! Regular expressions as ECMAScript has them, on bytes: each byte is the character with its number.
//!
//! The machine is our own because a search must end: it counts its steps, and one that takes too many is given up at
//! the same step on every machine. That a text is a regular expression at all is told where queries are read.

mod machine;
mod syntax;

use orbit_query::tree::{ConditionOp, Form, GameCondition, GameText, Ref, TextOp};

pub(super) use machine::{Captures, CompiledPattern, TooLong};

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

/// What groups have matched in a text.
pub(super) fn groups_of(found: &Captures, text: &[u8]) -> Groups {
    found.iter().map(|group| group.map(|(start, end)| (start, text[start..end].to_vec()))).collect()
}

#[cfg(test)]
mod tests;
