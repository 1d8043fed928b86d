//! Tests files with equal names in different folders, files that are given twice, and appending a reel (packed games) to itself.

use std::fs;
use std::path::Path;

use orbit_reel::Reel;

use super::{folder, games, hits, info, piped, run, set_time};

/// Returns the names of a reel's sources.
fn sources(reel: &Path) -> Vec<String> {
    Reel::open(reel).unwrap().sources().iter().map(|source| source.name.clone()).collect()
}

/// Returns the state of each source of a reel, as printed by `orbit info` in the given folder.
fn states(folder: &Path, reel: &Path) -> Vec<String> {
    let sources = info(folder, reel.to_str().unwrap())["sources"].as_array().unwrap().clone();
    sources.iter().map(|source| source["file"].as_str().unwrap().to_owned()).collect()
}

/// Creates two folders, each with a different `games.pgn`, and returns their paths.
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
    // A source of the reel is recognised by its path, even if the file has changed.
    let stderr = run(&y, 0, &["index", "--append", "../x/games.pgn", "-o", "../all.reel"]).1;
    assert!(
        stderr.contains("../x/games.pgn: skipped: ../all.reel contains it already, as games.pgn"),
        "{stderr}"
    );
    fs::write(x.join("games.pgn"), games("other")).unwrap();
    let stderr = run(&y, 2, &["index", "--append", "../x/games.pgn", "-o", "../all.reel"]).1;
    assert!(stderr.contains("../x/games.pgn has changed since ../all.reel was made from it"), "{stderr}");
    assert_eq!(states(&y, &reel), ["changed since the reel was made", "unchanged"]);
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
    // The moved file must be found even if its old path now belongs to another file, and the current folder has another file of the
    // same name.
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
    // The file `d.pgn` has the same length as the others but contains different games.
    fs::write(folder.join("d.pgn"), games("d")).unwrap();
    let paths = ["b.pgn", "a.pgn", "./a.pgn", "copy.pgn", "d.pgn", "a.pgn"];
    for before in [&["new.reel"][..], &["old.reel", "c.pgn.zst"]] {
        let reel = before[0];
        before[1..].iter().for_each(|path| drop(run(folder, 0, &["index", path, "-o", reel])));
        let stderr = run(folder, 0, &[&["index", "--append", "-o", reel], &paths[..]].concat()).1;
        let skipped: Vec<&str> = stderr.lines().filter(|line| line.contains(": skipped: ")).collect();
        let again = "skipped: its content is given before, as a.pgn";
        let expected = [
            format!("./a.pgn: {again}"),
            format!("copy.pgn: {again}"),
            "a.pgn: skipped: it is given before".into(),
        ];
        assert_eq!(skipped, expected);
        assert_eq!(sources(&folder.join(reel)), [&before[1..], &["b.pgn", "a.pgn", "d.pgn"]].concat());
    }
    // Without `--append`, the reel is built from exactly the inputs that the command names.
    run(folder, 0, &["index", "a.pgn", "a.pgn", "-o", "twice.reel"]);
    assert_eq!(sources(&folder.join("twice.reel")), ["a.pgn", "a.pgn"]);
    let additions =
        orbit_database::additions(None, &[folder.join("a.pgn"), folder.join("copy.pgn")]).unwrap();
    assert!(
        additions.already_held[0].is_input
            && additions.already_held.len() == 1
            && additions.paths == [folder.join("a.pgn")]
    );
}

