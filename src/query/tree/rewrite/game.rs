//! The operations of the game language on operands that were rewritten, which are taken in their order.

use super::Rewrite;
use crate::query::tree::{
    Any, Assigned, Echo, Edge, Elsewhere, Focus, Form, GameCondition as C, GameNumber as N,
    GamePosition as Q, GameSquares as S, GameText as T, Kind, Line, LineStep, Move, Number, Path, PathStep,
    Promotion, Text,
};

fn all<P: Form, Q2: Form, R: Rewrite<P, Q2>>(of: &[Any<P>], by: &mut R) -> Result<Vec<Any<Q2>>, R::Stop> {
    of.iter().map(|filter| by.any(filter)).collect()
}

fn maybe<P: Form, Q2: Form, F: Kind<P>, R: Rewrite<P, Q2>>(
    of: &Option<F>,
    by: &mut R,
) -> Result<Option<F::In<Q2>>, R::Stop> {
    of.as_ref().map(|filter| filter.rewritten(by)).transpose()
}

pub(super) fn assigned<P: Form, Q2: Form, R: Rewrite<P, Q2>>(
    value: &Assigned<P>,
    by: &mut R,
) -> Result<Assigned<Q2>, R::Stop> {
    Ok(match value {
        Assigned::Squares(f) => Assigned::Squares(by.squares(f)?),
        Assigned::Number(f) => Assigned::Number(by.number(f)?),
        Assigned::Text(f) => Assigned::Text(by.text(f)?),
        Assigned::Position(f) => Assigned::Position(by.position(f)?),
    })
}

fn edge<P: Form, Q2: Form, R: Rewrite<P, Q2>>(of: &Edge<P>, by: &mut R) -> Result<Edge<Q2>, R::Stop> {
    Ok(Edge {
        entering: of.entering,
        capture: of.capture,
        from: maybe(&of.from, by)?,
        to: maybe(&of.to, by)?,
        promotion: match &of.promotion {
            None => None,
            Some(Promotion::Pieces(pieces)) => Some(Promotion::Pieces(*pieces)),
            Some(Promotion::Letters(letters)) => Some(Promotion::Letters(by.text(letters)?)),
        },
    })
}

fn elsewhere<P: Form, Q2: Form, F: Kind<P>, R: Rewrite<P, Q2>>(
    of: &Elsewhere<P, F>,
    by: &mut R,
) -> Result<Elsewhere<Q2, F::In<Q2>>, R::Stop> {
    Ok(match of {
        Elsewhere::At { at, of } => Elsewhere::At { at: by.position(at)?, of: of.rewritten(by)? },
        Elsewhere::Edge { edge: of, target } => {
            Elsewhere::Edge { edge: edge(of, by)?, target: target.rewritten(by)? }
        }
    })
}

fn moves<P: Form, Q2: Form, R: Rewrite<P, Q2>>(of: &Move<P>, by: &mut R) -> Result<Move<Q2>, R::Stop> {
    Ok(Move {
        of: of.of,
        value: of.value,
        from: maybe(&of.from, by)?,
        to: maybe(&of.to, by)?,
        capture: maybe(&of.capture, by)?,
        promote: of.promote,
        en_passant_square: maybe(&of.en_passant_square, by)?,
        only: of.only,
        null: of.null,
        sibling: of.sibling,
        comment: of.comment.as_ref().map(|of| all(of, by)).transpose()?,
    })
}

fn range<P: Form, Q2: Form, R: Rewrite<P, Q2>>(
    range: &Option<[Number<P>; 2]>,
    by: &mut R,
) -> Result<Option<[Number<Q2>; 2]>, R::Stop> {
    let Some([lo, hi]) = range else { return Ok(None) };
    Ok(Some([by.number(lo)?, by.number(hi)?]))
}

fn echo<P: Form, Q2: Form, F: Kind<P>, R: Rewrite<P, Q2>>(
    of: &Echo<F>,
    by: &mut R,
) -> Result<Echo<F::In<Q2>>, R::Stop> {
    let Echo { source, target, in_all, quiet, ref body } = *of;
    Ok(Echo { source, target, in_all, quiet, body: body.rewritten(by)? })
}

fn line<P: Form, Q2: Form, R: Rewrite<P, Q2>>(of: &Line<P>, by: &mut R) -> Result<Line<Q2>, R::Stop> {
    Ok(Line {
        range: range(&of.range, by)?,
        back: of.back,
        single_color: of.single_color,
        nestban: of.nestban,
        first_match: of.first_match,
        sibling: of.sibling,
        quiet: of.quiet,
        chain: of
            .chain
            .try_map(&mut |step| Ok(LineStep { filter: by.any(&step.filter)?, tied: step.tied }))?,
    })
}

