//! Tables for reading and playing moves: the role for each letter, and the squares from which a piece can reach a square.

use orbit_core::board::lines::{BETWEEN, PAWN_REACH, REACH};

/// `WAYS[from][to]`: the squares between two squares. A `from` of 64 means "no square"; its row contains all squares, so a path
/// from there is never free.
pub(super) static WAYS: [[u64; 64]; 65] = {
    let mut table = [[!0; 64]; 65];
    let mut from = 0;
    while from < 64 {
        let mut to = 0;
        while to < 64 {
            table[from][to] = BETWEEN[from][to];
            to += 1;
        }
        from += 1;
    }
    table
};

/// For each of the three bit planes that encode roles: the set of letters that begin the moves of roles with a 1 in this plane. A
/// letter is represented by its lowest six bits. A lower-case letter begins a pawn move.
pub(super) const LETTERS: [u64; 3] = {
    let pieces = [(b'N', 2), (b'B', 3), (b'R', 4), (b'Q', 5), (b'K', 6)];
    let mut planes = [!0 << 32, 0, 0];
    let mut k = 0;
    while k < 3 * pieces.len() {
        let (letter, role) = pieces[k / 3];
        planes[k % 3] |= (role >> (k % 3) & 1) << (letter & 63);
        k += 1;
    }
    planes
};

/// The index into [`HINTS`] for a move that does not name its origin: a blank, which no token contains.
pub(super) const ANY: u64 = b' ' as u64;

/// `HINTS[letter]`: the possible origins of a move with this letter. These are the squares of the file or rank that the letter
/// names, and none for all other letters.
pub(super) static HINTS: [u64; 256] = {
    let mut table = [0; 256];
    let mut k = 0;
    while k < 8 {
        table[b'a' as usize + k] = 0x0101_0101_0101_0101 << k;
        table[b'1' as usize + k] = 0xff << (8 * k);
        k += 1;
    }
    table[ANY as usize] = !0;
    table
};

/// The index of the first king entry in a row of [`FROM`].
pub(super) const KING: usize = 6 << 6;

/// `FROM[color][64 * role + to]`: the squares from which a piece can move to `to`. For a pawn, these are the square behind `to`,
/// the squares from which it captures on `to` and, if `to` is on its fourth rank, the square two ranks behind. The pawn entries for
/// the last rank are empty, since promotions do not count as ordinary moves.
pub(super) static FROM: [[u64; 512]; 2] = {
    let mut table = [[0; 512]; 2];
    let mut color = 0;
    while color < 2 {
        let mut to = 0;
        while to < 64 {
            let mut role = 2;
            while role < 7 {
                table[color][64 * role + to] = REACH[role][to];
                role += 1;
            }
            let rank = if color == 0 { to / 8 } else { 7 - to / 8 };
            if rank > 1 && rank < 7 {
                table[color][64 + to] = PAWN_REACH[1 - color][to] | behind(color, to, 8);
                if rank == 3 {
                    table[color][64 + to] |= behind(color, to, 16);
                }
            }
            to += 1;
        }
        color += 1;
    }
    table
};

/// Returns the bitboard of the square `squares` ranks behind `to`, as seen by a color.
const fn behind(color: usize, to: usize, squares: usize) -> u64 {
    1 << if color == 0 { to - squares } else { to + squares }
}

/// `AROUND[square][kind]`: the squares from which a kind of piece attacks `square`, if no piece is in between. The kinds are pawns
/// that attack a white (0) or black (1) king, knights (2), kings (3), diagonal sliders (4) and straight sliders (5).
pub(super) static AROUND: [[u64; 8]; 64] = {
    let mut table = [[0; 8]; 64];
    let mut square = 0;
    while square < 64 {
        table[square] = [
            PAWN_REACH[0][square],
            PAWN_REACH[1][square],
            REACH[2][square],
            REACH[6][square],
            REACH[3][square],
            REACH[4][square],
            0,
            0,
        ];
        square += 1;
    }
    table
};

/// For each square, the standard castling rights that remain after a move from or to this square, as bits of a
/// [`State`](orbit_core::board::State).
pub(super) static RIGHTS: [u32; 65] = {
    let mut table = [!0 << 16; 65];
    table[4] &= !(0xff << 16);
    table[7] &= !(0x0f << 16);
    table[0] &= !(0xf0 << 16);
    table[60] &= !(0xff << 24);
    table[63] &= !(0x0f << 24);
    table[56] &= !(0xf0 << 24);
    table
};
