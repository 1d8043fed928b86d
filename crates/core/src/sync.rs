//! Locks, whether or not a thread panicked while it held them.
//!
//! Such a panic poisons a lock of the standard library, and each later use of the lock has to say what follows. Here nothing
//! follows: the thread that joins the one that panicked goes on with the panic, or the code that catches it reports it. The
//! other threads need the lock to end, and a second panic on each of them would hide the first.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Waits for a lock and holds it as long as the guard lives.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the value out of a lock.
pub fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Frees a lock, waits for an event and takes the lock again.
pub fn wait<'a, T>(event: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    event.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// [`wait`] for `most` at most.
pub fn wait_timeout<'a, T>(event: &Condvar, guard: MutexGuard<'a, T>, most: Duration) -> MutexGuard<'a, T> {
    event.wait_timeout(guard, most).unwrap_or_else(PoisonError::into_inner).0
}
