//! The plan's graph: pure operations on 64-bit words, one word for each position.
//!
//! A word is a set of squares, a *mask* (all ones for true, all zeros for false) or a *number* (an `i32`, sign-extended). Nodes
//! are hash-consed: if an operation occurs several times with equal operands, even in different copies (transformed patterns) of a
//! filter, it is a single node. The id of an operand is always smaller than the ids of the nodes that use it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

pub use super::op::{CarryId, ColumnId, Id, LoopId, NO_VALUE, Op, TRUE};
use super::{operations::GameOp, words::word_of};
use orbit_core::board::{Code, PieceSet};

/// The operation by which a loop combines the words of its rows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reduce {
    /// The union of the words of all rows, which are sets or masks.
    Or,
    /// The largest of the numbers of all rows, compared as `i64`. The loop starts with [`NO_VALUE`].
    Max,
    /// The number of rows for which the body of the loop, a mask, is true.
    Count,
}

/// A loop over the rows of a table. Its body is evaluated once for each row.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The rows of the table. Each contains one word for each parameter of the loop, so all rows have the same length.
    pub rows: Vec<Vec<u64>>,
    /// The operation that combines the values of `body` for all rows into the result of the loop.
    pub reduce: Reduce,
    /// The node that is evaluated for each row.
    pub body: Id,
}

/// An operation along games. It reads words at all positions of a game, and has a result at each position.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Carry {
    /// The operation that is applied.
    pub what: Made,
    /// The words that the operation reads.
    pub operands: Vec<Id>,
}

/// The operations that read words at all positions of a game.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Made {
    /// An operation that combines the word of each position with the words of all later positions of the game or, if `back` is
    /// true, of all earlier ones.
    #[expect(missing_docs, reason = "the sentence says it")]
    Along { what: Carried, back: bool },
    /// An operation of the game language, that is, of the filters about moves and other positions.
    Game(GameOp),
}

impl Made {
    /// Returns true if the results of the operation are masks, which are true or false at each position. Otherwise they are 64-bit
    /// words.
    pub fn is_mask(&self) -> bool {
        match self {
            Made::Along { what, .. } => matches!(what, Carried::Any),
            Made::Game(op) => op.is_mask(),
        }
    }

    /// Returns true if the operation reads this operand as a mask; see [`GameOp::takes_masks`].
    pub fn takes_masks(&self, operand: usize) -> bool {
        match self {
            Made::Along { what, .. } => what.of_masks(),
            Made::Game(op) => op.takes_masks(operand),
        }
    }
}

/// The operations that combine the words of an operand at a position and at all later (or earlier) positions of the game; see
/// [`Made::Along`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Carried {
    /// Mask: the operand, a mask, is true at the position or at a later (or earlier) one.
    Any,
    /// Number: the number of positions at which the operand, a mask, is true, among the position itself and all later (or earlier)
    /// ones.
    Count,
    /// Number: the ply of the nearest position at which the operand is true, or -1 if there is none. The operand is a mask.
    Nearest,
    /// Set: the union of the operand's sets at the position and at all later (or earlier) ones.
    Union,
}

impl Carried {
    /// Returns true if the operands of the operation are masks. Otherwise they are 64-bit words.
    pub const fn of_masks(self) -> bool {
        !matches!(self, Carried::Union)
    }
}

