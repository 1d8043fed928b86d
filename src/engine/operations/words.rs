//! The operations of the plan's graph on single words.

use crate::{
    board::attacks,
    plan::{DIR_STEPS, Id, Op},
};

fn mask(value: bool) -> u64 {
    u64::from(value).wrapping_neg()
}

fn number(word: u64) -> i32 {
    word as i32
}

fn packed(number: i32) -> u64 {
    i64::from(number) as u64
}

/// The squares so many files and ranks away.
fn moved(set: u64, dx: i8, dy: i8) -> u64 {
    let (inside, by) = attacks::translation(dx, dy);
    let kept = set & inside;
    if by >= 0 { kept << (by & 63) } else { kept >> (-by & 63) }
}

fn walked(set: u64, dirs: u8, lo: i8, hi: i8) -> u64 {
    let dirs = DIR_STEPS.iter().zip(0..8).filter(|&(_, dir)| dirs >> dir & 1 != 0);
    let steps = dirs.flat_map(|(&(dx, dy), _)| (lo..=hi).map(move |n| (dx * n, dy * n)));
    steps.fold(0, |all, (dx, dy)| all | moved(set, dx, dy))
}

/// The result of an operation, whose operands `word` gives.
pub(super) fn word_of(op: Op, word: impl Fn(Id) -> u64) -> u64 {
    match op {
        Op::Const(word) => word,
        Op::And(a, b) => word(a) & word(b),
        Op::Or(a, b) => word(a) | word(b),
        Op::AndNot(a, b) => word(a) & !word(b),
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
        | Op::MakeSquare { .. }
        | Op::NoMoves(_)
        | Op::PureMen { .. }
        | Op::Legal { .. }
        | Op::LegalCount { .. }
        | Op::Loop(_) => unreachable!("flat programs have no such steps"),
    }
}
