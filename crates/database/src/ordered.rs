//! Runs tasks on many threads and returns their results in task order.
//!
//! Tasks can be of any type. If a thread or the caller stops, fails or panics, all threads end, and no thread waits forever.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::turns::{ThreadShare, Turn};
use orbit_core::sync::{into_inner, lock, wait, wait_timeout};

/// The maximum number of threads. Each thread costs memory, and hardly any machine has more cores than this.
const THREADS_MAX: usize = 1024;

/// The interval at which a waiting caller checks the interrupt flag.
const INTERRUPT_POLL: Duration = Duration::from_millis(50);

/// The function that hands out tasks, and the three steps by which each task is processed.
pub(super) struct Steps<Next, Prepare, Number, Work> {
    /// Returns the next task, or `None` if there are no more. It is called by one thread at a time.
    pub(super) next: Next,
    /// The first step of a task. Tasks go through it in any order, and in parallel.
    pub(super) prepare: Prepare,
    /// The second step of a task. Tasks go through it in order, one at a time.
    pub(super) number: Number,
    /// The third and last step of a task. Tasks go through it in any order, and in parallel.
    pub(super) work: Work,
}

/// The limits on resources.
#[derive(Clone, Copy)]
pub(super) struct TaskLimits<'a> {
    /// The number of threads to start. If the system cannot start that many, there are fewer.
    pub(super) threads: usize,
    /// The maximum size in bytes of the results that wait for `take`, the caller's function. It applies only if tasks reserve
    /// memory for their results.
    pub(super) bytes_max: u64,
    /// The stack size of each thread; `None` for the default.
    pub(super) stack_bytes: Option<usize>,
    /// The stream's share of a set of threads that several streams use. `None` if the stream has its own threads.
    pub(super) share: Option<&'a ThreadShare>,
}

impl<'a> TaskLimits<'a> {
    pub(super) fn with_threads(threads: usize) -> TaskLimits<'a> {
        TaskLimits { threads: threads.min(THREADS_MAX), bytes_max: 96 << 20, stack_bytes: None, share: None }
    }

    /// Waits until the stream may begin a task. If threads are shared, returns the stream's turn. Returns `Break` if `is_over`
    /// returns true.
    fn turn(&self, is_over: impl Fn() -> bool) -> ControlFlow<(), Option<Turn<'a>>> {
        match self.share {
            None => ControlFlow::Continue(None),
            Some(share) => match share.begin(is_over) {
                None => ControlFlow::Break(()),
                turn => ControlFlow::Continue(turn),
            },
        }
    }
}

/// A memory budget for results that wait for `take`, the caller's function. A task reserves memory before it creates its results,
/// and waits while the results of other tasks use up the budget. The task whose result is next in order never waits. Without the
/// budget, results that are created faster than they are written would pile up, and each of them is twenty times as large as its
/// input.
pub struct MemoryBudget<'a> {
    gate: Option<&'a Gate>,
    index: u64,
    reserved: Cell<u64>,
}

impl MemoryBudget<'_> {
    /// Creates an unlimited budget, for results that are passed on immediately.
    fn endless() -> MemoryBudget<'static> {
        MemoryBudget { gate: None, index: 0, reserved: Cell::new(0) }
    }

    /// Waits until another `bytes` bytes fit into the budget.
    pub fn reserve(&self, bytes: u64) {
        let Some(gate) = self.gate else { return };
        let mut state = lock(&gate.state);
        while state.reserved > 0
            && state.reserved.saturating_add(bytes) > gate.bytes_max
            && self.index != state.taken
            && !state.stopped
        {
            state = wait(&gate.changed, state);
        }
        state.reserved = state.reserved.saturating_add(bytes);
        self.reserved.set(self.reserved.get().saturating_add(bytes));
    }

    /// Replaces a reservation of `reserved` bytes by the number of bytes that are actually used. Never waits.
    pub fn correct(&self, reserved: u64, bytes: u64) {
        let Some(gate) = self.gate else { return };
        let correct = |sum: u64| sum.saturating_sub(reserved).saturating_add(bytes);
        gate.update(|state| state.reserved = correct(state.reserved));
        self.reserved.set(correct(self.reserved.get()));
    }
}

