//! Writes a table of positions. The positions of all blocks are sorted by their keys, in memory or with a temporary file.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::Zeroable as _;

use super::bits::BitWriter;
use super::facts::{PackedFacts, TabledFacts};
use super::format::{
    DateOrder, FEW_MAX, GameEntry, HEADER_BYTES, ListEntry, MAGIC, PAGE_POSITIONS, PageEntry, TableError,
    TableHeader, TotalsEntry, VERSION, checked, encode_page, encode_slots, table_path,
};
use super::games::{SeenIn, VisitedGames};
use super::key::{KEYED_BYTES, PositionKey, SLOT_BITS, counted, key_of, put_keyed, slot_of};
use super::read::PositionTable;
use orbit_core::board::Position;
use orbit_core::files::{Temporary, Unfinished};
use orbit_database::{BlockStream, StreamOptions};
use orbit_reel::replay::SegmentColumns;
use orbit_reel::{Block, Reel, SEGMENT_SLOTS};

/// The approximate number of positions in a bucket. A bucket of this size can be sorted within the processor cache.
const BUCKET_POSITIONS: u64 = 1 << 16;
const BUCKETS_MAX: u64 = 1 << 12;
const RECORD_BYTES: usize = size_of::<u128>();
/// The approximate number of records in a group of a bucket. Insertion sort is fast for so few records.
const GROUP_RECORDS: usize = 8;
/// The maximum size of a bucket whose records are grouped by further key bits before sorting. A larger bucket consists mostly of
/// visits of one position, which are already in order.
const GROUPED_MAX: usize = 4 * BUCKET_POSITIONS as usize;

/// Options for writing a table of positions. The defaults suit most uses.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TableOptions {
    /// The number of threads.
    pub threads: usize,
    /// The memory in bytes for the positions to be sorted. Positions beyond it are kept in a temporary file next to the table,
    /// which takes 16 bytes for each.
    pub memory_bytes: u64,
    /// The minimum number of visits (occurrences) for a position to get totals.
    pub totals_from: u64,
    /// The number of bits in a key. Only tests use fewer than 64, to give different positions the same key.
    pub key_bits: u32,
    /// A flag that stops the writing when it becomes true.
    pub interrupt: Arc<AtomicBool>,
    /// Collects the temporary files, for removal if the process is interrupted.
    pub unfinished: Unfinished,
}

impl Default for TableOptions {
    fn default() -> TableOptions {
        TableOptions {
            threads: 1,
            memory_bytes: 256 << 20,
            totals_from: 1 << 16,
            key_bits: 64,
            interrupt: Arc::default(),
            unfinished: Unfinished::default(),
        }
    }
}

/// The size of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TableSize {
    /// The number of distinct positions.
    pub positions: u64,
    /// The number of positions in main lines. Repeated positions are counted each time.
    pub visits: u64,
    /// The size of the file in bytes.
    pub bytes: u64,
}