/// The optimisations that a plan may use. Each one can be switched off, and none changes an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlanOptions {
    /// All shifts of a filter that consists of designators and logic (`and`, `or`, `not`) are evaluated together in one 64-bit
    /// word, if its bits suffice: each shift takes one bit.
    pub anchors: bool,
    /// Shifts that do not fit into one word are evaluated in several words.
    pub grids: bool,
    /// Besides filters of designators and logic, filters about attacks, square counts and sets are evaluated for all shifts
    /// together.
    pub pointwise: bool,
    /// Copies (transformed filters) that differ only in squares are computed as the rows of a table.
    pub tables: bool,
    /// An operation that occurs several times with the same operands is computed once.
    pub sharing: bool,
    /// Operations are simplified algebraically.
    pub simplify: bool,
    /// A tree of operations of one kind, such as unions, becomes one step.
    pub chains: bool,
    /// A loop is unrolled if most of its body is constant in each row.
    pub unrolling: bool,
    /// Segments (32 positions each) whose positions cannot match are skipped.
    pub screens: bool,
    /// A cheap condition that is true wherever the query matches is computed first. The query is evaluated only where this
    /// condition is true.
    pub guards: bool,
    /// Nested loops over squares become a flat program (a list of instructions that runs along each game) if this program is
    /// expected to take less time than the tables of the loops.
    pub programs: bool,
    /// If a stage (a program that runs earlier) already computes the answer of a query, the answer is read from the results of the
    /// stage. A program that needs only results of stages does not read positions.
    pub direct: bool,
}

impl Default for PlanOptions {
    fn default() -> PlanOptions {
        PlanOptions {
            anchors: true,
            grids: true,
            pointwise: true,
            tables: true,
            sharing: true,
            simplify: true,
            chains: true,
            unrolling: true,
            screens: true,
            guards: true,
            programs: true,
            direct: true,
        }
    }
}

/// The graph of operations, while it is built.
#[derive(Clone, Debug, Default)]
pub struct Dag {
    /// The operations. Operands precede the operations that use them.
    pub ops: Vec<Op>,
    /// For each node, the loops in whose bodies it must be evaluated. The outermost loop comes first.
    pub within: Vec<Vec<LoopId>>,
    /// For each node, the bits that may be set in its word.
    bounds: Vec<u64>,
    /// For each node, true if its word is known to be all ones or all zeros at every position.
    are_masks: Vec<bool>,
    /// The loops, indexed by [`LoopId`].
    pub loops: Vec<Loop>,
    /// The operations along games, which read all positions of a game. An operation has a larger index than the operations whose
    /// results it reads.
    pub carries: Vec<Carry>,
    known_carries: HashMap<Carry, CarryId>,
    known: HashMap<Op, Id>,
    /// For each node that computes the squares of all pieces of certain kinds, the set of these kinds. The empty square is never
    /// one of them.
    pub(super) piece_sets: HashMap<Id, PieceSet>,
    sharing: bool,
    simplify: bool,
    pub(super) chains: bool,
    pub(super) unrolling: bool,
    pub(super) direct: bool,
}

impl Dag {
    /// Returns an empty graph.
    pub fn new(options: PlanOptions) -> Dag {
        let PlanOptions { sharing, simplify, chains, unrolling, direct, .. } = options;
        Dag { sharing, simplify, chains, unrolling, direct, ..Dag::default() }
    }

    /// Returns the operation of a node.
    pub fn op(&self, id: Id) -> Op {
        self.ops[id.0 as usize]
    }

    /// Returns the value of a constant node. Returns `None` for any other node.
    pub fn constant(&self, id: Id) -> Option<u64> {
        match self.op(id) {
            Op::Const(word) => Some(word),
            _ => None,
        }
    }

    fn add_op(&mut self, op: Op) -> Id {
        // Nodes without operands are always shared: each bit plane of the board and each parameter of a loop must be a single node.
        let leaf = op.args().next().is_none();
        if (self.sharing || leaf)
            && let Some(&id) = self.known.get(&op)
        {
            return id;
        }
        let within = match op {
            Op::Param(l, _) => vec![l],
            Op::Loop(l) => {
                let body = self.loops[l.0 as usize].body;
                self.within[body.0 as usize].iter().copied().filter(|&outer| outer != l).collect()
            }
            _ => {
                let mut all: Vec<LoopId> = Vec::new();
                for arg in op.args() {
                    all.extend(&self.within[arg.0 as usize]);
                }
                all.sort_unstable();
                all.dedup();
                all
            }
        };
        let id = Id(self.ops.len() as u32);
        self.ops.push(op);
        self.within.push(within);
        self.bounds.push(self.bound_of(op));
        self.are_masks.push(self.is_mask_of(op));
        self.known.insert(op, id);
        id
    }

