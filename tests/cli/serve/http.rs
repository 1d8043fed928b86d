//! Tests `orbit serve --http`: the responses to clients, and the rejected requests.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use orbit_search::serve::{BODY_BYTES_MAX, CONNECTIONS_MAX, HEAD_BYTES_MAX, HEAD_TIME, TARGET_BYTES_MAX};
use serde_json::{Value, json};

#[cfg(unix)]
use super::{LASTING, has_files};
#[cfg(unix)]
use crate::common::archives::{self, Member};
use crate::common::length::trials;
use crate::common::waiting::{PATIENCE, Process, until};
use crate::program::{SAMPLE, run, stdout};

/// A process that serves over HTTP.
struct Http {
    process: Process,
    /// The host in the form `127.0.0.1:PORT`.
    host: String,
    token: String,
}

/// The server's answer to a request.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Http {
    fn start(args: &[&str]) -> Http {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
        command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["serve", "--http", "127.0.0.1:0"]).args(args);
        let mut process = Process::new(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap());
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let event: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(event["event"], "listening", "{event}");
        let text = |name: &str| event[name].as_str().unwrap().to_owned();
        assert_eq!(text("token").len(), 64);
        Http {
            process,
            host: text("address").strip_prefix("http://").unwrap().to_owned(),
            token: text("token"),
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends raw bytes to the server and returns the response.
    #[track_caller]
    fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // The server may close the connection of a rejected request without reading all of it.
        let _ = stream.write_all(bytes);
        read(stream)
    }

    /// Sends a request with the right `Host` and the given header lines. Returns the response.
    #[track_caller]
    fn ask(&self, method: &str, target: &str, lines: &[&str], body: &str) -> Answer {
        let mut head = format!("{method} {target} HTTP/1.1\r\nHost: {}\r\n", self.host);
        lines.iter().for_each(|line| head += &format!("{line}\r\n"));
        if !body.is_empty() {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        self.raw(format!("{head}\r\n{body}").as_bytes())
    }

    #[track_caller]
    fn get(&self, target: &str) -> Answer {
        self.ask("GET", target, &[], "")
    }

    /// Sends requests as JSON lines. Returns the lines of the response.
    #[track_caller]
    fn post(&self, requests: &[Value]) -> Vec<Value> {
        let body: String = requests.iter().map(|request| format!("{request}\n")).collect();
        let answer =
            self.ask("POST", "/requests", &[&format!("Authorization: Bearer {}", self.token)], &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[track_caller]
    fn is_alive(&self) {
        assert_eq!(self.get("/lichess?moves=1").status, 200);
    }
}

#[track_caller]
fn read(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    // The server may reset a rejected connection after its response.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {text:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let body = if head.contains("chunked") { joined(body) } else { body.to_owned() };
    Answer { status, head: head.to_owned(), body }
}

/// Returns the text of a chunked body. Panics if the body is incomplete.
#[track_caller]
fn joined(mut body: &str) -> String {
    let mut out = String::new();
    loop {
        let (length, rest) = body.split_once("\r\n").unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        out += &rest[..length];
        body = rest[length..].strip_prefix("\r\n").unwrap();
        if length == 0 {
            assert_eq!(body, "");
            return out;
        }
    }
}

#[test]
fn the_explorer_answers_as_the_command_does() {
    let http = Http::start(&[SAMPLE]);
    let command = |args: &[&str]| -> Value {
        let args = [&["explore", "-q", "--json"], args].concat();
        serde_json::from_str(&stdout(&args)).unwrap()
    };
    // Clients written for lichess send parameters with empty values, and `since` with lichess's default value.
    let empty = "fen=&since=0000-01&until=3000-12&speeds=&ratings=&modes=";
    let answer = http.get(&format!("/lichess?variant=standard&play=e2e4,c7c5&{empty}&unknown=1"));
    assert!(answer.head.contains("Content-Type: application/json"), "{answer:?}");
    assert!(!answer.head.contains("Access-Control"), "{answer:?}");
    assert_eq!(answer.json(), command(&[SAMPLE, "e4 c5"]));
    assert_eq!(answer.json()["moves"][0]["uci"], "g1f3");
    let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    let answer = http.get(&format!(
        "/lichess?fen={}&since=2015&until=2015-06&moves=2&topGames=0&recentGames=1",
        fen.replace(' ', "%20")
    ));
    let args = [
        "--since",
        "2015",
        "--until",
        "2015-06",
        "--moves",
        "2",
        "--top-games",
        "0",
        "--recent-games",
        "1",
        SAMPLE,
        fen,
    ];
    assert_eq!(answer.json(), command(&args));
    // The responses computed from a position table must equal those computed from the games.
    let folder = tempfile::tempdir().unwrap();
    let reel = folder.path().join("sample.reel");
    let reel = reel.to_str().unwrap();
    stdout(&["index", "-q", "--positions", SAMPLE, "-o", reel]);
    let tabled = [Http::start(&[reel]), Http::start(&["--memory", "0", reel])];
    // A position table stays open until its file is removed or replaced.
    let table = folder.path().join("sample.reel.positions");
    let whole = fs::read(&table).unwrap();
    for bytes in [Some(&whole[..]), Some(&whole[..500]), None, Some(&whole[..])] {
        match bytes {
            Some(bytes) => fs::write(&table, bytes).unwrap(),
            None => fs::remove_file(&table).unwrap(),
        }
        for path in [
            "/lichess",
            "/masters?play=e2e4,c7c5",
            "/lichess?play=d4&since=2015&speeds=blitz",
            "/player?player=Carlsen&color=white&play=d4",
        ] {
            let due = http.get(path).json();
            tabled.iter().for_each(|tabled| assert_eq!(tabled.get(path).json(), due, "{path}"));
        }
    }
    let masters = http.get("/masters?play=e2e4").json();
    assert!(masters.get("recentGames").is_none() && masters["topGames"].is_array(), "{masters}");
    let answer = http.get("/player?player=Carlsen&color=white&recentGames=2");
    assert!(answer.head.contains("application/x-ndjson") && answer.body.ends_with('\n'));
    let due = command(&["--player", "Carlsen", "--as", "white", "--recent-games", "2", SAMPLE, "start"]);
    let player = answer.json();
    assert_eq!(
        (&player["white"], &player["moves"], &player["recentGames"]),
        (&due["white"], &due["moves"], &due["recentGames"])
    );
    assert!(player["recentGames"].as_array().unwrap().len() == 2 && player.get("topGames").is_none());
    // Lichess's schema requires the field `queuePosition` in responses about players.
    assert_eq!((&player["queuePosition"], masters.get("queuePosition")), (&0.into(), None));
    let id = player["recentGames"][0]["id"].as_str().unwrap().to_owned();
    let pgn = http.get(&format!("/masters/pgn/{id}"));
    assert!(pgn.status == 200 && pgn.body.contains("Carlsen") && pgn.body.starts_with("[Event "), "{pgn:?}");
    assert_eq!(http.get(&format!("/master/pgn/{id}")).body, pgn.body);
    for (target, status) in [
        ("/player?player=Carlsen", 400),
        ("/lichess?play=e2e5", 400),
        ("/lichess?fen=x", 400),
        ("/lichess?variant=atomic", 400),
        ("/lichess?play=%ff", 400),
        ("/lichess?play=%e", 400),
        ("/masters/pgn/0", 404),
        ("/masters/pgn/1001", 404),
        ("/masters/pgn/x", 404),
        ("/", 404),
        ("/requests", 405),
    ] {
        let answer = http.get(target);
        assert_eq!(answer.status, status, "{target}: {answer:?}");
        assert!(answer.json()["error"].is_string(), "{answer:?}");
    }
    assert_eq!(http.ask("POST", "/lichess", &[], "x").status, 405);
    http.is_alive();
}

#[test]
fn requests_are_answered_to_those_who_have_the_token() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(SAMPLE, folder.path().join("own.pgn")).unwrap();
    let http = Http::start(&["--folder", folder.path().to_str().unwrap(), SAMPLE]);
    let body = "{\"id\":1,\"request\":\"ping\"}\n";
    let wrong = format!("Authorization: Bearer {}", "0".repeat(64));
    let longer = format!("Authorization: Bearer {}0", http.token);
    let bare = format!("Authorization: {}", http.token);
    for line in ["X: y", &wrong, &longer, &bare] {
        let answer = http.ask("POST", "/requests", &[line], body);
        assert_eq!(answer.status, 401, "{answer:?}");
        assert!(!answer.body.contains("pong"), "{answer:?}");
    }
    let inside = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(inside("own.toml"), "include = ['catalogue']\n[[theme]]\nname = 'own'\nquery = 'mate'\n")
        .unwrap();
    fs::write(inside("other.toml"), "include = ['../own.toml']\n").unwrap();
    let link = inside("link.pgn");
    #[cfg(unix)]
    std::os::unix::fs::symlink(SAMPLE, &link).unwrap();
    let answers = http.post(&[
        json!({ "id": 1, "request": "query", "query": "mate", "rows": 2 }),
        json!({ "id": 2, "request": "open", "database": "own", "paths": [inside("own.pgn")] }),
        json!({ "id": 3, "request": "open", "database": "other", "paths": [SAMPLE] }),
        json!({ "id": 4, "request": "write", "query": "mate", "path": inside("out.pgn") }),
        json!({ "id": 5, "request": "write", "query": "mate", "path": inside("../out.pgn") }),
        json!({ "id": 6, "request": "open", "database": "link", "paths": [link] }),
        json!({ "id": 7, "request": "write", "query": "mate", "path": inside("link.pgn") }),
        json!({ "id": 8, "request": "batch", "themes": inside("own.toml"), "only": ["own"] }),
        json!({ "id": 9, "request": "batch", "themes": SAMPLE }),
        json!({ "id": 10, "request": "batch", "themes": inside("other.toml") }),
    ]);
    assert_eq!(answers[0]["event"], "greeting");
    let of = |id: u64| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert_eq!(of(1)["rows"].as_array().map(Vec::len), Some(2), "{}", of(1));
    assert_eq!(of(2)["games"], 1000, "{}", of(2));
    assert!(of(4)["games"].as_u64().unwrap() > 10, "{}", of(4));
    assert_eq!(of(8)["themes"][0]["games_hit"], 25, "{}", of(8));
    for id in [3, 5, 6, 7, 9, 10] {
        let message = of(id)["error"]["message"].as_str().unwrap_or_else(|| panic!("{}", of(id)));
        assert!(message.contains("it is not below the folder that requests may use"), "{message}");
    }
    assert!(fs::metadata(inside("out.pgn")).unwrap().len() > 1000);
    // If the server is started without a file folder, requests cannot use any files.
    let http = Http::start(&[SAMPLE]);
    for request in [
        json!({ "id": 1, "request": "open", "database": "own", "paths": [inside("own.pgn")] }),
        json!({ "id": 1, "request": "batch", "themes": inside("own.toml") }),
    ] {
        let answers = http.post(&[request]);
        let message = answers[1]["error"]["message"].as_str().unwrap();
        assert!(message.contains("start the server with --folder"), "{answers:?}");
    }
    let answers = http.post(&[json!({ "id": 1, "request": "batch", "only": ["windmill"] })]);
    assert_eq!(answers[1]["themes"].as_array().map(Vec::len), Some(1), "{answers:?}");
    http.is_alive();
}

/// A folder may contain links that lead out of it. An archive in the folder may be opened, and so may its members.
#[cfg(unix)]
#[test]
fn links_in_folders_do_not_lead_out_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(inside("games")).unwrap();
    fs::write(inside("games/own.pgn"), "1. e4 e5 *\n").unwrap();
    std::os::unix::fs::symlink("own.pgn", inside("games/same.pgn")).unwrap();
    fs::write(inside("some.zip"), archives::zip(&[Member::deflated("one.pgn", b"1. d4 d5 *\n")])).unwrap();
    let http = Http::start(&["--folder", folder.path().to_str().unwrap()]);
    let open = |path: &str| {
        let answers = http.post(&[json!({ "id": 1, "request": "open", "paths": [inside(path)] })]);
        answers[1].clone()
    };
    for (path, games) in [("games", 2), ("some.zip", 1), ("some.zip/one.pgn", 1)] {
        let answer = open(path);
        assert_eq!(answer["games"], games, "{path}: {answer}");
    }
    std::os::unix::fs::symlink(SAMPLE, inside("games/link.pgn")).unwrap();
    for path in ["games", "games/link.pgn", "some.zip/../../none.pgn"] {
        let answer = open(path);
        assert!(answer["error"]["message"].is_string(), "{path}: {answer}");
    }
    let message = open("games")["error"]["message"].take();
    assert!(message.as_str().unwrap().contains("it is not below the folder"), "{message}");
}

