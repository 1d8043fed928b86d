//! The symmetries of the board, and CQL's shifts.
//!
//! Each [`Dihedral`] is a 2x2 matrix on coordinates that have their origin in the centre of the
//! board; composition is multiplication, and squares, steps and offsets go through the same matrix.

use shakmaty::Bitboard;

/// One of the eight symmetries of the square, named by what moves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dihedral {
    /// Nothing moves.
    Identity,
    /// (x, y) to (7-y, x): a1 to h1.
    Rotate90Ccw,
    /// (x, y) to (7-x, 7-y): a1 to h8.
    Rotate180,
    /// (x, y) to (y, 7-x): a1 to a8.
    Rotate270Ccw,
    /// Ranks change places: 1 <-> 8.
    ReflectRanks,
    /// Files change places: a <-> h.
    ReflectFiles,
    /// The diagonal a1-h8 stays.
    ReflectMain,
    /// The diagonal h1-a8 stays.
    ReflectAnti,
}

impl Dihedral {
    /// All eight, in CQL's order of declaration.
    pub const ALL: [Dihedral; 8] = [
        Dihedral::Identity,
        Dihedral::Rotate90Ccw,
        Dihedral::Rotate180,
        Dihedral::Rotate270Ccw,
        Dihedral::ReflectRanks,
        Dihedral::ReflectFiles,
        Dihedral::ReflectMain,
        Dihedral::ReflectAnti,
    ];

    const fn matrix(self) -> [i8; 4] {
        match self {
            Dihedral::Identity => [1, 0, 0, 1],
            Dihedral::Rotate90Ccw => [0, -1, 1, 0],
            Dihedral::Rotate180 => [-1, 0, 0, -1],
            Dihedral::Rotate270Ccw => [0, 1, -1, 0],
            Dihedral::ReflectRanks => [1, 0, 0, -1],
            Dihedral::ReflectFiles => [-1, 0, 0, 1],
            Dihedral::ReflectMain => [0, 1, 1, 0],
            Dihedral::ReflectAnti => [0, -1, -1, 0],
        }
    }

    /// The image of a step (files, ranks).
    pub const fn step(self, (dx, dy): (i8, i8)) -> (i8, i8) {
        let [a, b, c, d] = self.matrix();
        (a * dx + b * dy, c * dx + d * dy)
    }

    /// The symmetry that does `first`, then `self`.
    ///
    /// ```
    /// use orbit_chess::board::Dihedral::*;
    /// assert_eq!(ReflectMain.after(ReflectRanks), Rotate90Ccw.after(Identity));
    /// ```
    #[must_use]
    pub fn after(self, first: Dihedral) -> Dihedral {
        let image = |step| self.step(first.step(step));
        let wanted = (image((1, 0)), image((0, 1)));
        Dihedral::ALL
            .into_iter()
            .find(|d| (d.step((1, 0)), d.step((0, 1))) == wanted)
            .expect("the eight symmetries are closed under composition")
    }

    /// The symmetry that undoes this one.
    #[must_use]
    pub fn inverse(self) -> Dihedral {
        Dihedral::ALL
            .into_iter()
            .find(|d| d.after(self) == Dihedral::Identity)
            .expect("each of the eight symmetries has an inverse")
    }

    /// The image of a set of squares.
    #[must_use]
    pub fn apply(self, squares: Bitboard) -> Bitboard {
        Bitboard(bits(squares).fold(0, |out, (x, y)| {
            // Twice the distance from the centre, so that everything is whole.
            let (cx, cy) = self.step((2 * x - 7, 2 * y - 7));
            out | 1 << ((cy + 7) / 2 * 8 + (cx + 7) / 2)
        }))
    }

    /// Whether light squares become dark ones.
    pub fn swaps_shades(self) -> bool {
        self.matrix().iter().filter(|&&m| m < 0).count() == 1
    }
}

/// Coordinates (file, rank) of the squares of a set.
fn bits(squares: Bitboard) -> impl Iterator<Item = (i8, i8)> {
    squares.into_iter().map(|s| (s.file() as i8, s.rank() as i8))
}

/// Moves a set by `(dx, dy)`; what leaves the board is lost.
#[must_use]
pub fn translate(squares: Bitboard, (dx, dy): (i8, i8)) -> Bitboard {
    Bitboard(bits(squares).map(|(x, y)| (x + dx, y + dy)).fold(0, |out, (x, y)| {
        if (0..8).contains(&x) && (0..8).contains(&y) { out | 1 << (y * 8 + x) } else { out }
    }))
}