fn path<P: Form, Q2: Form, R: Rewrite<P, Q2>>(of: &Path<P>, by: &mut R) -> Result<Path<Q2>, R::Stop> {
    Ok(Path {
        range: range(&of.range, by)?,
        focus: match &of.focus {
            None => None,
            Some(Focus::SideToMove) => Some(Focus::SideToMove),
            Some(Focus::Pieces { capture, of }) => {
                Some(Focus::Pieces { capture: *capture, of: by.squares(of)? })
            }
        },
        max: maybe(&of.max, by)?,
        primary: of.primary,
        nestban: of.nestban,
        first_match: of.first_match,
        keep_all_best: of.keep_all_best,
        piece_path: of.piece_path,
        verbose: of.verbose,
        title: of.title.clone(),
        quiet: of.quiet,
        chain: of.chain.try_map(&mut |step| {
            Ok(match step {
                PathStep::Edge { edge: of, targets } => {
                    PathStep::Edge { edge: edge(of, by)?, targets: all(targets, by)? }
                }
                PathStep::Filter(filter) => PathStep::Filter(by.any(filter)?),
            })
        })?,
    })
}

pub(super) fn condition<P: Form, Q2: Form, R: Rewrite<P, Q2>>(
    op: &C<P>,
    by: &mut R,
) -> Result<C<Q2>, R::Stop> {
    Ok(match op {
        C::At { at, of } => C::At { at: by.position(at)?, of: by.condition(of)? },
        C::Edge { edge: of, target } => C::Edge { edge: edge(of, by)?, target: maybe(target, by)? },
        C::Move(of) => C::Move(moves(of, by)?),
        C::Sibling(sibling) => C::Sibling(*sibling),
        C::Arrived(special) => C::Arrived(*special),
        C::NullMove => C::NullMove,
        C::Mainline => C::Mainline,
        C::Variation => C::Variation,
        C::VirtualMainline => C::VirtualMainline,
        C::Try => C::Try,
        C::Ancestor { ancestor, of } => {
            C::Ancestor { ancestor: by.position(ancestor)?, of: by.position(of)? }
        }
        C::Echo(of) => C::Echo(echo(of, by)?),
        C::BindPiece { var, of } => C::BindPiece { var: *var, of: by.squares(of)? },
        C::PieceAll { var, domain, body } => {
            C::PieceAll { var: *var, domain: by.squares(domain)?, body: by.any(body)? }
        }
        C::AssignSome { var, of } => C::AssignSome { var: *var, of: by.squares(of)? },
        C::SetEntry { dictionary, key, value } => {
            C::SetEntry { dictionary: *dictionary, key: assigned(key, by)?, value: assigned(value, by)? }
        }
        C::SetSlice { var, from, to, value } => {
            C::SetSlice { var: *var, from: maybe(from, by)?, to: maybe(to, by)?, value: by.text(value)? }
        }
        C::Unbind(var) => C::Unbind(*var),
        C::Forget { dictionary, key } => {
            C::Forget { dictionary: *dictionary, key: key.as_ref().map(|key| assigned(key, by)).transpose()? }
        }
        C::IsBound { var, bound } => C::IsBound { var: *var, bound: *bound },
        C::Assert(of) => C::Assert(by.any(of)?),
        C::Loop(of) => C::Loop(by.any(of)?),
        C::While { condition, body } => C::While { condition: by.any(condition)?, body: by.any(body)? },
        C::WhileMatch { text, pattern, body } => {
            C::WhileMatch { text: by.text(text)?, pattern: pattern.clone(), body: by.any(body)? }
        }
        C::KeyLoop { dictionary, var, body } => {
            C::KeyLoop { dictionary: *dictionary, var: *var, body: by.any(body)? }
        }
        C::Comment(of) => C::Comment(all(of, by)?),
        C::Message { quiet, of } => C::Message { quiet: *quiet, of: all(of, by)? },
        C::SetTag { name, value } => C::SetTag { name: name.clone(), value: by.text(value)? },
        C::RemoveComment => C::RemoveComment,
        C::WriteFile { name, value } => C::WriteFile { name: by.text(name)?, value: by.text(value)? },
        C::Equal(a, b) => C::Equal(by.any(a)?, by.any(b)?),
        C::Glyph(glyph) => C::Glyph(*glyph),
        C::Abort => C::Abort,
    })
}

pub(super) fn squares<P: Form, Q2: Form, R: Rewrite<P, Q2>>(op: &S<P>, by: &mut R) -> Result<S<Q2>, R::Stop> {
    Ok(match op {
        S::Elsewhere(of) => S::Elsewhere(elsewhere(of, by)?),
        S::Entry { dictionary, key } => S::Entry { dictionary: *dictionary, key: assigned(key, by)? },
        S::From => S::From,
        S::To => S::To,
        S::EnPassantSquare => S::EnPassantSquare,
        S::Move(of) => S::Move(moves(of, by)?),
        S::Piece(var) => S::Piece(*var),
        S::PieceLoop { var, domain, body } => {
            S::PieceLoop { var: *var, domain: by.squares(domain)?, body: by.any(body)? }
        }
        S::SameContents(a, b) => S::SameContents(by.position(a)?, by.position(b)?),
        S::SquareOf(text) => S::SquareOf(by.text(text)?),
    })
}

