//! Tests `count`, `statistics` and `write`, and queries that are boards or themes. The responses must equal the command's output.

use std::fs;

use serde_json::{Value, json};

use super::{Server, assert_code};
use crate::program::{QUERY, SAMPLE, rows, run, stdout};
use orbit_search::serve::ErrorCode;

/// A query whose `sort` filter determines the order of the found games.
const SORTED: &str = "mate sort \"pawns\" #P";

fn json_of(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(args)).unwrap()
}

#[test]
fn counts_and_statistics_are_those_of_the_command() {
    let mut server = Server::start(&[SAMPLE, SAMPLE]);
    let queries = ["mate", QUERY, "stalemate"];
    let counted =
        server.answer("count", json!({ "query": queries, "where": "result=1-0", "unique": "moves" }));
    for (query, count) in queries.iter().zip(counted["counts"].as_array().unwrap()) {
        let args =
            ["scan", "-q", "-F", "jsonl", "-c", "--unique=moves", "-w", "result=1-0", query, SAMPLE, SAMPLE];
        let expected = json_of(&args);
        for field in ["games_hit", "positions_hit"] {
            assert_eq!(count[field], expected[field], "{query}");
        }
        assert!(count["games_hit"].is_u64());
    }
    assert_eq!(counted["counts"].as_array().unwrap().len(), 3);
    let mut grouped =
        server.answer("statistics", json!({ "query": QUERY, "groupings": "year,elo:200*result" }));
    let args =
        ["scan", "-q", "--stats", "year,elo:200*result", "--stats-format", "json", QUERY, SAMPLE, SAMPLE];
    let expected = json_of(&args);
    assert_eq!(grouped["total"]["games"], 2000);
    for field in ["total", "groupings"] {
        assert_eq!(grouped[field].take(), expected[field], "{field}");
    }
    for fields in [
        json!({}),
        json!({ "query": "mate", "limit": 3 }),
        json!({ "query": "mate", "rows": 3 }),
        json!({ "query": ["power A", "check"], "best": true }),
    ] {
        assert_code(&server.answer("count", fields), ErrorCode::Request);
    }
    let state = server.answer("progress", json!({ "of": grouped["id"] }));
    assert_eq!(state["state"], "done");
    assert_code(&server.answer("hits", json!({ "of": grouped["id"] })), ErrorCode::UnknownQuery);
    server.finish();
}

/// The response to `batch` must equal the output of `orbit batch --format json`.
#[test]
fn themes_are_those_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.toml").to_str().unwrap().to_owned();
    fs::write(&own, "include = ['catalogue']\n[[theme]]\nname = 'own'\ntitle = 'Own'\nquery = ' mate '\n")
        .unwrap();
    let mut server = Server::start(&[SAMPLE, SAMPLE]);
    let cases = [
        (json!({}), vec!["catalogue"]),
        (
            json!({ "group": ["mates"], "only": ["fianchetto"], "by": "year,white,result", "where": "elo>=2500" }),
            vec![
                "catalogue",
                "--group=mates",
                "--only=fianchetto",
                "--by=year,white,result",
                "-w",
                "elo>=2500",
            ],
        ),
        (
            json!({ "themes": own, "only": ["own", "skewer"], "by": "opponent", "player": "Carlsen", "unique": "moves" }),
            vec![&own, "--only=own,skewer", "--by=opponent", "--player=Carlsen", "--unique=moves"],
        ),
    ];
    for (fields, args) in cases {
        let mut told = server.answer("batch", fields);
        let mut expected = json_of(&[&["batch", "-q", "-F", "json"], &args[..], &[SAMPLE, SAMPLE]].concat());
        assert!(told["ms"].is_number() && told["engine"].is_string());
        for field in ["games", "positions", "themes"] {
            assert!(!expected[field].is_null());
            assert_eq!(told[field].take(), expected[field].take(), "{args:?}: {field}");
        }
    }
    server.finish();
}

#[test]
fn themes_search_side_lines() {
    let folder = tempfile::tempdir().unwrap();
    let games = folder.path().join("games.pgn").to_str().unwrap().to_owned();
    fs::write(&games, "1. e4 e5 2. Qh5 (2. f4 Qh4+ 3. g3) 2... Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n").unwrap();
    let mut server = Server::start(&[SAMPLE]);
    server.answer("open", json!({ "database": "lines", "paths": [games], "variations": true }));
    for (are_searched, args) in [(true, &["--variations"][..]), (false, &[])] {
        let fields =
            json!({ "database": "lines", "group": ["mates"], "by": "ply:2", "variations": are_searched });
        let told = server.answer("batch", fields);
        let fixed = ["batch", "-q", "-F", "json", "catalogue", "--group=mates", "--by=ply:2", &games];
        assert_eq!(told["themes"], json_of(&[&fixed[..], args].concat())["themes"], "{args:?}");
    }
    server.finish();
}

