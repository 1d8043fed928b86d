//! Records spans: the positions and moves that make up the match of a filter.
//!
//! A matching filter records its span, which replaces the spans of filters inside it. A filter that does not match removes the
//! spans and the comments of the filters inside it.

use std::collections::BTreeSet;

use super::{
    eval::Evaluation,
    found::{Note, Noted},
};
use orbit_query::answer::{MatchSpan, SpanKind};

impl Evaluation<'_> {
    /// Returns the current length of the note list, the index at which the notes of the next filter begin.
    pub(super) fn notes_begin(&self) -> usize {
        self.state.notes.len()
    }

    /// Records the span of a `line`, `find` or `echo` with the positions `nodes`. The span includes the moves between consecutive
    /// positions or, for `find`, between the first position and each of the others.
    pub(super) fn note_span(&mut self, begin: usize, kind: SpanKind, nodes: &[usize]) {
        if !self.state.tells_spans {
            return;
        }
        let pairs = nodes.iter().zip(nodes.iter().skip(1));
        let pairs: Vec<_> = match kind {
            // `find` can find positions on different branches, so the span contains the moves between each of them and the hit.
            SpanKind::Find => nodes.iter().skip(1).map(|&found| (nodes[0], found)).collect(),
            _ => pairs.map(|(&a, &b)| (a, b)).collect(),
        };
        let moves: BTreeSet<usize> = pairs.into_iter().flat_map(|(a, b)| self.moves_between(a, b)).collect();
        let moves: Vec<usize> = moves.into_iter().collect();
        self.note_span_of(begin, kind, nodes, &moves);
    }

    /// Records a span with the given moves. A move is given by the position after it.
    pub(super) fn note_span_of(&mut self, begin: usize, kind: SpanKind, nodes: &[usize], moves: &[usize]) {
        if !self.state.tells_spans {
            return;
        }
        self.take_spans(begin);
        let [nodes, moves] = [nodes, moves].map(|all| all.iter().map(|&at| at as u32).collect());
        self.note(self.here.at, Noted::Span(MatchSpan { kind, nodes, moves }));
    }

    /// Records a move as a span. If the filter after the move has recorded a line, a path or a move that begins there, the span
    /// includes it.
    pub(super) fn note_move(&mut self, begin: usize, before: usize, behind: usize) {
        if !self.state.tells_spans {
            return;
        }
        let inner = chosen(self.take_spans(begin));
        let begins_behind =
            |span: &MatchSpan| span.kind.is_of_moves() && span.nodes.first() == Some(&(behind as u32));
        let (kind, rest) = match inner.filter(begins_behind) {
            Some(inner) => (inner.kind, (inner.nodes, inner.moves)),
            None => (SpanKind::Move, (vec![behind as u32], Vec::new())),
        };
        let nodes = std::iter::once(before as u32).chain(rest.0).collect();
        let moves = std::iter::once(behind as u32).chain(rest.1).collect();
        self.note(self.here.at, Noted::Span(MatchSpan { kind, nodes, moves }));
    }

    /// Removes the spans that were recorded since `begin`, and returns the span to report.
    pub(super) fn take_span(&mut self, begin: usize) -> Option<MatchSpan> {
        chosen(self.take_spans(begin))
    }

    /// Removes the spans recorded since `begin`, and returns them.
    pub(super) fn take_spans(&mut self, begin: usize) -> Vec<MatchSpan> {
        let mut spans = Vec::new();
        if !self.state.tells_spans {
            return spans;
        }
        for Note { at, what } in self.state.notes.split_off(begin) {
            match what {
                Noted::Span(span) => spans.push(span),
                what => self.note(at, what),
            }
        }
        spans
    }

    /// Removes the spans of `find` and `echo` in the operands of a comparison, where only position numbers matter.
    pub(super) fn forget_found(&mut self, begin: usize) {
        for span in self.take_spans(begin).into_iter().filter(|span| span.kind.is_of_moves()) {
            self.note(self.here.at, Noted::Span(span));
        }
    }

    /// Keeps only the spans of the first copy (transformed filter) that matches. Must be called after the evaluation of each copy,
    /// so that the spans of later copies are removed.
    pub(super) fn first_copy(&mut self, begin: usize, matches: bool, is_first: &mut bool) {
        if matches && *is_first {
            *is_first = false;
        } else {
            self.take_spans(begin);
        }
    }

    /// Returns the moves between two positions. The list is empty if neither position is an ancestor of the other.
    fn moves_between(&self, a: usize, b: usize) -> Vec<usize> {
        match (self.tree().is_proper_ancestor(a, b), self.tree().is_proper_ancestor(b, a)) {
            (true, _) => self.way_down(a, b),
            (_, true) => self.way_down(b, a),
            _ => Vec::new(),
        }
    }
}

/// Returns the span to report for a hit: the span of the first matching `line` or `path`, or else of the first move, or else of the
/// first `find` or `echo`. `spans` must not contain the spans of nested filters.
fn chosen(spans: impl IntoIterator<Item = MatchSpan>) -> Option<MatchSpan> {
    let rank = |span: &MatchSpan| match span.kind {
        SpanKind::Line | SpanKind::Path => 0,
        SpanKind::Move => 1,
        SpanKind::Find | SpanKind::Echo => 2,
    };
    spans.into_iter().min_by_key(rank)
}
