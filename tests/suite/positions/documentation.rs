//! Tests every statement and sample in the documentation of chessops. Each test names the heading in the documentation, and
//! comments mark errors of the documentation. Also tests the table of square sets in the CQL 5 manual.

use orbit_core::board::{Bitboard, Color, Dihedral, File, Rank, Role, Square};
use orbit_core::positions::names::{Shifts, parse};
use orbit_core::positions::{Board, SquareTransform, SymmetryGroup, king_side, view_from_black};

use super::chessops::*;
use super::{moved, set, setup};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Returns random sets for testing statements about all sets.
fn sets() -> impl Iterator<Item = Bitboard> {
    let mut rng = crate::differential::rng::Rng::new(2);
    (0..1000).map(move |_| Bitboard(rng.next() & rng.next()))
}

fn rank(index: u32) -> Bitboard {
    Bitboard::from_rank(Rank::new(index))
}

fn file(index: u32) -> Bitboard {
    Bitboard::from_file(File::new(index))
}

/// Source: chessops documentation, transform, "Flip Vertical".
#[test]
fn flip_vertical_mirrors_ranks() {
    for index in 0..8 {
        assert_eq!(flip_vertical(rank(index)), rank(7 - index), "rank 1 becomes rank 8, rank 2 rank 7, etc.");
        assert_eq!(flip_vertical(file(index)), file(index));
    }
    assert_eq!(flip_vertical(Color::White.backrank().into()), rank(7), "the sample");
    assert!(sets().all(|s| flip_vertical(s).0 == s.0.swap_bytes()), "uses the byte swap");
}

/// Source: chessops documentation, transform, "Flip Horizontal", with the code of its sample.
#[test]
fn flip_horizontal_mirrors_files() {
    for index in 0..8 {
        assert_eq!(flip_horizontal(file(index)), file(7 - index), "a becomes h, b becomes g, etc.");
        assert_eq!(flip_horizontal(rank(index)), rank(index));
    }
    let printed = |s: u64| {
        let (k1, k2, k4) = (0x5555_5555_5555_5555, 0x3333_3333_3333_3333, 0x0f0f_0f0f_0f0f_0f0f);
        let s = s >> 1 & k1 | (s & k1) << 1;
        let s = s >> 2 & k2 | (s & k2) << 2;
        s >> 4 & k4 | (s & k4) << 4
    };
    assert!(sets().all(|s| flip_horizontal(s).0 == printed(s.0)));
}

/// Source: chessops documentation, transform, "Flip Diagonal", with the code of its sample. In `SquareSet(lo, hi)`, the
/// lower half comes first.
#[test]
fn flip_diagonal_transposes() {
    for index in 0..8 {
        assert_eq!(
            flip_diagonal(rank(index)),
            file(index),
            "ranks become files; the sample: rank 1 the a-file"
        );
        assert_eq!(flip_diagonal(file(index)), rank(index), "files become ranks");
    }
    for square in ["a1", "b2", "d4", "h8"] {
        assert_eq!(flip_diagonal(set(square)), set(square), "the diagonal a1-h8 stays");
    }
    assert_eq!(flip_diagonal(set("c1 a8")), set("a3 h1"));
    let printed = |mut s: u64| {
        let mut t = (s ^ s << 28) & 0x0f0f_0f0f_0000_0000;
        s ^= t ^ t >> 28;
        t = (s ^ s << 14) & 0x3333_0000_3333_0000;
        s ^= t ^ t >> 14;
        t = (s ^ s << 7) & 0x5500_5500_5500_5500;
        s ^ t ^ t >> 7
    };
    assert!(sets().all(|s| flip_diagonal(s).0 == printed(s.0)));
}

/// Source: chessops documentation, transform, "Rotate 180°", and the closing remark of "Use Cases".
#[test]
fn rotate180_is_both_flips() {
    assert_eq!(rotate180(set("a1")), set("h8"), "the sample: square 0 becomes square 63");
    for s in sets() {
        assert_eq!(rotate180(s), flip_vertical(flip_horizontal(s)));
        assert_eq!(rotate180(s), flip_horizontal(flip_vertical(s)));
        assert_eq!(rotate180(s).0, s.0.reverse_bits(), "uses the reversal of bits");
    }
}

