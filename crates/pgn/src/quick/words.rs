//! Where words stand in a block of movetext.

use super::super::lex::window;

/// Bytes of a block.
pub(super) const BLOCK: usize = 64;
/// Words of a block that are looked at together.
pub(super) const WORDS: usize = 8;
/// A block, and what is read with its last word.
pub(super) const SPAN: usize = BLOCK + 8;

/// The words of a block that may be moves.
#[derive(Clone, Copy)]
pub(super) struct MoveWords {
    /// Where each begins. Nothing but blanks without an empty line and numbers with dots stands before it and between two.
    pub(super) starts: u64,
    /// Blanks: one stands after each word.
    pub(super) blanks: u64,
}

/// The first words of a block; behind the last one stands anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FirstWords {
    /// Eight bytes from the beginning of each.
    pub(super) bytes: [u64; WORDS],
    pub(super) lengths: [u64; WORDS],
    /// Where each begins in its block.
    pub(super) starts: [u64; WORDS],
    /// How many there are.
    pub(super) count: usize,
}

impl FirstWords {
    pub(super) const EMPTY: FirstWords =
        FirstWords { bytes: [0; WORDS], lengths: [0; WORDS], starts: [0; WORDS], count: 0 };

    /// The words, and where the last of them ends; there is one at least.
    #[inline(always)]
    pub(super) fn split(
        span: &[u8; SPAN],
        MoveWords { starts: all, blanks }: MoveWords,
    ) -> (FirstWords, usize) {
        let mut starts = all;
        let mut first = FirstWords::EMPTY;
        for word in 0..WORDS {
            let start = starts.trailing_zeros();
            starts &= starts.wrapping_sub(1);
            first.bytes[word] = window(span, start as usize).unwrap_or_default();
            first.lengths[word] = (blanks >> (start & 63)).trailing_zeros().into();
            first.starts[word] = start.into();
        }
        let taken = all ^ starts;
        first.count = taken.count_ones() as usize;
        let last = 63 - taken.leading_zeros();
        (first, (last + (blanks >> last).trailing_zeros()) as usize)
    }
}
