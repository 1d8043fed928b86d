//! Swaps the colours of boards, positions and moves: ranks are mirrored, White's pieces become Black's, and the other side is to
//! move. If a move is legal in a position, then the swapped move is legal in the swapped position.

use super::{Board, Code, MoveKind, PackedMove, Position, State};

/// The bits of a move that are flipped to mirror the ranks of its two squares.
const RANKS: u16 = 56 | 56 << 6;

impl Board {
    /// Returns the board with the colours of the pieces exchanged and the ranks mirrored.
    #[must_use]
    pub const fn colors_swapped(self) -> Board {
        let [p0, p1, p2, black] = self.planes;
        let white = (p0 | p1 | p2) & !black;
        Board { planes: [p0.swap_bytes(), p1.swap_bytes(), p2.swap_bytes(), white.swap_bytes()] }
    }
}

impl State {
    /// Returns the state of the position with swapped colours: the side to move, the castling rights and the en passant square pass
    /// to the other side.
    #[must_use]
    pub const fn colors_swapped(self) -> State {
        let (turn, passed, rights) = (self.0 & 1 ^ 1, self.0 >> 8 & 0xff, (self.0 >> 16) as u16);
        let passed = if passed < 64 { passed ^ 56 } else { passed };
        State(turn | passed << 8 | (rights.swap_bytes() as u32) << 16)
    }
}

impl Position {
    /// Returns the position with the colours of its pieces exchanged, the ranks mirrored and the other side to move.
    #[must_use]
    pub const fn colors_swapped(self) -> Position {
        Position { board: self.board.colors_swapped(), state: self.state.colors_swapped() }
    }
}

impl PackedMove {
    /// Returns the move with the ranks of its squares mirrored and the colour of its piece exchanged.
    #[must_use]
    pub const fn colors_swapped(self) -> PackedMove {
        match self.kind() {
            MoveKind::Null | MoveKind::Start => self,
            MoveKind::Castle | MoveKind::EnPassant => PackedMove(self.0 ^ RANKS),
            MoveKind::Piece(Code(_)) => PackedMove(self.0 ^ RANKS ^ 8 << 12),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the swapped moves of a game lead to the swapped positions of that game.
    #[test]
    fn a_game_of_the_other_side_has_the_images_of_its_positions() {
        use shakmaty::{Chess, Color, Position as _};
        let upside_down = |board: &shakmaty::Board| board.clone().into_mirrored();
        let mut random = fastrand::Rng::with_seed(5);
        let mut kinds = [0; 3];
        for _ in 0..200 {
            let (mut chess, mut ours) = (Chess::new(), Position::STANDARD);
            let mut theirs = ours.colors_swapped();
            assert_eq!(theirs.state.turn(), Color::Black);
            for _ in 0..120 {
                let moves = chess.legal_moves();
                if moves.is_empty() {
                    break;
                }
                let mv = moves[random.usize(..moves.len())];
                let packed = PackedMove::from_shakmaty(mv, chess.turn());
                chess.play_unchecked(mv);
                ours.play(packed);
                theirs.play(packed.colors_swapped());
                assert_eq!(theirs, ours.colors_swapped());
                assert_eq!(theirs.colors_swapped(), ours);
                assert_eq!(packed.colors_swapped().colors_swapped(), packed);
                assert_eq!(theirs.to_setup().board, upside_down(&ours.to_setup().board));
                kinds[0] += usize::from(packed.kind() == MoveKind::Castle);
                kinds[1] += usize::from(packed.kind() == MoveKind::EnPassant);
                kinds[2] += usize::from(ours.state.en_passant().is_some());
            }
        }
        assert!(kinds.iter().all(|&count| count > 0), "{kinds:?}");
        let null = PackedMove::NULL;
        let (mut ours, mut theirs) = (Position::STANDARD, Position::STANDARD.colors_swapped());
        ours.play(null);
        theirs.play(null.colors_swapped());
        assert_eq!(theirs, ours.colors_swapped());
    }
}
