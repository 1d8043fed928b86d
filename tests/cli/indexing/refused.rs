//! Tests reels (packed games) that are unreadable, or that are given where reels are not allowed.

use std::fs;
use std::path::Path;

use super::{folder, hits, piped, run};

const REASON: &str = "it is a reel: give it by its name, as a file that is not packed";

#[test]
fn a_reel_in_a_stream_is_not_read_as_games() {
    let folder = folder();
    let folder = folder.path();
    run(folder, 0, &["index", "a.pgn", "-o", "a.reel"]);
    let bytes = fs::read(folder.join("a.reel")).unwrap();
    fs::write(folder.join("a.reel.zst"), zstd::bulk::compress(&bytes, 1).unwrap()).unwrap();
    for (path, name) in [("-", "standard input"), ("a.reel.zst", "a.reel.zst")] {
        let stderr = piped(folder, 3, "a.reel", &["scan", "--count", "stalemate", path]);
        assert!(stderr.contains(&format!("{name}: not read beyond byte 0: {REASON}")), "{stderr}");
    }
    // A reel is recognised even if its name lacks the ending `.reel`.
    fs::copy(folder.join("a.reel"), folder.join("renamed")).unwrap();
    assert_eq!(hits(folder, "initial", &["renamed"]), hits(folder, "initial", &["a.pgn"]));
}

#[cfg(unix)]
#[test]
fn a_reel_in_a_pipe_is_not_read_as_games() {
    let folder = folder();
    let folder = folder.path();
    run(folder, 0, &["index", "a.pgn", "-o", "a.reel"]);
    let pipe = folder.join("pipe.reel");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let bytes = fs::read(folder.join("a.reel")).unwrap();
    // The program may stop reading early, so a failed write is ignored.
    let writer = std::thread::spawn(move || drop(fs::write(pipe, bytes)));
    let stderr = run(folder, 3, &["scan", "--count", "initial", "pipe.reel"]).1;
    assert!(stderr.contains(REASON), "{stderr}");
    writer.join().unwrap();
}

#[cfg(unix)]
#[test]
fn pipes_beside_sources_are_not_waited_for() {
    let folder = folder();
    let folder = folder.path();
    let pipe = |name: &str| {
        let made = std::process::Command::new("mkfifo").arg(folder.join(name)).status();
        assert!(made.unwrap().success());
    };
    fs::create_dir(folder.join("db")).unwrap();
    fs::create_dir(folder.join("job")).unwrap();
    pipe("db/orbit-manifest.json");
    pipe("job/job.json");
    pipe("pipe.cqo");
    for (code, args) in [
        (2, &["scan", "--count", "initial", "db"][..]),
        (2, &["info", "db"]),
        (2, &["job", "status", "job"]),
        (2, &["scan", "--files", ".", "cql() readfile \"pipe.cqo\"", "a.pgn"]),
        (2, &["scan", "--files", ".", "cql() writefile(\"pipe.cqo\" \"x\")", "a.pgn"]),
    ] {
        let stderr = run(folder, code, args).1;
        assert!(stderr.contains("not an ordinary file"), "{args:?}: {stderr}");
    }
}

