//! Manages what the databases of all clients share: the limit of their memory, and the files that may not be written while they are
//! open.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::Duration;

use crate::library::{CancelToken, Database, Residence};
use orbit_core::files::{Clash, refuse_clashes};
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
    /// The files that requests are writing.
    written: Vec<PathBuf>,
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

    /// Reserves a file that a request will write. Until the reservation is dropped, no database with this file is opened. The files
    /// of databases are compared and the file is reserved under one lock, so that no database is opened in between.
    ///
    /// # Errors
    ///
    /// Fails if the file belongs to a database that is open or still in use.
    pub(super) fn reserve(&self, path: &Path) -> Result<WrittenFile<'_>, Clash> {
        let mut state = lock(&self.state);
        refuse_clashes(state.open().flat_map(|database| &database.files), [path])?;
        state.written.push(path.to_owned());
        Ok(WrittenFile { memory: self, path: path.to_owned() })
    }
}

/// A file that a request is writing.
pub(super) struct WrittenFile<'a> {
    memory: &'a Memory,
    path: PathBuf,
}

impl Drop for WrittenFile<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.memory.state);
        // Several clients may write a file of this path. Their entries are equal, so any of them may be removed.
        if let Some(at) = state.written.iter().position(|path| *path == self.path) {
            state.written.swap_remove(at);
        }
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
    ///
    /// # Errors
    ///
    /// Fails if a request is writing one of its files. Returns this file.
    pub(super) fn add(&self, database: &Arc<Database>) -> Result<(), Clash> {
        let (bytes, files) = (resident_bytes(database), database.files());
        let database: Weak<Database> = Arc::downgrade(database);
        let mut state = lock(&self.0.state);
        state.written.iter().try_for_each(|written| refuse_clashes(&files, [written]))?;
        state.databases.push(OpenDatabase { database, bytes, files });
        Ok(())
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
