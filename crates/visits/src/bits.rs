//! Packs numbers of any bit width into bytes without gaps.

/// Writes numbers, with the lowest bit first.
#[derive(Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// The last bits, which do not fill eight bytes yet. `len` is their number.
    rest: u128,
    len: u32,
}

impl BitWriter {
    /// Writes a number of at most 64 bits.
    pub(super) fn put(&mut self, value: u64, width: u32) {
        debug_assert!(width == 64 || value >> width == 0, "{value} has more than {width} bits");
        self.rest |= u128::from(value) << self.len;
        self.len += width;
        if self.len >= u64::BITS {
            self.bytes.extend_from_slice(&(self.rest as u64).to_le_bytes());
            self.rest >>= u64::BITS;
            self.len -= u64::BITS;
        }
    }

    /// Writes a number of at least 1, in Elias gamma code, which takes about twice as many bits as the number itself.
    pub(super) fn put_gamma(&mut self, value: u64) {
        let bits = value.ilog2();
        self.put(1 << bits, bits + 1);
        self.put(value & !(1 << bits), bits);
    }

    /// Writes a number as a Golomb-Rice code: the lowest `low` bits unchanged, and the rest, which should be small, in Elias gamma.
    pub(super) fn put_rice(&mut self, value: u64, low: u32) {
        self.put_gamma((value >> low) + 1);
        self.put(value & !(u64::MAX << low), low);
    }

    /// Returns the bytes. The last byte is padded with zeros.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let rest = self.rest.to_le_bytes();
        self.bytes.extend_from_slice(&rest[..self.len.div_ceil(8) as usize]);
        self.bytes
    }
}

/// Reads the output of [`BitWriter`]. After its end it reads zeros, and [`BitReader::is_past_end`] returns true.
pub(super) struct BitReader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> BitReader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> BitReader<'b> {
        BitReader { bytes, at: 0 }
    }

    /// Returns the next 64 bits without consuming them.
    fn peek(&self) -> u64 {
        let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
        let word = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut word = [0; 16];
            word[..rest.len()].copy_from_slice(rest);
            word
        });
        (u128::from_le_bytes(word) >> (self.at % 8)) as u64
    }

    pub(super) fn take(&mut self, width: u32) -> u64 {
        let value = self.peek() & (u64::MAX.checked_shr(64 - width).unwrap_or(0));
        self.at += width as usize;
        value
    }

    pub(super) fn take_gamma(&mut self) -> u64 {
        let bits = self.peek().trailing_zeros();
        self.at += bits as usize + 1;
        if bits >= 64 {
            // The writer never writes this many zeros before a number, so the bytes are damaged or have ended.
            self.at = usize::MAX / 2;
            return 1;
        }
        1 << bits | self.take(bits)
    }

    pub(super) fn take_rice(&mut self, low: u32) -> u64 {
        let high = self.take_gamma() - 1;
        high.checked_shl(low).unwrap_or(0) | self.take(low)
    }

    pub(super) fn is_past_end(&self) -> bool {
        self.at > 8 * self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let values = [0, 1, 2, 3, 63, 64, 1000, u64::from(u32::MAX), 1 << 40, u64::MAX >> 1];
        let mut writer = BitWriter::default();
        for &value in &values {
            writer.put(value, 63);
            writer.put_gamma(value + 1);
            for low in [0, 5, 44] {
                writer.put_rice(value >> 1, low);
            }
            writer.put(value & 1, 1);
        }
        writer.put(u64::MAX, 64);
        let bytes = writer.finish();
        let mut reader = BitReader::new(&bytes);
        for &value in &values {
            assert_eq!((reader.take(63), reader.take_gamma()), (value, value + 1));
            [0, 5, 44].iter().for_each(|&low| assert_eq!(reader.take_rice(low), value >> 1));
            assert_eq!(reader.take(1), value & 1);
        }
        assert_eq!(reader.take(64), u64::MAX);
        assert!(!reader.is_past_end());
        reader.take(8);
        assert!(reader.is_past_end());
        assert_eq!((reader.take_gamma(), reader.take(9), BitReader::new(&[]).take(0)), (1, 0, 0));
    }
}
