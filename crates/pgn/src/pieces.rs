//! Reads bytes that a thread sends piece by piece.

use std::io::{self, Read};

/// The piece that is being read.
#[derive(Default)]
pub(super) struct PieceAtHand {
    piece: Vec<u8>,
    /// The number of bytes of `piece` that were already read.
    taken: usize,
    at_end: bool,
}

impl PieceAtHand {
    /// Reads bytes from the current piece of the data. When all of it has been read, calls `next`, which waits for the next piece
    /// and returns `None` at the end of the data.
    ///
    /// # Errors
    ///
    /// Returns the errors of `next`. Every read after an error returns 0 bytes.
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
