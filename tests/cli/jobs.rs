//! Tests `orbit index --shards`, `orbit job` and `orbit scan --resume`: a search in parts must write the same output as
//! a single run.

mod equal;
mod kills;
mod refused;
mod shards;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::program::{SAMPLE, run_in};

/// The reels (packed games) that most jobs search. Each has one block.
const REELS: [&str; 6] = ["a.reel", "b.reel", "c.reel", "d.reel", "e.reel", "f.reel"];

/// Returns a folder with the reels in [`REELS`], which together contain all sample games except the first few.
fn reels() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(SAMPLE).unwrap();
    let games: Vec<&str> = text.split_inclusive("\n\n[Event ").collect();
    for (reel, games) in REELS.iter().zip(games.chunks(90).skip(1)) {
        let pgn = reel.replace(".reel", ".pgn");
        let text = format!("[Event {}", games.concat().trim_end_matches("[Event "));
        fs::write(folder.path().join(&pgn), text).unwrap();
        assert!(orbit(folder.path(), &["index", "-q", &pgn, "-o", reel]).0 == 0);
    }
    folder
}

/// Runs the program. Returns its exit code, standard output and standard error.
#[track_caller]
fn orbit(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let (code, stdout, stderr) = run_in(folder, args);
    (code.unwrap_or_else(|| panic!("{args:?} was killed: {stderr}")), stdout, stderr)
}

#[track_caller]
fn done(folder: &Path, args: &[&str]) -> String {
    let (code, stdout, stderr) = orbit(folder, args);
    assert_eq!(code, 0, "{args:?}: {stderr}");
    stdout
}

fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
        .into_iter()
        .filter(|path| path.is_file())
        .map(|path| {
            let bytes = fs::read(&path).unwrap();
            (path.strip_prefix(folder).unwrap().to_owned(), bytes)
        })
        .collect()
}

fn parts(folder: &Path, job: &str) -> usize {
    let job: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.join(job).join("job.json")).unwrap()).unwrap();
    job["parts"].as_array().unwrap().len()
}
