//! Provides the games for benchmarks, and measures times.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use orbit_database::{BlockStream, StreamOptions};
use orbit_engine::{Engine, Hits};
use orbit_reel::Block;

use super::super::failure::Failure;
use super::super::reading::open;

/// Converts any error to a failure.
pub fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Other(error.to_string())
}

/// Games in memory, which can be repeated any number of times.
pub struct BenchGames {
    /// The blocks (groups of whole games), without repetitions.
    pub blocks: Vec<Block>,
    /// The number of times that the blocks are repeated.
    pub repeats: usize,
    /// The number of CPU threads that a benchmark may use.
    pub threads: usize,
}

impl BenchGames {
    /// Reads games, or uses the built-in games if `paths` is empty, and repeats them to reach at least `positions` positions.
    pub fn open(paths: &[PathBuf], positions: u64, threads: usize) -> Result<BenchGames, Failure> {
        let database = if paths.is_empty() {
            BlockStream::from_pgn_bytes("built in", orbit_games::SAMPLE.to_vec(), StreamOptions::default())
        } else {
            open(paths, StreamOptions::default(), true)?
        };
        let mut blocks = Vec::new();
        database.for_each_block(threads, Block::clone, |_, block| {
            blocks.push(block);
            ControlFlow::Continue(())
        })?;
        blocks.retain(|block| block.slots() > 0);
        let once: u64 = blocks.iter().map(|block| block.slots() as u64).sum();
        if once == 0 {
            return Err(Failure::Other(
                "there is no position to measure with: name files with games, or none for the built-in games"
                    .into(),
            ));
        }
        Ok(BenchGames { repeats: positions.div_ceil(once).max(1) as usize, blocks, threads })
    }

    /// Returns blocks with at least `positions` positions; the games are repeated as needed.
    pub fn blocks(&self, positions: u64) -> Vec<&Block> {
        let mut left = positions as i64;
        let all = std::iter::repeat_n(&self.blocks, self.repeats).flatten();
        all.take_while(|block| {
            let wanted = left > 0;
            left -= block.slots() as i64;
            wanted
        })
        .collect()
    }

    /// Returns the number of positions, including all repetitions of the games.
    pub fn positions(&self) -> u64 {
        positions(&self.blocks.iter().collect::<Vec<_>>()) * self.repeats as u64
    }
}

/// Counts the positions of blocks.
pub fn positions(blocks: &[&Block]) -> u64 {
    blocks.iter().map(|block| block.slots() as u64).sum()
}

/// Runs `run` `runs` times. Returns the shortest time, and the result of that run.
pub fn best<T>(runs: usize, mut run: impl FnMut() -> Result<T, Failure>) -> Result<(Duration, T), Failure> {
    let mut best: Option<(Duration, T)> = None;
    for _ in 0..runs.max(1) {
        let begun = Instant::now();
        let out = run()?;
        let took = begun.elapsed();
        if best.as_ref().is_none_or(|(time, _)| took < *time) {
            best = Some((took, out));
        }
    }
    Ok(best.expect("there is a run"))
}

/// Returns the rate: the number of things per second.
pub fn rate(things: u64, time: Duration) -> f64 {
    things as f64 / time.as_secs_f64()
}

/// Runs an engine on groups of blocks on several threads.
pub fn in_parallel(threads: usize, groups: &[&[&Block]], engine: &impl Engine) -> Result<Vec<Hits>, Failure> {
    let done = side_by_side(threads, groups, |group| engine.hits(group).map_err(failed))?;
    Ok(done.into_iter().flatten().flatten().collect())
}

/// Runs `work` on each group of blocks, on several threads. The results have the same order as the groups.
pub fn side_by_side<T: Send>(
    threads: usize,
    groups: &[&[&Block]],
    work: impl Fn(&[&Block]) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(group) = groups.get(index) else { return done };
            done.push((index, work(group)));
        }
    };
    let mut done: Vec<_> = std::thread::scope(|scope| {
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
        let all: Vec<_> = (1..threads).map_while(start).collect();
        // The current thread works too, so all work gets done even if no other thread can be started.
        let here = work();
        let there = all.into_iter().flat_map(|thread| thread.join().expect("an engine does not panic"));
        here.into_iter().chain(there).collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, done)| done).collect()
}
