//! Defines which characters of a PGN text count as blanks and which as dashes, in ASCII, Unicode and Windows-1252.
//!
//! ASCII bytes are tested first, since most bytes of a text are ASCII.

/// Returns whether a byte is a blank. NULs, form feeds and DOS end-of-file marks count as blanks, since they occur in real files.
/// Line ends do not.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0 | 0x0b | 0x0c | 0x1a)
}

/// Returns the length in bytes of a non-ASCII blank at the start of a text, or 0 if there is none. Unicode's zero-width characters
/// and byte order marks count as blanks. A byte 0xa0 that is not part of UTF-8 is the no-break space of Latin-1.
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

/// Returns the index of the first byte at or after `from` that is not a blank, or the length of the text. Line ends are not blanks.
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

/// Returns the length in bytes of a dash at the start of a text, or 0 if there is none. The dashes of ASCII, Unicode and
/// Windows-1252 are recognised.
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
