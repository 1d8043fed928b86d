//! Files of the same name in several folders, files that are given twice, and a reel that is given to itself.

use std::fs;
use std::path::Path;

use orbit_chess::database;
use orbit_chess::reel::Reel;

use super::{folder, games, hits, info, piped, run, set_time};

/// The names of a reel's sources.
fn sources(reel: &Path) -> Vec<String> {
    Reel::open(reel).unwrap().sources().iter().map(|source| source.name.clone()).collect()
}

/// What has become of the sources of a reel, asked for in a folder.
fn states(folder: &Path, reel: &Path) -> Vec<String> {
    let sources = info(folder, reel.to_str().unwrap())["sources"].as_array().unwrap().clone();
    sources.iter().map(|source| source["file"].as_str().unwrap().to_owned()).collect()
}

/// Two folders, each with another `games.pgn`.
fn two_folders(folder: &Path) -> [std::path::PathBuf; 2] {
    [("x", 1), ("y", 2)].map(|(name, copies)| {
        let folder = folder.join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("games.pgn"), games(name).repeat(copies)).unwrap();
        set_time(&folder.join("games.pgn"), copies as u64);
        folder
    })
}

#[test]
fn files_of_one_name_in_two_folders_are_two_files() {
    let folder = tempfile::tempdir().unwrap();
    let [x, y] = two_folders(folder.path());
    let reel = folder.path().join("all.reel");
    run(&x, 0, &["index", "games.pgn", "-o", "../all.reel"]);
    run(&y, 0, &["index", "--append", "games.pgn", "-o", "../all.reel"]);
    let found: Vec<_> = Reel::open(&reel).unwrap().sources().to_vec();
    for (source, folder) in found.iter().zip([&x, &y]) {
        assert_eq!(source.name, "games.pgn");
        assert_eq!(source.path, Some(folder.join("games.pgn").canonicalize().unwrap()));
        assert_eq!(source.locate(&reel), source.path);
    }
    assert_eq!(found.len(), 2);
    for place in [folder.path(), &x, &y] {
        assert_eq!(states(place, &reel), ["unchanged"; 2]);
    }
    assert_eq!(
        info(&x, "../all.reel")["sources"][0]["path"],
        found[0].path.as_ref().unwrap().to_str().unwrap()
    );
    // What is held is known by its place, and so is what has changed.
    let stderr = run(&y, 0, &["index", "--append", "../x/games.pgn", "-o", "../all.reel"]).1;
    assert!(
        stderr.contains("../x/games.pgn: skipped, ../all.reel holds it already, as games.pgn"),
        "{stderr}"
    );
    fs::write(x.join("games.pgn"), games("other")).unwrap();
    let stderr = run(&y, 2, &["index", "--append", "../x/games.pgn", "-o", "../all.reel"]).1;
    assert!(stderr.contains("../x/games.pgn has changed since ../all.reel was made from it"), "{stderr}");
    assert_eq!(states(&y, &reel), ["changed since", "unchanged"]);
}

#[test]
fn a_file_that_moved_with_its_reel_is_found_among_others_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let [x, y] = two_folders(folder.path());
    run(&x, 0, &["index", "games.pgn", "-o", "x.reel"]);
    let z = folder.path().join("z");
    fs::rename(&x, &z).unwrap();
    for place in [folder.path(), &y, &z] {
        assert_eq!(states(place, &z.join("x.reel")), ["unchanged"]);
    }
    // Also where another file has come to lie at its old place, or in the current folder.
    fs::create_dir(&x).unwrap();
    fs::copy(y.join("games.pgn"), x.join("games.pgn")).unwrap();
    assert_eq!(states(&y, &z.join("x.reel")), ["unchanged"]);
    assert_eq!(hits(&y, "initial", &["../z/x.reel"]), hits(&z, "initial", &["games.pgn"]));
    run(&y, 0, &["scan", "initial", "../z/x.reel", "-o", "hits.pgn"]);
    assert!(fs::read_to_string(y.join("hits.pgn")).unwrap().contains("x one"));
}

