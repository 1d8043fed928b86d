//! Tests clients over sockets.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{LASTING, assert_code, has_files};
use crate::common::waiting::{PATIENCE, Process, until};
use crate::program::{QUERY, SAMPLE, rows, run};
use orbit_search::serve::{CLIENTS_MAX, ErrorCode};

/// A process that serves clients.
struct Listening {
    process: Process,
    address: String,
}

impl Listening {
    fn start(place: &str, args: &[&str]) -> Listening {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
        command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["serve", "--listen", place]).args(args);
        let mut process = Process::new(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap());
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let event: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&event["event"], &event["id"]), (&json!("listening"), &Value::Null));
        Listening { process, address: event["address"].as_str().unwrap().to_owned() }
    }

    /// Connects a client and reads the greeting.
    fn client(&self) -> Client {
        let mut client = Client::connect(&self.address);
        let greeting = client.line().unwrap();
        assert_eq!(greeting["event"], "greeting", "{greeting}");
        client
    }
}

struct Client {
    input: Box<dyn Write>,
    output: Box<dyn BufRead>,
}

impl Client {
    fn connect(address: &str) -> Client {
        #[cfg(unix)]
        if let Some(path) = address.strip_prefix("unix:") {
            let stream = std::os::unix::net::UnixStream::connect(path).unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            let output = Box::new(BufReader::new(stream.try_clone().unwrap()));
            return Client { input: Box::new(stream), output };
        }
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let output = Box::new(BufReader::new(stream.try_clone().unwrap()));
        Client { input: Box::new(stream), output }
    }

    fn send(&mut self, id: u64, request: &str, mut fields: Value) {
        (fields["id"], fields["request"]) = (id.into(), request.into());
        self.input.write_all(format!("{fields}\n").as_bytes()).unwrap();
    }

    /// Returns the next line, or `None` if the connection has ended.
    fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    /// Returns the response to the request with this id, skipping events and other responses.
    #[track_caller]
    fn answer_to(&mut self, id: u64) -> Value {
        let mut lines = std::iter::from_fn(|| self.line());
        lines.find(|line| line["id"] == id && line.get("event").is_none()).expect("an answer")
    }

    #[track_caller]
    fn answer(&mut self, id: u64, request: &str, fields: Value) -> Value {
        self.send(id, request, fields);
        self.answer_to(id)
    }
}

#[test]
fn clients_have_databases_and_hits_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.pgn").to_str().unwrap().to_owned();
    fs::copy(SAMPLE, &copy).unwrap();
    let server = Listening::start("127.0.0.1:0", &[SAMPLE]);
    let (mut one, _idle, mut other) = (server.client(), server.client(), server.client());
    assert_eq!(one.answer(1, "open", json!({ "database": "more", "paths": [copy] }))["games"], 1000);
    let more = json!({ "query": "mate", "database": "more" });
    assert_eq!(one.answer(2, "query", more.clone())["hits"], 25);
    assert_code(&other.answer(2, "query", more), ErrorCode::UnknownDatabase);
    assert_code(&other.answer(3, "hits", json!({ "of": 2 })), ErrorCode::UnknownQuery);
    // A client must not overwrite a file that another client has opened as a database.
    assert_code(&other.answer(4, "write", json!({ "query": "mate", "path": copy })), ErrorCode::Database);
    assert_eq!(other.answer(5, "close", json!({}))["closed"], "main");
    let found = one.answer(6, "query", json!({ "query": "mate", "rows": 30 }));
    assert_eq!(found["rows"].as_array().unwrap()[..], rows(&["mate", SAMPLE]));
    assert_eq!(other.answer(7, "quit", json!({}))["quit"], true);
    assert_eq!(other.line(), None);
    assert_eq!(one.answer(8, "ping", json!({}))["pong"], true);
}

