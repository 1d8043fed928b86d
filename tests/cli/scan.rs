//! Tests `orbit scan` end to end.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use sha2::{Digest as _, Sha256};

use crate::common::waiting::{Heard, Process};

/// Three games: a whole game with a name in Windows-1252, a game that is cut short, and a game that begins with Black's
/// 23rd move.
const A: &[u8] = b"[Event \"one\"]\n[White \"M\xfcller \x96 A\"]\n[WhiteElo \"2500\"]\n[Black \"B\"]\n\
[Date \"1999.01.02\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 1-0\n\n\
[Event \"two\"]\n[White \"C\"]\n[Black \"D\"]\n\n1. Nf3 Qh9 *\n\n\
[Event \"three\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K1N1 b - - 7 23\"]\n[White \"E\"]\n[Black \"F\"]\n\n\
23... Kd7 24. Nf3 Kd6 25. e4 1/2-1/2\n\n";
const B: &[u8] = b"[Event \"four\"]\n[White \"G\"]\n[Black \"H\"]\n\n1. Nf3 0-1\n";
/// A query that matches at plies 3, 4 and 5 of game 1, ply 1 of game 2, plies 2, 3 and 4 of game 3, and ply 1 of game
/// 4.
const CONDITION: &str = "{Nf3 not initial}";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.pgn"), A).unwrap();
    std::fs::write(folder.path().join("b.pgn"), B).unwrap();
    folder
}

fn scan_with(folder: &Path, args: &[&str], stdin: Option<&Path>) -> Output {
    let stdin = stdin.map_or_else(Stdio::null, |path| std::fs::File::open(path).unwrap().into());
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    command.current_dir(folder).arg("scan").args(args).stdin(stdin).output().expect("the binary was built")
}

fn scan(folder: &Path, args: &[&str]) -> Output {
    scan_with(folder, args, None)
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("UTF-8")
}

fn stdout(folder: &Path, args: &[&str]) -> String {
    let out = scan(folder, args);
    assert_eq!(out.status.code(), Some(0), "{args:?}: {}", text(&out.stderr));
    text(&out.stdout).to_owned()
}

#[test]
fn text_has_a_line_for_each_game_and_a_heading_for_each_source() {
    let folder = folder();
    let lines = "1  Müller – A (2500) - B  1-0      1999  one    2. Nf3 to 3. Bb5  (3)\n\
                 2  C - D                  *              two    1. Nf3  (1)\n\
                 3  E - F                  1/2-1/2        three  24. Nf3 to 25. e4  (3)\n";
    assert_eq!(stdout(folder.path(), &[CONDITION, "a.pgn"]), lines);
    assert_eq!(
        stdout(folder.path(), &[CONDITION, "a.pgn", "b.pgn"]),
        format!(
            "a.pgn (its first game is 1)\n{lines}\nb.pgn (its first game is 4)\n\
             4  G - H                  0-1            four   1. Nf3  (1)\n"
        )
    );
    let start = stdout(folder.path(), &["{initial btm}", "a.pgn"]);
    assert_eq!(start, "3  E - F  1/2-1/2  three  start, next Kd7  (1)\n");
    let value = stdout(folder.path(), &["Nf3 | ke8", "b.pgn"]);
    assert_eq!(
        value,
        "1  G - H  0-1  four  start, king on e8; 1. Nf3, white knight on f3, black king on e8  (2)\n"
    );
    let all = stdout(folder.path(), &["--all-plies", "#P", "a.pgn", "--limit", "1"]);
    assert!(all.ends_with("start to 3. Bb5, value 8  (6)\n"), "{all}");
}

#[test]
fn plain_and_values_are_exact() {
    let folder = folder();
    let run = |args: &[&str]| stdout(folder.path(), args);
    let plain = "1 3\n1 4\n1 5\n2 1\n3 2\n3 3\n3 4\n4 1\n";
    assert_eq!(run(&["--format", "plain", CONDITION, "."]), plain);
    assert_eq!(run(&["--format", "plain", "Nf3", "a.pgn", "b.pgn"]), plain);
    assert_eq!(run(&["--format", "values", CONDITION, "."]), plain.replace('\n', " true\n"));
    let sets = "1 0 [b1,g1]\n1 1 [b1,f3]\n";
    assert_eq!(run(&["--format", "values", "N", "b.pgn"]), sets);
    assert_eq!(run(&["--format", "values", "Nf3", "b.pgn"]), "1 0 []\n1 1 f3\n");
    assert_eq!(run(&["--format", "plain", "N", "b.pgn"]), "1 0\n1 1\n");
    assert_eq!(run(&["--format", "values", "--", "-1 * #Nf3", "b.pgn"]), "1 0 0\n1 1 -1\n");
    assert_eq!(run(&["--format", "plain", "--limit", "2", CONDITION, "."]), "1 3\n1 4\n1 5\n2 1\n");
    assert_eq!(run(&["--format", "plain", "--engine", "reference", CONDITION, "."]), plain);
}

