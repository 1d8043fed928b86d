//! Files that lie beside another until they are complete, and then take its name.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use super::lock::{is_at, open_alone, open_left};
use crate::sync::lock;

/// Temporary names that are tried before what lies there is said to be in the way.
const NAMES_MAX: u32 = 1000;
/// How often a new file may be taken away before it is locked.
const LOST_MAX: u32 = 8;

/// Why there is no temporary file: the name that was tried last, and what the system said.
pub type NoTemporary = (PathBuf, io::Error);

/// The name of a file that takes that of its target in the end. Unless it does, the file is removed.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    target: PathBuf,
    has_its_name: bool,
}

impl Temporary {
    /// Creates a file beside its target, locked: so long as it is open, no other run takes it for left behind.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`] where another output of this process is still written to such a file.
    pub fn create(target: PathBuf) -> Result<(Temporary, File), NoTemporary> {
        let (path, file) = create(&target)?;
        Ok((Temporary { path, target, has_its_name: false }, file))
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the place of the target, whatever is there. The file is still open: its lock keeps it until then.
    pub fn replace(mut self) -> io::Result<()> {
        fs::rename(&self.path, &self.target)?;
        self.has_its_name = true;
        self.sync_folder();
        Ok(())
    }

    /// Takes the name of the target if nothing has it. A second name is refused by the system where it is taken, in one
    /// step; not every file system has second names.
    pub fn replace_nothing(mut self) -> io::Result<()> {
        match fs::hard_link(&self.path, &self.target) {
            // The file has its name; the other is removed with this.
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

    /// Makes sure that the name is in the folder; not every file system can.
    fn sync_folder(&self) {
        let _ = File::open(folder_of(&self.target)).and_then(|folder| folder.sync_all());
    }
}

impl Drop for Temporary {
    /// An error is ignored: the next run removes the file.
    fn drop(&mut self) {
        if !self.has_its_name {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Temporary files to remove should the process not come to its end by itself.
#[derive(Clone, Debug, Default)]
pub struct Unfinished(Arc<Mutex<Vec<PathBuf>>>);

impl Unfinished {
    /// Names a temporary file.
    pub fn add(&self, temporary: &Path) {
        lock(&self.0).push(temporary.to_owned());
    }

    /// Removes those that are there still.
    pub fn remove(&self) {
        remove_all(&lock(&self.0));
    }

    /// The same for a thread that may wait for nobody: removes nothing while another one is added.
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

/// Creates a file beside another, under a name that nothing has: its own with `.tmp`, the number of the process, that of
/// the computer, and, where such a file is in the way, a number more. It has the mode of the file that it is to replace. What runs that were
/// killed left behind in the folder is removed first.
///
/// # Errors
///
/// [`io::ErrorKind::AlreadyExists`] where another output of this process is still written to such a file.
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
    let mut options = fs::OpenOptions::new();
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
