//! The result file of one part of a job. It contains a header, a record for each block (a group of whole games), a record with the
//! sums over all blocks, and a checksum.
//!
//! A record consists of a letter, the content length in eight bytes, and the content. The checksum is the 16-byte XXH3-128 hash of
//! all preceding bytes. A file whose checksum does not match is rejected.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use twox_hash::XxHash3_128;

use super::plan::{Job, JobPart};
use crate::run::{BLOCK_COUNT_MAX, PART_COUNT_MAX, Part as _, Parts};
use orbit_core::files::{OutputError, OutputFile, open_regular};
use orbit_reel::Totals;

const MAGIC: [u8; 8] = *b"orbitjob";
const CHECKSUM_BYTES: u64 = 16;
const HEADER: u8 = b'h';
const BLOCK: u8 = b'b';
const END: u8 = b'e';

/// The reason why the file with the results of a job's part cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartFault {
    /// The part has not been computed yet.
    #[error("missing")]
    Missing,
    /// The file cannot be read.
    #[error("unreadable: {0}")]
    Unreadable(String),
    /// The file was truncated or altered.
    #[error("damaged: its checksum is wrong")]
    Damaged,
    /// The file contains the results of another job, or of another part of this job.
    #[error("of another job")]
    OtherJob,
}

#[derive(PartialEq, Eq, Debug, Serialize, Deserialize)]
struct PartHeader {
    job: String,
    number: u32,
    blocks: Option<(u64, u64)>,
}

impl PartHeader {
    fn from_part(job: &Job, part: &JobPart) -> PartHeader {
        let blocks = part.blocks.map(|(first, end)| (first as u64, end as u64));
        PartHeader { job: job.hash().to_owned(), number: part.number, blocks }
    }
}

/// The results of one block.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct BlockRecord {
    pub(super) totals: Totals,
    pub(super) side_lines: u64,
    pub(super) bytes: u64,
    /// The results that must be stored for each block, because they depend on the order of blocks, or because a search that ends
    /// when it has found enough games must not count later blocks. [`EndRecord`] contains the sums of all other results.
    pub(super) parts: Parts,
}

/// The results of a whole part of a job.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct EndRecord {
    /// The sums of the results that do not depend on the order of blocks, over all blocks in the part.
    pub(super) parts: Parts,
    pub(super) sources: Vec<SourceRecord>,
    /// The number of side lines that were omitted when the reels (database files of orbit) were built. They are not counted in any
    /// block.
    pub(super) side_lines: u64,
    /// True if all blocks in the part were searched. False if the search stopped early because the lists had reached their maximum
    /// number of games.
    pub(super) finished: bool,
}

/// The number of games read from one source, and the reason if it was skipped or not read completely.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct SourceRecord {
    pub(super) games: u64,
    pub(super) duplicates: u64,
    pub(super) failure: Option<(u64, String)>,
    pub(super) skipped: Option<String>,
}

impl BlockRecord {
    /// Checks the ranges of the counts in a record read from a file.
    fn check(&self) -> Result<(), &'static str> {
        let BlockRecord { totals, side_lines, bytes, parts } = self;
        totals.check(BLOCK_COUNT_MAX)?;
        side_lines.check(BLOCK_COUNT_MAX)?;
        bytes.check(BLOCK_COUNT_MAX)?;
        parts.check(BLOCK_COUNT_MAX)
    }
}

impl EndRecord {
    /// Checks the ranges of the counts in a record read from a file.
    fn check(&self) -> Result<(), &'static str> {
        let EndRecord { parts, sources, side_lines, .. } = self;
        sources.iter().try_for_each(|source| source.games.check(PART_COUNT_MAX))?;
        side_lines.check(PART_COUNT_MAX)?;
        parts.check(PART_COUNT_MAX)
    }
}

/// Writes the file with the results of a job's part. The file gets its final name when it is complete.
pub struct PartWriter {
    file: OutputFile,
    hasher: XxHash3_128,
}

impl PartWriter {
    /// Creates the result file of a part in the job's folder.
    ///
    /// # Errors
    ///
    /// Fails if the folder is not writable.
    pub fn create(job: &Job, part: &JobPart, folder: &Path) -> Result<PartWriter, OutputError> {
        let path = job.path_of(part, folder);
        let mut writer = PartWriter { file: OutputFile::create(&path)?, hasher: XxHash3_128::new() };
        let begun =
            writer.write(&MAGIC).and_then(|()| writer.record(HEADER, &PartHeader::from_part(job, part)));
        begun.map_err(|error| OutputError::Write { path, error })?;
        Ok(writer)
    }

    /// Returns the path under which the file is written until it is complete.
    pub fn temporary_path(&self) -> Option<&Path> {
        self.file.temporary_path()
    }

