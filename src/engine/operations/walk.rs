//! Automata along games: `line` and `path`.
//!
//! For each node and state the value of the best walk that goes on from there is known from those of its children, so
//! one pass from the last node to the first suffices; against the moves, one from the first to the last.

use std::collections::HashMap;

use super::{Games, Source, moves::MoveTo, number, tree::Nodes};
use crate::{
    plan::{Branch, NO_VALUE, Sees, Sibling, Walk},
    reel::replay::position_at,
};

/// The value where there is no walk.
const NONE: i64 = i64::MIN;

/// Runs an automaton along games.
pub(super) struct Runner<'a> {
    walk: &'a Walk,
    masks: &'a [Source<'a>],
    largest: Option<Source<'a>>,
    evaluated: Option<Source<'a>>,
    focus: Option<Source<'a>>,
    games: &'a Games<'a>,
    /// For each node and state, the best walk from the children of the node.
    next: Vec<i64>,
    /// The same one node further on, or at the next move in focus.
    after: Vec<i64>,
    /// For each node and state that is tied to a move, the best walk over one of the moves that leave it.
    tied: Vec<i64>,
    /// Whether a move leaves the node.
    inner: Vec<bool>,
}

impl<'a> Runner<'a> {
    pub(super) fn new(walk: &'a Walk, operands: &'a [Source<'a>], games: &'a Games<'a>) -> Runner<'a> {
        let (masks, rest) = operands.split_at(walk.automaton.operands);
        let mut rest = rest.iter().copied();
        let largest = if walk.largest { rest.next() } else { None };
        let evaluated = if walk.nestban { rest.next() } else { None };
        let focus = rest.next();
        let (next, after, tied, inner) = Default::default();
        Runner { walk, masks, largest, evaluated, focus, games, next, after, tied, inner }
    }

    /// Finds, from each node of a game on, the value of the best walk.
    pub(super) fn run(&mut self, nodes: Nodes<'_>, out: &mut [u64]) {
        let mut values = vec![NONE; nodes.len()];
        let mut focus = None;
        match self.walk.sees {
            Sees::Pieces { capture } => {
                let pieces = Pieces::new(nodes, self, capture);
                let mut of_each: HashMap<u64, Vec<usize>> = HashMap::new();
                for node in 0..nodes.len() {
                    of_each.entry(pieces.at_start[node]).or_default().push(node);
                }
                for (set, starts) in of_each {
                    if set != 0 {
                        self.pass(nodes, Some((&pieces, set)));
                        starts.iter().for_each(|&start| values[start] = self.start(nodes, start));
                    }
                }
                focus = Some(pieces);
            }
            _ if self.walk.back => self.pass_back(nodes, &mut values),
            _ => {
                self.pass(nodes, None);
                (0..nodes.len()).for_each(|start| values[start] = self.start(nodes, start));
            }
        }
        self.finish(nodes, values, focus.as_ref(), out);
    }

    /// Applies the range and `nestban`, and names last positions.
    fn finish(&self, nodes: Nodes<'_>, values: Vec<i64>, focus: Option<&Pieces>, out: &mut [u64]) {
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
                out[slot] = number(None);
                continue;
            }
            if self.walk.nestban || self.walk.end {
                let reached = self.reached(nodes, node, value, focus);
                let last = reached.last().copied().unwrap_or(node);
                out[slot] = number(Some(if self.walk.end { last as i64 } else { value }));
                if self.walk.nestban && self.walk.moves {
                    // What is between moves in focus belongs to the walk as well.
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

    /// The positions of a walk of that value in a game without side lines, the first one aside.
    fn reached(&self, nodes: Nodes<'_>, start: usize, value: i64, focus: Option<&Pieces>) -> Vec<usize> {
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
                let set = pieces.at_start[start];
                (start + 1..nodes.len()).filter(|&node| pieces.sees(node, set)).take(more).collect()
            }
        };
        all.into_iter().filter(|&node| node < nodes.len()).collect()
    }

    /// The value of a walk that begins at a node.
    fn start(&self, nodes: Nodes<'_>, node: usize) -> i64 {
        let slot = nodes.slot(node);
        if self.walk.moves {
            let states = self.walk.automaton.states.len();
            return self.best(slot, &self.walk.automaton.first, &self.next[node * states..], NONE);
        }
        let ways = self.walk.automaton.first.iter();
        let values = ways.filter_map(|way| way.to).map(|state| self.at_node(nodes, node, state.into()));
        self.better(values)
    }

    /// The first value there is, or the largest.
    fn better(&self, mut values: impl Iterator<Item = i64>) -> i64 {
        if self.walk.first_match {
            return values.find(|&value| value != NONE).unwrap_or(NONE);
        }
        values.fold(NONE, i64::max)
    }

    /// The value of going on by one of some ways, given the values of states further on, and of being complete.
    fn best(&self, slot: usize, ways: &[Branch], next: &[i64], complete: i64) -> i64 {
        let open =
            ways.iter().filter(|way| way.guards.iter().all(|&guard| self.masks[guard as usize].holds(slot)));
        self.better(open.map(|way| way.to.map_or(complete, |state| next[state as usize])))
    }

    /// The value of being complete at a slot.
    fn complete(&self, slot: usize) -> i64 {
        self.largest.map_or(0, |largest| match largest.word(slot) as i64 {
            NO_VALUE => NONE,
            value => value,
        })
    }

    /// One position or move more.
    fn longer(&self, value: i64) -> i64 {
        if value == NONE || self.walk.largest { value } else { value + 1 }
    }

    /// The values further on that count for a walk that has come to a node.
    fn further(&self, node: usize) -> &[i64] {
        let states = self.walk.automaton.states.len();
        let from = if self.walk.sees == Sees::All { &self.next } else { &self.after };
        &from[node * states..(node + 1) * states]
    }

    /// The value of a walk whose state takes a node, of automata whose states stand for positions.
    fn at_node(&self, nodes: Nodes<'_>, node: usize, state: usize) -> i64 {
        let automaton = &self.walk.automaton;
        let (slot, ways) = (nodes.slot(node), &automaton.follow[state]);
        let of = automaton.states[state];
        if of.leaving.is_some() && self.inner[node] {
            return self.longer(self.tied[node * automaton.states.len() + state]);
        }
        if !self.masks[of.mask as usize].holds(slot) {
            return NONE;
        }
        self.longer(self.best(slot, ways, self.further(node), self.complete(slot)))
    }

    /// From the last node to the first, what can be found further on.
    fn pass(&mut self, nodes: Nodes<'_>, focus: Option<(&Pieces, u64)>) {
        let walk = self.walk;
        let (automaton, states) = (&walk.automaton, walk.automaton.states.len());
        for table in [&mut self.next, &mut self.after, &mut self.tied] {
            table.clear();
            table.resize(nodes.len() * states, NONE);
        }
        self.inner.clear();
        self.inner.resize(nodes.len(), false);
        let is_open = |node| walk.sibling.is_none_or(|sibling: Sibling| nodes.is_sibling(node, sibling));
        for node in (1..nodes.len()).rev() {
            let parent = nodes.parent(node);
            self.inner[parent] = true;
            if !is_open(node) {
                continue;
            }
            let is_seen = focus.is_none_or(|(pieces, set)| pieces.sees(node, set));
            for state in 0..states {
                let (here, there) = (node * states + state, parent * states + state);
                let value = match (walk.moves, focus) {
                    (false, _) => self.at_node(nodes, node, state),
                    (true, _) if !is_seen => NONE,
                    (true, focus) => self.at_move(nodes, node, state, focus),
                };
                self.next[there] = self.next[there].max(value);
                let further = match walk.sees {
                    Sees::All => NONE,
                    Sees::OneSide => self.next[here],
                    Sees::Pieces { .. } if is_seen => value,
                    Sees::Pieces { .. } => self.after[here],
                };
                self.after[there] = self.after[there].max(further);
                if let Some(leaving) = automaton.states[state].leaving
                    && self.masks[leaving as usize].holds(nodes.slot(node))
                {
                    let value = self.over_move(nodes, node, state);
                    self.tied[there] = self.tied[there].max(value);
                }
            }
        }
    }

    /// The value of a walk whose state takes the move to a node.
    fn at_move(&self, nodes: Nodes<'_>, node: usize, state: usize, focus: Option<(&Pieces, u64)>) -> i64 {
        let automaton = &self.walk.automaton;
        let (slot, of) = (nodes.slot(node), automaton.states[state]);
        let holds = |mask: u16| self.masks[mask as usize].holds(slot);
        let passes = match (of.castling, focus) {
            (Some([king, rook]), Some((pieces, set))) if pieces.castles(node) => {
                let seen = pieces.parts(node, set);
                seen[0] && holds(king) || seen[1] && holds(rook)
            }
            _ => holds(of.mask),
        };
        if !passes {
            return NONE;
        }
        self.longer(self.best(slot, &automaton.follow[state], self.further(node), self.complete(slot)))
    }

    /// The value of what follows a state that is tied to the move to a node.
    fn over_move(&self, nodes: Nodes<'_>, node: usize, state: usize) -> i64 {
        let states = self.walk.automaton.states.len();
        let ways = &self.walk.automaton.follow[state];
        let value = |way: &Branch| match way.to {
            None => self.complete(nodes.slot(node)),
            // What was seen of the other side's position is its children.
            Some(to) if self.walk.sees == Sees::OneSide => self.next[node * states + to as usize],
            Some(to) => self.at_node(nodes, node, to.into()),
        };
        self.better(ways.iter().map(value))
    }

    /// Against the moves: from the first node to the last.
    fn pass_back(&mut self, nodes: Nodes<'_>, values: &mut [i64]) {
        let automaton = &self.walk.automaton;
        let states = automaton.states.len();
        // The value of each state at each node.
        let mut at: Vec<i64> = Vec::with_capacity(nodes.len() * states);
        let none = vec![NONE; states];
        for (node, value) in values.iter_mut().enumerate() {
            let slot = nodes.slot(node);
            let before = |node: usize| (node > 0).then(|| nodes.parent(node));
            let further = match self.walk.sees {
                Sees::OneSide => before(node).and_then(before),
                _ => before(node),
            };
            for state in 0..states {
                let next = further.map_or(&none[..], |further| &at[further * states..(further + 1) * states]);
                let holds = self.masks[automaton.states[state].mask as usize].holds(slot);
                let value = if holds {
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

/// Which pieces moved. They have the numbers of the squares on which they stand at first, in their order.
struct Pieces {
    moved: Vec<Moved>,
    /// For each node, the pieces in focus of a walk that begins there.
    at_start: Vec<u64>,
    capture: bool,
}

/// The pieces that a move touched, each a bit.
#[derive(Clone, Copy, Default)]
struct Moved {
    /// What moved, of castling the king.
    mover: u64,
    /// The rook, of castling.
    rook: u64,
    taken: u64,
}

/// No piece.
const NOBODY: u8 = u8::MAX;

impl Pieces {
    fn new(nodes: Nodes<'_>, runner: &Runner<'_>, capture: bool) -> Pieces {
        let moves = runner.games.moves();
        let mut moved = vec![Moved::default(); nodes.len()];
        let mut at_start = vec![0; nodes.len()];
        // Who stands where, after each node.
        let mut boards: Vec<[u8; 64]> = Vec::with_capacity(nodes.len());
        for node in 0..nodes.len() {
            let slot = nodes.slot(node);
            let board = if node == 0 {
                first_board(runner.games, slot)
            } else {
                let mut board = boards[nodes.parent(node)];
                moved[node] = play(&mut board, moves.to(slot));
                board
            };
            if let Some(focus) = runner.focus {
                let mut squares = focus.word(slot);
                while squares != 0 {
                    at_start[node] |= bit(board[squares.trailing_zeros() as usize]);
                    squares &= squares - 1;
                }
            }
            boards.push(board);
        }
        Pieces { moved, at_start, capture }
    }

    /// Whether the move to a node is one of some pieces.
    fn sees(&self, node: usize, set: u64) -> bool {
        let Moved { mover, rook, taken } = self.moved[node];
        let taken = if self.capture { taken } else { 0 };
        (mover | rook | taken) & set != 0
    }

    fn castles(&self, node: usize) -> bool {
        self.moved[node].rook != 0
    }

    /// Whether king and rook are in focus.
    fn parts(&self, node: usize, set: u64) -> [bool; 2] {
        let Moved { mover, rook, .. } = self.moved[node];
        [mover & set != 0, rook & set != 0]
    }
}

fn bit(piece: u8) -> u64 {
    if piece < 64 { 1 << piece } else { 0 }
}

/// Who stands where at the root of a game.
fn first_board(games: &Games<'_>, slot: usize) -> [u8; 64] {
    let mut board = [NOBODY; 64];
    let position = position_at(games.block, slot);
    for (piece, square) in (0..).zip(position.board.occupied()) {
        board[square as usize] = piece;
    }
    board
}

/// Plays a move on a board of pieces.
fn play(board: &mut [u8; 64], mv: MoveTo) -> Moved {
    if mv.is_null() {
        return Moved { mover: bit(board[mv.left()[0] as usize]), ..Moved::default() };
    }
    let taken = mv.captured().map_or(NOBODY, |square| std::mem::replace(&mut board[square as usize], NOBODY));
    let ([king_from, rook_from], [king_to, rook_to]) = (mv.left(), mv.reached());
    let mover = std::mem::replace(&mut board[king_from as usize], NOBODY);
    let rook =
        if mv.is_castling() { std::mem::replace(&mut board[rook_from as usize], NOBODY) } else { NOBODY };
    board[king_to as usize] = mover;
    if mv.is_castling() {
        board[rook_to as usize] = rook;
    }
    Moved { mover: bit(mover), rook: bit(rook), taken: bit(taken) }
}
