//! Pairs of positions of a game: what they must pass for the body of an `echo` to be evaluated.

use super::{Source, tree::Nodes};
use crate::plan::{Cmp, NO_VALUE, PairSearch, PairTest, PairWord};

/// A search in one game.
pub(super) struct Pairs<'a> {
    search: &'a PairSearch,
    operands: &'a [Source<'a>],
    nodes: Nodes<'a>,
}

impl<'a> Pairs<'a> {
    pub(super) fn new(search: &'a PairSearch, operands: &'a [Source<'a>], nodes: Nodes<'a>) -> Pairs<'a> {
        Pairs { search, operands, nodes }
    }

    /// The first target between two nodes that makes a pair with a source.
    pub(super) fn next(&self, source: usize, [mut first, mut last]: [usize; 2]) -> Option<usize> {
        for test in &self.search.tests {
            match *test {
                PairTest::Order(Cmp::Lt) => first = first.max(source + 1),
                PairTest::Order(Cmp::Le) => first = first.max(source),
                PairTest::Order(Cmp::Gt) => last = last.min(source.checked_sub(1)?),
                PairTest::Order(Cmp::Ge) => last = last.min(source),
                PairTest::Mask { mask, source: true } => {
                    if !self.operands[mask as usize].holds(self.nodes.slot(source)) {
                        return None;
                    }
                }
                _ => {}
            }
        }
        (first..=last).find(|&target| self.is_pair(source, target))
    }

    fn is_pair(&self, source: usize, target: usize) -> bool {
        let slots = [self.nodes.slot(source), self.nodes.slot(target)];
        self.search.tests.iter().all(|test| match *test {
            PairTest::Order(Cmp::Ne) => source != target,
            PairTest::Order(Cmp::Eq) => source == target,
            // The ends of the range are chosen by it.
            PairTest::Order(_) | PairTest::Mask { source: true, .. } => true,
            PairTest::Mask { mask, source: false } => self.operands[mask as usize].holds(slots[1]),
            PairTest::Sets {
                equal: true,
                left: PairWord::Same { others: false, count: false },
                right: PairWord::Constant(u64::MAX),
            } => self.planes().iter().all(|plane| plane.word(slots[0]) == plane.word(slots[1])),
            PairTest::Sets { equal, left, right } => {
                equal == (self.word(left, slots) == self.word(right, slots))
            }
            PairTest::Compare { cmp, left, right } => {
                let [left, right] = [left, right].map(|word| self.word(word, slots) as i64);
                left != NO_VALUE && right != NO_VALUE && cmp.holds(left.cmp(&right))
            }
        })
    }

    fn planes(&self) -> &'a [Source<'a>] {
        let first = self.search.planes.map_or(0, usize::from);
        &self.operands[first..first + 4]
    }

    fn word(&self, word: PairWord, [source, target]: [usize; 2]) -> u64 {
        match word {
            PairWord::Source(operand) => self.operands[operand as usize].word(source),
            PairWord::Target(operand) => self.operands[operand as usize].word(target),
            PairWord::Constant(word) => word,
            PairWord::Same { others, count } => {
                let differ = self
                    .planes()
                    .iter()
                    .fold(0, |all, plane| all | (plane.word(source) ^ plane.word(target)));
                let set = if others { differ } else { !differ };
                if count { set.count_ones().into() } else { set }
            }
        }
    }
}
