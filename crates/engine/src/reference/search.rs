//! The search for the best way through a chain.
//!
//! All ways are tried in order: at each position the constituents that may come next, fewer repetitions first, and
//! behind each the positions to which it leads. The value of a way depends only on where it ends. So the best way on
//! from a position and a place in the chain is the same however one gets there, unless filters of the chain keep
//! state: without state it is computed once, and the search is polynomial; with state all ways are walked, up to a
//! limit.

use std::collections::{HashMap, HashSet};

use super::{
    eval::Evaluation,
    found::Note,
    program::{ChainProgram, ProgramOp},
    value::Evaluated,
};
use orbit_core::diagnostic::Span;
use orbit_query::tree::{Cell, VarId};

/// What a kind of chain is made of.
pub(super) trait ChainRules {
    /// How a constituent can be tried at a position, in order.
    fn attempts(&mut self, eval: &mut Evaluation, at: usize, one: usize) -> Vec<Attempt>;

    /// Whether a constituent fits.
    fn fits(&mut self, eval: &mut Evaluation, at: usize, one: usize, attempt: Attempt) -> bool;

    /// Where the chain goes on behind a constituent that fits.
    fn next(&mut self, eval: &Evaluation, at: usize, one: usize, attempt: Attempt) -> Next;

    /// The value of a way that ends at a position, if it may.
    fn value(&mut self, eval: &mut Evaluation, at: usize) -> Option<i32>;

    /// Whether a way ends where the last constituent was tried, rather than where the next one would be.
    const ENDS_BEHIND: bool;
}

/// One way to try a constituent: by a move that leaves `before`, or at the position alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Attempt {
    pub(super) before: usize,
    pub(super) by: Option<usize>,
}

/// See [`ChainRules::next`].
pub(super) enum Next {
    /// At the same position.
    Here,
    /// At each of these in turn.
    At(Vec<usize>),
}

/// A constituent that fits, on a way.
pub(super) struct WayStep {
    /// The position at which it was tried.
    pub(super) at: usize,
    pub(super) attempt: Attempt,
    /// The comments that it made.
    pub(super) notes: Vec<Note>,
}

/// What atomic variables hold.
type Atoms = Vec<(VarId, Cell<Evaluated>)>;

/// The best ways from some place on.
struct BestWays {
    value: i32,
    /// The first of them; of equally good ones all, if they are asked for.
    ways: Vec<SearchWay>,
}

#[derive(Clone)]
struct SearchWay {
    /// The constituents up to the next place.
    steps: Vec<usize>,
    /// The best ways from there on; none at the end.
    next: Option<usize>,
    atoms: Atoms,
}

/// See the module.
pub(super) struct Search<'p> {
    program: &'p ChainProgram,
    /// The first way that is found, not the best.
    pub(super) first_match: bool,
    /// All ways that are equally good.
    pub(super) keep_all: bool,
    /// Variables whose changes are taken back.
    pub(super) atoms: Vec<VarId>,
    /// Without state: the best way from a position and a place of the program on.
    memo: Option<HashMap<(usize, usize), Option<usize>>>,
    /// Without state: which attempts fit.
    fitting: HashMap<(usize, usize, Option<usize>), Option<usize>>,
    steps: Vec<WayStep>,
    bests: Vec<BestWays>,
}

/// What a search has found.
pub(super) struct Goal {
    pub(super) value: i32,
    best: usize,
}

/// A position and a place of the program, while the ways from there on are tried.
struct SearchFrame {
    at: usize,
    pc: usize,
    open: Vec<PendingStep>,
    /// Places that were reached without a move.
    seen: HashSet<usize>,
    best: Option<BestWays>,
    /// The constituents that led here from the frame before.
    steps: Vec<usize>,
    /// What atomic variables held before.
    atoms: Atoms,
}

/// What a frame has still to try, the next one last.
enum PendingStep {
    Op { pc: usize, steps: Vec<usize> },
    Try(Try),
    Enter { at: usize, pc: usize, steps: Vec<usize>, atoms: Atoms },
}

/// A constituent that is to be tried.
struct Try {
    pc: usize,
    one: usize,
    attempt: Attempt,
    /// The constituents before it in the same frame.
    steps: Vec<usize>,
}

impl<'p> Search<'p> {
    /// How much may be tried where all ways have to be walked.
    pub(super) const STEPS_MAX: u64 = 2_000_000;
    /// The same where each place is tried once.
    const PLACES_MAX: u64 = 50_000_000;

