//! What blocks are read with.

use super::classes::Classes;
use super::sketches::PieceTables;
use super::words::{BLOCK, FirstWords, MoveWords, SPAN};

/// How a block is read; a value exists only where the processor has the instructions that it takes.
pub(super) trait Instructions: Copy {
    fn classes(self, block: &[u8; BLOCK]) -> Classes;

    /// [`FirstWords::split`].
    #[inline(always)]
    fn first_words(self, span: &[u8; SPAN], words: MoveWords) -> (FirstWords, usize) {
        FirstWords::split(span, words)
    }

    /// [`PieceTables::read`].
    fn sketch(self, words: &FirstWords, sketches: &mut PieceTables);
}

/// No instruction for vectors.
#[derive(Clone, Copy)]
pub(super) struct Base;

impl Instructions for Base {
    #[inline(always)]
    fn classes(self, block: &[u8; BLOCK]) -> Classes {
        Classes::in_words(block)
    }

    #[inline(always)]
    fn sketch(self, words: &FirstWords, sketches: &mut PieceTables) {
        sketches.read::<u64>((), words);
    }
}
