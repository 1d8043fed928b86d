//! Finds theme files, on disk or among the built-in files.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use orbit_themes::FILES;

use super::{CATALOGUE, FileCheck, TextFile, ThemesError};

/// The maximum length of a theme file, in bytes.
const BYTES_MAX: u64 = 16 << 20;

/// The identity of a theme file. Different paths to the same file have the same identity.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Identity {
    BuiltIn(&'static str),
    Disk(PathBuf),
}

/// A theme file that was found on disk or among the built-in files.
pub(super) struct ThemeFile {
    pub(super) identity: Identity,
    /// The path as given on the command line or in the including file.
    pub(super) path: PathBuf,
}

/// Finds a file that the user named or another file includes, if `check` accepts it.
pub(super) fn find(
    path: &Path,
    including: Option<&ThemeFile>,
    check: FileCheck<'_>,
) -> Result<ThemeFile, ThemesError> {
    if path == Path::new(CATALOGUE) {
        return Ok(ThemeFile { identity: Identity::BuiltIn(FILES[0].0), path: CATALOGUE.into() });
    }
    if let Some(ThemeFile { identity: Identity::BuiltIn(_), .. }) = including {
        let name = FILES.iter().map(|file| file.0).find(|name| path == Path::new(name));
        let name = name.expect("a test loads the catalogue");
        return Ok(ThemeFile { identity: Identity::BuiltIn(name), path: Path::new(CATALOGUE).join(name) });
    }
    let folder = including.and_then(|file| file.path.parent());
    let path = folder.map_or_else(|| path.to_owned(), |folder| folder.join(path));
    if let Err(why) = check(&path) {
        return Err(ThemesError::Read { path, error: io::Error::other(why) });
    }
    match fs::canonicalize(&path) {
        // Only regular files can be included, since reading from a pipe could block forever.
        Ok(identity) if including.is_some() && !identity.is_file() => {
            let error = io::Error::other("it is a folder, a pipe or a device");
            Err(ThemesError::Read { path, error })
        }
        Ok(identity) => Ok(ThemeFile { identity: Identity::Disk(identity), path }),
        Err(error) => Err(ThemesError::Read { path, error }),
    }
}

impl ThemeFile {
    /// Reads the file.
    pub(super) fn read(&self) -> Result<TextFile, ThemesError> {
        let path = self.path.clone();
        let text = match &self.identity {
            Identity::BuiltIn(name) => {
                let file = FILES.iter().find(|(other, _)| other == name);
                String::from(file.expect("it was found by this name").1)
            }
            Identity::Disk(file) => {
                let mut bytes = Vec::new();
                let read = File::open(file).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes));
                match read {
                    Err(error) => return Err(ThemesError::Read { path, error }),
                    Ok(length) if length as u64 > BYTES_MAX => {
                        return Err(ThemesError::TooLong { path, bytes_max: BYTES_MAX });
                    }
                    Ok(_) => String::from_utf8(bytes)
                        .map_err(|_| ThemesError::Encoding { path: self.path.clone() })?,
                }
            }
        };
        Ok(TextFile { path, text })
    }
}
