//! Finds the names in filters: variables that are read, assigned or unbound, the groups of regular expressions, and `from` and
//! `to`, the squares of the previous move.

use orbit_query::tree::{
    ConditionOp as C, Control, GameCondition, GameNumber, GameSquares, GameText, NumberOp as N,
    PositionOp as P, Ref, SquaresOp as S, TextOp as T, VarId,
};
use orbit_transforms::FilterRef;

/// Calls `visit` with each variable that a filter names. The filter's operands are not visited.
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

/// Returns true if a filter assigns a variable or changes a dictionary. Its operands are not examined.
pub(super) fn assigns(filter: FilterRef) -> bool {
    let Ref::Condition(f) = filter else { return false };
    match f.op() {
        C::Assign(..) => true,
        C::Game(op) => matches!(
            op,
            GameCondition::BindPiece { .. }
                | GameCondition::AssignSome { .. }
                | GameCondition::SetSlice { .. }
                | GameCondition::SetEntry { .. }
                | GameCondition::Forget { .. }
                | GameCondition::Unbind(_)
                | GameCondition::WhileMatch { .. }
        ),
        _ => false,
    }
}

/// Returns the variable that a filter binds if it matches. The filter's operands are not examined.
pub(super) fn bound_by(filter: FilterRef) -> Option<VarId> {
    let Ref::Condition(f) = filter else { return None };
    match f.op() {
        C::Assign(var, _) => Some(*var),
        C::Game(GameCondition::BindPiece { var, .. } | GameCondition::AssignSome { var, .. }) => Some(*var),
        _ => None,
    }
}

/// If a filter unbinds a variable, calls `visit` with that variable. The filter's operands are not visited.
pub(super) fn unbound(filter: FilterRef, visit: &mut dyn FnMut(VarId)) {
    if let Ref::Condition(f) = filter
        && let C::Game(GameCondition::Unbind(var)) = f.op()
    {
        visit(*var);
    }
}

/// Returns true if a filter is `from` or `to`, the origin or target squares of the previous move.
pub(super) fn is_own(filter: FilterRef) -> bool {
    matches!(filter, Ref::Squares(f) if matches!(f.op(), S::Game(GameSquares::From | GameSquares::To)))
}

/// Returns true if a filter stores the groups of a regular expression. Its operands are not examined.
pub(super) fn matches_text(filter: FilterRef) -> bool {
    match filter {
        Ref::Condition(f) => matches!(f.op(), C::Game(GameCondition::WhileMatch { .. })),
        Ref::Text(f) => matches!(f.op(), T::Game(GameText::Match { .. })),
        _ => false,
    }
}

/// Returns true if a filter reads a group of the last match of a regular expression. Its operands are not examined.
pub(super) fn reads_group(filter: FilterRef) -> bool {
    match filter {
        Ref::Number(f) => matches!(f.op(), N::Game(GameNumber::GroupStart(_))),
        Ref::Text(f) => matches!(f.op(), T::Game(GameText::Group(_))),
        _ => false,
    }
}
