//! Finds the files in a folder and its subfolders that look like games.

use std::fs;
use std::path::{Path, PathBuf};

use super::PgnError;
use super::format::{ArchiveFormat, is_foreign, listed, looks_like_games};

/// The files in a folder and its subfolders that contain games or may contain games.
#[derive(Default)]
pub(super) struct FolderFiles {
    /// The archives and the files that look like games, with their sizes, in the byte order of their paths.
    pub(super) games: Vec<(PathBuf, Option<u64>)>,
    /// Files that may contain games in an unsupported format.
    foreign: Vec<PathBuf>,
}

impl FolderFiles {
    /// Lists the files in a folder and its subfolders.
    ///
    /// # Errors
    ///
    /// Fails if a folder cannot be listed, or no file looks like games.
    pub(super) fn below(folder: &Path) -> Result<FolderFiles, PgnError> {
        let mut files = FolderFiles::default();
        files.walk(folder)?;
        if files.games.is_empty() {
            return Err(PgnError::EmptyFolder { path: folder.to_owned(), others: files.note() });
        }
        files
            .games
            .sort_by(|a, b| a.0.as_os_str().as_encoded_bytes().cmp(b.0.as_os_str().as_encoded_bytes()));
        Ok(files)
    }

    /// Returns a sentence about files that may contain games in unsupported formats, if there are any.
    pub(super) fn note(&self) -> Option<String> {
        let mut names: Vec<String> = self.foreign.iter().map(|path| path.display().to_string()).collect();
        names.sort();
        let (are, these) = match names.len() {
            0 => return None,
            1 => ("is", "an archive or database"),
            _ => ("are", "archives or databases"),
        };
        Some(format!(
            "{} {are} not read: {these} of formats that are none of PGN, FEN, EPD, zip and 7z; unpack archives, and export \
             databases as PGN",
            listed(&names, names.len())
        ))
    }

    fn walk(&mut self, root: &Path) -> Result<(), PgnError> {
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).map_err(|error| PgnError::at(&folder, error))? {
                let entry = entry.map_err(|error| PgnError::at(&folder, error))?;
                let path = entry.path();
                let kind = entry.file_type().map_err(|error| PgnError::at(&path, error))?;
                if kind.is_dir() {
                    folders.push(path);
                } else if looks_like_games(&path)
                    || ArchiveFormat::from_name(&path).is_some_and(ArchiveFormat::is_read)
                {
                    match fs::metadata(&path) {
                        Ok(metadata) if metadata.is_file() => self.games.push((path, Some(metadata.len()))),
                        // Pipes and devices are left out, since opening a pipe would block.
                        Ok(_) => {}
                        // The path is a dangling link. Opening it later reports the error.
                        Err(_) => self.games.push((path, None)),
                    }
                } else if is_foreign(&path) {
                    self.foreign.push(path);
                }
            }
        }
        Ok(())
    }
}
