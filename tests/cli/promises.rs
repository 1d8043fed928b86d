//! Tests that the command line rejects names, file extensions and keywords that promise more than the program does.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::common::folders::names;
use crate::common::waiting::Process;

const ORBIT: &str = env!("CARGO_BIN_EXE_orbit");
const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/games/sample.pgn");

fn orbit(folder: &Path, args: &[&str]) -> Output {
    Command::new(ORBIT).args(args).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

#[track_caller]
fn run(folder: &Path, code: i32, args: &[&str]) -> (String, String) {
    let output = orbit(folder, args);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
    (stdout, stderr)
}

#[test]
fn a_game_is_shown_with_its_counters() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 11 42";
    let games = format!("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0\n\n[FEN \"{fen}\"]\n\nKd7 43. Kd2 Ke7 44. e4 *\n");
    fs::write(folder.join("a.pgn"), games).unwrap();
    run(folder, 0, &["index", "-q", "a.pgn", "-o", "a.reel"]);
    for database in ["a.pgn", "a.reel"] {
        for (place, expected) in [
            ("1:0", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
            ("1:5", "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"),
            ("1", "r1bqkbnr/1ppp1ppp/p1n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 0 4"),
            ("2:0", fen),
            ("2:3", "8/4k3/8/8/8/8/3KP3/8 w - - 14 44"),
            ("2:4", "8/4k3/8/8/4P3/8/3K4/8 b - - 0 44"),
        ] {
            let text = run(folder, 0, &["show", database, place]).0;
            assert_eq!(text.lines().last(), Some(expected), "{database} {place}");
            let json: Value =
                serde_json::from_str(&run(folder, 0, &["show", "--json", database, place]).0).unwrap();
            assert_eq!(json["fen"], expected, "{database} {place}");
        }
        let shown = run(folder, 0, &["show", database, "2"]).0;
        assert!(shown.contains("\n42... Kd7 43. Kd2 Ke7 44. e4 *\n"), "{shown}");
    }
    // At every ply of real games, `show` must print the same FEN as tables, including the counters.
    let rows = run(folder, 0, &["scan", "-q", "--format", "jsonl", "--limit", "3", "true", SAMPLE]).0;
    for row in rows.lines().step_by(7).map(|row| serde_json::from_str::<Value>(row).unwrap()) {
        let place = format!("{}:{}", row["game"], row["ply"]);
        let shown = run(folder, 0, &["show", SAMPLE, &place]).0;
        assert_eq!(shown.lines().last(), row["fen"].as_str(), "{place}");
    }
}

#[test]
fn names_of_files_promise_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let stats =
        |name: &'static str| vec!["scan", "-q", "--stats", "year", "--stats-output", name, "check", SAMPLE];
    let batch = |name: &'static str| vec!["batch", "-q", "catalogue", "--only", "skewer", SAMPLE, "-o", name];
    let list = |name: &'static str| vec!["batch", "--list", "-o", name];
    let show = |name: &'static str| vec!["batch", "--show", "skewer", "-o", name];
    for name in ["y.parquet", "y.html", "y.svg", "y.pgn", "y.jsonl", "y.xlsx", "y.reel", "y.epd"] {
        for args in [stats(name), batch(name), list(name), show(name)] {
            let stderr = run(folder, 2, &args).1;
            assert!(stderr.contains(name) && stderr.contains(".csv, .json or .txt"), "{args:?}: {stderr}");
        }
    }
    for name in ["x.pgn", "x.csv", "x.html", "x.parquet", "x.reel.zst", "x.txt"] {
        let stderr = run(folder, 2, &["index", SAMPLE, "-o", name]).1;
        assert!(stderr.contains(name) && stderr.contains("a name that ends in .reel"), "{name}: {stderr}");
        run(folder, 2, &["index", "--append", SAMPLE, "-o", name]);
    }
    for name in ["x.reel", "x", "x.json", "x.gz", "x.parquet.zst"] {
        let stderr = run(folder, 2, &["scan", "check", SAMPLE, "-o", name]).1;
        assert!(stderr.contains(name) && stderr.contains(".pgn, .txt, .jsonl"), "{name}: {stderr}");
    }
    assert!(run(folder, 2, &stats("y.csv.gz")).1.contains("packed files are written as .zst only"));
    // A file name with the wrong extension is rejected even if the right format is requested.
    for (name, format) in [("y.parquet", "csv"), ("y.json", "csv"), ("y.txt", "json"), ("y.csv.zst", "text")]
    {
        run(folder, 2, &[&batch(name)[..], &["--format", format]].concat());
        run(folder, 2, &[&stats(name)[..], &["--stats-format", format]].concat());
    }
    assert_eq!(names(folder), [] as [&str; 0]);
    // A file extension that fits the table's format is accepted.
    for (name, begins) in
        [("y.csv", "grouping,"), ("y.json", "{\"total\""), ("y.txt", " year"), ("y", " year")]
    {
        run(folder, 0, &stats(name));
        assert!(fs::read_to_string(folder.join(name)).unwrap().starts_with(begins), "{name}");
        run(folder, 0, &batch(name));
    }
    run(folder, 0, &[&stats("y.dat")[..], &["--stats-format", "csv"]].concat());
    run(folder, 0, &stats("y.CSV.zst"));
    run(folder, 0, &["index", "-q", SAMPLE, "-o", "all"]);
    fs::rename(folder.join("all"), folder.join("all.2015")).unwrap();
    run(folder, 0, &["index", "-q", SAMPLE, "-o", "all.2015"]);
}

