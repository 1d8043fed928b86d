//! The instructions of flat programs that examine lines and attacks.

use super::FlatMachine;
use crate::operations::OperandSource;
use orbit_core::board::{Board, Code, attacks};
use orbit_plan::{PinPart, RayInstr, SliderAt, TRUE};

const WHITE_PAWN: Code = Code(1);
const BLACK_PAWN: Code = Code(9);

/// For each square and each direction, the squares that a slider could reach on the empty board.
static RAYS: [[u64; 8]; 64] = {
    let mut all = [[0; 8]; 64];
    let mut square = 0;
    while square < 64 {
        let mut dir = 0;
        while dir < 8 {
            all[square][dir] = attacks::slide_dir(dir as u8, 1 << square, TRUE);
            dir += 1;
        }
        square += 1;
    }
    all
};

/// Returns the squares of the last set at which a line ends. A line begins on a square of the first set and runs in one
/// of the directions in `dirs`. It leads through one square of each set in between, in order; all other squares that it
/// crosses are empty.
fn ray(board: &Board, sets: &[u64], dirs: u8, slider: SliderAt) -> u64 {
    let Some((&first, others)) = sets.split_first().filter(|_| !sets.contains(&0)) else { return 0 };
    let empty = !board.occupied().0;
    let lines = (0..8).filter(|dir| dirs >> dir & 1 != 0).map(|dir| {
        let only_at = |end: SliderAt| if slider == end { board.sliders(dir).0 } else { TRUE };
        let mut at = first & only_at(SliderAt::First);
        for &set in others {
            at = reached(dir, at, set, empty);
        }
        at & only_at(SliderAt::Last)
    });
    lines.fold(0, |all, line| all | line)
}

fn attackers(board: &Board, x: u64, y: u64) -> u64 {
    if x == 0 || y == 0 {
        return 0;
    }
    // A white pawn attacks a square from the squares that a black pawn there would attack.
    let near = attacks::knight(y) & board.of_role(2).0
        | attacks::king(y) & board.of_role(6).0
        | attacks::pawn::<false>(y) & board.having(WHITE_PAWN).0
        | attacks::pawn::<true>(y) & board.having(BLACK_PAWN).0;
    let empty = !board.occupied().0;
    (0..8).fold(near & x, |all, dir| all | reached(dir, y, x & board.sliders(dir).0, empty))
}

fn attacked(board: &Board, x: u64, y: u64) -> u64 {
    if x == 0 || y == 0 {
        return 0;
    }
    let near = attacks::knight(x & board.of_role(2).0)
        | attacks::king(x & board.of_role(6).0)
        | attacks::pawn::<true>(x & board.having(WHITE_PAWN).0)
        | attacks::pawn::<false>(x & board.having(BLACK_PAWN).0);
    let empty = !board.occupied().0;
    (0..8).fold(near & y, |all, dir| all | reached(dir, x & board.sliders(dir).0, y, empty))
}

/// Returns squares of the pins on the board. `part` selects the squares: those of the sliders, those of the pinned
/// pieces, or those behind the pinned pieces. The slider, the pinned piece and the square behind it must be in the
/// three given sets, in this order.
fn pins(board: &Board, [from, through, to]: [u64; 3], part: PinPart) -> u64 {
    let (occupied, black) = (board.occupied().0, board.planes[3]);
    let mut all = 0;
    for own in [occupied & !black, black] {
        let (from, through, to) = (from & own, through & occupied & !own, to & !own);
        if from == 0 || through == 0 || to == 0 {
            continue;
        }
        for dir in 0..8 {
            let pinners = from & board.sliders(dir).0;
            let behind = reached(dir, reached(dir, pinners, through, !occupied), to, !occupied);
            let back = |from: u64, to: u64| reached((dir + 4) % 8, from, to, !occupied);
            all |= match part {
                PinPart::To => behind,
                PinPart::Through => back(behind, through),
                PinPart::From => back(back(behind, through), pinners),
            };
        }
    }
    all
}

