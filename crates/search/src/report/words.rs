//! Writes numbers, squares and strings as bytes.

use orbit_core::board::{Bitboard, Square};
use orbit_core::text::decode;
use orbit_core::visible::{EscapeContext, escape};

/// Appends a number in decimal.
pub fn push_number(out: &mut Vec<u8>, number: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a set of squares in CQL syntax: `[a1,h1]`, `a1`, `[]`, in ascending order from a1.
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

/// Appends a string in quotes as in JSON, on one line. Terminal control characters are escaped.
pub fn push_text(out: &mut Vec<u8>, text: &[u8]) {
    let written = serde_json::Value::String(decode(text).into_owned()).to_string();
    out.extend_from_slice(escape(&written, EscapeContext::Json).as_bytes());
}

fn push_square(out: &mut Vec<u8>, square: Square) {
    out.extend_from_slice(&[b'a' + square.file() as u8, b'1' + square.rank() as u8]);
}