/// Source: chessops documentation, transform, "Directional Shifts".
#[test]
fn shifts_wrap_around_the_edges() {
    type Shift = fn(Bitboard) -> Bitboard;
    let samples: [(Shift, &str, &str); 8] = [
        (shift_left, "e4", "d4"),
        (shift_left, "a4", "h4"),
        (shift_right, "d4", "e4"),
        (shift_right, "h4", "a4"),
        (shift_up, "e4", "e5"),
        (shift_up, "e8", "e1"),
        (shift_down, "e5", "e4"),
        (shift_down, "e1", "e8"),
    ];
    for (shift, from, to) in samples {
        assert_eq!(shift(set(from)), set(to), "{from} to {to}");
    }
    for s in sets() {
        let printed = (s.0 & !file(0).0) >> 1 | (s.0 & file(0).0) << 7;
        assert_eq!(shift_left(s).0, printed, "the code of \"Shift Left\"");
        assert_eq!(shift_left(shift_right(s)), s);
        assert_eq!(shift_up(shift_down(s)), s);
        assert_eq!(shift_left(shift_up(s)), shift_up(shift_left(s)));
        assert_eq!((0..8).fold(s, |s, _| shift_left(s)), s);
        assert_eq!((0..8).fold(s, |s, _| shift_down(s)), s);
        for (shift, ..) in samples {
            assert_eq!(shift(s).count(), s.count());
        }
        // The documentation does not mention these three symmetries.
        assert_eq!(flip_horizontal(flip_diagonal(s)), Dihedral::Rotate90Ccw.apply(s));
        assert_eq!(flip_vertical(flip_diagonal(s)), Dihedral::Rotate270Ccw.apply(s));
        assert_eq!(rotate180(flip_diagonal(s)), Dihedral::ReflectAnti.apply(s));
    }
}

/// Source: chessops documentation, transform, "Transform Board".
#[test]
fn transform_board_moves_every_mask_and_keeps_kinds_and_colours() {
    let board = Board::new();
    for f in [flip_vertical, flip_horizontal, flip_diagonal, rotate180, shift_left, shift_up] {
        let image = transform_board(&board, f).unwrap();
        assert_eq!(image.occupied(), f(board.occupied()));
        for color in [Color::White, Color::Black] {
            assert_eq!(image.by_color(color), f(board.by_color(color)));
            for role in Role::ALL {
                let piece = role.of(color);
                assert_eq!(image.by_piece(piece), f(board.by_piece(piece)), "{piece:?}");
            }
        }
    }
    let flipped = transform_board(&board, flip_vertical).unwrap();
    assert_eq!(flipped.to_string(), "RNBQKBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbqkbnr", "the sample");
    assert_eq!(board, Board::new(), "pure: nothing is changed");
    transform_board(&board, |s| s | shift_up(s)).expect_err("two pieces on a square are no board");
}

/// Source: chessops documentation, transform, "Transform Setup": the sample and the list of key features.
#[test]
fn transform_setup_keeps_what_is_not_on_the_board() {
    assert_eq!(
        moved("flipVertical", START),
        "RNBQKBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbqkbnr w HAha - 0 1",
        "the sample; castling rights are squares of rooks, and the side to move stays"
    );
    let flipped = transform_setup(&setup(START), flip_vertical).unwrap();
    assert_eq!(flipped.castling_rights, set("a1 h1 a8 h8"), "the same four");
    let fen = "4k2r/8/8/8/4P3/8/8/R3K2Q~[QNpP] b Qk e3 2+3 4 9";
    let before = setup(fen);
    for f in [flip_vertical, flip_horizontal, flip_diagonal, rotate180, shift_left, shift_down] {
        let after = transform_setup(&before, f).unwrap();
        assert_eq!(after.board, transform_board(&before.board, f).unwrap());
        assert_eq!(after.promoted, f(set("h1")));
        assert_eq!(after.pockets, before.pockets);
        assert_eq!(after.turn, before.turn);
        assert_eq!((after.halfmoves, after.fullmoves), (before.halfmoves, before.fullmoves));
        assert_eq!(after.castling_rights, f(set("a1 h8")));
        assert_eq!(after.ep_square.map(Bitboard::from), Some(f(set("e3"))));
        assert_eq!(after.remaining_checks, before.remaining_checks);
    }
    let passed = |f: fn(Bitboard) -> Bitboard| transform_setup(&before, f).unwrap().ep_square;
    assert_eq!(passed(flip_vertical), Some(Square::E6));
    assert_eq!(passed(flip_horizontal), Some(Square::D3));
}

