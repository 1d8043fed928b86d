//! Evaluates filters about single pieces of a game. Each piece has a number from the first position on, which does not change when
//! it moves or is promoted.

use shakmaty::{Bitboard, Square};

use super::{copies::ExplicitForm, eval::Evaluation, men::PieceMap, value::Evaluated};
use orbit_core::diagnostic::Span;
use orbit_query::tree::{Cell, GameSquares, Squares, SquaresOp, VarId};

impl Evaluation<'_> {
    fn men(&self) -> &PieceMap {
        self.tree().men(self.here.at)
    }

    /// Returns the number of the piece on the only square of a set, or `None` if the set does not have exactly one square or the
    /// square is empty.
    fn only_piece(&mut self, of: &Squares<ExplicitForm>) -> Option<u8> {
        let s = self.squares(of).single_square()?;
        self.men().on(s)
    }

    /// Returns the number of the piece in a variable.
    fn piece_of(&mut self, var: VarId, span: Span) -> Option<u8> {
        self.number_of_var(var, span).map(|piece| piece as u8)
    }

    /// Returns the current square of the piece in a variable, as a set. The set is empty if the piece has been captured.
    pub(super) fn piece_squares(&mut self, var: VarId, span: Span) -> Bitboard {
        let piece = self.piece_of(var, span);
        let square = piece.and_then(|piece| self.men().square_of(piece));
        square.map_or(Bitboard::EMPTY, Bitboard::from)
    }

    /// Returns the text for the piece in a variable and its square, such as `Rh1`. The text is empty if the piece has been
    /// captured.
    pub(super) fn piece_text(&mut self, var: VarId, span: Span) -> Vec<u8> {
        let square = self.piece_squares(var, span).single_square();
        let man = square.and_then(|s| Some((self.here.placement.at(s)?, s)));
        man.map_or(Vec::new(), |(man, s)| format!("{}{s}", man.char()).into_bytes())
    }

    /// Evaluates `piece X=S`: stores the piece on the square of `S` in the variable `X`.
    pub(super) fn bind_piece(&mut self, var: VarId, of: &Squares<ExplicitForm>) -> bool {
        let piece = self.only_piece(of);
        if let Some(piece) = piece.filter(|_| self.state.fault.is_none()) {
            self.state.cells.bind(var, Cell::Number(i32::from(piece)));
        }
        piece.is_some()
    }

    /// Returns the pieces on a set of squares, each as its square and the value that it gives to a loop variable.
    pub(super) fn pieces_to_try(&mut self, domain: &Squares<ExplicitForm>) -> Vec<(Square, Cell<Evaluated>)> {
        let squares = self.squares(domain);
        squares.into_iter().filter_map(|s| Some((s, Cell::Number(self.men().on(s)?.into())))).collect()
    }

    /// Evaluates `pieceid X` and `pieceid S`. A captured piece in a variable keeps its number.
    pub(super) fn piece_id(&mut self, of: &Squares<ExplicitForm>) -> Option<i32> {
        let piece = match of.op() {
            SquaresOp::Game(GameSquares::Piece(var)) => self.piece_of(*var, of.mark),
            _ => self.only_piece(of),
        };
        piece.map(i32::from)
    }
}
