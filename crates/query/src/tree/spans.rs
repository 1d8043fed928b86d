//! Determines if the hits of a query have spans. A span is the list of moves or positions that make up a hit of `line`, `path`,
//! `--`, `move`, `find` or `echo`.

use super::{
    ConditionOp, Elsewhere, Focus, Form, GameCondition, GameNumber, GamePosition, GameSquares, GameText,
    Kind as _, Line, Move, MoveOf, NumberOp, Path, PositionOp, Ref, SquaresOp, TextOp, TypedQuery,
};

impl TypedQuery {
    /// Returns true if a hit of the query can include more than its own position: the positions of a line, the moves of a path, a
    /// move, or the position that `find` found.
    pub fn has_spans(&self) -> bool {
        self.body.any(has_span)
    }

    /// Returns true if the result at a position does not depend on evaluations at earlier positions or in earlier games.
    pub fn judges_apart(&self) -> bool {
        !self.reads_earlier
            && self.dictionaries.is_empty()
            && !self.outlives_games()
            && !recalls(self.body.node(), false)
    }
}

/// Returns true if a match of this filter has a span of its own. Spans of its operands are not considered.
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

/// Returns true if a filter, or a filter inside it, depends on results at earlier positions. `in_path` is true if the filter is
/// evaluated during the search for a path. Filters that read the progress of that path then depend only on the path, and are
/// ignored.
fn recalls<P: Form>(filter: Ref<'_, P>, in_path: bool) -> bool {
    let path = match filter {
        Ref::Number(f) if let NumberOp::Game(GameNumber::Path(path)) = f.op() => Some(path),
        Ref::Position(f) if let PositionOp::Game(GamePosition::PathEnd(path)) = f.op() => Some(path),
        _ => None,
    };
    // The range and the pieces in focus are evaluated before the search for the path begins, so they cannot read its progress.
    let first = |path: &Path<P>| {
        let in_range = path.range.iter().flatten().any(|number| recalls(number.node(), in_path));
        in_range || matches!(&path.focus, Some(Focus::Pieces { of, .. }) if recalls(of.node(), in_path))
    };
    remembers(filter) && !(in_path && is_progress(filter))
        || path.is_some_and(first)
        || filter.children().into_iter().any(|child| recalls(child, in_path || path.is_some()))
}

/// Returns true if the operation of a filter reads the progress of the path being searched. The operands of the filter are not
/// examined.
fn is_progress<P: Form>(filter: Ref<'_, P>) -> bool {
    match filter {
        Ref::Number(f) => {
            matches!(f.op(), NumberOp::Game(GameNumber::PathCount | GameNumber::PathCountUnfocused))
        }
        Ref::Position(f) => matches!(f.op(), PositionOp::Game(GamePosition::PathStart)),
        _ => false,
    }
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

#[cfg(test)]
mod tests {
    #[test]
    fn a_position_is_evaluated_alone_if_it_sets_what_it_reads() {
        for (text, apart) in [
            ("path max pathcount A--", true),
            ("path A-- pathcount==1 a--", true),
            ("path focus A {A-- pathstart:K}", true),
            ("{path A--} +pathcount", false),
            ("path focus (if pathcount>1 then A else a) A--", false),
            ("path A-- path focus (if pathcount>1 then A else a) --", true),
            ("path nestban A--", false),
            ("piece x in A line --> x attacks k --> x attacks q", true),
            ("x=1 y=find {K attacks a x==1} y:check", true),
            ("echo (s t) {t>s K==s:K}", true),
            ("if check x=1 line --> x==1 --> K", false),
            ("line --> x=1 --> x==1", false),
            ("piece x in A {y=x path y--}", true),
        ] {
            let query = crate::parse(text).expect("a query").query;
            assert_eq!(query.judges_apart(), apart, "{text}");
        }
    }
}
