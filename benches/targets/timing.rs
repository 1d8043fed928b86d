//! Taking times.

use std::time::{Duration, Instant};

/// The shortest time of each of several works. They run in turn, so that what disturbs the machine for a
/// while disturbs all of them.
pub fn in_turn<const N: usize>(runs: usize, works: [&dyn Fn(); N]) -> [Duration; N] {
    in_turn_after(runs, &|| (), works)
}

/// The same; before each run something is done that takes no part in its time.
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

/// How many times as long `a` is as `b`.
pub fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

/// Nanoseconds for each of so many positions.
pub fn ns_each(time: Duration, positions: u64) -> f64 {
    time.as_secs_f64() * 1e9 / positions as f64
}

/// Millions of bytes a second.
pub fn mb_per_s(bytes: u64, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64()
}
