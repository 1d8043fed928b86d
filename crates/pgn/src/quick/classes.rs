//! Classifies the bytes of a block of movetext. A class is a 64-bit mask with one bit for each byte, the lowest bit for the first
//! byte.

use super::words::{BLOCK, MoveWords};

/// One mask for each class of bytes. A bit is set if its byte is in the class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Classes {
    pub(super) space: u64,
    /// LF.
    pub(super) line: u64,
    /// CR.
    pub(super) carriage: u64,
    pub(super) digit: u64,
    pub(super) dot: u64,
    /// Blanks, control characters, and all bytes that are not ASCII.
    pub(super) low: u64,
}

impl Classes {
    /// Classifies bytes one by one.
    #[cfg(test)]
    pub(super) fn one_by_one(block: &[u8; BLOCK]) -> Classes {
        let of = |test: fn(u8) -> bool| (0..BLOCK).map(|k| u64::from(test(block[k])) << k).sum();
        Classes {
            space: of(|byte| byte == b' '),
            line: of(|byte| byte == b'\n'),
            carriage: of(|byte| byte == b'\r'),
            digit: of(|byte| byte.is_ascii_digit()),
            dot: of(|byte| byte == b'.'),
            low: of(|byte| byte <= b' ' || !byte.is_ascii()),
        }
    }

    /// Classifies eight bytes at a time.
    #[inline(always)]
    pub(super) fn in_words(block: &[u8; BLOCK]) -> Classes {
        let mut out = Classes::default();
        let (words, _) = block.as_chunks::<8>();
        for (k, word) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            let put = |flags: u64| packed(flags) << (8 * k);
            let equal = |byte: u8| put(zero(word ^ (LOW * u64::from(byte))));
            out.space |= equal(b' ');
            out.line |= equal(b'\n');
            out.carriage |= equal(b'\r');
            out.dot |= equal(b'.');
            out.digit |= put(less(word ^ (LOW * u64::from(b'0')), 10));
            out.low |= put(less(word, 0x21) | word & HIGH);
        }
        out
    }

    /// Returns the move tokens in these 64 bytes of text. The first byte must not belong to a token that began before it.
    #[inline(always)]
    pub(super) fn words(self) -> MoveWords {
        let Classes { space, line, carriage, digit, dot, low } = self;
        let blanks = space | line | carriage;
        let between = blanks | dot;
        let tokens = !between & (between << 1 | 1);
        // A dot must follow each number, and each dot must follow a number or another dot. The null move `0000` also passes this
        // test, although it is not a number.
        let numbers = tokens & digit;
        let after_numbers = digit.wrapping_add(numbers) & !digit;
        let first_dots = dot & !(dot << 1);
        let long = numbers & digit >> 1 & digit >> 2 & digit >> 3;
        let empty_lines = line & blanks >> 1;
        let lone = carriage & !(line >> 1) & !(1 << 63);
        let odd = low & !blanks | after_numbers ^ first_dots | long | empty_lines | lone;
        let before_odd = (odd & odd.wrapping_neg()).wrapping_sub(1);
        let before_last_blank = u64::MAX.checked_shr(blanks.leading_zeros()).unwrap_or(0);
        MoveWords { starts: tokens & !digit & before_odd & before_last_blank, blanks }
    }
}

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = LOW << 7;

/// Sets the highest bit of each byte that is 0.
const fn zero(word: u64) -> u64 {
    !(((word & !HIGH) + !HIGH) | word) & HIGH
}

/// Sets the highest bit of each byte that is below a limit, which is at most 128.
const fn less(word: u64, limit: u8) -> u64 {
    !(((word & !HIGH) + LOW * (128 - limit as u64)) | word) & HIGH
}

/// Packs the highest bit of each of eight bytes into one byte.
const fn packed(flags: u64) -> u64 {
    (flags >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}
