//! Tests a reel (packed games) to which files are appended one by one. It is compared with a reel built from all files at once.

use std::fs;
use std::path::Path;

use orbit_pgn::{Freshness, Stamp, hash_file};
use orbit_reel::{Reel, ReelSource};

use super::{folder, games, hits, info, run, set_time};
use crate::common::corpus;

#[test]
fn a_reel_that_grew_equals_one_that_was_made_at_once() {
    let folder = folder();
    let folder = folder.path();
    run(folder, 0, &["index", "a.pgn", "b.pgn", "c.pgn.zst", "-o", "once.reel"]);
    for path in ["a.pgn", "b.pgn", "c.pgn.zst"] {
        let (stdout, stderr) = run(folder, 0, &["index", "--append", path, "-o", "grown.reel"]);
        assert!(stdout.is_empty() && stderr.contains("grown.reel: "), "{stderr}");
    }
    for query in ["initial", "Nf3", "elo > 2000", "terminal"] {
        let (once, grown) = (hits(folder, query, &["once.reel"]), hits(folder, query, &["grown.reel"]));
        assert!(!once.is_empty());
        assert_eq!(grown, once, "{query}");
        assert_eq!(hits(folder, query, &["a.pgn", "b.pgn", "c.pgn.zst"]), once, "{query}");
    }
    let (once, grown) = (info(folder, "once.reel"), info(folder, "grown.reel"));
    for field in ["games", "positions", "problems", "sources", "dates", "elos"] {
        assert_eq!(grown[field], once[field]);
    }
    assert_eq!(once["dead_bytes"], 0);
    assert!(grown["dead_bytes"].as_u64().unwrap() > 0);
    assert_eq!(grown["bytes"], fs::metadata(folder.join("grown.reel")).unwrap().len());
    let sum: u64 = grown["sections"].as_object().unwrap().values().map(|bytes| bytes.as_u64().unwrap()).sum();
    assert_eq!(grown["bytes"], sum);
    let stdout = run(folder, 0, &["info", "grown.reel"]).0;
    assert!(stdout.contains("of the other bytes are unused: old directories, left by appends"), "{stdout}");
    // Indexing the reel again removes its unused bytes and keeps its sources.
    run(folder, 0, &["index", "grown.reel", "-o", "compact.reel"]);
    let compact = info(folder, "compact.reel");
    assert_eq!((&compact["dead_bytes"], &compact["sources"]), (&0.into(), &once["sources"]));
}

#[test]
fn what_a_source_was_known_by_is_kept() {
    let folder = folder();
    let folder = folder.path();
    run(folder, 0, &["index", "a.pgn", "c.pgn.zst", "-o", "all.reel"]);
    let reel = Reel::open(&folder.join("all.reel")).unwrap();
    for source in reel.sources() {
        let path = folder.join(&source.name);
        let metadata = fs::metadata(&path).unwrap();
        let hash = Some(hash_file(&path).unwrap());
        assert_eq!(source.stamp, Stamp { hash, ..Stamp::from_metadata(&metadata) });
        assert_eq!(source.stamp.bytes, Some(metadata.len()));
    }
    // By the definition of XXH3 (64 bits, seed 0), this is the hash of an empty input.
    fs::write(folder.join("empty"), "").unwrap();
    assert_eq!(hash_file(&folder.join("empty")).unwrap(), 0x2d06_8005_38d3_94c2);
}

