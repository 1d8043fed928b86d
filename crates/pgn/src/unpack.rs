//! Unpacks compressed bytes to an output that depends only on these bytes.
//!
//! The reader types of the compression libraries do not guarantee this: after an error, they lose the output of the last call,
//! whose length depends on the portions in which the input arrives. So this module calls the decompressors itself. It passes them
//! portions of fixed or format-defined size, and keeps the output of every call, even of a failed one. Invariant: a file and a pipe
//! with the same bytes yield the same text and the same fault, regardless of the pipe's timing.

use std::io::{self, Read};

use crc32fast::Hasher;
use flate2::{FlushDecompress, Status};
use memchr::memmem;
use zstd::stream::raw::{DParameter, Decoder as ZstdDecoder, InBuffer, Operation as _, OutBuffer};

/// The number of compressed bytes passed to a decompressor in one call, unless the format determines it.
const STRETCH: usize = 64 << 10;
/// The size in bytes of the output buffer for one call. It is at least the size of a zstd block and of the deflate window.
const ROOM: usize = 128 << 10;
/// The maximum window that the zstd library supports, as a power of 2. With 32-bit addresses it is smaller.
const WINDOW_LOG_MAX: u32 = if cfg!(target_pointer_width = "32") { 30 } else { 31 };

/// The maximum window in bytes that [`Options::zstd_window_max`](super::Options::zstd_window_max) can allow.
pub(super) const ZSTD_WINDOW_MAX: u64 = 1 << WINDOW_LOG_MAX;

/// The reason why a text cannot be unpacked further.
#[derive(Debug)]
pub(super) enum UnpackFault {
    /// The compressed bytes cannot be read.
    Raw(io::Error),
    /// The compressed bytes end within a member.
    Early,
    /// The compressed bytes violate the format, for this reason.
    Damaged(String),
    /// A zstd frame needs more memory than the options allow.
    Window {
        /// The memory that the frame needs, in bytes.
        bytes: u64,
        /// The memory that is allowed, in bytes.
        bytes_max: u64,
    },
    /// The system could not allocate memory.
    Memory,
}

/// A source of compressed bytes.
pub(super) trait Supply {
    /// Appends the next `bytes` bytes to `out`, or fewer at the end, and returns their number. A read that a signal interrupts is
    /// retried.
    ///
    /// # Errors
    ///
    /// Returns the error of the first failed read. `out` then contains the bytes read before it.
    fn append(&mut self, out: &mut Vec<u8>, bytes: u64) -> io::Result<usize>;
}

impl<R: Read> Supply for R {
    fn append(&mut self, out: &mut Vec<u8>, bytes: u64) -> io::Result<usize> {
        self.take(bytes).read_to_end(out)
    }
}

/// A buffer of compressed bytes. The bytes ahead can be examined before they are consumed.
pub(super) struct RawInput<R> {
    raw: R,
    buffer: Vec<u8>,
    from: usize,
    at_end: bool,
    fault: Option<io::Error>,
}

/// The number of bytes for which memory is reserved at first. Memory for further bytes is reserved only once these have arrived.
const SHORT: usize = 64 << 10;
/// The maximum number of bytes of memory to reserve at once.
const ROOM_BYTES: usize = 1 << 20;

impl<R: Supply> RawInput<R> {
    pub(super) fn new(raw: R) -> RawInput<R> {
        RawInput { raw, buffer: Vec::new(), from: 0, at_end: false, fault: None }
    }

    pub(super) fn raw(&self) -> &R {
        &self.raw
    }

    /// Returns the next `want` bytes without consuming them. Returns fewer if the input ends or has a fault before that.
    pub(super) fn peek(&mut self, want: usize) -> &[u8] {
        if self.buffer.len() - self.from < want && !self.at_end {
            self.buffer.drain(..self.from);
            self.from = 0;
            let length = self.buffer.len();
            let more = (want.max(STRETCH) - length) as u64;
            match self.raw.append(&mut self.buffer, more) {
                Ok(read) => self.at_end = (read as u64) < more,
                Err(error) => (self.at_end, self.fault) = (true, Some(error)),
            }
        }
        let next = &self.buffer[self.from..];
        &next[..next.len().min(want)]
    }

