//! Finds reels that are read instead of PGN files. Such a reel was built from the PGN file and is in the same folder.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use super::{BlockStream, StreamError, is_reel};
use orbit_core::text::shell_word;
use orbit_pgn::{READER_VERSION, Stamp};
use orbit_reel::{Manifest, Reel, ReelSource};

/// A reel that is read instead of the file from which it was built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Substitute {
    /// The reel.
    pub reel: PathBuf,
    /// The file, as it was given.
    pub file: PathBuf,
}

impl fmt::Display for Substitute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (reel, file) = (self.reel.display(), self.file.display());
        write!(f, "reading {reel} instead of {file}, from which it was made (--no-reel reads {file})")
    }
}

/// A reel that matches a file's current content but is not read instead of it, because the version of orbit that built it used
/// other rules for reading games.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PassedOver {
    /// The reel.
    pub reel: PathBuf,
    /// The file, as it was given.
    pub file: PathBuf,
    /// The command that rebuilds the reel.
    again: String,
}

impl fmt::Display for PassedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (reel, file) = (self.reel.display(), self.file.display());
        write!(
            f,
            "reading {file}, not {reel}: another version of orbit made the reel and read games by other rules; \
             `{}` makes it again",
            self.again
        )
    }
}

/// A reel, or a folder of reels, that is read although the version of orbit that built it used other rules for reading games.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outdated {
    /// The reel, or the folder.
    pub reel: PathBuf,
    /// The command that rebuilds the reel.
    again: String,
}

impl Outdated {
    /// Returns an entry for a reel whose games were read by rules other than those of this version, and `None` for any other reel.
    pub fn from_reel(reel: &Reel) -> Option<Outdated> {
        let path = reel.path().to_owned();
        Outdated::new(path, reel.reader(), reel.sources(), (reel.keeps_variations(), ""))
    }

    /// Returns an entry for a folder of reels, as [`Outdated::from_reel`] does for a reel.
    pub fn from_shards(folder: &Path, manifest: &Manifest) -> Option<Outdated> {
        let (path, reader) = (folder.to_owned(), manifest.reader_version);
        Outdated::new(path, reader, &manifest.reel_sources(), (manifest.variations, "--shards SIZE "))
    }

    fn new(
        reel: PathBuf,
        reader: u32,
        sources: &[ReelSource],
        (variations, options): (bool, &str),
    ) -> Option<Outdated> {
        (reader != READER_VERSION && !sources.is_empty()).then(|| {
            let names: Vec<String> = sources.iter().map(|source| argument(&source.name)).collect();
            let files = if names.len() <= NAMES_MAX { names.join(" ") } else { String::from("PATHS") };
            let drops = sources.iter().any(|source| source.duplicates > 0);
            let again = index_command((variations, drops), options, &files, &reel);
            Outdated { reel, again }
        })
    }
}

/// Returns the command that builds a reel, or a folder of reels, from files.
fn index_command((variations, drops): (bool, bool), options: &str, files: &str, reel: &Path) -> String {
    let variations = if variations { "--variations " } else { "" };
    let drops = if drops { "--no-duplicates " } else { "" };
    let reel = shell_word(&reel.display().to_string());
    format!("orbit index {variations}{drops}{options}{files} -o {reel}")
}

/// Returns the command line argument for a source.
fn argument(source: &str) -> String {
    if source == "standard input" { String::from("-") } else { shell_word(source) }
}

/// The maximum number of files that a message names.
const NAMES_MAX: usize = 3;

impl fmt::Display for Outdated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reel = self.reel.display();
        write!(
            f,
            "another version of orbit made {reel} and read games by other rules, so that answers may differ from those of its files; \
             `{}` makes it again",
            self.again
        )
    }
}

/// A reel with the current content of a file or an archive.
pub(super) struct Fresh {
    pub(super) reel: Reel,
    /// The file, or all members of the archive.
    pub(super) files: Vec<PathBuf>,
    /// Notes about members that are left out: see [`Sources::notes`](orbit_pgn::Sources::notes).
    pub(super) notes: Vec<String>,
}

impl BlockStream {
    /// Returns the reel to read instead of a file. Returns `None` if there is no such reel or substitutes are not wanted.
    pub(super) fn fresh_reel(&mut self, path: &Path) -> Option<Fresh> {
        let is_wanted = self.options.substitute_reels && path.as_os_str() != "-";
        let beside = is_wanted.then(|| fresh_reel(path)).flatten();
        let parse = &self.options.parse;
        let has_all =
            |fresh: &Fresh| !(parse.variations || parse.annotations) || fresh.reel.keeps_variations();
        let beside = beside.filter(|beside| beside.as_ref().map_or(true, has_all));
        beside.and_then(|reel| reel.map_err(|passed_over| self.passed_over.push(passed_over)).ok())
    }

    /// Adds a reel as an input, in place of the file from which it was built.
    pub(super) fn add_fresh(&mut self, Fresh { reel, files, notes }: Fresh, file: &Path) {
        self.notes.extend(notes);
        self.substitutes.push(Substitute { reel: reel.path().to_owned(), file: file.to_owned() });
        self.add_reel(reel);
        let base = self.sources.len() - files.len();
        for (source, file) in self.sources[base..].iter_mut().zip(files) {
            source.name = file.display().to_string();
            source.path = orbit_pgn::canonical(&file);
        }
    }
}

