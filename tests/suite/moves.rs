//! Tests the code that computes moves as sets of squares. It is compared with shakmaty in real games, and in arbitrary placements
//! with the code that lists moves one by one.

use std::ops::ControlFlow;

use orbit_core::board::{
    Board, Code, MoveKind, PackedMove, Position, Square, State, legal,
    moves::{ARRIVALS, MoveRequest, ORIGINS, PAIRS, View},
};
use orbit_reel::{Block, replay};
use shakmaty::{Move, Position as _};

use crate::{
    common::{
        blocks_of, corpus, corpus_blocks,
        length::{least, stride, trials},
        position,
    },
    differential::Rng,
};

const ALL: MoveRequest = MoveRequest { pseudo: false, ordinary: true, castling: [true; 2], en_passant: true };

/// The moves of a position: the set of their destination squares, the set of their origin squares, and the number of distinct pairs
/// of origin and destination.
type Found = [u64; 3];

/// Returns the moves according to the code that computes them as sets of squares; `None` for a side with several kings, which this
/// code does not support.
fn by_sets(position: &Position, asked: MoveRequest, from: u64, to: u64) -> Option<Found> {
    let view = View::new(position.board.planes, position.state);
    if view.has_several_kings() {
        assert_ne!(view.is_special(), 0, "several kings are nothing common");
        return None;
    }
    let common = match asked {
        MoveRequest { ordinary: false, .. } => [0; 3],
        MoveRequest { pseudo: true, .. } => [
            view.ordinary::<ARRIVALS, true>(from, to),
            view.ordinary::<ORIGINS, true>(from, to),
            view.ordinary::<PAIRS, true>(from, to),
        ],
        _ => [
            view.ordinary::<ARRIVALS, false>(from, to),
            view.ordinary::<ORIGINS, false>(from, to),
            view.ordinary::<PAIRS, false>(from, to),
        ],
    };
    let all = [
        view.special::<ARRIVALS>(asked, from, to, common[0]),
        view.special::<ORIGINS>(asked, from, to, common[1]),
        view.special::<PAIRS>(asked, from, to, common[2]),
    ];
    assert!(view.is_special() != 0 || all == common, "{position:?} has more than common moves");
    Some(all)
}

/// Returns the sets of squares and the number of pairs for a list of moves, given as pairs of origin and destination.
fn found(mut pairs: Vec<(Square, Square)>) -> Found {
    pairs.sort_unstable();
    pairs.dedup();
    let set = |squares: Vec<Square>| squares.into_iter().fold(0, |set, square| set | 1u64 << square as u32);
    let (from, to) = pairs.iter().copied().unzip();
    [set(to), set(from), pairs.len() as u64]
}

fn king_comes_to(king: Square, rook: Square) -> Square {
    Square::new(king as u32 & 56 | if rook > king { 6 } else { 2 })
}

/// Returns the moves according to the code that lists them one by one.
fn by_list(position: &Position, asked: MoveRequest, from: u64, to: u64) -> Found {
    let mut pairs = Vec::new();
    let _ = legal::moves(position, asked.pseudo, &mut |mv: PackedMove| {
        let (wanted, arrival) = match mv.kind() {
            MoveKind::Castle => {
                (asked.castling[usize::from(mv.to() < mv.from())], king_comes_to(mv.from(), mv.to()))
            }
            MoveKind::EnPassant => (asked.en_passant, mv.to()),
            _ => (asked.ordinary, mv.to()),
        };
        if wanted && from >> mv.from() as u32 & 1 != 0 && to >> arrival as u32 & 1 != 0 {
            pairs.push((mv.from(), arrival));
        }
        ControlFlow::Continue(())
    });
    found(pairs)
}

/// Returns the moves according to shakmaty; `None` if shakmaty rejects the position.
fn by_shakmaty(position: &Position) -> Option<Found> {
    let moves = position.to_chess().ok()?.legal_moves();
    let pair = |mv: Move| match mv {
        Move::Castle { king, rook } => (king, king_comes_to(king, rook)),
        mv => (mv.from().expect("nothing is dropped"), mv.to()),
    };
    Some(found(moves.into_iter().map(pair).collect()))
}

#[test]
fn real_positions_have_the_moves_that_shakmaty_finds() {
    let mut blocks: Vec<Block> =
        ["otb.pgn", "fen.pgn"].map(corpus_blocks).iter().flat_map(|blocks| blocks.to_vec()).collect();
    for folder in ["dev-studies-annotated/kevinludwig", "dev-engine-frc/ccc-archive"] {
        blocks.extend(blocks_of(&corpus().join(folder)));
    }
    let (stride, mut seen, mut special) = (stride(1, 8), 0, 0);
    for block in &blocks {
        replay::for_each_slot(block, |slot| {
            if slot.slot % stride.step != stride.first {
                return;
            }
            let position = &slot.position;
            let sets = by_sets(position, ALL, !0, !0);
            let listed = by_list(position, ALL, !0, !0);
            if let Some(theirs) = by_shakmaty(position) {
                assert_eq!(sets, Some(theirs), "{position:?}");
                seen += 1;
            }
            assert_eq!(sets, Some(listed), "{position:?}");
            let common = View::new(position.board.planes, position.state).ordinary::<PAIRS, false>(!0, !0);
            special += usize::from(sets.is_some_and(|[_, _, pairs]| pairs != common));
        });
    }
    assert!(
        seen > 1_000_000 / stride.step && special > 50_000 / stride.step,
        "{seen} positions, {special} with special moves"
    );
}

