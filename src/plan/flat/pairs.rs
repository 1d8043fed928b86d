//! `echo`: pairs of positions, and what they must pass before its body is evaluated.

use super::compile::{Compiled, Compiler};
use crate::{
    orbit::{Expanded, Filter, FilterRef, Number, Squares},
    plan::{Instr, Label, PairSearch, PairTest, PairWord, dag::Op},
    query::tree::{
        Cmp, ConditionOp as C, Control, Echo, Elsewhere, GameCondition, GameNumber, GamePosition,
        GameSquares, Kind, NumberOp as N, Order, PositionOp as P, Ref, SquaresOp as S, VarId,
    },
};

/// The names of both positions.
#[derive(Clone, Copy)]
struct Pair {
    source: VarId,
    target: VarId,
}

impl Pair {
    /// Whether a position is the source, or the target; none if it is neither.
    fn is_source(self, position: &crate::orbit::Position) -> Option<bool> {
        match position.op() {
            P::Control(Control::Var(var)) if *var == self.source => Some(true),
            P::Control(Control::Var(var)) if *var == self.target => Some(false),
            P::Game(GamePosition::Current) => Some(false),
            _ => None,
        }
    }
}

/// The filters with which a body begins, one after the other as long as they match.
fn conjuncts(body: FilterRef<'_>) -> Vec<FilterRef<'_>> {
    let braces: Vec<FilterRef<'_>> = match body {
        Ref::Condition(f) => match f.op() {
            C::Braces(all) => all.iter().map(Kind::node).collect(),
            C::And(a, b) => vec![a.node(), b.node()],
            _ => return vec![body],
        },
        Ref::Squares(f) if let S::Control(Control::Braces { first, last }) = f.op() => {
            first.iter().map(Kind::node).chain([last.node()]).collect()
        }
        Ref::Number(f) if let N::Control(Control::Braces { first, last }) = f.op() => {
            first.iter().map(Kind::node).chain([last.node()]).collect()
        }
        Ref::Position(f) if let P::Control(Control::Braces { first, last }) = f.op() => {
            first.iter().map(Kind::node).chain([last.node()]).collect()
        }
        _ => return vec![body],
    };
    braces.into_iter().flat_map(conjuncts).collect()
}

