//! Tests concurrent requests, and requests that wait for others.

use std::fs;

use serde_json::{Value, json};

use super::{Server, assert_code, with_endless};
use crate::common::waiting::until;
use crate::program::{QUERY, SAMPLE, stdout};
use orbit_search::serve::{ErrorCode, RUNNING_MAX};

/// Starts a query that would take hours, and waits until it runs. Returns its id.
fn slow(server: &mut Server) -> u64 {
    let id = server.ask("query", json!({ "query": QUERY, "engine": "reference", "database": "endless" }));
    until("a query that runs", || {
        let answer = server.answer("progress", json!({ "of": id }));
        if answer["state"] == "running" { Ok(()) } else { Err(answer) }
    });
    id
}

fn cancel(server: &mut Server, id: u64) {
    assert_eq!(server.answer("cancel", json!({ "of": id }))["cancelled"], true);
    assert_code(&server.answer_to(id), ErrorCode::Cancelled);
}

#[track_caller]
fn assert_state(server: &mut Server, id: u64, state: &str) {
    assert_eq!(server.answer("progress", json!({ "of": id }))["state"], state);
}

#[test]
fn a_short_request_does_not_wait_for_a_long_one() {
    let mut server = with_endless();
    let first = slow(&mut server);
    assert_eq!(server.answer("query", json!({ "query": "mate" }))["hits"], 25);
    assert_eq!(server.answer("count", json!({ "query": "mate" }))["counts"][0]["positions_hit"], 25);
    let counted = server.answer("statistics", json!({ "query": "mate", "groupings": "year" }));
    assert_eq!(counted["total"]["games"], 1000);
    assert_state(&mut server, first, "running");
    // Requests beyond the maximum wait, and are processed in the order in which they were sent.
    let others: Vec<u64> = (1..RUNNING_MAX).map(|_| slow(&mut server)).collect();
    let waiting: Vec<u64> = (0..4).map(|_| server.ask("query", json!({ "query": "mate" }))).collect();
    waiting.iter().for_each(|&id| assert_state(&mut server, id, "waiting"));
    cancel(&mut server, others[1]);
    let mut answers: Vec<Value> = std::mem::take(&mut server.early);
    while answers.len() < waiting.len() {
        answers.push(server.line());
    }
    assert!(answers.iter().all(|answer| answer["hits"] == 25));
    assert_eq!(answers.iter().map(|answer| answer["id"].clone()).collect::<Vec<_>>(), waiting);
    [first, others[0], others[2]].into_iter().for_each(|id| cancel(&mut server, id));
    server.finish();
}

/// A database is closed only after all earlier requests for it have been processed, and is searched only after it has been
/// opened.
#[test]
fn databases_change_in_the_order_of_requests() {
    let mut server = with_endless();
    let first = slow(&mut server);
    let changes = [
        server.ask("close", json!({ "database": "endless" })),
        server.ask("open", json!({ "database": "endless", "paths": [SAMPLE] })),
        server.ask("query", json!({ "query": "mate", "database": "endless" })),
        server.ask("open", json!({ "database": "more", "paths": [SAMPLE] })),
    ];
    assert_eq!(server.answer("query", json!({ "query": "mate" }))["hits"], 25);
    changes.iter().for_each(|&id| assert_state(&mut server, id, "waiting"));
    cancel(&mut server, first);
    let [closed, opened, found, more] = changes.map(|id| server.answer_to(id));
    assert_eq!((&closed["closed"], &opened["games"]), (&json!("endless"), &Value::Null));
    assert_eq!((&found["hits"], &more["database"]), (&json!(25), &json!("more")));
    server.finish();
}

/// A game that was requested before its database is closed is returned, even if the closing is done first.
#[test]
fn a_later_close_does_not_affect_requests_for_games() {
    let mut server = Server::start(&[SAMPLE]);
    let games: Vec<u64> = (1..=300).map(|game| server.ask("game", json!({ "game": game }))).collect();
    let closed = server.ask("close", json!({}));
    for (number, id) in (1..).zip(games) {
        let answer = server.answer_to(id);
        assert_eq!(answer["game"], number, "{answer}");
    }
    assert_eq!(server.answer_to(closed)["closed"], "main");
    assert_code(&server.answer("game", json!({ "game": 1 })), ErrorCode::UnknownDatabase);
    server.finish();
}