    /// Returns a mask of the bits that may be set in a node's word.
    pub fn bound(&self, id: Id) -> u64 {
        self.bounds[id.0 as usize]
    }

    fn bound_of(&self, op: Op) -> u64 {
        let bound = |id| self.bound(id);
        match op {
            Op::Const(word) => word,
            Op::And(a, b) => bound(a) & bound(b),
            Op::AndNot(a, _) => bound(a),
            Op::Or(a, b) | Op::Xor(a, b) | Op::Select { a, b, .. } => bound(a) | bound(b),
            // These operations are monotonic: adding squares to the operand never removes squares from the result.
            Op::Step(..)
            | Op::FillRanks(_)
            | Op::FillFiles(_)
            | Op::Knight(_)
            | Op::King(_)
            | Op::Pawn { .. }
            | Op::Slide { .. }
            | Op::Walk { .. } => word_of(op, bound).unwrap_or(TRUE),
            _ => TRUE,
        }
    }

    /// Removes all nodes from index `from` on. No remaining node may use them.
    pub(super) fn forget(&mut self, from: usize) {
        for (at, op) in self.ops.drain(from..).enumerate() {
            if self.known.get(&op) == Some(&Id((from + at) as u32)) {
                self.known.remove(&op);
            }
        }
        self.piece_sets.retain(|id, _| (id.0 as usize) < from);
        self.within.truncate(from);
        self.bounds.truncate(from);
        self.are_masks.truncate(from);
    }

    /// Returns a constant word.
    pub fn word(&mut self, word: u64) -> Id {
        self.add_op(Op::Const(word))
    }

    /// Returns a constant mask.
    pub fn mask(&mut self, value: bool) -> Id {
        self.word(if value { TRUE } else { 0 })
    }

    /// Returns a constant number.
    pub fn number(&mut self, value: i32) -> Id {
        self.word(value as i64 as u64)
    }

    /// Opens a loop over `rows`, so that nodes can use its parameters. [`Dag::close_loop`] closes the loop.
    pub fn open_loop(&mut self, rows: Vec<Vec<u64>>) -> LoopId {
        let id = LoopId(self.loops.len() as u32);
        self.loops.push(Loop { rows, reduce: Reduce::Or, body: Id(0) });
        id
    }

    /// Returns the node that represents the last word of each row of an open loop.
    pub fn last_param(&mut self, table: LoopId) -> Id {
        let width = self.loops[table.0 as usize].rows[0].len();
        self.add_op(Op::Param(table, width as u32 - 1))
    }

    /// Closes a loop with its body, and returns the loop's result.
    pub fn close_loop(&mut self, id: LoopId, reduce: Reduce, body: Id) -> Id {
        let it = &mut self.loops[id.0 as usize];
        (it.reduce, it.body) = (reduce, body);
        let rows = it.rows.len();
        if rows > 0 && !self.within[body.0 as usize].contains(&id) && reduce != Reduce::Count {
            return body; // the body is the same for every row
        }
        self.add_op(Op::Loop(id))
    }

    /// Returns the node for an operation that combines a word with the words of later (or earlier) positions; see [`Made::Along`].
    ///
    /// # Panics
    ///
    /// Panics if the word depends on an open loop.
    pub fn carry(&mut self, what: Carried, back: bool, word: Id) -> Id {
        self.make(Made::Along { what, back }, vec![word])
    }

    /// Returns the node for an operation of the game language (filters about moves or other positions).
    ///
    /// # Panics
    ///
    /// Panics if an operand depends on an open loop.
    pub fn game(&mut self, op: GameOp, operands: Vec<Id>) -> Id {
        self.make(Made::Game(op), operands)
    }

