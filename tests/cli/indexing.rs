//! Tests reels (packed games): appending blocks, the recorded source files, and dropping duplicates.

mod archives;
mod crashes;
mod duplicates;
mod growing;
mod limits;
mod refused;
mod shards;
mod sources;
mod substitutes;
mod targets;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Returns PGN with several whole games, one that is cut short, one that is skipped, and one that begins from a FEN. The games
/// differ for each `tag`.
fn games(tag: &str) -> String {
    format!(
        "[Event \"{tag} one\"]\n[White \"A\"]\n[WhiteElo \"2500\"]\n[Date \"1999.01.02\"]\n\n\
         1. e4 e5 2. Nf3 Nc6 3. Bb5 1-0\n\n\
         [Event \"{tag} two\"]\n[Black \"B\"]\n\n1. Nf3 Qh9 *\n\n\
         [Event \"{tag} three\"]\n[Variant \"Atomic\"]\n\n1. e4 *\n\n\
         [Event \"{tag} four\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K1N1 b - - 7 23\"]\n\n\
         23... Kd7 24. Nf3 Kd6 25. e4 1/2-1/2\n\n"
    )
}

fn orbit(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    command.current_dir(folder).args(args).stdin(Stdio::null()).output().expect("the binary was built")
}

/// Runs a command in a folder and asserts its exit code. Returns its standard output and standard error.
fn run(folder: &Path, code: i32, args: &[&str]) -> (String, String) {
    let out = orbit(folder, args);
    let [stdout, stderr] = [out.stdout, out.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
    assert_eq!(out.status.code(), Some(code), "{args:?}: {stderr}");
    (stdout, stderr)
}

/// Runs a command with a file as standard input, and asserts its exit code. Returns its standard error.
fn piped(folder: &Path, code: i32, input: &str, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    let input = fs::File::open(folder.join(input)).unwrap();
    let out = command.current_dir(folder).args(args).stdin(input).output().expect("the binary was built");
    let stderr = String::from_utf8(out.stderr).expect("UTF-8");
    assert_eq!(out.status.code(), Some(code), "{args:?}: {stderr}");
    stderr
}

/// Returns a query's hits in some databases, as the JSON Lines of a scan.
fn hits(folder: &Path, query: &str, paths: &[&str]) -> String {
    let args = [&["scan", "-q", "--no-reel", "--format", "jsonl", query], paths].concat();
    run(folder, 0, &args).0
}

fn info(folder: &Path, reel: &str) -> serde_json::Value {
    let (stdout, _) = run(folder, 0, &["info", "--json", "--verify", reel]);
    serde_json::from_str(&stdout).unwrap()
}

/// Creates a folder with the files `a.pgn`, `b.pgn` and `c.pgn.zst`, which share no game.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.pgn"), games("a")).unwrap();
    fs::write(folder.path().join("b.pgn"), games("b").repeat(300)).unwrap();
    let packed = zstd::bulk::compress(games("c").repeat(20).as_bytes(), 3).unwrap();
    fs::write(folder.path().join("c.pgn.zst"), packed).unwrap();
    folder
}

/// Sets a file's modification time, in seconds since the beginning of 2001.
fn set_time(path: &Path, seconds: u64) {
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(978_307_200 + seconds);
    fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}
