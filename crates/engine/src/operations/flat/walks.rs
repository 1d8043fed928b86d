//! The search for the best way through a chain, as in `line` or `path`.
//!
//! A chain is a sequence of *constituents*, filters that must match position by position. The search tries every way
//! through the chain and the game, in the order that the language defines. At each position, the constituents that may
//! come next are tried with fewer repetitions first; after each move, the search continues at the position to which the
//! move leads. If no filter keeps state, the best continuation from a position and a place in the chain does not depend
//! on the way that led there. It is then remembered, and reused in searches from other positions if variables and
//! registers have the same values.

use std::ops::Range;

use super::{
    FlatMachine, NONE, Stopped, first_child,
    known::{BestWay, Tables},
};
use crate::operations::tree::NodeRange;
use orbit_plan::{FlatChain, FlatFocus, FlatOp, FlatStep, NO_VALUE, RegisterWord, SearchMemory};

/// The maximum number of attempts in one search: without remembered results, and with them.
const TRIED_MAX: [u64; 2] = [2_000_000, 50_000_000];

/// The data that the chains (`line` and `path` filters) of a program keep about the current game.
#[derive(Default)]
pub(super) struct Walks {
    /// The data of each chain; `None` while that chain is being searched.
    of_each: Vec<Option<Box<Searched>>>,
    /// For each node (position), the pieces that the move to it moves or captures.
    moved: Vec<TouchedPieces>,
    /// The ply of each node (position), filled only for a game with side lines.
    plies: Vec<u32>,
    /// The number of entries in the tables of all chains.
    entries: usize,
}

/// The pieces that a move moves and captures, one bit for each piece number.
#[derive(Clone, Copy, Default)]
struct TouchedPieces {
    movers: u64,
    taken: u64,
}

/// The data of one chain (a `line` or `path`) for the current game, and the buffers for its search.
#[derive(Default)]
struct Searched {
    /// The nodes (positions) at which `nestban` forbids the chain to begin, because they lie inside an earlier match.
    banned: Vec<bool>,
    /// The remembered best continuation from each operation of the chain at each node (position).
    tables: Tables,
    key: Vec<u64>,
    frames: Vec<WalkFrame>,
    open: Vec<PendingWalk>,
    seen: Vec<u16>,
    exits: Vec<(u32, u32)>,
}

/// A point of the search, that is, a position of the game and a place in the chain, from which all continuations are
/// tried.
struct WalkFrame {
    at: u32,
    op: u16,
    /// The number of steps of the path so far: the moves on the way to this node that count as steps.
    count: u32,
    /// The length of the list `open` when the search entered this frame. Later entries belong to this frame.
    open: usize,
    /// The length of the list `seen` when the search entered this frame. Later entries belong to this frame.
    seen: usize,
    best: Option<BestWay>,
}

/// Work that the search still has to do. The list of pending work is a stack.
#[derive(Clone, Copy)]
enum PendingWalk {
    Op(u16),
    /// Tries to match a constituent (one filter) of the chain. For a path, `before` and `child` are the nodes before
    /// and after the move.
    Try {
        op: u16,
        step: u16,
        before: u32,
        child: u32,
    },
    Enter {
        at: u32,
        op: u16,
    },
}

/// The moves that count as steps of a path. They depend on the path's `focus`, a set of pieces.
#[derive(Clone, Copy)]
enum SeenMoves {
    All,
    White(bool),
    Pieces { set: u64, capture: bool },
}

