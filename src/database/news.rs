//! Which files a reel holds already, so that they are not appended twice.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::{DatabaseError, is_reel};
use crate::pgn::{self, PgnError, Stamp};
use crate::reel::{Reel, ReelSource};

/// What of some inputs a reel does not hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct News {
    /// Inputs that are new, in their order; folders are replaced by the files below them.
    pub paths: Vec<PathBuf>,
    /// Inputs that the reel holds.
    pub held: Vec<Held>,
}

/// An input that a reel holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Held {
    /// The input.
    pub path: PathBuf,
    /// The name of the source with the same content; of a reel, of its first source.
    pub source: String,
}

/// Sorts out the inputs that a reel holds: files with the same content as one of its sources, whatever
/// their names, and reels all of whose sources it holds. A file is read only if a source has the same size,
/// and not if that has the same name and time as well. Standard input is always new.
///
/// # Errors
///
/// A folder or file that cannot be read; a file that the reel holds with another content
/// ([`DatabaseError::SourceChanged`]); a reel of which it holds a part ([`DatabaseError::PartlyHeld`]).
pub fn news(reel: &Reel, paths: &[PathBuf]) -> Result<News, DatabaseError> {
    let known = Known::new(reel);
    let mut news = News::default();
    for path in pgn::list(paths)? {
        let held = match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() && is_reel(&path) => known.held_reel(&path)?,
            Ok(metadata) if metadata.is_file() => known.held_file(&path, &Stamp::of(&metadata))?,
            // What cannot be read is refused when it is opened.
            _ => None,
        };
        match held {
            Some(source) => news.held.push(Held { path, source: source.name.clone() }),
            None => news.paths.push(path),
        }
    }
    Ok(news)
}

/// The sources of a reel, by what can be asked for. Of several, the first with a hash and the last with a name.
struct Known<'a> {
    reel: &'a Reel,
    by_hash: HashMap<u64, &'a ReelSource>,
    /// Of those whose hash is known.
    sizes: HashSet<u64>,
    by_name: HashMap<&'a str, &'a ReelSource>,
    /// By where their files are now.
    by_place: HashMap<PathBuf, &'a ReelSource>,
}

impl<'a> Known<'a> {
    fn new(reel: &'a Reel) -> Known<'a> {
        let mut known = Known {
            reel,
            by_hash: HashMap::new(),
            sizes: HashSet::new(),
            by_name: HashMap::new(),
            by_place: HashMap::new(),
        };
        for source in reel.sources() {
            if let Stamp { hash: Some(hash), bytes: Some(bytes), .. } = source.stamp {
                known.by_hash.entry(hash).or_insert(source);
                known.sizes.insert(bytes);
            }
            known.by_name.insert(&source.name, source);
            if let Some(place) = source.locate(reel.path()).and_then(|path| path.canonicalize().ok()) {
                known.by_place.insert(place, source);
            }
        }
        known
    }

    /// The source that has the content of a file.
    fn held_file(&self, path: &Path, now: &Stamp) -> Result<Option<&'a ReelSource>, DatabaseError> {
        let of_that_place = || self.by_place.get(&path.canonicalize().ok()?);
        let same_file = self.by_name.get(path.display().to_string().as_str()).or_else(of_that_place).copied();
        if let Some(source) = same_file
            && source.stamp.hash.is_some()
            && now.modified_ns.is_some()
            && *now == (Stamp { hash: None, ..source.stamp })
        {
            return Ok(Some(source));
        }
        if now.bytes.is_some_and(|bytes| self.sizes.contains(&bytes)) {
            let unreadable = |error| PgnError::Unreadable { path: path.to_owned(), error };
            let hash = pgn::hash_file(path).map_err(unreadable)?;
            if let Some(source) = self.by_hash.get(&hash) {
                return Ok(Some(source));
            }
        }
        let Some(source) = same_file else { return Ok(None) };
        let how = match source.stamp.hash {
            Some(_) => "has changed since",
            None if source.failure.is_some() => "was not read to its end when",
            None => "may have changed since",
        };
        let reel = self.reel.path().to_owned();
        Err(DatabaseError::SourceChanged { path: path.to_owned(), reel, how })
    }

    /// The first source of a reel all of whose sources are held.
    fn held_reel(&self, path: &Path) -> Result<Option<&'a ReelSource>, DatabaseError> {
        let other = Reel::open(path)?;
        let held = |source: &ReelSource| self.by_hash.get(&source.stamp.hash?).copied();
        let mut held_sources = other.sources().iter().filter_map(|source| Some((source, held(source)?)));
        let Some((source, first)) = held_sources.next() else { return Ok(None) };
        if 1 + held_sources.count() == other.sources().len() {
            return Ok(Some(first));
        }
        let (path, reel) = (path.to_owned(), self.reel.path().to_owned());
        Err(DatabaseError::PartlyHeld { path, reel, source_name: source.name.clone() })
    }
}