#[test]
fn heads_are_those_of_the_protocol() {
    let http = Http::start(&[SAMPLE]);
    for (method, target, allowed) in [
        ("HEAD", "/lichess", "GET, OPTIONS"),
        ("POST", "/lichess", "GET, OPTIONS"),
        ("HEAD", "/requests", "POST, OPTIONS"),
        ("GET", "/requests", "POST, OPTIONS"),
    ] {
        let answer = http.ask(method, target, &[], "");
        assert_eq!((answer.status, answer.body.is_empty()), (405, method == "HEAD"), "{answer:?}");
        assert!(answer.head.contains(&format!("\r\nAllow: {allowed}\r\n")), "{answer:?}");
    }
    for (target, lines, status) in
        [("/none", vec![], 404), ("/lichess", vec!["Origin: https://evil.org"], 403)]
    {
        let answer = http.ask("HEAD", target, &lines, "");
        assert_eq!((answer.status, answer.body.as_str()), (status, ""), "{answer:?}");
    }
    let preflight = http.ask("OPTIONS", "/requests", &[], "");
    assert_eq!((preflight.status, preflight.head.contains("Content-Length")), (204, false), "{preflight:?}");
    let ping = "{\"id\":1,\"request\":\"ping\"}\n";
    for scheme in ["bearer", "BEARER"] {
        let token = format!("Authorization: {scheme} {}", http.token);
        let answer = http.ask("POST", "/requests", &[&token], ping);
        assert!(answer.status == 200 && answer.body.contains("pong"), "{answer:?}");
    }
    let token = format!("Authorization: Bearer {}", http.token);
    for length in [format!("+{}", ping.len()), "-1".into(), "0x10".into(), String::new()] {
        let host = &http.host;
        let head = format!(
            "POST /requests HTTP/1.1\r\nHost: {host}\r\n{token}\r\nContent-Length: {length}\r\n\r\n{ping}"
        );
        assert_eq!(http.raw(head.as_bytes()).status, 411, "{length:?}");
    }
    http.is_alive();
}

