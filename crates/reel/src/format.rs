//! The layout of a `.reel` file, and the errors that occur with reels.
//!
//! ```text
//! file header    64 bytes
//! blocks         each: header 64, keys 48 a segment, moves 2 a slot, then five zstd frames: starts
//!                and side lines, games, tags, problems, annotations; zeros up to a multiple of 8
//! directory      32 bytes a block, then sources and totals
//! ```
//!
//! Numbers are little-endian. Every meaningful byte is covered by a CRC-32 checksum: of the header, of a block, or of the
//! directory. Since version 3, a game may have side lines and annotations. Since version 2, a file may also have meaningless bytes:
//! old directories between blocks, and bytes that an interrupted append left after the end of the reel. The header specifies the
//! end.

use std::path::{Path, PathBuf};

use bytemuck::{Pod, Zeroable};

/// The first bytes of a reel. No text file begins with them, and they reveal a transfer that has converted line ends.
pub const MAGIC: [u8; 8] = *b"\x89REEL\r\n\x1a";
/// The format version that this library writes, which is also the newest that it reads.
pub const FORMAT_VERSION: u32 = 3;

pub(super) const BLOCK_MAGIC: u32 = u32::from_le_bytes(*b"BLCK");
pub(super) const HEADER_BYTES: usize = size_of::<FileHeader>();
pub(super) const BLOCK_HEADER_BYTES: usize = size_of::<BlockHeader>();
/// The constants below limit the sizes that a reel may claim, since its sections are read into memory before they can be checked.
/// They are far above the sizes that result from texts within [`Options::game_bytes_max`](orbit_pgn::Options::game_bytes_max).
///
/// The maximum number of bytes of a block in a file.
pub(super) const BLOCK_BYTES_MAX: u64 = 128 << 20;
/// The maximum number of decompressed bytes in all frames (zstd-compressed sections) of a block.
pub(super) const FRAMES_BYTES_MAX: u64 = 128 << 20;
/// The maximum number of games in a block, including skipped ones.
pub(super) const BLOCK_GAMES_MAX: u32 = 1 << 22;
pub(super) const BLOCK_PROBLEMS_MAX: usize = 1 << 20;
/// The maximum number of tag pairs of a block.
pub(super) const BLOCK_TAGS_MAX: u64 = 1 << 22;
/// The maximum number of comments and glyphs of a block.
pub(super) const BLOCK_ANNOTATIONS_MAX: usize = 1 << 20;
pub(super) const DIRECTORY_BYTES_MAX: u64 = 128 << 20;
pub(super) const SOURCES_MAX: usize = 1 << 20;
/// The maximum size in bytes of an entry of the start table, the block's list of start positions: occupancy, state, and half a byte
/// for each of 64 squares.
pub(super) const START_BYTES_MAX: u64 = 8 + 4 + 32;
/// The maximum number of bytes that a frame stores for a side line: its parent, its index among siblings, and its first move.
pub(super) const LINE_BYTES_MAX: u64 = 5 + 5 + 2;
/// The maximum size in bytes of a game's entry in a frame: two numbers of up to ten bytes each, and one more byte.
pub(super) const GAME_BYTES_MAX: u64 = 10 + 10 + 1;
pub(super) const PART_BYTES_MAX: u64 = 4 * 10;

const _: () = assert!(cfg!(target_endian = "little"), "reels are read and written as they lie in memory");

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(super) struct FileHeader {
    pub(super) magic: [u8; 8],
    pub(super) version: u32,
    /// The checksum of the header, computed with this field set to 0.
    pub(super) crc: u32,
    pub(super) file_bytes: u64,
    pub(super) directory_offset: u64,
    pub(super) directory_bytes: u64,
    pub(super) blocks: u32,
    pub(super) directory_crc: u32,
    /// The version of the rules by which all games were read, or 0 if it is unknown or not the same for all games.
    pub(super) reader: u32,
    /// The number of variations that were omitted from the games, as the lower and the upper half of 64 bits. It is also 0 if
    /// variations were not counted.
    pub(super) side_lines: [u32; 2],
    /// 1 if side lines, comments and glyphs were kept, otherwise 0.
    pub(super) variations: u32,
}

