//! The binary format of a table of positions.
//!
//! `docs/positions.md` describes the file. Invariant: every part is covered by a CRC-32 checksum, and its content is validated even
//! if the checksum is right.

use std::path::{Path, PathBuf};

use bytemuck::{Pod, Zeroable};

use super::bits::{BitReader, BitWriter};
use super::facts::PackedFacts;
use super::key::{key_of, slot_of};
use orbit_core::game::Date;
use orbit_database::StreamError;
use orbit_reel::{Reel, ReelError};

/// The first bytes of the file.
pub(super) const MAGIC: [u8; 8] = *b"\x89POS\r\n\x1a\n";
pub(super) const VERSION: u32 = 5;
pub(super) const DIRECTORY_BYTES_MAX: u64 = 1 << 31;
/// The number of positions on a page.
pub(super) const PAGE_POSITIONS: usize = 1024;
/// The maximum number of visits (occurrences of a position in games) that are stored in the position's page itself.
pub(super) const FEW_MAX: usize = 64;
/// The number of consecutive visits in a list that form a group. The distances between the slots of a group are written with the
/// same number of bits.
const GROUP: usize = 128;

/// The reason why a table of positions cannot be written or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The table could not be written. The reel is unchanged.
    #[error(
        "{} cannot be written ({error}): make room on the disk or check the folder and its permissions; the reel can be \
         searched without it", path.display()
    )]
    Write {
        /// The table.
        path: PathBuf,
        /// The error of the system.
        #[source]
        error: std::io::Error,
    },
    /// The table cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The table.
        path: PathBuf,
        /// The error of the system.
        #[source]
        error: std::io::Error,
    },
    /// The file was truncated or altered.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The table.
        path: PathBuf,
        /// The fault.
        what: &'static str,
    },
    /// The table was made from other games than the reel contains.
    #[error("{} is not of this reel: it was made of another one, or of the reel before that was made again", path.display())]
    Foreign {
        /// The table.
        path: PathBuf,
    },
    /// The file was written by another version of the program.
    #[error("{} is of version {found} of its format, and this program reads version {VERSION}", path.display())]
    OtherVersion {
        /// The table.
        path: PathBuf,
        /// The version that the file states.
        found: u32,
    },
    /// A reel has more positions than a table can number.
    #[error("{} has more than 2^40 positions: a table of positions has no room for them", path.display())]
    TooLarge {
        /// The reel.
        path: PathBuf,
    },
    /// The run was interrupted.
    #[error("interrupted; {} was not written", path.display())]
    Interrupted {
        /// The table.
        path: PathBuf,
    },
    /// The reel cannot be read.
    #[error(transparent)]
    Reel(#[from] ReelError),
    /// The reel cannot be read to its end.
    #[error(transparent)]
    Database(#[from] StreamError),
}

impl TableError {
    /// Returns the error for a table that was made from other games than its reel contains.
    pub fn foreign(reel: &Reel) -> TableError {
        TableError::Foreign { path: table_path(reel.path()) }
    }
}

/// Returns the path of a reel's table: `all.reel.positions` for `all.reel`, in the same folder.
pub fn table_path(reel: &Path) -> PathBuf {
    let mut name = reel.file_name().unwrap_or_default().to_owned();
    name.push(".positions");
    reel.with_file_name(name)
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct TableHeader {
    pub(super) magic: [u8; 8],
    pub(super) version: u32,
    /// The checksum of the header, computed with this field set to 0.
    pub(super) crc: u32,
    pub(super) file_bytes: u64,
    /// A fingerprint of the reel's blocks (groups of whole games). It shows whether the table was made from this reel.
    pub(super) fingerprint: [u64; 2],
    /// The number of blocks whose positions are in the table: the first blocks of the reel.
    pub(super) blocks: u32,
    /// The number of bits in a key.
    pub(super) key_bits: u32,
    pub(super) positions: u64,
    pub(super) visits: u64,
    pub(super) directory_offset: u64,
    pub(super) pages: u32,
    pub(super) directory_crc: u32,
    /// The number of positions that have totals.
    pub(super) totals: u64,
}

pub(super) const HEADER_BYTES: usize = size_of::<TableHeader>();

impl TableHeader {
    pub(super) fn checksum(&self) -> u32 {
        crc32fast::hash(bytemuck::bytes_of(&TableHeader { crc: 0, ..*self }))
    }

    /// Returns the number of bits that a slot needs. A slot is the number of a position within the reel.
    pub(super) fn slot_bits(&self) -> u32 {
        u64::BITS - self.visits.leading_zeros()
    }
}

/// The directory entry of a page. A page contains positions in the order of their keys.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct PageEntry {
    pub(super) first_key: u64,
    pub(super) offset: u64,
    /// The size in bytes of the positions in the page, without the lists of visits that follow them.
    pub(super) bytes: u32,
    pub(super) positions: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct BlockEntry {
    /// The number, within the reel, of the block's first slot.
    pub(super) first_slot: u64,
    /// The offset in the file at which the entries for the block's games begin.
    pub(super) offset: u64,
    pub(super) games: u32,
    pub(super) zero: u32,
}

/// A game's first slot, its date and further facts. The slot is counted from the first slot of the block.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct GameEntry {
    pub(super) first_slot: u32,
    pub(super) date: DateOrder,
    pub(super) facts: PackedFacts,
}

/// A date as a number that orders games. Unknown months and days come after all known ones, and games without a year come after all
/// others.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Pod, Zeroable)]
pub struct DateOrder(u32);

impl DateOrder {
    /// Converts a date.
    pub fn from_date(date: Option<Date>) -> DateOrder {
        let Some(Date { year, month, day }) = date else { return DateOrder(u32::MAX) };
        let (month, day) = (month.unwrap_or(13), day.unwrap_or(32));
        DateOrder(u32::from(year) << 16 | u32::from(month) << 8 | u32::from(day))
    }

    /// Returns the date as a number. [`DateOrder::from_number`] converts it back.
    pub(super) fn number(self) -> u32 {
        self.0
    }

    pub(super) fn from_number(number: u32) -> DateOrder {
        DateOrder(number)
    }

    /// Returns the year and the month as a 24-bit number. Games without a year have the highest number.
    pub(super) fn month(self) -> u32 {
        self.0 >> 8
    }

    /// Returns the date with the year and month in `month`, a result of [`DateOrder::month`], and with an unknown day.
    pub(super) fn from_month(month: u32) -> DateOrder {
        DateOrder(if month == u32::MAX >> 8 { u32::MAX } else { month << 8 | 32 })
    }

    pub(super) fn date(self) -> Option<Date> {
        let [_, _, month, day] = self.0.to_be_bytes();
        let month = Some(month).filter(|month| *month <= 12);
        let day = Some(day).filter(|day| *day <= 31);
        self.is_known().then_some(Date { year: (self.0 >> 16) as u16, month, day })
    }

    /// Returns true if the year is known.
    pub fn is_known(self) -> bool {
        self.0 != u32::MAX
    }

    /// Returns whether a game with this date counts as played later than a game with the date `before` that comes earlier in the
    /// database. If the dates are equal, the game with this date counts as later. A game with a known year counts as later than a
    /// game without one.
    pub(super) fn is_later(self, before: DateOrder) -> bool {
        match (self.is_known(), before.is_known()) {
            (true, true) => self >= before,
            (is_known, was_known) => is_known || !was_known,
        }
    }
}

/// The visits of a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum VisitSlots {
    /// All visits, in ascending order.
    Few(Vec<u64>),
    Many(ListEntry),
}

