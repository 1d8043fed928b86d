//! What a letter of a word means, and which squares a piece may come from.

use crate::board::lines::{PAWN_REACH, REACH};

/// What the first letter of a word says.
#[repr(align(32))]
#[derive(Clone, Copy)]
pub(super) struct Letter {
    /// For each plane of a board that roles are in, all bits if that of the role is not set in it.
    pub(super) inverted: [u64; 3],
    /// The role, as in [`Code`](crate::board::Code); a small letter begins a move of a pawn. 0 if none.
    pub(super) role: u32,
}

pub(super) static LETTERS: [Letter; 256] = {
    let mut table = [Letter { inverted: [!0; 3], role: 0 }; 256];
    let mut letter = 0;
    while letter < 256 {
        let role = match letter as u8 {
            b'N' => 2,
            b'B' => 3,
            b'R' => 4,
            b'Q' => 5,
            b'K' => 6,
            b'a'..=b'z' => 1,
            _ => 0,
        };
        let mut k = 0;
        while k < 3 {
            table[letter].inverted[k] = (role as u64 >> k & 1).wrapping_sub(1);
            k += 1;
        }
        table[letter].role = role;
        letter += 1;
    }
    table
};

/// The entry of [`HINTS`] for a piece whose origin is not named.
pub(super) const ANY: u64 = 256;

/// The squares that a letter of origin allows: those of a file or a rank, or none if it names neither.
pub(super) static HINTS: [u64; 512] = {
    let mut table = [0; 512];
    let mut k = 0;
    while k < 8 {
        table[b'a' as usize + k] = 0x0101_0101_0101_0101 << k;
        table[b'1' as usize + k] = 0xff << (8 * k);
        k += 1;
    }
    table[ANY as usize] = !0;
    table
};

/// `FROM[color][64 * role + to]`: the squares from which a piece may come. A pawn comes from behind or takes; it comes from two squares
/// behind to the fourth rank, and from nowhere to the last one, where it would be promoted.
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

/// The square so many squares behind another one.
const fn behind(color: usize, to: usize, squares: usize) -> u64 {
    1 << if color == 0 { to - squares } else { to + squares }
}

/// What looks at a king on a square, if nothing is in the way: pawns that a white (0) or black (1) king has to fear, knights (2),
/// kings (3), what goes obliquely (4) and straight (5).
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

/// The rights to castle that stay, as bits of a [`State`](crate::board::State), when a piece leaves or reaches a square of standard chess.
pub(super) static RIGHTS: [u32; 64] = {
    let mut table = [!0; 64];
    table[4] = !(0xff << 16);
    table[7] = !(0x0f << 16);
    table[0] = !(0xf0 << 16);
    table[60] = !(0xff << 24);
    table[63] = !(0x0f << 24);
    table[56] = !(0xf0 << 24);
    table
};
