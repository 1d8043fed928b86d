//! `find`: what other positions of the game say.
//!
//! A program looks at one position. So what it finds elsewhere is computed before it, by a program of its
//! own for all positions of a block, and *carried* along each game by the engine; then the program that needs
//! it reads it like any other input. A program that was made so is a *stage*; filters inside `find` may
//! find things themselves, and then there are several stages, one after the other.
//!
//! Under shifts nothing is repeated: the word with a bit for each shift is carried as a whole.

use super::{
    dag::{Carried, CarryId, Dag, Id, Op},
    lower::{Lower, Value},
    needed,
    program::{Program, Reg},
};
use crate::{
    orbit::Filter,
    query::tree::{Cmp, Tally},
};

/// A program that runs over all positions before the one that needs it.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The code; it has no stages of its own.
    pub program: Program,
    /// What is carried along games, in the order in which later programs number it.
    pub carried: Vec<StageCarry>,
}

/// A register that is carried along games.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StageCarry {
    /// Which answer this is, among all of the queries that are planned together.
    pub id: CarryId,
    /// Which word is gathered: carries with the same one are made of the same answers of the stage.
    pub word: Id,
    /// How it is gathered.
    pub what: Carried,
    /// Whether from the positions before, not from those that follow.
    pub back: bool,
    /// The register.
    pub reg: Reg,
}

impl Lower {
    /// `find`: the truth of a filter elsewhere in the game.
    pub(super) fn find(&mut self, filter: &Filter, back: bool, tally: Tally) -> Value {
        let hit = self.apart(|lower| lower.truth(filter));
        if tally == Tally::Any {
            let ok = self.dag.carry(Carried::Any, back, hit);
            return Value::Num { number: self.dag.carry(Carried::Nearest, back, hit), ok };
        }
        let number = self.dag.carry(Carried::Count, back, hit);
        let ok = match tally {
            Tally::Range(1, i32::MAX) => self.dag.carry(Carried::Any, back, hit),
            Tally::Range(lo, hi) => {
                let (lo, hi) = (self.dag.number(lo), self.dag.number(hi));
                let above = self.dag.add(Op::Compare(Cmp::Ge, number, lo));
                let below = self.dag.add(Op::Compare(Cmp::Le, number, hi));
                self.and(above, below)
            }
            _ => self.dag.mask(true),
        };
        Value::Num { number, ok }
    }

    /// Lowers what is evaluated at other positions: everywhere, with variables of its own.
    pub(super) fn apart<T>(&mut self, lower: impl FnOnce(&mut Lower) -> T) -> T {
        let always = self.dag.mask(true);
        let guard = std::mem::replace(&mut self.guard, always);
        let nothing = vec![None; self.vars.len()];
        let vars = std::mem::replace(&mut self.vars, nothing);
        let out = lower(self);
        (self.guard, self.vars) = (guard, vars);
        out
    }
}

/// What some roots need to be carried, in stages: each needs only what those before it carry.
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
        let Op::Carried(CarryId(index)) = *op else { continue };
        let index = index as usize;
        let own = match levels[index] {
            Some(level) => level,
            None => level(dag, &[dag.carries[index].word], levels),
        };
        levels[index] = Some(own);
        deepest = deepest.max(own + 1);
    }
    deepest
}
