//! Opens a reel. Its blocks are read and checked on demand.

use std::fs::File;
use std::path::{Path, PathBuf};

use bytemuck::Zeroable as _;
use twox_hash::XxHash3_128;

use super::block::Block;
use super::bytes::{ByteReader, ListFault, NO_MEMORY, room, to_vec};
use super::decode::{Contents, decode};
use super::format::{
    BLOCK_BYTES_MAX, BLOCK_GAMES_MAX, DIRECTORY_BYTES_MAX, DirectoryEntry, FORMAT_VERSION, FileHeader,
    FilePart, HEADER_BYTES, MAGIC, ReelError, SOURCES_MAX, SectionBytes,
};
use super::scratch;
use super::source::ReelSource;
use super::totals::Totals;
use orbit_core::files::SharedFile;

/// An open reel. Only its header and its directory are in memory.
#[derive(Debug)]
pub struct Reel {
    path: PathBuf,
    file: SharedFile,
    header: FileHeader,
    entries: Vec<DirectoryEntry>,
    /// For each block, the number of games before it, including skipped ones.
    games_before: Vec<u32>,
    sources: Vec<ReelSource>,
    totals: Totals,
    sections: SectionBytes,
    /// The number of bytes in the file after the end of the reel.
    bytes_behind: u64,
}

impl Reel {
    /// Returns true if `head`, the beginning of a file, starts with the magic bytes of a reel.
    pub fn sniff(head: &[u8]) -> bool {
        head.starts_with(&MAGIC)
    }

    /// Opens a reel, and checks its header and its directory.
    ///
    /// # Errors
    ///
    /// Returns any [`ReelError`] about reading.
    pub fn open(path: &Path) -> Result<Reel, ReelError> {
        let io = |error| ReelError::Io { path: path.to_owned(), error };
        // Opening a pipe blocks until a process writes to it.
        if !std::fs::metadata(path).map_err(io)?.is_file() {
            return Err(ReelError::NoFile { path: path.to_owned() });
        }
        let file = File::open(path).map_err(io)?;
        let found = file.metadata().map_err(io)?.len();
        let file = SharedFile::new(file);
        let mut header = FileHeader::zeroed();
        let head = HEADER_BYTES.min(found as usize);
        let header_bytes = bytemuck::bytes_of_mut(&mut header);
        file.read_exact_at(&mut header_bytes[..head], 0).map_err(io)?;
        check_header(path, &header, head, found)?;
        let memory = |_| ReelError::Memory { path: path.to_owned(), part: FilePart::Directory };
        let mut directory = room(header.directory_bytes).map_err(memory)?;
        directory.resize(header.directory_bytes as usize, 0);
        file.read_exact_at(&mut directory, header.directory_offset).map_err(io)?;
        if crc32fast::hash(&directory) != header.directory_crc {
            return Err(ReelError::Checksum { path: path.to_owned(), part: FilePart::Directory });
        }
        let mut reel = Reel {
            path: path.to_owned(),
            file,
            header,
            entries: Vec::new(),
            games_before: Vec::new(),
            sources: Vec::new(),
            totals: Totals::default(),
            sections: SectionBytes::default(),
            bytes_behind: found - header.file_bytes,
        };
        reel.read_directory(&directory).map_err(|what| reel.inconsistent(FilePart::Directory, what))?;
        Ok(reel)
    }

    fn read_directory(&mut self, directory: &[u8]) -> Result<(), ListFault> {
        let mut bytes = ByteReader(directory);
        let blocks = u64::from(self.header.blocks);
        self.entries = to_vec(bytes.take(blocks * size_of::<DirectoryEntry>() as u64)?);
        let (mut offset, mut games) = (HEADER_BYTES as u64, 0u32);
        for entry in &self.entries {
            let may_lie_apart = self.header.version >= 2;
            if entry.offset < offset || entry.offset > offset && !may_lie_apart {
                return Err("blocks do not follow each other");
            }
            if entry.bytes > BLOCK_BYTES_MAX || entry.games_read > BLOCK_GAMES_MAX {
                return Err("a block is larger than any may be");
            }
            offset = entry.offset.checked_add(entry.bytes).ok_or("a block is too long")?;
            self.games_before.push(games);
            games = games.checked_add(entry.games_read).ok_or("there are too many games")?;
        }
        // An append writes after the previous directory, so there may be a gap before the new directory even if no block was added.
        if offset > self.header.directory_offset
            || offset < self.header.directory_offset && self.header.version < 2
        {
            return Err("the last block does not end at the directory");
        }
        let sources = bytes.count()?;
        if sources > SOURCES_MAX {
            return Err("there are more sources than there may be");
        }
        for _ in 0..sources {
            self.sources.push(ReelSource::decode(&mut bytes, self.header.version, self.reader())?);
        }
        self.totals = Totals::decode(&mut bytes, self.header.version)?;
        let [keys, moves, starts, games, tags, problems] = [(); 6].map(|()| bytes.number());
        let (keys, moves, starts) = (keys?, moves?, starts?);
        let (games, tags, problems) = (games?, tags?, problems?);
        let annotations = if self.header.version >= 3 { bytes.number()? } else { 0 };
        let all = [keys, moves, starts, games, tags, problems, annotations];
        let sum = all.iter().try_fold(0u64, |a, b| a.checked_add(*b));
        let other = sum.and_then(|sum| self.header.file_bytes.checked_sub(sum));
        let other = other.ok_or("the sections are longer than the file")?;
        self.sections = SectionBytes { keys, moves, starts, games, tags, problems, annotations, other };
        if self.totals.positions != self.entries.iter().map(|entry| u64::from(entry.slots)).sum::<u64>() {
            return Err("the blocks hold another number of positions than the totals");
        }
        bytes.end()
    }

