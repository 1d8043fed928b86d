//! Which filters become operands.

use std::collections::HashMap;

use super::{
    compile::Compiler,
    names::{assigns, is_own, used},
};
use crate::{NESTED_MAX, game::refusals, orbits::nested_loops};
use orbit_query::tree::{
    ConditionOp as C, GameCondition, GameNumber, GameSquares, GameText, Holds, Kind as _, NumberOp as N, Ref,
    SquaresOp as S, TextOp as T, VarId,
};
use orbit_transforms::FilterRef;

/// Whether a filter keeps something when it was evaluated.
fn keeps(filter: FilterRef) -> bool {
    matches!(filter, Ref::Condition(f) if matches!(f.op(), C::Assign(..)))
}

/// Whether something is kept, read of what was kept, or may end the run, but for variables.
pub(super) fn is_state(filter: FilterRef) -> bool {
    let asks_or_ends = match filter {
        Ref::Condition(f) => matches!(
            f.op(),
            C::Game(
                GameCondition::IsBound { .. }
                    | GameCondition::Assert(_)
                    | GameCondition::Abort
                    | GameCondition::Loop(_)
                    | GameCondition::While { .. }
                    | GameCondition::KeyLoop { .. }
                    | GameCondition::Message { .. }
                    | GameCondition::SetTag { .. }
                    | GameCondition::RemoveComment
                    | GameCondition::WriteFile { .. }
            )
        ),
        Ref::Number(f) => {
            matches!(f.op(), N::Game(GameNumber::GroupStart(_)))
        }
        Ref::Text(f) => {
            matches!(f.op(), T::Game(GameText::Match { .. } | GameText::Group(_) | GameText::ReadFile(_)))
        }
        _ => false,
    };
    asks_or_ends
        || assigns(filter)
        || super::walks::is_of_walk(filter)
        || super::dictionaries::reads_dictionary(filter)
}

/// Whether all variables of a filter are those of loops over squares around them in it.
fn is_closed(filter: FilterRef, bound: &mut Vec<VarId>) -> bool {
    let bind = match filter {
        Ref::Condition(f) if let C::SquareAll { var, domain, body } = f.op() => Some((*var, domain, body)),
        Ref::Squares(f) if let S::SquareLoop { var, domain, body } = f.op() => Some((*var, domain, body)),
        _ => None,
    };
    if let Some((var, domain, body)) = bind {
        if bound.contains(&var) || !is_closed(domain.node(), bound) {
            return false;
        }
        bound.push(var);
        let closed = is_closed(body.node(), bound);
        bound.pop();
        return closed;
    }
    let mut closed = true;
    used(filter, &mut |var| closed &= bound.contains(&var));
    closed && filter.children().into_iter().all(|child| is_closed(child, bound))
}

impl Compiler<'_> {
    /// How often a filter and what is below it names each variable.
    fn own(filter: FilterRef) -> HashMap<VarId, usize> {
        let mut own = HashMap::new();
        filter.walk(&mut |filter| used(filter, &mut |var| *own.entry(var).or_default() += 1));
        own
    }

    /// Whether a filter keeps nothing and reads only variables that hold something: then it does not matter whether it
    /// is evaluated.
    pub(super) fn is_harmless(&self, filter: FilterRef) -> bool {
        !filter.any(&mut is_state) && Self::own(filter).into_keys().all(|var| self.sure.contains(&var))
    }

    /// Whether what a filter says of a position depends on nothing but one piece variable: that variable. None of it
    /// where it depends on nothing.
    pub(super) fn key_of(&self, filter: FilterRef) -> Option<Option<VarId>> {
        if filter.any(&mut is_state) || self.selected.is_some() && filter.any(&mut is_own) {
            return None;
        }
        let mut shared =
            Self::own(filter).into_iter().filter(|(var, count)| self.uses.get(var) != Some(count));
        let key = shared.next().map(|(var, _)| var);
        let is_piece = |var: VarId| self.facts.vars[var.0 as usize].holds == Holds::Piece;
        let is_bound_inside = |var: VarId| {
            filter.any(&mut |filter| match filter {
                Ref::Condition(f) => {
                    matches!(f.op(), C::Game(GameCondition::PieceAll { var: bound, .. }) if *bound == var)
                }
                Ref::Squares(f) => {
                    matches!(f.op(), S::Game(GameSquares::PieceLoop { var: bound, .. }) if *bound == var)
                }
                _ => false,
            })
        };
        let fits = shared.next().is_none() && key.is_none_or(|var| is_piece(var) && !is_bound_inside(var));
        fits.then_some(key)
    }

    /// Whether a filter can be told of each position by itself, and a plan says it: then it is an operand.
    pub(super) fn is_leaf(&self, filter: FilterRef) -> bool {
        Self::own(filter).iter().all(|(var, count)| self.uses.get(var) == Some(count))
            && is_closed(filter, &mut Vec::new())
            && !filter.any(&mut keeps)
            && nested_loops(filter) < NESTED_MAX
            && !(self.selected.is_some() && filter.any(&mut is_own))
            && !(self.tied.is_some() && refusals::stands_for_move(filter))
            && refusals::says(filter, &self.facts.vars, self.facts.variations)
    }
}
