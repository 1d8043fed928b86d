//! Unpacks compressed sources. The format is recognised from the first bytes of a source, never from its file name.

use std::hash::Hasher as _;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use twox_hash::XxHash3_64;

use super::Options;
use super::archive::ArchiveRefusal;
use super::format::ArchiveFormat;
use super::members::Members;
use super::unpack::{Bzip2, Gzip, RawInput, Supply, Unpack, UnpackFault, ZSTD_WINDOW_MAX, Zstd};

/// The compression of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    /// Not compressed.
    Plain,
    /// Zstandard, with any number of frames.
    Zstd,
    /// Gzip, with any number of members.
    Gzip,
    /// Bzip2, with any number of streams.
    Bzip2,
    /// The source is a member of an archive.
    Archive,
}

impl Compression {
    fn name(self) -> &'static str {
        match self {
            Compression::Plain => "file",
            Compression::Zstd => "zst file",
            Compression::Gzip => "gz file",
            Compression::Bzip2 => "bz2 file",
            Compression::Archive => "member",
        }
    }

    fn from_head(head: &[u8]) -> Compression {
        match head {
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [b'B', b'Z', b'h', b'1'..=b'9', b'1' | 0x17, ..] => Compression::Bzip2,
            _ => Compression::Plain,
        }
    }
}

/// A source that is being unpacked.
pub(super) struct Decoder {
    input: RawInput<CountingReader>,
    /// `None` if the source is not compressed.
    unpack: Option<Box<dyn Unpack<CountingReader>>>,
    /// Unpacked bytes that have not been returned to the caller yet.
    unpacked: Vec<u8>,
    from: usize,
    at_end: bool,
    /// A fault to report once all bytes of `unpacked` have been returned.
    fault: Option<UnpackFault>,
    /// The compression that the first bytes show.
    pub(super) compression: Compression,
    /// True if the source comes from the web.
    pub(super) is_remote: bool,
}

/// The size and the hashes of a source that was read to its end, computed from its bytes before decompression.
#[derive(Clone, Copy, Debug)]
pub(super) struct WholeBytes {
    pub(super) bytes: u64,
    /// The XXH3 hash (64 bits) of all bytes, if [`Options::hash`] is set.
    pub(super) hash: Option<u64>,
    /// The XXH3 hash of the first [`HEAD_BYTES`].
    pub(super) head: u64,
}

/// The number of bytes at the start of a file that are hashed. If the hash changes, the file was replaced while it was being read.
pub(super) const HEAD_BYTES: usize = 4 << 10;

impl Decoder {
    /// Creates a decoder that detects the compression of `raw` and unpacks it. The decoder adds the number of raw bytes that it
    /// reads to `consumed`, and hashes these bytes if `options.hash` is set.
    pub(super) fn new(
        raw: Box<dyn Read + Send>,
        consumed: Arc<AtomicU64>,
        options: &Options,
    ) -> io::Result<Decoder> {
        let hasher = options.hash.then(XxHash3_64::new);
        let mut input =
            RawInput::new(CountingReader { raw, consumed, bytes: 0, head: Vec::new(), hasher, whole: None });
        let compression = Compression::from_head(input.peek(5));
        let unpack: Option<Box<dyn Unpack<CountingReader>>> = match compression {
            Compression::Plain | Compression::Archive => None,
            Compression::Zstd => {
                Some(Box::new(Members::new(Zstd::new(options.zstd_window_max)?, options.unpack_threads)))
            }
            Compression::Gzip => Some(Box::new(Members::new(Gzip::default(), options.unpack_threads))),
            Compression::Bzip2 => Some(Box::new(Members::new(Bzip2::default(), options.unpack_threads))),
        };
        Ok(Decoder {
            input,
            unpack,
            unpacked: Vec::new(),
            from: 0,
            at_end: false,
            fault: None,
            compression,
            is_remote: false,
        })
    }

    /// Appends unpacked bytes to `out` until it has `want` bytes. Returns `Ok(false)` at the end of the text.
    ///
    /// # Errors
    ///
    /// Returns the reason why reading failed, worded like [`SourceFailure::reason`](super::SourceFailure). The text before the
    /// fault is in `out`.
    pub(super) fn fill(&mut self, out: &mut Vec<u8>, want: usize) -> Result<bool, String> {
        let more = want.saturating_sub(out.len());
        if more == 0 {
            return Ok(true);
        }
        let Some(unpack) = &mut self.unpack else {
            let read = self.input.read_plain(out, more);
            return read.map(|length| length == more).map_err(|error| self.explain(UnpackFault::Raw(error)));
        };
        loop {
            let ready = &self.unpacked[self.from..];
            let length = ready.len().min(want - out.len());
            out.extend_from_slice(&ready[..length]);
            self.from += length;
            if out.len() == want {
                return Ok(true);
            }
            if let Some(fault) = self.fault.take() {
                self.at_end = true;
                return Err(self.explain(fault));
            }
            if self.at_end {
                return Ok(false);
            }
            self.unpacked.clear();
            self.from = 0;
            match unpack.step(&mut self.input, &mut self.unpacked) {
                Ok(goes_on) => self.at_end = !goes_on,
                Err(fault) => self.fault = Some(fault),
            }
        }
    }

