//! The files that a query reads and writes, all in one folder.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

use orbit_core::files::{open_regular, refuse_special};
use orbit_core::sync::lock;

/// The maximum size in bytes of a file to read.
const BYTES_MAX: u64 = 64 << 20;

/// The folder with the files that a query may read and write.
#[derive(Debug)]
pub(super) struct ScriptFiles {
    folder: PathBuf,
    /// The files that this search has written to, with their paths.
    written: Mutex<BTreeMap<PathBuf, File>>,
}

impl ScriptFiles {
    pub(super) fn new(folder: &Path) -> ScriptFiles {
        ScriptFiles { folder: folder.to_path_buf(), written: Mutex::default() }
    }

    /// Appends to a file. Before a search writes to a file for the first time, the file is emptied.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written. The error string contains the reason.
    pub(super) fn append(&self, name: &[u8], text: &[u8]) -> Result<(), String> {
        let path = self.path(name)?;
        if !path.extension().is_some_and(|ending| ending == "cqo" || ending == "cql") {
            return Err(format!("`{}` ends neither in .cqo nor in .cql", String::from_utf8_lossy(name)));
        }
        let mut written = lock(&self.written);
        let failed = |error| format!("{}: {error}", path.display());
        if !written.contains_key(&path) {
            match refuse_special(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
                _ => {}
            }
            let file =
                OpenOptions::new().write(true).create(true).truncate(true).open(&path).map_err(failed)?;
            written.insert(path.clone(), file);
        }
        written.get_mut(&path).map_or(Ok(()), |file| file.write_all(text)).map_err(failed)
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read. The error string contains the reason.
    pub(super) fn read(&self, name: &[u8]) -> Result<Vec<u8>, String> {
        let path = self.path(name)?;
        let mut text = Vec::new();
        let read = open_regular(&path).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut text));
        read.map_err(|error| format!("{}: {error}", path.display()))?;
        match text.len() as u64 > BYTES_MAX {
            true => Err(format!("{} is longer than {} MiB", path.display(), BYTES_MAX >> 20)),
            false => Ok(text),
        }
    }

    /// Returns the path of a file inside the folder. Fails if the name or a symbolic link leads out of the folder.
    fn path(&self, name: &[u8]) -> Result<PathBuf, String> {
        let shown = String::from_utf8_lossy(name);
        let name = std::str::from_utf8(name).map_err(|_| format!("the name `{shown}` is not UTF-8"))?;
        let is_plain = |component: Component| matches!(component, Component::Normal(_));
        if name.is_empty() || name.contains('\0') || !Path::new(name).components().all(is_plain) {
            return Err(format!("`{shown}` is no name of a file below {}", self.folder.display()));
        }
        let path = self.folder.join(name);
        let folder = path.parent().unwrap_or(&self.folder);
        let real = |path: &Path| path.canonicalize().map_err(|error| format!("{}: {error}", path.display()));
        let is_link = path.is_symlink() && !real(&path)?.starts_with(real(&self.folder)?);
        match is_link || !real(folder)?.starts_with(real(&self.folder)?) {
            true => Err(format!("a link leads from `{shown}` out of {}", self.folder.display())),
            false => Ok(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_below_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("in")).unwrap();
        std::fs::write(folder.path().join("in/a.cqo"), "old").unwrap();
        let files = ScriptFiles::new(&folder.path().join("in"));
        assert_eq!(files.read(b"a.cqo").unwrap(), b"old");
        files.append(b"a.cqo", b"new").unwrap();
        files.append(b"a.cqo", b"er").unwrap();
        assert_eq!(files.read(b"a.cqo").unwrap(), b"newer");
        std::fs::write(folder.path().join("b.cqo"), "").unwrap();
        for name in ["../b.cqo", "/etc/passwd", "", ".", "./a.cqo/..", "none/a.cqo", "a\0.cqo"] {
            assert!(files.read(name.as_bytes()).is_err(), "{name}");
            assert!(files.append(name.as_bytes(), b"x").is_err(), "{name}");
        }
        let error = files.append(b"a.pgn", b"x").unwrap_err();
        assert!(error.contains("ends neither in .cqo nor in .cql"), "{error}");
        assert_eq!(std::fs::read(folder.path().join("b.cqo")).unwrap(), b"");
    }

    #[cfg(unix)]
    #[test]
    fn pipes_are_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.cqo");
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
        let files = ScriptFiles::new(folder.path());
        assert!(files.read(b"pipe.cqo").unwrap_err().contains("not an ordinary file"));
        assert!(files.append(b"pipe.cqo", b"x").unwrap_err().contains("not an ordinary file"));
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("in")).unwrap();
        std::fs::write(folder.path().join("b.cqo"), "secret").unwrap();
        std::os::unix::fs::symlink("../b.cqo", folder.path().join("in/link.cqo")).unwrap();
        std::os::unix::fs::symlink("..", folder.path().join("in/up")).unwrap();
        let files = ScriptFiles::new(&folder.path().join("in"));
        for name in ["link.cqo", "up/b.cqo"] {
            assert!(files.read(name.as_bytes()).unwrap_err().contains("a link leads"), "{name}");
            assert!(files.append(name.as_bytes(), b"x").is_err(), "{name}");
        }
        assert_eq!(std::fs::read(folder.path().join("b.cqo")).unwrap(), b"secret");
    }
}
