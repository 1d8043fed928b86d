//! Tables of the squares that a piece reaches on an empty board, and of the squares between two squares.
//!
//! Two look-ups in these tables decide whether a piece can move from one square to another. Magic bitboards need only one look-up,
//! but their tables take hundreds of kilobytes, so most look-ups miss the first-level cache. The tables here take 37 KiB in all.

use super::attacks;

/// The squares that a piece reaches on an empty board: `REACH[role][square]`. Roles are numbered as in [`Code`](super::Code): 2
/// knight, 3 bishop, 4 rook, 5 queen, 6 king. For the numbers 0 (empty square) and 1 (pawn), the sets are empty.
pub static REACH: [[u64; 64]; 7] = {
    let mut table = [[0; 64]; 7];
    let mut square = 0;
    while square < 64 {
        let set = 1u64 << square;
        table[2][square] = attacks::knight(set);
        table[3][square] = rays(set, 1);
        table[4][square] = rays(set, 0);
        table[5][square] = rays(set, 0) | rays(set, 1);
        table[6][square] = attacks::king(set);
        square += 1;
    }
    table
};

/// `PAWN_REACH[color][square]`: the squares that a white (0) or black (1) pawn attacks.
pub static PAWN_REACH: [[u64; 64]; 2] = {
    let mut table = [[0; 64]; 2];
    let mut square = 0;
    while square < 64 {
        table[0][square] = attacks::pawn::<true>(1 << square);
        table[1][square] = attacks::pawn::<false>(1 << square);
        square += 1;
    }
    table
};

/// `BETWEEN[a][b]`: the squares strictly between `a` and `b` if they share a rank, file or diagonal; otherwise the empty set.
pub static BETWEEN: [[u64; 64]; 64] = {
    let mut table = [[0; 64]; 64];
    let mut from = 0;
    while from < 64 {
        let mut dir = 0;
        while dir < 8 {
            let mut passed = 0;
            let mut at = step(dir, 1 << from);
            while at != 0 {
                table[from][at.trailing_zeros() as usize] = passed;
                passed |= at;
                at = step(dir, at);
            }
            dir += 1;
        }
        from += 1;
    }
    table
};

/// Returns the squares that a slider on a square of `set` reaches on an empty board in four directions. These are the rook's
/// directions (0, 2, 4 and 6) if `first` is 0, and the bishop's directions (1, 3, 5 and 7) if it is 1.
const fn rays(set: u64, first: u8) -> u64 {
    let mut out = 0;
    let mut dir = first;
    while dir < 8 {
        out |= attacks::slide_dir(dir, set, !0);
        dir += 2;
    }
    out
}

const fn step(dir: u8, set: u64) -> u64 {
    attacks::slide_dir(dir, set, 0)
}

#[cfg(test)]
mod tests {
    use shakmaty::{Bitboard, Color, Role, Square, attacks as theirs};

    use super::*;

    #[test]
    fn tables_agree_with_shakmaty() {
        for a in Square::ALL {
            for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King] {
                let reach = theirs::attacks(a, role.of(Color::White), Bitboard(0)).0;
                assert_eq!(REACH[role as usize][a as usize], reach, "{role:?} {a}");
            }
            for color in Color::ALL {
                let reach = theirs::pawn_attacks(color, a).0;
                assert_eq!(PAWN_REACH[usize::from(color.is_black())][a as usize], reach, "{color} {a}");
            }
            for b in Square::ALL {
                assert_eq!(BETWEEN[a as usize][b as usize], theirs::between(a, b).0, "{a} {b}");
            }
        }
        assert_eq!(REACH[..2], [[0; 64]; 2]);
    }
}
