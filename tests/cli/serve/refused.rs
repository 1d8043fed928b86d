//! Tests requests that are rejected although each field is valid. The command and the Python package reject the same combinations
//! of options. The message names the field and the remedy.

use serde_json::{Value, json};

use super::{Server, assert_code};
use crate::program::SAMPLE;
use orbit_search::serve::ErrorCode;

/// Sends a request that must be rejected with a message that contains `why`.
#[track_caller]
fn refuses(server: &mut Server, request: &str, fields: Value, why: &str) {
    let said = server.answer(request, fields.clone());
    assert_code(&said, ErrorCode::Request);
    let message = said["error"]["message"].as_str().unwrap();
    assert!(message.contains(why), "{request} {fields}: {message}");
}

#[test]
fn rows_have_a_column() {
    let mut server = Server::start(&[SAMPLE]);
    let none = "`columns` names no column";
    for fields in [
        json!({ "query": "mate", "columns": [], "rows": 2 }),
        json!({ "query": "mate", "columns": [] }),
        json!({ "query": "mate", "columns": [], "stream": true }),
    ] {
        refuses(&mut server, "query", fields, none);
    }
    let asked = server.answer("query", json!({ "query": "mate" }));
    refuses(&mut server, "hits", json!({ "of": asked["id"], "columns": [] }), none);
    server.finish();
}

#[test]
fn counts_and_statistics_are_of_all_games() {
    let mut server = Server::start(&[SAMPLE]);
    for choice in
        [json!({ "limit": 3 }), json!({ "skip": 20 }), json!({ "sample": 4 }), json!({ "sort": "elo" })]
    {
        let mut fields = choice;
        fields["query"] = "mate".into();
        let why = "are of all games: leave out `skip`, `limit`, `sort` and `sample`";
        refuses(&mut server, "count", fields.clone(), why);
        fields["groupings"] = "year".into();
        refuses(&mut server, "statistics", fields, why);
    }
    server.finish();
}

#[test]
fn themes_are_named_and_grouped_by_what_they_share() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.toml").to_str().unwrap().to_owned();
    std::fs::write(&bad, "[[theme]]\nname = 'a'\nquery = 'R[a8-1]'\n").unwrap();
    let mut server = Server::start(&[SAMPLE]);
    for (fields, why) in [
        (json!({ "query": "mate" }), "`batch` asks the queries of its themes: leave out `query`"),
        (json!({ "theme": "windmill" }), "leave out `theme`"),
        (json!({ "at": "e4" }), "leave out `at`"),
        (json!({ "only": ["wind-mill"] }), "there is no theme `wind-mill`: did you mean `windmill`?"),
        (json!({ "group": ["xyz"] }), "there is no group of themes `xyz`"),
        (json!({ "only": "windmill" }), "`only`: "),
        (json!({ "by": "yeer" }), "did you mean `year`?"),
        (json!({ "by": "value" }), "`value` is no grouping for themes"),
        (json!({ "by": "year*result" }), "`year*result` is no grouping for themes"),
        (json!({ "by": "opponent" }), "add `player: NAME`"),
        (json!({ "limit": 3 }), "are of all games: leave out `skip`, `limit`, `sort` and `sample`"),
        (json!({ "count": true }), "`batch` lists no rows: leave out `count`"),
        (json!({ "themes": "none.toml" }), "the themes none.toml cannot be read"),
        (json!({ "themes": bad }), "bad.toml:3:13: "),
        (json!({ "themes": folder.path() }), "it is a folder, a pipe or a device"),
        (json!({ "by": "white,black,tag:Date,event" }), "rows, and at most 100,000 are sent"),
        (json!({ "groupings": "year" }), "there is no field `groupings`"),
    ] {
        refuses(&mut server, "batch", fields, why);
    }
    server.finish();
}

