//! Opens regular files, and refuses pipes, devices and folders.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Opens a regular file for reading. Pipes, devices and folders are refused; opening a pipe would block until a process writes to
/// it.
///
/// # Errors
///
/// Fails if the file cannot be opened, or is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    refuse_special(path)?;
    File::open(path)
}

/// Refuses a path that does not lead to a regular file.
///
/// # Errors
///
/// Fails if the path is a pipe, a device or a folder, or nothing exists there.
pub fn refuse_special(path: &Path) -> io::Result<()> {
    match fs::metadata(path)?.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("it is a folder, a pipe or a device, not an ordinary file")),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_ordinary_files_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "a").unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        assert!(open_regular(&at("file")).is_ok() && open_regular(&at("link")).is_ok());
        for special in [at("pipe"), folder.path().to_owned(), "/dev/null".into()] {
            let error = open_regular(&special).unwrap_err();
            assert!(error.to_string().contains("not an ordinary file"), "{error}");
        }
        assert_eq!(open_regular(&at("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
