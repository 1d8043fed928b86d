//! The comments that a query writes into games. This file also determines which filters must be evaluated to write the comments.

use super::{
    Any, Comments, ConditionOp, Control, Echo, Form, GameCondition, GameNumber, GamePosition, GameSquares,
    GameText, Kind as _, Line, Move, Node, NumberOp, Of, Path, PositionOp, Ref, SquaresOp, TextOp,
    TypedQuery, Written,
};

impl TypedQuery {
    /// Returns true if the comments at a hit depend only on that hit. A `sort` filter is allowed only where the position matches
    /// whenever the filter has a value, so that it has no value at positions without a hit.
    pub fn writes_at_hits(&self) -> bool {
        let writes = |op: &GameCondition<Written>| {
            matches!(
                op,
                GameCondition::Message { .. } | GameCondition::SetTag { .. } | GameCondition::RemoveComment
            )
        };
        self.judges_apart()
            && sorts_of(self.body.node()) == sorts_at_hits(self.body.node())
            && !self.has(writes)
    }

    /// Returns true if the standard comment at each hit is the only comment that the query writes. No filter then has to be
    /// evaluated for comments.
    pub fn writes_marks_alone(&self) -> bool {
        self.sorts.is_empty() && self.writes_at_hits() && !self.body.any(|filter| self.is_written(filter))
    }

    /// Returns the part of the body that must be evaluated to write comments at a position at which the body is known to match: the
    /// last filter of its braces, and the filters before it that write comments. Returns `None` if this is the whole body, or if
    /// one of these filters reads a variable, which another filter may have set. The result is valid only for a query that [writes
    /// at hits](TypedQuery::writes_at_hits).
    pub fn written_at_hits(&self) -> Option<Node> {
        let is_quiet =
            |filter: &&Node| !filter.any(|filter| self.is_written(filter)) && sorts_of(filter.node()) == 0;
        let writing =
            |all: &[Node]| -> Vec<Node> { all.iter().filter(|filter| !is_quiet(filter)).cloned().collect() };
        let (before, left) = match &self.body {
            Node::Condition(f) => {
                let ConditionOp::Braces(all) = f.op() else { return None };
                let (last, first) = all.split_last()?;
                let mut left = writing(first);
                left.push(last.clone());
                let only = left.len() == 1;
                let braces = |left| Node::Condition(Of::new(ConditionOp::Braces(left), f.span()));
                (first.len() + 1, (left.len(), if only { last.clone() } else { braces(left) }))
            }
            Node::Number(f) => {
                let NumberOp::Control(Control::Braces { first, last }) = f.op() else { return None };
                let left = writing(first);
                let braces = |first| NumberOp::Control(Control::Braces { first, last: last.clone() });
                let number = |left: Vec<Node>| match left.is_empty() {
                    true => last.clone(),
                    false => Of::new(braces(left), f.span()),
                };
                (first.len() + 1, (left.len() + 1, Node::Number(number(left))))
            }
            _ => return None,
        };
        let (len, node) = left;
        (len < before && !node.any(reads_variable)).then_some(node)
    }

    /// Returns true if a filter of the query reads a variable, which another filter may have set.
    pub fn reads_variables(&self) -> bool {
        self.body.any(reads_variable)
    }

    /// Returns true if the operation of a filter writes a comment, and the header allows that comment. The operands of the filter
    /// are not examined.
    pub fn is_written<P: Form>(&self, filter: Ref<'_, P>) -> bool {
        let last = comments_of(filter);
        last != Comments::Silent && self.header.comments <= last
    }
}

impl<P: Form> Any<P> {
    /// Returns the operands of the outermost `or`s, in order. At each position, they are evaluated up to the first one that
    /// matches. A filter that is not an `or` is itself the only alternative.
    pub fn alternatives(&self) -> Vec<&Any<P>> {
        let mut all = Vec::new();
        self.add_alternatives(&mut all);
        all
    }

    fn add_alternatives<'a>(&'a self, all: &mut Vec<&'a Any<P>>) {
        let Any::Condition(f) = self else { return all.push(self) };
        match f.op() {
            ConditionOp::Or(a, b) => {
                a.add_alternatives(all);
                b.add_alternatives(all);
            }
            ConditionOp::Braces(of) if let [only] = &of[..] => only.add_alternatives(all),
            _ => all.push(self),
        }
    }
}

/// Returns the number of `sort` filters in a filter, including the filter itself.
fn sorts_of(filter: Ref<'_, Written>) -> usize {
    let mut count = 0;
    filter.walk(&mut |filter| count += usize::from(is_sort(filter)));
    count
}

fn is_sort(filter: Ref<'_, Written>) -> bool {
    match filter {
        Ref::Number(f) => matches!(f.op(), NumberOp::Game(GameNumber::Sort { .. })),
        Ref::Text(f) => matches!(f.op(), TextOp::Game(GameText::Sort { .. })),
        _ => false,
    }
}

