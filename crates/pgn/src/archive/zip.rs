//! Lists and unpacks the members of zip archives. This includes decoding their names, refusing encrypted members and verifying
//! checksums. The central directory at the end of the file lists the members. They are unpacked with the same decompressors as
//! gzip, bzip2 and zstd files.
//!
//! Only the central directory decides where the members are and how long they are. The local header before each member may
//! contradict it and is ignored.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Take};

use crc32fast::Hasher;
use rawzip::extra_fields::ExtraFieldId;
use rawzip::{
    CompressionMethod, ErrorKind, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, ZipArchive, ZipFileHeaderRecord,
};

use super::{ArchiveRefusal, MemberList, refuse_ratio};
use crate::unpack::{Bzip2, Deflate, RawInput, Unpack, UnpackFault, Zstd};

/// The number of bytes in a member's local header before the name.
const HEADER_BYTES: u64 = 30;
/// The maximum number of bytes that one call reads from a stored (uncompressed) member.
const STRETCH: usize = 64 << 10;
/// The characters of code page 437 from 0x80 on. Member names have this encoding, unless the archive declares another one. Source:
/// APPNOTE.TXT 6.3.10, appendix D.
const CODE_PAGE_437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀\
                             αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// A member's offset in the archive, and its compression.
pub(super) struct MemberPlace {
    header: u64,
    packed: u64,
    bytes: u64,
    crc: u32,
    method: Method,
}

#[derive(Clone, Copy)]
enum Method {
    Stored,
    Deflate,
    Bzip2,
    Zstd,
}

/// Returns whether the central directory of a zip archive is at the end of a file.
pub(super) fn is_at_end(file: File) -> bool {
    ZipArchive::from_file(file, &mut vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE]).is_ok()
}

pub(super) fn list(file: File, list: &mut MemberList) -> Result<Vec<MemberPlace>, ArchiveRefusal> {
    let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
    let archive = ZipArchive::from_file(file, &mut buffer).map_err(reason)?;
    MemberList::refuse_more(archive.entries_hint())?;
    let announced = archive.entries_hint();
    let mut places = Vec::new();
    let mut ranges = Vec::new();
    let mut entries = archive.entries(&mut buffer);
    let mut count = 0_u64;
    while let Some(entry) = entries.next_entry().map_err(reason)? {
        count += 1;
        MemberList::refuse_more(count)?;
        let name = entry.file_path();
        let (header, packed, bytes) =
            (entry.local_header_offset(), entry.compressed_size_hint(), entry.uncompressed_size_hint());
        let end = header.saturating_add(HEADER_BYTES + name.len() as u64).saturating_add(packed);
        ranges.push((header, end));
        if entry.is_dir() || entry.mode().is_symlink() {
            continue;
        }
        let place = method(entry.flags().is_encrypted(), entry.compression_method())
            .and_then(|method| refuse_ratio(packed, bytes).map(|()| method))
            .map(|method| {
                places.push(MemberPlace { header, packed, bytes, crc: entry.crc32(), method });
                places.len() - 1
            });
        list.add(&name_of(&entry), bytes, place)?;
    }
    // Programs without zip64 write only the lowest 16 bits of the member count, so only these bits are compared.
    if count as u16 != announced as u16 {
        return Err(ArchiveRefusal(format!(
            "the zip archive is damaged (its directory has {count} members and should have {announced}): get it anew"
        )));
    }
    ranges.sort_unstable();
    // Members must not overlap: otherwise many members that share bytes could make a small file unpack to any size.
    if ranges.array_windows().any(|[a, b]| a.1 > b.0) {
        return Err(ArchiveRefusal::new("the zip archive is damaged (its members overlap): get it anew"));
    }
    Ok(places)
}

/// Decodes the name of a member. The name is UTF-8 if the central directory says so or if it comes from an Info-ZIP field. It is
/// also UTF-8 if its bytes are valid UTF-8, since programs on macOS write UTF-8 without declaring it. Otherwise it is code page
/// 437.
fn name_of(entry: &ZipFileHeaderRecord) -> String {
    let path = entry.file_path();
    let raw = path.as_bytes();
    if entry.flags().is_utf8() {
        return String::from_utf8_lossy(raw).into_owned();
    }
    let mut fields = entry.extra_fields();
    let unicode = fields.find_map(|(id, field)| {
        let name = field.strip_prefix(&[1]).filter(|_| id == ExtraFieldId::INFO_ZIP_UNICODE_PATH)?;
        let name = name.strip_prefix(&crc32fast::hash(raw).to_le_bytes())?;
        str::from_utf8(name).ok()
    });
    let name = unicode.or_else(|| str::from_utf8(raw).ok()).map(str::to_owned);
    name.unwrap_or_else(|| raw.iter().map(|&byte| letter(byte)).collect())
}

/// Decodes one byte of code page 437.
fn letter(byte: u8) -> char {
    match byte.checked_sub(0x80) {
        None => byte.into(),
        Some(place) => CODE_PAGE_437.chars().nth(place.into()).expect("there are 128 letters"),
    }
}

