//! Evaluates all shifts of a filter together if the filter consists of designators and logic.
//!
//! A *tile* is a range of 8 by 8 shifts. One word has a bit for each shift in the tile. A tile has an *anchor*, a square (x, y);
//! the shift (dx, dy) moves it to the square (x + dx, y + dy), and the bit of the shift is the bit of that square. Take the squares
//! of a designator's pieces on the board, and move them by the step that leads from one of the designator's squares to the anchor.
//! The result contains the shifts under which one of these pieces is on the shifted square. Pieces that this step moves off the
//! board correspond to shifts outside of the tile.
//!
//! For most filters, one tile is enough, because at most eight shifts in each direction keep a square of each designator on the
//! board. If a designator has a single square, that square is the anchor. Otherwise the anchor may be outside of the board. A
//! filter whose shifts do not fit into one tile needs two or four tiles.

use orbit_transforms::AsOrbit as _;
use shakmaty::{Bitboard, Square};

use super::{
    dag::{Carried, Id, Op},
    lower::Lower,
    shifted::{Shifted, counts_dearly, few_squares, is_pointwise},
};
use orbit_core::board::full_lines;
use orbit_query::tree::{Kind, Ref, SquaresOp};
use orbit_transforms::{Expanded, FilterRef, Orbit, Placement, Squares};

/// The anchor of a tile: the square whose bit represents the zero shift. Its file and rank may lie outside of the board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Anchor {
    pub(super) x: i8,
    pub(super) y: i8,
}

impl Anchor {
    /// Returns the number of the bit for a shift. Returns `None` if the shift is outside of the tile (8 by 8 shifts).
    fn bit(self, (dx, dy): (i8, i8)) -> Option<u32> {
        let (x, y) = (self.x + dx, self.y + dy);
        ((0..8).contains(&x) && (0..8).contains(&y)).then_some((8 * y + x) as u32)
    }
}

/// The tiles (each 8 by 8 shifts) of one group of copies (transformed filters), and their words, which have a bit for each shift.
pub(super) struct Tiles {
    anchors: Vec<Anchor>,
    pub(super) words: Vec<Id>,
}

impl Tiles {
    /// Returns the location of the bit for a shift: the index of the word, and the number of the bit in that word. Returns `None`
    /// if no tile contains the shift.
    pub(super) fn place(&self, shift: (i8, i8)) -> Option<(usize, u32)> {
        self.anchors.iter().enumerate().find_map(|(word, anchor)| Some((word, anchor.bit(shift)?)))
    }

    /// Returns whether each shift is in exactly one tile.
    fn have_one_place_each(&self, shifts: &[(i8, i8)]) -> bool {
        let tiles = |&shift| self.anchors.iter().filter_map(|anchor| anchor.bit(shift)).count();
        shifts.iter().all(|shift| tiles(shift) == 1)
    }
}

/// Returns the anchors of the tiles (8 by 8 shifts each) that cover the given shifts. If `single` is present, every shift keeps
/// that square on the board, and a single tile with this anchor is enough.
fn anchors(shifts: &[(i8, i8)], single: Option<Square>) -> Vec<Anchor> {
    if let Some(square) = single {
        return vec![Anchor { x: square.file() as i8, y: square.rank() as i8 }];
    }
    let range = |of: fn(&(i8, i8)) -> i8| {
        let low = shifts.iter().map(of).min().unwrap_or(0);
        (low..=shifts.iter().map(of).max().unwrap_or(0)).step_by(8).map(|first| -first).collect::<Vec<_>>()
    };
    let (files, ranks) = (range(|shift| shift.0), range(|shift| shift.1));
    ranks.iter().flat_map(|&y| files.iter().map(move |&x| Anchor { x, y })).collect()
}

/// The anchors of four tiles (8 by 8 shifts each) that together cover all possible shifts.
const ALL_SHIFTS: [Anchor; 4] =
    [Anchor { x: 7, y: 7 }, Anchor { x: -1, y: 7 }, Anchor { x: 7, y: -1 }, Anchor { x: -1, y: -1 }];

/// Returns the shifts of the copies (transformed filters) in a group.
pub(super) fn shifts_of<F>(orbit: &Orbit<F>, group: &[usize]) -> Vec<(i8, i8)> {
    group.iter().filter_map(|&copy| orbit.copies[copy].placement.shift).collect()
}

