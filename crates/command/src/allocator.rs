//! Settings of glibc's allocator that make it keep freed memory.
//!
//! A block has buffers of about a megabyte. glibc decides by the sizes freed so far whether it returns such a buffer to the
//! system; then the next block gets it anew, page by page. This made a scan with `find` on one thread take 1.4 times as long.
//! With fixed thresholds, buffers stay with the process.

/// Keeps some megabytes of freed memory. Call it before other threads begin.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "mallopt has no other door")]
pub fn keep_freed_memory() {
    /// Larger allocations come from the system and return to it.
    const MMAP_THRESHOLD: i32 = 2 << 20;
    /// The free memory at the end of the heap above which the heap shrinks.
    const TRIM_THRESHOLD: i32 = 4 << 20;
    // SAFETY: both calls only change settings of the allocator, which checks them. A setting that it refuses stays as it was.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MMAP_THRESHOLD);
        libc::mallopt(libc::M_TRIM_THRESHOLD, TRIM_THRESHOLD);
    }
}

/// Other allocators decide for themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_freed_memory() {}
