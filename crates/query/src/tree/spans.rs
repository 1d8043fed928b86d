//! Finds queries whose hits have a span: the moves or positions of which a hit of `line`, `path`, `--`, `move`, `find` or
//! `echo` consists.

use super::{
    ConditionOp, Elsewhere, Form, GameCondition, GameNumber, GamePosition, GameSquares, GameText, Line, Move,
    MoveOf, NumberOp, Path, PositionOp, Ref, SquaresOp, TextOp, TypedQuery,
};

impl TypedQuery {
    /// Returns true if a hit of the query can consist of more than its own position: of the positions of a line, of the moves of
    /// a path, of a move, or of the position that `find` found.
    pub fn has_spans(&self) -> bool {
        self.body.any(has_span)
    }

    /// Returns true if a position can be evaluated without evaluating the positions before it first.
    pub fn judges_apart(&self) -> bool {
        self.keeps_state.is_none()
            && self.dictionaries.is_empty()
            && !self.outlives_games()
            && !self.body.any(remembers)
    }
}

/// Returns true if a match of this filter itself, without its operands, has a span.
fn has_span<P: Form>(filter: Ref<'_, P>) -> bool {
    match filter {
        Ref::Condition(f) => match f.op() {
            ConditionOp::Game(GameCondition::Edge { .. } | GameCondition::Echo(_)) => true,
            ConditionOp::Game(GameCondition::Move(of)) => was_played(of),
            _ => false,
        },
        Ref::Squares(f) => match f.op() {
            SquaresOp::Game(GameSquares::Elsewhere(of)) => is_move(of),
            SquaresOp::Game(GameSquares::Move(of)) => was_played(of),
            _ => false,
        },
        Ref::Number(f) => match f.op() {
            NumberOp::Find { .. } => true,
            NumberOp::Game(GameNumber::Elsewhere(of)) => is_move(of),
            NumberOp::Game(GameNumber::Line(_) | GameNumber::Path(_) | GameNumber::Echo(_)) => true,
            _ => false,
        },
        Ref::Text(f) => matches!(f.op(), TextOp::Game(GameText::Elsewhere(of)) if is_move(of)),
        Ref::Position(f) => match f.op() {
            PositionOp::Find { .. } => true,
            PositionOp::Game(GamePosition::Elsewhere(of)) => is_move(of),
            PositionOp::Game(GamePosition::LineEnd(_) | GamePosition::PathEnd(_)) => true,
            _ => false,
        },
    }
}

fn is_move<P: Form, F>(of: &Elsewhere<P, F>) -> bool {
    matches!(of, Elsewhere::Edge { .. })
}

fn was_played<P: Form>(of: &Move<P>) -> bool {
    matches!(of.of, MoveOf::Played | MoveOf::Previous)
}

/// Returns true if the value of a filter may depend on earlier evaluations at other positions.
fn remembers<P: Form>(filter: Ref<'_, P>) -> bool {
    let bans = |line: &Line<P>| line.nestban;
    let path_bans = |path: &Path<P>| path.nestban;
    match filter {
        Ref::Number(f) => match f.op() {
            NumberOp::Game(GameNumber::Line(line)) => bans(line),
            NumberOp::Game(GameNumber::Path(path)) => path_bans(path),
            NumberOp::Game(op) => matches!(
                op,
                GameNumber::PathCount
                    | GameNumber::PathCountUnfocused
                    | GameNumber::GroupStart(_)
                    | GameNumber::ConsecutiveMoves { .. }
            ),
            _ => false,
        },
        Ref::Position(f) => match f.op() {
            PositionOp::Game(GamePosition::LineEnd(line)) => bans(line),
            PositionOp::Game(GamePosition::PathEnd(path)) => path_bans(path),
            PositionOp::Game(op) => matches!(op, GamePosition::PathStart | GamePosition::PathLast),
            _ => false,
        },
        Ref::Text(f) => matches!(f.op(), TextOp::Game(GameText::Group(_))),
        Ref::Condition(_) | Ref::Squares(_) => false,
    }
}
