//! Reads a table of positions. Finds the visits of a position, and compares them with boards of the reel.

use std::collections::BTreeSet;
use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use bytemuck::Zeroable as _;

use super::bits::BitReader;
use super::format::{
    BlockEntry, DIRECTORY_BYTES_MAX, DateOrder, GameEntry, HEADER_BYTES, ListEntry, MAGIC, PageEntry,
    TableError, TableHeader, TotalsEntry, VERSION, VisitSlots, decode_page, decode_slots, table_path,
    unchecked,
};
use super::games::{VisitSum, game_of};
use super::key::{PositionKey, counted};
use orbit_core::board::Position;
use orbit_core::files::SharedFile;
use orbit_reel::replay::position_at;
use orbit_reel::{Block, Contents, Reel};

/// An open table of positions. Only its directory is in memory. The directory has 24 bytes for about a thousand positions, and 24
/// bytes for each block of the reel.
#[derive(Debug)]
pub struct PositionTable {
    path: PathBuf,
    mark: TableMark,
    file: SharedFile,
    header: TableHeader,
    pages: Vec<PageEntry>,
    blocks: Vec<BlockEntry>,
    totals: Vec<TotalsEntry>,
}

/// The size and the time of a file, used to detect its replacement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TableMark(u64, Option<SystemTime>);

impl TableMark {
    pub(super) fn new(file: &Metadata) -> TableMark {
        TableMark(file.len(), file.modified().ok())
    }
}

/// One visit of a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Visit {
    /// The index of the block in the reel.
    pub block: usize,
    /// The index of the game in the block.
    pub game: usize,
    /// The slot (the number of the position) in the block, counted without side lines.
    pub slot: usize,
    /// The number of half-moves from the first position of the game to the visit.
    pub moves: usize,
    /// The date of the game.
    pub date: DateOrder,
}

/// A position that was found in a table and confirmed by a board of the reel.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FoundPosition {
    /// The number of visits of the position.
    pub visits: u64,
    /// The number of games in which the position occurs.
    pub games: u64,
    /// The first visit in the earliest game, by date of play.
    pub first: Visit,
    /// The first visit in the latest game, by date of play.
    pub last: Visit,
    slots: VisitSlots,
    /// The index of the table's page that contains the list of visits.
    page: usize,
}

impl FoundPosition {
    pub(super) fn slots(&self) -> &VisitSlots {
        &self.slots
    }
}