impl VisitSlots {
    /// Returns the slot that identifies the position in the table.
    pub(super) fn name(&self) -> u64 {
        match self {
            VisitSlots::Few(slots) => slots[0],
            VisitSlots::Many(list) => list.first,
        }
    }
}

/// The location in the file of a position's totals. The position is identified by its key and by one of its slots.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct TotalsEntry {
    pub(super) key: u64,
    pub(super) slot: u64,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// A reference to a list of many visits (occurrences of a position in games), with facts that are available without reading the
/// list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ListEntry {
    pub(super) visits: u64,
    pub(super) games: u64,
    /// The first visit in the earliest game; `last` is the first visit in the latest game.
    pub(super) first: u64,
    pub(super) last: u64,
    /// The offset of the list, counted from the end of the page's positions.
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// Returns bytes, with their checksum before them.
pub(super) fn checked(bytes: &[u8]) -> Vec<u8> {
    let mut out = crc32fast::hash(bytes).to_le_bytes().to_vec();
    out.extend_from_slice(bytes);
    out
}

/// Checks the checksum at the front of `bytes` and returns the bytes after it, or `None` if the checksum is wrong.
pub(super) fn unchecked(bytes: &[u8]) -> Option<&[u8]> {
    let (crc, rest) = bytes.split_first_chunk::<4>()?;
    (crc32fast::hash(rest) == u32::from_le_bytes(*crc)).then_some(rest)
}

/// Writes the positions of a page, each given by the records of its visits. `lists` are the visit lists of positions with many
/// visits. The distances between keys are written as Golomb-Rice codes with `low` unchanged bits.
pub(super) fn encode_page(positions: &[&[u128]], lists: &[ListEntry], slot_bits: u32) -> Vec<u8> {
    let (first, last) = (key_of(positions[0][0]), key_of(positions[positions.len() - 1][0]));
    let low = (((last - first) / positions.len() as u64).max(1)).ilog2();
    let mut out = BitWriter::default();
    out.put(low.into(), 6);
    let (mut before, mut lists) = (first, lists.iter());
    for records in positions {
        let key = key_of(records[0]);
        out.put_rice(key - before, low);
        before = key;
        out.put_gamma(records.len() as u64);
        match if records.len() > FEW_MAX { lists.next() } else { None } {
            None => encode_slots(&mut out, records, slot_bits),
            Some(list) => {
                [list.games, list.offset + 1, list.bytes].iter().for_each(|&number| out.put_gamma(number));
                [list.first, list.last].iter().for_each(|&slot| out.put(slot, slot_bits));
            }
        }
    }
    checked(&out.finish())
}

