//! Opens the sources of text: files, folders, archives, the web, standard input, and bytes in memory.

use std::collections::VecDeque;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use twox_hash::XxHash3_64;

use super::archive::{self, Archive, ArchiveRefusal, Unpacking};
use super::chunk::{Chunk, ChunkFailure, Cutter, FailureKind};
use super::decode::{Compression, Decoder, HEAD_BYTES, WholeBytes};
use super::folder::FolderFiles;
use super::stamp::is_same_file;
#[cfg(feature = "https")]
use super::web::{Client, Remote};
use super::{Options, PgnError, SourceFailure, Stamp, Url};

/// One input: a file, a member of an archive, a file on the web, standard input, or bytes in memory.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Source {
    /// The name of the source in messages: the path as given or found, the URL without user, password and query, or `standard
    /// input`.
    pub name: String,
    /// The path, if the source is a file or a member of an archive; otherwise `None`.
    pub path: Option<PathBuf>,
    /// The size in bytes before decompression, if it is known.
    pub bytes: Option<u64>,
    /// The identity of the source. Its size and time are known once the source is opened, and its hash once it has been read to its
    /// end. A source that is not a file has no time.
    pub stamp: Stamp,
    /// The compression; `None` before the source is opened.
    pub compression: Option<Compression>,
    /// True if the source comes from the web.
    pub is_remote: bool,
}

#[derive(Clone)]
enum SourceInput {
    /// A file. The origin records whether the file itself or its folder was given.
    File(PathBuf, FileOrigin),
    /// A member of an archive, by its index. The origin records whether the member itself or the archive was given.
    Member(Arc<Archive>, usize, FileOrigin),
    /// An archive whose members cannot be listed.
    Refused(ArchiveRefusal),
    Stdin,
    #[cfg(feature = "https")]
    Web(Remote),
    Bytes(SharedBytes),
}

impl SourceInput {
    fn is_remote(&self) -> bool {
        match self {
            #[cfg(feature = "https")]
            SourceInput::Web(_) => true,
            _ => false,
        }
    }
}

