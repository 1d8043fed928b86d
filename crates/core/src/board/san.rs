//! Writes moves as text.

use shakmaty::san::SanPlus;

use super::{MoveKind, PackedMove, Position};

impl PackedMove {
    /// Returns the move in SAN with `+` or `#`; `--` for a null move. If the position or the move is not legal, for instance
    /// because the position has no kings, the move is written in coordinates: `e2-e4`, `e7-e8=Q`.
    pub fn to_san(self, position: &Position) -> String {
        if self == PackedMove::NULL {
            return String::from("--");
        }
        let legal = position.to_chess().ok().and_then(|chess| Some((self.to_shakmaty(&chess)?, chess)));
        if let Some((mv, chess)) = legal {
            return SanPlus::from_move(chess, mv).to_string();
        }
        let (from, to) = (self.from(), self.to());
        match self.kind() {
            MoveKind::Start => String::new(),
            MoveKind::Castle if to > from => String::from("O-O"),
            MoveKind::Castle => String::from("O-O-O"),
            MoveKind::Piece(code) if code != position.board.at(from) => match code.piece() {
                Some(piece) => format!("{from}-{to}={}", piece.role.upper_char()),
                None => format!("{from}-{to}"),
            },
            MoveKind::Piece(_) | MoveKind::EnPassant | MoveKind::Null => format!("{from}-{to}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Square;

    use super::super::{Board, Code, State};
    use super::*;

    #[test]
    fn moves_are_named_with_and_without_kings() {
        let pawn = PackedMove::piece(Square::E2, Square::E4, Code(1));
        assert_eq!(pawn.to_san(&Position::STANDARD), "e4");
        let mut lone = Position { board: Board::default(), state: State::default() };
        lone.board.put(Square::E7, Code(1));
        assert_eq!(PackedMove::piece(Square::E7, Square::E8, Code(5)).to_san(&lone), "e7-e8=Q");
        assert_eq!(PackedMove::NULL.to_san(&lone), "--");
    }
}
