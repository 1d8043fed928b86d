//! Lowers an orbit to words in which each copy has a bit. An *orbit* consists of all copies (transformed patterns) of a filter. The
//! bit of a copy is set if the copy matches.
//!
//! [`super::orbits`] computes the same words, but combines them to find out if any copy matches. This module keeps the bits of the
//! copies separate. Anchors and grids (words that evaluate many shifts together) already have one bit for each copy. A table has a
//! row for each copy, and each row sets its own bit. Copies can therefore be counted without separate code for each copy.

use super::{
    dag::{Id, Op, Reduce},
    lower::Lower,
    orbits::fits_table,
};
use orbit_query::tree::Kind;
use orbit_transforms::{Expanded, Filter, Orbit};

/// The location of one copy's bit. The bit is set if the copy matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CopyBit {
    /// The index of the word among the words of the orbit.
    pub word: usize,
    /// The number of the bit in the word, 0..=63.
    pub bit: u32,
}

/// The words that have been collected so far for the copies (transformed patterns) of an orbit, and the location of each copy's bit
/// in these words.
#[derive(Default)]
struct CopyWords {
    words: Vec<Id>,
    /// The location of each copy's bit. `None` until the copy's word has been added.
    places: Vec<Option<CopyBit>>,
}

impl CopyWords {
    /// Adds a word in which copies (transformed patterns) have bits. `copies` lists these copies, as pairs (index of the copy,
    /// number of the bit).
    fn push(&mut self, word: Id, copies: impl Iterator<Item = (usize, u32)>) {
        for (copy, bit) in copies {
            self.places[copy] = Some(CopyBit { word: self.words.len(), bit });
        }
        self.words.push(word);
    }
}

impl Lower {
    /// Returns words in which each copy (transformed pattern) of an orbit has a bit, and the locations of these bits.
    pub(super) fn each_copy<F: Kind<Expanded, In<Expanded> = F>>(
        &mut self,
        orbit: &Orbit<F>,
    ) -> (Vec<Id>, Vec<CopyBit>) {
        let mut out = CopyWords { words: Vec::new(), places: vec![None; orbit.copies.len()] };
        let kept = self.cells.clone();
        let (groups, mut rest) = self.shift_groups(orbit);
        for (placement, group) in groups {
            let Some(tiles) = self.collapse(orbit, placement, &group) else {
                rest.extend(group);
                continue;
            };
            for (k, &word) in tiles.words.iter().enumerate() {
                let bits = group.iter().filter_map(|&copy| {
                    let (tile, bit) = tiles.place(orbit.copies[copy].placement.shift?)?;
                    (tile == k).then_some((copy, bit))
                });
                out.push(word, bits);
            }
        }
        let mut alone = Vec::new();
        for group in self.same_but_squares(orbit, rest) {
            if !fits_table(orbit, &group) {
                alone.extend(group);
                continue;
            }
            for rows in group.chunks(64) {
                self.cells.clone_from(&kept);
                let word = self.table_word(orbit, rows);
                out.push(word, rows.iter().copied().zip(0..));
            }
        }
        for copies in alone.chunks(64) {
            let mut bits = Vec::new();
            for (&copy, bit) in copies.iter().zip(0..) {
                self.cells.clone_from(&kept);
                let hit = self.truth(orbit.copies[copy].filter.node());
                let bit = self.dag.word(1 << bit);
                bits.push(self.dag.add(Op::And(hit, bit)));
            }
            let word = self.dag.any_of(bits);
            out.push(word, copies.iter().copied().zip(0..));
        }
        self.cells = kept;
        let places = out.places.into_iter().map(|place| place.expect("each copy is in one of the groups"));
        (out.words, places.collect())
    }

    /// Does the same as [`Lower::each_copy`] for a filter without a transform. The filter itself is the only copy.
    pub(super) fn only_copy(&mut self, filter: &Filter) -> (Vec<Id>, Vec<CopyBit>) {
        (vec![self.truth(filter.node())], vec![CopyBit { word: 0, bit: 0 }])
    }

    /// Lowers copies to a table in which row `k` sets bit `k` if its copy matches. Returns the union of the rows.
    fn table_word<F: Kind<Expanded>>(&mut self, orbit: &Orbit<F>, rows: &[usize]) -> Id {
        let bits: Vec<u64> = (0..rows.len()).map(|bit| 1 << bit).collect();
        let table = self.open_table(orbit, rows, Some(&bits));
        let bit = self.dag.last_param(table);
        let hit = self.truth(orbit.copies[rows[0]].filter.node());
        let word = self.dag.add(Op::And(hit, bit));
        self.close_table(table, Reduce::Or, word)
    }
}
