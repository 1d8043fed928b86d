//! A fast path for nearly all movetext: moves in plain SAN, their numbers, comments, variations, and blanks without an empty line.
//!
//! This path reads only text that the general tokenizer would read in the same way, and leaves the tokenizer in the same state. At
//! anything else it stops, and the general tokenizer continues.

use shakmaty::{CastlingSide, File, Role, Square};

use super::super::lex::{self, TagPair, window, words};
use super::{ByteRange, GameSection, Tokenizer};

/// A move of the main line.
pub(crate) struct PlainMove {
    pub(crate) word: ByteRange,
    pub(crate) san: San,
}

/// The content of a plain move token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum San {
    Castle(CastlingSide),
    /// A pawn move. If it names no file of origin, it is not a capture.
    Pawn {
        file: Option<File>,
        to: Square,
        promotion: Option<Role>,
    },
    /// A move of a knight, bishop, rook, queen or king, from one of the squares `hints`.
    Piece {
        role: Role,
        hints: u64,
        to: Square,
    },
}

impl Tokenizer<'_> {
    /// Reads the next move of the main line. Returns `None` if this fast path cannot read all text up to the end of the move.
    #[inline(always)]
    pub(crate) fn plain(&mut self) -> Option<PlainMove> {
        if !self.is_plain() || self.depth > 0 {
            return None;
        }
        let text = &self.text[..self.end];
        loop {
            let (first, at) = past_blanks(text, self.pos)?;
            match first {
                b'a'..=b'h' | b'K' | b'Q' | b'R' | b'B' | b'N' | b'O' => {
                    let (san, length) = San::read(window(text, at)?)?;
                    self.words += 1;
                    self.pos = at + length;
                    return Some(PlainMove { word: at..self.pos, san });
                }
                b'1'..=b'9' => self.pos = past_number(text, at)?,
                b'(' if self.whole => return None,
                b'(' => {
                    self.pos = at;
                    self.open_paren();
                    self.skip_variation();
                    if self.depth > 0 {
                        return None;
                    }
                }
                _ => self.pos = past_remark(text, first, at)?,
            }
        }
    }

    /// Reads the name and the value of the next tag pair, if it has the usual form and follows another tag pair on the line before.
    /// `likely` is the expected tag name, usually taken from the previous game, or empty.
    #[inline(always)]
    pub(crate) fn plain_tag(&mut self, likely: &[u8]) -> Option<(ByteRange, ByteRange)> {
        if self.section != GameSection::Tags || self.blank || self.first_name.is_empty() {
            return None;
        }
        let at = match self.text.get(self.pos..self.end)? {
            [b'\n', b'[', ..] => self.pos + 1,
            [b'\r', b'\n', b'[', ..] => self.pos + 2,
            _ => return None,
        };
        let TagPair { name, value, next } = lex::plain_tag(self.text, at, likely)?;
        // A tag `Event` may begin a game, so the general tokenizer has to decide.
        if self.text[name.clone()] == *b"Event" {
            return None;
        }
        self.pos = next;
        Some((name, value))
    }

    /// Returns the text up to the last possible end of the game, and the index at which the main line continues. Returns `None` if
    /// reading move numbers and moves would change anything but the tokenizer's position.
    pub(crate) fn plain_text(&self) -> Option<(&[u8], usize)> {
        (self.is_plain() && self.depth == 0).then(|| (&self.text[..self.end], self.pos))
    }

    /// Moves the tokenizer forward to the index `to` in [`Tokenizer::plain_text`]. `words` is the number of move tokens that it
    /// passes.
    pub(crate) fn pass(&mut self, to: usize, words: usize) {
        self.pos = to;
        self.words += words as u32;
    }

    /// Skips moves of the main line, up to the first text that this fast path cannot read.
    pub(crate) fn skip_plain(&mut self) {
        while self.plain().is_some() {}
    }

    /// Skips the text of a variation, up to its end or to the first text that this fast path cannot read. The tokens are not
    /// interpreted, except that the fast path stops at a result.
    pub(super) fn skip_variation(&mut self) {
        if !self.is_plain() {
            return;
        }
        let text = &self.text[..self.end];
        while self.depth > 0
            && let Some((first, at)) = past_blanks(text, self.pos)
        {
            let next = match first {
                b'(' => {
                    self.depth += 1;
                    self.side_lines += 1;
                    Some(at + 1)
                }
                b')' => {
                    self.depth -= 1;
                    Some(at + 1)
                }
                b'{' | b'$' => past_remark(text, first, at),
                _ => past_word(text, at),
            };
            let Some(next) = next else { return };
            self.pos = next;
        }
    }

    /// Returns whether a move number, a move or a comment would change only the position of the tokenizer, and no other state.
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.section == GameSection::Moves && !self.blank && self.inner.is_none()
    }
}

/// Returns the first byte after blanks and its index, or `None` if the blanks contain an empty line.
#[inline(always)]
fn past_blanks(text: &[u8], from: usize) -> Option<(u8, usize)> {
    let mut at = from;
    let mut lines = 0;
    loop {
        match *text.get(at)? {
            byte if byte > b' ' => return (lines < 2).then_some((byte, at)),
            b' ' => {}
            b'\n' => lines += 1,
            b'\r' if text.get(at + 1) == Some(&b'\n') => {}
            _ => return None,
        }
        at += 1;
    }
}

