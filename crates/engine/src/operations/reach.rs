//! Finds the positions at which walks begin, 32 positions at a time.
//!
//! A *walk* is a sequence of positions that `line` or `path` describes by an automaton. For each state of the
//! automaton, this module computes a mask of the positions from which the walk can be completed.
//!
//! A *segment* is a run of 32 positions.

use std::{borrow::Cow, ops::Range};

use super::{BlockGames, MaskBuilder, OperandSource, focus::FocusMasks, tree::Flow};
use crate::carry::has;
use orbit_plan::{AutomatonState, Branch, NO_VALUE, Sees, Walk};
use orbit_reel::{Block, SEGMENT_SLOTS};

/// The masks of the states of a walk's automaton. A walk moves to later slots (positions) or, if `back` is true, to
/// earlier ones. Segments are processed in the opposite direction. So the masks of all segments to which a walk can
/// move from a segment are known when that segment is processed. Within a segment, the masks are computed by iterating
/// to a fixed point.
pub(super) struct WalkReach<'a> {
    walk: &'a Walk,
    games: &'a BlockGames<'a>,
    /// The steps along moves, opposite to the direction of the walk.
    flow: Flow<'a>,
    /// The steps opposite to all moves, even those over which the walk must not continue; `None` if no state of the automaton is
    /// tied to a move.
    every: Option<Flow<'a>>,
    /// The masks that the automaton reads.
    masks: Vec<Cow<'a, [u32]>>,
    /// The mask of the positions at which a complete walk has a value; `None` if it has a value everywhere.
    valued: Option<MaskBuilder>,
    /// The mask of positions from which a move was played; empty if no state of the automaton needs it.
    inner: Vec<u32>,
    /// True if every transition of the automaton leads to the same state or to a later one, and the block has no side
    /// lines. In that case, the states are computed in sequence, each for all segments at once.
    is_ordered: bool,
    segments: usize,
    /// For each state of the automaton and each segment, the positions that the state accepts and from which the walk
    /// can be completed. In a walk over moves (a `path`), a state accepts a position if it accepts the move that leads
    /// there.
    alive: Vec<u32>,
    /// For each state of the automaton and each segment, the positions that have a child in `alive` or, if `back` is
    /// true, a parent in it.
    next: Vec<u32>,
    /// For each state and segment of a walk over positions of one side, the positions that have a child in `next`. For
    /// a walk with a `focus`, the positions that have a child in `ahead`. If `back` is true, parents count instead of
    /// children. Empty for walks that visit every position.
    further: Vec<u32>,
    /// For each state and segment of a walk with a `focus`: `alive`, extended opposite to the walk's direction over
    /// positions reached by moves that do not count.
    ahead: Vec<u32>,
}

impl<'a> WalkReach<'a> {
    pub(super) fn new(
        walk: &'a Walk,
        operands: &[OperandSource<'a>],
        games: &'a BlockGames<'a>,
    ) -> WalkReach<'a> {
        let (block, tree) = (games.block, games.tree());
        let (masks, rest) = operands.split_at(walk.automaton.operands);
        let valued = rest.first().filter(|_| walk.largest).map(|largest| values(*largest, block));
        let flow = if walk.back { tree.to_children() } else { tree.to_parents(walk.sibling) };
        let is_tied = walk.automaton.is_tied();
        let every = is_tied.then(|| tree.to_parents(None));
        let inner = every.as_ref().map_or(Vec::new(), |every| every.steps(&vec![u32::MAX; block.segments()]));
        let column =
            |is_needed| vec![0; if is_needed { block.segments() * walk.automaton.states.len() } else { 0 }];
        WalkReach {
            walk,
            games,
            flow,
            every,
            masks: masks.iter().map(|mask| mask.bits(block)).collect(),
            valued,
            inner,
            is_ordered: !is_tied && !block.has_lines() && is_ordered(walk),
            segments: block.segments(),
            alive: column(true),
            next: column(true),
            further: column(walk.sees != Sees::All),
            ahead: column(matches!(walk.sees, Sees::Pieces { .. })),
        }
    }

    /// Computes the masks of a range of segments, which must contain whole games. If the walk has a `focus`, `seen`
    /// contains the moves of the game that touch pieces in it. If `seen` is `None`, it is unknown which moves count, so
    /// the masks may contain too many positions.
    pub(super) fn run(&mut self, segments: Range<usize>, seen: Option<&FocusMasks>) {
        if self.is_ordered && segments == (0..self.segments) {
            return self.run_states();
        }
        for k in 0..segments.len() {
            let at = if self.walk.back { segments.start + k } else { segments.end - 1 - k };
            self.segment(at, seen);
        }
    }

    /// Returns the positions of segment `at` at which a walk can begin.
    pub(super) fn starts(&self, at: usize) -> u32 {
        let start = |way: &Branch| {
            let to = way.to.map(|state| self.place(at, state.into()));
            to.map_or(
                0,
                |to| if self.walk.moves { self.open(way, at) & self.next[to] } else { self.alive[to] },
            )
        };
        self.walk.automaton.first.iter().map(start).fold(0, |all, word| all | word)
    }

