//! Keys of positions: equal for equal positions, and almost always different for different positions.

use twox_hash::XxHash3_128;

use orbit_core::board::{Position, legal};

/// The number of bits for the slot (the number of the position in the reel) in a record. The bits of the check (further bits of the
/// position's hash) are above them.
pub(super) const SLOT_BITS: u32 = 40;

/// The number of bytes that are hashed for a position.
pub(super) const KEYED_BYTES: usize = 36;

/// The key of a position, and 24 further hash bits as a check, which distinguishes most positions with equal keys.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct PositionKey {
    pub(super) key: u64,
    pub(super) check: u32,
}

impl PositionKey {
    /// Returns the key of a position that [`legal::as_counted`] has returned. Only the highest `bits` bits are kept.
    pub(super) fn new(counted: &Position, bits: u32) -> PositionKey {
        let mut bytes = [0; KEYED_BYTES];
        put_keyed(counted, &mut bytes);
        PositionKey::from_bytes(&bytes, bits)
    }

    /// Returns the key of a position from the bytes that [`put_keyed`] writes.
    pub(super) fn from_bytes(bytes: &[u8; KEYED_BYTES], bits: u32) -> PositionKey {
        let hash = XxHash3_128::oneshot(bytes);
        let key = (hash >> 64) as u64 & u64::MAX << (64 - bits);
        PositionKey { key, check: hash as u32 >> 8 }
    }

    /// Packs the key, the check and a slot into one number. Sorting the records groups them by position, with the slots of each
    /// position in ascending order.
    pub(super) fn record(self, slot: u64) -> u128 {
        u128::from(self.key) << 64 | u128::from(self.check) << SLOT_BITS | u128::from(slot)
    }
}

/// Writes the bytes that are hashed for a position: its board and its state.
pub(super) fn put_keyed(counted: &Position, out: &mut [u8; KEYED_BYTES]) {
    for (out, plane) in out.chunks_exact_mut(8).zip(counted.board.planes) {
        out.copy_from_slice(&plane.to_le_bytes());
    }
    out[32..].copy_from_slice(&counted.state.0.to_le_bytes());
}

pub(super) fn key_of(record: u128) -> u64 {
    (record >> 64) as u64
}

pub(super) fn slot_of(record: u128) -> u64 {
    record as u64 & ((1 << SLOT_BITS) - 1)
}

/// Returns the form in which positions are compared: see [`legal::as_counted`].
pub(super) fn counted(position: &Position) -> Position {
    legal::as_counted(position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_sorted_by_key_then_check_then_slot() {
        let key = PositionKey { key: 7, check: 9 };
        assert!(key.record(3) < key.record(4));
        assert!(key.record((1 << SLOT_BITS) - 1) < PositionKey { check: 10, ..key }.record(0));
        assert!(
            PositionKey { check: u32::MAX >> 8, ..key }.record(9)
                < PositionKey { key: 8, check: 0 }.record(0)
        );
        let weak = PositionKey::new(&Position::STANDARD, 3);
        assert_eq!(weak.key << 3, 0);
        assert_eq!(weak.check, PositionKey::new(&Position::STANDARD, 64).check);
    }
}
