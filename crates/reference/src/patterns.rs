//! Evaluates searches with regular expressions in strings.

use super::{copies::ExplicitForm, eval::Evaluation, state::Groups};
use orbit_core::{
    diagnostic::{Diagnostic, Span},
    regexes::{Captures, TooLong},
};
use orbit_query::tree::Text;

/// The number of regular expression steps that take as long as evaluating one filter.
const STEPS_A_FILTER: u64 = 64;

impl Evaluation<'_> {
    /// Returns the text of the first match. The groups of the match are stored until the next search. A failed search clears them.
    pub(super) fn search(&mut self, text: &Text<ExplicitForm>, pattern: &str, span: Span) -> Option<Vec<u8>> {
        self.state.groups = None;
        let text = self.text(text)?;
        let found = self.first_match(pattern, &text, 0, span)?;
        let groups = self.groups_of(&found, &text, span);
        let matched = groups[0].as_ref().map(|(_, matched)| matched.clone());
        self.state.groups = Some(groups);
        matched
    }

    /// Returns the groups of the next match at or after `from`. Moves `from` to the end of the match or, after an empty match,
    /// one byte further.
    pub(super) fn next_match(
        &mut self,
        text: &[u8],
        pattern: &str,
        from: &mut usize,
        span: Span,
    ) -> Option<Groups> {
        if *from > text.len() || self.state.fault.is_some() {
            return None;
        }
        let found = self.first_match(pattern, text, *from, span)?;
        *from = found[0].map_or(*from, |(start, end)| if start == end { end + 1 } else { end });
        Some(self.groups_of(&found, text, span))
    }

    /// Returns the start and the text of each group of a match.
    fn groups_of(&mut self, found: &Captures, text: &[u8], span: Span) -> Groups {
        let bytes = found.iter().flatten().map(|(start, end)| end.saturating_sub(*start)).sum();
        self.state.step_bytes(bytes, span);
        found.iter().map(|group| group.map(|(start, end)| (start, text[start..end].to_vec()))).collect()
    }

    /// Returns the first match at or after a byte. If the search takes too long, the evaluation ends with an error.
    fn first_match(&mut self, pattern: &str, text: &[u8], from: usize, span: Span) -> Option<Captures> {
        let mut steps = 0;
        let found = self.declared.patterns.get(pattern)?.find(text, from, &mut steps, &self.state.interrupt);
        self.state.steps(steps / STEPS_A_FILTER, span);
        found.unwrap_or_else(|TooLong| {
            let length = text.len();
            self.state.fail(
                Diagnostic::error(
                    span,
                    format!(
                        "the regular expression \"{pattern}\" takes too long on a text of {length} bytes"
                    ),
                    "searched here",
                )
                .help(
                    "repetitions inside of repetitions try the same letters again and again: `(a+)+` is `a+`",
                ),
            );
            None
        })
    }

    /// Evaluates `\1`, the text of a group. Returns `None` if the group is not part of the match.
    pub(super) fn group(&mut self, group: u32, span: Span) -> Option<Vec<u8>> {
        self.last_group(group, span).map(|(_, text)| text)
    }

    /// Evaluates `\-1`, the index at which a group begins.
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
