//! Runs the program as its users do.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// The games that come with the program.
pub const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/games/sample.pgn");
/// A query with 672 copies (transformed patterns). It has hits in 354 of the sample games.
pub const QUERY: &str = "shift flip flipcolor {Nd4 kf3}";

/// Runs the program in a folder. Returns its exit code, standard output and standard error.
pub fn run_in(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    command.current_dir(folder).args(args).env_remove("NO_COLOR").stdin(Stdio::null());
    let out = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (out.status.code(), text(out.stdout), text(out.stderr))
}

/// Runs the program in the project folder. Returns its exit code, standard output and standard error.
pub fn run(args: &[&str]) -> (Option<i32>, String, String) {
    run_in(Path::new(env!("CARGO_MANIFEST_DIR")), args)
}

/// Returns the standard output of a successful run.
#[track_caller]
pub fn stdout(args: &[&str]) -> String {
    let (code, stdout, stderr) = run(args);
    assert_eq!(code, Some(0), "{args:?}: {stderr}");
    stdout
}

/// Returns the rows of a scan as JSON values.
#[track_caller]
pub fn rows(args: &[&str]) -> Vec<Value> {
    let lines = stdout(&[&["scan", "-q", "--format", "jsonl"], args].concat());
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
