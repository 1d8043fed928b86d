//! The operands of the operations of the game language, in order.

use super::{
    Edge, Elsewhere, Focus, GameCondition as C, GameNumber as N, GamePosition as Q, GameSquares as S,
    GameText as T, Line, Move, Path, PathStep, Promotion,
};
use crate::query::tree::{Any, Assigned, Form, Kind, Number, Ref};

type Visit<'v, 'a, P> = &'v mut dyn FnMut(Ref<'a, P>);

fn all<'a, P: Form, F: Kind<P> + 'a>(filters: impl IntoIterator<Item = &'a F>, visit: Visit<'_, 'a, P>) {
    filters.into_iter().for_each(|filter| visit(filter.node()));
}

fn assigned<'a, P: Form>(value: &'a Assigned<P>, visit: Visit<'_, 'a, P>) {
    match value {
        Assigned::Squares(f) => visit(f.node()),
        Assigned::Number(f) => visit(f.node()),
        Assigned::Text(f) => visit(f.node()),
        Assigned::Position(f) => visit(f.node()),
    }
}

fn edge<'a, P: Form>(edge: &'a Edge<P>, visit: Visit<'_, 'a, P>) {
    all(edge.from.iter().chain(&edge.to), visit);
    if let Some(Promotion::Letters(letters)) = &edge.promotion {
        visit(letters.node());
    }
}

fn elsewhere<'a, P: Form, F: Kind<P>>(of: &'a Elsewhere<P, F>, visit: Visit<'_, 'a, P>) {
    match of {
        Elsewhere::At { at, of } => {
            visit(at.node());
            visit(of.node());
        }
        Elsewhere::Edge { edge: of, target } => {
            edge(of, visit);
            visit(target.node());
        }
    }
}

fn moves<'a, P: Form>(of: &'a Move<P>, visit: Visit<'_, 'a, P>) {
    all([&of.from, &of.to, &of.capture, &of.en_passant_square].into_iter().flatten(), visit);
    all(of.comment.iter().flatten(), visit);
}

fn range<'a, P: Form>(range: &'a Option<[Number<P>; 2]>, visit: Visit<'_, 'a, P>) {
    all(range.iter().flatten(), visit);
}

fn line<'a, P: Form>(line: &'a Line<P>, visit: Visit<'_, 'a, P>) {
    range(&line.range, visit);
    line.chain.each(&mut |step| visit(step.filter.node()));
}

fn path<'a, P: Form>(path: &'a Path<P>, visit: Visit<'_, 'a, P>) {
    range(&path.range, visit);
    if let Some(Focus::Pieces { of, .. }) = &path.focus {
        visit(of.node());
    }
    all(&path.max, visit);
    path.chain.each(&mut |step| match step {
        PathStep::Edge { edge: of, targets } => {
            edge(of, visit);
            all(targets, visit);
        }
        PathStep::Filter(filter) => visit(filter.node()),
    });
}

pub(in crate::query::tree) fn condition<'a, P: Form>(op: &'a C<P>, visit: Visit<'_, 'a, P>) {
    match op {
        C::Sibling(_)
        | C::Arrived(_)
        | C::NullMove
        | C::Mainline
        | C::Variation
        | C::VirtualMainline
        | C::Try
        | C::Unbind(_)
        | C::IsBound { .. }
        | C::RemoveComment
        | C::Glyph(_)
        | C::Abort => {}
        C::At { at, of } => {
            visit(at.node());
            visit(of.node());
        }
        C::Edge { edge: of, target } => {
            edge(of, visit);
            all(target, visit);
        }
        C::Move(of) => moves(of, visit),
        C::Ancestor { ancestor, of } => all([ancestor, of], visit),
        C::Echo(echo) => visit(echo.body.node()),
        C::BindPiece { of, .. } | C::AssignSome { of, .. } => visit(of.node()),
        C::PieceAll { domain, body, .. } => {
            visit(domain.node());
            visit(body.node());
        }
        C::SetEntry { key, value, .. } => {
            assigned(key, visit);
            assigned(value, visit);
        }
        C::SetSlice { from, to, value, .. } => {
            all(from.iter().chain(to), visit);
            visit(value.node());
        }
        C::Forget { key, .. } => key.iter().for_each(|key| assigned(key, visit)),
        C::Assert(of) | C::Loop(of) => visit(of.node()),
        C::While { condition, body } => all([condition, body], visit),
        C::WhileMatch { text, body, .. } => {
            visit(text.node());
            visit(body.node());
        }
        C::KeyLoop { body, .. } => visit(body.node()),
        C::Comment(of) | C::Message { of, .. } => all(of, visit),
        C::SetTag { value, .. } => visit(value.node()),
        C::WriteFile { name, value } => all([name, value], visit),
        C::Equal(a, b) => all([a, b], visit),
    }
}