/// Source: chessops documentation, transform, "View from Black's Perspective".
#[test]
fn the_view_from_black_is_half_a_turn() {
    let seen = view_from_black(&setup(START));
    assert_eq!(seen, transform_setup(&setup(START), rotate180).unwrap());
    assert_eq!(seen.board.to_string(), "RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr");
    assert_eq!(moved("view-from-black", START), moved("rotate180", START));
}

/// Source: chessops documentation, transform, "Symmetry Analysis". Erratum: the sample compares only occupied squares, so it
/// accepts rooks as mirror images of knights, and White's men as mirror images of Black's.
#[test]
fn symmetry_is_that_of_pieces_and_colours() {
    let printed = |board: &Board| {
        let image = |f: fn(Bitboard) -> Bitboard| transform_board(board, f).unwrap().occupied();
        board.occupied() == image(flip_horizontal) || board.occupied() == image(flip_vertical)
    };
    let ours = |board: &Board| {
        let fixed = |d: Dihedral| board == &transform_board(board, |set| d.apply(set)).unwrap();
        fixed(Dihedral::ReflectFiles) || fixed(Dihedral::ReflectRanks)
    };
    for (fen, by_squares, by_pieces) in [
        ("8/8/8/8/8/8/8/R6R", true, true),
        ("8/8/8/8/8/8/8/R6N", true, false),
        ("8/8/8/8/8/8/8/R6r", true, false),
        ("8/8/8/8/8/8/8/R5R1", false, false),
        // The start position, in which only the kings and queens break the left-right symmetry.
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", true, false),
        ("q3k3/8/8/8/8/8/8/q3k3", true, true),
    ] {
        let board: Board = fen.parse().unwrap();
        assert_eq!((printed(&board), ours(&board)), (by_squares, by_pieces), "{fen}");
        let named = SymmetryGroup::Dihedral.symmetries().filter(|symmetry| {
            matches!(symmetry.dihedral, Dihedral::ReflectFiles | Dihedral::ReflectRanks)
                && symmetry.fixes(&board)
        });
        assert_eq!(named.count() > 0, by_pieces, "{fen}");
    }
}

/// Source: chessops documentation, transform, "Pattern Matching": a pattern is found in each of four orientations.
#[test]
fn a_pattern_is_found_in_four_orientations() {
    let pattern: Board = "8/8/8/8/8/8/5PPP/6K1".parse().unwrap();
    let holds = |board: &Board| {
        pattern.clone().into_iter().all(|(square, piece)| board.piece_at(square) == Some(piece))
    };
    let found = |board: &Board| {
        let ways = [std::convert::identity, flip_vertical, flip_horizontal, rotate180];
        ways.into_iter().any(|f: fn(Bitboard) -> Bitboard| holds(&transform_board(board, f).unwrap()))
    };
    for (fen, is_found) in [
        ("4k3/8/8/8/8/8/5PPP/R5K1", true),
        ("4k3/8/8/8/8/8/PPP5/1K5R", true),
        ("1K6/PPP5/8/8/8/8/8/4k3", true),
        ("6K1/5PPP/8/8/8/8/8/4k3", true),
        ("8/8/8/8/8/PP6/KP6/1P6", false),
        ("4k3/8/8/8/8/8/5PP1/6K1", false),
    ] {
        assert_eq!(found(&fen.parse().unwrap()), is_found, "{fen}");
    }
}

/// Source: chessops documentation, transform, "Chess960 Analysis". Erratum: the sample does not recognise a king on a1,
/// which is square 0.
#[test]
fn chess960_is_normalised_also_with_a_king_on_a1() {
    for king in 0..64 {
        let square = Square::new(king);
        let mut before = setup("8/8/8/8/8/8/8/8 w - - 0 1");
        before.board.set_piece_at(square, Role::King.of(Color::White));
        before.board.set_piece_at(Square::new(63 - king), Role::Rook.of(Color::Black));
        let after = king_side(&before);
        let is_flipped = after == transform_setup(&before, flip_horizontal).unwrap();
        assert_eq!(is_flipped, square.file() < File::E, "{square}");
        assert_eq!(after == before, !is_flipped, "{square}");
        assert_eq!(king_side(&after), after, "once is enough");
    }
    assert_eq!(
        moved("normalize-chess960", "1rk3r1/8/8/8/8/8/8/1RK3R1 w GBgb - 0 1"),
        "1r3kr1/8/8/8/8/8/8/1R3KR1 w KQkq - 0 1"
    );
    let without = setup("4k3/8/8/8/8/8/8/R7 w - - 0 1");
    assert_eq!(king_side(&without), without, "no king");
}

