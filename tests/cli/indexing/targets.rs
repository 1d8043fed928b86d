//! Tests the output path of a reel (packed games), and changes at that path while the reel is being written.

use std::fs;

use orbit_reel::{Reel, ReelError, ReelWriter};

use super::{folder, hits, info, run};
use crate::common::folders::names;

#[test]
fn a_reel_is_not_replaced_while_it_grows() {
    let folder = folder();
    let folder = folder.path();
    let path = folder.join("all.reel");
    run(folder, 0, &["index", "a.pgn", "-o", "all.reel"]);
    let appender = ReelWriter::append_to(&path).unwrap();
    let stderr = run(folder, 2, &["index", "b.pgn", "-o", "all.reel"]).1;
    assert!(stderr.contains("all.reel: another process is writing this reel"), "{stderr}");
    appender.finish(&[]).unwrap();
    assert_eq!(Reel::open(&path).unwrap().sources()[0].name, "a.pgn");

    // An append is also refused while another writer creates a reel at this path.
    let writer = ReelWriter::create(&path).unwrap();
    let stderr = run(folder, 2, &["index", "--append", "b.pgn", "-o", "all.reel"]).1;
    assert!(stderr.contains("another process is writing this reel: wait until it is done"), "{stderr}");
    writer.finish(&[]).unwrap();
    run(folder, 0, &["index", "--append", "b.pgn", "-o", "all.reel"]);
    assert_eq!(hits(folder, "initial", &["all.reel"]), hits(folder, "initial", &["b.pgn"]));
    // Dropping a writer must also release its lock on the reel.
    drop(ReelWriter::create(&path).unwrap());
    run(folder, 0, &["index", "--append", "a.pgn", "-o", "all.reel"]);
    info(folder, "all.reel");
}

#[cfg(unix)]
#[test]
fn an_append_to_a_reel_that_lost_its_name_is_no_success() {
    let folder = folder();
    let folder = folder.path();
    let path = folder.join("all.reel");
    run(folder, 0, &["index", "a.pgn", "-o", "all.reel"]);
    run(folder, 0, &["index", "b.pgn", "-o", "other.reel"]);
    let other = fs::read(folder.join("other.reel")).unwrap();
    let appender = ReelWriter::append_to(&path).unwrap();
    fs::rename(folder.join("other.reel"), &path).unwrap();
    let error = appender.finish(&[]).unwrap_err().to_string();
    let expected = "all.reel: nothing was appended: another process has replaced the reel; append again";
    assert!(error.ends_with(expected), "{error}");
    assert!(fs::read(&path).unwrap() == other);
}

