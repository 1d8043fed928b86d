//! Speeds up loops over pieces. If the body of a loop can match only for a piece that moves next, the loop skips all other
//! pieces.
//!
//! A path begins with a move from the current position. If the body of a loop requires a path that begins with a move of the
//! loop's piece, no other piece can match. The other pieces are skipped only if this has no visible effect: nothing else reads
//! the variables that the body assigns, and the body cannot run into an error.

use std::collections::HashMap;

use super::{
    compile::{CompileResult, Compiler},
    edges::piece_of,
    names::{matches_text, reads_group, used},
    walks::bans,
};
use crate::{Instr, Label, RegisterWord};
use orbit_query::tree::{
    Assigned, Chain, ConditionOp as C, Control, Edge, Focus, GameCondition as GC, GameNumber as GN,
    GamePosition as GP, GameSquares as GS, Kind as _, NumberOp as N, Path, PathStep, PositionOp as P, Ref,
    SquaresOp as S, TextOp as T, VarId,
};
use orbit_transforms::{Condition, Expanded, Filter, FilterRef, Squares};

impl Compiler<'_> {
    /// Restricts a loop over pieces to the pieces that move next, if its body can match for no other piece.
    pub(super) fn only_movers(
        &mut self,
        var: VarId,
        [domain, body]: [FilterRef; 2],
        set: RegisterWord,
    ) -> CompileResult {
        if !begins_with_move_of(body, var) || !self.is_closed_loop(var, [domain, body]) {
            return Ok(());
        }
        self.scratch(|this| {
            let leaving = this.word()?;
            let from = this.leaving();
            this.load(leaving, from)?;
            this.emit(Instr::And { to: set, a: set, b: leaving })
        })
    }

    /// If the body of a loop requires a path whose first move does not depend on the loop's variable, compiles a test of this move
    /// before the loop. The code jumps to `none` if no move from the current position passes, so the body can match for no square
    /// or piece.
    pub(super) fn unless_begins(
        &mut self,
        var: VarId,
        [domain, body]: [FilterRef; 2],
        none: Label,
    ) -> CompileResult {
        let Some((edge, targets)) = first_move(body) else { return Ok(()) };
        // Castling consists of a king's move and a rook's move. If the piece is not known, the path may accept one of them and this
        // test the other.
        if edge.from.as_ref().and_then(piece_of).is_none() {
            return Ok(());
        }
        let target = Condition::new(C::Braces(targets.to_vec()), false);
        let edge = GC::Edge { edge: edge.clone(), target: Some(Filter::Condition(target)) };
        let first = Filter::Condition(Condition::new(C::Game(edge), false));
        if !self.is_harmless(first.node()) || !self.is_closed_loop(var, [domain, body]) {
            return Ok(());
        }
        self.apart_from_moves(|this| this.unless(first.node(), none))
    }

    /// Returns true if no filter outside the loop reads a variable that the loop assigns, and the loop cannot run into an error.
    fn is_closed_loop(&self, var: VarId, [domain, body]: [FilterRef; 2]) -> bool {
        let mut own = HashMap::from([(var, 1)]);
        for part in [domain, body] {
            part.walk(&mut |filter| used(filter, &mut |var| *own.entry(var).or_default() += 1));
        }
        let stays = |var: &VarId| self.uses.get(var) == own.get(var);
        let mut known = self.sure.clone();
        known.push(var);
        stays(&var) && !body.any(&mut bans) && self.is_sure(body, &mut known, &stays)
    }

    /// Returns true if the evaluation of a filter may be skipped where the filter cannot match: all variables that it reads are
    /// bound, and `stays` is true for all variables that it assigns. `stays` tests that an assignment to the variable has no effect
    /// elsewhere. `known` lists the variables that are bound before the filter, and is extended while the filter is visited.
    pub(super) fn is_sure(
        &self,
        filter: FilterRef,
        known: &mut Vec<VarId>,
        stays: &dyn Fn(&VarId) -> bool,
    ) -> bool {
        // Reading a group of a regular expression may cause an error, and every search with a regular expression may change the
        // groups.
        if reads_group(filter) || self.reads_groups && matches_text(filter) {
            return false;
        }
        let before = known.len();
        if is_sequence(filter) {
            // A variable that one filter assigns is bound in the filters after it.
            let sure = filter.children().into_iter().all(|child| self.is_sure(child, known, stays));
            known.truncate(before);
            return sure;
        }
        let bound = match filter {
            Ref::Condition(f) => match f.op() {
                C::Assign(var, _) => {
                    let sure = stays(var) && self.children_are_sure(filter, known, stays);
                    known.push(*var);
                    return sure;
                }
                C::SquareAll { var, .. } | C::Game(GC::PieceAll { var, .. }) => vec![*var],
                C::Game(GC::Echo(echo)) => vec![echo.source, echo.target],
                C::Game(
                    GC::Sibling(_)
                    | GC::Arrived(_)
                    | GC::NullMove
                    | GC::Mainline
                    | GC::Variation
                    | GC::VirtualMainline
                    | GC::Try
                    | GC::At { .. }
                    | GC::Edge { .. }
                    | GC::Move(_)
                    | GC::Ancestor { .. }
                    | GC::Comment(_),
                ) => vec![],
                C::Game(_) => return false,
                _ => vec![],
            },
            Ref::Squares(f) => match f.op() {
                S::SquareLoop { var, .. } | S::Game(GS::PieceLoop { var, .. }) => vec![*var],
                S::Control(Control::Var(var)) | S::Game(GS::Piece(var)) => return known.contains(var),
                _ => vec![],
            },
            Ref::Number(f) => match f.op() {
                N::Control(Control::Var(var)) => return known.contains(var),
                N::Game(GN::Echo(_) | GN::ConsecutiveMoves { .. }) => return false,
                _ => vec![],
            },
            Ref::Position(f) => match f.op() {
                P::Control(Control::Var(var)) => return known.contains(var),
                _ => vec![],
            },
            Ref::Text(f) => match f.op() {
                T::Control(Control::Var(var)) => return known.contains(var),
                _ => vec![],
            },
        };
        if !bound.iter().all(|var| stays(var) && !known.contains(var)) {
            return false;
        }
        known.extend(bound);
        let sure = self.children_are_sure(filter, known, stays);
        known.truncate(before);
        sure
    }

    fn children_are_sure(
        &self,
        filter: FilterRef,
        known: &mut Vec<VarId>,
        stays: &dyn Fn(&VarId) -> bool,
    ) -> bool {
        filter.children().into_iter().all(|child| {
            let before = known.len();
            let sure = self.is_sure(child, known, stays);
            known.truncate(before);
            sure
        })
    }
}