/// Sends requests and returns the connection without waiting for all answers. The greeting has been read.
fn begin(http: &Http, request: &Value) -> BufReader<TcpStream> {
    let mut stream = http.connect();
    let (host, token, body) = (&http.host, &http.token, format!("{request}\n"));
    let head = format!("POST /requests HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n");
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    let (mut input, mut line) = (BufReader::new(stream), String::new());
    while !line.contains("greeting") {
        line.clear();
        assert!(input.read_line(&mut line).unwrap() > 0, "the connection ended");
    }
    input
}

/// When a client leaves, a query that sends it rows ends, although it would take long.
#[test]
fn a_client_that_leaves_ends_its_query() {
    let samples = [SAMPLE; 2000];
    let mut http = Http::start(&[&["-j", "1", "--memory", "64K"], &samples[..]].concat());
    let stream = json!({ "id": 1, "request": "query", "query": "true", "stream": true });
    let mut input = begin(&http, &stream);
    let mut line = String::new();
    while !line.contains("\"from\":0") {
        line.clear();
        assert!(input.read_line(&mut line).unwrap() > 0, "the connection ended");
    }
    drop(input);
    http.process.falls_asleep();
    assert_eq!(http.get("/none").status, 404);
}

#[cfg(unix)]
#[test]
fn an_interrupted_server_leaves_no_unfinished_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.pgn").to_str().unwrap().to_owned();
    let mut http = Http::start(&["--folder", folder.path().to_str().unwrap(), SAMPLE]);
    let write = json!({ "id": 1, "request": "write", "query": LASTING, "engine": "reference", "path": path });
    let input = begin(&http, &write);
    has_files(folder.path(), 1);
    http.process.interrupt();
    assert_eq!(http.process.end("the server").code(), Some(130));
    drop(input);
    has_files(folder.path(), 0);
}

