//! `find`: what other positions of the game say.
//!
//! A program looks at one position. So what it finds elsewhere is computed before it, by a program of its
//! own for all positions of a block, and *carried* along each game by the engine; then the program that needs
//! it reads it like any other input. A program that was made so is a *stage*; filters inside `find` may
//! find things themselves, and then there are several stages, one after the other.
//!
//! Under shifts nothing is repeated: the word with a bit for each shift is carried as a whole.

use super::{
    dag::{Carried, Carry, CarryId, Dag, Id, Op},
    lower::Lower,
    needed,
};
use orbit_query::tree::{Cmp, Counted, Kind as _};
use orbit_transforms::Filter;

impl Lower {
    /// `find` that counts: at how many positions a filter matches.
    pub(super) fn find_count(&mut self, of: &Filter, back: bool, counted: Counted) -> (Id, Id) {
        let hit = self.apart(|lower| lower.truth(of.node()));
        let number = self.dag.carry(Carried::Count, back, hit);
        let ok = match counted {
            Counted::Range(1, i32::MAX) => self.dag.carry(Carried::Any, back, hit),
            Counted::Range(lo, hi) => {
                let (lo, hi) = (self.dag.number(lo), self.dag.number(hi));
                let above = self.dag.add(Op::Compare(Cmp::Ge, number, lo));
                let below = self.dag.add(Op::Compare(Cmp::Le, number, hi));
                self.and(above, below)
            }
            Counted::All => self.dag.mask(true),
        };
        (number, ok)
    }

    /// Lowers what is evaluated at other positions: everywhere. Variables have no value there: what they hold here
    /// is not carried along games.
    pub(super) fn apart<T>(&mut self, lower: impl FnOnce(&mut Lower) -> T) -> T {
        let always = self.dag.mask(true);
        let guard = std::mem::replace(&mut self.guard, always);
        let emptied = self.cells.emptied();
        let cells = std::mem::replace(&mut self.cells, emptied);
        let owned = self.owned.take();
        let out = lower(self);
        (self.guard, self.cells, self.owned) = (guard, cells, owned);
        out
    }
}

/// Where an operation on columns of a block has one of its operands from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnOperand {
    /// The same word everywhere.
    Constant(u64),
    /// An operation before.
    Carried(CarryId),
    /// What a stage finds: a word of the graph, as masks or as whole words.
    Found(Id, bool),
}

/// Where what is made of words has these from.
pub(super) fn operands(dag: &Dag, carry: &Carry) -> Vec<ColumnOperand> {
    let operand = |(index, &word): (usize, &Id)| {
        let masks = carry.what.takes_masks(index);
        match dag.op(word) {
            Op::Const(word) => ColumnOperand::Constant(word),
            Op::Carried(id) if dag.carries[id.0 as usize].what.is_mask() == masks => {
                ColumnOperand::Carried(id)
            }
            _ => ColumnOperand::Found(word, masks),
        }
    };
    carry.operands.iter().enumerate().map(operand).collect()
}

/// What some roots need to be carried, in stages: each needs only what those before it carry. Within one, what is made
/// of something else stands behind it.
pub(super) fn stages(dag: &Dag, roots: &[Id]) -> Vec<Vec<CarryId>> {
    let mut levels: Vec<Option<usize>> = vec![None; dag.carries.len()];
    let deepest = level(dag, roots, &mut levels);
    let mut stages = vec![Vec::new(); deepest];
    for (index, level) in levels.into_iter().enumerate() {
        if let Some(level) = level {
            stages[level].push(CarryId(index as u32));
        }
    }
    stages
}

/// How many stages come before a program with these roots. Fills in the levels of what it reads.
fn level(dag: &Dag, roots: &[Id], levels: &mut Vec<Option<usize>>) -> usize {
    let needed = needed(dag, roots);
    let mut deepest = 0;
    for (op, _) in dag.ops.iter().zip(needed).filter(|(_, needed)| *needed) {
        let Op::Carried(id) = *op else { continue };
        deepest = deepest.max(stage_of(dag, id, levels) + 1);
    }
    deepest
}

/// The stage that something is carried in.
fn stage_of(dag: &Dag, id: CarryId, levels: &mut Vec<Option<usize>>) -> usize {
    let index = id.0 as usize;
    if let Some(level) = levels[index] {
        return level;
    }
    let mut own = 0;
    for operand in operands(dag, &dag.carries[index]) {
        own = own.max(match operand {
            ColumnOperand::Constant(_) => 0,
            ColumnOperand::Carried(other) => stage_of(dag, other, levels),
            ColumnOperand::Found(word, _) => level(dag, &[word], levels),
        });
    }
    levels[index] = Some(own);
    own
}