    /// Returns the `want` bytes that begin `from` bytes ahead, without consuming any. Returns `None` if the source ends before
    /// that.
    pub(super) fn ahead(&mut self, from: usize, want: usize) -> Option<&[u8]> {
        let end = from + want;
        self.peek(end.next_multiple_of(STRETCH)).get(from..end)
    }

    /// Consumes bytes that were examined with [`RawInput::peek`].
    pub(super) fn skip(&mut self, bytes: usize) {
        self.from += bytes;
    }

    /// Puts bytes back into the buffer, where they are the next bytes to be read.
    pub(super) fn put_back(&mut self, bytes: &[u8]) {
        self.buffer.splice(..self.from, bytes.iter().copied());
        self.from = 0;
    }

    /// Appends up to `more` bytes to `out` without decompressing them, and returns their number.
    pub(super) fn read_plain(&mut self, out: &mut Vec<u8>, more: usize) -> io::Result<usize> {
        let ready = &self.buffer[self.from..];
        let length = ready.len().min(more);
        out.extend_from_slice(&ready[..length]);
        self.from += length;
        if let Some(error) = self.fault.take_if(|_| length < more) {
            return Err(error);
        }
        if self.at_end {
            return Ok(length);
        }
        // Most texts are short, so memory for a long one is reserved only after many bytes have arrived.
        let mut read = length;
        for goal in [more.min(length + SHORT), more] {
            let rest = goal - read;
            if goal == more {
                out.reserve_exact(rest.min(ROOM_BYTES));
            }
            let found = self.raw.append(out, rest as u64)?;
            read += found;
            if found < rest {
                break;
            }
        }
        Ok(read)
    }

    /// Returns the fault for an input that ends within a member.
    fn end(&mut self) -> UnpackFault {
        self.fault.take().map_or(UnpackFault::Early, UnpackFault::Raw)
    }

    /// Returns whether the source ends here. This is called between two members, where an end is not a fault.
    fn is_finished(&mut self) -> Result<bool, UnpackFault> {
        if !self.peek(1).is_empty() {
            return Ok(false);
        }
        self.fault.take().map_or(Ok(true), |error| Err(UnpackFault::Raw(error)))
    }

    /// Returns the next `bytes` bytes without consuming them. Fails if there are fewer.
    fn exactly(&mut self, bytes: usize) -> Result<&[u8], UnpackFault> {
        if self.peek(bytes).len() < bytes {
            return Err(self.end());
        }
        Ok(&self.buffer[self.from..self.from + bytes])
    }
}

/// A decompressor for one compression format.
pub(super) trait Unpack<R>: Send {
    /// Unpacks the next part and appends it to `out`, even if the call returns a fault. Returns `false` at the end.
    fn step(&mut self, input: &mut RawInput<R>, out: &mut Vec<u8>) -> Result<bool, UnpackFault>;
}

/// A decompressor for a format whose compressed texts consist of members. Each member can be unpacked independently.
pub(super) trait MemberFormat: Sized + Send + 'static {
    /// Returns a new decompressor of this format, which is at the start of a member.
    fn fresh(&self) -> io::Result<Self>;

    /// Returns whether the decompressor is between two members, so that the next byte begins a member.
    fn is_between(&self) -> bool;

    /// Returns the length of the member that begins `from` bytes after the next byte. Returns `None` if the member is incomplete,
    /// longer than about `bytes_max`, or if its length cannot be found without unpacking it. The returned length may be wrong;
    /// unpacking then fails.
    fn length<R: Supply>(input: &mut RawInput<R>, from: usize, bytes_max: usize) -> Option<usize>;
}

