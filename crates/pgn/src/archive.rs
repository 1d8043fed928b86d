//! Lists the members of zip and 7z archives that look like games, and reads their bytes. A member is a file inside an archive.
//!
//! A member is read like a file. Its path is the path of the archive followed by the member's name, as in
//! `twic1600.zip/twic1600.pgn`. If a file with that path exists, the file is read instead. Nothing is unpacked to disk, so member
//! names that lead out of the archive do no harm. The list of members takes bounded memory, and reading a member never yields more
//! bytes than its size in the list. A member whose listed size exceeds [`MEMBER_BYTES_MAX`], or whose compression ratio exceeds
//! [`RATIO_MAX`], is refused before any of it is unpacked.

#[cfg(feature = "sevenz")]
mod sevenz;
mod zip;

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::format::{ArchiveFormat, listed, looks_like_games};
use super::stamp::is_same_file;
use super::{Options, Stamp};
use orbit_core::sync::lock;

/// The maximum number of members of an archive, including members that are not games.
const MEMBERS_MAX: u64 = 200_000;
/// The maximum total length of the members' names, in bytes.
const NAMES_BYTES_MAX: usize = 32 << 20;
/// The maximum size of a member, in unpacked bytes.
const MEMBER_BYTES_MAX: u64 = 1 << 40;
/// The maximum number of unpacked bytes per packed byte. Game archives typically have ratios from three to five. An archive with
/// forty copies of one collection had a ratio of 143.
const RATIO_MAX: u64 = 1000;
/// The maximum size, in unpacked bytes, of a member that is exempt from [`RATIO_MAX`].
const RATIO_BYTES_MIN: u64 = 64 << 20;

/// The reason why an archive or a member cannot be read, with a remedy: `it is encrypted: unpack it with its password first`.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct ArchiveRefusal(pub(super) String);

impl ArchiveRefusal {
    fn new(reason: &str) -> ArchiveRefusal {
        ArchiveRefusal(reason.to_owned())
    }

    /// Returns the [`ArchiveRefusal`] that an I/O error contains, if there is one.
    pub(super) fn told(error: &io::Error) -> Option<&ArchiveRefusal> {
        error.get_ref()?.downcast_ref()
    }
}

impl From<ArchiveRefusal> for io::Error {
    fn from(refusal: ArchiveRefusal) -> io::Error {
        io::Error::other(refusal)
    }
}

pub(super) struct ArchiveMember {
    /// The name within the archive, such as `2024/twic1600.pgn`. `..` and other path components that lead out of the archive are
    /// removed.
    pub(super) name: String,
    /// The unpacked size in bytes.
    pub(super) bytes: u64,
    /// The index of the member in the archive's own list, or the reason why it cannot be read.
    place: Result<usize, ArchiveRefusal>,
    /// True if the name was changed from the name in the archive.
    is_renamed: bool,
}

impl ArchiveMember {
    /// Returns whether the member is a macOS metadata file.
    fn is_beside_files(&self) -> bool {
        let last = self.name.rsplit('/').next().unwrap_or_default();
        self.name.starts_with("__MACOSX/") || last.starts_with("._") || last == ".DS_Store"
    }

    fn is_archive(&self) -> bool {
        ArchiveFormat::from_name(Path::new(&self.name)).is_some()
    }

    fn looks_like_games(&self) -> bool {
        !self.is_beside_files() && looks_like_games(Path::new(&self.name))
    }
}

/// An archive whose members have been listed.
pub(super) struct Archive {
    path: PathBuf,
    /// The metadata of the archive file from the time when its members were listed.
    metadata: Metadata,
    /// All members except folders, in the order of the archive.
    members: Vec<ArchiveMember>,
    /// The index of each member by its name.
    by_name: HashMap<String, usize>,
    content: Content,
}

enum Content {
    Zip(Vec<zip::MemberPlace>),
    #[cfg(feature = "sevenz")]
    SevenZ(Box<sevenz_rust2::Archive>),
}

