//! Blocks that stay on a device, for later queries and for benchmarks.
//!
//! [`Residents`] contains the uploads of databases that are held in memory. They are sent to the device once, and
//! queries of all threads use them there. An upload is looked up by the numbers of its blocks, and no two blocks ever
//! have the same number. So a block that was changed, read again or freed is never mistaken for another one. A query
//! never evicts an upload that it has used itself. So if a database is larger than the limit, its first blocks stay on
//! the device and the others are sent again for each query. Otherwise the end of the database would evict its start
//! before the next query could use it.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Place;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use super::carry::{self, Staged};
use super::device::Device;
use super::pack::{self, Caps, GAME_BYTES, Upload, uploads};
use super::run::{self, KernelInput, KernelRun, caps, timed};
use super::{AdapterReport, GpuDevice, GpuError, GpuOptions, Kernel, OpenDevice, Times, Variant};
use super::{along, contexts, no_hits, store};
use crate::{BlockRequest, Hits, Interrupt};
use orbit_core::sync::lock;
use orbit_plan::TagColumn;
use orbit_reel::Block;

/// The number of per-game columns for which memory is reserved for each upload that stays on the device.
const COLUMNS_MAX: usize = 64;

/// Blocks that stay on a device. Only one thread at a time runs queries on them.
pub struct Resident<'a> {
    blocks: Vec<&'a Block>,
    uploads: Vec<(Upload, KernelInput)>,
    /// True if keys (first positions of segments) and moves are stored transposed: first word 0 of every segment, then
    /// word 1 of every segment, and so on (see `Variant::transposed`).
    transposed: bool,
    runs: Mutex<[KernelRun; 2]>,
    open: Arc<OpenDevice>,
    times: Times,
}

impl Resident<'_> {
    /// Returns the time that the upload took.
    pub fn times(&self) -> Times {
        self.times
    }

    /// Returns the size of the keys, moves and start positions on the device, in bytes.
    pub fn bytes(&self) -> u64 {
        self.uploads.iter().map(|(upload, _)| pack::bytes(upload.segments, upload.starts)).sum()
    }

    /// Returns true if the device can propagate the results of a kernel's stages (the parts of its plan that run before
    /// the rest) along the games of all uploads (batches of blocks).
    fn carries(&self, kernel: &Kernel) -> bool {
        kernel.carries_on_device() && carries(&self.open.device, [kernel].into_iter(), &self.uploads)
    }

    /// Runs the first pass on all blocks: returns the hits of each of the kernel's queries in each block. While the
    /// device computes one upload, the results of the previous one are read back.
    pub(super) fn scan(
        &self,
        kernel: &Kernel,
        columns: &[TagColumn],
    ) -> Result<(Vec<Vec<Hits>>, Times), GpuError> {
        let Resident { blocks, uploads, runs, open, .. } = self;
        if kernel.variant.transposed != self.transposed {
            return Err(GpuError::OtherLayout { variant: kernel.variant.to_string() });
        }
        if columns.len() > COLUMNS_MAX {
            let (needed, available) = (columns.len() as u64, COLUMNS_MAX as u64);
            return Err(GpuError::TooSmall { what: "a game's columns", needed, available });
        }
        let device = &open.device;
        let needed = kernel.all().map(|kernel| 4 * kernel.carried_words).max().unwrap_or(0) as u64
            * uploads.iter().map(|(upload, _)| upload.segments as u64).max().unwrap_or(0);
        if needed > device.limits.binding_bytes {
            let available = device.limits.binding_bytes;
            return Err(GpuError::TooSmall { what: "what `find` carries along games", needed, available });
        }
        let mut times = Times::default();
        let mut out = no_hits(blocks, kernel.outputs);
        let mut contexts = contexts(blocks, &BlockRequest::all(&[]));
        contexts.iter_mut().for_each(|context| context.add_columns(columns));
        let mut lent = lock(runs);
        // After an error, the buffers may be in any state. So new buffers replace the used ones until all work is done.
        let mut runs = std::mem::replace(&mut *lent, [KernelRun::new(), KernelRun::new()]);
        let mut waiting: Option<(usize, run::Pending)> = None;
        timed(&mut times.run, || {
            for run in &mut runs {
                run.start_clock(device)?;
            }
            let staged = Staged { kernel, columns: columns.len(), on_device: self.carries(kernel) };
            let all = |work: &mut carry::OnUpload<'_>| {
                uploads.iter().try_for_each(|(upload, input)| work(upload, input, &mut runs[0]))
            };
            carry::carry(device, staged, &mut contexts, all)?;
            for (index, (upload, input)) in uploads.iter().enumerate() {
                let run = &mut runs[index % 2];
                run.forget_carried();
                carry::set(device, staged, (upload, input), &contexts, run)?;
                let pending = run.begin_hits(device, input, kernel)?;
                if let Some((before, pending)) = waiting.replace((index, pending)) {
                    let run = &mut runs[before % 2];
                    run.finish(device, pending, |bytes| store(&uploads[before].0, bytes, blocks, &mut out))?;
                }
            }
            if let Some((last, pending)) = waiting {
                let run = &mut runs[last % 2];
                run.finish(device, pending, |bytes| store(&uploads[last].0, bytes, blocks, &mut out))?;
            }
            Ok::<(), GpuError>(())
        })?;
        times.kernel = runs.iter_mut().filter_map(KernelRun::stop_clock).reduce(|a, b| a + b);
        *lent = runs;
        Ok((out, times))
    }
}

