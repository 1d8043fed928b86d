//! Tests folders of reels (packed games): each must give the same database as a single reel, and must never be read incompletely.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::{done, orbit, parts};
use crate::program::SAMPLE;

/// Returns a folder with the games of two sources, as one reel and as a folder of at least four reels.
fn database() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(SAMPLE).unwrap();
    fs::write(folder.path().join("many.pgn"), text.repeat(5)).unwrap();
    fs::write(folder.path().join("few.pgn"), format!("{text}\n1. e4 e5 2. Ke3 *\n")).unwrap();
    let inputs = ["many.pgn", "few.pgn"];
    done(folder.path(), &[&["index", "-q", "-o", "one.reel"], &inputs[..]].concat());
    done(folder.path(), &[&["index", "-q", "--shards", "500K", "-o", "db/"], &inputs[..]].concat());
    folder
}

#[test]
fn a_folder_of_reels_is_the_reel() {
    let folder = database();
    let folder = folder.path();
    let manifest: Value =
        serde_json::from_slice(&fs::read(folder.join("db/orbit-manifest.json")).unwrap()).unwrap();
    let shards = manifest["shards"].as_array().unwrap();
    assert!(shards.len() >= 4, "{manifest:#}");
    for (number, shard) in shards.iter().enumerate() {
        let path = folder.join("db").join(shard["file"].as_str().unwrap());
        assert_eq!(shard["file"], format!("{number:05}.reel"));
        assert_eq!(shard["bytes"], fs::metadata(path).unwrap().len());
        let info: Value =
            serde_json::from_str(&done(folder, &["info", "--json", &format!("db/{number:05}.reel")]))
                .unwrap();
        assert_eq!((&info["games"]["all"], &info["positions"]), (&shard["games"], &shard["positions"]));
    }
    let rows: [&[&str]; 9] = [
        &["-F", "text", "--limit", "3000", "check"],
        &["-F", "jsonl", "shift flip {Nd4 kf3}"],
        &["-F", "pgn", "--limit", "20", "--skip", "4900", "check"],
        &["--stats", "source,year", "check"],
        &["-F", "plain", "gamenumber>=1500 gamenumber<1600 check"],
        &["-F", "plain", "lastgamenumber-gamenumber<3"],
        &["--problems", "/dev/stdout", "--count", "check"],
        &["--unique", "--count", "check"],
        &["-o", "-", "--sample", "9", "check"],
    ];
    for row in rows {
        let of = |database: &str| done(folder, &[&["scan", "-q"], row, &[database]].concat());
        assert!(of("db") == of("one.reel"), "{row:?}");
    }
    assert_eq!(done(folder, &["show", "db", "5432"]), done(folder, &["show", "one.reel", "5432"]));
    let batch =
        |database: &str| done(folder, &["batch", "-q", "catalogue", "--only", "back-rank-mate", database]);
    assert_eq!(batch("db/"), batch("one.reel"));
    done(folder, &["index", "-q", "db/", "-o", "again.reel"]);
    assert!(fs::read(folder.join("again.reel")).unwrap() == fs::read(folder.join("one.reel")).unwrap());
    let info = done(folder, &["info", "--verify", "db/"]);
    assert!(info.contains("verified: every checksum") && info.contains("many.pgn: 5,000 games"), "{info}");
    // A folder of reels must be equivalent to a single reel even if files are given before and after it.
    let of = |database: &str| {
        done(folder, &["scan", "-q", "-F", "text", "--skip", "900", "check", "few.pgn", database, "few.pgn"])
    };
    assert!(of("db") == of("one.reel"));
}

#[test]
fn a_shard_is_a_part() {
    let folder = database();
    let folder = folder.path();
    for (out, wanted) in [("out/", None), ("two/", Some("2"))] {
        let plan = ["job", "plan", "-q", "-F", "text", "-o", out, "shift flip {Nd4 kf3}", "db/"];
        done(folder, &[&plan[..], &wanted.map_or(vec![], |parts| vec!["--parts", parts])].concat());
        let shards = fs::read_dir(folder.join("db")).unwrap().count() - 1;
        assert_eq!(parts(folder, out), wanted.map_or(shards, |parts| parts.parse().unwrap()));
        done(folder, &["job", "part", "-q", out]);
        assert!(
            done(folder, &["job", "merge", out])
                == done(folder, &["scan", "-q", "shift flip {Nd4 kf3}", "one.reel"])
        );
    }
}

#[track_caller]
fn refuses(folder: &Path, args: &[&str], code: i32, text: &str) {
    let (found, _, stderr) = orbit(folder, args);
    assert_eq!(found, code, "{args:?}: {stderr}");
    assert!(stderr.contains(text), "{args:?}: {stderr}");
}