/// The state that is kept after one member of an archive has been read, for reading the next. For a 7z archive, this is the thread
/// that unpacks it.
#[derive(Default)]
pub(super) struct Unpacking {
    #[cfg(feature = "sevenz")]
    running: Option<sevenz::MemberThread>,
}

/// The most recently listed archives, newest first. They are cached because callers usually look up many members of one archive.
static LAST: Mutex<Vec<Arc<Archive>>> = Mutex::new(Vec::new());
const LAST_MAX: usize = 4;

impl Archive {
    /// Opens a file as an archive. Returns `None` if the file is not an archive.
    ///
    /// # Errors
    ///
    /// Fails if this build cannot read the format, or if the members cannot be listed.
    pub(super) fn open(path: &Path) -> Result<Option<Arc<Archive>>, ArchiveRefusal> {
        let Ok(now) = fs::metadata(path) else { return Ok(None) };
        let is_same = |archive: &&Arc<Archive>| archive.path == path && archive.is_of(&now);
        if let Some(archive) = lock(&LAST).iter().find(is_same) {
            return Ok(Some(Arc::clone(archive)));
        }
        // A pipe is not opened, since opening it would block.
        let Some(format) = now.is_file().then(|| format_of(path)).flatten() else { return Ok(None) };
        let archive = Arc::new(Archive::list(path, format)?);
        let mut last = lock(&LAST);
        last.insert(0, Arc::clone(&archive));
        last.truncate(LAST_MAX);
        Ok(Some(archive))
    }

    fn list(path: &Path, format: ArchiveFormat) -> Result<Archive, ArchiveRefusal> {
        let unreadable =
            |error: io::Error| ArchiveRefusal(format!("the {} cannot be read: {error}", format.name()));
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        let mut list = MemberList::default();
        let content = match format {
            ArchiveFormat::Zip => Content::Zip(zip::list(file, &mut list)?),
            #[cfg(feature = "sevenz")]
            ArchiveFormat::SevenZ => Content::SevenZ(Box::new(sevenz::list(&mut &file, &mut list)?)),
            #[cfg(not(feature = "sevenz"))]
            ArchiveFormat::SevenZ => {
                return Err(ArchiveRefusal::new(
                    "this orbit was built without 7z: install it with `--features sevenz`, or unpack the 7z archive first",
                ));
            }
        };
        let MemberList { members, by_name, .. } = list;
        Ok(Archive { path: path.to_owned(), metadata, members, by_name, content })
    }

    pub(super) fn find(&self, name: &Path) -> Option<usize> {
        self.by_name.get(name.to_str()?).copied()
    }

    /// Returns the indices of the members whose names look like games, in the order of the archive. If `below` is a folder of the
    /// archive, only its members are returned. If `below` is a member, only that member is returned, even if its name does not look
    /// like games.
    pub(super) fn games(&self, below: Option<&Path>) -> Vec<usize> {
        if let Some(one) = below.and_then(|name| self.find(name)) {
            return vec![one];
        }
        let is_below =
            |member: &ArchiveMember| below.is_none_or(|folder| Path::new(&member.name).starts_with(folder));
        let members = self.members.iter().enumerate();
        let games = members.filter(|(_, member)| member.looks_like_games() && is_below(member));
        games.map(|(number, _)| number).collect()
    }

    pub fn member(&self, number: usize) -> &ArchiveMember {
        &self.members[number]
    }

    pub(super) fn path_of(&self, number: usize) -> PathBuf {
        self.path.join(&self.members[number].name)
    }

    /// Returns the stamp of a member, by which a changed file is recognised. It combines the size of the member with the time of
    /// the archive.
    pub(super) fn stamp(&self, number: usize) -> Stamp {
        Stamp { bytes: Some(self.members[number].bytes), ..Stamp::from_metadata(&self.metadata) }
    }