/// Returns the compression method of a member, or a refusal if the member cannot be unpacked.
fn method(is_encrypted: bool, method: CompressionMethod) -> Result<Method, ArchiveRefusal> {
    match method {
        _ if is_encrypted => Err(ArchiveRefusal::new("it is encrypted: unpack it with its password first")),
        CompressionMethod::STORE => Ok(Method::Stored),
        CompressionMethod::DEFLATE => Ok(Method::Deflate),
        CompressionMethod::BZIP2 => Ok(Method::Bzip2),
        CompressionMethod::ZSTD | CompressionMethod::ZSTD_DEPRECATED => Ok(Method::Zstd),
        other => Err(ArchiveRefusal(format!(
            "it is packed by the method {} of zip, which is not read: unpack it first",
            other.name().map_or_else(|| other.as_u16().to_string(), str::to_lowercase)
        ))),
    }
}

pub(super) fn read(mut file: File, place: &MemberPlace, window_max: u64) -> io::Result<UnpackingMember> {
    let mut header = [0; HEADER_BYTES as usize];
    file.seek(SeekFrom::Start(place.header))?;
    let is_there = file.read_exact(&mut header).is_ok() && header.starts_with(b"PK\x03\x04");
    if !is_there {
        return Err(
            ArchiveRefusal::new("it does not begin where the archive says: get the archive anew").into()
        );
    }
    let length = |at: usize| i64::from(u16::from_le_bytes([header[at], header[at + 1]]));
    // The lengths of the name and of the extra fields are read from the local header, since they may differ from those in the
    // central directory.
    file.seek(SeekFrom::Current(length(26) + length(28)))?;
    let unpack: Option<Box<dyn Unpack<Take<File>>>> = match place.method {
        Method::Stored => None,
        Method::Deflate => Some(Box::new(Deflate::default())),
        Method::Bzip2 => Some(Box::new(Bzip2::default())),
        Method::Zstd => Some(Box::new(Zstd::new(window_max)?)),
    };
    Ok(UnpackingMember {
        input: RawInput::new(file.take(place.packed)),
        unpack,
        ready: Vec::new(),
        from: 0,
        left: place.bytes,
        crc: place.crc,
        hasher: Hasher::new(),
        at_end: false,
        fault: None,
    })
}

/// A reader that unpacks a member and checks its length and checksum against the central directory.
pub(super) struct UnpackingMember {
    input: RawInput<Take<File>>,
    /// The decompressor; `None` for a stored (uncompressed) member.
    unpack: Option<Box<dyn Unpack<Take<File>>>>,
    ready: Vec<u8>,
    /// The number of bytes of `ready` that `read` has already returned.
    from: usize,
    /// The number of bytes still to be unpacked, according to the central directory.
    left: u64,
    crc: u32,
    hasher: Hasher,
    at_end: bool,
    /// A fault to report once all bytes of `ready` have been returned.
    fault: Option<UnpackFault>,
}

impl UnpackingMember {
    /// Unpacks the next part of the member into `ready`. Returns `false` at the end of the member.
    fn step(&mut self) -> Result<bool, UnpackFault> {
        let goes_on = match &mut self.unpack {
            Some(unpack) => unpack.step(&mut self.input, &mut self.ready),
            None => {
                self.input.read_plain(&mut self.ready, STRETCH).map(|read| read > 0).map_err(UnpackFault::Raw)
            }
        };
        let bytes = self.ready.len() as u64;
        if bytes > self.left {
            self.ready.truncate(self.left as usize);
            return Err(UnpackFault::Damaged("it is longer than the archive says".into()));
        }
        self.left -= bytes;
        self.hasher.update(&self.ready);
        if goes_on? {
            return Ok(true);
        }
        if self.left > 0 {
            return Err(UnpackFault::Early);
        }
        match self.hasher.clone().finalize() == self.crc {
            true => Ok(false),
            false => Err(UnpackFault::Damaged("its checksum is wrong".into())),
        }
    }
}

impl Read for UnpackingMember {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.from == self.ready.len() {
            if let Some(fault) = self.fault.take() {
                self.at_end = true;
                return Err(explained(fault));
            }
            if self.at_end {
                return Ok(0);
            }
            self.ready.clear();
            self.from = 0;
            match self.step() {
                Ok(goes_on) => self.at_end = !goes_on,
                Err(fault) => self.fault = Some(fault),
            }
        }
        let length = (&self.ready[self.from..]).read(buffer)?;
        self.from += length;
        Ok(length)
    }
}

/// Converts a fault of a member to an error with the reason and a remedy.
fn explained(fault: UnpackFault) -> io::Error {
    let reason = match fault {
        UnpackFault::Raw(error) => return error,
        UnpackFault::Early => String::from("it ends too early: get the archive anew"),
        UnpackFault::Damaged(reason) => format!("it is damaged ({reason}): get the archive anew"),
        UnpackFault::Window { bytes, bytes_max } => format!(
            "it needs {} MiB of memory to unpack, {} MiB are allowed: unpack the archive first",
            bytes.div_ceil(1 << 20),
            bytes_max >> 20
        ),
        UnpackFault::Memory => String::from("there is not enough memory to unpack it"),
    };
    ArchiveRefusal(reason).into()
}

/// Returns the reason why a zip archive cannot be listed, with a remedy.
fn reason(error: rawzip::Error) -> ArchiveRefusal {
    ArchiveRefusal(match error.kind() {
        ErrorKind::IO(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
            format!("the zip archive cannot be read: {error}")
        }
        ErrorKind::MissingEndOfCentralDirectory => {
            String::from("the zip archive was cut (its directory is missing): get it anew")
        }
        _ => String::from("the zip archive is damaged (its directory cannot be read): get it anew"),
    })
}
