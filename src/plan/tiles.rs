//! All shifts of one filter together, for filters made of designators and logic.
//!
//! A *tile* is 8 x 8 shifts, one bit of a word for each. The bit of shift (dx, dy) is where the tile's
//! anchor stands after the shift, (x + dx, y + dy), so that the shifts under which a piece set meets
//! one square of a designator are the piece set itself, moved by the way from the square to the
//! anchor; what is moved off the board belongs to shifts outside the tile. Most filters have at most
//! eight shifts each way that leave each designator a square: one tile is enough. If a designator is
//! a single square it is the anchor, else the anchor may lie outside the board. Other filters take two
//! or four tiles.

use shakmaty::{Bitboard, Square};

use super::{
    dag::{Carried, Id, Op},
    lower::Lower,
    pointwise::{attack, collapsible_attack, collapsible_count, counts_dearly, squares_of},
};
use crate::{
    board::full_lines,
    orbit::{Filter, Orbit, Placement, Plain},
    query::{Op as Q, tree::Tally},
};

/// The anchor of a tile, before any shift: file and rank, which may lie outside the board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Anchor {
    pub(super) x: i8,
    pub(super) y: i8,
}

impl Anchor {
    /// The bit of a shift, if it belongs to the tile.
    fn bit(self, (dx, dy): (i8, i8)) -> Option<u32> {
        let (x, y) = (self.x + dx, self.y + dy);
        ((0..8).contains(&x) && (0..8).contains(&y)).then_some((8 * y + x) as u32)
    }
}

/// The tiles of one group of copies, with the words that hold their answers.
pub(super) struct Tiles {
    anchors: Vec<Anchor>,
    pub(super) words: Vec<Id>,
}

impl Tiles {
    /// The word and the bit of a shift.
    pub(super) fn place(&self, shift: (i8, i8)) -> Option<(usize, u32)> {
        self.anchors.iter().enumerate().find_map(|(word, anchor)| Some((word, anchor.bit(shift)?)))
    }
}

/// The anchors of as many tiles as some shifts need. `single` is an anchor to which any of the shifts
/// may move a square of the board.
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

/// Tiles for all shifts that there are.
const ALL_SHIFTS: [Anchor; 4] =
    [Anchor { x: 7, y: 7 }, Anchor { x: -1, y: 7 }, Anchor { x: 7, y: -1 }, Anchor { x: -1, y: -1 }];

impl Lower {
    /// The answers of all shifts of one placement, as bits.
    pub(super) fn collapse(&mut self, orbit: &Orbit, placement: Placement, group: &[usize]) -> Option<Tiles> {
        if group.len() < 2 {
            return None;
        }
        let base = orbit.unshifted(placement);
        if !collapsible(&base)
            || counts_dearly(&base, group.len())
            || !self.options.pointwise && is_pointwise(&base)
        {
            return None;
        }
        let shifts: Vec<(i8, i8)> =
            group.iter().filter_map(|&copy| orbit.copies[copy].placement.shift).collect();
        let anchors = self.tiles_for(&shifts, &base)?;
        let words = anchors.iter().map(|&anchor| {
            let (word, valid) = (self.shifted_truth(&base, anchor), self.valid(&shifts, anchor));
            self.and(word, valid)
        });
        let words = words.collect();
        Some(Tiles { anchors, words })
    }

    /// The union of a set under all shifts of one placement, in one word for each tile.
    pub(super) fn collapse_set(
        &mut self,
        orbit: &Orbit,
        placement: Placement,
        group: &[usize],
    ) -> Option<Vec<Id>> {
        let base = orbit.unshifted(placement);
        if group.len() < 2 || !self.options.pointwise || squares_of(&base).is_none() {
            return None;
        }
        let shifts: Vec<(i8, i8)> =
            group.iter().filter_map(|&copy| orbit.copies[copy].placement.shift).collect();
        let anchors = self.tiles_for(&shifts, &base)?;
        let words = anchors.into_iter().map(|anchor| {
            let valid = self.valid(&shifts, anchor);
            self.shifted_set(&base, valid, anchor)
        });
        Some(words.collect())
    }

    /// The tiles that some shifts of a filter take, if the options allow as many.
    fn tiles_for(&self, shifts: &[(i8, i8)], base: &Filter) -> Option<Vec<Anchor>> {
        match anchors(shifts, single_square(base)) {
            one if one.len() == 1 && self.options.anchors => Some(one),
            several if several.len() > 1 && self.options.grids => Some(several),
            _ if self.options.grids => Some(ALL_SHIFTS.to_vec()),
            _ => None,
        }
    }

    /// The bits of a tile that belong to one of some shifts.
    fn valid(&mut self, shifts: &[(i8, i8)], anchor: Anchor) -> Id {
        let bits = shifts.iter().filter_map(|&shift| anchor.bit(shift));
        let valid = bits.fold(0, |all, bit| all | 1 << bit);
        self.dag.word(valid)
    }