impl FileHeader {
    pub(super) fn checksum(&self) -> u32 {
        crc32fast::hash(bytemuck::bytes_of(&FileHeader { crc: 0, ..*self }))
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub(super) struct BlockFrame {
    /// The stored size in bytes.
    pub(super) bytes: u32,
    /// The decompressed size in bytes.
    pub(super) raw_bytes: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(super) struct BlockHeader {
    /// The checksum of all bytes of the block after this field.
    pub(super) crc: u32,
    pub(super) magic: u32,
    pub(super) slots: u32,
    /// The number of start positions of games.
    pub(super) starts: u32,
    pub(super) games: u32,
    pub(super) lines: u32,
    pub(super) annotations: BlockFrame,
    /// The frames (zstd-compressed sections) of starts and side lines, of games, of tags, and of problems. In the file, the frame
    /// of annotations follows them.
    pub(super) frames: [BlockFrame; 4],
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub(super) struct DirectoryEntry {
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) slots: u32,
    /// The number of games that have slots.
    pub(super) games: u32,
    /// The number of games read, including skipped ones.
    pub(super) games_read: u32,
    pub(super) reserved: u32,
}

/// The size in bytes of each section of a reel, or of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SectionBytes {
    /// The key positions.
    pub keys: u64,
    /// The moves.
    pub moves: u64,
    /// The starts of games and side lines.
    pub starts: u64,
    /// The game table: numbers, offsets and outcomes.
    pub games: u64,
    /// The tags.
    pub tags: u64,
    /// The problems.
    pub problems: u64,
    /// The comments and glyphs.
    pub annotations: u64,
    /// The headers, the directory, the list of sources, and padding.
    pub other: u64,
}

impl SectionBytes {
    /// Returns the sum of all sections.
    pub fn total(&self) -> u64 {
        let Self { keys, moves, starts, games, tags, problems, annotations, other } = *self;
        keys + moves + starts + games + tags + problems + annotations + other
    }

    /// Adds the section sizes of another block.
    pub fn add(&mut self, other: &SectionBytes) {
        self.keys += other.keys;
        self.moves += other.moves;
        self.starts += other.starts;
        self.games += other.games;
        self.tags += other.tags;
        self.problems += other.problems;
        self.annotations += other.annotations;
        self.other += other.other;
    }
}

/// The reason why a reel cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReelError {
    /// The operating system reported an error.
    #[error("{}: {error}{}", path.display(), remedy(error))]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// The operating system reported an error during an append. The reel still has its old content.
    #[error("{}: nothing was appended: {error}", path.display())]
    Append {
        /// The path of the file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// The existing reel contains games that another version of orbit read by other rules.
    #[error(
        "{}: nothing was appended: another version of orbit made the reel and read games by other rules; make it again of all files, or \
         index the new ones to a reel of their own", path.display()
    )]
    OtherRules {
        /// The path of the file.
        path: PathBuf,
    },
    /// Another process is appending to the reel or replacing it.
    #[error("{}: another process is writing this reel: wait until it is done", path.display())]
    Busy {
        /// The path of the file.
        path: PathBuf,
    },
    /// The path is a folder, a device or a pipe, but a reel must be a file.
    #[error("{} is a folder, a device or a pipe, and a reel must be a file: give another name", path.display())]
    NoFile {
        /// The path as given.
        path: PathBuf,
    },
    /// The file does not begin with the magic bytes of a reel.
    #[error("{} is no reel: `orbit index` makes one from PGN", path.display())]
    NotAReel {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file was written by a later version of this program.
    #[error(
        "{}: format version {found}, but this program reads versions up to {FORMAT_VERSION}; \
         update the program, or index the PGN again", path.display()
    )]
    NewerVersion {
        /// The path of the file.
        path: PathBuf,
        /// The version of the file.
        found: u32,
    },
    /// The file ends too early.
    #[error("{}: the file ends after {found} of {expected} bytes: copy or index it again", path.display())]
    Truncated {
        /// The path of the file.
        path: PathBuf,
        /// The length in bytes that the header states.
        expected: u64,
        /// The actual length in bytes.
        found: u64,
    },
    /// Bytes were altered after the reel was written.
    #[error("{}: damaged, the checksum of {part} is wrong; copy or index it again", path.display())]
    Checksum {
        /// The path of the file.
        path: PathBuf,
        /// The header, the directory or a block.
        part: FilePart,
    },
    /// The checksums are right, but the data contradict each other.
    #[error("{}: inconsistent, in {part}: {what}; index the PGN again", path.display())]
    Inconsistent {
        /// The path of the file.
        path: PathBuf,
        /// The header, the directory or a block.
        part: FilePart,
        /// The contradiction.
        what: &'static str,
    },
    /// There was not enough memory to read a part of the file.
    #[error("{}: there is not enough memory to read {part}; close other programs, or use fewer threads", path.display())]
    Memory {
        /// The path of the file.
        path: PathBuf,
        /// The directory or a block.
        part: FilePart,
    },
    /// The reel exceeds a limit of the format.
    #[error("{}: {what}", path.display())]
    TooLarge {
        /// The path of the file.
        path: PathBuf,
        /// A message about the limit that is exceeded.
        what: &'static str,
    },
}

impl ReelError {
    /// Returns the path of the file that the error concerns.
    pub fn path(&self) -> &Path {
        match self {
            ReelError::Io { path, .. }
            | ReelError::Append { path, .. }
            | ReelError::Busy { path }
            | ReelError::OtherRules { path }
            | ReelError::NoFile { path }
            | ReelError::NotAReel { path }
            | ReelError::NewerVersion { path, .. }
            | ReelError::Truncated { path, .. }
            | ReelError::Checksum { path, .. }
            | ReelError::Inconsistent { path, .. }
            | ReelError::Memory { path, .. }
            | ReelError::TooLarge { path, .. } => path,
        }
    }
}

/// Returns advice about a system error, or an empty string.
fn remedy(error: &std::io::Error) -> &'static str {
    if error.kind() == std::io::ErrorKind::NotFound { ": check the path" } else { "" }
}

/// The part of a file that has an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FilePart {
    /// The file header.
    Header,
    /// The directory of blocks, sources and totals.
    Directory,
    /// A block, counted from 0.
    Block(usize),
}

impl std::fmt::Display for FilePart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FilePart::Header => f.write_str("the header"),
            FilePart::Directory => f.write_str("the directory"),
            FilePart::Block(block) => write!(f, "block {block}"),
        }
    }
}
