//! Checks whether the file or archive member at a path exists, and whether it is unchanged.
//!
//! The size and the time are compared first. Only if they do not settle the question is the content hashed, since hashing reads the
//! whole file.

use std::fs::{self, File};
use std::hash::Hasher as _;
use std::io::{self, Read as _};
use std::path::Path;

use twox_hash::XxHash3_64;

use super::archive::{self, ArchiveRefusal, Unpacking};
use super::{Freshness, Options, Stamp};

impl Stamp {
    /// Returns the size and the time of the file at a path. For an archive member, these are the member's size and the archive's
    /// time.
    ///
    /// # Errors
    ///
    /// Returns the reason why the file cannot be examined.
    pub fn at(path: &Path) -> io::Result<Stamp> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(Stamp::from_metadata(&metadata)),
            Err(error) => {
                archive::member(path)?.map_or(Err(error), |(archive, number)| Ok(archive.stamp(number)))
            }
        }
    }

    /// Compares the stamp with the file at a path, to find out whether the file has changed. The content is read only if the size
    /// is the same but the time differs.
    ///
    /// # Errors
    ///
    /// Returns the reason why the file cannot be examined.
    pub fn compare(&self, path: &Path) -> io::Result<Freshness> {
        match (self.compare_unread(path)?, self.hash) {
            (Freshness::Unread, Some(hash)) if hash == hash_file(path)? => Ok(Freshness::Touched),
            (Freshness::Unread, _) => Ok(Freshness::Changed),
            (freshness, _) => Ok(freshness),
        }
    }

    /// Compares the stamp with the file at a path, by size and time only. Returns [`Freshness::Unread`] if these do not settle the
    /// question, but the hash of the content would.
    ///
    /// # Errors
    ///
    /// Returns the reason why the file cannot be examined.
    pub fn compare_unread(&self, path: &Path) -> io::Result<Freshness> {
        let now = match Stamp::at(path) {
            Ok(stamp) => stamp,
            // If a member was removed from its archive, the system sees a path through a file, and reports `NotADirectory`.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Freshness::Missing);
            }
            Err(error) => return Err(error),
        };
        let (Some(bytes), Some(bytes_now)) = (self.bytes, now.bytes) else { return Ok(Freshness::Unknown) };
        if bytes != bytes_now {
            return Ok(Freshness::Changed);
        }
        if self.modified_ns.is_some() && self.modified_ns == now.modified_ns {
            return Ok(Freshness::Fresh);
        }
        Ok(if self.hash.is_some() { Freshness::Unread } else { Freshness::Unknown })
    }
}

/// Returns whether a path leads to a file, or to a member of an archive. If an archive cannot be read, every path into it counts as
/// a member.
pub fn is_file(path: &Path) -> bool {
    match Stamp::at(path) {
        Ok(stamp) => stamp.bytes.is_some(),
        Err(error) => ArchiveRefusal::told(&error).is_some(),
    }
}

/// Returns the XXH3 hash (64 bits) of a file or of a member of an archive. A file is hashed as stored, even if it is compressed; a
/// member is hashed after unpacking.
///
/// # Errors
///
/// Returns the reason why the file cannot be read.
pub fn hash_file(path: &Path) -> io::Result<u64> {
    let mut file: Box<dyn io::Read> = match (File::open(path), archive::member(path)?) {
        (Err(_), Some((archive, number))) => {
            archive.read(number, &mut Unpacking::default(), &Options::default())?
        }
        (file, _) => Box::new(file?),
    };
    let (mut hasher, mut buffer) = (XxHash3_64::new(), vec![0; 1 << 18]);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finish()),
            Ok(length) => hasher.write(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