/// The maximum size of the blocks that may stay on an adapter, in bytes, for each kind of adapter. These values apply
/// if the user sets no limit and the driver does not report free memory. They are conservative: a discrete card has
/// more memory, an adapter that shares the processor's memory takes it from other programs, and a software adapter
/// stores the blocks in memory twice.
const STAY_BYTES: [(&str, u64); 3] = [("discrete", 2 << 30), ("virtual", 2 << 30), ("software", 256 << 20)];
const STAY_BYTES_OTHERS: u64 = 512 << 20;

/// The part of the memory limit, in bytes, that blocks must leave free for the outputs of all buffer sets and for data
/// in transfer.
const WORKING_BYTES_MIN: u64 = 64 << 20;

/// Returns the maximum size of the blocks that may stay on a device, in bytes. It is the caller's limit. If there is
/// none, it is the memory limit less `WORKING_BYTES_MIN`. If there is no memory limit either, it is a share of the free
/// memory, or the default for the kind of adapter. The result is at most four fifths of `memory_bytes`, the memory of the
/// device that orbit may use.
pub(super) fn stay_bytes(options: &GpuOptions, report: &AdapterReport, memory_bytes: u64) -> u64 {
    let of_kind =
        || STAY_BYTES.iter().find(|(kind, _)| *kind == report.kind).map_or(STAY_BYTES_OTHERS, |it| it.1);
    // The memory that an adapter shares with the processor is also needed by other programs, so a smaller share is
    // used.
    let of_free = report.free_bytes.and_then(|free| match report.kind {
        "discrete" | "virtual" => Some(free / 5 * 4),
        "integrated" => Some(free / 4),
        _ => None,
    });
    let limit = options.limits.memory_bytes;
    let by_default = || match limit {
        u64::MAX => of_free.unwrap_or_else(of_kind),
        limit => limit.saturating_sub(WORKING_BYTES_MIN),
    };
    options.resident_bytes_max.unwrap_or_else(by_default).min(memory_bytes / 5 * 4)
}

/// An upload (a batch of blocks), and the buffers on the device that contain it.
pub(super) type PlacedUpload = (Upload, KernelInput);

