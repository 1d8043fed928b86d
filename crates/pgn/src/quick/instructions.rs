//! The operations on blocks of movetext, which each instruction set implements in its own way.

use super::classes::Classes;
use super::sketches::PieceTables;
use super::words::{BLOCK, FirstWords, MoveWords, SPAN};

/// The operations on blocks of movetext with one instruction set. A value of this type proves that the processor supports it.
pub(super) trait Instructions: Copy {
    fn classes(self, block: &[u8; BLOCK]) -> Classes;

    /// Splits a block into tokens: see [`FirstWords::split`].
    #[inline(always)]
    fn first_words(self, span: &[u8; SPAN], words: MoveWords) -> (FirstWords, usize) {
        FirstWords::split(span, words)
    }

    /// Reads the contents of the tokens into `sketches`: see [`PieceTables::read`].
    fn sketch(self, words: &FirstWords, sketches: &mut PieceTables);
}

/// The baseline, without vector instructions.
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
