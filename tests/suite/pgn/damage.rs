//! Tests files that are damaged, that shrink, or that are not PGN. The same bytes must give the same games and the same reason for
//! a failure, however they are delivered.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use super::*;

/// The games that were read, and the offset and the reason of each failure.
type Read = (Vec<Game>, Vec<(u64, String)>);

fn read(sources: Sources) -> Read {
    let mut games = Vec::new();
    let sources = each_game(sources, &mut |_, game| games.push(game.clone()));
    let failures = sources.failures().iter().map(|failure| (failure.offset, failure.reason.clone()));
    let failures = failures.collect();
    (games, failures)
}

fn read_bytes(bytes: &[u8], options: &Options) -> Read {
    read(Sources::from_bytes_with("test", bytes.to_vec(), options.clone()))
}

/// Reads from a pipe into which a thread writes `step` bytes at a time.
fn read_pipe(bytes: &[u8], step: usize) -> Read {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut writer = fs::File::options().write(true).open(&pipe).unwrap();
            // Writing may fail, because the reader stops at the fault.
            bytes.chunks(step).try_for_each(|piece| writer.write_all(piece)).ok();
        });
        read(Sources::open(std::slice::from_ref(&pipe), Options::default()).unwrap())
    })
}

/// Returns a PGN text whose games all compress differently.
pub(super) fn text(games: u32) -> Vec<u8> {
    let mut text = Vec::new();
    for number in 0..games {
        let key = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        writeln!(
            text,
            "[Event \"{number}\"]\n[White \"{key:x}\"]\n[Black \"{:x}\"]\n",
            key.rotate_left(23) ^ key
        )
        .unwrap();
        writeln!(text, "1. e4 e5 2. Nf3 {{ {:x} }} Nc6 3. Bb5 a6 1-0\n", key.wrapping_mul(key | 1)).unwrap();
    }
    text
}

/// Returns the number of bytes that can be decompressed. The decompressor receives one byte at a time, so that it returns
/// everything before the fault.
fn unpacked_by_bytes(bytes: &[u8]) -> u64 {
    let source = std::io::BufReader::with_capacity(1, bytes);
    let mut reader: Box<dyn std::io::Read> = if bytes.starts_with(b"BZh") {
        Box::new(bzip2::bufread::MultiBzDecoder::new(source))
    } else {
        Box::new(flate2::bufread::MultiGzDecoder::new(source))
    };
    let mut byte = [0];
    let mut count = 0;
    while let Ok(1) = reader.read(&mut byte) {
        count += 1;
    }
    count
}

/// If one bit of a compressed text is changed, at any of twelve offsets, a file and a pipe must give the same games and the same
/// fault.
#[test]
fn a_damaged_file_gives_the_same_however_it_arrives() {
    let text = text(4000);
    for pack in [zst as fn(&[u8]) -> Vec<u8>, gzip, bzip] {
        let packed = pack(&text);
        let mut kept_some = 0;
        for round in 1..=12 {
            let mut bytes = packed.clone();
            let at = bytes.len() / 10 + bytes.len() * 9 / 10 * round / 13;
            bytes[at] ^= 1 << (round % 8);
            let expected = read_bytes(&bytes, &Options::default());
            assert_eq!(expected.1.len(), 1, "{:?}", expected.1);
            // bzip2 decompresses a whole block before it detects damage. If this is the first block, the output is not PGN.
            let is_text = !expected.1[0].1.starts_with("it is no PGN");
            if pack(b"") != zst(b"") && is_text {
                // The library may return one byte more than the decompressor's own reader, which loses a byte that it decodes
                // together with the fault.
                let kept = expected.1[0].0 - unpacked_by_bytes(&bytes);
                assert!(kept <= 1, "byte {at}: {kept} more");
            }
            kept_some += usize::from(!expected.0.is_empty());
            for chunk_bytes in [1 << 10, 100_003] {
                let mut options = Options::default();
                options.chunk_bytes = chunk_bytes;
                let found = read_bytes(&bytes, &options);
                let differing = found.0.iter().zip(&expected.0).position(|(a, b)| a != b);
                let shown = differing.map(|k| (&found.0[k], &expected.0[k]));
                assert!(
                    found == expected,
                    "chunks of {chunk_bytes}, byte {at}: {} and {} games, {:?} and {:?}, first {differing:?} {shown:?}",
                    found.0.len(),
                    expected.0.len(),
                    found.1,
                    expected.1
                );
            }
            if cfg!(unix) {
                for step in [37, 1000, 50_000] {
                    let found = read_pipe(&bytes, step);
                    assert_eq!(
                        (found.0.len(), &found.1),
                        (expected.0.len(), &expected.1),
                        "{step}, byte {at}"
                    );
                    assert!(found == expected, "steps of {step}, byte {at}");
                }
            }
        }
        assert!(kept_some > 3, "what comes before a fault is kept: {kept_some}");
    }
}