/// Returns true if the device can propagate the results of the stages of kernels along the games of all uploads.
pub(super) fn carries<'k>(
    device: &Device,
    kernels: impl Iterator<Item = &'k Kernel>,
    uploads: &[PlacedUpload],
) -> bool {
    let size = |(upload, input): &PlacedUpload| Some((upload.segments, input.game_count()?));
    let sizes: Option<Vec<_>> = uploads.iter().map(size).collect();
    sizes.is_some_and(|sizes| along::has_room(device, kernels, sizes.into_iter()))
}

/// The uploads of some blocks. The cell is empty until a thread has sent them to the device.
type Uploads = OnceLock<Result<Vec<PlacedUpload>, GpuError>>;

/// All uploads (batches of blocks) that stay on a device.
pub(super) struct Residents(Mutex<ResidentState>);

struct ResidentState {
    /// The maximum total size of all entries, in bytes.
    max: u64,
    /// The total size of all entries (groups of uploads), in bytes.
    bytes: u64,
    entries: HashMap<UploadKey, ResidentEntry>,
    /// The total number of uses of entries (groups of uploads) so far. It serves as a clock that orders the uses.
    uses: u64,
    last_use: Instant,
}

/// The identity of an upload: the numbers of its blocks, and their memory layout.
#[derive(Clone, PartialEq, Eq, Hash)]
struct UploadKey {
    numbers: Vec<u64>,
    transposed: bool,
}

struct ResidentEntry {
    uploads: Arc<Uploads>,
    bytes: u64,
    /// The query that used the entry (a group of uploads) last, and the value of `uses` at that time.
    query: u64,
    last: u64,
}

/// Uploads that a query is using. They are not dropped until the query has finished with them.
pub(super) struct InUse {
    uploads: Arc<Uploads>,
    /// The number of bytes that were sent for this query; 0 if the uploads (batches of blocks) were already on the device.
    pub(super) sent: u64,
}

impl InUse {
    pub(super) fn uploads(&self) -> &[PlacedUpload] {
        match self.uploads.get() {
            Some(Ok(uploads)) => uploads,
            _ => &[],
        }
    }
}

impl UploadKey {
    /// Returns the key for a list of blocks. Returns `None` if a block has no number, because it does not belong to a
    /// database in memory.
    fn from_blocks(blocks: &[&Block], transposed: bool) -> Option<UploadKey> {
        let numbers = blocks.iter().map(|block| block.number_held()).collect::<Option<Vec<u64>>>()?;
        Some(UploadKey { numbers, transposed })
    }
}

impl ResidentState {
    /// Adds an entry (a group of uploads) if there is room for it. To make room, evicts the least recently used
    /// entries, but none that a running query uses or that this query has used. Returns the uploads of the new entry,
    /// if it was added, and the evicted entries, which the caller must drop after it has released the lock.
    fn add(&mut self, key: UploadKey, bytes: u64, query: u64) -> (Option<Arc<Uploads>>, Vec<ResidentEntry>) {
        let mut gone = Vec::new();
        while bytes <= self.max && self.bytes + bytes > self.max {
            let idle = |entry: &ResidentEntry| entry.query < query && Arc::strong_count(&entry.uploads) == 1;
            let idle = self.entries.iter().filter(|(_, entry)| idle(entry));
            let Some(oldest) = idle.min_by_key(|(_, entry)| entry.last).map(|(key, _)| key.clone()) else {
                break;
            };
            gone.extend(self.remove(&oldest));
        }
        if self.bytes + bytes > self.max {
            return (None, gone);
        }
        let uploads = Arc::<Uploads>::default();
        self.bytes += bytes;
        self.entries
            .insert(key, ResidentEntry { uploads: Arc::clone(&uploads), bytes, query, last: self.uses });
        (Some(uploads), gone)
    }

    fn remove(&mut self, key: &UploadKey) -> Option<ResidentEntry> {
        let entry = self.entries.remove(key)?;
        self.bytes -= entry.bytes;
        Some(entry)
    }

