//! Bytes of a file on their way to the disk while more are written.
//!
//! A file that must be on disk before it gets its name is waited for in the end. The wait is short if the system was told before
//! to write what is there.

use std::fs::File;

/// Bytes after which the system is told.
const STEP: u64 = 2 << 20;

/// How far the system was told to write a file that grows at its end.
#[derive(Debug)]
pub struct Early {
    told: u64,
}

impl Early {
    /// A file whose first bytes are on disk already, or few.
    pub fn from(offset: u64) -> Early {
        Early { told: offset }
    }

    /// Tells the system to write what lies before `end`, if that is much more than before. It is advice: nothing is waited for, and
    /// errors are left to those who wait.
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
    // SAFETY: the descriptor is open as long as the file is borrowed, and no memory is touched.
    unsafe {
        libc::sync_file_range(file.as_raw_fd(), offset, bytes, libc::SYNC_FILE_RANGE_WRITE);
    }
}

/// Other systems write when they like.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn begin(_: &File, _: u64, _: u64) {}
