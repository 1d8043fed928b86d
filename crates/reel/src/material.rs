//! Bounds on the piece counts in the positions of a few consecutive segments.
//!
//! A segment consists of 32 consecutive positions. The bounds take 12 bytes for 128 positions, and often let a search skip a block.
//! But computing them takes three to five nanoseconds per position, longer than most searches. So they are computed only for blocks
//! that stay in memory, when a block is searched for the second time.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use orbit_core::board::Code;

/// The number of segments that share bounds.
pub const MATERIAL_SEGMENTS: usize = 4;

/// The codes of pieces, in the order of [`Material::columns`].
pub(super) const CODES: [u8; 12] = [1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14];

/// The highest number of pieces that [`Numbers`] can store. It stands for 15 or more.
pub(super) const MANY: u8 = 15;

/// For each piece code and each group of [`MATERIAL_SEGMENTS`] consecutive segments of a block, the minimum and the maximum number
/// of pieces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Material {
    /// For each piece code of [`CODES`], a column with one byte for each group of segments.
    pub(super) columns: [Vec<Numbers>; CODES.len()],
}

/// The minimum and the maximum number of pieces of a kind in a group of segments (32 positions each). Each takes four bits, so it
/// is at most 15.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Numbers(u8);

impl Numbers {
    pub(super) fn new(fewest: u8, most: u8) -> Numbers {
        Numbers(fewest.min(MANY) | most.min(MANY) << 4)
    }

    /// Returns a lower bound on the number of pieces.
    #[inline]
    pub fn fewest(self) -> u64 {
        u64::from(self.0 & MANY)
    }

    /// Returns an upper bound on the number of pieces.
    #[inline]
    pub fn most(self) -> u64 {
        let most = self.0 >> 4;
        if most < MANY { most.into() } else { 64 }
    }
}

impl Material {
    /// Returns the number of groups of segments.
    pub fn groups(&self) -> usize {
        self.columns[0].len()
    }

    /// Returns the bounds on the number of pieces with the code `code`, one entry for each group of segments.
    ///
    /// # Panics
    ///
    /// Panics if the code is not that of a piece.
    pub fn numbers(&self, code: Code) -> &[Numbers] {
        let place = CODES.iter().position(|&of| of == code.0).expect("the code of a piece");
        &self.columns[place]
    }
}

/// Data computed about a block after it was loaded into memory. It is not part of the block: copies of the block do not have it,
/// and comparisons of blocks ignore it.
#[derive(Debug, Default)]
pub(super) struct FoundMaterial {
    /// The number of the block if it is marked as held in memory, otherwise 0.
    number: AtomicU64,
    was_searched: AtomicBool,
    material: OnceLock<Material>,
}

impl Clone for FoundMaterial {
    fn clone(&self) -> FoundMaterial {
        FoundMaterial::default()
    }
}

impl PartialEq for FoundMaterial {
    fn eq(&self, _: &FoundMaterial) -> bool {
        true
    }
}

impl FoundMaterial {
    pub(super) fn hold(&self, number: u64) {
        self.number.store(number, Relaxed);
    }

    /// Returns the number of the block if it is marked as held in memory.
    pub(super) fn number(&self) -> Option<u64> {
        Some(self.number.load(Relaxed)).filter(|&number| number != 0)
    }

    /// Returns true from the second call on, but only for a block that is marked as held in memory.
    pub(super) fn is_searched_again(&self) -> bool {
        self.number().is_some() && self.was_searched.swap(true, Relaxed)
    }

    /// Returns the bounds on the piece counts. The first call computes them with `find`.
    pub(super) fn material(&self, find: impl FnOnce() -> Material) -> &Material {
        self.material.get_or_init(find)
    }
}

pub(super) fn memory_bytes(segments: usize) -> usize {
    segments.div_ceil(MATERIAL_SEGMENTS) * CODES.len()
}
