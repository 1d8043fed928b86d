//! Combines several operations into one step.
//!
//! An interpreter reads and writes whole registers in each step, so fewer steps are faster. In a typical plan, most steps are
//! unions and intersections of sets. Most of these sets are computed by an earlier step, which shifts a set or intersects it with a
//! constant, and no other step reads them. A tree of such operations becomes one step, a *chain*. The step keeps its intermediate
//! result in a single accumulator. This file works on *drafts*, which are steps whose registers are not assigned yet.

use std::collections::HashMap;

use super::{
    dag::{Id, Op, TRUE},
    program::{ChainOp, Draft, OperationChain, ProgramWriter, Term},
};
use orbit_core::board::attacks;

/// The maximum number of terms in a chain. Longer chains are split, because each chain keeps the registers of all its terms in use
/// until it runs.
const TERMS_MAX: usize = 24;

impl ProgramWriter<'_> {
    /// Builds chains: merges each operation whose result is read only once into the step that reads it.
    pub(super) fn chain(&mut self, roots: &[Id]) {
        let readers = self.readers(roots);
        let drafts = std::mem::take(&mut self.drafts);
        let mut chains =
            ChainDrafts { drafts: Vec::with_capacity(drafts.len()), at: HashMap::new(), readers };
        let mut begins = Vec::new();
        for draft in drafts {
            match draft {
                Draft::Begin(..) => {
                    // A node that is computed before a loop must not be merged into a chain inside the loop, because the loop would
                    // compute it again for each row of its table.
                    chains.at.clear();
                    begins.push(chains.drafts.len());
                    chains.drafts.push(Some(draft));
                }
                Draft::End(id, l, _) => {
                    chains.at.clear();
                    let begin = begins.pop().expect("a loop that ends has begun");
                    chains.drafts.push(Some(Draft::End(id, l, begin)));
                }
                other => {
                    let made =
                        self.made_of(&other).and_then(|id| Some((id, self.combine(&mut chains, &other)?)));
                    let id = self.made_of(&other);
                    let draft = made.map_or(other, |(id, chain)| Draft::Chain(id, chain));
                    if let Some(id) = id {
                        chains.at.insert(id, chains.drafts.len());
                    }
                    chains.drafts.push(Some(draft));
                }
            }
        }
        self.drafts = without_gaps(chains.drafts);
    }

    /// Returns the number of times that each node is read. Roots and loop bodies count as read twice, so that they remain separate
    /// steps.
    fn readers(&self, roots: &[Id]) -> HashMap<Id, usize> {
        let mut readers: HashMap<Id, usize> = HashMap::new();
        let mut read = |id: Id, times| *readers.entry(id).or_default() += times;
        roots.iter().for_each(|&root| read(root, 2));
        for draft in &self.drafts {
            match draft {
                Draft::Node(id) => self.dag.op(*id).args().for_each(|arg| read(arg, 1)),
                Draft::AndScalar(_, a, _) | Draft::OrScalar(_, a, _) => read(*a, 1),
                Draft::End(_, l, _) => read(self.dag.loops[l.0 as usize].body, 2),
                Draft::Splat(..) | Draft::Begin(..) | Draft::Chain(..) | Draft::Answer(..) => {}
            }
        }
        readers
    }

    /// Returns the node that a draft (a step without registers) computes. Returns `None` if the draft cannot be part of a chain.
    fn made_of(&self, draft: &Draft) -> Option<Id> {
        match draft {
            Draft::Node(id) | Draft::AndScalar(id, ..) => Some(*id),
            _ => None,
        }
    }

    /// Returns the chain that replaces a draft (a step without registers). Returns `None` if no operand of the draft can be merged
    /// into a chain.
    fn combine(&mut self, chains: &mut ChainDrafts, draft: &Draft) -> Option<OperationChain> {
        match *draft {
            Draft::Node(id) => match self.dag.op(id) {
                Op::Or(a, b) => self.join(chains, ChainOp::Or, [(a, false), (b, false)]),
                Op::And(a, b) => {
                    let tests = self.join(chains, ChainOp::Meet, [(a, false), (b, false)]);
                    tests.or_else(|| self.join(chains, ChainOp::And, [(a, false), (b, false)]))
                }
                Op::AndNot(a, b) => {
                    let tests = self.join(chains, ChainOp::Meet, [(a, false), (b, true)]);
                    tests.or_else(|| self.join(chains, ChainOp::And, [(a, false), (b, true)]))
                }
                Op::Add(a, b) => self.join(chains, ChainOp::Sum, [(a, false), (b, false)]),
                Op::NonEmpty(a) => {
                    let Draft::AndScalar(_, src, keep) = *chains.only_reader(a)? else { return None };
                    chains.take(a);
                    Some(OperationChain {
                        op: ChainOp::Meet,
                        terms: vec![Term { src, keep, by: 0, not: false }],
                    })
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Joins two operands into one chain. The flag of an operand is true if it is negated. Returns `None` if neither operand can be
    /// replaced by terms of the chain.
    fn join(
        &mut self,
        chains: &mut ChainDrafts,
        op: ChainOp,
        operands: [(Id, bool); 2],
    ) -> Option<OperationChain> {
        let found = operands.map(|(id, not)| self.terms(chains, op, id, not));
        // The operands of `Meet` and `Sum` are masks and numbers, while the terms are sets. Terms must therefore replace both
        // operands; otherwise there is no chain.
        let is_test = matches!(op, ChainOp::Meet | ChainOp::Sum);
        let count = found.iter().flatten().map(Vec::len).sum::<usize>();
        let is_whole = found.iter().all(Option::is_some) && count <= TERMS_MAX;
        if is_test && !is_whole || count == 0 {
            return None;
        }
        let all = self.scalar(TRUE);
        let mut terms = Vec::new();
        for ((id, not), found) in operands.into_iter().zip(found) {
            match found {
                Some(found) if terms.len() + found.len() <= TERMS_MAX => {
                    terms.extend(found);
                    chains.take(id);
                }
                _ => terms.push(Term { src: id, keep: all, by: 0, not }),
            }
        }
        Some(OperationChain { op, terms })
    }

    /// Returns one term for each operand. These terms neither mask nor shift their operands.
    fn plain_terms(&mut self, operands: [(Id, bool); 2]) -> Vec<Term<Id>> {
        let keep = self.scalar(TRUE);
        operands.map(|(src, not)| Term { src, keep, by: 0, not }).into()
    }

    /// Returns the terms that replace a node in a chain with the operator `op`. Returns `None` if there are no such terms, or if
    /// the node is read more than once.
    fn terms(&mut self, chains: &ChainDrafts, op: ChainOp, id: Id, not: bool) -> Option<Vec<Term<Id>>> {
        let negated = |term: &Term<Id>| Term { not: term.not != not, ..*term };
        match chains.only_reader(id)? {
            Draft::Chain(_, chain) => {
                let kind = match (chain.op, not) {
                    (ChainOp::Or, true) => ChainOp::And,
                    (ChainOp::And, true) => ChainOp::Or,
                    (ChainOp::Meet, true) if chain.terms.len() > 1 => return None,
                    (ChainOp::Sum, true) => return None,
                    (kind, _) => kind,
                };
                (kind == op).then(|| chain.terms.iter().map(negated).collect())
            }
            &Draft::AndScalar(_, src, keep) if matches!(op, ChainOp::Or | ChainOp::And) => {
                Some(vec![Term { src, keep, by: 0, not }])
            }
            Draft::Node(node) => match self.dag.op(*node) {
                Op::Step(src, dx, dy) if matches!(op, ChainOp::Or | ChainOp::And) => {
                    let (stay, by) = attacks::translation(dx, dy);
                    let keep = self.scalar(stay);
                    Some(vec![Term { src, keep, by: by as i8, not }])
                }
                Op::Not(src) if matches!(op, ChainOp::Or | ChainOp::And) => {
                    let keep = self.scalar(TRUE);
                    Some(vec![Term { src, keep, by: 0, not: !not }])
                }
                Op::NonEmpty(src) if op == ChainOp::Meet => {
                    let keep = self.scalar(TRUE);
                    Some(vec![Term { src, keep, by: 0, not }])
                }
                Op::Count(src) if op == ChainOp::Sum && !not => {
                    let keep = self.scalar(TRUE);
                    Some(vec![Term { src, keep, by: 0, not }])
                }
                Op::Or(a, b) if op == if not { ChainOp::And } else { ChainOp::Or } => {
                    Some(self.plain_terms([(a, not), (b, not)]))
                }
                Op::And(a, b) if op == if not { ChainOp::Or } else { ChainOp::And } => {
                    Some(self.plain_terms([(a, not), (b, not)]))
                }
                Op::AndNot(a, b) if op == if not { ChainOp::Or } else { ChainOp::And } => {
                    Some(self.plain_terms([(a, not), (b, !not)]))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// The drafts of a program (its steps without registers), while some of them are merged into chains.
struct ChainDrafts {
    /// The drafts (steps without registers). A draft that was merged into a chain is `None`.
    drafts: Vec<Option<Draft>>,
    /// For each node of the innermost loop, the index in `drafts` of the draft that computes it.
    at: HashMap<Id, usize>,
    readers: HashMap<Id, usize>,
}

impl ChainDrafts {
    /// Returns the draft (the step without registers) that computes a node. Returns `None` if the node is not read exactly once.
    fn only_reader(&self, id: Id) -> Option<&Draft> {
        let at = *self.at.get(&id)?;
        (self.readers.get(&id) == Some(&1)).then_some(self.drafts[at].as_ref()?)
    }

    fn take(&mut self, id: Id) {
        self.drafts[self.at[&id]] = None;
    }
}

/// Removes the drafts (steps without registers) that were merged into chains, and adjusts the indices at which loops begin and end.
fn without_gaps(drafts: Vec<Option<Draft>>) -> Vec<Draft> {
    let mut new_places = Vec::with_capacity(drafts.len());
    let mut count = 0;
    for draft in &drafts {
        new_places.push(count);
        count += usize::from(draft.is_some());
    }
    let mut out: Vec<Draft> = drafts.into_iter().flatten().collect();
    for end in 0..out.len() {
        if let Draft::End(id, l, begin) = out[end] {
            let begin = new_places[begin];
            out[end] = Draft::End(id, l, begin);
            if let Draft::Begin(_, _, old) = &mut out[begin] {
                *old = end;
            }
        }
    }
    out
}
