//! Blocks to a file. A new reel appears under its name only when it is complete; a reel that grows is
//! the old one until its header is written over, in one piece and last.

use std::ffi::OsString;
#[cfg(not(windows))]
use std::fs::TryLockError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::bytes::put;
use super::encode::EncodedBlock;
use super::format::{
    DirectoryEntry, FORMAT_VERSION, FileHeader, HEADER_BYTES, MAGIC, ReelError, SectionBytes,
};
use super::reader::Reel;
use super::source::ReelSource;
use super::totals::Totals;

/// Writes a reel, or adds to one. Unless [`ReelWriter::finish`] is reached, nothing is left of it.
#[derive(Debug)]
pub struct ReelWriter {
    target: PathBuf,
    place: Place,
    /// Taken by `finish`.
    file: Option<BufWriter<File>>,
    offset: u64,
    games_read: u64,
    entries: Vec<DirectoryEntry>,
    sections: SectionBytes,
    totals: Totals,
}

/// Where blocks are written to, and so what is to be cleaned up.
#[derive(Debug)]
enum Place {
    /// A file of its own, which takes the name of the target in the end.
    Beside { temporary: PathBuf, may_replace: bool },
    /// After the end of a reel.
    After(Box<Reel>),
    /// All is done, or may be.
    Final,
}

impl ReelWriter {
    /// Begins a reel, which takes the place of any file of that name when it is complete.
    ///
    /// # Errors
    ///
    /// [`ReelError::Io`] when the folder cannot be written to.
    pub fn create(target: &Path) -> Result<ReelWriter, ReelError> {
        ReelWriter::create_beside(target, true)
    }

