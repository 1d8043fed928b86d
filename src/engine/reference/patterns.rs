//! Regular expressions as ECMAScript has them, on bytes: each byte is the character with its number.

use regress::{Match, Regex};

use super::{copies::Explicit, eval::Evaluation, state::Groups};
use crate::{
    diagnostic::{Diagnostic, Span},
    query::tree::{ConditionOp, Form, GameCondition, GameText, Ref, Text, TextOp},
};

impl Evaluation<'_> {
    /// The text that matches first; its groups stay until the next search. A search that fails clears them.
    pub(super) fn search(&mut self, text: &Text<Explicit>, pattern: &str, span: Span) -> Option<Vec<u8>> {
        self.state.groups = None;
        let text = self.text(text)?;
        let pattern = self.pattern(pattern, span)?;
        let (searched, starts) = characters(&text);
        let groups = groups_of(&pattern.find(&searched)?, &text, &starts);
        let matched = groups[0].as_ref().map(|(_, matched)| matched.clone());
        self.state.groups = Some(groups);
        matched
    }

    /// The groups of all matches, one after the other.
    pub(super) fn all_matches(&mut self, text: &[u8], pattern: &str, span: Span) -> Vec<Groups> {
        let Some(pattern) = self.pattern(pattern, span) else { return Vec::new() };
        let (searched, starts) = characters(text);
        pattern.find_iter(&searched).map(|found| groups_of(&found, text, &starts)).collect()
    }

    fn pattern(&mut self, pattern: &str, span: Span) -> Option<&Regex> {
        match self.declared.patterns.get(pattern)? {
            Ok(regex) => Some(regex),
            Err(error) => {
                self.state.fail(
                    Diagnostic::error(
                        span,
                        format!("the regular expression \"{pattern}\" is wrong: {error}"),
                        "here",
                    )
                    .help("regular expressions are those of ECMAScript"),
                );
                None
            }
        }
    }

    /// `\1`: none if the group took no part.
    pub(super) fn group(&mut self, group: u32, span: Span) -> Option<Vec<u8>> {
        self.last_group(group, span).map(|(_, text)| text)
    }

    /// `\-1`.
    pub(super) fn group_start(&mut self, group: u32, span: Span) -> Option<i32> {
        self.last_group(group, span).map(|(start, _)| start as i32)
    }

    fn last_group(&mut self, group: u32, span: Span) -> Option<(usize, Vec<u8>)> {
        let groups = self.state.groups.as_deref().unwrap_or_default();
        if let Some(found) = groups.get(group as usize) {
            return found.clone();
        }
        let (message, help) = match groups.len() {
            0 => (
                format!("there is no group {group}: no regular expression has matched"),
                "let a `~~` match before".to_owned(),
            ),
            count => (
                format!("there is no group {group} in the last match"),
                format!("the last regular expression has the groups 0 to {}", count - 1),
            ),
        };
        self.state.fail(Diagnostic::error(span, message, "read here").help(help));
        None
    }
}

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
fn characters(text: &[u8]) -> (String, Vec<usize>) {
    let mut out = String::new();
    let mut starts = Vec::with_capacity(text.len() + 1);
    for &byte in text {
        starts.push(out.len());
        out.push(char::from(byte));
    }
    starts.push(out.len());
    (out, starts)
}

fn groups_of(found: &Match, text: &[u8], starts: &[usize]) -> Groups {
    let byte = |at: usize| starts.partition_point(|&start| start < at);
    let group = |range: std::ops::Range<usize>| {
        (byte(range.start), text[byte(range.start)..byte(range.end)].to_vec())
    };
    found.groups().map(|range| range.map(group)).collect()
}
