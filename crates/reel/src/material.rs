//! How many pieces there are in the positions of a few segments together: at least, and at most.
//!
//! It takes 12 bytes for 128 positions. To find it takes three to five nanoseconds a position, longer than most searches, which
//! then often need no other look at the block. So only blocks that are held in memory get it, and not for their first search.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use orbit_core::board::Code;

/// Segments that are told of together.
pub const MATERIAL_SEGMENTS: usize = 4;

/// The codes of pieces, in the order in which they are kept.
pub(super) const CODES: [u8; 12] = [1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14];

/// As many or more.
pub(super) const MANY: u8 = 15;

/// The fewest and the most pieces with each code in the positions of each [`MATERIAL_SEGMENTS`] segments of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Material {
    /// For each code a column with a byte for each group of segments.
    pub(super) columns: [Vec<Numbers>; CODES.len()],
}

/// The fewest and the most pieces of a kind in a group: four bits each, which count up to fifteen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Numbers(u8);

impl Numbers {
    pub(super) fn new(fewest: u8, most: u8) -> Numbers {
        Numbers(fewest.min(MANY) | most.min(MANY) << 4)
    }

    /// The fewest pieces, or fewer.
    #[inline]
    pub fn fewest(self) -> u64 {
        u64::from(self.0 & MANY)
    }

    /// The most pieces, or more.
    #[inline]
    pub fn most(self) -> u64 {
        let most = self.0 >> 4;
        if most < MANY { most.into() } else { 64 }
    }
}

impl Material {
    /// How many groups of segments there are.
    pub fn groups(&self) -> usize {
        self.columns[0].len()
    }

    /// The numbers of pieces with a code in each group.
    ///
    /// # Panics
    ///
    /// When it is not the code of a piece.
    pub fn numbers(&self, code: Code) -> &[Numbers] {
        let place = CODES.iter().position(|&of| of == code.0).expect("the code of a piece");
        &self.columns[place]
    }
}

/// What was found of a block since it is in memory. It is no part of the block: copies begin without it, and equal blocks may
/// differ in it.
#[derive(Debug, Default)]
pub(super) struct FoundMaterial {
    /// The number of the block since it is held; 0 before.
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

    /// The number of the block, if it is held.
    pub(super) fn number(&self) -> Option<u64> {
        Some(self.number.load(Relaxed)).filter(|&number| number != 0)
    }

    /// Whether the block is held, and this was called since.
    pub(super) fn is_searched_again(&self) -> bool {
        self.number().is_some() && self.was_searched.swap(true, Relaxed)
    }

    /// The material, which `find` gives if it is not known yet.
    pub(super) fn material(&self, find: impl FnOnce() -> Material) -> &Material {
        self.material.get_or_init(find)
    }
}

/// The memory that the material of some segments takes.
pub(super) fn memory_bytes(segments: usize) -> usize {
    segments.div_ceil(MATERIAL_SEGMENTS) * CODES.len()
}