/// Calls `call` with a buffer at the end of `out`, and keeps as many bytes of the buffer as `call` returns.
fn append<T>(out: &mut Vec<u8>, call: impl FnOnce(&mut [u8]) -> (usize, T)) -> T {
    let length = out.len();
    out.resize(length + ROOM, 0);
    let (written, result) = call(&mut out[length..]);
    out.truncate(length + written);
    result
}

/// The decompressor for bzip2 with any number of streams.
#[derive(Default)]
pub(super) struct Bzip2 {
    stream: Option<bzip2::Decompress>,
}

impl MemberFormat for Bzip2 {
    fn fresh(&self) -> io::Result<Bzip2> {
        Ok(Bzip2::default())
    }

    fn is_between(&self) -> bool {
        self.stream.is_none()
    }

    /// Returns the length of a stream. Its header does not contain the length, so the stream is assumed to end where another one
    /// seems to begin, or at the end of the file.
    fn length<R: Supply>(input: &mut RawInput<R>, from: usize, bytes_max: usize) -> Option<usize> {
        /// The first bytes of a stream's first block. They follow `BZh` and a digit, with which the stream begins.
        const BLOCK: [u8; 6] = [0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
        let mut searched = from + 10;
        loop {
            let seen = input.peek((searched + STRETCH).next_multiple_of(STRETCH));
            let is_end = seen.len() < searched + STRETCH;
            for block in memmem::find_iter(seen.get(searched..)?, &BLOCK).map(|place| searched + place) {
                if let [b'B', b'Z', b'h', b'1'..=b'9'] = seen[block - 4..block] {
                    return Some(block - 4 - from);
                }
            }
            if is_end || seen.len() - from > bytes_max {
                return is_end.then(|| seen.len() - from);
            }
            // The searched bytes may end within the header of the next stream, so the next search begins a few bytes before their
            // end.
            searched = (seen.len() - BLOCK.len()).max(searched + 1);
        }
    }
}

impl<R: Supply> Unpack<R> for Bzip2 {
    fn step(&mut self, input: &mut RawInput<R>, out: &mut Vec<u8>) -> Result<bool, UnpackFault> {
        if self.stream.is_none() && input.is_finished()? {
            return Ok(false);
        }
        let stream = self.stream.get_or_insert_with(|| bzip2::Decompress::new(false));
        let stretch = input.peek(STRETCH);
        let (read, written) = (stream.total_in(), stream.total_out());
        let result = append(out, |room| {
            let result = stream.decompress(stretch, room);
            ((stream.total_out() - written) as usize, result)
        });
        let is_stuck = (stream.total_in(), stream.total_out()) == (read, written);
        input.skip((stream.total_in() - read) as usize);
        match result {
            Ok(bzip2::Status::StreamEnd) => self.stream = None,
            Ok(bzip2::Status::MemNeeded) => return Err(UnpackFault::Memory),
            Ok(_) if is_stuck => return Err(input.end()),
            Ok(_) => {}
            Err(error) => return Err(UnpackFault::Damaged(error.to_string())),
        }
        Ok(true)
    }
}

/// The decompressor for one deflate stream without a header, as in gzip and zip.
pub(super) struct Deflate {
    stream: flate2::Decompress,
}

impl Default for Deflate {
    fn default() -> Deflate {
        Deflate { stream: flate2::Decompress::new(false) }
    }
}

impl<R: Supply> Unpack<R> for Deflate {
    fn step(&mut self, input: &mut RawInput<R>, out: &mut Vec<u8>) -> Result<bool, UnpackFault> {
        let stream = &mut self.stream;
        let stretch = input.peek(STRETCH);
        let (read, written) = (stream.total_in(), stream.total_out());
        let result = append(out, |room| {
            let result = stream.decompress(stretch, room, FlushDecompress::None);
            ((stream.total_out() - written) as usize, result)
        });
        let is_stuck = (stream.total_in(), stream.total_out()) == (read, written);
        input.skip((stream.total_in() - read) as usize);
        match result {
            Ok(Status::StreamEnd) => Ok(false),
            Ok(_) if is_stuck => Err(input.end()),
            Ok(_) => Ok(true),
            Err(error) => Err(UnpackFault::Damaged(error.to_string())),
        }
    }
}

/// The decompressor for gzip with any number of members.
#[derive(Default)]
pub(super) struct Gzip {
    member: Option<GzipMember>,
}

struct GzipMember {
    deflate: Deflate,
    crc: Hasher,
}

impl MemberFormat for Gzip {
    fn fresh(&self) -> io::Result<Gzip> {
        Ok(Gzip::default())
    }