    /// Returns true if a state of the automaton accepts the position in a slot, or the move that leads to it, and a
    /// walk can be completed from this state.
    pub(super) fn is_alive(&self, state: usize, slot: usize) -> bool {
        self.alive[self.place(slot / SEGMENT_SLOTS, state)] >> (slot % SEGMENT_SLOTS) & 1 != 0
    }

    /// Returns true if a mask of the automaton (the translation of a `line` or `path`) is true at a slot (position).
    pub(super) fn holds(&self, mask: u16, slot: usize) -> bool {
        has(&self.masks[mask as usize], slot)
    }

    fn place(&self, at: usize, state: usize) -> usize {
        state * self.segments + at
    }

    fn mask(&self, mask: u16, at: usize) -> u32 {
        self.masks[mask as usize][at]
    }

    /// Returns the positions of a segment at which all guards of a transition (the masks that it requires) are true.
    fn open(&self, way: &Branch, at: usize) -> u32 {
        way.guards.iter().fold(u32::MAX, |all, &guard| all & self.mask(guard, at))
    }

    fn valued(&self, at: usize) -> u32 {
        self.valued.as_ref().map_or(u32::MAX, |valued| valued.0[at])
    }

    /// Computes the masks of all segments, one state of the automaton at a time. The states to which a state leads have already
    /// been computed, so most operations can process many words at a time.
    fn run_states(&mut self) {
        let Walk { automaton, .. } = self.walk;
        let (mut alive, mut next) = (std::mem::take(&mut self.alive), std::mem::take(&mut self.next));
        let (mut open, mut again) = (vec![0; self.segments], vec![0; self.segments]);
        for state in (0..automaton.states.len()).rev() {
            if self.games.count(self.segments * automaton.follow[state].len()) {
                break;
            }
            let column = self.column(state);
            let alive = &mut alive[column.clone()];
            again.fill(0);
            for way in &automaton.follow[state] {
                open.copy_from_slice(&self.masks[usize::from(automaton.states[state].mask)]);
                way.guards.iter().for_each(|&guard| meet(&mut open, &self.masks[usize::from(guard)]));
                match way.to.map(usize::from) {
                    Some(to) if to == state => join(&mut again, &open),
                    Some(to) => {
                        meet(&mut open, &next[self.column(to)]);
                        join(alive, &open);
                    }
                    None => {
                        self.valued.iter().for_each(|valued| meet(&mut open, &valued.0));
                        join(alive, &open);
                    }
                }
            }
            if automaton.follow[state].iter().any(|way| way.to.map(usize::from) == Some(state)) {
                self.go_on(alive, &again);
            }
            for (at, next) in next[column].iter_mut().enumerate() {
                *next = self.flow.step(|at| alive[at], at);
            }
        }
        (self.alive, self.next) = (alive, next);
        debug_assert!(
            self.games.is_stopped() || (0..self.segments).all(|at| !self.settle(at, None)),
            "what is found a state at a time is all there is"
        );
    }

    /// Extends a mask along the game: adds the positions of `again` from which a sequence of steps inside `again` leads
    /// to the mask.
    fn go_on(&self, mask: &mut [u32], again: &[u32]) {
        for k in 0..mask.len() {
            let at = if self.walk.back { k } else { mask.len() - 1 - k };
            if again[at] != 0 {
                let reached = mask[at] | again[at] & self.flow.step(|at| mask[at], at);
                mask[at] = self.flow.fill(reached, again[at], at, 1);
            }
        }
    }

    /// Returns the range of indices at which the masks of a state are stored.
    fn column(&self, state: usize) -> Range<usize> {
        self.place(0, state)..self.place(self.segments, state)
    }

    fn segment(&mut self, at: usize, seen: Option<&FocusMasks>) {
        let states = self.walk.automaton.states.len();
        for state in 0..states {
            self.put(at, state, 0, seen);
        }
        let ways = self.walk.automaton.follow.iter().map(Vec::len).sum();
        while !self.games.count(ways) && self.settle(at, seen) {}
    }

    /// Recomputes the masks of all states of the automaton in a segment from the masks computed so far. Returns true if any
    /// of them changed.
    fn settle(&mut self, at: usize, seen: Option<&FocusMasks>) -> bool {
        let mut has_changed = false;
        // Most transitions lead to later states. So the last state is computed first: its mask is then known when
        // earlier states need it.
        for state in (0..self.walk.automaton.states.len()).rev() {
            let alive = self.taken(at, state, seen);
            if alive != self.alive[self.place(at, state)] {
                self.put(at, state, alive, seen);
                has_changed = true;
            }
        }
        has_changed
    }

