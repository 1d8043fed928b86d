//! Files that one writer has for itself, by locks of the system: they end with the process, so that there is
//! none to clear away.

use std::ffi::OsString;
#[cfg(not(windows))]
use std::fs::TryLockError;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Temporary names that are tried before what lies there is said to be in the way.
const NAMES_MAX: u32 = 1000;

/// Why there is no temporary file: the name that was tried last, and what the system said.
pub(crate) type NoTemporary = (PathBuf, io::Error);

/// Creates a file beside another, under a name that nothing has: its own with `.tmp`, the number of the process
/// and, where a process of that number left one behind, a number more.
///
/// # Errors
///
/// [`io::ErrorKind::AlreadyExists`] where somebody still writes to such a file.
pub(crate) fn create_temporary(target: &Path) -> Result<(PathBuf, File), NoTemporary> {
    let mut number = 0;
    loop {
        let mut name = target.file_name().map_or(OsString::new(), OsString::from);
        name.push(format!(".tmp{}", std::process::id()));
        if number > 0 {
            name.push(format!("-{number}"));
        }
        let temporary = target.with_file_name(name);
        match File::create_new(&temporary) {
            Ok(file) => {
                // Not every file system has locks.
                let _ = file.try_lock();
                return Ok((temporary, file));
            }
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists
                    && number < NAMES_MAX
                    && matches!(open_alone(&temporary), Ok(Some(_))) =>
            {
                number += 1;
            }
            Err(error) => return Err((temporary, error)),
        }
    }
}

/// Opens the file that has a name, for nobody else to write to or to replace; `None` if somebody else does.
/// Others may read it.
pub(super) fn open_alone(path: &Path) -> io::Result<Option<File>> {
    loop {
        match open_and_lock(path)? {
            // Who had it before may have put another file there.
            Some(file) if !is_at(&file, path)? => {}
            opened => return Ok(opened),
        }
    }
}

#[cfg(not(windows))]
fn open_and_lock(path: &Path) -> io::Result<Option<File>> {
    // Locks over a network need a file that may be written to.
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        // Not every file system has locks.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(Some(file)),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The same where a lock would keep readers away as well. The file may be replaced, by whoever has it open so.
#[cfg(windows)]
fn open_and_lock(path: &Path) -> io::Result<Option<File>> {
    use std::os::windows::fs::OpenOptionsExt as _;
    const FILE_SHARE_READ: u32 = 1;
    const FILE_SHARE_DELETE: u32 = 4;
    const ERROR_SHARING_VIOLATION: i32 = 32;
    const ERROR_LOCK_VIOLATION: i32 = 33;
    let share = FILE_SHARE_READ | FILE_SHARE_DELETE;
    match OpenOptions::new().read(true).write(true).share_mode(share).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error)
            if matches!(error.raw_os_error(), Some(ERROR_SHARING_VIOLATION | ERROR_LOCK_VIOLATION)) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Whether a file still has a name: another may have taken its place.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let (open, named) = (file.metadata()?, fs::metadata(path)?);
    Ok((open.dev(), open.ino()) == (named.dev(), named.ino()))
}

/// Elsewhere files have no number to compare: whoever replaces one with this library has it open alone.
#[cfg(not(unix))]
pub(super) fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    fs::metadata(path).map(|_| true)
}

/// Gives the lock back. Closing the file would not be enough: a process that another thread is just
/// starting has the file open for a moment, and so the lock.
pub(super) fn release(file: &File) {
    let _ = file.unlock();
}