/// A compressed text ends with its checksum, so the whole text has been decompressed before the checksum turns out to be wrong.
#[test]
fn a_wrong_checksum_loses_no_game() {
    let text = text(2000);
    for (pack, from_end) in [(zst as fn(&[u8]) -> Vec<u8>, 1), (gzip, 8)] {
        let mut bytes = pack(&text);
        let at = bytes.len() - from_end;
        bytes[at] ^= 1;
        let (found, failures) = read_bytes(&bytes, &Options::default());
        assert!(found == games(&text), "{} games", found.len());
        let [(offset, reason)] = &failures[..] else { panic!("{failures:?}") };
        assert!(*offset == text.len() as u64 && reason.contains("checksum"), "{failures:?}");
    }
}

/// All blocks before the damaged one must be returned completely, even if the reader receives all blocks at once.
#[test]
fn blocks_before_a_fault_are_kept() {
    let text = text(4000);
    let mut bytes = zst(&text);
    assert!(text.len() > 3 * (128 << 10));
    let at = bytes.len() - 20;
    bytes.truncate(at);
    let (found, failures) = read_bytes(&bytes, &Options::default());
    assert_eq!(failures[0].0 % (128 << 10), 0, "{failures:?}");
    assert!(failures[0].0 > text.len() as u64 - (128 << 10), "{failures:?}");
    assert!(found.len() > 2000 && failures[0].1.contains("ends too early"), "{} {failures:?}", found.len());
}

/// Returns a zstd frame that claims to need a window of 2 GiB and contains one uncompressed game.
fn large_window(game: &[u8]) -> Vec<u8> {
    let header = (game.len() as u32) << 3 | 1;
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3];
    [&frame[..], &header.to_le_bytes()[..3], game].concat()
}

#[test]
fn a_window_is_a_limit_with_a_remedy() {
    let bytes = large_window(b"1. e4 e5 1-0\n");
    let (found, failures) = read_bytes(&bytes, &Options::default());
    let [(0, reason)] = &failures[..] else { panic!("{failures:?}") };
    let said = if cfg!(target_pointer_width = "64") { "give --zstd-window 2048M" } else { "zstd --long=27" };
    assert!(found.is_empty() && reason.contains(said) && reason.contains("2048 MiB"), "{reason}");
    // The limit on the zstd window must be at least the size that the file claims to need. If the limit is one byte less, the file
    // is rejected.
    let mut options = Options::default();
    for (bytes_max, games) in [((2 << 30) - 1, 0), (2 << 30, 1)] {
        options.zstd_window_max = bytes_max;
        if cfg!(target_pointer_width = "64") {
            assert_eq!(read_bytes(&bytes, &options).0.len(), games);
        }
    }
    // The default limit is the window of `zstd --long` (128 MiB).
    let mut bytes = large_window(b"1. e4 e5 1-0\n");
    bytes[5] = 17 << 3;
    assert_eq!(read_bytes(&bytes, &Options::default()).1, []);
    bytes[5] |= 1;
    assert_eq!(read_bytes(&bytes, &Options::default()).1.len(), 1);
}

/// Reads a file that `change` modifies after the first chunk has been read.
fn read_while(change: impl FnOnce(&Path)) -> Read {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pgn");
    fs::write(&path, text(5000)).unwrap();
    // The old time ensures that later writes change the time, even if the file system's clock is coarse.
    let past = std::time::UNIX_EPOCH + std::time::Duration::from_secs(978_307_200);
    fs::File::options().append(true).open(&path).unwrap().set_modified(past).unwrap();
    let mut options = Options::default();
    options.chunk_bytes = 4 << 10;
    let mut sources = Sources::open(std::slice::from_ref(&path), options).unwrap();
    let chunk = sources.next_chunk().unwrap();
    let mut first = Vec::new();
    chunk.parse(&ParseOptions::default(), &mut |_, game| first.push(game.clone()));
    change(&path);
    let (rest, failures) = read(sources);
    first.extend(rest);
    (first, failures)
}

