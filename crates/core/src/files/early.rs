//! Starts writing a file to disk while it still grows.
//!
//! A file that must be on disk before it gets its name is synced at the end. The wait is short if the system was asked earlier to
//! write the existing bytes.

use std::fs::File;

/// The number of bytes after which the system is asked to write.
const STEP: u64 = 2 << 20;

/// The extent to which the system was asked to write a file that grows at its end.
#[derive(Debug)]
pub struct Early {
    told: u64,
}

impl Early {
    /// Begins for a file whose first `offset` bytes are on disk already, or are few.
    pub fn from(offset: u64) -> Early {
        Early { told: offset }
    }

    /// Asks the system to write the bytes before `end`, if there are many more than at the last request. This is advice: it does
    /// not wait, and the final sync reports errors.
    pub fn advise(&mut self, file: &File, end: u64) {
        if end.saturating_sub(self.told) >= STEP {
            begin(file, self.told, end - self.told);
            self.told = end;
        }
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the standard library knows no such advice")]
fn begin(file: &File, offset: u64, bytes: u64) {
    use std::os::fd::AsRawFd as _;
    let (Ok(offset), Ok(bytes)) = (offset.try_into(), bytes.try_into()) else { return };
    // SAFETY: the descriptor is open as long as the file is borrowed, and no memory is accessed.
    unsafe {
        libc::sync_file_range(file.as_raw_fd(), offset, bytes, libc::SYNC_FILE_RANGE_WRITE);
    }
}

/// Other systems decide themselves when to write.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn begin(_: &File, _: u64, _: u64) {}
