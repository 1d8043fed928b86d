//! A file that many threads read at arbitrary offsets.

use std::fs::File;

/// A file that several threads can read at the same time.
#[derive(Debug)]
pub struct SharedFile {
    #[cfg(unix)]
    file: File,
    #[cfg(not(unix))]
    file: std::sync::Mutex<File>,
}

impl SharedFile {
    #[cfg(unix)]
    /// Wraps a file that is open for reading.
    pub fn new(file: File) -> SharedFile {
        SharedFile { file }
    }

    #[cfg(unix)]
    /// Fills `bytes` with the bytes of the file that begin at `offset`.
    ///
    /// # Errors
    ///
    /// Returns the errors of the system, and an error if the file ends before `bytes` is full.
    pub fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, bytes, offset)
    }

    #[cfg(not(unix))]
    /// Wraps a file that is open for reading.
    pub fn new(file: File) -> SharedFile {
        SharedFile { file: std::sync::Mutex::new(file) }
    }

    #[cfg(not(unix))]
    /// Fills `bytes` with the bytes of the file that begin at `offset`.
    ///
    /// # Errors
    ///
    /// Returns the errors of the system, and an error if the file ends before `bytes` is full.
    pub fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
        use std::io::{Read as _, Seek as _, SeekFrom};
        let mut file = crate::sync::lock(&self.file);
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(bytes)
    }
}