/// If a client does not read its rows, only its own search pauses. The search needs no more memory than the socket buffers, and
/// other clients are still served.
#[test]
fn a_slow_client_stops_its_own_search() {
    let mut server = Listening::start("127.0.0.1:0", &["-j", "2", SAMPLE, SAMPLE]);
    let (mut slow, mut other) = (server.client(), server.client());
    slow.send(1, "query", json!({ "query": "true", "stream": true }));
    assert_eq!(slow.line().unwrap()["from"], 0);
    server.process.falls_asleep();
    assert_eq!(other.answer(1, "query", json!({ "query": "mate" }))["hits"], 50);
    assert_eq!(slow.line().unwrap()["from"], 1000);
    slow.send(2, "cancel", json!({ "of": 1 }));
    let mut sent = 2;
    while let Some(line) = slow.line().filter(|line| line["id"] == 1) {
        assert_eq!(line["from"], sent * 1000, "{line}");
        sent += 1;
    }
    assert_code(&slow.answer_to(1), ErrorCode::Cancelled);
    assert_eq!(slow.answer(3, "query", json!({ "query": "mate" }))["hits"], 50);
}

/// Databases are opened one at a time. If a client does not read its events, other clients can still open databases.
#[test]
fn a_slow_client_does_not_delay_the_opening_of_databases() {
    let mut server = Listening::start("127.0.0.1:0", &["-j", "2", SAMPLE, SAMPLE]);
    let (mut slow, mut other) = (server.client(), server.client());
    // After these rows, which the client does not read, no event reaches it any more.
    slow.send(1, "query", json!({ "query": "true", "stream": true }));
    assert_eq!(slow.line().unwrap()["from"], 0);
    server.process.falls_asleep();
    slow.send(2, "open", json!({ "database": "big", "paths": vec![SAMPLE; 60], "progress": true }));
    for id in 0..20 {
        let name = format!("small{id}");
        let opened = other.answer(2 * id, "open", json!({ "database": name, "paths": [SAMPLE] }));
        assert_eq!(opened["games"], 1000, "{opened}");
        assert_eq!(other.answer(2 * id + 1, "close", json!({ "database": name }))["closed"], name);
    }
    // The client reads again. No event follows the answer.
    slow.send(3, "cancel", json!({ "of": 1 }));
    let mut lines = std::iter::from_fn(|| slow.line()).filter(|line| line["id"] == 2);
    let last = lines.find(|line| line.get("event").is_none()).unwrap();
    assert_eq!(last["games"], 60_000, "{last}");
    slow.send(4, "ping", json!({}));
    let mut lines = std::iter::from_fn(|| slow.line());
    let next = lines.find(|line| line["id"] == 4 || line["event"] == "progress").unwrap();
    assert_eq!(next["pong"], true, "{next}");
}

/// A file can become a database while another client writes it only if the writing ends first.
#[test]
fn a_file_that_is_being_written_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.pgn").to_str().unwrap().to_owned();
    fs::write(&path, "1. e4 e5 *\n").unwrap();
    let server = Listening::start("127.0.0.1:0", &["-j", "2", SAMPLE]);
    let (mut one, mut other) = (server.client(), server.client());
    one.send(1, "write", json!({ "query": LASTING, "engine": "reference", "path": path }));
    has_files(folder.path(), 2);
    let own = json!({ "database": "own", "paths": [path] });
    let refused = other.answer(1, "open", own.clone());
    assert_code(&refused, ErrorCode::Database);
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("is being written by another request"), "{message}");
    assert_eq!(one.answer(2, "cancel", json!({ "of": 1 }))["cancelled"], true);
    assert_code(&one.answer_to(1), ErrorCode::Cancelled);
    let opened = other.answer(2, "open", own);
    assert_eq!(opened["games"], 1, "{opened}");
    assert_code(&one.answer(3, "write", json!({ "query": "mate", "path": path })), ErrorCode::Database);
    assert_eq!(fs::read(&path).unwrap(), b"1. e4 e5 *\n");
}

#[cfg(unix)]
#[test]
fn an_interrupted_server_leaves_no_unfinished_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.pgn").to_str().unwrap().to_owned();
    let mut server = Listening::start("127.0.0.1:0", &[SAMPLE]);
    let mut client = server.client();
    client.send(1, "write", json!({ "query": LASTING, "engine": "reference", "path": path }));
    has_files(folder.path(), 1);
    server.process.interrupt();
    assert_eq!(server.process.end("the server").code(), Some(130));
    has_files(folder.path(), 0);
}

