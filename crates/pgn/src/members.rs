//! Unpacks the members of a compressed text on several threads. A member is a part of the text that can be unpacked independently.
//!
//! pzstd writes many zstd frames, bgzip many gzip members, and pbzip2 many bzip2 streams. [`Members`] searches ahead in the
//! compressed bytes for member ends, has other threads unpack some of the members, and returns their texts in order. The reading
//! thread itself unpacks faulty members, long members and members of unknown length. So the text and the faults are always the same
//! as with a single thread.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use super::unpack::{MemberFormat, RawInput, Supply, Unpack, UnpackFault};
use orbit_core::sync::lock;

/// Size limits for unpacking on other threads. A *run* is a sequence of members that one thread unpacks as one task.
#[derive(Clone, Copy)]
struct Sizes {
    /// The maximum length of a member that a thread unpacks, in compressed bytes.
    member_max: usize,
    /// The minimum length of a run (the members that one thread unpacks as one task), in compressed bytes. Short members are
    /// collected until a run has this length.
    run_min: usize,
    /// The maximum length of the text of a run that a thread unpacks. A run with a longer text is unpacked again by the reading
    /// thread, step by step.
    text_max: usize,
    /// The approximate number of compressed bytes that may be read ahead of the returned text.
    ahead_max: usize,
}

const SIZES: Sizes =
    Sizes { member_max: 8 << 20, run_min: 1 << 20, text_max: 128 << 20, ahead_max: 32 << 20 };

/// The maximum number of threads. More threads would unpack text faster than its games can be read.
const THREADS_MAX: usize = 32;

enum UnpackResult {
    Whole(Vec<u8>),
    TooLong,
    Faulty,
}

struct MemberTask {
    raw: Arc<[u8]>,
    to: SyncSender<UnpackResult>,
}

/// A run of members that a thread is unpacking.
struct MemberRun {
    raw: Arc<[u8]>,
    text: Receiver<UnpackResult>,
}

/// The permission to unpack members on other threads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ParallelUnpacking {
    Yes,
    /// Not for the current member, which the reading thread unpacks; afterwards, other threads may be used again.
    NotThisOne,
    Never,
}

/// A decompressor that unpacks the members of a compressed text on several threads.
pub(super) struct Members<U> {
    one: U,
    sizes: Sizes,
    threads: usize,
    workers: Option<Workers>,
    ahead: VecDeque<MemberRun>,
    apart: ParallelUnpacking,
}

impl<U> Members<U>
where
    U: MemberFormat,
    for<'a> U: Unpack<&'a [u8]>,
{
    /// Creates a decompressor that uses up to `threads` threads. `one` is the decompressor for the reading thread, and must be at
    /// the start of a member.
    pub(super) fn new(one: U, threads: usize) -> Members<U> {
        let apart = if threads > 1 { ParallelUnpacking::Yes } else { ParallelUnpacking::Never };
        let threads = threads.min(THREADS_MAX);
        Members { one, sizes: SIZES, threads, workers: None, ahead: VecDeque::new(), apart }
    }

    /// Passes runs (sequences of whole members) to the threads, until the limits on the number of runs or on their bytes are
    /// reached.
    fn look_ahead<R: Supply>(&mut self, input: &mut RawInput<R>) {
        let mut bytes: usize = self.ahead.iter().map(|run| run.raw.len()).sum();
        let Sizes { member_max, run_min, text_max, ahead_max } = self.sizes;
        while self.ahead.len() < 2 * self.threads && (bytes < ahead_max || self.ahead.is_empty()) {
            let mut length = 0;
            while length < run_min
                && let Some(more) = U::length(input, length, member_max)
            {
                length += more;
            }
            // If the rest of the text is a single run (one task for a thread), unpacking it on another thread would not be faster.
            let is_alone = self.ahead.is_empty() && input.ahead(length, 1).is_none();
            if length == 0 || is_alone {
                if self.ahead.is_empty() {
                    self.apart = ParallelUnpacking::NotThisOne;
                }
                return;
            }
            let workers = match &self.workers {
                Some(workers) => workers,
                None => self.workers.insert(Workers::start(&self.one, self.threads, text_max)),
            };
            let raw: Arc<[u8]> = input.peek(length).into();
            let (to, text) = sync_channel(1);
            if !workers.take(MemberTask { raw: Arc::clone(&raw), to }) {
                self.apart = ParallelUnpacking::Never;
                return;
            }
            input.skip(length);
            bytes += length;
            self.ahead.push_back(MemberRun { raw, text });
        }
    }
}