/// The reservations of all tasks.
struct Gate {
    bytes_max: u64,
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    reserved: u64,
    /// The index of the task whose result is passed to `take` next.
    taken: u64,
    stopped: bool,
}

impl Gate {
    fn update(&self, change: impl FnOnce(&mut GateState)) {
        change(&mut lock(&self.state));
        self.changed.notify_all();
    }
}

struct OrderedState<R> {
    issued: u64,
    numbered: u64,
    taken: u64,
    /// The results that `take` has not received yet, by task. Each has the number of bytes that are reserved for it.
    ready: BTreeMap<u64, (R, u64)>,
    /// True if there are no more tasks to issue.
    exhausted: bool,
    /// True if all threads must stop.
    stopped: bool,
}

struct OrderedShared<R> {
    state: Mutex<OrderedState<R>>,
    /// Signals that a task has gone through the step `number`, so that the next task in order may go through it.
    numbered: Condvar,
    /// Signals that enough results are ready for `take`, or that there will be no more.
    ready: Condvar,
    /// Signals that `take` has received a result.
    taken: Condvar,
    gate: Gate,
}

impl<R> OrderedShared<R> {
    /// Waits for `event` as long as `waits` returns true and nothing has stopped the threads.
    fn wait_while(
        &self,
        event: &Condvar,
        mut waits: impl FnMut(&OrderedState<R>) -> bool,
    ) -> MutexGuard<'_, OrderedState<R>> {
        let mut state = lock(&self.state);
        while !state.stopped && waits(&state) {
            state = wait(event, state);
        }
        state
    }

    fn stop(&self) {
        lock(&self.state).stopped = true;
        for event in [&self.numbered, &self.ready, &self.taken] {
            event.notify_all();
        }
        self.gate.update(|state| state.stopped = true);
    }
}

/// Stops all threads when this value is dropped: on a panic and, if the second field is false, also at the end or on an early
/// return.
struct StopOnDrop<'a, R>(&'a OrderedShared<R>, /* only on a panic */ bool);

impl<R> Drop for StopOnDrop<'_, R> {
    fn drop(&mut self) {
        if !self.1 || std::thread::panicking() {
            self.0.stop();
        }
    }
}

