//! Locks that ignore poisoning, and values that one thread leaves for another.
//!
//! If a thread panics while it holds a standard library lock, the lock is poisoned, and each later use has to handle this. The
//! functions here ignore the poisoning. The panic is not lost: the thread that joins the panicked thread continues the panic, or
//! code that catches it reports it. The other threads still need the lock in order to finish, and a second panic in each of them
//! would hide the first.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

/// Waits for a lock and returns its guard. The lock is released when the guard is dropped.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a lock that is shared with other readers and returns its guard.
pub fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until nobody else has a lock and returns its guard.
pub fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the value of a mutex.
pub fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Releases a lock, waits for an event and takes the lock again.
pub fn wait<'a, T>(event: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    event.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// Like [`wait`], but waits no longer than `most`.
pub fn wait_timeout<'a, T>(event: &Condvar, guard: MutexGuard<'a, T>, most: Duration) -> MutexGuard<'a, T> {
    event.wait_timeout(guard, most).unwrap_or_else(PoisonError::into_inner).0
}

/// Values that wait until another thread takes them, each identified by a number. The code that passes the numbers on does not
/// depend on the type of the values, so it is compiled only once.
#[derive(Debug)]
pub struct WaitingValues<T>(Mutex<Vec<Option<T>>>);

impl<T> WaitingValues<T> {
    /// Adds a value and returns its number.
    pub fn put(&self, value: T) -> usize {
        let mut values = lock(&self.0);
        let number = values.iter().position(Option::is_none).unwrap_or(values.len());
        if number == values.len() {
            values.push(None);
        }
        values[number] = Some(value);
        number
    }

    /// Removes the value with this number and returns it.
    ///
    /// # Panics
    ///
    /// Panics if no value has this number.
    pub fn take(&self, number: usize) -> T {
        lock(&self.0)[number].take().expect("each number is used once")
    }
}

impl<T> Default for WaitingValues<T> {
    fn default() -> WaitingValues<T> {
        WaitingValues(Mutex::default())
    }
}
