//! Rejects the filters of the game language (filters about moves and other positions) that no plan can express yet.

use std::{collections::HashMap, fmt::Debug};

use orbit_core::diagnostic::{Diagnostic, Span};
use orbit_query::{
    TypedQuery,
    tree::{
        Any, ConditionOp as C, Control, Edge, Elsewhere, Focus, Form, GameCondition, GameNumber,
        GamePosition, GameSquares, GameText, Kind, Line, Move, MoveOf, MoveValue, Number, NumberOp as N,
        Path, PathStep, Position, PositionOp as P, Promotion, Ref, Squares, SquaresOp as S, TextOp as T, Var,
        VarId, Written,
    },
};
use orbit_transforms::FilterRef;

/// Returns the error for a filter that no plan can express.
pub(crate) fn not_planned(at: Span, what: &str) -> Diagnostic {
    Diagnostic::error(at, format!("the engines `cpu` and `gpu` lack {what}"), "the reference engine has it")
}

/// Returns the reason why no plan can express a query, or `None` if a plan can.
pub(crate) fn refusal(query: &TypedQuery) -> Option<Diagnostic> {
    if !query.body.any(|filter| filter.is_of_game()) {
        return None;
    }
    let mut walk = FormWalk {
        vars: &query.vars,
        variations: query.variations,
        span: |span| *span,
        evaluations: 0,
        homes: HashMap::new(),
    };
    walk.visit(
        query.body.node(),
        &FilterPlace { home: 0, is_root: true, loops: Vec::new(), owned: CastlingParts::No },
    )
    .err()
}

/// Returns the error for the first filter that not even a flat program can express, or `None` if there is no such filter.
pub(crate) fn refusal_of_programs(query: &TypedQuery) -> Option<Diagnostic> {
    let mut found = None;
    query.body.walk(&mut |filter| {
        if let (None, Some(what)) = (&found, lacked_by_programs(filter)) {
            found = Some(not_planned(*filter.mark(), what));
        }
    });
    found
}

/// Returns a filter's name for the error message, if no flat program (a list of instructions that runs at each position) can
/// contain this filter. Its operands are not checked.
fn lacked_by_programs(filter: Ref<'_, Written>) -> Option<&'static str> {
    use GameCondition as G;
    match filter {
        Ref::Condition(f) if let C::Game(op) = f.op() => match op {
            G::Message { .. } | G::SetTag { .. } | G::RemoveComment | G::WriteFile { .. } => {
                Some("what writes")
            }
            G::Glyph(_) => Some("`originalcomment`"),
            _ => None,
        },
        Ref::Text(f) if let T::Game(op) = f.op() => match op {
            GameText::OriginalComment => Some("`originalcomment`"),
            GameText::ReadFile(_) => Some("`readfile`"),
            _ => None,
        },
        _ => None,
    }
}

/// Returns true if a plan can express a filter at any position, whatever the order in which positions are evaluated. The transforms
/// of the filter must be expanded.
pub(crate) fn says(filter: FilterRef, vars: &[Var], variations: bool) -> bool {
    let (span, evaluations, homes) = (|_: &bool| Span::default(), 0, HashMap::new());
    let mut walk = FormWalk { vars, variations, span, evaluations, homes };
    let place = FilterPlace { home: 0, is_root: false, loops: Vec::new(), owned: CastlingParts::No };
    walk.visit(filter, &place).is_ok()
}

/// Returns true if a filter contains a `move` that means the next move of the line when the filter is a constituent of `line`.
pub(crate) fn stands_for_move<Q: Form>(filter: Ref<'_, Q>) -> bool {
    match filter {
        Ref::Condition(f) => match f.op() {
            C::Game(GameCondition::Move(of)) => return of.of == MoveOf::Played,
            C::Game(GameCondition::At { .. } | GameCondition::Edge { .. } | GameCondition::Echo(_)) => {
                return false;
            }
            _ => {}
        },
        Ref::Squares(f) => match f.op() {
            S::Game(GameSquares::Move(of)) => return of.of == MoveOf::Played,
            S::Game(GameSquares::Elsewhere(_)) => return false,
            _ => {}
        },
        Ref::Number(f) => {
            if matches!(
                f.op(),
                N::Find { .. }
                    | N::Game(
                        GameNumber::Elsewhere(_)
                            | GameNumber::Line(_)
                            | GameNumber::Path(_)
                            | GameNumber::Echo(_)
                            | GameNumber::CountMoves { .. }
                    )
            ) {
                return false;
            }
        }
        Ref::Position(f) => {
            if !matches!(f.op(), P::Control(_)) {
                return false;
            }
        }
        Ref::Text(_) => {}
    }
    filter.children().into_iter().any(stands_for_move)
}

/// The meaning of `from` and `to` after castling: the squares of both moves (`No`), or only those of the king's or the rook's move.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CastlingParts {
    No,
    /// The squares of only the king's or only the rook's move, and a plan can determine which of the two moves it is.
    Here,
    /// The squares of only the king's or only the rook's move, and no plan can determine which of the two moves it is.
    Refused,
}

