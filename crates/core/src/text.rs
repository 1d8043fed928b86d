//! Decodes the bytes of games as text.
//!
//! PGN does not declare its encoding. All code that turns bytes of a game into text calls [`decode`], so a name has the same text
//! in conditions, groups, tables and messages. This module does not depend on tags or moves. Invariant: no byte is lost, and UTF-8
//! is not changed.

use std::borrow::Cow;
use std::cmp::Ordering;

use memchr::memmem;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The code points of the bytes 0x80 to 0x9f in Windows-1252. The five unassigned bytes map to themselves, as in browsers. Source:
/// <https://encoding.spec.whatwg.org/#index-windows-1252>.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Returns whether two byte strings are equal. Most tag names and values have four to sixteen bytes. At these lengths, comparing
/// two words is faster than calling `memcmp`.
#[inline]
pub fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len()
        && match a.len() {
            8..=16 => a.first_chunk::<8>() == b.first_chunk() && a.last_chunk::<8>() == b.last_chunk(),
            4..8 => a.first_chunk::<4>() == b.first_chunk() && a.last_chunk::<4>() == b.last_chunk(),
            _ => a == b,
        }
}

/// Decodes bytes of a game as UTF-8, or as Windows-1252 if they are not UTF-8. In Windows-1252 every byte is a character.
///
/// ```
/// use orbit_core::text::decode;
///
/// assert_eq!(decode("Réti".as_bytes()), "Réti");
/// assert_eq!(decode(b"R\xe9ti \x96 Spielmann"), "Réti – Spielmann");
/// ```
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| windows_1252(byte)).collect()),
    }
}

/// Compares two texts as [`decode`] decodes them. Texts with equal bytes are equal.
///
/// ```
/// use std::cmp::Ordering;
///
/// use orbit_core::text::compare;
///
/// assert_eq!(compare("Réti".as_bytes(), b"R\xe9ti"), Ordering::Equal);
/// assert_eq!(compare(b"R\xe9ti", b"R\xe9ti"), Ordering::Equal);
/// assert_eq!(compare("Réti".as_bytes(), "RÃ©ti".as_bytes()), Ordering::Greater);
/// ```
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    match a == b {
        true => Ordering::Equal,
        false => decode(a).cmp(&decode(b)),
    }
}

/// Returns whether `part` occurs in `text`, either as bytes or after [`decode`] has decoded both.
///
/// ```
/// use orbit_core::text::occurs_in;
///
/// assert!(occurs_in("é".as_bytes(), b"R\xe9ti"));
/// assert!(occurs_in(b"\xe9", b"R\xe9ti"));
/// assert!(!occurs_in("é".as_bytes(), b"Reti"));
/// ```
pub fn occurs_in(part: &[u8], text: &[u8]) -> bool {
    memmem::find(text, part).is_some() || {
        let (part, text) = (decode(part), decode(text));
        let is_new = [&part, &text].into_iter().any(|text| matches!(text, Cow::Owned(_)));
        is_new && memmem::find(text.as_bytes(), part.as_bytes()).is_some()
    }
}

/// Returns a string as a word for a POSIX shell, in quotation marks if it needs them.
pub fn shell_word(text: &str) -> String {
    let is_plain = |letter: char| {
        letter.is_alphanumeric() || matches!(letter, '_' | '.' | '/' | '-' | ',' | ':' | '+' | '@' | '%')
    };
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => shell_quoted(text),
    }
}

/// Returns a string in single quotation marks, which a POSIX shell reads unchanged.
pub fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte) - 0x80],
        _ => char::from(byte),
    }
}

/// Shortens a text to `width` columns of a terminal. A text that is wider than `width` is cut and ends with `…`.
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

/// Shortens a text to `letters_max` characters. If the text is longer, `…` is added at the end.
pub fn shortened(text: &str, letters_max: usize) -> String {
    match text.char_indices().nth(letters_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The code points that the Encoding Standard's index of windows-1252 assigns to the bytes 0x80 to 0x9f.
    const INDEX: [u32; 32] = [
        0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152,
        0x8d, 0x17d, 0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122,
        0x161, 0x203a, 0x153, 0x9d, 0x17e, 0x178,
    ];

    #[test]
    fn every_byte_means_something() {
        let expected = |byte: u8| match byte {
            0x80..=0x9f => INDEX[usize::from(byte) - 0x80],
            _ => byte.into(),
        };
        for byte in 0..=0xff {
            // An ASCII byte alone is UTF-8. A neighbouring 0xff, which never occurs in UTF-8, makes the text Windows-1252.
            for bytes in [&[byte][..], &[byte, 0xff], &[0xff, byte]] {
                let text = decode(bytes);
                assert_eq!(matches!(text, Cow::Borrowed(_)), bytes.is_ascii(), "{bytes:x?}");
                let found: Vec<u32> = text.chars().map(u32::from).collect();
                assert_eq!(found, bytes.iter().map(|&byte| expected(byte)).collect::<Vec<_>>(), "{bytes:x?}");
            }
        }
        let letters: BTreeSet<u32> = (0..=0xff).map(expected).collect();
        assert_eq!(letters.len(), 256, "no two bytes are one letter");
    }

    #[test]
    fn utf_8_stays_as_it_is() {
        for text in ["", "Müller", "Ding Liren 丁立人", "♞", "a\u{fffd}b", "\u{80}\u{9f}"] {
            assert!(matches!(decode(text.as_bytes()), Cow::Borrowed(found) if found == text), "{text}");
        }
        // A truncated UTF-8 letter makes the text invalid, so each byte is read as Windows-1252.
        assert_eq!(decode(&"Réti".as_bytes()[..2]), "RÃ");
        assert_eq!(decode(b"M\xfcller \x80 \x96 \x9f \x81"), "Müller € – Ÿ \u{81}");
    }

    #[test]
    fn long_texts_are_cut() {
        for (text, width, expected) in
            [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("丁立人", 4, "丁…"), ("", 0, "")]
        {
            assert_eq!(clipped(text, width), expected, "{text}");
        }
        for (text, letters, expected) in [("éé", 2, "éé"), ("ééé", 2, "éé…")] {
            assert_eq!(shortened(text, letters), expected, "{text}");
        }
    }

    #[test]
    fn strings_that_differ_in_one_byte_are_not_the_same() {
        for len in 0..40 {
            let a: Vec<u8> = (0..len).collect();
            assert!(is_same(&a, &a.clone()));
            assert!(!is_same(&a, &[&a[..], b"x"].concat()));
            for at in 0..a.len() {
                let mut b = a.clone();
                b[at] ^= 0x80;
                assert!(!is_same(&a, &b), "{len}, {at}");
            }
        }
    }
}