impl Lower {
    /// Returns the tiles of one placement (one combination of rotations, reflections and colour swaps). A tile has a bit for each
    /// shift, which is set if the filter matches under this shift. Returns `None` if the filter cannot be evaluated for all shifts
    /// together.
    pub(super) fn collapse<F: Kind<Expanded, In<Expanded> = F>>(
        &mut self,
        orbit: &Orbit<F>,
        placement: Placement,
        group: &[usize],
    ) -> Option<Tiles> {
        if group.len() < 2 {
            return None;
        }
        let base = orbit.unshifted(placement)?;
        let base = base.node();
        let shifted = Shifted::new(base)?;
        if counts_dearly(base, group.len()) || !self.options.pointwise && is_pointwise(base) {
            return None;
        }
        let shifts = shifts_of(orbit, group);
        let anchors = self.tiles_for(&shifts, base)?;
        let words = anchors.iter().map(|&anchor| {
            let (word, valid) = (self.shifted_truth(&shifted, anchor), self.valid(&shifts, anchor));
            self.and(word, valid)
        });
        let words = words.collect();
        let tiles = Tiles { anchors, words };
        debug_assert!(tiles.have_one_place_each(&shifts), "{:?} {shifts:?}", tiles.anchors);
        Some(tiles)
    }

    /// Returns the union of a set over all shifts of one placement (one combination of turns, reflections and colour swaps), with
    /// one word for each tile. Returns `None` if the set cannot be computed for all shifts together.
    pub(super) fn collapse_set(
        &mut self,
        orbit: &Orbit<Squares>,
        placement: Placement,
        group: &[usize],
    ) -> Option<Vec<Id>> {
        if group.len() < 2 || !self.options.pointwise {
            return None;
        }
        let base = orbit.unshifted(placement)?;
        let (set, squares) = few_squares(&base)?;
        let shifts = shifts_of(orbit, group);
        let anchors = self.tiles_for(&shifts, base.node())?;
        let words = anchors.into_iter().map(|anchor| {
            let valid = self.valid(&shifts, anchor);
            self.shifted_set(&set, squares, valid, anchor)
        });
        Some(words.collect())
    }

    /// Returns the anchors of the tiles (8 by 8 shifts each) that a filter needs for the given shifts. Returns `None` if the
    /// options do not allow so many tiles.
    pub(super) fn tiles_for(&self, shifts: &[(i8, i8)], base: FilterRef) -> Option<Vec<Anchor>> {
        match anchors(shifts, single_square(base)) {
            one if one.len() == 1 && self.options.anchors => Some(one),
            several if several.len() > 1 && self.options.grids => Some(several),
            _ if self.options.grids => Some(ALL_SHIFTS.to_vec()),
            _ => None,
        }
    }

    /// Returns a constant word for a tile, in which the bits of the given shifts are set. A tile has one bit for each of 8 by 8
    /// shifts.
    pub(super) fn valid(&mut self, shifts: &[(i8, i8)], anchor: Anchor) -> Id {
        let bits = shifts.iter().filter_map(|&shift| anchor.bit(shift));
        let valid = bits.fold(0, |all, bit| all | 1 << bit);
        self.dag.word(valid)
    }

    /// Returns a word with a bit for each shift of a tile (8 by 8 shifts). The bit is set if the filter matches under this shift.
    pub(super) fn shifted_truth(&mut self, filter: &Shifted, anchor: Anchor) -> Id {
        match filter {
            Shifted::Still(filter) => self.truth(*filter),
            Shifted::Designator(pieces, squares) => {
                let pieces = self.dag.pieces(*pieces);
                self.shifted_hits(pieces, *squares, anchor)
            }
            Shifted::Restricted(pieces, squares, others) => {
                let (pieces, others) = (self.dag.pieces(*pieces), self.squares(others));
                let both = self.and(pieces, others);
                self.shifted_hits(both, *squares, anchor)
            }
            Shifted::Attack(attack) => self.shifted_attack(attack, anchor),
            Shifted::Comparison(comparison) => self.shifted_comparison(comparison, anchor),
            Shifted::Not(of) => {
                let word = self.shifted_truth(of, anchor);
                self.not(word)
            }
            Shifted::Found { back, of } => {
                let word = self.apart(|lower| lower.shifted_truth(of, anchor));
                self.dag.carry(Carried::Union, *back, word)
            }
            Shifted::All(all) => self.combine(all, anchor, Op::And),
            Shifted::Any(all) => self.combine(all, anchor, Op::Or),
            Shifted::If { condition, then, other } => {
                let mask = self.shifted_truth(condition, anchor);
                let a = self.shifted_truth(then, anchor);
                let b = match other {
                    Some(other) => self.shifted_truth(other, anchor),
                    None => self.dag.mask(true),
                };
                self.dag.add(Op::Select { mask, a, b })
            }
        }
    }

