//! Measures times and computes rates.

use std::time::{Duration, Instant};

/// Returns the shortest run time of each function in `works`. The functions run alternately, so a temporary disturbance of the
/// machine affects all of them.
pub fn in_turn<const N: usize>(runs: usize, works: [&dyn Fn(); N]) -> [Duration; N] {
    in_turn_after(runs, &|| (), works)
}

/// Does the same as [`in_turn`], but calls `prepare` before each run, outside the measured time.
pub fn in_turn_after<const N: usize>(
    runs: usize,
    prepare: &dyn Fn(),
    works: [&dyn Fn(); N],
) -> [Duration; N] {
    let mut shortest = [Duration::MAX; N];
    for _ in 0..runs {
        for (shortest, work) in shortest.iter_mut().zip(works) {
            prepare();
            let begun = Instant::now();
            work();
            *shortest = begun.elapsed().min(*shortest);
        }
    }
    shortest
}

/// Returns `a` as a multiple of `b`.
pub fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

/// Returns the nanoseconds per position.
pub fn ns_each(time: Duration, positions: u64) -> f64 {
    time.as_secs_f64() * 1e9 / positions as f64
}

/// Returns millions of bytes per second.
pub fn mb_per_s(bytes: u64, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64()
}
