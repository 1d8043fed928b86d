//! Sends random requests, both valid and invalid. The responses are compared with results of `orbit scan` and of the library.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;

use fastrand::Rng;
use orbit_chess::DatabaseOptions;
use orbit_search::serve::{ErrorCode, RESULTS_MAX};
use serde_json::{Value, json};

use super::{Server, assert_code};
use crate::program::{QUERY, SAMPLE, rows, run, stdout};

/// The number of requests of a round.
const REQUESTS: usize = 1000;
/// The maximum memory growth of the process, in bytes, during the second round. Keeping the results of the thousand requests
/// would need many times as much.
#[cfg(target_os = "linux")]
const GROWTH_MAX: u64 = 8 << 20;

const TREES: &str = "[White \"A\"]\n\n1. e4 e5 2. Nf3 (2. f4 exf4 (2... d5 3. exd5) 3. Nf3 g5) 2... Nc6 3. Bb5 (3. Bc4 Bc5 4. \
                     b4) 3... a6 1-0\n\n[White \"B\"]\n\n1. f3 (1. f4 e5 2. g4 Qh4#) 1... e5 2. g4 Qh4# 0-1\n\n";

/// A query with options that select hits, both as request fields and as command-line arguments.
struct Case {
    fields: Value,
    args: Vec<&'static str>,
    /// The expected counts and rows of a scan, for each database.
    expected: Vec<(Value, Vec<Value>)>,
}

/// A database that the test opens and closes.
struct Opened {
    name: &'static str,
    path: String,
    variations: bool,
    library: orbit_chess::Database,
}

/// The server process, and the state that the test expects of it.
struct World {
    server: Server,
    rng: Rng,
    cases: Vec<Case>,
    databases: Vec<Opened>,
    are_open: Vec<bool>,
    /// The hits that the server should still have, oldest first: the query id, the database and the case.
    kept: VecDeque<(u64, usize, usize)>,
    dropped: Vec<u64>,
    /// The number of responses that were compared with the expected ones, for each kind of request.
    compared: [usize; 6],
}

fn cases(databases: &[Opened]) -> Vec<Case> {
    let case = |fields: Value, args: &[&'static str]| {
        let of_database = |database: &Opened| {
            let path = database.path.as_str();
            let counts =
                args.iter().position(|arg| ["--sort", "--sample"].contains(arg)).unwrap_or(args.len());
            let counted = stdout(&[&["scan", "-q", "-F", "jsonl", "-c"], &args[..counts], &[path]].concat());
            (serde_json::from_str(&counted).unwrap(), rows(&[args, &[path]].concat()))
        };
        let is_asked = |database: &&Opened| database.variations || !args.contains(&"--variations");
        let expected = databases.iter().filter(is_asked).map(of_database).collect();
        Case { fields, args: args.to_vec(), expected }
    };
    vec![
        case(json!({ "query": QUERY }), &[QUERY]),
        case(json!({ "query": "mate", "engine": "cpu" }), &["mate"]),
        case(json!({ "query": "check", "first": true }), &["check", "--first"]),
        case(json!({ "query": "check", "where": "result=1-0" }), &["check", "-w", "result=1-0"]),
        case(json!({ "query": "passedpawns", "best": true }), &["passedpawns", "--best"]),
        case(json!({ "query": "power A - power a", "limit": 30 }), &["power A - power a", "-n", "30"]),
        case(json!({ "query": "mate", "sort": "date" }), &["mate", "--sort", "date"]),
        case(
            json!({ "query": "passedpawns", "sort": "value", "limit": 5 }),
            &["passedpawns", "--sort", "value", "-n", "5"],
        ),
        case(json!({ "query": "stalemate or mate", "sample": 6 }), &["stalemate or mate", "--sample", "6"]),
        case(
            json!({ "query": "flipcolor line --> check --> check" }),
            &["flipcolor line --> check --> check"],
        ),
        case(
            json!({ "query": "check str(\"at \" ply)", "limit": 9 }),
            &["check str(\"at \" ply)", "-n", "9"],
        ),
        case(json!({ "query": "cql(sort matchcount 1 100) check" }), &["cql(sort matchcount 1 100) check"]),
        case(json!({ "query": "Qh4", "player": "Carlsen" }), &["Qh4", "--player", "Carlsen"]),
    ]
}

