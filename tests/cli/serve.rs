//! Tests `orbit serve`: the session in its documentation, its responses, and errors, after which it must continue.

mod beside;
#[cfg(unix)]
mod files;
#[cfg(feature = "http")]
mod http;
mod made;
mod positions;
mod random;
mod refused;
mod socket;
mod stream;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};

use orbit_chess::CancelToken;
use orbit_search::report::SCHEMA;
use orbit_search::serve::{
    Ask, CLIENTS_MAX, DATABASES_MAX, ErrorCode, LINE_BYTES_MAX, Open, OpenDatabases, PAGE_ROWS_MAX,
    QUEUE_MAX, RESULTS_MAX, RUNNING_MAX, SERVE_SCHEMA, ServeOptions,
};
use serde_json::{Value, json};

use crate::common::waiting::{Process, received, until};
use crate::program::{QUERY, SAMPLE, rows, stdout};

/// A query that would take hours for a single game.
const LASTING: &str = "{initial nn=0 while (nn<9000000) nn+=1 nn==0}";

/// A server process, and the lines that it has printed.
pub struct Server {
    process: Process,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// The beginning of an incomplete last line.
    last: String,
    /// Responses that arrived while the test waited for another one.
    early: Vec<Value>,
    /// The id of the next request.
    next: u64,
}

impl Server {
    pub fn start(args: &[&str]) -> Server {
        let mut server = Server::unheard(args);
        let greeting = server.line();
        assert_eq!(greeting["event"], "greeting");
        server
    }

    /// Starts a server without reading its greeting.
    fn unheard(args: &[&str]) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
        command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("serve").args(args);
        let mut process = Process::new(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap());
        let output = BufReader::new(process.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines() {
                if send.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        let input = process.stdin.take();
        Server { process, input, lines, last: String::new(), early: Vec::new(), next: 1 }
    }

    #[cfg(target_os = "linux")]
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    pub fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
        input.flush().unwrap();
    }

    #[track_caller]
    fn text(&mut self) -> String {
        let seen = || format!("answers {:?}, and the last line {:?}", self.early, self.last);
        let line = received("a line of the server", &self.lines, seen);
        self.last = line.chars().take(300).collect();
        line
    }

    #[track_caller]
    pub fn line(&mut self) -> Value {
        let line = self.text();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Sends a request without waiting for the response. Returns the request id.
    pub fn ask(&mut self, request: &str, mut fields: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        fields["id"] = id.into();
        fields["request"] = request.into();
        self.send(&fields.to_string());
        id
    }

    /// Sends a request and returns the response, skipping events.
    #[track_caller]
    pub fn answer(&mut self, request: &str, fields: Value) -> Value {
        let id = self.ask(request, fields);
        self.answer_to(id)
    }

    #[track_caller]
    pub fn answer_to(&mut self, id: u64) -> Value {
        if let Some(at) = self.early.iter().position(|line| line["id"] == id) {
            return self.early.swap_remove(at);
        }
        loop {
            let line = self.line();
            match line.get("event") {
                None if line["id"] == id => return line,
                None => self.early.push(line),
                Some(event) => assert_eq!(event, "progress"),
            }
        }
    }

    /// Closes the input and waits until the process ends. Returns its exit status and its last responses.
    #[track_caller]
    pub fn end(mut self) -> (ExitStatus, Vec<Value>) {
        drop(self.input.take());
        let status = self.process.end("the server");
        (status, self.lines.iter().map(|line| serde_json::from_str(&line).unwrap()).collect())
    }

    #[track_caller]
    pub fn finish(self) {
        assert_eq!(self.early, Vec::<Value>::new());
        let (status, said) = self.end();
        assert_eq!((status.code(), said), (Some(0), Vec::new()));
    }
}

/// Waits until a folder has this number of entries, for example because a temporary file was created in it.
#[track_caller]
fn has_files(folder: &Path, count: usize) {
    until("the files of a folder", || {
        let names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        if names.len() == count { Ok(()) } else { Err(names) }
    });
}

#[track_caller]
fn assert_code(answer: &Value, code: ErrorCode) {
    assert_eq!(answer["error"]["code"], code.name(), "{answer}");
}

fn document() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/serve.md")).unwrap()
}

