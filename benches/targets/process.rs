//! Runs whole processes: `orbit` and pgn-extract.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

/// The message for a machine without pgn-extract.
pub const PGN_EXTRACT_MISSING: &str = "pgn-extract is neither in PATH nor in /usr/games";

/// The interval at which the peak memory of a process is read while the process runs. The system no longer reports it after the
/// process has ended.
const PEAK_INTERVAL: Duration = Duration::from_millis(2);

/// Returns the `orbit` program that cargo built for this bench.
pub fn orbit() -> Command {
    Command::new(env!("CARGO_BIN_EXE_orbit"))
}

/// Runs a command to its end.
pub fn run(command: &mut Command) -> Output {
    let out = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{command:?} ended with {}: {said}", out.status);
    out
}

/// Runs `orbit index` on paths. An existing reel (packed games) is replaced.
pub fn index(paths: &[&Path], reel: &Path, threads: usize) {
    run(orbit().arg("index").args(paths).arg("-o").arg(reel).args(["--threads", &threads.to_string()]));
}

/// Returns the JSON lines that `orbit scan` prints with the CPU engine. For a PGN file, this ignores the reel (packed games)
/// beside it.
fn scan(args: &[&str], path: &Path, threads: usize) -> Vec<Value> {
    let common = ["scan", "--quiet", "--no-reel", "--format", "jsonl", "--engine", "cpu", "--threads"];
    let out = run(orbit().args(common).arg(threads.to_string()).args(args).arg(path));
    let text = String::from_utf8(out.stdout).expect("JSON is UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("every line is a JSON value")).collect()
}

fn positions_hit(line: &Value) -> u64 {
    line["positions_hit"].as_u64().expect("positions that hit are counted")
}

/// Returns the number of positions at which a query matches, as `orbit scan --count` prints it.
pub fn count(query: &str, path: &Path, threads: usize) -> u64 {
    positions_hit(&scan(&["--count", query], path, threads)[0])
}

/// Returns the number of positions at which each query of a file matches, as `orbit scan --queries` prints it.
pub fn survey(queries: &Path, path: &Path, threads: usize) -> Vec<u64> {
    let queries = queries.to_str().expect("this project's path is UTF-8");
    scan(&["--queries", queries], path, threads).iter().map(positions_hit).collect()
}

/// Returns the output of `orbit info --json` for a reel.
pub fn info(reel: &Path) -> Value {
    let out = run(orbit().args(["info", "--json"]).arg(reel));
    serde_json::from_slice(&out.stdout).expect("`orbit info --json` prints JSON")
}

/// Finds pgn-extract, if it is installed.
pub fn pgn_extract() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/games")]);
    folders.map(|folder| folder.join("pgn-extract")).find(|file| file.is_file())
}

/// Makes pgn-extract parse and check all games of a file, without output.
pub fn check_games(pgn_extract: &Path, pgn: &Path) {
    run(Command::new(pgn_extract).args(["-s", "-r"]).arg(pgn));
}

fn first_line(out: &Output) -> String {
    let text = [out.stdout.as_slice(), out.stderr.as_slice()].concat();
    String::from_utf8_lossy(&text).lines().next().unwrap_or_default().trim().to_owned()
}

/// Returns the version of orbit: `orbit 0.1.0`.
pub fn orbit_version() -> String {
    first_line(&run(orbit().arg("--version")))
}

/// Returns the version of pgn-extract, such as `pgn-extract v19-04`, or a message that the program is missing.
pub fn pgn_extract_version() -> String {
    let out = pgn_extract().and_then(|path| Command::new(path).arg("--version").output().ok());
    out.map_or_else(|| PGN_EXTRACT_MISSING.into(), |out| first_line(&out))
}

/// Measures the peak memory of `orbit index -`, in bytes, while it reads `bytes` bytes of a repeated PGN file from standard
/// input. Returns `None` if the system does not report the peak.
pub fn index_peak(pgn: &Path, bytes: u64, reel: &Path) -> Option<u64> {
    let mut command = orbit();
    command.args(["index", "-", "--threads", "2", "-o"]).arg(reel);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("orbit starts");
    let stdin = child.stdin.take().expect("its standard input is a pipe");
    std::thread::scope(|scope| {
        let feeder = scope.spawn(move || feed(pgn, bytes, stdin));
        let peak = peak_until_end(&mut child);
        feeder.join().expect("feeding does not panic").expect("orbit reads its standard input to the end");
        peak
    })
}

fn feed(pgn: &Path, mut left: u64, mut stdin: ChildStdin) -> io::Result<()> {
    while left > 0 {
        left -= io::copy(&mut File::open(pgn)?.take(left), &mut stdin)?;
    }
    Ok(())
}

fn peak_until_end(child: &mut Child) -> Option<u64> {
    let mut peak = None;
    loop {
        peak = peak_now(child.id()).or(peak);
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            assert!(status.success(), "`orbit index -` ended with {status}");
            return peak;
        }
        std::thread::sleep(PEAK_INTERVAL);
    }
}

/// Returns a process's peak memory so far; `None` if the process has ended.
fn peak_now(id: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}