    fn make(&mut self, what: Made, operands: Vec<Id>) -> Id {
        let open = operands.iter().any(|word| !self.within[word.0 as usize].is_empty());
        assert!(!open, "a loop runs at one position");
        let carry = Carry { what, operands };
        // An operation along games is always shared if it has no operands, like a node without operands.
        let known =
            (self.sharing || carry.operands.is_empty()).then(|| self.known_carries.get(&carry).copied());
        let id = known.flatten().unwrap_or_else(|| {
            let id = CarryId(self.carries.len() as u32);
            self.known_carries.insert(carry.clone(), id);
            self.carries.push(carry);
            id
        });
        self.add_op(Op::Carried(id))
    }

    /// Returns the node for an operation, or a simpler node with the same value.
    pub fn add(&mut self, op: Op) -> Id {
        if let Some(word) = self.fold(op) {
            return self.word(word);
        }
        if self.simplify
            && let Some(id) = self.simpler(op).or_else(|| self.of_row(op))
        {
            return id;
        }
        self.add_op(op)
    }

    /// If an operation reads only constants and parameters of one loop, computes it in advance for each row of the loop. The
    /// results become another parameter of the loop, or a constant if they are equal in all rows. Returns `None` if the operation
    /// reads anything else.
    fn of_row(&mut self, op: Op) -> Option<Id> {
        let table = op.args().find_map(|id| match self.op(id) {
            Op::Param(table, _) => Some(table),
            _ => None,
        })?;
        let rows = &self.loops[table.0 as usize].rows;
        let word_in = |row: &[u64], id| match self.op(id) {
            Op::Const(word) => Some(word),
            Op::Param(of, place) if of == table => Some(row[place as usize]),
            _ => None,
        };
        let word = |row: &Vec<u64>| {
            let is_known = op.args().all(|id| word_in(row, id).is_some());
            is_known.then(|| word_of(op, |id| word_in(row, id).unwrap_or(0)))?
        };
        let words: Vec<u64> = rows.iter().map(word).collect::<Option<_>>()?;
        let &first = words.first()?;
        if words.iter().all(|&word| word == first) {
            return Some(self.word(first));
        }
        let is_column = |place: &usize| rows.iter().zip(&words).all(|(row, &word)| row[*place] == word);
        let place = (0..rows[0].len()).find(is_column).unwrap_or(rows[0].len());
        if place == rows[0].len() {
            let rows = &mut self.loops[table.0 as usize].rows;
            rows.iter_mut().zip(words).for_each(|(row, word)| row.push(word));
        }
        Some(self.add_op(Op::Param(table, place as u32)))
    }

    /// Computes an operation whose operands are all constants. Returns `None` for any other operation.
    fn fold(&self, op: Op) -> Option<u64> {
        let mut operands = op.args().peekable();
        operands.peek()?;
        if !operands.all(|id| self.constant(id).is_some()) {
            return None;
        }
        word_of(op, |id| self.constant(id).unwrap_or(0))
    }

