//! Finds the move tokens ("words") in a block of movetext.

use super::super::lex::window;

/// The number of bytes of a block.
pub(super) const BLOCK: usize = 64;
/// The number of words of a block that are processed together.
pub(super) const WORDS: usize = 8;
/// The number of bytes of a block, plus eight bytes that may be read with its last word.
pub(super) const SPAN: usize = BLOCK + 8;

/// The tokens of a block that may be moves.
#[derive(Clone, Copy)]
pub(super) struct MoveWords {
    /// The starts of the words, as a mask. Before each word and between two words there are only blanks without an empty line, and
    /// numbers with dots.
    pub(super) starts: u64,
    /// The blanks, as a mask. A blank follows each word.
    pub(super) blanks: u64,
}

/// The first words of a block. Entries after the last word are undefined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FirstWords {
    /// The eight bytes from the start of each word.
    pub(super) bytes: [u64; WORDS],
    pub(super) lengths: [u64; WORDS],
    /// The start of each word in its block.
    pub(super) starts: [u64; WORDS],
    /// The number of words.
    pub(super) count: usize,
}

impl FirstWords {
    pub(super) const EMPTY: FirstWords =
        FirstWords { bytes: [0; WORDS], lengths: [0; WORDS], starts: [0; WORDS], count: 0 };

    /// Splits a block into words. Returns the words, and the end of the last one. The block must contain at least one word.
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