impl FlatMachine<'_> {
    /// Prepares for a new game.
    pub(super) fn begin_walks(&mut self, nodes: NodeRange<'_>) {
        let walks = &mut self.walks;
        walks.of_each.resize_with(self.program.chains.len(), Option::default);
        let chains = &self.program.chains;
        for (chain, of) in chains.iter().zip(&mut walks.of_each) {
            let of = of.get_or_insert_default();
            of.banned.clear();
            of.tables.begin_game(nodes.len() * chain.ops.len(), chains.len());
        }
        walks.entries = 0;
        walks.plies.clear();
        if nodes.has_lines() {
            walks.plies.push(0);
            for node in 1..nodes.len() {
                walks.plies.push(walks.plies[nodes.parent(node)] + 1);
            }
        }
        walks.moved.clear();
        if self.program.pieces {
            walks.moved.push(TouchedPieces::default());
            for node in 1..nodes.len() {
                let (moves, slot) = (self.games.moves(), nodes.slot(node));
                let men = &self.men.on[nodes.parent(node)];
                let bit = |square: u8| bit(men[square as usize]);
                if let Some([left, reached]) = moves.plain_squares(slot) {
                    // If the move is not a capture, its destination is empty, and `bit` returns 0 for it.
                    walks.moved.push(TouchedPieces { movers: bit(left), taken: bit(reached) });
                    continue;
                }
                let mv = moves.to(slot);
                let movers = mv.left().into_iter().fold(0, |set, square| set | bit(square));
                walks.moved.push(TouchedPieces { movers, taken: mv.captured().map_or(0, bit) });
            }
        }
    }

    /// Returns true unless `nestban` forbids a chain (a `line` or `path`) to begin at a node (position).
    pub(super) fn is_free(&self, chain: u16, node: usize) -> bool {
        let of = self.walks.of_each[usize::from(chain)].as_ref();
        !of.is_some_and(|of| of.banned.get(node).is_some_and(|&banned| banned))
    }

    /// Finds the best match of a chain (a `line` or `path`) from a position. Returns its value or its last position, as
    /// the chain requires.
    pub(super) fn chain(&mut self, nodes: NodeRange<'_>, place: u16, at: usize) -> Result<i64, Stopped> {
        let program = self.program;
        let chain = &program.chains[usize::from(place)];
        // The search needs the chain's data and also borrows `self`, so the data is taken out of `self`. No other search needs it
        // in the meantime, because a chain never contains itself.
        let mut of = self.walks.of_each[usize::from(place)].take().unwrap_or_default();
        let best = self.search(nodes, chain, &mut of, at);
        let out = best.and_then(|best| self.found(nodes, chain, &mut of, at, best));
        of.frames.clear();
        of.open.clear();
        of.seen.clear();
        self.walks.of_each[usize::from(place)] = Some(of);
        out
    }

    /// Checks that the result of a search is in the allowed range, and records the positions at which `nestban` forbids later
    /// matches to begin.
    fn found(
        &self,
        nodes: NodeRange<'_>,
        chain: &FlatChain,
        of: &mut Searched,
        start: usize,
        best: Option<BestWay>,
    ) -> Result<i64, Stopped> {
        let Some(BestWay { value, end }) = best else { return Ok(NO_VALUE) };
        let is_in =
            |[lo, hi]: [RegisterWord; 2]| (self.get(lo) as i64..=self.get(hi) as i64).contains(&value);
        if !chain.range.is_none_or(is_in) {
            return Ok(NO_VALUE);
        }
        if chain.nestban {
            self.look_at((end as usize).saturating_sub(start))?;
            of.banned.resize(nodes.len(), false);
            let mut node = end as usize;
            // A path may begin at the last position of an earlier path, but a `line` may not begin at the last position
            // of an earlier line.
            if !chain.is_path {
                of.banned[node] = true;
            }
            let every = if chain.single_color { 2 } else { 1 };
            while node > start {
                (0..every).for_each(|_| node = nodes.parent(node));
                of.banned[node] = true;
            }
        }
        Ok(if chain.end { end.into() } else { value })
    }

    fn search(
        &mut self,
        nodes: NodeRange<'_>,
        chain: &FlatChain,
        of: &mut Searched,
        start: usize,
    ) -> Result<Option<BestWay>, Stopped> {
        let seen = self.seen(nodes, chain, start);
        if chain.begins_with_move {
            self.exits(nodes, chain, seen, [start; 2], &mut of.exits)?;
            if of.exits.is_empty() {
                return Ok(None);
            }
        }
        let remembers = self.key(chain, of, seen);
        if chain.is_path {
            self.set(chain.of_path, start as u64);
        }
        if remembers && !self.may_begin(nodes, chain, of, seen, start)? {
            return Ok(None);
        }
        if !self.has_moves_ahead(nodes, chain, start)? {
            return Ok(None);
        }
        let mut left = TRIED_MAX[usize::from(remembers)];
        // Most searches end before they need a second frame, and the result of the first frame is never looked up. So the table of
        // remembered results is created late.
        let mut table = None;
        of.enter(start as u32, 0, 0);
        loop {
            left = left.checked_sub(1).ok_or(Stopped)?;
            self.turn()?;
            let Some(frame) = of.frames.last() else { return Ok(None) };
            let (at, count) = (frame.at as usize, frame.count);
            let is_done = chain.first_match && frame.best.is_some() || of.open.len() == frame.open;
            match if is_done { None } else { of.open.pop() } {
                Some(PendingWalk::Op(op)) => {
                    if of.seen[frame.seen..].contains(&op) {
                        continue;
                    }
                    of.seen.push(op);
                    match chain.ops[usize::from(op)] {
                        // The reference engine counts three attempts for each iteration of a repetition, so this search
                        // must also count three.
                        FlatOp::Jump(to) => {
                            left = left.saturating_sub(2);
                            of.open.push(PendingWalk::Op(to));
                        }
                        FlatOp::Fork(a, b) => {
                            of.open.push(PendingWalk::Op(b));
                            of.open.push(PendingWalk::Op(a));
                        }
                        FlatOp::Accept => {
                            if chain.is_path && at != start {
                                let value = self.at_end(nodes, chain, [start, at], count)?;
                                of.offer(value.map(|value| BestWay { value, end: at as u32 }));
                            }
                        }
                        FlatOp::One(step) => self.open(nodes, chain, of, seen, op, step, start)?,
                    }
                }
                Some(PendingWalk::Try { op, step, before, child }) => {
                    let edge = [before as usize, child as usize];
                    if self.fits(
                        nodes,
                        chain,
                        chain.steps[usize::from(step)],
                        seen,
                        edge,
                        [start, at],
                        count,
                    )? {
                        self.go_on(nodes, chain, of, op, child);
                    }
                }
                Some(PendingWalk::Enter { at, op }) => {
                    if remembers && table.is_none() {
                        table = of.tables.place(&of.key);
                    }
                    match table.and_then(|table| of.tables.get(table, place(chain, at, op))) {
                        Some(best) => of.offer(best.map(|best| longer(chain, best))),
                        None => of.enter(at, op, count + u32::from(chain.is_path)),
                    }
                }
                None => {
                    let Some(WalkFrame { at, op, open, seen, best, .. }) = of.frames.pop() else {
                        return Ok(None);
                    };
                    of.open.truncate(open);
                    of.seen.truncate(seen);
                    if of.frames.is_empty() {
                        return Ok(best);
                    }
                    if let Some(table) = table {
                        of.tables.put(table, place(chain, at, op), best);
                    }
                    of.offer(best.map(|best| longer(chain, best)));
                }
            }
        }
    }

    /// Returns true if a path that begins with a move can begin with one of the moves in `exits`. In most searches this
    /// test fails, so it runs before the search is prepared. The search itself then tries these moves again, which is
    /// harmless because no constituent keeps state.
    fn may_begin(
        &mut self,
        nodes: NodeRange<'_>,
        chain: &FlatChain,
        of: &Searched,
        seen: SeenMoves,
        start: usize,
    ) -> Result<bool, Stopped> {
        let (true, FlatOp::One(step)) = (chain.begins_with_move, chain.ops[0]) else { return Ok(true) };
        let step = chain.steps[usize::from(step)];
        for &(before, child) in &of.exits {
            let edge = [before as usize, child as usize];
            if self.fits(nodes, chain, step, seen, edge, [start; 2], 0)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns false if the moves that the chain requires are not played, in order, from a given position on.
    fn has_moves_ahead(
        &mut self,
        nodes: NodeRange<'_>,
        chain: &FlatChain,
        start: usize,
    ) -> Result<bool, Stopped> {
        let last = self.family.last.get(start).map_or(nodes.len() - 1, |&last| last as usize);
        let mut from = start;
        for &test in &chain.ahead {
            // No move is played from the last node. A test accepts this node only if a variable has no value; the search must then
            // run to report the error.
            if from > last {
                break;
            }
            match self.next_left(nodes, test, from, last)? {
                Some(node) => from = node + 1,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Adds attempts to match a constituent (one filter) of the chain to the pending work.
    #[expect(clippy::too_many_arguments, reason = "a search and a place in it")]
    fn open(
        &self,
        nodes: NodeRange<'_>,
        chain: &FlatChain,
        of: &mut Searched,
        seen: SeenMoves,
        op: u16,
        step: u16,
        start: usize,
    ) -> Result<(), Stopped> {
        let Some(at) = of.frames.last().map(|frame| frame.at) else { return Ok(()) };
        if chain.steps[usize::from(step)].tied.is_some() && first_child(nodes, at as usize).is_some() {
            // A constituent (filter) may be tied to a move. It is then tried with each move that is played from the
            // position.
            let first = of.open.len();
            let attempt = |child: usize| PendingWalk::Try { op, step, before: at, child: child as u32 };
            of.open.extend(self.children(nodes, at as usize).map(attempt));
            of.open[first..].reverse();
            return self.look_at(of.open.len() - first);
        }
        if chain.steps[usize::from(step)].edge.is_none() {
            of.open.push(PendingWalk::Try { op, step, before: at, child: at });
            return Ok(());
        }
        self.exits(nodes, chain, seen, [start, at as usize], &mut of.exits)?;
        for &(before, child) in of.exits.iter().rev() {
            of.open.push(PendingWalk::Try { op, step, before, child });
        }
        Ok(())
    }

    /// Adds the continuations after a matching constituent (filter) to the pending work.
    fn go_on(&self, nodes: NodeRange<'_>, chain: &FlatChain, of: &mut Searched, op: u16, child: u32) {
        let Some(at) = of.frames.last().map(|frame| frame.at) else { return };
        let next = op + 1;
        if chain.is_path {
            let follows =
                if child == at { PendingWalk::Op(next) } else { PendingWalk::Enter { at: child, op: next } };
            of.open.push(follows);
            return;
        }
        if chain.may_end[usize::from(next)] {
            of.offer(Some(BestWay { value: 1, end: at }));
        }
        let first = of.open.len();
        let mut enter = |node: usize| of.open.push(PendingWalk::Enter { at: node as u32, op: next });
        self.after(nodes, chain, at as usize, &mut |node| {
            // A constituent (filter) that is tied to a move has matched with one move played from the position. The
            // search continues only with this move.
            if child != at && node != child as usize {
                return;
            }
            if chain.single_color {
                self.after(nodes, chain, node, &mut enter);
            } else {
                enter(node);
            }
        });
        of.open[first..].reverse();
    }

    /// Calls `visit` with each position that may come next after the position `at` in a match of `chain`, in the order in which the
    /// search tries them. If the chain runs backwards, the next position is the parent of `at`.
    fn after(&self, nodes: NodeRange<'_>, chain: &FlatChain, at: usize, visit: &mut dyn FnMut(usize)) {
        let may_step = |node: usize| chain.sibling.is_none_or(|sibling| nodes.is_sibling(node, sibling));
        if chain.back {
            if at > 0 && may_step(at) {
                visit(nodes.parent(at));
            }
            return;
        }
        self.children(nodes, at).filter(|&child| may_step(child)).for_each(visit);
    }

    fn children(&self, nodes: NodeRange<'_>, at: usize) -> impl Iterator<Item = usize> {
        let next = move |&node: &usize| match self.family.next.get(node) {
            Some(&next) if next > 0 => Some(next as usize),
            _ => None,
        };
        std::iter::successors(first_child(nodes, at), next)
    }

    /// Returns true if a constituent (filter) matches the move from `before` to `child` or, if these are the same
    /// position, the position itself.
    #[expect(clippy::too_many_arguments, reason = "a search and a place in it")]
    fn fits(
        &mut self,
        nodes: NodeRange<'_>,
        chain: &FlatChain,
        step: FlatStep,
        seen: SeenMoves,
        [before, child]: [usize; 2],
        [start, at]: [usize; 2],
        count: u32,
    ) -> Result<bool, Stopped> {
        let mut count = count;
        if let Some(edge) = step.edge {
            if let Some(code) = step.sides {
                self.come_to(chain, [start, at], count);
                self.run(nodes, code.0 as usize, before)?;
            }
            let part_counts = |square: u8| self.is_part_seen(seen, before, child, square);
            let edge = self.program.edges[usize::from(edge)];
            let selected = self.selected(edge, nodes.slot(child), part_counts);
            let Some([from, to]) = selected else { return Ok(false) };
            for (place, word) in [child as u64, from, to].into_iter().enumerate() {
                self.set(RegisterWord(step.selected.0 + place as u16), word);
            }
            count += 1;
        }
        if let Some(tied) = step.tied {
            let by = (child != before).then_some(child);
            self.set_node(tied, by);
            let Some(code) = step.behind else { return Ok(true) };
            return self.run(nodes, code.0 as usize, before);
        }
        let Some(code) = step.behind else { return Ok(true) };
        self.come_to(chain, [start, child], count);
        self.run(nodes, code.0 as usize, child)
    }

    /// Returns the value of a path that ends at the position `at`, or `None` if the filter in `max` has no value there.
    fn at_end(
        &mut self,
        nodes: NodeRange<'_>,
        chain: &FlatChain,
        [start, at]: [usize; 2],
        count: u32,
    ) -> Result<Option<i64>, Stopped> {
        let Some((code, number)) = chain.largest else { return Ok(Some(0)) };
        self.come_to(chain, [start, at], count);
        self.run(nodes, code.0 as usize, at)?;
        Ok(self.value(number).map(i64::from))
    }

    /// Writes the progress of a path to the registers from which its filters read it: the number of moves so far that
    /// count as steps, and the number of moves that do not count.
    fn come_to(&mut self, chain: &FlatChain, [start, at]: [usize; 2], count: u32) {
        if !chain.is_path {
            return;
        }
        let ply = |node: usize| self.walks.plies.get(node).map_or(node, |&ply| ply as usize);
        let unfocused = ply(at) - ply(start) - count as usize;
        self.set(RegisterWord(chain.of_path.0 + 1), count.into());
        self.set(RegisterWord(chain.of_path.0 + 2), unfocused as u64);
    }

    // ---- focus

    /// Returns the moves that count as steps of a path that begins at a node. They depend on the path's `focus`.
    fn seen(&self, nodes: NodeRange<'_>, chain: &FlatChain, start: usize) -> SeenMoves {
        match chain.focus {
            None => SeenMoves::All,
            Some(FlatFocus::SideToMove) => {
                // If no move is played from the node, it does not matter which moves count.
                let child = first_child(nodes, start);
                let is_white = |child| self.games.moves().to(nodes.slot(child)).is_by_white();
                SeenMoves::White(child.is_some_and(is_white))
            }
            Some(FlatFocus::Pieces { set, capture }) => {
                let mut squares = self.get(set);
                let mut set = 0;
                while squares != 0 {
                    set |= bit(self.men.on[start][squares.trailing_zeros() as usize]);
                    squares &= squares - 1;
                }
                SeenMoves::Pieces { set, capture }
            }
        }
    }

    /// Returns true if the move that leads to a node (position) counts as a step of the path.
    fn is_seen(&self, nodes: NodeRange<'_>, seen: SeenMoves, node: usize) -> bool {
        match seen {
            SeenMoves::All => true,
            SeenMoves::White(white) => self.games.moves().to(nodes.slot(node)).is_by_white() == white,
            SeenMoves::Pieces { set, capture } => {
                let TouchedPieces { movers, taken } = self.walks.moved[node];
                movers & set != 0 || capture && taken & set != 0
            }
        }
    }

    /// Returns the first node of a range that is reached by a move that counts as a step of the path. The game must
    /// have no side lines.
    fn next_seen(&self, nodes: NodeRange<'_>, seen: SeenMoves, mut range: Range<usize>) -> Option<usize> {
        let SeenMoves::Pieces { set, capture } = seen else {
            return range.find(|&node| self.is_seen(nodes, seen, node));
        };
        let taken = if capture { set } else { 0 };
        let counts = |moved: &TouchedPieces| moved.movers & set | moved.taken & taken != 0;
        self.walks.moved[range.clone()].iter().position(counts).map(|place| range.start + place)
    }

    /// Returns true if the part of a move that leaves the given square counts as a step. Castling has two parts, other
    /// moves one.
    fn is_part_seen(&self, seen: SeenMoves, before: usize, child: usize, square: u8) -> bool {
        match seen {
            SeenMoves::All | SeenMoves::White(_) => true,
            SeenMoves::Pieces { set, capture } => {
                bit(self.men.on[before][square as usize]) & set != 0
                    || capture && self.walks.moved[child].taken & set != 0
            }
        }
    }

    /// Adds to `exits`, for every line of the game that leads on from a node, the nearest move that counts as a step of
    /// the path. At the start of a path, only the moves played from the start itself are considered.
    fn exits(
        &self,
        nodes: NodeRange<'_>,
        chain: &FlatChain,
        seen: SeenMoves,
        [start, at]: [usize; 2],
        exits: &mut Vec<(u32, u32)>,
    ) -> Result<(), Stopped> {
        exits.clear();
        let may_step = |node: usize| chain.sibling.is_none_or(|sibling| nodes.is_sibling(node, sibling));
        if !nodes.has_lines() {
            let last = if at == start { at + 1 } else { nodes.len() - 1 };
            let end = nodes.len().min(last + 1);
            let next = self.next_seen(nodes, seen, at + 1..end);
            if let Some(node) = next {
                exits.push((node as u32 - 1, node as u32));
            }
            return self.look_at(next.unwrap_or(end) - at);
        }
        // The search is depth first, and visits the positions that follow a position in numerical order.
        let mut open: Vec<usize> = self.children(nodes, at).filter(|&child| may_step(child)).collect();
        open.reverse();
        while let Some(node) = open.pop() {
            self.look_at(1)?;
            if self.is_seen(nodes, seen, node) {
                exits.push((nodes.parent(node) as u32, node as u32));
            } else if at != start {
                let first = open.len();
                open.extend(self.children(nodes, node).filter(|&child| may_step(child)));
                open[first..].reverse();
            }
        }
        Ok(())
    }

    // ---- memory

    /// Sets `key` to the table key for the current values of variables and registers. Returns true if results may be
    /// remembered.
    fn key(&self, chain: &FlatChain, of: &mut Searched, seen: SeenMoves) -> bool {
        of.key.clear();
        match &chain.memory {
            SearchMemory::Nothing => return false,
            SearchMemory::OfStart => of.tables.clear(),
            SearchMemory::OfWords { vars, words } => {
                for &var in vars {
                    let bound = self.bound[usize::from(var)];
                    of.key.extend([u64::from(bound), if bound { self.get(RegisterWord(var)) } else { 0 }]);
                }
                of.key.extend(words.iter().map(|&word| self.get(word)));
            }
        }
        match seen {
            SeenMoves::All => {}
            SeenMoves::White(white) => of.key.push(white.into()),
            SeenMoves::Pieces { set, .. } => of.key.push(set),
        }
        of.tables.has_room()
    }
}

impl Searched {
    fn enter(&mut self, at: u32, op: u16, count: u32) {
        let (open, seen) = (self.open.len(), self.seen.len());
        self.frames.push(WalkFrame { at, op, count, open, seen, best: None });
        self.open.push(PendingWalk::Op(op));
    }

    /// Replaces the best way of the innermost frame if the given way is better.
    fn offer(&mut self, way: Option<BestWay>) {
        let (Some(way), Some(frame)) = (way, self.frames.last_mut()) else { return };
        if frame.best.is_none_or(|best| way.value > best.value) {
            frame.best = Some(way);
        }
    }
}

/// Returns the way that begins one position or move before `best`. Its value is greater by one, unless the chain uses
/// `max`.
fn longer(chain: &FlatChain, best: BestWay) -> BestWay {
    let more = i64::from(chain.largest.is_none());
    BestWay { value: best.value + more, ..best }
}

/// Returns the index of a table's entry for a node (position) and an operation of the chain.
fn place(chain: &FlatChain, at: u32, op: u16) -> usize {
    at as usize * chain.ops.len() + usize::from(op)
}

/// Returns the bit for a piece number, or 0 for no piece.
pub(super) fn bit(piece: u8) -> u64 {
    if piece == NONE { 0 } else { 1 << piece }
}