/// Returns invalid queries, each with the error that a scan reports, as JSON.
fn wrong_queries() -> Vec<(&'static str, Value)> {
    let queries = ["{Nf3", "mate or", "flip {R[a8-1] kh8}", "kx1", "shift {\"a\"", "mate\nand and", ""];
    let message = |query: &'static str| {
        let said = run(&["scan", "-q", "--message-format", "json", "-e", query, SAMPLE]).2;
        (query, serde_json::from_str(said.lines().next().unwrap()).unwrap())
    };
    queries.into_iter().map(message).collect()
}

impl World {
    /// Sends a valid query. Sometimes also requests a page of its hits before the response arrives.
    fn query(&mut self) {
        let (case, database) = (self.rng.usize(..self.cases.len()), self.rng.usize(..self.databases.len()));
        let mut fields = self.cases[case].fields.clone();
        fields["database"] = self.databases[database].name.into();
        let first = if self.rng.bool() { self.rng.u64(..30) } else { 0 };
        fields["rows"] = first.into();
        fields["progress"] = self.rng.bool().into();
        let id = self.server.ask("query", fields);
        let page = self
            .rng
            .bool()
            .then(|| (self.server.ask("hits", json!({ "of": id, "from": 3, "rows": 7 })), (3, 7)));
        let answer = self.server.answer_to(id);
        if !self.are_open[database] {
            assert_code(&answer, ErrorCode::UnknownDatabase);
            page.iter()
                .for_each(|&(page, _)| assert_code(&self.server.answer_to(page), ErrorCode::UnknownQuery));
            self.compared[0] += 1;
            return;
        }
        let (counts, rows) = &self.cases[case].expected[database];
        for field in ["games_hit", "positions_hit", "games", "positions"] {
            assert_eq!(answer[field], counts[field], "{field} of {:?}: {answer}", self.cases[case].args);
        }
        assert_eq!(answer["hits"], rows.len(), "{:?}", self.cases[case].args);
        if first > 0 {
            assert_eq!(answer["rows"].as_array().unwrap()[..], rows[..rows.len().min(first as usize)]);
        }
        if let Some((page, (from, count))) = page {
            let answer = self.server.answer_to(page);
            check_page(&answer, rows, from, count);
        }
        self.kept.push_back((id, database, case));
        if self.kept.len() > RESULTS_MAX {
            self.dropped.extend(self.kept.pop_front().map(|(id, ..)| id));
        }
        self.compared[1] += 1;
    }

    /// Requests pages of hits for several queries without waiting for the responses. Some pages are beyond the last row, and some
    /// query ids are unknown.
    fn pages(&mut self) {
        let mut asked = Vec::new();
        for _ in 0..self.rng.usize(1..5) {
            let (from, count) = (self.rng.u64(..1500), self.rng.u64(..60));
            let kept = (!self.kept.is_empty()).then(|| self.kept[self.rng.usize(..self.kept.len())]);
            let (of, expected) = match (self.rng.u8(..10), kept) {
                (0, _) => (json!(1_000_000), Err(ErrorCode::UnknownQuery)),
                (1, _) => (json!("1"), Err(ErrorCode::UnknownQuery)),
                (2, _) if !self.dropped.is_empty() => {
                    (self.dropped[self.rng.usize(..self.dropped.len())].into(), Err(ErrorCode::Dropped))
                }
                (_, Some((id, database, case))) => (id.into(), Ok((database, case))),
                (_, None) => continue,
            };
            // Most of the requested pages have rows.
            let rows = expected.ok().map_or(1, |(database, case): (usize, usize)| {
                self.cases[case].expected[database].1.len() as u64 + 5
            });
            let from = if self.rng.u8(..8) == 0 { from } else { from % rows };
            let id = self.server.ask("hits", json!({ "of": of, "from": from, "rows": count }));
            asked.push((id, from, count, expected));
        }
        for (id, from, count, expected) in asked {
            let answer = self.server.answer_to(id);
            match expected {
                Err(code) => assert_code(&answer, code),
                Ok((database, case)) => {
                    check_page(&answer, &self.cases[case].expected[database].1, from, count)
                }
            }
            self.compared[2] += 1;
        }
    }