/// Appends overlapping inputs in one run and in several runs. The resulting reels must be equal.
#[test]
fn one_run_appends_what_several_would() {
    let folder = folder();
    let folder = folder.path();
    run(folder, 0, &["index", "a.pgn", "-o", "a.reel"]);
    run(folder, 0, &["index", "a.pgn", "b.pgn", "-o", "ab.reel"]);
    fs::copy(folder.join("a.reel"), folder.join("copy.reel")).unwrap();
    let mut reels = 0;
    let mut new = || {
        reels += 1;
        format!("new{reels}.reel")
    };
    for (paths, kept) in [
        (&["a.pgn", "a.reel"][..], &["a.pgn"][..]),
        (&["a.reel", "a.pgn"], &["a.pgn"]),
        (&["a.reel", "a.reel", "copy.reel"], &["a.pgn"]),
        (&["ab.reel", "c.pgn.zst", "a.reel", "b.pgn"], &["a.pgn", "b.pgn", "c.pgn.zst"]),
        (&["b.pgn", "a.reel", "ab.reel"], &["b.pgn", "a.pgn"]),
    ] {
        let (once, grown) = (new(), new());
        let stderr = run(folder, 0, &[&["index", "--append", "-o", &once], paths].concat()).1;
        assert!(stderr.contains(" is given before"), "{stderr}");
        paths.iter().for_each(|path| drop(run(folder, 0, &["index", "--append", "-o", &grown, path])));
        assert_eq!(sources(&folder.join(&once)), kept, "{paths:?}");
        assert_eq!(sources(&folder.join(&grown)), kept, "{paths:?}");
        assert_eq!(hits(folder, "initial", &[&once]), hits(folder, "initial", &[&grown]));
    }
    // If a second run would reject an input, a single run with both inputs must also reject it.
    for paths in [["a.pgn", "ab.reel"], ["a.reel", "ab.reel"]] {
        let new = new();
        let stderr = run(folder, 2, &[&["index", "--append", "-o", &new], &paths[..]].concat()).1;
        let expected = "ab.reel contains a.pgn, and so does an input before it: give the files of the other sources instead";
        assert!(stderr.contains(expected) && !folder.join(&new).exists(), "{stderr}");
    }
    fs::write(folder.join("a.pgn"), games("other")).unwrap();
    let stderr = run(folder, 2, &["index", "--append", "a.reel", "a.pgn", "-o", &new()]).1;
    assert!(stderr.contains("a.pgn has changed since a.reel was made from it"), "{stderr}");
}

#[test]
fn what_came_from_a_stream_is_appended_once() {
    let folder = folder();
    let folder = folder.path();
    piped(folder, 0, "a.pgn", &["index", "-", "-o", "s.reel"]);
    run(folder, 0, &["index", "b.pgn", "-o", "all.reel"]);
    run(folder, 0, &["index", "--append", "s.reel", "-o", "all.reel"]);
    for path in ["s.reel", "a.pgn"] {
        let stderr = run(folder, 0, &["index", "--append", path, "-o", "all.reel"]).1;
        let expected = format!("{path}: skipped: all.reel contains it already, as standard input\n");
        assert!(stderr.contains(&expected), "{stderr}");
    }
    assert_eq!(sources(&folder.join("all.reel")), ["b.pgn", "standard input"]);
    // Standard input is not a file that could be compared with the reel later, so its state is not known.
    assert_eq!(states(folder, &folder.join("all.reel")), ["unchanged", "not known whether it changed"]);
}

/// The reel lists a file that was unreadable when the reel was built, and contains no games from it. So the file can be appended
/// later.
#[test]
fn a_file_that_could_not_be_read_at_all_is_appended_when_it_can_be() {
    let folder = folder();
    let folder = folder.path();
    fs::create_dir(folder.join("games")).unwrap();
    let path = |name: &str| folder.join("games").join(name);
    fs::copy(folder.join("a.pgn"), path("a.pgn")).unwrap();
    fs::write(path("zip.pgn"), b"PK\x03\x04 and so on").unwrap();
    let utf16: Vec<u8> = games("u").bytes().flat_map(|byte| [byte, 0]).collect();
    fs::write(path("wide.pgn"), [&b"\xff\xfe"[..], &utf16].concat()).unwrap();
    run(folder, 3, &["index", "games", "-o", "all.reel"]);
    run(folder, 3, &["index", "games", "-o", "old.reel"]);
    fs::write(path("zip.pgn"), games("z")).unwrap();
    fs::write(path("wide.pgn"), games("u")).unwrap();
    let stderr = run(folder, 0, &["index", "--append", "games", "-o", "all.reel"]).1;
    assert!(stderr.contains("games/a.pgn: skipped: all.reel contains it already\n"), "{stderr}");
    let paths = ["games/a.pgn", "games/wide.pgn", "games/zip.pgn"];
    assert_eq!(hits(folder, "initial", &["all.reel"]).lines().count(), 9);
    for query in ["initial", "Nf3"] {
        let lines = |text: String| text.lines().count();
        assert_eq!(lines(hits(folder, query, &["all.reel"])), lines(hits(folder, query, &paths)));
    }
    // The reel now contains the file's games, so nothing is added from an older reel that was built while the file was
    // unreadable.
    for path in ["games", "old.reel"] {
        let stderr = run(folder, 0, &["index", "--append", path, "-o", "all.reel"]).1;
        assert!(stderr.ends_with("nothing to append: all.reel contains all inputs already\n"), "{stderr}");
    }
}