    fn remove_all(&mut self) -> Vec<ResidentEntry> {
        self.bytes = 0;
        self.entries.drain().map(|(_, entry)| entry).collect()
    }
}

impl Residents {
    /// Creates an empty set of uploads (batches of blocks), limited to `max` bytes.
    pub(super) fn new(max: u64) -> Residents {
        let (bytes, entries, uses, last_use) = (0, HashMap::new(), 0, Instant::now());
        Residents(Mutex::new(ResidentState { max, bytes, entries, uses, last_use }))
    }

    /// Returns the uploads of some blocks. If they are not on the device, the first thread that calls this sends them,
    /// while other threads wait. Returns `None` if the blocks cannot stay: they do not belong to a database in memory,
    /// or there is no room.
    pub(super) fn get(
        &self,
        open: &OpenDevice,
        (blocks, transposed): (&[&Block], bool),
        query: u64,
    ) -> Result<Option<InUse>, GpuError> {
        let Some(key) = UploadKey::from_blocks(blocks, transposed).filter(|key| !key.numbers.is_empty())
        else {
            return Ok(None);
        };
        let (found, gone) = self.find(&open.device, &key, blocks, query);
        drop(gone);
        let Some(uploads) = found else { return Ok(None) };
        let mut sent = 0;
        let placed = uploads.get_or_init(|| {
            let caps = caps(&open.device, &[], COLUMNS_MAX)?;
            // Other queries wait for these uploads, so an interrupt of this query must not stop them.
            let mut set = open.set(&Interrupt::default());
            let placed = put(&open.device, set.parts().1, (&caps, transposed), blocks)?;
            set.done();
            sent = placed.iter().map(bytes_of).sum();
            Ok(placed)
        });
        let Err(error) = placed else { return Ok(Some(InUse { uploads, sent })) };
        let error = error.clone();
        let failed = {
            let mut state = lock(&self.0);
            let is_this = state.entries.get(&key).is_some_and(|entry| Arc::ptr_eq(&entry.uploads, &uploads));
            if is_this { state.remove(&key) } else { None }
        };
        drop(failed);
        match error {
            GpuError::OutOfMemory { .. } => {
                open.trim();
                self.shrink(&open.device);
                Ok(None)
            }
            GpuError::TooSmall { .. } => Ok(None),
            other => Err(other),
        }
    }

    /// Returns the entry (a group of uploads) for a key, which is added if it is missing and there is room. Also returns the
    /// entries that were evicted to make room.
    fn find(
        &self,
        device: &Device,
        key: &UploadKey,
        blocks: &[&Block],
        query: u64,
    ) -> (Option<Arc<Uploads>>, Vec<ResidentEntry>) {
        let mut state = lock(&self.0);
        state.uses += 1;
        state.last_use = Instant::now();
        // The memory for blocks that stay on the device is set aside, so the other buffers may use only the rest.
        device.set_aside.store(state.max, Ordering::Relaxed);
        let (uses, max) = (state.uses, state.max);
        match state.entries.entry(key.clone()) {
            Place::Occupied(mut known) => {
                let entry = known.get_mut();
                (entry.query, entry.last) = (entry.query.max(query), uses);
                (Some(Arc::clone(&entry.uploads)), Vec::new())
            }
            Place::Vacant(_) => {
                let needed = blocks.iter().map(|block| bytes_needed(block)).sum();
                if needed > max { (None, Vec::new()) } else { state.add(key.clone(), needed, query) }
            }
        }
    }

    /// Responds to a lack of memory on the device: drops all uploads (batches of blocks). From now on, uploads may occupy only half
    /// of the bytes that these uploads occupied, or [`SHRUNK_BYTES`] if that is more.
    pub(super) fn shrink(&self, device: &Device) {
        let gone = {
            let mut state = lock(&self.0);
            if state.bytes > 0 {
                let half = state.bytes.min(state.max) / 2;
                state.max = half.max(SHRUNK_BYTES.min(state.max));
            }
            device.set_aside.store(0, Ordering::Relaxed);
            state.remove_all()
        };
        drop(gone);
    }

