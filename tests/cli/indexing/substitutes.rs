//! Tests the use of reels (packed games) as substitutes for the files beside them.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use orbit_chess::Database;
use orbit_database::{BlockStream, StreamOptions};
use orbit_pgn::READER_VERSION;
use orbit_reel::{Alike, GameHash, Problem, Reel};
use sha2::{Digest as _, Sha256};

use super::{folder, games, hits, info, piped, run, set_time};
use crate::serve::Server;

const NOTICE: &str = "reading a.reel instead of a.pgn, from which it was made (--no-reel reads a.pgn)";

/// Returns a scan's output, and true if the scan read a reel instead of a file.
fn scan(folder: &Path, args: &[&str]) -> (String, bool) {
    let (stdout, stderr) = run(folder, 0, &[&["scan", "--format", "jsonl", "Nf3"], args].concat());
    assert!(!stdout.is_empty());
    (stdout, stderr.contains("(--no-reel reads "))
}

#[test]
fn a_fresh_reel_is_read_instead_and_answers_the_same() {
    let folder = folder();
    let folder = folder.path();
    let (text, path) = (games("b").repeat(300), |name: &str| folder.join(name));
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    fs::write(path("gz.pgn.gz"), gz.finish().unwrap()).unwrap();
    for (file, reel) in [("b.pgn", "b.reel"), ("c.pgn.zst", "c.reel"), ("gz.pgn.gz", "gz.reel")] {
        let expected = scan(folder, &[file]);
        assert!(!expected.1);
        run(folder, 0, &["index", file, "-o", reel]);
        assert_eq!(scan(folder, &[file]), (expected.0.clone(), true), "{file}");
        // The reel is used however the file's path is written, and whatever other files are given. The output contains the path
        // as it was given.
        let dotted = format!("./{file}");
        let answers = scan(folder, &["a.pgn", &dotted, "a.pgn"]);
        assert_eq!(answers, (scan(folder, &["--no-reel", "a.pgn", &dotted, "a.pgn"]).0, true), "{file}");
        assert_eq!(scan(folder, &["--no-reel", file]), (expected.0, false), "{file}");
    }
    let [reel, pgn] = [&["-v"][..], &["-v", "--no-reel"]].map(|args| {
        let args =
            [&["scan", "--format", "plain", "Nf3", "b.pgn", "--problems", "problems.txt"], args].concat();
        let stderr = run(folder, 0, &args).1;
        let told: Vec<String> =
            stderr.lines().filter(|line| line.contains("byte")).map(String::from).collect();
        (told, fs::read_to_string(path("problems.txt")).unwrap())
    });
    assert_eq!(reel, pgn);
    assert!(reel.1.lines().count() == 600);
}

#[test]
fn it_is_said_unless_nobody_wants_to_know() {
    let folder = folder();
    let folder = folder.path();
    run(folder, 0, &["index", "a.pgn", "-o", "a.reel"]);
    fs::write(folder.join("queries"), "Nf3\n").unwrap();
    for (args, is_told) in [
        (&["Nf3", "a.pgn"][..], true),
        (&["--queries", "queries", "a.pgn"], true),
        (&["-q", "Nf3", "a.pgn"], false),
        (&["-q", "--queries", "queries", "a.pgn"], false),
        (&["--no-reel", "Nf3", "a.pgn"], false),
    ] {
        let stderr = run(folder, 0, &[&["scan"], args].concat()).1;
        assert_eq!(stderr.lines().filter(|line| *line == NOTICE).count(), usize::from(is_told), "{stderr}");
    }
}

