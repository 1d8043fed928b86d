//! Bytes that a thread passes to a reader piece by piece.

use std::io::{self, Read};

/// The current piece.
#[derive(Default)]
pub(super) struct PieceAtHand {
    piece: Vec<u8>,
    /// The number of bytes of the piece that were taken.
    taken: usize,
    at_end: bool,
}

impl PieceAtHand {
    /// Reads from the current piece, and from the next one that `next` waits for once the piece is exhausted; `None` is the end.
    ///
    /// # Errors
    ///
    /// The errors of `next`. Every later read finds the end.
    pub(super) fn read(
        &mut self,
        buffer: &mut [u8],
        mut next: impl FnMut() -> io::Result<Option<Vec<u8>>>,
    ) -> io::Result<usize> {
        while self.taken == self.piece.len() && !self.at_end {
            self.at_end = true;
            if let Some(piece) = next()? {
                *self = PieceAtHand { piece, taken: 0, at_end: false };
            }
        }
        let length = (&self.piece[self.taken..]).read(buffer)?;
        self.taken += length;
        Ok(length)
    }
}