/// Writes the table of a reel to the reel's folder. An existing table is replaced.
///
/// # Errors
///
/// Returns any [`TableError`] about writing. In that case an existing table is kept.
pub fn write_table(reel_path: &Path, options: &TableOptions) -> Result<TableSize, TableError> {
    let path = table_path(reel_path);
    let reel = Reel::open(reel_path)?;
    let again = Reel::open(reel_path)?;
    if again.header_crc() != reel.header_crc() {
        return Err(TableError::foreign(&reel));
    }
    let is_interrupted = || options.interrupt.load(Ordering::Relaxed);
    let failure = |error| TableError::Write { path: path.clone(), error };
    let slots = reel.totals().positions - reel.totals().side_positions;
    if slots >> SLOT_BITS != 0 {
        return Err(TableError::TooLarge { path: reel_path.to_owned() });
    }
    let (temporary, file) = Temporary::create(path.clone()).map_err(|(_, error)| failure(error))?;
    options.unfinished.add(temporary.path());
    let mut header = TableHeader::zeroed();
    let fingerprint = reel.fingerprint(reel.blocks())?;
    header.magic = MAGIC;
    header.version = VERSION;
    header.fingerprint = [fingerprint as u64, (fingerprint >> 64) as u64];
    header.blocks = reel.blocks() as u32;
    header.key_bits = options.key_bits;
    header.visits = slots;
    let mut out = TableOut { file: BufWriter::with_capacity(1 << 18, file), offset: 0 };
    out.put(&[0; HEADER_BYTES]).map_err(failure)?;
    let mut buckets = Buckets::new(slots, options);
    let mut games = VisitedGames::default();
    let mut fault = Ok(());
    let reading = StreamOptions { interrupt: Arc::clone(&options.interrupt), ..StreamOptions::default() };
    let database = BlockStream::from_reel(reel, reading);
    let (shift, bits) = (buckets.shift, options.key_bits);
    let summary = database.for_each_block(
        options.threads,
        |block| (grouped_records(block, shift, bits), games_of(block)),
        |_, ((records, ends), block_games)| {
            let added = buckets.add(&records, &ends, games.slots(), &path, options);
            fault = added.and_then(|()| {
                let bytes = games.add(records.len() as u64, &block_games, out.offset);
                out.put(&bytes)
            });
            if fault.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        },
    )?;
    fault.map_err(failure)?;
    if !summary.finished || is_interrupted() {
        return Err(TableError::Interrupted { path });
    }
    let mut pages: Vec<PageEntry> = Vec::new();
    let mut frequent = Vec::new();
    let slot_bits = header.slot_bits();
    for numbers in rounds(buckets.len(), options.threads.max(1)) {
        if is_interrupted() {
            return Err(TableError::Interrupted { path });
        }
        let taken: io::Result<Vec<_>> = numbers.map(|number| buckets.take(number)).collect();
        let encode = |records: Vec<u128>| {
            encode(&sorted_bucket(records, shift), &games, slot_bits, options.totals_from)
        };
        let encoded: Vec<Vec<EncodedPage>> = match taken.map_err(failure)? {
            one if one.len() == 1 => one.into_iter().map(encode).collect(),
            several => std::thread::scope(|scope| {
                let threads: Vec<_> =
                    several.into_iter().map(|records| scope.spawn(|| encode(records))).collect();
                let joined = threads.into_iter().map(|thread| thread.join());
                joined.map(|pages| pages.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
            }),
        };
        for page in encoded.into_iter().flatten() {
            header.positions += u64::from(page.entry.positions);
            frequent.extend(page.frequent);
            pages.push(PageEntry { offset: out.offset, ..page.entry });
            out.put(&page.bytes).map_err(failure)?;
        }
    }
    header.directory_offset = out.offset;
    // The handle is cloned because the lock prevents all other handles from reading the file on Windows.
    let file = out.file.flush().and_then(|()| out.file.get_ref().try_clone()).map_err(failure)?;
    let unfinished = (path.clone(), file);
    let table = PositionTable::unfinished(unfinished, header, pages, games.blocks()).map_err(failure)?;
    for entry in &mut frequent {
        if is_interrupted() {
            return Err(TableError::Interrupted { path });
        }
        let bytes = table.totals_of_slot(&again, entry.slot)?;
        (entry.offset, entry.bytes) = (out.offset, bytes.len() as u64);
        // The table reads through a clone of the file handle, and both share one file offset. So the offset may have changed.
        out.file.seek(SeekFrom::Start(out.offset)).and_then(|_| out.put(&bytes)).map_err(failure)?;
    }
    let pages = table.into_pages();
    let mut directory = bytemuck::cast_slice::<_, u8>(&pages).to_vec();
    directory.extend_from_slice(bytemuck::cast_slice(games.blocks()));
    directory.extend_from_slice(bytemuck::cast_slice(&frequent));
    header.totals = frequent.len() as u64;
    header.pages = pages.len() as u32;
    header.directory_offset = out.offset;
    header.directory_crc = crc32fast::hash(&directory);
    out.put(&directory).map_err(failure)?;
    header.file_bytes = out.offset;
    header.crc = header.checksum();
    out.finish(&header)
        .and_then(|file| {
            // The file stays locked until it has its final name.
            let replaced = temporary.replace();
            drop(file);
            replaced
        })
        .map_err(failure)?;
    Ok(TableSize { positions: header.positions, visits: header.visits, bytes: header.file_bytes })
}

/// Returns ranges of buckets. The buckets of a range are sorted at the same time, one by each thread.
fn rounds(buckets: usize, threads: usize) -> impl Iterator<Item = Range<usize>> {
    (0..buckets).step_by(threads).map(move |first| first..(first + threads).min(buckets))
}

/// The file of the table that is being written, and the number of bytes written so far.
struct TableOut {
    file: BufWriter<File>,
    offset: u64,
}

impl TableOut {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.offset += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    /// Writes the header last, and then waits until the file is on disk.
    fn finish(self, header: &TableHeader) -> io::Result<File> {
        let mut file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(bytemuck::bytes_of(header))?;
        file.sync_all()?;
        Ok(file)
    }
}

/// Returns the records (keys and slots of the positions) of a block, grouped by bucket, and the end of each bucket. Slots are
/// counted from the first slot of the block.
fn grouped_records(block: &Block, shift: u32, bits: u32) -> (Vec<u128>, Vec<u32>) {
    let mut all = Vec::with_capacity(block.slots());
    let (mut columns, mut keyed) = (SegmentColumns::new(), [[0; KEYED_BYTES]; SEGMENT_SLOTS]);
    for segment in 0..block.segments() {
        columns.replay(block, segment);
        // All positions are written before the first is hashed, since hashing bytes that were just written would stall.
        let keyed = &mut keyed[..columns.masks.valid.count_ones() as usize];
        for (i, bytes) in keyed.iter_mut().enumerate() {
            put_keyed(&counted(&columns.position(i)), bytes);
        }
        for bytes in keyed {
            all.push(PositionKey::from_bytes(bytes, bits).record(all.len() as u64));
        }
    }
    grouped(&all, 1 << (64 - shift), |record| key_of(record).checked_shr(shift).unwrap_or(0) as usize)
}

/// Sorts a bucket's records (keys and slots of positions), whose keys differ only in their lowest `shift` bits.
fn sorted_bucket(mut records: Vec<u128>, shift: u32) -> Vec<u128> {
    if !(GROUP_RECORDS..=GROUPED_MAX).contains(&records.len()) {
        records.sort_unstable();
        return records;
    }
    // Key bits are random, so all groups have about the same size.
    let bits = (records.len() / GROUP_RECORDS).ilog2();
    let group_of = |record| (key_of(record) << (64 - shift)).checked_shr(64 - bits).unwrap_or(0) as usize;
    let (mut sorted, ends) = grouped(&records, 1 << bits, group_of);
    let mut rest = sorted.as_mut_slice();
    let mut begin = 0;
    for end in ends {
        let (group, behind) = rest.split_at_mut((end - begin) as usize);
        group.sort_unstable();
        (rest, begin) = (behind, end);
    }
    sorted
}

/// Returns the records in group order, and the end of each group. Records of a group keep their order.
fn grouped(records: &[u128], groups: usize, group_of: impl Fn(u128) -> usize) -> (Vec<u128>, Vec<u32>) {
    let mut ends = vec![0u32; groups];
    records.iter().for_each(|&record| ends[group_of(record)] += 1);
    let mut sum = 0;
    for end in &mut ends {
        sum += *end;
        *end = sum - *end;
    }
    let mut sorted = vec![0; records.len()];
    for &record in records {
        let place = &mut ends[group_of(record)];
        sorted[*place as usize] = record;
        *place += 1;
    }
    (sorted, ends)
}

fn games_of(block: &Block) -> Vec<GameEntry> {
    let game = |game: orbit_reel::GameRow<'_>| {
        let facts = TabledFacts::from_game(&game);
        let date = DateOrder::from_date(facts.date);
        let usual_start = u8::from(game.start() == Position::STANDARD);
        let facts = PackedFacts { usual_start, ..PackedFacts::new(&facts) };
        GameEntry { first_slot: game.first_slot() as u32, date, facts }
    };
    block.games().map(game).collect()
}

