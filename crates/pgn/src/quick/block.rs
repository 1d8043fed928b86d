//! A block of movetext: 64 bytes of text, and the tokens in them.

use std::ops::Range;

use super::instructions::Instructions;
use super::sketches::PieceTables;
use super::words::{BLOCK, FirstWords, SPAN};

/// A block of movetext and the tokens that were read from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextBlock {
    /// The start of the block in the text.
    pub(super) at: usize,
    /// The end of the last token read, or the start of the block if there is none.
    pub(super) end: usize,
    /// The contents of the tokens, one entry for each token. The entries after the last token are undefined.
    pub(super) sketches: PieceTables,
    first: FirstWords,
}

impl TextBlock {
    pub(super) const EMPTY: TextBlock =
        TextBlock { at: 0, end: 0, sketches: PieceTables::EMPTY, first: FirstWords::EMPTY };

    /// Reads the block that begins at `at`. Reads no tokens if fewer bytes than a full block are left.
    #[inline(always)]
    pub(super) fn read(&mut self, with: impl Instructions, text: &[u8], at: usize) {
        (self.at, self.end, self.first.count) = (at, at, 0);
        let Some(span) = text.get(at..).and_then(|rest| rest.first_chunk::<SPAN>()) else { return };
        let (bytes, _) = span.split_first_chunk::<BLOCK>().expect("a span is longer than a block");
        let words = with.classes(bytes).words();
        if words.starts != 0 {
            let (first, end) = with.first_words(span, words);
            with.sketch(&first, &mut self.sketches);
            (self.end, self.first) = (at + end, first);
        }
    }

    /// Returns the number of tokens read.
    #[inline(always)]
    pub(super) fn words(&self) -> usize {
        self.first.count
    }

    /// Returns the range in the text of a token of the block, given its number from 0.
    pub(super) fn word(&self, number: usize) -> Range<usize> {
        let start = self.at + self.first.starts[number] as usize;
        start..start + self.first.lengths[number] as usize
    }
}
