//! What a file is known by, so that it can be told later whether it is still the same.
//!
//! A time alone proves nothing and a hash costs a pass over the file: size and time are compared first,
//! and the content only where they leave a doubt.

use std::fs::{self, File, Metadata};
use std::hash::Hasher as _;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::UNIX_EPOCH;

use twox_hash::XxHash3_64;

/// What a file was like when it was read. Of what is no file, only the content may be known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stamp {
    /// Its size as stored, before decompression; of what is no file, how much of it there was.
    pub bytes: Option<u64>,
    /// When it was last written to, in nanoseconds since 1970.
    pub modified_ns: Option<u64>,
    /// XXH3 (64 bits) of its bytes as stored; unknown where it was not read to its end, or nobody asked for it
    /// ([`Options::hash`](super::Options::hash)).
    pub hash: Option<u64>,
}

/// A file that is there now beside what is known of the one that was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Freshness {
    /// Size and time are the same.
    Fresh,
    /// The time differs; size and content are the same.
    Touched,
    /// Size or content differ.
    Changed,
    /// There is no such file.
    Missing,
    /// The size is the same and the time differs; the content was not compared.
    Unread,
    /// Too little is known to tell: it was not read to its end, or was no file.
    Unknown,
}

impl Freshness {
    /// Whether the bytes are known to be the ones that were read.
    pub fn is_same(self) -> bool {
        matches!(self, Freshness::Fresh | Freshness::Touched)
    }
}

impl Stamp {
    /// Size and time of a file. Nothing is known of pipes and devices.
    pub fn of(metadata: &Metadata) -> Stamp {
        if !metadata.is_file() {
            return Stamp::default();
        }
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified_ns = modified.and_then(|time| u64::try_from(time.as_nanos()).ok());
        Stamp { bytes: Some(metadata.len()), modified_ns: modified_ns.filter(|&ns| ns > 0), hash: None }
    }

    /// Compares with the file of that path, which is read only where its size is the same and its time is
    /// not.
    ///
    /// # Errors
    ///
    /// Why the file cannot be looked at.
    pub fn compare(&self, path: &Path) -> io::Result<Freshness> {
        match (self.compare_unread(path)?, self.hash) {
            (Freshness::Unread, Some(hash)) if hash == hash_file(path)? => Ok(Freshness::Touched),
            (Freshness::Unread, _) => Ok(Freshness::Changed),
            (freshness, _) => Ok(freshness),
        }
    }

    /// The same by size and time alone: where these leave the content in doubt, that is the answer.
    ///
    /// # Errors
    ///
    /// Why the file cannot be looked at.
    pub fn compare_unread(&self, path: &Path) -> io::Result<Freshness> {
        let now = match fs::metadata(path) {
            Ok(metadata) => Stamp::of(&metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Freshness::Missing),
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

/// XXH3 (64 bits) of a file's bytes as stored.
///
/// # Errors
///
/// Why the file cannot be read.
pub fn hash_file(path: &Path) -> io::Result<u64> {
    let mut file = File::open(path)?;
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
