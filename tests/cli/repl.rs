//! Tests `orbit repl` through a pipe.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::harness::SCRIPT;
use crate::common::waiting::{Heard, Process};
use crate::program::{QUERY, SAMPLE, run_in, stdout};

/// Runs `orbit repl` with a script as standard input. Returns its exit code, standard output and standard error.
fn repl_in(folder: &Path, args: &[&str], script: impl AsRef<[u8]>) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    command.current_dir(folder).arg("repl").args(args).env_remove("NO_COLOR");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    process.stdin.take().unwrap().write_all(script.as_ref()).unwrap();
    let out = process.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (out.status.code(), text(out.stdout), text(out.stderr))
}

fn repl(script: &str) -> (Option<i32>, String, String) {
    repl_in(Path::new(env!("CARGO_MANIFEST_DIR")), &["games/sample.pgn"], script)
}

#[track_caller]
fn printed(script: &str) -> String {
    let (code, stdout, stderr) = repl(script);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{script}: {stdout}");
    stdout
}

/// Returns the games in a printed list, without their numbers.
fn listed(text: &str) -> Vec<String> {
    let games = text.lines().filter_map(|line| {
        let (number, game) = line.trim_start().split_once(". ")?;
        number.parse::<usize>().ok().map(|_| game.to_owned())
    });
    games.collect()
}

/// Returns a line of a printed list with single blanks between words, because column widths depend on the listed games.
fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn answers_are_counted_and_listed_as_a_scan_lists_them() {
    let text = printed("mate\n:next\n:next\n");
    assert!(
        text.starts_with("25 games and 25 positions hit of 1,000 games and 87,461 positions; "),
        "{text}"
    );
    assert_eq!(text.matches(" more: :next lists them").count(), 2, "{text}");
    let of_scan = stdout(&["scan", "-q", "mate", SAMPLE]);
    let expected: Vec<String> = of_scan.lines().map(words).collect();
    assert_eq!(listed(&text).iter().map(|line| words(line)).collect::<Vec<_>>(), expected);
    assert!(text.contains("\n 1. 162  Nakamura"), "{text}");
    // The moves of a hit are printed on the line below it.
    let text = printed("line --> {move capture .}{6,}\n");
    assert!(text.lines().filter(|line| line.starts_with("      ")).count() >= 10, "{text}");
}

#[test]
fn boards_and_games_are_those_of_the_list() {
    let text = printed(&format!("{QUERY}\n:board 4 2\n:game 1\n"));
    let shown = |place: &str| stdout(&["show", "--variations", SAMPLE, place]);
    let board = shown("10:87");
    let board = board.split_once("\n\n").unwrap().1.split_once("\n\n").unwrap().1;
    assert!(board.starts_with("game 10, ply 87"), "{board}");
    assert!(
        text.contains(&format!("(8)\n{board}")) || text.contains(&format!("lists them\n{board}")),
        "{text}"
    );
    assert!(text.ends_with(&shown("4:45")), "{text}");
}

#[test]
fn a_query_is_explained() {
    let text = printed("flip {Ra1 kb2}\n:explain\n:explain mate\n");
    assert!(text.contains("\n4 copies:\n    1  {Ra1 kb2}"), "{text}");
    let sentence = stdout(&["explain", "mate"]);
    assert!(text.contains(sentence.lines().next().unwrap()), "{text}");
}

/// Saved hits must be byte for byte what a scan writes.
#[test]
fn hits_are_saved() {
    let folder = tempfile::tempdir().unwrap();
    let reel = folder.path().join("a.reel");
    stdout(&["index", "-q", SAMPLE, "-o", reel.to_str().unwrap()]);
    let names = ["hits.pgn", "hits.csv", "hits.jsonl", "hits.epd", "two words.fen"];
    let saves: String = names.iter().map(|name| format!(":save \"{name}\"\n")).collect();
    let (code, text, said) = repl_in(folder.path(), &["a.reel"], format!("{QUERY}\n{saves}"));
    assert_eq!((code, said.as_str()), (Some(0), ""));
    for name in names {
        let positions = if name.ends_with(".pgn") { "" } else { ", 633 positions" };
        assert!(text.contains(&format!("{name}: 354 games{positions}\n")), "{text}");
        let other = format!("scan.{}", name.split_once('.').unwrap().1);
        let (code, _, said) = run_in(folder.path(), &["scan", "-q", QUERY, "a.reel", "-o", &other]);
        assert_eq!(code, Some(0), "{said}");
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(read(name) == read(&other), "{name}");
    }
}