/// Runs all tasks on several threads, a few tasks ahead of `take`, which is called on this thread in task order. With one thread,
/// or if no threads can be started, this thread does all the work. Returns whether the results of all tasks were passed to `take`.
///
/// # Errors
///
/// Returns the first error of `prepare` or `number` in task order. The results of all earlier tasks were passed to `take`.
pub(super) fn run<J, M, T, E, Next, Prepare, Number, Work>(
    limits: TaskLimits<'_>,
    interrupt: &AtomicBool,
    steps: Steps<Next, Prepare, Number, Work>,
    mut take: impl FnMut(M, T) -> ControlFlow<()>,
) -> Result<bool, E>
where
    M: Send,
    T: Send,
    E: Send,
    Next: FnMut() -> Option<J> + Send,
    Prepare: Fn(J) -> Result<M, E> + Sync,
    Number: FnMut(&mut M) -> Result<(), E> + Send,
    Work: Fn(&M, &MemoryBudget) -> T + Sync,
{
    let TaskLimits { threads, bytes_max, stack_bytes, .. } = limits;
    if threads <= 1 {
        return run_here(limits, interrupt, steps, take);
    }
    let Steps { next, prepare, number, work } = steps;
    let (next, number) = (Mutex::new(next), Mutex::new(number));
    let shared = OrderedShared {
        state: Mutex::new(OrderedState {
            issued: 0,
            numbered: 0,
            taken: 0,
            ready: BTreeMap::new(),
            exhausted: false,
            stopped: false,
        }),
        numbered: Condvar::new(),
        ready: Condvar::new(),
        taken: Condvar::new(),
        gate: Gate { bytes_max, state: Mutex::default(), changed: Condvar::new() },
    };
    let ahead = 2 * threads as u64 + 2;
    let worker = || {
        let _guard = StopOnDrop(&shared, true);
        while let Some((index, task, turn)) = issue(&shared, &next, interrupt, (ahead, limits)) {
            let mut prepared = prepare(task);
            if shared.wait_while(&shared.numbered, |state| state.numbered != index).stopped {
                return;
            }
            // No other thread can be numbering now, so the lock is free.
            if let Ok(block) = &mut prepared
                && let Err(error) = lock(&number)(block)
            {
                prepared = Err(error);
            }
            lock(&shared.state).numbered += 1;
            shared.numbered.notify_all();
            let room = MemoryBudget { gate: Some(&shared.gate), index, reserved: Cell::new(0) };
            let done = prepared.map(|prepared| {
                let result = work(&prepared, &room);
                (prepared, result)
            });
            drop(turn);
            // Waking a thread takes as long as a small task, so the caller is woken only once several results are ready. If fewer
            // are ready, the caller checks for them after at most `INTERRUPT_POLL`. If memory is reserved, another task may be
            // waiting for it, so the caller is woken immediately.
            let is_reserved = lock(&shared.gate.state).reserved > 0;
            let mut state = lock(&shared.state);
            state.ready.insert(index, (done, room.reserved.get()));
            let are_many = state.exhausted || is_reserved || state.ready.len() > threads;
            let wakes = are_many && state.ready.contains_key(&state.taken);
            drop(state);
            if wakes {
                shared.ready.notify_one();
            }
        }
    };
    let outcome = std::thread::scope(|scope| {
        let start = |_| {
            let mut builder = std::thread::Builder::new();
            if let Some(bytes) = stack_bytes {
                builder = builder.stack_size(bytes);
            }
            builder.spawn_scoped(scope, worker).ok()
        };
        let workers: Vec<_> = (0..threads).map_while(start).collect();
        if workers.is_empty() {
            return None;
        }
        let outcome = {
            let _guard = StopOnDrop(&shared, false);
            take_all(&shared, interrupt, &mut take)
        };
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
        Some(outcome)
    });
    outcome.unwrap_or_else(|| {
        let next = into_inner(next);
        let number = into_inner(number);
        run_here(limits, interrupt, Steps { next, prepare, number, work }, take)
    })
}

/// Runs all tasks on this thread.
fn run_here<J, M, T, E, Next, Prepare, Number, Work>(
    limits: TaskLimits<'_>,
    interrupt: &AtomicBool,
    steps: Steps<Next, Prepare, Number, Work>,
    mut take: impl FnMut(M, T) -> ControlFlow<()>,
) -> Result<bool, E>
where
    Next: FnMut() -> Option<J>,
    Prepare: Fn(J) -> Result<M, E>,
    Number: FnMut(&mut M) -> Result<(), E>,
    Work: Fn(&M, &MemoryBudget) -> T,
{
    let Steps { mut next, prepare, mut number, work } = steps;
    let is_over = || interrupt.load(Ordering::Relaxed);
    while !is_over() {
        let ControlFlow::Continue(turn) = limits.turn(is_over) else { break };
        let Some(task) = next() else { return Ok(true) };
        let mut prepared = prepare(task)?;
        number(&mut prepared)?;
        let result = work(&prepared, &MemoryBudget::endless());
        drop(turn);
        if take(prepared, result).is_break() {
            return Ok(false);
        }
    }
    Ok(false)
}

