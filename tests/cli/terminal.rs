//! Tests that escape sequences in a game, a reel (packed games), a file or an argument never reach a terminal, whichever command
//! prints them.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::common::harness::SCRIPT;

/// Control sequences and special characters: they set the title, clear the screen, set colours, change the writing direction, are
/// invisible, or begin a new line.
const HOSTILE: &str = "\u{1b}]0;pwned\u{7}\u{1b}[31mRED\u{1b}[2J\u{9b}31m\u{7f}\u{202e}evil\u{2066}\u{200b}\u{200f}\u{feff}\u{61c}";

/// Returns true if a character must not be printed. This list is independent of the program's own list.
fn acts(letter: char) -> bool {
    let code = letter as u32;
    let ranges = [(0x200b, 0x200f), (0x202a, 0x202e), (0x2066, 0x2069), (0xfeff, 0xfeff), (0x61c, 0x61c)];
    letter.is_control() && letter != '\n'
        || ranges.iter().any(|&(first, last)| (first..=last).contains(&code))
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let place = Place { folder };
        let tags = |white: &str| {
            ["Event", "Site", "Round", "Annotator"]
                .map(|name| format!("[{name} \"{HOSTILE}{name}\"]\n"))
                .concat()
                + &format!(
                    "[White \"{white}{HOSTILE}\"]\n[Black \"{HOSTILE}\"]\n[ECO \"{HOSTILE}\"]\n[{HOSTILE} \"x\"]\n"
                )
        };
        let games = format!(
            "{}\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0\n\n{}\n1. d4 {{{HOSTILE}}} d5 2. Zz9{HOSTILE} *\n\n\
             [Event \"x\"]\n[Variant \"{HOSTILE}\"]\n\n1. e4 *\n",
            tags("A"),
            tags("B")
        );
        place.write(&place.pgn(), &games);
        place.write(&place.path("plain.pgn"), "[Event \"a\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0\n");
        let made =
            place.orbit(&["index", place.pgn().to_str().unwrap(), "-o", place.reel().to_str().unwrap()]);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, path: &Path, text: &str) {
        fs::write(path, text).unwrap();
    }

    fn pgn(&self) -> PathBuf {
        self.path(&format!("{HOSTILE}\nerror: forged.pgn"))
    }

    fn reel(&self) -> PathBuf {
        self.path(&format!("{HOSTILE}\nerror: forged other.reel"))
    }

    fn orbit(&self, args: &[&str]) -> Output {
        self.orbit_fed(args, "")
    }

    fn orbit_fed(&self, args: &[&str], input: &str) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_orbit"))
            .args(args)
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Writing may fail, because the command may end before it has read its input.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }
}

/// Returns both output streams. Asserts that they contain no terminal control sequence, and that no line end within a name begins a
/// new line.
#[track_caller]
fn check(what: &[&str], output: &Output) -> String {
    let mut all = String::new();
    for bytes in [&output.stdout, &output.stderr] {
        let text = String::from_utf8(bytes.clone()).unwrap_or_else(|_| panic!("{what:?}: no UTF-8"));
        let found: String = text.chars().filter(|&letter| acts(letter)).collect();
        assert!(found.is_empty(), "{what:?}: {found:?} in {text:?}");
        let is_forged = text.lines().any(|line| line.starts_with("error: forged"));
        assert!(!is_forged, "{what:?}: a line is forged: {text}");
        all.push_str(&text);
    }
    all
}

