//! A file that appears under its name only when it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::place::target_of;
use super::temporary::Temporary;

/// An error that occurs while an [`OutputFile`] is created or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The file cannot be created.
    #[error("{} cannot be written ({error}): check the folder and its permissions", path.display())]
    Create {
        /// The path as the user gave it.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        error: io::Error,
    },
    /// A write failed after the file was created, for instance because the disk is full.
    #[error("{} cannot be written to its end ({error}): make room on the disk, or write elsewhere", path.display())]
    Write {
        /// The path as the user gave it.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        error: io::Error,
    },
    /// Another file already has the temporary name.
    #[error("{} exists already: remove it, unless another process is writing there", temporary.display())]
    InTheWay {
        /// The temporary name.
        temporary: PathBuf,
    },
    /// The file name ends in `.gz`, `.bz2`, `.xz` or `.zip`, which can be read but not written.
    #[error("{}: packed files are written as .zst only: give a name that ends in .zst, or leave the ending out", path.display())]
    Packing {
        /// The path as the user gave it.
        path: PathBuf,
    },
}

impl From<OutputError> for io::Error {
    fn from(error: OutputError) -> io::Error {
        let kind = match &error {
            OutputError::Create { error, .. } | OutputError::Write { error, .. } => error.kind(),
            OutputError::InTheWay { .. } => io::ErrorKind::AlreadyExists,
            OutputError::Packing { .. } => io::ErrorKind::InvalidInput,
        };
        io::Error::new(kind, error)
    }
}

/// An output file that gets its final name when it is complete. Until then its bytes go to a temporary file in the same folder. If
/// the name ends in `.zst`, the bytes are compressed. The temporary file is removed unless [`OutputFile::finish`] is called.
///
/// If the path is a pipe or a device, the bytes are written to it directly. The I/O errors that [`Write`] returns contain an
/// [`OutputError`], which names the path.
///
/// ```
/// use std::io::Write as _;
///
/// use orbit_core::files::OutputFile;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("hits.pgn.zst");
/// let mut out = OutputFile::create(&path)?;
/// out.write_all(b"1. e4 *\n")?;
/// assert!(!path.exists());
/// out.finish()?;
/// assert_eq!(zstd::decode_all(std::fs::File::open(&path)?)?, b"1. e4 *\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OutputFile {
    /// The path as given, for messages.
    path: PathBuf,
    /// The open file; `None` after `finish`. It must be closed before the temporary file is removed, since not every system can
    /// remove an open file.
    sink: Option<OutputSink>,
    /// The temporary file. `None` after `finish`, and for pipes and devices, which are written directly.
    temporary: Option<Temporary>,
}

enum OutputSink {
    Plain(BufWriter<File>),
    Zstd(zstd::Encoder<'static, BufWriter<File>>),
}

impl OutputFile {
    /// Starts to write the output file at `path`.
    ///
    /// # Errors
    ///
    /// Returns [`OutputError::Create`], [`OutputError::InTheWay`] or [`OutputError::Packing`].
    pub fn create(path: &Path) -> Result<OutputFile, OutputError> {
        let fault = |error| OutputError::Create { path: path.to_owned(), error };
        let ends_in = |end| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(end));
        if ["gz", "bz2", "xz", "zip"].into_iter().any(ends_in) {
            return Err(OutputError::Packing { path: path.to_owned() });
        }
        let target = target_of(path).map_err(fault)?;
        let found = fs::metadata(&target).ok();
        let is_folder = found.as_ref().is_some_and(fs::Metadata::is_dir);
        if is_folder || target.file_name().is_none() {
            return Err(fault(io::ErrorKind::IsADirectory.into()));
        }
        let (file, temporary) = if found.is_some_and(|found| !found.is_file()) {
            (File::options().write(true).open(&target).map_err(fault)?, None)
        } else {
            let (temporary, file) =
                Temporary::create(target).map_err(|(temporary, error)| match error.kind() {
                    io::ErrorKind::AlreadyExists => OutputError::InTheWay { temporary },
                    _ => fault(error),
                })?;
            (file, Some(temporary))
        };
        let mut output = OutputFile { path: path.to_owned(), sink: None, temporary };
        let file = BufWriter::with_capacity(1 << 16, file);
        output.sink =
            Some(if ends_in("zst") { zstd_sink(file).map_err(fault)? } else { OutputSink::Plain(file) });
        Ok(output)
    }

    /// Returns the path of the output, as the user gave it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the temporary file, or `None` for pipes and devices, which are written directly.
    pub fn temporary_path(&self) -> Option<&Path> {
        self.temporary.as_ref().map(Temporary::path)
    }

    /// Syncs the file to disk, and gives it its final name.
    ///
    /// # Errors
    ///
    /// Returns [`OutputError::Write`].
    pub fn finish(mut self) -> Result<(), OutputError> {
        let finished = self.complete();
        finished.map_err(|error| OutputError::Write { path: self.path.clone(), error })
    }

    fn complete(&mut self) -> io::Result<()> {
        let file = match self.sink.take().expect("only finish takes it") {
            OutputSink::Plain(file) => file,
            OutputSink::Zstd(encoder) => encoder.finish()?,
        };
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let Some(temporary) = self.temporary.take() else { return Ok(()) };
        file.sync_all()?;
        // The file stays locked until it has its final name. Otherwise another run could mistake it for a leftover and remove it.
        temporary.replace()
    }

