//! Runs more than a thousand command lines whose output must not change when the code behind them does.
//!
//! Each row of `tests/data/command-lines.tsv` contains a shell command and, before it, a digest of its exit code, standard
//! output, standard error and written files. The commands find their inputs in the folder `in/`: the files of
//! `tests/data/command-lines`, games and reels (packed games). `UPDATE_GOLDEN=1` rewrites the digests;
//! `tests/tools/command-lines.py` shows where the outputs of two programs differ.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::{
    common::{
        archives::{self, Member},
        data,
        harness::Row,
    },
    program::SAMPLE,
};

/// The number of sample games that the commands search.
const GAMES: usize = 300;

#[table(in_parts)]
fn lines() -> Vec<Row> {
    let list = data("command-lines.tsv");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        return vec![Row::new("all", move || write_anew(&list))];
    }
    let numbered = list.lines().enumerate().filter_map(|(number, row)| {
        let (digest, line) = row.split_once('\t')?;
        Some((number, digest.to_owned(), line.to_owned()))
    });
    let row = |(number, digest, line): (usize, String, String)| {
        Row::new(format!("{:04}", number + 1), move || {
            let seen = seen(&line);
            assert!(
                digest_of(&seen) == digest,
                "the output of this line is not what it was:\n{line}\n{seen}"
            );
        })
    };
    numbered.map(row).collect()
}

/// Runs the commands in all rows, and rewrites the file with the new digests.
fn write_anew(list: &str) {
    let mut out = String::new();
    for row in list.lines() {
        match row.split_once('\t') {
            Some((_, line)) => writeln!(out, "{}\t{line}", digest_of(&seen(line))).unwrap(),
            None => writeln!(out, "{row}").unwrap(),
        }
    }
    fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/command-lines.tsv"), out).unwrap();
}

fn digest_of(seen: &str) -> String {
    Sha256::digest(seen).iter().take(6).fold(String::new(), |out, byte| out + &format!("{byte:02x}"))
}

/// Returns everything that a command line prints and writes, as text. Text that depends on the machine or the time is removed or
/// replaced: messages with times or rates, reel contents, paths, and instruction sets.
fn seen(line: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(inputs(), folder.path().join("in")).unwrap();
    let Output { status, stdout, stderr } = shell(folder.path(), line).output().unwrap();
    let mut out = format!("exit code {:?}\n{}", status.code(), String::from_utf8_lossy(&stdout));
    out += "== messages\n";
    let messages = String::from_utf8_lossy(&stderr);
    messages.lines().filter(|line| !is_timed(line)).for_each(|line| out += &format!("{line}\n"));
    for (name, bytes) in files(folder.path(), Path::new("")) {
        // The contents of reels (packed games) are omitted, because they include the paths of the sources.
        let is_reel = name.extension().is_some_and(|ending| ending == "reel");
        let bytes = if is_reel { &[] } else { &bytes[..] };
        writeln!(out, "== {}\n{}", name.display(), String::from_utf8_lossy(bytes)).unwrap();
    }
    // Paths and instruction sets of this machine are replaced.
    let out = out.replace(folder.path().to_str().unwrap(), "HERE");
    ["base", "avx2", "avx512"].iter().fold(out, |out, isa| {
        out.replace(&format!("\"instructions\":\"{isa}\""), "\"instructions\":\"HERE\"")
    })
}

/// Returns a shell command that runs in a folder, with the tested program as `orbit`.
fn shell(folder: &Path, line: &str) -> Command {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_orbit"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).stdin(Stdio::null());
    command.env("PATH", path).env("XDG_CACHE_HOME", folder.join("cache")).env("LC_ALL", "C");
    for name in ["NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(name);
    }
    command
}

/// Returns true if a message contains times or rates.
fn is_timed(line: &str) -> bool {
    ["positions/s", "positions_per_second", " s,", " s ("].iter().any(|unit| line.contains(unit))
}

fn files(folder: &Path, below: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut names: Vec<PathBuf> = fs::read_dir(folder.join(below))
        .unwrap()
        .map(|entry| below.join(entry.unwrap().file_name()))
        .collect();
    names.retain(|name| name != Path::new("in") && name != Path::new("cache"));
    names.sort();
    let read = |name: PathBuf| match folder.join(&name) {
        path if path.is_dir() => files(folder, &name),
        path => vec![(name, fs::read(path).unwrap())],
    };
    names.into_iter().flat_map(read).collect()
}

/// Returns the folder with the inputs, which is created at the first call.
fn inputs() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(make_inputs).path()
}

fn make_inputs() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for entry in fs::read_dir(kept.join("command-lines")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let sample = fs::read_to_string(SAMPLE).unwrap();
    let some: Vec<&str> = sample.split_inclusive("\n\n[Event ").take(GAMES).collect();
    write("sample.pgn", some.concat().trim_end_matches("[Event ").as_bytes());
    let trees = ["vars", "comm", "awards"].map(|name| data(&format!("games/{name}.pgn"))).join("\n");
    write("trees.pgn", trees.as_bytes());
    write("archive.zip", &archives::zip(&[Member::deflated("trees.pgn", trees.as_bytes())]));
    for name in ["main.pgn", "measures.pgn"] {
        write(name, data(&format!("games/{name}")).as_bytes());
    }
    // The reels are built from standard input, so that they contain no paths or times of files.
    fs::create_dir(folder.path().join("reels")).unwrap();
    for index in [
        "orbit index -q - -o reels/sample.reel < sample.pgn",
        "orbit index -q --variations - -o reels/trees.reel < trees.pgn",
        "orbit index -q --shards 64K - -o shards/ < sample.pgn",
    ] {
        let out = shell(folder.path(), index).output().unwrap();
        assert!(out.status.success(), "{index}: {}", String::from_utf8_lossy(&out.stderr));
    }
    folder
}
