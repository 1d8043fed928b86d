//! Evaluates `echo`, which compares the current position (the *source*) with other positions of the game (the
//! *targets*).

use super::{
    copies::{ExplicitForm, PlainFilter},
    eval::Evaluation,
    found::Noted,
};
use orbit_query::{
    answer::SpanKind,
    tree::{Cell, Echo, Number},
};

impl Evaluation<'_> {
    pub(super) fn echo_condition(&mut self, echo: &Echo<PlainFilter>) -> bool {
        let (begin, mut first) = (self.notes_begin(), None);
        for target in self.targets(echo) {
            if self.state.fault.is_some() {
                break;
            }
            let before = self.state.notes.len();
            if self.at_target(echo, target, |there| there.matches(&echo.body)) {
                self.note_echo(echo, target);
                first = first.or(Some(target));
            } else {
                self.state.notes.truncate(before);
            }
        }
        self.end_echo(echo);
        self.note_pair(begin, first);
        first.is_some()
    }

    /// Returns the largest value of the body over all targets. Inside `sort`, only the comments from the first target with this
    /// value are kept. Elsewhere, the comments from all targets with a value are kept.
    pub(super) fn echo_number(&mut self, echo: &Echo<Number<ExplicitForm>>) -> Option<i32> {
        let begin = self.notes_begin();
        let (mut best, mut best_target) = (None, None);
        for target in self.targets(echo) {
            if self.state.fault.is_some() {
                break;
            }
            let before = self.state.notes.len();
            let value = self.at_target(echo, target, |there| there.number(&echo.body));
            let is_better = value.is_some() && value > best;
            if value.is_some() && (is_better || !self.state.sorts) {
                self.note_echo(echo, target);
            } else {
                self.state.notes.truncate(before);
            }
            if is_better {
                (best, best_target) = (value, Some(target));
                if self.state.sorts {
                    self.state.notes.drain(begin..before);
                }
            }
        }
        self.end_echo(echo);
        self.note_pair(begin, best_target);
        best
    }

    /// If a target of an `echo` matched, records the source and this target as a span.
    fn note_pair(&mut self, begin: usize, target: Option<usize>) {
        if let Some(target) = target {
            self.note_span(begin, SpanKind::Echo, &[self.here.at, target]);
        }
    }

    /// Returns the positions that an `echo` compares with the current one, in numerical order.
    fn targets<F>(&self, echo: &Echo<F>) -> impl Iterator<Item = usize> + use<F> {
        let (source, in_all) = (self.here.at, echo.in_all);
        (0..self.nodes.len()).filter(move |&target| in_all || target != source)
    }

    fn at_target<F, T>(&mut self, echo: &Echo<F>, target: usize, evaluate: impl FnOnce(&mut Self) -> T) -> T {
        self.state.cells.bind(echo.source, Cell::Position(self.here.at as i32));
        self.state.cells.bind(echo.target, Cell::Position(target as i32));
        self.untied(|this| this.there(target, evaluate))
    }

    fn end_echo<F>(&mut self, echo: &Echo<F>) {
        self.state.cells.bind(echo.source, Cell::Unbound);
        self.state.cells.bind(echo.target, Cell::Unbound);
    }

    /// Writes the comments of an `echo`, which name the source and the target. If the last common ancestor of the two is another
    /// position, the comments also name it.
    fn note_echo<F>(&mut self, echo: &Echo<F>, target: usize) {
        if echo.quiet {
            return;
        }
        let source = self.here.at;
        let name = self.name(echo.target).to_owned();
        self.note_automatic(target, name);
        let text = self.position_text(source, Noted::Automatic);
        self.note_automatic(target, format!("-->{text}"));
        let name = self.name(echo.source).to_owned();
        self.note_automatic(source, name);
        let text = self.position_text(target, Noted::Automatic);
        self.note_automatic(source, format!("<--{text}"));
        let fork = self.tree().last_common_ancestor(source, target);
        if let Some(fork) = fork.filter(|&fork| fork != source && fork != target) {
            self.note_automatic(fork, "LCA");
        }
    }
}