    /// Drops all uploads (batches of blocks) if none has been used for the duration `idle`. Returns true if they were dropped.
    fn give_back(&self, device: &Device, idle: Duration) -> bool {
        let gone = {
            let mut state = lock(&self.0);
            if state.last_use.elapsed() < idle {
                return false;
            }
            device.set_aside.store(0, Ordering::Relaxed);
            state.remove_all()
        };
        drop(gone);
        true
    }

    /// Drops the uploads that contain a block with one of these numbers.
    fn release(&self, numbers: &Range<u64>) {
        let gone: Vec<ResidentEntry> = {
            let mut state = lock(&self.0);
            let of_these = |key: &&UploadKey| key.numbers.iter().any(|number| numbers.contains(number));
            let keys: Vec<UploadKey> = state.entries.keys().filter(of_these).cloned().collect();
            keys.iter().filter_map(|key| state.remove(key)).collect()
        };
        drop(gone);
    }

    /// Returns true if all blocks with these numbers are on the device.
    fn holds(&self, numbers: &Range<u64>) -> bool {
        let state = lock(&self.0);
        let there = state.entries.iter().filter(|(_, entry)| matches!(entry.uploads.get(), Some(Ok(_))));
        let mut there: Vec<u64> = there.flat_map(|(key, _)| key.numbers.clone()).collect();
        there.retain(|number| numbers.contains(number));
        there.sort_unstable();
        there.dedup();
        there.len() as u64 == numbers.end - numbers.start
    }

    fn bytes(&self) -> u64 {
        lock(&self.0).bytes
    }

    /// Returns the number of bytes of the uploads that contain a block with one of these numbers.
    fn bytes_of(&self, numbers: &Range<u64>) -> u64 {
        let state = lock(&self.0);
        let of_these = |key: &UploadKey| key.numbers.iter().any(|number| numbers.contains(number));
        state.entries.iter().filter(|(key, _)| of_these(key)).map(|(_, entry)| entry.bytes).sum()
    }
}

/// Returns the number of bytes that a block occupies on a device if it is uploaded alone, including the rounding of
/// buffer sizes.
fn bytes_needed(block: &Block) -> u64 {
    pack::bytes(block.segments(), block.starts.len()) + GAME_BYTES * block.games_len() as u64 + ROUNDING_BYTES
}

/// Returns the size of an upload (a batch of blocks) on the device, in bytes.
fn bytes_of((upload, input): &PlacedUpload) -> u64 {
    pack::bytes(upload.segments, upload.starts) + GAME_BYTES * input.game_count().unwrap_or(0) as u64
}

/// The number of bytes that uploads (batches of blocks) may always occupy if the limit was not lower from the beginning. Memory may
/// have run out while only few blocks were on the device, and several threads may have noticed it.
const SHRUNK_BYTES: u64 = 64 << 20;

/// The number of bytes by which rounding may enlarge the four buffers of an upload (a batch of blocks).
const ROUNDING_BYTES: u64 = 4 * 64;

/// Sends blocks to the device, in uploads that are small enough for any query, even one with many columns.
fn put(
    device: &Device,
    run: &mut KernelRun,
    (caps, transposed): (&Caps, bool),
    blocks: &[&Block],
) -> Result<Vec<PlacedUpload>, GpuError> {
    let uploads = uploads(blocks, caps)?.into_iter().map(|upload| {
        let mut input = KernelInput::new();
        run.upload(device, &mut input, (&upload, transposed), blocks)?;
        if let Some(games) = upload.whole_games(blocks) {
            input.set_games(device, &games)?;
        }
        Ok((upload, input))
    });
    uploads.collect()
}

impl GpuDevice {
    /// Returns the size of the games that stay on the device for later queries, in bytes.
    pub fn resident_bytes(&self) -> u64 {
        self.current().residents.bytes()
    }

