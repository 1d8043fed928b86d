//! Checks whether an en passant square is possible.

use shakmaty::Setup;

use crate::board::{Rank, Square};

/// Returns the en passant square of a setup, unless the placement shows that no pawn can just have passed over it.
pub fn possible_en_passant(setup: &Setup) -> Option<Square> {
    let them = !setup.turn;
    let forward = them.fold_wb(8, -8);
    let pawns = setup.board.pawns() & setup.board.by_color(them);
    let occupied = setup.board.occupied();
    setup.ep_square.filter(|square| {
        square.rank() == setup.turn.relative_rank(Rank::Sixth)
            && square.offset(forward).is_some_and(|pawn| pawns.contains(pawn))
            && square.offset(-forward).is_some_and(|home| !occupied.contains(home))
            && !occupied.contains(*square)
    })
}
