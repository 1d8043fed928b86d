//! Tests rows that are sent while the search is still running.

use serde_json::{Value, json};

use super::{Server, assert_code, with_endless};
use crate::program::{QUERY, SAMPLE, rows};
use orbit_search::serve::{ErrorCode, PAGE_ROWS_MAX};

/// Runs a query with streaming. Returns the rows of each event, and the final response.
fn streamed(server: &mut Server, mut fields: Value) -> (Vec<Vec<Value>>, Value) {
    fields["stream"] = true.into();
    let (id, mut events, mut sent) = (server.ask("query", fields), Vec::new(), 0);
    loop {
        let line = server.line();
        assert_eq!(line["id"], id, "{line}");
        if line.get("event").is_none() {
            return (events, line);
        }
        assert_eq!((&line["event"], &line["from"]), (&json!("hits"), &sent.into()));
        let rows = line["rows"].as_array().unwrap().clone();
        assert!((1..=PAGE_ROWS_MAX as usize).contains(&rows.len()));
        sent += rows.len();
        events.push(rows);
    }
}

#[test]
fn rows_come_as_they_are_found() {
    let samples = [SAMPLE; 4];
    let mut server = Server::start(&samples);
    let cases: [(Value, &[&str]); 8] = [
        (json!({ "query": QUERY }), &[QUERY]),
        (json!({ "query": "check", "where": "result=1-0" }), &["check", "-w", "result=1-0"]),
        (json!({ "query": "passedpawns", "best": true }), &["passedpawns", "--best"]),
        (json!({ "query": "mate", "skip": 30, "limit": 40 }), &["mate", "--skip", "30", "-n", "40"]),
        (
            json!({ "query": "flipcolor line --> check --> check", "first": true }),
            &["flipcolor line --> check --> check", "--first"],
        ),
        (json!({ "query": "check str(\"at \" ply)", "limit": 9 }), &["check str(\"at \" ply)", "-n", "9"]),
        (json!({ "query": "Qa8", "player": "Carlsen" }), &["Qa8", "--player", "Carlsen"]),
        (json!({ "query": "true", "limit": 50 }), &["true", "-n", "50"]),
    ];
    for (mut fields, args) in cases {
        let expected = rows(&[args, &samples].concat());
        let (events, answer) = streamed(&mut server, fields.clone());
        assert!(events.concat() == expected, "{args:?}");
        assert!(expected.len() < 1000 || events.len() > 1, "{args:?}");
        assert_eq!((&answer["hits"], answer.get("rows")), (&expected.len().into(), None), "{args:?}");
        assert_code(&server.answer("hits", json!({ "of": answer["id"] })), ErrorCode::Dropped);
        fields["rows"] = 0.into();
        let kept = server.answer("query", fields);
        for field in ["games_hit", "positions_hit", "games", "positions", "hits", "type", "cut"] {
            assert_eq!(answer[field], kept[field], "{args:?}: {field}");
        }
    }
    let (events, _) = streamed(&mut server, json!({ "query": "mate", "columns": ["game", "move"] }));
    let named = |row: Value| json!({ "game": row["game"], "move": row["move"] });
    let expected: Vec<Value> = rows(&[&["mate"], &samples[..]].concat()).into_iter().map(named).collect();
    assert_eq!(events.concat(), expected);
    for fields in [
        json!({ "query": "mate", "rows": 1 }),
        json!({ "query": "mate", "count": true }),
        json!({ "query": "mate", "sort": "elo" }),
        json!({ "query": "mate", "sample": 3 }),
        json!({ "query": "cql(sort matchcount 1 100) check" }),
    ] {
        let (events, answer) = streamed(&mut server, fields);
        assert!(events.is_empty());
        assert_code(&answer, ErrorCode::Request);
    }
    server.finish();
}

/// Rows must arrive long before the search ends, and a cancelled search must stop at the end of a block (group of games).
#[test]
fn rows_do_not_wait_for_the_end() {
    let mut server = with_endless();
    let slow = server.ask("query", json!({ "query": "mate", "database": "endless", "stream": true }));
    for _ in 0..3 {
        let event = server.line();
        assert_eq!((&event["id"], &event["event"]), (&slow.into(), &json!("hits")));
    }
    let cancel = server.ask("cancel", json!({ "of": slow }));
    let answers: Vec<Value> = std::iter::from_fn(|| Some(server.line()))
        .filter(|line| line.get("event").is_none())
        .take(2)
        .collect();
    assert_eq!((&answers[0]["id"], &answers[0]["cancelled"]), (&cancel.into(), &true.into()));
    assert_eq!(answers[1]["id"], slow);
    assert_code(&answers[1], ErrorCode::Cancelled);
    assert_eq!(server.answer("query", json!({ "query": "mate" }))["hits"], 25);
    server.finish();
}
