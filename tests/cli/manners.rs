//! Tests the conventions of command-line programs: colours, standard output, tables and messages.

use std::process::Command;

use serde_json::Value;

use crate::program::{QUERY, SAMPLE, run, stdout};

fn messages(args: &[&str]) -> Vec<Value> {
    let stderr = run(args).2;
    stderr.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

#[test]
fn hits_are_coloured_where_that_is_asked_for() {
    let hit = |more: &[&str]| stdout(&[&["scan", "-q", "-n", "1", QUERY, SAMPLE], more].concat());
    let plain = hit(&[]);
    assert!(!plain.contains('\x1b') && plain.contains("23. Nxf6+, king on g8, next Rxf6"), "{plain}");
    assert_eq!(hit(&["--color", "never"]), plain);
    let coloured = hit(&["--color", "always"]);
    assert!(coloured.contains("\x1b[1;33m23. Nxf6+\x1b[0m, king on g8"), "{coloured}");
    assert_eq!(coloured.replace("\x1b[1;33m", "").replace("\x1b[0m", ""), plain);
    let fault = run(&["scan", "{Nf3", SAMPLE, "--color", "always"]).2;
    assert!(fault.contains("\x1b["), "{fault}");
    // Formats that programs read have no colours.
    for format in ["csv", "jsonl", "pgn", "epd"] {
        assert!(!hit(&["--color", "always", "--format", format]).contains('\x1b'), "{format}");
    }
    let file = tempfile::tempdir().unwrap();
    let path = file.path().join("hits.txt");
    hit(&["--color", "always", "-o", path.to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(path).unwrap(), plain);
}

/// Escape sequences in a game must never reach a terminal, even with colours enabled.
#[test]
fn colours_let_nothing_else_through() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pgn");
    std::fs::write(&path, "[White \"\x1b[2Jx\x1b[31mred\"]\n[Event \"\x1b]0;t\x07\"]\n\n1. e4 *\n").unwrap();
    let shown = stdout(&["scan", "-q", "initial", path.to_str().unwrap(), "--color", "always"]);
    assert_eq!(shown.matches('\x1b').count(), 2, "{shown:?}");
    assert!(shown.contains("\\x1b[2Jx\\x1b[31mred"), "{shown:?}");
}

#[test]
fn a_dash_is_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hits.csv");
    let plain = stdout(&["scan", "-q", "-n", "2", QUERY, SAMPLE]);
    let both = stdout(&["scan", "-q", "-n", "2", QUERY, SAMPLE, "-o", file.to_str().unwrap(), "-o", "-"]);
    assert_eq!(both, plain);
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 3);
    let csv = stdout(&["scan", "-q", "-n", "2", QUERY, SAMPLE, "-o", "-", "-F", "csv"]);
    assert_eq!(csv, std::fs::read_to_string(&file).unwrap());
    let stats = stdout(&[
        "scan",
        "-q",
        "-s",
        "result",
        QUERY,
        SAMPLE,
        "--stats-output",
        "-",
        "--stats-format",
        "csv",
    ]);
    assert!(stats.starts_with("grouping,"), "{stats}");
    let themes = stdout(&["batch", "-q", "catalogue", "--only", "skewer", SAMPLE, "-o", "-", "-F", "csv"]);
    assert!(themes.starts_with("theme,"), "{themes}");
}

#[test]
fn a_negative_number_is_not_called_a_path() {
    let (code, _, stderr) = run(&["scan", "--limit", "-1", "check", SAMPLE]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("unexpected argument '-1'") && !stderr.contains("-- -1"), "{stderr}");
}

#[test]
fn counts_are_tables_as_well() {
    let run = |more: &[&str]| stdout(&[&["scan", "-q", QUERY, SAMPLE, "-F", "csv"], more].concat());
    let count = run(&["-c"]);
    assert_eq!(count, "games_hit,positions_hit,games,positions\n354,633,1000,87461\n");
    assert_eq!(run(&["-c", "-n", "4"]), "games_hit,positions_hit,games,positions\n4,6,,\n");
    let copies = run(&["--copies"]);
    let json: Value =
        serde_json::from_str(&stdout(&["scan", "-q", QUERY, SAMPLE, "-F", "jsonl", "--copies"])).unwrap();
    let mut table = csv::Reader::from_reader(copies.as_bytes());
    let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 672);
    for (row, copy) in rows.iter().zip(json["copies"].as_array().unwrap()) {
        assert_eq!((&row[0], &row[2]), (&*copy["copy"].to_string(), &*copy["positions"].to_string()));
        assert_eq!(copy["text"], row[1]);
    }
    let heat = run(&["--heat"]);
    let mut table = csv::Reader::from_reader(heat.as_bytes());
    let mut sums = std::collections::BTreeMap::<String, u64>::new();
    for row in table.records().map(Result::unwrap) {
        *sums.entry(row[0].to_owned()).or_default() += row[3].parse::<u64>().unwrap();
    }
    // Every table counts each hit once per matching copy (transformed pattern). Each count adds at least one square to the heat
    // map.
    let by_copies: u64 = rows.iter().map(|row| row[2].parse::<u64>().unwrap()).sum();
    assert_eq!(sums["symmetry"], by_copies);
    assert_eq!(sums["colors"], by_copies);
    assert!(sums["heat"] >= by_copies, "{sums:?}");
    let folder = tempfile::tempdir().unwrap();
    let queries = folder.path().join("queries.txt");
    std::fs::write(&queries, "mates\tmate\ncheck, of course\tcheck\n").unwrap();
    let table = stdout(&["scan", "-q", "--queries", queries.to_str().unwrap(), SAMPLE, "-F", "csv"]);
    let mut table = csv::Reader::from_reader(table.as_bytes());
    assert_eq!(table.headers().unwrap(), vec!["name", "query", "games_hit", "positions_hit"]);
    let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    assert_eq!((rows.len(), &rows[1][0], &rows[1][1]), (2, "check, of course", "check"));
}