/// On Linux, a process's memory is a file that has size 0 and cannot be read.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_read_does_not_keep_others_out() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("empty.pgn"), "").unwrap();
    for paths in [["empty.pgn", "/proc/self/mem", "a.pgn"], ["/proc/self/mem", "empty.pgn", "b.pgn"]] {
        let stderr = run(folder, 3, &[&["index", "--append", "-o", "all.reel"], &paths[..]].concat()).1;
        assert!(stderr.contains("/proc/self/mem: not read beyond byte 0"), "{stderr}");
    }
    assert_eq!(hits(folder, "initial", &["all.reel"]), hits(folder, "initial", &["a.pgn", "b.pgn"]));
}

/// Creates a compressed file that is cut short. `orbit index` reads its games up to the cut, and records no hash of the file.
fn cut(folder: &Path) {
    let packed = zstd::encode_all(games("cut").repeat(2_000).as_bytes(), 1).unwrap();
    fs::write(folder.join("cut.pgn.zst"), &packed[..packed.len() - 20]).unwrap();
}

#[test]
fn reels_with_a_source_that_was_cut_are_appended_once() {
    let folder = folder();
    let folder = folder.path();
    cut(folder);
    run(folder, 3, &["index", "a.pgn", "cut.pgn.zst", "-o", "m.reel"]);
    fs::copy(folder.join("m.reel"), folder.join("copy.reel")).unwrap();
    let (_, told) = run(folder, 0, &["index", "--append", "m.reel", "copy.reel", "-o", "all.reel"]);
    assert!(told.contains("copy.reel: skipped: its content is given before, as "), "{told}");
    let whole = fs::read(folder.join("all.reel")).unwrap();
    for again in ["m.reel", "copy.reel"] {
        let (_, told) = run(folder, 0, &["index", "--append", again, "-o", "all.reel"]);
        assert!(told.contains("all.reel contains all inputs already"), "{told}");
    }
    assert!(whole == fs::read(folder.join("all.reel")).unwrap());
    assert_eq!(sources(&folder.join("all.reel")), ["a.pgn", "cut.pgn.zst"]);
}

#[test]
fn a_file_of_which_nothing_can_be_read_is_noted_once() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("z.pgn"), b"PK\x03\x04 and more").unwrap();
    let args = ["index", "--append", "a.pgn", "z.pgn", "-o", "all.reel"];
    run(folder, 3, &args);
    let whole = fs::read(folder.join("all.reel")).unwrap();
    for _ in 0..2 {
        let (_, told) = run(folder, 3, &args);
        assert!(told.contains("all.reel contains already all that can be read"), "{told}");
    }
    assert!(whole == fs::read(folder.join("all.reel")).unwrap());
    assert_eq!(sources(&folder.join("all.reel")), ["a.pgn", "z.pgn"]);
}

#[test]
fn a_list_of_problems_does_not_replace_what_is_skipped() {
    let folder = folder();
    let folder = folder.path();
    run(folder, 0, &["index", "a.pgn", "-o", "all.reel"]);
    fs::copy(folder.join("a.pgn"), folder.join("same.pgn")).unwrap();
    let before = fs::read(folder.join("same.pgn")).unwrap();
    let args = ["index", "--append", "same.pgn", "b.pgn", "--problems", "same.pgn", "-o", "all.reel"];
    let (_, told) = run(folder, 2, &args);
    assert!(told.contains("write to another file"), "{told}");
    assert_eq!(fs::read(folder.join("same.pgn")).unwrap(), before);
    assert_eq!(sources(&folder.join("all.reel")), ["a.pgn"]);
}

#[test]
fn no_reel_is_appended_to_itself() {
    let folder = folder();
    let folder = folder.path();
    piped(folder, 0, "a.pgn", &["index", "-", "-o", "s.reel"]);
    let before = fs::read(folder.join("s.reel")).unwrap();
    for path in ["s.reel", "./s.reel"] {
        let stderr = run(folder, 0, &["index", "--append", path, "-o", "s.reel"]).1;
        assert!(stderr.ends_with("s.reel contains all inputs already\n"), "{stderr}");
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
    // The option `-q` suppresses the summary, but not warnings.
    fs::write(folder.join("cut.pgn.zst"), &fs::read(folder.join("c.pgn.zst")).unwrap()[..40]).unwrap();
    let stderr = run(folder, 3, &["index", "-q", "cut.pgn.zst", "-o", "cut.reel"]).1;
    assert!(stderr.starts_with("warning: cut.pgn.zst: ") && stderr.lines().count() == 1, "{stderr}");
}
