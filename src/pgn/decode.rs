//! Compressed or plain bytes to plain bytes, by content and never by name.

use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
}

/// Windows of up to 2 GiB, as `zstd --long=31` writes them.
const ZSTD_WINDOW_LOG_MAX: u32 = 31;

impl Decoder {
    /// Sniffs and unpacks `raw`, adding the bytes taken from it to `consumed`.
    pub(super) fn new(raw: Box<dyn Read + Send>, consumed: Arc<AtomicU64>) -> io::Result<Decoder> {
        let mut raw = Counting { raw, consumed };
        let mut head = Vec::new();
        Read::by_ref(&mut raw).take(5).read_to_end(&mut head)?;
        let compression = Compression::of(&head);
        let whole = io::Cursor::new(head).chain(raw);
        let inner: Box<dyn Read + Send> = match compression {
            Compression::Plain => Box::new(whole),
            Compression::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::new(whole)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Box::new(decoder)
            }
            Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::new(whole))),
            Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(BufReader::new(whole))),
        };
        Ok(Decoder { inner, compression })
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

struct Counting {
    raw: Box<dyn Read + Send>,
    consumed: Arc<AtomicU64>,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.raw.read(buffer)?;
        self.consumed.fetch_add(length as u64, Ordering::Relaxed);
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
        [b'P', b'K', 3, 4, ..] => Some("it is a zip archive: unpack it first"),
        [b'7', b'z', 0xbc, 0xaf, ..] => Some("it is a 7z archive: unpack it first"),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => Some("it is an xz file: unpack it first"),
        _ => None,
    }
}
