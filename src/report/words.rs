//! Numbers, squares and names as bytes.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::board::{Bitboard, Square};
use crate::visible;

/// The code points of Windows-1252 from 0x80 to 0x9f; the five that are not assigned stand for
/// themselves, as browsers have it. Source: <https://encoding.spec.whatwg.org/#index-windows-1252>.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Bytes of a PGN as text: UTF-8, or else Windows-1252, in which every byte means something.
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| windows_1252(byte)).collect()),
    }
}

fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte) - 0x80],
        _ => char::from(byte),
    }
}

/// The same as one line for people: what a PGN holds must not act on a terminal.
pub fn printable(bytes: &[u8]) -> String {
    visible::line(&decode(bytes)).into_owned()
}

/// A text for a column of a terminal: cut, with `…` at its end, if it is wider than `width`.
pub fn clipped(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut taken = 1;
    let fits = |letter: &char| {
        taken += letter.width().unwrap_or(0);
        taken <= width
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// A text that is no longer than a reader bears: cut, with `…` at its end, after so many letters.
pub fn shortened(text: &str, letters_max: usize) -> String {
    match text.char_indices().nth(letters_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

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
