//! Tests game queries on the command line: the engine that runs them, the order of the output, and errors.

use std::process::{Command, Output};

use crate::common::data;

fn orbit(args: &[&str]) -> Output {
    let games = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/games");
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    command.current_dir(games).args(args).output().expect("the binary was built")
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("UTF-8")
}

fn stdout(args: &[&str]) -> String {
    let out = orbit(args);
    assert_eq!(out.status.code(), Some(0), "{args:?}: {}", text(&out.stderr));
    text(&out.stdout).to_owned()
}

fn plain(query: &str) -> String {
    stdout(&["scan", "--format", "plain", query, "main.pgn"])
}

/// Returns the exit code and the standard error of a run.
fn told(args: &[&str]) -> (Option<i32>, String) {
    let out = orbit(args);
    (out.status.code(), text(&out.stderr).to_owned())
}

/// Comments are read from PGN, and from reels (packed games) that contain them, if the query uses them.
#[test]
fn comments_are_read_for_queries_that_ask() {
    let due = stdout(&["scan", "--format", "plain", "hascomment", "comm.pgn"]);
    assert_eq!(due, "1 0\n1 1\n1 4\n");
    assert_eq!(stdout(&["scan", "--format", "plain", "hascomment \"!\"", "comm.pgn"]), "1 2\n1 4\n");
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    for (reel, options) in [("plain.reel", &[][..]), ("full.reel", &["--variations"])] {
        let to = path(reel);
        let made = [&["index", "comm.pgn", "-o", &to][..], options].concat();
        assert_eq!(told(&made).0, Some(0), "{}", told(&made).1);
    }
    assert_eq!(stdout(&["scan", "--format", "plain", "hascomment", &path("full.reel")]), due);
    let (code, fault) = told(&["scan", "hascomment", &path("plain.reel")]);
    assert_eq!(code, Some(2), "{fault}");
    assert!(fault.contains("contains no comments") && fault.contains("orbit index --variations"), "{fault}");
}

#[test]
fn the_last_game_is_known_before_the_first() {
    assert_eq!(plain("gamenumber == lastgamenumber"), "4 0\n");
    // The values of `sort` and the spans of hits are computed after the hits.
    assert_eq!(plain("sort \"left\" (lastgamenumber - gamenumber) initial"), "1 0\n2 0\n3 0\n4 0\n");
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("left.cql").display().to_string();
    std::fs::write(&script, "cql() sort \"left\" (lastgamenumber - gamenumber) initial").unwrap();
    let written = stdout(&["cql", "-quiet", "-i", "main.pgn", "-output", "-", &script]);
    assert!((0..4).all(|left| written.contains(&format!("left: {left}"))), "{written}");
    let lengths = |engine| {
        let query = "line --> {gamenumber==lastgamenumber ply<3} --> true";
        stdout(&["scan", "--stats", "length", "--engine", engine, query, "main.pgn"])
    };
    assert_eq!(lengths("cpu"), lengths("reference"));
    let (code, fault) = told(&["scan", "lastgamenumber", "-"]);
    assert_eq!(code, Some(2), "{fault}");
    assert!(fault.contains("standard input, pipes and the web are read once"), "{fault}");
}

