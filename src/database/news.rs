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
    /// Inputs that the reel holds, or will hold.
    pub held: Vec<Held>,
}

/// An input that a reel holds, or will hold since an earlier input equals it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Held {
    /// The input.
    pub path: PathBuf,
    /// The name of the source with the same content; of a reel, of its first source; or the earlier input.
    pub source: String,
    /// Whether that is an earlier input.
    pub is_input: bool,
}

/// Sorts out the inputs that a reel holds: files with the same content as one of its sources, whatever
/// their names, reels all of whose sources it holds, and the reel itself; and those that equal an earlier input. A
/// file is read only if a source or an earlier input has the same size, and not if that has the same place and time
/// as well. Standard input is always new.
///
/// # Errors
///
/// A folder or file that cannot be read; a file that the reel holds with another content
/// ([`DatabaseError::SourceChanged`]); a reel of which it holds a part ([`DatabaseError::PartlyHeld`]).
pub fn news(reel: Option<&Reel>, paths: &[PathBuf]) -> Result<News, DatabaseError> {
    let known = reel.map(Known::new);
    let mut inputs = Inputs::default();
    let mut news = News::default();
    for path in pgn::list(paths)? {
        // What cannot be read is refused when it is opened.
        let Some(metadata) = fs::metadata(&path).ok().filter(fs::Metadata::is_file) else {
            news.paths.push(path);
            continue;
        };
        let of_reel =
            known.as_ref().map(|known| known.held(&path, &Stamp::of(&metadata))).transpose()?.flatten();
        if let Some(source) = of_reel {
            news.held.push(Held { path, source, is_input: false });
        } else if let Some(equal) = inputs.equal(&path, metadata.len())? {
            news.held.push(Held { path, source: equal.display().to_string(), is_input: true });
        } else {
            news.paths.push(path);
        }
    }
    Ok(news)
}

/// The files that were new so far, by size.
#[derive(Default)]
struct Inputs(HashMap<u64, Vec<Input>>);

struct Input {
    path: PathBuf,
    place: Option<PathBuf>,
    /// Once another file of the same size was met.
    hash: Option<u64>,
}

impl Inputs {
    /// The earlier input that a file equals; if there is none, this is one from now on.
    fn equal(&mut self, path: &Path, bytes: u64) -> Result<Option<PathBuf>, DatabaseError> {
        let same_size = self.0.entry(bytes).or_default();
        let place = path.canonicalize().ok();
        if let Some(input) = same_size.iter().find(|input| place.is_some() && input.place == place) {
            return Ok(Some(input.path.clone()));
        }
        let mut hash = None;
        if !same_size.is_empty() {
            hash = Some(hash_of(path)?);
        }
        for input in same_size.iter_mut() {
            if input.hash.is_none() {
                input.hash = Some(hash_of(&input.path)?);
            }
            if input.hash == hash {
                return Ok(Some(input.path.clone()));
            }
        }
        same_size.push(Input { path: path.to_owned(), place, hash });
        Ok(None)
    }
}

fn hash_of(path: &Path) -> Result<u64, DatabaseError> {
    let unreadable = |error| PgnError::Unreadable { path: path.to_owned(), error };
    Ok(pgn::hash_file(path).map_err(unreadable)?)
}

/// The sources of a reel, by what can be asked for. Of several, the first with a hash and the last at a place.
struct Known<'a> {
    reel: &'a Reel,
    by_hash: HashMap<u64, &'a ReelSource>,
    /// Of those whose hash is known.
    sizes: HashSet<u64>,
    /// By where their files lay; of version 1, by where such files are now.
    by_place: HashMap<PathBuf, &'a ReelSource>,
}

impl<'a> Known<'a> {
    fn new(reel: &'a Reel) -> Known<'a> {
        let mut known =
            Known { reel, by_hash: HashMap::new(), sizes: HashSet::new(), by_place: HashMap::new() };
        for source in reel.sources() {
            if let Stamp { hash: Some(hash), bytes: Some(bytes), .. } = source.stamp {
                known.by_hash.entry(hash).or_insert(source);
                known.sizes.insert(bytes);
            }
            let is_file = source.stamp.bytes.is_some();
            let now = || source.locate(reel.path()).filter(|_| is_file)?.canonicalize().ok();
            if let Some(place) = source.path.clone().or_else(now) {
                known.by_place.insert(place, source);
            }
        }
        known
    }

    /// The name of the source that has the content of a file; of a reel, of the first of them.
    fn held(&self, path: &Path, now: &Stamp) -> Result<Option<String>, DatabaseError> {
        let source = if is_reel(path) { self.held_reel(path)? } else { self.held_file(path, now)? };
        let of_itself = || self.is_itself(path).then(|| self.reel.path().display().to_string());
        Ok(source.map(|source| source.name.clone()).or_else(of_itself))
    }

    /// The source that has the content of a file.
    fn held_file(&self, path: &Path, now: &Stamp) -> Result<Option<&'a ReelSource>, DatabaseError> {
        let same_file = path.canonicalize().ok().and_then(|place| self.by_place.get(&place).copied());
        if let Some(source) = same_file
            && source.stamp.hash.is_some()
            && now.modified_ns.is_some()
            && *now == (Stamp { hash: None, ..source.stamp })
        {
            return Ok(Some(source));
        }
        if now.bytes.is_some_and(|bytes| self.sizes.contains(&bytes))
            && let Some(source) = self.by_hash.get(&hash_of(path)?)
        {
            return Ok(Some(source));
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

    /// Whether a path is that of the reel.
    fn is_itself(&self, path: &Path) -> bool {
        matches!((path.canonicalize(), self.reel.path().canonicalize()), (Ok(path), Ok(reel)) if path == reel)
    }

    /// The first source of a reel all of whose sources are held.
    fn held_reel(&self, path: &Path) -> Result<Option<&'a ReelSource>, DatabaseError> {
        if self.is_itself(path) {
            return Ok(self.reel.sources().first());
        }
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