#[test]
fn only_a_reel_of_this_file_as_it_is_will_do() {
    let folder = folder();
    let folder = folder.path();
    let path = |name: &str| folder.join(name);
    let index = |args: &[&str]| run(folder, 0, &[&["index", "-o", "a.reel"], args].concat());
    let is_read = |paths: &[&str]| scan(folder, paths).1;
    set_time(&path("a.pgn"), 1);
    index(&["a.pgn"]);
    assert!(is_read(&["a.pgn"]));
    // If the command names both the file and its reel, the reel is read only once.
    let rows = |paths: &[&str]| scan(folder, paths).0.lines().count();
    for paths in [["a.pgn", "./a.reel"], ["./a.reel", "a.pgn"]] {
        assert!(is_read(&paths));
        assert_eq!(rows(&paths), rows(&["a.pgn"]), "{paths:?}");
    }
    assert_eq!(rows(&["--no-reel", "a.pgn", "a.reel"]), 2 * rows(&["a.pgn"]));
    // A file found in a folder, or standard input, is never replaced by a reel.
    fs::create_dir(path("games")).unwrap();
    for name in ["a.pgn", "a.reel"] {
        fs::copy(path(name), path("games").join(name)).unwrap();
    }
    set_time(&path("games/a.pgn"), 1);
    assert!(!is_read(&["games"]));
    assert!(is_read(&["games/a.pgn"]));
    // If both the file and the reel are renamed, the reel is ignored, because it was built from a file with the old name.
    fs::copy(path("a.pgn"), path("z.pgn")).unwrap();
    fs::copy(path("a.reel"), path("z.reel")).unwrap();
    set_time(&path("z.pgn"), 1);
    assert!(!is_read(&["z.pgn"]));
    // The file is changed in three ways: it gets a new time; it gets more bytes; it gets new contents of the same size, and a new
    // time.
    set_time(&path("a.pgn"), 2);
    assert!(!is_read(&["a.pgn"]));
    fs::write(path("a.pgn"), games("a") + "\n").unwrap();
    set_time(&path("a.pgn"), 1);
    assert!(!is_read(&["a.pgn"]));
    fs::write(path("a.pgn"), games("z")).unwrap();
    assert!(!is_read(&["a.pgn"]));
    // A reel that was built from another file or from several files is ignored.
    index(&["b.pgn"]);
    assert!(!is_read(&["a.pgn"]));
    index(&["a.pgn", "b.pgn"]);
    assert!(!is_read(&["a.pgn"]));
    index(&["a.pgn"]);
    assert!(is_read(&["a.pgn"]));
    run(folder, 0, &["index", "--append", "b.pgn", "-o", "a.reel"]);
    assert!(!is_read(&["a.pgn"]));
    // A reel that was built without duplicates is ignored.
    fs::write(path("a.pgn"), games("a").repeat(2)).unwrap();
    index(&["--no-duplicates", "a.pgn"]);
    assert!(!is_read(&["a.pgn"]));
    // The reel is damaged or is not a reel at all, so the file itself is read.
    let whole = fs::read(path("a.reel")).unwrap();
    for bytes in [&whole[..40], b"no reel", b""] {
        fs::write(path("a.reel"), bytes).unwrap();
        assert!(!is_read(&["a.pgn"]));
    }
}

