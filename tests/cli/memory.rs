//! Tests the program when memory allocation fails, which is simulated by limiting the address space.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::program::{SAMPLE, run_in};

/// Commands that write each kind of output. Their standard input is a file with requests for `orbit serve`.
const COMMANDS: [&[&str]; 22] = [
    &["scan", "-j", "2", "--no-reel", "Nf3", "a.pgn"],
    &["scan", "-j", "2", "--no-reel", "-F", "jsonl", "Nf3", "a.pgn"],
    &["scan", "-j", "2", "--no-reel", "-F", "csv", "Nf3", "a.pgn"],
    &["scan", "-j", "2", "--no-reel", "-q", "-o", "new.pgn", "Nf3", "a.pgn"],
    &["scan", "-j", "2", "--no-reel", "-q", "-o", "new.html", "Nf3", "a.pgn"],
    &["scan", "-j", "2", "--no-reel", "--count", "Nf3", "a.pgn"],
    &["scan", "-j", "2", "--no-reel", "--stats", "player", "Nf3", "a.pgn"],
    &["scan", "-j", "2", "--no-reel", "--engine", "reference", "--count", "find Nf3", "a.pgn"],
    &["index", "-j", "2", "a.pgn", "-o", "new.reel"],
    &["show", "a.pgn", "3"],
    &["explain", "shift flip flipcolor {Nd4 kf3}"],
    &["batch", "-j", "2", "catalogue", "a.pgn"],
    &["scan", "-j", "2", "--no-reel", "-q", "-o", "new.parquet", "Nf3", "a.pgn"],
    &["scan", "-j", "2", "--no-reel", "-q", "-o", "new.svg", "Nf3", "a.pgn"],
    &["scan", "-j", "2", "--no-reel", "-q", "-o", "new.epd", "Nf3", "a.pgn"],
    &["cql", "-i", "a.pgn", "-o", "new.pgn", "script.cql"],
    &["serve", "a.pgn"],
    &["job", "plan", "Nf3", "b.reel", "-o", "new/"],
    &["player", "-j", "2", "--exact", "Jakovenko, Dmitry", "a.pgn"],
    &["player", "-j", "2", "--exact", "Jakovenko, Dmitry", "a.pgn", "-o", "new.html"],
    &["explore", "a.pgn", "e4"],
    &["positions", "a.pgn", "e4"],
];

/// The files that the commands read.
const FILES: [&str; 4] = ["a.pgn", "b.reel", "script.cql", "requests"];

/// The memory limits, in KiB above what the program needs to start.
const LIMITS: [u32; 10] = [400, 800, 1_200, 2_000, 3_000, 5_000, 20_000, 80_000, 200_000, 600_000];