    /// Reads, checks and decodes a block. Several threads may call this method at the same time.
    ///
    /// # Errors
    ///
    /// Returns [`ReelError::Io`], [`ReelError::Checksum`] or [`ReelError::Inconsistent`].
    ///
    /// # Panics
    ///
    /// Panics if there is no such block.
    pub fn block(&self, index: usize) -> Result<Block, ReelError> {
        self.block_with(index, Contents { tags: true, annotations: true })
    }

    /// Like [`Reel::block`], but decodes only the parts of the block that `contents` selects.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Reel::block`].
    ///
    /// # Panics
    ///
    /// Panics if there is no such block.
    pub fn block_with(&self, index: usize, contents: Contents) -> Result<Block, ReelError> {
        let (entry, part) = (self.entries[index], FilePart::Block(index));
        let mut block = scratch::with_bytes(entry.bytes, |bytes| {
            self.file
                .read_exact_at(bytes, entry.offset)
                .map_err(|error| ReelError::Io { path: self.path.clone(), error })?;
            match bytes.split_first_chunk::<4>() {
                Some((crc, rest)) if crc32fast::hash(rest) == u32::from_le_bytes(*crc) => {}
                _ => return Err(ReelError::Checksum { path: self.path.clone(), part }),
            }
            decode(bytes, entry.games_read, contents).map_err(|what| self.inconsistent(part, what))
        })
        .unwrap_or_else(|what| Err(self.inconsistent(part, what)))?;
        let counts = (block.slots(), block.games_len(), block.games_read());
        if counts != (entry.slots as usize, entry.games as usize, entry.games_read) {
            return Err(self.inconsistent(part, "the directory counts otherwise"));
        }
        if block.source_games().iter().any(|part| part.source as usize >= self.sources.len()) {
            return Err(self.inconsistent(part, "a game has no source"));
        }
        block.games_before = self.games_before[index];
        Ok(block)
    }

    /// Reads a block, and also checks that replaying its moves leads to each key position.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Reel::block`].
    pub fn verify(&self, index: usize) -> Result<(), ReelError> {
        super::replay::check_keys(&self.block(index)?).map_err(|_| {
            self.inconsistent(FilePart::Block(index), "a key position is not where the moves lead")
        })
    }

    fn inconsistent(&self, part: FilePart, what: &'static str) -> ReelError {
        let path = self.path.clone();
        if what == NO_MEMORY {
            ReelError::Memory { path, part }
        } else {
            ReelError::Inconsistent { path, part, what }
        }
    }

    /// Returns the path of the reel's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the version of the format in which the reel is written.
    pub fn version(&self) -> u32 {
        self.header.version
    }

    /// Returns the version of the rules by which all games were read (the value of [`READER_VERSION`](orbit_pgn::READER_VERSION) at
    /// that time), or 0 if it is unknown or not the same for all games.
    pub fn reader(&self) -> u32 {
        self.header.reader
    }

    /// Returns the number of side lines (variations) that were omitted from the games. The number is also 0 if side lines were not
    /// counted, as in reels from earlier versions of the program.
    pub fn side_lines(&self) -> u64 {
        let [low, high] = self.header.side_lines.map(u64::from);
        low | high << 32
    }

    /// Returns true if the reel stores side lines, comments and glyphs.
    pub fn keeps_variations(&self) -> bool {
        self.header.version >= 3 && self.header.variations != 0
    }

