//! Temporary files beside their targets, which take the target's name once they are complete.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use super::lock::{is_at, open_alone, open_left};
use crate::sync::lock;

/// The most temporary names that are tried before the existing file is reported.
const NAMES_MAX: u32 = 1000;
/// The number of times that another process may remove a new file before it is locked.
const LOST_MAX: u32 = 8;

/// The reason why no temporary file could be made: the name that was tried last, and the system's error.
pub type NoTemporary = (PathBuf, io::Error);

/// The temporary name of a file that will replace its target. If it does not, the file is removed on drop.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    target: PathBuf,
    has_its_name: bool,
}

impl Temporary {
    /// Creates a locked file beside its target: as long as it is open, no other run takes it for a left-over.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`] if this process still writes another output to such a file.
    pub fn create(target: PathBuf) -> Result<(Temporary, File), NoTemporary> {
        let (path, file) = create(&target)?;
        Ok((Temporary { path, target, has_its_name: false }, file))
    }

    /// Returns the temporary path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the target, whatever it is. The file must still be open, so that its lock protects it until then.
    pub fn replace(mut self) -> io::Result<()> {
        fs::rename(&self.path, &self.target)?;
        self.has_its_name = true;
        self.sync_folder();
        Ok(())
    }

    /// Takes the name of the target if nothing has it. The hard link is created in one step, so the system refuses it if the name
    /// is taken. Not every file system has hard links.
    pub fn replace_nothing(mut self) -> io::Result<()> {
        match fs::hard_link(&self.path, &self.target) {
            // The file has its final name; the temporary name is removed when `self` is dropped.
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

    /// Syncs the folder, so that the new name is on disk; not every file system can.
    fn sync_folder(&self) {
        let _ = File::open(folder_of(&self.target)).and_then(|folder| folder.sync_all());
    }
}

impl Drop for Temporary {
    /// Errors are ignored: the next run removes the file.
    fn drop(&mut self) {
        if !self.has_its_name {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Temporary files to remove if the process is interrupted.
#[derive(Clone, Debug, Default)]
pub struct Unfinished(Arc<Mutex<Vec<PathBuf>>>);

impl Unfinished {
    /// Adds a temporary file.
    pub fn add(&self, temporary: &Path) {
        lock(&self.0).push(temporary.to_owned());
    }

    /// Removes the files that still exist.
    pub fn remove(&self) {
        remove_all(&lock(&self.0));
    }

    /// Like [`Unfinished::remove`], for a thread that must not wait: removes nothing while another thread adds a file.
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

/// Creates a file beside another, under an unused name: the target's name with `.tmp`, the process id, the id of the computer,
/// and a counter if such a file exists. It gets the mode of the file that it will replace. Left-overs of killed runs in the
/// folder are removed first.
///
/// # Errors
///
/// [`io::ErrorKind::AlreadyExists`] if this process still writes another output to such a file.
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
                // Another process removed it as a left-over before it was locked.
                Ok(()) if lost < LOST_MAX && !is_at(&file, &temporary).unwrap_or(false) => {
                    (number, lost) = (number + 1, lost + 1);
                }
                Err(TryLockError::WouldBlock) if lost < LOST_MAX => (number, lost) = (number + 1, lost + 1),
                // Not every file system has locks; without them, no file is removed as a left-over.
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

/// Creates a file with the mode of another one, or with the system's default mode if there is no other one.
#[cfg(unix)]
fn create_like(path: &Path, other: &Path) -> io::Result<File> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create_new(true);
    let Ok(other) = fs::metadata(other) else { return options.open(path) };
    // At no moment may more people read it than before; setuid and setgid bits are not copied.
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

/// The separator between the target's name and the distinguishing part of a temporary name.
const TEMPORARY: &str = ".tmp";

/// Returns eight digits that identify the computer, by its host name. On some file systems a lock says nothing about processes on
/// other computers, so their temporary files are left alone.
fn computer() -> &'static str {
    static COMPUTER: OnceLock<String> = OnceLock::new();
    COMPUTER.get_or_init(|| {
        let variable = || ["HOSTNAME", "COMPUTERNAME"].iter().find_map(|name| std::env::var(name).ok());
        let name = fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(variable);
        format!("{:08x}", crc32fast::hash(name.unwrap_or_default().trim().as_bytes()))
    })
}

/// Returns whether a name is that of a temporary file of this computer.
fn is_temporary(name: &str) -> bool {
    let Some((_, end)) = name.rsplit_once(TEMPORARY) else { return false };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = end.split('-');
    parts.next().is_some_and(is_number)
        && parts.next() == Some(computer())
        && parts.next().is_none_or(is_number)
        && parts.next().is_none()
}

/// Removes the temporary files of a folder to which no process writes: a writer holds a lock until the file has its final name.
/// Process ids are not used, since the system reuses them. Files that cannot be removed stay.
fn clear_left_behind(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_file = || entry.file_type().is_ok_and(|kind| kind.is_file());
        if entry.file_name().to_str().is_some_and(is_temporary) && is_file() {
            let path = entry.path();
            // The file is removed while it is locked, so no process can begin to write to it.
            let left = open_left(&path).ok().filter(|file| is_at(file, &path).unwrap_or(false));
            left.iter().for_each(|_| drop(fs::remove_file(&path)));
        }
    }
}