/// Returns true if the operands of a filter must all match, and are evaluated one after the other.
pub(super) fn is_sequence(filter: FilterRef) -> bool {
    match filter {
        Ref::Condition(f) => matches!(f.op(), C::And(..) | C::Braces(_)),
        Ref::Squares(f) => matches!(f.op(), S::Control(Control::Braces { .. })),
        Ref::Number(f) => matches!(f.op(), N::Control(Control::Braces { .. })),
        Ref::Position(f) => matches!(f.op(), P::Control(Control::Braces { .. })),
        Ref::Text(f) => matches!(f.op(), T::Control(Control::Braces { .. })),
    }
}

/// Returns true if a filter can match only at positions from which the piece in the variable `piece` moves next.
fn begins_with_move_of(filter: FilterRef, piece: VarId) -> bool {
    let begins = |filter: FilterRef| begins_with_move_of(filter, piece);
    if is_sequence(filter) {
        return filter.children().into_iter().any(begins);
    }
    match filter {
        Ref::Squares(f) => match f.op() {
            S::SquareLoop { body, .. } | S::Game(GS::PieceLoop { body, .. }) => begins(body.node()),
            _ => false,
        },
        Ref::Number(f) => match f.op() {
            N::Compare(_, a, b) => begins(a.node()) || begins(b.node()),
            N::InRange { of, .. } => begins(of.node()),
            N::Game(GN::Sort { of, .. }) => begins(of.node()),
            N::Game(GN::Path(path)) => path_begins_with(path, piece),
            _ => false,
        },
        Ref::Position(f) => match f.op() {
            P::Game(GP::PathEnd(path)) => path_begins_with(path, piece),
            _ => false,
        },
        Ref::Condition(_) | Ref::Text(_) => false,
    }
}

