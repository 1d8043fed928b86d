//! Tests appends that are interrupted.

use std::fs;
use std::path::Path;

use orbit_database::BlockStream;
use orbit_pgn::READER_VERSION;
use orbit_reel::{Block, EncodedBlock, Reel, ReelError, ReelSource, ReelWriter, Totals};

use super::{folder, games, hits, info, run};

fn blocks(text: &str) -> Vec<Block> {
    let mut out = Vec::new();
    let mut options = orbit_database::StreamOptions::default();
    options.pgn.chunk_bytes = 1000;
    let database = BlockStream::from_pgn_bytes("games", text.as_bytes().to_vec(), options);
    let take = |taken: orbit_database::StreamedBlock, ()| {
        out.push(std::sync::Arc::unwrap_or_clone(taken.block));
        std::ops::ControlFlow::Continue(())
    };
    database.for_each_block(1, |_| (), take).unwrap();
    out
}

/// Appends blocks from an additional source to a reel (packed games).
fn append(path: &Path, blocks: &[Block], name: &str) -> Result<(), ReelError> {
    let mut writer = ReelWriter::append_to(path)?;
    blocks
        .iter()
        .try_for_each(|block| writer.append(&EncodedBlock::new(block), &Totals::from_block(block)))?;
    let source = ReelSource { name: name.into(), games: 4, reader: READER_VERSION, ..ReelSource::default() };
    writer.finish(&[source]).map(drop)
}

fn read(path: &Path) -> Result<(Vec<Block>, Vec<ReelSource>), ReelError> {
    let reel = Reel::open(path)?;
    let blocks: Result<Vec<Block>, ReelError> = (0..reel.blocks()).map(|index| reel.block(index)).collect();
    Ok((blocks?, reel.sources().to_vec()))
}

#[test]
fn an_append_that_stops_anywhere_leaves_the_old_reel() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("a.reel"), folder.path().join("b.reel"));
    let (first, second) = (blocks(&games("a").repeat(5)), blocks(&games("b").repeat(9)));
    assert!(first.len() > 1 && second.len() > 2);
    append(&path, &first, "a").unwrap();
    let (old, old_content) = (fs::read(&path).unwrap(), read(&path).unwrap());
    append(&path, &second, "b").unwrap();
    let (new, new_content) = (fs::read(&path).unwrap(), read(&path).unwrap());
    assert_eq!(new[64..old.len()], old[64..], "what was there is untouched but for the header");
    assert_eq!((new_content.0.len(), new_content.1.len()), (first.len() + second.len(), 2));

    let ends = (old.len()..=new.len()).step_by(7).chain([new.len()]);
    for (round, end) in ends.enumerate() {
        // The file contains everything that an append writes before the header, up to some byte. In some rounds, the first half
        // of these bytes is still zero, because a disk may write blocks in any order.
        let mut torn = [&old[..], &new[old.len()..end]].concat();
        if round % 3 == 1 && end > old.len() {
            let hole = old.len() + (end - old.len()) / 2;
            torn[old.len()..hole].fill(0);
        }
        if round % 3 == 2 {
            torn.resize(new.len() + 999, 7);
        }
        fs::write(&copy, &torn).unwrap();
        assert!(read(&copy).unwrap() == old_content, "{end}");
        append(&copy, &second, "b").unwrap();
        assert!(fs::read(&copy).unwrap() == new, "{end}");
    }
    // A file whose header refers to missing data must be rejected, not misread.
    fs::write(&copy, [&new[..64], &old[64..]].concat()).unwrap();
    assert!(matches!(read(&copy), Err(ReelError::Truncated { .. })));
}