/// A web page can make a browser send requests to this machine. The server must not mistake them for requests from an orbit
/// client.
#[test]
fn a_client_of_another_protocol_is_told_so_and_read_no_further() {
    let server = Listening::start("[::1]:0", &[]);
    let ping = "{\"id\":1,\"request\":\"ping\"}\n";
    for first in ["POST / HTTP/1.1\r\nHost: localhost\r\n\r\n", "\u{16}\u{3}\u{1}", "\n", "[]\n"] {
        let mut client = server.client();
        client.input.write_all(format!("{first}{ping}").as_bytes()).unwrap();
        let error = client.line().unwrap();
        assert_eq!(error["id"], Value::Null);
        assert_code(&error, ErrorCode::Request);
        assert_eq!(client.line(), None, "{first:?}");
    }
    let mut client = server.client();
    client.input.write_all(format!("{{}}\n{ping}").as_bytes()).unwrap();
    assert_code(&client.line().unwrap(), ErrorCode::Request);
    assert_eq!(client.line().unwrap()["pong"], true);
}

#[test]
fn there_are_so_many_clients_and_no_more() {
    let server = Listening::start("127.0.0.1:0", &[]);
    let mut clients: Vec<Client> = (0..CLIENTS_MAX).map(|_| server.client()).collect();
    let mut late = Client::connect(&server.address);
    assert_code(&late.line().unwrap(), ErrorCode::Busy);
    assert_eq!(late.line(), None);
    clients.pop();
    let mut next = until("room for a client", || {
        let mut client = Client::connect(&server.address);
        let line = client.line().unwrap();
        if line["event"] == "greeting" { Ok(client) } else { Err(line) }
    });
    assert_eq!(next.answer(1, "ping", json!({}))["pong"], true);
}

/// When a client disconnects, its queries, which would take hours, are stopped.
#[test]
fn a_client_that_leaves_takes_its_requests_along() {
    let mut server = Listening::start("127.0.0.1:0", &["-j", "2", SAMPLE]);
    let mut client = server.client();
    for (id, engine) in [(1, "reference"), (2, "cpu"), (3, "cpu")] {
        client.send(id, "query", json!({ "query": LASTING, "engine": engine }));
    }
    until("queries that run", || {
        let states =
            [1, 2, 3].map(|of| client.answer(of + 10, "progress", json!({ "of": of }))["state"].take());
        if states.iter().all(|state| state == "running") { Ok(()) } else { Err(states) }
    });
    drop(client);
    server.process.falls_asleep();
    assert_eq!(server.client().answer(1, "query", json!({ "query": QUERY }))["hits"], 633);
}

#[test]
fn no_other_machine_is_let_in_unless_that_is_said() {
    for place in ["0.0.0.0:0", "[::]:0"] {
        let (code, _, said) = run(&["serve", "--listen", place]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("--allow-remote"), "{said}");
    }
    for args in [&["--listen", "4000"][..], &["--listen", "unix:"], &["--allow-remote"]] {
        let (code, _, said) = run(&[&["serve"], args].concat());
        assert_eq!(code, Some(2), "{said}");
    }
    let server = Listening::start("0.0.0.0:0", &["--allow-remote"]);
    let port = server.address.strip_prefix("0.0.0.0:").unwrap();
    let mut client = Client::connect(&format!("127.0.0.1:{port}"));
    assert_eq!(client.line().unwrap()["event"], "greeting");
}

#[cfg(unix)]
#[test]
fn a_socket_with_a_path_is_the_users_own_and_goes_with_the_process() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let place = format!("unix:{}", path.display());
    // Leaves behind a socket file on which no process listens.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let mut server = Listening::start(&place, &[SAMPLE]);
    assert_eq!(server.address, place);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(server.client().answer(1, "query", json!({ "query": "mate" }))["hits"], 25);
    let (code, _, said) = run(&["serve", "--listen", &place]);
    assert_eq!(code, Some(2));
    assert!(said.contains("another process listens"), "{said}");
    assert_eq!(server.client().answer(1, "ping", json!({}))["pong"], true);
    server.process.interrupt();
    assert_eq!(server.process.end("the server").code(), Some(130));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    // An existing file that is not a socket is not replaced. If a database cannot be opened, no socket is left behind.
    fs::write(&path, "a file").unwrap();
    let (code, _, said) = run(&["serve", "--listen", &place]);
    assert_eq!((code, said.contains("is no socket")), (Some(2), true), "{said}");
    assert_eq!(fs::read(&path).unwrap(), b"a file");
    fs::remove_file(&path).unwrap();
    assert_eq!(run(&["serve", "--listen", &place, "no-such-file.pgn"]).0, Some(2));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