    /// Returns the size and the hashes of the source before decompression, if it was read to its end.
    pub(super) fn whole(&self) -> Option<WholeBytes> {
        self.input.raw().whole
    }

    fn explain(&self, fault: UnpackFault) -> String {
        let name = self.compression.name();
        match fault {
            UnpackFault::Raw(error) => ArchiveRefusal::told(&error)
                .map_or_else(|| format!("the {name} cannot be read on: {error}"), ToString::to_string),
            UnpackFault::Early => format!("the {name} ends too early: get it anew"),
            UnpackFault::Damaged(reason) => format!("the {name} is damaged ({reason}): get it anew"),
            UnpackFault::Memory => format!("there is not enough memory to unpack the {name}"),
            UnpackFault::Window { bytes, bytes_max } => {
                let (mib, mib_max) = (bytes.div_ceil(1 << 20), bytes_max >> 20);
                let found =
                    format!("the {name} needs {mib} MiB of memory to unpack, {mib_max} MiB are allowed");
                if bytes <= ZSTD_WINDOW_MAX {
                    format!("{found}: give --zstd-window {mib}M, or unpack it first")
                } else {
                    format!("{found}: pack it anew with `zstd --long=27`")
                }
            }
        }
    }
}

/// A reader that counts its bytes, and hashes them if [`Options::hash`] is set.
struct CountingReader {
    raw: Box<dyn Read + Send>,
    /// The number of bytes read from all sources together.
    consumed: Arc<AtomicU64>,
    bytes: u64,
    head: Vec<u8>,
    hasher: Option<XxHash3_64>,
    whole: Option<WholeBytes>,
}

impl Supply for CountingReader {
    fn append(&mut self, out: &mut Vec<u8>, bytes: u64) -> io::Result<usize> {
        let before = out.len();
        // For a file, the system writes directly into the spare capacity of `out`. An implementation of `Read` would first have to
        // fill the spare capacity with zeros.
        let appended = self.raw.append(out, bytes);
        let read = &out[before..];
        self.consumed.fetch_add(read.len() as u64, Ordering::Relaxed);
        self.bytes += read.len() as u64;
        let head = read.len().min(HEAD_BYTES - self.head.len());
        self.head.extend_from_slice(&read[..head]);
        if let Some(hasher) = &mut self.hasher {
            hasher.write(read);
        }
        if appended.as_ref().is_ok_and(|&length| (length as u64) < bytes) && self.whole.is_none() {
            let hash = self.hasher.as_ref().map(XxHash3_64::finish);
            self.whole = Some(WholeBytes { bytes: self.bytes, hash, head: XxHash3_64::oneshot(&self.head) });
        }
        appended
    }
}

/// Returns the reason to refuse a text that begins with the (decompressed) bytes `head`, or `None` to accept it.
pub(super) fn refusal(head: &[u8], is_remote: bool) -> Option<&'static str> {
    match head {
        // A PGN text that begins with a comment is not UTF-16, even if the comment contains NULs.
        [b'{' | b';', ..] => None,
        [0xff, 0xfe, ..]
        | [0xfe, 0xff, ..]
        | [0, 1..=0x7f, 0, 1..=0x7f, ..]
        | [1..=0x7f, 0, 1..=0x7f, 0, ..] => {
            Some("the text is UTF-16: convert it, for instance with `iconv -f UTF-16 -t UTF-8`")
        }
        [0x89, b'R', b'E', b'E', b'L', ..] if is_remote => {
            Some("it is a reel, of which any part may be read at any time: download it first")
        }
        [0x89, b'R', b'E', b'E', b'L', ..] => {
            Some("it is a reel: give it by its name, as a file that is not packed")
        }
        _ if ArchiveFormat::from_head(head).is_some() && is_remote => {
            Some("it is an archive, which is read from its end: download it first")
        }
        _ if ArchiveFormat::from_head(head).is_some() => Some(
            "it is an archive, which is read from its end: give it as an ordinary file that is not packed",
        ),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => Some("it is an xz file: unpack it first"),
        _ => None,
    }
}