impl<U, R: Supply> Unpack<R> for Members<U>
where
    U: MemberFormat + Unpack<R>,
    for<'a> U: Unpack<&'a [u8]>,
{
    fn step(&mut self, input: &mut RawInput<R>, out: &mut Vec<u8>) -> Result<bool, UnpackFault> {
        if self.apart == ParallelUnpacking::Yes {
            self.look_ahead(input);
        }
        if let Some(run) = self.ahead.pop_front() {
            // A thread that panicked sends no text. Its run is then unpacked again here.
            let unpacked = run.text.recv().unwrap_or(UnpackResult::Faulty);
            if let UnpackResult::Whole(mut text) = unpacked {
                if out.is_empty() {
                    std::mem::swap(out, &mut text);
                } else {
                    out.extend_from_slice(&text);
                }
                if let Some(workers) = &self.workers {
                    workers.room.put(text);
                }
                return Ok(true);
            }
            let is_long = matches!(unpacked, UnpackResult::TooLong);
            self.apart = if is_long { ParallelUnpacking::NotThisOne } else { ParallelUnpacking::Never };
            let runs = std::iter::once(run).chain(self.ahead.drain(..));
            let raw: Vec<u8> = runs.flat_map(|run| run.raw.to_vec()).collect();
            input.put_back(&raw);
        }
        let goes_on = self.one.step(input, out)?;
        if self.apart == ParallelUnpacking::NotThisOne && self.one.is_between() {
            self.apart = ParallelUnpacking::Yes;
        }
        Ok(goes_on)
    }
}

/// Buffers of texts that were already returned, for reuse. New memory is slower, since the system must first clear its pages.
struct TextPool {
    texts: Mutex<Vec<Vec<u8>>>,
    texts_max: usize,
}

impl TextPool {
    /// The maximum size of a buffer to keep, in bytes. Larger buffers are rare and are freed.
    const BYTES_MAX: usize = 32 << 20;

    fn put(&self, mut text: Vec<u8>) {
        text.clear();
        let mut texts = lock(&self.texts);
        if texts.len() < self.texts_max && text.capacity() <= TextPool::BYTES_MAX {
            texts.push(text);
        }
    }

    fn take(&self) -> Vec<u8> {
        lock(&self.texts).pop().unwrap_or_default()
    }
}

/// The threads that unpack runs (sequences of members). They end when this value is dropped.
struct Workers {
    tasks: Option<Sender<MemberTask>>,
    threads: Vec<JoinHandle<()>>,
    room: Arc<TextPool>,
}

impl Workers {
    /// Starts `threads` threads, or fewer if the system refuses to start so many.
    fn start<U>(one: &U, threads: usize, text_max: usize) -> Workers
    where
        U: MemberFormat,
        for<'a> U: Unpack<&'a [u8]>,
    {
        let (tasks, inbox) = channel::<MemberTask>();
        let inbox = Arc::new(Mutex::new(inbox));
        let room = Arc::new(TextPool { texts: Mutex::default(), texts_max: threads });
        let start = |_| {
            let (inbox, room, mut unpack) = (Arc::clone(&inbox), Arc::clone(&room), one.fresh().ok()?);
            let work = move || {
                // A thread holds the lock of the inbox only while it waits for its next task, not while it unpacks.
                let next = || lock(&inbox).recv();
                while let Ok(task) = next() {
                    let unpacked = unpacked(&mut unpack, &task.raw, text_max, room.take());
                    if !matches!(unpacked, UnpackResult::Whole(_)) {
                        let Ok(fresh) = unpack.fresh() else { return };
                        unpack = fresh;
                    }
                    // Sending fails only if the reader was dropped, for instance after an interrupt.
                    task.to.send(unpacked).ok();
                }
            };
            thread::Builder::new().name(String::from("unpack")).spawn(work).ok()
        };
        let threads = (0..threads).map_while(start).collect();
        Workers { tasks: Some(tasks), threads, room }
    }

