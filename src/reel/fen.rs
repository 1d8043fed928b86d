//! FEN tags that follow from the start position.
//!
//! In a list of positions the FEN is most of the tags, and all of it but two counters stands in the
//! start table as well. The file keeps only the counters where the text can be rebuilt to the byte.

use crate::board::{Code, Color, Position, Square};

/// The last two fields of a FEN, or neither, as in an EPD.
pub(super) type Counters = Option<(u32, u32)>;

/// The counters of a FEN that [`write()`] would write for `position` byte for byte.
pub(super) fn counters(position: &Position, fen: &[u8]) -> Option<Counters> {
    let text = std::str::from_utf8(fen).ok()?;
    let mut fields = text.split(' ').skip(4);
    let counters = match (fields.next(), fields.next()) {
        (None, _) => None,
        (Some(halfmoves), Some(fullmoves)) => Some((halfmoves.parse().ok()?, fullmoves.parse().ok()?)),
        (Some(_), None) => return None,
    };
    let mut rebuilt = Vec::with_capacity(fen.len());
    write(position, counters, &mut rebuilt)?;
    (rebuilt == fen).then_some(counters)
}

/// Appends a FEN, or returns `None` where castling needs other letters than KQkq.
pub(super) fn write(position: &Position, counters: Counters, out: &mut Vec<u8>) -> Option<()> {
    for rank in (0..8).rev() {
        let mut empty = 0;
        for file in 0..8 {
            match letter(position.board.at(Square::new(8 * rank + file))) {
                None => empty += 1,
                Some(letter) => {
                    put_empty(&mut empty, out);
                    out.push(letter);
                }
            }
        }
        put_empty(&mut empty, out);
        out.push(if rank > 0 { b'/' } else { b' ' });
    }
    out.extend_from_slice(if position.state.turn().is_white() { b"w " } else { b"b " });
    let len = out.len();
    for (color, king_side, letter, file) in [
        (Color::White, true, b'K', 7),
        (Color::White, false, b'Q', 0),
        (Color::Black, true, b'k', 7),
        (Color::Black, false, b'q', 0),
    ] {
        if let Some(rook) = position.state.castling_rook(color, king_side) {
            if rook as u32 & 7 != file {
                return None;
            }
            out.push(letter);
        }
    }
    if out.len() == len {
        out.push(b'-');
    }
    match position.state.en_passant() {
        None => out.extend_from_slice(b" -"),
        Some(square) => out.extend_from_slice(format!(" {square}").as_bytes()),
    }
    if let Some((halfmoves, fullmoves)) = counters {
        out.extend_from_slice(format!(" {halfmoves} {fullmoves}").as_bytes());
    }
    Some(())
}

fn letter(code: Code) -> Option<u8> {
    let letter = *b"?pnbrqk?".get(code.0 as usize & 7)?;
    match code.0 {
        0 => None,
        1..8 => Some(letter.to_ascii_uppercase()),
        _ => Some(letter),
    }
}

fn put_empty(empty: &mut u8, out: &mut Vec<u8>) {
    if *empty > 0 {
        out.push(b'0' + *empty);
        *empty = 0;
    }
}
