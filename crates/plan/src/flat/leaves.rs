//! Selects the leaves of a flat program. These filters become operands, which are columns computed before the program runs.

use std::collections::HashMap;

use super::{
    compile::Compiler,
    names::{assigns, is_own, matches_text, reads_group, used},
};
use crate::{game::refusals, orbits::nested_loops};
use orbit_query::tree::{
    ConditionOp as C, GameCondition, GameSquares, GameText, Holds, Kind as _, Ref, SquaresOp as S,
    TextOp as T, VarId,
};
use orbit_transforms::FilterRef;

/// Returns true if a filter stores a value that outlasts its evaluation. Its operands are not examined.
fn keeps(filter: FilterRef) -> bool {
    matches!(filter, Ref::Condition(f) if matches!(f.op(), C::Assign(..)))
}

/// Returns true if a filter stores a value, reads a stored value or may end the run. Reading a variable does not count. The
/// filter's operands are not examined.
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
        Ref::Text(f) => matches!(f.op(), T::Game(GameText::ReadFile(_))),
        _ => false,
    };
    asks_or_ends
        || matches_text(filter)
        || reads_group(filter)
        || assigns(filter)
        || super::walks::is_of_walk(filter)
        || super::dictionaries::reads_dictionary(filter)
}

/// Returns true if every variable in a filter is bound by a loop over squares inside that filter.
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

/// Counts the occurrences of each variable in a filter and the filters inside it.
pub(super) fn own(filter: FilterRef) -> HashMap<VarId, usize> {
    let mut own = HashMap::new();
    filter.walk(&mut |filter| used(filter, &mut |var| *own.entry(var).or_default() += 1));
    own
}

impl Compiler<'_> {
    /// Returns true if the evaluation of a filter can be left out, because the filter stores nothing and reads only bound
    /// variables.
    pub(super) fn is_harmless(&self, filter: FilterRef) -> bool {
        !filter.any(&mut is_state) && own(filter).into_keys().all(|var| self.sure.contains(&var))
    }

    /// Returns `Some(None)` if the value of a filter depends only on the position. Returns `Some(Some(var))` if it depends only
    /// on the position and on the piece in the variable `var`. Returns `None` if it depends on anything else.
    pub(super) fn key_of(&self, filter: FilterRef) -> Option<Option<VarId>> {
        if filter.any(&mut is_state) || self.selected.is_some() && filter.any(&mut is_own) {
            return None;
        }
        let mut shared = own(filter).into_iter().filter(|(var, count)| self.uses.get(var) != Some(count));
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

    /// Returns true if a filter is a leaf: it can be evaluated at each position independently, and a plan can express it.
    pub(super) fn is_leaf(&self, filter: FilterRef) -> bool {
        own(filter).iter().all(|(var, count)| self.uses.get(var) == Some(count))
            && is_closed(filter, &mut Vec::new())
            && !filter.any(&mut keeps)
            && nested_loops(filter) < self.facts.depth
            && !(self.selected.is_some() && filter.any(&mut is_own))
            && !(self.tied.is_some() && refusals::stands_for_move(filter))
            && refusals::says(filter, &self.facts.vars, self.facts.variations)
    }
}
