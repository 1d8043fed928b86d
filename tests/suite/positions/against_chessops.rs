//! Compares the transforms with the results of chessops in `tests/data/chessops.tsv`, which `tests/chessops/check.sh` wrote.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use orbit_core::board::{Bitboard, Color, Role};
use orbit_core::positions::{Board, Setup, transform_board, transform_setup};
use sha2::{Digest as _, Sha256};

use super::random::position;
use super::{chessops, named, read, setup};
use crate::differential::rng::Rng;

const STORED: &str = include_str!("../../data/chessops.tsv");
const SEED: u64 = 20260;
const COUNT: usize = 10_000;

type SetFunction = fn(Bitboard) -> Bitboard;

/// The names of chessops functions, each with the corresponding function of orbit.
const FUNCTIONS: [(&str, SetFunction); 9] = [
    ("identity", std::convert::identity),
    ("flipVertical", chessops::flip_vertical),
    ("flipHorizontal", chessops::flip_horizontal),
    ("flipDiagonal", chessops::flip_diagonal),
    ("rotate180", chessops::rotate180),
    ("shiftLeft", chessops::shift_left),
    ("shiftRight", chessops::shift_right),
    ("shiftUp", chessops::shift_up),
    ("shiftDown", chessops::shift_down),
];

fn hex(set: Bitboard) -> String {
    format!("{:016x}", set.0)
}

/// Returns the bitboards of a board in the format that the script in `tests/chessops` writes.
fn masks(board: &Board, promoted: Bitboard) -> String {
    let colors = [Color::White, Color::Black].map(|color| hex(board.by_color(color)));
    let roles = Role::ALL.map(|role| hex(board.by_role(role)));
    format!("{} {} {} {}", hex(board.occupied()), hex(promoted), colors.join(" "), roles.join(" "))
}

/// Returns the properties of a position other than its bitboards, in the format that the script in `tests/chessops` writes.
fn rest(setup: &Setup) -> String {
    let passed = setup.ep_square.map_or("-".into(), |square| (square as u32).to_string());
    let turn = if setup.turn.is_white() { "white" } else { "black" };
    let pockets = setup.pockets.as_ref().map_or("-".into(), |pockets| {
        let side = |color| Role::ALL.map(|role| pockets.get(color).get(role).to_string()).concat();
        format!("{}/{}", side(Color::White), side(Color::Black))
    });
    let checks = setup
        .remaining_checks
        .map_or("-".into(), |checks| format!("{}+{}", u32::from(checks.white), u32::from(checks.black)));
    let rights = hex(setup.castling_rights);
    format!("{rights} {passed} {turn} {pockets} {checks} {} {}", setup.halfmoves, setup.fullmoves)
}

#[test]
fn ten_thousand_random_positions_are_as_chessops_has_them() {
    let mut digests: BTreeMap<String, Sha256> = BTreeMap::new();
    let mut add = |name: String, line: String| digests.entry(name).or_default().update(line + "\n");
    let mut rng = Rng::new(SEED);
    for _ in 0..COUNT {
        let fen = position(&mut rng);
        add("positions".into(), fen.clone());
        let mut record = read(fen.as_bytes()).unwrap_or_else(|error| panic!("{fen}: {error}"));
        let setup = record.setup.clone();
        let set = Bitboard((rng.next() & 0xffff_ffff) | (rng.next() & 0xffff_ffff) << 32);
        for (name, f) in FUNCTIONS {
            add(format!("set {name}"), format!("{} {}", hex(set), hex(f(set))));
            let board = transform_board(&setup.board, f).unwrap();
            add(format!("board {name}"), masks(&board, f(setup.promoted)));
            record.setup = transform_setup(&setup, f).unwrap();
            let image = &record.setup;
            assert_eq!(named(name).setup(&setup).unwrap(), *image, "{fen}: {name} by its name");
            add(format!("setup {name}"), format!("{} {}", masks(&image.board, image.promoted), rest(image)));
            add(format!("fen {name}"), record.to_string());
        }
    }
    let rows = STORED.lines().filter_map(|line| line.strip_prefix("digest\t"));
    let stored: BTreeMap<&str, &str> = rows.map(|row| row.split_once('\t').unwrap()).collect();
    assert_eq!(stored.len(), 1 + 4 * FUNCTIONS.len());
    assert_eq!(digests.len(), stored.len());
    for (name, digest) in digests {
        let digest = digest.finalize().iter().fold(String::new(), |mut out, byte| {
            write!(out, "{byte:02x}").unwrap();
            out
        });
        assert_eq!(digest, stored[name.as_str()], "{name}: the rows of the other test may show where");
    }
}

#[test]
fn rows_are_as_chessops_has_them() {
    let mut count = 0;
    for row in STORED.lines().filter_map(|line| line.strip_prefix("row\t")) {
        let [name, fen, image, others] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let mut record = read(fen.as_bytes()).unwrap();
        record.setup = named(name).setup(&setup(fen)).unwrap();
        assert_eq!(
            (record.to_string().as_str(), rest(&record.setup).as_str()),
            (image, others),
            "{name}: {fen}"
        );
        count += 1;
    }
    assert_eq!(count, 40 * FUNCTIONS.len());
}