/// Changes the version of the PGN parsing rules in a reel's header, and updates the header's checksum.
fn read_by(path: &Path, reader: u32) {
    let mut bytes = fs::read(path).unwrap();
    bytes[48..52].copy_from_slice(&reader.to_le_bytes());
    bytes[12..16].fill(0);
    let crc = crc32fast::hash(&bytes[..64]);
    bytes[12..16].copy_from_slice(&crc.to_le_bytes());
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_reel_that_other_rules_made_is_passed_over_and_that_is_said() {
    let folder = folder();
    let folder = folder.path();
    let reel = folder.join("a.reel");
    run(folder, 0, &["index", "a.pgn", "-o", "a.reel"]);
    assert_eq!(run(folder, 0, &["scan", "--count", "Nf3", "a.pgn"]).1.lines().next(), Some(NOTICE));
    // The reel records an unknown or a newer version of the parsing rules.
    for reader in [0, 999] {
        read_by(&reel, reader);
        let notice = "reading a.pgn, not a.reel: another version of orbit made the reel and read games by other rules; \
                      `orbit index a.pgn -o a.reel` makes it again";
        let stderr = run(folder, 0, &["scan", "--count", "Nf3", "a.pgn"]).1;
        assert_eq!(stderr.lines().next(), Some(notice), "{reader}: {stderr}");
        let stderr = run(folder, 0, &["scan", "--count", "Nf3", "a.pgn", "-q"]).1;
        assert!(!stderr.contains("rules"), "{stderr}");
        // If the reel itself is named, it is read with a note, even if its source is beside it.
        assert_eq!(hits(folder, "Nf3", &["a.reel"]), hits(folder, "Nf3", &["a.pgn"]));
        let notice = "another version of orbit made a.reel and read games by other rules, so that answers may differ from those of \
                      its files; `orbit index a.pgn -o a.reel` makes it again";
        fs::write(folder.join("queries"), "Nf3\n").unwrap();
        for args in [
            &["scan", "--count", "Nf3", "a.reel"][..],
            &["scan", "--queries", "queries", "a.reel"],
            &["index", "a.reel", "-o", "again.reel"],
            &["show", "a.reel", "1"],
        ] {
            let stderr = run(folder, 0, args).1;
            assert_eq!(stderr.lines().filter(|line| *line == notice).count(), 1, "{args:?}: {stderr}");
        }
        let stdout = run(folder, 0, &["info", "a.reel"]).0;
        assert_eq!(stdout.lines().filter(|line| *line == notice).count(), 1, "{stdout}");
        assert_eq!(info(folder, "a.reel")["outdated"], notice);
        let problems = Database::open([&reel]).unwrap().problems();
        assert!(
            matches!(&problems[..], [one] if one.contains("read games by other rules") && one.contains("orbit index")),
            "{problems:?}"
        );
        let stderr = run(folder, 0, &["scan", "--count", "Nf3", "a.reel", "-q"]).1;
        assert!(!stderr.contains("rules"), "{stderr}");
        // A reel copied from the old reel keeps the old version of the rules. A reel built from the old reel and another file
        // records no version. Nothing can be appended to the old reel.
        let before = fs::read(&reel).unwrap();
        let stderr = run(folder, 2, &["index", "--append", "b.pgn", "-o", "a.reel"]).1;
        assert!(
            stderr.contains("a.reel: nothing was appended: another version of orbit made the reel"),
            "{stderr}"
        );
        assert!(fs::read(&reel).unwrap() == before);
        run(folder, 0, &["index", "a.reel", "b.pgn", "-o", "both.reel"]);
        for (name, expected) in [("again.reel", reader), ("both.reel", 0)] {
            assert_eq!(Reel::open(&folder.join(name)).unwrap().reader(), expected, "{name}");
            assert_eq!(info(folder, name)["reader_version"], expected, "{name}");
        }
    }
    fs::write(folder.join("a.pgn"), games("other")).unwrap();
    let stderr = run(folder, 0, &["scan", "--count", "Nf3", "a.pgn"]).1;
    assert!(!stderr.contains("rules"), "{stderr}");
    run(folder, 0, &["index", "a.pgn", "-o", "a.reel"]);
    let stderr = run(folder, 0, &["index", "a.reel", "-o", "again.reel"]).1;
    assert!(!stderr.contains("rules"), "{stderr}");
    run(folder, 0, &["index", "--append", "b.pgn", "-o", "again.reel"]);
    assert_eq!(Reel::open(&folder.join("again.reel")).unwrap().reader(), READER_VERSION);
    assert!(scan(folder, &["a.pgn"]).1);
}

/// If a file and a reel that contains it are both given, their games are counted only once, whatever the reel's name is.
#[test]
fn a_file_beside_a_reel_that_holds_it_is_read_once() {
    let folder = folder();
    let folder = folder.path();
    let rows = |paths: &[&str]| scan(folder, paths).0.lines().count();
    run(folder, 0, &["index", "a.pgn", "b.pgn", "-o", "all.reel"]);
    run(folder, 0, &["index", "--shards", "1M", "a.pgn", "-o", "shards"]);
    let (of_a, of_all) = (rows(&["--no-reel", "a.pgn"]), rows(&["all.reel"]));
    for paths in [["a.pgn", "all.reel"], ["./all.reel", "./a.pgn"], ["b.pgn", "all.reel"]] {
        assert_eq!(scan(folder, &paths), (scan(folder, &["all.reel"]).0, true), "{paths:?}");
    }
    assert_eq!(rows(&["a.pgn", "all.reel", "b.pgn"]), of_all);
    assert_eq!(rows(&["--no-reel", "a.pgn", "all.reel"]), of_a + of_all);
    assert_eq!(rows(&["a.pgn", "shards"]), of_a);
    for name in ["all", "ALL.REEL"] {
        fs::copy(folder.join("all.reel"), folder.join(name)).unwrap();
        assert_eq!(rows(&["a.pgn", name]), of_all, "{name}");
    }
    assert_eq!(rows(&[folder.join("a.pgn").to_str().unwrap(), "all.reel"]), of_all);
    let stderr = run(folder, 0, &["scan", "--count", "Nf3", "a.pgn", "all.reel"]).1;
    let notice = "reading all.reel instead of a.pgn, from which it was made (--no-reel reads a.pgn)\n";
    assert!(stderr.starts_with(notice), "{stderr}");
    // A file in another folder is a different file, even if its name, size and time are equal.
    fs::create_dir(folder.join("other")).unwrap();
    fs::copy(folder.join("b.pgn"), folder.join("other/b.pgn")).unwrap();
    let time = fs::metadata(folder.join("b.pgn")).unwrap().modified().unwrap();
    fs::File::options().append(true).open(folder.join("other/b.pgn")).unwrap().set_modified(time).unwrap();
    assert_eq!(rows(&["other/b.pgn", "all.reel"]), rows(&["--no-reel", "b.pgn"]) + of_all);
    // The file is also read if its games differ, or if the reel lacks some of them.
    assert_eq!(rows(&["c.pgn.zst", "all.reel"]), rows(&["c.pgn.zst"]) + of_all);
    run(folder, 0, &["index", "--no-duplicates", "b.pgn", "-o", "few.reel"]);
    assert_eq!(rows(&["b.pgn", "few.reel"]), rows(&["b.pgn"]) + rows(&["few.reel"]));
    // If the file has changed since the reel was built, the games of both are counted.
    fs::write(folder.join("a.pgn"), games("a, later")).unwrap();
    assert_eq!(rows(&["a.pgn", "all.reel"]), of_a + of_all);
}

/// If the last game of a file or of standard input ends without a result, it may have been cut off, so a message reports this.
#[test]
fn a_file_without_a_last_result_is_told() {
    let folder = folder();
    let folder = folder.path();
    let text = "[White \"a\"]\n\n1. e4 e5 *\n\n[White \"b\"]\n\n1. Nf3 Nf6 2. g3";
    fs::write(folder.join("cut.pgn"), text).unwrap();
    fs::write(folder.join("whole.pgn"), format!("{text} *\n")).unwrap();
    let reason = "the last game has no result and counts as `*`: the file may be cut off";
    let line = format!("  1 repaired: {reason}");
    let scan = |args: &[&str]| run(folder, 0, &[&["scan", "--count", "Nf3"], args].concat());
    run(folder, 0, &["index", "cut.pgn", "-o", "of-cut.reel"]);
    for path in ["cut.pgn", "of-cut.reel"] {
        let (stdout, stderr) = scan(&["-v", path]);
        assert!(stderr.lines().any(|told| *told == line), "{stderr}");
        let place = format!("cut.pgn: game 2, byte 54, ply 3: {reason} (repaired)");
        assert!(stderr.lines().any(|told| *told == place), "{stderr}");
        assert_eq!(stdout, scan(&["whole.pgn"]).0);
    }
    assert!(!scan(&["whole.pgn"]).1.contains("result"));
    assert!(piped(folder, 0, "cut.pgn", &["scan", "--count", "Nf3", "-"]).contains(&line));
    let stderr = scan(&["--message-format", "json", "cut.pgn", "b.pgn"]).1;
    let messages = stderr.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let problems: Vec<_> = messages.filter(|message| message["problem"]["kind"] == "repaired").collect();
    assert_eq!(problems.len(), 1, "{stderr}");
    assert_eq!(problems[0]["problem"], serde_json::json!({"games": 1, "kind": "repaired", "reason": reason}));
}

/// A change to the stored data of any game must also raise the version of the parsing rules, so that older reels beside files are
/// no longer used. Otherwise this test fails.
#[test]
fn what_is_kept_of_games_goes_with_a_version() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let paths = ["games/sample.pgn", "tests/data/games"].map(|path| root.join(path));
    let database = BlockStream::open(&paths, StreamOptions::default()).unwrap();
    let mut digest = Sha256::new();
    let summary = database.for_each_block(
        1,
        |block| {
            let mut kept = String::new();
            for (game, hash) in block.games().zip(GameHash::from_block(block, Alike::Tags)) {
                writeln!(kept, "{} {} {:x}", game.number_in_source(), game.offset(), hash.0).unwrap();
            }
            for problem in block.problems() {
                let (Problem { kind, offset, ply, reason, .. }, place) =
                    (problem, block.number_in_source(problem));
                writeln!(kept, "{place:?} {kind:?} {offset} {ply} {reason}").unwrap();
            }
            kept
        },
        |_, kept| {
            digest.update(kept);
            ControlFlow::Continue(())
        },
    );
    assert!(summary.unwrap().totals.games() > 1000);
    let digest: String = digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        (READER_VERSION, digest.as_str()),
        (9, "d71528ad70d1ec7c"),
        "raise READER_VERSION, and note both here"
    );
}

