//! Finds the move tokens ("words") in a block of movetext.

use super::super::lex::window;

/// The number of bytes of text in a block.
pub(super) const BLOCK: usize = 64;
/// The maximum number of tokens that are read from a block of text and processed together.
pub(super) const WORDS: usize = 8;
/// The block size plus eight bytes, since reading the last token may read up to eight bytes past the block.
pub(super) const SPAN: usize = BLOCK + 8;

/// The tokens of a block of text that may be moves.
#[derive(Clone, Copy)]
pub(super) struct MoveWords {
    /// The starts of the tokens, as a bit mask. Only move numbers with dots, and blanks without an empty line, come before and
    /// between the tokens.
    pub(super) starts: u64,
    /// The blanks, as a bit mask. Each token ends at a blank.
    pub(super) blanks: u64,
}

/// The first tokens of a block of text, at most eight. The entries after the last token are undefined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FirstWords {
    /// The eight bytes at the start of each token.
    pub(super) bytes: [u64; WORDS],
    pub(super) lengths: [u64; WORDS],
    /// The offset of each token in its block.
    pub(super) starts: [u64; WORDS],
    pub(super) count: usize,
}

impl FirstWords {
    pub(super) const EMPTY: FirstWords =
        FirstWords { bytes: [0; WORDS], lengths: [0; WORDS], starts: [0; WORDS], count: 0 };

    /// Splits a block of text into tokens. Returns the tokens and the end of the last one. The block must contain at least one
    /// token.
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