#[test]
fn unknown_tags_are_refused_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(
        folder.join("a.pgn"),
        "[Event \"x\"]\n[Whte \"y\"]\n[ClubCode \"z\"]\n[Annotator \"b\"]\n\n1. e4 *\n",
    )
    .unwrap();
    // The source must never be opened. It is a pipe without a writer, so opening it would block.
    for (option, value, part) in [
        ("--where", "whte~x", "`whte` (did you mean `White`?); write `tag:whte` for a tag of your own"),
        ("--where", "whiteelow>=2000", "did you mean `WhiteElo`?"),
        ("--where", "Anotator=b", "did you mean `Annotator`?"),
        ("--where", "yaer>=2000", "did you mean `year`?"),
        ("--where", "clubcode=z", "`clubcode`; write `tag:clubcode` for a tag of your own"),
        ("--where", "tag:Whte=y", "did you mean `White`?); write `tag::Whte` for a tag of exactly this name"),
        ("--where", "tag:=y", "does not begin with the name of a tag"),
        ("--stats", "yaer", "did you mean `year`?"),
        ("--stats", "annotator", "did you mean `tag:Annotator`?"),
        ("--stats", "anotator", "did you mean `tag:Annotator`?"),
        (
            "--stats",
            "tag:Anotator",
            "did you mean `tag:Annotator`?); write `tag::Anotator` for a tag of exactly this name",
        ),
        ("--by", "eko", "did you mean `eco`?"),
        ("--by", "tag:Anotator", "did you mean `tag:Annotator`?"),
    ] {
        let command: &[&str] = if option == "--by" { &["batch", "catalogue"] } else { &["scan", "true"] };
        let stderr = run(folder, 2, &[command, &["a.pgn", option, value]].concat()).1;
        assert!(stderr.contains(part), "{option} {value}: {stderr}");
        assert!(!stderr.contains("positions"), "{option} {value}: it was searched: {stderr}");
    }
    for (condition, games) in [
        ("tag::Whte=y", 1),
        ("tag:ClubCode=z", 1),
        ("tag:clubcode=z", 1),
        ("ANNOTATOR=b", 1),
        ("tag:annotator=b", 1),
        ("tag:ClubName=z", 0),
    ] {
        let output = run(folder, 0, &["scan", "--count", "true", "a.pgn", "--where", condition]);
        assert!(output.0.starts_with(&format!("games hit {games}\n")), "{condition}: {output:?}");
    }
    let counts = |grouping: &str| {
        run(folder, 0, &["scan", "-q", "--stats", grouping, "--stats-format", "csv", "true", "a.pgn"]).0
    };
    for (grouping, row) in [
        ("tag:annotator", "\ntag:Annotator,b,"),
        ("tag:ClubCode", "\ntag:ClubCode,z,"),
        ("tag::Whte", "\ntag::Whte,y,"),
    ] {
        assert!(counts(grouping).contains(row), "{grouping}: {}", counts(grouping));
    }
}