    fn combine(&mut self, parts: &[Shifted], anchor: Anchor, op: fn(Id, Id) -> Op) -> Id {
        let mut all = None;
        for part in parts {
            let word = self.shifted_truth(part, anchor);
            all = Some(all.map_or(word, |all| self.dag.add(op(all, word))));
        }
        // A filter without parts always matches.
        all.unwrap_or_else(|| self.dag.mask(true))
    }

    /// Returns a word with a bit for each shift of a tile (8 by 8 shifts). The bit is set if one of `pieces` is on one of the
    /// shifted `squares`.
    pub(super) fn shifted_hits(&mut self, pieces: Id, squares: Bitboard, anchor: Anchor) -> Id {
        if squares == Bitboard::FULL {
            return self.dag.add(Op::NonEmpty(pieces));
        }
        let (full_ranks, full_files) = full_lines(squares);
        let mut parts = Vec::new();
        // A full rank or file does not change if it is shifted along itself, so all bits in that direction are equal.
        for k in 0..8i8 {
            if full_ranks >> k & 1 != 0 {
                let filled = self.dag.add(Op::FillRanks(pieces));
                parts.push(self.moved(filled, 0, anchor.y - k));
            }
            if full_files >> k & 1 != 0 {
                let filled = self.dag.add(Op::FillFiles(pieces));
                parts.push(self.moved(filled, anchor.x - k, 0));
            }
        }
        // Ranks with squares on the same files are processed together: the move along the files is computed once, and then each
        // rank is moved.
        let mut rows: Vec<(u8, Vec<i8>)> = Vec::new();
        for y in (0..8i8).filter(|y| full_ranks >> y & 1 == 0) {
            let files = (squares.0 >> (8 * y)) as u8 & !full_files;
            match rows.iter_mut().find(|(known, _)| *known == files) {
                _ if files == 0 => {}
                Some((_, ranks)) => ranks.push(y),
                None => rows.push((files, vec![y])),
            }
        }
        for (files, ranks) in rows {
            let files: Vec<i8> = (0..8).filter(|x| files >> x & 1 != 0).collect();
            if files.len() * ranks.len() <= files.len() + ranks.len() {
                for &y in &ranks {
                    parts.extend(files.iter().map(|&x| self.moved(pieces, anchor.x - x, anchor.y - y)));
                }
                continue;
            }
            let along: Vec<Id> = files.iter().map(|&x| self.moved(pieces, anchor.x - x, 0)).collect();
            let along = self.dag.any_of(along);
            parts.extend(ranks.iter().map(|&y| self.moved(along, 0, anchor.y - y)));
        }
        self.dag.any_of(parts)
    }

    /// Moves the squares of a set by `dx` files and `dy` ranks. Squares that leave the board are dropped. A move by more than 7
    /// yields the empty set.
    pub(super) fn moved(&mut self, set: Id, dx: i8, dy: i8) -> Id {
        if dx.abs() > 7 || dy.abs() > 7 { self.dag.word(0) } else { self.dag.add(Op::Step(set, dx, dy)) }
    }
}

/// Finds a designator that has only one square, which is shifted, and returns this square. If a shift moves the square off the
/// board, the whole copy (the shifted filter) is dropped, so the square is on the board in every copy. Returns `None` if there is
/// no such designator.
fn single_square(filter: FilterRef) -> Option<Square> {
    let mut found = None;
    filter.walk_unshielded(&mut |filter| {
        if let (Ref::Squares(f), None) = (filter, found)
            && let SquaresOp::Designator { squares, .. } = f.op()
        {
            found = squares.single_square();
        }
    });
    found
}