    fn is_between(&self) -> bool {
        self.member.is_none()
    }

    /// Returns the length of a member from its header. Only bgzip writes the length there.
    ///
    /// Source: the specification of SAM, section 4.1, "The BGZF compression format".
    fn length<R: Supply>(input: &mut RawInput<R>, from: usize, _bytes_max: usize) -> Option<usize> {
        const EXTRA: u8 = 4;
        let &[0x1f, 0x8b, 8, flags, .., low, high] = input.ahead(from, 12)? else { return None };
        let extra = usize::from(u16::from_le_bytes([low, high]));
        let mut fields = (flags & EXTRA != 0).then(|| input.ahead(from + 12, extra))??;
        while let [one, other, low, high, rest @ ..] = fields {
            let (value, next) = rest.split_at_checked(usize::from(u16::from_le_bytes([*low, *high])))?;
            if let (b'B', b'C', [low, high]) = (one, other, value) {
                let length = usize::from(u16::from_le_bytes([*low, *high])) + 1;
                return input.ahead(from + length - 1, 1).map(|_| length);
            }
            fields = next;
        }
        None
    }
}

impl<R: Supply> Unpack<R> for Gzip {
    fn step(&mut self, input: &mut RawInput<R>, out: &mut Vec<u8>) -> Result<bool, UnpackFault> {
        if self.member.is_none() {
            if input.is_finished()? {
                return Ok(false);
            }
            gzip_header(input)?;
        }
        let GzipMember { deflate, crc } =
            self.member.get_or_insert_with(|| GzipMember { deflate: Deflate::default(), crc: Hasher::new() });
        let length = out.len();
        let step = deflate.step(input, out);
        crc.update(&out[length..]);
        if !step? {
            let trailer = input.exactly(8)?;
            let found = crc.clone().finalize().to_le_bytes();
            let length = (deflate.stream.total_out() as u32).to_le_bytes();
            if trailer != [found, length].concat() {
                return Err(UnpackFault::Damaged("its checksum is wrong".into()));
            }
            input.skip(8);
            self.member = None;
        }
        Ok(true)
    }
}

/// Skips the header of a gzip member.
///
/// Source: RFC 1952, section 2.3.
fn gzip_header<R: Supply>(input: &mut RawInput<R>) -> Result<(), UnpackFault> {
    const CRC: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    let &[0x1f, 0x8b, 8, flags, ..] = input.exactly(10)? else {
        return Err(UnpackFault::Damaged("what follows is no gzip member".into()));
    };
    input.skip(10);
    if flags & EXTRA != 0 {
        let length = input.exactly(2)?;
        let length = usize::from(length[0]) | usize::from(length[1]) << 8;
        input.exactly(2 + length)?;
        input.skip(2 + length);
    }
    for _ in 0..(flags & (NAME | COMMENT)).count_ones() {
        loop {
            let is_end = input.exactly(1)?[0] == 0;
            input.skip(1);
            if is_end {
                break;
            }
        }
    }
    if flags & CRC != 0 {
        input.exactly(2)?;
        input.skip(2);
    }
    Ok(())
}

/// The decompressor for Zstandard, with any number of frames. It passes each part of a frame to the library separately, so the
/// output before a faulty part is kept.
///
/// Source: RFC 8878, section 3.
pub(super) struct Zstd {
    decoder: ZstdDecoder<'static>,
    window_max: u64,
    state: NextFrame,
}

/// The part of the input that a [`Zstd`] decompressor reads next.
enum NextFrame {
    Header,
    Block { has_checksum: bool },
    Checksum,
}

impl Zstd {
    pub(super) fn new(window_max: u64) -> io::Result<Zstd> {
        let mut decoder = ZstdDecoder::new()?;
        // The library's own limit is set to its maximum, since this type checks the window of each frame before any memory is
        // allocated.
        decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))?;
        Ok(Zstd { decoder, window_max: window_max.min(ZSTD_WINDOW_MAX), state: NextFrame::Header })
    }

    /// Passes the next `bytes` bytes, which are one part of a frame, to the library.
    fn part<R: Supply>(
        &mut self,
        input: &mut RawInput<R>,
        bytes: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), UnpackFault> {
        let part = input.exactly(bytes)?;
        let decoder = &mut self.decoder;
        let mut source = InBuffer::around(part);
        // The buffer has room for the output of a whole block, but the library may need several calls to consume the input.
        while source.pos() < bytes {
            let before = source.pos();
            let (result, written) = append(out, |room| {
                let mut room = OutBuffer::around(room);
                let result = decoder.run(&mut source, &mut room);
                let written = room.pos();
                (written, (result, written))
            });
            result.map_err(|error| damage(&error))?;
            if source.pos() == before && written == 0 {
                return Err(UnpackFault::Damaged("a block goes on where it should end".into()));
            }
        }
        input.skip(bytes);
        Ok(())
    }

    fn header<R: Supply>(&mut self, input: &mut RawInput<R>, out: &mut Vec<u8>) -> Result<(), UnpackFault> {
        if let [0x50..=0x5f, 0x2a, 0x4d, 0x18] = input.exactly(4)? {
            return skippable(input);
        }
        let FrameHeader { bytes, window, has_checksum } = FrameHeader::read(input)?;
        if window > self.window_max {
            return Err(UnpackFault::Window { bytes: window, bytes_max: self.window_max });
        }
        self.decoder.reinit().map_err(|error| damage(&error))?;
        self.part(input, bytes, out)?;
        self.state = NextFrame::Block { has_checksum };
        Ok(())
    }

    fn block<R: Supply>(
        &mut self,
        input: &mut RawInput<R>,
        has_checksum: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), UnpackFault> {
        let header = input.exactly(3)?;
        let FrameBlockHeader { is_last, bytes } =
            FrameBlockHeader::from_bytes([header[0], header[1], header[2]]);
        self.part(input, 3, out)?;
        // The block size is not checked here, because the library has already refused the header of an oversized block.
        self.part(input, bytes, out)?;
        self.state = match (is_last, has_checksum) {
            (false, _) => NextFrame::Block { has_checksum },
            (true, true) => NextFrame::Checksum,
            (true, false) => NextFrame::Header,
        };
        Ok(())
    }
}

