//! Describes the sources of a reel, and checks that they still exist unchanged.

use std::io;
use std::path::{Path, PathBuf};

use super::bytes::{ByteReader, ListFault, put, put_bytes};
use orbit_pgn::{Freshness, Stamp, is_file};

/// A source of a reel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReelSource {
    /// The path as the user gave it, or the name of a source without a path.
    pub name: String,
    /// The absolute path of the file when it was read, with symbolic links resolved. `None` if the source is not a
    /// file, if the path is not UTF-8, or if the reel has version 1 of the format.
    pub path: Option<PathBuf>,
    /// The stamp (size, time and hash) of the file when it was read.
    pub stamp: Stamp,
    /// The number of games in the source, including skipped ones.
    pub games: u64,
    /// The number of games dropped as duplicates of earlier games. Dropped games also count as skipped.
    pub duplicates: u64,
    /// The reason why the source was not read to its end, or `None` if it was.
    pub failure: Option<String>,
    /// The version of the rules by which the games of the source were read (the value of
    /// [`READER_VERSION`](orbit_pgn::READER_VERSION) at that time); 0 if it is unknown. A reel stores one version for all its
    /// sources, so it is also 0 if their versions differ.
    pub reader: u32,
}

impl ReelSource {
    /// Returns the current path of the source's file. Three paths are tried: the old path, the file name in the folder of `reel`,
    /// and the file name in the current folder. The result is the first path at which the size and time are unchanged, or else the
    /// first at which a file exists.
    pub fn locate(&self, reel: &Path) -> Option<PathBuf> {
        let name = Path::new(&self.name);
        let beside = reel.parent().map(|folder| folder.join(name));
        let places = [self.path.clone(), beside, Some(name.to_owned())].into_iter().flatten();
        let mut found: Vec<PathBuf> = places.filter(|path| is_file(path)).collect();
        let stamp = Stamp { hash: None, ..self.stamp };
        let is_same = |path: &PathBuf| Stamp::at(path).is_ok_and(|now| now == stamp);
        let index = found.iter().position(is_same).unwrap_or(0);
        (!found.is_empty()).then(|| found.swap_remove(index))
    }

    /// Returns true if the source was a file, judging by its stamp. For a stream, only the size and the hash of the content are
    /// known.
    pub fn is_file(&self) -> bool {
        let Stamp { bytes, modified_ns, hash } = self.stamp;
        bytes.is_some() && (self.path.is_some() || modified_ns.is_some() || hash.is_none())
    }

    /// Returns true if nothing was read from the source, for instance because the file could not be opened.
    pub fn is_nothing(&self) -> bool {
        self.failure.is_some() && self.games == 0
    }

    /// Compares the source's file with the stamp that it had when it was read, to find out whether it has changed. The content is
    /// read only if the size is the same and the time differs.
    ///
    /// # Errors
    ///
    /// Returns the reason why the file cannot be examined.
    pub fn freshness(&self, reel: &Path) -> io::Result<Freshness> {
        self.compare(reel, Stamp::compare)
    }

    /// Like [`ReelSource::freshness`], but never reads the content of the file. If only the hash of the content could show whether
    /// the file has changed, the result is [`Freshness::Unread`].
    ///
    /// # Errors
    ///
    /// Returns the reason why the file cannot be examined.
    pub fn freshness_unread(&self, reel: &Path) -> io::Result<Freshness> {
        self.compare(reel, Stamp::compare_unread)
    }

    fn compare(
        &self,
        reel: &Path,
        compare: impl Fn(&Stamp, &Path) -> io::Result<Freshness>,
    ) -> io::Result<Freshness> {
        if !self.is_file() {
            return Ok(Freshness::Unknown);
        }
        match self.locate(reel) {
            Some(path) => compare(&self.stamp, &path),
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
        let path = self.path.as_deref().and_then(Path::to_str);
        put_bytes(out, path.unwrap_or_default().as_bytes());
    }

    /// Decodes the output of [`ReelSource::encode`]. In format version 1, an entry ends after the failure. `reader` is the version
    /// of the reading rules, which is stored in the header.
    pub(super) fn decode(
        bytes: &mut ByteReader<'_>,
        version: u32,
        reader: u32,
    ) -> Result<ReelSource, ListFault> {
        let name = bytes.text()?;
        let (size, games) = (bytes.number()?, bytes.number()?);
        let failure = Some(bytes.text()?).filter(|failure| !failure.is_empty());
        let mut source = ReelSource { name, games, failure, reader, ..ReelSource::default() };
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
            source.path = Some(bytes.text()?).filter(|path| !path.is_empty()).map(PathBuf::from);
        }
        Ok(source)
    }
}
