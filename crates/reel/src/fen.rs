//! FEN tags that follow from the start position.
//!
//! In a list of positions the FEN is most of the tags, and all of it but two counters stands in the
//! start table as well. The file keeps only the counters where the text can be rebuilt to the byte.

use orbit_core::board::Position;
use orbit_core::fen::{self, FenRecord, RookLetters};

/// The last two fields of a FEN, or neither, as in an EPD.
pub(super) type Counters = Option<(u32, u32)>;

/// The counters of a FEN that [`write()`] would write for `position` byte for byte.
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

/// Appends a FEN, or returns `None` where castling needs other letters than KQkq.
pub(super) fn write(position: &Position, counters: Counters, out: &mut Vec<u8>) -> Option<()> {
    // Files of this version were written with corners whatever else stands there.
    let told = FenRecord::without_counters(position.to_setup()).write(RookLetters::Corners, out);
    if let Some((halfmoves, fullmoves)) = counters {
        // Move 0 is none of a setup, and some FENs have it.
        out.extend_from_slice(format!(" {halfmoves} {fullmoves}").as_bytes());
    }
    told.then_some(())
}