    pub(super) fn block(&mut self, record: &BlockRecord) -> io::Result<()> {
        self.record(BLOCK, record)
    }

    pub(super) fn finish(mut self, record: &EndRecord) -> io::Result<()> {
        self.record(END, record)?;
        let checksum = self.hasher.finish_128().to_le_bytes();
        self.file.write_all(&checksum)?;
        Ok(self.file.finish()?)
    }

    fn record(&mut self, kind: u8, content: &impl Serialize) -> io::Result<()> {
        let bytes =
            postcard::to_stdvec(content).expect("parts are sequences of known lengths, numbers and texts");
        self.write(&[kind])?;
        self.write(&(bytes.len() as u64).to_le_bytes())?;
        self.write(&bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.write(bytes);
        self.file.write_all(bytes)
    }
}

/// Reads the result file of a part. Its checksum has already been verified.
pub(super) struct PartReader {
    path: PathBuf,
    file: BufReader<File>,
    /// The number of unread bytes before the checksum.
    left: u64,
}

pub(super) enum PartRecord {
    Block(Box<BlockRecord>),
    End(Box<EndRecord>),
}

impl PartReader {
    /// Opens the result file of a part and verifies its checksum, which requires reading the whole file.
    pub(super) fn open(job: &Job, part: &JobPart, folder: &Path) -> Result<PartReader, PartFault> {
        let path = job.path_of(part, folder);
        let unreadable = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => PartFault::Missing,
            _ => PartFault::Unreadable(error.to_string()),
        };
        let file = open_regular(&path).map_err(unreadable)?;
        let bytes = file.metadata().map_err(unreadable)?.len();
        let left = bytes.checked_sub(CHECKSUM_BYTES).ok_or(PartFault::Damaged)?;
        let mut file = BufReader::with_capacity(1 << 18, file);
        if !is_whole(&mut file, left).map_err(unreadable)? {
            return Err(PartFault::Damaged);
        }
        file.rewind().map_err(unreadable)?;
        let mut reader = PartReader { path, file, left };
        let mut magic = MAGIC;
        let begins = reader.bytes(&mut magic).is_ok() && magic == MAGIC;
        let header: Option<PartHeader> = reader
            .content()
            .ok()
            .filter(|(kind, _)| begins && *kind == HEADER)
            .and_then(|(_, bytes)| decoded(&bytes));
        match header {
            Some(header) if header == PartHeader::from_part(job, part) => Ok(reader),
            _ => Err(PartFault::OtherJob),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the next record and checks its counts. Fails at the end of the file or if the record is invalid.
    pub(super) fn next(&mut self) -> io::Result<PartRecord> {
        let unreadable = |why: &'static str| io::Error::new(io::ErrorKind::InvalidData, why);
        let (kind, bytes) = self.content()?;
        let record = match kind {
            BLOCK => decoded(&bytes).map(Box::new).map(PartRecord::Block),
            END => decoded(&bytes).map(Box::new).map(PartRecord::End),
            _ => None,
        };
        let record = record.ok_or_else(|| unreadable("a record is not as it is written"))?;
        let checked = match &record {
            PartRecord::Block(block) => block.check(),
            PartRecord::End(end) => end.check(),
        };
        checked.map(|()| record).map_err(unreadable)
    }

    fn content(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut head = [0; 9];
        self.bytes(&mut head)?;
        let [kind, length @ ..] = head;
        let length = u64::from_le_bytes(length);
        if length > self.left {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; length as usize];
        self.bytes(&mut bytes)?;
        Ok((kind, bytes))
    }

    fn bytes(&mut self, out: &mut [u8]) -> io::Result<()> {
        self.left = self.left.checked_sub(out.len() as u64).ok_or(io::ErrorKind::UnexpectedEof)?;
        self.file.read_exact(out)
    }
}

fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::take_from_bytes(bytes).ok().filter(|(_, rest)| rest.is_empty()).map(|(found, _)| found)
}

/// Returns whether the next `left` bytes of the file match the checksum that follows them.
fn is_whole(file: &mut BufReader<File>, mut left: u64) -> io::Result<bool> {
    let (mut hasher, mut buffer) = (XxHash3_128::new(), vec![0; 1 << 18]);
    while left > 0 {
        let want = left.min(buffer.len() as u64) as usize;
        file.read_exact(&mut buffer[..want])?;
        hasher.write(&buffer[..want]);
        left -= want as u64;
    }
    let mut checksum = [0; CHECKSUM_BYTES as usize];
    file.read_exact(&mut checksum)?;
    Ok(hasher.finish_128().to_le_bytes() == checksum)
}
