//! Evaluates loops, and filters that end the search.

use super::{
    copies::{ExplicitForm, PlainFilter},
    eval::Evaluation,
    facts,
    value::Value,
};
use orbit_core::diagnostic::{Diagnostic, Span};
use orbit_query::tree::Text;

impl Evaluation<'_> {
    /// Evaluates a filter repeatedly until it does not match. Returns true if it matched at least once.
    pub(super) fn repeat(&mut self, of: &PlainFilter, span: Span) -> bool {
        let mut matched = false;
        while self.matches(of) && self.state.repeats("loop", span) {
            matched = true;
        }
        matched
    }

    pub(super) fn repeat_while(&mut self, condition: &PlainFilter, body: &PlainFilter, span: Span) -> bool {
        while self.matches(condition) && self.state.repeats("while", span) {
            self.matches(body);
        }
        true
    }

    /// Evaluates the loop body once for each match of a regular expression in a string. The string is computed only once.
    pub(super) fn repeat_while_match(
        &mut self,
        text: &Text<ExplicitForm>,
        pattern: &str,
        body: &PlainFilter,
        span: Span,
    ) -> bool {
        let Some(text) = self.text(text) else { return false };
        let mut from = 0;
        while let Some(groups) = self.next_match(&text, pattern, &mut from, span) {
            self.state.groups = Some(groups);
            self.matches(body);
        }
        self.state.groups = None;
        true
    }

    /// Ends the search with an error unless a filter matches.
    pub(super) fn assert(&mut self, of: &PlainFilter, span: Span) -> bool {
        let holds = self.matches(of);
        if !holds {
            self.state.fail(
                Diagnostic::error(span, "an assertion fails", "asserted here")
                    .help("correct the query, or leave the assertion out"),
            );
        }
        holds
    }

    pub(super) fn abort(&mut self, span: Span) -> bool {
        let fault = Diagnostic::error(span, "the query ends the run", "here");
        self.state.fail(fault);
        false
    }

    /// Returns true if two filters have the same value, or if neither of them matches. Evaluates both.
    pub(super) fn equal(&mut self, a: &PlainFilter, b: &PlainFilter) -> bool {
        match (self.value(a), self.value(b)) {
            (Value::Str(Some(a)), Value::Str(Some(b))) => facts::order(&a, &b).is_eq(),
            (a, b) => a == b || !a.matches() && !b.matches(),
        }
    }
}

impl Value {
    /// Returns true if a filter with this value matches.
    pub(super) fn matches(&self) -> bool {
        match self {
            Value::Bool(value) => *value,
            Value::Set(squares) => squares.any(),
            Value::Num(number) | Value::Position(number) => number.is_some(),
            Value::Str(text) => text.is_some(),
        }
    }
}
