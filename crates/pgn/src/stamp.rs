//! What a file is known by, so that it can be told later whether it is still the same.

use std::fs::Metadata;
use std::time::UNIX_EPOCH;

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
    pub fn from_metadata(metadata: &Metadata) -> Stamp {
        if !metadata.is_file() {
            return Stamp::default();
        }
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified_ns = modified.and_then(|time| u64::try_from(time.as_nanos()).ok());
        Stamp { bytes: Some(metadata.len()), modified_ns: modified_ns.filter(|&ns| ns > 0), hash: None }
    }
}

/// Tells whether two looks at a path found the same file, as far as the system can tell.
#[cfg(unix)]
pub(super) fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
pub(super) fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    a.created().ok() == b.created().ok()
}