#[test]
fn pages_of_other_origins_are_refused() {
    let http = Http::start(&["--allow-origin", "https://example.org", SAMPLE]);
    let own = format!("Origin: http://{}", http.host);
    for (lines, status) in [
        (&["Origin: https://evil.org"][..], 403),
        (&["Origin: null"], 403),
        (&["Origin: https://example.org.evil.org"], 403),
        (&["Origin: http://example.org"], 403),
        (&["Origin: https://example.org", "Origin: https://evil.org"], 403),
        (&["Sec-Fetch-Site: cross-site"], 403),
        (&["Origin: https://example.org", "Sec-Fetch-Site: cross-site"], 200),
        (&["Sec-Fetch-Site: none"], 200),
        (&[own.as_str()], 200),
    ] {
        let answer = http.ask("GET", "/lichess?moves=1", lines, "");
        assert_eq!(answer.status, status, "{lines:?}: {answer:?}");
        assert_eq!(answer.body.contains("e2e4"), status == 200, "{lines:?}");
        assert_eq!(
            answer.head.contains("Access-Control-Allow-Origin: "),
            status == 200 && lines[0].starts_with("Origin")
        );
    }
    let preflight = http.ask("OPTIONS", "/requests", &["Origin: https://example.org"], "");
    assert_eq!(preflight.status, 204);
    assert!(preflight.head.contains("Access-Control-Allow-Origin: https://example.org\r\n"), "{preflight:?}");
    assert!(preflight.head.contains("Access-Control-Allow-Headers: Authorization"), "{preflight:?}");
    assert_eq!(http.ask("OPTIONS", "/requests", &["Origin: https://evil.org"], "").status, 403);
    // A page with a different origin is rejected even if it sends the right token.
    let token = format!("Authorization: Bearer {}", http.token);
    let body = "{\"id\":1,\"request\":\"ping\"}\n";
    assert_eq!(http.ask("POST", "/requests", &[&token, "Origin: https://evil.org"], body).status, 403);
    http.is_alive();
}

