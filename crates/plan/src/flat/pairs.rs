//! Compiles `echo`. An `echo` compares pairs of positions, a source and a target. To skip most pairs cheaply, this file also
//! compiles tests that a pair must pass before the body is evaluated.

use super::{
    compile::{CompileResult, Compiler},
    names::{assigns, bound_by, used},
    prune::first_move,
    walks::bans,
};
use crate::{Id, Instr, Label, PairSearch, PairTest, PairWord, dag::Op};
use orbit_query::tree::{
    Assigned, Cmp, ConditionOp as C, Control, Echo, Elsewhere, GameCondition, GameNumber, GamePosition,
    GameSquares, Kind, NumberOp as N, PositionOp as P, PositionOrder, Ref, SquaresOp as S, VarId,
};
use orbit_transforms::{Expanded, Filter, FilterRef, Number, Squares};

/// The variables that an `echo` binds to the two positions of a pair, and the assignments in its body.
struct NamePair {
    source: VarId,
    target: VarId,
    /// The variables that the body of the `echo` has assigned before the filter being examined, with their values.
    assigned: Vec<(VarId, PairWord)>,
    changed: Vec<VarId>,
}

impl NamePair {
    /// Returns true if a position filter is the source of the pair, false if it is the target, and `None` if it is any other
    /// position.
    fn is_source(&self, position: &orbit_transforms::Position) -> Option<bool> {
        match position.op() {
            P::Control(Control::Var(var)) if *var == self.source => Some(true),
            P::Control(Control::Var(var)) if *var == self.target => Some(false),
            P::Game(GamePosition::Current) => Some(false),
            _ => None,
        }
    }
}