impl PositionTable {
    /// Opens the table of a reel. Returns `None` if the reel has no table. The table covers all blocks of the reel, or only the
    /// first ones if games were appended after the table was made: see [`PositionTable::blocks`].
    ///
    /// # Errors
    ///
    /// Fails if the table cannot be read, is damaged, or was made from other games than the reel contains.
    pub fn open(reel: &Reel) -> Result<Option<PositionTable>, TableError> {
        let path = table_path(reel.path());
        let unread = |error| TableError::Read { path: path.clone(), error };
        // A pipe is refused, since opening one blocks until a process writes to it.
        match std::fs::metadata(&path) {
            Ok(found) if found.is_file() => {}
            Ok(_) => return Err(unread(io::Error::other("it is no file"))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unread(error)),
        }
        let file = File::open(&path).map_err(unread)?;
        let mark = TableMark::new(&file.metadata().map_err(unread)?);
        let bytes = mark.0;
        let file = SharedFile::new(file);
        let mut table = PositionTable {
            path: path.clone(),
            mark,
            file,
            header: TableHeader::zeroed(),
            pages: Vec::new(),
            blocks: Vec::new(),
            totals: Vec::new(),
        };
        if bytes < HEADER_BYTES as u64 {
            return Err(table.damaged("it is shorter than its header"));
        }
        let header = bytemuck::bytes_of_mut(&mut table.header);
        table.file.read_exact_at(header, 0).map_err(unread)?;
        let header = table.header;
        if header.magic != MAGIC {
            return Err(table.damaged("it does not begin as a table of positions does"));
        }
        if header.crc != header.checksum() {
            return Err(table.damaged("the header does not have its checksum"));
        }
        if header.version != VERSION {
            return Err(TableError::OtherVersion { path, found: header.version });
        }
        if bytes != header.file_bytes {
            return Err(table.damaged("it is not as long as its header says"));
        }
        let blocks = header.blocks as usize;
        let of_reel = || -> Result<bool, TableError> {
            let told = u128::from(header.fingerprint[0]) | u128::from(header.fingerprint[1]) << 64;
            Ok(blocks <= reel.blocks() && reel.fingerprint(blocks)? == told)
        };
        if !of_reel()? {
            return Err(TableError::Foreign { path });
        }
        let of_pages = size_of::<PageEntry>() * header.pages as usize;
        let of_blocks = size_of::<BlockEntry>() * blocks;
        let of_totals = header.totals.checked_mul(size_of::<TotalsEntry>() as u64);
        let size = of_totals.and_then(|bytes| bytes.checked_add((of_pages + of_blocks) as u64));
        let size = size.filter(|&size| size <= DIRECTORY_BYTES_MAX);
        let fits = size.and_then(|size| header.directory_offset.checked_add(size)) == Some(bytes);
        let bits = (1..=64).contains(&header.key_bits);
        if !fits || !bits {
            return Err(table.damaged("the header says what cannot be"));
        }
        let mut directory = vec![0; (bytes - header.directory_offset) as usize];
        table.file.read_exact_at(&mut directory, header.directory_offset).map_err(unread)?;
        if crc32fast::hash(&directory) != header.directory_crc {
            return Err(table.damaged("the directory does not have its checksum"));
        }
        let (pages, rest) = directory.split_at(of_pages);
        let (blocks, totals) = rest.split_at(of_blocks);
        (table.pages, table.blocks, table.totals) = (rows(pages), rows(blocks), rows(totals));
        Ok(Some(table))
    }

    /// Opens a table whose file is still being written, in order to compute its totals. `file` contains all pages and the games of
    /// `blocks`.
    pub(super) fn unfinished(
        (path, file): (PathBuf, File),
        header: TableHeader,
        pages: Vec<PageEntry>,
        blocks: &[BlockEntry],
    ) -> io::Result<PositionTable> {
        let mark = TableMark::new(&file.metadata()?);
        let file = SharedFile::new(file);
        Ok(PositionTable { path, mark, file, header, pages, blocks: blocks.to_vec(), totals: Vec::new() })
    }

    pub(super) fn into_pages(self) -> Vec<PageEntry> {
        self.pages
    }

    /// Returns the entries for the totals of all positions with the same key as `position`.
    pub(super) fn totals_with_key_of(&self, position: &Position) -> &[TotalsEntry] {
        if self.totals.is_empty() {
            return &[];
        }
        let key = PositionKey::new(&counted(position), self.header.key_bits).key;
        let from = self.totals.partition_point(|entry| entry.key < key);
        let count = self.totals[from..].partition_point(|entry| entry.key == key);
        &self.totals[from..from + count]
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn mark(&self) -> TableMark {
        self.mark
    }

    /// Returns the number of blocks whose positions are in the table: the first blocks of the reel.
    pub fn blocks(&self) -> usize {
        self.header.blocks as usize
    }

    /// Returns the number of distinct positions.
    pub fn positions(&self) -> u64 {
        self.header.positions
    }

    /// Returns the number of positions in all games. Repeated positions are counted each time.
    pub fn visits(&self) -> u64 {
        self.header.visits
    }

    /// Returns the size of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.header.file_bytes
    }

    pub(super) fn damaged(&self, what: &'static str) -> TableError {
        TableError::Damaged { path: self.path.clone(), what }
    }

    pub(super) fn bytes_at(&self, offset: u64, len: u64) -> Result<Vec<u8>, TableError> {
        let end = offset.checked_add(len).filter(|&end| end <= self.header.directory_offset);
        end.ok_or_else(|| self.damaged("a part lies outside of it"))?;
        let mut bytes = vec![0; len as usize];
        let read = self.file.read_exact_at(&mut bytes, offset);
        read.map_err(|error| TableError::Read { path: self.path.clone(), error })?;
        Ok(bytes)
    }

