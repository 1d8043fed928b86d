//! The comments that a query makes, and whether filters must be evaluated for them.

use super::{
    Comments, ConditionOp, Echo, Form, GameCondition, GameNumber, GamePosition, GameSquares, Line, Move,
    NumberOp, Path, PositionOp, Ref, SquaresOp, TypedQuery, Written,
};

impl TypedQuery {
    /// Returns true if everything that the query writes follows from each hit alone.
    pub fn writes_at_hits(&self) -> bool {
        let writes = |op: &GameCondition<Written>| {
            matches!(
                op,
                GameCondition::Message { .. } | GameCondition::SetTag { .. } | GameCondition::RemoveComment
            )
        };
        self.judges_apart() && self.sorts.is_empty() && !self.has(writes)
    }

    /// Returns true if the query writes nothing but a mark at each hit; then no filter has to be evaluated for comments.
    pub fn writes_marks_alone(&self) -> bool {
        let is_written = |filter: Ref<Written>| {
            let last = comments_of(filter);
            last != Comments::Silent && self.header.comments <= last
        };
        self.writes_at_hits() && !self.body.any(is_written)
    }
}

/// Returns the last of the header settings under which a filter writes a comment: `Quiet` if the query asks for the comment, `All`
/// if the filter makes it unasked, `Silent` if it makes none.
fn comments_of<P: Form>(filter: Ref<'_, P>) -> Comments {
    let of_itself = |quiet: bool| if quiet { Comments::Silent } else { Comments::All };
    match filter {
        Ref::Condition(f) => match f.op() {
            ConditionOp::Game(GameCondition::Comment(_)) => Comments::Quiet,
            ConditionOp::Game(GameCondition::Move(of)) => of_move(of),
            ConditionOp::Game(GameCondition::Echo(Echo { quiet, .. })) => of_itself(*quiet),
            _ => Comments::Silent,
        },
        Ref::Number(f) => match f.op() {
            NumberOp::Find { quiet, .. } => of_itself(*quiet),
            NumberOp::Game(GameNumber::Echo(Echo { quiet, .. })) => of_itself(*quiet),
            NumberOp::Game(GameNumber::ConsecutiveMoves { quiet, .. }) => of_itself(*quiet),
            NumberOp::Game(GameNumber::Move(of)) => of_move(of),
            NumberOp::Game(GameNumber::Line(Line { quiet, .. })) => of_itself(*quiet),
            NumberOp::Game(GameNumber::Path(path)) => of_path(path),
            _ => Comments::Silent,
        },
        Ref::Position(f) => match f.op() {
            PositionOp::Find { quiet, .. } => of_itself(*quiet),
            PositionOp::Game(GamePosition::LineEnd(Line { quiet, .. })) => of_itself(*quiet),
            PositionOp::Game(GamePosition::PathEnd(path)) => of_path(path),
            _ => Comments::Silent,
        },
        Ref::Squares(f) => match f.op() {
            SquaresOp::Game(GameSquares::Move(of)) => of_move(of),
            _ => Comments::Silent,
        },
        Ref::Text(_) => Comments::Silent,
    }
}

fn of_move<P: Form>(of: &Move<P>) -> Comments {
    if of.comment.is_some() { Comments::Quiet } else { Comments::Silent }
}

fn of_path<P: Form>(path: &Path<P>) -> Comments {
    let is_asked = path.title.is_some() || path.piece_path || path.verbose;
    match (is_asked, path.quiet) {
        (true, _) => Comments::Quiet,
        (false, false) => Comments::All,
        (false, true) => Comments::Silent,
    }
}