#[test]
fn json_lines_say_everything() {
    let folder = folder();
    let lines = stdout(folder.path(), &["--format", "jsonl", "Nf3", "b.pgn", "a.pgn"]);
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 8);
    assert_eq!(lines[1]["tags"]["White"], "Müller – A");
    assert_eq!(
        lines[7],
        serde_json::json!({
            "schema": 1, "game": 4, "source": "a.pgn", "number_in_source": 3, "offset": 171,
            "event": "three", "site": null, "date": null, "year": null, "round": null, "white": "E", "black": "F",
            "result": "1/2-1/2", "white_elo": null, "black_elo": null, "eco": null,
            "ply": 4, "move": "25. e4", "san": "e4", "fen": "8/8/3k4/8/4P3/5N2/8/4K3 b - - 0 25", "next": null,
            "value": null, "squares": ["f3"], "squares_count": 1, "matched": {"Nf3": ["f3"]},
            "copy": 1, "pattern": "Nf3", "transform": "as written", "copies": 1, "hits": 3, "url": null,
            "tags": {
                "Event": "three", "FEN": "4k3/8/8/8/8/8/4P3/4K1N1 b - - 7 23", "White": "E", "Black": "F",
            },
        })
    );
    assert_eq!(lines[5]["fen"], "8/3k4/8/8/8/5N2/4P3/4K3 b - - 9 24");
    let number = stdout(folder.path(), &["--format", "jsonl", "#P", "b.pgn", "--limit", "1"]);
    assert!(number.contains("\"value\":8,"), "{number}");
    let condition = stdout(folder.path(), &["--format", "jsonl", CONDITION, "b.pgn"]);
    assert!(condition.contains("\"value\":null,\"squares\":null,\"squares_count\":null,"), "{condition}");
}

#[test]
fn totals_are_printed_on_request() {
    let folder = folder();
    let run = |args: &[&str]| stdout(folder.path(), args);
    assert_eq!(run(&["--count", CONDITION, "."]), "games hit 4\npositions hit 8\n");
    let json: serde_json::Value =
        serde_json::from_str(&run(&["--count", "--format", "jsonl", "Nf3", "."])).unwrap();
    let expected = serde_json::json!({ "games_hit": 4, "positions_hit": 8, "games": 4, "positions": 15 });
    assert_eq!(json, expected);
    let copies = run(&["--copies=2", "flipvertical {Nf3 Bb5}", "."]);
    assert_eq!(copies, "     1              1 positions  {Nf3 Bb5}\n1 of 2 copies hit\n");
    let json = run(&["--copies", "--format", "jsonl", "flipvertical Nf3", "."]);
    assert_eq!(
        json,
        "{\"copies\":[{\"copy\":1,\"positions\":8,\"text\":\"Nf3\"},{\"copy\":2,\"positions\":0,\"text\":\"Nc3\"}]}\n"
    );
    let stderr = |args: &[&str]| text(&scan(folder.path(), args).stderr).to_owned();
    let summary = stderr(&[CONDITION, "."]);
    assert!(summary.contains("4 games (3 whole, 1 cut, 0 skipped), 15 positions"), "{summary}");
    assert!(summary.contains("hits: 4 games (100.00%), 8 positions (53.33%)"), "{summary}");
    assert_eq!(stderr(&["--quiet", CONDITION, "."]), "");
    let problems = stderr(&["-qv", CONDITION, ".", "--problems", "problems.txt"]);
    assert!(problems.contains("a.pgn: game 2, byte 164, ply 1: Qh9 is no move"), "{problems}");
    assert_eq!(std::fs::read_to_string(folder.path().join("problems.txt")).unwrap(), problems);
}

