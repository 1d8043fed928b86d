//! Compressed or plain bytes to plain bytes, by content and never by name.

use std::hash::Hasher as _;
use std::io::{self, BufReader, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use twox_hash::XxHash3_64;

/// How a source is packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    /// Not at all.
    Plain,
    /// Zstandard, any number of frames.
    Zstd,
    /// Gzip, any number of members.
    Gzip,
    /// Bzip2, any number of streams.
    Bzip2,
}

impl Compression {
    fn name(self) -> &'static str {
        match self {
            Compression::Plain => "file",
            Compression::Zstd => "zst file",
            Compression::Gzip => "gz file",
            Compression::Bzip2 => "bz2 file",
        }
    }

    fn of(head: &[u8]) -> Compression {
        match head {
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [b'B', b'Z', b'h', b'1'..=b'9', b'1' | 0x17, ..] => Compression::Bzip2,
            _ => Compression::Plain,
        }
    }
}

/// A text that is being unpacked.
pub(super) struct Decoder {
    inner: Box<dyn Read + Send>,
    /// What the first bytes said.
    pub(super) compression: Compression,
    whole: Arc<OnceLock<Whole>>,
}

/// What is known of raw bytes once they were read to their end, if it was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    pub(super) bytes: u64,
    /// XXH3, 64 bits.
    pub(super) hash: u64,
}

/// Windows of up to 2 GiB, as `zstd --long=31` writes them.
const ZSTD_WINDOW_LOG_MAX: u32 = 31;

impl Decoder {
    /// Sniffs and unpacks `raw`, adding the bytes taken from it to `consumed`. They are hashed if `hash` says so.
    pub(super) fn new(
        raw: Box<dyn Read + Send>,
        consumed: Arc<AtomicU64>,
        hash: bool,
    ) -> io::Result<Decoder> {
        let whole = Arc::default();
        let hasher = hash.then(XxHash3_64::new);
        let mut raw = Counting { raw, consumed, bytes: 0, hasher, whole: Arc::clone(&whole) };
        let mut head = Vec::new();
        Read::by_ref(&mut raw).take(5).read_to_end(&mut head)?;
        let compression = Compression::of(&head);
        let raw = io::Cursor::new(head).chain(raw);
        let inner: Box<dyn Read + Send> = match compression {
            Compression::Plain => Box::new(raw),
            Compression::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::new(raw)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Box::new(decoder)
            }
            Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::new(raw))),
            Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(BufReader::new(raw))),
        };
        Ok(Decoder { inner, compression, whole })
    }

    /// Appends to `out` until it holds `want` bytes; `Ok(false)` at the end of the text.
    ///
    /// # Errors
    ///
    /// Why the text cannot be read on, for [`SourceFailure`](super::SourceFailure). What came
    /// before is in `out`.
    pub(super) fn fill(&mut self, out: &mut Vec<u8>, want: usize) -> Result<bool, String> {
        let more = want.saturating_sub(out.len());
        if more == 0 {
            return Ok(true);
        }
        match Read::by_ref(&mut self.inner).take(more as u64).read_to_end(out) {
            Ok(length) => Ok(length == more),
            Err(error) => Err(self.explain(&error)),
        }
    }

    /// Size and hash of the raw bytes, if they were read to their end and this was asked for.
    pub(super) fn whole(&self) -> Option<Whole> {
        self.whole.get().copied()
    }

    fn explain(&self, error: &io::Error) -> String {
        let name = self.compression.name();
        if self.compression == Compression::Plain {
            return format!("the file cannot be read on: {error}");
        }
        match error.kind() {
            io::ErrorKind::UnexpectedEof => format!("the {name} ends too early: get it anew"),
            _ => format!("the {name} is damaged ({error}): get it anew"),
        }
    }
}

/// Counts what is read, and hashes it where that is wanted.
struct Counting {
    raw: Box<dyn Read + Send>,
    /// Of all sources.
    consumed: Arc<AtomicU64>,
    bytes: u64,
    hasher: Option<XxHash3_64>,
    whole: Arc<OnceLock<Whole>>,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.raw.read(buffer)?;
        self.consumed.fetch_add(length as u64, Ordering::Relaxed);
        self.bytes += length as u64;
        let Some(hasher) = &mut self.hasher else { return Ok(length) };
        hasher.write(&buffer[..length]);
        if length == 0 && !buffer.is_empty() {
            self.whole.get_or_init(|| Whole { bytes: self.bytes, hash: hasher.finish() });
        }
        Ok(length)
    }
}

/// Why a decompressed text is nothing that can be read here, by its first bytes.
pub(super) fn refusal(head: &[u8]) -> Option<&'static str> {
    match head {
        [0xff, 0xfe, ..]
        | [0xfe, 0xff, ..]
        | [0, 1..=0x7f, 0, 1..=0x7f, ..]
        | [1..=0x7f, 0, 1..=0x7f, 0, ..] => {
            Some("the text is UTF-16: convert it, for instance with `iconv -f UTF-16 -t UTF-8`")
        }
        [0x89, b'R', b'E', b'E', b'L', ..] => {
            Some("it is a reel: give it by its name, as a file that is not packed")
        }
        [b'P', b'K', 3, 4, ..] => Some("it is a zip archive: unpack it first"),
        [b'7', b'z', 0xbc, 0xaf, ..] => Some("it is a 7z archive: unpack it first"),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => Some("it is an xz file: unpack it first"),
        _ => None,
    }
}
