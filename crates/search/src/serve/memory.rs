//! Manages the memory of all clients' databases, which is subject to a common limit.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::Duration;

use crate::library::{CancelToken, Database, Residence};
use orbit_core::sync::{lock, wait_timeout};

/// The interval at which a waiting request checks whether it has been cancelled.
const CANCEL_POLL: Duration = Duration::from_millis(50);

/// The memory of the open databases. Databases are opened one at a time, because each may use all the memory that the others leave.
#[derive(Default)]
pub(super) struct Memory {
    state: Mutex<MemoryState>,
    changed: Condvar,
}

#[derive(Default)]
struct MemoryState {
    is_opening: bool,
    databases: Vec<OpenDatabase>,
}

/// A database that is open, or is still in use by a request.
struct OpenDatabase {
    /// A weak reference, which shows whether the database still exists.
    database: Weak<dyn Send + Sync>,
    bytes: u64,
    files: Vec<PathBuf>,
}

impl Memory {
    /// Waits until no other database is being opened. Returns `None` if the request is cancelled before that.
    pub(super) fn begin(&self, cancel: &CancelToken) -> Option<DatabaseOpening<'_>> {
        let mut state = lock(&self.state);
        while state.is_opening {
            if cancel.is_cancelled() {
                return None;
            }
            state = wait_timeout(&self.changed, state, CANCEL_POLL);
        }
        state.is_opening = true;
        Some(DatabaseOpening(self))
    }

    /// Returns the files of all databases that are open or still in use.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let mut state = lock(&self.state);
        state.open().flat_map(|database| database.files.clone()).collect()
    }
}

impl MemoryState {
    fn open(&mut self) -> impl Iterator<Item = &OpenDatabase> {
        self.databases.retain(|database| database.database.strong_count() > 0);
        self.databases.iter()
    }
}

/// Permission to open a database. Only one such value exists at a time; when it is dropped, the next database can be opened.
pub(super) struct DatabaseOpening<'a>(&'a Memory);

impl DatabaseOpening<'_> {
    /// Returns the memory that all open databases use, in bytes.
    pub(super) fn taken(&self) -> u64 {
        lock(&self.0.state).open().map(|database| database.bytes).sum()
    }

    /// Adds the memory of a database to the sum over all databases, until the database is dropped.
    pub(super) fn add(&self, database: &Arc<Database>) {
        let (bytes, files) = (resident_bytes(database), database.files());
        let database: Weak<Database> = Arc::downgrade(database);
        lock(&self.0.state).databases.push(OpenDatabase { database, bytes, files });
    }
}

impl Drop for DatabaseOpening<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).is_opening = false;
        self.0.changed.notify_all();
    }
}

pub(super) fn resident_bytes(database: &Database) -> u64 {
    match database.residence() {
        Residence::Resident { bytes } => bytes,
        Residence::Streamed { .. } => 0,
    }
}