#[test]
fn a_file_that_changes_while_it_is_read_is_a_failure() {
    let truncate =
        |path: &Path| fs::File::options().write(true).open(path).unwrap().set_len(100_000).unwrap();
    let (found, failures) = read_while(truncate);
    assert!(failures[0].1.contains("shrank from"), "{failures:?}");
    assert!(found.len() > 10 && found.len() < 5000, "{}", found.len());

    let overwrite = |path: &Path| {
        let text = fs::read(path).unwrap().to_ascii_lowercase();
        fs::write(path, text).unwrap();
    };
    let rename = |path: &Path| {
        let other = path.with_extension("new");
        fs::write(&other, "1. d4 *\n".repeat(9)).unwrap();
        fs::rename(other, path).unwrap();
    };
    let longer = |path: &Path| fs::write(path, [&b"[Event \"new\"]\n"[..], &text(6000)].concat()).unwrap();
    for change in [overwrite as fn(&Path), rename, longer] {
        let (_, failures) = read_while(change);
        assert!(failures.len() == 1 && failures[0].1.contains("was replaced"), "{failures:?}");
    }

    // A file counts as read to its end if, during reading, it only grows, is removed or does not change.
    let grow = |path: &Path| {
        let mut file = fs::File::options().append(true).open(path).unwrap();
        file.write_all(b"[Event \"more\"]\n\n1. e4 *\n\n").unwrap();
    };
    let remove = |path: &Path| fs::remove_file(path).unwrap();
    for change in [grow as fn(&Path), remove, |_| ()] {
        let (found, failures) = read_while(change);
        assert!(failures.is_empty() && found.len() >= 5000, "{failures:?}");
    }
}

const PROSE: &str = "# orbit\n\nSearches games.\n\n2. Definitions\n\n```\n[Event \"x\"]\n\n1. e4 *\n```\n";

#[test]
fn what_is_no_pgn_is_refused_by_name_and_skipped_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("README.md"), PROSE).unwrap();
    fs::write(path("program.pgn"), b"\x7fELF\x02\x01\x01\0 1. e4").unwrap();
    fs::write(path("packed.pgn.gz"), gzip(PROSE.as_bytes())).unwrap();
    fs::write(path("game.pgn"), "1. e4 *\n").unwrap();
    fs::write(path("empty.pgn"), "").unwrap();
    for name in ["README.md", "program.pgn", "packed.pgn.gz"] {
        let sources = Sources::open(&[path(name)], Options::default()).unwrap();
        let (found, failures) = read(sources);
        assert!(found.is_empty(), "{name}");
        assert!(failures.len() == 1 && failures[0].1.starts_with("it is no PGN, FEN or EPD"), "{failures:?}");
    }
    let mut games = 0;
    let sources = Sources::open(&[folder.path().to_owned()], Options::default()).unwrap();
    let sources = each_game(sources, &mut |_, _| games += 1);
    let skipped: Vec<String> =
        sources.skipped().iter().map(|file| sources.sources()[file.source as usize].name.clone()).collect();
    assert_eq!(sources.failures(), []);
    assert_eq!((games, skipped.len()), (1, 2), "{skipped:?}");
    assert!(skipped[0].ends_with("packed.pgn.gz") && skipped[1].ends_with("program.pgn"), "{skipped:?}");
    // The size of chunks has no effect.
    let mut options = Options::default();
    for chunk_bytes in [1, 7, 300] {
        options.chunk_bytes = chunk_bytes;
        assert_eq!(read_bytes(PROSE.as_bytes(), &options).1.len(), 1);
        let preface = format!("Games of the club\n{}\n[Event \"x\"]\n\n1. e4 *\n", "and more\n".repeat(200));
        assert_eq!(read_bytes(preface.as_bytes(), &options).0.len(), 1);
    }
}

#[cfg(unix)]
#[test]
fn a_file_of_a_folder_that_cannot_be_read_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.pgn"), "1. e4 *\n").unwrap();
    std::os::unix::fs::symlink("nothing", folder.path().join("b.pgn")).unwrap();
    let (found, failures) = read(Sources::open(&[folder.path().to_owned()], Options::default()).unwrap());
    assert_eq!((found.len(), failures.len()), (1, 1), "{failures:?}");
}
