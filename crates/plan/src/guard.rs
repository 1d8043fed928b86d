//! Guards. The guard of a query is a cheap condition that is true wherever the query matches. At positions where the guard is
//! false, the query is not evaluated.
//!
//! Most hit masks are conjunctions. The guard is the same conjunction without its expensive operands, which account for most of the
//! steps. It may therefore be true at positions where the query does not match, but it is never false where the query matches.

use std::collections::{HashMap, HashSet};

use super::{
    dag::{Dag, Id, Op, TRUE},
    needed,
};

/// The minimum number of steps of a program that gets a guard.
const STEPS_MIN: u64 = 1000;

/// A guard (a cheap condition that is computed before the query) may take at most 1 / `SHARE` of the query's steps. Each operand of
/// the query that the guard retains may take at most half of this number.
const SHARE: u64 = 8;

/// The maximum number of nodes of a graph for which a guard is sought.
const NODES_MAX: usize = 20_000;

/// Returns a mask that is true wherever one of the hit masks is true, and that takes far fewer steps to compute than the hit masks.
/// Returns `None` if no such mask is found.
pub(super) fn guard(dag: &mut Dag, roots: &[Id]) -> Option<Id> {
    if dag.ops.len() > NODES_MAX {
        return None;
    }
    let all = needed(dag, roots);
    let steps = (0..).zip(&all).filter(|(_, needed)| **needed).map(|(id, _)| steps(dag, Id(id)));
    let whole = steps.fold(0, u64::saturating_add);
    if whole < STEPS_MIN {
        return None;
    }
    let mut guards = Guards { dag, operand_max: whole / (2 * SHARE), known: HashMap::new() };
    let of_each: Vec<Id> = roots.iter().map(|&root| guards.guard(root)).collect();
    let any = guards.dag.any_of(of_each);
    let is_known = guards.dag.constant(any).is_none();
    (is_known && guards.costs_at_most(any, whole / SHARE)).then_some(any)
}

/// Returns the number of times that the step that computes a node runs for each position.
fn steps(dag: &Dag, id: Id) -> u64 {
    let rows = dag.within[id.0 as usize].iter().map(|of| dag.loops[of.0 as usize].rows.len() as u64);
    rows.fold(1, u64::saturating_mul)
}

struct Guards<'a> {
    dag: &'a mut Dag,
    /// The maximum number of steps that an operand may take for the guard (the cheap condition) to retain it.
    operand_max: u64,
    known: HashMap<Id, Id>,
}

impl Guards<'_> {
    /// Returns a mask that is true wherever `mask` is true, and that contains only the cheap operands of `mask`.
    fn guard(&mut self, mask: Id) -> Id {
        if let Some(&known) = self.known.get(&mask) {
            return known;
        }
        let out = match self.dag.op(mask) {
            Op::And(a, b) => {
                let both = Op::And(self.guard(a), self.guard(b));
                self.dag.add(both)
            }
            Op::Or(a, b) => {
                let either = Op::Or(self.guard(a), self.guard(b));
                self.dag.add(either)
            }
            Op::AndNot(a, b) => {
                let a = self.guard(a);
                if self.costs_at_most(b, self.operand_max) { self.dag.add(Op::AndNot(a, b)) } else { a }
            }
            _ if self.costs_at_most(mask, self.operand_max) => mask,
            _ => self.dag.word(TRUE),
        };
        self.known.insert(mask, out);
        out
    }

    fn costs_at_most(&self, id: Id, most: u64) -> bool {
        let (mut cost, mut seen, mut open) = (0u64, HashSet::new(), vec![id]);
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            cost = cost.saturating_add(steps(self.dag, id));
            if cost > most {
                return false;
            }
            let op = self.dag.op(id);
            open.extend(op.args());
            if let Op::Loop(of) = op {
                open.push(self.dag.loops[of.0 as usize].body);
            }
        }
        true
    }
}