    fn simpler(&mut self, op: Op) -> Option<Id> {
        let k = |dag: &Dag, id| dag.constant(id);
        match op {
            Op::And(a, b) if self.bound(a) & self.bound(b) == 0 => Some(self.word(0)),
            Op::And(a, b) if a == b => Some(a),
            Op::Or(a, b) if a == b => Some(a),
            // A constant becomes the second operand, so the arms below need not consider it as the first.
            Op::And(a, b) if k(self, a).is_some() => Some(self.add(Op::And(b, a))),
            Op::Or(a, b) if k(self, a).is_some() => Some(self.add(Op::Or(b, a))),
            Op::And(a, b) => match k(self, b) {
                Some(0) => Some(b),
                // `outer` contains every bit that may be set in `a`, so the intersection of the two is `a`.
                Some(outer) if self.bound(a) & !outer == 0 => Some(a),
                Some(outer) => match self.op(a) {
                    Op::And(x, c) => {
                        let inner = k(self, c)?;
                        let both = self.word(inner & outer);
                        Some(self.add(Op::And(x, both)))
                    }
                    _ => None,
                },
                None => match (self.op(a), self.op(b)) {
                    (_, Op::Not(y)) => Some(self.add(Op::AndNot(a, y))),
                    (Op::Not(x), _) => Some(self.add(Op::AndNot(b, x))),
                    _ => None,
                },
            },
            Op::AndNot(a, b) => match (k(self, a), k(self, b)) {
                (Some(0), _) | (_, Some(0)) => Some(a),
                (_, Some(mask)) => {
                    let rest = self.word(!mask);
                    Some(self.add(Op::And(a, rest)))
                }
                (Some(TRUE), _) => Some(self.add(Op::Not(b))),
                _ if a == b => Some(self.word(0)),
                _ => None,
            },
            Op::Or(a, b) => match k(self, b) {
                Some(0) => Some(a),
                Some(TRUE) => Some(b),
                _ => match (self.op(a), self.op(b)) {
                    // (x & c1) | (x & c2) = x & (c1 | c2). This joins two designators of the same pieces to one with the squares of
                    // both.
                    (Op::And(x, c1), Op::And(y, c2)) if x == y => {
                        let both = self.word(k(self, c1)? | k(self, c2)?);
                        Some(self.add(Op::And(x, both)))
                    }
                    (Op::And(x, c), _) if x == b && k(self, c).is_some() => Some(b),
                    (_, Op::And(y, c)) if y == a && k(self, c).is_some() => Some(a),
                    (Op::NonEmpty(x), Op::NonEmpty(y)) => {
                        let either = self.add(Op::Or(x, y));
                        Some(self.add(Op::NonEmpty(either)))
                    }
                    _ => None,
                },
            },
            Op::Xor(a, b) if k(self, a).is_some() => Some(self.add(Op::Xor(b, a))),
            Op::Xor(a, b) => match k(self, b) {
                Some(0) => Some(a),
                Some(TRUE) => Some(self.add(Op::Not(a))),
                _ if a == b => Some(self.word(0)),
                _ => None,
            },
            Op::Not(a) => match self.op(a) {
                Op::Not(x) => Some(x),
                _ => None,
            },
            Op::Select { mask, a, b } => match k(self, mask) {
                Some(TRUE) => Some(a),
                Some(0) => Some(b),
                _ if a == b => Some(a),
                _ if k(self, b) == Some(0) => Some(self.add(Op::And(a, mask))),
                _ => None,
            },
            Op::Step(a, 0, 0) => Some(a),
            Op::Add(a, b) if k(self, a) == Some(0) => Some(b),
            Op::Add(a, b) if k(self, b) == Some(0) => Some(a),
            Op::Compare(cmp, a, b) => match (self.op(a), self.op(b)) {
                (Op::Count(set), Op::Const(number)) => {
                    self.counted(set, |n| cmp.holds(n.cmp(&(number as i64))))
                }
                (Op::Const(number), Op::Count(set)) => {
                    self.counted(set, |n| cmp.holds((number as i64).cmp(&n)))
                }
                _ => None,
            },
            Op::NonEmpty(a) if self.is_mask(a) => Some(a),
            Op::NonEmpty(a) => match self.op(a) {
                // `y` is a mask: all ones or all zeros. So `x & y` is non-empty exactly where `x` is non-empty and `y` is true.
                Op::And(x, y) if self.is_mask(y) => {
                    let some = self.add(Op::NonEmpty(x));
                    Some(self.add(Op::And(some, y)))
                }
                Op::And(x, y) if self.is_mask(x) => {
                    let some = self.add(Op::NonEmpty(y));
                    Some(self.add(Op::And(some, x)))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the mask of positions at which `holds` is true for the number of squares in a set. Returns `None` if the squares
    /// would have to be counted. Counting is unnecessary if `holds` depends only on whether the set contains none, some or all of
    /// its possible squares.
    fn counted(&mut self, set: Id, holds: impl Fn(i64) -> bool) -> Option<Id> {
        let most = i64::from(self.bound(set).count_ones());
        if (2..most).any(|n| holds(n) != holds(1)) || most == 0 {
            return (most == 0).then(|| self.mask(holds(0)));
        }
        let (of_none, of_all) = (holds(0), holds(most));
        let of_some = if most > 1 { holds(1) } else { of_none };
        let any = if of_none == of_some { self.mask(true) } else { self.add(Op::NonEmpty(set)) };
        let full = if of_all == of_some {
            self.mask(false)
        } else {
            let missing = self.missing(set);
            let missing = self.add(Op::NonEmpty(missing));
            self.add(Op::Not(missing))
        };
        let [at_none, at_some, at_all] = [of_none, of_some, of_all].map(|holds| self.mask(holds));
        let rest = self.add(Op::Select { mask: any, a: at_some, b: at_none });
        Some(self.add(Op::Select { mask: full, a: at_all, b: rest }))
    }

    /// Returns the squares that are not in a set although they can be in it in some position.
    fn missing(&mut self, set: Id) -> Id {
        let bound = self.word(self.bound(set));
        match self.op(set) {
            Op::And(of, within) if self.constant(within).is_some() => {
                let others = self.add(Op::Not(of));
                self.add(Op::And(others, bound))
            }
            _ => self.add(Op::AndNot(bound, set)),
        }
    }

    fn is_mask(&self, id: Id) -> bool {
        self.are_masks[id.0 as usize]
    }

    /// Returns true if the result of an operation is known to be all ones or all zeros at every position.
    fn is_mask_of(&self, op: Op) -> bool {
        match op {
            Op::Const(word) => word == 0 || word == TRUE,
            Op::WhiteToMove
            | Op::Initial
            | Op::Terminal
            | Op::GameMask(_)
            | Op::NonEmpty(_)
            | Op::Single(_)
            | Op::Compare(..)
            | Op::NoMoves(_) => true,
            Op::Carried(id) => self.carries[id.0 as usize].what.is_mask(),
            Op::Not(a) => self.is_mask(a),
            Op::And(a, b) | Op::Or(a, b) | Op::AndNot(a, b) | Op::Xor(a, b) => {
                self.is_mask(a) && self.is_mask(b)
            }
            _ => false,
        }
    }

    /// Returns the union of many words, as a balanced tree.
    pub fn any_of(&mut self, mut words: Vec<Id>) -> Id {
        if self.sharing {
            words.sort_unstable();
            words.dedup();
        }
        if self.simplify {
            words = self.factored(words);
        }
        self.balanced(words, Op::Or, 0)
    }

    /// Factors a union of many terms: `(x & y) | (x & z)` becomes `x & (y | z)`. The most frequent common operand is factored out
    /// first.
    fn factored(&mut self, mut words: Vec<Id>) -> Vec<Id> {
        let factors = |dag: &Dag, word: Id| match dag.op(word) {
            Op::And(a, b) if dag.constant(b).is_none() => [Some(a), Some(b)],
            _ => [None; 2],
        };
        loop {
            let mut uses: BTreeMap<Id, usize> = BTreeMap::new();
            for &word in &words {
                factors(self, word).into_iter().flatten().for_each(|id| *uses.entry(id).or_default() += 1);
            }
            let best = uses.into_iter().max_by_key(|&(id, count)| (count, Reverse(id)));
            let Some((factor, 2..)) = best else { return words };
            let (with, mut rest): (Vec<Id>, Vec<Id>) =
                words.into_iter().partition(|&word| factors(self, word).contains(&Some(factor)));
            let others = with.into_iter().map(|word| match self.op(word) {
                Op::And(a, b) if a == factor => b,
                Op::And(a, _) => a,
                _ => unreachable!("it has factors"),
            });
            let others = others.collect();
            let any = self.any_of(others);
            rest.push(self.add(Op::And(factor, any)));
            words = rest;
        }
    }

    fn balanced(&mut self, mut words: Vec<Id>, op: impl Fn(Id, Id) -> Op + Copy, neutral: u64) -> Id {
        while words.len() > 1 {
            words = words
                .chunks(2)
                .map(|pair| match *pair {
                    [a, b] => self.add(op(a, b)),
                    _ => pair[0],
                })
                .collect();
        }
        match words.first() {
            Some(&id) => id,
            None => self.word(neutral),
        }
    }

    /// Returns the sum of many numbers.
    pub fn sum_of(&mut self, words: Vec<Id>) -> Id {
        self.balanced(words, Op::Add, 0)
    }

    /// Returns the largest of many numbers.
    pub fn largest_of(&mut self, words: Vec<Id>) -> Id {
        self.balanced(words, Op::Max, NO_VALUE as u64)
    }

    /// Returns the squares whose content is in `set`, computed from the bit planes of the board.
    pub fn pieces(&mut self, set: PieceSet) -> Id {
        let id = self.planes_of(set);
        if !set.contains(Code::EMPTY) && self.constant(id).is_none() {
            self.piece_sets.insert(id, PieceSet(set.0 & PieceSet::ALL.0));
        }
        id
    }

    fn planes_of(&mut self, set: PieceSet) -> Id {
        let set = set.0 & PieceSet::ALL.0;
        let plane = |dag: &mut Dag, k| dag.add(Op::Plane(k));
        let white = (set >> 1 & 0x3f) as u8;
        let black = (set >> 9 & 0x3f) as u8;
        let mut parts = Vec::new();
        if set & 1 != 0 {
            // If the set contains the empty square, computing its complement takes fewer operations than computing the set.
            let rest = PieceSet(PieceSet::ALL.0 & !set);
            if rest == PieceSet::NONE {
                return self.word(TRUE);
            }
            let rest = self.pieces(rest);
            return self.add(Op::Not(rest));
        }
        let black_plane = plane(self, 3);
        if white == black {
            return self.roles(white);
        }
        if white != 0 {
            let roles = self.of_both(white);
            parts.push(self.add(Op::AndNot(roles, black_plane)));
        }
        if black == 0x3f {
            parts.push(black_plane); // only black pieces set plane 3
        } else if black != 0 {
            let roles = self.of_both(black);
            parts.push(self.add(Op::And(roles, black_plane)));
        }
        self.any_of(parts)
    }

    /// Returns the squares of the pieces, of either colour, whose role is in `roles`.
    fn of_both(&mut self, roles: u8) -> Id {
        let roles = u16::from(roles);
        self.pieces(PieceSet(roles << 1 | roles << 9))
    }

    /// Returns the squares of the pieces, of either colour, whose role is in `roles`. Bit `r - 1` of `roles` represents role `r`.
    fn roles(&mut self, roles: u8) -> Id {
        let p: Vec<Id> = (0..3).map(|k| self.add(Op::Plane(k))).collect();
        match roles {
            0 => return self.word(0),
            // Bit planes 0 to 2 contain the number of the role, 1 to 6, and no square has the number 7. For the sets of roles
            // below, a direct formula therefore takes fewer operations than the union of one minterm for each role.
            0x3f => {
                let low = self.add(Op::Or(p[0], p[1]));
                return self.add(Op::Or(low, p[2]));
            }
            0b01_1000 => return self.add(Op::AndNot(p[2], p[1])), // rook, queen
            0b01_0100 => {
                let high = self.add(Op::Or(p[1], p[2])); // bishop, queen
                return self.add(Op::And(p[0], high));
            }
            _ => {}
        }
        let minterms = (1..=6u8)
            .filter(|r| roles >> (r - 1) & 1 != 0)
            .map(|r| match r {
                1 => {
                    let high = self.add(Op::Or(p[1], p[2]));
                    self.add(Op::AndNot(p[0], high))
                }
                2 => {
                    let rest = self.add(Op::Or(p[0], p[2]));
                    self.add(Op::AndNot(p[1], rest))
                }
                3 => self.add(Op::And(p[0], p[1])),
                4 => {
                    let low = self.add(Op::Or(p[0], p[1]));
                    self.add(Op::AndNot(p[2], low))
                }
                5 => self.add(Op::And(p[0], p[2])),
                _ => self.add(Op::And(p[1], p[2])),
            })
            .collect();
        self.any_of(minterms)
    }
}