/// The records (keys and slots) of all positions, divided into buckets by the first bits of their keys.
struct Buckets {
    held: Vec<Vec<u128>>,
    /// The number of bits by which a key is shifted right to get its bucket number.
    shift: u32,
    bytes: u64,
    spilt: Option<Spilt>,
}

/// A temporary file of records, with the location of each bucket's records.
struct Spilt {
    file: File,
    offset: u64,
    runs: Vec<Vec<(u64, usize)>>,
    /// A guard that removes the temporary file when it is dropped.
    _temporary: Temporary,
}

impl Buckets {
    fn new(slots: u64, options: &TableOptions) -> Buckets {
        let buckets = (slots / BUCKET_POSITIONS).next_power_of_two().clamp(1, BUCKETS_MAX);
        // A key must have at least as many bits as the number of its bucket.
        let bits = buckets.ilog2().min(options.key_bits);
        // Capacity is reserved, since a growing list can take twice the memory of its records. The extra eighth is for buckets with
        // frequent positions, which become larger.
        let each = slots.min(options.memory_bytes / RECORD_BYTES as u64) as usize >> bits;
        let held = (0..1 << bits).map(|_| Vec::with_capacity(each + each / 8)).collect();
        Buckets { held, shift: 64 - bits, bytes: 0, spilt: None }
    }

    fn len(&self) -> usize {
        self.held.len()
    }

