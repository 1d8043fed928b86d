//! Tests transforms of whole positions: colours, symmetry, canonical form, and pieces that leave the board.

use std::collections::{BTreeSet, HashSet};

use orbit_core::board::{Bitboard, Color, Dihedral, Role, Square};
use orbit_core::positions::{
    Board, Setup, SquareTransform, Symmetry, SymmetryGroup, Transform, TransformError, canonical, flip_colors,
};

use super::random::position;
use super::{moved, named, read, set, setup};
use crate::differential::rng::Rng;

fn positions(count: usize) -> Vec<Setup> {
    let mut rng = Rng::new(11);
    (0..count).map(|_| setup(&position(&mut rng))).collect()
}

/// Checks the colour flip against a piece-by-piece computation without masks.
#[test]
fn a_colour_flip_swaps_everything_that_has_a_colour() {
    for before in positions(1000) {
        let after = flip_colors(&before);
        for square in Square::ALL {
            let piece = before.board.piece_at(square.flip_vertical());
            let swapped = piece.map(|piece| piece.role.of(!piece.color));
            assert_eq!(after.board.piece_at(square), swapped);
            let mirrored = square.flip_vertical();
            assert_eq!(after.promoted.contains(square), before.promoted.contains(mirrored));
            assert_eq!(after.castling_rights.contains(square), before.castling_rights.contains(mirrored));
            assert_eq!(after.ep_square == Some(square), before.ep_square == Some(mirrored));
        }
        assert_eq!(after.turn, !before.turn);
        assert_eq!(after.pockets.map(|p| (p.white, p.black)), before.pockets.map(|p| (p.black, p.white)));
        assert_eq!(
            after.remaining_checks.map(|c| (c.white, c.black)),
            before.remaining_checks.map(|c| (c.black, c.white))
        );
        assert_eq!((after.halfmoves, after.fullmoves), (before.halfmoves, before.fullmoves));
        assert_eq!(flip_colors(&after), before);
    }
    assert_eq!(
        moved("flip-colors", "4k2r/8/8/8/3pP3/8/8/R3K2Q~[QNpP] b Qk e3 2+3 4 9"),
        "r3k2q~/8/8/3Pp3/8/8/8/4K2R[Ppnq] w Kq e6 3+2 4 9"
    );
}

#[test]
fn rotations_and_diagonals_by_hand() {
    let fen = "8/8/8/8/8/k7/8/QN6 w - - 0 1";
    for (name, placement) in [
        ("identity", "8/8/8/8/8/k7/8/QN6"),
        ("rotate90", "8/8/8/8/8/8/7N/5k1Q"),
        ("rotate180", "6NQ/8/7k/8/8/8/8/8"),
        ("rotate270", "Q1k5/N7/8/8/8/8/8/8"),
        ("flip-ranks", "QN6/8/k7/8/8/8/8/8"),
        ("flip-files", "8/8/8/8/8/7k/8/6NQ"),
        ("flip-diagonal", "8/8/8/8/8/8/N7/Q1k5"),
        ("flip-anti-diagonal", "5k1Q/7N/8/8/8/8/8/8"),
        ("shift:1:-1", "8/8/8/8/8/8/1k6/8"),
        ("wrap:-1:-1", "N6Q/8/8/8/8/8/7k/8"),
        ("flip-ranks,flip-files", "6NQ/8/7k/8/8/8/8/8"),
        ("flip-ranks,rotate90", "8/8/8/8/8/8/N7/Q1k5"),
    ] {
        assert_eq!(moved(name, fen), format!("{placement} w - - 0 1"), "{name}");
    }
    let ccw = named("rotate90").squares(set("a1 b1")).unwrap();
    assert_eq!(ccw, set("h1 h2"), "counter-clockwise, as in CQL");
}

#[test]
fn transforms_of_a_position_are_those_of_its_squares() {
    for before in positions(300) {
        for name in ["flip-ranks", "rotate90", "rotate270", "flip-anti-diagonal", "wrap:3:-2"] {
            let transform = named(name);
            let after = transform.setup(&before).unwrap();
            for (square, piece) in before.board.clone() {
                let to = transform.squares(square.into()).unwrap().single_square().unwrap();
                assert_eq!(after.board.piece_at(to), Some(piece), "{name}: {square}");
            }
            assert_eq!(after.board.occupied().count(), before.board.occupied().count());
            assert_eq!(transform.board(&before.board).unwrap(), after.board);
        }
    }
}

