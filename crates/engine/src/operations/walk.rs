//! Runs automata along games, for `line` and `path`. A *walk* is a sequence of positions of a game that an automaton
//! accepts.
//!
//! First, [`WalkReach`] finds the positions at which a walk begins, 32 positions at a time. The values of walks (the
//! length, or a number) are computed only on request. The best value for a node and a state is computed from the values
//! of the node's children. So a single pass is enough: from the last node to the first or, for walks against the
//! direction of the moves, from the first to the last.

use super::{
    BlockGames, MaskBuilder, OperandSource,
    focus::{FocusMasks, MovedPieces},
    number,
    reach::WalkReach,
    tree::NodeRange,
};
use crate::within;
use orbit_plan::{Automaton, Branch, NO_VALUE, Sees, Sibling, Walk};
use orbit_reel::SEGMENT_SLOTS;

/// The value that means that there is no walk.
const NONE: i64 = i64::MIN;

/// Returns the mask of the positions at which a walk begins.
pub(super) fn found<'a>(
    walk: &'a Walk,
    operands: &'a [OperandSource<'a>],
    games: &'a BlockGames<'a>,
) -> MaskBuilder {
    let mut runner = Runner::new(walk, operands, games);
    if !matches!(walk.sees, Sees::Pieces { .. }) {
        return runner.possible;
    }
    let mut out = MaskBuilder::new(games.block);
    games.each(|nodes| {
        runner.in_focus(nodes, |runner, pieces, set, starts| {
            if runner.is_list(nodes) {
                runner.pass_list(nodes, pieces, set, starts, |start, value| {
                    out.put(nodes.slot(start), value != NONE);
                });
                return;
            }
            runner.reach.run(nodes.segments(), Some(&pieces.seen(nodes, set)));
            let slots = starts.iter().map(|&node| nodes.slot(node));
            slots.for_each(|slot| out.put(slot, begins(&runner.reach, slot)));
        });
    });
    out
}

/// Returns the mask of the positions at which a walk begins. For a walk with a `focus`, these are the positions at which it could
/// begin with some set of pieces in its `focus`.
fn possible(reach: &mut WalkReach<'_>, games: &BlockGames<'_>) -> MaskBuilder {
    let (mut out, slots) = (MaskBuilder::new(games.block), 0..games.block.slots());
    reach.run(0..out.0.len(), None);
    out.0.iter_mut().enumerate().for_each(|(at, word)| *word = within(reach.starts(at), at, &slots));
    out
}

fn begins(reach: &WalkReach<'_>, slot: usize) -> bool {
    reach.starts(slot / SEGMENT_SLOTS) >> (slot % SEGMENT_SLOTS) & 1 != 0
}

/// Returns, for each position, the result of the best walk that begins there.
pub(super) fn numbers<'a>(
    walk: &'a Walk,
    operands: &'a [OperandSource<'a>],
    games: &'a BlockGames<'a>,
    out: &mut [u64],
) {
    out.fill(number(None));
    let mut runner = Runner::new(walk, operands, games);
    games.each(|nodes| runner.run(nodes, out));
}

/// The evaluation of one automaton (the translation of a `line` or `path`) on a block, with its tables of values.
struct Runner<'a> {
    walk: &'a Walk,
    reach: WalkReach<'a>,
    /// The mask of the positions at which a walk can begin. The values of walks are computed only at these positions.
    possible: MaskBuilder,
    largest: Option<OperandSource<'a>>,
    evaluated: Option<OperandSource<'a>>,
    focus: Option<OperandSource<'a>>,
    games: &'a BlockGames<'a>,
    /// The number of transitions of the automaton.
    ways: usize,
    /// For each position and state of the automaton, the value of the best walk that continues at a following position.
    next: Vec<i64>,
    /// For each position and state of the automaton, the value of the best walk that continues two positions further on or, for a
    /// walk with a `focus`, at the next move of a piece in it.
    after: Vec<i64>,
    /// For each position and each state of the automaton that is tied to the next move (`AutomatonState::leaving`), the
    /// value of the best walk that continues with a move played from the position.
    tied: Vec<i64>,
    /// For each node (position), true if a move is played from it.
    inner: Vec<bool>,
}

