//! Tests compressed files with many members, such as those of pzstd, bgzip and pbzip2. The games and faults must be the same for
//! any number of threads.

use std::io::Write as _;

use super::*;

/// Compresses a text as pzstd does: each frame is preceded by a skippable frame that contains its length.
fn pzstd(text: &[u8]) -> Vec<u8> {
    let frame = zst(text);
    [&[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0][..], &(frame.len() as u32).to_le_bytes(), &frame].concat()
}

/// Compresses a text as bgzip does: the header of a member contains the member's length.
fn bgzip(text: &[u8]) -> Vec<u8> {
    let extra = vec![b'B', b'C', 2, 0, 0, 0];
    let mut writer = flate2::GzBuilder::new().extra(extra).write(Vec::new(), flate2::Compression::fast());
    writer.write_all(text).unwrap();
    let mut member = writer.finish().unwrap();
    let size = u16::try_from(member.len() - 1).unwrap();
    member[16..18].copy_from_slice(&size.to_le_bytes());
    member
}

/// Decompresses the bytes on `threads` threads. Returns the games, and the offset and the reason of each failure.
fn read(bytes: &[u8], threads: usize) -> (Vec<Game>, Vec<(u64, String)>) {
    let mut options = Options::default();
    options.unpack_threads = threads;
    let mut games = Vec::new();
    let sources = Sources::from_bytes_with("test", bytes.to_vec(), options);
    let sources = each_game(sources, &mut |_, game| games.push(game.clone()));
    let failures = sources.failures().iter().map(|failure| (failure.offset, failure.reason.clone()));
    (games, failures.collect())
}

#[test(part = 2)]
fn games_are_those_of_one_thread() {
    let text = damage::text(100_000);
    let expected = read(&text, 1);
    assert_eq!(expected.0.len(), 100_000);
    // The pieces are so long that members end in the middle of games.
    for (pack, piece) in [(pzstd as fn(&[u8]) -> Vec<u8>, 200_001), (bgzip, 60_001), (bzip, 90_001)] {
        let bytes: Vec<u8> = text.chunks(piece).flat_map(pack).collect();
        assert!(bytes.len() > 5 << 19, "{} bytes are several runs", bytes.len());
        assert!(read(&bytes, 3) == expected);
        for at in [bytes.len() / 2, bytes.len() - 100] {
            let mut changed = bytes.clone();
            changed[at] ^= 4;
            let one = read(&changed, 1);
            assert_eq!(one.1.len(), 1, "{:?}", one.1);
            let found = read(&changed, 3);
            assert!(found == one, "{:?}, {:?}", found.1, one.1);
            assert!(read(&bytes[..at], 3) == read(&bytes[..at], 1));
        }
    }
}