#[test]
fn files_are_those_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(&[SAMPLE]);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let written =
        server.answer("write", json!({ "query": QUERY, "path": path("a.pgn"), "skip": 3, "limit": 40 }));
    assert_eq!(written["games"], 40);
    stdout(&["scan", "-q", "--skip", "3", "-n", "40", QUERY, SAMPLE, "-o", &path("b.pgn")]);
    assert!(fs::read(path("a.pgn")).unwrap() == fs::read(path("b.pgn")).unwrap());
    for (name, fields, args) in [
        (
            "e",
            json!({ "query": QUERY, "sort": "date", "skip": 3, "limit": 40 }),
            &[QUERY, "--sort=date", "--skip=3", "-n40"][..],
        ),
        ("f", json!({ "query": QUERY, "sort": "elo", "reverse": true }), &[QUERY, "--sort=elo", "--reverse"]),
        ("g", json!({ "query": "mate", "sample": 5, "seed": 7 }), &["mate", "--sample=5", "--seed=7"]),
        ("h", json!({ "query": "cql(sort matchcount 1 100) check" }), &["cql(sort matchcount 1 100) check"]),
        ("i", json!({ "query": SORTED, "limit": 5 }), &[SORTED, "-n5"]),
    ] {
        let [ours, theirs] = ["ours", "theirs"].map(|whose| path(&format!("{name}-{whose}.pgn")));
        let mut fields = fields;
        fields["path"] = ours.clone().into();
        let games = server.answer("write", fields)["games"].as_u64().unwrap();
        stdout(&[&["scan", "-q"], args, &[SAMPLE, "-o", &theirs]].concat());
        let (ours, theirs) = (fs::read_to_string(&ours).unwrap(), fs::read_to_string(&theirs).unwrap());
        assert!(ours == theirs, "{args:?}");
        assert_eq!(ours.matches("[Event ").count() as u64, games, "{args:?}");
    }
    let written = server.answer("write", json!({ "query": QUERY, "path": path("a.html") }));
    assert_eq!(written["games"], 354);
    assert!(fs::read_to_string(path("a.html")).unwrap().contains("<svg"));
    // Unlike the server's report, the command's report contains the options with which the command writes it.
    let titled =
        json!({ "query": QUERY, "path": path("c.html"), "sort": "elo", "reverse": true, "title": "Kings" });
    server.answer("write", titled);
    let options = ["scan", "-q", "--sort", "elo", "--reverse", "--title=Kings", QUERY, SAMPLE, "-o"];
    stdout(&[&options[..], &[&path("d.html")]].concat());
    let [ours, theirs] = ["c.html", "d.html"].map(|name| fs::read_to_string(path(name)).unwrap());
    let theirs = theirs.replace("With <code>-o report.html --title=Kings</code> it writes this page.", "");
    assert!(ours.contains("<title>Kings<") && ours == theirs.replace("-o report.html --title=Kings", ""));
    server.answer("write", json!({ "query": QUERY, "path": path("a.svg") }));
    stdout(&["scan", "-q", QUERY, SAMPLE, "-o", &path("b.svg")]);
    assert!(fs::read(path("a.svg")).unwrap() == fs::read(path("b.svg")).unwrap());
    let wrong = [
        json!({ "query": QUERY, "path": path("a.csv") }),
        json!({ "query": QUERY }),
        json!({ "query": ["mate", "check"], "path": path("c.pgn") }),
        json!({ "query": "mate", "path": path("c.svg") }),
        json!({ "query": "mate", "path": path("c.pgn"), "groupings": "year" }),
        json!({ "query": "mate", "path": path("c.pgn"), "sort": "value" }),
        json!({ "query": "mate", "path": path("e.html"), "limit": 5 }),
        json!({ "query": "mate", "path": path("e.html"), "sample": 5 }),
        json!({ "query": QUERY, "path": path("e.svg"), "sort": "elo" }),
        json!({ "query": QUERY, "path": path("e.svg"), "title": "Kings" }),
        json!({ "query": QUERY, "path": path("e.pgn"), "title": "Kings" }),
    ];
    for fields in wrong {
        assert_code(&server.answer("write", fields), ErrorCode::Request);
    }
    let wrong = server.answer("write", json!({ "query": "mate", "path": path("none/c.pgn") }));
    assert_code(&wrong, ErrorCode::Database);
    fs::copy(SAMPLE, path("open.pgn")).unwrap();
    server.answer("open", json!({ "database": "more", "paths": [path("open.pgn")] }));
    let before = fs::read(path("open.pgn")).unwrap();
    for database in ["main", "more"] {
        let fields = json!({ "query": "mate", "database": database, "path": path("open.pgn") });
        assert_code(&server.answer("write", fields), ErrorCode::Database);
    }
    assert!(fs::read(path("open.pgn")).unwrap() == before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 18, "nothing unfinished is left");
    server.finish();
}

