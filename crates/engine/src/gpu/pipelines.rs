//! The compiled kernels (pipelines) of a device. Each kernel is compiled once for all threads and kept in a file for
//! later runs.
//!
//! The file holds the driver's pipeline cache and is in the user's cache folder. The invariant: problems with the file
//! never change an answer or stop a query. A file that is damaged, or that belongs to another card, driver or version,
//! is ignored, and so is a folder to which nothing can be written. The user gets one message about it.

use std::collections::HashMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use twox_hash::XxHash3_64;

use super::GpuError;
use super::driver::DriverResource;
use orbit_core::files::{OutputError, OutputFile, open_regular};
use orbit_core::sync::lock;

/// The maximum number of pipelines in memory. Without a limit, a process that runs queries for days would grow.
const PIPELINES_MAX: usize = 256;
/// The first bytes of a file of compiled kernels. A hash of all bytes after the head follows them.
const MAGIC: &[u8; 8] = b"orbitpl1";
const HEAD_BYTES: usize = MAGIC.len() + 8;
/// The maximum size of a file of compiled kernels, in bytes. A larger file is deleted and begun again.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// The last part of a file's name.
const ENDING: &str = "pipelines";

pub(super) type Pipeline = Arc<DriverResource<wgpu::ComputePipeline>>;

/// A pipeline, or the reason why it cannot be compiled; empty until the compiler has finished.
type Compiling = OnceLock<Result<Pipeline, GpuError>>;

/// The pipelines of a device.
pub(super) struct Pipelines {
    known: Mutex<HashMap<String, Arc<Compiling>>>,
    /// The number of pipelines that were compiled.
    pub(super) compiled: AtomicU64,
    /// The number of pipelines that had been compiled when the file was last saved.
    saved: AtomicU64,
    pub(super) file: Option<CacheFile>,
    /// A message for the user that has not been shown yet.
    note: Mutex<Option<String>>,
    /// True if there has been a message, so that there is no second one.
    is_noted: AtomicBool,
    /// The lock that a thread holds while it writes the file, so that only one thread writes at a time.
    saving: Mutex<()>,
}

/// The driver's cache of pipelines, and the path of its file.
pub(super) struct CacheFile {
    pub(super) cache: DriverResource<wgpu::PipelineCache>,
    pub(super) path: PathBuf,
}

impl Pipelines {
    pub(super) fn new(file: Option<CacheFile>, note: Option<String>) -> Pipelines {
        Pipelines {
            known: Mutex::default(),
            compiled: AtomicU64::new(0),
            saved: AtomicU64::new(0),
            file,
            is_noted: AtomicBool::new(note.is_some()),
            note: Mutex::new(note),
            saving: Mutex::default(),
        }
    }

    /// Returns the pipeline of a shader. The first thread that needs it compiles it, and other threads wait until it is
    /// compiled. If compiling fails, the next request tries again.
    pub(super) fn get(
        &self,
        text: &str,
        compile: impl FnOnce() -> Result<Pipeline, GpuError>,
    ) -> Result<Pipeline, GpuError> {
        let compiling = {
            let mut known = lock(&self.known);
            if known.len() >= PIPELINES_MAX && !known.contains_key(text) {
                known.clear();
            }
            Arc::clone(known.entry(text.to_string()).or_default())
        };
        let done = compiling.get_or_init(|| {
            self.compiled.fetch_add(1, Ordering::Relaxed);
            compile()
        });
        if done.is_err() {
            let mut known = lock(&self.known);
            if known.get(text).is_some_and(|other| Arc::ptr_eq(other, &compiling)) {
                known.remove(text);
            }
        }
        done.clone()
    }

    /// Returns the message about a problem with the file on the first call, and `None` afterwards.
    pub(super) fn take_note(&self) -> Option<String> {
        lock(&self.note).take()
    }

    /// Returns true if pipelines have been compiled since the last call, so that the file must be written.
    pub(super) fn is_to_be_saved(&self) -> bool {
        let compiled = self.compiled.load(Ordering::Relaxed);
        self.file.is_some() && self.saved.swap(compiled, Ordering::Relaxed) != compiled
    }

    /// Writes the driver's cache to the file. A failure becomes a message for the user.
    pub(super) fn save(&self, data: &[u8]) {
        let Some(CacheFile { path, .. }) = &self.file else { return };
        let _one = lock(&self.saving);
        if let Err(reason) = write(path, data)
            && !self.is_noted.swap(true, Ordering::Relaxed)
        {
            *lock(&self.note) = Some(note(path, "cannot be written", &reason));
        }
    }
}

/// Returns the path of a card's file. The name contains the version of this program, so no version reads the file of
/// another version.
pub(super) fn path_of(folder: &Path, key: &str) -> PathBuf {
    folder.join(format!("{key}-{}.{ENDING}", env!("CARGO_PKG_VERSION")))
}

/// Returns the contents of a file. If the file cannot be used, returns no contents and a message for the user.
pub(super) fn read(path: &Path) -> (Option<Vec<u8>>, Option<String>) {
    match read_checked(path) {
        Ok(data) => (data, None),
        Err(reason) => (None, Some(note(path, "is passed over", &reason))),
    }
}

fn note(path: &Path, what: &str, reason: &str) -> String {
    format!(
        "the file of compiled kernels {} {what} ({reason}): kernels are compiled anew; remove it, or set ORBIT_PIPELINE_CACHE to \
         `off` or to a folder that can be written",
        path.display()
    )
}

fn read_checked(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let text = |error: std::io::Error| error.to_string();
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(text)?;
    if fs::metadata(folder).map_err(text)?.permissions().readonly() {
        return Err("its folder cannot be written".into());
    }
    if !path.exists() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let file = open_regular(path).map_err(text)?;
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(text)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("it is larger than {FILE_BYTES_MAX} bytes"));
    }
    match bytes.split_at_checked(HEAD_BYTES) {
        Some((head, _)) if !head.starts_with(MAGIC) => Err("it is no such file".into()),
        Some((head, data)) if head[MAGIC.len()..] == hash(data) => Ok(Some(data.to_vec())),
        _ => Err("it is damaged".into()),
    }
}

fn write(path: &Path, data: &[u8]) -> Result<(), String> {
    if data.len() as u64 > FILE_BYTES_MAX - HEAD_BYTES as u64 {
        return fs::remove_file(path).map_err(|error| error.to_string());
    }
    let mut file = match OutputFile::create(path) {
        // Another process is writing the file.
        Err(OutputError::InTheWay { .. }) => return Ok(()),
        created => created.map_err(|error| error.to_string())?,
    };
    let parts = [MAGIC.as_slice(), &hash(data), data];
    parts.iter().try_for_each(|part| file.write_all(part)).map_err(|error| error.to_string())?;
    file.finish().map_err(|error| error.to_string())?;
    remove_others(path);
    Ok(())
}

fn hash(data: &[u8]) -> [u8; 8] {
    XxHash3_64::oneshot(data).to_le_bytes()
}

/// Removes the files that other versions of this program created for the same card.
fn remove_others(path: &Path) {
    let of_card = |path: &Path| {
        let name = path.file_name()?.to_str()?.strip_suffix(ENDING)?;
        Some(name.split_once('-')?.0.to_owned())
    };
    let files = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    for other in files.into_iter().flatten().flatten().map(|entry| entry.path()) {
        if other != path && of_card(&other).is_some_and(|card| Some(card) == of_card(path)) {
            // An error is ignored: another process may have removed the file, and a remaining file does no harm.
            let _ = fs::remove_file(other);
        }
    }
}
