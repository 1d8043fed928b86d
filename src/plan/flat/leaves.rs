//! Which filters become operands.

use std::collections::HashMap;

use super::compile::Compiler;
use crate::{
    orbit::FilterRef,
    plan::game::refusals,
    query::tree::{
        ConditionOp as C, Control, GameCondition, GameNumber, GameSquares, Kind as _, NumberOp as N,
        PositionOp as P, Ref, SquaresOp as S, TextOp as T, VarId,
    },
};

/// Calls `visit` with the variables that a filter itself names.
pub(super) fn used(filter: FilterRef, visit: &mut dyn FnMut(VarId)) {
    match filter {
        Ref::Condition(f) => match f.op() {
            C::Assign(var, _) | C::SquareAll { var, .. } => visit(*var),
            C::Game(
                GameCondition::BindPiece { var, .. }
                | GameCondition::PieceAll { var, .. }
                | GameCondition::AssignSome { var, .. }
                | GameCondition::SetSlice { var, .. }
                | GameCondition::Unbind(var)
                | GameCondition::IsBound { var, .. }
                | GameCondition::KeyLoop { var, .. },
            ) => visit(*var),
            C::Game(GameCondition::Echo(echo)) => {
                visit(echo.source);
                visit(echo.target);
            }
            _ => {}
        },
        Ref::Squares(f) => match f.op() {
            S::SquareLoop { var, .. }
            | S::Control(Control::Var(var))
            | S::Game(GameSquares::Piece(var) | GameSquares::PieceLoop { var, .. }) => visit(*var),
            _ => {}
        },
        Ref::Number(f) => match f.op() {
            N::Control(Control::Var(var)) => visit(*var),
            N::Game(GameNumber::Echo(echo)) => {
                visit(echo.source);
                visit(echo.target);
            }
            N::Game(GameNumber::ConsecutiveMoves { first, second, .. }) => {
                visit(*first);
                visit(*second);
            }
            _ => {}
        },
        Ref::Text(f) if let T::Control(Control::Var(var)) = f.op() => visit(*var),
        Ref::Position(f) if let P::Control(Control::Var(var)) = f.op() => visit(*var),
        _ => {}
    }
}

/// Whether a filter keeps something when it was evaluated.
fn keeps(filter: FilterRef) -> bool {
    matches!(filter, Ref::Condition(f) if matches!(f.op(), C::Assign(..)))
}

/// Whether a filter means what the move that led here left or reached.
pub(super) fn is_own(filter: FilterRef) -> bool {
    matches!(filter, Ref::Squares(f) if matches!(f.op(), S::Game(GameSquares::From | GameSquares::To)))
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
    /// Whether a filter can be told of each position by itself, and a plan says it: then it is an operand.
    pub(super) fn is_leaf(&self, filter: FilterRef) -> bool {
        let mut own: HashMap<VarId, usize> = HashMap::new();
        filter.walk(&mut |filter| used(filter, &mut |var| *own.entry(var).or_default() += 1));
        own.iter().all(|(var, count)| self.uses.get(var) == Some(count))
            && is_closed(filter, &mut Vec::new())
            && !filter.any(&mut keeps)
            && !(self.selected.is_some() && filter.any(&mut is_own))
            && refusals::says(filter, &self.facts.vars, self.facts.variations)
    }
}