/// Returns the filters that must all match for a body to match, in order. Each is evaluated only if all filters before it match.
pub(super) fn conjuncts(body: FilterRef<'_>) -> Vec<FilterRef<'_>> {
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
    /// Compiles an `echo` whose value is not a number.
    pub(super) fn echo(&mut self, echo: &Echo<Filter>, no: Label) -> CompileResult {
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

    /// Compiles a loop over the targets of an `echo`. `body` compiles the code that runs at each target. To try the next target,
    /// this code jumps to the label that `body` receives.
    pub(super) fn each_target<F: Kind<Expanded>>(
        &mut self,
        echo: &Echo<F>,
        body: impl FnOnce(&mut Self, Label) -> CompileResult,
    ) -> CompileResult {
        let mut changed = Vec::new();
        echo.body.node().walk(&mut |filter| {
            if assigns(filter) {
                used(filter, &mut |var| changed.push(var));
            }
        });
        let pair = NamePair { source: echo.source, target: echo.target, assigned: Vec::new(), changed };
        let both = [echo.source, echo.target];
        self.scratch(|this| {
            let search = this.bound(&both, |this| this.search(echo.body.node(), pair, echo.in_all))?;
            let pairs = u16::try_from(this.pairs.len()).map_err(|_| "so many pairs")?;
            this.pairs.push(search);
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
            this.bound(&[echo.source, echo.target], |this| this.untied(|this| body(this, again)))?;
            this.emit(Instr::Jump(again))?;
            this.place(done);
            this.emit(Instr::Go { to: here })?;
            this.emit(Instr::Unbind { var: source_var })?;
            this.emit(Instr::Unbind { var: target_var })
        })
    }

    /// Derives tests of position pairs from the filters at the beginning of the body of an `echo`. Skips filters for which there is
    /// no test, as long as leaving out their evaluation has no visible effect.
    fn search(&mut self, body: FilterRef, mut pair: NamePair, in_all: bool) -> CompileResult<PairSearch> {
        let mut search = PairSearch { tests: Vec::new(), planes: None, moves: None };
        if !in_all {
            search.tests.push(PairTest::Order(Cmp::Ne));
        }
        let conjuncts = conjuncts(body);
        let sure = self.sure.len();
        for (place, &filter) in conjuncts.iter().enumerate() {
            if let Some(assigned) = self.pair_assignment(&conjuncts, place, &pair)? {
                pair.assigned.push(assigned);
                continue;
            }
            let tests = self.pair_tests(filter, &pair)?;
            let is_over = tests.is_empty() && !self.is_harmless(filter);
            search.tests.extend(tests);
            if !is_over {
                continue;
            }
            if let Some(var) = self.hidden_assignment(&conjuncts, place) {
                self.sure.push(var);
                continue;
            }
            search.moves = self.first_moves_of_pair(filter, body, &pair)?;
            break;
        }
        self.sure.truncate(sure);
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
        // Comparisons of boards are the slowest tests, so they come last.
        search.tests.sort_by_key(|test| (!is_of_source(test), has_boards(test)));
        Ok(search)
    }

    /// Returns the index of the first of the four operands that contain the bit planes of the board.
    pub(super) fn planes(&mut self) -> CompileResult<u16> {
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

    /// Returns tests that a pair of positions must pass for `filter`, a part of the body of an `echo`, to match. If no test is
    /// known, the list is empty.
    fn pair_tests(&mut self, filter: FilterRef, pair: &NamePair) -> CompileResult<Vec<PairTest>> {
        match filter {
            Ref::Condition(f) if let C::Or(a, b) = f.op() => {
                if self.is_leaf(filter) {
                    return Ok(self.pair_mask(filter, false)?.into_iter().collect());
                }
                let sides = [self.masks_of_side(a.node(), pair)?, self.masks_of_side(b.node(), pair)?];
                self.either(sides)
            }
            _ => Ok(self.pair_test(filter, pair)?.into_iter().collect()),
        }
    }

    /// Returns the masks that must be true for one side of an `or` to match. The flag of a mask is true if the mask applies to the
    /// source, and false if it applies to the target.
    fn masks_of_side(&mut self, side: FilterRef, pair: &NamePair) -> CompileResult<Vec<(Id, bool)>> {
        let mut masks = Vec::new();
        for filter in conjuncts(side) {
            if let Some(mask) = self.mask_of(filter, pair)? {
                masks.push(mask);
            } else if !self.is_harmless(filter) {
                break;
            }
        }
        Ok(masks)
    }

    /// If a filter in the body of an `echo` depends on only one position of a pair, returns the mask of positions at which it
    /// matches, and true if this position is the source. Returns `None` if no mask is known.
    fn mask_of(&mut self, filter: FilterRef, pair: &NamePair) -> CompileResult<Option<(Id, bool)>> {
        let (of, source) = match filter {
            _ if self.is_leaf(filter) => (filter, false),
            Ref::Condition(f) if let C::Game(GameCondition::At { at, of }) = f.op() => {
                match pair.is_source(at) {
                    Some(source) => (of.node(), source),
                    None => return Ok(None),
                }
            }
            Ref::Squares(f) if let S::Game(GameSquares::Elsewhere(Elsewhere::At { at, of })) = f.op() => {
                match pair.is_source(at) {
                    Some(source) => (of.node(), source),
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        Ok(self.leaf(of, |lower| lower.truth(of))?.map(|mask| (mask, source)))
    }

    /// Returns the tests that follow from an `or` of two conjunctions of masks. If at least one of the conjunctions is true, then
    /// in each pair of masks, one from each conjunction, at least one mask is true.
    fn either(&mut self, [left, right]: [Vec<(Id, bool)>; 2]) -> CompileResult<Vec<PairTest>> {
        let mut tests = Vec::new();
        for &(a, of_source) in &left {
            for &(b, also) in &right {
                tests.push(if of_source == also {
                    let mask = self.lower.or(a, b);
                    PairTest::Mask { mask: self.operand(mask, true)?, source: of_source }
                } else {
                    let (source, target) = if of_source { (a, b) } else { (b, a) };
                    let [source, target] = [self.operand(source, true)?, self.operand(target, true)?];
                    PairTest::Either { source, target }
                });
            }
        }
        Ok(tests)
    }

    /// Returns the assignment that a conjunct makes, if it may be made even for pairs of positions that fail a later test. This
    /// requires that only this conjunct and those after it name the variable. Otherwise returns `None`.
    fn pair_assignment(
        &mut self,
        conjuncts: &[FilterRef],
        place: usize,
        pair: &NamePair,
    ) -> CompileResult<Option<(VarId, PairWord)>> {
        let Ref::Condition(f) = conjuncts[place] else { return Ok(None) };
        let C::Assign(var, Assigned::Squares(value)) = f.op() else { return Ok(None) };
        let uses = |filters: &[FilterRef]| {
            let mut count = 0;
            let mut see = |used: VarId| count += usize::from(used == *var);
            filters.iter().for_each(|filter| filter.walk(&mut |filter| used(filter, &mut see)));
            count
        };
        if uses(&[value.node()]) > 0 || self.uses.get(var) != Some(&uses(&conjuncts[place..])) {
            return Ok(None);
        }
        Ok(self.pair_set(value, pair)?.map(|word| (*var, word)))
    }

    /// If a conjunct in the body of an `echo` only assigns a variable, and only later conjuncts name this variable, returns the
    /// variable. The assignment need not be made for pairs of positions that fail a later test.
    fn hidden_assignment(&self, conjuncts: &[FilterRef], place: usize) -> Option<VarId> {
        let var = bound_by(conjuncts[place])?;
        let mut count = 0;
        let mut see = |used: VarId| count += usize::from(used == var);
        conjuncts[place..].iter().for_each(|filter| filter.walk(&mut |filter| used(filter, &mut see)));
        let is_hidden = self.uses.get(&var) == Some(&count);
        let value = conjuncts[place].children();
        (is_hidden && value.into_iter().all(|value| self.is_harmless(value))).then_some(var)
    }

    /// If a filter in the body of an `echo` is a path, returns a test of the moves that are played at the target, the second
    /// position of a pair. If no move passes the test, the path fails before it stores anything. The test is the same for all
    /// targets of a source.
    fn first_moves_of_pair(
        &mut self,
        filter: FilterRef,
        body: FilterRef,
        pair: &NamePair,
    ) -> CompileResult<Option<u16>> {
        // The test is usable only if skipping a target does not affect later targets, and if no target changes the test.
        let has_effect = &mut |filter: FilterRef| {
            bans(filter)
                || matches!(filter, Ref::Condition(f) if matches!(
                    f.op(),
                    C::Game(GameCondition::SetEntry { .. } | GameCondition::Forget { .. })
                ))
        };
        match first_move(filter) {
            Some((edge, targets)) if !body.any(has_effect) => {
                let mut changed = pair.changed.clone();
                changed.extend([pair.source, pair.target]);
                self.first_moves(edge, targets, &changed)
            }
            _ => Ok(None),
        }
    }

    fn pair_test(&mut self, filter: FilterRef, pair: &NamePair) -> CompileResult<Option<PairTest>> {
        if self.is_leaf(filter) {
            return self.pair_mask(filter, false);
        }
        match filter {
            Ref::Position(f) => {
                let P::Game(GamePosition::Compare { by, left, right }) = f.op() else { return Ok(None) };
                // An ancestor has a smaller number than its descendants, so a pair whose numbers are in the wrong order
                // cannot match.
                let cmp = &match by {
                    PositionOrder::Number(cmp) => *cmp,
                    PositionOrder::Before => Cmp::Lt,
                    PositionOrder::NotAfter => Cmp::Le,
                    PositionOrder::After => Cmp::Gt,
                    PositionOrder::NotBefore => Cmp::Ge,
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
            Ref::Squares(f) if let S::Control(Control::Var(_)) = f.op() => {
                let word = self.pair_set(f, pair)?;
                Ok(word.map(|left| PairTest::Sets { equal: false, left, right: PairWord::Constant(0) }))
            }
            _ => Ok(None),
        }
    }

    fn pair_mask(&mut self, filter: FilterRef, source: bool) -> CompileResult<Option<PairTest>> {
        let Some(mask) = self.leaf(filter, |lower| lower.truth(filter))? else { return Ok(None) };
        let mask = self.operand(mask, true)?;
        Ok(Some(PairTest::Mask { mask, source }))
    }

    fn pair_number(&mut self, f: &Number, pair: &NamePair) -> CompileResult<Option<PairWord>> {
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

    fn pair_set(&mut self, f: &Squares, pair: &NamePair) -> CompileResult<Option<PairWord>> {
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
            S::Control(Control::Var(var)) => {
                let assigned = pair.assigned.iter().find(|(assigned, _)| assigned == var);
                return Ok(assigned.map(|&(_, word)| word));
            }
            S::Intersect(a, b) if !self.is_leaf(f.node()) => {
                return Ok(match (self.pair_set(a, pair)?, self.pair_set(b, pair)?) {
                    (Some(PairWord::Source(source)), Some(PairWord::Target(target)))
                    | (Some(PairWord::Target(target)), Some(PairWord::Source(source))) => {
                        Some(PairWord::Both { source, target })
                    }
                    _ => None,
                });
            }
            S::Complement(of) if !self.is_leaf(f.node()) => {
                return Ok(match self.pair_set(of, pair)? {
                    Some(PairWord::Same { others, count }) => Some(PairWord::Same { others: !others, count }),
                    _ => None,
                });
            }
            _ => (f, false),
        };
        if let S::Game(GameSquares::Piece(var)) = of.op()
            && self.sure.contains(var)
            && !pair.changed.contains(var)
        {
            self.pieces = true;
            return Ok(Some(PairWord::Piece { var: self.var(*var), source }));
        }
        self.pair_leaf(of.node(), |lower| lower.squares(of), source)
    }

    fn pair_leaf(
        &mut self,
        filter: FilterRef,
        lower: impl FnOnce(&mut crate::lower::Lower) -> crate::Id,
        source: bool,
    ) -> CompileResult<Option<PairWord>> {
        let Some(word) = self.leaf(filter, lower)? else { return Ok(None) };
        if let Some(word) = self.lower.dag.constant(word) {
            return Ok(Some(PairWord::Constant(word)));
        }
        let operand = self.operand(word, false)?;
        Ok(Some(if source { PairWord::Source(operand) } else { PairWord::Target(operand) }))
    }
}

fn packed(lower: &mut crate::lower::Lower, f: &Number) -> crate::Id {
    let number = lower.number(f);
    lower.packed_number(number)
}
