//! Tables: the meaning of the letters of a word, and the squares from which a piece may come.

use orbit_core::board::lines::{BETWEEN, PAWN_REACH, REACH};

/// The squares between two squares. Index 64 means "no square": its path is never free, as long as there are kings.
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

/// For each plane of a board that encodes roles, the set of letters (by their lowest six bits) that begin a move of a role in
/// that plane. A small letter begins a pawn move.
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

/// The index into [`HINTS`] for a piece whose origin is not named: a byte that no word contains.
pub(super) const ANY: u64 = b' ' as u64;

/// The squares that an origin letter allows: those of a file or a rank, or none if it names neither.
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

/// The first index into [`FROM`] of a king's entries.
pub(super) const KING: usize = 6 << 6;

/// `FROM[color][64 * role + to]`: the squares from which a piece may come. A pawn comes from behind or captures; it may come from
/// two squares behind to the fourth rank. No pawn comes to the last rank, where it would be promoted.
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

/// Returns the square that lies some squares behind another one, as a bitboard.
const fn behind(color: usize, to: usize, squares: usize) -> u64 {
    1 << if color == 0 { to - squares } else { to + squares }
}

/// The squares from which each kind of attacker sees a square, if nothing is in between: pawns that attack a white (0) or black
/// (1) king, knights (2), kings (3), diagonal sliders (4) and straight sliders (5).
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

/// The castling rights that remain when a piece leaves or reaches a square in standard chess, as bits of a
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
