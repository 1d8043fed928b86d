//! Tests the moves of hits as shown in each output format.
//!
//! shakmaty replays the moves. They must lead from the position of the hit to the positions of its span (the moves that a query
//! matched).

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use shakmaty::fen::Fen;
use shakmaty::san::San;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _};

/// A game with side lines. Nodes 0-7 are the main line, 8-10 are 3...g6, 11-13 are 1...c5, 14-15 are 2.Nc3, and 16 is 1...e6.
const TREE: &str = "[Event \"E\"]\n[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n1.e4 e5 (1...c5 2. Nf3 (2. Nc3 Nc6) d6) \
    (1... e6) 2. Bc4 Nc6 3.Qh5 Nf6 ( 3...g6 4. Qf3 -- ) 4.Qxf7# 1-0\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        fs::write(folder.0.path().join("a.pgn"), TREE).unwrap();
        folder
    }

    fn run(&self, query: &str, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
        command.current_dir(self.0.path()).args(["scan", "-q", "-e", query]).args(args);
        command.output().unwrap()
    }

    #[track_caller]
    fn stdout(&self, query: &str, args: &[&str]) -> String {
        let output = self.run(query, args);
        assert!(output.status.success(), "{query}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn rows(&self, query: &str, args: &[&str]) -> Vec<Value> {
        let lines = self.stdout(query, &[&["--format", "jsonl"], args].concat());
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

const SIDE_LINES: &[&str] = &["--variations", "a.pgn"];

#[test]
fn text_shows_moves_as_pgn_writes_them() {
    let folder = Folder::new();
    let shown = |query: &str| {
        let text = folder.stdout(query, SIDE_LINES);
        let lines: Vec<String> = text.lines().skip(1).map(|line| line.trim().to_owned()).collect();
        lines
    };
    let none: &[&str] = &[];
    for (query, lines) in [
        ("line --> {Qh5 btm} --> wtm --> Q[f3,f7]", &["3.  3... Nf6 4. Qxf7#"][..]),
        ("line --> {Qh5 btm} --> wtm --> Q[f3,f7] --> wtm", &["3.  3... g6 4. Qf3 --"]),
        ("flipcolor line --> {Qh5 btm} --> wtm --> Q[f3,f7]", &["3.  3... Nf6 4. Qxf7#"]),
        ("line <-- mate <-- true <-- Qh5", &["4.  3... Nf6 4. Qxf7#"]),
        // A nested `line` has no span (moves of a hit) of its own.
        ("line --> {Qh5 btm} --> {line --> wtm --> Q[f3,f7]}", &["3.  3... Nf6"]),
        ("path --h5 -- --f7", &["2...  3. Qh5 Nf6 4. Qxf7#"]),
        ("path focus Q --h5 --f3", &["2...  3. Qh5 … 4. Qf3"]),
        ("path focus b --", none),
        ("--(mate)", &["3...  4. Qxf7#"]),
        ("Q[x]p", &["3...  4. Qxf7#"]),
        ("currentmove --(mate)", &["4.  4. Qxf7#"]),
        ("move from Q", &["2...            3. Qh5", "3...            4. Qxf7#", "(3...g6: 3...)  4. Qf3"]),
        ("--h5(--(--(mate)))", &["2...  3. Qh5 Nf6 4. Qxf7#"]),
        ("--f3(line --> wtm or btm --> nullmove)", &["(3...g6: 3...)  4. Qf3 --"]),
        ("initial find mate", &["start  … 4. Qxf7#"]),
        ("initial find all Q[f3,f7]", &["start  … 4. Qxf7# … 4. Qf3 --"]),
        ("mate find <-- Qh5", &["4.  … 3... Nf6"]),
        ("echo (s t) {s:initial t:mate}", &["start  … 4. Qxf7#"]),
        // A negated filter matches where the filter inside it fails, so there are no moves to show.
        ("initial not line --> mate", none),
        // If a query has several filters with moves, `line` and `path` have precedence over move filters, and move filters over
        // `find`.
        ("find mate --h5 line --> true --> Qh5", &["2...  3. Qh5"]),
        ("find mate --h5", &["2...  3. Qh5"]),
        ("sort \"s\" line --> {Qh5 btm} --> wtm --> Q[f3,f7]", &["3.  3... Nf6 4. Qxf7#"]),
        // These queries have state: a variable keeps its value from position to position, or `nestban` excludes some starts.
        ("if initial xx=0 xx+=1 xx>5 Q[x]p", &["3...  4. Qxf7#"]),
        ("mainline path nestban -- --", &["start  1. e4 e5", "1...   2. Bc4 Nc6", "2...   3. Qh5 Nf6"]),
    ] {
        assert_eq!(shown(query), lines, "{query}");
    }
}

#[test]
fn games_are_sorted_by_their_longest_spans() {
    let folder = Folder::new();
    let games = ["d4 Nf6", "Nf3 d5 Nh4 d4", "e4", "d4 Nf6 Nf3"]
        .map(|moves| format!("[White \"A\"]\n\n{moves} *\n\n"));
    fs::write(folder.0.path().join("four.pgn"), games.concat()).unwrap();
    let order = |args: &[&str]| {
        let plain = ["--format", "plain", "four.pgn"];
        let text = folder.stdout("{path -- {1,}} true", &[&plain, args].concat());
        let mut games: Vec<String> = text.lines().map(|line| line[..1].to_owned()).collect();
        games.dedup();
        games.concat()
    };
    assert_eq!(order(&[]), "1234");
    assert_eq!(order(&["--sort", "length"]), "2413");
    assert_eq!(order(&["--sort", "length", "--reverse"]), "3142");
    assert_eq!(order(&["--sort", "length", "--limit", "2", "--threads", "1", "--no-spans"]), "24");
    let refused = folder.run("check", &["--sort", "length", "four.pgn"]);
    let told = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(told.contains("--sort length needs a query whose hits consist of moves"), "{told}");
}

#[test]
fn long_spans_are_cut_in_text() {
    let folder = Folder::new();
    let long = format!("1. {} *\n", "Nf3 Nf6 Ng1 Ng8 ".repeat(5));
    fs::write(folder.0.path().join("long.pgn"), long).unwrap();
    let line = |args: &[&str]| {
        let text = folder.stdout("initial path -- +", &[&["long.pgn"], args].concat());
        text.lines().last().unwrap().trim().to_owned()
    };
    let cut = "start  1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. Nf3 Nf6 6. Ng1 Ng8 …";
    assert_eq!(line(&[]), cut);
    assert!(line(&["--all-plies"]).ends_with(" 9. Nf3 Nf6 10. Ng1 Ng8"));
    assert!(line(&["--no-spans"]).ends_with("start, value 20, next Nf3  (1)"));
}

#[test]
fn rows_have_nodes_plies_and_moves() {
    let folder = Folder::new();
    let query = "line --> {Qh5 btm} --> wtm --> Q[f3,f7] --> wtm";
    let [row] = &folder.rows(query, SIDE_LINES)[..] else { panic!("one row") };
    let due = json!({
        "kind": "line", "nodes": [5, 8, 9, 10], "plies": [5, 6, 7, 8], "moves": ["g6", "Qf3", "--"],
        "text": "3... g6 4. Qf3 --", "length": 3,
    });
    assert_eq!(row["span"], due);
    assert_eq!(folder.rows("initial not line --> mate", SIDE_LINES)[0]["span"], Value::Null);
    assert!(folder.rows("check", SIDE_LINES)[0].get("span").is_none());
    assert!(folder.rows(query, &["--variations", "--no-spans", "a.pgn"])[0].get("span").is_none());
    let csv = folder.stdout(query, &["--format", "csv", "--variations", "a.pgn"]);
    assert!(
        csv.starts_with("schema,game,")
            && csv.contains(",node,line,span_kind,span_nodes,span_plies,span_moves,span_text,span_length\n"),
        "{csv}"
    );
    assert!(csv.ends_with(",5,,line,5 8 9 10,5 6 7 8,g6 Qf3 --,3... g6 4. Qf3 --,3\n"), "{csv}");
    let csv = folder.stdout("initial not line --> mate", &["--format", "csv", "a.pgn"]);
    assert!(csv.ends_with(",,,,,,\n"), "{csv}");
}

#[test]
fn strings_are_a_column() {
    let folder = Folder::new();
    let csv = folder.stdout("check str(\"at \" ply)", &["--format", "csv", "a.pgn"]);
    let (head, row) = csv.trim_end().split_once('\n').unwrap();
    assert!(head.ends_with(",url,text") && row.ends_with(",,at 7"), "{csv}");
}

#[test]
fn moves_are_counted() {
    let folder = Folder::new();
    let counted = |query: &str, grouping: &str| {
        let csv =
            folder.stdout(query, &["--stats", grouping, "--stats-format", "csv", "--variations", "a.pgn"]);
        let cells = |row: &str| row.split(',').take(7).collect::<Vec<_>>().join(",");
        csv.lines().skip(2).map(cells).collect::<Vec<_>>()
    };
    assert_eq!(
        counted("move from Q", "san"),
        ["san,Qf3,,1,1,17,1", "san,Qh5,,1,1,17,1", "san,Qxf7#,,1,1,17,1"]
    );
    assert_eq!(counted("find mate", "san"), ["san,Qxf7#,,1,1,17,8"]);
    assert_eq!(
        counted("line --> {Qh5 btm} --> true*", "length"),
        ["length,1,,1,1,17,1", "length,3,,1,1,17,1"][1..]
    );
    assert_eq!(
        counted("path -- +", "length:4"),
        ["length:4,0,,1,1,17,7", "length:4,4,,1,1,17,4", "length:4,8,,1,1,17,1"]
    );
    let fault = folder.run("check", &["--stats", "length", "a.pgn"]);
    assert_eq!(fault.status.code(), Some(2));
    let message = String::from_utf8(fault.stderr).unwrap();
    assert!(message.contains("--stats length counts the moves of which hits consist"), "{message}");
    assert!(message.contains("leave out length, or search with `line`"), "{message}");
}

#[test]
fn reports_draw_arrows() {
    let folder = Folder::new();
    let html = |query: &str, args: &[&str]| {
        folder.stdout(query, &[&["-o", "report.html", "a.pgn"], args].concat());
        fs::read_to_string(folder.0.path().join("report.html")).unwrap()
    };
    let page = html("path --h5 -- --f7", &[]);
    assert!(page.contains("; arrows: d1-h5 g8-f6 h5-f7</desc>"), "{page}");
    assert_eq!(
        (page.matches("class=\"arrow first\"").count(), page.matches("class=\"arrow\"").count()),
        (1, 2)
    );
    assert!(page.contains("path <strong>3. Qh5 Nf6 4. Qxf7#</strong>"), "{page}");
    assert!(!html("path --h5 -- --f7", &["--no-spans"]).contains("arrows:"));
    // If the position that `find` found is only a few moves away, these moves are drawn as arrows.
    assert!(!html("initial find mate", &[]).contains("arrows:"));
    assert!(html("Qh5 btm find mate", &[]).contains("; arrows: g8-f6 h5-f7</desc>"));
}

/// Queries with and without a plan (code for the fast engines), with transforms, and with variables that keep their values.
const QUERIES: [&str; 23] = [
    "line --> check --> not check --> check",
    "flipcolor line --> A attacks k --> (not check){1,3} --> check",
    "shift flip line --> Nd4 --> wtm --> btm --> not Nd4",
    // Both copies (the pattern and its colour flip) match at the start of most games, but they find different
    // positions.
    "flipcolor {initial find #q==0}",
    "line singlecolor --> wtm + --> check",
    "line firstmatch --> wtm --> btm*",
    "line nestban --> check --> not check",
    "line <-- check <-- not check <-- check",
    "path --P -- check",
    "flip path N-- -- N--",
    "path A[x]a -- (a[x]A --)*",
    "path primary max ply -- {2,4}",
    "path max #a -- + check",
    "A[x]a",
    "flipcolor --P=Q",
    "--(--(check))",
    "move from N capture .",
    "move previous castle",
    "line --> move from Q --> move from k",
    "initial find 2 9 check",
    "sort \"l\" line --> check --> not check",
    "if initial xx=0 xx+=1 xx>9 line --> check --> not check",
    "check find <-- not check",
];

/// Returns game files with the options to search them: main lines, side lines, and some real games.
fn games(folder: &Folder) -> Vec<(String, &'static [&'static str])> {
    let file = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        path.to_str().unwrap().to_owned()
    };
    let sample = fs::read_to_string(file("games/sample.pgn")).unwrap();
    let some = sample.split_inclusive("\n\n[Event ").take(60).collect::<String>();
    fs::write(folder.0.path().join("some.pgn"), some.trim_end_matches("[Event ")).unwrap();
    vec![
        (file("tests/data/games/main.pgn"), &[]),
        (file("tests/data/games/vars.pgn"), &["--variations"]),
        ("some.pgn".to_owned(), &[]),
    ]
}