impl Compiler<'_> {
    /// `echo` of what is no number.
    pub(super) fn echo(&mut self, echo: &Echo<Filter>, no: Label) -> Compiled {
        self.scratch(|this| {
            let found = this.word()?;
            this.constant(found, 0)?;
            this.each_target(echo, |this, next| {
                this.unless(echo.body.node(), next)?;
                this.constant(found, 1)
            })?;
            this.emit(Instr::UnlessAny { set: found, no })
        })
    }

    /// Runs `body` at each target of an echo; it may go on at `next`.
    pub(super) fn each_target<F: Kind<Expanded>>(
        &mut self,
        echo: &Echo<F>,
        body: impl FnOnce(&mut Self, Label) -> Compiled,
    ) -> Compiled {
        let pair = Pair { source: echo.source, target: echo.target };
        let search = self.search(echo.body.node(), pair, echo.in_all)?;
        let pairs = u16::try_from(self.pairs.len()).map_err(|_| "so many pairs")?;
        self.pairs.push(search);
        self.scratch(|this| {
            let [here, target] = [this.word()?, this.word()?];
            let [source_var, target_var] = [echo.source, echo.target].map(|var| this.var(var));
            this.emit(Instr::Here { to: here })?;
            this.constant(target, u64::MAX)?;
            let done = this.label();
            let again = this.label_here();
            this.emit(Instr::NextPair { pairs, source: here, node: target, done })?;
            this.emit(Instr::Bind { var: source_var, from: here })?;
            this.emit(Instr::Bind { var: target_var, from: target })?;
            this.emit(Instr::Go { to: target })?;
            this.bound(&[echo.source, echo.target], |this| body(this, again))?;
            this.emit(Instr::Jump(again))?;
            this.place(done);
            this.emit(Instr::Go { to: here })?;
            this.emit(Instr::Unbind { var: source_var })?;
            this.emit(Instr::Unbind { var: target_var })
        })
    }

    /// The tests with which a body begins.
    fn search(&mut self, body: FilterRef, pair: Pair, in_all: bool) -> Compiled<PairSearch> {
        let mut search = PairSearch { tests: Vec::new(), planes: None };
        if !in_all {
            search.tests.push(PairTest::Order(Cmp::Ne));
        }
        for filter in conjuncts(body) {
            let Some(test) = self.pair_test(filter, pair)? else { break };
            search.tests.push(test);
        }
        let of_boards = |word: PairWord| matches!(word, PairWord::Same { .. });
        let has_boards = |test: &PairTest| match *test {
            PairTest::Sets { left, right, .. } | PairTest::Compare { left, right, .. } => {
                of_boards(left) || of_boards(right)
            }
            _ => false,
        };
        if search.tests.iter().any(has_boards) {
            search.planes = Some(self.planes()?);
        }
        let is_of_source = |test: &PairTest| match test {
            PairTest::Mask { source, .. } => *source,
            _ => false,
        };
        // Boards are compared last.
        search.tests.sort_by_key(|test| (!is_of_source(test), has_boards(test)));
        Ok(search)
    }

    /// The first of four operands with the planes of the board.
    pub(super) fn planes(&mut self) -> Compiled<u16> {
        let mut planes = Vec::new();
        for plane in 0..4 {
            let plane = self.lower.dag.add(Op::Plane(plane));
            planes.push(self.operand(plane, false)?);
        }
        if planes.windows(2).any(|pair| pair[0] + 1 != pair[1]) {
            return Err("boards in such an order");
        }
        Ok(planes[0])
    }

    fn pair_test(&mut self, filter: FilterRef, pair: Pair) -> Compiled<Option<PairTest>> {
        if self.is_leaf(filter) {
            return self.pair_mask(filter, false);
        }
        match filter {
            Ref::Position(f) => {
                let P::Game(GamePosition::Compare { by: Order::Number(cmp), left, right }) = f.op() else {
                    return Ok(None);
                };
                Ok(match (pair.is_source(left), pair.is_source(right)) {
                    (Some(true), Some(false)) => Some(PairTest::Order(*cmp)),
                    (Some(false), Some(true)) => Some(PairTest::Order(cmp.swapped())),
                    _ => None,
                })
            }
            Ref::Condition(f) => match f.op() {
                C::Game(GameCondition::At { at, of }) if self.is_leaf(of.node()) => {
                    match pair.is_source(at) {
                        Some(source) => self.pair_mask(of.node(), source),
                        None => Ok(None),
                    }
                }
                C::SetEq { equal, left, right } => {
                    let words = self.pair_set(left, pair)?.zip(self.pair_set(right, pair)?);
                    Ok(words.map(|(left, right)| PairTest::Sets { equal: *equal, left, right }))
                }
                _ => Ok(None),
            },
            Ref::Number(f) => match f.op() {
                N::Compare(cmp, left, right) => {
                    let words = self.pair_number(left, pair)?.zip(self.pair_number(right, pair)?);
                    Ok(words.map(|(left, right)| PairTest::Compare { cmp: *cmp, left, right }))
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn pair_mask(&mut self, filter: FilterRef, source: bool) -> Compiled<Option<PairTest>> {
        let Some(mask) = self.leaf(filter, |lower| lower.truth(filter))? else { return Ok(None) };
        let mask = self.operand(mask, true)?;
        Ok(Some(PairTest::Mask { mask, source }))
    }

    fn pair_number(&mut self, f: &Number, pair: Pair) -> Compiled<Option<PairWord>> {
        let (of, source) = match f.op() {
            N::Game(GameNumber::Elsewhere(Elsewhere::At { at, of })) => match pair.is_source(at) {
                Some(source) => (of, source),
                None => return Ok(None),
            },
            N::Cardinality(of) => {
                return Ok(match self.pair_set(of, pair)? {
                    Some(PairWord::Same { others, count: false }) => {
                        Some(PairWord::Same { others, count: true })
                    }
                    _ if self.is_leaf(f.node()) => {
                        self.pair_leaf(f.node(), |lower| packed(lower, f), false)?
                    }
                    _ => None,
                });
            }
            _ => (f, false),
        };
        self.pair_leaf(of.node(), |lower| packed(lower, of), source)
    }

    fn pair_set(&mut self, f: &Squares, pair: Pair) -> Compiled<Option<PairWord>> {
        let (of, source) = match f.op() {
            S::Game(GameSquares::Elsewhere(Elsewhere::At { at, of })) => match pair.is_source(at) {
                Some(source) => (of, source),
                None => return Ok(None),
            },
            S::Game(GameSquares::SameContents(a, b)) => {
                let both = [a, b].map(|position| pair.is_source(position));
                let is_pair = matches!(both, [Some(a), Some(b)] if a != b);
                return Ok(is_pair.then_some(PairWord::Same { others: false, count: false }));
            }
            S::Complement(of) if !self.is_leaf(f.node()) => {
                return Ok(match self.pair_set(of, pair)? {
                    Some(PairWord::Same { others, count }) => Some(PairWord::Same { others: !others, count }),
                    _ => None,
                });
            }
            _ => (f, false),
        };
        self.pair_leaf(of.node(), |lower| lower.squares(of), source)
    }

    fn pair_leaf(
        &mut self,
        filter: FilterRef,
        lower: impl FnOnce(&mut crate::plan::lower::Lower) -> crate::plan::Id,
        source: bool,
    ) -> Compiled<Option<PairWord>> {
        let Some(word) = self.leaf(filter, lower)? else { return Ok(None) };
        if let Some(word) = self.lower.dag.constant(word) {
            return Ok(Some(PairWord::Constant(word)));
        }
        let operand = self.operand(word, false)?;
        Ok(Some(if source { PairWord::Source(operand) } else { PairWord::Target(operand) }))
    }
}

fn packed(lower: &mut crate::plan::lower::Lower, f: &Number) -> crate::plan::Id {
    let number = lower.number(f);
    lower.packed_number(number)
}