#[test]
fn what_is_no_file_has_no_path() {
    let folder = folder();
    let folder = folder.path();
    piped(folder, 0, "a.pgn", &["index", "-", "-o", "in.reel"]);
    assert_eq!(Reel::open(&folder.join("in.reel")).unwrap().sources()[0].path, None);
    assert!(info(folder, "in.reel")["sources"][0]["path"].is_null());
}

#[test]
fn files_that_are_given_twice_are_appended_once() {
    let folder = folder();
    let folder = folder.path();
    fs::copy(folder.join("a.pgn"), folder.join("copy.pgn")).unwrap();
    // As long as the others.
    fs::write(folder.join("d.pgn"), games("d")).unwrap();
    let paths = ["b.pgn", "a.pgn", "./a.pgn", "copy.pgn", "d.pgn", "a.pgn"];
    for before in [&["new.reel"][..], &["old.reel", "c.pgn.zst"]] {
        let reel = before[0];
        before[1..].iter().for_each(|path| drop(run(folder, 0, &["index", path, "-o", reel])));
        let stderr = run(folder, 0, &[&["index", "--append", "-o", reel], &paths[..]].concat()).1;
        let skipped: Vec<&str> = stderr.lines().filter(|line| line.contains("skipped, ")).collect();
        let again = "skipped, a.pgn was given before and is the same";
        let expected = [
            format!("./a.pgn: {again}"),
            format!("copy.pgn: {again}"),
            "a.pgn: skipped, it was given before".into(),
        ];
        assert_eq!(skipped, expected);
        assert_eq!(sources(&folder.join(reel)), [&before[1..], &["b.pgn", "a.pgn", "d.pgn"]].concat());
    }
    // Who does not append gets what he gives.
    run(folder, 0, &["index", "a.pgn", "a.pgn", "-o", "twice.reel"]);
    assert_eq!(sources(&folder.join("twice.reel")), ["a.pgn", "a.pgn"]);
    let news = database::news(None, &[folder.join("a.pgn"), folder.join("copy.pgn")]).unwrap();
    assert!(news.held[0].is_input && news.held.len() == 1 && news.paths == [folder.join("a.pgn")]);
}

#[test]
fn no_reel_is_appended_to_itself() {
    let folder = folder();
    let folder = folder.path();
    piped(folder, 0, "a.pgn", &["index", "-", "-o", "s.reel"]);
    let before = fs::read(folder.join("s.reel")).unwrap();
    for path in ["s.reel", "./s.reel"] {
        let stderr = run(folder, 0, &["index", "--append", path, "-o", "s.reel"]).1;
        assert!(stderr.ends_with("s.reel holds all of it already\n"), "{stderr}");
        assert!(fs::read(folder.join("s.reel")).unwrap() == before);
    }
}

#[test]
fn who_wants_quiet_gets_it() {
    let folder = folder();
    let folder = folder.path();
    for args in [
        &["index", "-q", "a.pgn", "-o", "all.reel"][..],
        &["index", "--quiet", "--append", "a.pgn", "b.pgn", "b.pgn", "-o", "all.reel"],
        &["index", "-q", "--append", "a.pgn", "-o", "all.reel"],
    ] {
        assert_eq!(run(folder, 0, args), (String::new(), String::new()));
    }
    assert_eq!(sources(&folder.join("all.reel")), ["a.pgn", "b.pgn"]);
    // Warnings are no summary.
    fs::write(folder.join("cut.pgn.zst"), &fs::read(folder.join("c.pgn.zst")).unwrap()[..40]).unwrap();
    let stderr = run(folder, 3, &["index", "-q", "cut.pgn.zst", "-o", "cut.reel"]).1;
    assert!(stderr.starts_with("warning: cut.pgn.zst: ") && stderr.lines().count() == 1, "{stderr}");
}