#[test]
fn no_command_prints_what_acts_on_a_terminal() {
    let place = Place::new();
    let (pgn, reel) = (place.pgn(), place.reel());
    let (pgn, reel) = (pgn.to_str().unwrap(), reel.to_str().unwrap());
    let missing = place.path(&format!("missing{HOSTILE}"));
    let missing = missing.to_str().unwrap();
    let unwritable = format!("{missing}/out");
    let [query_file, themes, wrong_themes, queries, wrong_queries] =
        ["q.cql", "themes.toml", "wrong.toml", "queries.txt", "wrong.txt"]
            .map(|name| place.path(&format!("{HOSTILE}{name}")));
    place.write(&query_file, &format!("\u{feff}flip {{R[a8-1] /* {HOSTILE} */ {HOSTILE}\r\n kh8}}\r\n"));
    let escaped: String = HOSTILE.chars().map(|letter| format!("\\U{:08x}", letter as u32)).collect();
    let theme = |query: &str| {
        format!(
            "[[theme]]\nname = \"a\"\nquery = '{query}'\ntitle = \"{escaped}\"\ngroup = \"{escaped}\"\n\
             description = \"{escaped}\"\nsource = \"{escaped}\"\n"
        )
    };
    place.write(&themes, &theme("Ra1"));
    place.write(&wrong_themes, &theme(&format!("Ra9 {}", "\u{202e}\u{9b}")));
    place.write(&queries, &format!("{HOSTILE}\tRa1\n"));
    place.write(&wrong_queries, &format!("{HOSTILE}\tRa9{HOSTILE}\n"));
    let [query_file, themes, wrong_themes, queries, wrong_queries] =
        [&query_file, &themes, &wrong_themes, &queries, &wrong_queries].map(|path| path.to_str().unwrap());
    let player = format!("player \"{HOSTILE}\"");
    let condition = format!("event~{HOSTILE}");
    let wrong_condition = format!("date>{HOSTILE}");
    let grouping = format!("tag:{HOSTILE}");
    let flag = format!("--{HOSTILE}");
    let list = format!("(position {HOSTILE})");
    let wrong_ending = format!("x.{HOSTILE}");
    let cases: &[&[&str]] = &[
        &["index", pgn, "-v", "-o", "a.reel"],
        &["index", "--append", pgn, "-o", reel],
        &["index", "--append", pgn, pgn, "-o", "b.reel"],
        &["index", pgn, "-o", pgn],
        &["index", missing, "-o", "a.reel"],
        &["index", "plain.pgn", "-o", &unwritable],
        &["info", reel],
        &["info", "--verify", reel],
        &["info", "--json", reel],
        &["info", pgn],
        &["info", missing],
        &["show", pgn, "1"],
        &["show", reel, "2:1"],
        &["show", reel, "--json", "2"],
        &["show", reel, "3"],
        &["show", reel, "99"],
        &["show", reel, HOSTILE],
        &["scan", "true", pgn],
        &["scan", "true", pgn, "plain.pgn"],
        &["scan", "true", reel, "plain.pgn", "-v"],
        &["scan", "true", missing],
        &["scan", pgn, "true"],
        &["scan", pgn],
        &["scan", &player, pgn],
        &["scan", HOSTILE, pgn],
        &["scan", "-f", query_file, pgn],
        &["scan", "-f", missing, pgn],
        &["scan", "-f", query_file, missing],
        &["scan", "--copies", "shift flip Pe4", pgn],
        &["scan", "--heat", "shift Pe4", pgn],
        &["scan", "--heat", "--format", "jsonl", "shift Pe4", pgn],
        &["scan", "--count", "true", reel],
        &["scan", "--format", "jsonl", "true", reel],
        &["scan", "--format", "epd", "true", reel],
        &["scan", "--format", "fen", "true", reel],
        &["scan", "--stats", "event,white,player,eco,event*white,tag:Annotator", "true", reel],
        &["scan", "--stats", "event", "--stats-format", "json", "true", reel],
        &["scan", "--stats", &grouping, "true", reel],
        &["scan", "--stats", HOSTILE, "true", reel],
        &["scan", "--where", &condition, "true", reel],
        &["scan", "--where", &wrong_condition, "true", reel],
        &["scan", "--where", HOSTILE, "true", reel],
        &["scan", "--sort", "elo", "true", pgn, "plain.pgn"],
        &["scan", "--queries", queries, reel],
        &["scan", "--queries", queries, "--format", "jsonl", reel],
        &["scan", "--queries", wrong_queries, reel],
        &["scan", "--board", HOSTILE, reel],
        &["scan", "--gpu", HOSTILE, "--engine", "gpu", "true", reel],
        &["scan", "--verify=1", "-o", &wrong_ending, "true", reel],
        &["scan", "-o", &unwritable, "true", reel],
        &["scan", "--problems", &unwritable, "true", reel],
        &["scan", "true", "--problems", "problems.txt", pgn],
        &["scan", "true", "-o", "list.txt", "-o", "rows.jsonl", pgn, "plain.pgn"],
        &["scan", "--progress", "json", "true", reel],
        &["batch", themes, reel],
        &["batch", themes, reel, "--by", "event"],
        &["batch", themes, reel, "--format", "json", "--by", "event"],
        &["batch", themes, reel, "--by", HOSTILE],
        &["batch", themes, reel, "-o", &unwritable],
        &["batch", "--list", themes],
        &["batch", "--list", themes, "--format", "json"],
        &["batch", "--show", "a", themes],
        &["batch", "--show", HOSTILE, themes],
        &["batch", "--only", HOSTILE, themes, reel],
        &["batch", wrong_themes, reel],
        &["batch", missing, reel],
        &["explain", &player],
        &["explain", "--json", &player],
        &["explain", HOSTILE],
        &["explain", "-f", query_file],
        &["explain", "true", "--fen", HOSTILE],
        &["explain", "--board", HOSTILE],
        &["convert", &list],
        &["convert", HOSTILE],
        &["transform", HOSTILE, "8/8/8/8/8/8/8/8"],
        &["transform", "flip-colors", HOSTILE],
        &["transform", "flip-colors", "--squares", HOSTILE],
        &["bench", missing, "--engine", HOSTILE],
        &["man", HOSTILE],
        &["man", "--dir", missing],
        &["completions", HOSTILE],
        &[&flag],
        &[HOSTILE],
        &["scan", &flag, "true", pgn],
        &["scan", "--threads", HOSTILE, "true", pgn],
        &["scan", "--format", HOSTILE, "true", pgn],
        &["scan", "--gpu-memory", HOSTILE, "true", pgn],
    ];
    let mut escapes = 0;
    for case in cases {
        let output = place.orbit(case);
        let code = output.status.code();
        assert!(matches!(code, Some(0..=3)), "{case:?}: {code:?}");
        let all = check(case, &output);
        escapes += usize::from(all.contains("\\x1b]0;pwned") || all.contains("\\u001b]0;pwned"));
    }
    // These counts ensure that the hostile names were really printed.
    assert!(escapes > 60, "{escapes} of {}", cases.len());
    for name in ["problems.txt", "list.txt", "rows.jsonl"] {
        let text = fs::read_to_string(place.path(name)).unwrap();
        assert!(text.contains("]0;pwned") && !text.contains(acts), "{name}: {text:?}");
    }
}

