//! Converts the answers of queries, which machine code writes as bytes, to words with one bit for each slot.

use std::arch::x86_64::{_mm256_add_epi8, _mm256_movemask_epi8, _mm256_set_epi64x};

use super::assembler::{ANSWER_BYTES, Width};
use orbit_core::isa::Isa;
use orbit_reel::{SEGMENT_SLOTS, lanes::LANES};

/// Converts `bytes`, which machine code has written, to words, and stores these in `out`: one word for each query and
/// segment (32 positions). `bytes` has one line for each query in `queries`.
pub(super) fn answers(
    isa: Isa,
    bytes: &[[u8; ANSWER_BYTES]],
    width: Width,
    queries: &[usize],
    out: &mut [[u32; LANES]],
) {
    assert!(isa != Isa::Base, "there is machine code only for AVX2 and AVX-512");
    #[expect(unsafe_code, reason = "code for other instruction sets")]
    // SAFETY: every instruction set of `Isa` other than `Base` includes AVX2.
    unsafe {
        answers_with_avx2(bytes, width, queries, out);
    }
}

#[target_feature(enable = "avx2")]
fn answers_with_avx2(
    bytes: &[[u8; ANSWER_BYTES]],
    width: Width,
    queries: &[usize],
    out: &mut [[u32; LANES]],
) {
    for (&query, bytes) in queries.iter().zip(bytes) {
        // Byte `i` holds the answers for position `i` of each of the eight segments, one bit for each segment. AVX2 code writes
        // each byte as two halves of four bits.
        let rows = match width {
            Width::Zmm => *bytes.first_chunk().expect("half of them"),
            Width::Ymm => halves_joined(bytes),
        };
        out[query] = transposed(rows);
    }
}

#[inline(always)]
fn halves_joined(bytes: &[u8; ANSWER_BYTES]) -> [u8; SEGMENT_SLOTS] {
    let mut out = [0; SEGMENT_SLOTS];
    for (out, &[low, high]) in out.iter_mut().zip(bytes.as_chunks().0) {
        *out = low | high << 4;
    }
    out
}

/// Transposes bits: bit `n` of byte `i` becomes bit `i` of word `n`.
#[target_feature(enable = "avx2")]
fn transposed(rows: [u8; SEGMENT_SLOTS]) -> [u32; LANES] {
    let [a, b, c, d]: [i64; 4] = bytemuck::cast(rows);
    let mut rows = _mm256_set_epi64x(d, c, b, a);
    let mut words = [0; LANES];
    // Extracts the highest bit of every byte, then shifts all bytes left by one.
    for word in words.iter_mut().rev() {
        *word = _mm256_movemask_epi8(rows) as u32;
        rows = _mm256_add_epi8(rows, rows);
    }
    words
}