#[test]
fn a_writer_that_is_dropped_leaves_the_old_reel() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.reel");
    let blocks = blocks(&games("a").repeat(50));
    append(&path, &blocks, "a").unwrap();
    let old = fs::read(&path).unwrap();
    let mut writer = ReelWriter::append_to(&path).unwrap();
    let encoded = EncodedBlock::new(&blocks[0]);
    let totals = Totals::from_block(&blocks[0]);
    (0..100).for_each(|_| writer.append(&encoded, &totals).unwrap());
    assert!(fs::metadata(&path).unwrap().len() > old.len() as u64, "something was written");
    drop(writer);
    assert!(fs::read(&path).unwrap() == old);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn two_appends_at_once_exclude_each_other() {
    let folder = folder();
    let path = folder.path().join("a.reel");
    run(folder.path(), 0, &["index", "a.pgn", "-o", "a.reel"]);
    let writer = ReelWriter::append_to(&path).unwrap();
    let stderr = run(folder.path(), 2, &["index", "--append", "b.pgn", "-o", "a.reel"]).1;
    assert!(stderr.contains("a.reel: another process is writing this reel"), "{stderr}");
    // A reader does not have to wait for the writer.
    assert!(!hits(folder.path(), "initial", &["a.reel"]).is_empty());
    drop(writer);
    run(folder.path(), 0, &["index", "--append", "b.pgn", "-o", "a.reel"]);

    // Now no reel exists yet, and two writers create one. The writer that finishes last detects the other's reel.
    let path = folder.path().join("new.reel");
    let writer = ReelWriter::append_to(&path).unwrap();
    run(folder.path(), 0, &["index", "--append", "b.pgn", "-o", "new.reel"]);
    let error = writer.finish(&[]).unwrap_err().to_string();
    assert!(error.ends_with("new.reel: another process has made this reel; append again"), "{error}");
    assert_eq!(Reel::open(&path).unwrap().sources()[0].name, "b.pgn");
    assert!(
        !fs::read_dir(&folder)
            .unwrap()
            .any(|entry| { entry.unwrap().file_name().to_string_lossy().contains(".tmp") })
    );
}

/// Corrects the checksums of a reel's directory and header.
fn forge(bytes: &mut [u8]) {
    let number = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let (at, len) = (number(bytes, 24), number(bytes, 32));
    let crc = crc32fast::hash(&bytes[at..at + len]);
    bytes[44..48].copy_from_slice(&crc.to_le_bytes());
    bytes[12..16].fill(0);
    let crc = crc32fast::hash(&bytes[..64]);
    bytes[12..16].copy_from_slice(&crc.to_le_bytes());
}