    /// Stores the mask of a state in a segment, and updates the masks that are derived from it: `next`, `further` and
    /// `ahead`.
    fn put(&mut self, at: usize, state: usize, alive: u32, seen: Option<&FocusMasks>) {
        let place = self.place(at, state);
        self.alive[place] = alive;
        let (flow, column) = (&self.flow, self.column(state));
        let step = |words: &[u32]| flow.step(|at| words[column.start + at], at);
        self.next[place] = step(&self.alive);
        match (self.walk.sees, seen) {
            (Sees::All, _) => {}
            (Sees::OneSide, _) => self.further[place] = step(&self.next),
            (Sees::Pieces { .. }, seen) => {
                let unseen = seen.map_or(u32::MAX, |seen| !seen.any(at));
                self.ahead[place] = alive;
                loop {
                    self.further[place] = step(&self.ahead);
                    let ahead = flow.fill(alive | unseen & self.further[place], unseen, at, 1);
                    if ahead == self.ahead[place] {
                        break;
                    }
                    self.ahead[place] = ahead;
                }
            }
        }
    }

    /// Computes the mask of a state in a segment from the masks of all states and segments that have been computed so
    /// far.
    fn taken(&self, at: usize, state: usize, seen: Option<&FocusMasks>) -> u32 {
        let automaton = &self.walk.automaton;
        let (of, further) =
            (automaton.states[state], if self.further.is_empty() { &self.next } else { &self.further });
        let here = self.takes(of, at, seen);
        if here == 0 && of.leaving.is_none() {
            return 0;
        }
        let (mut alive, mut again) = (0, 0);
        for way in &automaton.follow[state] {
            let open = self.open(way, at);
            alive |= open & way.to.map_or_else(|| self.valued(at), |to| further[self.place(at, to.into())]);
            again |= if way.to == Some(state as u8) { open } else { 0 };
        }
        alive &= here;
        if let (Some(leaving), Some(every)) = (of.leaving, &self.every) {
            // A walk may end with a test of a move over which it must not continue.
            let ended = every.step(|at| self.ended_over_move(at, state, leaving), at);
            let over = ended | self.flow.step(|at| self.over_move(at, state, leaving), at);
            return alive & !self.inner[at] | over & self.inner[at];
        }
        match self.walk.sees {
            Sees::All => self.flow.fill(alive, here & again, at, 1),
            Sees::OneSide => self.flow.fill(alive, here & again, at, 2),
            Sees::Pieces { .. } => alive,
        }
    }

    /// Returns the positions of a segment that a state of the automaton accepts. In a walk over moves (a `path`), a
    /// state accepts a position if it accepts the move that leads there.
    fn takes(&self, of: AutomatonState, at: usize, seen: Option<&FocusMasks>) -> u32 {
        let mask = self.mask(of.mask, at);
        match (seen, of.castling) {
            (None, _) => mask,
            (Some(seen), None) => mask & seen.any(at),
            (Some(seen), Some(parts)) => seen.passing(at, mask, parts.map(|part| self.mask(part, at))),
        }
    }

    /// Returns the positions after a move to which a state is tied by the mask `leaving` (`AutomatonState::leaving`), if the walk is
    /// complete before this move.
    fn ended_over_move(&self, at: usize, state: usize, leaving: u16) -> u32 {
        let may_end = self.walk.automaton.follow[state].iter().any(|way| way.to.is_none());
        if may_end { self.valued(at) & self.mask(leaving, at) } else { 0 }
    }

    /// Returns the positions after a move to which a state is tied by the mask `leaving` (`AutomatonState::leaving`), if the walk can
    /// continue after this move.
    fn over_move(&self, at: usize, state: usize, leaving: u16) -> u32 {
        let automaton = &self.walk.automaton;
        // If a walk visits only positions with one side to move, it does not visit the position after this move. It
        // continues at the children of that position, which `next` takes into account.
        let on = if self.walk.sees == Sees::OneSide { &self.next } else { &self.alive };
        let ways = automaton.follow[state].iter().filter_map(|way| way.to);
        let goes_on = ways.map(|to| on[self.place(at, to.into())]).fold(0, |all, word| all | word);
        goes_on & self.mask(leaving, at)
    }
}

/// Returns true if the walk visits every position and no transition leads to an earlier state.
fn is_ordered(walk: &Walk) -> bool {
    let is_later = |(state, ways): (usize, &Vec<Branch>)| {
        ways.iter().filter_map(|way| way.to).all(|to| usize::from(to) >= state)
    };
    walk.sees == Sees::All && walk.automaton.follow.iter().enumerate().all(is_later)
}

/// Replaces a mask with its intersection with another mask.
fn meet(mask: &mut [u32], other: &[u32]) {
    mask.iter_mut().zip(other).for_each(|(word, other)| *word &= other);
}

/// Replaces a mask with its union with another mask.
fn join(mask: &mut [u32], other: &[u32]) {
    mask.iter_mut().zip(other).for_each(|(word, other)| *word |= other);
}

/// Returns the mask of the positions at which `number` has a value.
fn values(number: OperandSource<'_>, block: &Block) -> MaskBuilder {
    let mut out = MaskBuilder::new(block);
    (0..block.slots()).for_each(|slot| out.put(slot, number.word(slot) as i64 != NO_VALUE));
    out
}