#[test]
fn a_card_without_memory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for command in [&["scan", "true", SAMPLE][..], &["batch", "catalogue", SAMPLE]] {
        for bytes in ["0", "0K", "0G"] {
            let stderr = run(folder.path(), 2, &[command, &["--gpu-memory", bytes]].concat()).1;
            assert!(stderr.contains("--gpu none"), "{bytes}: {stderr}");
        }
    }
}

/// Returns the number of parentheses that open a variation, not counting those in tags, comments and lines that begin with `;`.
/// This function does not use the library's scanner.
fn side_lines(text: &str) -> usize {
    let mut count = 0;
    let mut in_comment = false;
    for line in text.lines().filter(|line| !line.starts_with('[')) {
        for letter in line.chars() {
            match letter {
                '{' => in_comment = true,
                '}' => in_comment = false,
                ';' if !in_comment => break,
                '(' if !in_comment => count += 1,
                _ => {}
            }
        }
    }
    count
}

#[test]
fn what_is_not_searched_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let game = |number: usize| {
        format!(
            "[Event \"{number} (a)\"]\n\n1. e4 {{(no) }} e5 (1... c5 2. Nf3 (2. c3 d5) 2... d6) (1... e6\n\n2. d4) 2. Nf3 ; (no\n\
             Nc6 ( 2... d6 $1 {{x (}} 3. d4) 3. Bb5 1/2-1/2 (3. Bc4) \n\n"
        )
    };
    let text: String = (0..4000).map(game).collect();
    let count = side_lines(&text);
    assert_eq!(count, 5 * 4000);
    fs::write(folder.join("a.pgn"), &text).unwrap();
    fs::write(folder.join("b.pgn"), "1. e4 (1. d4) e5 *\n").unwrap();
    fs::write(folder.join("c.pgn"), "1. d4 d5 *\n").unwrap();
    let not_searched = "20,000 side lines were not searched";
    for threads in ["1", "2", "5"] {
        let stderr = run(folder, 0, &["scan", "--count", "true", "a.pgn", "--threads", threads]).1;
        assert!(stderr.contains(not_searched), "{stderr}");
    }
    assert!(run(folder, 0, &["scan", "true", "b.pgn"]).1.contains("1 side line was not searched"));
    for args in [&["scan", "true", "c.pgn"][..], &["scan", "-q", "--count", "true", "a.pgn"]] {
        assert!(!run(folder, 0, args).1.contains("side line"));
    }
    assert!(run(folder, 0, &["batch", "catalogue", "--only", "skewer", "a.pgn"]).1.contains(not_searched));
    // A reel (packed games) records how many side lines were omitted, and a search prints a note that they are not searched.
    let stderr = run(folder, 0, &["index", "a.pgn", "-o", "a.reel"]).1;
    assert!(stderr.contains("20,000 side lines were left out"), "{stderr}");
    assert!(run(folder, 0, &["scan", "--count", "true", "a.reel"]).1.contains(not_searched));
    run(folder, 0, &["index", "--append", "b.pgn", "c.pgn", "-o", "a.reel"]);
    run(folder, 0, &["index", "a.reel", "b.pgn", "-o", "both.reel"]);
    let info: Value = serde_json::from_str(&run(folder, 0, &["info", "--json", "both.reel"]).0).unwrap();
    assert_eq!(info["side_lines"], 20_002);
    assert!(
        run(folder, 0, &["info", "--verify", "a.reel"])
            .0
            .contains("\n20,001 side lines of its games were left out\n")
    );
    // Without side lines, bytes 52 to 63 of the header are zero, as in earlier versions of the format.
    run(folder, 0, &["index", "c.pgn", "-o", "c.reel"]);
    assert_eq!(fs::read(folder.join("c.reel")).unwrap()[52..64], [0; 12]);
}