pub(in crate::query::tree) fn squares<'a, P: Form>(op: &'a S<P>, visit: Visit<'_, 'a, P>) {
    match op {
        S::From | S::To | S::EnPassantSquare | S::Piece(_) => {}
        S::Elsewhere(of) => elsewhere(of, visit),
        S::Entry { key, .. } => assigned(key, visit),
        S::Move(of) => moves(of, visit),
        S::PieceLoop { domain, body, .. } => {
            visit(domain.node());
            visit(body.node());
        }
        S::SameContents(a, b) => all([a, b], visit),
        S::SquareOf(text) => visit(text.node()),
    }
}

pub(in crate::query::tree) fn number<'a, P: Form>(op: &'a N<P>, visit: Visit<'_, 'a, P>) {
    match op {
        N::PathCount
        | N::PathCountUnfocused
        | N::PositionId
        | N::Depth
        | N::Size(_)
        | N::GroupStart(_)
        | N::LastGameNumber => {}
        N::Elsewhere(of) => elsewhere(of, visit),
        N::Entry { key, .. } => assigned(key, visit),
        N::Sort { of, .. } => visit(of.node()),
        N::CountMoves { edge: of, target } => {
            edge(of, visit);
            all(target, visit);
        }
        N::Move(of) => moves(of, visit),
        N::Line(of) => line(of, visit),
        N::Path(of) => path(of, visit),
        N::Distance(a, b) => all([a, b], visit),
        N::ConsecutiveMoves { range: of, .. } => range(of, visit),
        N::Echo(echo) => visit(echo.body.node()),
        N::PieceId(of) => visit(of.node()),
        N::Length(of) | N::ToNumber(of) | N::CodeOf(of) => visit(of.node()),
        N::IndexOf(a, b) => all([a, b], visit),
    }
}

pub(in crate::query::tree) fn text<'a, P: Form>(op: &'a T<P>, visit: Visit<'_, 'a, P>) {
    match op {
        T::Fen | T::OriginalComment | T::Group(_) | T::CurrentTransform(_) => {}
        T::Elsewhere(of) => elsewhere(of, visit),
        T::Entry { key, .. } => assigned(key, visit),
        T::Sort { of, .. } | T::Case { of, .. } | T::Match { text: of, .. } | T::ReadFile(of) => {
            visit(of.node())
        }
        T::Joined(a, b) => all([a, b], visit),
        T::Written(of) => all::<P, Any<P>>(of, visit),
        T::Slice { of, from, to } => {
            visit(of.node());
            all(from.iter().chain(to), visit);
        }
        T::Letter { of, at } => {
            visit(of.node());
            visit(at.node());
        }
        T::OfCode(of) => visit(of.node()),
        T::Extremum { of, .. } => all(of, visit),
    }
}

pub(in crate::query::tree) fn position<'a, P: Form>(op: &'a Q<P>, visit: Visit<'_, 'a, P>) {
    match op {
        Q::Current | Q::Parent | Q::PathStart | Q::PathLast => {}
        Q::Elsewhere(of) => elsewhere(of, visit),
        Q::Entry { key, .. } => assigned(key, visit),
        Q::Child(of) | Q::Numbered(of) => visit(of.node()),
        Q::LastCommonAncestor(a, b) => all([a, b], visit),
        Q::Compare { left, right, .. } => all([left, right], visit),
        Q::LineEnd(of) => line(of, visit),
        Q::PathEnd(of) => path(of, visit),
    }
}