#[test]
fn bytes_behind_a_reel_are_told() {
    let folder = folder();
    let folder = folder.path();
    run(folder, 0, &["index", "a.pgn", "-o", "a.reel"]);
    let sentence = "5 bytes behind its end are no part of the reel and not read: an append that was interrupted or is going on wrote \
                    them, or another program";
    let told = |text: &str| text.contains(sentence);
    let problems =
        |name: &str| orbit_chess::DatabaseOptions::new().open([folder.join(name)]).unwrap().problems();
    assert!(!told(&run(folder, 0, &["info", "a.reel"]).0));
    assert!(problems("a.reel").is_empty());
    let clean = fs::read(folder.join("a.reel")).unwrap();
    fs::write(folder.join("a.reel"), [&clean[..], b"other"].concat()).unwrap();
    assert!(told(&run(folder, 0, &["info", "a.reel"]).0));
    assert!(run(folder, 0, &["info", "--json", "a.reel"]).0.contains("\"bytes_behind\":5"));
    assert!(told(&run(folder, 0, &["scan", "--count", "initial", "a.reel"]).1));
    assert!(!told(&run(folder, 0, &["scan", "-q", "--count", "initial", "a.reel"]).1));
    assert_eq!(problems("a.reel"), [format!("{}: {sentence}", folder.join("a.reel").display())]);
    run(folder, 0, &["index", "--shards", "1M", "a.pgn", "-o", "shards"]);
    let shard = folder.join("shards/00000.reel");
    assert!(!told(&run(folder, 0, &["info", "shards"]).0));
    fs::write(&shard, [fs::read(&shard).unwrap(), b"other".to_vec()].concat()).unwrap();
    assert!(told(&run(folder, 0, &["info", "shards"]).0));
    assert!(run(folder, 0, &["info", "--json", "shards"]).0.contains("\"bytes_behind\":5"));
    assert_eq!(problems("shards"), [format!("{}: {sentence}", shard.display())]);
}

#[test]
fn what_is_called_a_reel_is_no_list_of_games() {
    let folder = folder();
    let folder = folder.path();
    run(folder, 0, &["index", "a.pgn", "-o", "a.reel"]);
    let bytes = fs::read(folder.join("a.reel")).unwrap();
    for (name, bytes) in [("cut.reel", &bytes[..4]), ("empty.reel", b""), ("TEXT.REEL", b"1. e4 *")] {
        fs::write(folder.join(name), bytes).unwrap();
        for args in [
            &["scan", "--count", "initial", name][..],
            &["index", name, "-o", "new.reel"],
            &["index", "--append", name, "-o", "a.reel"],
        ] {
            let stderr = run(folder, 2, args).1;
            assert_eq!(stderr, format!("error: {name} is no reel: `orbit index` makes one from PGN\n"));
        }
    }
}

/// Damages the first block (group of games) of a reel, and keeps the header and the directory intact.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    bytes[64 + 100] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn an_index_that_was_not_written_is_no_half_success() {
    let folder = folder();
    let folder = folder.path();
    for reel in ["a.reel", "target.reel"] {
        run(folder, 0, &["index", "a.pgn", "-o", reel]);
        damage(&folder.join(reel));
    }
    let target = fs::read(folder.join("target.reel")).unwrap();
    for (args, named) in [
        (&["b.pgn", "a.reel", "-o", "new.reel"][..], "a.reel"),
        (&["--no-duplicates", "--append", "b.pgn", "-o", "target.reel"], "target.reel"),
    ] {
        let stderr = run(folder, 2, &[&["index"], args].concat()).1;
        assert!(
            stderr.contains(&format!("error: {named}: damaged, the checksum of block 0 is wrong")),
            "{stderr}"
        );
    }
    assert!(!folder.join("new.reel").exists() && fs::read(folder.join("target.reel")).unwrap() == target);
}

#[test]
fn a_damaged_reel_beside_a_file_says_how_to_read_the_file() {
    let folder = folder();
    let folder = folder.path();
    run(folder, 0, &["index", "a.pgn", "-o", "a.reel"]);
    damage(&folder.join("a.reel"));
    let stderr = run(folder, 3, &["scan", "--count", "initial", "b.pgn", "a.pgn"]).1;
    assert!(
        stderr.contains("; this reel is read instead of a.pgn: --no-reel reads a.pgn itself\n"),
        "{stderr}"
    );
    run(folder, 0, &["scan", "--no-reel", "--count", "initial", "b.pgn", "a.pgn"]);
    // If only the reel is named, there is no file to read instead, so the message must not suggest `--no-reel`.
    let stderr = run(folder, 3, &["scan", "--count", "initial", "a.reel"]).1;
    assert!(stderr.contains("checksum") && !stderr.contains("--no-reel"), "{stderr}");
}
