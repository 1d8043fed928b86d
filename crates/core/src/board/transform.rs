//! The symmetries of the board, and CQL's shifts.
//!
//! Each [`Dihedral`] is a 2x2 matrix that acts on coordinates with the centre of the board as their origin. Multiplying two
//! matrices composes their symmetries. The same matrix transforms squares, steps and offsets.
//!
//! A CQL 5 shift may map one square to several, so it has no inverse. A [`SquareMap`] represents a CQL 5 shift, a symmetry, or a
//! composition of both.

use shakmaty::Bitboard;

/// One of the eight symmetries of the square. `ReflectRanks` exchanges rank 1 with rank 8, 2 with 7 and so on; `ReflectFiles`
/// exchanges the files in the same way.
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
    /// Ranks are exchanged: 1 <-> 8.
    ReflectRanks,
    /// Files are exchanged: a <-> h.
    ReflectFiles,
    /// Reflection in the diagonal a1-h8, whose squares stay in place.
    ReflectMain,
    /// Reflection in the diagonal h1-a8, whose squares stay in place.
    ReflectAnti,
}

impl Dihedral {
    /// All eight symmetries, in the order in which this enum and CQL declare them.
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

    /// Returns the image of a step, given as (files, ranks).
    pub const fn step(self, (dx, dy): (i8, i8)) -> (i8, i8) {
        let [a, b, c, d] = self.matrix();
        (a * dx + b * dy, c * dx + d * dy)
    }

    /// Returns the symmetry that has the effect of `first` followed by `self`.
    ///
    /// ```
    /// use orbit_core::board::Dihedral::*;
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

    /// Returns the symmetry that undoes this one.
    #[must_use]
    pub fn inverse(self) -> Dihedral {
        Dihedral::ALL
            .into_iter()
            .find(|d| d.after(self) == Dihedral::Identity)
            .expect("each of the eight symmetries has an inverse")
    }

    /// Returns the image of a set of squares under this symmetry.
    #[inline]
    #[must_use]
    pub fn apply(self, squares: Bitboard) -> Bitboard {
        match self {
            Dihedral::Identity => squares,
            // shakmaty's rotations are clockwise.
            Dihedral::Rotate90Ccw => squares.rotate_270(),
            Dihedral::Rotate180 => squares.rotate_180(),
            Dihedral::Rotate270Ccw => squares.rotate_90(),
            Dihedral::ReflectRanks => squares.flip_vertical(),
            Dihedral::ReflectFiles => squares.flip_horizontal(),
            Dihedral::ReflectMain => squares.flip_diagonal(),
            Dihedral::ReflectAnti => squares.flip_anti_diagonal(),
        }
    }

    /// Returns whether the symmetry maps light squares to dark ones.
    pub fn swaps_shades(self) -> bool {
        self.matrix().iter().filter(|&&m| m < 0).count() == 1
    }
}

/// Returns the coordinates (file, rank) of all squares in a set.
fn bits(squares: Bitboard) -> impl Iterator<Item = (i8, i8)> {
    squares.into_iter().map(|s| (s.file() as i8, s.rank() as i8))
}

/// Moves a set by `(dx, dy)`; squares that leave the board are dropped.
#[inline]
#[must_use]
pub fn translate(squares: Bitboard, (dx, dy): (i8, i8)) -> Bitboard {
    let [files, ranks] = [dx, dy].map(|distance| u32::from(distance.unsigned_abs()));
    if files > 7 || ranks > 7 {
        return Bitboard::EMPTY;
    }
    let right = match dx {
        0.. => (squares.0 & lowest_files(8 - files)) << files,
        _ => (squares.0 >> files) & lowest_files(8 - files),
    };
    Bitboard(if dy < 0 { right >> (8 * ranks) } else { right << (8 * ranks) })
}

/// Returns the squares of the `count` leftmost files; `count` is from 1 to 8.
pub(crate) const fn lowest_files(count: u32) -> u64 {
    0x0101_0101_0101_0101 * (0xff >> (8 - count))
}

/// Returns the ranks and the files that are entirely in a set: bit `k` of the first byte is set if rank `k` is full, and bit `k` of
/// the second byte if file `k` is full.
pub fn full_lines(squares: Bitboard) -> (u8, u8) {
    let line = |k: u32, mask: u64, stride: u32| squares.0 & mask << (k * stride) == mask << (k * stride);
    let ranks = (0..8).filter(|&k| line(k, 0xff, 8)).fold(0, |out, k| out | 1 << k);
    let files = (0..8).filter(|&k| line(k, 0x0101_0101_0101_0101, 1)).fold(0, |out, k| out | 1 << k);
    (ranks, files)
}

