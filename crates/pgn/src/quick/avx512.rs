//! Reads blocks of movetext with AVX-512, in 64-byte vectors.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi8, _mm512_add_epi64, _mm512_and_si512, _mm512_castsi512_si128,
    _mm512_cmpeq_epi8_mask, _mm512_cmpeq_epi64_mask, _mm512_cmplt_epi8_mask, _mm512_cmplt_epu8_mask,
    _mm512_cvtepu8_epi64, _mm512_mask_blend_epi64, _mm512_maskz_compress_epi8, _mm512_maskz_mov_epi64,
    _mm512_or_si512, _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_set1_epi64, _mm512_sllv_epi64,
    _mm512_srlv_epi64, _mm512_sub_epi8, _mm512_sub_epi64, _mm512_test_epi64_mask, _mm512_xor_si512,
    _pdep_u64,
};

use super::classes::Classes;
use super::instructions::Instructions;
use super::lanes::{Lanes, pairwise};
use super::sketches::PieceTables;
use super::words::{BLOCK, FirstWords, MoveWords, SPAN, WORDS};
use orbit_core::isa::Avx512;

#[expect(unsafe_code, reason = "code for another instruction set")]
impl Instructions for Avx512 {
    #[inline(always)]
    fn classes(self, block: &[u8; BLOCK]) -> Classes {
        // SAFETY: a value of `Avx512` exists only where the processor has the AVX-512 instructions used here.
        unsafe { classes(block) }
    }

    #[inline(always)]
    fn first_words(self, span: &[u8; SPAN], words: MoveWords) -> (FirstWords, usize) {
        // SAFETY: a value of `Avx512` exists only where the processor has the AVX-512 instructions used here.
        unsafe { first_words(span, words) }
    }

    #[inline(always)]
    fn sketch(self, words: &FirstWords, sketches: &mut PieceTables) {
        sketches.read::<Eight>(self, words);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn classes(block: &[u8; BLOCK]) -> Classes {
    let bytes: __m512i = bytemuck::cast(*block);
    let every = |byte: u8| _mm512_set1_epi8(byte as i8);
    Classes {
        space: _mm512_cmpeq_epi8_mask(bytes, every(b' ')),
        line: _mm512_cmpeq_epi8_mask(bytes, every(b'\n')),
        carriage: _mm512_cmpeq_epi8_mask(bytes, every(b'\r')),
        dot: _mm512_cmpeq_epi8_mask(bytes, every(b'.')),
        digit: _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, every(b'0')), every(10)),
        low: _mm512_cmplt_epi8_mask(bytes, every(0x21)),
    }
}

/// The AVX-512 version of [`FirstWords::split`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
fn first_words(span: &[u8; SPAN], MoveWords { starts, blanks }: MoveWords) -> (FirstWords, usize) {
    let (bytes, _) = span.split_first_chunk::<BLOCK>().expect("a span is longer than a block");
    let bytes: __m512i = bytemuck::cast(*bytes);
    // The addition carries a bit from the start of each token to the next blank, the end of the token.
    let ends = (!blanks).wrapping_add(starts) & blanks;
    let places: __m512i = bytemuck::cast(PLACES);
    let start = _mm512_maskz_compress_epi8(starts, places);
    let end = _mm512_maskz_compress_epi8(ends, places);
    // Indices past the end of the block wrap around to its start. No token reaches that far, so the wrong bytes are not used.
    let eight_from =
        _mm512_add_epi8(_mm512_permutexvar_epi8(bytemuck::cast(EACH_WORD), start), bytemuck::cast(EACH_BYTE));
    let of_word = _mm512_permutexvar_epi8(eight_from, bytes);
    let start = _mm512_cvtepu8_epi64(_mm512_castsi512_si128(start));
    let end = _mm512_cvtepu8_epi64(_mm512_castsi512_si128(end));
    let count = (starts.count_ones() as usize).min(WORDS);
    let first = FirstWords {
        bytes: bytemuck::cast(of_word),
        lengths: bytemuck::cast(_mm512_sub_epi64(end, start)),
        starts: bytemuck::cast(start),
        count,
    };
    (first, _pdep_u64(1 << (count - 1), ends).trailing_zeros() as usize)
}

/// The index of each byte in its 64-byte block of text.
const PLACES: [u8; BLOCK] = bytes(1, 64);
/// For each byte of a 64-byte block of text, the index of the group of eight bytes that contains it.
const EACH_WORD: [u8; BLOCK] = bytes(8, 8);
/// For each byte of a 64-byte block of text, its index in its group of eight bytes.
const EACH_BYTE: [u8; BLOCK] = bytes(1, 8);

/// Returns the bytes `k / over % modulo` for `k` from 0 to 63.
const fn bytes(over: usize, modulo: usize) -> [u8; BLOCK] {
    let mut bytes = [0; BLOCK];
    let mut k = 0;
    while k < BLOCK {
        bytes[k] = (k / over % modulo) as u8;
        k += 1;
    }
    bytes
}

/// Eight 64-bit numbers in an AVX-512 register.
#[derive(Clone, Copy)]
pub(super) struct Eight(__m512i);

#[expect(unsafe_code, reason = "instructions of AVX-512")]
impl Lanes for Eight {
    type With = Avx512;

    const COUNT: usize = 8;

    #[inline(always)]
    fn load(_: Avx512, numbers: &[u64; WORDS], at: usize) -> Eight {
        debug_assert_eq!(at, 0, "there are no more");
        Eight(bytemuck::cast(*numbers))
    }

    #[inline(always)]
    fn store(self, numbers: &mut [u64; WORDS], at: usize) {
        debug_assert_eq!(at, 0, "there are no more");
        *numbers = bytemuck::cast(self.0);
    }

    #[inline(always)]
    fn all(self, number: u64) -> Eight {
        // SAFETY: a value of `Eight` exists only where the processor has the AVX-512 instructions used here.
        Eight(unsafe { _mm512_set1_epi64(number as i64) })
    }

    pairwise! {
        and: _mm512_and_si512,
        or: _mm512_or_si512,
        xor: _mm512_xor_si512,
        add: _mm512_add_epi64,
        sub: _mm512_sub_epi64,
        left_by: _mm512_sllv_epi64,
        right_by: _mm512_srlv_epi64,
    }

    #[inline(always)]
    fn equal(self, other: Eight) -> Eight {
        // SAFETY: a value of `Eight` exists only where the processor has the AVX-512 instructions used here.
        unsafe {
            let equal = _mm512_cmpeq_epi64_mask(self.0, other.0);
            Eight(_mm512_maskz_mov_epi64(equal, self.all(!0).0))
        }
    }

    #[inline(always)]
    fn pick(self, yes: Eight, no: Eight) -> Eight {
        // SAFETY: a value of `Eight` exists only where the processor has the AVX-512 instructions used here.
        unsafe {
            let is_yes = _mm512_test_epi64_mask(self.0, self.0);
            Eight(_mm512_mask_blend_epi64(is_yes, no.0, yes.0))
        }
    }
}