pub(super) fn number<P: Form, Q2: Form, R: Rewrite<P, Q2>>(op: &N<P>, by: &mut R) -> Result<N<Q2>, R::Stop> {
    Ok(match op {
        N::Elsewhere(of) => N::Elsewhere(elsewhere(of, by)?),
        N::Entry { dictionary, key } => N::Entry { dictionary: *dictionary, key: assigned(key, by)? },
        N::Sort { sort, of } => N::Sort { sort: *sort, of: by.number(of)? },
        N::CountMoves { edge: of, target } => {
            N::CountMoves { edge: edge(of, by)?, target: maybe(target, by)? }
        }
        N::Move(of) => N::Move(moves(of, by)?),
        N::Line(of) => N::Line(line(of, by)?),
        N::Path(of) => N::Path(path(of, by)?),
        N::PathCount => N::PathCount,
        N::PathCountUnfocused => N::PathCountUnfocused,
        N::PositionId => N::PositionId,
        N::Depth => N::Depth,
        N::Distance(a, b) => N::Distance(by.position(a)?, by.position(b)?),
        N::ConsecutiveMoves { first, second, quiet, range: of } => {
            N::ConsecutiveMoves { first: *first, second: *second, quiet: *quiet, range: range(of, by)? }
        }
        N::Echo(of) => N::Echo(echo(of, by)?),
        N::PieceId(of) => N::PieceId(by.squares(of)?),
        N::Size(dictionary) => N::Size(*dictionary),
        N::Length(of) => N::Length(by.text(of)?),
        N::IndexOf(a, b) => N::IndexOf(by.text(a)?, by.text(b)?),
        N::ToNumber(of) => N::ToNumber(by.text(of)?),
        N::CodeOf(of) => N::CodeOf(by.text(of)?),
        N::GroupStart(group) => N::GroupStart(*group),
        N::LastGameNumber => N::LastGameNumber,
    })
}

pub(super) fn text<P: Form, Q2: Form, R: Rewrite<P, Q2>>(op: &T<P>, by: &mut R) -> Result<T<Q2>, R::Stop> {
    let texts =
        |of: &[Text<P>], by: &mut R| of.iter().map(|text| by.text(text)).collect::<Result<Vec<_>, _>>();
    Ok(match op {
        T::Elsewhere(of) => T::Elsewhere(elsewhere(of, by)?),
        T::Entry { dictionary, key } => T::Entry { dictionary: *dictionary, key: assigned(key, by)? },
        T::Sort { sort, of } => T::Sort { sort: *sort, of: by.text(of)? },
        T::Joined(a, b) => T::Joined(by.text(a)?, by.text(b)?),
        T::Written(of) => T::Written(all(of, by)?),
        T::Slice { of, from, to } => {
            T::Slice { of: by.text(of)?, from: maybe(from, by)?, to: maybe(to, by)? }
        }
        T::Letter { of, at } => T::Letter { of: by.text(of)?, at: by.number(at)? },
        T::Case { upper, of } => T::Case { upper: *upper, of: by.text(of)? },
        T::Fen => T::Fen,
        T::OriginalComment => T::OriginalComment,
        T::Match { text, pattern } => T::Match { text: by.text(text)?, pattern: pattern.clone() },
        T::Group(group) => T::Group(*group),
        T::OfCode(of) => T::OfCode(by.number(of)?),
        T::Extremum { largest, of } => T::Extremum { largest: *largest, of: texts(of, by)? },
        T::ReadFile(of) => T::ReadFile(by.text(of)?),
        T::CurrentTransform(names) => T::CurrentTransform(names.clone()),
    })
}

pub(super) fn position<P: Form, Q2: Form, R: Rewrite<P, Q2>>(
    op: &Q<P>,
    by: &mut R,
) -> Result<Q<Q2>, R::Stop> {
    Ok(match op {
        Q::Elsewhere(of) => Q::Elsewhere(elsewhere(of, by)?),
        Q::Entry { dictionary, key } => Q::Entry { dictionary: *dictionary, key: assigned(key, by)? },
        Q::Current => Q::Current,
        Q::Parent => Q::Parent,
        Q::Child(of) => Q::Child(by.number(of)?),
        Q::Numbered(of) => Q::Numbered(by.number(of)?),
        Q::LastCommonAncestor(a, b) => Q::LastCommonAncestor(by.position(a)?, by.position(b)?),
        Q::Compare { by: order, left, right } => {
            Q::Compare { by: *order, left: by.position(left)?, right: by.position(right)? }
        }
        Q::LineEnd(of) => Q::LineEnd(line(of, by)?),
        Q::PathEnd(of) => Q::PathEnd(path(of, by)?),
        Q::PathStart => Q::PathStart,
        Q::PathLast => Q::PathLast,
    })
}