/// `orbit repl` and `orbit serve` must print the same notes about the databases that they open as a search does.
#[test]
fn databases_tell_of_reels_that_other_rules_made_and_of_files_that_are_not_read() {
    let folder = folder();
    let folder = folder.path();
    run(folder, 0, &["index", "a.pgn", "-o", "a.reel"]);
    run(folder, 0, &["index", "b.pgn", "-o", "other.reel"]);
    read_by(&folder.join("a.reel"), READER_VERSION - 1);
    read_by(&folder.join("other.reel"), READER_VERSION - 1);
    fs::create_dir(folder.join("games")).unwrap();
    fs::copy(folder.join("a.pgn"), folder.join("games/a.pgn")).unwrap();
    fs::write(folder.join("games/old.rar"), "").unwrap();
    fs::write(folder.join("script"), ":quit\n").unwrap();
    let mut server = Server::start(&[]);
    for (path, told) in [
        ("other.reel", "another version of orbit made other.reel and read games by other rules"),
        ("a.pgn", "reading a.pgn, not a.reel: another version of orbit made the reel"),
        ("games", "games: games/old.rar is not read"),
    ] {
        let stderr = piped(folder, 0, "script", &["repl", path]);
        assert!(stderr.starts_with(&format!("warning: {told}")), "{path}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        let fields = serde_json::json!({"paths": [folder.join(path)], "database": path});
        let database = server.answer("open", fields);
        let problems = database["problems"].as_array().unwrap();
        assert_eq!(problems.len(), 1, "{database}");
        let plain = problems[0].as_str().unwrap().replace(&format!("{}/", folder.display()), "");
        assert!(plain.starts_with(told), "{plain}");
    }
    server.finish();
    assert_eq!(piped(folder, 0, "script", &["repl", "b.pgn"]), "");
}

#[test]
fn a_folder_of_reels_that_other_rules_made_is_told() {
    let folder = folder();
    let folder = folder.path();
    run(folder, 0, &["index", "--shards", "1M", "a.pgn", "-o", "shards"]);
    let stderr = run(folder, 0, &["scan", "--count", "Nf3", "shards"]).1;
    assert!(!stderr.contains("rules"), "{stderr}");
    read_by(&folder.join("shards/00000.reel"), 2);
    run(folder, 0, &["index", "--shards", "1M", "shards/00000.reel", "-o", "again"]);
    let stderr = run(folder, 0, &["scan", "--count", "Nf3", "again"]).1;
    let notice = "another version of orbit made again and read games by other rules";
    assert_eq!(stderr.matches(notice).count(), 1, "{stderr}");
    let remedy = "`orbit index --shards SIZE a.pgn -o again` makes it again";
    assert!(stderr.contains(remedy), "{stderr}");
    assert!(run(folder, 0, &["info", "again"]).0.contains(remedy));
    assert!(info(folder, "again")["outdated"].as_str().unwrap().contains(remedy));
}

#[test]
fn a_file_that_was_not_read_to_its_end_has_no_reel() {
    let folder = folder();
    let folder = folder.path();
    let path = folder.join("c.pgn.zst");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 3]).unwrap();
    run(folder, 3, &["index", "c.pgn.zst", "-o", "c.reel"]);
    let stderr = run(folder, 3, &["scan", "Nf3", "c.pgn.zst"]).1;
    assert!(!stderr.contains("(--no-reel reads ") && stderr.contains("not read beyond byte"), "{stderr}");
}