/// Sorting games and dropping duplicates must also affect the pages of hits.
#[test]
fn boards_and_choices_are_those_of_the_command() {
    let mut server = Server::start(&[SAMPLE, SAMPLE]);
    let board = "8/8/8/8/3N4/5k2/8/8";
    let cases: [(Value, &[&str]); 6] = [
        (
            json!({ "board": board, "transforms": ["shift", "flip"] }),
            &["--board", board, "--shift", "--flip"],
        ),
        (
            json!({ "similar": board, "transforms": ["shift"], "best": true, "sort": "value", "limit": 50 }),
            &["--similar", board, "--shift"],
        ),
        (json!({ "theme": "greek-gift" }), &["--theme", "greek-gift"]),
        (json!({ "query": "mate", "unique": "tags", "skip": 7 }), &["mate", "--unique", "--skip", "7"]),
        (
            json!({ "query": "mate", "skip": 4, "limit": 3, "sort": "elo" }),
            &["mate", "--skip", "4", "-n", "3", "--sort", "elo"],
        ),
        (json!({ "query": "mate", "skip": 4, "limit": 3 }), &["mate", "--skip", "4", "-n", "3"]),
    ];
    for (mut fields, args) in cases {
        fields["rows"] = 1000.into();
        let answer = server.answer("query", fields);
        assert_eq!(
            answer["rows"].as_array().unwrap(),
            &rows(&[args, &[SAMPLE, SAMPLE]].concat()),
            "{args:?}"
        );
    }
    let listed = server.answer("query", json!({ "query": "mate", "skip": 4, "limit": 3 }));
    assert_eq!((&listed["games_hit"], &listed["games"]), (&3.into(), &Value::Null));
    let counted = server.answer("query", json!({ "query": "mate", "skip": 4, "count": true }));
    let expected = json_of(&["scan", "-q", "-F", "jsonl", "-c", "--skip", "4", "mate", SAMPLE, SAMPLE]);
    assert_eq!(counted["games_hit"], expected["games_hit"]);
    for fields in [
        json!({ "query": "mate", "theme": "greek-gift" }),
        json!({ "theme": "greek-gitf" }),
        json!({ "board": "9" }),
        json!({ "query": "mate", "transforms": ["flip"] }),
        json!({ "query": ["mate", "check"] }),
        json!({}),
    ] {
        assert_code(&server.answer("query", fields), ErrorCode::Request);
    }
    // The command prints a note that the FEN fields after the board have no effect. The responses must contain this note, too.
    let whole = format!("{board} w KQkq - 0 1");
    for field in ["board", "similar"] {
        let option = format!("--{field}");
        let (_, _, said) = run(&["scan", "--message-format", "json", "-n", "1", &option, &whole, SAMPLE]);
        let message: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
        for request in ["query", "explain"] {
            let remark = server.answer(request, json!({ field: whole }))["remarks"][0].take();
            for name in ["message", "line", "column", "start", "end", "label", "help"] {
                assert_eq!(remark[name], message[name], "{request} {field}: {name} of {message}");
            }
            assert_eq!(remark["file"], field);
        }
    }
    let explained = server.answer("explain", json!({ "board": board, "transforms": ["flip"], "copies": 1 }));
    assert_eq!((&explained["copies_count"], explained["copies"].as_array().unwrap().len()), (&8.into(), 1));
    assert_code(
        &server.answer("explain", json!({ "query": "mate", "where": "elo>=2600" })),
        ErrorCode::Request,
    );
    server.finish();
}