/// Source: CQL 5 manual, the effect of flips and unit shifts on sets. There are two errata. In the left shift, h8 also stays,
/// because it is on the trailing edge. The reflection of b2 is on rank 7.
#[test]
fn square_sets_of_the_cql_5_manual() {
    for (names, from, to) in [
        ("flipdiagonal", "a1 b1 c1 d1 e1 f1 g1 h1", "a1 a2 a3 a4 a5 a6 a7 a8"),
        ("flipdiagonal", "f6 h7", "f6 g8"),
        ("flipoffdiagonal", "a8", "a8"),
        ("flipoffdiagonal", "b2", "g7"),
        ("flipvertical", "f6", "c6"),
        ("fliphorizontal", "f6", "f3"),
        ("fliphorizontal", "b2", "b7"),
        ("flipcolor", "a2 c2", "a7 c7"),
        ("shift:1:0", "d4", "e4"),
        ("shift:1:0", "c2 h2", "d2"),
        ("shift:1:0", "a2 c2 h2", "a2 b2 d2"),
        ("shift:3:0", "a4", "a4 b4 c4 d4"),
        ("shift:3:0", "d4", "g4"),
        ("shift:2:1", "b3 c4", "d4 e5"),
        ("shift:-1:0", "c2", "b2"),
        ("shift:-1:0", "h8", "g8 h8"),
        ("shift:0:1", "a1 a8 h1 h8", "a1 a2 h1 h2"),
        ("shifthorizontal:5", "a1 b1 c1 d1 e1 f1 g1 h1", "a1 b1 c1 d1 e1 f1 g1 h1"),
        ("shiftmaindiagonal:1", "a1 c3", "a1 a2 b1 b2 d4"),
        ("shiftoffdiagonal:1", "c3 h1", "d2"),
    ] {
        let steps = parse(names, Shifts::Cql5).unwrap();
        let image = steps.iter().fold(set(from), |s, step| step.transform.squares(s).unwrap());
        assert_eq!(image, set(to), "{names} {from}");
    }
    for s in sets() {
        let once = SquareTransform::Smear(1, 0).apply(s);
        assert_eq!(
            SquareTransform::Smear(1, 0).apply(once),
            SquareTransform::Smear(2, 0).apply(s),
            "unit shifts in turn"
        );
    }
}

/// Source: CQL 5 manual, piece lists: the unit left shift, the horizontal flip and the colour flip of a rook on b2 and a bishop
/// on g8. Errata: in the manual, the flips end on b8, and the colour flip does not change the colours.
#[test]
fn pieces_of_the_cql_5_manual() {
    assert_eq!(moved("shift:-1:0", "7B/8/8/8/8/8/2R5/8 w"), "6B1/8/8/8/8/8/1R6/8 w");
    assert_eq!(moved("fliphorizontal", "6B1/8/8/8/8/8/1R6/8 w"), "8/1R6/8/8/8/8/8/6B1 w");
    assert_eq!(moved("flipcolor", "6B1/8/8/8/8/8/1R6/8 w"), "8/1r6/8/8/8/8/8/6b1 b");
    assert_eq!(moved("flipcolor", "8/8/8/8/8/8/R1b5/8 w"), "8/r1B5/8/8/8/8/8/8 b");
}

/// Compositions of chessops' flips generate all eight symmetries.
#[test]
fn flips_generate_all_symmetries() {
    let witness = set("a1 b1 d2");
    let mut images = vec![witness];
    let mut at = 0;
    while let Some(&image) = images.get(at) {
        for next in [flip_diagonal(image), flip_horizontal(image)] {
            if !images.contains(&next) {
                images.push(next);
            }
        }
        at += 1;
    }
    assert_eq!(images.len(), 8);
    assert!(Dihedral::ALL.iter().all(|dihedral| images.contains(&dihedral.apply(witness))));
}
