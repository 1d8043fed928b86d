//! Reels that are read instead of the files beside which they lie.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::pgn::{READER_VERSION, Stamp};
use crate::reel::Reel;

/// A reel that is read instead of the file that it was made from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Substitute {
    /// The reel.
    pub reel: PathBuf,
    /// The file as given.
    pub file: PathBuf,
}

impl fmt::Display for Substitute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is fresh: reading it instead of {}", self.reel.display(), self.file.display())
    }
}

/// A reel that holds a file as it is now, but not as its games would be read today.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PassedOver {
    /// The reel.
    pub reel: PathBuf,
    /// The file as given.
    pub file: PathBuf,
}

impl fmt::Display for PassedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (reel, file) = (self.reel.display(), self.file.display());
        write!(
            f,
            "{reel} was made from {file} by other rules of reading: reading {file}; `orbit index {file} -o {reel}` \
             makes it anew"
        )
    }
}

/// The reel beside a file that holds all of this file, as it is now, and nothing else: `games.reel` beside
/// `games.pgn` or `games.pgn.zst`. A reel that cannot be opened is passed over in silence; what is wrong with
/// its blocks is found only when they are read, and is an error then ([`DatabaseError::Substitute`](super::DatabaseError)).
///
/// # Errors
///
/// A reel whose games were read by other rules than today's.
pub(super) fn fresh_reel(file: &Path) -> Option<Result<Reel, PassedOver>> {
    let metadata = std::fs::metadata(file).ok().filter(|metadata| metadata.is_file())?;
    let now = Stamp::of(&metadata);
    let reel = Reel::open(&reel_path(file)).ok()?;
    let [source] = reel.sources() else { return None };
    let is_whole = source.stamp.hash.is_some() && source.failure.is_none() && source.duplicates == 0;
    let same_name = Path::new(&source.name).file_name() == file.file_name();
    let same_stamp = now.modified_ns.is_some() && Stamp { hash: None, ..source.stamp } == now;
    (is_whole && same_name && same_stamp).then(|| match reel.reader() {
        READER_VERSION => Ok(reel),
        _ => Err(PassedOver { reel: reel.path().to_owned(), file: file.to_owned() }),
    })
}

/// The name that the reel of a file has, in the same folder.
fn reel_path(file: &Path) -> PathBuf {
    let packed = file
        .extension()
        .is_some_and(|end| ["zst", "gz", "bz2"].iter().any(|packed| end.eq_ignore_ascii_case(packed)));
    let plain = if packed { file.with_extension("") } else { file.to_owned() };
    plain.with_extension("reel")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reel_has_the_name_of_its_file() {
        for (file, reel) in [
            ("games.pgn", "games.reel"),
            ("a/games.pgn.zst", "a/games.reel"),
            ("games.PGN.GZ", "games.reel"),
            ("twic.1500.epd.bz2", "twic.1500.reel"),
            ("twic.1500.pgn", "twic.1500.reel"),
            ("games", "games.reel"),
        ] {
            assert_eq!(reel_path(Path::new(file)), Path::new(reel));
        }
    }
}
