//! The compiled kernels (pipelines) of a device. Each kernel is compiled once for all threads and kept in a file for
//! later runs.
//!
//! Each kernel keeps all pipelines that it has used ([`UsedPipelines`]). A device keeps the pipelines of all engines,
//! keyed by shader text, up to a limit ([`Pipelines`]).
//!
//! The file holds the driver's pipeline cache and is in the user's cache folder. Problems with the file never change an
//! answer or stop a query. A file that is damaged, or that was written for another card, driver or version, is ignored,
//! and so is a folder that is not writable. The user gets a single message about the first such problem.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use twox_hash::XxHash3_64;

use super::GpuError;
use super::driver::DriverResource;
use orbit_core::files::{OutputError, OutputFile, open_regular};
use orbit_core::sync::lock;

/// The maximum number of pipelines that a device keeps in memory. The limit keeps the memory of a long-running process
/// bounded.
pub(super) const PIPELINES_MAX: usize = 256;
/// The first bytes of a file of compiled kernels (shaders). They are followed by a hash of the rest of the file.
const MAGIC: &[u8; 8] = b"orbitpl1";
const HEAD_BYTES: usize = MAGIC.len() + 8;
/// The maximum size of a file of compiled kernels, in bytes. A larger file is not read. If the data to save are too
/// large, the file is deleted instead.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// The extension of a cache file's name.
const ENDING: &str = "pipelines";

pub(super) type Pipeline = Arc<DriverResource<wgpu::ComputePipeline>>;

/// The number of the next [`Pipelines`].
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A pipeline, or the reason why it cannot be compiled; empty until the compiler has finished.
type Compiling = OnceLock<Result<Pipeline, GpuError>>;

/// The pipelines of a device.
pub(super) struct Pipelines {
    /// The number that identifies this set of pipelines. Each device's set has a different number.
    number: u64,
    known: Mutex<HashMap<String, Arc<Compiling>>>,
    /// The maximum number of entries of `known`.
    max: usize,
    /// The number of pipelines that were compiled.
    pub(super) compiled: AtomicU64,
    /// The number of pipelines that had been compiled when the file was last saved.
    saved: AtomicU64,
    pub(super) file: Option<CacheFile>,
    /// A message for the user that has not been shown yet.
    note: Mutex<Option<String>>,
    /// True if a message was created. There is never a second one.
    is_noted: AtomicBool,
    /// The lock that a thread holds while it writes the file, so that only one thread writes at a time.
    saving: Mutex<()>,
}

/// The pipelines that a kernel has used on one device, keyed by form. A *form* is a version of the kernel's text, for
/// example for games with several kings of one colour. The keys let the kernel find a compiled form without building
/// its text. A clone of the kernel begins without pipelines.
#[derive(Default)]
pub(super) struct UsedPipelines(Mutex<UsedOnDevice>);

#[derive(Default)]
struct UsedOnDevice {
    /// The number of the device's [`Pipelines`].
    device: u64,
    forms: Vec<(usize, Pipeline)>,
}

impl UsedPipelines {
    /// Returns the pipeline of a form of the kernel. If the kernel has not used this form on the device yet, `get`
    /// provides the pipeline. On a new device, the pipelines of the previous (lost) device are dropped.
    pub(super) fn get(
        &self,
        of: &Pipelines,
        form: usize,
        get: impl FnOnce() -> Result<Pipeline, GpuError>,
    ) -> Result<Pipeline, GpuError> {
        {
            let used = lock(&self.0);
            let mut forms = used.forms.iter().filter(|_| used.device == of.number);
            if let Some((_, pipeline)) = forms.find(|(known, _)| *known == form) {
                return Ok(Arc::clone(pipeline));
            }
        }
        let pipeline = get()?;
        let mut used = lock(&self.0);
        if used.device != of.number {
            *used = UsedOnDevice { device: of.number, forms: Vec::new() };
        }
        // Another thread may have stored the form in the meantime.
        if !used.forms.iter().any(|(known, _)| *known == form) {
            used.forms.push((form, Arc::clone(&pipeline)));
        }
        Ok(pipeline)
    }
}

impl Clone for UsedPipelines {
    fn clone(&self) -> UsedPipelines {
        UsedPipelines::default()
    }
}

/// All values are equal, so that a comparison of kernels ignores the pipelines that they have used.
impl PartialEq for UsedPipelines {
    fn eq(&self, _: &UsedPipelines) -> bool {
        true
    }
}

impl Eq for UsedPipelines {}

impl fmt::Debug for UsedPipelines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UsedPipelines")
    }
}

/// The driver's cache of pipelines, and the path of its file.
pub(super) struct CacheFile {
    pub(super) cache: DriverResource<wgpu::PipelineCache>,
    pub(super) path: PathBuf,
}

impl Pipelines {
    pub(super) fn new(max: usize, file: Option<CacheFile>, note: Option<String>) -> Pipelines {
        Pipelines {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            known: Mutex::default(),
            max,
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
            if known.len() >= self.max && !known.contains_key(text) {
                known.clear();
            }
            Arc::clone(known.entry(text.to_string()).or_default())
        };
        let done = compiling.get_or_init(|| {
            let pipeline = compile()?;
            self.compiled.fetch_add(1, Ordering::Relaxed);
            Ok(pipeline)
        });
        if done.is_err() {
            let mut known = lock(&self.known);
            if known.get(text).is_some_and(|other| Arc::ptr_eq(other, &compiling)) {
                known.remove(text);
            }
        }
        done.clone()
    }

    /// Returns the message about a problem with the pipeline cache's file on the first call, and `None` afterwards.
    pub(super) fn take_note(&self) -> Option<String> {
        lock(&self.note).take()
    }

    /// Writes the driver's cache, which `data` returns, to the file, if pipelines have been compiled since it was last written. If
    /// writing fails, stores a message for the user.
    pub(super) fn save(&self, data: impl FnOnce(&CacheFile) -> Option<Vec<u8>>) {
        let is_saved = || self.saved.load(Ordering::Relaxed) == self.compiled.load(Ordering::Relaxed);
        let Some(file) = self.file.as_ref().filter(|_| !is_saved()) else { return };
        let _one = lock(&self.saving);
        // A pipeline is counted once it is compiled, so the data contain at least the pipelines that are counted here.
        let compiled = self.compiled.load(Ordering::Relaxed);
        if self.saved.swap(compiled, Ordering::Relaxed) == compiled {
            return;
        }
        if let Some(data) = data(file)
            && let Err(reason) = write(&file.path, &data)
            && !self.is_noted.swap(true, Ordering::Relaxed)
        {
            *lock(&self.note) = Some(note(&file.path, "cannot be written", &reason));
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
        return match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.to_string()),
            _ => Ok(()),
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_beyond_the_size_of_a_file_are_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = path_of(folder.path(), "card");
        let large = vec![0; FILE_BYTES_MAX as usize];
        assert_eq!(write(&path, &large), Ok(()), "no file is there to remove");
        assert_eq!(write(&path, b"kernels"), Ok(()));
        assert_eq!(read_checked(&path), Ok(Some(b"kernels".to_vec())));
        assert_eq!(write(&path, &large), Ok(()));
        assert!(!path.exists());
    }
}
