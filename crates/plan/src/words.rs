//! Computes the operations of the plan's graph on single words.

use super::{
    DIR_STEPS,
    op::{Id, Op, TRUE},
};
use orbit_core::board::attacks;

fn mask(value: bool) -> u64 {
    u64::from(value).wrapping_neg()
}

fn number(word: u64) -> i32 {
    word as i32
}

fn packed(number: i32) -> u64 {
    i64::from(number) as u64
}

/// The maximum number of files or ranks by which a step can move a square.
const FARTHEST: i8 = 7;

/// The results of [`attacks::translation`] for all steps that keep some square on the board. The first index is the step along
/// the files, the second the step along the ranks.
static TRANSLATIONS: [[(u64, i32); 15]; 15] = {
    let mut all = [[(0, 0); 15]; 15];
    let mut x = 0;
    while x < 15 {
        let mut y = 0;
        while y < 15 {
            all[x][y] = attacks::translation(x as i8 - FARTHEST, y as i8 - FARTHEST);
            y += 1;
        }
        x += 1;
    }
    all
};

/// Returns the squares of a set, moved by `dx` files and `dy` ranks.
fn moved(set: u64, dx: i8, dy: i8) -> u64 {
    let place = |by: i8| usize::try_from(i16::from(by) + i16::from(FARTHEST)).unwrap_or(usize::MAX);
    let known = TRANSLATIONS.get(place(dx)).and_then(|all| all.get(place(dy)));
    known.map_or(0, |&(inside, by)| {
        let kept = set & inside;
        if by >= 0 { kept << (by & 63) } else { kept >> (-by & 63) }
    })
}

fn walked(set: u64, dirs: u8, lo: i8, hi: i8) -> u64 {
    if (lo, hi) == (1, FARTHEST) {
        let dirs = (0..8).filter(|dir| dirs >> dir & 1 != 0);
        return dirs.fold(0, |all, dir| all | attacks::slide_dir(dir, set, TRUE));
    }
    let mut all = 0;
    for (&(dx, dy), dir) in DIR_STEPS.iter().zip(0..8) {
        if dirs >> dir & 1 != 0 {
            for n in lo..=hi {
                all |= moved(set, dx * n, dy * n);
            }
        }
    }
    all
}

/// Returns the set with the square on a file and a rank. It is empty if one of them is off the board.
fn square(file: i32, rank: i32) -> u64 {
    let is_on_board = |n: &i32| (1..=8).contains(n);
    let both = Some(file).filter(is_on_board).zip(Some(rank).filter(is_on_board));
    both.map_or(0, |(file, rank)| 1 << (8 * (rank - 1) + file - 1))
}

/// Computes an operation on single words. `word` returns the value of an operand. Returns `None` for operations that read the
/// position or the game.
pub fn word_of(op: Op, word: impl Fn(Id) -> u64) -> Option<u64> {
    Some(match op {
        Op::Const(word) => word,
        Op::And(a, b) => word(a) & word(b),
        Op::Or(a, b) => word(a) | word(b),
        Op::AndNot(a, b) => word(a) & !word(b),
        Op::Xor(a, b) => word(a) ^ word(b),
        Op::Not(a) => !word(a),
        Op::Select { mask, a, b } => word(a) & word(mask) | word(b) & !word(mask),
        Op::Step(a, dx, dy) => moved(word(a), dx, dy),
        Op::FillRanks(a) => attacks::fill_ranks(word(a)),
        Op::FillFiles(a) => attacks::fill_files(word(a)),
        Op::Knight(a) => attacks::knight(word(a)),
        Op::King(a) => attacks::king(word(a)),
        Op::Pawn { set, white: true } => attacks::pawn::<true>(word(set)),
        Op::Pawn { set, white: false } => attacks::pawn::<false>(word(set)),
        Op::Slide { set, empty, dir } => attacks::slide_dir(dir, word(set), word(empty)),
        Op::Walk { set, dirs, lo, hi } => walked(word(set), dirs, lo, hi),
        Op::NonEmpty(a) => mask(word(a) != 0),
        Op::Single(a) => mask(word(a).count_ones() == 1),
        Op::Count(a) => word(a).count_ones().into(),
        Op::Rank(a) => u64::from(word(a).trailing_zeros() >> 3) + 1,
        Op::File(a) => u64::from(word(a).trailing_zeros() & 7) + 1,
        Op::MakeSquare { file, rank } => square(number(word(file)), number(word(rank))),
        Op::Add(a, b) => packed(number(word(a)).wrapping_add(number(word(b)))),
        Op::Sub(a, b) => packed(number(word(a)).wrapping_sub(number(word(b)))),
        Op::Mul(a, b) => packed(number(word(a)).wrapping_mul(number(word(b)))),
        Op::Div(a, b) => match number(word(b)) {
            0 => 0,
            b => packed(number(word(a)).wrapping_div(b)),
        },
        Op::Rem(a, b) => match number(word(b)) {
            0 => 0,
            b => packed(number(word(a)).wrapping_rem(b)),
        },
        Op::Sqrt(a) => packed(number(word(a)).max(0).isqrt()),
        Op::Max(a, b) => (word(a) as i64).max(word(b) as i64) as u64,
        Op::Compare(cmp, a, b) => mask(cmp.holds((word(a) as i64).cmp(&(word(b) as i64)))),
        Op::Plane(_)
        | Op::WhiteToMove
        | Op::Initial
        | Op::Terminal
        | Op::Ply
        | Op::GameMask(_)
        | Op::GameNumber(_)
        | Op::Carried(_)
        | Op::Param(..)
        | Op::Content(_)
        | Op::NoMoves(_)
        | Op::PureMen { .. }
        | Op::Legal { .. }
        | Op::LegalCount { .. }
        | Op::Loop(_) => return None,
    })
}