    /// Adds the records (keys and slots of positions) of a block to their buckets. `first` is the number of the block's first slot
    /// in the reel.
    fn add(
        &mut self,
        records: &[u128],
        ends: &[u32],
        first: u64,
        table: &Path,
        options: &TableOptions,
    ) -> io::Result<()> {
        let mut begin = 0;
        for (held, &end) in self.held.iter_mut().zip(ends) {
            held.extend(records[begin..end as usize].iter().map(|record| record + u128::from(first)));
            begin = end as usize;
        }
        self.bytes += size_of_val(records) as u64;
        if self.bytes < options.memory_bytes {
            return Ok(());
        }
        self.bytes = 0;
        if self.spilt.is_none() {
            // The table and this file exist at the same time, so their names must differ.
            let mut name = table.file_name().unwrap_or_default().to_owned();
            name.push(".sort");
            let (temporary, file) =
                Temporary::create(table.with_file_name(name)).map_err(|(_, error)| error)?;
            options.unfinished.add(temporary.path());
            let runs = vec![Vec::new(); self.held.len()];
            self.spilt = Some(Spilt { file, offset: 0, runs, _temporary: temporary });
        }
        self.spilt.iter_mut().try_for_each(|spilt| spilt.put(&mut self.held))
    }

    /// Returns all records of a bucket.
    fn take(&mut self, number: usize) -> io::Result<Vec<u128>> {
        let mut records = std::mem::take(&mut self.held[number]);
        if let Some(spilt) = &mut self.spilt {
            for &(offset, count) in &spilt.runs[number] {
                let before = records.len();
                records.resize(before + count, 0);
                spilt.file.seek(SeekFrom::Start(offset))?;
                spilt.file.read_exact(bytemuck::cast_slice_mut(&mut records[before..]))?;
            }
        }
        Ok(records)
    }
}

impl Spilt {
    fn put(&mut self, held: &mut [Vec<u128>]) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 18, &self.file);
        for (records, runs) in held.iter_mut().zip(&mut self.runs) {
            if !records.is_empty() {
                out.write_all(bytemuck::cast_slice(records))?;
                runs.push((self.offset, records.len()));
                self.offset += (RECORD_BYTES * records.len()) as u64;
                records.clear();
            }
        }
        out.flush()
    }
}

/// A page, followed by its lists.
struct EncodedPage {
    entry: PageEntry,
    bytes: Vec<u8>,
    /// The positions that will have totals.
    frequent: Vec<TotalsEntry>,
}

/// Creates pages from sorted records.
fn encode(records: &[u128], games: &VisitedGames, slot_bits: u32, totals_from: u64) -> Vec<EncodedPage> {
    let positions: Vec<&[u128]> = records.chunk_by(|a, b| a >> SLOT_BITS == b >> SLOT_BITS).collect();
    let one = |positions| encode_one(positions, games, slot_bits, totals_from);
    positions.chunks(PAGE_POSITIONS).map(one).collect()
}

fn encode_one(positions: &[&[u128]], games: &VisitedGames, slot_bits: u32, totals_from: u64) -> EncodedPage {
    let (mut lists, mut bytes_of_lists, mut frequent) = (Vec::new(), Vec::new(), Vec::new());
    for records in positions {
        let (key, mut name) = (key_of(records[0]), slot_of(records[0]));
        if records.len() > FEW_MAX {
            let mut out = BitWriter::default();
            encode_slots(&mut out, records, slot_bits);
            let bytes = checked(&out.finish());
            let SeenIn { games, first, last } = games.seen(records.iter().map(|&record| slot_of(record)));
            let (offset, visits) = (bytes_of_lists.len() as u64, records.len() as u64);
            lists.push(ListEntry { visits, games, first, last, offset, bytes: bytes.len() as u64 });
            bytes_of_lists.extend_from_slice(&bytes);
            name = first;
        }
        if records.len() as u64 >= totals_from {
            frequent.push(TotalsEntry { key, slot: name, ..TotalsEntry::zeroed() });
        }
    }
    let mut bytes = encode_page(positions, &lists, slot_bits);
    let entry = PageEntry {
        first_key: key_of(positions[0][0]),
        offset: 0,
        bytes: bytes.len() as u32,
        positions: positions.len() as u32,
    };
    bytes.extend_from_slice(&bytes_of_lists);
    EncodedPage { entry, bytes, frequent }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_of_any_size_are_sorted() {
        let key = |at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for (shift, bucket) in [(64, 0u64), (60, 9), (52, 0xabc)] {
            for len in [0, 1, GROUP_RECORDS, 5000, GROUPED_MAX + 1] {
                // Every third record is for the same position, as in the bucket of the start position.
                let key = |at: u64| key(if at.is_multiple_of(3) { 7 } else { at });
                let key =
                    |at: u64| key(at) & u64::MAX >> (64 - shift) | bucket.checked_shl(shift).unwrap_or(0);
                let record = |at| PositionKey { key: key(at), check: 5 }.record(at);
                let records: Vec<u128> = (0..len as u64).map(record).collect();
                let mut sorted = records.clone();
                sorted.sort_unstable();
                assert!(sorted_bucket(records, shift) == sorted, "{len} records, {shift} bits");
            }
        }
    }
}
