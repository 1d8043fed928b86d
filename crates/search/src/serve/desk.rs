//! Databases by their names.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::answer::Response;
use super::fault::{ErrorCode, Fault};
use super::folder::RequestFiles;
use super::memory::{Memory, resident_bytes};
use super::request::Open;
use crate::library::{Cancel, Database, DatabaseOptions, Progress, Turns};
use orbit_core::sync::lock;
use orbit_engine::gpu::GpuOptions;

/// Databases that are open at the same time, at most.
pub const DATABASES_MAX: usize = 16;
/// The longest name of a database, in bytes.
const NAME_BYTES_MAX: usize = 200;

/// Choices for [`OpenDatabases`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeOptions {
    /// Memory that the databases may take together, in bytes. One that does not fit is read anew for each query.
    pub memory_max: u64,
    /// Memory that the hits of one query may take, in bytes. Of more, the first are kept.
    pub kept_max: u64,
    /// Which graphics card; `None` for none.
    pub gpu: Option<GpuOptions>,
    /// Threads of a query.
    pub threads: usize,
    /// The only files that requests may read and write, if not all.
    pub files: RequestFiles,
}

impl Default for ServeOptions {
    /// 2 GiB, 256 MiB, any card, a thread for each core.
    fn default() -> ServeOptions {
        ServeOptions {
            memory_max: 2 << 30,
            kept_max: 256 << 20,
            gpu: Some(GpuOptions::default()),
            threads: std::thread::available_parallelism().map_or(1, |threads| threads.get()),
            files: RequestFiles::All,
        }
    }
}

/// Open databases by their names. It answers one request at a time on the caller's thread, and several threads may ask.
pub struct OpenDatabases {
    options: ServeOptions,
    /// The threads and the memory, which the requests of all clients share.
    turns: Turns,
    memory: Arc<Memory>,
    /// In the order in which they were opened.
    databases: Mutex<Vec<(String, Arc<Database>)>>,
}

impl OpenDatabases {
    /// Without a database.
    pub fn new(options: ServeOptions) -> OpenDatabases {
        let (turns, memory) = (Turns::new(options.threads), Arc::default());
        OpenDatabases { turns, memory, options, databases: Mutex::default() }
    }

    /// The same with requests that may use other files.
    #[cfg(feature = "http")]
    pub(super) fn with_files(mut self, files: RequestFiles) -> OpenDatabases {
        self.options.files = files;
        self
    }

    /// Sees that a request may write a file.
    ///
    /// # Errors
    ///
    /// It may not.
    pub(super) fn check_written(&self, path: &Path) -> Result<(), Fault> {
        self.options.files.check_written(path)
    }

    /// A desk for one client: with the databases that are open here, whose memory it shares, and names of its own.
    pub(super) fn of_client(&self) -> OpenDatabases {
        OpenDatabases {
            options: self.options.clone(),
            turns: self.turns.clone(),
            memory: Arc::clone(&self.memory),
            databases: Mutex::new(lock(&self.databases).clone()),
        }
    }

