//! Finds files whose games are already in a reel (orbit's own file of games), so that they are not appended twice.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::{StreamError, is_reel};
use orbit_pgn::{PgnError, Stamp};
use orbit_reel::{Manifest, Reel, ReelSource};

/// The inputs that are still to be appended to a reel, and those that the reel already contains.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Additions {
    /// The new inputs in their original order. Folders are replaced by the files in them and in their subfolders, archives by their
    /// members.
    pub paths: Vec<PathBuf>,
    /// Notes about files in folders and members of archives that are not read: see [`Sources::notes`](orbit_pgn::Sources::notes).
    pub notes: Vec<String>,
    /// The inputs whose content is already in the reel, or will be once earlier inputs are appended.
    pub already_held: Vec<AlreadyHeld>,
}

/// An input whose content is already in a reel, or will be because it is in an earlier input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AlreadyHeld {
    /// The input.
    pub path: PathBuf,
    /// The source or input that already has this content: the name of a source of the reel, `SOURCE in REEL` for a source of a reel
    /// among the earlier inputs, or the path of an earlier file. If the input is itself a reel, this refers to the content of one
    /// of its sources.
    pub source: String,
    /// True if the content of the input is in an earlier input, but not in the reel to which the inputs are appended.
    pub is_input: bool,
    /// The reason why the input was not read to its end when the reel was made. The file has the same size and time since.
    pub failure: Option<String>,
}

/// Determines which inputs are already contained in a reel, or will be once the inputs before them are appended. These inputs count
/// as contained:
///
/// * files with the same content as a source, no matter what their names are;
/// * reels all of whose sources are contained;
/// * the reel itself.
///
/// A file is read and hashed only if a source or an earlier input has the same size. If a source also has the same path and time,
/// the file counts as unchanged and is not read. Standard input is always new.
///
/// # Errors
///
/// Fails in these cases:
///
/// * a folder cannot be read;
/// * a file cannot be read although a reel has a source with the same path, so the file may have changed;
/// * the reel has a file with the same path and different content ([`StreamError::SourceChanged`]);
/// * some, but not all, of the sources of a reel are contained ([`StreamError::PartlyHeld`], [`StreamError::PartlyGiven`]), or a
///   reel contains a part of a file of which the target reel has games ([`StreamError::OtherPart`]).
pub fn additions(reel: Option<&Reel>, paths: &[PathBuf]) -> Result<Additions, StreamError> {
    let mut known = HeldSources { reel, ..HeldSources::default() };
    if let Some(reel) = reel {
        known.add_sources(reel, false);
    }
    let mut additions = Additions::default();
    for path in paths {
        if Manifest::locate(path)?.is_some() {
            return Err(StreamError::FolderOfReels { path: path.clone() });
        }
    }
    let (listed, notes) = orbit_pgn::list(paths)?;
    additions.notes = notes;
    for path in listed {
        // If the file cannot be read, the error is reported later, when the file is opened.
        let stamp = Stamp::at(&path).ok().filter(|stamp| stamp.bytes.is_some());
        let Some(stamp) = stamp.filter(|_| path.as_os_str() != "-") else {
            additions.paths.push(path);
            continue;
        };
        match known.holder(&path, &stamp)? {
            Some(Holder { name, is_input, failure }) => {
                additions.already_held.push(AlreadyHeld { path, source: name, is_input, failure })
            }
            None => additions.paths.push(path),
        }
    }
    Ok(additions)
}

/// The contents of files that are in the reel, or will be in it once the inputs so far are appended.
#[derive(Default)]
struct HeldSources<'a> {
    reel: Option<&'a Reel>,
    /// Maps the hash of each content to the first source or input that had it.
    by_hash: HashMap<u64, Holder>,
    /// The sizes of all contents with known hashes.
    sizes: HashSet<u64>,
    /// The inputs that have not been hashed yet, by size. Their sizes differ, because an input is hashed as soon as another one has
    /// the same size.
    unread: HashMap<u64, PathBuf>,
    /// The sources of reels, by canonical file path. A reel of version 1 stores no such paths, so the current paths of its files
    /// are used. If several sources have the same path, the last one is kept.
    by_place: HashMap<PathBuf, PlacedSource>,
    /// Maps the canonical path of each input to the path as given.
    inputs: HashMap<PathBuf, PathBuf>,
}

/// The source of a reel, or the earlier input, that contains some content.
#[derive(Clone)]
struct Holder {
    name: String,
    is_input: bool,
    failure: Option<String>,
}

