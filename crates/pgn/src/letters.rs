//! Blanks and dashes in the text of games, those of Unicode and of Windows-1252 as well.
//!
//! Texts are bytes, mostly of ASCII: whatever is no ASCII is looked at last.

/// Blank, but no line end. Real files hold NULs, form feeds, and end-of-file marks of DOS.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0 | 0x0b | 0x0c | 0x1a)
}

/// Bytes of the blank beyond ASCII that a text begins with; 0 if there is none. Blanks of Unicode are UTF-8, letters without width and
/// byte order marks among them. A byte 0xa0 that is no UTF-8 is the no-break space of Latin-1.
pub(super) fn wide_blank(text: &[u8]) -> usize {
    match text {
        [0xa0, ..] => 1,
        [0xc2, 0x85 | 0xa0, ..] => 2,
        [0xe1, 0x9a, 0x80, ..]
        | [0xe2, 0x80, 0x80..=0x8f | 0xa8..=0xaf, ..]
        | [0xe2, 0x81, 0x9f..=0xa0, ..]
        | [0xe3, 0x80, 0x80, ..]
        | [0xef, 0xbb, 0xbf, ..] => 3,
        _ => 0,
    }
}

/// The first byte from `from` on that is no blank, or the end. Line ends are no blanks.
pub(super) fn past_blanks(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(&byte) = text.get(at) {
        at += match is_blank(byte) {
            true => 1,
            false if byte.is_ascii() => break,
            false => match wide_blank(&text[at..]) {
                0 => break,
                bytes => bytes,
            },
        };
    }
    at
}

/// Bytes of the dash that a text begins with; 0 if there is none. Dashes are those of ASCII, Unicode and Windows-1252.
pub(super) fn dash(text: &[u8]) -> usize {
    match text {
        [b'-' | 0x96 | 0x97, ..] => 1,
        [0xc2, 0xad, ..] => 2,
        [0xe2, 0x80, 0x90..=0x95, ..]
        | [0xe2, 0x81, 0x83, ..]
        | [0xe2, 0x88, 0x92, ..]
        | [0xef, 0xb9, 0x98 | 0xa3, ..]
        | [0xef, 0xbc, 0x8d, ..] => 3,
        _ => 0,
    }
}
