//! Blocks to a file, which appears under its name only when it is complete.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::bytes::{put, put_bytes};
use super::encode::EncodedBlock;
use super::format::{
    DirectoryEntry, FORMAT_VERSION, FileHeader, HEADER_BYTES, MAGIC, ReelError, SectionBytes,
};
use super::totals::Totals;

/// A source of a reel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReelSource {
    /// The path as given, or what stood in for one.
    pub name: String,
    /// Its size before decompression, where that was known.
    pub bytes: Option<u64>,
    /// Games in it, skipped ones included.
    pub games: u64,
    /// Why it was not read to its end, if it was not.
    pub failure: Option<String>,
}

/// Writes a reel to a temporary name beside its own, and removes that again unless
/// [`ReelWriter::finish`] is reached.
#[derive(Debug)]
pub struct ReelWriter {
    target: PathBuf,
    temporary: PathBuf,
    /// Taken by `finish`.
    file: Option<BufWriter<File>>,
    offset: u64,
    games_read: u64,
    entries: Vec<DirectoryEntry>,
    sections: SectionBytes,
    totals: Totals,
}

impl ReelWriter {
    /// Begins a reel.
    ///
    /// # Errors
    ///
    /// [`ReelError::Io`] when the folder cannot be written to.
    pub fn create(target: &Path) -> Result<ReelWriter, ReelError> {
        let name = target.file_name().unwrap_or_default();
        let mut temporary = OsString::from(name);
        temporary.push(format!(".tmp{}", std::process::id()));
        let temporary = target.with_file_name(temporary);
        let io = |error| ReelError::Io { path: target.to_owned(), error };
        if name.is_empty() || target.is_dir() {
            return Err(io(std::io::ErrorKind::IsADirectory.into()));
        }
        let mut file = BufWriter::new(File::create_new(&temporary).map_err(io)?);
        // Until the end the file begins with zeros, and so is no reel.
        let begun = file.write_all(&[0; HEADER_BYTES]);
        let writer = ReelWriter {
            target: target.to_owned(),
            temporary,
            file: Some(file),
            offset: HEADER_BYTES as u64,
            games_read: 0,
            entries: Vec::new(),
            sections: SectionBytes { other: HEADER_BYTES as u64, ..SectionBytes::default() },
            totals: Totals::default(),
        };
        begun.map_err(|error| writer.io(error))?;
        Ok(writer)
    }

    /// Appends a block.
    ///
    /// # Errors
    ///
    /// [`ReelError::Io`], or [`ReelError::TooLarge`] beyond 2^32 games.
    pub fn append(&mut self, block: &EncodedBlock) -> Result<(), ReelError> {
        self.games_read += u64::from(block.games_read);
        if self.games_read > u64::from(u32::MAX) {
            let what = "a reel numbers games up to 4,294,967,295; make several";
            return Err(ReelError::TooLarge { path: self.target.clone(), what });
        }
        self.write(&block.bytes)?;
        self.entries.push(DirectoryEntry {
            offset: self.offset,
            bytes: block.bytes.len() as u64,
            slots: block.slots,
            games: block.games,
            games_read: block.games_read,
            reserved: 0,
        });
        self.offset += block.bytes.len() as u64;
        self.sections.add(&block.sections);
        self.totals.add(&block.totals);
        Ok(())
    }

    /// Where the reel lies until it is finished.
    pub fn temporary_path(&self) -> &Path {
        &self.temporary
    }

    /// What has been appended so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Writes the directory, makes sure that all of it is on disk, and gives the file its name.
    ///
    /// # Errors
    ///
    /// [`ReelError::Io`].
    pub fn finish(mut self, sources: &[ReelSource]) -> Result<(Totals, SectionBytes), ReelError> {
        let directory = self.directory(sources);
        self.write(&directory)?;
        let mut header = FileHeader {
            magic: MAGIC,
            version: FORMAT_VERSION,
            file_bytes: self.offset + directory.len() as u64,
            directory_offset: self.offset,
            directory_bytes: directory.len() as u64,
            blocks: self.entries.len() as u32,
            directory_crc: crc32fast::hash(&directory),
            ..FileHeader::default()
        };
        header.crc = header.checksum();
        let file = self.file.take().expect("only finish takes it");
        let mut file = file.into_inner().map_err(|error| self.io(error.into_error()))?;
        file.seek(SeekFrom::Start(0))
            .and_then(|_| file.write_all(bytemuck::bytes_of(&header)))
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&self.temporary, &self.target))
            .map_err(|error| self.io(error))?;
        // The name is in the folder; not every file system can make sure of that.
        let folder = self.target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
        self.temporary.clear();
        Ok((std::mem::take(&mut self.totals), self.sections))
    }

    fn directory(&mut self, sources: &[ReelSource]) -> Vec<u8> {
        let mut out = bytemuck::cast_slice(&self.entries).to_vec();
        put(&mut out, sources.len() as u64);
        for source in sources {
            put_bytes(&mut out, source.name.as_bytes());
            put(&mut out, source.bytes.map_or(0, |bytes| bytes.saturating_add(1)));
            put(&mut out, source.games);
            put_bytes(&mut out, source.failure.as_deref().unwrap_or_default().as_bytes());
        }
        self.totals.encode(&mut out);
        let SectionBytes { keys, moves, starts, games, tags, problems, .. } = self.sections;
        [keys, moves, starts, games, tags, problems].iter().for_each(|&bytes| put(&mut out, bytes));
        self.sections.other += out.len() as u64;
        out
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ReelError> {
        let file = self.file.as_mut().expect("only finish takes it");
        file.write_all(bytes).map_err(|error| ReelError::Io { path: self.target.clone(), error })
    }

    fn io(&self, error: std::io::Error) -> ReelError {
        ReelError::Io { path: self.target.clone(), error }
    }
}

impl Drop for ReelWriter {
    fn drop(&mut self) {
        if !self.temporary.as_os_str().is_empty() {
            // Nobody is left to tell; a file without header is no reel anyway.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}