/// Waits until the next task is at most a few tasks ahead of `take`, and returns the task and its index. If threads are shared,
/// also returns its turn. Returns `None` if there are no more tasks.
fn issue<'a, J, R, Next: FnMut() -> Option<J>>(
    shared: &OrderedShared<R>,
    next: &Mutex<Next>,
    interrupt: &AtomicBool,
    (ahead, limits): (u64, TaskLimits<'a>),
) -> Option<(u64, J, Option<Turn<'a>>)> {
    // This thread holds the lock while it waits, since any other thread that wants a task would have to wait as well.
    let mut next = lock(next);
    let state = shared.wait_while(&shared.taken, |state| state.issued >= state.taken + ahead);
    if state.stopped || state.exhausted || interrupt.load(Ordering::Relaxed) {
        return None;
    }
    let index = state.issued;
    drop(state);
    // Turns are granted in task order. So a task never waits for a later task that has no turn yet.
    let is_over = || lock(&shared.state).stopped || interrupt.load(Ordering::Relaxed);
    let turn = limits.turn(is_over).continue_value()?;
    let task = next();
    let mut state = lock(&shared.state);
    match task {
        Some(_) => state.issued += 1,
        None => state.exhausted = true,
    }
    drop(state);
    if task.is_none() {
        shared.ready.notify_one();
    }
    task.map(|task| (index, task, turn))
}