/// Returns true if a line matches a line of the document, in which `...` stands for any text.
fn fits(line: &str, shown: &str) -> bool {
    let mut pieces = shown.split("...");
    let Some(mut rest) = pieces.next().and_then(|first| line.strip_prefix(first)) else { return false };
    let pieces: Vec<&str> = pieces.collect();
    for (index, piece) in pieces.iter().enumerate() {
        let at = if index + 1 == pieces.len() { rest.rfind(piece) } else { rest.find(piece) };
        let Some(at) = at else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.is_empty()
}

#[test]
fn the_document_shows_what_is_answered() {
    assert!(fits("abcde", "a...d...") && fits("abcde", "abcde") && fits("abab", "a...b"));
    assert!(!fits("abcde", "a...d") && !fits("abcde", "b...") && !fits("abcde", "abcd"));
    let document = document();
    let shown = document.split_once("```text\n").unwrap().1.split_once("```").unwrap().0;
    let mut server = Server::unheard(&["games/sample.pgn"]);
    let mut answers = 0;
    for line in shown.lines() {
        if let Some(request) = line.strip_prefix("-> ") {
            server.send(request);
        } else {
            let shown = line.strip_prefix("<- ").unwrap_or_else(|| panic!("{line}"));
            let said = server.text();
            assert!(fits(&said, shown), "\nshown {shown}\nsaid  {said}");
            answers += 1;
        }
    }
    assert!(answers > 10);
    server.finish();
}

#[test]
fn the_document_has_all_codes_limits_and_versions() {
    let document = document();
    for code in ErrorCode::ALL {
        assert!(document.contains(&format!("\n| `{}` |", code.name())), "{}", code.name());
    }
    let (mut server, mut expected) = (Server::start(&[]), Vec::new());
    let version = server.answer("version", json!({}));
    assert_eq!((&version["schema"], &version["rows_schema"]), (&SERVE_SCHEMA.into(), &SCHEMA.into()));
    expected.push(format!("this document's requests and answers, {SERVE_SCHEMA};"));
    expected.push(format!("| a line | {} MiB |", LINE_BYTES_MAX >> 20));
    expected.push(format!("| databases that are open | {DATABASES_MAX} |"));
    expected.push(format!("| queries whose hits are kept | {RESULTS_MAX},"));
    expected.push(format!("| rows of a page | {},000 |", PAGE_ROWS_MAX / 1000));
    expected.push(format!("| requests that wait | {},000,", QUEUE_MAX / 1000));
    expected.push(format!("| requests that run at the same time | {RUNNING_MAX} |"));
    expected.push(format!("| clients of a socket | {CLIENTS_MAX} |"));
    for text in expected {
        assert!(document.contains(&text), "{text}");
    }
    for request in [
        "open",
        "close",
        "query",
        "batch",
        "count",
        "statistics",
        "write",
        "hits",
        "positions",
        "game",
        "explain",
        "cancel",
        "progress",
        "ping",
        "version",
        "quit",
    ] {
        assert!(document.contains(&format!("\n| `{request}` |")), "{request}");
    }
    server.finish();
}

/// Whatever the page size, a query's pages of hits must together equal the rows of a scan.
#[test]
fn pages_are_the_rows_of_a_scan() {
    let mut server = Server::start(&[SAMPLE]);
    let cases: [(Value, &[&str]); 9] = [
        (json!({ "query": QUERY }), &[QUERY]),
        (
            json!({ "query": "check", "where": "result=1-0", "first": true }),
            &["check", "-w", "result=1-0", "--first"],
        ),
        (
            json!({ "query": "power A - power a", "best": true, "limit": 40 }),
            &["power A - power a", "--best", "-n", "40"],
        ),
        (json!({ "query": "mate", "sort": "date" }), &["mate", "--sort", "date"]),
        (
            json!({ "query": "passedpawns", "sort": "value", "reverse": true, "limit": 7 }),
            &["passedpawns", "--sort", "value", "--reverse", "-n", "7"],
        ),
        (
            json!({ "query": "stalemate or mate", "sample": 9, "seed": 5 }),
            &["stalemate or mate", "--sample", "9", "--seed", "5"],
        ),
        (
            json!({ "query": "line --> {move capture .}{4,}", "sort": "length", "limit": 5 }),
            &["line --> {move capture .}{4,}", "--sort", "length", "-n", "5"],
        ),
        (
            json!({ "query": "flipcolor line --> check --> check", "limit": 20 }),
            &["flipcolor line --> check --> check", "-n", "20"],
        ),
        (
            json!({ "query": "Qa8", "player": "Carlsen", "as": "black" }),
            &["Qa8", "--player", "Carlsen", "--as", "black"],
        ),
    ];
    for (fields, args) in cases {
        let expected = rows(&[args, &[SAMPLE]].concat());
        let answer = server.answer("query", fields);
        let all = answer["hits"].as_u64().unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(all as usize, expected.len(), "{args:?}");
        let mut got = Vec::new();
        while (got.len() as u64) < all {
            let fields = json!({ "of": answer["id"], "from": got.len(), "rows": 97 });
            let page = server.answer("hits", fields);
            assert_eq!((&page["from"], &page["hits"]), (&got.len().into(), &answer["hits"]));
            let rows = page["rows"].as_array().unwrap();
            assert_eq!(rows.len(), 97.min(all as usize - got.len()), "{args:?}");
            got.extend(rows.iter().cloned());
        }
        assert_eq!(got, expected, "{args:?}");
        let count: Value = serde_json::from_str(&stdout(
            &[&["scan", "-q", "-F", "jsonl", "-c"], args_of_count(args), &[SAMPLE]].concat(),
        ))
        .unwrap();
        for field in ["games_hit", "positions_hit", "games", "positions"] {
            assert_eq!(answer[field], count[field], "{args:?}: {field}");
        }
    }
    server.finish();
}

/// Returns the arguments before the first option that sorts or samples games, because counts cover all games.
fn args_of_count<'a>(args: &'a [&'a str]) -> &'a [&'a str] {
    let end = args.iter().position(|arg| ["--sort", "--sample"].contains(arg));
    &args[..end.unwrap_or(args.len())]
}

/// The response to an invalid request is an error with a code, and the process continues.
#[test]
fn wrong_lines_are_answered() {
    let mut server = Server::start(&[SAMPLE]);
    let lines: [(&str, ErrorCode); 22] = [
        ("{", ErrorCode::Request),
        ("[]", ErrorCode::Request),
        ("null", ErrorCode::Request),
        ("{}", ErrorCode::Request),
        (r#"{"id":1}"#, ErrorCode::Request),
        (r#"{"id":[1],"request":"ping"}"#, ErrorCode::Request),
        (r#"{"id":1.5,"request":"ping"}"#, ErrorCode::Request),
        (r#"{"request":"ping"}"#, ErrorCode::Request),
        (r#"{"id":1,"request":"pong"}"#, ErrorCode::Request),
        (r#"{"id":1,"request":"ping","more":1}"#, ErrorCode::Request),
        (r#"{"id":1,"request":"query"}"#, ErrorCode::Request),
        (r#"{"id":1,"request":"query","query":"mate","frist":true}"#, ErrorCode::Request),
        (r#"{"id":1,"request":"query","query":"mate","first":true,"best":true}"#, ErrorCode::Request),
        (r#"{"id":1,"request":"query","query":"mate","best":true}"#, ErrorCode::Request),
        (r#"{"id":1,"request":"query","query":"mate","where":"whte=Carlsen"}"#, ErrorCode::Request),
        (r#"{"id":1,"request":"query","query":"mate","limit":0}"#, ErrorCode::Request),
        (r#"{"id":1,"request":"query","query":"mate","rows":1001}"#, ErrorCode::Request),
        (r#"{"id":1,"request":"query","query":"mate","rows":1,"columns":["gmae"]}"#, ErrorCode::Request),
        (r#"{"id":1,"request":"query","query":"mate","variations":true}"#, ErrorCode::Database),
        (r#"{"id":1,"request":"query","query":"mate","database":"other"}"#, ErrorCode::UnknownDatabase),
        (r#"{"id":1,"request":"game","game":1001}"#, ErrorCode::Request),
        (r#"{"id":1,"request":"cancel","of":2}"#, ErrorCode::UnknownQuery),
    ];
    for (line, code) in lines {
        server.send(line);
        let answer = server.line();
        assert_code(&answer, code);
        let has_id = line.contains(r#""id":1,"#) || line.contains(r#""id":1}"#);
        assert_eq!(answer["id"], if has_id { json!(1) } else { Value::Null }, "{line}");
    }
    let deep = "[".repeat(200_000);
    server.send(&deep);
    assert_code(&server.line(), ErrorCode::Request);
    server.send(&"x".repeat(LINE_BYTES_MAX + 1));
    assert_code(&server.line(), ErrorCode::TooLong);
    server.input.as_mut().unwrap().write_all(b"\"\xff\"\n\n \t\r\n").unwrap();
    assert_code(&server.line(), ErrorCode::Request);
    // The query is deeply nested, and its line is almost as long as allowed.
    let deep = "not ".repeat(200_000) + "mate";
    assert_code(&server.answer("query", json!({ "query": deep })), ErrorCode::Query);
    let place = server.answer("query", json!({ "query": "mate\n  and {Nf3" }));
    let messages = crate::program::run(&["scan", "--message-format", "json", "mate\n  and {Nf3", SAMPLE]).2;
    let message: Value = serde_json::from_str(&messages).unwrap();
    for field in ["code", "message", "file", "line", "column", "start", "end", "label", "help"] {
        assert_eq!(place["error"][field], message[field], "{field}");
    }
    assert_eq!(server.answer("ping", json!({}))["pong"], true);
    server.finish();
}

#[test]
fn old_hits_are_dropped_and_that_is_said() {
    let mut server = Server::start(&[SAMPLE]);
    let ids: Vec<Value> =
        (0..=RESULTS_MAX).map(|_| server.answer("query", json!({ "query": "mate" }))["id"].clone()).collect();
    assert_code(&server.answer("hits", json!({ "of": ids[0] })), ErrorCode::Dropped);
    for id in &ids[1..] {
        assert_eq!(server.answer("hits", json!({ "of": id }))["hits"], 25);
    }
    let counted = server.answer("query", json!({ "query": "mate", "count": true }));
    assert_eq!((&counted["hits"], &counted["positions_hit"]), (&Value::Null, &json!(25)));
    assert_code(&server.answer("hits", json!({ "of": counted["id"] })), ErrorCode::UnknownQuery);
    assert_eq!(server.answer("close", json!({}))["closed"], "main");
    assert_code(&server.answer("hits", json!({ "of": ids[5] })), ErrorCode::Dropped);
    assert_code(&server.answer("query", json!({ "query": "mate" })), ErrorCode::UnknownDatabase);
    server.finish();
}

/// Returns a server with two open databases: the sample, and `endless`, for which the reference engine would need hours.
fn with_endless() -> Server {
    let mut server = Server::start(&["-j", "1", "--memory", "64K", SAMPLE]);
    let paths = vec!["games/sample.pgn"; 20_000];
    let opened = server.answer("open", json!({ "database": "endless", "paths": paths }));
    assert_eq!((&opened["database"], &opened["resident"]), (&json!("endless"), &json!(false)));
    server
}

/// Other requests are processed while a query runs that would take hours.
#[test]
fn a_running_query_is_cancelled() {
    let mut server = with_endless();
    let mut slow = json!({ "query": QUERY, "engine": "reference", "database": "endless", "progress": true });
    let first = server.ask("query", slow.clone());
    slow["progress"] = false.into();
    let beside: Vec<u64> = (1..RUNNING_MAX).map(|_| server.ask("query", slow.clone())).collect();
    let second = server.ask("query", slow);
    let waits = server.ask("hits", json!({ "of": second }));
    let explained = server.ask("explain", json!({ "query": "mate" }));
    assert_eq!(server.answer_to(explained)["type"], "condition");
    assert_eq!(server.answer("ping", json!({}))["pong"], true);
    assert_eq!(server.answer("progress", json!({ "of": second }))["state"], "waiting");
    until("a query that runs", || {
        let answer = server.answer("progress", json!({ "of": first }));
        if answer["state"] == "running" { Ok(()) } else { Err(answer) }
    });
    // If a waiting query is cancelled, it gets its response immediately, and so does any request that waits for it.
    assert_eq!(server.answer("cancel", json!({ "of": second }))["cancelled"], true);
    assert_code(&server.answer_to(second), ErrorCode::Cancelled);
    assert_code(&server.answer_to(waits), ErrorCode::UnknownQuery);
    assert_eq!(server.answer("cancel", json!({ "of": first }))["cancelled"], true);
    // A few progress events about games that are being searched may still arrive. An uncancelled query would send more and more of
    // them.
    let mut events = 0;
    let answer = loop {
        let line = server.line();
        if line.get("event").is_none() {
            break line;
        }
        events += 1;
        assert!(events < 20, "the query goes on: {line}");
    };
    assert_eq!(answer["id"], first);
    assert_code(&answer, ErrorCode::Cancelled);
    for id in beside {
        assert_eq!(server.answer("cancel", json!({ "of": id }))["cancelled"], true);
        assert_code(&server.answer_to(id), ErrorCode::Cancelled);
    }
    assert_eq!(server.answer("query", json!({ "query": "mate" }))["hits"], 25);
    server.finish();
}

/// A query that would take hours for a single game can be cancelled within that game, and the next query is processed.
#[test]
fn a_query_is_cancelled_within_a_game() {
    // The games fill two blocks (groups of games), and the query takes long only in the second one.
    let mut server = Server::start(&["-j", "1", SAMPLE, SAMPLE, SAMPLE, SAMPLE]);
    let lasting = "{initial gamenumber>3000 nn=0 while (nn<9000000) nn+=1 nn==0}";
    for engine in ["reference", "cpu"] {
        let slow = server.ask("query", json!({ "query": lasting, "engine": engine }));
        until("a query that is in the second block", || {
            let answer = server.answer("progress", json!({ "of": slow }));
            if answer["games"].as_u64() >= Some(1000) { Ok(()) } else { Err(answer) }
        });
        assert_eq!(server.answer("cancel", json!({ "of": slow }))["cancelled"], true);
        assert_code(&server.answer_to(slow), ErrorCode::Cancelled);
        assert_eq!(server.answer("query", json!({ "query": "mate" }))["hits"], 100, "{engine}");
    }
    server.finish();
}

/// No response may pass escape sequences from game and file names to a terminal.
#[test]
fn no_answer_acts_on_a_terminal() {
    let hostile = "\u{1b}]0;pwned\u{7}\u{9b}31m\u{202e}evil\u{200b}";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{hostile}.pgn"));
    fs::write(&path, format!("[White \"{hostile}\"]\n[{hostile} \"x\"]\n\n1. e4 e5 *\n")).unwrap();
    let (path, mut server) = (path.to_str().unwrap(), Server::start(&[]));
    let requests = [
        json!({ "request": "open", "paths": [path], "database": hostile }),
        json!({ "request": "query", "query": "initial", "database": hostile, "rows": 1 }),
        json!({ "request": "query", "query": format!("{hostile}"), "database": hostile }),
        json!({ "request": "game", "game": 1, "database": hostile }),
        json!({ "request": "explain", "query": format!("player \"{hostile}\"") }),
        json!({ "request": hostile }),
        json!({ "request": "version" }),
    ];
    for mut request in requests {
        request["id"] = hostile.into();
        server.send(&request.to_string());
        let text = server.text();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["id"], hostile, "{text}");
        let acts = |letter: char| letter.is_control() || matches!(letter, '\u{202e}' | '\u{200b}');
        assert!(!text.contains(acts), "{text:?}");
    }
    server.finish();
}

/// Requests sent before the end of the input get their responses, even if their queries are still running. `quit` does not wait
/// for them.
#[test]
fn the_end_of_the_input_is_the_end() {
    let mut server = Server::start(&[SAMPLE]);
    let ids = [
        server.ask("query", json!({ "query": QUERY, "engine": "reference" })),
        server.ask("hits", json!({ "of": 1, "rows": 1 })),
        server.ask("query", json!({ "query": "mate" })),
    ];
    let (status, said) = server.end();
    assert_eq!(status.code(), Some(0));
    assert_eq!(said.len(), 3, "{said:?}");
    for (id, hits) in ids.into_iter().zip([633, 633, 25]) {
        let answer = said.iter().find(|answer| answer["id"] == id).unwrap();
        assert_eq!(answer["hits"], hits, "{answer}");
    }
    let mut server = with_endless();
    let slow = server.ask("query", json!({ "query": QUERY, "engine": "reference", "database": "endless" }));
    let (waits, quit) =
        (server.ask("close", json!({ "database": "endless" })), server.ask("quit", json!({})));
    let (status, said) = server.end();
    assert_eq!(status.code(), Some(0));
    assert_eq!(said.len(), 3, "{said:?}");
    for (answer, id) in said.iter().zip([slow, waits]) {
        assert_eq!(answer["id"], id);
        assert_code(answer, ErrorCode::Cancelled);
    }
    assert_eq!((&said[2]["id"], &said[2]["quit"]), (&quit.into(), &true.into()));
}

/// It is not an error if the client stops reading the output. A database that is too large for memory is read again for each
/// query.
#[test]
fn a_database_that_does_not_fit_is_read_anew() {
    let mut server = Server::start(&["--memory", "64K", SAMPLE]);
    let opened = &server.answer("version", json!({}))["databases"][0];
    assert_eq!((&opened["resident"], &opened["games"]), (&json!(false), &Value::Null));
    let answer = server.answer("query", json!({ "query": "mate", "rows": 3 }));
    assert_eq!(answer["rows"].as_array().unwrap()[..], rows(&["mate", SAMPLE])[..3]);
    assert_eq!(server.answer("game", json!({ "game": 1000 }))["number_in_source"], 1000);
    server.finish();
    let (code, _, said) = crate::program::run(&["serve", "no-such-file.pgn"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("no-such-file.pgn does not exist"), "{said}");
    let command = format!(
        "yes '{{\"id\":1,\"request\":\"version\"}}' | '{}' serve | head -2",
        env!("CARGO_BIN_EXE_orbit")
    );
    let out = Command::new("sh").args(["-c", &command]).output().unwrap();
    assert_eq!(String::from_utf8(out.stderr).unwrap(), "");
    assert_eq!(out.stdout.iter().filter(|&&byte| byte == b'\n').count(), 2);
}

/// If the hits need too much memory, only the first ones are kept, or the best ones if an order is given. The counts are still
/// for all hits.
#[test]
fn hits_that_need_too_much_memory_are_left_out() {
    let mut options = ServeOptions::default();
    (options.kept_max, options.memory_max) = (1_000_000, 0);
    let desk = OpenDatabases::new(options);
    let cancel = CancelToken::new();
    desk.open(&Open::new(vec![SAMPLE.to_owned(); 8]), &cancel, &mut |_| ()).unwrap();
    let ask = |fields: Value| {
        let ask = Ask::from_fields(fields.as_object().unwrap().clone()).unwrap();
        desk.ask(&ask, &cancel, &mut |_| ()).unwrap()
    };
    let cut = ask(json!({ "query": "mate" }));
    let kept = cut.kept.unwrap();
    assert_eq!((cut.is_cut, cut.hit.positions), (true, 200));
    let page: Vec<Value> =
        kept.page(0, 1000, None).unwrap().iter().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert!((25..175).contains(&page.len()), "{}", page.len());
    assert_eq!(page, rows(&[&["mate"], &[SAMPLE; 8][..]].concat())[..page.len()]);
    // Each block has games that sort before all earlier games. Blocks that contain no listed game are dropped to free memory.
    let best = ask(json!({ "query": "mate gamenumber", "sort": "value", "limit": 3 }));
    let page = best.kept.unwrap().page(0, 9, None).unwrap();
    let numbers =
        page.iter().map(|row| serde_json::from_str::<Value>(row).unwrap()["game"].as_u64().unwrap());
    assert_eq!((best.is_cut, numbers.collect::<Vec<_>>()), (false, vec![7961, 7948, 7924]));
}

/// Progress events are sent only if the request contains `progress`, and their counts increase.
#[test(part = 3)]
fn a_query_tells_how_far_it_has_come() {
    let mut server = Server::start(&["-j", "1", SAMPLE]);
    for is_asked in [false, true] {
        let fields = json!({ "query": QUERY, "engine": "reference", "progress": is_asked });
        let id = server.ask("query", fields);
        let mut games = Vec::new();
        let answer = loop {
            let line = server.line();
            assert_eq!(line["id"], id);
            if line.get("event").is_none() {
                break line;
            }
            assert_eq!((&line["event"], line["positions"].is_u64()), (&json!("progress"), true), "{line}");
            games.push(line["games"].as_u64().unwrap());
        };
        assert_eq!(answer["hits"], 633);
        assert_eq!(games.is_empty(), !is_asked);
        assert!(games.is_sorted() && games.iter().all(|games| *games <= 1000), "{games:?}");
        assert_eq!(server.answer("progress", json!({ "of": id }))["state"], "done");
    }
    server.finish();
}
