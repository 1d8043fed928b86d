//! Unrolls loops in which most of the body is constant for each row.
//!
//! Two nested loops over squares run their body 4,096 times for each position, although the body may be trivial for most pairs of
//! squares. For example, most pairs have no squares between them. When a loop is unrolled, everything that depends only on the row
//! becomes a constant, operations without effect disappear, and equal rows are merged. If the result is short enough, it replaces
//! the loop.

use std::collections::HashMap;

use super::dag::{Dag, Id, LoopId, Op, Reduce};

/// The maximum number of nodes that may replace a loop.
const NODES_MAX: usize = 400;

/// A loop is replaced only if it runs at least this many steps per node of its replacement.
const SAVED_MIN: u64 = 4;

/// The maximum number of steps in a loop. No attempt is made to unroll larger loops.
const STEPS_MAX: u64 = 200_000;

/// The maximum number of nodes that an attempt to unroll a loop may create.
const TRIED_MAX: usize = 10_000;

/// The state of an attempt to unroll a loop.
struct Unrolling {
    /// The nodes in the body of each loop. Operands precede the nodes that use them.
    bodies: HashMap<LoopId, Vec<Id>>,
    /// For each node, its replacement for the current rows of the loops. The replacement of a node outside of the loops is the
    /// node itself.
    here: Vec<Id>,
}

impl Dag {
    /// Returns the result of an outermost loop. Unrolls the loop if the unrolled code is much shorter.
    pub(super) fn written_out(&mut self, id: Id) -> Id {
        let Op::Loop(table) = self.op(id) else { return id };
        if !self.unrolling || !self.within[id.0 as usize].is_empty() {
            return id;
        }
        let bodies = self.bodies(table);
        let steps = self.steps(&bodies, table);
        if steps > STEPS_MAX {
            return id;
        }
        let first = self.ops.len();
        let here = (0..first as u32).map(Id).collect();
        let mut unrolling = Unrolling { bodies, here };
        let word = self.rows(&mut unrolling, table).filter(|&word| {
            let nodes = self.nodes_from(first, word);
            nodes <= NODES_MAX && nodes as u64 * SAVED_MIN <= steps
        });
        if word.is_none() {
            self.forget(first);
        }
        word.unwrap_or(id)
    }

    /// Returns the nodes in the bodies of a loop and of the loops inside it.
    fn bodies(&self, table: LoopId) -> HashMap<LoopId, Vec<Id>> {
        let mut all: Vec<Id> = Vec::new();
        let mut open = vec![self.loops[table.0 as usize].body];
        let mut seen = vec![false; self.ops.len()];
        while let Some(id) = open.pop() {
            let place = id.0 as usize;
            if self.within[place].is_empty() || std::mem::replace(&mut seen[place], true) {
                continue;
            }
            all.push(id);
            open.extend(self.op(id).args());
            if let Op::Loop(inner) = self.op(id) {
                open.push(self.loops[inner.0 as usize].body);
            }
        }
        all.sort_unstable();
        let mut bodies: HashMap<LoopId, Vec<Id>> = HashMap::new();
        for id in all {
            if let Some(&innermost) = self.within[id.0 as usize].last() {
                bodies.entry(innermost).or_default().push(id);
            }
        }
        bodies
    }

    fn steps(&self, bodies: &HashMap<LoopId, Vec<Id>>, table: LoopId) -> u64 {
        let body = bodies.get(&table).into_iter().flatten();
        let of_row = body.fold(0u64, |sum, &id| {
            sum.saturating_add(match self.op(id) {
                Op::Loop(inner) => self.steps(bodies, inner),
                _ => 1,
            })
        });
        of_row.saturating_mul(self.loops[table.0 as usize].rows.len() as u64)
    }

    /// Unrolls a loop, and returns the combined result of its rows. Returns `None` if this creates too many nodes.
    fn rows(&mut self, unrolling: &mut Unrolling, table: LoopId) -> Option<Id> {
        let of = self.loops[table.0 as usize].clone();
        let body = unrolling.bodies.get(&table).cloned().unwrap_or_default();
        let mut words = Vec::with_capacity(of.rows.len());
        for row in &of.rows {
            for &id in &body {
                let here = match self.op(id) {
                    Op::Param(_, place) => self.word(row[place as usize]),
                    Op::Loop(inner) => self.rows(unrolling, inner)?,
                    op => self.add(op.map(|operand| unrolling.here[operand.0 as usize])),
                };
                unrolling.here[id.0 as usize] = here;
            }
            words.push(unrolling.here[of.body.0 as usize]);
            if self.ops.len() > unrolling.here.len() + TRIED_MAX {
                return None;
            }
        }
        Some(match of.reduce {
            Reduce::Or => self.any_of(words),
            Reduce::Max => self.largest_of(words),
            Reduce::Count => {
                let one = self.number(1);
                let ones = words.into_iter().map(|word| self.add(Op::And(word, one))).collect();
                self.sum_of(ones)
            }
        })
    }

    /// Returns the number of nodes, among those with an index of at least `first`, on which a word depends.
    fn nodes_from(&self, first: usize, word: Id) -> usize {
        let mut open = vec![word];
        let mut seen = vec![false; self.ops.len() - first];
        let mut count = 0;
        while let Some(id) = open.pop() {
            let Some(place) = (id.0 as usize).checked_sub(first) else { continue };
            if !std::mem::replace(&mut seen[place], true) {
                count += usize::from(self.constant(id).is_none());
                open.extend(self.op(id).args());
            }
        }
        count
    }
}