    fn game(&mut self) {
        let at = self.rng.usize(..self.databases.len());
        let Opened { name, library, .. } = &self.databases[at];
        let number = self.rng.u32(..library.summary().unwrap().totals.games() as u32 + 2);
        let answer = self.server.answer("game", json!({ "database": name, "game": number }));
        if !self.are_open[at] {
            return assert_code(&answer, ErrorCode::UnknownDatabase);
        }
        let Some(game) = library.game(number).unwrap() else {
            return assert_code(&answer, ErrorCode::Request);
        };
        let nodes = answer["nodes"].as_array().unwrap();
        assert_eq!(nodes.len() as u32, game.nodes());
        for (node, told) in (0..).zip(nodes) {
            let expected = json!({
                "node": node,
                "parent": game.parent(node),
                "ply": game.ply(node),
                "san": game.san_before(node),
                "fen": game.fen(node),
            });
            assert_eq!(*told, expected);
        }
        assert_eq!(answer["pgn"].as_str().unwrap().as_bytes(), game.pgn());
        self.compared[3] += 1;
    }

    /// Picks a random database, and opens it if it is closed or closes it if it is open.
    fn open_or_close(&mut self) {
        let at = self.rng.usize(..self.databases.len());
        let Opened { name, path, variations, .. } = &self.databases[at];
        let open = json!({ "database": name, "paths": [path], "variations": variations });
        match (self.are_open[at], self.rng.bool()) {
            (true, true) => assert_code(&self.server.answer("open", open), ErrorCode::Request),
            (true, false) => {
                assert_eq!(self.server.answer("close", json!({ "database": name }))["closed"], *name);
                let (closed, kept): (VecDeque<_>, _) = self.kept.drain(..).partition(|(_, of, _)| *of == at);
                self.kept = kept;
                self.dropped.extend(closed.into_iter().map(|(id, ..)| id));
                self.are_open[at] = false;
            }
            (false, is_asked) => {
                if is_asked {
                    let answer = self.server.answer("close", json!({ "database": name }));
                    assert_code(&answer, ErrorCode::UnknownDatabase);
                }
                let answer = self.server.answer("open", open);
                assert_eq!(
                    (&answer["database"], &answer["resident"]),
                    (&json!(name), &json!(true)),
                    "{answer}"
                );
                self.are_open[at] = true;
            }
        }
    }

    /// Sends an incomplete or erroneous request.
    fn malformed(&mut self) {
        let whole =
            json!({ "id": 5, "request": "hits", "of": 3, "from": 0, "é\u{202e}\n": [1, { "a": null }] })
                .to_string();
        let line = match self.rng.u8(..4) {
            0 => "\u{0}\u{1}[[[[".repeat(self.rng.usize(1..50)),
            1 => "9".repeat(self.rng.usize(1..5000)),
            2 => whole.clone(),
            _ => whole.chars().take(self.rng.usize(1..whole.chars().count())).collect(),
        };
        self.server.send(&line);
        let answer = self.server.line();
        assert_code(&answer, ErrorCode::Request);
        assert_eq!(answer["id"], if line == whole { json!(5) } else { Value::Null });
    }

    fn wrong_query(&mut self, (query, message): &(&str, Value)) {
        let answer = self.server.answer("query", json!({ "query": query, "database": "big" }));
        assert_code(&answer, ErrorCode::Query);
        for field in ["message", "line", "column", "start", "end", "label", "help"] {
            assert_eq!(answer["error"][field], message[field], "{query}: {field}");
        }
        self.compared[4] += 1;
    }