    /// The truth of a filter under every shift of a tile.
    pub(super) fn shifted_truth(&mut self, filter: &Filter, anchor: Anchor) -> Id {
        if ignores_shifts(filter) {
            return self.truth(filter);
        }
        let Filter::Plain(f) = filter else { panic!("a nested orbit is not collapsible") };
        match &f.op {
            Q::Designator { pieces, squares } => {
                let pieces = self.dag.pieces(pieces.accepts());
                self.shifted_hits(pieces, *squares, anchor)
            }
            Q::Intersect => {
                let (pieces, squares) = restricted_designator(f).expect("collapsible saw one");
                let Q::Designator { pieces: named, squares: on } = &pieces.op else {
                    unreachable!("it is a designator")
                };
                let (pieces, others) = (self.dag.pieces(named.accepts()), self.set(squares));
                let both = self.and(pieces, others);
                self.shifted_hits(both, *on, anchor)
            }
            Q::Attacks | Q::AttackedBy => self.shifted_attack(attack(f).expect("it is an attack"), anchor),
            Q::Compare(_) => self.shifted_count(f, anchor),
            Q::Not => {
                let word = self.shifted_truth(&f.args[0], anchor);
                self.not(word)
            }
            Q::Find { back, .. } => {
                let word = self.apart(|lower| lower.shifted_truth(&f.args[0], anchor));
                self.dag.carry(Carried::Union, *back, word)
            }
            Q::And | Q::Compound => self.combine(&f.args, anchor, Op::And),
            Q::Or | Q::Union => self.combine(&f.args, anchor, Op::Or),
            Q::If => {
                let mask = self.shifted_truth(&f.args[0], anchor);
                let a = self.shifted_truth(&f.args[1], anchor);
                let b = match f.args.get(2) {
                    Some(arg) => self.shifted_truth(arg, anchor),
                    None => self.dag.mask(true),
                };
                self.dag.add(Op::Select { mask, a, b })
            }
            other => panic!("{other:?} is not collapsible"),
        }
    }

    fn combine(&mut self, args: &[Filter], anchor: Anchor, op: fn(Id, Id) -> Op) -> Id {
        let first = self.shifted_truth(&args[0], anchor);
        args[1..].iter().fold(first, |all, arg| {
            let word = self.shifted_truth(arg, anchor);
            self.dag.add(op(all, word))
        })
    }

    /// For every shift of a tile, whether one of `pieces` stands on the shifted `squares`.
    pub(super) fn shifted_hits(&mut self, pieces: Id, squares: Bitboard, anchor: Anchor) -> Id {
        if squares == Bitboard::FULL {
            return self.dag.add(Op::NonEmpty(pieces));
        }
        let (full_ranks, full_files) = full_lines(squares);
        let mut parts = Vec::new();
        // A full line ignores one axis: all places along it.
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
        // Ranks that have the same files are moved along the files together, and then each to its place.
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

    /// A set moved by (files, ranks), however far.
    pub(super) fn moved(&mut self, set: Id, dx: i8, dy: i8) -> Id {
        if dx.abs() > 7 || dy.abs() > 7 { self.dag.word(0) } else { self.dag.add(Op::Step(set, dx, dy)) }
    }
}

/// Whether more than designators and logic have to be moved.
pub(super) fn is_pointwise(filter: &Filter) -> bool {
    let mut found = false;
    filter.walk_unshielded(&mut |plain| {
        found |= matches!(plain.op, Q::Attacks | Q::AttackedBy | Q::Compare(_) | Q::Find { .. });
    });
    found
}

/// A designator of one square that shifts move: whatever shift keeps the copy alive keeps it on the
/// board.
fn single_square(filter: &Filter) -> Option<Square> {
    let mut found = None;
    filter.walk_unshielded(&mut |plain| {
        if let (Q::Designator { squares, .. }, None) = (&plain.op, found) {
            found = squares.single_square();
        }
    });
    found
}

/// Whether a shift changes nothing in a filter.
pub(super) fn ignores_shifts(filter: &Filter) -> bool {
    let mut moves = false;
    filter.walk_unshielded(&mut |plain| {
        moves |= match &plain.op {
            Q::Designator { squares, .. } => *squares != Bitboard::FULL,
            Q::Shade { .. } => true,
            _ => false,
        }
    });
    !moves
}

/// Whether the truth of a filter under all shifts can be had from bits of designators.
pub(super) fn collapsible(filter: &Filter) -> bool {
    if ignores_shifts(filter) {
        return true;
    }
    let Filter::Plain(f) = filter else { return false };
    match &f.op {
        Q::Designator { .. } => true,
        Q::Intersect => restricted_designator(f).is_some(),
        Q::Attacks | Q::AttackedBy => attack(f).is_some_and(collapsible_attack),
        Q::Compare(_) => collapsible_count(f),
        Q::Not | Q::And | Q::Compound | Q::Or | Q::Union | Q::If | Q::Find { tally: Tally::Any, .. } => {
            f.args.iter().all(collapsible)
        }
        _ => false,
    }
}

/// `D & S` or `S & D`: a designator and a set that shifts leave alone.
fn restricted_designator(f: &Plain) -> Option<(&Plain, &Filter)> {
    let [a, b] = &f.args[..] else { return None };
    for (designator, set) in [(a, b), (b, a)] {
        if let Filter::Plain(plain) = designator
            && matches!(plain.op, Q::Designator { .. })
            && !plain.fixed
            && ignores_shifts(set)
        {
            return Some((plain, set));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shift_has_one_place() {
        let all = || (-7..8).flat_map(|dx| (-7..8).map(move |dy| (dx, dy)));
        for (low, high, tiles) in
            [((-3, -7), (4, 0), 1), ((-3, -7), (5, 0), 2), ((-2, -2), (7, 7), 4), ((-7, -7), (7, 7), 4)]
        {
            let inside = |&(dx, dy): &(i8, i8)| low.0 <= dx && dx <= high.0 && low.1 <= dy && dy <= high.1;
            let shifts: Vec<(i8, i8)> = all().filter(inside).collect();
            let found = Tiles { anchors: anchors(&shifts, None), words: Vec::new() };
            assert_eq!(found.anchors.len(), tiles, "{low:?} {high:?}");
            let mut places: Vec<_> =
                shifts.iter().map(|&shift| found.place(shift).expect("it has one")).collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), shifts.len());
        }
        let found = Tiles { anchors: ALL_SHIFTS.to_vec(), words: Vec::new() };
        assert!(all().all(|shift| found.place(shift).is_some()));
    }
}