/// The full ranks and full files inside a set: bit `k` of the first byte is rank `k`, of the second
/// file `k`.
pub fn full_lines(squares: Bitboard) -> (u8, u8) {
    let line = |k: u32, mask: u64, stride: u32| squares.0 & mask << (k * stride) == mask << (k * stride);
    let ranks = (0..8).filter(|&k| line(k, 0xff, 8)).fold(0, |out, k| out | 1 << k);
    let files = (0..8).filter(|&k| line(k, 0x0101_0101_0101_0101, 1)).fold(0, |out, k| out | 1 << k);
    (ranks, files)
}

/// CQL's shift of a designator's squares: a full rank ignores the horizontal part, a full file the
/// vertical part, the full board both; every other square that leaves the board is dropped.
#[must_use]
pub fn shift(squares: Bitboard, (dx, dy): (i8, i8)) -> Bitboard {
    if squares == Bitboard::FULL {
        return squares;
    }
    let mut out = translate(squares, (dx, dy)).0;
    let (ranks, files) = full_lines(squares);
    for k in 0..8i8 {
        if ranks >> k & 1 != 0 && (0..8).contains(&(k + dy)) {
            out |= 0xff << (8 * (k + dy));
        }
        if files >> k & 1 != 0 && (0..8).contains(&(k + dx)) {
            out |= 0x0101_0101_0101_0101 << (k + dx);
        }
    }
    Bitboard(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(squares: &[&str]) -> Bitboard {
        squares.iter().map(|s| s.parse::<shakmaty::Square>().unwrap()).collect()
    }

    #[test]
    fn composition_agrees_with_application() {
        let squares = set(&["a1", "b3", "f6", "h4"]);
        for a in Dihedral::ALL {
            for b in Dihedral::ALL {
                assert_eq!(a.after(b).apply(squares), a.apply(b.apply(squares)), "{a:?} after {b:?}");
            }
            assert_eq!(a.inverse().apply(a.apply(squares)), squares);
        }
    }

    #[test]
    fn agrees_with_shakmaty() {
        let s = set(&["a1", "b3", "f6", "h4", "e8"]);
        assert_eq!(Dihedral::ReflectRanks.apply(s), s.flip_vertical());
        assert_eq!(Dihedral::ReflectFiles.apply(s), s.flip_horizontal());
        assert_eq!(Dihedral::ReflectMain.apply(s), s.flip_diagonal());
        assert_eq!(Dihedral::ReflectAnti.apply(s), s.flip_anti_diagonal());
        assert_eq!(Dihedral::Rotate90Ccw.apply(s), s.rotate_270());
        assert_eq!(Dihedral::Rotate180.apply(s), s.rotate_180());
    }

    #[test]
    fn a_shift_drops_what_leaves_and_keeps_full_lines() {
        assert_eq!(shift(set(&["a1", "d3"]), (2, 3)), set(&["c4", "f6"]));
        let mut ranked = Bitboard(0xff00) | set(&["c4"]);
        assert_eq!(shift(ranked, (2, 3)), Bitboard(0xff << 32) | set(&["e7"]));
        assert_eq!(shift(ranked, (7, 7)), Bitboard(0));
        ranked = Bitboard(0xff00) | set(&["c4"]);
        assert_eq!(shift(ranked, (3, 0)), Bitboard(0xff00) | set(&["f4"]));
        assert_eq!(shift(set(&["d2", "c4"]), (7, 0)), Bitboard(0));
        assert_eq!(shift(set(&["h4"]), (1, 0)), Bitboard(0), "nothing wraps");
        assert_eq!(shift(Bitboard::FULL, (3, -4)), Bitboard::FULL);
    }

    #[test]
    fn a_shift_conjugated_by_a_symmetry_is_a_shift() {
        let masks = [Bitboard(0xff00 | 1 << 26), set(&["a1", "h5"]), Bitboard(0x0101_0101_0101_0101 | 8)];
        for mask in masks {
            for d in Dihedral::ALL {
                for v in [(1, 0), (-3, 2), (0, 7), (5, -5)] {
                    assert_eq!(d.apply(shift(mask, v)), shift(d.apply(mask), d.step(v)));
                }
            }
        }
    }
}
