//! Asks the system to start writing a file to disk while the file is still growing.
//!
//! Before a file gets its final name, it is synced to disk. The sync is fast if most of the bytes are on disk already.

use std::fs::File;

/// The number of new bytes after which the system is asked again to write them to disk.
const STEP: u64 = 2 << 20;

/// The offset in a growing file up to which the system has been asked to write it to disk.
#[derive(Debug)]
pub struct Early {
    told: u64,
}

impl Early {
    /// Creates the value for a file that grows from `offset` on. No request is made for the bytes before `offset`: they are already
    /// on disk, or too few to matter.
    pub fn from(offset: u64) -> Early {
        Early { told: offset }
    }

    /// Asks the system to write the bytes before `end` to disk, if at least 2 MiB were added since the last request. The call
    /// neither waits for the disk nor reports errors; the sync at the end does both.
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
    // SAFETY: the descriptor stays open while the file is borrowed, and the call accesses no memory.
    unsafe {
        libc::sync_file_range(file.as_raw_fd(), offset, bytes, libc::SYNC_FILE_RANGE_WRITE);
    }
}

/// Does nothing on systems without `sync_file_range`; they decide on their own when to write.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn begin(_: &File, _: u64, _: u64) {}