    pub(super) fn new(program: &'p ChainProgram, keeps_state: bool) -> Search<'p> {
        Search {
            program,
            first_match: false,
            keep_all: false,
            atoms: Vec::new(),
            memo: (!keeps_state).then(HashMap::new),
            fitting: HashMap::new(),
            steps: Vec::new(),
            bests: Vec::new(),
        }
    }

    /// The best way from a position, if there is one. `span` is where the chain stands.
    ///
    /// # Errors
    ///
    /// There is more to try than may be.
    pub(super) fn run<R: ChainRules>(
        &mut self,
        eval: &mut Evaluation,
        rules: &mut R,
        start: usize,
        span: Span,
    ) -> Result<Option<Goal>, SearchTooLong> {
        let mut left = if self.memo.is_some() { Self::PLACES_MAX } else { Self::STEPS_MAX };
        let mut stack = vec![self.frame(start, 0, Vec::new(), self.held(eval))];
        loop {
            left = left.checked_sub(1).ok_or(SearchTooLong)?;
            eval.state.step(span);
            let frame = stack.last_mut().expect("the last frame ends the loop");
            let done = self.first_match && frame.best.is_some() || eval.state.fault.is_some();
            match if done { None } else { frame.open.pop() } {
                Some(PendingStep::Op { pc, steps }) => self.op(eval, rules, frame, pc, steps),
                Some(PendingStep::Try(of)) => self.try_one(eval, rules, frame, of),
                Some(PendingStep::Enter { at, pc, steps, atoms }) => {
                    match self.memo.as_ref().and_then(|memo| memo.get(&(at, pc))) {
                        Some(&best) => self.offer_next(frame, best, steps),
                        None => {
                            let frame = self.frame(at, pc, steps, atoms);
                            stack.push(frame);
                        }
                    }
                }
                None => {
                    let frame = stack.pop().expect("it was there just now");
                    let best = self.leave(eval, &frame.atoms, (frame.at, frame.pc), frame.best);
                    let Some(before) = stack.last_mut() else {
                        return Ok(best.map(|best| Goal { value: self.bests[best].value, best }));
                    };
                    self.offer_next(before, best, frame.steps);
                }
            }
        }
    }

    fn frame(&self, at: usize, pc: usize, steps: Vec<usize>, atoms: Atoms) -> SearchFrame {
        let open = vec![PendingStep::Op { pc, steps: Vec::new() }];
        SearchFrame { at, pc, open, seen: HashSet::new(), best: None, steps, atoms }
    }

    /// Ends a frame.
    fn leave(
        &mut self,
        eval: &mut Evaluation,
        atoms: &Atoms,
        place: (usize, usize),
        best: Option<BestWays>,
    ) -> Option<usize> {
        give_back(eval, atoms);
        let best = best.map(|best| {
            self.bests.push(best);
            self.bests.len() - 1
        });
        if let Some(memo) = &mut self.memo {
            memo.insert(place, best);
        }
        best
    }

    /// A place of the program at the position of a frame.
    fn op<R: ChainRules>(
        &mut self,
        eval: &mut Evaluation,
        rules: &mut R,
        frame: &mut SearchFrame,
        pc: usize,
        steps: Vec<usize>,
    ) {
        // A place that was reached before leads to nothing new: that is how repeats of nothing end.
        if !frame.seen.insert(pc) {
            return;
        }
        match self.program.op(pc) {
            ProgramOp::One(one) => {
                let attempts = rules.attempts(eval, frame.at, one);
                let open = |attempt| PendingStep::Try(Try { pc, one, attempt, steps: steps.clone() });
                frame.open.extend(attempts.into_iter().rev().map(open));
            }
            ProgramOp::Fork(a, b) => {
                frame.open.push(PendingStep::Op { pc: b, steps: steps.clone() });
                frame.open.push(PendingStep::Op { pc: a, steps });
            }
            ProgramOp::Accept if R::ENDS_BEHIND => {}
            ProgramOp::Accept => self.end(eval, rules, frame, steps),
        }
    }

    fn try_one<R: ChainRules>(
        &mut self,
        eval: &mut Evaluation,
        rules: &mut R,
        frame: &mut SearchFrame,
        Try { pc, one, attempt, mut steps }: Try,
    ) {
        let at = frame.at;
        let atoms = self.held(eval);
        let Some(step) = self.step(eval, rules, at, one, attempt) else {
            give_back(eval, &atoms);
            return;
        };
        steps.push(step);
        if R::ENDS_BEHIND && self.program.may_end(pc + 1) {
            self.end(eval, rules, frame, steps.clone());
        }
        match rules.next(eval, at, one, attempt) {
            Next::Here => frame.open.push(PendingStep::Op { pc: pc + 1, steps }),
            Next::At(targets) => {
                let enter =
                    |at| PendingStep::Enter { at, pc: pc + 1, steps: steps.clone(), atoms: atoms.clone() };
                frame.open.extend(targets.into_iter().rev().map(enter));
            }
        }
    }

    /// The step that a constituent makes, if it fits.
    fn step<R: ChainRules>(
        &mut self,
        eval: &mut Evaluation,
        rules: &mut R,
        at: usize,
        one: usize,
        attempt: Attempt,
    ) -> Option<usize> {
        let key = (one, at, attempt.by);
        if let Some(&known) = self.fitting.get(&key) {
            return known;
        }
        let before = eval.state.notes.len();
        let fits = rules.fits(eval, at, one, attempt);
        let notes = eval.state.notes.split_off(before);
        let step = fits.then(|| {
            self.steps.push(WayStep { at, attempt, notes });
            self.steps.len() - 1
        });
        if self.memo.is_some() {
            self.fitting.insert(key, step);
        }
        step
    }

    /// A way ends at the position of a frame.
    fn end<R: ChainRules>(
        &mut self,
        eval: &mut Evaluation,
        rules: &mut R,
        frame: &mut SearchFrame,
        steps: Vec<usize>,
    ) {
        if let Some(value) = rules.value(eval, frame.at) {
            let atoms = self.held(eval);
            self.offer(frame, value, SearchWay { steps, next: None, atoms });
        }
    }

    fn offer_next(&self, frame: &mut SearchFrame, best: Option<usize>, steps: Vec<usize>) {
        if let Some(next) = best {
            let way = SearchWay { steps, next: Some(next), atoms: Atoms::new() };
            self.offer(frame, self.bests[next].value, way);
        }
    }

    fn offer(&self, frame: &mut SearchFrame, value: i32, way: SearchWay) {
        match &mut frame.best {
            Some(best) if best.value > value => {}
            Some(best) if best.value == value => {
                if self.keep_all {
                    best.ways.push(way);
                }
            }
            best => *best = Some(BestWays { value, ways: vec![way] }),
        }
    }

    fn held(&self, eval: &Evaluation) -> Atoms {
        self.atoms.iter().map(|&var| (var, eval.state.cells.cell(var).clone())).collect()
    }

    // ---- what was found

    /// The steps of the first of the best ways. Atomic variables hold what they held at its end.
    pub(super) fn first_way(&self, eval: &mut Evaluation, goal: &Goal) -> Vec<&WayStep> {
        let (mut steps, mut at) = (Vec::new(), Some(goal.best));
        while let Some(best) = at {
            let way = &self.bests[best].ways[0];
            steps.extend(way.steps.iter().map(|&step| &self.steps[step]));
            give_back(eval, &way.atoms);
            at = way.next;
        }
        steps
    }

    /// The steps of the best ways, the first one left out, and at most so many.
    pub(super) fn other_ways(&self, goal: &Goal, ways_max: usize) -> Vec<Vec<&WayStep>> {
        let mut ways = Vec::new();
        let mut open: Vec<(&SearchWay, Vec<&WayStep>)> = Vec::new();
        let mut from = Some((goal.best, Vec::new()));
        while ways.len() <= ways_max {
            if let Some((best, before)) = from.take() {
                let all = self.bests[best].ways.iter().rev();
                open.extend(all.map(|way| (way, before.clone())));
            }
            let Some((way, mut steps)) = open.pop() else { break };
            steps.extend(way.steps.iter().map(|&step| &self.steps[step]));
            match way.next {
                Some(next) => from = Some((next, steps)),
                None => ways.push(steps),
            }
        }
        ways.into_iter().skip(1).collect()
    }
}

/// There is more to try than may be.
#[derive(Debug)]
pub(super) struct SearchTooLong;

fn give_back(eval: &mut Evaluation, atoms: &Atoms) {
    for (var, cell) in atoms {
        eval.state.cells.bind(*var, cell.clone());
    }
}
