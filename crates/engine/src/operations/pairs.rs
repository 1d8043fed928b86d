//! Pairs of positions of a game, for the filter `echo`. A pair consists of a *source* and a *target*. All targets of a
//! source are filtered by cheap tests before the body of the `echo` is evaluated.

use super::{OperandSource, tree::NodeRange};
use crate::carry::SlotColumn;
use orbit_plan::{Cmp, NO_VALUE, PairSearch, PairTest, PairWord};

/// The targets of one source: the second positions of all `echo` pairs that begin with the source. Bit `i` of word `n`
/// is set if node `64 * n + i` is a target.
#[derive(Clone, Default)]
pub(super) struct Targets(Vec<u64>);

impl Targets {
    /// Returns the first target (second position of a pair) at or after the node `from`.
    pub(super) fn next(&self, from: usize) -> Option<usize> {
        let first = from / 64;
        let ahead = self.0.get(first)? & u64::MAX << (from % 64);
        let words = [ahead].into_iter().chain(self.0[first + 1..].iter().copied());
        let (index, word) = words.enumerate().find(|(_, word)| *word != 0)?;
        Some(64 * (first + index) + word.trailing_zeros() as usize)
    }

    /// Sets the targets to the nodes (positions) of a range, which may be empty.
    fn fill(&mut self, nodes: usize, first: usize, end: usize) {
        self.0.clear();
        self.0.resize(nodes.div_ceil(64), 0);
        for (index, word) in self.0.iter_mut().enumerate() {
            let below = |end: usize| match end.saturating_sub(64 * index) {
                bits @ 0..64 => (1u64 << bits) - 1,
                _ => u64::MAX,
            };
            *word = below(end) & !below(first);
        }
    }

    /// Removes the targets that fail a test.
    pub(super) fn keep(&mut self, mut test: impl FnMut(usize) -> bool) {
        for (index, word) in self.0.iter_mut().enumerate() {
            let mut left = *word;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                if !test(64 * index + bit as usize) {
                    *word &= !(1 << bit);
                }
            }
        }
    }

    /// Removes the targets whose word fails a test. The words of all nodes are tested, because this needs no branches.
    fn keep_words(&mut self, words: &[u64], test: impl Fn(u64) -> bool) {
        for (word, words) in self.0.iter_mut().zip(words.chunks(64)) {
            if *word != 0 {
                *word &=
                    words.iter().zip(0..).fold(0, |kept, (&word, bit)| kept | u64::from(test(word)) << bit);
            }
        }
    }
}

/// A search for pairs in one game.
pub(super) struct Pairs<'a> {
    search: &'a PairSearch,
    operands: &'a [OperandSource<'a>],
    nodes: NodeRange<'a>,
    /// The planes of the board at each position of the game; empty if no test compares boards.
    planes: [&'a [u64]; 4],
    /// The current values of the query's variables.
    variables: &'a [u64],
    /// The square of each piece at each position of the game; empty if no variable holds a piece.
    squares: &'a [[u8; 64]],
}