    /// Returns the first member names as a text for messages.
    pub(super) fn names(&self) -> String {
        let files = self.members.iter().filter(|member| !member.is_beside_files());
        let names: Vec<String> = files.map(|member| member.name.clone()).collect();
        if names.is_empty() { String::from("nothing") } else { listed(&names, names.len()) }
    }

    /// Returns sentences for the user about members that were skipped or renamed.
    pub(super) fn notes(&self) -> Vec<String> {
        let path = self.path.display();
        let mut notes = Vec::new();
        let mut note = |is_meant: &dyn Fn(&ArchiveMember) -> bool, one: &str, many: &str| {
            let names: Vec<String> = self
                .members
                .iter()
                .filter(|member| is_meant(member))
                .map(|member| member.name.clone())
                .collect();
            if !names.is_empty() {
                let what = if names.len() == 1 { one } else { many };
                notes.push(format!("{path}: {} {what}: {}", names.len(), listed(&names, names.len())));
            }
        };
        note(
            &|member| !member.looks_like_games() && !member.is_beside_files() && !member.is_archive(),
            "member is no .pgn, .epd or .fen and was left out",
            "members are no .pgn, .epd or .fen and were left out",
        );
        note(
            &|member| member.is_archive() && !member.is_beside_files(),
            "member is an archive itself and was left out; unpack the outer one to read it",
            "members are archives themselves and were left out; unpack the outer one to read them",
        );
        note(
            &|member| member.is_renamed && member.looks_like_games(),
            "member is read under another name, because its own leads out of the archive or is given twice",
            "members are read under other names, because their own lead out of the archive or are given twice",
        );
        notes
    }

    /// Opens a member and returns a reader of its unpacked bytes. The members of a 7z archive should be read in archive order:
    /// going back to an earlier member means unpacking everything before it again.
    ///
    /// # Errors
    ///
    /// Fails if the member is refused, or if the archive cannot be opened or has been replaced since it was listed.
    pub(super) fn read(
        self: &Arc<Archive>,
        number: usize,
        unpacking: &mut Unpacking,
        options: &Options,
    ) -> io::Result<Box<dyn Read + Send>> {
        let place = self.members[number].place.clone()?;
        match &self.content {
            Content::Zip(places) => {
                *unpacking = Unpacking::default();
                Ok(Box::new(zip::read(self.file()?, &places[place], options.zstd_window_max)?))
            }
            #[cfg(feature = "sevenz")]
            Content::SevenZ(_) => {
                let running = match unpacking.running.take() {
                    Some(running) if running.reaches(self, place) => running,
                    _ => sevenz::MemberThread::start(self, place)?,
                };
                Ok(Box::new(unpacking.running.insert(running).read(place, &options.interrupt)))
            }
        }
    }

    /// Returns the indices of the members that look like games and can be read, in archive order. The indices refer to the 7z
    /// archive's own list of members.
    #[cfg(feature = "sevenz")]
    fn places_of_games(&self) -> impl Iterator<Item = usize> {
        let games = self.members.iter().filter(|member| member.looks_like_games());
        games.filter_map(|member| member.place.as_ref().ok().copied())
    }

    /// Opens the archive file again. Fails if the file was replaced after its members were listed.
    fn file(&self) -> io::Result<File> {
        let file = File::open(&self.path)?;
        match self.is_of(&file.metadata()?) {
            true => Ok(file),
            false => Err(self.replaced().into()),
        }
    }

    /// Returns a refusal if the archive has changed since its members were listed. A deleted archive counts as unchanged.
    pub(super) fn change(&self) -> Option<ArchiveRefusal> {
        let now = fs::metadata(&self.path).ok()?;
        (!self.is_of(&now)).then(|| self.replaced())
    }

    fn replaced(&self) -> ArchiveRefusal {
        ArchiveRefusal::new("the archive was replaced or written to while it was read: read it again")
    }

    fn is_of(&self, metadata: &Metadata) -> bool {
        is_same_file(metadata, &self.metadata)
            && Stamp::from_metadata(metadata) == Stamp::from_metadata(&self.metadata)
    }
}