#[test]
fn what_has_become_of_a_source_is_told() {
    let folder = folder();
    let folder = folder.path();
    let (pgn, reel_path) = (folder.join("a.pgn"), folder.join("all.reel"));
    set_time(&pgn, 1);
    run(folder, 0, &["index", "a.pgn", "-o", "all.reel"]);
    let reel = Reel::open(&reel_path).unwrap();
    let source = &reel.sources()[0];
    // A relative path is also looked up in the reel's folder.
    assert_eq!(source.locate(&reel_path), Some(pgn.clone()));
    let expect = |freshness, word: &str| {
        assert_eq!(source.freshness(&reel_path).unwrap(), freshness);
        let stdout = run(folder, 0, &["info", "--verify", "all.reel"]).0;
        assert!(stdout.contains(word), "{freshness:?}: {stdout}");
        assert_eq!(info(folder, "all.reel")["sources"][0]["file"], word);
    };
    // `orbit info` reads whole files only if an option requests it.
    let expect_unread = |word: &str| {
        let stdout = run(folder, 0, &["info", "all.reel"]).0;
        assert!(stdout.contains(&format!(", {word}\n")), "{word}: {stdout}");
    };
    expect_unread("unchanged");
    expect(Freshness::Fresh, "unchanged");
    set_time(&pgn, 2);
    expect(Freshness::Touched, "rewritten with the same content");
    let doubtful = "same size, but another time: --verify compares the content";
    expect_unread(doubtful);
    let text = fs::read_to_string(&pgn).unwrap();
    fs::write(&pgn, text.replace("2500", "2501")).unwrap();
    set_time(&pgn, 3);
    expect(Freshness::Changed, "changed since the reel was made");
    expect_unread(doubtful);
    fs::write(&pgn, text.clone() + "\n").unwrap();
    set_time(&pgn, 1);
    expect(Freshness::Changed, "changed since the reel was made");
    expect_unread("changed since the reel was made");
    fs::remove_file(&pgn).unwrap();
    expect(Freshness::Missing, "file not found");
    let unknown = ReelSource { name: "a.pgn".into(), ..ReelSource::default() };
    assert_eq!(unknown.freshness(&reel_path).unwrap(), Freshness::Unknown);
    // The source was not read to its end, so only its size can be compared.
    fs::write(&pgn, text).unwrap();
    let half = Stamp { hash: None, modified_ns: None, ..source.stamp };
    assert_eq!(half.compare(&pgn).unwrap(), Freshness::Unknown);
}

#[test]
fn files_that_a_reel_holds_are_skipped() {
    let folder = folder();
    let folder = folder.path();
    run(folder, 0, &["index", "a.pgn", "-o", "all.reel"]);
    let before = fs::read(folder.join("all.reel")).unwrap();
    fs::copy(folder.join("a.pgn"), folder.join("copy.pgn")).unwrap();
    set_time(&folder.join("a.pgn"), 5);
    for (args, part) in [
        (&["a.pgn"][..], "a.pgn: skipped: all.reel contains it already\n"),
        (&["./a.pgn"], "./a.pgn: skipped: all.reel contains it already, as a.pgn\n"),
        (&["copy.pgn"], "copy.pgn: skipped: all.reel contains it already, as a.pgn\n"),
        (&["all.reel"], "all.reel: skipped: all.reel contains it already, as a.pgn\n"),
        (&["a.pgn", "copy.pgn"], "all.reel contains all inputs already"),
    ] {
        let stderr = run(folder, 0, &[&["index", "--append", "-o", "all.reel"], args].concat()).1;
        assert!(stderr.contains(part), "{args:?}: {stderr}");
        assert!(stderr.ends_with("all.reel contains all inputs already\n"), "{args:?}: {stderr}");
        assert_eq!(fs::read(folder.join("all.reel")).unwrap(), before);
    }
    // Appending a folder again adds only its new files.
    let stderr = run(folder, 0, &["index", "--append", ".", "-o", "all.reel"]).1;
    assert!(stderr.contains("./copy.pgn: skipped") && stderr.contains("1,284 games"), "{stderr}");
    let names: Vec<String> = sources(folder, "all.reel");
    assert_eq!(names, ["a.pgn", "./b.pgn", "./c.pgn.zst"]);
    // A reel can also be appended, like a PGN file.
    fs::write(folder.join("d.pgn"), games("d")).unwrap();
    run(folder, 0, &["index", "d.pgn", "-o", "d.reel"]);
    run(folder, 0, &["index", "--append", "d.reel", "-o", "all.reel"]);
    assert_eq!(sources(folder, "all.reel"), ["a.pgn", "./b.pgn", "./c.pgn.zst", "d.pgn"]);
    let paths = ["a.pgn", "./b.pgn", "./c.pgn.zst", "d.pgn"];
    assert_eq!(hits(folder, "initial", &["all.reel"]), hits(folder, "initial", &paths));
}

