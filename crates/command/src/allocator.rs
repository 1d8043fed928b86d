//! How the allocator of glibc keeps memory.
//!
//! A block has buffers of about a megabyte. glibc decides from the sizes that were freed before whether it gives such
//! a buffer back to the system; then the next block gets it anew, page by page. A scan with `find` on one thread took
//! 1.4 times as long so. With fixed thresholds buffers stay with the process.

/// Keeps some megabytes of freed memory. To be called before threads begin.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "mallopt has no other door")]
pub fn keep_freed_memory() {
    /// What is larger comes from the system and goes back to it.
    const MMAP_THRESHOLD: i32 = 2 << 20;
    /// Free memory at the end of the heap above which it shrinks.
    const TRIM_THRESHOLD: i32 = 4 << 20;
    // SAFETY: both are settings of the allocator, which checks them. A setting that it refuses stays as it was.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MMAP_THRESHOLD);
        libc::mallopt(libc::M_TRIM_THRESHOLD, TRIM_THRESHOLD);
    }
}

/// Other allocators decide for themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_freed_memory() {}