#[test]
fn groupings_have_what_they_group() {
    let mut server = Server::start(&[SAMPLE]);
    let cases = [
        ("opponent", "`opponent` groups the games of one player: add `player: NAME`"),
        ("year*playerelo:100", "`playerelo:100` groups the games of one player"),
        ("length", "`groupings: length` counts the moves of which hits consist"),
        ("yaer", "did you mean `year`?"),
        ("", "a grouping is missing"),
    ];
    for (groupings, why) in cases {
        refuses(&mut server, "statistics", json!({ "query": "mate", "groupings": groupings }), why);
    }
    let fields = json!({ "query": "mate", "groupings": "opponent", "player": "Carlsen" });
    let rows = server.answer("statistics", fields)["groupings"]["opponent"].take();
    assert!(rows.as_array().unwrap().iter().all(|row| row["key"].is_string()), "{rows}");
    server.finish();
}

/// A theme, a board or a position replaces the query, so a request with both is rejected, even if it counts several queries.
#[test]
fn one_field_gives_the_queries() {
    let mut server = Server::start(&[SAMPLE]);
    let several = "`query`, `theme`, `board`, `similar` and `at` exclude each other";
    for fields in [
        json!({ "query": ["mate", "check"], "at": "e4 c5" }),
        json!({ "query": "mate", "theme": "greek-gift" }),
        json!({ "theme": "greek-gift", "at": "e4 c5" }),
        json!({ "board": "8/8/8/8/3N4/8/8/8", "similar": "8/8/8/8/3N4/8/8/8" }),
    ] {
        refuses(&mut server, "count", fields.clone(), several);
        if !fields["query"].is_array() {
            refuses(&mut server, "query", fields, several);
        }
    }
    refuses(&mut server, "query", json!({ "query": ["mate", "check"] }), "`count` takes several");
    let counted = server.answer("count", json!({ "at": "e4 c5" }));
    assert_eq!(counted["counts"], json!([{ "games_hit": 152, "positions_hit": 152 }]));
    server.finish();
}

#[test]
fn counts_have_no_rows() {
    let mut server = Server::start(&[SAMPLE]);
    for (fields, why) in [
        (json!({ "query": "mate", "count": true, "rows": 2 }), "leave out `rows`"),
        (json!({ "query": "mate", "count": true, "columns": ["fen"] }), "leave out `columns`"),
    ] {
        refuses(&mut server, "query", fields, why);
    }
    server.finish();
}

#[test]
fn messages_name_the_field() {
    let mut server = Server::start(&[SAMPLE]);
    for (fields, why) in [
        (json!({ "limit": 0 }), "`limit`: "),
        (json!({ "sample": 0 }), "`sample`: "),
        (json!({ "first": "yes" }), "`first`: "),
        (json!({ "unique": true }), "`unique`: "),
        (json!({ "seed": -1 }), "`seed`: "),
        (json!({ "rows": "all" }), "`rows`: "),
        (json!({ "rwos": 1 }), "there is no field `rwos`; did you mean `rows`?"),
        (json!({ "frist": true }), "there is no field `frist`; did you mean `first`?"),
        (json!({ "xyzzy": true }), "`as`, `side`"),
        (json!({ "xyzzy": true }), "`database`, `rows`, `stream`, `progress`"),
    ] {
        let mut fields = fields;
        fields["query"] = "mate".into();
        refuses(&mut server, "query", fields, why);
    }
    refuses(&mut server, "count", json!({ "query": "mate", "databse": "main" }), "did you mean `database`?");
    refuses(&mut server, "game", json!({ "game": "one" }), "`game`: ");
    refuses(&mut server, "game", json!({ "gmae": 1 }), "did you mean `game`?");
    refuses(&mut server, "ping", json!({ "more": 1 }), "there is no field `more`");
    let side = json!({ "query": "mate", "player": "Carlsen", "side": "black", "count": true });
    assert!(server.answer("query", side)["games_hit"].is_u64());
    server.send(r#"{"id":"twice","request":"query","query":"mate","query":"check"}"#);
    let answer = server.line();
    assert_code(&answer, ErrorCode::Request);
    assert!(answer["error"]["message"].as_str().unwrap().contains("`query` twice"), "{answer}");
    server.finish();
}