#[test]
fn a_folder_that_is_not_as_it_was_written_is_refused() {
    let folder = database();
    let folder = folder.path();
    let scan = ["scan", "-q", "--count", "check", "db/"];
    let shard = |number: usize| folder.join(format!("db/{number:05}.reel"));
    let manifest = folder.join("db/orbit-manifest.json");
    let (first, second) = (fs::read(shard(0)).unwrap(), fs::read(shard(1)).unwrap());
    done(folder, &["job", "plan", "-q", "-o", "out/", "check", "db/"]);
    // If a shard (a reel of the folder) is missing, the exit code is 3, as for a source that cannot be read to its end.
    fs::remove_file(shard(1)).unwrap();
    refuses(folder, &scan, 3, "00001.reel is missing, which orbit-manifest.json names: put the file back");
    refuses(folder, &["info", "db"], 3, "00001.reel is missing");
    refuses(folder, &["job", "part", "1", "out"], 3, "00001.reel is missing");
    // A shard was cut, exchanged or altered.
    fs::write(shard(1), &second[..second.len() / 2]).unwrap();
    refuses(folder, &scan, 2, "00001.reel");
    fs::write(shard(1), &first).unwrap();
    refuses(folder, &scan, 2, "00001.reel is not the reel that orbit-manifest.json describes");
    refuses(folder, &["job", "part", "3", "out"], 2, "00001.reel is not the reel");
    let mut altered = second.clone();
    altered[second.len() / 2] ^= 1;
    fs::write(shard(1), &altered).unwrap();
    refuses(folder, &scan, 3, "00001.reel");
    refuses(folder, &["job", "part", "2", "out"], 3, "00001.reel");
    assert!(!folder.join("out/parts/00002.part").exists());
    refuses(folder, &["info", "--verify", "db"], 2, "00001.reel");
    fs::write(shard(1), &second).unwrap();
    done(folder, &scan);
    // The manifest was altered, cut or removed.
    let text = fs::read_to_string(&manifest).unwrap();
    let altered = text.replacen("\"many.pgn\"", "\"more.pgn\"", 1);
    assert!(altered != text);
    for wrong in [&altered, &text[..text.len() / 2], "", "{}"] {
        fs::write(&manifest, wrong).unwrap();
        refuses(folder, &scan, 2, "is no manifest of this version of orbit, or was altered or cut");
    }
    fs::remove_file(&manifest).unwrap();
    refuses(folder, &scan, 2, "`orbit index --shards` was not finished; index again into a new folder");
    fs::write(&manifest, &text).unwrap();
    // A folder with a different manifest is a different database.
    fs::remove_dir_all(folder.join("db")).unwrap();
    done(folder, &["index", "-q", "--shards", "1M", "-o", "db/", "many.pgn", "few.pgn"]);
    refuses(folder, &["job", "part", "1", "out"], 2, "the sources are others than when it was planned");
}

#[test]
fn a_folder_in_use_is_not_written() {
    let folder = database();
    let folder = folder.path();
    let index = |output: &'static str| ["index", "--shards", "1M", "-o", output, "few.pgn"];
    refuses(folder, &index("db/"), 2, "db/ contains files already: give the name of a new folder");
    refuses(folder, &index("few.pgn"), 2, "few.pgn");
    refuses(
        folder,
        &["index", "--append", "db/", "-o", "one.reel"],
        2,
        "db/ is a folder of reels, which cannot be appended",
    );
    refuses(folder, &["scan", "check", "db/", "-o", "db/00000.reel"], 2, "db/00000.reel");
    // A partly unreadable source is reported, and the games that were read from it are kept.
    fs::write(folder.join("cut.pgn.gz"), b"\x1f\x8b\x08\x00\x00").unwrap();
    refuses(
        folder,
        &["index", "--shards", "1M", "-o", "cut/", "few.pgn", "cut.pgn.gz"],
        3,
        "cut.pgn.gz: not read beyond",
    );
    assert_eq!(
        done(folder, &["scan", "-q", "--count", "check", "cut"]),
        done(folder, &["scan", "-q", "--count", "check", "few.pgn"])
    );
    // A database without games is allowed.
    fs::write(folder.join("none.pgn"), "\n").unwrap();
    let (_, _, stderr) = orbit(folder, &["index", "--shards", "1M", "-o", "none/", "none.pgn"]);
    assert!(folder.join("none/orbit-manifest.json").exists(), "{stderr}");
    done(folder, &["scan", "-q", "--count", "check", "none"]);
}