/// The id of each answered request is remembered, whatever its kind and its answer.
#[test]
fn answered_requests_are_done() {
    let mut server = Server::start(&[]);
    for (request, fields, is_right) in [
        ("open", json!({ "paths": [SAMPLE] }), true),
        ("open", json!({ "database": "none", "paths": ["no-such-file.pgn"] }), false),
        ("query", json!({ "query": "mate" }), true),
        ("query", json!({ "query": "mate or" }), false),
        ("count", json!({ "query": "mate" }), true),
        ("game", json!({ "game": 1 }), true),
        ("game", json!({ "game": 1, "database": "none" }), false),
        ("explain", json!({ "query": "mate" }), true),
        ("close", json!({}), true),
        ("close", json!({}), false),
    ] {
        let answer = server.answer(request, fields);
        assert_eq!(answer["error"].is_null(), is_right, "{answer}");
        assert_eq!(server.answer("progress", json!({ "of": answer["id"] }))["state"], "done", "{answer}");
        assert_eq!(server.answer("cancel", json!({ "of": answer["id"] }))["cancelled"], false, "{answer}");
        if !is_right && request == "query" {
            let page = server.answer("hits", json!({ "of": answer["id"] }));
            assert_code(&page, ErrorCode::UnknownQuery);
            let message = page["error"]["message"].as_str().unwrap();
            assert!(message.contains("failed or was cancelled and has no hits"), "{message}");
        }
    }
    server.finish();
}

/// If `open` or `close` has the id of an earlier query, the hits of this query are forgotten.
#[test]
fn an_id_that_is_used_again_has_no_hits_any_more() {
    let mut server = Server::start(&[SAMPLE]);
    server.send(r#"{"id":"same","request":"query","query":"mate"}"#);
    assert_eq!(server.line()["hits"], 25);
    server
        .send(&json!({ "id": "same", "request": "open", "database": "more", "paths": [SAMPLE] }).to_string());
    assert_eq!(server.line()["database"], "more");
    assert_code(&server.answer("hits", json!({ "of": "same" })), ErrorCode::UnknownQuery);
    server.finish();
}

#[test]
fn a_short_request_that_waits_is_cancelled() {
    let mut server = with_endless();
    let first = slow(&mut server);
    let pages = [0, 1].map(|from| server.ask("hits", json!({ "of": first, "from": from })));
    let close = server.ask("close", json!({ "database": "endless" }));
    let game = server.ask("game", json!({ "game": 1, "database": "endless" }));
    for id in [pages[0], game] {
        assert_state(&mut server, id, "waiting");
        cancel(&mut server, id);
        assert_state(&mut server, id, "done");
        assert_eq!(server.answer("cancel", json!({ "of": id }))["cancelled"], false);
    }
    assert_state(&mut server, pages[1], "waiting");
    cancel(&mut server, first);
    assert_code(&server.answer_to(pages[1]), ErrorCode::UnknownQuery);
    assert_eq!(server.answer_to(close)["closed"], "endless");
    server.finish();
}

/// If two requests write the same file, the later request determines its contents.
#[test]
fn files_are_written_in_the_order_of_requests() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let mut server = Server::start(&[SAMPLE]);
    let queries = ["check", "stalemate", "mate"];
    let write = |query: &&str| json!({ "query": query, "path": path("a.pgn") });
    let ids = queries.each_ref().map(|query| server.ask("write", write(query)));
    for id in ids {
        assert!(server.answer_to(id)["games"].as_u64() > Some(0));
    }
    stdout(&["scan", "-q", "mate", SAMPLE, "-o", &path("b.pgn")]);
    assert!(fs::read(path("a.pgn")).unwrap() == fs::read(path("b.pgn")).unwrap());
    server.finish();
}
