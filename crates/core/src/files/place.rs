//! Resolves the paths of outputs, and checks that no output would replace an input or another output.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The maximum number of symbolic links to follow; Linux has the same limit.
const LINKS_MAX: u32 = 40;

/// Returns the file that a write to a path would create or replace. Links are followed, even to a target that does not exist yet.
///
/// # Errors
///
/// Fails if links form a cycle.
pub fn target_of(path: &Path) -> io::Result<PathBuf> {
    if let Ok(target) = fs::canonicalize(path) {
        return Ok(target);
    }
    let mut target = path.to_owned();
    // Some files exist but cannot be resolved to a path, such as the pipe behind `/dev/stdout`. They are opened through the link.
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

/// An output that would replace an input or another output of the same run.
#[derive(Debug, thiserror::Error)]
#[error("{} is an input, or another output, of this command: write to another file", path.display())]
pub struct Clash {
    /// The output.
    pub path: PathBuf,
}

/// Refuses outputs that would replace an input or another output. Two different paths of one file count as one file.
///
/// # Errors
///
/// Returns the first output that would replace another file of the run.
///
/// ```
/// use orbit_core::files::refuse_clashes;
/// assert!(refuse_clashes(["a.pgn"], ["b.csv", "b.txt"]).is_ok());
/// assert!(refuse_clashes(["a.pgn"], ["b.csv", "./b.csv"]).is_err());
/// ```
pub fn refuse_clashes<I: AsRef<Path>, O: AsRef<Path>>(
    inputs: impl IntoIterator<Item = I>,
    outputs: impl IntoIterator<Item = O>,
) -> Result<(), Clash> {
    let outputs: Vec<(PathBuf, O)> =
        outputs.into_iter().map(|output| (place(output.as_ref()), output)).collect();
    let mut taken: Vec<PathBuf> = Vec::new();
    // An output that does not exist yet cannot replace an input. If no output exists, the inputs are not resolved, since a large
    // database has many files.
    if outputs.iter().any(|(place, _)| place.exists()) {
        taken.extend(inputs.into_iter().map(|input| place(input.as_ref())));
    }
    for (place, output) in outputs {
        // Several outputs may be the same device or pipe, but not the same file.
        if taken.contains(&place) && !fs::metadata(&place).is_ok_and(|found| !found.is_file()) {
            return Err(Clash { path: output.as_ref().to_owned() });
        }
        taken.push(place);
    }
    Ok(())
}

/// Returns the absolute path, with links resolved, of a file that exists or will be created.
fn place(path: &Path) -> PathBuf {
    let target = target_of(path).unwrap_or_else(|_| path.to_owned());
    let folder =
        target.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let folder = folder.and_then(|folder| folder.canonicalize().ok());
    let found = folder.zip(target.file_name()).map(|(folder, name)| folder.join(name));
    found.or_else(|| std::path::absolute(&target).ok()).unwrap_or(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_over_what_is_read_or_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("read.pgn"), "1. e4 *").unwrap();
        fs::create_dir(path("sub")).unwrap();
        let clash = |inputs: &[PathBuf], outputs: &[PathBuf]| refuse_clashes(inputs, outputs).err();
        let read = [path("read.pgn")];
        assert!(clash(&read, &[path("a.csv"), path("b.csv"), path("sub/a.csv")]).is_none());
        let again = path("sub/../read.pgn");
        assert_eq!(clash(&read, &[path("a.csv"), again.clone()]).unwrap().path, again);
        assert_eq!(clash(&[], &[path("a.csv"), path("sub/../a.csv")]).unwrap().path, path("sub/../a.csv"));
        let message = clash(&read, &read).unwrap().to_string();
        assert!(
            message
                .ends_with("read.pgn is an input, or another output, of this command: write to another file"),
            "{message}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_devices_take_anything() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("read.pgn"), "1. e4 *").unwrap();
        for (target, link) in [("read.pgn", "to-read"), ("new.csv", "to-new")] {
            std::os::unix::fs::symlink(path(target), path(link)).unwrap();
        }
        assert!(refuse_clashes([path("read.pgn")], [path("to-read")]).is_err());
        assert!(refuse_clashes([path("to-read")], [path("read.pgn")]).is_err());
        // A link is resolved to its target, even if the target does not exist yet.
        assert!(refuse_clashes([path("read.pgn")], [path("new.csv"), path("to-new")]).is_err());
        assert!(refuse_clashes(["/dev/null"], ["/dev/null", "/dev/null"]).is_ok());
    }
}