/// A web page can make its own host name resolve to this machine. So requests whose `Host` is not the server's must be rejected.
#[test]
fn hosts_that_are_no_address_of_the_server_are_refused() {
    let http = Http::start(&[SAMPLE]);
    let port = http.host.rsplit(':').next().unwrap().to_owned();
    let get = |lines: &str| http.raw(format!("GET /lichess?moves=1 HTTP/1.1\r\n{lines}\r\n").as_bytes());
    for (lines, status) in [
        (format!("Host: evil.org:{port}\r\n"), 421),
        (format!("Host: localhost.evil.org:{port}\r\n"), 421),
        ("Host: 127.0.0.1\r\n".into(), 421),
        ("Host: 127.0.0.1:1\r\n".into(), 421),
        (format!("Host: 10.0.0.1:{port}\r\n"), 421),
        (String::new(), 400),
        (format!("Host: {0}\r\nHost: {0}\r\n", http.host), 400),
        (format!("Host: localhost:{port}\r\n"), 200),
        (format!("Host: [::1]:{port}\r\n"), 200),
        (format!("Host: {}\r\n", http.host), 200),
    ] {
        let answer = get(&lines);
        assert_eq!(answer.status, status, "{lines:?}: {answer:?}");
        assert_eq!(answer.body.contains("e2e4"), status == 200, "{lines:?}");
    }
    let (code, _, message) = run(&["serve", "--http", "0.0.0.0:0", SAMPLE]);
    assert!(code == Some(2) && message.contains("--allow-remote"), "{message}");
    let (code, ..) = run(&["serve", "--http", "127.0.0.1:0", "--allow-origin", "example.org", SAMPLE]);
    assert_eq!(code, Some(2));
    http.is_alive();
}

