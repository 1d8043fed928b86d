//! Which piece is which: pieces keep their numbers through a game.

use shakmaty::Bitboard;

use super::{
    copies::{Explicit, Filter},
    eval::Evaluation,
};
use crate::{
    diagnostic::Span,
    query::tree::{Squares, VarId},
};

// The cell of a piece variable holds `Cell::Number`, the number of its piece.
impl Evaluation<'_> {
    pub(super) fn bind_piece(&mut self, _var: VarId, _of: &Squares<Explicit>) -> bool {
        false
    }

    pub(super) fn piece_all(
        &mut self,
        _var: VarId,
        _domain: &Squares<Explicit>,
        _body: &Filter,
        _span: Span,
    ) -> bool {
        false
    }

    pub(super) fn piece_loop(
        &mut self,
        _var: VarId,
        _domain: &Squares<Explicit>,
        _body: &Filter,
        _span: Span,
    ) -> Bitboard {
        Bitboard::EMPTY
    }

    /// Where the piece of a variable stands at this position.
    pub(super) fn piece_squares(&mut self, _var: VarId, _span: Span) -> Bitboard {
        Bitboard::EMPTY
    }

    pub(super) fn piece_id(&mut self, _of: &Squares<Explicit>) -> Option<i32> {
        None
    }

    /// `Rh1`; nothing of a piece that was captured.
    pub(super) fn piece_text(&mut self, _var: VarId, _span: Span) -> Vec<u8> {
        Vec::new()
    }
}