impl MemberFormat for Zstd {
    fn fresh(&self) -> io::Result<Zstd> {
        Zstd::new(self.window_max)
    }

    fn is_between(&self) -> bool {
        matches!(self.state, NextFrame::Header)
    }

    /// Returns the length of a frame, by adding up the lengths of its blocks. Skippable frames count as part of the next frame.
    fn length<R: Supply>(input: &mut RawInput<R>, from: usize, bytes_max: usize) -> Option<usize> {
        let mut at = from;
        while let [0x50..=0x5f, 0x2a, 0x4d, 0x18, size @ ..] = input.ahead(at, 8)? {
            at += 8 + u32::from_le_bytes(size.try_into().ok()?) as usize;
            if at - from > bytes_max {
                return None;
            }
        }
        let &[0x28, 0xb5, 0x2f, 0xfd, descriptor] = input.ahead(at, 5)? else { return None };
        let HeaderParts { end, has_checksum, .. } = HeaderParts::from_descriptor(descriptor);
        at += end;
        loop {
            let header = input.ahead(at, 3)?;
            let block = FrameBlockHeader::from_bytes([header[0], header[1], header[2]]);
            at += 3 + block.bytes;
            if at - from > bytes_max {
                return None;
            }
            if block.is_last {
                break;
            }
        }
        at += if has_checksum { 4 } else { 0 };
        input.ahead(at - 1, 1).map(|_| at - from)
    }
}