/// Runs the program with `kib` KiB of address space. Returns its exit code, standard output and standard error.
fn limited(folder: &Path, kib: u32, args: &[&str]) -> (Option<i32>, String, String) {
    let script = format!("ulimit -c 0; ulimit -v {kib}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.stdin(fs::File::open(folder.join("requests")).unwrap());
    command.current_dir(folder).args(["-c", &script, env!("CARGO_BIN_EXE_orbit")]).args(args);
    let out = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (out.status.code(), text(out.stdout), text(out.stderr))
}

/// Returns the smallest address space, in KiB, in which the program can report that memory is short. With less, the program
/// cannot be loaded or started.
fn least(folder: &Path) -> u32 {
    let speaks = |kib: &u32| limited(folder, *kib, &["--version"]).0 == Some(4);
    (20_000..2_000_000).step_by(400).find(speaks).unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let games = fs::read_to_string(SAMPLE).unwrap();
    let end = games.match_indices("[Event ").nth(24).unwrap().0;
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("a.pgn", &games[..end]);
    write("script.cql", "cql() check comment(\"check\")");
    let request =
        |id: u8, query: &str| format!("{{\"id\":{id},\"request\":\"query\",\"query\":\"{query}\"}}\n");
    write("requests", &(request(1, "Nf3") + &request(2, "check")));
    assert_eq!(run_in(folder.path(), &["index", "-q", "a.pgn", "-o", "b.reel"]).0, Some(0));
    folder
}

/// If the system's stack limit is low, the program reserves no stack but still runs.
#[test]
fn a_small_stack_is_enough_to_start() {
    let script = "ulimit -c 0; ulimit -s 512; exec \"$0\" --version";
    let out = Command::new("sh").args(["-c", script, env!("CARGO_BIN_EXE_orbit")]).output().unwrap();
    assert!(out.status.success() && out.stdout.starts_with(b"orbit "), "{out:?}");
}

#[test]
fn a_refusal_of_memory_is_an_error_with_a_code() {
    let folder = folder();
    let folder = folder.path();
    let least = least(folder);
    let mut refusals = 0;
    for args in COMMANDS {
        let mut codes = Vec::new();
        for more in LIMITS {
            let (code, _, stderr) = limited(folder, least + more, args);
            let code = code.unwrap_or_else(|| panic!("{args:?} with {more} KiB ended by a signal: {stderr}"));
            let last = stderr.lines().last().unwrap_or_default();
            match code {
                0 => {}
                4 => assert!(last.starts_with("error: the system refused "), "{args:?}, {more}: {stderr}"),
                2 | 3 => assert!(stderr.contains("memory"), "{args:?}, {more}: {stderr}"),
                _ => panic!("{args:?} with {more} KiB: {code}: {stderr}"),
            }
            assert!(!stderr.contains("panicked"), "{args:?}, {more}: {stderr}");
            let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
            let left: Vec<_> = names.filter(|name| !FILES.iter().any(|file| name == file)).collect();
            assert!(code == 0 || left.is_empty(), "{args:?}, {more}: {left:?}");
            for path in left.iter().map(|name| folder.join(name)) {
                let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
                removed.unwrap();
            }
            codes.push(code);
        }
        // With the highest limit, every command succeeds.
        assert_eq!(codes.last(), Some(&0), "{args:?}: {codes:?}");
        refusals += codes.iter().filter(|code| **code == 4).count();
    }
    assert!(refusals > COMMANDS.len(), "{refusals}");
    let args = [&["--message-format", "json"], COMMANDS[11]].concat();
    let runs = LIMITS.map(|more| limited(folder, least + more, &args));
    let messages = runs.iter().filter(|(code, ..)| *code == Some(4)).map(|(_, _, stderr)| stderr);
    let is_json = |line: &str| serde_json::from_str::<Value>(line).is_ok_and(|it| it["code"] == "memory");
    // If memory runs out before the arguments are parsed, the message is text instead of JSON.
    assert!(messages.filter(|stderr| is_json(stderr.lines().last().unwrap())).count() > 0, "{runs:?}");
}

/// The reader for reels (packed games) handles the failed allocation itself. Its message names the part of the file that needed the
/// memory.
#[test]
fn a_reel_that_needs_too_much_memory_is_named() {
    let folder = folder();
    let folder = folder.path();
    let least = least(folder);
    let (header_bytes, directory_bytes) = (64, 100 << 20);
    let mut header = [0; 64];
    header[..8].copy_from_slice(&orbit_reel::MAGIC);
    header[8] = 1;
    for (at, value) in [(16, header_bytes + directory_bytes), (24, header_bytes), (32, directory_bytes)] {
        header[at..at + 8].copy_from_slice(&u64::to_le_bytes(value));
    }
    let crc = crc32fast::hash(&header);
    header[12..16].copy_from_slice(&crc.to_le_bytes());
    let path = folder.join("forged.reel");
    fs::write(&path, header).unwrap();
    fs::File::options().append(true).open(&path).unwrap().set_len(header_bytes + directory_bytes).unwrap();
    let (code, _, stderr) = limited(folder, least + 40_000, &["info", "forged.reel"]);
    let said = "error: forged.reel: there is not enough memory to read ";
    assert!(code == Some(2) && stderr.starts_with(said), "{code:?}: {stderr}");
}