/// Returns the archive format of a regular file, or `None` if the file is not an archive or cannot be read. A zip archive may also
/// be the end of a self-extracting executable.
fn format_of(path: &Path) -> Option<ArchiveFormat> {
    let mut head = Vec::new();
    let mut file = File::open(path).ok()?;
    file.by_ref().take(6).read_to_end(&mut head).ok()?;
    let may_stand_behind =
        head.starts_with(b"MZ") || ArchiveFormat::from_name(path) == Some(ArchiveFormat::Zip);
    ArchiveFormat::from_head(&head)
        .or_else(|| (may_stand_behind && zip::is_at_end(file)).then_some(ArchiveFormat::Zip))
}

/// Returns the file on disk that a path leads to. For an archive member, such as `twic1600.zip/twic1600.pgn`, this is the archive.
/// For any other path, it is the path itself.
pub fn file_of(path: &Path) -> &Path {
    let found = path.ancestors().find_map(|place| Some((place, fs::metadata(place).ok()?)));
    found.filter(|(_, metadata)| metadata.is_file()).map_or(path, |(place, _)| place)
}

/// Makes a path absolute and resolves its links. The path may lead to a member of an archive. Returns `None` if the file does not
/// exist.
pub fn canonical(path: &Path) -> Option<PathBuf> {
    let file = file_of(path);
    let place = file.canonicalize().ok()?;
    match path.strip_prefix(file) {
        Ok(member) if !member.as_os_str().is_empty() => Some(place.join(member)),
        _ => Some(place),
    }
}

/// Splits a path that leads into an archive into the archive and the name within it. Returns `None` for any other path.
///
/// # Errors
///
/// Fails if the members of the archive cannot be listed.
pub(super) fn inside(path: &Path) -> Result<Option<(Arc<Archive>, PathBuf)>, ArchiveRefusal> {
    let file = file_of(path);
    let Ok(name) = path.strip_prefix(file) else { return Ok(None) };
    if name.as_os_str().is_empty() {
        return Ok(None);
    }
    Ok(Archive::open(file)?.map(|archive| (archive, name.to_owned())))
}

/// Returns the archive member at a path, as the archive and the index of the member.
///
/// # Errors
///
/// Fails if the members of the archive cannot be listed.
pub fn member(path: &Path) -> Result<Option<(Arc<Archive>, usize)>, ArchiveRefusal> {
    let found = inside(path)?;
    Ok(found.and_then(|(archive, name)| archive.find(&name).map(|number| (archive, number))))
}

/// The list of an archive's members while it is being built.
#[derive(Default)]
struct MemberList {
    members: Vec<ArchiveMember>,
    by_name: HashMap<String, usize>,
    /// For each name that occurs more than once, the number of its occurrences so far.
    copies: HashMap<String, usize>,
    names_bytes: usize,
}

impl MemberList {
    fn refuse_more(count: u64) -> Result<(), ArchiveRefusal> {
        match count > MEMBERS_MAX {
            true => Err(ArchiveRefusal(format!(
                "the archive lists {count} members, and {MEMBERS_MAX} are allowed: unpack it first"
            ))),
            false => Ok(()),
        }
    }

    /// Adds a member. `place` is its index in the archive's own list, or the reason why it cannot be read.
    fn add(
        &mut self,
        given: &str,
        bytes: u64,
        place: Result<usize, ArchiveRefusal>,
    ) -> Result<(), ArchiveRefusal> {
        let inner = inner(given);
        let name = self.free(&inner);
        self.names_bytes += name.len();
        if self.names_bytes > NAMES_BYTES_MAX {
            return Err(ArchiveRefusal::new(
                "the names of the archive's members are too long: unpack it first",
            ));
        }
        let place = match place {
            _ if ArchiveFormat::from_name(Path::new(&name)).is_some() => Err(ArchiveRefusal::new(
                "an archive inside an archive is not read: unpack the outer one first",
            )),
            Ok(_) if bytes > MEMBER_BYTES_MAX => Err(ArchiveRefusal(format!(
                "it is longer than {} GiB: unpack it first",
                MEMBER_BYTES_MAX >> 30
            ))),
            place => place,
        };
        let is_renamed = name != given.replace('\\', "/").trim_start_matches("./");
        self.by_name.insert(name.clone(), self.members.len());
        self.members.push(ArchiveMember { name, bytes, place, is_renamed });
        Ok(())
    }

