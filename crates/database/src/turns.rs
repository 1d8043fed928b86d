//! Divides threads among several streams, block by block.
//!
//! Each stream starts as many threads as it would on its own, but a thread must wait for a turn before it processes a block.
//! Invariant: a waiting stream with no block in progress gets a turn immediately, even if all threads are busy. The remaining turns
//! are divided evenly among the waiting streams.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use orbit_core::sync::{lock, wait_timeout};

/// The interval at which a thread that waits for a turn checks whether its stream has ended.
const END_POLL: Duration = Duration::from_millis(50);

/// A set of threads that several streams share. Clones refer to the same threads.
#[derive(Clone, Debug)]
pub struct Turns(Arc<TurnsInner>);

#[derive(Debug)]
struct TurnsInner {
    state: Mutex<TurnState>,
    changed: Condvar,
}

#[derive(Debug)]
struct TurnState {
    threads: usize,
    streams: Vec<WaitingStream>,
    /// The number of streams created so far, which becomes the id of the next stream.
    ids: u64,
    /// The number of turns granted so far. In one turn, a stream processes one block.
    turns: u64,
}

#[derive(Clone, Copy, Debug)]
struct WaitingStream {
    id: u64,
    /// The number of blocks that the stream is processing.
    blocks: usize,
    /// The number of the turn that the stream was granted last.
    last: u64,
    waits: bool,
}

impl TurnState {
    fn stream(&mut self, id: u64) -> &mut WaitingStream {
        self.streams
            .iter_mut()
            .find(|stream| stream.id == id)
            .expect("a stream is listed while it has a share")
    }

    /// Returns whether a stream may start another block. The waiting stream with the fewest blocks in progress is next. If several
    /// streams have equally few, it is the one whose last turn was longest ago.
    fn is_next(&mut self, id: u64) -> bool {
        let stream = *self.stream(id);
        let under_way: usize = self.streams.iter().map(|stream| stream.blocks).sum();
        let rank = |stream: &WaitingStream| (stream.blocks, stream.last);
        let mut waiting = self.streams.iter().filter(|other| other.waits && other.id != id);
        stream.blocks == 0 || under_way < self.threads && waiting.all(|other| rank(&stream) < rank(other))
    }

    fn begin(&mut self, id: u64) {
        self.turns += 1;
        let turn = self.turns;
        let stream = self.stream(id);
        (stream.blocks, stream.last, stream.waits) = (stream.blocks + 1, turn, false);
    }
}

impl Turns {
    /// Creates a set of `threads` threads.
    pub fn new(threads: usize) -> Turns {
        let state = TurnState { threads, streams: Vec::new(), ids: 0, turns: 0 };
        Turns(Arc::new(TurnsInner { state: Mutex::new(state), changed: Condvar::new() }))
    }

    /// Returns a share of the threads for one more stream. The share is valid until it is dropped.
    pub fn share(&self) -> ThreadShare {
        let mut state = lock(&self.0.state);
        state.ids += 1;
        let id = state.ids;
        state.streams.push(WaitingStream { id, blocks: 0, last: 0, waits: false });
        ThreadShare { turns: Arc::clone(&self.0), id }
    }
}

/// One stream's share of the threads.
#[derive(Debug)]
pub struct ThreadShare {
    turns: Arc<TurnsInner>,
    id: u64,
}

impl ThreadShare {
    /// Waits until the stream may take another block, and returns its turn. Returns `None` once `is_over` returns true.
    pub(super) fn begin(&self, is_over: impl Fn() -> bool) -> Option<Turn<'_>> {
        let mut state = lock(&self.turns.state);
        state.stream(self.id).waits = true;
        while !is_over() {
            if state.is_next(self.id) {
                state.begin(self.id);
                return Some(Turn(self));
            }
            state = wait_timeout(&self.turns.changed, state, END_POLL);
        }
        self.change(state, |stream| stream.waits = false);
        None
    }

    fn change(&self, mut state: MutexGuard<'_, TurnState>, change: impl FnOnce(&mut WaitingStream)) {
        change(state.stream(self.id));
        drop(state);
        self.turns.changed.notify_all();
    }
}

impl Drop for ThreadShare {
    fn drop(&mut self) {
        lock(&self.turns.state).streams.retain(|stream| stream.id != self.id);
        self.turns.changed.notify_all();
    }
}

/// Permission for a stream to process one block. The turn ends when this value is dropped.
pub(super) struct Turn<'a>(&'a ThreadShare);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.change(lock(&self.0.turns.state), |stream| stream.blocks -= 1);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Simulates streams, and returns the number of blocks that each stream starts until `ends` blocks have ended. Blocks end in
    /// the order in which they were started. For each stream, `streams` has the number of ended blocks after which it joins. All
    /// streams always want another block.
    fn begun(threads: usize, streams: &[usize], ends: usize) -> Vec<usize> {
        let turns = Turns::new(threads);
        let mut shares: Vec<ThreadShare> = Vec::new();
        let (mut begun, mut under_way) = (vec![0; streams.len()], VecDeque::new());
        for ended in 0..=ends {
            while shares.len() < streams.len() && streams[shares.len()] <= ended {
                shares.push(turns.share());
            }
            let mut state = lock(&turns.0.state);
            shares.iter().for_each(|share| state.stream(share.id).waits = true);
            while let Some(at) = (0..shares.len()).find(|&at| state.is_next(shares[at].id)) {
                state.begin(shares[at].id);
                state.stream(shares[at].id).waits = true;
                begun[at] += 1;
                under_way.push_back(at);
            }
            assert!(under_way.len() < threads + streams.len(), "{under_way:?}");
            assert!((0..shares.len()).all(|at| under_way.contains(&at)), "{under_way:?}");
            let oldest = under_way.pop_front().expect("blocks are under way");
            state.stream(shares[oldest].id).blocks -= 1;
        }
        begun
    }

    #[test]
    fn threads_are_divided_evenly() {
        assert_eq!(begun(4, &[0], 100), [104]);
        for threads in 1..9 {
            for streams in 2..5 {
                let begun = begun(threads, &vec![0; streams], 1000);
                let (least, most) = (begun.iter().min().unwrap(), begun.iter().max().unwrap());
                assert!(most - least <= threads.div_ceil(streams), "{threads} threads: {begun:?}");
            }
        }
    }

    /// A stream that joins late gets a block immediately, and after that as many blocks as the others.
    #[test]
    fn who_comes_late_has_as_large_a_share() {
        for threads in 1..9 {
            let begun = begun(threads, &[0, 500], 1000);
            let (first, second) = (begun[0] - 500, begun[1]);
            assert!(first.abs_diff(second) <= 2 * threads, "{threads} threads: {begun:?}");
        }
    }

    #[test]
    fn what_has_ended_waits_for_no_turn() {
        let turns = Turns::new(1);
        let (one, other) = (turns.share(), turns.share());
        let turn = one.begin(|| false).unwrap();
        assert!(one.begin(|| true).is_none());
        let beside = other.begin(|| false);
        assert!(beside.is_some());
        drop((turn, beside));
        drop(other);
        assert!(one.begin(|| false).is_some());
        assert_eq!(lock(&turns.0.state).streams.len(), 1);
    }
}