impl<R: Supply> Unpack<R> for Zstd {
    fn step(&mut self, input: &mut RawInput<R>, out: &mut Vec<u8>) -> Result<bool, UnpackFault> {
        match self.state {
            NextFrame::Header if input.is_finished()? => return Ok(false),
            NextFrame::Header => self.header(input, out)?,
            NextFrame::Block { has_checksum } => self.block(input, has_checksum, out)?,
            NextFrame::Checksum => {
                self.part(input, 4, out)?;
                self.state = NextFrame::Header;
            }
        }
        Ok(true)
    }
}

fn skippable<R: Supply>(input: &mut RawInput<R>) -> Result<(), UnpackFault> {
    let header = input.exactly(8)?;
    let mut left = u32::from_le_bytes([header[4], header[5], header[6], header[7]]) as usize;
    input.skip(8);
    while left > 0 {
        let stretch = left.min(STRETCH);
        input.exactly(stretch)?;
        input.skip(stretch);
        left -= stretch;
    }
    Ok(())
}

struct FrameBlockHeader {
    is_last: bool,
    /// The length of the zstd block in bytes, without its header.
    bytes: usize,
}

impl FrameBlockHeader {
    fn from_bytes([low, middle, high]: [u8; 3]) -> FrameBlockHeader {
        const RUN: u32 = 1;
        let header = u32::from_le_bytes([low, middle, high, 0]);
        // A block that repeats a single byte stores this byte only once.
        let bytes = if header >> 1 & 3 == RUN { 1 } else { (header >> 3) as usize };
        FrameBlockHeader { is_last: header & 1 == 1, bytes }
    }
}

/// The flags of a zstd frame's header, and the offsets of the header's parts.
struct HeaderParts {
    is_single: bool,
    has_checksum: bool,
    window_at: usize,
    content_at: usize,
    /// The length of the whole header in bytes.
    end: usize,
}

impl HeaderParts {
    fn from_descriptor(descriptor: u8) -> HeaderParts {
        let is_single = descriptor >> 5 & 1 == 1;
        let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let content = match descriptor >> 6 {
            0 => usize::from(is_single),
            flag => 1 << flag,
        };
        let window_at = 5;
        let content_at = window_at + usize::from(!is_single) + dictionary;
        let has_checksum = descriptor >> 2 & 1 == 1;
        HeaderParts { is_single, has_checksum, window_at, content_at, end: content_at + content }
    }
}

struct FrameHeader {
    /// The length of the header in bytes.
    bytes: usize,
    window: u64,
    has_checksum: bool,
}

impl FrameHeader {
    fn read<R: Supply>(input: &mut RawInput<R>) -> Result<FrameHeader, UnpackFault> {
        let &[0x28, 0xb5, 0x2f, 0xfd, descriptor] = input.exactly(5)? else {
            return Err(UnpackFault::Damaged("what follows is no zstd frame".into()));
        };
        let HeaderParts { is_single, has_checksum, window_at, content_at, end: bytes } =
            HeaderParts::from_descriptor(descriptor);
        let content = bytes - content_at;
        let header = input.exactly(bytes)?;
        let window = if is_single {
            let mut size = [0; 8];
            size[..content].copy_from_slice(&header[content_at..]);
            u64::from_le_bytes(size) + if content == 2 { 256 } else { 0 }
        } else {
            let base = 1u64 << (10 + u32::from(header[window_at] >> 3));
            base + base / 8 * u64::from(header[window_at] & 7)
        };
        Ok(FrameHeader { bytes, window, has_checksum })
    }
}

/// Converts an error of the zstd library. The kind of the error is known only from its message.
fn damage(error: &io::Error) -> UnpackFault {
    let text = error.to_string();
    if text.contains("not enough memory") { UnpackFault::Memory } else { UnpackFault::Damaged(text) }
}