/// Saved games keep their side lines, comments and glyphs, whether or not the database has them.
#[test]
fn games_are_saved_with_their_text() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = "[White \"X\"]\n\n1. f3 {bad} e5 (1... d5 2. g4 e5) 2. g4 $4 Qh4# {good} 0-1\n";
    std::fs::write(folder.path().join("a.pgn"), pgn).unwrap();
    for args in [&["a.pgn"][..], &["--variations", "a.pgn"]] {
        let (code, text, said) = repl_in(folder.path(), args, "mate\n:save b.pgn\n");
        assert_eq!((code, said.as_str()), (Some(0), ""));
        assert!(text.ends_with("b.pgn: 1 game\n"), "{text}");
        assert_eq!(std::fs::read_to_string(folder.path().join("b.pgn")).unwrap(), pgn, "{args:?}");
    }
}

#[test]
fn a_line_that_is_no_text_is_told() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (code, text, said) = repl_in(root, &["games/sample.pgn"], b"\xff\nmate\n");
    assert_eq!(
        (code, said.as_str()),
        (Some(2), "error: stdin: a line is not UTF-8: write queries as UTF-8\n")
    );
    assert!(text.starts_with("25 games and 25 positions hit"), "{text}");
}

#[test]
fn other_games_are_opened() {
    let (code, text, said) = repl(&format!(":open games/sample.pgn \"{SAMPLE}\"\nmate\n"));
    assert_eq!((code, said.as_str()), (Some(0), &*read_twice("games/sample.pgn")));
    assert!(text.starts_with("2,000 games, 174,922 positions, in memory\n50 games"), "{text}");
}

/// Returns the expected warning about a file that is read more than once.
fn read_twice(file: &str) -> String {
    format!(
        "warning: {file} is read more than once, so its games count more than once: leave the other paths out\n"
    )
}

/// Each invalid line is reported, and the next line is still executed.
#[test]
fn wrong_lines_are_told() {
    let lines = [
        (":board 1", "there is no answer yet"),
        ("{Nf3", "`{` is not closed"),
        (":bord 1", "there is no command `:bord`"),
        (":open no-such-file.pgn", "does not exist"),
        (":open", "say which files"),
        (":open \"a", "a quotation mark is not closed"),
        ("mate", ""),
        (":board 26", "the last answer lists 25 games: there is no 26"),
        (":board 1 2", "game 1 of the last answer has 1 hit: there is no hit 2"),
        (":board x", "say which game"),
        (":board 0", "say which game"),
        (":save hits.doc", "the ending of the name chooses the format"),
        (":save", "say into which file"),
        (":save games/sample.pgn", "sample.pgn"),
        (":next\n:next\n:next", "all games of the last answer are listed"),
    ];
    for at in 0..lines.len() {
        let script: Vec<&str> = lines[..=at].iter().map(|(line, _)| *line).collect();
        if at + 1 < lines.len() && !["mate", ":board x"].contains(&lines[at].0) {
            continue;
        }
        let (code, text, said) = repl(&format!("{}\nstalemate\n", script.join("\n")));
        assert_eq!(code, Some(2), "{said}");
        for (line, message) in &lines[..=at] {
            assert!(said.contains(message), "{line}: {said}");
        }
        assert!(
            text.contains("2 games and 2 positions hit") || text.contains("hit of 1,000 games"),
            "{text}"
        );
    }
    let json = repl_in(
        Path::new(env!("CARGO_MANIFEST_DIR")),
        &["--message-format", "json", "games/sample.pgn"],
        "{Nf3\n:x\n",
    )
    .2;
    let codes =
        json.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["code"].clone());
    assert_eq!(codes.collect::<Vec<_>>(), ["query", "usage"]);
}

