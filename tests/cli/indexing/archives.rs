//! Tests archives as inputs: the member names in outputs, and reels (packed games) built from archives.

use std::fs;
use std::path::Path;

use super::{folder, games, hits, info, orbit, piped, run, set_time};
use crate::common::archives::{Member, zip};

/// Returns a folder that contains `x.zip`, with the members `a.pgn`, `sub/b.pgn` and a text file, and a folder `x` with copies of
/// the two PGN files.
fn with_archive() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("x/sub")).unwrap();
    let texts = [("a.pgn", games("a")), ("sub/b.pgn", games("b").repeat(300))];
    for (name, text) in &texts {
        fs::write(folder.path().join("x").join(name), text).unwrap();
    }
    let mut members: Vec<Member> =
        texts.iter().map(|(name, text)| Member::deflated(name, text.as_bytes())).collect();
    members.push(Member::deflated("readme.txt", b"no games"));
    fs::write(folder.path().join("x.zip"), zip(&members)).unwrap();
    set_time(&folder.path().join("x.zip"), 1);
    folder
}

/// Returns the states of a reel's sources.
fn states(folder: &Path, reel: &str) -> Vec<String> {
    let sources = info(folder, reel)["sources"].as_array().unwrap().clone();
    sources.iter().map(|source| source["file"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_archive_answers_as_its_files_do() {
    let folder = with_archive();
    let folder = folder.path();
    let of_files = hits(folder, "Nf3", &["x/a.pgn", "x/sub/b.pgn"]);
    assert_eq!(hits(folder, "Nf3", &["x.zip"]), of_files.replace("\"x/", "\"x.zip/"));
    assert_eq!(hits(folder, "Nf3", &["x.zip/a.pgn", "x.zip/sub"]), of_files.replace("\"x/", "\"x.zip/"));
    for format in ["text", "pgn", "csv", "epd", "plain"] {
        let printed =
            |paths: &[&str]| run(folder, 0, &[&["scan", "-q", "--format", format, "Nf3"], paths].concat()).0;
        let of_files = printed(&["x/a.pgn", "x/sub/b.pgn"]);
        assert_eq!(printed(&["x.zip"]).replace("x.zip/", "x/"), of_files, "{format}");
    }
    let marked = |paths: &[&str]| {
        run(folder, 0, &[&["scan", "-q", "--format", "pgn", "--comment", "Nf3"], paths].concat()).0
    };
    assert_eq!(marked(&["x.zip"]), marked(&["x/a.pgn", "x/sub/b.pgn"]));
    assert_eq!(run(folder, 0, &["show", "x.zip/sub", "1"]), run(folder, 0, &["show", "x/sub/b.pgn", "1"]));
    let note = "note: x.zip: 1 member is no .pgn, .epd or .fen and was left out: readme.txt\n";
    let stderr =
        |options: &[&str]| run(folder, 0, &[&["scan", "--count", "Nf3", "x.zip"], options].concat()).1;
    assert!(stderr(&[]).starts_with(note));
    assert_eq!(stderr(&["-q"]), "");
    // Archives in a given folder are also read.
    fs::rename(folder.join("x"), folder.join("y")).unwrap();
    assert_eq!(hits(folder, "Nf3", &["."]).lines().count(), 2 * of_files.lines().count());
}

#[test]
fn what_is_wrong_with_an_archive_is_told_with_a_remedy() {
    let folder = with_archive();
    let folder = folder.path();
    let whole = fs::read(folder.join("x.zip")).unwrap();
    fs::write(folder.join("cut.zip"), &whole[..whole.len() - 40]).unwrap();
    let text = games("a");
    let mut member = Member::deflated("a.pgn", text.as_bytes());
    member.flags = 1;
    fs::write(folder.join("secret.zip"), zip(&[member])).unwrap();
    for (code, path, told) in [
        (
            2,
            "x.zip/c.pgn",
            "error: x.zip/c.pgn is not in the archive, which holds a.pgn, sub/b.pgn, readme.txt: check the name",
        ),
        (
            3,
            "cut.zip",
            "warning: cut.zip: not read beyond byte 0: the zip archive was cut (its directory is missing): get it anew",
        ),
        (
            3,
            "secret.zip",
            "warning: secret.zip/a.pgn: not read beyond byte 0: it is encrypted: unpack it with its password first",
        ),
    ] {
        let stderr = run(folder, code, &["scan", "--count", "true", path]).1;
        assert!(stderr.contains(told), "{stderr}");
    }
    let stderr = piped(folder, 3, "x.zip", &["scan", "--count", "true", "-"]);
    assert!(
        stderr
            .contains("standard input: not read beyond byte 0: it is an archive, which is read from its end"),
        "{stderr}"
    );
    // An output must not replace an archive.
    let out = orbit(folder, &["scan", "true", "x.zip/a.pgn", "--problems", "x.zip"]);
    assert_eq!(out.status.code(), Some(2), "{out:?}");
    assert_eq!(fs::read(folder.join("x.zip")).unwrap(), whole);
}

#[test]
fn a_reel_remembers_the_members_that_it_was_made_from() {
    let folder = with_archive();
    let folder = folder.path();
    let expected = run(folder, 0, &["scan", "-q", "--format", "pgn", "Nf3", "x.zip"]).0;
    run(folder, 0, &["index", "x.zip", "-o", "x.reel"]);
    let sources = &info(folder, "x.reel")["sources"];
    assert_eq!(
        (&sources[0]["name"], &sources[1]["name"]),
        (&"x.zip/a.pgn".into(), &"x.zip/sub/b.pgn".into())
    );
    let place = folder.canonicalize().unwrap().join("x.zip/a.pgn");
    assert_eq!(sources[0]["path"], place.to_str().unwrap());
    assert_eq!(states(folder, "x.reel"), ["unchanged"; 2]);
    // The games are read from the reel instead of the archive, but their text comes from the archive.
    let told = "reading x.reel instead of x.zip, from which it was made";
    let scan = |args: &[&str]| run(folder, 0, &[&["scan", "--format", "pgn", "Nf3"], args].concat());
    let (stdout, stderr) = scan(&["x.zip"]);
    assert!(stdout == expected && stderr.contains(told), "{stderr}");
    assert_eq!(
        hits(folder, "Nf3", &["x.zip"]),
        run(folder, 0, &["scan", "-q", "--format", "jsonl", "Nf3", "x.zip"]).0
    );
    assert_eq!(run(folder, 0, &["scan", "-q", "--format", "pgn", "Nf3", "x.reel"]).0, expected);
    // Archive members that are missing from the reel are reported as in a scan without the reel, even if the command names both the
    // archive and the reel.
    let note = "x.zip: 1 member is no .pgn, .epd or .fen and was left out: readme.txt";
    assert!(stderr.starts_with(&format!("note: {note}\n")), "{stderr}");
    let stderr = scan(&["x.zip", "x.reel"]).1;
    assert!(stderr.contains(told) && stderr.starts_with(&format!("note: {note}\n")), "{stderr}");
    let database = orbit_chess::DatabaseOptions::new().open([folder.join("x.zip")]).unwrap();
    assert_eq!(database.problems(), [format!("{}/{note}", folder.display())]);
    // A reel can replace only the whole archive, not one of its members.
    assert!(!scan(&["x.zip/a.pgn"]).1.contains(told));
    let archive = fs::read(folder.join("x.zip")).unwrap();
    set_time(&folder.join("x.zip"), 2);
    assert_eq!(states(folder, "x.reel"), ["rewritten with the same content"; 2]);
    assert!(!scan(&["x.zip"]).1.contains(told));
    fs::write(folder.join("x.zip"), zip(&[Member::deflated("a.pgn", games("c").as_bytes())])).unwrap();
    set_time(&folder.join("x.zip"), 3);
    assert_eq!(states(folder, "x.reel"), ["changed since the reel was made", "file not found"]);
    assert_eq!(hits(folder, "initial", &["x.zip"]).lines().count(), 3);
    fs::write(folder.join("x.zip"), &archive[..100]).unwrap();
    let state = &states(folder, "x.reel")[0];
    assert!(state.contains("file cannot be read: the zip archive was cut"), "{state}");
    // The archive is restored with its old size and time, so the reel replaces it again.
    fs::write(folder.join("x.zip"), &archive).unwrap();
    set_time(&folder.join("x.zip"), 1);
    assert!(scan(&["x.zip"]).1.contains(told));
}

#[test]
fn members_are_appended_once() {
    let folder = with_archive();
    let folder = folder.path();
    run(folder, 0, &["index", "x/a.pgn", "-o", "all.reel"]);
    let stderr = run(folder, 0, &["index", "--append", "x.zip", "-o", "all.reel"]).1;
    assert!(stderr.starts_with("note: x.zip: 1 member is no .pgn"), "{stderr}");
    assert!(stderr.contains("x.zip/a.pgn: skipped: all.reel contains it already, as x/a.pgn\n"), "{stderr}");
    assert_eq!(states(folder, "all.reel"), ["unchanged"; 2]);
    for path in ["x.zip", "x.zip/sub", "x"] {
        let stderr = run(folder, 0, &["index", "--append", path, "-o", "all.reel"]).1;
        assert!(stderr.ends_with("nothing to append: all.reel contains all inputs already\n"), "{stderr}");
    }
    let members = [Member::stored("sub/b.pgn", games("c").as_bytes())];
    fs::write(folder.join("x.zip"), zip(&members)).unwrap();
    let stderr = run(folder, 2, &["index", "--append", "x.zip", "-o", "all.reel"]).1;
    assert!(stderr.contains("x.zip/sub/b.pgn has changed since all.reel was made from it"), "{stderr}");
}

#[test]
fn a_database_notices_that_its_archive_changed() {
    let folder = with_archive();
    let folder = folder.path();
    let database =
        orbit_chess::DatabaseOptions::new().resident_bytes_max(0).open([folder.join("x.zip")]).unwrap();
    let query = orbit_chess::Query::parse("Nf3").unwrap();
    let of_files = hits(folder, "Nf3", &["x/a.pgn", "x/sub/b.pgn"]);
    assert_eq!(database.scan(&query).hits().unwrap().len(), of_files.lines().count());
    set_time(&folder.join("x.zip"), 2);
    let error = database.scan(&query).hits().unwrap_err().to_string();
    assert!(error.contains("x.zip has changed since it was opened"), "{error}");
}

#[test]
fn a_folder_of_shards_remembers_members() {
    let folder = with_archive();
    let folder = folder.path();
    run(folder, 0, &["index", "--shards", "1M", "x.zip", "-o", "db"]);
    let expected = hits(folder, "Nf3", &["x.zip"]);
    assert_eq!(hits(folder, "Nf3", &["db"]), expected);
    let text = run(folder, 0, &["scan", "-q", "--format", "pgn", "Nf3", "db"]).0;
    assert_eq!(text, run(folder, 0, &["scan", "-q", "--format", "pgn", "Nf3", "x.zip"]).0);
}

#[test]
fn other_collections_in_a_folder_are_told() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("old.cbv"), "no PGN").unwrap();
    let stderr = run(folder, 0, &["scan", "--count", "true", "."]).1;
    assert!(
        stderr.starts_with("note: .: ./old.cbv is not read: an archive or database of formats"),
        "{stderr}"
    );
}

#[test]
fn files_that_are_read_twice_are_told() {
    let folder = with_archive();
    let folder = folder.path();
    let notes = |inputs: &[&str]| {
        let (_, stderr) = run(folder, 0, &[&["scan", "--count", "true"], inputs].concat());
        stderr.lines().filter(|line| line.starts_with("note: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    run(folder, 0, &["index", "x.zip", "-o", "a.reel"]);
    fs::write(folder.join("g.pgn"), "1. e4 *\n").unwrap();
    run(folder, 0, &["index", "x.zip", "-o", "b.reel"]);
    for once in
        [&["g.pgn", "x.zip"][..], &["."], &["g.pgn", "a.reel"], &["a.reel", "b.reel"], &["a.reel", "x.zip"]]
    {
        assert_eq!(notes(once).iter().filter(|note| note.contains("more than once")).count(), 0, "{once:?}");
    }
    let end = "games count more than once: leave the other paths out";
    assert_eq!(
        notes(&["g.pgn", "./g.pgn", "g.pgn"]),
        [format!("note: g.pgn is read more than once, so its {end}")]
    );
    fs::copy(folder.join("g.pgn"), folder.join("h.pgn")).unwrap();
    assert_eq!(
        notes(&["g.pgn", "h.pgn", "g.pgn", "./h.pgn"]),
        [format!("note: g.pgn and 1 more file are read more than once, so their {end}")]
    );
    for twice in [&[".", "g.pgn"][..], &["a.reel", "./a.reel"], &[".", "."]] {
        assert_eq!(notes(twice).iter().filter(|note| note.ends_with(end)).count(), 1, "{twice:?}");
    }
}
