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
