//! Generates the moves of one packed position from the squares that its pieces attack.
//!
//! The position may have any placement of pieces. If the side to move has no king, every pseudolegal move is legal. If it has
//! several kings, a legal move leaves none of them attacked. A move may capture an enemy king.

use std::ops::ControlFlow;

use shakmaty::{Bitboard, Color, Square};

use super::{Code, PackedMove, PieceSet, Position, State, attacks};

fn attacked_by(position: &Position, by: Color) -> u64 {
    let board = &position.board;
    let of = |role: u8| board.having(Code(role | if by.is_black() { 8 } else { 0 })).0;
    let empty = !board.occupied().0;
    let mut out = attacks::knight(of(2)) | attacks::king(of(6));
    out |= if by.is_white() { attacks::pawn::<true>(of(1)) } else { attacks::pawn::<false>(of(1)) };
    let (straight, oblique) = (of(4) | of(5), of(3) | of(5));
    for dir in 0..8 {
        out |= attacks::slide_dir(dir, if dir % 2 == 0 { straight } else { oblique }, empty);
    }
    out
}

pub(super) fn kings(position: &Position, color: Color) -> u64 {
    position.board.having(Code(if color.is_white() { 6 } else { 14 })).0
}

/// Returns whether a king of the side to move is attacked.
pub fn in_check(position: &Position) -> bool {
    let turn = position.state.turn();
    kings(position, turn) & attacked_by(position, !turn) != 0
}

/// Returns whether the side to move has a king but no legal move.
pub fn no_moves(position: &Position) -> bool {
    if kings(position, position.state.turn()) == 0 {
        return false;
    }
    moves(position, false, &mut |_| ControlFlow::Break(())).is_continue()
}

/// Returns the position without rights that are irrelevant for counting repetitions. The en passant square is kept only if a pawn
/// can capture there, and a castling right only if the king is on its back rank and the rook on its square. Two positions that
/// count as a repetition then have equal bytes, whatever moves led to them.
#[inline]
pub fn as_counted(position: &Position) -> Position {
    Position { state: counted_state(position), ..*position }
}

/// Returns the state of the position that [`as_counted`] returns. The board is not copied, since the copy would slow down loops
/// over many positions.
fn counted_state(position: &Position) -> State {
    let mut counted = usable_en_passant(position);
    if position.state.0 >> 16 != 0 {
        for color in Color::ALL {
            let back = if color.is_white() { 0xff } else { 0xffu64 << 56 };
            let rooks = position.board.having(Code(if color.is_white() { 4 } else { 12 })).0;
            let has_king = kings(position, color) & back != 0;
            for king_side in [true, false] {
                let Some(square) = position.state.castling_rook(color, king_side) else { continue };
                if !has_king || rooks >> square as u32 & 1 == 0 {
                    counted = counted.with_castling(color, king_side, None);
                }
            }
        }
    }
    counted
}

/// Calls `visit` for every legal move of the side to move, or for every pseudolegal move if `pseudo` is true, until `visit`
/// returns a break. Castling counts as pseudolegal only if it is legal. A promotion is visited only once, as a promotion to a
/// queen. A castling move goes from the king's square to the rook's square.
///
/// # Errors
///
/// Returns `Break` if and only if `visit` returns `Break`.
pub fn moves(
    position: &Position,
    pseudo: bool,
    visit: &mut dyn FnMut(PackedMove) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let turn = position.state.turn();
    let mut offer = |mv: PackedMove| {
        if pseudo || is_safe(position, mv) { visit(mv) } else { ControlFlow::Continue(()) }
    };
    let own = position.board.squares_of(if turn.is_white() { PieceSet::WHITE } else { PieceSet::BLACK });
    let occupied = position.board.occupied().0;
    for from in own {
        let code = position.board.at(from);
        if code.0 & 7 == 1 {
            pawn_moves(position, from, &mut offer)?;
            continue;
        }
        for to in Bitboard(reach(code, from, !occupied) & !own.0) {
            offer(PackedMove::piece(from, to, code))?;
        }
    }
    castling_moves(position, visit)
}

pub(super) fn reach(code: Code, from: Square, empty: u64) -> u64 {
    let set = 1u64 << from as u32;
    let lines = |first: u8, step: usize| {
        (first..8).step_by(step).fold(0, |out, dir| out | attacks::slide_dir(dir, set, empty))
    };
    match code.0 & 7 {
        2 => attacks::knight(set),
        3 => lines(1, 2),
        4 => lines(0, 2),
        5 => lines(0, 1),
        _ => attacks::king(set),
    }
}

fn pawn_moves(
    position: &Position,
    from: Square,
    offer: &mut dyn FnMut(PackedMove) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let white = position.state.turn().is_white();
    let occupied = position.board.occupied().0;
    let set = 1u64 << from as u32;
    let ahead = |set: u64| if white { set << 8 } else { set >> 8 };
    let single = ahead(set) & !occupied;
    let second_rank = if white { 0xff00u64 } else { 0xff << 48 };
    let double = if set & second_rank != 0 { ahead(single) & !occupied } else { 0 };
    let enemies = position.board.squares_of(if white { PieceSet::BLACK } else { PieceSet::WHITE }).0;
    let sides = if white { attacks::pawn::<true>(set) } else { attacks::pawn::<false>(set) };
    let code = position.board.at(from);
    for to in Bitboard(single | double | sides & enemies) {
        let last = matches!(to as u32 / 8, 0 | 7);
        let after = if last { Code(code.0 & 8 | 5) } else { code };
        offer(PackedMove::piece(from, to, after))?;
    }
    match en_passant_square(position) {
        Some(to) if sides >> to as u32 & 1 != 0 => offer(PackedMove::en_passant(from, to)),
        _ => ControlFlow::Continue(()),
    }
}

