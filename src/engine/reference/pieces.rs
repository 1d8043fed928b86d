//! The pieces of a game: each keeps its number from the first position on, whatever square it stands on and
//! whatever it becomes.

use shakmaty::{Bitboard, Square};

use super::{
    copies::{Explicit, Filter},
    edges::Played,
    eval::Evaluation,
};
use crate::{
    board::Position,
    diagnostic::Span,
    query::tree::{Cell, GameSquares, Squares, SquaresOp, VarId},
};

/// Which piece stands on each square of a position.
#[derive(Clone, Debug)]
pub(super) struct Men([Option<u8>; 64]);

impl Men {
    /// The pieces of the first position are numbered in the order of their squares.
    pub(super) fn at_start(position: &Position) -> Men {
        let mut numbers = 0..=u8::MAX;
        let occupied = |s| position.board.at(s).piece().is_some();
        Men(std::array::from_fn(|n| if occupied(Square::new(n as u32)) { numbers.next() } else { None }))
    }

    /// Where they stand after a move.
    pub(super) fn after(&self, played: &Played) -> Men {
        let mut out = self.clone();
        if let Some(captured) = played.captured {
            out.0[captured as usize] = None;
        }
        for (from, _) in played.shifts() {
            out.0[from as usize] = None;
        }
        for (from, to) in played.shifts() {
            out.0[to as usize] = self.on(from);
        }
        out
    }

    /// The piece on a square.
    pub(super) fn on(&self, s: Square) -> Option<u8> {
        self.0[s as usize]
    }

    /// The pieces on a set of squares.
    pub(super) fn on_any(&self, squares: Bitboard) -> impl Iterator<Item = u8> {
        squares.into_iter().filter_map(|s| self.on(s))
    }

    /// The square of a piece, while it is on the board.
    pub(super) fn square_of(&self, piece: u8) -> Option<Square> {
        Square::ALL.into_iter().find(|&s| self.on(s) == Some(piece))
    }
}

impl Evaluation<'_> {
    fn men(&self) -> &Men {
        self.tree().men(self.here.at)
    }

    /// The piece on a square, if the set is one square and it is occupied.
    fn only_piece(&mut self, of: &Squares<Explicit>) -> Option<u8> {
        let s = self.squares(of).single_square()?;
        self.men().on(s)
    }

    /// The piece that a variable holds.
    fn piece_of(&mut self, var: VarId, span: Span) -> Option<u8> {
        self.number_of_var(var, span).map(|piece| piece as u8)
    }

    /// Where the piece of a variable stands here.
    pub(super) fn piece_squares(&mut self, var: VarId, span: Span) -> Bitboard {
        let piece = self.piece_of(var, span);
        let square = piece.and_then(|piece| self.men().square_of(piece));
        square.map_or(Bitboard::EMPTY, Bitboard::from)
    }

    /// `Rh1`; nothing of a piece that was captured.
    pub(super) fn piece_text(&mut self, var: VarId, span: Span) -> Vec<u8> {
        let square = self.piece_squares(var, span).single_square();
        let man = square.and_then(|s| Some((self.here.placement.at(s)?, s)));
        man.map_or(Vec::new(), |(man, s)| format!("{}{s}", man.char()).into_bytes())
    }

    /// `piece X=S`.
    pub(super) fn bind_piece(&mut self, var: VarId, of: &Squares<Explicit>) -> bool {
        let piece = self.only_piece(of);
        if let Some(piece) = piece.filter(|_| self.state.fault.is_none()) {
            self.bind(var, piece);
        }
        piece.is_some()
    }

    fn bind(&mut self, var: VarId, piece: u8) {
        self.state.cells.bind(var, Cell::Number(i32::from(piece)));
    }

    /// The pieces on a set, with their squares.
    fn pieces_on(&mut self, domain: &Squares<Explicit>) -> Vec<(Square, u8)> {
        let squares = self.squares(domain);
        squares.into_iter().filter_map(|s| Some((s, self.men().on(s)?))).collect()
    }

    /// `piece X in S F`.
    pub(super) fn piece_loop(
        &mut self,
        var: VarId,
        domain: &Squares<Explicit>,
        body: &Filter,
        span: Span,
    ) -> Bitboard {
        let mut out = Bitboard::EMPTY;
        let domain = self.pieces_on(domain);
        if !self.may_loop(var, span) {
            return out;
        }
        for (s, piece) in domain {
            self.bind(var, piece);
            if self.matches(body) {
                out.add(s);
            }
        }
        self.state.cells.bind(var, Cell::Unbound);
        out
    }

    /// `piece all X in S F`.
    pub(super) fn piece_all(
        &mut self,
        var: VarId,
        domain: &Squares<Explicit>,
        body: &Filter,
        span: Span,
    ) -> bool {
        let domain = self.pieces_on(domain);
        if !self.may_loop(var, span) {
            return false;
        }
        let mut all = true;
        for (_, piece) in domain {
            self.bind(var, piece);
            all = self.matches(body);
            if !all {
                break;
            }
        }
        self.state.cells.bind(var, Cell::Unbound);
        all
    }

    /// `pieceid X`, `pieceid S`. A piece keeps its number when it is captured.
    pub(super) fn piece_id(&mut self, of: &Squares<Explicit>) -> Option<i32> {
        let piece = match of.op() {
            SquaresOp::Game(GameSquares::Piece(var)) => self.piece_of(*var, of.mark),
            _ => self.only_piece(of),
        };
        piece.map(i32::from)
    }
}
