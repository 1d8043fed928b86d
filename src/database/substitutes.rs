//! Reels that are read instead of the PGN files in the same folder from which they were made.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::pgn::{self, READER_VERSION, Stamp};
use crate::reel::{Manifest, Reel, ReelSource};

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
        let (reel, file) = (self.reel.display(), self.file.display());
        write!(f, "reading {reel} instead of {file}, from which it was made (--no-reel reads {file})")
    }
}

/// A reel of the present content of a file, made by a version of this program that read games by other rules.
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
            "reading {file}, not {reel}: another version of orbit made the reel and read games by other rules; \
             `orbit index {file} -o {reel}` makes it again"
        )
    }
}

/// A reel, or a folder of reels, that was made by a version of this program that read games by other rules, and is read all the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outdated {
    /// The reel, or the folder.
    pub reel: PathBuf,
    /// Options and files that make it again.
    again: String,
}

impl Outdated {
    /// A reel, if its games were read by other rules than those of this version.
    pub fn of_reel(reel: &Reel) -> Option<Outdated> {
        let options = if reel.keeps_variations() { "--variations " } else { "" };
        let path = reel.path().to_owned();
        Outdated::of(path, reel.reader(), reel.sources(), options.to_owned())
    }

    /// The same of a folder.
    pub fn of_shards(folder: &Path, manifest: &Manifest) -> Option<Outdated> {
        let options = if manifest.variations { "--variations --shards SIZE " } else { "--shards SIZE " };
        let path = folder.to_owned();
        Outdated::of(path, manifest.reader_version, &manifest.reel_sources(), options.to_owned())
    }

    fn of(reel: PathBuf, reader: u32, sources: &[ReelSource], options: String) -> Option<Outdated> {
        let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
        let files = match names.len() {
            1..=NAMES_MAX => names.join(" "),
            _ => String::from("PATHS"),
        };
        (reader != READER_VERSION && !names.is_empty()).then(|| Outdated { reel, again: options + &files })
    }
}

/// Files that a message names at most.
const NAMES_MAX: usize = 3;

impl fmt::Display for Outdated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reel = self.reel.display();
        write!(
            f,
            "another version of orbit made {reel} and read games by other rules, so that answers may differ from those of its files; \
             `orbit index {} -o {reel}` makes it again",
            self.again
        )
    }
}

/// The reel of the present content of a file, and of nothing else, in the same folder: `games.reel` for `games.pgn`,
/// `games.pgn.zst` or `games.zip`; and the file, or its members. A reel that cannot be opened is ignored. Damage in its blocks is
/// found when they are read, and is an error then ([`DatabaseError::Substitute`](super::DatabaseError)).
///
/// # Errors
///
/// A reel whose games were read by other rules than those of this version.
pub(super) fn fresh_reel(file: &Path) -> Option<Result<(Reel, Vec<PathBuf>), PassedOver>> {
    if !std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file()) {
        return None;
    }
    let reel = Reel::open(&reel_path(file)).ok()?;
    let (files, _) = pgn::list(&[file.to_owned()]).ok()?;
    let folder = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
    let is_of = |source: &ReelSource, now: &PathBuf| {
        let is_whole = source.stamp.hash.is_some() && source.failure.is_none() && source.duplicates == 0;
        // A member has the name of its archive before its own.
        let below = now.strip_prefix(folder(file)).unwrap_or(now);
        let same_name = Path::new(&source.name).ends_with(below);
        let Ok(now) = Stamp::at(now) else { return false };
        let same_stamp = now.modified_ns.is_some() && Stamp { hash: None, ..source.stamp } == now;
        is_whole && same_name && same_stamp
    };
    let sources = reel.sources();
    let is_same = sources.len() == files.len() && sources.iter().zip(&files).all(|(a, b)| is_of(a, b));
    is_same.then(|| match reel.reader() {
        READER_VERSION => Ok((reel, files)),
        _ => Err(PassedOver { reel: reel.path().to_owned(), file: file.to_owned() }),
    })
}

/// The files among some paths that are named like the reel of a file, from the root and without links.
pub(super) fn reels_among(paths: &[PathBuf]) -> HashSet<PathBuf> {
    let reels = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "reel"));
    reels.filter_map(|path| path.canonicalize().ok()).collect()
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
            ("a/twic1600.zip", "a/twic1600.reel"),
            ("games", "games.reel"),
        ] {
            assert_eq!(reel_path(Path::new(file)), Path::new(reel));
        }
    }
}
