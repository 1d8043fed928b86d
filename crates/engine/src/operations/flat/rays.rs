//! The instructions about lines and attacks.

use super::FlatMachine;
use crate::operations::OperandSource;
use orbit_core::board::attacks;
use orbit_plan::{RayInstr, SliderAt, TRUE};

/// For each square and each direction, the squares ahead on the empty board.
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

/// The sets of pieces that move alike.
struct BoardSets {
    white_pawns: u64,
    black_pawns: u64,
    knights: u64,
    kings: u64,
    /// The pieces that slide along ranks and files, and those that slide along diagonals.
    sliders: [u64; 2],
    empty: u64,
}

impl BoardSets {
    fn of([p0, p1, p2, black]: [u64; 4]) -> BoardSets {
        let pawns = p0 & !(p1 | p2);
        BoardSets {
            white_pawns: pawns & !black,
            black_pawns: pawns & black,
            knights: p1 & !(p0 | p2),
            kings: p1 & p2,
            sliders: [p2 & !p1, p0 & (p1 | p2)],
            empty: !(p0 | p1 | p2),
        }
    }

    /// Returns the pieces that slide in a direction.
    fn sliding(&self, dir: u8) -> u64 {
        self.sliders[usize::from(dir & 1)]
    }

    /// Returns the squares of the last set that lines from the first set reach in some direction.
    fn ray(&self, sets: &[u64], dirs: u8, slider: SliderAt) -> u64 {
        let Some((&first, others)) = sets.split_first().filter(|_| !sets.contains(&0)) else { return 0 };
        let lines = (0..8).filter(|dir| dirs >> dir & 1 != 0).map(|dir| {
            let only_at = |end: SliderAt| if slider == end { self.sliding(dir) } else { TRUE };
            let mut at = first & only_at(SliderAt::First);
            for &set in others {
                at = reached(dir, at, set, self.empty);
            }
            at & only_at(SliderAt::Last)
        });
        lines.fold(0, |all, line| all | line)
    }

    fn attackers(&self, x: u64, y: u64) -> u64 {
        if x == 0 || y == 0 {
            return 0;
        }
        // A white pawn attacks a square from those squares that a black pawn there would attack.
        let near = attacks::knight(y) & self.knights
            | attacks::king(y) & self.kings
            | attacks::pawn::<false>(y) & self.white_pawns
            | attacks::pawn::<true>(y) & self.black_pawns;
        (0..8).fold(near & x, |all, dir| all | reached(dir, y, x & self.sliding(dir), self.empty))
    }

    fn attacked(&self, x: u64, y: u64) -> u64 {
        if x == 0 || y == 0 {
            return 0;
        }
        let near = attacks::knight(x & self.knights)
            | attacks::king(x & self.kings)
            | attacks::pawn::<true>(x & self.white_pawns)
            | attacks::pawn::<false>(x & self.black_pawns);
        (0..8).fold(near & y, |all, dir| all | reached(dir, x & self.sliding(dir), y, self.empty))
    }
}

/// Returns the squares of `to` that are seen in a direction from squares of `from`.
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
    // A corner in the direction has no square ahead, so it can stand for the missing end of a line of empty squares.
    let ends = ray & !empty;
    let end = if dir < 4 { (ends | 1 << 63).trailing_zeros() } else { 63 - (ends | 1).leading_zeros() };
    ray & !ahead(end) & to
}

/// Returns the squares between a square of `a` and one of `b`.
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
    /// Runs an instruction about lines at a slot.
    #[inline(never)]
    pub(super) fn rays(&mut self, instr: RayInstr, slot: usize) {
        let operands = self.operands;
        let pieces = |planes: [u16; 4]| {
            let plane = |plane: u16| -> &OperandSource<'_> { &operands[usize::from(plane)] };
            BoardSets::of(planes.map(|k| plane(k).word(slot)))
        };
        let (to, word) = match instr {
            RayInstr::Ray { to, first, sets, dirs, slider, planes } => {
                let first = usize::from(first.0);
                let sets = &self.words[first..first + usize::from(sets)];
                (to, pieces(planes).ray(sets, dirs, slider))
            }
            RayInstr::Attackers { to, x, y, planes } => {
                (to, pieces(planes).attackers(self.get(x), self.get(y)))
            }
            RayInstr::Attacked { to, x, y, planes } => {
                (to, pieces(planes).attacked(self.get(x), self.get(y)))
            }
            RayInstr::Between { to, a, b } => (to, between(self.get(a), self.get(b))),
        };
        self.set(to, word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns some sets of squares: none, one, a few and many of them.
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
