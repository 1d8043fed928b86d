//! Which files a reel holds already, so that they are not appended twice.

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
    let sources: Vec<Known<'_>> = reel.sources().iter().map(|source| Known::new(source, reel)).collect();
    let mut news = News::default();
    for path in pgn::list(paths)? {
        let held = match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() && is_reel(&path) => held_reel(reel, &path)?,
            Ok(metadata) if metadata.is_file() => held_file(reel, &sources, &path, &Stamp::of(&metadata))?,
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

/// A source of the reel and where its file is now.
struct Known<'a> {
    source: &'a ReelSource,
    place: Option<PathBuf>,
}

impl Known<'_> {
    fn new<'a>(source: &'a ReelSource, reel: &Reel) -> Known<'a> {
        let place = source.locate(reel.path()).and_then(|path| path.canonicalize().ok());
        Known { source, place }
    }
}

/// The source that has the content of a file.
fn held_file<'a>(
    reel: &Reel,
    sources: &[Known<'a>],
    path: &Path,
    now: &Stamp,
) -> Result<Option<&'a ReelSource>, DatabaseError> {
    let (name, place) = (path.display().to_string(), path.canonicalize().ok());
    let is_same_file =
        |known: &&Known<'_>| known.source.name == name || place.is_some() && known.place == place;
    let of_that_name = sources.iter().rfind(is_same_file);
    if let Some(Known { source, .. }) = of_that_name
        && source.stamp.hash.is_some()
        && now.modified_ns.is_some()
        && *now == (Stamp { hash: None, ..source.stamp })
    {
        return Ok(Some(source));
    }
    if sources.iter().any(|known| known.source.stamp.hash.is_some() && known.source.stamp.bytes == now.bytes)
    {
        let unreadable = |error| PgnError::Unreadable { path: path.to_owned(), error };
        let hash = Some(pgn::hash_file(path).map_err(unreadable)?);
        if let Some(known) = sources.iter().find(|known| known.source.stamp.hash == hash) {
            return Ok(Some(known.source));
        }
    }
    let Some(Known { source, .. }) = of_that_name else { return Ok(None) };
    let how = match source.stamp.hash {
        Some(_) => "has changed since",
        None if source.failure.is_some() => "was not read to its end when",
        None => "may have changed since",
    };
    Err(DatabaseError::SourceChanged { path: path.to_owned(), reel: reel.path().to_owned(), how })
}

/// The first source of a reel all of whose sources are held.
fn held_reel<'a>(reel: &'a Reel, path: &Path) -> Result<Option<&'a ReelSource>, DatabaseError> {
    let other = Reel::open(path)?;
    let held = |source: &ReelSource| {
        let hash = source.stamp.hash?;
        reel.sources().iter().find(|known| known.stamp.hash == Some(hash))
    };
    let mut held_sources = other.sources().iter().filter_map(|source| Some((source, held(source)?)));
    let Some((source, first)) = held_sources.next() else { return Ok(None) };
    if 1 + held_sources.count() == other.sources().len() {
        return Ok(Some(first));
    }
    let (path, reel) = (path.to_owned(), reel.path().to_owned());
    Err(DatabaseError::PartlyHeld { path, reel, source_name: source.name.clone() })
}