    /// Adds to a reel: games and sources that follow are numbered after its own. Begins a reel if there
    /// is none of that name.
    ///
    /// What is there stays untouched until the end. Whatever an append that was interrupted left behind the
    /// end is removed.
    ///
    /// # Errors
    ///
    /// [`ReelError::Busy`] while somebody else adds to it, and those of [`Reel::open`].
    pub fn append_to(target: &Path) -> Result<ReelWriter, ReelError> {
        let failure = |error| ReelError::Append { path: target.to_owned(), error };
        let mut file = match open_alone(target) {
            Ok(Some(file)) => file,
            Ok(None) => return Err(ReelError::Busy { path: target.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return ReelWriter::create_beside(target, false);
            }
            Err(error) => return Err(failure(error)),
        };
        let reel = Reel::open(target)?;
        let end = reel.bytes();
        let begun = file.set_len(end).and_then(|()| file.seek(SeekFrom::Start(end)));
        begun.map_err(failure)?;
        let mut writer = ReelWriter {
            target: target.to_owned(),
            file: Some(BufWriter::new(file)),
            offset: end,
            games_read: reel.games_before(reel.blocks()).into(),
            entries: reel.entries().to_vec(),
            sections: *reel.sections(),
            totals: reel.totals().clone(),
            place: Place::After(Box::new(reel)),
        };
        let padding = end.next_multiple_of(8) - end;
        writer.write(&[0; 8][..padding as usize])?;
        writer.sections.other += padding;
        Ok(writer)
    }

    fn create_beside(target: &Path, may_replace: bool) -> Result<ReelWriter, ReelError> {
        let name = target.file_name().unwrap_or_default();
        let mut temporary = OsString::from(name);
        temporary.push(format!(".tmp{}", std::process::id()));
        let temporary = target.with_file_name(temporary);
        let io = |error| ReelError::Io { path: target.to_owned(), error };
        if name.is_empty() || target.is_dir() {
            return Err(io(io::ErrorKind::IsADirectory.into()));
        }
        let file = BufWriter::new(File::create_new(&temporary).map_err(io)?);
        let mut writer = ReelWriter {
            target: target.to_owned(),
            place: Place::Beside { temporary, may_replace },
            file: Some(file),
            offset: 0,
            games_read: 0,
            entries: Vec::new(),
            sections: SectionBytes { other: HEADER_BYTES as u64, ..SectionBytes::default() },
            totals: Totals::default(),
        };
        // Until the end the file begins with zeros, and so is no reel.
        writer.write(&[0; HEADER_BYTES])?;
        Ok(writer)
    }

    /// Appends a block.
    ///
    /// # Errors
    ///
    /// [`ReelError::Io`], [`ReelError::Append`], or [`ReelError::TooLarge`] beyond 2^32 games.
    pub fn append(&mut self, block: &EncodedBlock) -> Result<(), ReelError> {
        self.games_read += u64::from(block.games_read);
        if self.games_read > u64::from(u32::MAX) {
            let what = "a reel numbers games up to 4,294,967,295; make several";
            return Err(ReelError::TooLarge { path: self.target.clone(), what });
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
        self.totals.add(&block.totals);
        Ok(())
    }

    /// The file that a new reel lies in until it is finished; none for a reel that is added to.
    pub fn temporary_path(&self) -> Option<&Path> {
        match &self.place {
            Place::Beside { temporary, .. } => Some(temporary),
            Place::After(_) | Place::Final => None,
        }
    }

    /// The reel that is added to, as it was before.
    pub fn reel(&self) -> Option<&Reel> {
        match &self.place {
            Place::After(reel) => Some(reel),
            Place::Beside { .. } | Place::Final => None,
        }
    }

    /// What the reel amounts to so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Writes the directory, makes sure that all of it is on disk, and makes the reel valid: a new one
    /// gets its name, one that was added to its header. The sources are those that were added.
    ///
    /// # Errors
    ///
    /// [`ReelError::Io`], [`ReelError::Append`].
    pub fn finish(mut self, sources: &[ReelSource]) -> Result<(Totals, SectionBytes), ReelError> {
        let directory = self.directory(sources);
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
        self.write(&directory)?;
        self.flush().map_err(|error| self.io(error))?;
        self.make_valid(&header).map_err(|error| self.io(error))?;
        Ok((std::mem::take(&mut self.totals), self.sections))
    }

    /// Writes out what is buffered. What a reel grows by must be on disk before its header is written over;
    /// a new reel gets its name only after all of it is.
    fn flush(&mut self) -> io::Result<()> {
        let file = self.file.as_mut().expect("only finish takes it");
        file.flush()?;
        if matches!(self.place, Place::After(_)) { file.get_ref().sync_all() } else { Ok(()) }
    }

    /// All but the header is written.
    fn make_valid(&mut self, header: &FileHeader) -> io::Result<()> {
        if matches!(self.place, Place::After(_)) {
            // From here on the header may be the new one: nothing may be cut off any more.
            self.place = Place::Final;
        }
        let (mut file, _) = self.file.take().expect("only finish takes it").into_parts();
        file.seek(SeekFrom::Start(0))?;
        file.write_all(bytemuck::bytes_of(header))?;
        file.sync_all()?;
        release(&file);
        if let Place::Beside { temporary, may_replace } = &self.place {
            if !may_replace && self.target.exists() {
                let text = "it was made by somebody else meanwhile; append once more";
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
            }
            fs::rename(temporary, &self.target)?;
            // The name is in the folder; not every file system can make sure of that.
            let folder = self.target.parent().filter(|folder| !folder.as_os_str().is_empty());
            let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
            self.place = Place::Final;
        }
        Ok(())
    }

    fn directory(&mut self, sources: &[ReelSource]) -> Vec<u8> {
        let before = self.reel().map_or(&[][..], Reel::sources);
        let mut out = bytemuck::cast_slice(&self.entries).to_vec();
        put(&mut out, (before.len() + sources.len()) as u64);
        before.iter().chain(sources).for_each(|source| source.encode(&mut out));
        self.totals.encode(&mut out);
        let SectionBytes { keys, moves, starts, games, tags, problems, .. } = self.sections;
        [keys, moves, starts, games, tags, problems].iter().for_each(|&bytes| put(&mut out, bytes));
        self.sections.other += out.len() as u64;
        out
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ReelError> {
        let file = self.file.as_mut().expect("only finish takes it");
        let written = file.write_all(bytes);
        self.offset += bytes.len() as u64;
        written.map_err(|error| self.io(error))
    }

    fn io(&self, error: io::Error) -> ReelError {
        let path = self.target.clone();
        match self.place {
            Place::After(_) => ReelError::Append { path, error },
            Place::Beside { .. } | Place::Final => ReelError::Io { path, error },
        }
    }
}

impl Drop for ReelWriter {
    /// Nobody is left to tell if this fails; neither a file without header nor bytes after the end harm.
    fn drop(&mut self) {
        // What the buffer holds is not to be written any more.
        let file = self.file.take().map(|file| file.into_parts().0);
        match (&self.place, file) {
            (Place::Beside { temporary, .. }, _) => drop(fs::remove_file(temporary)),
            (Place::After(reel), Some(file)) => {
                let _ = file.set_len(reel.bytes());
                release(&file);
            }
            (Place::After(_), None) | (Place::Final, _) => {}
        }
    }
}

/// Opens a file for nobody else to write to; `None` if somebody else does. Others may read it.
#[cfg(not(windows))]
fn open_alone(path: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        // Not every file system has locks.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(Some(file)),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The same where a lock would keep readers away as well.
#[cfg(windows)]
fn open_alone(path: &Path) -> io::Result<Option<File>> {
    use std::os::windows::fs::OpenOptionsExt as _;
    const FILE_SHARE_READ: u32 = 1;
    const ERROR_SHARING_VIOLATION: i32 = 32;
    match OpenOptions::new().read(true).write(true).share_mode(FILE_SHARE_READ).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.raw_os_error() == Some(ERROR_SHARING_VIOLATION) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Gives the lock back. Closing the file would not be enough: a process that another thread is just
/// starting has the file open for a moment, and so the lock.
fn release(file: &File) {
    let _ = file.unlock();
}