#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let writes: &[(&str, &[&str])] = &[
        ("a.reel", &["index", "-q", SAMPLE, "-o", "a.reel"]),
        ("a.pgn", &["scan", "-q", "check", SAMPLE, "-o", "a.pgn"]),
        ("a.csv.zst", &["scan", "-q", "check", SAMPLE, "-o", "a.csv.zst"]),
        ("a.html", &["scan", "-q", "check", SAMPLE, "-o", "a.html"]),
        ("s.json", &["scan", "-q", "--stats", "year", "--stats-output", "s.json", "check", SAMPLE]),
        ("b.csv", &["batch", "-q", "catalogue", "--only", "skewer", SAMPLE, "-o", "b.csv"]),
        ("orbit.1", &["man", "--dir", "."]),
        ("p.txt", &["scan", "-q", "check", SAMPLE, "--problems", "p.txt"]),
    ];
    let mode = |name: &str| fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o7777;
    for (name, args) in writes {
        let new = Command::new("sh")
            .args(["-c", "umask 027 && exec \"$0\" \"$@\"", ORBIT])
            .args(*args)
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(new.status.success(), "{args:?}: {}", String::from_utf8_lossy(&new.stderr));
        assert_eq!(mode(name), 0o640, "a new {name}");
        for wanted in [0o600, 0o664, 0o646] {
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(wanted)).unwrap();
            run(folder, 0, args);
            assert_eq!(mode(name), wanted, "{name}");
        }
    }
}

/// A killed run leaves a temporary file behind. The next run in the folder removes it, but never a file that is still being
/// written.
#[cfg(unix)]
#[test]
fn what_a_killed_run_left_is_removed_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let temporaries = || names(folder).into_iter().filter(|name| name.contains(".tmp")).collect::<Vec<_>>();
    let begin = |name: &str, args: &[&str]| {
        let child = Command::new(ORBIT)
            .args(args)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut process = Process::new(child);
        process.stdin.as_mut().unwrap().write_all(b"[Event \"a\"]\n\n1. e4 e5 *\n").unwrap();
        process.until(&format!("a temporary file of {name}"), || {
            let all = temporaries();
            if all.iter().any(|found| found.starts_with(name)) { Ok(()) } else { Err(all) }
        });
        // The program is now waiting for the remaining games.
        process.falls_asleep();
        process
    };
    let killed = [
        begin("dead.reel", &["index", "-", "-o", "dead.reel"]),
        begin("dead.pgn", &["scan", "true", "-", "-o", "dead.pgn"]),
        begin("dead.txt", &["scan", "true", "-", "--problems", "dead.txt"]),
    ];
    let mut live = begin("live.pgn", &["scan", "true", "-", "-o", "live.pgn"]);
    drop(killed);
    assert_eq!(temporaries().len(), 4);
    run(folder, 0, &["scan", "-q", "check", SAMPLE, "-o", "next.pgn"]);
    let left = temporaries();
    assert!(left.len() == 1 && left[0].starts_with("live.pgn"), "{left:?}");
    drop(live.stdin.take());
    assert!(live.end("a scan of standard input").success());
    assert_eq!(names(folder), ["live.pgn", "next.pgn"]);
    assert!(fs::read_to_string(folder.join("live.pgn")).unwrap().contains("1. e4 e5"));
}