/// Looks for the reel beside a file (`games.reel` for `games.pgn`, `games.pgn.zst` or `games.zip`), and returns it if its games are
/// exactly the current content of the file. A reel that cannot be opened is ignored. If its blocks are damaged, reading them fails
/// with [`StreamError::Substitute`](super::StreamError).
///
/// # Errors
///
/// Fails if the reel's games were read by rules other than those of this version.
fn fresh_reel(file: &Path) -> Option<Result<Fresh, PassedOver>> {
    if !std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file()) {
        return None;
    }
    let reel = Reel::open(&reel_path(file)).ok()?;
    let (files, notes) = orbit_pgn::list(&[file.to_owned()]).ok()?;
    let sources = reel.sources();
    let is_same = sources.len() == files.len() && sources.iter().zip(&files).all(|(a, b)| is_of(a, b, file));
    is_same.then(|| match reel.reader() {
        READER_VERSION => Ok(Fresh { reel, files, notes }),
        _ => {
            let files = argument(&file.display().to_string());
            let again = index_command((reel.keeps_variations(), false), "", &files, reel.path());
            Err(PassedOver { reel: reel.path().to_owned(), file: file.to_owned(), again })
        }
    })
}

/// Returns whether a reel's source has the current content of the file at the path `now`. This path is `file` itself or, if `file`
/// is an archive, the path of a member.
fn is_of(source: &ReelSource, now: &Path, file: &Path) -> bool {
    let is_whole = source.stamp.hash.is_some() && source.failure.is_none() && source.duplicates == 0;
    // A member's path begins with the path of its archive.
    let folder = file.parent().unwrap_or(Path::new(""));
    let same_name = Path::new(&source.name).ends_with(now.strip_prefix(folder).unwrap_or(now));
    // The file is inspected last, because a reel may have many sources and file system access is slow.
    is_whole
        && same_name
        && Stamp::at(now)
            .is_ok_and(|now| now.modified_ns.is_some() && Stamp { hash: None, ..source.stamp } == now)
}

/// Reels and folders of reels that the user names along with other files. Those that cannot be opened are left out.
pub(super) struct NamedReels {
    /// The paths of the reels and folders, and the canonical paths of the folders in which they are.
    reels: Vec<(PathBuf, Option<PathBuf>)>,
    /// The sources of all reels by their file names, each with the index of its reel.
    sources: HashMap<OsString, Vec<(usize, ReelSource)>>,
}

impl NamedReels {
    /// Opens the reels and reel folders in a list of paths.
    pub(super) fn among(paths: &[PathBuf]) -> NamedReels {
        let sources = |path: &PathBuf| {
            if is_reel(path) {
                return Reel::open(path).ok().map(|reel| reel.sources().to_vec());
            }
            let manifest = Manifest::locate(path).ok().flatten()?;
            Manifest::read(&manifest).ok().map(|manifest| manifest.reel_sources())
        };
        let mut named = NamedReels { reels: Vec::new(), sources: HashMap::new() };
        for path in paths {
            for source in sources(path).into_iter().flatten() {
                let name = Path::new(&source.name).file_name().unwrap_or_default().to_owned();
                named.sources.entry(name).or_default().push((named.reels.len(), source));
            }
            named.reels.push((path.clone(), canonical_folder(path)));
        }
        named
    }

    /// Returns the reel that contains the current games of a file, or of all members of an archive. Also returns notes about
    /// members that are left out.
    pub(super) fn holding(&self, file: &Path) -> Option<(&Path, Vec<String>)> {
        let on_disk = orbit_pgn::file_of(file);
        if self.sources.is_empty()
            || file.as_os_str() == "-"
            || !std::fs::metadata(on_disk).is_ok_and(|metadata| metadata.is_file())
        {
            return None;
        }
        let (files, notes) = orbit_pgn::list(&[file.to_owned()]).ok()?;
        // The canonical paths are compared too, because files in other folders may have the same name, size and time.
        let (place, folder) = (orbit_pgn::canonical(file)?, canonical_folder(on_disk));
        // The reels that hold a file, without repetitions.
        let holders = |now: &PathBuf| {
            let alike = now.file_name().and_then(|name| self.sources.get(name));
            let is_here = |(reel, source): &&(usize, ReelSource)| {
                self.reels[*reel].1 == folder
                    || source.path.as_ref().is_some_and(|path| path.starts_with(&place))
            };
            let here = alike.into_iter().flatten().filter(is_here);
            let held = here.filter(|(_, source)| is_of(source, now, on_disk)).map(|(reel, _)| *reel);
            held.collect::<BTreeSet<usize>>()
        };
        let all = files.iter().map(holders).reduce(|all, more| &all & &more)?;
        all.first().map(|&reel| (self.reels[reel].0.as_path(), notes))
    }
}

/// Returns the canonical path of the folder of a file.
fn canonical_folder(file: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(file).ok()?.parent().map(Path::to_owned)
}

/// If the error is that a reel is damaged, and the reel was read instead of a file, adds the file's name to the error.
pub(super) fn name_file(failure: StreamError, substitutes: Vec<Substitute>) -> StreamError {
    let StreamError::Reel(error) = failure else { return failure };
    match substitutes.into_iter().find(|substitute| substitute.reel == error.path()) {
        Some(Substitute { file, .. }) => StreamError::Substitute { error, file },
        None => error.into(),
    }
}

/// Returns the path at which the reel of a file is expected: `games.reel` for `games.pgn` or `games.pgn.zst`.
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
    fn sources_are_named_as_a_command_line_takes_them() {
        for (source, due) in [("standard input", "-"), ("my games.pgn", "'my games.pgn'"), ("a.pgn", "a.pgn")]
        {
            assert_eq!(argument(source), due);
        }
    }

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