/// A source of a reel whose file path is known.
struct PlacedSource {
    source: ReelSource,
    reel: PathBuf,
    holder: Holder,
}

impl HeldSources<'_> {
    /// Returns the source or earlier input with the same content as a file or reel. If there is none, records the file or reel as
    /// the holder of its content and returns `None`.
    fn holder(&mut self, path: &Path, now: &Stamp) -> Result<Option<Holder>, StreamError> {
        let place = orbit_pgn::canonical(path);
        if let Some(input) = place.as_ref().and_then(|place| self.inputs.get(place)) {
            return Ok(Some(Holder::input(input)));
        }
        let reel = if is_reel(path) { Some(Reel::open(path)?) } else { None };
        if reel.is_none()
            && let Some(holder) = place.as_deref().and_then(|place| self.holder_unchanged(place, now))
        {
            return Ok(Some(holder));
        }
        let bytes = now.bytes.unwrap_or_default();
        let hash = match self.knows_size(bytes).then(|| orbit_pgn::hash_file(path)).transpose() {
            Ok(hash) => hash,
            // A reel has a source with this path, and the file cannot be read to find out whether it has changed.
            Err(error) if place.as_ref().is_some_and(|place| self.by_place.contains_key(place)) => {
                return Err(PgnError::Unreadable { path: path.to_owned(), error }.into());
            }
            // The file cannot be read. The error is reported later, when the file is opened so that its games can be appended.
            Err(_) => None,
        };
        if let Some(holder) = hash.and_then(|hash| self.by_hash.get(&hash)) {
            return Ok(Some(holder.clone()));
        }
        if let Some(reel) = &reel
            && let Some(holder) = self.holder_of_reel(reel)?
        {
            return Ok(Some(holder));
        }
        match (&reel, place.as_ref().and_then(|place| self.by_place.get(place))) {
            (Some(reel), _) => self.add_sources(reel, true),
            (None, Some(PlacedSource { source, reel, .. })) => return Err(changed(path, source, reel)),
            (None, None) => {}
        }
        match hash {
            Some(hash) => drop(self.by_hash.insert(hash, Holder::input(path))),
            None => drop(self.unread.insert(bytes, path.to_owned())),
        }
        self.inputs.extend(place.map(|place| (place, path.to_owned())));
        Ok(None)
    }

    /// Returns the holder of a file's content (a source of a reel, or an earlier input), if a source of a reel has the same path,
    /// size and time as the file. The file then need not be read, even if it could not be read to its end before.
    fn holder_unchanged(&self, place: &Path, now: &Stamp) -> Option<Holder> {
        let PlacedSource { source: ReelSource { stamp, failure, .. }, holder, .. } =
            self.by_place.get(place)?;
        let is_known = stamp.hash.is_some() || failure.is_some();
        let is_same = is_known && now.modified_ns.is_some() && *now == Stamp { hash: None, ..*stamp };
        is_same.then(|| holder.clone())
    }

    /// Finds, for each source of the reel `other`, a source or input with the same content. Returns one of these holders if all
    /// sources have one, and `None` if no source has one. Fails if only some sources have holders.
    fn holder_of_reel(&mut self, other: &Reel) -> Result<Option<Holder>, StreamError> {
        let path = other.path();
        if let Some(reel) = self.reel
            && let (Ok(a), Ok(b)) = (path.canonicalize(), reel.path().canonicalize())
            && a == b
        {
            let first = reel.sources().first().map(|source| source.name.clone());
            let name = first.unwrap_or_else(|| path.display().to_string());
            return Ok(Some(Holder { name, is_input: false, failure: None }));
        }
        let (mut held, mut not_held) = (Vec::new(), 0);
        for source in other.sources().iter().filter(|source| !source.is_nothing() && !is_empty_part(source)) {
            self.refuse_other_part(path, source)?;
            match self.holder_of_source(source) {
                Some(holder) => held.push((source, holder)),
                None => not_held += 1,
            }
        }
        // If the sources have several holders, one that is an earlier input is preferred, because the reel to which the inputs are
        // appended does not contain its content yet.
        let index = held.iter().position(|(_, holder)| holder.is_input).unwrap_or(0);
        if held.is_empty() {
            return Ok(None);
        }
        let (source, holder) = held.swap_remove(index);
        let (path, source_name) = (path.to_owned(), source.name.clone());
        match self.reel.filter(|_| !holder.is_input) {
            _ if not_held == 0 => Ok(Some(holder)),
            Some(reel) => Err(StreamError::PartlyHeld { path, reel: reel.path().to_owned(), source_name }),
            None => Err(StreamError::PartlyGiven { path, source_name }),
        }
    }

    /// Fails if a source is a part of a file of which the target reel or an earlier file has games. These games are not known
    /// without reading them, so it is unknown whether they are the games of the part.
    fn refuse_other_part(&self, path: &Path, source: &ReelSource) -> Result<(), StreamError> {
        let Some(place) = source.path.as_ref().filter(|_| is_part(source)) else { return Ok(()) };
        let (path, source_name) = (path.to_owned(), source.name.clone());
        if self.inputs.contains_key(place) {
            return Err(StreamError::PartlyGiven { path, source_name });
        }
        match (self.reel, self.by_place.get(place)) {
            (Some(reel), Some(placed)) if !placed.holder.is_input => {
                Err(StreamError::OtherPart { path, reel: reel.path().to_owned(), source_name })
            }
            _ => Ok(()),
        }
    }

    fn holder_of_source(&mut self, source: &ReelSource) -> Option<Holder> {
        let ReelSource { stamp, path, games, failure, .. } = source;
        if let Stamp { hash: Some(hash), bytes: Some(bytes), .. } = *stamp {
            return if self.knows_size(bytes) { self.by_hash.get(&hash).cloned() } else { None };
        }
        // A source that was not read to its end has no hash. It is identified by its path, its stamp (size and time), its number of
        // games and its failure. A part of a file has no hash and no failure, and is never held: two parts may have the same
        // number of games.
        failure.as_ref()?;
        let PlacedSource { source: other, holder, .. } = self.by_place.get(path.as_ref()?)?;
        let is_same = stamp.modified_ns.is_some()
            && (stamp, games, failure) == (&other.stamp, &other.games, &other.failure);
        is_same.then(|| holder.clone())
    }

    /// Returns whether some content of this size has a known hash, with which the hash of another content of this size can be
    /// compared. If an input of this size has not been hashed yet, it is hashed first, or dropped if it cannot be read.
    fn knows_size(&mut self, bytes: u64) -> bool {
        if let Some(input) = self.unread.remove(&bytes)
            && let Ok(hash) = orbit_pgn::hash_file(&input)
        {
            self.by_hash.entry(hash).or_insert_with(|| Holder::input(&input));
            self.sizes.insert(bytes);
        }
        self.sizes.contains(&bytes)
    }

    /// Records the sources of a reel by their content, so that later inputs with the same content are found.
    fn add_sources(&mut self, reel: &Reel, is_input: bool) {
        for source in reel.sources().iter().filter(|source| !source.is_nothing() && !is_empty_part(source)) {
            let name = match is_input {
                true => format!("{} in {}", source.name, reel.path().display()),
                false => source.name.clone(),
            };
            let holder = Holder { name, is_input, failure: source.failure.clone() };
            if let Stamp { hash: Some(hash), bytes: Some(bytes), .. } = source.stamp {
                self.by_hash.entry(hash).or_insert_with(|| holder.clone());
                self.sizes.insert(bytes);
            }
            let now = || orbit_pgn::canonical(&source.locate(reel.path()).filter(|_| source.is_file())?);
            if let Some(place) = source.path.clone().or_else(now) {
                let placed = PlacedSource { source: source.clone(), reel: reel.path().to_owned(), holder };
                self.by_place.insert(place, placed);
            }
        }
    }
}

/// Returns true if a reel contains a part of the games of a source: see [`ShardsWriter`](orbit_reel::ShardsWriter).
fn is_part(source: &ReelSource) -> bool {
    source.path.is_some() && source.stamp.hash.is_none() && source.failure.is_none()
}

/// Returns true if a reel contains no games of a source, because they are in other reels of its folder.
fn is_empty_part(source: &ReelSource) -> bool {
    is_part(source) && source.games == 0
}

impl Holder {
    fn input(path: &Path) -> Holder {
        Holder { name: path.display().to_string(), is_input: true, failure: None }
    }
}

/// Returns the error for a file whose path is that of a source but whose content differs.
fn changed(path: &Path, source: &ReelSource, reel: &Path) -> StreamError {
    let how = match source.stamp.hash {
        Some(_) => "has changed since",
        None if source.failure.is_some() => "was not read to its end when",
        None => "may have changed since",
    };
    StreamError::SourceChanged { path: path.to_owned(), reel: reel.to_owned(), how }
}
