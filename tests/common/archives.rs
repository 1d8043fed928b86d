//! Creates zip archives for tests, including archives that no real program would write.

use std::io::Write as _;

/// An archive member that a test writes. Its fields can be set to invalid values.
#[derive(Clone)]
pub struct Member {
    /// The name, in any encoding.
    pub name: Vec<u8>,
    /// The general purpose bits: bit 0 if the member is encrypted, bit 3 if the sizes follow the data, bit 11 if names are in
    /// UTF-8.
    pub flags: u16,
    /// The compression method: 0 for none, 8 for deflate.
    pub method: u16,
    /// The checksum of the unpacked bytes.
    pub crc: u32,
    /// Additional fields after the name in the central directory.
    pub extra: Vec<u8>,
    /// The packed bytes.
    pub packed: Vec<u8>,
    /// The number of bytes after decompression.
    pub bytes: u64,
}

/// Bit 3 of [`Member::flags`].
pub const SIZES_BEHIND: u16 = 8;
/// Bit 11 of [`Member::flags`].
pub const UTF_8: u16 = 1 << 11;

impl Member {
    /// Creates a member whose bytes are already compressed.
    pub fn packed(name: &str, text: &[u8], method: u16, packed: Vec<u8>) -> Member {
        let name = name.as_bytes().to_vec();
        let (crc, bytes) = (crc32fast::hash(text), text.len() as u64);
        Member { name, flags: 0, method, crc, extra: Vec::new(), packed, bytes }
    }

    /// Creates a member that is stored without compression.
    pub fn stored(name: &str, text: &[u8]) -> Member {
        Member::packed(name, text, 0, text.to_vec())
    }

    /// Creates a member that is compressed by deflate, as most members are.
    pub fn deflated(name: &str, text: &[u8]) -> Member {
        let mut writer = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        writer.write_all(text).unwrap();
        Member::packed(name, text, 8, writer.finish().unwrap())
    }

    /// Returns the fields, from the required version to the name length, that are equal in the local header and in the central
    /// directory.
    fn fields(&self, sizes: [u32; 3]) -> Vec<u8> {
        let mut out = Vec::new();
        for field in [20, self.flags, self.method, 0, 0] {
            out.extend(field.to_le_bytes());
        }
        sizes.iter().for_each(|size| out.extend(size.to_le_bytes()));
        out.extend((self.name.len() as u16).to_le_bytes());
        out
    }

    fn sizes(&self) -> [u32; 3] {
        [self.crc, self.packed.len() as u32, self.bytes as u32]
    }
}

/// Returns an archive with these members.
pub fn zip(members: &[Member]) -> Vec<u8> {
    written(members, false)
}

/// Returns an archive in Zip64 format, which allows more than 4 GiB.
pub fn zip64(members: &[Member]) -> Vec<u8> {
    written(members, true)
}

fn written(members: &[Member], is_large: bool) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for member in members {
        let offset = out.len() as u64;
        out.extend(b"PK\x03\x04");
        out.extend(member.fields(if member.flags & SIZES_BEHIND != 0 { [0; 3] } else { member.sizes() }));
        // The local header has an extra field of four bytes that the central directory lacks. A reader fails if it takes the
        // length of the local header from the central directory.
        out.extend([4, 0]);
        out.extend(&member.name);
        out.extend([0xfe, 0xca, 0, 0]);
        out.extend(&member.packed);
        if member.flags & SIZES_BEHIND != 0 {
            out.extend(b"PK\x07\x08");
            member.sizes().iter().for_each(|size| out.extend(size.to_le_bytes()));
        }
        directory.extend(b"PK\x01\x02\x14\x03");
        let (sizes, offset_field) = match is_large {
            true => ([member.crc, u32::MAX, u32::MAX], u32::MAX),
            false => (member.sizes(), offset as u32),
        };
        directory.extend(member.fields(sizes));
        let extra = member.extra.len() as u16 + if is_large { 28 } else { 0 };
        directory.extend(extra.to_le_bytes());
        // The directory entry has no comment, is on the first disk, and has no attributes.
        directory.extend([0; 10]);
        directory.extend(offset_field.to_le_bytes());
        directory.extend(&member.name);
        if is_large {
            directory.extend([1, 0, 24, 0]);
            for size in [member.bytes, member.packed.len() as u64, offset] {
                directory.extend(size.to_le_bytes());
            }
        }
        directory.extend(&member.extra);
    }
    let (start, length, count) = (out.len() as u64, directory.len() as u64, members.len() as u64);
    out.extend(directory);
    if is_large {
        let end = out.len() as u64;
        out.extend(b"PK\x06\x06");
        out.extend(44_u64.to_le_bytes());
        out.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        [count, count, length, start].iter().for_each(|field| out.extend(field.to_le_bytes()));
        out.extend(b"PK\x06\x07\0\0\0\0");
        out.extend(end.to_le_bytes());
        out.extend(1_u32.to_le_bytes());
    }
    let small = |field: u64| if is_large { u32::MAX } else { field as u32 };
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend((if is_large { u16::MAX } else { count as u16 }).to_le_bytes());
    out.extend((if is_large { u16::MAX } else { count as u16 }).to_le_bytes());
    out.extend(small(length).to_le_bytes());
    out.extend(small(start).to_le_bytes());
    out.extend([0, 0]);
    out
}