#[test]
fn standard_input_is_not_shown_as_it_is() {
    let place = Place::new();
    for args in [
        &["transform", "-v", "flip-colors"][..],
        &["scan", "-v", "true", "-"],
        &["index", "-v", "-", "-o", "c.reel"],
    ] {
        let games = fs::read_to_string(place.pgn()).unwrap();
        let text = check(args, &place.orbit_fed(args, &games));
        assert!(!text.is_empty(), "{args:?}");
    }
}

/// In JSON, names keep all their characters.
#[test]
fn json_says_the_names_as_they_are() {
    let place = Place::new();
    let pgn = place.pgn();
    let output =
        place.orbit(&["scan", "-q", "--format", "jsonl", "--limit", "1", "true", pgn.to_str().unwrap()]);
    let row: serde_json::Value =
        serde_json::from_slice(output.stdout.split(|&byte| byte == b'\n').next().unwrap()).unwrap();
    assert_eq!(row["source"], pgn.to_str().unwrap());
    assert_eq!(row["tags"]["Black"], HOSTILE);
    let output = place.orbit(&["show", "--json", pgn.to_str().unwrap(), "1"]);
    let game: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(game["tags"].as_array().unwrap().contains(&serde_json::json!(["Black", HOSTILE])), "{game}");
}

/// Games and tables are written unchanged to files and pipes, and are escaped only on a terminal.
#[cfg(target_os = "linux")]
#[test]
fn data_are_escaped_on_a_terminal_alone() {
    let place = Place::new();
    let games = fs::read(place.pgn()).unwrap();
    fs::write(place.path("games.pgn"), &games).unwrap();
    for format in ["pgn", "csv"] {
        let piped = place.orbit(&["scan", "-q", "--no-reel", "--format", format, "true", "games.pgn"]);
        let piped = String::from_utf8(piped.stdout).unwrap();
        assert!(piped.contains(HOSTILE), "{format}");
        let command =
            format!("'{}' scan -q --no-reel --format {format} true games.pgn", env!("CARGO_BIN_EXE_orbit"));
        let shown = Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .current_dir(place.folder.path())
            .stdin(Stdio::null())
            .output();
        let shown = SCRIPT.met(shown.ok());
        let shown = String::from_utf8(shown.stdout).unwrap().replace("\r\n", "\n");
        assert!(shown.contains("\\x1b]0;pwned") && shown.contains("\\u{202e}evil"), "{format}: {shown:?}");
        assert!(!shown.contains(acts), "{format}: {shown:?}");
    }
}

/// Long names are cut only on a terminal. In files and pipes, they stay unchanged.
#[cfg(target_os = "linux")]
#[test]
fn long_names_are_cut_on_a_terminal_alone() {
    let place = Place::new();
    let event = format!("Cup of {}", "a".repeat(60));
    fs::write(
        place.path("games.pgn"),
        format!("[Event \"{event}\"]\n[White \"A\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n"),
    )
    .unwrap();
    for (options, width) in [(vec![], 32), (vec!["--stats", "event"], 40)] {
        let args = [&["scan", "-q", "--no-reel", "mate", "games.pgn"], &options[..]].concat();
        let piped = String::from_utf8(place.orbit(&args).stdout).unwrap();
        assert!(piped.contains(&event), "{piped}");
        let shown = Command::new("script")
            .args(["-qec", &format!("'{}' {}", env!("CARGO_BIN_EXE_orbit"), args.join(" ")), "/dev/null"])
            .current_dir(place.folder.path())
            .stdin(Stdio::null())
            .output();
        let shown = String::from_utf8(SCRIPT.met(shown.ok()).stdout).unwrap();
        let cut = format!("{}…", &event[..width - 1]);
        assert!(shown.contains(&cut) && !shown.contains(&event), "{shown:?}");
    }
}
