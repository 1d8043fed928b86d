//! Writes integers of variable length, and reads them with bounds checks.

use std::cell::Cell;

/// The error message for bytes that cannot be decoded. It becomes a
/// [`ReelError::Inconsistent`](super::ReelError::Inconsistent).
pub(super) type ListFault = &'static str;

/// The error message for a failed allocation. Unlike all other messages of this type, it becomes a
/// [`ReelError::Memory`](super::ReelError::Memory).
pub(super) const NO_MEMORY: ListFault = "there is not enough memory";

thread_local! {
    static SEES_REFUSALS: Cell<bool> = const { Cell::new(false) };
}

/// Allocates a buffer. Fails if the system has no memory for it.
pub(super) fn room(bytes: u64) -> Result<Vec<u8>, ListFault> {
    let mut room = Vec::new();
    let bytes = usize::try_from(bytes).map_err(|_| NO_MEMORY)?;
    SEES_REFUSALS.set(true);
    let reserved = room.try_reserve_exact(bytes);
    SEES_REFUSALS.set(false);
    reserved.map_err(|_| NO_MEMORY)?;
    Ok(room)
}

/// Returns true while this thread makes an allocation whose failure it handles itself. An allocator that ends the program when
/// memory runs out must not do so then.
pub fn sees_refusals() -> bool {
    SEES_REFUSALS.get()
}

/// Appends a number in groups of 7 bits, with the lowest group first (LEB128).
pub(super) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a byte string, preceded by its length.
pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Copies unaligned bytes to a vector of plain-data values.
pub(super) fn to_vec<T: bytemuck::Pod>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

/// Reads the output of [`put`] and [`put_bytes`].
pub(super) struct ByteReader<'a>(pub(super) &'a [u8]);

impl<'a> ByteReader<'a> {
    #[inline]
    pub(super) fn number(&mut self) -> Result<u64, ListFault> {
        // Nearly all numbers are small.
        if let [byte @ 0..0x80, rest @ ..] = self.0 {
            self.0 = rest;
            return Ok(u64::from(*byte));
        }
        self.long_number()
    }

    fn long_number(&mut self) -> Result<u64, ListFault> {
        let mut value = 0u64;
        for (i, &byte) in self.0.iter().enumerate().take(10) {
            value |= u64::from(byte & 0x7f).checked_shl(7 * i as u32).unwrap_or(0);
            if byte < 0x80 {
                self.0 = &self.0[i + 1..];
                return Ok(value);
            }
        }
        Err("a number has no end")
    }

    pub(super) fn number_u32(&mut self) -> Result<u32, ListFault> {
        u32::try_from(self.number()?).map_err(|_| "a number is too large")
    }

    /// Reads the item count of a list whose items take at least one byte each. A count that exceeds the number of remaining bytes
    /// is an error, so a forged count cannot cause a large allocation.
    pub(super) fn count(&mut self) -> Result<usize, ListFault> {
        let count = self.number()?;
        if count > self.0.len() as u64 { Err("a list is longer than its bytes") } else { Ok(count as usize) }
    }

    pub(super) fn take(&mut self, len: u64) -> Result<&'a [u8], ListFault> {
        if len > self.0.len() as u64 {
            return Err("a string is longer than its bytes");
        }
        let (taken, rest) = self.0.split_at(len as usize);
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn string(&mut self) -> Result<&'a [u8], ListFault> {
        let len = self.number()?;
        self.take(len)
    }

    pub(super) fn text(&mut self) -> Result<String, ListFault> {
        String::from_utf8(self.string()?.to_vec()).map_err(|_| "a text is not UTF-8")
    }

    pub(super) fn end(&self) -> Result<(), ListFault> {
        if self.0.is_empty() { Ok(()) } else { Err("bytes are left over") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut out = Vec::new();
            put(&mut out, value);
            let mut bytes = ByteReader(&out);
            assert_eq!((bytes.number(), bytes.end()), (Ok(value), Ok(())));
            assert!(ByteReader(&out[..out.len() - 1]).number().is_err());
        }
    }
}
