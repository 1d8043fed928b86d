//! Tests the reels of a folder (shards) when they are used on their own, and the folder while another process writes to it.

use std::fs;
use std::path::Path;

use orbit_reel::{Manifest, Reel, ShardsWriter};

use super::{folder, games, run, set_time};

/// Returns the number of games in some databases.
fn count(folder: &Path, paths: &[&str]) -> u64 {
    let args = [&["scan", "-q", "--count", "--format", "jsonl", "true"], paths].concat();
    let counts: serde_json::Value = serde_json::from_str(&run(folder, 0, &args).0).unwrap();
    counts["games"].as_u64().unwrap()
}

/// Writes a folder `db` of several reels. They contain the games of `many.pgn`, which is written too.
fn shards(folder: &Path) -> Vec<String> {
    let text: String = (0..40_000).map(|n| format!("[Event \"{n}\"]\n\n1. e4 e5 2. Nf3 *\n\n")).collect();
    fs::write(folder.join("many.pgn"), text).unwrap();
    run(folder, 0, &["index", "--shards", "1K", "many.pgn", "-o", "db"]);
    let manifest = Manifest::read(&folder.join("db/orbit-manifest.json")).unwrap();
    assert!(manifest.shards.len() > 1);
    manifest.shards.iter().map(|shard| format!("db/{}", shard.file)).collect()
}

#[test]
fn a_shard_is_not_taken_for_its_whole_source() {
    let folder = folder();
    let folder = folder.path();
    let shards = shards(folder);
    let last = shards.last().unwrap();
    let part = count(folder, &[last]);
    assert!(0 < part && part < 40_000);
    assert_eq!(count(folder, &["many.pgn", last]), 40_000 + part);
    assert_eq!(count(folder, &["many.pgn", "db"]), 40_000);
    fs::copy(folder.join(last), folder.join("many.reel")).unwrap();
    assert_eq!(count(folder, &["many.pgn"]), 40_000);
    // A reel made from shards contains parts, too.
    run(folder, 0, &["index", last, "-o", "many.reel"]);
    assert_eq!(count(folder, &["many.pgn"]), 40_000);
}

#[test]
fn shards_are_appended_together_or_not_at_all() {
    let folder = folder();
    let folder = folder.path();
    let shards = shards(folder);
    let all: Vec<&str> = shards.iter().map(String::as_str).collect();
    run(folder, 0, &[&["index", "--append", "-o", "all.reel"], &all[..]].concat());
    assert_eq!(count(folder, &["all.reel"]), 40_000);
    for reel in ["all.reel", "first.reel"] {
        run(folder, 0, &["index", "--append", "a.pgn", &shards[0], "-o", "first.reel"]);
        let before = fs::read(folder.join(reel)).unwrap();
        let stderr = run(folder, 2, &["index", "--append", &shards[1], "-o", reel]).1;
        let due = format!("contains a part of many.pgn, and {reel} contains games of it, perhaps the same");
        assert!(stderr.contains(&due), "{stderr}");
        assert!(fs::read(folder.join(reel)).unwrap() == before);
        fs::remove_file(folder.join("first.reel")).ok();
    }
    let stderr = run(folder, 2, &["index", "--append", "many.pgn", &shards[0], "-o", "new.reel"]).1;
    assert!(stderr.contains("contains many.pgn, and so does an input before it"), "{stderr}");
    assert!(Reel::open(&folder.join("new.reel")).is_err());
}

#[test]
fn nothing_else_writes_to_a_folder_of_reels() {
    let folder = folder();
    let folder = folder.path();
    let index = ["index", "--shards", "1M", "a.pgn", "-o", "db"];
    let writer = ShardsWriter::create(&folder.join("db"), 1 << 20, false).unwrap();
    let stderr = run(folder, 2, &index).1;
    assert!(stderr.contains("another process is writing to db: wait until it is done"), "{stderr}");
    drop(writer);
    run(folder, 0, &index);
    let before = fs::read(folder.join("db/00000.reel")).unwrap();
    for option in ["--quiet", "--append"] {
        let stderr = run(folder, 2, &["index", option, "b.pgn", "-o", "db/00000.reel"]).1;
        assert!(stderr.contains("db/00000.reel is one of the reels in db"), "{stderr}");
    }
    assert!(fs::read(folder.join("db/00000.reel")).unwrap() == before);
    for problems in ["new/orbit-manifest.json", "./new/00000.reel"] {
        let args = ["index", "--shards", "1M", "a.pgn", "-o", "new", "--problems", problems];
        let stderr = run(folder, 2, &args).1;
        assert!(
            stderr.contains("is in the folder of the reels, which must contain nothing else"),
            "{stderr}"
        );
    }
}

/// The table of positions, the list of problems and the inputs must be different files.
#[test]
fn a_table_of_positions_replaces_nothing_else() {
    let folder = folder();
    let folder = folder.path();
    fs::copy(folder.join("a.pgn"), folder.join("q.reel.positions")).unwrap();
    for args in [
        ["a.pgn", "-o", "a.reel", "--problems", "a.reel.positions"],
        ["q.reel.positions", "-o", "q.reel", "--problems", "problems.txt"],
    ] {
        let stderr = run(folder, 2, &[&["index", "--positions"], &args[..]].concat()).1;
        assert!(stderr.contains(".reel.positions"), "{stderr}");
    }
    assert_eq!(fs::read_to_string(folder.join("q.reel.positions")).unwrap(), games("a"));
}

/// A file that could not be read to its end does not keep new files of its folder from being appended.
#[test]
fn a_damaged_file_is_skipped_while_it_stays_as_it_is() {
    let folder = folder();
    let folder = folder.path();
    let packed = fs::read(folder.join("c.pgn.zst")).unwrap().repeat(2);
    fs::write(folder.join("c.pgn.zst"), &packed[..packed.len() - 3]).unwrap();
    set_time(&folder.join("c.pgn.zst"), 1);
    run(folder, 3, &["index", "a.pgn", "c.pgn.zst", "-o", "all.reel"]);
    let before = count(folder, &["all.reel"]);
    let stderr = run(folder, 3, &["index", "--append", "a.pgn", "b.pgn", "c.pgn.zst", "-o", "all.reel"]).1;
    assert!(stderr.contains("c.pgn.zst: skipped: all.reel contains what can be read of it: "), "{stderr}");
    assert_eq!(count(folder, &["all.reel"]), before + count(folder, &["b.pgn"]));
    set_time(&folder.join("c.pgn.zst"), 2);
    let stderr = run(folder, 2, &["index", "--append", "c.pgn.zst", "-o", "all.reel"]).1;
    assert!(stderr.contains("c.pgn.zst was not read to its end when all.reel was made"), "{stderr}");
}
