//! Tests how the command reads files from the web.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::http::{Answer, Hold, Server, file};
use crate::common::waiting::Process;

const QUERY: &str = "shift flip flipcolor {Nd4 kf3}";
const COUNTS: &str = "games hit 354\npositions hit 633\n";
const TAG: &str = "\"one\"";

/// The grace period after Ctrl-C. If a run has not ended by itself within this time, the program is terminated.
const GRACE: Duration = Duration::from_secs(2);
/// The maximum number of attempts to interrupt a run so that it ends within its grace period. On a busy machine, several may be
/// necessary.
const TRIES: usize = 10;

fn sample() -> Vec<u8> {
    fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/games/sample.pgn")).unwrap()
}

/// Starts a server that serves the sample. It drops the connection once, in the middle of the file.
fn server() -> Server {
    let bytes = sample();
    Server::start(move |request| {
        let answer = file(request, &bytes, TAG);
        Some(if request.from() == 0 { answer.cut(bytes.len() / 2) } else { answer })
    })
}

/// Returns a URL that contains secrets: a user, a password and a query string.
fn secret(server: &Server) -> String {
    format!("{}/games.pgn?X-Signature=secret", server.url.replace("//", "//somebody:secret@"))
}

fn command(words: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    command.args(words).current_dir(folder).stdin(Stdio::null());
    command
}

fn spawn(words: &[&str], folder: &Path) -> Process {
    let mut command = command(words, folder);
    Process::new(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

fn orbit(words: &[&str], folder: &Path) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = spawn(words, folder).output(&words.join(" "));
    let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(!stdout.contains("secret") && !stderr.contains("secret"), "{stdout}{stderr}");
    (status.code(), stdout, stderr)
}

/// Asserts that no file in a folder contains a secret from the URL. Returns the number of files.
fn demand_no_secret(folder: &Path) -> usize {
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files += demand_no_secret(&path);
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        assert!(!bytes.windows(6).any(|window| window == b"secret"), "{}", path.display());
        files += 1;
    }
    files
}

#[test(part = 0)]
fn commands_read_the_web_and_keep_its_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let server = server();
    let (url, name) = (&secret(&server)[..], format!("{}/games.pgn", server.url));
    fs::write(here.join("query.cql"), QUERY).unwrap();
    let (code, stdout, stderr) = orbit(&["scan", "--count", QUERY, url], here);
    assert_eq!((code, &*stdout), (Some(0), COUNTS), "{stderr}");
    let (code, stdout, _) = orbit(&["scan", "-q", "--count", "-f", "query.cql", url], here);
    assert_eq!((code, &*stdout), (Some(0), COUNTS));
    let (code, stdout, _) = orbit(&["scan", "-q", "--format", "jsonl", QUERY, url], here);
    assert!(code == Some(0) && stdout.lines().count() == 633 && stdout.contains(&name), "{stdout}");
    let outputs = ["-o", "a.csv", "-o", "a.html", "-o", "a.pgn", "-o", "a.epd", "-o", "a.jsonl"];
    let words = [&["scan", "-q", "--problems", "problems.txt", QUERY, url][..], &outputs].concat();
    assert_eq!(orbit(&words, here).0, Some(0));
    let (code, stdout, _) = orbit(&["scan", "-q", "--stats", "source", QUERY, url], here);
    assert!(code == Some(0) && stdout.contains(&name), "{stdout}");
    let (code, stdout, _) = orbit(&["batch", "-q", "catalogue", "--only", "back-rank-mate", url], here);
    assert!(code == Some(0) && stdout.contains("back-rank-mate"), "{stdout}");
    let (code, stdout, _) = orbit(&["show", url, "1000"], here);
    assert!(code == Some(0) && stdout.contains("a b c d e f g h"), "{stdout}");
    let (code, _, stderr) = orbit(&["show", url, "1001"], here);
    assert_eq!((code, stderr), (Some(2), format!("error: {name} has 1,000 games: there is no game 1001\n")));
    let (code, _, stderr) = orbit(&["scan", url], here);
    assert!(code == Some(2) && stderr.contains("the query is missing"), "{stderr}");
    // A reel (packed games) and a folder of reels can be built from the URL, and `orbit info` shows the state of the source.
    assert_eq!(orbit(&["index", "-q", url, "-o", "games.reel"], here).0, Some(0));
    assert_eq!(orbit(&["index", "-q", "--shards", "100K", url, "-o", "db/"], here).0, Some(0));
    let (code, stdout, _) = orbit(&["scan", "-q", "--count", QUERY, "games.reel"], here);
    assert_eq!((code, &*stdout), (Some(0), COUNTS));
    let (code, stdout, _) = orbit(&["info", "--verify", "games.reel"], here);
    let bytes = sample().len().to_string();
    let line = stdout.lines().find(|line| line.contains(&name)).unwrap().replace(',', "");
    assert!(
        code == Some(0) && line.contains(&bytes) && line.ends_with("not known whether it changed"),
        "{line}"
    );
    assert_eq!(
        orbit(&["index", "-q", "--append", "--no-duplicates", url, "-o", "games.reel"], here).0,
        Some(0)
    );
    let (_, stdout, _) = orbit(&["scan", "-q", "--count", QUERY, "games.reel"], here);
    assert_eq!(stdout, COUNTS);
    // The games' text is not downloaded again.
    let (code, _, stderr) = orbit(&["scan", "-q", "-o", "b.pgn", QUERY, "games.reel"], here);
    assert!(
        code == Some(2) && stderr.contains(&format!("the text of the games is missing: {name}, ")),
        "{stderr}"
    );
    assert_eq!(demand_no_secret(here), 10);
}