#[derive(Clone)]
struct SharedBytes(Arc<Vec<u8>>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The kind of path that was given for a file: its own path, or the path of a folder or archive that contains it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileOrigin {
    Named,
    InFolder,
}

/// All inputs in order, unpacked and cut into chunks.
pub struct Sources {
    sources: Vec<Source>,
    waiting: VecDeque<(u32, SourceInput)>,
    current: Option<Cutter>,
    /// The file or archive being read, which is used to detect changes while reading.
    file: Option<OpenedFile>,
    place: FileOrigin,
    unpacking: Unpacking,
    failures: Vec<SourceFailure>,
    skipped: Vec<SourceFailure>,
    notes: Vec<String>,
    consumed: Arc<AtomicU64>,
    chunks: u64,
    options: Options,
}

impl Sources {
    /// Opens the inputs without reading their content.
    ///
    /// `-` is standard input. A file may have any name, because its format is recognised from its content. A path that begins with
    /// `https://` or `http://` is a file on the web; this function sends the request to its server. A folder stands for all
    /// archives in it and its subfolders, and for all files there whose names end in `.pgn`, `.epd` or `.fen`, perhaps followed by
    /// `.zst`, `.gz` or `.bz2` (in upper or lower case). The files are read in byte order of their paths. Links from a folder to
    /// other folders are not followed.
    ///
    /// A zip archive, or a 7z archive with the feature `sevenz`, stands for its members with such names, in the order of the
    /// archive. Each member is a separate source; its path is the path of the archive followed by the member's name. Such a path
    /// may also name a folder inside the archive, or a member whose name does not look like games.
    ///
    /// # Errors
    ///
    /// Fails if a path does not exist, a folder cannot be listed or holds no such file, an archive has no such member, `-` occurs
    /// twice, or a file on the web is missing. Fails for any URL in a build without the feature `https`. An archive whose
    /// members cannot be listed is a failure of its source instead, and so is any 7z archive in a build without `sevenz`.
    pub fn open(paths: &[PathBuf], options: Options) -> Result<Sources, PgnError> {
        let mut all = Sources::empty(options);
        let mut web = Web::default();
        for path in paths {
            if let Some(url) = Url::from_path(path) {
                web.add(&mut all, url)?;
                continue;
            }
            if path.as_os_str() == "-" {
                if all.waiting.iter().any(|(_, input)| matches!(input, SourceInput::Stdin)) {
                    return Err(PgnError::StdinTwice);
                }
                all.add(String::from("standard input"), None, None, SourceInput::Stdin);
                continue;
            }
            if path.is_dir() {
                let files = FolderFiles::below(path)?;
                all.notes.extend(files.note().map(|note| format!("{}: {note}", path.display())));
                for (file, bytes) in files.games {
                    all.add_file(&file, bytes, FileOrigin::InFolder)?;
                }
                continue;
            }
            let is_below = all.options.folders.iter().any(|folder| path.starts_with(folder));
            let place = if is_below { FileOrigin::InFolder } else { FileOrigin::Named };
            match fs::metadata(path) {
                Ok(metadata) => {
                    let bytes = Some(metadata.len()).filter(|_| metadata.is_file());
                    all.add_file(path, bytes, place)?;
                }
                Err(error) => match archive::inside(path) {
                    Ok(Some((archive, name))) => all.add_members(path, &archive, Some(&name), place)?,
                    // As in a folder, the file counts as one that cannot be read.
                    Ok(None) if is_below => {
                        all.add_path(path.clone(), None, SourceInput::File(path.clone(), place));
                    }
                    Ok(None) => return Err(PgnError::at(path, error)),
                    Err(refusal) => all.add_path(path.to_owned(), None, SourceInput::Refused(refusal)),
                },
            }
        }
        Ok(all)
    }

    /// Creates sources from bytes in memory. The bytes may be compressed.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Sources {
        Sources::from_bytes_with(name, bytes, Options::default())
    }

    /// Like [`Sources::from_bytes`], but with the given options.
    pub fn from_bytes_with(name: &str, bytes: Vec<u8>, options: Options) -> Sources {
        let mut all = Sources::empty(options);
        all.add(
            name.to_owned(),
            None,
            Some(bytes.len() as u64),
            SourceInput::Bytes(SharedBytes(Arc::new(bytes))),
        );
        all
    }

    /// Returns a new reader that reads the same inputs from their beginning.
    ///
    /// # Panics
    ///
    /// Panics if reading has begun.
    pub fn unread(&self) -> Sources {
        assert!(self.waiting.len() == self.sources.len(), "sources that were begun are not read again");
        Sources {
            sources: self.sources.clone(),
            waiting: self.waiting.clone(),
            ..Sources::empty(self.options.clone())
        }
    }

    /// Sets the interrupt flag. When it becomes true, the program stops waiting for servers.
    pub fn interrupted_by(&mut self, flag: &Arc<AtomicBool>) {
        self.options.interrupt = Arc::clone(flag);
    }

    /// Sets the number of threads that unpack a source: see [`Options::unpack_threads`]. A source that is already being read is not
    /// affected.
    pub fn unpack_on(&mut self, threads: usize) {
        self.options.unpack_threads = threads;
    }

    fn empty(options: Options) -> Sources {
        Sources {
            sources: Vec::new(),
            waiting: VecDeque::new(),
            current: None,
            file: None,
            place: FileOrigin::Named,
            unpacking: Unpacking::default(),
            failures: Vec::new(),
            skipped: Vec::new(),
            notes: Vec::new(),
            consumed: Arc::default(),
            chunks: 0,
            options,
        }
    }

    fn add_file(&mut self, path: &Path, bytes: Option<u64>, place: FileOrigin) -> Result<(), PgnError> {
        match Archive::open(path) {
            Ok(Some(archive)) => return self.add_members(path, &archive, None, place),
            Ok(None) => self.add_path(path.to_owned(), bytes, SourceInput::File(path.to_owned(), place)),
            Err(refusal) => self.add_path(path.to_owned(), bytes, SourceInput::Refused(refusal)),
        }
        Ok(())
    }

    /// Adds the members of an archive that look like games. If `below` is given, adds only the member with this name, or the
    /// members of this folder.
    fn add_members(
        &mut self,
        path: &Path,
        archive: &Arc<Archive>,
        below: Option<&Path>,
        place: FileOrigin,
    ) -> Result<(), PgnError> {
        let members = archive.games(below);
        if members.is_empty() && below.is_some() {
            return Err(PgnError::NoMember { path: path.to_owned(), members: archive.names() });
        }
        if members.is_empty() && place == FileOrigin::Named {
            return Err(PgnError::EmptyArchive { path: path.to_owned(), members: archive.names() });
        }
        if below.is_none() {
            self.notes.extend(archive.notes());
        }
        let is_named = |number| below.is_some_and(|name| archive.find(name) == Some(number));
        for number in members {
            let path = archive.path_of(number);
            let place = if is_named(number) { place } else { FileOrigin::InFolder };
            let bytes = Some(archive.member(number).bytes);
            self.add_path(path, bytes, SourceInput::Member(Arc::clone(archive), number, place));
        }
        Ok(())
    }

    fn add_path(&mut self, path: PathBuf, bytes: Option<u64>, input: SourceInput) {
        self.add(path.display().to_string(), Some(path), bytes, input);
    }

    fn add(&mut self, name: String, path: Option<PathBuf>, bytes: Option<u64>, input: SourceInput) {
        let index = u32::try_from(self.sources.len()).expect("no command line names 2^32 files");
        let is_remote = input.is_remote();
        self.sources.push(Source {
            name,
            path,
            bytes,
            stamp: Stamp::default(),
            compression: None,
            is_remote,
        });
        self.waiting.push_back((index, input));
    }

    /// Returns the maximum length of a game in bytes: see [`Options::game_bytes_max`].
    pub fn game_bytes_max(&self) -> usize {
        self.options.game_bytes_max
    }

    /// Returns all sources, in the order in which they are read.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Returns the failures so far: sources that could not be read to their ends.
    pub fn failures(&self) -> &[SourceFailure] {
        &self.failures
    }

    /// Returns the files that were skipped so far. They were found in a given folder, and contain no games despite their names.
    pub fn skipped(&self) -> &[SourceFailure] {
        &self.skipped
    }

    /// Returns notes for the user about unread files and archive members that may contain games, and about renamed members: `a.zip:
    /// 1 member is no .pgn, .epd or .fen and was left out: a.txt`.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the number of compressed bytes read so far. For a progress display, compare it with the sum of [`Source::bytes`].
    pub fn bytes_read(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// Reads the next chunk. Returns `None` after the last source. A source that cannot be read further is recorded in
    /// [`Sources::failures`], and reading continues with the next source.
    pub fn next_chunk(&mut self) -> Option<Chunk> {
        let mut texts = Vec::new();
        let mut bytes = 0;
        while bytes < self.options.chunk_bytes {
            let Some(cutter) = &mut self.current else {
                let Some((index, input)) = self.waiting.pop_front() else { break };
                self.start(index, input);
                continue;
            };
            let source = cutter.source();
            let Sources { failures, skipped, place, options, .. } = self;
            let text = cutter.next(options, &mut |ChunkFailure { offset, reason, kind }| {
                // An interrupt is not recorded as a failure, since the caller can check the flag.
                if options.interrupt.load(Ordering::Relaxed) {
                    return;
                }
                let is_skipped = (kind, *place) == (FailureKind::NoGames, FileOrigin::InFolder);
                let list = if is_skipped { &mut *skipped } else { &mut *failures };
                list.push(SourceFailure { source, offset, reason });
            });
            match text {
                Some(text) => {
                    bytes += text.bytes.len();
                    texts.push(text);
                    if !cutter.is_done() {
                        break;
                    }
                }
                None => self.leave(),
            }
        }
        if texts.is_empty() {
            return None;
        }
        let index = self.chunks;
        self.chunks += 1;
        Some(Chunk { index, texts, game_bytes_max: self.options.game_bytes_max })
    }

    fn start(&mut self, index: u32, input: SourceInput) {
        let Source { stamp, is_remote, .. } = &mut self.sources[index as usize];
        (self.file, self.place) = (None, FileOrigin::Named);
        let mut is_member = false;
        let raw: io::Result<Box<dyn Read + Send>> = match input {
            SourceInput::File(path, place) => File::open(&path).and_then(|file| {
                self.place = place;
                let metadata = file.metadata()?;
                *stamp = Stamp::from_metadata(&metadata);
                self.file = metadata.is_file().then_some(OpenedFile::File { path, metadata });
                Ok(Box::new(file) as _)
            }),
            SourceInput::Member(archive, number, place) => {
                self.place = place;
                *stamp = archive.stamp(number);
                let raw = archive.read(number, &mut self.unpacking, &self.options);
                self.file = Some(OpenedFile::Archive(archive));
                is_member = true;
                raw
            }
            SourceInput::Refused(refusal) => Err(refusal.into()),
            SourceInput::Stdin => Ok(Box::new(io::stdin())),
            #[cfg(feature = "https")]
            SourceInput::Web(remote) => {
                remote.read(&self.options.interrupt).map(|incoming| Box::new(incoming) as _)
            }
            SourceInput::Bytes(bytes) => Ok(Box::new(io::Cursor::new(bytes))),
        };
        match raw.and_then(|raw| Decoder::new(raw, Arc::clone(&self.consumed), &self.options)) {
            Ok(mut decoder) => {
                decoder.is_remote = *is_remote;
                let compression = match decoder.compression {
                    Compression::Plain if is_member => Compression::Archive,
                    compression => compression,
                };
                self.sources[index as usize].compression = Some(compression);
                self.current = Some(Cutter::new(index, decoder));
            }
            Err(error) => self.failures.push(SourceFailure {
                source: index,
                offset: 0,
                reason: ArchiveRefusal::told(&error)
                    .map_or_else(|| format!("the file cannot be read: {error}"), ToString::to_string),
            }),
        }
    }

    /// Ends the current source. Records its hash if all of it was read without a failure and the file did not grow meanwhile.
    /// Records a failure if the file shrank or was replaced.
    fn leave(&mut self) {
        let Some(cutter) = self.current.take() else { return };
        let index = cutter.source();
        let source = &mut self.sources[index as usize];
        // Sources are read in order, so only the last failure in the list can belong to this source.
        let is_left = |list: &[SourceFailure]| list.last().is_some_and(|failure| failure.source == index);
        if is_left(&self.failures) || is_left(&self.skipped) {
            return;
        }
        let Some(whole) = cutter.whole() else { return };
        if let Some(reason) = self.file.take().and_then(|file| file.change(&whole)) {
            self.failures.push(SourceFailure { source: index, offset: cutter.offset(), reason });
            return;
        }
        if let Some(hash) = whole.hash
            && source.stamp.bytes.is_none_or(|bytes| bytes == whole.bytes)
        {
            source.stamp = Stamp { bytes: Some(whole.bytes), hash: Some(hash), ..source.stamp };
        }
    }
}

/// The HTTP client that all sources on the web share.
#[derive(Default)]
struct Web {
    #[cfg(feature = "https")]
    client: Option<Arc<Client>>,
}

impl Web {
    #[cfg(feature = "https")]
    fn add(&mut self, all: &mut Sources, url: Url) -> Result<(), PgnError> {
        let name = url.shown();
        if url.names_reel() {
            return Err(PgnError::ReelOnWeb { name });
        }
        let client = self.client.get_or_insert_with(|| Arc::new(Client::new(all.options.web)));
        let remote = Remote::open(client, url, all.sources.is_empty(), &all.options)?;
        all.add(name, None, remote.bytes(), SourceInput::Web(remote));
        Ok(())
    }

    #[cfg(not(feature = "https"))]
    fn add(&mut self, _: &mut Sources, url: Url) -> Result<(), PgnError> {
        let name = url.shown();
        Err(if url.names_reel() { PgnError::ReelOnWeb { name } } else { PgnError::WithoutWeb { name } })
    }
}

/// The file being read, with its metadata from when it was opened.
enum OpenedFile {
    File {
        path: PathBuf,
        metadata: Metadata,
    },
    /// A member of an archive.
    Archive(Arc<Archive>),
}

impl OpenedFile {
    /// Returns a message if the file changed while it was being read, since the bytes may then mix two states of the file. A file
    /// that only grew, or that was removed, counts as unchanged. An archive that grew counts as changed.
    fn change(&self, whole: &WholeBytes) -> Option<String> {
        let (path, metadata) = match self {
            OpenedFile::File { path, metadata } => (path, metadata),
            OpenedFile::Archive(archive) => return archive.change().map(|refusal| refusal.to_string()),
        };
        let (before, read) = (metadata.len(), whole.bytes);
        if read < before {
            return Some(format!(
                "the file shrank from {before} to {read} bytes while it was read: read it again"
            ));
        }
        let replaced =
            || Some(String::from("the file was replaced or written to while it was read: read it again"));
        let now = fs::metadata(path).ok()?;
        if !is_same_file(metadata, &now) {
            return replaced();
        }
        if Stamp::from_metadata(&now) == Stamp::from_metadata(metadata) {
            return None;
        }
        let has_grown = now.len() > before && now.len() >= read;
        if has_grown && head_hash(path).is_ok_and(|head| head == whole.head) { None } else { replaced() }
    }
}

/// Returns the XXH3 hash of the first [`HEAD_BYTES`] bytes of a file.
fn head_hash(path: &Path) -> io::Result<u64> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(XxHash3_64::oneshot(&head))
}

/// Replaces each folder by its files, and each archive by its members, as [`Sources::open`] does. Other paths are kept. Also
/// returns the notes that [`Sources::notes`] would return.
///
/// # Errors
///
/// Fails if a folder cannot be listed, or if a folder or an archive has no files that look like games.
pub fn list(paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<String>), PgnError> {
    let (mut files, mut notes) = (Vec::new(), Vec::new());
    for path in paths {
        let is_path = path.as_os_str() != "-" && Url::from_path(path).is_none();
        let is_opened = is_path && (path.is_dir() || archive::file_of(path).is_file());
        if is_opened {
            let sources = Sources::open(std::slice::from_ref(path), Options::default())?;
            files.extend(sources.sources.into_iter().filter_map(|source| source.path));
            notes.extend(sources.notes);
        } else {
            files.push(path.clone());
        }
    }
    Ok((files, notes))
}