#[test]
fn what_is_too_long_or_no_request_is_refused() {
    let http = Http::start(&[SAMPLE]);
    let host = format!("Host: {}\r\n", http.host);
    let path = "a".repeat(TARGET_BYTES_MAX);
    let token = format!("Authorization: Bearer {}\r\n", http.token);
    for (request, status) in [
        (format!("GET /lichess?play={path} HTTP/1.1\r\n{host}\r\n"), 414),
        (format!("GET /{}", "a".repeat(2 * HEAD_BYTES_MAX)), 414),
        (format!("GET / HTTP/1.1\r\n{host}X: {}", "a".repeat(2 * HEAD_BYTES_MAX)), 431),
        (format!("GET / HTTP/1.1\r\n{host}{}\r\n", "X: y\r\n".repeat(200)), 431),
        ("hello\r\n\r\n".into(), 400),
        ("\u{16}\u{3}\u{1}".into(), 400),
        (format!("POST /requests HTTP/1.1\r\n{host}{token}\r\n"), 411),
        (format!("POST /requests HTTP/1.1\r\n{host}{token}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 411),
        (format!("POST /requests HTTP/1.1\r\n{host}{token}Content-Length: x\r\n\r\n"), 411),
        (
            format!("POST /requests HTTP/1.1\r\n{host}{token}Content-Length: {}\r\n\r\n", BODY_BYTES_MAX + 1),
            413,
        ),
    ] {
        let shown: String = request.chars().take(60).collect();
        assert_eq!(http.raw(request.as_bytes()).status, status, "{shown}");
        http.is_alive();
    }
    let ended = http.connect();
    ended.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read(ended).status, 400);
    http.is_alive();
}

/// Sends thousands of requests, most of which must be rejected. Each must get its response, and the server must keep working.
#[test]
fn hostile_requests_one_after_the_other_are_refused() {
    let http = Http::start(&[SAMPLE]);
    let host = format!("Host: {}\r\n", http.host);
    let kinds = [
        ("GET /lichess HTTP/1.1\r\nHost: evil.example\r\n\r\n".into(), 421),
        (format!("GET /lichess HTTP/1.1\r\n{host}Origin: https://evil.example\r\n\r\n"), 403),
        (format!("POST /requests HTTP/1.1\r\n{host}Content-Length: 2\r\n\r\n{{}}"), 401),
        (format!("GET /{} HTTP/1.1\r\n{host}\r\n", "a".repeat(TARGET_BYTES_MAX)), 414),
        ("hello\r\n\r\n".into(), 400),
        (format!("GET /lichess?moves=-1 HTTP/1.1\r\n{host}\r\n"), 400),
    ];
    for trial in trials(40_000, 300) {
        let (request, status) = &kinds[trial / 4 % kinds.len()];
        assert_eq!(http.raw(request.as_bytes()).status, *status, "{trial}");
    }
    http.is_alive();
}

/// Returns a client that sends one letter at a time and never completes its request, and the thread that sends the letters.
fn slow_client(http: &Http) -> (TcpStream, JoinHandle<()>) {
    let slow = http.connect();
    let mut other = slow.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        for letter in b"GET / HTTP/1.1\r\nX: ".iter().chain(std::iter::repeat(&b'a')) {
            if other.write_all(&[*letter]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    (slow, writer)
}

#[test]
fn many_and_slow_clients_do_not_keep_others_away() {
    let http = Http::start(&[SAMPLE]);
    // At the maximum number of connections, another request is rejected immediately. On a busy machine, the server may close some
    // connections before the last one is made, so this is repeated until the request is rejected.
    let (mut slow, writer, silent, begun) = until("a server without room", || {
        let begun = Instant::now();
        let (slow, writer) = slow_client(&http);
        let silent: Vec<TcpStream> = (1..CONNECTIONS_MAX).map(|_| http.connect()).collect();
        match http.get("/lichess?moves=1").status {
            503 => Ok((slow, writer, silent, begun)),
            status => Err(status),
        }
    });
    drop(silent);
    let answer = until("room for a client", || match http.get("/lichess?moves=1") {
        answer if answer.status == 200 => Ok(answer),
        answer => Err(answer.status),
    });
    assert!(answer.body.contains("e2e4"));
    let mut answer = String::new();
    let _ = slow.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer:?}");
    assert!(begun.elapsed() >= HEAD_TIME, "{:?}", begun.elapsed());
    writer.join().unwrap();
    http.is_alive();
}