    /// Opens a database; `watch` sees how far that has come.
    ///
    /// # Errors
    ///
    /// A name that is in use, too many databases, files that cannot be read, and that it was cancelled.
    pub fn open(
        &self,
        open: &Open,
        cancel: &Cancel,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<Response, Fault> {
        let name = &open.database;
        let wrong = |message: String| Err(Fault::new(ErrorCode::Request, message));
        if name.is_empty() || name.len() > NAME_BYTES_MAX {
            return wrong(format!("the name of a database has 1 to {NAME_BYTES_MAX} bytes"));
        }
        if open.paths.is_empty() {
            return wrong("`paths` names no file: name PGN files, folders or reels".into());
        }
        if open.paths.iter().any(|path| path == "-") {
            return wrong("standard input holds the requests: name a file in place of `-`".into());
        }
        open.paths.iter().try_for_each(|path| self.options.files.check_read(Path::new(path)))?;
        {
            let databases = lock(&self.databases);
            if databases.iter().any(|(known, _)| known == name) {
                return wrong(format!(
                    "the database `{name}` is open: close it, or give the other one a name of its own"
                ));
            }
            if databases.len() >= DATABASES_MAX {
                return wrong(format!("{DATABASES_MAX} databases are open, and more may not be: close one"));
            }
        }
        let opening = self.memory.begin(cancel).ok_or_else(Fault::cancelled)?;
        let options = DatabaseOptions::new()
            .resident_bytes_max(self.options.memory_max.saturating_sub(opening.taken()))
            .gpu(self.options.gpu.clone())
            .threads(self.options.threads)
            .in_turn(&self.turns)
            .variations(open.variations)
            .cancelled_by(cancel)
            .progress(watch);
        let database = options.open(&open.paths).map_err(|error| Fault::of_database(error, ""))?;
        let database = Arc::new(database);
        opening.add(&database);
        let answer = Response::from_value(described(name, &database));
        lock(&self.databases).push((name.clone(), database));
        Ok(answer)
    }

    /// Closes a database.
    ///
    /// # Errors
    ///
    /// There is none of that name.
    pub fn close(&self, name: &str) -> Result<Response, Fault> {
        let mut databases = lock(&self.databases);
        let Some(at) = databases.iter().position(|(known, _)| known == name) else {
            return Err(unknown(name, &databases));
        };
        databases.remove(at);
        Ok(Response::from_value(json!({ "closed": name })))
    }

    /// Gives a database another name, in place of one that has it already.
    pub fn rename(&self, from: &str, to: &str) {
        let mut databases = lock(&self.databases);
        databases.retain(|(name, _)| name != to);
        databases.iter_mut().filter(|(name, _)| name == from).for_each(|(name, _)| *name = to.to_owned());
    }

    /// The files that a database is read from or was made of.
    pub fn files(&self, name: &str) -> Vec<PathBuf> {
        self.database(name).map_or(Vec::new(), |database| database.files())
    }

    /// The files of all open databases, those of other clients among them.
    pub(super) fn all_files(&self) -> Vec<PathBuf> {
        self.memory.files()
    }

    /// What is known of each open database.
    pub fn descriptions(&self) -> Vec<Value> {
        lock(&self.databases).iter().map(|(name, database)| described(name, database)).collect()
    }

    /// Frees what the databases have on a graphics card if no query has asked for it for so long.
    pub(super) fn give_back(&self, idle: Duration) {
        let databases = lock(&self.databases).clone();
        databases.iter().for_each(|(_, database)| database.card().give_back(idle));
    }

    /// What hits of one query may take.
    pub(super) fn kept_max(&self) -> u64 {
        self.options.kept_max
    }

    /// The threads, which all requests share.
    pub(super) fn turns(&self) -> &Turns {
        &self.turns
    }

    /// An open database.
    pub(super) fn database(&self, name: &str) -> Result<Arc<Database>, Fault> {
        let databases = lock(&self.databases);
        let found = databases.iter().find(|(known, _)| known == name);
        found.map(|(_, database)| Arc::clone(database)).ok_or_else(|| unknown(name, &databases))
    }
}

fn unknown(name: &str, databases: &[(String, Arc<Database>)]) -> Fault {
    let names: Vec<String> = databases.iter().map(|(name, _)| format!("`{name}`")).collect();
    let message = match names.is_empty() {
        true => format!("no database `{name}` is open: open one"),
        false => format!("no database `{name}` is open; open are {}", names.join(", ")),
    };
    Fault::new(ErrorCode::UnknownDatabase, message)
}

/// What is known of a database. Games, positions and what went wrong are known of one in memory.
fn described(name: &str, database: &Database) -> Value {
    let summary = database.summary();
    json!({
        "database": name,
        "sources": database.sources(),
        "games": summary.map(|summary| summary.totals.games()),
        "positions": summary.map(|summary| summary.totals.positions),
        "resident": summary.is_some(),
        "memory": resident_bytes(database),
        "variations": database.keeps_variations(),
        "problems": database.problems(),
    })
}
