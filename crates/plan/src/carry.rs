//! Lowers `find`, whose value depends on other positions of the game.
//!
//! A program reads one position at a time, so values at other positions must be computed before it runs. For this purpose,
//! another program runs over all positions of a block, a group of whole games, and the engine *carries* its results along each
//! game. The program that needs the results then reads them like any other input. The earlier program is called a *stage*. If a
//! filter inside `find` itself contains `find`, there are several stages, which run one after the other.
//!
//! A `find` under `shift` costs no more than a single `find`: one 64-bit word has a bit for each shift, and the engine carries
//! the whole word.

use super::{
    dag::{Carried, Carry, CarryId, Dag, Id, Op},
    lower::Lower,
    needed,
};
use orbit_query::tree::{Cmp, Counted, Kind as _};
use orbit_transforms::Filter;

impl Lower {
    /// Lowers a `find` that counts the positions at which a filter matches. Returns the count, and the mask of positions at which
    /// the count has a value.
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

    /// Lowers a filter whose value is needed at other positions. The filter is evaluated at every position of the block, a group of
    /// whole games. Variables have no value there, because their values are known only at the current position.
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

/// The source of one operand of a [`StageCarry`](super::StageCarry). That operation reads words at all positions of a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnOperand {
    /// The same word for every position.
    Constant(u64),
    /// The result of an earlier operation that reads words at all positions of a game.
    Carried(CarryId),
    /// The value of a graph node, computed by a stage (an earlier program). The flag is true if the value is read as a mask, and
    /// false if it is read as a whole word.
    Found(Id, bool),
}

/// Returns the source of each operand of `carry`.
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

/// Groups the [`Carry`] operations on which the nodes `roots` depend into stages: programs that run one after the other. A stage
/// reads only the results of earlier stages. Within a stage, an operation follows all operations whose results it reads.
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

/// Returns the number of stages (earlier programs) that must run before a program that computes the nodes `roots`. For each
/// [`Carry`] operation whose result these nodes need, stores in `levels` the index of the stage that computes it.
fn level(dag: &Dag, roots: &[Id], levels: &mut Vec<Option<usize>>) -> usize {
    let needed = needed(dag, roots);
    let mut deepest = 0;
    for (op, _) in dag.ops.iter().zip(needed).filter(|(_, needed)| *needed) {
        let Op::Carried(id) = *op else { continue };
        deepest = deepest.max(stage_of(dag, id, levels) + 1);
    }
    deepest
}

/// Returns the index of the stage that computes the result `id`.
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