impl<'a> Runner<'a> {
    fn new(walk: &'a Walk, operands: &'a [OperandSource<'a>], games: &'a BlockGames<'a>) -> Runner<'a> {
        let mut reach = WalkReach::new(walk, operands, games);
        let possible = possible(&mut reach, games);
        let mut rest = operands[walk.automaton.operands..].iter().copied();
        let largest = if walk.largest { rest.next() } else { None };
        let evaluated = if walk.nestban { rest.next() } else { None };
        let focus = rest.next();
        let (next, after, tied, inner) = Default::default();
        let ways = walk.automaton.follow.iter().map(Vec::len).sum();
        Runner { walk, reach, possible, largest, evaluated, focus, games, ways, next, after, tied, inner }
    }

    /// Computes, for each position of a game, the result of the best walk that begins there.
    fn run(&mut self, nodes: NodeRange<'_>, out: &mut [u64]) {
        let mut values = vec![NONE; nodes.len()];
        if matches!(self.walk.sees, Sees::Pieces { .. }) {
            let pieces = self.in_focus(nodes, |runner, pieces, set, starts| {
                if runner.is_list(nodes) {
                    runner.pass_list(nodes, pieces, set, starts, |start, value| values[start] = value);
                    return;
                }
                let seen = pieces.seen(nodes, set);
                runner.reach.run(nodes.segments(), Some(&seen));
                let mut starts =
                    starts.iter().copied().filter(|&start| begins(&runner.reach, nodes.slot(start)));
                let starts: Vec<usize> = starts.by_ref().collect();
                if let Some(&first) = starts.first() {
                    runner.pass(nodes, first, Some(&seen));
                    starts.iter().for_each(|&start| values[start] = runner.start(nodes, start));
                }
            });
            if let Some(pieces) = pieces {
                self.finish(nodes, values, Some(&pieces), out);
            }
            return;
        }
        let starts: Vec<usize> = nodes.nodes(&self.possible).collect();
        let Some(&first) = starts.first() else { return };
        if self.walk.back {
            self.pass_back(nodes, &mut values);
        } else {
            self.pass(nodes, first, None);
            starts.into_iter().for_each(|start| values[start] = self.start(nodes, start));
        }
        self.finish(nodes, values, None, out);
    }

    /// Calls `visit` for each group of start positions that have the same pieces in their `focus`. Returns `None` if no walk
    /// begins in the game.
    fn in_focus(
        &mut self,
        nodes: NodeRange<'_>,
        mut visit: impl FnMut(&mut Runner<'a>, &MovedPieces, u64, &[usize]),
    ) -> Option<MovedPieces> {
        let (Sees::Pieces { capture }, Some(focus)) = (self.walk.sees, self.focus) else { return None };
        let starts: Vec<usize> = nodes.nodes(&self.possible).collect();
        if starts.is_empty() {
            return None;
        }
        let pieces = MovedPieces::new(nodes, self.games, focus, capture, &starts);
        let is_list = self.is_list(nodes);
        // If walks proceed through a list of moves that touch the `focus`, the first move after the start must be one
        // of them.
        let begins = |start: &usize| !is_list || pieces.sees_next(nodes, *start);
        let positions = nodes.len() * self.walk.automaton.states.len();
        for (set, starts) in pieces.groups(starts.into_iter().filter(begins)) {
            if self.games.count(positions) {
                break;
            }
            visit(self, &pieces, set, &starts);
        }
        Some(pieces)
    }

    /// Returns true if the moves that touch the `focus` form a list through which walks proceed in order.
    fn is_list(&self, nodes: NodeRange<'_>) -> bool {
        let Walk { automaton, moves, back, sibling, .. } = self.walk;
        *moves && !back && !automaton.is_tied() && !nodes.has_lines() && *sibling != Some(Sibling::Secondary)
    }

    /// Computes the best walk from each start position, over a list of moves that touch the `focus`, and passes its value to
    /// `tell`. `starts` must be in ascending order.
    fn pass_list(
        &mut self,
        nodes: NodeRange<'_>,
        pieces: &MovedPieces,
        set: u64,
        starts: &[usize],
        mut tell: impl FnMut(usize, i64),
    ) {
        let Automaton { states, follow, first, .. } = &self.walk.automaton;
        // `here` has the values of the states at the current move, and `after` has the values at the next move that
        // touches the `focus`.
        let (mut here, mut after) = (std::mem::take(&mut self.next), std::mem::take(&mut self.after));
        for values in [&mut here, &mut after] {
            values.clear();
            values.resize(states.len(), NONE);
        }
        let mut open = starts.iter().copied().rev().peekable();
        for node in (starts[0] + 1..nodes.len()).rev() {
            if !pieces.sees(node, set) {
                continue;
            }
            let slot = nodes.slot(node);
            for ((state, follow), value) in states.iter().zip(follow).zip(&mut here) {
                let is_taken = match pieces.castling(node, set).zip(state.castling) {
                    None => self.reach.holds(state.mask, slot),
                    Some((parts, masks)) => {
                        parts.into_iter().zip(masks).any(|(part, mask)| part && self.reach.holds(mask, slot))
                    }
                };
                *value = match is_taken {
                    true => self.longer(self.best(slot, follow, &after, self.complete(slot))),
                    false => NONE,
                };
            }
            if let Some(start) = open.next_if_eq(&(node - 1)) {
                tell(start, self.best(nodes.slot(start), first, &here, NONE));
            }
            std::mem::swap(&mut here, &mut after);
        }
        (self.next, self.after) = (here, after);
    }

    /// Removes the values that are outside the allowed range or that `nestban` forbids. If last positions are
    /// requested, replaces each remaining value by the last position of its walk.
    fn finish(&self, nodes: NodeRange<'_>, values: Vec<i64>, focus: Option<&MovedPieces>, out: &mut [u64]) {
        let (lo, hi) = self.walk.range;
        let mut banned = vec![false; nodes.len()];
        for (node, value) in values.into_iter().enumerate() {
            let slot = nodes.slot(node);
            let is_evaluated = self.evaluated.is_none_or(|mask| mask.holds(slot));
            let is_found = value != NONE
                && (i64::from(lo)..=i64::from(hi)).contains(&value)
                && is_evaluated
                && !banned[node];
            if !is_found {
                continue;
            }
            if self.walk.nestban || self.walk.end {
                if self.games.count(if focus.is_some() { nodes.len() - node } else { value as usize }) {
                    return;
                }
                let reached = self.reached(nodes, node, value, focus);
                let last = reached.last().copied().unwrap_or(node);
                out[slot] = number(Some(if self.walk.end { last as i64 } else { value }));
                if self.walk.nestban && self.walk.moves {
                    // The positions between two moves that touch the `focus` also belong to the walk, so no later walk
                    // may begin there.
                    banned[node..last].fill(true);
                } else if self.walk.nestban {
                    banned[node] = true;
                    reached.into_iter().for_each(|at| banned[at] = true);
                }
            } else {
                out[slot] = value as u64;
            }
        }
    }

    /// Returns all positions but the first of the walk with the given value that begins at `start`. The game must have
    /// no side lines.
    fn reached(
        &self,
        nodes: NodeRange<'_>,
        start: usize,
        value: i64,
        focus: Option<&MovedPieces>,
    ) -> Vec<usize> {
        let more = usize::try_from(if self.walk.moves { value } else { value - 1 }).unwrap_or(0);
        let on = |by: usize| if self.walk.back { start.checked_sub(by) } else { Some(start + by) };
        let nth = |n: usize| match (self.walk.sees, self.walk.moves) {
            (Sees::OneSide, false) => on(2 * n),
            (Sees::OneSide, true) => on(2 * n - 1),
            _ => on(n),
        };
        let all: Vec<usize> = match focus {
            None => (1..=more).filter_map(nth).collect(),
            Some(pieces) => {
                let set = pieces.at_start(start);
                (start + 1..nodes.len()).filter(|&node| pieces.sees(node, set)).take(more).collect()
            }
        };
        all.into_iter().filter(|&node| node < nodes.len()).collect()
    }

    /// Returns the value of the best walk that begins at a node (position).
    fn start(&self, nodes: NodeRange<'_>, node: usize) -> i64 {
        let slot = nodes.slot(node);
        if self.walk.moves {
            let states = self.walk.automaton.states.len();
            return self.best(slot, &self.walk.automaton.first, &self.next[node * states..], NONE);
        }
        let ways = self.walk.automaton.first.iter();
        let values = ways.filter_map(|way| way.to).map(|state| self.at_node(nodes, node, state.into()));
        self.better(values)
    }

    /// Returns the best of some values: with `firstmatch`, the first that exists, otherwise the largest.
    fn better(&self, mut values: impl Iterator<Item = i64>) -> i64 {
        if self.walk.first_match {
            return values.find(|&value| value != NONE).unwrap_or(NONE);
        }
        values.fold(NONE, i64::max)
    }

    /// Returns the best value over some transitions of the automaton. `next` contains the values of the states to which they lead,
    /// and `complete` is the value of a complete walk.
    fn best(&self, slot: usize, ways: &[Branch], next: &[i64], complete: i64) -> i64 {
        let open = ways.iter().filter(|way| way.guards.iter().all(|&guard| self.reach.holds(guard, slot)));
        self.better(open.map(|way| way.to.map_or(complete, |state| next[state as usize])))
    }

    /// Returns the value of a walk that ends at a slot (position).
    fn complete(&self, slot: usize) -> i64 {
        self.largest.map_or(0, |largest| match largest.word(slot) as i64 {
            NO_VALUE => NONE,
            value => value,
        })
    }

    /// Returns the value of a walk after adding one position or move to it.
    fn longer(&self, value: i64) -> i64 {
        if value == NONE || self.walk.largest { value } else { value + 1 }
    }

    /// Returns, for each state of the automaton, the value of the best walk that continues in this state after a node
    /// (position).
    fn further(&self, node: usize) -> &[i64] {
        let states = self.walk.automaton.states.len();
        let from = if self.walk.sees == Sees::All { &self.next } else { &self.after };
        &from[node * states..(node + 1) * states]
    }

    /// Returns the value of the best walk that continues from a state of the automaton. The state must accept the
    /// position at `node`, or the move that leads to it.
    fn at_node(&self, nodes: NodeRange<'_>, node: usize, state: usize) -> i64 {
        let automaton = &self.walk.automaton;
        let slot = nodes.slot(node);
        if !self.reach.is_alive(state, slot) {
            return NONE;
        }
        self.longer(if automaton.states[state].leaving.is_some() && self.inner[node] {
            self.tied[node * automaton.states.len() + state]
        } else {
            self.best(slot, &automaton.follow[state], self.further(node), self.complete(slot))
        })
    }

    /// Computes the values in the tables `next`, `after` and `tied` for all positions, from the last one back to
    /// `first`.
    fn pass(&mut self, nodes: NodeRange<'_>, first: usize, seen: Option<&FocusMasks>) {
        let walk = self.walk;
        let (automaton, states) = (&walk.automaton, walk.automaton.states.len());
        for table in [&mut self.next, &mut self.after, &mut self.tied] {
            table.clear();
            table.resize(nodes.len() * states, NONE);
        }
        self.inner.clear();
        self.inner.resize(nodes.len(), false);
        let is_open = |node| walk.sibling.is_none_or(|sibling: Sibling| nodes.is_sibling(node, sibling));
        let is_tied = automaton.is_tied();
        for node in (first + 1..nodes.len()).rev() {
            let parent = nodes.parent(node);
            self.inner[parent] = true;
            let goes_on = is_open(node);
            if !goes_on && !is_tied {
                continue;
            }
            if self.games.count(self.ways) {
                return;
            }
            for state in 0..states {
                let (here, there) = (node * states + state, parent * states + state);
                if let Some(leaving) = automaton.states[state].leaving
                    && self.reach.holds(leaving, nodes.slot(node))
                {
                    let value = self.over_move(nodes, node, state, goes_on);
                    self.tied[there] = self.tied[there].max(value);
                }
                if !goes_on {
                    continue;
                }
                let value = self.at_node(nodes, node, state);
                self.next[there] = self.next[there].max(value);
                let further = match walk.sees {
                    Sees::All => NONE,
                    Sees::OneSide => self.next[here],
                    Sees::Pieces { .. } if seen.is_none_or(|seen| seen.has(nodes.slot(node))) => value,
                    Sees::Pieces { .. } => self.after[here],
                };
                self.after[there] = self.after[there].max(further);
            }
        }
    }

    /// Returns the value of the best walk that continues after the move that leads to a node (position), for a state of
    /// the automaton that is tied to this move (`AutomatonState::leaving`). If `goes_on` is false, walks must not visit the node, so
    /// only a walk that is complete before this move has a value.
    fn over_move(&self, nodes: NodeRange<'_>, node: usize, state: usize, goes_on: bool) -> i64 {
        let states = self.walk.automaton.states.len();
        let ways = &self.walk.automaton.follow[state];
        let value = |way: &Branch| match way.to {
            None => self.complete(nodes.slot(node)),
            Some(_) if !goes_on => NONE,
            // If a walk visits only positions with one side to move, it does not visit this node. It continues at the
            // children of the node, whose best values are in `next`.
            Some(to) if self.walk.sees == Sees::OneSide => self.next[node * states + to as usize],
            Some(to) => self.at_node(nodes, node, to.into()),
        };
        self.better(ways.iter().map(value))
    }

    /// Computes the values of walks against the direction of the moves, in one pass from the first node to the last.
    fn pass_back(&mut self, nodes: NodeRange<'_>, values: &mut [i64]) {
        let automaton = &self.walk.automaton;
        let states = automaton.states.len();
        // For each position and each state of the automaton, the value of the best walk that begins there with this
        // state.
        let mut at: Vec<i64> = Vec::with_capacity(nodes.len() * states);
        let none = vec![NONE; states];
        for (node, value) in values.iter_mut().enumerate() {
            let slot = nodes.slot(node);
            if self.games.count(self.ways) {
                return;
            }
            let before = |node: usize| (node > 0).then(|| nodes.parent(node));
            let further = match self.walk.sees {
                Sees::OneSide => before(node).and_then(before),
                _ => before(node),
            };
            for state in 0..states {
                let next = further.map_or(&none[..], |further| &at[further * states..(further + 1) * states]);
                let value = if self.reach.is_alive(state, slot) {
                    self.longer(self.best(slot, &automaton.follow[state], next, 0))
                } else {
                    NONE
                };
                at.push(value);
            }
            let ways = automaton.first.iter().filter_map(|way| way.to);
            *value = self.better(ways.map(|state| at[node * states + usize::from(state)]));
        }
    }
}
