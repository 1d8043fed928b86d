//! Detects files that a stream reads more than once, even if they were given under different names.

use std::collections::HashMap;
use std::fmt::Display;
use std::path::PathBuf;

/// The files and reels that have been opened so far.
#[derive(Default)]
pub(super) struct OpenedFiles {
    /// Maps the canonical path of each file to the name under which it was first opened, and the number of times that it was
    /// opened.
    files: HashMap<PathBuf, (String, usize)>,
    /// For each file that was opened more than once, the name under which it was first opened.
    repeated: Vec<String>,
}

impl OpenedFiles {
    /// Adds a file or a reel by its canonical path. An input without a path is not compared with others.
    pub(super) fn add(&mut self, path: Option<PathBuf>, name: impl Display) {
        let Some(path) = path else { return };
        let (first, times) = self.files.entry(path).or_insert_with(|| (name.to_string(), 0));
        *times += 1;
        if *times == 2 {
            self.repeated.push(first.clone());
        }
    }

    /// Returns a note if any file or reel is read more than once.
    pub(super) fn note(&self) -> Option<String> {
        let first = self.repeated.first()?;
        let (what, whose) = match self.repeated.len() - 1 {
            0 => (format!("{first} is"), "its"),
            1 => (format!("{first} and 1 more file are"), "their"),
            more => (format!("{first} and {more} more files are"), "their"),
        };
        Some(format!(
            "{what} read more than once, so {whose} games count more than once: leave the other paths out"
        ))
    }
}
