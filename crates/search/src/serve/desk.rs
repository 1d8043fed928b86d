//! Open databases, by their names.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::answer::Response;
use super::fault::{ErrorCode, Fault};
use super::folder::{RequestFiles, refuse_pipes};
use super::memory::{Memory, WrittenFile, resident_bytes};
use super::request::Open;
use crate::library::{CancelToken, Database, DatabaseOptions, EngineChoice, Progress, Turns};
use orbit_core::files::{Clash, Unfinished};
use orbit_core::sync::lock;
use orbit_engine::gpu::GpuOptions;

/// The maximum number of open databases.
pub const DATABASES_MAX: usize = 16;
/// The maximum length of a database name, in bytes.
const NAME_BYTES_MAX: usize = 200;

/// Options for [`OpenDatabases`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeOptions {
    /// The total memory for all databases, in bytes. A database that does not fit is read again for each query.
    pub memory_max: u64,
    /// The memory for the hits of one query, in bytes. If they need more, only the first hits are kept.
    pub kept_max: u64,
    /// The engine for requests that do not name one.
    pub engine: EngineChoice,
    /// The options for opening the graphics card. If they are `None`, a card is used only for requests that name the engine `gpu`.
    pub gpu: Option<GpuOptions>,
    /// The number of threads for each query.
    pub threads: usize,
    /// True if an up-to-date reel next to a PGN file is read instead of the file.
    pub substitute_reels: bool,
    /// The files that requests may read and write.
    pub files: RequestFiles,
    /// The list on which temporary files stand while requests write files.
    pub unfinished: Unfinished,
}

impl Default for ServeOptions {
    /// The defaults are 2 GiB for databases, 256 MiB for hits, the engine `auto`, any card, one thread per core, and access to all
    /// files.
    fn default() -> ServeOptions {
        ServeOptions {
            memory_max: 2 << 30,
            kept_max: 256 << 20,
            engine: EngineChoice::Auto,
            gpu: Some(GpuOptions::default()),
            threads: std::thread::available_parallelism().map_or(1, |threads| threads.get()),
            substitute_reels: true,
            files: RequestFiles::All,
            unfinished: Unfinished::default(),
        }
    }
}

/// The open databases by name. Each method runs one request on the caller's thread. Several threads may call methods at the same
/// time.
pub struct OpenDatabases {
    options: ServeOptions,
    /// The threads that the requests of all clients share.
    turns: Turns,
    memory: Arc<Memory>,
    /// The databases, in the order in which they were opened.
    databases: Mutex<Vec<(String, Arc<Database>)>>,
}

impl OpenDatabases {
    /// Creates a list without databases.
    pub fn new(options: ServeOptions) -> OpenDatabases {
        let (turns, memory) = (Turns::new(options.threads), Arc::default());
        OpenDatabases { turns, memory, options, databases: Mutex::default() }
    }

    /// Replaces the set of files that requests may read and write.
    #[cfg(feature = "http")]
    pub(super) fn with_files(mut self, files: RequestFiles) -> OpenDatabases {
        self.options.files = files;
        self
    }

    /// Checks that a request may read a file.
    ///
    /// # Errors
    ///
    /// Fails if the request may not read it.
    pub(super) fn check_read(&self, path: &Path) -> Result<(), Fault> {
        self.options.files.check_read(path)
    }

    /// Checks that a request may write a file.
    ///
    /// # Errors
    ///
    /// Fails if the request may not write it.
    pub(super) fn check_written(&self, path: &Path) -> Result<(), Fault> {
        self.options.files.check_written(path)
    }

    /// Creates the list of open databases for one client. It starts with the databases in this list, and shares memory and threads
    /// with them. Databases that the client opens, closes or renames do not affect the lists of other clients.
    pub(super) fn for_client(&self) -> OpenDatabases {
        OpenDatabases {
            options: self.options.clone(),
            turns: self.turns.clone(),
            memory: Arc::clone(&self.memory),
            databases: Mutex::new(lock(&self.databases).clone()),
        }
    }