/// Returns the en passant square, unless the placement of the pieces shows that no pawn can just have passed over it.
pub(super) fn en_passant_square(position: &Position) -> Option<Square> {
    let square = position.state.en_passant()?;
    let white = position.state.turn().is_white();
    if square as u32 / 8 != if white { 5 } else { 2 } {
        return None;
    }
    let step = if white { -8i32 } else { 8 };
    let at = |steps: i32| position.board.at(Square::new((square as i32 + steps * step) as u32));
    let pawn = Code(if white { 9 } else { 1 });
    (at(0) == Code::EMPTY && at(-1) == Code::EMPTY && at(1) == pawn).then_some(square)
}

/// Returns the position without its en passant square if no pawn can legally capture there, and otherwise unchanged. Positions that
/// differ only in such an unusable square then become equal.
pub fn with_usable_en_passant(position: &Position) -> Position {
    Position { state: usable_en_passant(position), ..*position }
}

/// Returns the state of the position that [`with_usable_en_passant`] returns.
fn usable_en_passant(position: &Position) -> State {
    let Some(to) = position.state.en_passant() else { return position.state };
    let white = position.state.turn().is_white();
    // Pawns that attack `target` stand on the squares that an enemy pawn on `target` would attack.
    let target = 1u64 << to as u32;
    let from = if white { attacks::pawn::<false>(target) } else { attacks::pawn::<true>(target) };
    let pawns = position.board.having(Code(if white { 1 } else { 9 })).0 & from;
    let can = |from| is_safe(position, PackedMove::en_passant(from, to));
    match en_passant_square(position).is_some() && Bitboard(pawns).into_iter().any(can) {
        true => position.state,
        false => position.state.with_en_passant(None),
    }
}

fn castling_moves(
    position: &Position,
    visit: &mut dyn FnMut(PackedMove) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let turn = position.state.turn();
    if position.state.0 >> 16 == 0 {
        return ControlFlow::Continue(());
    }
    let back = if turn.is_white() { 0xff } else { 0xffu64 << 56 };
    let Some(king) = Bitboard(kings(position, turn) & back).first() else { return ControlFlow::Continue(()) };
    let rook_code = Code(if turn.is_white() { 4 } else { 12 });
    for king_side in [true, false] {
        let Some(rook) = position.state.castling_rook(turn, king_side) else { continue };
        if position.board.at(rook) != rook_code || (rook > king) != king_side {
            continue;
        }
        let rank = king as u32 & 56;
        let (king_to, rook_to) = if king_side { (rank + 6, rank + 5) } else { (rank + 2, rank + 3) };
        let span = |a: u32, b: u32| (a.min(b)..=a.max(b)).fold(0u64, |set, s| set | 1 << s);
        let king_path = span(king as u32, king_to);
        let path = king_path | span(rook as u32, rook_to);
        let others = position.board.occupied().0 & !(1 << king as u32) & !(1 << rook as u32);
        if path & others != 0 {
            continue;
        }
        // The squares on the king's path must not be attacked. The king is removed for this test, but the rook stays.
        let mut without = *position;
        without.board.put(king, Code::EMPTY);
        if attacked_by(&without, !turn) & king_path != 0 {
            continue;
        }
        let castling = PackedMove::castle(king, rook);
        if is_safe(position, castling) {
            visit(castling)?;
        }
    }
    ControlFlow::Continue(())
}

/// Returns whether no king of the side to move is attacked after `mv`.
fn is_safe(position: &Position, mv: PackedMove) -> bool {
    let turn = position.state.turn();
    let mut after = *position;
    after.play(mv);
    kings(&after, turn) & attacked_by(&after, !turn) == 0
}

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, Chess, Position as _, fen::Fen};

    use super::*;

    fn both(fen: &str) -> (Vec<u16>, Vec<u16>) {
        let setup: Chess = fen.parse::<Fen>().unwrap().into_position(CastlingMode::Chess960).expect(fen);
        let mut theirs: Vec<u16> = setup
            .legal_moves()
            .into_iter()
            .filter(|mv| mv.promotion().is_none_or(|role| role == shakmaty::Role::Queen))
            .map(|mv| PackedMove::from_shakmaty(mv, setup.turn()).0)
            .collect();
        let mut ours = Vec::new();
        let position = Position::from_setup(&setup.to_setup(shakmaty::EnPassantMode::Always));
        let _ = moves(&position, false, &mut |mv| {
            ours.push(mv.0);
            ControlFlow::Continue(())
        });
        theirs.sort_unstable();
        ours.sort_unstable();
        (ours, theirs)
    }

    #[test]
    fn agrees_with_shakmaty() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1pP1P3/5Q1p/PP1BBPPP/R1N1K2R b Kkq c3 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "8/8/3p4/KPp4r/1R3p1k/8/4P1P1/8 w - c6 0 1",
            "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1",
            "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
            "1r4kr/8/8/8/8/8/8/1R4KR w HBhb - 0 1",
            "4k3/8/8/8/8/8/7r/R5KR w HA - 0 1",
            "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",
        ] {
            let (ours, theirs) = both(fen);
            assert_eq!(ours, theirs, "{fen}");
        }
    }
}