/// Returns the end of a comment or a numeric glyph.
fn past_remark(text: &[u8], first: u8, at: usize) -> Option<usize> {
    match first {
        b'{' => {
            lex::comment_end(text, at + 1, text.len()).filter(|&end| text[end] == b'}').map(|end| end + 1)
        }
        b'$' => Some(at + 1 + text[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count()),
        _ => None,
    }
}

/// Returns the end of a number with dots.
#[inline(always)]
fn past_number(text: &[u8], at: usize) -> Option<usize> {
    let stop = at + words::no_digits(window(text, at)?).trailing_zeros() as usize / 8;
    if text.get(stop) != Some(&b'.') {
        return None;
    }
    let mut stop = stop + 1;
    while text.get(stop) == Some(&b'.') {
        stop += 1;
    }
    // The byte `0xe2` may begin `…`, which also counts as dots, so the general tokenizer has to read this number.
    (*text.get(stop)? != 0xe2).then_some(stop)
}

/// The maximum length of a token in a variation that the fast path reads, in bytes. The general tokenizer may divide a longer token
/// into thousands of move numbers, after each of which the fast path looks at the rest of the token again.
const WORD_BYTES_MAX: usize = 256;

/// Returns the end of a token in a variation. Returns `None` if the token is a result or ends with one, or if it is too long.
fn past_word(text: &[u8], at: usize) -> Option<usize> {
    let mut bytes = text[at..].iter().take(WORD_BYTES_MAX);
    let stop = at + bytes.position(|&byte| !IN_WORD[byte as usize])?;
    let is_stop = matches!(text[stop], b' ' | b'\n' | b'\r' | b'{' | b'(' | b')' | b'$');
    let word = &text[at..stop];
    let may_be_result = match word {
        // A result may be joined to the end of a move, and one sign may follow it.
        [b'a'..=b'z' | b'A'..=b'Z', ..] => matches!(
            word,
            [.., b'-', b'0' | b'1'] | [.., b'-', b'0' | b'1', _] | [.., b'/', b'2'] | [.., b'/', b'2', _]
        ),
        [b'0'..=b'9', ..] => word.iter().any(|byte| matches!(byte, b'-' | b'/')),
        _ => true,
    };
    (is_stop && !may_be_result).then_some(stop)
}

/// The bytes that plain move tokens contain. `%` is left out, because it may begin an escape line.
const IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = b'!';
    while byte <= b'~' {
        table[byte as usize] =
            !matches!(byte, b'{' | b'}' | b'(' | b')' | b'[' | b']' | b';' | b'$' | b'*' | b'%');
        byte += 1;
    }
    table
};

impl San {
    /// Reads the token at the start of an eight-byte window. The token must end at a blank in the window. Returns the move and the
    /// length of the token.
    #[inline(always)]
    pub(crate) fn read(window: u64) -> Option<(San, usize)> {
        let byte = |k: usize| (window >> (8 * k)) as u8;
        let length = words::below(window, b'!').trailing_zeros() as usize / 8;
        if length >= 8 || !matches!(byte(length), b' ' | b'\n' | b'\r') {
            return None;
        }
        let mut stem = length;
        while stem > 2 && matches!(byte(stem - 1), b'+' | b'#' | b'!' | b'?') {
            stem -= 1;
        }
        if stem < 2 {
            return None;
        }
        let Some(to) = square(byte(stem - 2), byte(stem - 1)) else {
            return San::unusual(window & !(!0 << (8 * stem)), stem).map(|san| (san, length));
        };
        let hints = stem - 2;
        if hints == 0 {
            return Some((San::Pawn { file: None, to, promotion: None }, length));
        }
        let hints = hints - usize::from(byte(hints - 1) == b'x');
        let role = ROLES[usize::from(byte(0) & 127)];
        let san = match (role, hints) {
            (Some(role), 1) => San::Piece { role, hints: !0, to },
            (Some(role), 2) => San::Piece { role, hints: hint(byte(1))?, to },
            (Some(role), 3) => {
                let origin = square(byte(1), byte(2))?;
                San::Piece { role, hints: 1 << origin as u32, to }
            }
            (None, 1) => San::Pawn { file: Some(file(byte(0))?), to, promotion: None },
            _ => return None,
        };
        Some((san, length))
    }

    /// Reads castling and promotions, without suffixes.
    fn unusual(word: u64, length: usize) -> Option<San> {
        const SHORT: u64 = u64::from_le_bytes(*b"O-O\0\0\0\0\0");
        const LONG: u64 = u64::from_le_bytes(*b"O-O-O\0\0\0");
        match word {
            SHORT => return Some(San::Castle(CastlingSide::KingSide)),
            LONG => return Some(San::Castle(CastlingSide::QueenSide)),
            _ => {}
        }
        let bytes = word.to_le_bytes();
        let (from, to, letter) = match bytes[..length] {
            [x, y, b'=', letter] => (None, square(x, y)?, letter),
            [from, b'x', x, y, b'=', letter] => (Some(file(from)?), square(x, y)?, letter),
            _ => return None,
        };
        let promotion = ROLES[usize::from(letter & 127)].filter(|&role| role != Role::King)?;
        Some(San::Pawn { file: from, to, promotion: Some(promotion) })
    }
}

