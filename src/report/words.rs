//! Numbers and squares as bytes.

use crate::board::{Bitboard, Square};

/// Appends a number in decimal.
pub fn push_number(out: &mut Vec<u8>, number: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a set of squares as CQL writes it: `[a1,h1]`, `a1`, `[]`, ascending from a1.
pub fn push_squares(out: &mut Vec<u8>, squares: Bitboard) {
    if let Some(square) = squares.single_square() {
        return push_square(out, square);
    }
    out.push(b'[');
    for (i, square) in squares.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        push_square(out, square);
    }
    out.push(b']');
}

fn push_square(out: &mut Vec<u8>, square: Square) {
    out.extend_from_slice(&[b'a' + square.file() as u8, b'1' + square.rank() as u8]);
}
