//! Reads 7z archives. The list of members is at the end of the file; a thread unpacks the members.
//!
//! A 7z archive consists of compressed blocks. A compressed block contains several members, which can only be unpacked one after
//! the other. The crate `sevenz_rust2` passes each member to a callback. A separate thread runs the crate and sends the bytes of
//! the wanted members to the reader, in archive order. The thread is at most [`PIECES_AHEAD`] messages ahead of the reader.

use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use sevenz_rust2::{BlockDecoder, Error, Password};

use super::super::pieces::PieceAtHand;
use super::{Archive, ArchiveRefusal, Content, MemberList, refuse_ratio};
use orbit_core::sync::lock;

/// The maximum memory for the list of members, in KiB.
const LIST_KIB_MAX: usize = 32 << 10;
/// The maximum memory for the dictionary of a compressed block, in KiB. 7-Zip's level 9 needs 64 MiB to 256 MiB.
const BLOCK_KIB_MAX: usize = 512 << 10;
/// The maximum number of bytes in one message from the unpacking thread.
const PIECE: usize = 128 << 10;
const PIECES_AHEAD: usize = 8;
/// The interval at which a waiting reader checks the interrupt flag.
const LOOK: Duration = Duration::from_millis(20);

/// Adds the members of the archive to `list`. The `place` of a member is its index among all entries, including folders.
pub(super) fn list(file: &mut &File, list: &mut MemberList) -> Result<sevenz_rust2::Archive, ArchiveRefusal> {
    let found = sevenz_rust2::Archive::read_with_memory_limit(file, &Password::empty(), LIST_KIB_MAX)
        .map_err(|error| reason(&error, "the 7z archive"))?;
    MemberList::refuse_more(found.files.len() as u64)?;
    let starts = found.stream_map.block_first_pack_stream_index();
    let packed = |block: usize| -> u64 {
        let end = starts.get(block + 1).copied().unwrap_or(found.pack_sizes().len());
        let sizes = starts.get(block).and_then(|&start| found.pack_sizes().get(start..end));
        sizes.unwrap_or_default().iter().fold(0, |sum, &size| sum.saturating_add(size))
    };
    let blocks = found.blocks.iter().enumerate();
    let ratios: Vec<Result<(), ArchiveRefusal>> =
        blocks.map(|(index, block)| refuse_ratio(packed(index), block.get_unpack_size())).collect();
    for (number, entry) in found.files.iter().enumerate() {
        if entry.is_directory || entry.is_anti_item {
            continue;
        }
        let bytes = if entry.has_stream { entry.size } else { 0 };
        let ratio = block_of(&found, number).and_then(|block| ratios.get(block));
        let place = match ratio {
            _ if found.is_file_encrypted(number) => {
                Err(ArchiveRefusal::new("it is encrypted: unpack it with its password first"))
            }
            Some(Err(refusal)) => Err(refusal.clone()),
            _ => Ok(number),
        };
        list.add(&entry.name, bytes, place)?;
    }
    Ok(found)
}

/// Returns the index of the compressed block that contains the entry `number` of the archive, or `None` if the entry has no bytes.
fn block_of(list: &sevenz_rust2::Archive, number: usize) -> Option<usize> {
    list.stream_map.file_block_index.get(number).copied().flatten()
}

/// A message from the unpacking thread about one member.
enum MemberMessage {
    Bytes(Vec<u8>),
    End,
    Fault(ArchiveRefusal),
}

/// A thread that unpacks members of an archive.
pub(super) struct MemberThread {
    archive: Arc<Archive>,
    /// The indices of the members that the thread will unpack and that no reader has requested yet, in ascending order.
    wanted: Vec<usize>,
    line: Arc<Mutex<Receiver<(usize, MemberMessage)>>>,
}

impl MemberThread {
    /// Starts the thread. It unpacks the member at `place`, and then every later member that looks like games.
    pub(super) fn start(archive: &Arc<Archive>, place: usize) -> io::Result<MemberThread> {
        let file = archive.file()?;
        let mut wanted: Vec<usize> = archive.places_of_games().filter(|&other| other > place).collect();
        wanted.insert(0, place);
        let (to, line) = sync_channel(PIECES_AHEAD);
        let unpacker = Unpacker { archive: Arc::clone(archive), wanted: wanted.clone(), to };
        thread::Builder::new().name(String::from("7z")).spawn(move || unpacker.run(file))?;
        Ok(MemberThread { archive: Arc::clone(archive), wanted, line: Arc::new(Mutex::new(line)) })
    }

    /// Returns whether a member of `archive` can still be read from this thread.
    pub(super) fn reaches(&self, archive: &Arc<Archive>, place: usize) -> bool {
        Arc::ptr_eq(&self.archive, archive) && self.wanted.binary_search(&place).is_ok()
    }

    /// Returns a reader of the bytes of a member. Members must be requested in archive order: afterwards, members before this one
    /// can no longer be read.
    pub(super) fn read(&mut self, place: usize, interrupt: &Arc<AtomicBool>) -> MemberBytes {
        self.wanted.retain(|&other| other > place);
        MemberBytes {
            line: Arc::clone(&self.line),
            place,
            interrupt: Arc::clone(interrupt),
            pieces: PieceAtHand::default(),
        }
    }
}

/// A reader of the bytes of one member, as they arrive from the unpacking thread.
pub(super) struct MemberBytes {
    line: Arc<Mutex<Receiver<(usize, MemberMessage)>>>,
    place: usize,
    interrupt: Arc<AtomicBool>,
    pieces: PieceAtHand,
}

