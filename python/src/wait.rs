//! Waits for long library operations. Ctrl-C ends the operation, and other Python threads can run during it.

use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use orbit_chess::{CancelToken, Progress};
use orbit_core::sync::lock;
use pyo3::prelude::*;

/// The interval at which a waiting thread checks for signals.
const PATIENCE: Duration = Duration::from_millis(50);

/// A handle to a running operation, which can be stopped and reports its progress.
#[derive(Default)]
pub struct Running {
    /// Stops the work.
    pub cancel: CancelToken,
    progress: Mutex<Progress>,
}

impl Running {
    /// Records the progress of the work.
    pub fn tell(&self, progress: Progress) {
        *lock(&self.progress) = progress;
    }

    fn progress(&self) -> Progress {
        *lock(&self.progress)
    }
}

/// Runs `work` on a new thread and waits for it. The callback `watch`, if given, is called from time to time and at the end, with
/// the number of bytes read so far, the total number of bytes (or `None`), and the numbers of games and positions.
///
/// # Errors
///
/// Returns the exception that a signal handler or `watch` raised, after stopping the work.
pub fn run<T: Send>(
    py: Python<'_>,
    watch: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Running) -> T + Send,
) -> PyResult<T> {
    let running = Running::default();
    let (ended, end) = mpsc::channel::<()>();
    let end = Mutex::new(end);
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            // `_ended` is dropped when the work ends, even if it panics. The thread that waits for messages then knows that the
            // work has ended.
            let _ended = ended;
            work(&running)
        });
        let mut fault = None;
        while let Awaited::Nothing = receive(py, &end) {
            if fault.is_none() {
                fault = py.check_signals().and_then(|()| tell(watch, running.progress())).err();
                fault.iter().for_each(|_| running.cancel.cancel());
            }
        }
        let made = py.detach(|| worker.join());
        let made = made.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match fault {
            Some(fault) => Err(fault),
            None => tell(watch, running.progress()).map(|()| made),
        }
    })
}

fn tell(watch: Option<&Bound<'_, PyAny>>, progress: Progress) -> PyResult<()> {
    let Some(watch) = watch else { return Ok(()) };
    let Progress { bytes, bytes_total, games, positions, .. } = progress;
    watch.call1((bytes, bytes_total, games, positions)).map(drop)
}

/// The outcome of waiting for a message.
pub enum Awaited<T> {
    /// A message.
    Message(T),
    /// There is no message yet.
    Nothing,
    /// The sender was dropped.
    End,
}

/// Waits a short time for the next message. The interpreter's lock is released while waiting.
pub fn receive<T: Send>(py: Python<'_>, receiver: &Mutex<Receiver<T>>) -> Awaited<T> {
    py.detach(|| receive_detached(receiver))
}

/// Does the same as [`receive`] on a thread that does not hold the interpreter's lock.
pub fn receive_detached<T: Send>(receiver: &Mutex<Receiver<T>>) -> Awaited<T> {
    receive_from(&lock(receiver))
}

/// Does the same as [`receive_detached`] with a receiver that is already locked.
pub fn receive_from<T>(receiver: &Receiver<T>) -> Awaited<T> {
    match receiver.recv_timeout(PATIENCE) {
        Ok(message) => Awaited::Message(message),
        Err(RecvTimeoutError::Timeout) => Awaited::Nothing,
        Err(RecvTimeoutError::Disconnected) => Awaited::End,
    }
}
