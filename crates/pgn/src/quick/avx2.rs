//! Classifies the bytes of a block of movetext with AVX2, in 32-byte vectors.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi64, _mm256_and_si256, _mm256_blendv_epi8, _mm256_cmpeq_epi8, _mm256_cmpeq_epi64,
    _mm256_cmpgt_epi8, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set_epi64x,
    _mm256_set1_epi8, _mm256_set1_epi64x, _mm256_sllv_epi64, _mm256_srlv_epi64, _mm256_sub_epi64,
    _mm256_xor_si256,
};

use super::classes::Classes;
use super::instructions::Instructions;
use super::lanes::{Lanes, pairwise};
use super::sketches::PieceTables;
use super::words::{BLOCK, FirstWords, WORDS};
use orbit_core::isa::Avx2;

impl Instructions for Avx2 {
    #[inline(always)]
    fn classes(self, block: &[u8; BLOCK]) -> Classes {
        #[expect(unsafe_code, reason = "code for another instruction set")]
        // SAFETY: a value of `Avx2` exists only where the processor has AVX2.
        unsafe {
            classes(block)
        }
    }

    #[inline(always)]
    fn sketch(self, words: &FirstWords, sketches: &mut PieceTables) {
        sketches.read::<Four>(self, words);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn classes(block: &[u8; BLOCK]) -> Classes {
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

/// Four 64-bit numbers in an AVX2 register.
#[derive(Clone, Copy)]
pub(super) struct Four(__m256i);

#[expect(unsafe_code, reason = "instructions of AVX2")]
impl Lanes for Four {
    type With = Avx2;

    const COUNT: usize = 4;

    #[inline(always)]
    fn load(_: Avx2, numbers: &[u64; WORDS], at: usize) -> Four {
        let number = |k: usize| numbers[at + k] as i64;
        // SAFETY: a value of `Avx2` exists only where the processor has AVX2.
        Four(unsafe { _mm256_set_epi64x(number(3), number(2), number(1), number(0)) })
    }

    #[inline(always)]
    fn store(self, numbers: &mut [u64; WORDS], at: usize) {
        *numbers[at..].first_chunk_mut::<4>().expect("four numbers") = bytemuck::cast(self.0);
    }

    #[inline(always)]
    fn all(self, number: u64) -> Four {
        // SAFETY: a value of `Four` exists only where the processor has AVX2.
        Four(unsafe { _mm256_set1_epi64x(number as i64) })
    }

    pairwise! {
        and: _mm256_and_si256,
        or: _mm256_or_si256,
        xor: _mm256_xor_si256,
        add: _mm256_add_epi64,
        sub: _mm256_sub_epi64,
        left_by: _mm256_sllv_epi64,
        right_by: _mm256_srlv_epi64,
        equal: _mm256_cmpeq_epi64,
    }

    #[inline(always)]
    fn pick(self, yes: Four, no: Four) -> Four {
        // SAFETY: a value of `Four` exists only where the processor has AVX2.
        Four(unsafe { _mm256_blendv_epi8(no.0, yes.0, self.0) })
    }
}
