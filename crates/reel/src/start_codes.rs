//! Finds the start codes among the moves of a block. A start code is a mark in place of a move, after which a game or a side line
//! begins.

use super::block::SEGMENT_SLOTS;
use orbit_core::board::{Bitboard, PackedMove};

/// Returns one mask for each segment of 32 moves: bit `i` is set if move `i` is a start code (a mark in place of a move). Most
/// masks are 0.
pub(super) fn start_masks(moves: &[PackedMove]) -> Vec<u32> {
    let (segments, tail) = moves.as_chunks();
    let mut masks = Vec::with_capacity(segments.len() + 1);
    masks.extend(segments.iter().map(start_mask));
    if !tail.is_empty() {
        masks.push(one_by_one(tail));
    }
    masks
}

/// Returns the indices of the bits that are set in a mask.
pub(super) fn places(mask: u32) -> impl Iterator<Item = usize> {
    Bitboard(mask.into()).into_iter().map(|square| square as usize)
}

/// Returns a mask of the start codes (marks in place of moves) in a segment: bit `i` is set if slot `i` contains a start code.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "compilers do not find these instructions by themselves")]
#[inline]
pub fn start_mask(moves: &[PackedMove; SEGMENT_SLOTS]) -> u32 {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi16, _mm_movemask_epi8, _mm_packs_epi16, _mm_set1_epi16, _mm_srli_epi16,
    };

    #[target_feature(enable = "sse2")]
    fn of_eights([a, b, c, d]: [__m128i; 4]) -> u32 {
        let starts = |eight| _mm_cmpeq_epi16(_mm_srli_epi16::<12>(eight), _mm_set1_epi16(15));
        let of_two = |a, b| _mm_movemask_epi8(_mm_packs_epi16(starts(a), starts(b))) as u32;
        of_two(a, b) | of_two(c, d) << 16
    }

    // SAFETY: every processor of this architecture has SSE2.
    unsafe { of_eights(bytemuck::cast(*moves)) }
}

/// Returns a mask of the start codes (marks in place of moves) in a segment: bit `i` is set if slot `i` contains a start code.
#[cfg(not(target_arch = "x86_64"))]
pub fn start_mask(moves: &[PackedMove; SEGMENT_SLOTS]) -> u32 {
    one_by_one(moves)
}

fn one_by_one(moves: &[PackedMove]) -> u32 {
    moves.iter().zip(0..).fold(0, |mask, (mv, i)| mask | u32::from(mv.is_start()) << i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_those_of_single_moves() {
        // Tests every move value at every index of a segment.
        let all: Vec<PackedMove> = (0..=u16::MAX).map(PackedMove).collect();
        for shift in 0..SEGMENT_SLOTS {
            let moves = &all[shift..];
            let masks = start_masks(moves);
            assert_eq!(masks.len(), moves.len().div_ceil(SEGMENT_SLOTS));
            for (mask, moves) in masks.into_iter().zip(moves.chunks(SEGMENT_SLOTS)) {
                let starts: Vec<usize> = (0..moves.len()).filter(|&i| moves[i].is_start()).collect();
                assert_eq!(places(mask).collect::<Vec<_>>(), starts);
            }
        }
    }
}