/// The role for each letter that names a piece.
const ROLES: [Option<Role>; 128] = {
    let mut table = [None; 128];
    table[b'N' as usize] = Some(Role::Knight);
    table[b'B' as usize] = Some(Role::Bishop);
    table[b'R' as usize] = Some(Role::Rook);
    table[b'Q' as usize] = Some(Role::Queen);
    table[b'K' as usize] = Some(Role::King);
    table
};

#[inline(always)]
fn hint(byte: u8) -> Option<u64> {
    match byte {
        b'a'..=b'h' => Some(0x0101_0101_0101_0101 << (byte - b'a')),
        b'1'..=b'8' => Some(0xff << (8 * (byte - b'1'))),
        _ => None,
    }
}

#[inline(always)]
fn file(byte: u8) -> Option<File> {
    File::from_char(byte as char)
}

#[inline(always)]
fn square(file: u8, rank: u8) -> Option<Square> {
    let (file, rank) = (file.wrapping_sub(b'a'), rank.wrapping_sub(b'1'));
    (file | rank < 8).then(|| Square::new(u32::from(8 * rank + file)))
}

#[cfg(test)]
mod tests {
    use shakmaty::Rank;

    use super::super::super::san::SanShape;
    use super::*;

    fn read(word: &str) -> Option<San> {
        let mut text = word.as_bytes().to_vec();
        text.extend_from_slice(b" 12. Nf3");
        let (san, length) = San::read(window(&text, 0)?)?;
        assert_eq!(length, word.len(), "{word}");
        Some(san)
    }

    /// Returns whether a plain SAN token and a shape describe the same move.
    fn agrees(san: San, shape: SanShape) -> bool {
        match (san, shape) {
            (San::Castle(a), SanShape::Castle(b)) => a == b,
            (San::Pawn { file, to, promotion }, shape) => {
                shape == SanShape::Piece { role: Some(Role::Pawn), file, rank: None, to, promotion }
            }
            (San::Piece { role, hints, to }, SanShape::Piece { file, rank, .. }) => {
                let files = file.map_or(!0, |file: File| shakmaty::Bitboard::from(file).0);
                let ranks = rank.map_or(!0, |rank: Rank| shakmaty::Bitboard::from(rank).0);
                hints == files & ranks
                    && shape == SanShape::Piece { role: Some(role), file, rank, to, promotion: None }
            }
            _ => false,
        }
    }

    #[test]
    fn what_most_files_are_made_of_is_plain() {
        for word in [
            "e4", "exd5", "ed5", "Nf3", "Nxf3", "Nbd7", "N1d2", "Nb1d2", "Nbxd7", "N1xd2", "Qd8+", "Qxf7#",
            "O-O", "O-O-O", "O-O+", "e8=Q", "exd8=N", "e8=Q+", "bxc3", "e4!", "Nf3?!", "Kg1", "Rb1",
        ] {
            assert!(read(word).is_some(), "{word}");
        }
        for word in
            ["e9", "N", "Nf", "0-0", "--", "e8Q", "e8(Q)", "Nf3ep", "♘f3", "Pe4", "e2e4", "Nf8=Q", "OO"]
        {
            assert_eq!(read(word), None, "{word}");
        }
    }

    /// Checks that the fast path reads tokens as the general path does. The tokens are strings of up to four letters from a small
    /// alphabet, alone and followed by one of a few endings.
    #[test]
    fn plain_words_say_what_they_say_elsewhere() {
        let letters = b"abeKQRNOPx1248=+#?-";
        let mut plain = 0;
        let mut check = |word: &str| {
            let Some(san) = read(word) else { return };
            plain += 1;
            assert!(
                matches!(lex::MovetextWord::from_bytes(word.as_bytes()), lex::MovetextWord::Other),
                "{word}"
            );
            assert_eq!(lex::glued_result(word.as_bytes()), 0, "{word}");
            let shape = SanShape::parse(word.as_bytes()).unwrap_or_else(|| panic!("{word} is a move"));
            assert!(agrees(san, shape), "{word}: {san:?} {shape:?}");
        };
        let mut words = vec![String::new()];
        for length in 1..=4 {
            let longer = words
                .iter()
                .filter(|word| word.len() == length - 1)
                .flat_map(|word| letters.iter().map(move |&letter| format!("{word}{}", letter as char)));
            let longer: Vec<String> =
                longer.filter(|word| !word.starts_with(['x', '1', '=', '+', '-'])).collect();
            longer.iter().for_each(|word| check(word));
            words.extend(longer);
        }
        let ends = ["", "a4", "xb1", "xe8=Q", "=N", "=K", "+", "e4!", "-O", "1e4"];
        for word in &words {
            ends.iter().for_each(|end| check(&format!("{word}{end}")));
        }
        assert!(plain > 3000, "{plain}");
    }
}
