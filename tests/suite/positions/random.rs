//! Generates the same random positions as `tests/chessops/positions.mjs`: both draw all random numbers in the same order.

use std::fmt::Write as _;

use crate::differential::rng::Rng;

const LETTERS: &[u8; 12] = b"PNBRQKpnbrqk";

fn letter(rng: &mut Rng) -> char {
    char::from(*rng.pick(LETTERS))
}

fn placement(rng: &mut Rng) -> String {
    let density = rng.below(100);
    let mut ranks = Vec::new();
    for _ in 0..8 {
        let (mut text, mut empty) = (String::new(), 0);
        for _ in 0..8 {
            if rng.below(100) >= density {
                empty += 1;
                continue;
            }
            if empty > 0 {
                write!(text, "{empty}").unwrap();
            }
            empty = 0;
            text.push(letter(rng));
            if rng.below(12) == 0 {
                text.push('~');
            }
        }
        if empty > 0 {
            write!(text, "{empty}").unwrap();
        }
        ranks.push(text);
    }
    ranks.join("/")
}

fn pockets(rng: &mut Rng) -> String {
    if rng.below(3) > 0 {
        return String::new();
    }
    let count = rng.below(9);
    let letters: String = (0..count).map(|_| letter(rng)).collect();
    format!("[{letters}]")
}

fn castling(rng: &mut Rng) -> String {
    let mut text = String::new();
    for letters in [b"KQABCDEFGH", b"kqabcdefgh"] {
        for _ in 0..rng.below(3) {
            text.push(char::from(*rng.pick(letters)));
        }
    }
    if text.is_empty() { "-".into() } else { text }
}

/// Returns a FEN with all possible fields, which need not be consistent.
pub fn position(rng: &mut Rng) -> String {
    let board = placement(rng) + &pockets(rng);
    let turn = char::from(*rng.pick(b"wb"));
    let rights = castling(rng);
    let passed = match rng.below(2) {
        0 => "-".into(),
        _ => format!("{}{}", char::from(*rng.pick(b"abcdefgh")), char::from(*rng.pick(b"12345678"))),
    };
    let checks = match rng.below(3) {
        0 => format!(" {}+{}", rng.below(4), rng.below(4)),
        _ => String::new(),
    };
    format!("{board} {turn} {rights} {passed}{checks} {} {}", rng.below(150), 1 + rng.below(300))
}