    /// Finds a position. Returns `None` if it is not in the table. The position is compared with the board at one of its visits.
    /// The other visits of the entry have the same 88-bit hash, so they are assumed to be visits of the same position.
    ///
    /// # Errors
    ///
    /// Fails if a part of the table or of the reel cannot be read or is damaged.
    pub fn find(&self, reel: &Reel, position: &Position) -> Result<Option<FoundPosition>, TableError> {
        self.find_in(position, &mut |block| block_of(reel, block, false).map(Arc::new))
    }

    /// Finds a position as [`PositionTable::find`] does. `block` returns a block of the reel by index, from disk or from a cache.
    pub(super) fn find_in(
        &self,
        position: &Position,
        block: &mut dyn FnMut(usize) -> Result<Arc<Block>, TableError>,
    ) -> Result<Option<FoundPosition>, TableError> {
        let wanted = counted(position);
        for (index, same) in self.entries_with_key_of(&wanted)? {
            for slots in same {
                let found = self.found(slots, index)?;
                let block = block(found.first.block)?;
                let slot = found.first.slot;
                if slot >= block.slots() {
                    return Err(self.damaged("a visit is of no position of the reel"));
                }
                if counted(&position_at(&block, slot)) == wanted {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    /// Returns the entries that have the same key as the position `wanted`, grouped by the index of their page.
    pub(super) fn entries_with_key_of(
        &self,
        wanted: &Position,
    ) -> Result<Vec<(usize, Vec<VisitSlots>)>, TableError> {
        let key = PositionKey::new(wanted, self.header.key_bits).key;
        // Several pages can begin with this key. Positions with this key may also be at the end of the page before the first of
        // them.
        let from = self.pages.partition_point(|page| page.first_key < key).saturating_sub(1);
        let pages = self.pages.iter().enumerate().skip(from).take_while(|(_, page)| page.first_key <= key);
        pages
            .map(|(index, page)| {
                let mut same = Vec::new();
                self.visit_page(page, |found, slots| {
                    if found == key {
                        same.push(slots);
                    }
                    found <= key
                })?;
                Ok((index, same))
            })
            .collect()
    }

    fn visit_page(
        &self,
        page: &PageEntry,
        visit: impl FnMut(u64, VisitSlots) -> bool,
    ) -> Result<(), TableError> {
        let bytes = self.bytes_at(page.offset, page.bytes.into())?;
        let decoded = decode_page(&bytes, (page.first_key, page.positions), self.header.slot_bits(), visit);
        decoded.ok_or_else(|| self.damaged("a page does not have its checksum"))
    }

    fn found(&self, slots: VisitSlots, page: usize) -> Result<FoundPosition, TableError> {
        let (visits, games, [first, last]) = match &slots {
            VisitSlots::Few(few) => {
                let mut sum = VisitSum::default();
                for &slot in few {
                    let visit = self.visit(slot)?;
                    sum.add((visit.block, visit.game), visit.date, slot);
                }
                let seen = sum.finish();
                (few.len() as u64, seen.games, [seen.first, seen.last])
            }
            VisitSlots::Many(list) => (list.visits, list.games, [list.first, list.last]),
        };
        Ok(FoundPosition { visits, games, first: self.visit(first)?, last: self.visit(last)?, slots, page })
    }

    /// Returns the visit at a slot (the number of a position) of the reel.
    fn visit(&self, slot: u64) -> Result<Visit, TableError> {
        let block = self.block_of_slot(slot)?;
        let entry = self.blocks[block];
        let slot = slot - entry.first_slot;
        let games = self.games(block)?;
        let (game, date) = game_of(&games, slot as u32);
        let first = games.get(game).map_or(0, |game| game.first_slot as usize);
        Ok(Visit { block, game, slot: slot as usize, moves: slot as usize - first.min(slot as usize), date })
    }

    pub(super) fn block_of_slot(&self, slot: u64) -> Result<usize, TableError> {
        let after = self.blocks.partition_point(|block| block.first_slot <= slot);
        let block = after.checked_sub(1).filter(|_| slot < self.header.visits);
        block.ok_or_else(|| self.damaged("a visit is of no position of the reel"))
    }

    /// Returns the slots (position numbers in the whole reel) of a block.
    pub(super) fn slots_of_block(&self, block: usize) -> Range<u64> {
        let next = self.blocks.get(block + 1).map_or(self.header.visits, |next| next.first_slot);
        self.blocks[block].first_slot..next
    }

    pub(super) fn games(&self, block: usize) -> Result<Vec<GameEntry>, TableError> {
        let BlockEntry { offset, games, .. } = self.blocks[block];
        let bytes = self.bytes_at(offset, 4 + (size_of::<GameEntry>() as u64) * u64::from(games))?;
        let games = unchecked(&bytes)
            .ok_or_else(|| self.damaged("the games of a block do not have their checksum"))?;
        Ok(rows(games))
    }

    pub(super) fn first_slots(&self) -> impl ExactSizeIterator<Item = u64> {
        self.blocks.iter().map(|block| block.first_slot)
    }

    /// Returns the slots (position numbers in the reel) of all visits of a position, in ascending order.
    pub(super) fn slots(&self, found: &FoundPosition) -> Result<Vec<u64>, TableError> {
        self.slots_in(found.page, found.slots.clone())
    }

    /// Returns the slots of all visits of a position whose entry is on the given page of the table.
    pub(super) fn slots_in(&self, page: usize, slots: VisitSlots) -> Result<Vec<u64>, TableError> {
        match slots {
            VisitSlots::Few(slots) => Ok(slots),
            VisitSlots::Many(list) => self.list(&self.pages[page], &list),
        }
    }

    fn list(&self, page: &PageEntry, list: &ListEntry) -> Result<Vec<u64>, TableError> {
        if list.visits > self.header.visits {
            return Err(self.damaged("a list has more visits than the table"));
        }
        let wrong = || self.damaged("a list of visits does not have its checksum");
        let offset = page.offset.checked_add(page.bytes.into()).and_then(|end| end.checked_add(list.offset));
        let bytes = self.bytes_at(offset.ok_or_else(wrong)?, list.bytes)?;
        let mut reader = BitReader::new(unchecked(&bytes).ok_or_else(wrong)?);
        let slots = decode_slots(&mut reader, list.visits as usize, self.header.slot_bits());
        if slots.len() as u64 != list.visits || reader.is_past_end() { Err(wrong()) } else { Ok(slots) }
    }

    /// Returns the blocks of the reel that contain a position, in ascending order. Blocks with another position that has the same
    /// 88-bit hash may be among them.
    ///
    /// # Errors
    ///
    /// Fails if a part of the table cannot be read or is damaged.
    pub fn blocks_with(&self, reel: &Reel, position: &Position) -> Result<Vec<usize>, TableError> {
        let Some(found) = self.find(reel, position)? else { return Ok(Vec::new()) };
        let blocks: Result<BTreeSet<usize>, TableError> =
            self.slots(&found)?.into_iter().map(|slot| self.block_of_slot(slot)).collect();
        Ok(blocks?.into_iter().collect())
    }

    /// Calls `visit` for every position, with the slots at which it occurs. The positions are in key order.
    pub(super) fn for_each_position(&self, mut visit: impl FnMut(&[u64])) -> Result<(), TableError> {
        for page in &self.pages {
            let mut all = Vec::new();
            self.visit_page(page, |_, slots| {
                all.push(slots);
                true
            })?;
            for slots in all {
                match slots {
                    VisitSlots::Few(slots) => visit(&slots),
                    VisitSlots::Many(list) => visit(&self.list(page, &list)?),
                }
            }
        }
        Ok(())
    }
}

/// Reads structures that are stored one after the other.
fn rows<T: bytemuck::AnyBitPattern>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

/// Reads a block of a reel without side lines and comments. A table numbers only these positions.
pub(super) fn block_of(reel: &Reel, index: usize, tags: bool) -> Result<Block, TableError> {
    let block = reel.block_with(index, Contents { tags, annotations: false })?;
    Ok(block.into_main_lines(false))
}