#[test]
fn queries_begin_with_dashes() {
    assert_eq!(plain("--(o-o)"), "1 6\n");
    assert_eq!(stdout(&["scan", "--(o-o-o)", "main.pgn", "--format", "plain"]), "3 13\n");
    assert_eq!(stdout(&["scan", "-e", "--(castle)", "--format", "plain", "main.pgn"]), "1 6\n3 13\n");
    assert_eq!(stdout(&["scan", "main.pgn", "--query", "castle", "--format", "plain"]), "1 7\n3 14\n");
    for args in [["explain", "--g1(o-o)"], ["explain", "--a"]] {
        assert!(stdout(&args).contains(&format!("\nquery   {}\n", args[1])), "{args:?}");
    }
    // The message locates the error in the query that the user wrote. The program puts a blank before the query, which must not
    // be counted.
    let (code, fault) = told(&["scan", "--(nowhere)", "main.pgn"]);
    assert_eq!(code, Some(2));
    assert!(fault.contains("query:1:4"), "{fault}");
    // A misspelt option is reported as such, not as an invalid query.
    let (code, fault) = told(&["scan", "--limt", "5", "check", "main.pgn"]);
    assert_eq!(code, Some(2));
    assert!(fault.contains("--limt"), "{fault}");
    let (code, fault) = told(&["scan", "-e", "check", "mate", "main.pgn"]);
    assert_eq!(code, Some(2));
    assert!(fault.contains("with -e the query comes from the command line"), "{fault}");
    let (code, fault) = told(&["scan", "-e", "check", "-e", "mate", "main.pgn"]);
    assert_eq!(code, Some(2));
    assert!(
        fault.contains("tip: a run takes one query: `{A} or {B}` finds what either of two finds"),
        "{fault}"
    );
    let (code, fault) = told(&["scan", "--limit", "1", "--limit", "2", "check", "main.pgn"]);
    assert_eq!(code, Some(2));
    assert!(fault.contains("tip: give it once"), "{fault}");
}

#[test]
fn games_come_in_the_order_of_the_query() {
    assert_eq!(plain("check"), "2 4\n3 8\n3 16\n");
    assert_eq!(plain("cql(sort matchcount 1 9) check"), "3 8\n3 16\n2 4\n");
    assert_eq!(plain("sort \"p\" ply initial"), "1 0\n3 0\n2 0\n4 0\n");
    // The order in an option overrides the order in the query.
    let by_date = ["scan", "--format", "plain", "--sort", "date", "sort \"p\" ply initial", "main.pgn"];
    assert_ne!(stdout(&by_date), plain("sort \"p\" ply initial"));
    let first = ["scan", "--format", "plain", "--limit", "2", "sort \"p\" ply initial", "main.pgn"];
    assert_eq!(stdout(&first), "1 0\n3 0\n");
    let lines = stdout(&["scan", "sort \"p\" ply initial", "main.pgn"]);
    let numbers: Vec<&str> = lines.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(numbers, ["1", "3", "2", "4"]);
}

#[test]
fn games_are_found_by_how_often_they_match() {
    assert_eq!(plain("cql(matchcount 2 5) check"), "3 8\n3 16\n");
    assert_eq!(plain("cql(matchcount 0) check"), "");
    let none = |args: &[&str]| stdout(&[&["scan", "cql(matchcount 0) check", "main.pgn"], args].concat());
    assert_eq!(none(&["--count"]), "games hit 2\npositions hit 0\n");
    assert_eq!(none(&[]).lines().count(), 2);
    assert!(none(&[]).lines().all(|line| line.ends_with("  (0)")));
    assert_eq!(none(&["--format", "pgn"]).matches("[Event ").count(), 2);
    let kept = ["--where", "white~nobody", "--count"];
    assert_eq!(none(&kept), "games hit 0\npositions hit 0\n");
}

/// A query with a variable that keeps its value from game to game.
const IN_ORDER: &str = "persistent quiet xx initial xx+=1 xx>2";
/// The query [`IN_ORDER`] with an additional filter, which writes a tag into games. No plan can express it.
const WRITES: &str = "persistent quiet xx initial xx+=1 xx>2 settag(\"Theme\" \"?\")";