    fn with_sink<T>(&mut self, run: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<T> {
        let done = match self.sink.as_mut().expect("only finish takes it") {
            OutputSink::Plain(file) => run(file),
            OutputSink::Zstd(encoder) => run(encoder),
        };
        done.map_err(|error| match error.kind() {
            // Callers retry an interrupted write, so they need the bare error, without the path.
            io::ErrorKind::Interrupted => error,
            _ => OutputError::Write { path: self.path.clone(), error }.into(),
        })
    }
}

fn zstd_sink(file: BufWriter<File>) -> io::Result<OutputSink> {
    let mut encoder = zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?;
    encoder.include_checksum(true)?;
    Ok(OutputSink::Zstd(encoder))
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with_sink(|sink| sink.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with_sink(|sink| sink.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_name_comes_last() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["plain.pgn", "packed.pgn.zst"] {
            let path = folder.path().join(name);
            fs::write(&path, "before").unwrap();
            let mut out = OutputFile::create(&path).unwrap();
            let text = "1. e4 e5 *\n".repeat(100_000);
            out.write_all(text.as_bytes()).unwrap();
            out.flush().unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"before");
            assert!(out.temporary_path().unwrap().exists());
            out.finish().unwrap();
            let bytes = fs::read(&path).unwrap();
            let is_packed = name.ends_with(".zst");
            assert_eq!(is_packed, bytes.len() < text.len() / 10);
            let read = if is_packed { zstd::decode_all(&bytes[..]).unwrap() } else { bytes };
            assert!(read == text.as_bytes());
        }
        assert_eq!(names(folder.path()), ["packed.pgn.zst", "plain.pgn"]);
    }

    #[test]
    fn what_is_not_finished_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hits.pgn");
        let mut out = OutputFile::create(&path).unwrap();
        out.write_all(b"half").unwrap();
        // A second output to the same path must not mix with the first output.
        let second = OutputFile::create(&path).err().unwrap();
        assert!(matches!(&second, OutputError::InTheWay { temporary } if temporary.exists()), "{second}");
        drop(out);
        assert_eq!(names(folder.path()), [] as [&str; 0]);
        // Creating any output in the folder removes the temporary files that ended runs left there. Files with similar names stay.
        let left = temporary_of(&folder.path().join("other.csv"));
        let name = left.file_name().unwrap().to_str().unwrap().to_owned();
        fs::write(&left, "left behind").unwrap();
        let elsewhere = name.replace("-", "-0123456789").split_at(name.len()).0.to_owned();
        let kept = ["hits.pgn.tmp", "hits.pgn.tmp12", "hits.tmp12-cafe", &elsewhere, &format!("{name}.pgn")];
        kept.iter().for_each(|name| fs::write(folder.path().join(name), "kept").unwrap());
        let live = OutputFile::create(&folder.path().join("live.pgn")).unwrap();
        OutputFile::create(&path).unwrap().finish().unwrap();
        assert!(!left.exists() && live.temporary_path().unwrap().exists());
        assert!(kept.iter().all(|name| folder.path().join(name).exists()));
    }

    /// Returns the path of the temporary file for an output at `path`.
    fn temporary_of(path: &Path) -> PathBuf {
        OutputFile::create(path).unwrap().temporary_path().unwrap().to_owned()
    }

    #[test]
    fn what_cannot_be_begun_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no/hits.pgn");
        for path in [folder.path(), &missing, Path::new(""), Path::new("/")] {
            let error = OutputFile::create(path).err().unwrap();
            assert!(matches!(error, OutputError::Create { .. }), "{path:?}: {error}");
        }
        let message = OutputFile::create(&missing).err().unwrap().to_string();
        assert!(message.starts_with(&missing.display().to_string()), "{message}");
        let packed = OutputFile::create(&folder.path().join("hits.pgn.gz")).err().unwrap();
        assert!(matches!(packed, OutputError::Packing { .. }), "{packed}");
        assert_eq!(names(folder.path()), [] as [&str; 0]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, "before").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let mut out = OutputFile::create(&link).unwrap();
        out.write_all(b"after").unwrap();
        out.finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"after");
        // The link is kept even if its target does not exist yet.
        fs::remove_file(&target).unwrap();
        OutputFile::create(&link).unwrap().finish().unwrap();
        assert_eq!(names(folder.path()), ["link", "target"]);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink() && target.is_file());
    }

    /// Writes to `/dev/full`, where every write fails as on a full disk.
    #[test]
    fn a_full_disk_is_told_by_name() {
        let device = Path::new("/dev/full");
        if !device.exists() {
            eprintln!("ignored: there is no {}", device.display());
            return;
        }
        let mut out = OutputFile::create(device).unwrap();
        assert_eq!(out.temporary_path(), None);
        let error = out.write_all(&[b'x'; 1 << 20]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(error.to_string().starts_with("/dev/full cannot be written to its end"), "{error}");
        let mut out = OutputFile::create(device).unwrap();
        out.write_all(b"in the buffer until the end").unwrap();
        let error = out.finish().unwrap_err();
        assert!(error.to_string().starts_with("/dev/full cannot be written to its end"), "{error}");
        assert!(device.exists());
    }
}