    /// Sends a task to one of the threads. Returns `false` if no thread is running.
    fn take(&self, task: MemberTask) -> bool {
        !self.threads.is_empty() && self.tasks.as_ref().is_some_and(|tasks| tasks.send(task).is_ok())
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.tasks = None;
        // A panic of a thread is ignored here: the reader has already noticed the missing text and unpacked it itself.
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// Unpacks all members of a run into `text`, which must be empty.
fn unpacked<U>(unpack: &mut U, raw: &[u8], text_max: usize, mut text: Vec<u8>) -> UnpackResult
where
    for<'a> U: Unpack<&'a [u8]>,
{
    let mut input = RawInput::new(raw);
    loop {
        match unpack.step(&mut input, &mut text) {
            Ok(true) if text.len() > text_max => return UnpackResult::TooLong,
            Ok(true) => {}
            Ok(false) => return UnpackResult::Whole(text),
            Err(_) => return UnpackResult::Faulty,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::unpack::{Bzip2, Gzip, Zstd};

    /// Small limits, so even a short text has many runs (the units of work of the threads).
    const SMALL: Sizes = Sizes { member_max: 3000, run_min: 1000, text_max: 20_000, ahead_max: 8000 };

    /// Returns a text that compresses to about half its size.
    fn text() -> Vec<u8> {
        let mut random = fastrand::Rng::with_seed(7);
        (0..60_000).map(|_| b"abcdefgh12345678"[random.usize(..16)]).collect()
    }

    fn zstd_frame(text: &[u8]) -> Vec<u8> {
        zstd::encode_all(text, 3).unwrap()
    }

    /// Compresses a text as pzstd does: before each frame there is a skippable frame with the length of the frame.
    fn pzstd(text: &[u8]) -> Vec<u8> {
        let frame = zstd_frame(text);
        [&[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0][..], &(frame.len() as u32).to_le_bytes(), &frame].concat()
    }

    fn bgzip(text: &[u8]) -> Vec<u8> {
        let extra = vec![b'X', b'Y', 1, 0, 9, b'B', b'C', 2, 0, 0, 0];
        let mut writer = flate2::GzBuilder::new().extra(extra).write(Vec::new(), flate2::Compression::fast());
        writer.write_all(text).unwrap();
        let mut member = writer.finish().unwrap();
        let size = (member.len() - 1) as u16;
        member[21..23].copy_from_slice(&size.to_le_bytes());
        member
    }

    fn bzip(text: &[u8]) -> Vec<u8> {
        let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        writer.write_all(text).unwrap();
        writer.finish().unwrap()
    }

    fn all<U: for<'a> Unpack<&'a [u8]>>(mut unpack: U, bytes: &[u8]) -> (Vec<u8>, Option<String>) {
        let (mut input, mut out) = (RawInput::new(bytes), Vec::new());
        loop {
            match unpack.step(&mut input, &mut out) {
                Ok(true) => {}
                Ok(false) => return (out, None),
                Err(fault) => return (out, Some(format!("{fault:?}"))),
            }
        }
    }

    /// Asserts that several threads return the same text and fault as one thread. Returns the fault, and the number of runs that
    /// other threads unpacked.
    fn check<U>(make: impl Fn() -> U, bytes: &[u8], sizes: Sizes) -> (usize, Option<String>)
    where
        U: MemberFormat,
        for<'a> U: Unpack<&'a [u8]>,
    {
        let expected = all(make(), bytes);
        let mut members = Members { sizes, ..Members::new(make(), 3) };
        let (mut input, mut out, mut runs) = (RawInput::new(bytes), Vec::new(), 0);
        let fault = loop {
            let before = out.len();
            match members.step(&mut input, &mut out) {
                // The reading thread adds one member to the text in each step. A larger step is the text of a run, which has at
                // least two members.
                Ok(true) => runs += usize::from(members.workers.is_some() && out.len() > before + 1500),
                Ok(false) => break None,
                Err(fault) => break Some(format!("{fault:?}")),
            }
        };
        assert!((&out, &fault) == (&expected.0, &expected.1), "{fault:?}, {:?}", expected.1);
        (runs, fault)
    }

    /// Calls [`check`] with a complete text, a cut text, a damaged text, and a text with overlong members.
    fn check_all<U>(make: impl Fn() -> U + Copy, pack: fn(&[u8]) -> Vec<u8>)
    where
        U: MemberFormat,
        for<'a> U: Unpack<&'a [u8]>,
    {
        let text = text();
        let bytes: Vec<u8> = text.chunks(1500).flat_map(pack).collect();
        assert!(all(make(), &bytes) == (text.clone(), None));
        let (runs, _) = check(make, &bytes, SMALL);
        assert!(runs >= 15, "{runs} runs of threads");
        check(make, &pack(&text), SMALL);
        for sizes in [
            Sizes { member_max: 600, ..SMALL },
            Sizes { text_max: 2000, ..SMALL },
            Sizes { ahead_max: 1, ..SMALL },
            Sizes { run_min: 1, ..SMALL },
            SIZES,
        ] {
            check(make, &bytes, sizes);
        }
        let mixed = [&bytes[..], &pack(&text), &pack(&[]), &pack(&[]), &bytes].concat();
        check(make, &mixed, SMALL);
        let mut random = fastrand::Rng::with_seed(1);
        let mut faults = 0;
        for _ in 0..150 {
            let cut = random.usize(..bytes.len());
            faults += usize::from(check(make, &bytes[..cut], SMALL).1.is_some());
            let mut changed = bytes.clone();
            changed[cut] ^= 1 << random.usize(..8);
            faults += usize::from(check(make, &changed, SMALL).1.is_some());
        }
        assert!(faults > 150, "{faults} faults");
    }

    #[test]
    fn frames_of_zstd_are_those_of_one_thread() {
        check_all(|| Zstd::new(1 << 27).unwrap(), pzstd);
        check_all(|| Zstd::new(1 << 27).unwrap(), zstd_frame);
    }

    #[test]
    fn members_of_gzip_are_those_of_one_thread() {
        check_all(Gzip::default, bgzip);
        let plain: Vec<u8> = {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            writer.write_all(&text()).unwrap();
            writer.finish().unwrap()
        };
        check(Gzip::default, &plain, SMALL);
        // The members of this text have headers with wrong lengths.
        let text = text();
        let mut bytes: Vec<u8> = Vec::new();
        for (number, piece) in text.chunks(1500).enumerate() {
            let mut member = bgzip(piece);
            if number == 7 {
                member[21] ^= 5;
            }
            bytes.extend(member);
        }
        assert_eq!(check(Gzip::default, &bytes, SMALL).1, None);
    }

    #[test]
    fn streams_of_bzip2_are_those_of_one_thread() {
        check_all(Bzip2::default, bzip);
    }
}