fn sources(folder: &Path, reel: &str) -> Vec<String> {
    let reel = Reel::open(&folder.join(reel)).unwrap();
    reel.sources().iter().map(|source| source.name.clone()).collect()
}

#[test]
fn files_that_have_changed_are_refused() {
    let folder = folder();
    let folder = folder.path();
    // A truncated file cannot be read to its end. The reel contains the games before the cut, but no hash of the file.
    let whole = fs::read(folder.join("c.pgn.zst")).unwrap().repeat(2);
    fs::write(folder.join("c.pgn.zst"), &whole[..whole.len() - 3]).unwrap();
    run(folder, 3, &["index", "a.pgn", "c.pgn.zst", "-o", "all.reel"]);
    assert!(info(folder, "all.reel")["sources"][1]["xxh3"].is_null());
    fs::write(folder.join("a.pgn"), games("a") + &games("more")).unwrap();
    fs::write(folder.join("c.pgn.zst"), whole).unwrap();
    fs::write(folder.join("v1.reel"), include_bytes!("../../data/version-1.reel")).unwrap();
    fs::write(folder.join("old.pgn"), OLD).unwrap();
    run(folder, 0, &["index", "a.pgn", "b.pgn", "-o", "ab.reel"]);
    run(folder, 0, &["index", "b.pgn", "-o", "b.reel"]);
    for (args, part) in [
        (
            &["a.pgn", "-o", "all.reel"],
            "a.pgn has changed since all.reel was made from it: index all files again",
        ),
        (&["./a.pgn", "-o", "all.reel"], "./a.pgn has changed since all.reel was made from it"),
        (
            &["c.pgn.zst", "-o", "all.reel"],
            "c.pgn.zst was not read to its end when all.reel was made from it",
        ),
        (
            &["b.pgn", "-o", "v1.reel"],
            "v1.reel: nothing was appended: another version of orbit made the reel and read games by other rules",
        ),
        (
            &["ab.reel", "-o", "b.reel"],
            "ab.reel contains b.pgn, and b.reel contains it already: append the files",
        ),
        (&["none.pgn", "-o", "all.reel"], "none.pgn does not exist"),
        (&["a.pgn", "-o", "b.pgn"], "b.pgn exists and is no reel"),
    ] {
        let reel = folder.join(args[2]);
        let before = fs::read(&reel).unwrap();
        let stderr = run(folder, 2, &[&["index", "--append"], &args[..]].concat()).1;
        assert!(stderr.contains(part), "{args:?}: {stderr}");
        assert_eq!(fs::read(&reel).unwrap(), before, "{args:?}");
    }
}

/// The PGN from which the reel of an old format version was built.
const OLD: &str = "[Event \"one\"]\n[White \"A\"]\n[Black \"B\"]\n\n1. e4 e5 2. Nf3 1-0\n\n\
[Event \"two\"]\n\n1. d4 Qh9 *\n";

#[test]
fn reels_of_version_1_are_read() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("old.pgn"), OLD).unwrap();
    fs::write(folder.join("v1.reel"), include_bytes!("../../data/version-1.reel")).unwrap();
    let old = Reel::open(&folder.join("v1.reel")).unwrap();
    assert_eq!((old.version(), old.dead_bytes()), (1, 0));
    let stamp = Stamp { bytes: Some(OLD.len() as u64), ..Stamp::default() };
    assert_eq!(old.sources(), [ReelSource { name: "old.pgn".into(), stamp, games: 2, ..Default::default() }]);
    assert_eq!(old.sources()[0].freshness(old.path()).unwrap(), Freshness::Unknown);
    assert_eq!(hits(folder, "initial", &["v1.reel"]), hits(folder, "initial", &["old.pgn"]));
    run(folder, 0, &["index", "v1.reel", "a.pgn", "-o", "grown.reel"]);
    let grown = Reel::open(&folder.join("grown.reel")).unwrap();
    assert_eq!((grown.version(), grown.reader()), (3, 0));
    assert_eq!(hits(folder, "initial", &["grown.reel"]), hits(folder, "initial", &["old.pgn", "a.pgn"]));
    info(folder, "v1.reel");
}