/// Each example in a help topic must be a command that runs as printed.
#[test]
fn a_topic_has_its_words_with_examples_that_run() {
    for (topic, word) in [("moves", "currentmove"), ("pawns", "passedpawns"), ("Counting", "TRANSFORM count")]
    {
        let told = stdout(&["help", "language", topic]);
        assert!(told.contains(word), "{topic}: {told}");
        let commands: Vec<&str> =
            told.lines().filter_map(|line| line.trim().strip_prefix("orbit ")).collect();
        assert!(!commands.is_empty(), "{topic}: {told}");
        for command in commands {
            let output = Command::new("sh")
                .args(["-c", &format!("\"$ORBIT\" {command} --count -q")])
                .env("ORBIT", env!("CARGO_BIN_EXE_orbit"))
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .output()
                .unwrap();
            assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    // A keyword has precedence over a topic of the same name. A name that is neither is an error.
    assert!(stdout(&["help", "language", "mate"]).starts_with("mate (CQL 6: The position)"));
    assert_eq!(run(&["help", "language", "nosuchtopic"]).0, Some(2));
    // The argument can also be a chess term, or a heading within a topic.
    let castling = stdout(&["help", "language", "Castling"]);
    assert!(castling.starts_with("castle (CQL 6: Moves)") && castling.contains("o-o-o (CQL 6"), "{castling}");
    assert!(stdout(&["help", "language", "recapture"]).contains("to (CQL 6: Moves)"));
    assert!(stdout(&["help", "language", "move capture"]).starts_with("capture (CQL 6: Moves)"));
    for (wrong, right) in [("Pd", "write `Pd1-8`"), ("R7", "write `Ra-h7`"), ("QRd", "write `[QR]d1-8`")] {
        let stderr = run(&["scan", wrong, SAMPLE]).2;
        assert!(stderr.contains(right), "{wrong}: {stderr}");
    }
}

#[test]
fn a_limit_is_told_in_plain_words() {
    let stderr = run(&["scan", "-n", "4", QUERY, SAMPLE]).2;
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(lines[0], "stopped at the limit of 4 games", "{stderr}");
    assert!(lines[1].starts_with("read until then, in blocks of many games: 1,000 games ("), "{stderr}");
    assert!(lines[2].starts_with("hits: 4 games, 6 positions"), "{stderr}");
}

#[test]
fn messages_are_json_with_places() {
    let of = |args: &[&str]| messages(&[args, &["--message-format", "json"]].concat());
    let [fault] = &of(&["scan", "flip {R[a8-1] kh8}", SAMPLE])[..] else { panic!("one message") };
    let place = ["kind", "code", "file", "line", "column", "start", "end"].map(|name| fault[name].clone());
    let due = serde_json::json!(["error", "query", "query", 1, 10, 9, 12]);
    assert_eq!(Value::from(place.to_vec()), due, "{fault}");
    assert!(fault["message"].as_str().unwrap().contains("backwards"), "{fault}");
    // A place in a file is given by its line, its column in characters, and its byte offset.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("q.cql");
    std::fs::write(&file, "// Züge\nplayer \"ä\" chekc\n").unwrap();
    let [fault] = &of(&["explain", "-f", file.to_str().unwrap()])[..] else { panic!("one message") };
    let start = fault["start"].as_u64().unwrap() as usize;
    let end = fault["end"].as_u64().unwrap() as usize;
    assert_eq!(&std::fs::read_to_string(&file).unwrap()[start..end], "chekc");
    assert_eq!((&fault["line"], &fault["column"]), (&2.into(), &12.into()), "{fault}");
    assert_eq!(fault["file"], file.to_str().unwrap());
    // The message has a code even if the error is not about a text, or if clap rejects the arguments.
    for (args, code) in [
        (&["scan", "check", "nosuch.pgn"][..], "database"),
        (&["scan", "check"], "usage"),
        (&["scan", "check", SAMPLE, "--limit", "x"], "usage"),
        (&["scan", "check", SAMPLE, "-o", "/dev/full/x.csv"], "output"),
        (&["nosuch"], "usage"),
    ] {
        let found = of(args);
        let fault = found.last().unwrap_or_else(|| panic!("{args:?}"));
        assert_eq!((&fault["kind"], &fault["code"]), (&"error".into(), &code.into()), "{args:?}: {fault}");
        let message = fault["message"].as_str().unwrap();
        assert!(!message.is_empty() && !message.starts_with("error"), "{fault}");
    }
    // Summary lines are messages as well. Hidden characters in them are escaped.
    let summary = of(&["scan", "check", SAMPLE]);
    assert!(summary.len() >= 3 && summary.iter().all(|message| message["kind"] == "info"), "{summary:?}");
    let games = serde_json::json!({ "all": 1000, "whole": 1000, "cut": 0, "skipped": 0 });
    assert_eq!((&summary[0]["games"], &summary[0]["positions"]), (&games, &87_461.into()));
    let hits = &summary[1]["hits"];
    let count = format!("games hit {}\npositions hit {}\n", hits["games"], hits["positions"]);
    assert_eq!(run(&["scan", "--count", "check", SAMPLE]).1, count);
    assert!(summary[2]["seconds"]["total"].is_number() && summary[2]["positions_per_second"].is_number());
    let reel = folder.path().join("a.reel");
    let indexed = of(&["index", SAMPLE, "-o", reel.to_str().unwrap()]);
    assert_eq!(indexed[0]["games"], games, "{indexed:?}");
    let cut = folder.path().join("cut.pgn");
    std::fs::write(&cut, "1. e4 e5 2. Ke3 *\n").unwrap();
    let problem = &of(&["scan", "check", cut.to_str().unwrap()])[1]["problem"];
    assert_eq!((&problem["kind"], &problem["games"]), (&"cut".into(), &1.into()), "{problem}");
    let hidden = run(&["scan", "\x1b[2J", SAMPLE, "--message-format", "json"]).2;
    assert!(!hidden.contains('\x1b') && serde_json::from_str::<Value>(&hidden).is_ok(), "{hidden}");
    let themes = folder.path().join("t.toml");
    std::fs::write(&themes, "[[theme]]\nname = \"a\"\nquery = 'chekc'\n").unwrap();
    let [fault] = &of(&["batch", themes.to_str().unwrap(), SAMPLE])[..] else { panic!("one message") };
    assert_eq!((&fault["line"], &fault["column"]), (&3.into(), &10.into()), "{fault}");
}

#[test]
fn what_was_probably_meant_is_noted_unless_quiet() {
    let notes = |args: &[&str]| -> usize {
        let of = |message: &Value| message["kind"] == "note" && message["code"] == "query";
        messages(&[args, &[SAMPLE, "--message-format", "json"]].concat()).iter().filter(|m| of(m)).count()
    };
    for (query, expected) in [
        ("e4", 1),
        ("e4 e5", 1),
        ("Ra1 or e4", 1),
        ("flip e4", 1),
        ("find e4", 1),
        ("true", 0),
        ("initial", 0),
        ("Pe4", 0),
        ("find true", 0),
        ("flip Pe4", 0),
    ] {
        assert_eq!(notes(&["scan", "-c", query]), expected, "{query}");
        assert_eq!(notes(&["scan", "-c", "-q", query]), 0, "{query}");
    }
}

#[test]
fn no_counts_are_told_of_what_could_not_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pgn");
    std::fs::write(&path, "{\"games\": [1, 2, 3]}\n").unwrap();
    let (code, out, said) = run(&["scan", "-c", "true", path.to_str().unwrap()]);
    assert_eq!((code, &*out), (Some(3), ""), "{said}");
    assert!(!said.contains("hits:") && said.contains("a.pgn"), "{said}");
}

#[test]
fn games_without_players_are_listed_by_their_event() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pgn");
    let event = "A study of the Greek gift, chapter 3: the bishop is declined";
    let games = format!(
        "[Event \"{event}\"]\n[White \"?\"]\n\n1. e4 *\n\n[Annotator \"Somebody\"]\n\n1. d4 *\n\n[Round \"1\"]\n\n1. c4 *\n"
    );
    std::fs::write(&path, games).unwrap();
    let listed = run(&["scan", "-q", "ply==1", path.to_str().unwrap()]).1;
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].contains(event), "{listed}");
    assert!(lines[1].contains("Somebody") && lines[2].contains("? - ?"), "{listed}");
}

/// If the hits go to a file in the format of `--format`, they are not printed on standard output as well.
#[test]
fn a_format_prints_nothing_beside_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (format, name) in [("csv", "a.csv"), ("text", "b.txt"), ("jsonl", "c.jsonl"), ("epd", "d.epd")] {
        let file = path(name);
        assert_eq!(
            stdout(&["scan", QUERY, SAMPLE, "--quiet", "--format", format, "-o", &file]),
            "",
            "{name}"
        );
        let written = std::fs::read_to_string(&file).unwrap();
        assert_eq!(written, stdout(&["scan", QUERY, SAMPLE, "--quiet", "--format", format]), "{name}");
    }
}
