//! Tests endless inputs, requests with absurd sizes, and files of the wrong kind.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{folder, hits, run};

#[test]
fn threads_beyond_measure_are_as_many_as_are_of_use() {
    let folder = folder();
    let folder = folder.path();
    let expected = hits(folder, "true", &["b.pgn"]);
    for threads in ["18446744073709551615", "100000", "33"] {
        let args = ["scan", "-q", "--no-reel", "--format", "jsonl", "--threads", threads, "true", "b.pgn"];
        assert!(run(folder, 0, &args).0 == expected, "{threads}");
        run(folder, 0, &["index", "--threads", threads, "a.pgn", "-o", "a.reel"]);
        run(folder, 0, &["batch", "--threads", threads, "catalogue", "a.pgn"]);
    }
}

#[cfg(unix)]
#[test]
fn texts_without_end_are_refused() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("themes.toml"), "include = [\"/dev/zero\"]\n").unwrap();
    for (args, said) in [
        (&["scan", "-f", "/dev/zero", "a.pgn"][..], "the query file /dev/zero is longer than 16 MiB"),
        (&["scan", "--queries", "/dev/zero", "a.pgn"], "the query file /dev/zero is longer than 16 MiB"),
        (&["explain", "-f", "/dev/zero"], "longer than 16 MiB"),
        (&["bench", "--queries", "/dev/zero"], "longer than 16 MiB"),
        (&["batch", "/dev/zero", "a.pgn"], "longer than 16 MiB"),
        (&["batch", "themes.toml", "a.pgn"], "a pipe or a device"),
    ] {
        let stderr = run(folder, 2, args).1;
        assert!(stderr.contains(said), "{args:?}: {stderr}");
    }
    let stderr = run(folder, 3, &["scan", "--count", "true", "/dev/zero"]).1;
    assert!(stderr.contains("no game begins") || stderr.contains("it is no PGN"), "{stderr}");
}

/// A query can be read from a pipe. A theme file must not include a pipe, because reading it would wait for a writer.
#[cfg(unix)]
#[test]
fn an_include_that_is_a_pipe_is_refused() {
    let folder = folder();
    let folder = folder.path();
    assert!(Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap().success());
    fs::write(folder.join("themes.toml"), "include = [\"pipe\"]\n").unwrap();
    let stderr = run(folder, 2, &["batch", "themes.toml", "a.pgn"]).1;
    assert!(stderr.contains("cannot be read (it is a folder, a pipe or a device)"), "{stderr}");
    let query = folder.join("pipe");
    let writer = std::thread::spawn(move || fs::write(query, "true").unwrap());
    assert!(run(folder, 0, &["scan", "--count", "-f", "pipe", "a.pgn"]).0.contains("games hit 3"));
    writer.join().unwrap();
}

fn no_pgn(folder: &Path) {
    fs::write(folder.join("README.md"), "# Games\n\nAll of them.\n\n1. Introduction\n").unwrap();
    fs::create_dir(folder.join("all")).unwrap();
    fs::copy(folder.join("README.md"), folder.join("all/read.pgn")).unwrap();
    fs::copy(folder.join("a.pgn"), folder.join("all/a.pgn")).unwrap();
}

#[test]
fn json_settings_and_binary_files_end_with_a_reason() {
    let folder = folder();
    let folder = folder.path();
    for (name, bytes, reason) in [
        ("a.ndjson", &b"{\"moves\":\"e4 e5\"}\n{\"moves\":\"d4\"}\n"[..], "it is JSON, no PGN"),
        ("a.json", b"[\n  {\"moves\": \"1. e4 e5\"}\n]\n", "it is JSON, no PGN"),
        ("numbers.json", b"[[1, 2], [3]]\n", "it is JSON, no PGN"),
        ("a.cbh", b"\0\0\x2c\0\x2e\x01\0\0\x01b2\0e4\0", "it has bytes that no text has"),
        ("Cargo.toml", b"[package]\nname = \"a\"\n\n[dependencies]\n", "it begins with no tag pair"),
        ("config", b"[branch \"main\"]\n\tremote = origin\n", "it begins with no tag pair"),
    ] {
        fs::write(folder.join(name), bytes).unwrap();
        let stderr = run(folder, 3, &["scan", "--count", "true", name]).1;
        assert!(stderr.contains(&format!("warning: {name}: not read beyond byte 0: it is ")), "{stderr}");
        assert!(stderr.contains(reason), "{stderr}");
        // A file in a folder is skipped if its ending is that of games but it contains no PGN.
        fs::create_dir(folder.join("all")).unwrap();
        fs::copy(folder.join("a.pgn"), folder.join("all/a.pgn")).unwrap();
        fs::write(folder.join("all/b.pgn"), bytes).unwrap();
        let (stdout, stderr) = run(folder, 0, &["scan", "--count", "true", "all"]);
        assert!(stdout.contains("games hit 3"), "{stdout}");
        assert!(stderr.contains("note: all/b.pgn: skipped: it is "), "{stderr}");
        fs::remove_dir_all(folder.join("all")).unwrap();
    }
}