/// Returns a random position: a few pieces on any squares, any number of kings, and a possibly inconsistent state.
fn made(rng: &mut Rng) -> Position {
    let mut board = Board::default();
    let anywhere = |rng: &mut Rng| Square::new(rng.below(64) as u32);
    for _ in 0..rng.within(0, 24) {
        let square = anywhere(rng);
        board.put(square, Code(*rng.pick(&[1, 1, 1, 2, 3, 4, 5]) | (8 * rng.below(2) as u8)));
    }
    for color in [0, 8] {
        for _ in 0..[1, 1, 1, 1, 1, 1, 0, 2][rng.below(8)] {
            let square = match rng.below(2) {
                0 => Square::new(rng.below(8) as u32 + if color == 0 { 0 } else { 56 }),
                _ => anywhere(rng),
            };
            board.put(square, Code(6 | color));
        }
        for _ in 0..rng.within(0, 2) {
            board.put(Square::new(rng.below(8) as u32 + if color == 0 { 0 } else { 56 }), Code(4 | color));
        }
    }
    let mut state = State(rng.below(2) as u32).with_en_passant(None);
    let white = state.0 & 1 == 0;
    let file = rng.below(8) as u32;
    if rng.percent(50) {
        state = state.with_en_passant(Some(Square::new(file + if white { 40 } else { 16 })));
        if rng.percent(80) {
            let (behind, pawn, own) = if white { (48, 32, 0) } else { (8, 24, 8) };
            board.put(Square::new(file + behind), Code::EMPTY);
            board.put(Square::new(file + if white { 40 } else { 16 }), Code::EMPTY);
            board.put(Square::new(file + pawn), Code(9 ^ own));
            for beside in [file.wrapping_sub(1), file + 1] {
                if beside < 8 && rng.percent(60) {
                    board.put(Square::new(beside + pawn), Code(1 | own));
                }
            }
        }
    } else if rng.percent(5) {
        state = state.with_en_passant(Some(anywhere(rng)));
    }
    let rook = |code: u8, square: Square| board.at(square) == Code(code);
    for shift in [16, 20, 24, 28] {
        let (rank, code) = if shift < 24 { (0, 4) } else { (56, 12) };
        let files: Vec<u32> = (0..8).filter(|&file| rook(code, Square::new(rank + file))).collect();
        let file = if files.is_empty() || rng.percent(10) { rng.below(8) as u32 } else { *rng.pick(&files) };
        state.0 |= if rng.percent(60) { (8 | file) << shift } else { 0 };
    }
    Position { board, state }
}

#[test(part = 3)]
fn any_placement_has_the_moves_of_the_list() {
    let (mut castled, mut taken, mut several) = (0, 0, 0);
    let seeds = trials(2_000, 200).flat_map(|trial| (0..1_000).map(move |k| 1_000 * trial as u64 + k));
    for mut rng in seeds.map(Rng::new) {
        let position = made(&mut rng);
        let mut some = || if rng.percent(40) { !0 } else { rng.next() | rng.next() };
        let (from, to) = (some(), some());
        let asked = MoveRequest {
            pseudo: rng.percent(30),
            ordinary: rng.percent(70),
            castling: [rng.percent(70), rng.percent(70)],
            en_passant: rng.percent(70),
        };
        let Some(sets) = by_sets(&position, asked, from, to) else {
            several += 1;
            continue;
        };
        assert_eq!(sets, by_list(&position, asked, from, to), "{position:?} {asked:?} {from:x} {to:x}");
        let only = |castling, en_passant| MoveRequest { ordinary: false, castling, en_passant, ..ALL };
        castled += usize::from(by_list(&position, only([true; 2], false), !0, !0)[2] != 0);
        taken += usize::from(by_list(&position, only([false; 2], true), !0, !0)[2] != 0);
    }
    let least = least(20_000, 2_000);
    assert!(castled > least && taken > least && several > least, "{castled} {taken} {several}");
}

/// Tests en passant captures that would expose the king to a check along the rank or a diagonal, and castling that is almost
/// legal.
#[test]
fn moves_that_uncover_a_check_are_none() {
    let row = |fen: &str, due: Found| assert_eq!(by_sets(&position(fen), ALL, !0, !0), Some(due), "{fen}");
    // The king has four moves, and the pawn can move one step. Without the rook on h5, the pawn can also capture.
    for (fen, pairs) in [("8/8/8/K1pP3r/8/8/8/7k w - c6 0 1", 5), ("8/8/8/K1pP4/8/8/8/7k w - c6 0 1", 6)] {
        assert_eq!(by_sets(&position(fen), ALL, !0, !0).map(|[_, _, pairs]| pairs), Some(pairs), "{fen}");
    }
    // The rook on b1 shields c1, the king's square after castling, from the queen. But the rook leaves b1 when the king castles, so
    // castling is illegal.
    row(
        "4k3/8/8/8/8/8/8/qR2K3 w B - 0 1",
        by_list(&position("4k3/8/8/8/8/8/8/qR2K3 w - - 0 1"), ALL, !0, !0),
    );
}
