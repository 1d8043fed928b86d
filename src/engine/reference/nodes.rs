//! Positions of the game tree and how they are related.

use shakmaty::Bitboard;

use super::{copies::Explicit, eval::Evaluation};
use crate::{
    diagnostic::Span,
    query::tree::{Number, Order, Position, VarId},
};

impl Evaluation<'_> {
    pub(super) fn is_mainline(&self) -> bool {
        false
    }

    pub(super) fn is_virtual_mainline(&self) -> bool {
        false
    }

    pub(super) fn is_try(&self) -> bool {
        false
    }

    pub(super) fn is_ancestor(&mut self, _ancestor: &Position<Explicit>, _of: &Position<Explicit>) -> bool {
        false
    }

    pub(super) fn depth(&self) -> i32 {
        0
    }

    pub(super) fn distance(&mut self, _a: &Position<Explicit>, _b: &Position<Explicit>) -> Option<i32> {
        None
    }

    pub(super) fn consecutive_moves(
        &mut self,
        _first: VarId,
        _second: VarId,
        _quiet: bool,
        _range: Option<&[Number<Explicit>; 2]>,
        _span: Span,
    ) -> Option<i32> {
        None
    }

    pub(super) fn parent(&self) -> Option<i32> {
        None
    }

    pub(super) fn child(&mut self, _number: &Number<Explicit>) -> Option<i32> {
        None
    }

    pub(super) fn numbered(&mut self, _number: &Number<Explicit>) -> Option<i32> {
        None
    }

    pub(super) fn last_common_ancestor(
        &mut self,
        _a: &Position<Explicit>,
        _b: &Position<Explicit>,
    ) -> Option<i32> {
        None
    }

    pub(super) fn compared_positions(
        &mut self,
        _by: Order,
        _left: &Position<Explicit>,
        _right: &Position<Explicit>,
    ) -> Option<i32> {
        None
    }

    pub(super) fn same_contents(&mut self, _a: &Position<Explicit>, _b: &Position<Explicit>) -> Bitboard {
        Bitboard::EMPTY
    }
}