    /// Returns the number of bytes that the blocks with these numbers occupy on the device. Only the blocks of
    /// databases in memory have numbers.
    pub fn bytes_of(&self, numbers: &Range<u64>) -> u64 {
        self.current().residents.bytes_of(numbers)
    }

    /// Returns the maximum size of the games that may stay on the device, in bytes.
    pub fn resident_bytes_max(&self) -> u64 {
        lock(&self.current().residents.0).max
    }

    /// Returns true if all blocks with these numbers are on the device. Only the blocks of databases in memory have
    /// numbers.
    pub fn holds(&self, numbers: &Range<u64>) -> bool {
        self.current().residents.holds(numbers)
    }

    /// Removes the blocks with these numbers from the device. Only the blocks of databases in memory have numbers.
    pub fn release(&self, numbers: &Range<u64>) {
        self.current().residents.release(numbers);
    }

    /// Frees all games that stay on the device, and the buffers of earlier queries, if no query has used any of these games for the
    /// duration `idle`.
    pub fn give_back(&self, idle: Duration) {
        let open = self.current();
        if open.residents.give_back(&open.device, idle) {
            open.trim();
        }
    }

    /// Uploads blocks, so that any number of queries can run on them. Only the columns that a query's plan computes
    /// from tags and ratings are uploaded again for each query.
    ///
    /// # Errors
    ///
    /// Fails if the device cannot hold the blocks.
    pub fn upload<'a>(&self, blocks: &[&'a Block]) -> Result<Resident<'a>, GpuError> {
        self.upload_as(blocks, self.options.variant)
    }

    /// Uploads blocks in the layout that engines of `variant` read. Other variants with the same layout can read them
    /// too.
    ///
    /// # Errors
    ///
    /// Fails if the device cannot hold the blocks.
    pub fn upload_as<'a>(&self, blocks: &[&'a Block], variant: Variant) -> Result<Resident<'a>, GpuError> {
        let transposed = variant.transposed;
        let open = self.current();
        let mut times = Times::default();
        let uploads = timed(&mut times.upload, || {
            let caps = Caps { bytes: u64::MAX, ..caps(&open.device, &[], COLUMNS_MAX)? };
            let mut run = KernelRun::new();
            let uploads = put(&open.device, &mut run, (&caps, transposed), blocks)?;
            run.wait(&open.device)?;
            Ok::<_, GpuError>(uploads)
        })?;
        let runs = Mutex::new([KernelRun::new(), KernelRun::new()]);
        Ok(Resident { blocks: blocks.to_vec(), uploads, transposed, runs, open, times })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::device::memory_bytes;

    /// Returns the number of MiB that may stay on an adapter of this kind. `free` and `limit` are in MiB too.
    fn stay(kind: &'static str, free: Option<u64>, limit: Option<u64>) -> u64 {
        let report = AdapterReport { kind, free_bytes: free.map(|mib| mib << 20), ..Default::default() };
        let mut options = GpuOptions::default();
        options.limits.memory_bytes = limit.map_or(u64::MAX, |mib| mib << 20);
        stay_bytes(&options, &report, memory_bytes(&options, &report)) >> 20
    }

    #[test]
    fn games_take_a_share_of_the_memory_that_is_free_or_allowed() {
        assert_eq!(stay("discrete", Some(80_000), None), 64_000);
        assert_eq!(stay("discrete", None, None), 2048);
        assert_eq!(stay("discrete", Some(8_000), Some(24_000)), 6_400);
        assert_eq!(stay("discrete", None, Some(24_000)), 19_200);
        assert_eq!(stay("integrated", Some(8_000), None), 2_000);
        assert_eq!(stay("integrated", None, None), 512);
        assert_eq!(stay("software", Some(8_000), None), 256);
        assert_eq!(stay("discrete", Some(80_000), Some(1_000)), 800);
        assert_eq!(stay("discrete", Some(80_000), Some(200)), 136);
    }
}
