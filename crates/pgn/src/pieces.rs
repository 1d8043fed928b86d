//! Bytes that a thread hands over piece by piece.

use std::io::{self, Read};

/// The piece at hand.
#[derive(Default)]
pub(super) struct PieceAtHand {
    piece: Vec<u8>,
    /// Bytes of the piece that were taken.
    taken: usize,
    at_end: bool,
}

impl PieceAtHand {
    /// Reads of the piece at hand, and where all of it was taken, of the one that `next` waits for; `None` is the end.
    ///
    /// # Errors
    ///
    /// Those of `next`. Nothing comes behind one.
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