#[test]
fn what_needs_a_file_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let server = server();
    let (url, name) = (&secret(&server)[..], format!("{}/games.pgn", server.url));
    let refused =
        format!("error: {name}: a job reads files that stay where and as they are: download it first\n");
    for words in [&["job", "plan", QUERY, url, "-o", "out/"][..], &["scan", "--resume", "out/", QUERY, url]] {
        let (code, _, stderr) = orbit(words, here);
        assert_eq!((code, stderr), (Some(2), refused.clone()));
    }
    assert_eq!(fs::read_dir(here).unwrap().count(), 0);
    let reel = format!("{}/games.reel?key=secret", server.url);
    for words in [&["scan", QUERY, &reel][..], &["info", &reel], &["index", &reel, "-o", "a.reel"]] {
        let (code, _, stderr) = orbit(words, here);
        assert!(code == Some(2) && stderr.ends_with("download it first\n"), "{stderr}");
    }
}

#[test]
fn codes_say_what_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let missing = Server::start(|_| Some(Answer::new(404).with("Content-Length: 0")));
    let (code, _, stderr) = orbit(&["scan", QUERY, &secret(&missing)], here);
    let expected = format!(
        "error: {}/games.pgn cannot be read: the server answers 404 (Not Found): check the link\n",
        missing.url
    );
    assert_eq!((code, stderr), (Some(2), expected));
    let bytes = sample();
    let replaced = Server::start(move |request| {
        Some(match request.index {
            0 => file(request, &bytes, TAG).cut(bytes.len() / 2),
            _ => file(request, &bytes, "\"two\""),
        })
    });
    let (code, stdout, stderr) = orbit(&["index", "-q", &secret(&replaced), "-o", "games.reel"], here);
    assert_eq!((code, &*stdout), (Some(3), ""));
    assert!(
        stderr.contains("the file cannot be read on: it was replaced while it was read: read it again"),
        "{stderr}"
    );
    let (code, stdout, _) = orbit(&["info", "games.reel"], here);
    assert!(code == Some(0) && stdout.contains("it was replaced while it was read"), "{stdout}");
    let (hold, release) = Hold::new();
    let silent = Server::start(move |_| {
        hold.wait();
        None
    });
    let (code, _, stderr) = orbit(&["scan", "--timeout", "0.5", QUERY, &secret(&silent)], here);
    assert!(code == Some(2) && stderr.contains("the server is silent for 500ms"), "{stderr}");
    drop(release);
    for wrong in ["0", "-1", "soon", "1e99"] {
        assert_eq!(orbit(&["scan", &format!("--timeout={wrong}"), QUERY, "-"], here).0, Some(2));
    }
}

#[test]
fn progress_knows_the_length() {
    let folder = tempfile::tempdir().unwrap();
    let server = server();
    let (code, _, stderr) =
        orbit(&["scan", "-q", "--count", "--progress", "json", QUERY, &secret(&server)], folder.path());
    let done = stderr.lines().last().unwrap();
    let total = sample().len();
    assert!(code == Some(0) && done.contains(&format!("\"bytes_total\":{total}")), "{done}");
}

/// Interrupts a command with Ctrl-C while it waits for an unresponsive server. Returns the time until the command ended.
fn interrupted(words: &[&str], folder: &Path, hold: &Hold) -> Duration {
    let met = hold.met();
    let mut process = spawn(words, folder);
    let is_asked = || if hold.met() > met { Ok(()) } else { Err("no request") };
    process.until("the server holds an answer back", is_asked);
    process.falls_asleep();
    let begun = Instant::now();
    process.interrupt();
    let Output { status, stderr, .. } = process.output(&words.join(" "));
    let (took, told) = (begun.elapsed(), String::from_utf8(stderr).unwrap());
    assert_eq!(status.code(), Some(130), "{words:?}: {told}");
    assert!(
        told.contains("interrupted") && !told.contains("warning") && !told.contains("secret"),
        "{words:?}: {told}"
    );
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0, "{words:?}");
    took
}

#[test]
fn an_interrupt_ends_waiting_for_the_web() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = sample();
    let half = bytes.len() / 2;
    let (hold, _release) = Hold::new();
    let held = hold.clone();
    let stalls = Server::start(move |request| {
        Some(Answer { hold: Some(held.clone()), ..file(request, &bytes, TAG).cut(half) })
    });
    let held = hold.clone();
    let silent = Server::start(move |_| {
        held.wait();
        None
    });
    for (server, words) in [
        (&stalls, &["scan", "--count", QUERY][..]),
        (&silent, &["scan", "--count", QUERY]),
        (&stalls, &["index", "-o", "games.reel"]),
        (&silent, &["show", "--json"]),
    ] {
        let url = secret(server);
        let words = [words, &[&*url][..], if words[0] == "show" { &["1"] } else { &[] }].concat();
        // A run that keeps waiting for the server ends when its grace period is over, never earlier. So a faster run ended by
        // itself.
        let ends_by_itself = (0..TRIES).any(|_| interrupted(&words, folder.path(), &hold) < GRACE);
        assert!(ends_by_itself, "{words:?}: after Ctrl-C it waits for the server");
    }
}