#[test]
fn exit_codes_tell_what_happened() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    std::fs::write(folder.path().join("bad.cql"), b"N\xfc").unwrap();
    std::fs::write(folder.path().join("good.cql"), CONDITION).unwrap();
    for (args, code, part) in [
        (&["Qa1", "a.pgn"][..], 0, "hits: 0 games"),
        (&["--fail-if-none", "Qa1", "a.pgn"], 1, "hits: 0 games"),
        (&["--fail-if-none", "Nf3", "a.pgn"], 0, "hits: 3 games"),
        (&["-f", "good.cql", "a.pgn"], 0, "hits: 3 games"),
        (&["Nf3 and", "a.pgn"], 2, "1 | Nf3 and"),
        (&["a.pgn", "b.pgn"], 2, "a.pgn is a file, but the first argument is the query"),
        (&["a.pgn"], 2, "the query is missing: write `orbit scan 'QUERY' a.pgn`"),
        (&["Nf3"], 2, "there are no games to search: name"),
        (&[], 2, "the query and the games are missing"),
        (&["Nf3", "none.pgn"], 2, "none.pgn does not exist: check the path"),
        (&["Nf3", "empty"], 2, "folder empty holds no .pgn"),
        (&["-f", "good.cql", "Nf3", "a.pgn"], 2, "leave out one of the two queries"),
        (&["-f", "none.cql", "a.pgn"], 2, "none.cql cannot be read"),
        (&["-f", "bad.cql", "a.pgn"], 2, "bad.cql is not UTF-8"),
        (&["-f", "good.cql"], 2, "there are no games to search"),
        (&["--threads", "0", "Nf3", "good.pgn"], 2, "expected a whole number from 1"),
        (&["Nf3", "a.pgn", "--limit", "0"], 2, "--limit"),
        (&["Nf3", "a.pgn", "--problems", "none/problems.txt"], 2, "none/problems.txt"),
    ] {
        let out = scan(folder.path(), args);
        assert_eq!(out.status.code(), Some(code), "{args:?}: {}", text(&out.stderr));
        assert!(text(&out.stderr).contains(part), "{args:?}: {}", text(&out.stderr));
        assert_eq!(out.stdout.is_empty(), code != 0 || part.contains(" 0 "), "{args:?}");
    }
}

#[test]
fn a_source_that_ends_too_early_exits_with_3() {
    let folder = folder();
    let packed = zstd::bulk::compress(&many(100_000), 3).unwrap();
    std::fs::write(folder.path().join("c.pgn.zst"), &packed[..packed.len() / 2]).unwrap();
    let out = scan(folder.path(), &["--format", "plain", "Nf3", "c.pgn.zst", "b.pgn"]);
    assert_eq!(out.status.code(), Some(3), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("c.pgn.zst: not read beyond byte"), "{}", text(&out.stderr));
    assert!(text(&out.stdout).ends_with(" 1\n"), "the next source is read all the same");
    let reel = folder.path().join("c.reel");
    let mut index = Command::new(env!("CARGO_BIN_EXE_orbit"));
    let indexed = index.current_dir(folder.path()).args(["index", "a.pgn", "-o", "c.reel"]).output().unwrap();
    assert!(indexed.status.success());
    let mut bytes = std::fs::read(&reel).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&reel, &bytes).unwrap();
    let out = scan(folder.path(), &["Nf3", "c.reel"]);
    assert!(matches!(out.status.code(), Some(2 | 3)), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("c.reel"), "{}", text(&out.stderr));
}

/// Returns about `bytes` bytes of distinct games.
fn many(bytes: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while out.len() < bytes {
        let number = out.len();
        let knight = ["Nf3", "Nh3", "Nc3", "Na3"][number % 4];
        write!(out, "[Event \"{number}\"]\n[White \"W{}\"]\n\n1. {knight} e5 2. e4 *\n\n", number % 7)
            .unwrap();
    }
    out
}

#[test]
fn plain_and_values_depend_on_the_games_alone() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let games = [&many(3_000_000), A].concat();
    std::fs::write(path("m.pgn"), &games).unwrap();
    std::fs::write(path("m.zst"), zstd::bulk::compress(&games, 1).unwrap()).unwrap();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&games).unwrap();
    std::fs::write(path("m.gz"), gz.finish().unwrap()).unwrap();
    let mut bz2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bz2.write_all(&games).unwrap();
    std::fs::write(path("m.bz2"), bz2.finish().unwrap()).unwrap();
    let mut index = Command::new(env!("CARGO_BIN_EXE_orbit"));
    let indexed = index.current_dir(folder.path()).args(["index", "m.pgn", "-o", "m.reel"]).output().unwrap();
    assert!(indexed.status.success());
    for (format, query) in [("plain", "Nf3"), ("values", "Nf3"), ("values", "#(N attacks _)")] {
        let run = |threads, source| {
            let args = ["-q", "--format", format, "--threads", threads, query, source];
            let out = scan_with(folder.path(), &args, Some(&path("m.pgn")));
            assert_eq!(out.status.code(), Some(0), "{args:?}: {}", text(&out.stderr));
            out.stdout
        };
        let expected = run("1", "m.pgn");
        assert!(expected.split(|&byte| byte == b'\n').count() > 10_000);
        for threads in ["1", "2", "5"] {
            for source in ["m.pgn", "m.zst", "m.gz", "m.bz2", "m.reel", "-"] {
                assert!(run(threads, source) == expected, "{format} {query} {threads} {source}");
            }
        }
    }
}