/// The context of a filter.
#[derive(Clone)]
struct FilterPlace {
    /// The number of the evaluation that includes the filter. A filter inside `find`, for example, begins another evaluation. A
    /// plan can express a variable only if a single evaluation uses it.
    home: u32,
    /// True if the filter belongs to the evaluation of the query itself, which visits the positions of a game in order.
    is_root: bool,
    /// The variables of the loops over squares that enclose the filter and belong to the same evaluation.
    loops: Vec<VarId>,
    owned: CastlingParts,
}

/// A visitor that finds filters that no plan can express, in trees with or without expanded transforms.
struct FormWalk<'q, M> {
    vars: &'q [Var],
    /// True if the query searches side lines as well as main lines.
    variations: bool,
    /// Returns the span of a filter in the query text, from the mark that the tree stores with the filter.
    span: fn(&M) -> Span,
    evaluations: u32,
    /// The evaluation that uses each variable.
    homes: HashMap<VarId, u32>,
}

type Refused = Result<(), Diagnostic>;

impl<M: Clone + Debug> FormWalk<'_, M> {
    /// Returns the context of a filter that begins another evaluation, because it is evaluated at other positions.
    fn apart(&mut self) -> FilterPlace {
        self.evaluations += 1;
        FilterPlace { home: self.evaluations, is_root: false, loops: Vec::new(), owned: CastlingParts::No }
    }

    fn name(&mut self, var: VarId, at: Span, place: &FilterPlace) -> Refused {
        if *self.homes.entry(var).or_insert(place.home) == place.home {
            return Ok(());
        }
        let name = &self.vars[var.0 as usize].name;
        Err(not_planned(at, &format!("`{name}`, which is used at several positions of the game")))
    }

    fn each<'a, Q: Form<Mark = M>, F: Kind<Q> + 'a>(
        &mut self,
        filters: impl IntoIterator<Item = &'a F>,
        place: &FilterPlace,
    ) -> Refused {
        filters.into_iter().try_for_each(|filter| self.visit(filter.node(), place))
    }

    fn children<Q: Form<Mark = M>>(&mut self, node: Ref<Q>, place: &FilterPlace) -> Refused {
        node.children().into_iter().try_for_each(|child| self.visit(child, place))
    }

    fn visit<Q: Form<Mark = M>>(&mut self, node: Ref<Q>, place: &FilterPlace) -> Refused {
        let at = (self.span)(node.mark());
        match node {
            Ref::Condition(f) => match f.op() {
                C::Game(op) => return self.condition(op, at, place),
                C::Assign(var, _) => self.name(*var, at, place)?,
                C::SquareAll { var, domain, body } => return self.square_loop(*var, domain, body, at, place),
                _ => {}
            },
            Ref::Squares(f) => match f.op() {
                S::Game(op) => return self.squares(op, at, place),
                S::SquareLoop { var, domain, body } => {
                    return self.square_loop(*var, domain, body, at, place);
                }
                S::Control(Control::Var(var)) => self.name(*var, at, place)?,
                _ => {}
            },
            Ref::Number(f) => match f.op() {
                N::Game(op) => return self.number(op, at, place),
                N::Control(Control::Var(var)) => self.name(*var, at, place)?,
                N::Find { of, .. } => return self.found(of, place),
                _ => {}
            },
            Ref::Text(f) => match f.op() {
                T::Game(GameText::Sort { of, .. }) => return self.sorted(of, place),
                T::Game(_) => return Err(not_planned(at, "this string")),
                T::Control(Control::Var(var)) => self.name(*var, at, place)?,
                _ => {}
            },
            Ref::Position(f) => match f.op() {
                P::Game(op) => return self.position(op, at, place),
                P::Control(Control::Var(var)) => self.name(*var, at, place)?,
                P::Find { of, .. } => return self.found(of, place),
                _ => {}
            },
        }
        self.children(node, place)
    }

    fn found<Q: Form<Mark = M>>(&mut self, of: &Any<Q>, place: &FilterPlace) -> Refused {
        let inner = self.inside(place);
        self.visit(of.node(), &inner)
    }

    /// Checks the operand of `sort` for filters that no plan can express. Plans can ignore the sort itself, because the order of
    /// games does not affect the hits.
    fn sorted<Q: Form<Mark = M>, F: Kind<Q>>(&mut self, of: &F, place: &FilterPlace) -> Refused {
        // After castling, a plan cannot determine here if `from` and `to` are the king's or the rook's squares.
        let owned = if place.owned == CastlingParts::No { CastlingParts::No } else { CastlingParts::Refused };
        self.visit(of.node(), &FilterPlace { owned, ..place.clone() })
    }

    /// Returns the context of a filter that begins another evaluation. If `from` and `to` mean only the king's or the rook's move
    /// of castling here, no plan can determine which one they mean inside that filter.
    fn inside(&mut self, place: &FilterPlace) -> FilterPlace {
        let owned = if place.owned == CastlingParts::No { CastlingParts::No } else { CastlingParts::Refused };
        FilterPlace { owned, ..self.apart() }
    }

    fn square_loop<Q: Form<Mark = M>>(
        &mut self,
        var: VarId,
        domain: &Squares<Q>,
        body: &Any<Q>,
        at: Span,
        place: &FilterPlace,
    ) -> Refused {
        self.visit(domain.node(), place)?;
        self.name(var, at, place)?;
        let mut inside = place.clone();
        inside.loops.push(var);
        self.visit(body.node(), &inside)
    }

    /// Rejects operands that depend on the square of an enclosing loop. Column operations run outside of programs, so they cannot
    /// read this square.
    fn out_of_loops<Q: Form<Mark = M>>(&self, at: Span, place: &FilterPlace, operands: &[Ref<Q>]) -> Refused {
        let is_of_loop = |filter: Ref<Q>| match filter {
            Ref::Squares(f) => match f.op() {
                S::Control(Control::Var(var)) => place.loops.contains(var),
                _ => false,
            },
            _ => false,
        };
        if !place.loops.is_empty()
            && operands.iter().any(|operand| operand.any(&mut |filter| is_of_loop(filter)))
        {
            return Err(not_planned(at, "what depends on the square of a loop and looks at other positions"));
        }
        Ok(())
    }

    fn condition<Q: Form<Mark = M>>(
        &mut self,
        op: &GameCondition<Q>,
        at: Span,
        place: &FilterPlace,
    ) -> Refused {
        use GameCondition as G;
        match op {
            G::Sibling(_)
            | G::Arrived(_)
            | G::NullMove
            | G::Mainline
            | G::Variation
            | G::VirtualMainline
            | G::Try => Ok(()),
            G::At { at: position, of } => self.at(position, of.node(), at, place),
            G::Edge { edge, target } => self.edge(edge, target.as_ref().map(Kind::node), at, place),
            G::Move(of) => self.moves(of, at, place),
            G::Ancestor { ancestor, of } => self.positions([ancestor, of], at, place),
            G::Comment(of) => self.each(of, place),
            G::Echo(_) => Err(not_planned(at, "`echo`")),
            G::BindPiece { .. } | G::PieceAll { .. } => Err(not_planned(at, "a piece variable")),
            G::SetEntry { .. } | G::Forget { .. } | G::KeyLoop { .. } => Err(not_planned(at, "a dictionary")),
            G::AssignSome { .. } | G::SetSlice { .. } | G::Unbind(_) | G::IsBound { .. } => {
                Err(not_planned(at, "such an assignment"))
            }
            G::Loop(_) | G::While { .. } | G::WhileMatch { .. } => Err(not_planned(at, "a loop")),
            G::Assert(_) | G::Abort => Err(not_planned(at, "what ends the run")),
            G::Message { .. } | G::SetTag { .. } | G::RemoveComment | G::WriteFile { .. } => {
                Err(not_planned(at, "what writes"))
            }
            G::Equal(..) => Err(not_planned(at, "`equal`")),
            G::Glyph(_) => Err(not_planned(at, "`originalcomment`")),
        }
    }

    fn squares<Q: Form<Mark = M>>(&mut self, op: &GameSquares<Q>, at: Span, place: &FilterPlace) -> Refused {
        use GameSquares as G;
        match op {
            G::From | G::To if place.owned == CastlingParts::Refused => {
                Err(not_planned(at, "`from` or `to` at another position behind a `--`"))
            }
            G::From | G::To | G::EnPassantSquare => Ok(()),
            G::Elsewhere(of) => self.elsewhere(of, at, place),
            G::Move(of) => self.moves(of, at, place),
            G::SameContents(a, b) => self.positions([a, b], at, place),
            G::Entry { .. } => Err(not_planned(at, "a dictionary")),
            G::Piece(_) | G::PieceLoop { .. } => Err(not_planned(at, "a piece variable")),
            G::SquareOf(_) => Err(not_planned(at, "a square that a string names")),
        }
    }

    fn number<Q: Form<Mark = M>>(&mut self, op: &GameNumber<Q>, at: Span, place: &FilterPlace) -> Refused {
        use GameNumber as G;
        match op {
            G::PositionId | G::Depth | G::LastGameNumber => Ok(()),
            G::Elsewhere(of) => self.elsewhere(of, at, place),
            G::CountMoves { edge, target } => self.edge(edge, target.as_ref().map(Kind::node), at, place),
            G::Move(of) => self.moves(of, at, place),
            G::Line(line) => self.line(line, false, at, place),
            G::Path(path) => self.path(path, false, at, place),
            G::Distance(a, b) => self.positions([a, b], at, place),
            G::PathCount | G::PathCountUnfocused => Err(not_planned(at, "what `path` keeps")),
            G::Entry { .. } | G::Size(_) => Err(not_planned(at, "a dictionary")),
            G::Sort { of, .. } => self.sorted(of, place),
            G::ConsecutiveMoves { .. } => Err(not_planned(at, "`consecutivemoves`")),
            G::Echo(_) => Err(not_planned(at, "`echo`")),
            G::PieceId(_) => Err(not_planned(at, "`pieceid`")),
            G::Length(_) | G::IndexOf(..) | G::ToNumber(_) | G::CodeOf(_) | G::GroupStart(_) => {
                Err(not_planned(at, "a number that is told of a string"))
            }
        }
    }

    fn position<Q: Form<Mark = M>>(
        &mut self,
        op: &GamePosition<Q>,
        at: Span,
        place: &FilterPlace,
    ) -> Refused {
        use GamePosition as G;
        match op {
            G::Current | G::Parent => Ok(()),
            G::Elsewhere(of) => self.elsewhere(of, at, place),
            G::Child(n) | G::Numbered(n) => {
                self.out_of_loops(at, place, &[n.node()])?;
                self.visit(n.node(), place)
            }
            G::LastCommonAncestor(a, b) => self.positions([a, b], at, place),
            G::Compare { left, right, .. } => self.positions([left, right], at, place),
            G::LineEnd(line) => self.line(line, true, at, place),
            G::PathEnd(path) => self.path(path, true, at, place),
            G::PathStart | G::PathLast => Err(not_planned(at, "what `path` keeps")),
            G::Entry { .. } => Err(not_planned(at, "a dictionary")),
        }
    }

    fn positions<Q: Form<Mark = M>>(
        &mut self,
        both: [&Position<Q>; 2],
        at: Span,
        place: &FilterPlace,
    ) -> Refused {
        self.out_of_loops(at, place, &both.map(Kind::node))?;
        self.each(both, place)
    }

    fn at<Q: Form<Mark = M>>(
        &mut self,
        position: &Position<Q>,
        of: Ref<Q>,
        at: Span,
        place: &FilterPlace,
    ) -> Refused {
        self.out_of_loops(at, place, &[position.node(), of])?;
        self.visit(position.node(), place)?;
        let there = self.apart();
        self.visit(of, &there)
    }

    fn elsewhere<Q: Form<Mark = M>, F: Kind<Q>>(
        &mut self,
        of: &Elsewhere<Q, F>,
        at: Span,
        place: &FilterPlace,
    ) -> Refused {
        match of {
            Elsewhere::At { at: position, of } => self.at(position, of.node(), at, place),
            Elsewhere::Edge { edge, target } => self.edge(edge, Some(target.node()), at, place),
        }
    }

    fn edge<Q: Form<Mark = M>>(
        &mut self,
        edge: &Edge<Q>,
        target: Option<Ref<Q>>,
        at: Span,
        place: &FilterPlace,
    ) -> Refused {
        let sets = || edge.from.iter().chain(&edge.to);
        let operands: Vec<_> = sets().map(Kind::node).chain(target).collect();
        self.out_of_loops(at, place, &operands)?;
        if let Some(Promotion::Letters(text)) = &edge.promotion
            && !matches!(text.op(), T::Literal(_))
        {
            return Err(not_planned((self.span)(&text.mark), "a promotion that a string names"));
        }
        let before = if edge.entering { self.apart() } else { place.clone() };
        self.each(sets(), &before)?;
        let Some(target) = target else { return Ok(()) };
        let behind = if edge.entering { place.clone() } else { self.apart() };
        self.visit(target, &FilterPlace { owned: CastlingParts::Here, ..behind })
    }

    fn moves<Q: Form<Mark = M>>(&mut self, of: &Move<Q>, at: Span, place: &FilterPlace) -> Refused {
        let sets = || [&of.from, &of.to, &of.capture, &of.en_passant_square].into_iter().flatten();
        let legal = matches!(of.of, MoveOf::Legal | MoveOf::Pseudolegal);
        let plain = of.capture.is_none()
            && of.en_passant_square.is_none()
            && of.promote.is_none()
            && !of.null
            && of.sibling.is_none();
        if legal && !plain {
            return Err(not_planned(at, "`move legal` with more than `from`, `to` and kinds of moves"));
        }
        if !legal {
            if of.value == MoveValue::Count {
                return Err(not_planned(at, "`move count` of moves that were played"));
            }
            self.out_of_loops(at, place, &sets().map(Kind::node).collect::<Vec<_>>())?;
        }
        self.each(of.comment.iter().flatten(), place)?;
        let before = if of.of == MoveOf::Previous { self.apart() } else { place.clone() };
        self.each(sets(), &before)
    }

    /// Rejects `nestban`, `firstmatch` and `lastposition` where plans cannot express them. Plans express some of them only in
    /// main lines, and `nestban` only at the positions at which the query itself is evaluated.
    fn chain(&mut self, nestban: bool, in_order: bool, at: Span, place: &FilterPlace) -> Refused {
        if nestban && !(place.is_root && place.loops.is_empty()) {
            return Err(not_planned(at, "`nestban` at other positions or in a loop"));
        }
        if self.variations && in_order {
            return Err(not_planned(at, "`nestban`, `firstmatch` or `lastposition` in side lines"));
        }
        Ok(())
    }

    fn range<Q: Form<Mark = M>>(&mut self, range: &Option<[Number<Q>; 2]>, place: &FilterPlace) -> Refused {
        self.each(range.iter().flatten(), place)
    }

    fn line<Q: Form<Mark = M>>(
        &mut self,
        line: &Line<Q>,
        end: bool,
        at: Span,
        place: &FilterPlace,
    ) -> Refused {
        let in_order = line.nestban || line.first_match || end;
        self.chain(line.nestban, in_order, at, place)?;
        self.range(&line.range, place)?;
        let mut steps = Vec::new();
        line.chain.each(&mut |step| steps.push(step));
        if line.back && (line.nestban || line.sibling.is_some() || steps.iter().any(|step| step.tied)) {
            return Err(not_planned(at, "`line <--` with `nestban`, `primary`, `secondary` or `move`"));
        }
        let filters: Vec<_> = steps.iter().map(|step| step.filter.node()).collect();
        self.out_of_loops(at, place, &filters)?;
        for filter in filters {
            let there = self.inside(place);
            self.visit(filter, &there)?;
        }
        Ok(())
    }

    fn path<Q: Form<Mark = M>>(
        &mut self,
        path: &Path<Q>,
        end: bool,
        at: Span,
        place: &FilterPlace,
    ) -> Refused {
        let in_order = path.nestban || path.first_match || end;
        self.chain(path.nestban, in_order, at, place)?;
        if path.max.is_some() && (path.nestban || end) {
            return Err(not_planned(at, "`nestban` or `lastposition` of a path with `max`"));
        }
        self.range(&path.range, place)?;
        let mut operands: Vec<_> = path.max.iter().map(Kind::node).collect();
        let of_pieces = if let Some(Focus::Pieces { of, .. }) = &path.focus {
            self.visit(of.node(), place)?;
            operands.push(of.node());
            true
        } else {
            false
        };
        path.chain.each(&mut |step| match step {
            PathStep::Edge { edge, targets } => {
                operands.extend(edge.from.iter().chain(&edge.to).map(Kind::node));
                operands.extend(targets.iter().map(Kind::node));
            }
            PathStep::Filter(filter) => operands.push(filter.node()),
        });
        self.out_of_loops(at, place, &operands)?;
        let there = self.apart();
        self.each(&path.max, &there)?;
        let mut out = Ok(());
        path.chain.each(&mut |step| {
            if out.is_ok() {
                out = self.path_step(step, of_pieces, at);
            }
        });
        out
    }

    fn path_step<Q: Form<Mark = M>>(&mut self, step: &PathStep<Q>, of_pieces: bool, at: Span) -> Refused {
        let there = self.apart();
        match step {
            PathStep::Filter(filter) => self.visit(filter.node(), &there),
            PathStep::Edge { edge, targets } => {
                self.edge(edge, None, at, &there)?;
                // The position at which the path starts determines if the king or the rook is in focus, so no plan can determine
                // the meaning of `from` and `to` after castling.
                let owned = if of_pieces { CastlingParts::Refused } else { CastlingParts::Here };
                let behind = FilterPlace { owned, ..self.apart() };
                self.each(targets, &behind)
            }
        }
    }
}