/// Runs a command in a folder, limited to 20 seconds of processor time, and asserts that it succeeds.
#[cfg(unix)]
fn run_soon(folder: &Path, args: &[&str]) {
    let mut command = Command::new("sh");
    let script = "ulimit -c 0; ulimit -t 20; exec \"$0\" \"$@\"";
    command.current_dir(folder).args(["-c", script, env!("CARGO_BIN_EXE_orbit")]).args(args);
    let out = command.output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
}

/// Tag names are looked up in a table. Comparing each name with all earlier names would take minutes.
#[cfg(unix)]
#[test]
fn a_game_of_many_tag_pairs_is_read_soon() {
    let folder = folder();
    let folder = folder.path();
    for (name, between) in [("lines.pgn", "\n"), ("line.pgn", "  ")] {
        let tags: String = (0..60_000).map(|tag| format!("[T{tag}  \"v{tag}\"]{between}")).collect();
        fs::write(folder.join(name), format!("[Event \"a\"]\n{tags}\n\n1. e4 *\n")).unwrap();
        run_soon(folder, &["index", name, "-o", "tags.reel"]);
        let last = "tag:T59999=v59999";
        run_soon(folder, &["scan", "--no-reel", "--where", last, "--fail-if-none", "true", name]);
    }
}

#[test]
fn what_is_no_pgn_ends_with_a_reason_and_in_a_folder_with_a_note() {
    let folder = folder();
    let folder = folder.path();
    no_pgn(folder);
    let (stdout, stderr) = run(folder, 3, &["scan", "--count", "true", "README.md"]);
    assert_eq!(stdout, "", "counts of no source");
    assert!(
        stderr.contains("warning: README.md: not read beyond byte 0: it is no PGN, FEN or EPD"),
        "{stderr}"
    );
    let (stdout, stderr) = run(folder, 0, &["scan", "--count", "true", "all"]);
    assert!(stdout.contains("games hit 3"), "{stdout}");
    assert!(stderr.contains("note: all/read.pgn: skipped: it is no PGN, FEN or EPD"), "{stderr}");
    // A second append must find nothing new in the folder.
    run(folder, 0, &["index", "--append", "all", "-o", "all.reel"]);
    let size = || fs::metadata(folder.join("all.reel")).unwrap().len();
    let before = size();
    run(folder, 0, &["index", "--append", "all", "-o", "all.reel"]);
    assert_eq!(size(), before);
}

#[test]
fn a_window_beyond_the_limit_is_told_with_its_remedy() {
    let folder = folder();
    let folder = folder.path();
    let game = b"1. e4 e5 1-0\n";
    let block = ((game.len() as u32) << 3 | 1).to_le_bytes();
    let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0, 18 << 3][..], &block[..3], game].concat();
    fs::write(folder.join("wide.pgn.zst"), frame).unwrap();
    let (stdout, stderr) = run(folder, 3, &["scan", "--count", "true", "wide.pgn.zst"]);
    assert!(stdout.is_empty() && stderr.contains("give --zstd-window 256M"), "{stdout}{stderr}");
    let (stdout, _) = run(folder, 0, &["scan", "--count", "--zstd-window", "256M", "true", "wide.pgn.zst"]);
    assert!(stdout.contains("games hit 1"), "{stdout}");
    run(folder, 3, &["index", "wide.pgn.zst", "-o", "wide.reel"]);
    run(folder, 0, &["index", "--zstd-window", "256M", "wide.pgn.zst", "-o", "wide.reel"]);
    run(folder, 0, &["show", "--zstd-window", "256M", "wide.pgn.zst", "1"]);
}