/// Reads the positions of a page in order, until `visit` returns false. Returns `None` if the bytes are not valid.
pub(super) fn decode_page(
    bytes: &[u8],
    (first, positions): (u64, u32),
    slot_bits: u32,
    mut visit: impl FnMut(u64, VisitSlots) -> bool,
) -> Option<()> {
    let mut reader = BitReader::new(unchecked(bytes)?);
    let low = reader.take(6) as u32;
    let mut key = first;
    for _ in 0..positions {
        key = key.checked_add(reader.take_rice(low))?;
        let visits = reader.take_gamma();
        let slots = if visits as usize <= FEW_MAX {
            VisitSlots::Few(decode_slots(&mut reader, visits as usize, slot_bits))
        } else {
            let [games, offset, bytes] = [(); 3].map(|()| reader.take_gamma());
            let [first, last] = [(); 2].map(|()| reader.take(slot_bits));
            VisitSlots::Many(ListEntry { visits, games, first, last, offset: offset - 1, bytes })
        };
        if reader.is_past_end() {
            return None;
        }
        if !visit(key, slots) {
            break;
        }
    }
    Some(())
}

/// Writes the slots (numbers of positions in the reel) that records contain, in ascending order: the first slot, followed by the
/// distances between slots, in groups with a common bit width.
pub(super) fn encode_slots(out: &mut BitWriter, records: &[u128], slot_bits: u32) {
    out.put(slot_of(records[0]), slot_bits);
    for from in (1..records.len()).step_by(GROUP) {
        let group = &records[from - 1..records.len().min(from + GROUP)];
        let distances = group.windows(2).map(|pair| slot_of(pair[1]) - slot_of(pair[0]));
        let width = u64::BITS - distances.clone().fold(0, |all, distance| all | distance).leading_zeros();
        out.put(width.into(), 6);
        distances.for_each(|distance| out.put(distance, width));
    }
}

/// Reads the output of [`encode_slots`]: `count` slots in ascending order.
pub(super) fn decode_slots(reader: &mut BitReader, count: usize, slot_bits: u32) -> Vec<u64> {
    let mut slots = vec![reader.take(slot_bits)];
    let mut width = 0;
    for index in 1..count {
        if (index - 1) % GROUP == 0 {
            width = reader.take(6) as u32;
        }
        if reader.is_past_end() {
            break;
        }
        slots.push(slots[index - 1].saturating_add(reader.take(width)));
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::super::key::PositionKey;
    use super::*;

    #[test]
    fn dates_that_are_not_known_come_last() {
        let order = |text| DateOrder::from_date(Date::parse(text));
        let dates = [
            "2014.12.31",
            "2015.01.01",
            "2015.01.31",
            "2015.01.??",
            "2015.02.01",
            "2015.12.31",
            "2015.??.??",
            "2016.01.01",
            "????.??.??",
        ];
        assert!(dates.windows(2).all(|pair| order(pair[0]) < order(pair[1])));
        assert!(dates.iter().all(|text| order(text).date() == Date::parse(text)));
        assert_eq!(order("2015"), order("2015.??.??"));
        assert_eq!(order("????.05.01"), order("?"));
        assert!(order("2015").is_known() && !order("").is_known());
    }

    #[test]
    fn pages_come_back() {
        let list = ListEntry { visits: 65, games: 1, first: 3, last: 900, offset: 0, bytes: 77 };
        let entries = vec![
            (5, VisitSlots::Few(vec![0])),
            (5, VisitSlots::Few((0..64).map(|slot| 13 * slot).collect())),
            (900, VisitSlots::Many(list)),
            (u64::MAX, VisitSlots::Few(vec![1, 2, 1023])),
        ];
        let records = |(key, slots): &(u64, VisitSlots)| -> Vec<u128> {
            let slots = match slots {
                VisitSlots::Few(slots) => slots.clone(),
                VisitSlots::Many(list) => (0..list.visits).collect(),
            };
            slots.into_iter().map(|slot| PositionKey { key: *key, check: 3 }.record(slot)).collect()
        };
        let records: Vec<Vec<u128>> = entries.iter().map(records).collect();
        let positions: Vec<&[u128]> = records.iter().map(Vec::as_slice).collect();
        let bytes = encode_page(&positions, &[list], 10);
        let mut read = Vec::new();
        let all = decode_page(&bytes, (5, 4), 10, |key, slots| {
            read.push((key, slots));
            true
        });
        assert_eq!((all, read), (Some(()), entries));
        let mut count = 0;
        let two = decode_page(&bytes, (5, 4), 10, |_, _| {
            count += 1;
            count < 2
        });
        assert_eq!((two, count), (Some(()), 2));
        assert!(decode_page(&bytes, (5, 5000), 10, |_, _| true).is_none());
        for byte in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[byte] ^= 4;
            assert!(decode_page(&altered, (5, 4), 10, |_, _| true).is_none());
        }
        assert!(decode_page(&bytes[..bytes.len() - 1], (5, 4), 10, |_, _| true).is_none());
    }
}
