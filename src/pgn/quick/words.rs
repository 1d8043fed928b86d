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
pub(super) struct Words {
    /// Where each begins. Nothing but blanks without an empty line and numbers with dots stands before it and between two.
    pub(super) starts: u64,
    /// Blanks: one stands after each word.
    pub(super) blanks: u64,
}

impl Words {
    /// Where the word of that number stands in its block.
    #[inline]
    pub(super) fn word(self, number: usize) -> std::ops::Range<usize> {
        let starts = (0..number).fold(self.starts, |starts, _| starts & starts.wrapping_sub(1));
        let start = starts.trailing_zeros();
        let length = (self.blanks >> (start & 63)).trailing_zeros();
        start as usize..(start + length) as usize
    }
}

/// The first words of a block; behind its last word stands anything.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstWords {
    /// The bytes from the beginning of each.
    pub(super) bytes: [u64; WORDS],
    pub(super) lengths: [u64; WORDS],
}

impl FirstWords {
    #[inline(always)]
    pub(super) fn of(span: &[u8; SPAN], Words { mut starts, blanks }: Words) -> FirstWords {
        let mut first = FirstWords { bytes: [0; WORDS], lengths: [0; WORDS] };
        for (bytes, length) in first.bytes.iter_mut().zip(&mut first.lengths) {
            let start = starts.trailing_zeros();
            starts &= starts.wrapping_sub(1);
            *bytes = window(span, start as usize).unwrap_or_default();
            *length = (blanks >> (start & 63)).trailing_zeros().into();
        }
        first
    }
}
