//! Finds a mask that is true wherever a query matches. The program of the query then runs only at the positions in the mask.
//!
//! A `line` or `path` can match only if each of its constituents matches at some later position. If a constituent requires a mask
//! that is true at no later position, the search need not begin. For example, the search for `line --> A --> ... --> mate` begins
//! only in games that end with mate.

use super::{
    compile::{CompileResult, Compiler, Lead},
    prune::is_sequence,
    walks::{bans, mover_of},
};
use crate::{Id, RegisterWord, dag::Carried};
use orbit_query::tree::{
    Assigned, ConditionOp as C, GameCondition, GameNumber, GamePosition, GameSquares, Kind, Line,
    NumberOp as N, Path, PathStep, PositionOp as P, Ref, SquaresOp as S, VarId,
};
use orbit_transforms::{Expanded, Filter, FilterRef, NumberOrbit, Orbit};

/// The maximum number of copies (transformed filters) of one filter whose masks are joined to a mask that is true wherever the
/// filter can match. With more copies, computing this mask takes longer than it saves.
const COPIES_MAX: usize = 16;

impl Compiler<'_> {
    /// Returns a mask that is true wherever a whole query matches. Returns `None` if no such mask is known. Also returns `None`
    /// if the query must be evaluated even where it cannot match, because it may run into an error or store a value that is read
    /// at another position or after the game.
    pub(super) fn lead_of_query(&mut self, filter: &Filter) -> CompileResult<Option<Id>> {
        let ends_with_game = |var: &VarId| self.facts.lasting().all(|lasting| lasting != *var);
        match self.is_sure(filter.node(), &mut Vec::new(), &ends_with_game) {
            true => self.needed(filter.node()),
            false => Ok(None),
        }
    }

    /// Returns a mask that is true at each position at which a filter matches. Returns `None` if no such mask is known.
    fn needed(&mut self, filter: FilterRef) -> CompileResult<Option<Id>> {
        if let Some(mask) = self.leaf(filter, |lower| lower.truth(filter))? {
            return Ok(Some(mask));
        }
        if is_sequence(filter) {
            return self.needed_all(filter.children());
        }
        match filter {
            Ref::Condition(f) => match f.op() {
                C::Assign(_, Assigned::Number(of)) => self.needed(of.node()),
                C::Assign(_, Assigned::Position(of)) => self.needed(of.node()),
                C::Game(GameCondition::BindPiece { of, .. } | GameCondition::AssignSome { of, .. }) => {
                    self.needed(of.node())
                }
                C::Form(orbit) => self.needed_any(orbit),
                C::Game(GameCondition::Edge { edge, .. }) => {
                    Ok(self.relaxed(edge, None)?.map(|lead| lead.mask))
                }
                _ => Ok(None),
            },
            Ref::Squares(f) => match f.op() {
                S::SquareLoop { domain, body, .. } | S::Game(GameSquares::PieceLoop { domain, body, .. }) => {
                    self.needed_all([domain.node(), body.node()])
                }
                S::Form(orbit) => self.needed_any(orbit),
                _ => Ok(None),
            },
            Ref::Number(f) => match f.op() {
                N::Compare(_, a, b) => self.needed_operands(&[a.node(), b.node()]),
                N::InRange { lo, hi, of } => self.needed_operands(&[lo.node(), hi.node(), of.node()]),
                N::Game(GameNumber::Sort { of, .. }) => self.needed(of.node()),
                N::Form(NumberOrbit::Largest(orbit)) => self.needed_any(orbit),
                N::Game(GameNumber::Line(line)) if !bans_inside(filter) => self.needed_of_line(line),
                N::Game(GameNumber::Path(path)) if !bans_inside(filter) => self.needed_of_path(path),
                _ => Ok(None),
            },
            Ref::Position(f) => match f.op() {
                P::Game(GamePosition::LineEnd(line)) if !bans_inside(filter) => self.needed_of_line(line),
                P::Game(GamePosition::PathEnd(path)) if !bans_inside(filter) => self.needed_of_path(path),
                _ => Ok(None),
            },
            Ref::Text(_) => Ok(None),
        }
    }

    /// Returns the mask of positions at which a sequence of filters can match. Ignores the filters after a `nestban`, because the
    /// `nestban` affects later positions even if one of these filters fails.
    fn needed_all<'f>(
        &mut self,
        filters: impl IntoIterator<Item = FilterRef<'f>>,
    ) -> CompileResult<Option<Id>> {
        let mut all = Vec::new();
        for filter in filters {
            all.extend(self.needed(filter)?);
            if filter.any(&mut bans) {
                break;
            }
        }
        Ok(self.every(all))
    }

    /// Returns the mask of positions at which all operands of an operation can have a value. All of them are evaluated, so where a
    /// `nestban` in one of them must have its effect, no other operand may prevent that.
    fn needed_operands(&mut self, operands: &[FilterRef]) -> CompileResult<Option<Id>> {
        let with_ban: Vec<&FilterRef> = operands.iter().filter(|operand| operand.any(&mut bans)).collect();
        match with_ban[..] {
            [] => self.needed_all(operands.iter().copied()),
            [one] => self.needed(*one),
            _ => Ok(None),
        }
    }

    /// Returns the mask of positions at which one of several copies (transformed filters) can match.
    fn needed_any<F: Kind<Expanded>>(&mut self, orbit: &Orbit<F>) -> CompileResult<Option<Id>> {
        let mut any = Vec::new();
        for (_, copy) in orbit.in_turn().into_iter().take(COPIES_MAX + 1) {
            match self.needed(copy.filter.node())? {
                Some(mask) if any.len() < COPIES_MAX => any.push(mask),
                _ => return Ok(None),
            }
        }
        Ok(any.into_iter().reduce(|any, mask| self.lower.or(any, mask)))
    }

    fn every(&mut self, masks: Vec<Id>) -> Option<Id> {
        masks.into_iter().reduce(|all, mask| self.lower.and(all, mask))
    }

    fn needed_of_line(&mut self, line: &Line<Expanded>) -> CompileResult<Option<Id>> {
        if line.back {
            return Ok(None);
        }
        let mut needed = Vec::new();
        line.chain.each_needed(&mut |step| needed.extend((!step.tied).then_some(step.filter.node())));
        let first = self.line_lead(line)?;
        self.untied(|this| {
            let mut ahead = Vec::new();
            for filter in needed {
                ahead.extend(this.needed(filter)?);
            }
            Ok(this.ahead(first, ahead))
        })
    }

    fn needed_of_path(&mut self, path: &Path<Expanded>) -> CompileResult<Option<Id>> {
        let mut needed = Vec::new();
        path.chain.each_needed(&mut |step| needed.push(step));
        self.apart_from_moves(|this| {
            let first = this.path_lead(path)?;
            let mover = mover_of(path);
            let mut ahead = Vec::new();
            for step in needed {
                match step {
                    PathStep::Filter(filter) => ahead.extend(this.needed(filter.node())?),
                    PathStep::Edge { edge, targets } => {
                        ahead.extend(this.relaxed(edge, mover)?.map(|lead| lead.mask));
                        // In the filters after a move of a path, `from` and `to` mean the squares of that move.
                        let of_move = Some(RegisterWord(0));
                        let targets = targets.iter().map(Filter::node);
                        ahead.extend(this.selecting(of_move, |this| this.needed_all(targets))?);
                    }
                }
            }
            Ok(this.ahead(first, ahead))
        })
    }

    /// Returns the mask of positions at which `first` is true and each mask in `ahead` is true at the same or a later position.
    fn ahead(&mut self, first: Option<Lead>, ahead: Vec<Id>) -> Option<Id> {
        let ahead = ahead.into_iter().map(|mask| self.lower.dag.carry(Carried::Any, false, mask));
        let masks = first.map(|lead| lead.mask).into_iter().chain(ahead).collect();
        self.every(masks)
    }
}

/// Returns true if an operand of a filter contains a `nestban`. If the filter is a `line` or `path`, even a failed search for it
/// then affects later positions.
fn bans_inside(filter: FilterRef) -> bool {
    filter.children().into_iter().any(|child| child.any(&mut bans))
}