impl<'a> Pairs<'a> {
    pub(super) fn new(
        search: &'a PairSearch,
        operands: &'a [OperandSource<'a>],
        nodes: NodeRange<'a>,
        variables: &'a [u64],
        squares: &'a [[u8; 64]],
    ) -> Pairs<'a> {
        let mut out = Pairs { search, operands, nodes, planes: [&[]; 4], variables, squares };
        if let Some(first) = search.planes {
            out.planes = std::array::from_fn(|plane| out.column(first + plane as u16).unwrap_or_default());
        }
        out
    }

    /// Computes the targets (second positions) for a source (a first position).
    pub(super) fn find(&self, source: usize, targets: &mut Targets) {
        let (mut first, mut end) = (0, self.nodes.len());
        for test in &self.search.tests {
            match *test {
                PairTest::Order(Cmp::Lt) => first = first.max(source + 1),
                PairTest::Order(Cmp::Le) => first = first.max(source),
                PairTest::Order(Cmp::Gt) => end = end.min(source),
                PairTest::Order(Cmp::Ge) => end = end.min(source + 1),
                PairTest::Mask { mask, source: true } if !self.holds(mask, source) => end = 0,
                _ => {}
            }
        }
        targets.fill(self.nodes.len(), first, end);
        for test in &self.search.tests {
            match *test {
                PairTest::Order(Cmp::Ne) => targets.keep(|target| source != target),
                PairTest::Order(Cmp::Eq) => targets.keep(|target| source == target),
                // All targets in the initial range already satisfy these tests.
                PairTest::Order(_) | PairTest::Mask { source: true, .. } => {}
                PairTest::Mask { mask, source: false } => targets.keep(|target| self.holds(mask, target)),
                PairTest::Either { source: mask, target: other } => {
                    if !self.holds(mask, source) {
                        targets.keep(|target| self.holds(other, target));
                    }
                }
                PairTest::Sets { equal: true, left, right } if is_all_the_same(left, right) => {
                    let here = self.planes.map(|plane| plane[source]);
                    targets.keep(|target| {
                        self.planes.iter().zip(here).all(|(plane, here)| plane[target] == here)
                    });
                }
                PairTest::Sets { equal, left, right } => {
                    self.keep(source, [left, right], targets, |left, right| equal == (left == right));
                }
                PairTest::Compare { cmp, left, right } => {
                    let holds = |left: i64, right: i64| {
                        left != NO_VALUE && right != NO_VALUE && cmp.holds(left.cmp(&right))
                    };
                    self.keep(source, [left, right], targets, |a, b| holds(a as i64, b as i64));
                }
            }
        }
    }

    fn keep(
        &self,
        source: usize,
        [left, right]: [PairWord; 2],
        targets: &mut Targets,
        test: impl Fn(u64, u64) -> bool,
    ) {
        match (left, right) {
            (PairWord::Target(column), other)
                if !depends_on_target(other)
                    && let Some(words) = self.column(column) =>
            {
                let right = self.word(other, source, source);
                targets.keep_words(words, |left| test(left, right));
            }
            (other, PairWord::Target(column))
                if !depends_on_target(other)
                    && let Some(words) = self.column(column) =>
            {
                let left = self.word(other, source, source);
                targets.keep_words(words, |right| test(left, right));
            }
            _ => {
                targets.keep(|target| test(self.word(left, source, target), self.word(right, source, target)))
            }
        }
    }

    fn holds(&self, mask: u16, node: usize) -> bool {
        self.operands[mask as usize].holds(self.nodes.slot(node))
    }

    /// Returns the words of an operand in this game, or `None` if the operand is not a column of words.
    fn column(&self, operand: u16) -> Option<&'a [u64]> {
        match self.operands[operand as usize] {
            OperandSource::Column(SlotColumn::Words(words)) => {
                Some(&words[self.nodes.slot(0)..self.nodes.slot(0) + self.nodes.len()])
            }
            _ => None,
        }
    }

    fn word(&self, word: PairWord, source: usize, target: usize) -> u64 {
        match word {
            PairWord::Source(operand) => self.operands[operand as usize].word(self.nodes.slot(source)),
            PairWord::Target(operand) => self.operands[operand as usize].word(self.nodes.slot(target)),
            PairWord::Constant(word) => word,
            PairWord::Same { others, count } => {
                let differ = self.planes.iter().fold(0, |all, plane| all | (plane[source] ^ plane[target]));
                let set = if others { differ } else { !differ };
                if count { set.count_ones().into() } else { set }
            }
            PairWord::Both { source: left, target: right } => {
                self.word(PairWord::Source(left), source, target)
                    & self.word(PairWord::Target(right), source, target)
            }
            PairWord::Piece { var, source: of_source } => {
                let piece = self.variables[var as usize] as usize & 63;
                let node = if of_source { source } else { target };
                1u64.checked_shl(self.squares[node][piece].into()).unwrap_or(0)
            }
        }
    }
}

/// Returns true if a word can differ between pairs of an `echo` that have the same first position.
fn depends_on_target(word: PairWord) -> bool {
    !matches!(word, PairWord::Source(_) | PairWord::Constant(_) | PairWord::Piece { source: true, .. })
}

/// Returns true if a comparison of two words tests that the boards at both positions of a pair are equal.
fn is_all_the_same(left: PairWord, right: PairWord) -> bool {
    left == PairWord::Same { others: false, count: false } && right == PairWord::Constant(u64::MAX)
}
