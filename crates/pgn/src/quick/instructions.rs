//! The instruction sets that read blocks.

use super::classes::Classes;
use super::sketches::PieceTables;
use super::words::{BLOCK, FirstWords, MoveWords, SPAN};

/// The operations on blocks for one instruction set; a value exists only if the processor has the instructions.
pub(super) trait Instructions: Copy {
    fn classes(self, block: &[u8; BLOCK]) -> Classes;

    /// See [`FirstWords::split`].
    #[inline(always)]
    fn first_words(self, span: &[u8; SPAN], words: MoveWords) -> (FirstWords, usize) {
        FirstWords::split(span, words)
    }

    /// See [`PieceTables::read`].
    fn sketch(self, words: &FirstWords, sketches: &mut PieceTables);
}

/// No vector instructions.
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