    /// Returns the checksum of the header, which includes the checksum of the directory.
    pub fn header_crc(&self) -> u32 {
        self.header.crc
    }

    /// Returns the number of positions of a block.
    pub fn block_positions(&self, index: usize) -> u64 {
        self.entries[index].slots.into()
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.entries.len()
    }

    /// Returns the number of bytes that a block occupies in the file.
    pub fn block_bytes(&self, index: usize) -> u64 {
        self.entries[index].bytes
    }

    /// Returns the size of the reel in bytes.
    pub fn bytes(&self) -> u64 {
        self.header.file_bytes
    }

    /// Returns the number of unused bytes within the reel: old directories, which appends leave behind.
    pub fn dead_bytes(&self) -> u64 {
        let blocks: u64 = self.entries.iter().map(|entry| entry.bytes).sum();
        // Blocks never overlap one another, the header or the directory, so their sizes can be subtracted.
        self.header.directory_offset - HEADER_BYTES as u64 - blocks
    }

    /// Returns the number of bytes in the file after the end of the reel. They were written by an interrupted or running append, or
    /// by another program.
    pub fn bytes_behind(&self) -> u64 {
        self.bytes_behind
    }

    /// Returns the number of games before a block, including skipped ones. For the index [`Reel::blocks`], returns the total number
    /// of games.
    pub fn games_before(&self, index: usize) -> u32 {
        let all = || self.entries.iter().map(|entry| entry.games_read).sum();
        self.games_before.get(index).copied().unwrap_or_else(all)
    }

    /// Returns the index of the block that contains a game. `number` is the number of the game over all sources, from
    /// 1. If the game was skipped, the block has no [`GameRow`](super::GameRow) for it.
    pub fn block_of_game(&self, number: u32) -> Option<usize> {
        let index = self.games_before.partition_point(|&before| before < number).checked_sub(1)?;
        (number - self.games_before[index] <= self.entries[index].games_read).then_some(index)
    }

    /// Computes a fingerprint of the first `blocks` blocks from their file offsets, sizes and checksums. A table of positions
    /// stores it, to recognise the reel from which it was made.
    ///
    /// # Errors
    ///
    /// Returns [`ReelError::Io`].
    ///
    /// # Panics
    ///
    /// Panics if the reel has fewer blocks.
    pub fn fingerprint(&self, blocks: usize) -> Result<u128, ReelError> {
        let mut told = Vec::with_capacity(blocks * 36);
        for entry in &self.entries[..blocks] {
            let mut crc = [0; 4];
            let read = self.file.read_exact_at(&mut crc, entry.offset);
            read.map_err(|error| ReelError::Io { path: self.path.clone(), error })?;
            told.extend_from_slice(bytemuck::bytes_of(entry));
            told.extend_from_slice(&crc);
        }
        Ok(XxHash3_128::oneshot(&told))
    }

    pub(super) fn entries(&self) -> &[DirectoryEntry] {
        &self.entries
    }

    /// Returns the sources from which the reel was created.
    pub fn sources(&self) -> &[ReelSource] {
        &self.sources
    }

    /// Returns the totals of the reel.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Returns the number of bytes that each section of the reel occupies.
    pub fn sections(&self) -> &SectionBytes {
        &self.sections
    }
}

/// Checks a header. `head` is the number of header bytes that could be read, and `found` is the file size.
fn check_header(path: &Path, header: &FileHeader, head: usize, found: u64) -> Result<(), ReelError> {
    let path = || path.to_owned();
    if header.magic != MAGIC {
        return Err(ReelError::NotAReel { path: path() });
    }
    if head < HEADER_BYTES {
        return Err(ReelError::Truncated { path: path(), expected: HEADER_BYTES as u64, found });
    }
    if header.version > FORMAT_VERSION {
        return Err(ReelError::NewerVersion { path: path(), found: header.version });
    }
    if header.crc != header.checksum() {
        return Err(ReelError::Checksum { path: path(), part: FilePart::Header });
    }
    if found < header.file_bytes {
        return Err(ReelError::Truncated { path: path(), expected: header.file_bytes, found });
    }
    let end = header.directory_offset.checked_add(header.directory_bytes);
    let what = if header.version == 0 {
        "there is no version 0"
    } else if end != Some(header.file_bytes) {
        "the directory does not end the file"
    } else if header.directory_bytes > DIRECTORY_BYTES_MAX {
        "the directory is longer than any may be"
    } else {
        return Ok(());
    };
    Err(ReelError::Inconsistent { path: path(), part: FilePart::Header, what })
}