fn take_all<M, T, E>(
    shared: &OrderedShared<Result<(M, T), E>>,
    interrupt: &AtomicBool,
    take: &mut impl FnMut(M, T) -> ControlFlow<()>,
) -> Result<bool, E> {
    let mut state = lock(&shared.state);
    loop {
        if state.stopped || interrupt.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let index = state.taken;
        if let Some((done, reserved)) = state.ready.remove(&index) {
            drop(state);
            let (prepared, result) = done?;
            if take(prepared, result).is_break() {
                return Ok(false);
            }
            lock(&shared.state).taken += 1;
            shared.taken.notify_one();
            shared.gate.update(|gate| {
                gate.taken = index + 1;
                gate.reserved = gate.reserved.saturating_sub(reserved);
            });
            state = lock(&shared.state);
        } else if state.exhausted && state.issued == state.taken {
            return Ok(true);
        } else {
            state = wait_timeout(&shared.ready, state, INTERRUPT_POLL);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::super::turns::Turns;
    use super::*;

    /// Runs `n` tasks that square the numbers 0..n, and checks that they are numbered in order. `work` panics for the number
    /// `panic_at`.
    fn squares(threads: usize, n: u64, panic_at: Option<u64>, break_at: Option<u64>) -> (Vec<u64>, bool) {
        let mut tasks = 0..n;
        let mut expected = 0;
        let mut out = Vec::new();
        let steps = Steps {
            next: || tasks.next(),
            prepare: |task: u64| {
                std::thread::sleep(Duration::from_micros(task * 7919 % 500));
                Ok::<_, u64>(task)
            },
            number: |task: &mut u64| {
                assert_eq!(*task, expected, "numbered out of order");
                expected += 1;
                Ok(())
            },
            work: |task: &u64, _: &MemoryBudget| {
                assert_ne!(Some(*task), panic_at, "planted");
                task * task
            },
        };
        let all = run(TaskLimits::with_threads(threads), &AtomicBool::new(false), steps, |task, square| {
            assert_eq!(square, task * task);
            out.push(square);
            if Some(task) == break_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        (out, all.unwrap())
    }

    #[test]
    fn results_come_in_order() {
        let expected: Vec<u64> = (0..300).map(|task| task * task).collect();
        for threads in [1, 2, 3, 8] {
            assert_eq!(squares(threads, 300, None, None), (expected.clone(), true));
            assert_eq!(squares(threads, 0, None, None), (Vec::new(), true));
            assert_eq!(squares(threads, 300, None, Some(99)), (expected[..100].to_vec(), false));
        }
    }

    #[test]
    fn a_panic_of_a_worker_stops_everybody() {
        for threads in [1, 2, 4] {
            let panic = std::panic::catch_unwind(|| squares(threads, 300, Some(40), None)).unwrap_err();
            assert!(panic.downcast_ref::<String>().unwrap().contains("planted"));
        }
    }

    #[test]
    fn a_panic_of_the_taker_stops_everybody() {
        for threads in [1, 2, 4] {
            let mut tasks = 0..300u64;
            let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let steps = Steps {
                    next: || tasks.next(),
                    prepare: Ok::<u64, ()>,
                    number: |_: &mut u64| Ok(()),
                    work: |_: &u64, _: &MemoryBudget| (),
                };
                run(TaskLimits::with_threads(threads), &AtomicBool::new(false), steps, |task, ()| {
                    assert!(task < 20, "planted");
                    ControlFlow::Continue(())
                })
            }));
            assert!(panic.is_err());
        }
    }

    #[test]
    fn an_error_comes_after_all_before_it() {
        for threads in [1, 2, 4] {
            let (mut tasks, mut taken) = (0..300u64, Vec::new());
            let steps = Steps {
                next: || tasks.next(),
                prepare: |task: u64| if task >= 50 { Err(task) } else { Ok(task) },
                number: |_: &mut u64| Ok(()),
                work: |_: &u64, _: &MemoryBudget| (),
            };
            let outcome =
                run(TaskLimits::with_threads(threads), &AtomicBool::new(false), steps, |task, ()| {
                    taken.push(task);
                    ControlFlow::Continue(())
                });
            assert_eq!((outcome, taken), (Err(50), (0..50).collect()));
        }
    }

    /// Returns the largest number of bytes that were reserved at one time, with a caller that takes results slowly.
    fn most_reserved(threads: usize, bytes: u64, bytes_max: u64) -> u64 {
        let (mut tasks, mut taken) = (0..100u64, 0);
        let (held, most) = (AtomicU64::new(0), AtomicU64::new(0));
        let steps = Steps {
            next: || tasks.next(),
            prepare: Ok::<u64, ()>,
            number: |_: &mut u64| Ok(()),
            work: |_: &u64, room: &MemoryBudget| {
                room.reserve(2 * bytes);
                room.correct(2 * bytes, bytes);
                let now = held.fetch_add(bytes, Ordering::Relaxed) + bytes;
                most.fetch_max(now, Ordering::Relaxed);
            },
        };
        let limits = TaskLimits { bytes_max, ..TaskLimits::with_threads(threads) };
        let all = run(limits, &AtomicBool::new(false), steps, |task, ()| {
            std::thread::sleep(Duration::from_micros(task * 7919 % 900));
            held.fetch_sub(bytes, Ordering::Relaxed);
            taken += 1;
            ControlFlow::Continue(())
        });
        assert_eq!((all, taken), (Ok(true), 100));
        most.into_inner()
    }

    #[test]
    fn results_that_wait_have_a_limit() {
        for threads in [2, 4, 16] {
            // The next task in order proceeds, no matter how much memory the others have reserved.
            assert!(most_reserved(threads, 100, 400) <= 400 + 2 * 100, "{threads}");
            assert!(most_reserved(threads, 100, u64::MAX) >= 4 * 100, "{threads}");
            // No result fits into the budget, and still no task waits forever.
            assert!(most_reserved(threads, 1000, 10) <= 2 * 1000, "{threads}");
        }
    }

    #[test]
    fn a_result_waits_for_no_later_task() {
        for threads in [2, 8] {
            let taken = AtomicU64::new(0);
            let mut tasks = 0..3u64;
            let steps = Steps {
                next: || {
                    let task = tasks.next()?;
                    // Simulates a source that sends more data only once the result of its last task has been taken. It gives up
                    // after a number of naps rather than a time, because naps take longer on a busy machine.
                    let mut naps = 0;
                    while taken.load(Ordering::Relaxed) < task {
                        assert!(naps < 20_000, "{task} of {threads} threads");
                        naps += 1;
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    Some(task)
                },
                prepare: Ok::<u64, ()>,
                number: |_: &mut u64| Ok(()),
                work: |_: &u64, _: &MemoryBudget| (),
            };
            let all = run(TaskLimits::with_threads(threads), &AtomicBool::new(false), steps, |_, ()| {
                taken.fetch_add(1, Ordering::Relaxed);
                ControlFlow::Continue(())
            });
            assert_eq!((all, taken.into_inner()), (Ok(true), 3));
        }
    }

    #[test]
    fn streams_share_their_threads() {
        for (threads, streams) in [(1, 3), (3, 2), (4, 4)] {
            let (turns, at_work, most) = (Turns::new(threads), AtomicU64::new(0), AtomicU64::new(0));
            std::thread::scope(|scope| {
                for share in (0..streams).map(|_| turns.share()) {
                    let (at_work, most) = (&at_work, &most);
                    scope.spawn(move || {
                        let (mut tasks, mut taken) = (0..100u64, Vec::new());
                        let steps = Steps {
                            next: || tasks.next(),
                            prepare: |task: u64| {
                                most.fetch_max(
                                    at_work.fetch_add(1, Ordering::Relaxed) + 1,
                                    Ordering::Relaxed,
                                );
                                Ok::<_, u64>(task)
                            },
                            number: |_: &mut u64| Ok(()),
                            work: |task: &u64, _: &MemoryBudget| {
                                std::thread::sleep(Duration::from_micros(task * 7919 % 500));
                                at_work.fetch_sub(1, Ordering::Relaxed);
                            },
                        };
                        let limits = TaskLimits { share: Some(&share), ..TaskLimits::with_threads(threads) };
                        let all = run(limits, &AtomicBool::new(false), steps, |task, ()| {
                            taken.push(task);
                            ControlFlow::Continue(())
                        });
                        assert_eq!((all, taken), (Ok(true), (0..100).collect()));
                    });
                }
            });
            let (most, room) = (most.into_inner(), threads + streams - 1);
            assert!((1..=room as u64).contains(&most), "{threads} threads of {streams} streams: {most}");
        }
    }

    #[test]
    fn threads_that_do_not_start_are_done_without() {
        for threads in [2, 64, usize::MAX] {
            let (mut tasks, mut taken) = (0..300u64, Vec::new());
            let steps = Steps {
                next: || tasks.next(),
                prepare: Ok::<u64, ()>,
                number: |_: &mut u64| Ok(()),
                work: |_: &u64, room: &MemoryBudget| room.reserve(u64::MAX),
            };
            // No address space is large enough for such a stack.
            let limits = TaskLimits { stack_bytes: Some(1 << 60), ..TaskLimits::with_threads(threads) };
            let all = run(limits, &AtomicBool::new(false), steps, |task, ()| {
                taken.push(task);
                ControlFlow::Continue(())
            });
            assert_eq!((all, taken), (Ok(true), (0..300).collect()));
        }
    }

    #[test]
    fn an_interrupt_stops_everybody() {
        for threads in [1, 2] {
            let interrupt = AtomicBool::new(false);
            let (mut tasks, mut taken) = (0u64.., 0);
            let steps = Steps {
                next: || tasks.next(),
                prepare: Ok::<u64, ()>,
                number: |_: &mut u64| Ok(()),
                work: |_: &u64, _: &MemoryBudget| (),
            };
            let outcome = run(TaskLimits::with_threads(threads), &interrupt, steps, |task, ()| {
                taken = task;
                interrupt.store(task >= 30, Ordering::Relaxed);
                ControlFlow::Continue(())
            });
            assert_eq!((outcome, taken), (Ok(false), 30));
        }
    }
}
