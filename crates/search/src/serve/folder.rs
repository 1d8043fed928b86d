//! Restricts the files that requests may read and write.

use std::fs;
use std::path::{Path, PathBuf};

use super::fault::{ErrorCode, Fault};
use orbit_pgn::file_of;

/// Checks that a path does not lead to a pipe or a device, which could block a request for ever. The path may be that of a folder,
/// of a member of an archive or of a file that does not exist. `remedy` says what to name instead.
pub(super) fn refuse_pipes(path: &Path, remedy: &str) -> Result<(), Fault> {
    match fs::metadata(file_of(path)) {
        Ok(found) if !found.is_file() && !found.is_dir() => Err(Fault::new(
            ErrorCode::Request,
            format!("{}: it is a pipe or a device: {remedy}", path.display()),
        )),
        _ => Ok(()),
    }
}

/// The files that requests may read and write.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum RequestFiles {
    /// All files that the user who runs the process may access.
    #[default]
    All,
    /// The files in a folder and its subfolders. Links that lead out of the folder are rejected.
    Below(PathBuf),
    /// No files.
    None,
}

impl RequestFiles {
    /// Checks that a request may read a file, a folder or a member of an archive.
    pub(super) fn check_read(&self, path: &Path) -> Result<(), Fault> {
        self.check(path, fs::canonicalize(file_of(path)).ok())
    }

    pub(super) fn check_written(&self, path: &Path) -> Result<(), Fault> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        self.check(path, fs::canonicalize(folder).ok().filter(|_| !is_link && path.file_name().is_some()))
    }

    /// Checks that a request may use `path`. `real` is a path without links: that of the file if it will be read, or that of its
    /// folder if the file will be written.
    fn check(&self, path: &Path, real: Option<PathBuf>) -> Result<(), Fault> {
        let refused = |why: String| Err(Fault::new(ErrorCode::Request, format!("{}: {why}", path.display())));
        match self {
            RequestFiles::All => Ok(()),
            RequestFiles::None => refused("requests may use no files: start the server with --folder".into()),
            RequestFiles::Below(folder) => {
                let folder = fs::canonicalize(folder).ok();
                match real.zip(folder).is_some_and(|(real, folder)| real.starts_with(folder)) {
                    true => Ok(()),
                    false => refused("it is not below the folder that requests may use".into()),
                }
            }
        }
    }
}
