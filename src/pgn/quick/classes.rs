//! The bytes of a block of movetext by what they are: one bit a byte, the first byte lowest.

use super::says::Says;
use super::words::{BLOCK, FirstWords, WORDS, Words};

/// Which bytes of a block are what.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Classes {
    space: u64,
    /// LF.
    line: u64,
    /// CR.
    carriage: u64,
    digit: u64,
    dot: u64,
    /// Blanks, control characters, and all that is not ASCII.
    low: u64,
}

impl Classes {
    /// The same, byte by byte.
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

    /// The words of a block that begins with a token or between two.
    #[inline(always)]
    pub(super) fn words(self) -> Words {
        let Classes { space, line, carriage, digit, dot, low } = self;
        let blanks = space | line | carriage;
        let between = blanks | dot;
        let tokens = !between & (between << 1 | 1);
        // A number is followed by a dot, and the first dot follows a number. `0000` is no number but passes.
        let numbers = tokens & digit;
        let after_numbers = digit.wrapping_add(numbers) & !digit;
        let first_dots = dot & !(dot << 1);
        let long = numbers & digit >> 1 & digit >> 2 & digit >> 3;
        let empty_lines = line & blanks >> 1;
        let lone = carriage & !(line >> 1) & !(1 << 63);
        let odd = low & !blanks | after_numbers ^ first_dots | long | empty_lines | lone;
        let before_odd = (odd & odd.wrapping_neg()).wrapping_sub(1);
        let before_last_blank = u64::MAX.checked_shr(blanks.leading_zeros()).unwrap_or(0);
        Words { starts: tokens & !digit & before_odd & before_last_blank, blanks }
    }
}

/// Classifies blocks; a value exists only where the processor has the instructions that it takes.
pub(super) trait Classify: Copy {
    fn classes(self, block: &[u8; BLOCK]) -> Classes;

    /// What words say.
    fn says(self, words: &FirstWords) -> [Says; WORDS];
}

/// The instructions that are used.
#[derive(Clone, Copy, Debug)]
pub(in crate::pgn) enum Level {
    /// What every processor has.
    Base(Base),
    /// Vectors of 32 bytes, and counts of zeros.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
}

impl Level {
    /// All that the processor has, the best one last.
    pub(in crate::pgn) fn available() -> impl DoubleEndedIterator<Item = Level> {
        let base = [Level::Base(Base)].into_iter();
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            let has_all = has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
            base.chain(has_all.then_some(Level::Avx2(Avx2(()))))
        }
        #[cfg(not(target_arch = "x86_64"))]
        base
    }

    /// [`Classify::classes`] of that level.
    #[cfg(test)]
    pub(super) fn classes(self, block: &[u8; BLOCK]) -> Classes {
        match self {
            Level::Base(level) => level.classes(block),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(level) => level.classes(block),
        }
    }

    /// [`Classify::says`] of that level.
    #[cfg(test)]
    pub(super) fn says(self, words: &FirstWords) -> [Says; WORDS] {
        match self {
            Level::Base(level) => level.says(words),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(level) => level.says(words),
        }
    }

    /// The best one.
    pub(in crate::pgn) fn best() -> Level {
        Level::available().next_back().unwrap_or(Level::Base(Base))
    }
}

/// Words of eight bytes, without any instruction for vectors.
#[derive(Clone, Copy, Debug)]
pub(in crate::pgn) struct Base;

impl Classify for Base {
    #[inline(always)]
    fn classes(self, block: &[u8; BLOCK]) -> Classes {
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

    #[inline(always)]
    fn says(self, words: &FirstWords) -> [Says; WORDS] {
        Says::of_each(words)
    }
}

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = LOW << 7;

/// The highest bits of those bytes that are 0.
const fn zero(word: u64) -> u64 {
    !(((word & !HIGH) + !HIGH) | word) & HIGH
}

/// The highest bits of those bytes that are less than a limit of 128 at most.
const fn less(word: u64, limit: u8) -> u64 {
    !(((word & !HIGH) + LOW * (128 - limit as u64)) | word) & HIGH
}

/// The highest bits of eight bytes, as eight bits.
const fn packed(flags: u64) -> u64 {
    (flags >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Vectors of 32 bytes.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(in crate::pgn) struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Classify for Avx2 {
    #[inline(always)]
    fn classes(self, block: &[u8; BLOCK]) -> Classes {
        #[expect(unsafe_code, reason = "code for another instruction set")]
        // SAFETY: a value exists only where the processor has these instructions.
        unsafe {
            avx2(block)
        }
    }

    #[inline(always)]
    fn says(self, words: &FirstWords) -> [Says; WORDS] {
        #[expect(unsafe_code, reason = "code for another instruction set")]
        // SAFETY: the same.
        unsafe {
            super::says::of_fours(words)
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn avx2(block: &[u8; BLOCK]) -> Classes {
    use std::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_min_epu8, _mm256_movemask_epi8,
        _mm256_set1_epi8, _mm256_xor_si256,
    };
    let (halves, _) = block.as_chunks::<32>();
    let [a, b]: [__m256i; 2] = [bytemuck::cast(halves[0]), bytemuck::cast(halves[1])];
    macro_rules! both {
        ($half:ident => $test:expr) => {{
            let mask = |$half: __m256i| u64::from(_mm256_movemask_epi8($test) as u32);
            mask(a) | mask(b) << 32
        }};
    }
    macro_rules! equal {
        ($byte:literal) => {
            both!(half => _mm256_cmpeq_epi8(half, _mm256_set1_epi8($byte as i8)))
        };
    }
    Classes {
        space: equal!(b' '),
        line: equal!(b'\n'),
        carriage: equal!(b'\r'),
        dot: equal!(b'.'),
        digit: both!(half => {
            let value = _mm256_xor_si256(half, _mm256_set1_epi8(b'0' as i8));
            _mm256_cmpeq_epi8(value, _mm256_min_epu8(value, _mm256_set1_epi8(9)))
        }),
        low: both!(half => _mm256_cmpgt_epi8(_mm256_set1_epi8(0x21), half)),
    }
}
