//! Searches with regular expressions.

use regress::Regex;

use super::{
    copies::Explicit,
    eval::Evaluation,
    regexes::{Groups, characters, groups_of},
};
use crate::{
    diagnostic::{Diagnostic, Span},
    query::tree::Text,
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