#[test]
fn the_help_has_every_command_and_the_end_is_the_end() {
    let help = printed(":help\n");
    for command in [":open", ":next", ":board", ":game", ":explain", ":save", ":help", ":quit"] {
        assert!(help.contains(&format!("\n  {command}")), "{command}");
    }
    assert!(stdout(&["repl", "--help"]).contains(help.trim_end()));
    assert_eq!(printed("mate\n:quit\nstalemate\n").matches(" hit of ").count(), 1);
    // The last line needs no line feed.
    assert_eq!(printed("mate\n\nstalemate").matches(" hit of ").count(), 2);
    assert_eq!(printed(""), "");
}

/// Ctrl-C stops only the running query, and the next line is executed.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_stops_the_query_alone() {
    use crate::common::waiting::until;

    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    command.arg("repl").args(["-j", "1"]).args([SAMPLE; 40]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = Process::new(command.spawn().unwrap());
    let mut input = process.stdin.take().unwrap();
    let printed = Heard::from_pipe(process.stdout.take().unwrap());
    // Without the interrupt, the query would run many times longer than the test waits.
    let slow = "echo (source target) {sidetomove white}";
    input.write_all(format!("mate\n{slow}\nstalemate\n").as_bytes()).unwrap();
    drop(input);
    process.until("the first answer", || {
        let text = String::from_utf8_lossy(&printed.bytes()).into_owned();
        if text.contains(" more: :next lists them\n") { Ok(()) } else { Err(text) }
    });
    // Between two queries, the process uses almost no processor time. So once it uses some, it is evaluating the next query.
    let before = process.computed();
    until("a query that runs", || {
        let computed = process.computed() - before;
        if computed > 20 { Ok(()) } else { Err(computed) }
    });
    process.interrupt();
    let out = process.output("orbit repl");
    let [text, said] = [printed.whole(), out.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!((out.status.code(), said), (Some(0), read_twice(SAMPLE) + "cancelled\n"), "{text}");
    assert!(text.starts_with("1,000 games"), "{text}");
    assert!(text.contains("160 games and 160 positions hit of 40,000 games"), "{text}");
}

/// On a terminal, there is a prompt, keywords are completed, and an invalid line does not change the exit code.
#[test]
fn words_are_completed_on_a_terminal() {
    const PROMPT: &str = "orbit> ";
    let command = format!("'{}' repl games/sample.pgn", env!("CARGO_BIN_EXE_orbit"));
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(env!("CARGO_MANIFEST_DIR")).env("TERM", "xterm");
    script.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = Process::new(SCRIPT.met(script.spawn().ok()));
    let mut input = process.stdin.take().unwrap();
    let heard = Heard::from_pipe(process.stdout.take().unwrap());
    let mut at = 0;
    // Each line is typed once the prompt shows that the program is reading. The expected output must follow.
    for (typed, mark) in [
        ("", "type a query"),
        ("stalem\t\r", "4 games and 4 positions hit"),
        (":bo\t1\r", "game 188, ply 122"),
        ("{Nf3\r", "`{` is not closed"),
        ("mat\x03", "\n"),
    ] {
        input.write_all(typed.as_bytes()).unwrap();
        input.flush().unwrap();
        at = process.until(&format!("a prompt behind {mark:?}"), || {
            let bytes = heard.bytes();
            let end = |from: usize, text: &str| {
                memchr::memmem::find(&bytes[from..], text.as_bytes()).map(|found| from + found + text.len())
            };
            let found = end(at, mark).and_then(|from| end(from, PROMPT));
            found.ok_or_else(|| String::from_utf8_lossy(&bytes[at..]).into_owned())
        });
    }
    input.write_all(b":q\t\r").unwrap();
    input.flush().unwrap();
    let status = process.end("orbit repl");
    let text = String::from_utf8(heard.whole()).unwrap();
    assert_eq!(status.code(), Some(0), "{text}");
    for shown in [
        "1,000 games, 87,461 positions, in memory",
        "orbit> ",
        "4 games and 4 positions hit",
        "game 188, ply 122",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    assert!(text.contains("`{` is not closed"), "{text}");
}
