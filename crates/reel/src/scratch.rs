//! Resources that a thread reuses from block to block: a buffer for file bytes, and zstd contexts.

use std::cell::RefCell;
use std::io;

use zstd::bulk::{Compressor, Decompressor};

use super::bytes::{ListFault, NO_MEMORY, room};

/// The compression level. It is the lowest level, since compressing tags must not slow down indexing: level 3 makes a reel 0.3 to
/// 0.6 % smaller, but indexing takes 1 to 4 % longer.
const ZSTD_LEVEL: i32 = 1;

/// The maximum size in bytes of a buffer to reuse. Ordinary blocks need less.
const KEPT_MAX: usize = 4 << 20;

thread_local! {
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static COMPRESSOR: RefCell<Compressor<'static>> =
        RefCell::new(Compressor::new(ZSTD_LEVEL).expect("the level is one of zstd's"));
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Calls `work` with a buffer of `len` bytes whose contents are arbitrary.
pub(super) fn with_bytes<T>(len: u64, work: impl FnOnce(&mut [u8]) -> T) -> Result<T, ListFault> {
    let mut bytes = ROOM.take();
    if (bytes.len() as u64) < len {
        bytes = room(len)?;
        bytes.resize(len as usize, 0);
    }
    let out = work(&mut bytes[..len as usize]);
    if bytes.capacity() <= KEPT_MAX {
        ROOM.set(bytes);
    }
    Ok(out)
}

/// Decompresses a frame into the spare capacity of a vector. Returns the length of the output, or the zstd error.
pub(super) fn decompress(stored: &[u8], raw: &mut Vec<u8>) -> Result<io::Result<usize>, ListFault> {
    DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(kept) => kept,
            None => kept.insert(Decompressor::new().map_err(|_| NO_MEMORY)?),
        };
        Ok(decompressor.decompress_to_buffer(stored, raw))
    })
}

/// Compresses bytes into a frame. Returns no bytes if there are none to compress.
pub(super) fn compress(raw: &[u8]) -> Vec<u8> {
    if raw.is_empty() {
        return Vec::new();
    }
    COMPRESSOR.with_borrow_mut(|kept| kept.compress(raw).expect("compressing to memory cannot fail"))
}