#[test]
fn forged_directories_are_refused_or_do_no_harm() {
    let folder = folder();
    let path = folder.path().join("a.reel");
    run(folder.path(), 0, &["index", "a.pgn", "-o", "a.reel"]);
    run(folder.path(), 0, &["index", "--append", "c.pgn.zst", "-o", "a.reel"]);
    let whole = fs::read(&path).unwrap();
    let reel = Reel::open(&path).unwrap();
    let directory = u64::from_le_bytes(whole[24..32].try_into().unwrap()) as usize;
    assert_eq!(reel.blocks(), 2);
    let find = |part: &[u8]| whole.windows(part.len()).rposition(|bytes| bytes == part).unwrap();
    let hash = reel.sources()[0].stamp.hash.unwrap().to_le_bytes();
    let try_with = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        fs::write(&path, &bytes).unwrap();
        assert!(matches!(read(&path), Err(ReelError::Checksum { .. })) || byte == whole[at], "{at}");
        forge(&mut bytes);
        fs::write(&path, &bytes).unwrap();
        read(&path).map(|(_, sources)| sources)
    };
    // With these offsets in the directory, the second block overlaps the first block or the directory.
    for offset in [64, directory as u64 - 8] {
        let low = offset.to_le_bytes()[0];
        if low != whole[directory + 32] {
            let refused = try_with(directory + 32, low).unwrap_err();
            assert!(
                matches!(refused, ReelError::Inconsistent { .. } | ReelError::Checksum { .. }),
                "{refused}"
            );
        }
    }
    let length = find(&hash) - 1;
    assert_eq!(whole[length], 8);
    for wrong in [1, 7, 9] {
        let refused = try_with(length, wrong).unwrap_err().to_string();
        assert!(refused.contains("inconsistent, in the directory"), "{refused}");
    }
    let refused = try_with(length + 9, 5).unwrap_err().to_string();
    assert!(refused.contains("a source has more duplicates than games"), "{refused}");
    // Whatever value a byte has, the reader must accept or reject the file, and must not panic.
    let mut accepted = 0;
    for (at, &now) in whole.iter().enumerate().skip(directory) {
        for byte in [0, 1, 0x7f, 0x80, 0xff, now ^ 1] {
            accepted += usize::from(try_with(at, byte).is_ok());
        }
    }
    assert!(accepted > 50, "{accepted}");
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_reel_wherever_it_is_full() {
    let folder = folder();
    let folder = folder.path();
    // Many sources are appended, so that the directory of the reel is large, too, and writing can fail within it.
    fs::create_dir(folder.join("many")).unwrap();
    for number in 0..100 {
        fs::write(folder.join(format!("many/{number}.pgn")), games(&number.to_string())).unwrap();
    }
    run(folder, 0, &["index", "a.pgn", "-o", "a.reel"]);
    let old = fs::read(folder.join("a.reel")).unwrap();
    // Limits the file size to `units` units of 512 bytes. The signal that reports an exceeded limit (SIGXFSZ) is ignored, so
    // writing fails with an error.
    let limited = |units: usize, args: &[&str]| {
        let script = format!("trap '' XFSZ; ulimit -f {units}; exec \"$0\" \"$@\"");
        let mut command = std::process::Command::new("sh");
        command.current_dir(folder).args(["-c", &script, env!("CARGO_BIN_EXE_orbit"), "index"]).args(args);
        let out = command.output().unwrap();
        (out.status.code(), String::from_utf8(out.stderr).unwrap())
    };
    let mut failures = 0;
    let needed = (1..).find(|&units| {
        let (code, stderr) = limited(units, &["--append", "many", "-o", "a.reel"]);
        if code == Some(0) {
            return true;
        }
        failures += 1;
        assert!(stderr.starts_with("error: a.reel: nothing was appended: "), "{stderr}");
        assert!(fs::read(folder.join("a.reel")).unwrap() == old, "{units}");
        false
    });
    assert!(failures > 10, "{failures}");
    info(folder, "a.reel");
    let (code, stderr) = limited(needed.unwrap() / 2, &["many", "-o", "new.reel"]);
    assert_eq!((code, stderr.contains("error: new.reel: ")), (Some(2), true), "{stderr}");
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.into_iter().any(|name| name.to_string_lossy().starts_with("new.reel")));
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_the_old_reel() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use crate::common::waiting::Process;
    let folder = folder();
    let folder = folder.path();
    run(folder, 0, &["index", "a.pgn", "-o", "a.reel"]);
    let old = fs::read(folder.join("a.reel")).unwrap();
    let content = read(&folder.join("a.reel")).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_orbit"))
        .current_dir(folder)
        .args(["index", "--append", "-", "-o", "a.reel"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut process = Process::new(child);
    let mut stdin = process.stdin.take().unwrap();
    let many: String = (0..20_000).map(|number| games(&number.to_string())).collect();
    stdin.write_all(many.as_bytes()).unwrap();
    process.until("a reel that grows", || {
        let bytes = fs::metadata(folder.join("a.reel")).unwrap().len();
        if bytes > old.len() as u64 { Ok(()) } else { Err(bytes) }
    });
    // Standard input stays open. The process is now blocked on input, so after the interrupt it ends only when its grace period
    // is over.
    process.falls_asleep();
    process.interrupt();
    assert_eq!(process.end("orbit index").code(), Some(130));
    drop(stdin);
    assert!(read(&folder.join("a.reel")).unwrap() == content);
    run(folder, 0, &["index", "--append", "b.pgn", "-o", "a.reel"]);
    assert_eq!(hits(folder, "initial", &["a.reel"]), hits(folder, "initial", &["a.pgn", "b.pgn"]));
}