/// Shifts the squares of a designator such as `Ra-h1` as CQL does. A full rank moves only up or down, a full file only left or
/// right, and the full board does not move. Every other square that leaves the board is dropped.
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

/// A transformation of sets of squares that maps files and ranks independently: a symmetry, a CQL 5 shift, or a composition of
/// both. Two maps are equal if and only if they give every set the same image.
///
/// The image of the square (x, y) contains all squares on the files `files[x]` and the ranks `ranks[y]`. If the map is `turned`, x
/// and y are exchanged first. The image of a set is the union of the images of its squares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SquareMap {
    turned: bool,
    files: [u8; 8],
    ranks: [u8; 8],
}

/// The identity map of the files or the ranks. Entry `k` is the bit set of the lines to which line `k` is mapped: here only `k`
/// itself.
const STILL: [u8; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

impl SquareMap {
    /// Nothing moves.
    pub const IDENTITY: SquareMap = SquareMap { turned: false, files: STILL, ranks: STILL };

    /// Returns the map of a symmetry of the board.
    pub fn symmetry(d: Dihedral) -> SquareMap {
        let [a, b, c, e] = d.matrix();
        let axis = |negative: bool| if negative { mirrored() } else { STILL };
        SquareMap { turned: a == 0, files: axis(a + b < 0), ranks: axis(c + e < 0) }
    }

    /// Returns the CQL 5 shift by (files, ranks), each from -7 to 7. The shift consists of single steps. In each step, squares that
    /// leave the board are dropped, and squares on the trailing edge (for a shift to the right, the a-file) move but also stay in
    /// the set.
    ///
    /// Source: CQL 5 manual, position list: transforms.
    ///
    /// ```
    /// use orbit_core::board::{Bitboard, Square, SquareMap};
    /// let a4 = Bitboard::from(Square::A4);
    /// let image = SquareMap::edge_shift((3, 0)).apply(a4);
    /// assert_eq!(image, [Square::A4, Square::B4, Square::C4, Square::D4].into_iter().collect());
    /// ```
    pub fn edge_shift((dx, dy): (i8, i8)) -> SquareMap {
        SquareMap { turned: false, files: edge_axis(dx), ranks: edge_axis(dy) }
    }

    /// Returns the map that has the effect of `first` followed by `self`.
    #[must_use]
    pub fn after(self, first: SquareMap) -> SquareMap {
        let image = |axis: &[u8; 8], lines: u8| {
            (0..8).filter(|k| lines >> k & 1 != 0).fold(0, |out, k: usize| out | axis[k])
        };
        let (files, ranks) =
            if self.turned { (first.ranks, first.files) } else { (first.files, first.ranks) };
        SquareMap {
            turned: self.turned != first.turned,
            files: files.map(|lines| image(&self.files, lines)),
            ranks: ranks.map(|lines| image(&self.ranks, lines)),
        }
    }

    /// Returns the image of a set of squares under this map.
    #[must_use]
    pub fn apply(self, squares: Bitboard) -> Bitboard {
        Bitboard(bits(squares).fold(0, |out, (x, y)| {
            let (x, y) = if self.turned { (y, x) } else { (x, y) };
            let ranks = self.ranks[y as usize];
            let rows = (0..8).filter(|k| ranks >> k & 1 != 0).fold(0u64, |rows, k| rows | 1 << (8 * k));
            out | (rows * u64::from(self.files[x as usize]))
        }))
    }
}

/// Returns the images of the eight files (or ranks) under the reflection that exchanges the first and the last file (or rank).
const fn mirrored() -> [u8; 8] {
    [128, 64, 32, 16, 8, 4, 2, 1]
}

/// Returns the images of the eight files, or of the eight ranks, under a CQL 5 shift by `d`.
fn edge_axis(d: i8) -> [u8; 8] {
    let mut out = [0; 8];
    for (k, lines) in (0i8..).zip(&mut out) {
        let moved = if (0..8).contains(&(k + d)) { 1 << (k + d) } else { 0 };
        let stayed: u8 = match d {
            1.. if k == 0 => (1 << d) - 1,
            ..=-1 if k == 7 => !((1 << (8 + d)) - 1),
            _ => 0,
        };
        *lines = moved | stayed;
    }
    out
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

    /// Sets are transformed as words. Here, each square is transformed by itself.
    #[test]
    fn whole_words_agree_with_single_squares() {
        let mut random = fastrand::Rng::with_seed(1);
        for number in 0..3000 {
            let bits = (0..number % 4).fold(random.u64(..), |bits, _| bits & random.u64(..));
            let squares = if number == 0 { Bitboard::FULL } else { Bitboard(bits) };
            for symmetry in Dihedral::ALL {
                let slow = super::bits(squares).fold(0, |out, (x, y)| {
                    // The coordinates are doubled, since the centre of the board is half a square away from the squares next to it.
                    let (cx, cy) = symmetry.step((2 * x - 7, 2 * y - 7));
                    out | 1 << ((cy + 7) / 2 * 8 + (cx + 7) / 2)
                });
                assert_eq!(symmetry.apply(squares), Bitboard(slow), "{symmetry:?}");
            }
            for (dx, dy) in (-9..=9).flat_map(|dx| (-9..=9).map(move |dy| (dx, dy))).filter(|_| number < 300)
            {
                let moved = super::bits(squares).map(|(x, y)| (x + dx, y + dy));
                let stay = moved.filter(|(x, y)| (0..8).contains(x) && (0..8).contains(y));
                let slow = stay.fold(0, |out, (x, y)| out | 1 << (y * 8 + x));
                assert_eq!(translate(squares, (dx, dy)), Bitboard(slow), "{dx} {dy}");
            }
        }
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

    #[test]
    fn maps_of_symmetries_are_the_symmetries() {
        let squares = set(&["a1", "b3", "f6", "h4", "e8"]);
        for a in Dihedral::ALL {
            let map = SquareMap::symmetry(a);
            assert_eq!(map.apply(squares), a.apply(squares), "{a:?}");
            for b in Dihedral::ALL {
                assert_eq!(map.after(SquareMap::symmetry(b)), SquareMap::symmetry(a.after(b)), "{a:?} {b:?}");
            }
        }
    }

    /// Checks the worked examples in the CQL 5 manual (position list: transforms).
    #[test]
    fn a_shift_of_cql_5_leaves_squares_at_the_edge_behind() {
        let shifted = |names: &[&str], by| SquareMap::edge_shift(by).apply(set(names));
        assert_eq!(shifted(&["d4"], (1, 0)), set(&["e4"]));
        assert_eq!(shifted(&["c2", "h2"], (1, 0)), set(&["d2"]));
        assert_eq!(shifted(&["a2", "c2", "h2"], (1, 0)), set(&["a2", "b2", "d2"]));
        assert_eq!(shifted(&["a4"], (3, 0)), set(&["a4", "b4", "c4", "d4"]));
        assert_eq!(shifted(&["d4"], (3, 0)), set(&["g4"]));
        assert_eq!(shifted(&["b3", "c4"], (2, 1)), set(&["d4", "e5"]));
        assert_eq!(shifted(&["a1", "a8", "h1", "h8"], (0, 1)), set(&["a1", "a2", "h1", "h2"]));
        assert_eq!(shifted(&["h8"], (-1, 0)), set(&["g8", "h8"]), "an erratum of the manual");
        assert_eq!(shifted(&["a1"], (7, 7)), Bitboard::FULL);
        assert_eq!(shifted(&["b1"], (7, 0)), Bitboard(0), "nothing wraps");
    }

    #[test]
    fn edge_shifts_are_repeated_single_steps_and_maps_compose() {
        let squares = set(&["a1", "a4", "c2", "f7", "h8", "g3"]);
        for dx in -7..=7i8 {
            for dy in -7..=7i8 {
                let mut steps = SquareMap::IDENTITY;
                for _ in 0..dy.abs() {
                    steps = SquareMap::edge_shift((0, dy.signum())).after(steps);
                }
                for _ in 0..dx.abs() {
                    steps = SquareMap::edge_shift((dx.signum(), 0)).after(steps);
                }
                let map = SquareMap::edge_shift((dx, dy));
                assert_eq!(map, steps, "{dx} {dy}");
                for d in Dihedral::ALL {
                    let turned = SquareMap::symmetry(d);
                    let (then, image) = (turned.after(map), turned.apply(map.apply(squares)));
                    assert_eq!(then.apply(squares), image, "{d:?} after {dx} {dy}");
                    assert_eq!(
                        then,
                        SquareMap::edge_shift(d.step((dx, dy))).after(turned),
                        "{d:?} {dx} {dy}"
                    );
                }
            }
        }
    }
}
