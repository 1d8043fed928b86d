//! The search for the best way to match a chain, the sequence of constituents of a `line` or `path`.
//!
//! A *way* is a sequence of constituents and positions that match the chain. The search tries all ways in order. At each position,
//! it tries the constituents that may come next, fewer repetitions first. After each constituent, it tries the positions to which
//! the constituent leads. The value of a way depends only on its last position. So the best continuation from a position and a
//! place in the chain does not depend on the way there, unless filters in the chain keep state. Without state, each continuation is
//! computed once, and the search takes polynomial time. With state, all ways are tried, up to a limit.
//!
//! The *constituents* of a chain are its filters and moves.

use std::collections::{HashMap, HashSet};

use super::{
    eval::Evaluation,
    found::Note,
    program::{ChainProgram, ProgramOp},
    value::Evaluated,
};
use orbit_core::diagnostic::{Diagnostic, Span};
use orbit_query::tree::{Cell, VarId};

/// The search rules for one kind of chain: `line` or `path`.
pub(super) trait ChainRules {
    /// Returns the attempts to match a constituent at a position, in order.
    fn attempts(&mut self, eval: &mut Evaluation, at: usize, one: usize) -> Vec<Attempt>;

    /// Returns true if the constituent with the number `one` matches at the position `at` in this attempt.
    fn fits(&mut self, eval: &mut Evaluation, at: usize, one: usize, attempt: Attempt) -> bool;

    /// Returns the positions at which the chain continues after a matching constituent.
    fn next(&mut self, eval: &Evaluation, at: usize, one: usize, attempt: Attempt) -> Next;

    /// Returns the value of a way to match the chain that ends at a position, or `None` if no way may end there. The way with the
    /// greatest value is the best.
    fn value(&mut self, eval: &mut Evaluation, at: usize) -> Option<i32>;

    /// True if a way ends at the position where its last constituent was tried. False if it ends where the next constituent would
    /// be tried.
    const ENDS_BEHIND: bool;
}

/// An attempt to match a constituent of the chain: together with the move that leads from the position `before` to `by`, or at the
/// position alone if `by` is `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Attempt {
    pub(super) before: usize,
    pub(super) by: Option<usize>,
}

/// The positions at which a chain continues after a constituent; see [`ChainRules::next`].
pub(super) enum Next {
    /// The same position.
    Here,
    /// Each of these positions, in order.
    At(Vec<usize>),
}

/// A constituent of the chain that matched as part of a way, with its position and its notes.
pub(super) struct WayStep {
    pub(super) at: usize,
    pub(super) attempt: Attempt,
    pub(super) notes: Vec<Note>,
}

/// The values of atomic variables. When the search backtracks, it undoes changes to these variables.
type Atoms = Vec<(VarId, Cell<Evaluated>)>;

/// The best ways to match the rest of a chain from a position and a place (an operation) in its program.
struct BestWays {
    value: i32,
    /// The first of the equally good ways or, if [`Search::keep_all`] is true, all of them.
    ways: Vec<SearchWay>,
}

#[derive(Clone)]
struct SearchWay {
    /// The indices of the constituents (steps) that match before the search enters the next position.
    steps: Vec<usize>,
    /// The index of the best ways that continue from the next position. `None` if this way ends here.
    next: Option<usize>,
    atoms: Atoms,
}

/// One search for the best way through a chain.
pub(super) struct Search<'p> {
    program: &'p ChainProgram,
    /// True to end the search at the first way that matches the chain; otherwise it looks for the best way.
    pub(super) first_match: bool,
    /// True to store all equally good ways.
    pub(super) keep_all: bool,
    /// The atomic variables. When the search backtracks, it undoes changes to them.
    pub(super) atoms: Vec<VarId>,
    /// For each position and each place in the program (index of an operation) from which all ways have been tried, the index in
    /// `bests` of the best ways, or `None` if there is no way. There is no such map if a filter keeps state.
    memo: Option<HashMap<(usize, usize), Option<usize>>>,
    /// For each attempt so far (constituent, position and move), its index in `steps`, or `None` if the constituent did not match.
    /// Used only if no filter keeps state.
    fitting: HashMap<(usize, usize, Option<usize>), Option<usize>>,
    steps: Vec<WayStep>,
    bests: Vec<BestWays>,
}

/// The best ways to match a chain that a search has found: their value, and their index in `bests`.
pub(super) struct Goal {
    pub(super) value: i32,
    best: usize,
}

