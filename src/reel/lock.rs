//! Files that one writer has for itself, by locks of the system: they end with the process, so that there is
//! none to clear away.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Temporary names that are tried before what lies there is said to be in the way.
const NAMES_MAX: u32 = 1000;
/// How often a new file may be taken away before it is locked.
const LOST_MAX: u32 = 8;
/// How often a file may be replaced while it is opened.
const ROUNDS_MAX: u32 = 100;
/// Links to links that are followed, as many as Linux does.
const LINKS_MAX: u32 = 40;

/// Why there is no temporary file: the name that was tried last, and what the system said.
pub(crate) type NoTemporary = (PathBuf, io::Error);

/// The file that is written when a path is: links are followed, also where they lead to nothing yet.
///
/// # Errors
///
/// Links that lead to one another.
pub fn target_of(path: &Path) -> io::Result<PathBuf> {
    if let Ok(target) = fs::canonicalize(path) {
        return Ok(target);
    }
    let mut target = path.to_owned();
    // What is there and has no path of its own, such as a pipe behind `/dev/stdout`, is taken by this one.
    if fs::metadata(path).is_ok() {
        return Ok(target);
    }
    for _ in 0..LINKS_MAX {
        let Ok(next) = fs::read_link(&target) else { return Ok(target) };
        target.pop();
        target.push(next);
    }
    Err(io::Error::other("too many links lead to one another; name the file itself"))
}

/// Creates a file beside another, under a name that nothing has: its own with `.tmp`, the number of the process, that of
/// the computer, and, where such a file is in the way, a number more. It has the mode of the file that it is to replace. What runs that were
/// killed left behind in the folder is removed first.
///
/// # Errors
///
/// [`io::ErrorKind::AlreadyExists`] where another output of this process is still written to such a file.
pub(crate) fn create_temporary(target: &Path) -> Result<(PathBuf, File), NoTemporary> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    clear_left_behind(folder.unwrap_or(Path::new(".")));
    let (mut number, mut lost) = (0, 0);
    loop {
        let mut name = target.file_name().map_or(OsString::new(), OsString::from);
        name.push(format!("{TEMPORARY}{}-{}", std::process::id(), computer()));
        if number > 0 {
            name.push(format!("-{number}"));
        }
        let temporary = target.with_file_name(name);
        match create_like(&temporary, target) {
            Ok(file) => match file.try_lock() {
                // Another process took it for left behind before it was locked.
                Ok(()) if lost < LOST_MAX && !is_at(&file, &temporary).unwrap_or(false) => {
                    (number, lost) = (number + 1, lost + 1);
                }
                Err(TryLockError::WouldBlock) if lost < LOST_MAX => (number, lost) = (number + 1, lost + 1),
                // Not every file system has locks; where there are none, nothing is taken for left behind.
                _ => return Ok((temporary, file)),
            },
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

/// Creates a file with the mode of another; where there is no other, as the system has it.
#[cfg(unix)]
fn create_like(path: &Path, other: &Path) -> io::Result<File> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    let Ok(other) = fs::metadata(other) else { return options.open(path) };
    // At no moment more people may read it than before; what makes programs run as others is not passed on.
    let mode = other.permissions().mode() & 0o777;
    let file = options.mode(mode).open(path)?;
    // Not every file system has modes.
    let _ = file.set_permissions(fs::Permissions::from_mode(mode));
    Ok(file)
}

#[cfg(not(unix))]
fn create_like(path: &Path, _: &Path) -> io::Result<File> {
    File::create_new(path)
}

/// What stands between the name of a file and what tells its temporary names apart.
const TEMPORARY: &str = ".tmp";

/// Eight digits for the computer, by its name. A lock says nothing of processes elsewhere on every file system, so
/// that temporary files of others are left alone.
fn computer() -> &'static str {
    static COMPUTER: OnceLock<String> = OnceLock::new();
    COMPUTER.get_or_init(|| {
        let variable = || ["HOSTNAME", "COMPUTERNAME"].iter().find_map(|name| std::env::var(name).ok());
        let name = fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(variable);
        format!("{:08x}", crc32fast::hash(name.unwrap_or_default().trim().as_bytes()))
    })
}

/// Whether a name is one of a temporary file of this computer.
fn is_temporary(name: &str) -> bool {
    let Some((_, end)) = name.rsplit_once(TEMPORARY) else { return false };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = end.split('-');
    parts.next().is_some_and(is_number)
        && parts.next() == Some(computer())
        && parts.next().is_none_or(is_number)
        && parts.next().is_none()
}

/// Removes the temporary files of a folder that no process writes to: one that does holds a lock until the file has
/// its name. Processes are not asked for by their numbers, which others get. What cannot be removed stays.
fn clear_left_behind(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_file = || entry.file_type().is_ok_and(|kind| kind.is_file());
        if entry.file_name().to_str().is_some_and(is_temporary) && is_file() {
            let path = entry.path();
            // The file is removed while it is locked: nobody begins to write to it.
            let left = open_left(&path).ok().filter(|file| is_at(file, &path).unwrap_or(false));
            left.iter().for_each(|_| drop(fs::remove_file(&path)));
        }
    }
}

/// Opens and locks a file that nobody writes to.
#[cfg(not(windows))]
fn open_left(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).open(path).or_else(|_| File::open(path))?;
    file.try_lock()?;
    Ok(file)
}

#[cfg(windows)]
fn open_left(path: &Path) -> io::Result<File> {
    open_and_lock(path)?.ok_or_else(|| io::ErrorKind::WouldBlock.into())
}

/// Opens the file that has a name, for nobody else to write to or to replace; `None` if somebody else does.
/// Others may read it.
pub(super) fn open_alone(path: &Path) -> io::Result<Option<File>> {
    open_settled(|| {
        let file = open_and_lock(path)?;
        let is_settled = file.as_ref().map_or(Ok(true), |file| is_at(file, path))?;
        Ok((file, is_settled))
    })
}

/// Opens a file until it is the one that has the name: who had it before may have put another one there.
fn open_settled<T>(mut open: impl FnMut() -> io::Result<(T, bool)>) -> io::Result<T> {
    for _ in 0..ROUNDS_MAX {
        let (file, is_settled) = open()?;
        if is_settled {
            return Ok(file);
        }
    }
    // File systems that number files anew each time would keep us here for ever.
    let text = "whenever it is opened, another file has its name; wait until nobody replaces it, or write to another disk";
    Err(io::Error::other(text))
}

#[cfg(not(windows))]
fn open_and_lock(path: &Path) -> io::Result<Option<File>> {
    // Locks over a network need a file that may be written to.
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) if has_no_locks(&error) => Ok(Some(file)),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether a lock was refused since the file system has none; NFS without its daemon for locks says so in its own way.
#[cfg(not(windows))]
fn has_no_locks(error: &io::Error) -> bool {
    const ENOLCK: i32 = if cfg!(any(target_os = "linux", target_os = "android")) { 37 } else { 77 };
    error.kind() == io::ErrorKind::Unsupported || cfg!(unix) && error.raw_os_error() == Some(ENOLCK)
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
        assert!(result.unwrap_err().to_string().starts_with("whenever it is opened, another file"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn file_systems_without_locks_are_known() {
        // EOPNOTSUPP, ENOSYS, ENOLCK; EACCES, EIO.
        let found = [95, 38, 37, 13, 5].map(|code| has_no_locks(&io::Error::from_raw_os_error(code)));
        assert_eq!(found, [true, true, true, false, false]);
    }
}