    /// Opens a database for a client. Pipes and devices are refused: no other client could open a database until they end.
    pub(super) fn open_for_client(
        &self,
        open: &Open,
        cancel: &CancelToken,
        watch: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Response, Fault> {
        open.paths.iter().try_for_each(|path| refuse_pipes(Path::new(path), "name a file or a folder"))?;
        self.open(open, cancel, watch)
    }

    /// Opens a database. `watch` is called with progress updates.
    ///
    /// # Errors
    ///
    /// Fails if the name is in use, too many databases are open, a file cannot be read, or the request was cancelled.
    pub fn open(
        &self,
        open: &Open,
        cancel: &CancelToken,
        watch: &mut (dyn FnMut(Progress) + Send),
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
        open.paths.iter().try_for_each(|path| self.check_read(Path::new(path)))?;
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
            .substitute_reels(self.options.substitute_reels)
            .resident_bytes_max(self.options.memory_max.saturating_sub(opening.taken()))
            .engine(self.options.engine)
            .gpu(self.options.gpu.clone())
            .threads(self.options.threads)
            .in_turn(&self.turns)
            .variations(open.variations)
            .cancel_token(cancel)
            .unfinished(&self.options.unfinished)
            .progress(watch);
        let database = options.open(&open.paths).map_err(|error| Fault::from_database(error, ""))?;
        // Folders and reels name further files, which may be links that lead out of the folder that requests may use.
        database.files_read().try_for_each(|path| self.check_read(path))?;
        let database = Arc::new(database);
        opening.add(&database).map_err(|Clash { path }| {
            let path = path.display();
            let why = format!("{path} is being written by another request: wait until it is written");
            Fault::new(ErrorCode::Database, why)
        })?;
        let answer = Response::from_value(described(name, &database));
        lock(&self.databases).push((name.clone(), database));
        Ok(answer)
    }

    /// Closes a database.
    ///
    /// # Errors
    ///
    /// Fails if no database has this name.
    pub fn close(&self, name: &str) -> Result<Response, Fault> {
        let mut databases = lock(&self.databases);
        let Some(at) = databases.iter().position(|(known, _)| known == name) else {
            return Err(unknown(name, &databases));
        };
        databases.remove(at);
        Ok(Response::from_value(json!({ "closed": name })))
    }

    /// Renames a database. A database that already has the new name is replaced.
    pub fn rename(&self, from: &str, to: &str) {
        let mut databases = lock(&self.databases);
        databases.retain(|(name, _)| name != to);
        databases.iter_mut().filter(|(name, _)| name == from).for_each(|(name, _)| *name = to.to_owned());
    }

    /// Returns the files from which a database is read, and the files from which its reels were built. The list is empty if no
    /// database has this name.
    pub fn files(&self, name: &str) -> Vec<PathBuf> {
        self.database(name).map_or(Vec::new(), |database| database.files())
    }

    /// Reserves a file that a request will write: see [`Memory::reserve`].
    pub(super) fn reserve(&self, path: &Path) -> Result<WrittenFile<'_>, Clash> {
        self.memory.reserve(path)
    }

    /// Returns a description of each open database.
    pub fn descriptions(&self) -> Vec<Value> {
        lock(&self.databases).iter().map(|(name, database)| described(name, database)).collect()
    }

    /// Frees the memory that the databases use on the graphics card, if no query has used the card for the duration `idle`.
    pub(super) fn give_back(&self, idle: Duration) {
        let databases = lock(&self.databases).clone();
        databases.iter().for_each(|(_, database)| database.card().give_back(idle));
    }

    pub(super) fn kept_max(&self) -> u64 {
        self.options.kept_max
    }

    pub(super) fn turns(&self) -> &Turns {
        &self.turns
    }

    /// Returns an open database.
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

/// Returns a description of a database. The numbers of games and positions, and the files that were only partly read, are included
/// only if the database is in memory. `card` is the number of bytes of its games that are kept on the graphics card.
fn described(name: &str, database: &Database) -> Value {
    let summary = database.summary();
    json!({
        "database": name,
        "sources": database.sources(),
        "games": summary.map(|summary| summary.totals.games()),
        "positions": summary.map(|summary| summary.totals.positions),
        "resident": summary.is_some(),
        "engine": database.engine(),
        "card": database.card_bytes(),
        "memory": resident_bytes(database),
        "variations": database.keeps_variations(),
        "problems": database.problems(),
    })
}
