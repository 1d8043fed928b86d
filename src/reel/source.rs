//! What a reel was made from, and whether that is still there.

use std::io;
use std::path::{Path, PathBuf};

use super::bytes::{Bytes, Fault, put, put_bytes};
use crate::pgn::{Freshness, Stamp};

/// A source of a reel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReelSource {
    /// The path as given, or what stood in for one.
    pub name: String,
    /// What the file was known by when it was read.
    pub stamp: Stamp,
    /// Games in it, skipped ones included.
    pub games: u64,
    /// How many of them were dropped as duplicates of earlier ones; they are among the skipped.
    pub duplicates: u64,
    /// Why it was not read to its end, if it was not.
    pub failure: Option<String>,
}

impl ReelSource {
    /// Where the file is now. A relative name is looked up in the current folder, then in the one where
    /// `reel` lies; `None` if it is in neither.
    pub fn locate(&self, reel: &Path) -> Option<PathBuf> {
        let name = Path::new(&self.name);
        let beside = reel.parent().map(|folder| folder.join(name));
        [Some(name.to_owned()), beside].into_iter().flatten().find(|path| path.is_file())
    }

    /// Compares the file that is there now with the one that was read. It is read only where its size is
    /// the same and its time is not.
    ///
    /// # Errors
    ///
    /// Why the file cannot be looked at.
    pub fn freshness(&self, reel: &Path) -> io::Result<Freshness> {
        if self.stamp == Stamp::default() {
            return Ok(Freshness::Unknown);
        }
        match self.locate(reel) {
            Some(path) => self.stamp.compare(&path),
            None => Ok(Freshness::Missing),
        }
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let or_zero = |value: Option<u64>| value.map_or(0, |value| value.saturating_add(1));
        put_bytes(out, self.name.as_bytes());
        put(out, or_zero(self.stamp.bytes));
        put(out, self.games);
        put_bytes(out, self.failure.as_deref().unwrap_or_default().as_bytes());
        put(out, or_zero(self.stamp.modified_ns));
        match self.stamp.hash {
            Some(hash) => put_bytes(out, &hash.to_le_bytes()),
            None => put_bytes(out, &[]),
        }
        put(out, self.duplicates);
    }

    /// Reads what [`ReelSource::encode`] wrote; version 1 ended after the failure.
    pub(super) fn decode(bytes: &mut Bytes<'_>, version: u32) -> Result<ReelSource, Fault> {
        let name = bytes.text()?;
        let (size, games) = (bytes.number()?, bytes.number()?);
        let failure = Some(bytes.text()?).filter(|failure| !failure.is_empty());
        let mut source = ReelSource { name, games, failure, ..ReelSource::default() };
        source.stamp.bytes = size.checked_sub(1);
        if version >= 2 {
            source.stamp.modified_ns = bytes.number()?.checked_sub(1);
            source.stamp.hash = match bytes.string()? {
                [] => None,
                hash => Some(hash.try_into().map_err(|_| "a source's hash is not of 8 bytes")?),
            }
            .map(u64::from_le_bytes);
            source.duplicates = bytes.number()?;
            if source.duplicates > source.games {
                return Err("a source has more duplicates than games");
            }
        }
        Ok(source)
    }
}