#[test]
fn what_a_shift_pushes_off_the_board_is_gone() {
    let fen = "r3k2r/8/8/8/4P3/8/PPPPPPPP/R3K2Q~ b KQkq e3 0 1";
    assert_eq!(
        moved("shift:1:0", fen),
        "1r3k2/8/8/8/5P2/8/1PPPPPPP/1R3K2 b Qq f3 0 1",
        "eight pawns are no full rank of a designator; the promoted queen and the rook's right are gone"
    );
    assert_eq!(moved("shift:0:-3", fen), "8/8/8/r3k2r/8/8/8/4P3 b - - 0 1", "kings too");
    assert_eq!(moved("shift:8:0", fen), "8/8/8/8/8/8/8/8 b - - 0 1");
    let rank: Bitboard = set("a2 b2 c2 d2 e2 f2 g2 h2");
    assert_eq!(named("shift:1:1").squares(rank).unwrap(), Bitboard(rank.0 << 8), "of a set it is one");
    let smear = Transform::Squares(SquareTransform::Smear(1, 0));
    assert_eq!(smear.setup(&setup(fen)), Err(TransformError::Smears));
    assert_eq!(smear.board(&Board::empty()), Err(TransformError::Smears));
    assert!(Transform::Squares(SquareTransform::Smear(0, 0)).setup(&setup(fen)).is_ok(), "nothing smears");
    assert_eq!(Transform::KingSide.squares(rank), Err(TransformError::NeedsKing));
}

#[test]
fn groups_are_closed() {
    for (group, size) in [(SymmetryGroup::Dihedral, 8), (SymmetryGroup::Color, 2), (SymmetryGroup::All, 16)] {
        let all: Vec<Symmetry> = group.symmetries().collect();
        assert_eq!(all.len(), size);
        assert_eq!(all[0], Symmetry { colors: false, dihedral: Dihedral::Identity });
        // This position has no symmetry, so all its images are different.
        let witness = setup("8/8/8/8/2n5/8/1Q6/K7 w - - 0 1");
        let images: HashSet<Setup> = all.iter().map(|symmetry| symmetry.apply(&witness)).collect();
        assert_eq!(images.len(), size);
        for a in &all {
            for b in &all {
                assert!(images.contains(&a.apply(&b.apply(&witness))), "{a} after {b}");
            }
        }
        for symmetry in all {
            let read = moved(&symmetry.to_string(), "8/8/8/8/2n5/8/1Q6/K7 w - - 0 1");
            assert_eq!(setup(&read), symmetry.apply(&witness), "its name means it");
        }
    }
}

#[test]
fn all_images_share_one_canonical_form_and_no_others_do() {
    let mut rng = Rng::new(12);
    for group in [SymmetryGroup::Dihedral, SymmetryGroup::Color, SymmetryGroup::All] {
        let mut forms = HashSet::new();
        let mut orbits = HashSet::new();
        for before in positions(300) {
            let (form, symmetry) = canonical(&before, group);
            assert_eq!(symmetry.apply(&before), form);
            assert_eq!(canonical(&form, group).0, form, "once is enough");
            let images: BTreeSet<String> = group
                .symmetries()
                .map(|symmetry| {
                    let image = symmetry.apply(&before);
                    assert_eq!(canonical(&image, group).0, form);
                    format!("{image:?}")
                })
                .collect();
            if group != SymmetryGroup::Dihedral {
                assert_eq!(form.turn, Color::White);
            }
            forms.insert(form);
            orbits.insert(images);
            // Changing a single square must change the canonical form.
            let mut other = before.clone();
            let square = Square::new(rng.below(64) as u32);
            match other.board.piece_at(square) {
                Some(_) => other.board.discard_piece_at(square),
                None => other.board.set_piece_at(square, Role::Knight.of(Color::White)),
            }
            assert_ne!(canonical(&other, group).0, canonical(&before, group).0);
        }
        assert_eq!(forms.len(), orbits.len(), "{group:?}");
    }
}

#[test]
fn symmetries_see_pieces_and_colours() {
    let names = |fen: &str, group: SymmetryGroup| {
        let board: Board = fen.parse().unwrap();
        group.symmetries().filter(|s| s.fixes(&board)).map(|s| s.to_string()).collect::<Vec<_>>().join(" ")
    };
    for (fen, all) in [
        ("8/8/8/8/8/8/8/8", 16),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", 2),
        ("R6R/8/8/8/8/8/8/R6R", 8),
        ("r6r/8/8/8/8/8/8/R6R", 4),
        ("8/8/8/3Qq3/3qQ3/8/8/8", 8),
        ("8/8/8/3Rr3/3Rr3/8/8/8", 4),
        ("8/8/8/8/8/8/8/R6N", 1),
    ] {
        assert_eq!(
            names(fen, SymmetryGroup::All).split(' ').count(),
            all,
            "{fen}: {}",
            names(fen, SymmetryGroup::All)
        );
    }
    assert_eq!(
        names("r6r/8/8/8/8/8/8/R6R", SymmetryGroup::All),
        "identity flip-files flip-colors flip-colors,flip-files"
    );
    assert_eq!(names("8/8/8/8/8/8/1B6/B7", SymmetryGroup::Dihedral), "identity flip-diagonal");
    assert_eq!(names("8/8/8/8/8/8/1B6/B7", SymmetryGroup::Color), "identity");
}

#[test]
fn the_example_of_the_module_page() {
    assert_eq!(
        read(b"4k3/8/8/8/8/8/P7/R3K3 w Q - 0 1").unwrap().to_string(),
        "4k3/8/8/8/8/8/P7/R3K3 w Q - 0 1"
    );
    assert_eq!(
        moved("flip-files,flip-colors", "4k3/8/8/8/8/8/P7/R3K3 w Q - 0 1"),
        "3k3r/7p/8/8/8/8/8/3K4 b k - 0 1"
    );
}
