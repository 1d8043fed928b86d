//! Writes blocks to a file. A new reel is written under a temporary name and renamed when it is complete. An append
//! leaves the old contents of a reel valid until its last step, which overwrites the header.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::bytes::put;
use super::encode::EncodedBlock;
use super::format::{
    DIRECTORY_BYTES_MAX, DirectoryEntry, FORMAT_VERSION, FileHeader, HEADER_BYTES, MAGIC, ReelError,
    SOURCES_MAX, SectionBytes,
};
use super::reader::Reel;
use super::source::ReelSource;
use super::totals::Totals;
use orbit_core::files::{Early, Temporary, is_at, open_alone, release, target_of};
use orbit_pgn::READER_VERSION;

/// A writer that creates a reel or appends to one. Unless [`ReelWriter::finish`] is called, everything it wrote is removed.
#[derive(Debug)]
pub struct ReelWriter {
    /// The path as it was given.
    path: PathBuf,
    place: Destination,
    /// The open file; `None` after `finish`.
    file: Option<BufWriter<File>>,
    offset: u64,
    early: Early,
    games_read: u64,
    entries: Vec<DirectoryEntry>,
    sections: SectionBytes,
    totals: Totals,
    side_lines: u64,
    variations: bool,
}

/// The place where blocks are written. It determines the clean-up after a failure.
#[derive(Debug)]
enum Destination {
    /// A temporary file, which gets the target's name at the end.
    Beside { temporary: Temporary, instead: Instead },
    /// The space after the end of an existing reel.
    After(Box<Reel>),
    /// The final name or header may already have been written, so nothing may be removed now.
    Final,
}

/// The existing file that a new reel may replace.
#[derive(Debug)]
enum Instead {
    /// No file: a file with the target's name may exist neither at the beginning nor at the end.
    Nothing,
    /// Any file that has the target's name when the reel is complete. If a file has that name at the beginning, it stays locked
    /// until then. Otherwise, games that another process appends meanwhile would be lost.
    Any(Option<File>),
}

