//! What machine code writes of the answers of queries.

use super::assembler::{ANSWER_BYTES, Width};
use crate::{
    engine::cpu::isa::for_each_isa,
    reel::{SEGMENT_SLOTS, lanes::LANES},
};

for_each_isa! {
    /// The words of some queries, one for each segment, from the bytes that machine code writes.
    pub(super) fn answers(
        bytes: &[[u8; ANSWER_BYTES]],
        width: Width,
        queries: &[usize],
        out: &mut [[u32; LANES]],
    ) {
        for (&query, bytes) in queries.iter().zip(bytes) {
            // A byte for each row: AVX2 writes two halves of four bits.
            let rows = match width {
                Width::Zmm => *bytes.first_chunk().expect("half of them"),
                Width::Ymm => halves_joined(bytes),
            };
            out[query] = transposed(rows);
        }
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

/// Words whose bit `i` was the bit of the word in byte `i`.
#[inline(always)]
fn transposed(rows: [u8; SEGMENT_SLOTS]) -> [u32; LANES] {
    let mut eights: [u64; SEGMENT_SLOTS / 8] = bytemuck::cast(rows);
    // Of eight bytes, bits beside the diagonal change places, then pairs of them, then fours.
    for (apart, upper) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0xf0f0_f0f0)] {
        for eight in &mut eights {
            let differ = (*eight ^ *eight >> apart) & upper;
            *eight ^= differ ^ differ << apart;
        }
    }
    let mut words = [0; LANES];
    for (k, eight) in eights.into_iter().enumerate() {
        for (n, word) in words.iter_mut().enumerate() {
            *word |= (eight >> (8 * n) & 0xff) << (8 * k);
        }
    }
    let mut out = [0; LANES];
    for (out, word) in out.iter_mut().zip(words) {
        *out = word as u32;
    }
    out
}
