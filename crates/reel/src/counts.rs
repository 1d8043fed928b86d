//! Counts the pieces in all positions of a block.

use super::lanes::{LANES, LaneColumn, LaneMoves};
use super::material::{CODES, MATERIAL_SEGMENTS, Material, Numbers};
use super::{Block, SEGMENT_SLOTS};

impl Material {
    /// Computes the bounds on the piece counts in a block by replaying it. Functions called in loops are inlined, so a caller
    /// compiled for wider vectors gets its own version.
    #[inline(always)]
    pub fn from_block(block: &Block) -> Material {
        let segments: Vec<u32> = (0..block.segments() as u32).collect();
        let mut moves = LaneMoves::new_boxed();
        let mut planes: [Box<LaneColumn>; 4] = std::array::from_fn(|_| Box::new([[0; LANES]; SEGMENT_SLOTS]));
        let groups = segments.len().div_ceil(MATERIAL_SEGMENTS);
        let mut columns = std::array::from_fn(|_| Vec::with_capacity(groups));
        for segments in segments.chunks(LANES) {
            let [p0, p1, p2, p3] = &mut planes;
            let masks = moves.replay(block, segments, [p0, p1, p2, p3], None);
            let mut valid = [[0u64; LANES]; SEGMENT_SLOTS];
            for (i, row) in valid.iter_mut().enumerate() {
                for n in 0..LANES {
                    row[n] = u64::from(masks[n].valid >> i & 1);
                }
            }
            for (column, code) in columns.iter_mut().zip(CODES) {
                let numbers = numbers(&planes, &valid, code);
                for group in numbers[..segments.len()].chunks(MATERIAL_SEGMENTS) {
                    let (fewest, most) =
                        group.iter().fold((u8::MAX, 0), |(fewest, most), &(least, greatest)| {
                            (fewest.min(least), most.max(greatest))
                        });
                    column.push(Numbers::new(fewest, most));
                }
            }
        }
        Material { columns }
    }
}

/// Returns the minimum and the maximum number of pieces with the code `code` in each of eight segments (32 positions each).
#[inline(always)]
fn numbers(planes: &[Box<LaneColumn>; 4], valid: &LaneColumn, code: u8) -> [(u8, u8); LANES] {
    let differ: [u64; 4] = std::array::from_fn(|k| u64::from(code >> k & 1).wrapping_sub(1));
    let (mut fewest, mut most) = ([64u64; LANES], [0u64; LANES]);
    for i in 0..SEGMENT_SLOTS {
        for n in 0..LANES {
            let bits = |k: usize| planes[k][i][n] ^ differ[k];
            let number = u64::from((bits(0) & bits(1) & bits(2) & bits(3)).count_ones());
            // Slots after the end of the block have no positions.
            let [low, high] = if valid[i][n] != 0 { [number, number] } else { [64, 0] };
            fewest[n] = if low < fewest[n] { low } else { fewest[n] };
            most[n] = if high > most[n] { high } else { most[n] };
        }
    }
    std::array::from_fn(|n| (fewest[n] as u8, most[n] as u8))
}
