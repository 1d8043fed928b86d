//! Speeds up loops over squares and pieces. Filters in the body of a loop that do not depend on the square are evaluated once,
//! before the loop.
//!
//! In `square x in A {square y in a {square z in A {x attacks y z attacks y}}}`, for example, the program evaluates `x attacks y`
//! before the loop over z. A filter is taken out of a loop only if this has no visible effect: the filter and all filters before it
//! in the body store nothing and cannot run into an error, and nothing in the body changes a variable that the filter reads.

use super::{
    compile::{CompileResult, Compiler, address},
    conditions::{SquareLoop, keeps},
    leaves::{is_state, own},
    pairs::conjuncts,
    sizes,
    walks::bans,
};
use crate::{Instr, Label, lower::finds};
use orbit_query::tree::{GameSquares, Kind as _, Ref, SquaresOp as S, VarId};
use orbit_transforms::{FilterRef, Squares};

impl Compiler<'_> {
    /// Compiles the filters that are taken out of a loop. The code jumps to `fails` if one of them fails, so that the body matches
    /// for no square. If the loop visits no square, the code jumps to `done`. The filters are added to `self.known`, so that the
    /// code of the body omits them. After the loop, the caller removes them from this list. If `all` is true, the loop matches only
    /// if the body matches for every square.
    pub(super) fn unless_fixed(
        &mut self,
        of: SquareLoop,
        all: bool,
        fails: Label,
        done: Label,
    ) -> CompileResult {
        // A loop over pieces visits only occupied squares. If the set contains no occupied square, the loop matches without
        // evaluating its body.
        if all && of.pieces {
            return Ok(());
        }
        let (mut fixed, mut bound) = (Vec::new(), self.sure.clone());
        bound.push(of.var);
        self.take_fixed(of.body, of.body, &mut bound, &mut fixed);
        if fixed.is_empty() {
            return Ok(());
        }
        self.emit(Instr::UnlessAny { set: of.set, no: done })?;
        for filter in fixed {
            self.unless(filter, fails)?;
            self.known.push(address(filter));
            self.times *= sizes::MATCHES;
        }
        Ok(())
    }

    /// Adds to `fixed` the filters that can be taken out of a loop. `body` is the body of this loop, `part` is `body` or the body
    /// of a loop inside it, and `bound` lists the variables that are bound there. Returns false if the filters after `part` must
    /// stay in the loop.
    fn take_fixed<'f>(
        &self,
        part: FilterRef<'f>,
        body: FilterRef,
        bound: &mut Vec<VarId>,
        fixed: &mut Vec<FilterRef<'f>>,
    ) -> bool {
        conjuncts(part).into_iter().all(|filter| {
            if self.known.contains(&address(filter)) {
                return true;
            }
            if self.is_fixed(filter, body) {
                fixed.push(filter);
                return true;
            }
            if let Some((var, domain, inner)) = exists(filter)
                && self.has_no_effect(domain.node(), bound)
            {
                bound.push(var);
                self.take_fixed(inner, body, bound, fixed);
                bound.pop();
            }
            self.has_no_effect(filter, bound)
        })
    }

    /// Returns true if a filter has the same value for all squares of a loop, and can be evaluated quickly before the loop.
    fn is_fixed(&self, filter: FilterRef, body: FilterRef) -> bool {
        self.is_leaf(filter)
            || !filter.any(&mut looks_elsewhere)
                && own(filter).into_keys().all(|var| self.sure.contains(&var) && keeps(body, var))
                && self.has_no_effect(filter, &self.sure)
    }

    /// Returns true if a filter stores nothing and cannot run into an error, provided that the variables in `bound` are bound.
    pub(super) fn has_no_effect(&self, filter: FilterRef, bound: &[VarId]) -> bool {
        let has_effect = &mut |filter: FilterRef| is_state(filter) || bans(filter);
        !filter.any(has_effect) && self.is_sure(filter, &mut bound.to_vec(), &|_| true)
    }
}

/// Returns true if a filter reads more than the current position and the squares of pieces in variables. Its operands are not
/// examined.
fn looks_elsewhere(filter: FilterRef) -> bool {
    let is_piece = matches!(filter, Ref::Squares(f) if matches!(f.op(), S::Game(GameSquares::Piece(_))));
    finds(filter) && !is_piece
}

/// If a filter is a loop that matches if its body matches for at least one square, returns the variable, the set and the body.
fn exists(filter: FilterRef<'_>) -> Option<(VarId, &Squares, FilterRef<'_>)> {
    let Ref::Squares(f) = filter else { return None };
    match f.op() {
        S::SquareLoop { var, domain, body } | S::Game(GameSquares::PieceLoop { var, domain, body }) => {
            Some((*var, domain, body.node()))
        }
        _ => None,
    }
}
