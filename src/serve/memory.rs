//! The memory that the databases of all clients take together.

use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::Duration;

use crate::session::{Cancel, Residence, Session};
use crate::sync::{lock, wait_timeout};

/// How often an opening that waits looks whether it is cancelled.
const CANCEL_POLL: Duration = Duration::from_millis(50);

/// The open databases. One at a time is opened, since it may take all memory that the others leave.
#[derive(Default)]
pub(super) struct Memory {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_opening: bool,
    sessions: Vec<Weak<Session>>,
}

impl Memory {
    /// Waits until no other database is being opened; `None` if it is cancelled before.
    pub(super) fn begin(&self, cancel: &Cancel) -> Option<Opening<'_>> {
        let mut state = lock(&self.state);
        while state.is_opening {
            if cancel.is_cancelled() {
                return None;
            }
            state = wait_timeout(&self.changed, state, CANCEL_POLL);
        }
        state.is_opening = true;
        Some(Opening(self))
    }

    /// All databases that are open or still searched.
    pub(super) fn sessions(&self) -> Vec<Arc<Session>> {
        lock(&self.state).sessions.iter().filter_map(Weak::upgrade).collect()
    }
}

/// The opening of one database; when this is dropped, the next one may begin.
pub(super) struct Opening<'a>(&'a Memory);

impl Opening<'_> {
    /// The memory that all open databases take.
    pub(super) fn taken(&self) -> u64 {
        self.0.sessions().iter().map(|session| resident_bytes(session)).sum()
    }

    /// Counts a database until it is dropped.
    pub(super) fn add(&self, session: &Arc<Session>) {
        let sessions = &mut lock(&self.0.state).sessions;
        sessions.retain(|session| session.strong_count() > 0);
        sessions.push(Arc::downgrade(session));
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).is_opening = false;
        self.0.changed.notify_all();
    }
}

/// The memory that a database takes.
pub(super) fn resident_bytes(session: &Session) -> u64 {
    match session.residence() {
        Residence::Resident { bytes } => bytes,
        Residence::Streamed { .. } => 0,
    }
}
