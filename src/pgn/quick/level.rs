//! Which instructions blocks are read with.

#[cfg(target_arch = "x86_64")]
use super::avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use super::avx512::Avx512;
#[cfg(test)]
use super::block::Block;
#[cfg(test)]
use super::classes::Classes;
use super::instructions::Base;
#[cfg(test)]
use super::instructions::Instructions;
#[cfg(test)]
use super::words::BLOCK;

/// The instructions that are used.
#[derive(Clone, Copy, Debug)]
pub(in crate::pgn) enum Level {
    /// What every processor has.
    Base(Base),
    /// Vectors of 32 bytes, and counts of zeros.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// Vectors of 64 bytes too, and what moves bytes within them.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Level {
    /// All that the processor has, the best one last.
    pub(in crate::pgn) fn available() -> impl DoubleEndedIterator<Item = Level> {
        let base = [Level::Base(Base)].into_iter();
        #[cfg(target_arch = "x86_64")]
        {
            base.chain(Avx2::available().map(Level::Avx2)).chain(Avx512::available().map(Level::Avx512))
        }
        #[cfg(not(target_arch = "x86_64"))]
        base
    }

    /// The best one.
    pub(in crate::pgn) fn best() -> Level {
        Level::available().next_back().unwrap_or(Level::Base(Base))
    }

    /// [`Instructions::classes`] of that level.
    #[cfg(test)]
    pub(super) fn classes(self, block: &[u8; BLOCK]) -> Classes {
        match self {
            Level::Base(with) => with.classes(block),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(with) => with.classes(block),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(with) => with.classes(block),
        }
    }

    /// The block at the beginning of a text, read by that level.
    #[cfg(test)]
    pub(super) fn block(self, text: &[u8]) -> Block {
        let mut block = Block::EMPTY;
        match self {
            Level::Base(with) => block.read(with, text, 0),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(with) => block.read(with, text, 0),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(with) => block.read(with, text, 0),
        }
        block
    }
}
