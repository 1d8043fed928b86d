//! The fields of a FEN, written.

use shakmaty::{Color, Piece, Role, Setup};

use super::LETTERS;
use crate::board::Bitboard;

/// What stands between two pieces: so many empty squares from a file on, with the slashes in between and
/// the one at the end of a rank. The last byte is the length.
const GAPS: [[[u8; 24]; 65]; 8] = {
    let mut gaps = [[[0; 24]; 65]; 8];
    let mut file = 0;
    while file < 8 {
        let mut count = 0;
        while count <= 64 {
            let text = &mut gaps[file][count];
            let (mut len, mut at, mut left) = (0, file, count);
            while left > 0 && len < 22 {
                let run = if left < 8 - at { left } else { 8 - at };
                text[len] = b'0' + run as u8;
                len += 1;
                if at + run == 8 {
                    text[len] = b'/';
                    len += 1;
                }
                (left, at) = (left - run, (at + run) % 8);
            }
            text[23] = len as u8;
            count += 1;
        }
        file += 1;
    }
    gaps
};

/// Placement, promoted pieces and pockets. As in reading, no branch depends on a square.
#[inline]
pub(super) fn placement(setup: &Setup, out: &mut Vec<u8>) {
    let board = &setup.board;
    let planes = [
        board.white(),
        board.knights() | board.rooks() | board.kings(),
        board.bishops() | board.rooks(),
        board.queens() | board.kings(),
        setup.promoted,
    ];
    // In the order of a FEN, from a8.
    let planes = planes.map(|Bitboard(plane)| plane.swap_bytes());
    let mut occupied = board.occupied().0.swap_bytes();
    // 64 pieces, each with `~`, eight slashes, and what is copied beyond the end of the last gap.
    let mut text = [0u8; 160];
    let (mut len, mut next) = (0, 0);
    while occupied != 0 {
        let square = occupied.trailing_zeros() as usize;
        occupied &= occupied - 1;
        put_gap(&mut text, &mut len, next, square);
        let bit = |plane: usize| (planes[plane] >> square & 1) as usize;
        text[len] = LETTERS[(bit(0) | bit(1) << 1 | bit(2) << 2 | bit(3) << 3) % 12];
        len += 1;
        text[len] = b'~';
        len += bit(4);
        text[len] = b'/';
        len += usize::from(square % 8 == 7);
        next = square + 1;
    }
    put_gap(&mut text, &mut len, next, 64);
    // Rank 1 ends with a slash like the others.
    out.extend_from_slice(&text[..len - 1]);
    if let Some(pockets) = &setup.pockets {
        out.push(b'[');
        for (color, side) in [(Color::White, &pockets.white), (Color::Black, &pockets.black)] {
            for role in Role::ALL {
                let letter = Piece { color, role }.char() as u8;
                (0..*side.get(role)).for_each(|_| out.push(letter));
            }
        }
        out.push(b']');
    }
}

/// Writes the empty squares from `from` to before `to`.
#[inline]
fn put_gap(text: &mut [u8; 160], len: &mut usize, from: usize, to: usize) {
    let gap = &GAPS[from % 8][to - from];
    text[*len..*len + 23].copy_from_slice(&gap[..23]);
    *len += usize::from(gap[23]);
}

/// X-FEN: `KQkq` for the outermost rooks with a king on the inner side, else the rook's file.
pub(super) fn castling(setup: &Setup, out: &mut Vec<u8>) {
    out.push(b' ');
    let len = out.len();
    let board = &setup.board;
    for color in [Color::White, Color::Black] {
        let king = board.king_of(color).filter(|king| king.rank() == color.backrank());
        let rooks = board.rooks() & board.by_color(color) & color.backrank();
        for rook in (setup.castling_rights & color.backrank()).into_iter().rev() {
            let letter = match king {
                Some(king) if rook < king && rooks.first() == Some(rook) => b'q',
                Some(king) if rook > king && rooks.last() == Some(rook) => b'k',
                _ => b'a' + rook.file() as u8,
            };
            out.push(if color.is_white() { letter.to_ascii_uppercase() } else { letter });
        }
    }
    if out.len() == len {
        out.push(b'-');
    }
}