/// The PGN of two more games. Both start from a FEN, and the second one has a side line.
const OLD_FENS: &str = "
[Event \"three\"]\n[FEN \"8/8/8/8/8/2k5/1q6/K7 w - - 3 40\"]\n\n*\n
[Event \"four\"]\n[FEN \"7k/5Q2/6K1/8/8/8/8/8 w - - 0 1\"]\n\n1. Qf8# (1. Qg7#) 1-0\n";

#[test]
fn reels_of_version_2_are_read() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("old.pgn"), format!("{OLD}{OLD_FENS}")).unwrap();
    fs::write(folder.join("v2.reel"), include_bytes!("../../data/version-2.reel")).unwrap();
    let old = Reel::open(&folder.join("v2.reel")).unwrap();
    assert_eq!((old.version(), old.side_lines(), old.keeps_variations()), (2, 1, false));
    run(folder, 2, &["scan", "--variations", "true", "v2.reel"]);
    for query in ["initial", "mate", "fen \"8/8/8/8/8/2k5/1q6/K7\"", "terminal"] {
        let listed = |path: &str| run(folder, 0, &["scan", "--format", "plain", query, path]).0;
        assert!(!listed("v2.reel").is_empty());
        assert_eq!(listed("v2.reel"), listed("old.pgn"), "{query}");
    }
    run(folder, 0, &["index", "v2.reel", "a.pgn", "-o", "grown.reel"]);
    run(folder, 0, &["index", "a.pgn", "-o", "a.reel"]);
    let grown = Reel::open(&folder.join("grown.reel")).unwrap();
    assert_eq!((grown.version(), grown.side_lines()), (3, 1));
    assert_eq!(grown.totals().positions, 9 + Reel::open(&folder.join("a.reel")).unwrap().totals().positions);
    info(folder, "v2.reel");
}

#[test]
fn thirty_files_of_the_corpus_in_two_halves_are_one_index() {
    let corpus = corpus();
    // The thirty files are spread evenly over the corpus, so that they include all kinds of files.
    let (files, _) = orbit_pgn::list(&[corpus]).unwrap();
    let paths: Vec<&str> =
        files.iter().step_by(files.len() / 30).take(30).map(|p| p.to_str().unwrap()).collect();
    assert_eq!(paths.len(), 30);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let index = |args: &[&str], paths: &[&str]| {
        let out = super::orbit(folder, &[&["index"], args, paths].concat());
        assert!(matches!(out.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&out.stderr));
    };
    index(&["-o", "grown.reel"], &paths[..15]);
    index(&["--append", "-o", "grown.reel"], &paths[15..]);
    // Files in the second half are skipped if they equal a file in the first half.
    let kept = sources(folder, "grown.reel");
    let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
    assert!(kept.len() > 25 && kept[..15] == paths[..15]);
    index(&["-o", "once.reel"], &kept);
    for query in ["initial", "terminal", "flipcolor {Nf3 check}"] {
        assert!(hits(folder, query, &["once.reel"]) == hits(folder, query, &["grown.reel"]), "{query}");
    }
    let (once, grown) = (info(folder, "once.reel"), info(folder, "grown.reel"));
    for field in ["games", "positions", "problems", "sources", "dates", "elos"] {
        assert_eq!(grown[field], once[field]);
    }
    assert!(once["games"]["all"].as_u64().unwrap() > 30);
}