#[test(part = 2)]
fn engines_agree() {
    let folder = Folder::new();
    for (path, args) in &games(&folder) {
        for query in QUERIES {
            for format in ["jsonl", "text"] {
                let of = |engine: &str| {
                    folder.stdout(query, &[&["--format", format, "--engine", engine, path], *args].concat())
                };
                assert_eq!(of("auto"), of("reference"), "{query} {path}");
            }
        }
    }
}

fn chess(fen: &str) -> Option<Chess> {
    fen.parse::<Fen>().ok()?.into_position(CastlingMode::Chess960).ok()
}

/// Returns the piece placement and the side to move as text.
fn place(position: Chess) -> String {
    let fen = Fen::from_position(&position, EnPassantMode::Legal).to_string();
    fen.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

/// The moves of a span must lead from its first position to its last, through all positions in between.
#[test]
fn moves_lead_to_the_positions() {
    let folder = Folder::new();
    let mut played = 0;
    for (path, args) in &games(&folder) {
        let args = [&[path.as_str()], *args].concat();
        let key = |row: &Value| {
            (row["game"].as_u64().unwrap(), row.get("node").unwrap_or(&row["ply"]).as_u64().unwrap())
        };
        let fens: HashMap<(u64, u64), String> = folder
            .rows("true", &args)
            .iter()
            .map(|row| (key(row), row["fen"].as_str().unwrap().to_owned()))
            .collect();
        for query in QUERIES {
            for row in folder.rows(query, &args).iter().filter(|row| !row["span"].is_null()) {
                let span = &row["span"];
                let (game, hit) = key(row);
                let nodes: Vec<u64> =
                    span["nodes"].as_array().unwrap().iter().map(|node| node.as_u64().unwrap()).collect();
                let is_back = query.contains("<--") || query.contains("previous");
                assert!(is_back || nodes[0] == hit, "{query}: {row}");
                let first = *nodes.iter().min().unwrap();
                let Some(mut position) = chess(&fens[&(game, first)]) else { continue };
                let mut seen = vec![place(position.clone())];
                for san in span["moves"].as_array().unwrap() {
                    position = match san.as_str().unwrap() {
                        "--" => position.swap_turn().unwrap(),
                        san => {
                            let mv = San::from_ascii(san.trim_end_matches(['+', '#']).as_bytes()).unwrap();
                            let mv = mv.to_move(&position).unwrap_or_else(|_| panic!("{query} {san}: {row}"));
                            position.play(mv).unwrap()
                        }
                    };
                    seen.push(place(position.clone()));
                }
                assert_eq!(span["length"].as_u64(), Some(seen.len() as u64 - 1), "{row}");
                for node in &nodes {
                    let due = place(chess(&fens[&(game, *node)]).unwrap());
                    assert!(seen.contains(&due), "{query}: {row}");
                }
                let last = *nodes.iter().max().unwrap();
                assert_eq!(seen.last(), Some(&place(chess(&fens[&(game, last)]).unwrap())), "{query}: {row}");
                played += seen.len() - 1;
            }
        }
    }
    assert!(played > 1_000, "{played}");
}