impl ReelWriter {
    /// Starts a new reel. Once complete, it replaces any existing file with its name.
    ///
    /// # Errors
    ///
    /// Returns [`ReelError::NoFile`] for devices, pipes and folders; [`ReelError::Busy`] while another process appends
    /// to the file or replaces it; [`ReelError::Io`] if nothing can be written to the folder.
    pub fn create(path: &Path) -> Result<ReelWriter, ReelError> {
        let failure = |error| ReelError::Io { path: path.to_owned(), error };
        check_kind(path)?;
        match open_alone(path) {
            Ok(Some(file)) => ReelWriter::create_beside(path, Instead::Any(Some(file))),
            Ok(None) => Err(ReelError::Busy { path: path.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                ReelWriter::create_beside(path, Instead::Any(None))
            }
            Err(error) => Err(failure(error)),
        }
    }

    /// Starts an append to a reel. New games and sources are numbered after the existing ones. If the file is empty or does not
    /// exist, a new reel is started.
    ///
    /// The existing reel stays valid until the append is finished. Bytes that an interrupted append left after the end
    /// of the reel are removed.
    ///
    /// # Errors
    ///
    /// Returns [`ReelError::Busy`] while another process appends to the reel or replaces it, [`ReelError::NoFile`],
    /// [`ReelError::OtherRules`], and the errors of [`Reel::open`].
    pub fn append_to(path: &Path) -> Result<ReelWriter, ReelError> {
        let failure = |error| ReelError::Append { path: path.to_owned(), error };
        check_kind(path)?;
        let mut file = match open_alone(path) {
            Ok(Some(file)) => file,
            Ok(None) => return Err(ReelError::Busy { path: path.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return ReelWriter::create_beside(path, Instead::Nothing);
            }
            Err(error) => return Err(failure(error)),
        };
        if file.metadata().map_err(failure)?.len() == 0 {
            return ReelWriter::create_beside(path, Instead::Any(Some(file)));
        }
        let reel = Reel::open(path)?;
        if reel.reader() != READER_VERSION && !reel.sources().is_empty() {
            return Err(ReelError::OtherRules { path: path.to_owned() });
        }
        let end = reel.bytes();
        let begun = file.set_len(end).and_then(|()| file.seek(SeekFrom::Start(end)));
        begun.map_err(failure)?;
        let mut writer = ReelWriter {
            path: path.to_owned(),
            file: Some(BufWriter::new(file)),
            offset: end,
            early: Early::from(end),
            games_read: reel.games_before(reel.blocks()).into(),
            entries: reel.entries().to_vec(),
            sections: *reel.sections(),
            totals: reel.totals().clone(),
            side_lines: reel.side_lines(),
            variations: reel.keeps_variations(),
            place: Destination::After(Box::new(reel)),
        };
        let padding = end.next_multiple_of(8) - end;
        writer.write(&[0; 8][..padding as usize])?;
        writer.sections.other += padding;
        Ok(writer)
    }

    fn create_beside(path: &Path, instead: Instead) -> Result<ReelWriter, ReelError> {
        let failure = |error| ReelError::Io { path: path.to_owned(), error };
        // Links are followed: the target of the link is written.
        let target = target_of(path).map_err(failure)?;
        if target.file_name().is_none() {
            return Err(failure(io::ErrorKind::InvalidFilename.into()));
        }
        let (temporary, file) = Temporary::create(target).map_err(|(_, error)| match error.kind() {
            io::ErrorKind::AlreadyExists => ReelError::Busy { path: path.to_owned() },
            _ => failure(error),
        })?;
        let mut writer = ReelWriter {
            path: path.to_owned(),
            place: Destination::Beside { temporary, instead },
            file: Some(BufWriter::new(file)),
            offset: 0,
            early: Early::from(0),
            games_read: 0,
            entries: Vec::new(),
            sections: SectionBytes { other: HEADER_BYTES as u64, ..SectionBytes::default() },
            totals: Totals::default(),
            side_lines: 0,
            variations: false,
        };
        // Until the reel is finished, the file begins with zeros and is therefore not a valid reel.
        writer.write(&[0; HEADER_BYTES])?;
        Ok(writer)
    }

    /// Appends a block, whose totals are `totals`.
    ///
    /// # Errors
    ///
    /// Returns [`ReelError::Io`], [`ReelError::Append`], or [`ReelError::TooLarge`] if the reel would have more than
    /// 2^32 games or the block exceeds a limit.
    pub fn append(&mut self, block: &EncodedBlock, totals: &Totals) -> Result<(), ReelError> {
        if let Some(what) = block.excess {
            return Err(ReelError::TooLarge { path: self.path.clone(), what });
        }
        self.games_read += u64::from(block.games_read);
        if self.games_read > u64::from(u32::MAX) {
            let what = "a reel can have at most 4,294,967,295 games: make several reels";
            return Err(ReelError::TooLarge { path: self.path.clone(), what });
        }
        self.entries.push(DirectoryEntry {
            offset: self.offset,
            bytes: block.bytes.len() as u64,
            slots: block.slots,
            games: block.games,
            games_read: block.games_read,
            reserved: 0,
        });
        self.write(&block.bytes)?;
        self.sections.add(&block.sections);
        self.totals.add(totals);
        Ok(())
    }

    /// Adds to the count of side lines (variations) omitted from the reel.
    pub fn pass_over(&mut self, side_lines: u64) {
        self.side_lines = self.side_lines.saturating_add(side_lines);
    }

    /// Sets the header flag that marks a reel with side lines, comments and glyphs.
    pub fn keep_variations(&mut self, variations: bool) {
        self.variations = variations;
    }

    /// Returns the path of the temporary file, or `None` for an append.
    pub fn temporary_path(&self) -> Option<&Path> {
        match &self.place {
            Destination::Beside { temporary, .. } => Some(temporary.path()),
            Destination::After(_) | Destination::Final => None,
        }
    }

    /// Returns the existing reel as it was before the append, or `None` for a new reel.
    pub fn reel(&self) -> Option<&Reel> {
        match &self.place {
            Destination::After(reel) => Some(reel),
            Destination::Beside { .. } | Destination::Final => None,
        }
    }

    /// Returns the totals of the reel so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Writes the directory, syncs the file to disk, and makes the reel valid: a new reel is renamed to its final name,
    /// and an existing reel gets its new header. `sources` are the sources of the new games.
    ///
    /// # Errors
    ///
    /// Returns [`ReelError::Io`], [`ReelError::Append`], or [`ReelError::TooLarge`] if there are too many sources.
    pub fn finish(mut self, sources: &[ReelSource]) -> Result<(Totals, SectionBytes), ReelError> {
        let directory = self.directory(sources);
        let sources_all = self.reel().map_or(0, |reel| reel.sources().len()) + sources.len();
        if directory.len() as u64 > DIRECTORY_BYTES_MAX || sources_all > SOURCES_MAX {
            let what = "too many sources for one reel: make several reels";
            return Err(ReelError::TooLarge { path: self.path.clone(), what });
        }
        let mut header = FileHeader {
            magic: MAGIC,
            version: FORMAT_VERSION,
            file_bytes: self.offset + directory.len() as u64,
            directory_offset: self.offset,
            directory_bytes: directory.len() as u64,
            blocks: self.entries.len() as u32,
            directory_crc: crc32fast::hash(&directory),
            reader: self.reader_of_all(sources),
            side_lines: [self.side_lines as u32, (self.side_lines >> 32) as u32],
            variations: self.variations.into(),
            ..FileHeader::default()
        };
        header.crc = header.checksum();
        self.write(&directory)?;
        self.flush().map_err(|error| self.io(error))?;
        self.make_valid(&header).map_err(|error| self.io(error))?;
        Ok((std::mem::take(&mut self.totals), self.sections))
    }

    /// Flushes the buffer. When blocks are appended to a reel, they must be on disk before its header is overwritten. A
    /// new reel is synced later, before it gets its name.
    fn flush(&mut self) -> io::Result<()> {
        let file = self.file.as_mut().expect("only finish takes it");
        file.flush()?;
        if matches!(self.place, Destination::After(_)) { file.get_ref().sync_all() } else { Ok(()) }
    }

    /// Makes the reel valid. Everything except the header has already been written.
    fn make_valid(&mut self, header: &FileHeader) -> io::Result<()> {
        if matches!(self.place, Destination::After(_)) {
            let file = self.file.as_ref().expect("only finish takes it").get_ref();
            if !is_at(file, &self.path)? {
                return Err(io::Error::other("another process has replaced the reel; append again"));
            }
            // From here on, the file may already have the new header, so it must no longer be truncated.
            self.place = Destination::Final;
        }
        let (mut file, _) = self.file.take().expect("only finish takes it").into_parts();
        file.seek(SeekFrom::Start(0))?;
        file.write_all(bytemuck::bytes_of(header))?;
        file.sync_all()?;
        if let Destination::Beside { temporary, instead } =
            std::mem::replace(&mut self.place, Destination::Final)
        {
            let (named, before) = match instead {
                Instead::Nothing => (temporary.replace_nothing(), None),
                Instead::Any(before) => (temporary.replace(), before),
            };
            before.iter().for_each(release);
            named?;
        }
        // The lock is kept until the new reel has its name. Otherwise another process could remove the file as a
        // leftover of an interrupted run.
        release(&file);
        Ok(())
    }

    /// Returns the version of the rules by which the games of all sources were read, or 0 if the versions differ.
    fn reader_of_all(&self, sources: &[ReelSource]) -> u32 {
        let before = self.reel().map_or(&[][..], Reel::sources);
        let mut readers = before.iter().chain(sources).map(|source| source.reader);
        let first = readers.next().unwrap_or_default();
        if readers.all(|reader| reader == first) { first } else { 0 }
    }

    fn directory(&mut self, sources: &[ReelSource]) -> Vec<u8> {
        let before = self.reel().map_or(&[][..], Reel::sources);
        let mut out = bytemuck::cast_slice(&self.entries).to_vec();
        put(&mut out, (before.len() + sources.len()) as u64);
        before.iter().chain(sources).for_each(|source| source.encode(&mut out));
        self.totals.encode(&mut out);
        let SectionBytes { keys, moves, starts, games, tags, problems, annotations, .. } = self.sections;
        let all = [keys, moves, starts, games, tags, problems, annotations];
        all.iter().for_each(|&bytes| put(&mut out, bytes));
        self.sections.other += out.len() as u64;
        out
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ReelError> {
        let file = self.file.as_mut().expect("only finish takes it");
        let written = file.write_all(bytes);
        self.offset += bytes.len() as u64;
        self.early.advise(file.get_ref(), self.offset);
        written.map_err(|error| self.io(error))
    }

    fn io(&self, error: io::Error) -> ReelError {
        let path = self.path.clone();
        match self.place {
            Destination::After(_) => ReelError::Append { path, error },
            Destination::Beside { .. } | Destination::Final => ReelError::Io { path, error },
        }
    }
}

impl Drop for ReelWriter {
    /// Removes everything this writer wrote, unless [`ReelWriter::finish`] was called. Errors are ignored, since readers reject a
    /// file without a header and ignore bytes after the end of a reel.
    fn drop(&mut self) {
        // The file is taken out of the buffered writer, which discards the rest of the buffer.
        let file = self.file.take().map(|file| file.into_parts().0);
        match (&self.place, file) {
            // Dropping `temporary` removes the temporary file.
            (Destination::Beside { instead, .. }, _) => {
                if let Instead::Any(Some(before)) = instead {
                    release(before);
                }
            }
            (Destination::After(reel), Some(file)) => {
                let _ = file.set_len(reel.bytes());
                release(&file);
            }
            (Destination::After(_), None) | (Destination::Final, _) => {}
        }
    }
}

/// Returns an error for folders, devices and pipes. A new file must not replace them, and opening a pipe may block.
fn check_kind(path: &Path) -> Result<(), ReelError> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => Err(ReelError::NoFile { path: path.to_owned() }),
        _ => Ok(()),
    }
}