/// Returns the squares of `to` that a slider on a square of `from` attacks in a direction.
fn reached(dir: u8, from: u64, to: u64, empty: u64) -> u64 {
    if from == 0 || to == 0 {
        return 0;
    }
    if from & (from - 1) != 0 {
        return attacks::slide_dir(dir, from, empty) & to;
    }
    let ahead = |square: u32| RAYS[square as usize][usize::from(dir)];
    let ray = ahead(from.trailing_zeros());
    if ray & to == 0 {
        return 0;
    }
    // If no piece ends the line of empty squares, a corner of the board serves as its end, because no square lies
    // beyond it in this direction.
    let ends = ray & !empty;
    let end = if dir < 4 { (ends | 1 << 63).trailing_zeros() } else { 63 - (ends | 1).leading_zeros() };
    ray & !ahead(end) & to
}

/// Returns the squares that lie between a square of `a` and a square of `b`.
fn between(a: u64, b: u64) -> u64 {
    let (mut all, mut left) = (0, a);
    while left != 0 && b != 0 {
        for (dir, &ray) in RAYS[left.trailing_zeros() as usize].iter().enumerate() {
            let ends = ray & b;
            if ends != 0 {
                let farthest = if dir < 4 { 63 - ends.leading_zeros() } else { ends.trailing_zeros() };
                all |= ray & !RAYS[farthest as usize][dir] & !(1 << farthest);
            }
        }
        left &= left - 1;
    }
    all
}

impl FlatMachine<'_> {
    /// Runs an instruction that examines lines, such as rays and pins, at a slot (position).
    #[inline(never)]
    pub(super) fn rays(&mut self, instr: RayInstr, slot: usize) {
        let operands = self.operands;
        let board = |planes: [u16; 4]| {
            let plane = |plane: u16| -> &OperandSource<'_> { &operands[usize::from(plane)] };
            Board { planes: planes.map(|k| plane(k).word(slot)) }
        };
        let (to, word) = match instr {
            RayInstr::Ray { to, first, sets, dirs, slider, planes } => {
                let first = usize::from(first.0);
                let sets = &self.words[first..first + usize::from(sets)];
                (to, ray(&board(planes), sets, dirs, slider))
            }
            RayInstr::Attackers { to, x, y, planes } => {
                (to, attackers(&board(planes), self.get(x), self.get(y)))
            }
            RayInstr::Attacked { to, x, y, planes } => {
                (to, attacked(&board(planes), self.get(x), self.get(y)))
            }
            RayInstr::Pin { to, sets, part, planes } => {
                (to, pins(&board(planes), sets.map(|set| self.get(set)), part))
            }
            RayInstr::Between { to, a, b } => (to, between(self.get(a), self.get(b))),
        };
        self.set(to, word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns sets of squares for the tests: sets with no square, one square, a few squares and many squares.
    fn sets() -> impl Iterator<Item = u64> {
        let mut seed = 1u64;
        let mut random = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        std::iter::repeat_with(move || {
            let (a, b, c) = (random(), random(), random());
            match c % 4 {
                0 => 1 << (a & 63),
                1 => 1 << (a & 63) | 1 << (b & 63),
                2 => a & b & c.rotate_left(9),
                _ => a & b,
            }
        })
    }

    #[test]
    fn squares_seen_are_those_of_a_slide() {
        let mut sets = sets();
        let mut next = || sets.next().expect("there are more");
        for round in 0..2000 {
            let (from, to, empty) = (next(), next() | next(), !next());
            let dir = (round % 8) as u8;
            assert_eq!(
                reached(dir, from, to, empty),
                attacks::slide_dir(dir, from, empty) & to,
                "{from:x} {empty:x}"
            );
            let lines = (0..8).map(|dir| {
                let opposite = (dir + 4) % 8;
                attacks::slide_dir(dir, from, TRUE) & attacks::slide_dir(opposite, to, TRUE)
            });
            assert_eq!(between(from, to), lines.fold(0, |all, line| all | line), "{from:x} {to:x}");
        }
    }
}
