//! Lowers the steps of a program to nodes of a [`Graph`].
//!
//! A *region* is a run of consecutive steps that are compiled as one loop.

use std::{collections::BTreeMap, rc::Rc};

use super::graph::{Graph, GraphValue};
use orbit_plan::{
    ChainOp, Cmp, DIR_STEPS, Id, NO_VALUE, Op, OperationChain, Reduce, Reg, Scalar, Step, TRUE,
};

/// A step of straight-line code, together with the current table row of each unrolled loop around it.
#[derive(Clone, Debug)]
pub(super) struct Flat<'a> {
    /// The index of the step in the program.
    pub(super) at: usize,
    pub(super) step: &'a Step,
    pub(super) scalars: Scalars<'a>,
}

/// The constants of a program, in which the parameters of each unrolled loop are replaced by the words of the loop's
/// current row.
#[derive(Clone, Debug)]
pub(super) struct Scalars<'a> {
    constants: &'a [u64],
    row: Option<Rc<LoopRow<'a>>>,
}

#[derive(Debug)]
struct LoopRow<'a> {
    first: usize,
    words: &'a [u64],
    outside: Scalars<'a>,
}

impl<'a> Scalars<'a> {
    pub(super) fn new(constants: &'a [u64]) -> Scalars<'a> {
        Scalars { constants, row: None }
    }

    /// Returns the scalars for the body of a loop whose current row is `words`. `first` is the first parameter of the
    /// loop.
    pub(super) fn in_row(&self, first: Scalar, words: &'a [u64]) -> Scalars<'a> {
        let row = LoopRow { first: first.0 as usize, words, outside: self.clone() };
        Scalars { constants: self.constants, row: Some(Rc::new(row)) }
    }

    fn word(&self, scalar: Scalar) -> u64 {
        let k = scalar.0 as usize;
        let mut row = &self.row;
        while let Some(it) = row {
            if let Some(&word) = k.checked_sub(it.first).and_then(|k| it.words.get(k)) {
                return word;
            }
            row = &it.outside.row;
        }
        self.constants[k]
    }
}

/// The results of a region (steps that are compiled as one loop): the values that are needed after it.
#[derive(Debug, Default)]
pub(super) struct Sinks {
    /// The registers of the register machine that the region writes, with their final values.
    pub(super) stores: Vec<(u32, GraphValue)>,
    /// The queries that the region answers, each with the mask of its hits.
    pub(super) answers: Vec<(usize, GraphValue)>,
}

/// Returns true if the graph can express the step.
pub(super) fn is_said(step: &Step) -> bool {
    let Step::Do { op, .. } = step else { return true };
    match op {
        Op::And(..)
        | Op::Or(..)
        | Op::AndNot(..)
        | Op::Xor(..)
        | Op::Not(_)
        | Op::Select { .. }
        | Op::Step(..)
        | Op::FillRanks(_)
        | Op::FillFiles(_)
        | Op::Knight(_)
        | Op::King(_)
        | Op::Pawn { .. }
        | Op::Slide { .. }
        | Op::Walk { .. }
        | Op::NonEmpty(_)
        | Op::Single(_)
        | Op::Count(_)
        | Op::Rank(_)
        | Op::File(_)
        | Op::Content(_)
        | Op::Add(..)
        | Op::Sub(..)
        | Op::Max(..)
        | Op::Compare(..) => true,
        Op::MakeSquare { .. }
        | Op::Mul(..)
        | Op::Div(..)
        | Op::Rem(..)
        | Op::Sqrt(_)
        | Op::NoMoves(_)
        | Op::PureMen { .. }
        | Op::Legal { .. }
        | Op::LegalCount { .. }
        | Op::Const(_)
        | Op::Plane(_)
        | Op::WhiteToMove
        | Op::Initial
        | Op::Terminal
        | Op::Ply
        | Op::GameMask(_)
        | Op::GameNumber(_)
        | Op::Carried(_)
        | Op::Param(..)
        | Op::Loop(_) => false,
    }
}

/// Estimates the number of machine instructions for a step.
pub(super) fn weight(step: &Step) -> usize {
    match step {
        Step::Chain { chain, .. } => 2 * chain.terms.len(),
        Step::Do { op, .. } => match op {
            Op::Slide { .. } | Op::Knight(_) => 16,
            Op::Walk { dirs, lo, hi, .. } => {
                dirs.count_ones() as usize
                    * if (*lo, *hi) == (1, 7) { 16 } else { 2 * lo.abs_diff(*hi) as usize + 2 }
            }
            Op::King(_) | Op::Content(_) | Op::Count(_) => 8,
            Op::FillRanks(_) | Op::FillFiles(_) | Op::Pawn { .. } | Op::Add(..) | Op::Sub(..) => 6,
            Op::Rank(_) | Op::File(_) | Op::Single(_) => 8,
            _ => 2,
        },
        _ => 1,
    }
}

/// Calls `read` for each register that a step reads.
pub(super) fn reads(step: &Step, read: &mut impl FnMut(Reg)) {
    match step {
        Step::Do { op, .. } => {
            op.args().for_each(|id| read(Reg(id.0)));
            if matches!(op, Op::Content(_)) {
                (0..4).for_each(|plane| read(Reg(plane)));
            }
        }
        Step::AndScalar { a, .. } | Step::OrScalar { a, .. } => read(*a),
        Step::Chain { chain, .. } => chain.terms.iter().for_each(|term| read(term.src)),
        Step::End { acc, word, .. } => {
            read(*acc);
            read(*word);
        }
        Step::Answer { mask, .. } => read(*mask),
        Step::Splat { .. } | Step::Begin { .. } => {}
    }
}

pub(super) fn written(step: &Step) -> Option<Reg> {
    match step {
        Step::Do { dst, .. }
        | Step::Splat { dst, .. }
        | Step::AndScalar { dst, .. }
        | Step::OrScalar { dst, .. }
        | Step::Chain { dst, .. } => Some(*dst),
        Step::Begin { acc, .. } | Step::End { acc, .. } => Some(*acc),
        Step::Answer { .. } => None,
    }
}

/// Translates steps to nodes of the graph. `is_live` returns true for registers that are read after the steps.
pub(super) fn lowered(graph: &mut Graph, steps: &[Flat<'_>], is_live: impl Fn(u32) -> bool) -> Sinks {
    let mut lower = EmitLower { graph, registers: BTreeMap::new() };
    let mut answers = Vec::new();
    for Flat { step, scalars, .. } in steps {
        if let Step::Answer { query, mask } = step {
            answers.push((*query, lower.read(*mask)));
        } else if let Some(dst) = written(step) {
            let value = lower.value(step, scalars);
            lower.registers.insert(dst.0, value);
        }
    }
    let registers = std::mem::take(&mut lower.registers);
    let is_new = |register: u32, value: GraphValue, graph: &mut Graph| graph.column(register) != value;
    let stores = registers
        .into_iter()
        .filter(|&(register, value)| is_live(register) && is_new(register, value, graph));
    Sinks { stores: stores.collect(), answers }
}

struct EmitLower<'a> {
    graph: &'a mut Graph,
    /// The value of each register that the region has written so far.
    registers: BTreeMap<u32, GraphValue>,
}

impl EmitLower<'_> {
    fn read(&mut self, Reg(register): Reg) -> GraphValue {
        match self.registers.get(&register) {
            Some(&value) => value,
            None => self.graph.column(register),
        }
    }

    fn value(&mut self, step: &Step, scalars: &Scalars<'_>) -> GraphValue {
        match *step {
            Step::Do { op, .. } => self.operation(op),
            Step::Splat { scalar, .. } => self.graph.word(scalars.word(scalar)),
            Step::AndScalar { a, scalar, .. } => {
                let (a, word) = (self.read(a), self.graph.word(scalars.word(scalar)));
                self.graph.and(a, word)
            }
            Step::OrScalar { a, scalar, .. } => {
                let (a, word) = (self.read(a), self.graph.word(scalars.word(scalar)));
                self.graph.or(a, word)
            }
            Step::Chain { ref chain, .. } => self.chain(chain, scalars),
            Step::Begin { reduce, .. } => {
                self.graph.word(if reduce == Reduce::Max { NO_VALUE as u64 } else { 0 })
            }
            Step::End { acc, word, reduce, .. } => {
                let (acc, word) = (self.read(acc), self.read(word));
                match reduce {
                    Reduce::Or => self.graph.or(acc, word),
                    Reduce::Max => self.max(acc, word),
                    Reduce::Count => self.graph.sub(acc, word),
                }
            }
            Step::Answer { .. } => unreachable!("an answer writes no register"),
        }
    }

    fn chain(&mut self, chain: &OperationChain<Reg>, scalars: &Scalars<'_>) -> GraphValue {
        if chain.op == ChainOp::Meet {
            let terms = chain.terms.iter().map(|term| {
                let keep = scalars.word(term.keep);
                let word = self.read(term.src);
                match term.by {
                    0 => (word, self.graph.word(keep), term.not),
                    by => (self.graph.moved(word, keep, by.into()), self.graph.word(TRUE), term.not),
                }
            });
            let terms: Vec<_> = terms.collect();
            return self.graph.meets(&terms);
        }
        let mut all = self.graph.word(if chain.op == ChainOp::And { TRUE } else { 0 });
        for term in &chain.terms {
            let word = self.read(term.src);
            let mut word = self.graph.moved(word, scalars.word(term.keep), term.by.into());
            if term.not && chain.op != ChainOp::Sum {
                word = self.graph.not(word);
            }
            all = match chain.op {
                ChainOp::Or => self.graph.or(all, word),
                ChainOp::And | ChainOp::Meet => self.graph.and(all, word),
                ChainOp::Sum => {
                    let count = self.graph.count(word);
                    self.graph.add(all, count)
                }
            };
        }
        all
    }

    fn max(&mut self, a: GraphValue, b: GraphValue) -> GraphValue {
        let mask = self.graph.greater(a, b);
        self.graph.select(mask, a, b)
    }

    /// Sign-extends the lower half of a word. Does nothing if the word is known to be a non-negative 32-bit number.
    fn number(&mut self, a: GraphValue) -> GraphValue {
        if self.graph.bounds(a) < 1 << 31 {
            return a;
        }
        let [half, sign] = [0xffff_ffff, 0x8000_0000].map(|word| self.graph.word(word));
        let a = self.graph.and(a, half);
        let a = self.graph.xor(a, sign);
        self.graph.sub(a, sign)
    }

    /// Computes the number of the lowest square in a set, or 64 if the set is empty.
    fn lowest(&mut self, a: GraphValue) -> GraphValue {
        let one = self.graph.word(1);
        let below = self.graph.sub(a, one);
        let below = self.graph.and_not(below, a);
        self.graph.count(below)
    }

    fn united(&mut self, squares: impl IntoIterator<Item = (i8, i8)>, a: GraphValue) -> GraphValue {
        let none = self.graph.word(0);
        squares.into_iter().fold(none, |all, (dx, dy)| {
            let moved = self.graph.translate(a, dx, dy);
            self.graph.or(all, moved)
        })
    }

    fn operation(&mut self, op: Op) -> GraphValue {
        let read = |lower: &mut Self, id: Id| lower.read(Reg(id.0));
        let mut pair = |a: Id, b: Id| (read(self, a), read(self, b));
        match op {
            Op::And(a, b) => {
                let (a, b) = pair(a, b);
                self.graph.and(a, b)
            }
            Op::Or(a, b) => {
                let (a, b) = pair(a, b);
                self.graph.or(a, b)
            }
            Op::AndNot(a, b) => {
                let (a, b) = pair(a, b);
                self.graph.and_not(a, b)
            }
            Op::Xor(a, b) => {
                let (a, b) = pair(a, b);
                self.graph.xor(a, b)
            }
            Op::Add(a, b) => {
                let (a, b) = pair(a, b);
                let sum = self.graph.add(a, b);
                self.number(sum)
            }
            Op::Sub(a, b) => {
                let (a, b) = pair(a, b);
                let left = self.graph.sub(a, b);
                self.number(left)
            }
            Op::Max(a, b) => {
                let (a, b) = pair(a, b);
                self.max(a, b)
            }
            Op::Compare(cmp, a, b) => {
                let (a, b) = pair(a, b);
                self.compare(cmp, a, b)
            }
            Op::Select { mask, a, b } => {
                let (a, b) = pair(a, b);
                let mask = read(self, mask);
                self.graph.select(mask, a, b)
            }
            Op::Slide { set, empty, dir } => {
                let (set, empty) = pair(set, empty);
                self.graph.slide(set, empty, dir & 7)
            }
            Op::Not(a)
            | Op::Step(a, ..)
            | Op::FillRanks(a)
            | Op::FillFiles(a)
            | Op::Knight(a)
            | Op::King(a)
            | Op::Pawn { set: a, .. }
            | Op::Walk { set: a, .. }
            | Op::NonEmpty(a)
            | Op::Single(a)
            | Op::Count(a)
            | Op::Rank(a)
            | Op::File(a)
            | Op::Content(a) => {
                let a = read(self, a);
                self.of_one(op, a)
            }
            _ => unreachable!("steps that no nodes say are left out"),
        }
    }

    fn of_one(&mut self, op: Op, a: GraphValue) -> GraphValue {
        let all_but_the_middle = |radius: i8| {
            (-radius..=radius)
                .flat_map(move |dx| (-radius..=radius).map(move |dy| (dx, dy)))
                .filter(|&square| square != (0, 0))
        };
        match op {
            Op::Not(_) => self.graph.not(a),
            Op::Step(_, dx, dy) => self.graph.translate(a, dx, dy),
            Op::FillRanks(_) => self.ranks(a),
            Op::FillFiles(_) => [8, 16, 32].into_iter().fold(a, |filled, by| {
                let around = self.graph.around(filled, by);
                self.graph.or(filled, around)
            }),
            Op::Knight(_) => {
                let squares = all_but_the_middle(2).filter(|(dx, dy): &(i8, i8)| dx.abs() + dy.abs() == 3);
                self.united(squares, a)
            }
            Op::King(_) => {
                let beside = self.united([(1, 0), (-1, 0)], a);
                let wide = self.graph.or(a, beside);
                let others = self.united([(0, 1), (0, -1)], wide);
                self.graph.or(beside, others)
            }
            Op::Pawn { white, .. } => {
                let up = if white { 1 } else { -1 };
                self.united([(-1, up), (1, up)], a)
            }
            Op::Walk { dirs, lo, hi, .. } => self.walk(a, dirs, lo, hi),
            Op::NonEmpty(_) => self.graph.any(a),
            Op::Single(_) => {
                let [one, all] = [1, TRUE].map(|word| self.graph.word(word));
                let below = self.graph.sub(a, one);
                let others = self.graph.and(a, below);
                self.graph.meets(&[(a, all, false), (others, all, true)])
            }
            Op::Count(_) => self.graph.count(a),
            Op::Rank(_) => {
                let lowest = self.lowest(a);
                let rank = self.graph.shift(lowest, -3);
                let one = self.graph.word(1);
                self.graph.add(rank, one)
            }
            Op::File(_) => {
                let lowest = self.lowest(a);
                let [one, seven] = [1, 7].map(|word| self.graph.word(word));
                let file = self.graph.and(lowest, seven);
                self.graph.add(file, one)
            }
            _ => self.content(a),
        }
    }

    fn ranks(&mut self, a: GraphValue) -> GraphValue {
        const HIGH: u64 = 0x8080_8080_8080_8080;
        let [high, low] = [HIGH, !HIGH].map(|word| self.graph.word(word));
        let rest = self.graph.and(a, low);
        let carried = self.graph.add(rest, low);
        let any = self.graph.or(carried, a);
        let any = self.graph.and(any, high);
        let first = self.graph.shift(any, -7);
        let others = self.graph.sub(any, first);
        self.graph.or(any, others)
    }

    fn walk(&mut self, a: GraphValue, dirs: u8, lo: i8, hi: i8) -> GraphValue {
        let mut all = self.graph.word(0);
        for (dir, (dx, dy)) in (0..).zip(DIR_STEPS).filter(|(dir, _)| dirs >> dir & 1 != 0) {
            let reached = if (lo, hi) == (1, 7) {
                let everywhere = self.graph.word(TRUE);
                self.graph.slide(a, everywhere, dir)
            } else {
                self.united((lo..=hi).map(|by| (dx.saturating_mul(by), dy.saturating_mul(by))), a)
            };
            all = self.graph.or(all, reached);
        }
        all
    }

    fn content(&mut self, a: GraphValue) -> GraphValue {
        let none = self.graph.word(0);
        (0..4).fold(none, |code, k| {
            let plane = self.read(Reg(k));
            let (is_set, bit) = (self.graph.meets(&[(plane, a, false)]), self.graph.word(1 << k));
            let bit = self.graph.and(is_set, bit);
            self.graph.or(code, bit)
        })
    }

    fn compare(&mut self, cmp: Cmp, a: GraphValue, b: GraphValue) -> GraphValue {
        let mask = match cmp {
            Cmp::Eq | Cmp::Ne => self.graph.equal(a, b),
            Cmp::Gt | Cmp::Le => self.graph.greater(a, b),
            Cmp::Lt | Cmp::Ge => self.graph.greater(b, a),
        };
        match cmp {
            Cmp::Eq | Cmp::Gt | Cmp::Lt => mask,
            Cmp::Ne | Cmp::Le | Cmp::Ge => self.graph.not(mask),
        }
    }
}
