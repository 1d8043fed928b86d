//! Temporary files for outputs. A temporary file is created in the folder of its target, the file that it will replace, and gets
//! the target's name when it is complete.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use super::lock::{is_at, open_alone, open_left};
use crate::sync::lock;

/// The maximum number of names to try for a temporary file. If all of them are taken, the error names the last one.
const NAMES_MAX: u32 = 1000;
/// The maximum number of new temporary files that are given up because another process removed or locked them first. After that,
/// the next file is used without a check.
const LOST_MAX: u32 = 8;

/// The error that no temporary file could be created: the last name tried, and the system error.
pub type NoTemporary = (PathBuf, io::Error);

/// A temporary file that will replace its target. If the value is dropped first, the file is removed.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    target: PathBuf,
    has_its_name: bool,
}

impl Temporary {
    /// Creates a temporary file in the folder of its target, and locks it. While it is open, no other run mistakes it for a
    /// leftover and removes it.
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::AlreadyExists`] if this process is still writing another output with the same target.
    pub fn create(target: PathBuf) -> Result<(Temporary, File), NoTemporary> {
        let (path, file) = create(&target)?;
        Ok((Temporary { path, target, has_its_name: false }, file))
    }

    /// Returns the temporary path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the temporary file to its target, replacing a file that exists there. The temporary file must still be open and
    /// locked, so that no other run removes it first.
    pub fn replace(mut self) -> io::Result<()> {
        fs::rename(&self.path, &self.target)?;
        self.has_its_name = true;
        self.sync_folder();
        Ok(())
    }

    /// Renames the file to its target, unless a file with that name exists. This uses a hard link, which the system creates only if
    /// the name is free. Some file systems do not support hard links.
    pub fn replace_nothing(mut self) -> io::Result<()> {
        match fs::hard_link(&self.path, &self.target) {
            // The file now has its final name. The temporary name is removed when `self` is dropped.
            Ok(()) => self.sync_folder(),
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists
                    || fs::symlink_metadata(&self.target).is_ok() =>
            {
                let text = "another process has made this reel; append again";
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
            }
            Err(_) => {
                fs::rename(&self.path, &self.target)?;
                self.has_its_name = true;
                self.sync_folder();
            }
        }
        Ok(())
    }

    /// Syncs the folder, to write the new name to disk. Errors are ignored, since some file systems cannot sync a folder.
    fn sync_folder(&self) {
        let _ = File::open(folder_of(&self.target)).and_then(|folder| folder.sync_all());
    }
}

impl Drop for Temporary {
    /// Removes the file, unless it has its final name. Errors are ignored: the next run that writes to the folder removes the file.
    fn drop(&mut self) {
        if !self.has_its_name {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A list of the temporary files to remove if the process is interrupted.
#[derive(Clone, Debug, Default)]
pub struct Unfinished(Arc<Mutex<Vec<PathBuf>>>);

impl Unfinished {
    /// Adds a temporary file.
    pub fn add(&self, temporary: &Path) {
        lock(&self.0).push(temporary.to_owned());
    }

    /// Takes a temporary file off the list, because it has its final name or was removed. If the file was added several times, it
    /// is taken off once.
    pub fn forget(&self, temporary: &Path) {
        let mut paths = lock(&self.0);
        if let Some(at) = paths.iter().position(|path| path == temporary) {
            paths.swap_remove(at);
        }
    }

    /// Removes the files that still exist.
    pub fn remove(&self) {
        remove_all(&lock(&self.0));
    }

    /// Like [`Unfinished::remove`], but never waits for the lock. If another thread is using this list of files, no file is
    /// removed.
    pub fn try_remove(&self) {
        if let Ok(paths) = self.0.try_lock() {
            remove_all(&paths);
        }
    }
}

fn remove_all(paths: &[PathBuf]) {
    for path in paths {
        let _ = fs::remove_file(path);
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// First removes the temporary files of killed runs from the target's folder, then creates and locks a new file there. The file's
/// name consists of the target's name, `.tmp`, the process id, the id of the computer, and a counter if the name is taken. The file
/// has the permissions of the target.
///
/// # Errors
///
/// Returns [`io::ErrorKind::AlreadyExists`] if this process is still writing another output with the same target.
fn create(target: &Path) -> Result<(PathBuf, File), NoTemporary> {
    clear_left_behind(folder_of(target));
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
                // Before the lock was taken, another process took the new file for a leftover and removed it.
                Ok(()) if lost < LOST_MAX && !is_at(&file, &temporary).unwrap_or(false) => {
                    (number, lost) = (number + 1, lost + 1);
                }
                Err(TryLockError::WouldBlock) if lost < LOST_MAX => (number, lost) = (number + 1, lost + 1),
                // This process now holds the lock, or the file system does not support locks. In the latter case, no file is ever
                // removed as a leftover.
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

/// Creates a file with the permissions of the file `other`, or with the system's default permissions if `other` does not exist.
#[cfg(unix)]
fn create_like(path: &Path, other: &Path) -> io::Result<File> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create_new(true);
    let Ok(other) = fs::metadata(other) else { return options.open(path) };
    // The mode is set on creation, so a user who cannot read `other` can never read this file. The bits setuid and setgid are not
    // copied.
    let mode = other.permissions().mode() & 0o777;
    let file = options.mode(mode).open(path)?;
    // The system may have cleared some bits because of the umask, so they are set again. Errors are ignored, since some file
    // systems have no modes.
    let _ = file.set_permissions(fs::Permissions::from_mode(mode));
    Ok(file)
}

#[cfg(not(unix))]
fn create_like(path: &Path, _: &Path) -> io::Result<File> {
    File::create_new(path)
}

/// The separator between the target's name and the rest of a temporary name.
const TEMPORARY: &str = ".tmp";

/// Returns eight hexadecimal digits that identify the computer by its host name. On some network file systems, locks are not
/// visible to other computers. So a run removes only temporary files from its own computer.
fn computer() -> &'static str {
    static COMPUTER: OnceLock<String> = OnceLock::new();
    COMPUTER.get_or_init(|| {
        let variable = || ["HOSTNAME", "COMPUTERNAME"].iter().find_map(|name| std::env::var(name).ok());
        let name = fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(variable);
        format!("{:08x}", crc32fast::hash(name.unwrap_or_default().trim().as_bytes()))
    })
}

/// Returns whether `name` has the form of a temporary file name from this computer.
fn is_temporary(name: &str) -> bool {
    let Some((_, end)) = name.rsplit_once(TEMPORARY) else { return false };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = end.split('-');
    parts.next().is_some_and(is_number)
        && parts.next() == Some(computer())
        && parts.next().is_none_or(is_number)
        && parts.next().is_none()
}

/// Removes the temporary files in a folder that no process is writing any more. A process that writes a file holds its lock, so a
/// file that can be locked is a leftover. The process id in the name is no evidence, since the system reuses ids. Files that cannot
/// be removed stay.
fn clear_left_behind(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_file = || entry.file_type().is_ok_and(|kind| kind.is_file());
        if entry.file_name().to_str().is_some_and(is_temporary) && is_file() {
            let path = entry.path();
            // The file is removed while this process holds its lock, so no other process can begin to write to it.
            let left = open_left(&path).ok().filter(|file| is_at(file, &path).unwrap_or(false));
            left.iter().for_each(|_| drop(fs::remove_file(&path)));
        }
    }
}