#[cfg(unix)]
#[test]
fn what_is_no_ordinary_file_is_left_alone() {
    let folder = folder();
    let folder = folder.path();
    let _socket = std::os::unix::net::UnixListener::bind(folder.join("socket")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap();
    assert!(made.success());
    std::os::unix::fs::symlink("pipe", folder.join("link")).unwrap();
    fs::create_dir(folder.join("folder")).unwrap();
    let before = names(folder);
    for name in ["socket", "pipe", "link", "folder"] {
        for args in [&["index", "a.pgn", "-o", name][..], &["index", "--append", "a.pgn", "-o", name]] {
            let stderr = run(folder, 2, args).1;
            assert_eq!(
                stderr,
                format!(
                    "error: {name} is a folder, a device or a pipe, and a reel must be a file: give another name\n"
                )
            );
        }
        assert!(!fs::metadata(folder.join(name)).unwrap().is_file());
    }
    assert_eq!(names(folder), before);
}

#[test]
fn what_a_process_left_behind_is_removed() {
    let folder = folder();
    let path = folder.path().join("new.reel");
    let left = ReelWriter::create(&path).unwrap().temporary_path().unwrap().to_owned();
    assert!(!left.exists());
    fs::write(&left, "left behind").unwrap();
    let writer = ReelWriter::create(&path).unwrap();
    let temporary = writer.temporary_path().unwrap().to_owned();
    assert_eq!((&temporary, fs::metadata(&temporary).unwrap().len()), (&left, 0));
    // While a writer is active, creating another one must fail and leave the first writer's file alone.
    let busy = ReelWriter::create(&path).unwrap_err();
    assert!(matches!(busy, ReelError::Busy { .. }) || !cfg!(unix), "{busy}");
    assert!(temporary.exists());
    writer.finish(&[]).unwrap();
    assert!(Reel::open(&path).is_ok() && !temporary.exists());
}

#[cfg(unix)]
#[test]
fn a_link_to_a_reel_stays_a_link() {
    let folder = folder();
    let folder = folder.path();
    fs::create_dir(folder.join("far")).unwrap();
    std::os::unix::fs::symlink("far/all.reel", folder.join("link.reel")).unwrap();
    for args in [
        &["index", "a.pgn", "-o", "far/all.reel"][..],
        &["index", "b.pgn", "-o", "link.reel"],
        &["index", "--append", "a.pgn", "-o", "link.reel"],
    ] {
        run(folder, 0, args);
        assert!(fs::symlink_metadata(folder.join("link.reel")).unwrap().is_symlink());
    }
    assert_eq!(hits(folder, "initial", &["far/all.reel"]), hits(folder, "initial", &["b.pgn", "a.pgn"]));
    assert_eq!(names(&folder.join("far")), ["all.reel"]);
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_followed() {
    let folder = folder();
    let folder = folder.path();
    fs::create_dir(folder.join("far")).unwrap();
    for (link, to) in [("one", "far/one.reel"), ("two", "one"), ("three", "far/three.reel"), ("four", "no/x")]
    {
        std::os::unix::fs::symlink(to, folder.join(link)).unwrap();
    }
    run(folder, 0, &["index", "a.pgn", "-o", "two"]);
    run(folder, 0, &["index", "--append", "b.pgn", "-o", "three"]);
    assert_eq!(names(&folder.join("far")), ["one.reel", "three.reel"]);
    assert_eq!(hits(folder, "initial", &["far/one.reel"]), hits(folder, "initial", &["a.pgn"]));
    // The first link points into a folder that does not exist, and the second points to itself.
    std::os::unix::fs::symlink("five", folder.join("five")).unwrap();
    for link in ["four", "five"] {
        let stderr = run(folder, 2, &["index", "a.pgn", "-o", link]).1;
        assert!(stderr.starts_with(&format!("error: {link}: ")), "{stderr}");
    }
    for link in ["one", "two", "three", "four", "five"] {
        assert!(fs::symlink_metadata(folder.join(link)).unwrap().is_symlink(), "{link}");
    }
}

#[cfg(unix)]
#[test]
fn a_first_append_replaces_no_file_that_appeared_midway() {
    let folder = folder();
    let folder = folder.path();
    let path = folder.join("all.reel");
    let writer = ReelWriter::append_to(&path).unwrap();
    // The path is now a link to a missing file, so a check for an existing file finds nothing.
    std::os::unix::fs::symlink("nothing", &path).unwrap();
    let error = writer.finish(&[]).unwrap_err().to_string();
    assert!(error.ends_with("all.reel: another process has made this reel; append again"), "{error}");
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    fs::remove_file(&path).unwrap();
    ReelWriter::append_to(&path).unwrap().finish(&[]).unwrap();
    assert_eq!(names(folder), ["a.pgn", "all.reel", "b.pgn", "c.pgn.zst"]);
}

#[test]
fn a_list_of_problems_does_not_lose_to_the_reel() {
    let folder = folder();
    let folder = folder.path();
    fs::create_dir(folder.join("far")).unwrap();
    let mut same = vec!["./out.reel", "far/../out.reel"];
    if cfg!(unix) {
        #[cfg(unix)]
        std::os::unix::fs::symlink("out.reel", folder.join("link")).unwrap();
        same.push("link");
    }
    for list in same {
        let stderr = run(folder, 2, &["index", "a.pgn", "-o", "out.reel", "--problems", list]).1;
        let expected =
            format!("error: {list} is an input, or another output, of this command: write to another file\n");
        assert_eq!(stderr, expected);
        assert!(!folder.join("out.reel").exists());
    }
    run(folder, 0, &["index", "a.pgn", "-o", "out.reel", "--problems", "far/out.reel"]);
    info(folder, "out.reel");
}

#[test]
fn an_empty_file_is_begun_anew() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("all.reel"), "").unwrap();
    run(folder, 0, &["index", "--append", "a.pgn", "-o", "all.reel"]);
    assert_eq!(hits(folder, "initial", &["all.reel"]), hits(folder, "initial", &["a.pgn"]));
}
