//! Tests the request `positions`. Its responses must equal the output of `orbit positions --json`.

use std::fs;

use serde_json::{Value, json};

use super::{Server, assert_code};
use crate::program::{SAMPLE, stdout};
use orbit_search::serve::ErrorCode;

const ASKED: [&str; 5] = [
    "start",
    "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6",
    "d2d4 d7d5",
    "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq",
    "8/8/8/4k3/4P3/4K3/8/8 w - -",
];

/// Three games. Two of them have side lines with positions that their main lines do not have.
const SIDE_LINES: &str =
    "1. e4 (1. d4 d5 2. c4) 1... e5 2. Nf3 *\n\n1. d4 d5 (1... Nf6 2. c4) 2. Nf3 *\n\n1. d4 d5 *\n";

/// Compares the responses about an open database with the command's output.
#[track_caller]
fn compare(server: &mut Server, path: &str) -> u64 {
    let visits = ASKED.map(|at| {
        let mut answer = server.answer("positions", json!({ "at": at }));
        answer.as_object_mut().unwrap().remove("id");
        let expected = stdout(&["positions", "-q", "--json", path, at]);
        assert_eq!(answer, serde_json::from_str::<Value>(&expected).unwrap(), "{at} in {path}");
        answer["visits"].as_u64().unwrap()
    });
    visits.iter().sum()
}

#[test]
fn positions_are_those_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let text = fs::read_to_string(SAMPLE).unwrap();
    let ends: Vec<usize> = text.match_indices("[Event ").map(|(at, _)| at).collect();
    for (name, games) in
        [("a", &text[..ends[300]]), ("b", &text[ends[300]..ends[500]]), ("sides", SIDE_LINES)]
    {
        fs::write(path(&format!("{name}.pgn")), games).unwrap();
    }
    let index = |args: &[&str], from: &str, to: &str| {
        stdout(&[&["index", "-q"], args, &[&path(from), "-o", &path(to)]].concat());
    };
    index(&[], "a.pgn", "plain.reel");
    index(&["--positions"], "a.pgn", "more.reel");
    index(&["--append"], "b.pgn", "more.reel");
    index(&["--variations"], "sides.pgn", "plain-sides.reel");
    index(&["--positions", "--variations"], "sides.pgn", "tabled-sides.reel");
    fs::write(path("c.pgn"), text.repeat(3)).unwrap();
    index(&["--positions", "--shards", "100K"], "c.pgn", "shards");
    assert!(fs::exists(path("shards/00001.reel.positions")).unwrap());
    for memory in ["2G", "1"] {
        let mut server = Server::start(&["--memory", memory]);
        let of_sides = ["sides.pgn", "plain-sides.reel", "tabled-sides.reel"];
        for name in ["a.pgn", "plain.reel", "more.reel", "shards"].into_iter().chain(of_sides) {
            let has_side_lines = of_sides.contains(&name);
            for variations in if has_side_lines { vec![false, true] } else { vec![false] } {
                let open = json!({ "paths": [path(name)], "variations": variations });
                let opened = server.answer("open", open);
                assert_eq!(opened["resident"], memory != "1", "{opened}");
                let visits = compare(&mut server, &path(name));
                assert!(if has_side_lines { visits == 7 } else { visits > 300 }, "{name}: {visits}");
                server.answer("close", json!({}));
            }
        }
        server.finish();
    }
}

#[test]
fn requests_for_positions_are_checked_and_remembered() {
    let mut server = Server::start(&[SAMPLE]);
    for (fields, why) in [
        (json!({}), "missing field `at`"),
        (json!({ "at": "e4 e9" }), "`at`: "),
        (json!({ "at": "e4 e4" }), "`e4` is no legal move"),
        (json!({ "at": 4 }), "`at`: "),
        (json!({ "at": "e4", "databse": "main" }), "there is no field `databse`; did you mean `database`?"),
        (
            json!({ "position": "e4" }),
            "there is no field `position`: the fields are `at`, `database`, `progress`",
        ),
    ] {
        let answer = server.answer("positions", fields);
        assert_code(&answer, ErrorCode::Request);
        assert!(answer["error"]["message"].as_str().unwrap().contains(why), "{answer}");
    }
    let unknown = server.answer("positions", json!({ "at": "e4", "database": "none" }));
    assert_code(&unknown, ErrorCode::UnknownDatabase);
    let answer = server.answer("position", json!({ "at": "e4" }));
    assert!(answer["error"]["message"].as_str().unwrap().contains("did you mean `positions`?"), "{answer}");
    let found = server.answer("positions", json!({ "at": "e4", "progress": true }));
    assert!(found["games"].as_u64() > Some(100), "{found}");
    assert_eq!(server.answer("progress", json!({ "of": found["id"] }))["state"], "done");
    assert_code(&server.answer("hits", json!({ "of": found["id"] })), ErrorCode::UnknownQuery);
    server.finish();
}
