//! The identity of a file, by which a later run can tell whether the file is still the same.

use std::fs::Metadata;
use std::time::UNIX_EPOCH;

/// The state of a file when it was read. For a source that is no file, only the content may be known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stamp {
    /// The size as stored, before decompression; for a source that is no file, the number of bytes read.
    pub bytes: Option<u64>,
    /// The time of the last change, in nanoseconds since 1970.
    pub modified_ns: Option<u64>,
    /// XXH3 (64 bits) of the bytes as stored. Unknown if the source was not read to its end, or if
    /// [`Options::hash`](super::Options::hash) was not set.
    pub hash: Option<u64>,
}

/// The result of comparing a file with its earlier stamp.
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
    /// Too little is known to decide: the source was not read to its end, or was no file.
    Unknown,
}

impl Freshness {
    /// Returns whether the bytes are known to be those that were read.
    pub fn is_same(self) -> bool {
        matches!(self, Freshness::Fresh | Freshness::Touched)
    }
}

impl Stamp {
    /// Returns size and time of a file. Nothing is known of pipes and devices.
    pub fn from_metadata(metadata: &Metadata) -> Stamp {
        if !metadata.is_file() {
            return Stamp::default();
        }
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified_ns = modified.and_then(|time| u64::try_from(time.as_nanos()).ok());
        Stamp { bytes: Some(metadata.len()), modified_ns: modified_ns.filter(|&ns| ns > 0), hash: None }
    }
}

/// Returns whether the metadata of two calls belong to the same file, as far as the system can tell.
#[cfg(unix)]
pub(super) fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
pub(super) fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    a.created().ok() == b.created().ok()
}