/// Counts the `sort` filters inside `filter` that have a value only at positions at which `filter` matches.
fn sorts_at_hits(filter: Ref<'_, Written>) -> usize {
    if is_sort(filter) {
        return 1;
    }
    match filter {
        Ref::Condition(f) => match f.op() {
            ConditionOp::And(_, last) => sorts_at_hits(last.node()),
            ConditionOp::Braces(all) => all.last().map_or(0, |last| sorts_at_hits(last.node())),
            ConditionOp::Or(a, b) => sorts_at_hits(a.node()) + sorts_at_hits(b.node()),
            _ => 0,
        },
        Ref::Squares(f) => match f.op() {
            SquaresOp::SquareLoop { body, .. } | SquaresOp::Game(GameSquares::PieceLoop { body, .. }) => {
                sorts_at_hits(body.node())
            }
            SquaresOp::Control(Control::Braces { last, .. }) => sorts_at_hits(last.node()),
            _ => 0,
        },
        Ref::Number(f) => match f.op() {
            NumberOp::Control(Control::Braces { last, .. }) => sorts_at_hits(last.node()),
            _ => 0,
        },
        Ref::Position(_) | Ref::Text(_) => 0,
    }
}

/// Returns true if the operation of a filter reads a variable or tests if one is bound. The operands of the filter are not
/// examined.
fn reads_variable(filter: Ref<'_, Written>) -> bool {
    match filter {
        Ref::Condition(f) => matches!(
            f.op(),
            ConditionOp::Game(
                GameCondition::IsBound { .. }
                    | GameCondition::AssignSome { .. }
                    | GameCondition::SetSlice { .. }
            )
        ),
        Ref::Squares(f) => {
            matches!(f.op(), SquaresOp::Control(Control::Var(_)) | SquaresOp::Game(GameSquares::Piece(_)))
        }
        Ref::Number(f) => {
            let op = f.op();
            matches!(op, NumberOp::Control(Control::Var(_)))
                || matches!(op, NumberOp::Game(GameNumber::ConsecutiveMoves { .. }))
        }
        Ref::Text(f) => matches!(f.op(), TextOp::Control(Control::Var(_))),
        Ref::Position(f) => matches!(f.op(), PositionOp::Control(Control::Var(_))),
    }
}

/// Returns the strictest header setting that still allows the comment of a filter: `Quiet` if the query requests the comment
/// explicitly, `All` if the filter writes it by default. Returns `Silent` if it writes none.
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

#[cfg(test)]
mod tests {
    use crate::parse;

    /// Returns two results for a query: true if it writes comments only at hits, and the text of the part that is evaluated at a
    /// hit to write comments.
    fn written(text: &str) -> (bool, Option<String>) {
        let query = parse(text).expect(text).query;
        let left = query.written_at_hits().map(|left| text[left.span().start..left.span().end].to_owned());
        (query.writes_at_hits(), left)
    }

    #[test]
    fn a_sort_whose_value_makes_a_hit_has_none_elsewhere() {
        for (text, at_hits) in [
            ("check sort \"n\" A", true),
            ("check and (sort \"n\" A)", true),
            ("square x in A sort \"n\" x attacks a", true),
            ("piece X in Q sort \"n\" A", true),
            ("(sort \"n\" A) and check", false),
            ("{(sort \"n\" #A) > 3}", false),
            ("not {sort \"n\" A}", false),
            ("(sort \"n\" A) or (sort \"m\" #a > 3)", true),
            ("piece X in Q {{path focus X -- check} sort \"n\" pathcount}", false),
            ("sort \"n\" path nestban -- check -- mate", false),
        ] {
            assert_eq!(written(text).0, at_hits, "{text}");
        }
    }

    #[test]
    fn alternatives_are_the_operands_of_all_outermost_ors() {
        for (text, alternatives) in [
            ("check or mate or wtm or btm", &["check", "mate", "wtm", "btm"][..]),
            ("{check or mate} or ({wtm Qd1} or A)", &["check", "mate", "{wtm Qd1}", "A"]),
            ("check or mate or wtm", &["check", "mate", "wtm"]),
            ("check or mate or wtm or x=1", &["check", "mate", "wtm", "x=1"]),
            ("check or mate or x=1 or {x=2 x>1}", &["check", "mate", "x=1", "{x=2 x>1}"]),
            ("not (check or mate)", &["not (check or mate)"]),
        ] {
            let query = parse(text).expect(text).query;
            let texts = query.body.alternatives().into_iter().map(|filter| {
                let span = filter.span();
                &text[span.start..span.end]
            });
            assert_eq!(texts.collect::<Vec<_>>(), alternatives, "{text}");
        }
    }

    #[test]
    fn what_writes_nothing_is_left_out_at_hits() {
        for (text, left) in [
            ("check sort \"n\" A", Some("sort \"n\" A")),
            ("check mate comment(\"mate\")", Some("comment(\"mate\")")),
            ("check {comment(\"check\") wtm} mate", Some("check {comment(\"check\") wtm} mate")),
            ("x = #A sort \"n\" x", None),
            ("find check sort \"n\" A", None),
            ("cql(quiet) find check sort \"n\" A", Some("sort \"n\" A")),
            ("check and mate", None),
            ("comment(\"a\") mate", None),
        ] {
            assert_eq!(written(text).1.as_deref(), left, "{text}");
        }
    }
}