    /// Returns a unique name for a member: `name` itself or, if it is taken, a variant such as `a (2).pgn`.
    fn free(&mut self, name: &str) -> String {
        if !self.by_name.contains_key(name) {
            return name.to_owned();
        }
        let folder = name.rfind('/').map_or(0, |slash| slash + 1);
        let dot = name[folder..].find('.').map_or(name.len(), |dot| folder + dot);
        let (stem, end) = name.split_at(dot);
        let copies = self.copies.entry(name.to_owned()).or_insert(1);
        loop {
            *copies += 1;
            let copy = format!("{stem} ({copies}){end}");
            if !self.by_name.contains_key(&copy) {
                return copy;
            }
        }
    }
}

/// Refuses data whose compression ratio is higher than that of any plausible game archive.
fn refuse_ratio(packed: u64, unpacked: u64) -> Result<(), ArchiveRefusal> {
    match unpacked > RATIO_BYTES_MIN && unpacked > packed.saturating_mul(RATIO_MAX) {
        true => Err(ArchiveRefusal(format!(
            "the archive says that {packed} bytes of it unpack to {unpacked}, more than {RATIO_MAX} times as many, as games never \
             do: if you trust it, unpack it first"
        ))),
        false => Ok(()),
    }
}

/// Turns the name of a member into a path below the archive. Both `/` and `\` separate folders, since the archive may have been
/// made on any system.
fn inner(name: &str) -> String {
    let parts = name.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | ".."));
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_the_archive() {
        for (name, expected) in [
            ("twic1600.pgn", "twic1600.pgn"),
            ("/etc/passwd.pgn", "etc/passwd.pgn"),
            ("../../a.pgn", "a.pgn"),
            ("a/./b/../c.pgn", "a/b/c.pgn"),
            ("..\\a\\b.pgn", "a/b.pgn"),
            ("", ""),
        ] {
            assert_eq!(inner(name), expected);
        }
    }

    #[test]
    fn members_have_names_of_their_own() {
        let mut list = MemberList::default();
        let given =
            ["a.pgn", "d/a.pgn.gz", "../a.pgn", "a (3).pgn", "a.pgn", "d\\a.pgn.gz", "./b.pgn", "c.zip"];
        for name in given {
            list.add(name, 1, Ok(0)).unwrap();
        }
        let names: Vec<&str> = list.members.iter().map(|member| &*member.name).collect();
        let expected = [
            "a.pgn",
            "d/a.pgn.gz",
            "a (2).pgn",
            "a (3).pgn",
            "a (4).pgn",
            "d/a (2).pgn.gz",
            "b.pgn",
            "c.zip",
        ];
        assert_eq!(names, expected);
        let renamed: Vec<bool> = list.members.iter().map(|member| member.is_renamed).collect();
        assert_eq!(renamed, [false, false, true, false, true, true, false, false]);
        assert!(list.members[7].place.as_ref().is_err_and(|refusal| refusal.0.contains("inside an archive")));
    }

    #[test]
    fn ratios_are_bounded() {
        assert!(refuse_ratio(1, RATIO_BYTES_MIN).is_ok());
        assert!(refuse_ratio(1, RATIO_BYTES_MIN + 1).is_err());
        assert!(refuse_ratio(RATIO_BYTES_MIN, RATIO_BYTES_MIN * RATIO_MAX).is_ok());
        assert!(refuse_ratio(RATIO_BYTES_MIN, RATIO_BYTES_MIN * RATIO_MAX + 1).is_err());
    }
}
