//! Runs work on a device, and runs it again alone if memory runs out.

use std::sync::RwLock;

use super::GpuError;
use orbit_core::sync::{read, write};

/// The lock that all attempts to use a device share. An attempt for which memory has run out holds it alone.
#[derive(Default)]
pub(super) struct Attempts(RwLock<()>);

impl Attempts {
    /// Calls `work`, which must be repeatable. If memory runs out, waits until all other attempts have ended, calls `free`, and
    /// calls `work` once more. No other attempt runs at the same time.
    pub(super) fn run<T>(
        &self,
        mut work: impl FnMut() -> Result<T, GpuError>,
        free: impl FnOnce(),
    ) -> Result<T, GpuError> {
        let beside_others = read(&self.0);
        match work() {
            Err(GpuError::OutOfMemory { .. }) => {
                drop(beside_others);
                let _alone = write(&self.0);
                free();
                work()
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Barrier, OnceLock};

    use super::*;

    /// Each attempt needs two thirds of the memory, so no two attempts can succeed at the same time.
    #[test]
    fn attempts_that_need_the_same_memory_succeed_one_after_the_other() {
        let (attempts, used, begin) = (Attempts::default(), AtomicU32::new(0), Barrier::new(8));
        let (frees, failed) = (AtomicU32::new(0), OnceLock::new());
        let work = || {
            let before = used.fetch_add(2, Ordering::SeqCst);
            std::thread::yield_now();
            used.fetch_sub(2, Ordering::SeqCst);
            let reason = || GpuError::OutOfMemory { reason: format!("{before} of 3 are used") };
            if before + 2 <= 3 { Ok(()) } else { Err(reason()) }
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    begin.wait();
                    for _ in 0..1000 {
                        let free = || _ = frees.fetch_add(1, Ordering::SeqCst);
                        if let Err(error) = attempts.run(work, free) {
                            failed.get_or_init(|| error.to_string());
                        }
                    }
                });
            }
        });
        assert_eq!(failed.get(), None);
        assert!(frees.into_inner() > 0, "no two attempts have run at the same time");
    }
}
