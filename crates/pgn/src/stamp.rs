//! Records the identity of a file. A later run can then check that the file is unchanged.

use std::fs::Metadata;
use std::time::UNIX_EPOCH;

/// The size, the time and the hash of a file when it was read. Unknown values are `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stamp {
    /// The size in bytes before decompression. If the source is not a file, this is the number of bytes read.
    pub bytes: Option<u64>,
    /// The time of the last change, in nanoseconds since 1970.
    pub modified_ns: Option<u64>,
    /// The XXH3 hash (64 bits) of the bytes before decompression. It is `None` if the source was not read to its end, or if
    /// [`Options::hash`](super::Options::hash) was not set.
    pub hash: Option<u64>,
}

/// The result of comparing a file with an earlier stamp of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Freshness {
    /// The file has the size and the time that the stamp records.
    Fresh,
    /// The file has the recorded size and content, but another time.
    Touched,
    /// The file has another size or content than the stamp records.
    Changed,
    /// No file exists at the path.
    Missing,
    /// The file has the recorded size, but another time. Its content was not compared.
    Unread,
    /// The stamp lacks the size or the hash, so it cannot show whether the file has changed. The source was not read to its end,
    /// was not hashed, or was not a file.
    Unknown,
}

impl Freshness {
    /// Returns whether the file is known to have the same bytes as when it was read.
    pub fn is_same(self) -> bool {
        matches!(self, Freshness::Fresh | Freshness::Touched)
    }
}

impl Stamp {
    /// Returns the size and the time of a file. Both are unknown for pipes and devices.
    pub fn from_metadata(metadata: &Metadata) -> Stamp {
        if !metadata.is_file() {
            return Stamp::default();
        }
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified_ns = modified.and_then(|time| u64::try_from(time.as_nanos()).ok());
        Stamp { bytes: Some(metadata.len()), modified_ns: modified_ns.filter(|&ns| ns > 0), hash: None }
    }
}

/// Returns whether two pieces of metadata are of the same file, by comparing inode numbers, which only Unix has.
#[cfg(unix)]
pub(super) fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
pub(super) fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    a.created().ok() == b.created().ok()
}
