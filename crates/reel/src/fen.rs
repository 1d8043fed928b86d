//! Recognises FEN tags that can be rebuilt from the start position, and rebuilds them.
//!
//! In a list of positions, FENs take most of the tag bytes. Everything in a FEN except the two counters is also in the start table,
//! the block's list of start positions. If a FEN can be rebuilt byte for byte, the file stores only its counters.

use orbit_core::board::Position;
use orbit_core::fen::{self, FenRecord, RookLetters};

/// The last two fields of a FEN (the halfmove clock and the move number), or `None` if one of them is missing, as in an EPD.
pub(super) type Counters = Option<(u32, u32)>;

/// Returns the counters of a FEN if [`write()`] can rebuild the FEN from `position` byte for byte; otherwise `None`.
pub(super) fn counters(position: &Position, fen: &[u8]) -> Option<Counters> {
    let number = |word: &[u8]| str::from_utf8(word).ok()?.parse().ok();
    let counters = match fen::counters(fen) {
        [None, _] => None,
        [Some(halfmoves), Some(fullmoves)] => Some((number(halfmoves)?, number(fullmoves)?)),
        [Some(_), None] => return None,
    };
    let mut rebuilt = Vec::with_capacity(fen.len());
    write(position, counters, &mut rebuilt)?;
    (rebuilt == fen).then_some(counters)
}

/// Appends the FEN of a position. Returns `None` if its castling field would need letters other than `KQkq`.
pub(super) fn write(position: &Position, counters: Counters, out: &mut Vec<u8>) -> Option<()> {
    // FENs are rebuilt with [`RookLetters::Corners`], wherever the rooks are, because all files in this format version were written
    // in this way.
    let told = FenRecord::without_counters(position.to_setup()).write(RookLetters::Corners, out);
    if let Some((halfmoves, fullmoves)) = counters {
        // The counters are written here, not by `FenRecord`: some FENs have move number 0, which a `Setup` cannot have.
        out.extend_from_slice(format!(" {halfmoves} {fullmoves}").as_bytes());
    }
    told.then_some(())
}