impl Read for MemberBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let MemberBytes { line, place, interrupt, pieces } = self;
        pieces.read(buffer, || match message(line, *place, interrupt) {
            Some(MemberMessage::Bytes(piece)) => Ok(Some(piece)),
            Some(MemberMessage::End) => Ok(None),
            Some(MemberMessage::Fault(refusal)) => Err(refusal.into()),
            // The thread panicked and sends nothing more.
            None => Err(damaged().into()),
        })
    }
}

/// Waits for the next message about the member `wanted`. Returns `None` after an interrupt, or if the thread has ended.
fn message(
    line: &Mutex<Receiver<(usize, MemberMessage)>>,
    wanted: usize,
    interrupt: &AtomicBool,
) -> Option<MemberMessage> {
    let line = lock(line);
    while !interrupt.load(Ordering::Relaxed) {
        match line.recv_timeout(LOOK) {
            Ok((place, message)) if place == wanted => return Some(message),
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    None
}

struct Unpacker {
    archive: Arc<Archive>,
    wanted: Vec<usize>,
    to: SyncSender<(usize, MemberMessage)>,
}

impl Unpacker {
    /// Unpacks the wanted members in turn, until the reader is dropped.
    fn run(&self, mut file: File) {
        let Content::SevenZ(list) = &self.archive.content else { return };
        let mut wanted = &self.wanted[..];
        while let Some(&place) = wanted.first() {
            let block = block_of(list, place).filter(|_| list.files[place].has_stream);
            let Some(block) = block else {
                // The member is empty.
                if !self.say(place, MemberMessage::End) {
                    return;
                }
                wanted = &wanted[1..];
                continue;
            };
            let count = wanted.iter().take_while(|&&place| block_of(list, place) == Some(block)).count();
            let (of_block, rest) = wanted.split_at(count);
            let mut ended = 0;
            let mut is_left = false;
            let result = self.block(&mut file, list, block, of_block, &mut ended, &mut is_left);
            if is_left {
                return;
            }
            // Unpacking the compressed block failed before these members were complete, so each of their readers gets the reason.
            let refusal = result.map_or_else(|error| reason(&error, "it"), |()| damaged());
            for &place in &of_block[ended..] {
                if !self.say(place, MemberMessage::Fault(refusal.clone())) {
                    return;
                }
            }
            wanted = rest;
        }
    }

    /// Unpacks the wanted members of one compressed block. Increases `ended` by the number of members that were sent completely.
    /// Sets `is_left` if the reader was dropped.
    fn block(
        &self,
        file: &mut File,
        list: &sevenz_rust2::Archive,
        block: usize,
        wanted: &[usize],
        ended: &mut usize,
        is_left: &mut bool,
    ) -> Result<(), Error> {
        let password = Password::empty();
        let decoder = BlockDecoder::new_with_memory_limit(1, BLOCK_KIB_MAX, block, list, &password, file);
        let mut numbers = list.stream_map.block_first_file_index[block]..usize::MAX;
        let mut each = |_: &_, from: &mut dyn Read| {
            let place = numbers.next().unwrap_or(usize::MAX);
            if wanted.get(*ended) != Some(&place) {
                // This member is not wanted. The crate unpacks it anyway and discards its bytes.
                return Ok(true);
            }
            loop {
                let mut piece = Vec::with_capacity(PIECE);
                let read = (&mut *from).take(PIECE as u64).read_to_end(&mut piece);
                let length = piece.len();
                *is_left = length > 0 && !self.say(place, MemberMessage::Bytes(piece));
                read?;
                if *is_left {
                    return Ok(false);
                }
                if length < PIECE {
                    break;
                }
            }
            *ended += 1;
            *is_left = !self.say(place, MemberMessage::End);
            Ok(!*is_left && *ended < wanted.len())
        };
        decoder.for_each_entries(&mut each).map(drop)
    }

    /// Sends a message. Returns `false` if the reader was dropped.
    fn say(&self, place: usize, message: MemberMessage) -> bool {
        self.to.send((place, message)).is_ok()
    }
}

fn damaged() -> ArchiveRefusal {
    ArchiveRefusal::new("it is damaged: get the archive anew")
}

/// Returns the reason why an archive or a member cannot be read, together with a remedy.
fn reason(error: &Error, what: &str) -> ArchiveRefusal {
    ArchiveRefusal(match error {
        Error::PasswordRequired | Error::MaybeBadPassword(_) => {
            format!("{what} is encrypted: unpack it with its password first")
        }
        Error::MaxMemLimited { max_kb, actaul_kb } => format!(
            "{what} needs {} MiB of memory to unpack, {} MiB are allowed: unpack the archive first",
            actaul_kb.div_ceil(1 << 10),
            max_kb >> 10
        ),
        Error::UnsupportedCompressionMethod(method) if method.contains("AES") => {
            format!("{what} is encrypted: unpack it with its password first")
        }
        Error::UnsupportedCompressionMethod(method) => {
            format!("{what} is packed by the method {method}, which is not read: unpack the archive first")
        }
        Error::Io(error, _) => {
            let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
            return match (inner, error.kind()) {
                (Some(inner), _) => reason(inner, what),
                (None, io::ErrorKind::UnexpectedEof) => {
                    ArchiveRefusal(format!("{what} ends too early: get the archive anew"))
                }
                (None, _) => ArchiveRefusal(format!("{what} is damaged ({error}): get the archive anew")),
            };
        }
        Error::ChecksumVerificationFailed | Error::NextHeaderCrcMismatch => {
            format!("{what} is damaged (a checksum is wrong): get the archive anew")
        }
        Error::Other(text) | Error::Unsupported(text) => {
            format!("{what} is damaged ({text}): get the archive anew")
        }
        _ => format!("{what} is damaged: get the archive anew"),
    })
}