/// If a filter can match only where a path begins, and the first constituent of the path is always the same move, returns this move
/// and the filters after it.
pub(super) fn first_move(filter: FilterRef<'_>) -> Option<(&Edge<Expanded>, &[Filter])> {
    if is_sequence(filter) {
        return filter.children().into_iter().find_map(first_move);
    }
    match filter {
        Ref::Squares(f) => match f.op() {
            S::SquareLoop { body, .. } | S::Game(GS::PieceLoop { body, .. }) => first_move(body.node()),
            _ => None,
        },
        Ref::Number(f) => match f.op() {
            N::Compare(_, a, b) => first_move(a.node()).or_else(|| first_move(b.node())),
            N::InRange { of, .. } | N::Game(GN::Sort { of, .. }) => first_move(of.node()),
            N::Game(GN::Path(path)) => first_move_of(&path.chain),
            _ => None,
        },
        Ref::Position(f) => match f.op() {
            P::Game(GP::PathEnd(path)) => first_move_of(&path.chain),
            _ => None,
        },
        Ref::Condition(f) => match f.op() {
            C::Assign(_, Assigned::Number(of)) => first_move(of.node()),
            C::Assign(_, Assigned::Position(of)) => first_move(of.node()),
            _ => None,
        },
        Ref::Text(_) => None,
    }
}

fn first_move_of(chain: &Chain<PathStep<Expanded>>) -> Option<(&Edge<Expanded>, &[Filter])> {
    match chain {
        Chain::One(PathStep::Edge { edge, targets }) => Some((edge, targets)),
        Chain::Sequence(all) => first_move_of(all.first()?),
        Chain::Repeat { of, min: 1.., .. } => first_move_of(of),
        Chain::One(PathStep::Filter(_)) | Chain::Repeat { .. } => None,
    }
}

fn path_begins_with(path: &Path<Expanded>, piece: VarId) -> bool {
    match &path.focus {
        Some(Focus::Pieces { capture: false, of }) if is_of(of, piece) => true,
        _ => first_moves(&path.chain, piece).0,
    }
}

/// Returns two flags about a chain (a `line` or `path`). The first is true if the chain can begin only with moves of the piece. The
/// second is true if the chain can match without a move.
fn first_moves(chain: &Chain<PathStep<Expanded>>, piece: VarId) -> (bool, bool) {
    match chain {
        Chain::One(PathStep::Filter(_)) => (true, true),
        Chain::One(PathStep::Edge { edge, .. }) => {
            (edge.from.as_ref().is_some_and(|from| is_of(from, piece)), false)
        }
        Chain::Sequence(all) => {
            let mut of_piece = true;
            for part in all {
                let (first, without) = first_moves(part, piece);
                of_piece &= first;
                if !without {
                    return (of_piece, false);
                }
            }
            (of_piece, true)
        }
        Chain::Repeat { of, min, .. } => {
            let (first, without) = first_moves(of, piece);
            (first, without || *min == 0)
        }
    }
}

/// Returns true if a set can contain no square except that of the piece in the variable `piece`.
fn is_of(set: &Squares, piece: VarId) -> bool {
    match set.op() {
        S::Game(GS::Piece(var)) => *var == piece,
        S::Intersect(a, b) => is_of(a, piece) || is_of(b, piece),
        _ => false,
    }
}