/// A position and a place in the program, from which the search tries all ways.
struct SearchFrame {
    at: usize,
    pc: usize,
    open: Vec<PendingStep>,
    /// The places in the program (indices of operations) already reached at this position.
    seen: HashSet<usize>,
    best: Option<BestWays>,
    /// The indices of the constituents (steps) that matched between the previous frame and this one.
    steps: Vec<usize>,
    /// The values of the atomic variables when the search entered the frame.
    atoms: Atoms,
}

/// The work still to be done for a frame of the search. The entry added last is done first.
enum PendingStep {
    Op { pc: usize, steps: Vec<usize> },
    Try(Try),
    Enter { at: usize, pc: usize, steps: Vec<usize>, atoms: Atoms },
}

struct Try {
    pc: usize,
    one: usize,
    attempt: Attempt,
    /// The indices of the constituents (steps) that have already matched in this frame, before the constituent `one` is tried.
    steps: Vec<usize>,
}

impl<'p> Search<'p> {
    /// The maximum number of steps of a search that must try every way.
    const STEPS_MAX: u64 = 2_000_000;
    /// The maximum number of steps of a search that computes each continuation once.
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

    fn steps_max(&self) -> u64 {
        if self.memo.is_some() { Self::PLACES_MAX } else { Self::STEPS_MAX }
    }

    /// Returns the best way to match the chain from the position `start`, if there is one. `span` is the span of the chain in the
    /// query text.
    ///
    /// # Errors
    ///
    /// Fails if the search needs too many attempts.
    pub(super) fn run<R: ChainRules>(
        &mut self,
        eval: &mut Evaluation,
        rules: &mut R,
        start: usize,
        span: Span,
    ) -> Result<Option<Goal>, SearchTooLong> {
        let most = self.steps_max();
        let mut left = most;
        let mut stack = vec![self.frame(start, 0, Vec::new(), self.held(eval))];
        loop {
            left = left.checked_sub(1).ok_or(SearchTooLong { most })?;
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

    /// Ends a frame: restores the atomic variables, and stores the best ways to complete the program from the frame's position and
    /// place. Returns their index in `bests`, or `None` if the program cannot be completed from there.
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

    /// Runs the operation with the index `pc` in the program, at the frame's position.
    fn op<R: ChainRules>(
        &mut self,
        eval: &mut Evaluation,
        rules: &mut R,
        frame: &mut SearchFrame,
        pc: usize,
        steps: Vec<usize>,
    ) {
        // A place that was already reached yields nothing new. This check also ends repetitions of an empty constituent.
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

    /// Tries to match a constituent. Returns the index of the new step in `steps`, or `None` if the constituent does not match.
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

    /// If the chain may end at the position of the frame, adds the way with these steps to the ways from which the best are kept.
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

    // ---- results

    /// Returns the matched constituents of the first of the best ways. Sets the atomic variables to their values at the end of this
    /// way.
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

    /// Returns up to `ways_max` of the best ways, without the first one. Each is the list of its matched constituents.
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

/// The error for a search that reached its limit on attempts.
#[derive(Debug)]
pub(super) struct SearchTooLong {
    most: u64,
}

impl SearchTooLong {
    /// Returns the error for the filter `name` (`line` or `path`) in game number `game`.
    pub(super) fn fault(&self, name: &str, game: u32, span: Span) -> Diagnostic {
        let message = format!("this `{name}` has more than {} ways to be tried in game {game}", self.most);
        let help = if self.most == Search::STEPS_MAX {
            "nest fewer repeats, or assign no variables in it: without them equal ways are tried once"
        } else {
            "nest fewer repeats"
        };
        Diagnostic::error(span, message, "searched here").help(help)
    }
}

fn give_back(eval: &mut Evaluation, atoms: &Atoms) {
    for (var, cell) in atoms {
        eval.state.cells.bind(*var, cell.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orbit_query::tree::Chain;

    #[test]
    fn the_error_names_the_limit_of_its_search() {
        let program = ChainProgram::new(&Chain::<()>::Sequence(Vec::new()), 1).unwrap();
        for (keeps_state, limit) in [(true, "2000000"), (false, "50000000")] {
            let most = Search::new(&program, keeps_state).steps_max();
            let fault = SearchTooLong { most }.fault("line", 3, Span::default());
            assert_eq!(
                fault.message,
                format!("this `line` has more than {limit} ways to be tried in game 3")
            );
            assert_eq!(fault.help.unwrap().contains("variables"), keeps_state);
        }
    }
}
