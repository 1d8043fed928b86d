//! What the words of a block say of moves.

use super::tables::ANY;
use super::words::{FirstWords, WORDS};

/// What a word says of a usual move: a pawn or a piece goes to a square, perhaps takes, and its origin is named by a file or a rank at most.
///
/// Bits 0-5: the square. Bits 8-16: the entry of [`HINTS`](super::tables::HINTS). Bits 24-31: the first letter. Bit 63: the word
/// says something else.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Says(pub(super) u64);

impl Says {
    /// Reads a word from its end: a sign of check, the square, a sign of capture, then file or rank of origin.
    #[inline(always)]
    pub(super) fn of(bytes: u64, length: u64) -> Says {
        let first = bytes & 0xff;
        let word = bytes << (64u64.wrapping_sub(8 * length) & 63);
        let last = word >> 56;
        let is_check = u64::from(last == u64::from(b'+')) | u64::from(last == u64::from(b'#'));
        let word = word << (8 * is_check);
        let rank = (word >> 56).wrapping_sub(u64::from(b'1'));
        let file_letter = word >> 48 & 0xff;
        let file = file_letter.wrapping_sub(u64::from(b'a'));
        let takes = u64::from(word >> 40 & 0xff == u64::from(b'x'));
        let hint = (word << (16 + 8 * takes)) >> 56;
        let is_pawn = first >> 5 & 1;
        let hints = length.wrapping_sub(is_check + 3 + takes).wrapping_add(is_pawn);
        let is_other = u64::from((rank | file | (hints & !1) << 3) & !7 != 0);
        let unhinted = if is_pawn == 1 { file_letter } else { ANY };
        let hint = if hints == 0 { unhinted } else { hint };
        Says(rank << 3 & 56 | file & 7 | hint << 8 | first << 24 | is_other << 63)
    }

    /// Whether the word says something else.
    #[inline(always)]
    pub(super) fn is_other(self) -> bool {
        self.0 >> 63 != 0
    }

    /// Reads words one by one.
    #[inline(always)]
    pub(super) fn of_each(words: &FirstWords) -> [Says; WORDS] {
        std::array::from_fn(|k| Says::of(words.bytes[k], words.lengths[k]))
    }
}

/// [`Says::of`] for four words.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn of_four(bytes: [u64; 4], lengths: [u64; 4]) -> [Says; 4] {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi64 as add, _mm256_and_si256 as and, _mm256_andnot_si256 as and_not,
        _mm256_blendv_epi8 as blend, _mm256_cmpeq_epi64 as equal, _mm256_or_si256 as or, _mm256_set_epi64x,
        _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_slli_epi64 as left, _mm256_sllv_epi64 as left_by,
        _mm256_srli_epi64 as right, _mm256_sub_epi64 as sub,
    };
    let all = |value: u64| _mm256_set1_epi64x(value as i64);
    let letter = |letter: u8| _mm256_set1_epi64x(letter.into());
    let four = |[a, b, c, d]: [u64; 4]| _mm256_set_epi64x(d as i64, c as i64, b as i64, a as i64);
    let (bytes, lengths) = (four(bytes), four(lengths));
    let first = and(bytes, all(0xff));
    let word = left_by(bytes, sub(all(64), left::<3>(lengths)));
    let last = right::<56>(word);
    // What is true is -1.
    let is_check = or(equal(last, letter(b'+')), equal(last, letter(b'#')));
    let word = left_by(word, and(is_check, all(8)));
    let rank = sub(right::<56>(word), letter(b'1'));
    let file_letter = and(right::<48>(word), all(0xff));
    let file = sub(file_letter, letter(b'a'));
    let takes = equal(and(right::<40>(word), all(0xff)), letter(b'x'));
    let hint = right::<56>(left_by(word, sub(all(16), left::<3>(takes))));
    let is_pawn = equal(and(first, all(0x20)), all(0x20));
    let hints = sub(add(add(sub(lengths, all(3)), is_check), takes), is_pawn);
    let over = or(or(rank, file), left::<3>(and_not(all(1), hints)));
    let is_usual = equal(and_not(all(7), over), _mm256_setzero_si256());
    let unhinted = blend(all(ANY), file_letter, is_pawn);
    let hint = blend(hint, unhinted, equal(hints, _mm256_setzero_si256()));
    let to = or(and(left::<3>(rank), all(56)), and(file, all(7)));
    let says: __m256i = or(or(to, left::<8>(hint)), left::<24>(first));
    bytemuck::cast(or(says, and_not(is_usual, all(1 << 63))))
}

/// [`Says::of_each`] in vectors of four words.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn of_fours(words: &FirstWords) -> [Says; WORDS] {
    let [a, b]: [[u64; 4]; 2] = bytemuck::cast(words.bytes);
    let [lengths_a, lengths_b]: [[u64; 4]; 2] = bytemuck::cast(words.lengths);
    bytemuck::cast([of_four(a, lengths_a), of_four(b, lengths_b)])
}