/// If a scan only counts the hits in a reel (packed games), it decodes tags only where they are needed. This must not change the
/// counts.
#[test]
fn a_reel_is_counted_as_its_games_are() {
    let folder = folder();
    let mut index = Command::new(env!("CARGO_BIN_EXE_orbit"));
    let index = index.current_dir(folder.path()).args(["index", "a.pgn", "b.pgn", "-o", "all.reel"]);
    assert!(index.output().unwrap().status.success());
    let queries = [
        ("Nf3", 4),
        ("player \"C\"", 1),
        ("player white \"G\" Nf3", 1),
        ("flipcolor {player black \"B\" elo white >= 2400 Ng1}", 1),
        ("elo >= 2500", 1),
        ("not elo", 3),
        ("year == 1999 Nf3", 1),
        ("event \"t\" Nf3", 2),
        ("tag \"White\" == \"E\"", 1),
        ("result 1-0", 1),
        ("Nf3 and not {date \"1999\"}", 3),
        ("(flip count {player \"E\" Nf3}) >= 1", 1),
    ];
    for (query, games) in queries {
        for args in
            [["--count", "--quiet"], ["--format", "plain"], ["--format", "values"], ["--format", "jsonl"]]
        {
            let of = |sources: &[&str]| {
                let out = stdout(folder.path(), &[&args[..], &["--engine", "cpu", query], sources].concat());
                if args[0] == "--count" {
                    assert!(out.contains(&format!("games hit {games}\n")), "{query}: {out}");
                }
                out
            };
            assert_eq!(of(&["all.reel"]), of(&["a.pgn", "b.pgn"]), "{args:?} {query}");
        }
    }
    std::fs::write(folder.path().join("queries"), queries.map(|(query, _)| query).join("\n")).unwrap();
    let of = |sources: &[&str]| {
        let args = [&["--quiet", "--queries", "queries"], sources].concat();
        stdout(folder.path(), &args)
    };
    assert_eq!(of(&["all.reel"]), of(&["a.pgn", "b.pgn"]));
}

/// Runs a scan and closes its output pipe early. `games` are written to its standard input, which stays open.
#[cfg(unix)]
fn until_the_pipe_breaks(folder: &Path, format: &str, games: &[u8]) {
    let child = Command::new(env!("CARGO_BIN_EXE_orbit"))
        .current_dir(folder)
        .args(["scan", "--format", format, "#N", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut process = Process::new(child);
    let mut stdin = process.stdin.take().unwrap();
    let mut stdout = process.stdout.take().unwrap();
    let games = games.to_vec();
    // Writing may fail, because the program may end before it has read all games.
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&games);
        stdin
    });
    let mut first = [0; 10];
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let Output { status, stderr, .. } = process.output("a scan whose output nobody reads");
    drop(writer.join().unwrap());
    assert_eq!((status.code(), text(&stderr)), (Some(0), ""));
}

#[cfg(unix)]
#[test]
fn a_broken_pipe_is_success() {
    let folder = folder();
    for format in ["text", "jsonl", "plain", "values"] {
        until_the_pipe_breaks(folder.path(), format, &many(12_000_000));
    }
    // The program reads all these games before its output pipe breaks. Without a broken pipe, it would then wait for more input.
    until_the_pipe_breaks(folder.path(), "plain", &many(1_500_000));
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_printed() {
    let folder = folder();
    let child = Command::new(env!("CARGO_BIN_EXE_orbit"))
        .current_dir(folder.path())
        .args(["scan", "--format", "plain", "Nf3", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut process = Process::new(child);
    let mut stdin = process.stdin.take().unwrap();
    let mut stdout = process.stdout.take().unwrap();
    let writer = std::thread::spawn(move || {
        stdin.write_all(&many(4_000_000)).unwrap();
        stdin
    });
    let mut out = vec![0; 1000];
    stdout.read_exact(&mut out).unwrap();
    process.interrupt();
    let rest = Heard::from_pipe(stdout);
    assert_eq!(process.end("orbit scan").code(), Some(130));
    out.extend(rest.whole());
    assert!(out.ends_with(b"\n"), "lines are whole");
    drop(writer.join());
}

#[test]
fn golden_digests() {
    let corpus = crate::common::corpus();
    let table = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden-otb.tsv");
    let table = std::fs::read_to_string(table).unwrap();
    for (id, format) in [
        ("d07", "plain"),
        ("m02", "plain"),
        ("m03", "plain"),
        ("m04", "plain"),
        ("d06", "plain"),
        ("v03", "values"),
    ] {
        let row: Vec<&str> =
            table.lines().map(|row| row.split('\t').collect()).find(|row: &Vec<_>| row[0] == id).unwrap();
        let out = scan(Path::new(&corpus), &["-q", "--format", format, row[1], "otb.pgn"]);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        let mut digest = String::new();
        Sha256::digest(&out.stdout).iter().take(8).for_each(|byte| write!(digest, "{byte:02x}").unwrap());
        assert_eq!((out.stdout.split(|&byte| byte == b'\n').count() - 1).to_string(), row[4], "{id}");
        assert_eq!(digest, row[5], "{id}");
    }
}
