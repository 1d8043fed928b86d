//! Spans: what a filter that matches consists of.
//!
//! A filter notes its span when it has matched, in place of those that filters within it noted. A filter around it that
//! fails takes the span back as it does with comments.

use std::collections::BTreeSet;

use super::{
    eval::Evaluation,
    found::{Note, Noted},
};
use crate::{MatchSpan, SpanKind};

impl Evaluation<'_> {
    /// Where what a filter notes begins.
    pub(super) fn notes_begin(&self) -> usize {
        self.state.notes.len()
    }

    /// Notes the span of a line or of what was found from its positions: all moves between neighbours are of it.
    pub(super) fn note_span(&mut self, begin: usize, kind: SpanKind, nodes: &[usize]) {
        if !self.state.tells_spans {
            return;
        }
        let pairs = nodes.iter().zip(nodes.iter().skip(1));
        let pairs: Vec<_> = match kind {
            // Positions that were found may lie on different branches.
            SpanKind::Find => nodes.iter().skip(1).map(|&found| (nodes[0], found)).collect(),
            _ => pairs.map(|(&a, &b)| (a, b)).collect(),
        };
        let moves: BTreeSet<usize> = pairs.into_iter().flat_map(|(a, b)| self.moves_between(a, b)).collect();
        let moves: Vec<usize> = moves.into_iter().collect();
        self.note_span_of(begin, kind, nodes, &moves);
    }

    /// Notes a span with some moves, by the positions to which they lead.
    pub(super) fn note_span_of(&mut self, begin: usize, kind: SpanKind, nodes: &[usize], moves: &[usize]) {
        if !self.state.tells_spans {
            return;
        }
        self.take_spans(begin);
        let [nodes, moves] = [nodes, moves].map(|all| all.iter().map(|&at| at as u32).collect());
        self.note(self.here.at, Noted::Span(MatchSpan { kind, nodes, moves }));
    }

    /// Notes a move as a span. If a filter on the position behind it has a line, a path or a move that begins there, that goes
    /// on with it.
    pub(super) fn note_move(&mut self, begin: usize, before: usize, behind: usize) {
        if !self.state.tells_spans {
            return;
        }
        let inner = MatchSpan::chosen(self.take_spans(begin));
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

    /// The span of what was noted last, which is taken away with all others.
    pub(super) fn take_span(&mut self, begin: usize) -> Option<MatchSpan> {
        MatchSpan::chosen(self.take_spans(begin))
    }

    /// Takes the spans away that were noted last.
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

    /// Takes away the spans of what was found for a number that is only compared.
    pub(super) fn forget_found(&mut self, begin: usize) {
        for span in self.take_spans(begin).into_iter().filter(|span| span.kind.is_of_moves()) {
            self.note(self.here.at, Noted::Span(span));
        }
    }

    /// Of the copies of a filter the first that matches has the span.
    pub(super) fn first_copy(&mut self, begin: usize, matches: bool, is_first: &mut bool) {
        if matches && *is_first {
            *is_first = false;
        } else {
            self.take_spans(begin);
        }
    }

    /// The moves from one position to another, if one of them lies before the other.
    fn moves_between(&self, a: usize, b: usize) -> Vec<usize> {
        match (self.tree().is_proper_ancestor(a, b), self.tree().is_proper_ancestor(b, a)) {
            (true, _) => self.way_down(a, b),
            (_, true) => self.way_down(b, a),
            _ => Vec::new(),
        }
    }
}
