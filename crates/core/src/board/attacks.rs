//! Computes the squares that pieces attack, for all pieces of one kind at once. The functions use only bit operations on sets of
//! squares, so vector units and GPUs can execute them.
//!
//! Directions are numbers from 0 to 7, counter-clockwise from the right: 0 is towards the h-file, 1 is up and right, 2 is up, and 7
//! is down and right.
//!
//! Source: [`slide`] is the Kogge-Stone occluded fill of the Chess Programming Wiki.

const NOT_A: u64 = !0x0101_0101_0101_0101;
const NOT_H: u64 = !0x8080_8080_8080_8080;
const NOT_AB: u64 = NOT_A & NOT_A << 1;
const NOT_GH: u64 = NOT_H & NOT_H >> 1;

/// Moves each square of a set one step in a direction; squares that leave the board are dropped.
#[inline(always)]
pub const fn one<const DIR: u8>(set: u64) -> u64 {
    match DIR {
        0 => set << 1 & NOT_A,
        1 => set << 9 & NOT_A,
        2 => set << 8,
        3 => set << 7 & NOT_H,
        4 => set >> 1 & NOT_H,
        5 => set >> 9 & NOT_H,
        6 => set >> 8,
        _ => set >> 7 & NOT_A,
    }
}

/// Returns the squares that sliding pieces on `set` attack in the direction `DIR`: for each piece, the squares up to and including
/// the first obstacle. `empty` is the set of squares without an obstacle.
#[inline(always)]
pub const fn slide<const DIR: u8>(set: u64, empty: u64) -> u64 {
    // A step to the right that wraps around the edge would end on the a-file, and a step to the left on the h-file. `open` leaves
    // out the file on which such a step would end, so the fill never wraps.
    let open = empty
        & match DIR {
            0 | 1 | 7 => NOT_A,
            3..=5 => NOT_H,
            _ => !0,
        };
    let by: u32 = match DIR {
        0 | 4 => 1,
        1 | 5 => 9,
        2 | 6 => 8,
        _ => 7,
    };
    let mut fill = set;
    let mut open = open;
    if matches!(DIR, 0..=3) {
        fill |= open & fill << by;
        open &= open << by;
        fill |= open & fill << (2 * by);
        open &= open << (2 * by);
        fill |= open & fill << (4 * by);
    } else {
        fill |= open & fill >> by;
        open &= open >> by;
        fill |= open & fill >> (2 * by);
        open &= open >> (2 * by);
        fill |= open & fill >> (4 * by);
    }
    one::<DIR>(fill)
}

/// Like [`slide`], but takes the direction as an argument instead of a constant.
pub const fn slide_dir(dir: u8, set: u64, empty: u64) -> u64 {
    match dir {
        0 => slide::<0>(set, empty),
        1 => slide::<1>(set, empty),
        2 => slide::<2>(set, empty),
        3 => slide::<3>(set, empty),
        4 => slide::<4>(set, empty),
        5 => slide::<5>(set, empty),
        6 => slide::<6>(set, empty),
        _ => slide::<7>(set, empty),
    }
}

/// Returns the squares attacked by knights on the squares of `set`.
#[inline(always)]
pub const fn knight(set: u64) -> u64 {
    (set << 17 | set >> 15) & NOT_A
        | (set << 15 | set >> 17) & NOT_H
        | (set << 10 | set >> 6) & NOT_AB
        | (set << 6 | set >> 10) & NOT_GH
}

/// Returns the squares attacked by kings on the squares of `set`.
#[inline(always)]
pub const fn king(set: u64) -> u64 {
    let beside = one::<0>(set) | one::<4>(set);
    let wide = set | beside;
    beside | wide << 8 | wide >> 8
}

/// Returns the squares attacked by pawns on the squares of `set`.
#[inline(always)]
pub const fn pawn<const WHITE: bool>(set: u64) -> u64 {
    if WHITE { one::<1>(set) | one::<3>(set) } else { one::<5>(set) | one::<7>(set) }
}

/// Returns every rank that contains a square of `set`, as a set of squares.
#[inline(always)]
pub const fn fill_ranks(set: u64) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // Sets the top bit of each byte that is not 0, then fills the other bits of these bytes.
    let high = (((set & !HIGH) + !HIGH) | set) & HIGH;
    high | (high - (high >> 7))
}

/// Returns every file that contains a square of `set`, as a set of squares.
#[inline(always)]
pub const fn fill_files(set: u64) -> u64 {
    let two = set | set.rotate_left(8);
    let four = two | two.rotate_left(16);
    four | four.rotate_left(32)
}

/// Returns the mask and the shift count that move a set of squares by `dx` files and `dy` ranks. The mask contains the squares that
/// stay on the board. A positive count shifts left, a negative count shifts right.
pub const fn translation(dx: i8, dy: i8) -> (u64, i32) {
    let mut mask = 0u64;
    let mut s = 0;
    while s < 64 {
        let (x, y) = (s % 8 + dx as i32, s / 8 + dy as i32);
        if x >= 0 && x < 8 && y >= 0 && y < 8 {
            mask |= 1 << s;
        }
        s += 1;
    }
    (mask, 8 * dy as i32 + dx as i32)
}

#[cfg(test)]
mod tests {
    use shakmaty::{Bitboard, Color, Square, attacks};

    use super::*;

    #[test]
    fn leapers_agree_with_shakmaty() {
        for s in Square::ALL {
            let set = Bitboard::from(s).0;
            assert_eq!(knight(set), attacks::knight_attacks(s).0, "{s}");
            assert_eq!(king(set), attacks::king_attacks(s).0, "{s}");
            assert_eq!(pawn::<true>(set), attacks::pawn_attacks(Color::White, s).0, "{s}");
            assert_eq!(pawn::<false>(set), attacks::pawn_attacks(Color::Black, s).0, "{s}");
        }
    }

    #[test]
    fn sets_attack_as_their_squares_together() {
        let set = [0x8100_0024_0010_4081u64, 0x00ff_0000_0000_0003, !0];
        for set in set {
            let each = |f: fn(u64) -> u64| Bitboard(set).into_iter().fold(0, |all, s| all | f(1 << s as u32));
            assert_eq!(knight(set), each(knight));
            assert_eq!(king(set), each(king));
        }
    }

    #[test]
    fn filled_lines_are_full_or_empty() {
        for set in [0u64, 1, 0x80, 0x0100, 0x8000_0000_0000_0001, 0x0018_0000_ff00_0002, !0] {
            let (mut ranks, mut files) = (0, 0);
            for s in Bitboard(set) {
                ranks |= Bitboard::from(s.rank()).0;
                files |= Bitboard::from(s.file()).0;
            }
            assert_eq!(fill_ranks(set), ranks, "{set:x}");
            assert_eq!(fill_files(set), files, "{set:x}");
        }
    }

    #[test]
    fn sliders_agree_with_shakmaty() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..200 {
            let board = random.u64(..) & random.u64(..);
            for s in Square::ALL {
                let set = Bitboard::from(s).0;
                let go = |dirs: [u8; 4]| dirs.iter().fold(0, |all, &d| all | slide_dir(d, set, !board));
                assert_eq!(go([0, 2, 4, 6]), attacks::rook_attacks(s, Bitboard(board)).0);
                assert_eq!(go([1, 3, 5, 7]), attacks::bishop_attacks(s, Bitboard(board)).0);
            }
        }
    }
}