    /// Cancels a query that takes several seconds: while it runs, while it waits, or right after it was sent.
    fn cancelled(&mut self) {
        // Sometimes the query is sent twice, so that the second one may have to wait.
        let slow = json!({ "query": "flip flipcolor {Ra1 kb2}", "engine": "reference", "database": "big" });
        let first = self.server.ask("query", slow.clone());
        let second = self.rng.bool().then(|| self.server.ask("query", slow));
        if self.rng.bool() {
            std::thread::sleep(std::time::Duration::from_millis(self.rng.u64(..30)));
        }
        let mut ids: Vec<u64> = [first].into_iter().chain(second).collect();
        self.rng.shuffle(&mut ids);
        for id in ids {
            // The responses to the query and to the cancellation may arrive in any order. Both must arrive soon.
            let cancel = self.server.ask("cancel", json!({ "of": id }));
            let mut answers = [self.server.line(), self.server.line()];
            answers.sort_by_key(|answer| answer["id"].as_u64() == Some(id));
            assert_eq!((&answers[0]["id"], &answers[0]["cancelled"]), (&cancel.into(), &true.into()));
            assert_eq!(answers[1]["id"], id);
            assert_code(&answers[1], ErrorCode::Cancelled);
        }
        // A cancelled query has no hits, and a query that was answered cannot be cancelled.
        assert_code(&self.server.answer("hits", json!({ "of": first })), ErrorCode::UnknownQuery);
        assert_eq!(self.server.answer("cancel", json!({ "of": first }))["cancelled"], false);
        if let Some((id, ..)) = self.kept.back() {
            assert_eq!(self.server.answer("cancel", json!({ "of": id }))["cancelled"], false);
        }
        self.compared[5] += 1;
    }

    fn round(&mut self, wrong: &[(&str, Value)]) {
        let until = self.server.next + REQUESTS as u64;
        while self.server.next < until {
            match self.rng.u8(..100) {
                0..30 => self.query(),
                30..70 => self.pages(),
                70..78 => self.game(),
                78..83 => self.open_or_close(),
                83..88 => self.malformed(),
                88..93 => {
                    let at = self.rng.usize(..wrong.len());
                    self.wrong_query(&wrong[at]);
                }
                93..95 => self.cancelled(),
                95..97 => assert_eq!(self.server.answer("ping", json!({}))["pong"], true),
                _ => {
                    let answer = self.server.answer("explain", json!({ "query": QUERY, "copies": 3 }));
                    assert_eq!(
                        (&answer["copies_count"], answer["copies"].as_array().unwrap().len()),
                        (&json!(672), 3)
                    );
                }
            }
        }
    }
}

#[track_caller]
fn check_page(answer: &Value, rows: &[Value], from: u64, count: u64) {
    assert_eq!((&answer["from"], &answer["hits"]), (&from.into(), &rows.len().into()), "{answer}");
    let (first, end) = (rows.len().min(from as usize), rows.len().min((from + count) as usize));
    let told = answer["rows"].as_array().unwrap();
    assert!(told[..] == rows[first..end], "{from} {count}: {answer}");
}

/// Returns the memory use of a process, in bytes.
#[cfg(target_os = "linux")]
fn memory(pid: u32) -> u64 {
    let status = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
}

/// Sends two rounds of a thousand requests. The second round must hardly increase the memory use.
#[test(part = 0)]
fn random_requests_are_answered_as_a_scan_answers() {
    let folder = tempfile::tempdir().unwrap();
    let trees = folder.path().join("trees.pgn");
    fs::write(&trees, TREES).unwrap();
    let database = |name, path: &str, variations| Opened {
        name,
        path: path.to_owned(),
        variations,
        library: DatabaseOptions::new().variations(variations).open([path]).unwrap(),
    };
    let databases = vec![database("main", SAMPLE, false), database("trees", trees.to_str().unwrap(), true)];
    let (cases, wrong) = (cases(&databases), wrong_queries());
    let mut world = World {
        server: Server::start(&["-j", "2", SAMPLE]),
        rng: Rng::with_seed(17),
        cases,
        databases,
        are_open: vec![true, false],
        kept: VecDeque::new(),
        dropped: Vec::new(),
        compared: [0; 6],
    };
    let big = vec![SAMPLE; 60];
    let opened = world.server.answer("open", json!({ "database": "big", "paths": big }));
    assert_eq!(opened["games"], 60_000, "{opened}");
    world.round(&wrong);
    assert!(world.compared.iter().all(|&count| count >= 5), "{:?}", world.compared);
    #[cfg(target_os = "linux")]
    {
        let before = memory(world.server.pid());
        world.round(&wrong);
        let after = memory(world.server.pid());
        assert!(after < before + GROWTH_MAX, "{before} bytes before, {after} after {REQUESTS} requests");
    }
    world.server.finish();
}
