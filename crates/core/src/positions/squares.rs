//! Transforms sets of squares.

use crate::board::{Bitboard, Dihedral, lowest_files, shift, translate};

const FILE_A: u64 = 0x0101_0101_0101_0101;
const FILE_H: u64 = FILE_A << 7;
const RANK_1: u64 = 0xff;
const RANK_8: u64 = 0xff << 56;

/// A transform of sets of squares. A shift is given by the number of files to the right and the number of ranks up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SquareTransform {
    /// One of the eight symmetries of the board.
    Dihedral(Dihedral),
    /// A shift by any offset, around the edges of the board: squares that leave the board at one edge enter it at the opposite
    /// edge.
    ///
    /// Source: chessops, `shiftLeft` and similar functions, for steps of one.
    Wrap(i32, i32),
    /// A shift as in CQL 6: squares that leave the board are dropped. A full rank does not move to the side, and a full file does
    /// not move up or down ([`crate::board::shift`]).
    Shift(i8, i8),
    /// A shift as in CQL 5: squares that leave the board are dropped. Squares on the trailing edge move but also stay in place, so
    /// each smears into a row of squares.
    ///
    /// Source: CQL 5 manual, unit shifts.
    Smear(i8, i8),
}

impl SquareTransform {
    /// Returns the image of a set of squares under this transform.
    ///
    /// ```
    /// use orbit_core::board::{Bitboard, Square};
    /// use orbit_core::positions::SquareTransform;
    ///
    /// let set = Bitboard::from(Square::H4);
    /// assert_eq!(SquareTransform::Wrap(1, 0).apply(set), Square::A4.into());
    /// assert_eq!(SquareTransform::Shift(1, 0).apply(set), Bitboard::EMPTY);
    /// assert_eq!(SquareTransform::Smear(-1, 0).apply(set), Bitboard::from(Square::G4).with(Square::H4));
    /// ```
    #[must_use]
    pub fn apply(self, set: Bitboard) -> Bitboard {
        match self {
            SquareTransform::Shift(files, ranks) => shift(set, (files, ranks)),
            SquareTransform::Smear(files, ranks) => smear(set, files, ranks),
            pieces => pieces.apply_to_pieces(set),
        }
    }

    /// Returns the image of squares with pieces: each piece moves to one square or leaves the board. Unlike in
    /// [`SquareTransform::apply`], a shift moves full ranks and files like all other squares: eight pawns on a rank are pieces, not
    /// a designator for a whole rank. A smear, which would multiply pieces, moves each piece once here; [`super::Transform`]
    /// refuses it.
    #[inline]
    #[must_use]
    pub fn apply_to_pieces(self, set: Bitboard) -> Bitboard {
        match self {
            SquareTransform::Dihedral(dihedral) => dihedral.apply(set),
            SquareTransform::Wrap(files, ranks) => wrap(set, files, ranks),
            SquareTransform::Shift(files, ranks) | SquareTransform::Smear(files, ranks) => {
                translate(set, (files, ranks))
            }
        }
    }

    /// Returns whether the transform is a bijection, which sends different squares to different squares and drops none.
    pub fn is_bijection(self) -> bool {
        match self {
            SquareTransform::Dihedral(_) | SquareTransform::Wrap(..) => true,
            SquareTransform::Shift(files, ranks) | SquareTransform::Smear(files, ranks) => {
                (files, ranks) == (0, 0)
            }
        }
    }
}

/// Shifts a set of squares around the edges of the board: squares that leave it at one edge enter it at the opposite edge. A rank
/// is a byte of the word, so rotating the word moves the ranks. A file is one bit of each byte, so rotating each byte moves the
/// files.
#[inline]
fn wrap(set: Bitboard, files: i32, ranks: i32) -> Bitboard {
    let files = files.rem_euclid(8) as u32;
    let up = set.0.rotate_left(8 * ranks.rem_euclid(8) as u32);
    let stay = lowest_files(8 - files);
    Bitboard((up & stay) << files | (up & !stay) >> ((8 - files) % 8))
}

/// Applies a CQL 5 shift in single steps, first along the files, then along the ranks. The result does not depend on this order.
/// Shifts by more than eight steps have the effect of eight steps.
fn smear(set: Bitboard, files: i8, ranks: i8) -> Bitboard {
    let mut set = set.0;
    for _ in 0..files.unsigned_abs().min(8) {
        set = match files > 0 {
            true => (set & !FILE_H) << 1 | set & FILE_A,
            false => (set & !FILE_A) >> 1 | set & FILE_H,
        };
    }
    for _ in 0..ranks.unsigned_abs().min(8) {
        set = match ranks > 0 {
            true => set << 8 | set & RANK_1,
            false => set >> 8 | set & RANK_8,
        };
    }
    Bitboard(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns random sets, from sparse to dense. They are the same in every run.
    fn sets() -> impl Iterator<Item = Bitboard> {
        let mut random = fastrand::Rng::with_seed(1);
        let mut next = move || random.u64(..);
        let special = [0, u64::MAX, FILE_A, FILE_H, RANK_1, RANK_8, 1, 1 << 63, FILE_A | RANK_8];
        let random = (0..3000).map(move |k| match k % 3 {
            0 => next(),
            1 => next() & next() & next(),
            _ => next() | next(),
        });
        special.into_iter().chain(random).map(Bitboard)
    }

    #[test]
    fn wrapping_moves_each_square_modulo_eight() {
        for set in sets().take(300) {
            for files in -9..=9 {
                for ranks in -9..=9 {
                    let slow = set.into_iter().fold(0, |out, square| {
                        let x = (square.file() as i32 + files).rem_euclid(8);
                        let y = (square.rank() as i32 + ranks).rem_euclid(8);
                        out | 1u64 << (8 * y + x)
                    });
                    assert_eq!(wrap(set, files, ranks), Bitboard(slow), "{files} {ranks}");
                }
            }
        }
        assert_eq!(wrap(Bitboard(1), i32::MAX, i32::MIN), Bitboard(1 << 7));
    }

    #[test]
    fn smearing_has_the_closed_form_of_the_manual() {
        // Checks CQL 5's shift along the files: a square on the trailing edge has the images of all steps, any other square only
        // that of the last step.
        for set in sets().take(300) {
            for files in -7i8..=7 {
                let edge = Bitboard(set.0 & if files > 0 { FILE_A } else { FILE_H });
                let run = (0..files.abs()).fold(0, |out, k| out | translate(edge, (k * files.signum(), 0)).0);
                let closed = Bitboard(translate(set, (files, 0)).0 | run);
                assert_eq!(smear(set, files, 0), closed);
                // Under the reflection in a1-h8, a shift along the files becomes a shift along the ranks.
                let along_ranks = smear(Dihedral::ReflectMain.apply(set), 0, files);
                assert_eq!(Dihedral::ReflectMain.apply(along_ranks), closed);
            }
        }
    }

    #[test]
    fn a_bijection_keeps_the_number_of_squares_and_nothing_else_does() {
        let maps = [
            SquareTransform::Dihedral(Dihedral::Rotate90Ccw),
            SquareTransform::Wrap(3, -5),
            SquareTransform::Shift(0, 0),
            SquareTransform::Shift(1, 0),
            SquareTransform::Smear(0, 0),
            SquareTransform::Smear(0, -1),
        ];
        for map in maps {
            let keeps = sets().all(|set| map.apply(set).count() == set.count());
            assert_eq!(map.is_bijection(), keeps, "{map:?}");
        }
    }
}