#[test]
fn a_query_that_keeps_values_runs_in_order() {
    for engine in ["auto", "cpu", "reference"] {
        assert_eq!(stdout(&["scan", "-F", "plain", "--engine", engine, IN_ORDER, "main.pgn"]), "3 0\n4 0\n");
    }
    let (code, fault) = told(&["scan", "--engine", "gpu", IN_ORDER, "main.pgn"]);
    assert_eq!(code, Some(2));
    assert!(fault.contains("engine `gpu` cannot run this query") && fault.contains("query:1:"), "{fault}");
    let (code, notes) = told(&["scan", "--threads", "2", IN_ORDER, "main.pgn", "--verify"]);
    assert_eq!(code, Some(0));
    assert_eq!(notes.matches("the query needs the games in their order: one thread").count(), 1, "{notes}");
    assert!(notes.contains("(cpu, 1 thread)") && notes.contains("recomputed by"), "{notes}");
}

#[test]
fn the_engine_that_runs_a_query_is_named() {
    assert_eq!(plain(WRITES), "3 0\n4 0\n");
    for engine in ["cpu", "gpu"] {
        let (code, fault) = told(&["scan", "--engine", engine, WRITES, "main.pgn"]);
        assert_eq!(code, Some(2));
        let message = format!("engine `{engine}` cannot run this query");
        assert!(fault.contains(&message) && fault.contains("--engine auto"), "{fault}");
        assert!(fault.contains("query:1:"), "{fault}");
    }
    let (code, notes) = told(&["scan", WRITES, "main.pgn", "--verify"]);
    assert_eq!(code, Some(0));
    for note in [
        "only the reference engine can run the query",
        "no positions are recomputed for the query",
        "one thread searches them",
    ] {
        assert_eq!(notes.matches(note).count(), 1, "{notes}");
    }
    assert!(!notes.contains("recomputed by"), "{notes}");
    assert!(told(&["scan", "--threads", "2", WRITES, "main.pgn"]).1.contains("(reference, 1 thread)"));
    assert_eq!(told(&["scan", "--quiet", WRITES, "main.pgn"]), (Some(0), String::new()));
    let explained = stdout(&["explain", WRITES]);
    assert!(explained.contains("only the reference engine runs this query"), "{explained}");
}

#[test]
fn queries_of_one_run_have_engines_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queries.txt");
    std::fs::write(&path, format!("check\n{WRITES}\ncql(variations) true\n")).unwrap();
    let out = orbit(&["scan", "--queries", path.to_str().unwrap(), "--format", "jsonl", "main.pgn"]);
    let counts: Vec<serde_json::Value> =
        text(&out.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let counts: Vec<_> = counts.iter().map(|row| (&row["games_hit"], &row["positions_hit"])).collect();
    assert_eq!(counts[0], (&2.into(), &3.into()));
    assert_eq!(counts[1], (&2.into(), &2.into()));
    assert_eq!(counts[2].0, 4);
    let notes = text(&out.stderr);
    assert!(notes.contains("can run one of the queries") && notes.contains("cpu and reference"), "{notes}");
}

#[test]
fn faults_while_games_are_evaluated_name_the_place() {
    let (code, fault) = told(&["scan", "xx=1 assert not check", "main.pgn"]);
    assert_eq!(code, Some(2));
    assert!(fault.contains("game 2, ply 4: ") && fault.contains("query:1:6"), "{fault}");
}

/// Compares `orbit explain` with `tests/data/planned.txt`, which lists the queries that the engines `cpu` and `gpu` can run. Only
/// `reference` can run the other queries.
#[test]
fn explain_says_which_queries_are_planned() {
    for line in data("planned.txt").lines() {
        let [how, name, query] = line.split('\t').collect::<Vec<_>>().try_into().expect("three columns");
        let explained = stdout(&["explain", "--json", "-e", query]);
        let explained: serde_json::Value = serde_json::from_str(&explained).unwrap();
        let (engines, reason) = (&explained["engines"], &explained["reason"]);
        let is_planned = how == "planned";
        // A query that keeps values from game to game does not run on `gpu`.
        let is_many = engines.as_array().unwrap().len() > 1;
        assert_eq!(is_many, is_planned, "{name}: {engines}");
        assert_eq!((explained["plan"].is_null(), reason.is_null()), (!is_planned, is_planned), "{name}");
    }
}
