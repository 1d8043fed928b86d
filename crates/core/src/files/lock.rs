//! Gives one process exclusive write access to a file, with an operating system lock. The lock ends with the process, so a killed
//! process leaves no lock behind.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// The maximum number of attempts to open a file that other processes keep replacing.
const ROUNDS_MAX: u32 = 100;
/// Opens and locks a file that another run may have left behind. Fails if a process holds the lock, since that process is still
/// writing to the file.
#[cfg(not(windows))]
pub(super) fn open_left(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).open(path).or_else(|_| File::open(path))?;
    file.try_lock()?;
    Ok(file)
}

#[cfg(windows)]
pub(super) fn open_left(path: &Path) -> io::Result<File> {
    open_and_lock(path)?.ok_or_else(|| io::ErrorKind::WouldBlock.into())
}

/// Opens and locks the file at a path. No other process can then write to it or replace it, but others may read it. Returns `None`
/// if another process holds the lock.
pub fn open_alone(path: &Path) -> io::Result<Option<File>> {
    open_settled(|| {
        let file = open_and_lock(path)?;
        let is_settled = file.as_ref().map_or(Ok(true), |file| is_at(file, path))?;
        Ok((file, is_settled))
    })
}

/// Opens and locks a file by calling `open`, which also returns whether the file is still at its path. If another process has
/// replaced the file meanwhile, calls `open` again.
fn open_settled<T>(mut open: impl FnMut() -> io::Result<(T, bool)>) -> io::Result<T> {
    for _ in 0..ROUNDS_MAX {
        let (file, is_settled) = open()?;
        if is_settled {
            return Ok(file);
        }
    }
    // Some file systems report a different inode number each time, so the loop needs a limit.
    let text = "other processes replace the file again and again: wait until they are done, or write to another disk";
    Err(io::Error::other(text))
}

#[cfg(not(windows))]
fn open_and_lock(path: &Path) -> io::Result<Option<File>> {
    // The file is opened for writing, since some network file systems lock only writable files.
    try_lock(OpenOptions::new().read(true).write(true).open(path)?)
}

/// Opens and locks a folder. Other processes can still write to it, unless they lock it as well. Returns `None` if another process
/// holds the lock.
#[cfg(not(windows))]
pub fn lock_folder(path: &Path) -> io::Result<Option<File>> {
    try_lock(File::open(path)?)
}

/// Opens the folder on Windows without a lock, because a lock would keep other processes from listing the folder.
#[cfg(windows)]
pub fn lock_folder(path: &Path) -> io::Result<Option<File>> {
    use std::os::windows::fs::OpenOptionsExt as _;
    const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
    OpenOptions::new().read(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path).map(Some)
}

/// Locks a file or folder. Returns `None` if another process holds the lock.
#[cfg(not(windows))]
fn try_lock(file: File) -> io::Result<Option<File>> {
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        Err(fs::TryLockError::Error(error)) if has_no_locks(&error) => Ok(Some(file)),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}

/// Returns whether locking failed because the file system does not support locks. NFS without its lock daemon reports `ENOLCK`.
#[cfg(not(windows))]
fn has_no_locks(error: &io::Error) -> bool {
    const ENOLCK: i32 = if cfg!(any(target_os = "linux", target_os = "android")) { 37 } else { 77 };
    error.kind() == io::ErrorKind::Unsupported || cfg!(unix) && error.raw_os_error() == Some(ENOLCK)
}

/// Opens the file on Windows in a sharing mode that lets other processes read the file but not write it. A lock would also keep
/// readers out. The sharing mode permits deletion, which lets this process replace the file.
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

/// Returns whether `file` is still the file at `path`. Another file may have replaced it.
#[cfg(unix)]
pub fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let (open, named) = (file.metadata()?, fs::metadata(path)?);
    Ok((open.dev(), open.ino()) == (named.dev(), named.ino()))
}

/// Returns true if a file exists at the path. Unlike on Unix there is no inode number to compare. The weaker test is enough,
/// because this library only replaces files to which it has exclusive access.
#[cfg(not(unix))]
pub fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    fs::metadata(path).map(|_| true)
}

/// Releases the lock on a file. Closing the file is not enough: another thread may be starting a process, which inherits the open
/// file and keeps the lock for a moment.
pub fn release(file: &File) {
    let _ = file.unlock();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_never_has_its_name_is_given_up() {
        let settled_after = |rounds: u32| {
            let mut opened = 0;
            let result = open_settled(|| {
                opened += 1;
                Ok((opened, opened == rounds))
            });
            (opened, result)
        };
        assert!(matches!(settled_after(3), (3, Ok(3))));
        let (opened, result) = settled_after(u32::MAX);
        assert_eq!(opened, ROUNDS_MAX);
        assert!(result.unwrap_err().to_string().starts_with("other processes replace the file"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn file_systems_without_locks_are_known() {
        // EOPNOTSUPP, ENOSYS and ENOLCK mean that locks are not supported; EACCES and EIO are other errors.
        let found = [95, 38, 37, 13, 5].map(|code| has_no_locks(&io::Error::from_raw_os_error(code)));
        assert_eq!(found, [true, true, true, false, false]);
    }
}
