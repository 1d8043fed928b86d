//! Tests files on the web: whatever the server and the connection do, the result must be the file's games or a clear failure.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use orbit_chess::{CancelToken, DatabaseError, DatabaseOptions, Query};

use super::*;
use crate::common::http::{Answer, Hold, Request, Server, file};
use crate::common::waiting::{PATIENCE, done};

/// The timeout for readers that must give up. It is short enough for tests, but longer than the pauses of a busy machine.
const SILENCE: Duration = Duration::from_secs(3);

/// Returns reader options with a timeout that is longer than any test.
fn options() -> Options {
    let mut options = Options::default();
    options.web.timeout = 100 * PATIENCE;
    options.web.pause = Duration::from_millis(1);
    (options.hash, options.unpack_threads) = (true, 2);
    options
}

fn impatient() -> Options {
    let mut options = options();
    options.web.timeout = SILENCE;
    options
}

/// The games of a source, the offset and the reason of each failure, and the size and the hash of the source.
#[derive(PartialEq, Debug)]
struct Read {
    games: Vec<Game>,
    failures: Vec<(u64, String)>,
    stamp: (Option<u64>, Option<u64>),
}

fn read(sources: Sources) -> Read {
    let mut games = Vec::new();
    let sources = each_game(sources, &mut |_, game| games.push(game.clone()));
    let failures =
        sources.failures().iter().map(|failure| (failure.offset, failure.reason.clone())).collect();
    let stamp = sources.sources()[0].stamp;
    Read { games, failures, stamp: (stamp.bytes, stamp.hash) }
}

fn read_url(url: &str) -> Result<Read, String> {
    read_url_with(url, options())
}

fn read_url_with(url: &str, options: Options) -> Result<Read, String> {
    Sources::open(&[url.into()], options).map(read).map_err(|error| error.to_string())
}

fn read_bytes(bytes: &[u8]) -> Read {
    read(Sources::from_bytes_with("test", bytes.to_vec(), options()))
}

/// Returns a PGN text, plain and in several compressed forms, each with the expected result of reading it.
fn packed() -> Vec<(&'static str, Vec<u8>, Read)> {
    let text = damage::text(3000);
    let frames: Vec<u8> = text.chunks(30_000).flat_map(zst).collect();
    let all = [("plain", text.clone()), ("zst", frames), ("gz", gzip(&text))];
    let with_games = all.map(|(name, bytes)| {
        let read = read_bytes(&bytes);
        assert_eq!((read.games.len(), read.failures.len()), (3000, 0));
        (name, bytes, read)
    });
    with_games.into()
}

/// Reads the text of [`packed`] in each of its forms from a server whose responses `answer` creates, and passes the actual and the
/// expected result to `check`. Returns the number of requests for each form.
fn requests_of_each(
    options: Options,
    answer: impl Fn(&Request, &[u8]) -> Option<Answer> + Clone + Send + Sync + 'static,
    check: impl Fn(&str, Read, Read),
) -> Vec<usize> {
    let count = |(name, bytes, expected): (&str, Vec<u8>, Read)| {
        let answer = answer.clone();
        let server = Server::start(move |request| answer(request, &bytes));
        check(name, read_url_with(&format!("{}/games", server.url), options.clone()).unwrap(), expected);
        server.requests().len()
    };
    packed().into_iter().map(count).collect()
}

/// Asserts that all games of the text of [`packed`] are read from each of its forms. Returns the number of requests for each form.
fn demand_all(
    answer: impl Fn(&Request, &[u8]) -> Option<Answer> + Clone + Send + Sync + 'static,
) -> Vec<usize> {
    demand_all_with(options(), answer)
}

fn demand_all_with(
    options: Options,
    answer: impl Fn(&Request, &[u8]) -> Option<Answer> + Clone + Send + Sync + 'static,
) -> Vec<usize> {
    requests_of_each(options, answer, |name, found, expected| {
        assert!(found == expected, "{name}: {} games, {:?}", found.games.len(), found.failures);
    })
}

/// Asserts that reading the text of [`packed`] in each of its forms fails with the message `reason`, after some of its games.
/// Returns the number of requests for each form.
fn demand_failure(
    reason: &str,
    answer: impl Fn(&Request, &[u8]) -> Option<Answer> + Clone + Send + Sync + 'static,
) -> Vec<usize> {
    requests_of_each(options(), answer, |name, found, expected| {
        let [(offset, told)] = &found.failures[..] else { panic!("{name}: {:?}", found.failures) };
        assert!(told.contains(reason), "{name}: {told}");
        assert_eq!(found.stamp, (None, None), "{name}");
        let games = found.games.len();
        // The last game may be cut.
        assert!(games > 0 && games < 3000 && *offset > 0, "{name}: {games} games, byte {offset}");
        assert!(found.games[..games - 1] == expected.games[..games - 1], "{name}");
    })
}

const TAG: &str = "\"one\"";

#[test]
fn a_file_on_the_web_has_the_games_of_the_file() {
    assert_eq!(demand_all(|request, bytes| Some(file(request, bytes, TAG))), [1, 1, 1]);
    let chunked = |_: &Request, bytes: &[u8]| {
        Some(Answer { body: bytes.to_vec(), chunks: Some(5000), ..Answer::new(200) })
    };
    assert_eq!(demand_all(chunked), [1, 1, 1]);
    let (_, bytes, _) = packed().remove(0);
    let length = bytes.len() as u64;
    let server = Server::start(move |request| Some(file(request, &bytes, TAG)));
    let url = format!("{}/games.pgn?key=secret#part", server.url.replace("//", "//user:pass%3Aword@"));
    let sources = Sources::open(&[url.into()], options()).unwrap();
    let source = &sources.sources()[0];
    assert_eq!((&source.name, source.bytes), (&format!("{}/games.pgn", server.url), Some(length)));
    assert_eq!(source.path, None);
    let request = &server.requests()[0];
    assert_eq!(request.target, "/games.pgn?key=secret");
    // The header contains `user:pass:word` in Base64.
    assert_eq!(request.line("authorization"), Some("Basic dXNlcjpwYXNzOndvcmQ="));
}

/// Tests connections that are lost repeatedly, even before the first byte, and also with chunked encoding.
#[test]
fn a_lost_connection_goes_on_where_it_was() {
    let steps = |request: &Request, bytes: &[u8]| {
        let step = bytes.len() / 5;
        Some(file(request, bytes, TAG).cut(if request.index == 0 { 0 } else { step }))
    };
    let requests = demand_all(steps);
    assert!(requests.iter().all(|&requests| (6..=8).contains(&requests)), "{requests:?}");
    let dated = |request: &Request, bytes: &[u8]| {
        const DATE: &str = "Mon, 05 Jan 2015 10:00:00 GMT";
        let mut answer = file(request, bytes, DATE).cut(bytes.len() / 2 + 1);
        answer.lines[0] = format!("Last-Modified: {DATE}");
        Some(answer)
    };
    assert_eq!(demand_all(dated), [2, 2, 2]);
    let chunked = |request: &Request, bytes: &[u8]| {
        let answer = file(request, bytes, TAG);
        if request.index > 0 {
            return Some(answer);
        }
        let lines = vec![answer.lines[0].clone()];
        Some(Answer { lines, chunks: Some(4000), ..answer }.cut(bytes.len() / 2))
    };
    assert_eq!(demand_all(chunked), [2, 2, 2]);
    // Each request after the first must ask for the remaining bytes of the same file.
    let (_, bytes, _) = packed().remove(0);
    let server = Server::start(move |request| Some(file(request, &bytes, TAG).cut(bytes.len() / 4)));
    read_url(&server.url).unwrap();
    let requests = server.requests();
    assert!(requests[0].line("range").is_none() && requests[0].line("if-range").is_none());
    let after: Vec<_> =
        requests[1..].iter().map(|request| (request.from() > 0, request.line("if-range"))).collect();
    assert!(after.len() >= 3 && after.iter().all(|after| *after == (true, Some(TAG))), "{after:?}");
}

#[test(part = 0)]
fn a_silent_connection_is_left() {
    // The first connection for each file stalls until everything has been read over other connections.
    let (hold, release) = Hold::new();
    let stalls = move |request: &Request, bytes: &[u8]| {
        let answer = file(request, bytes, TAG);
        let hold = Some(hold.clone());
        Some(if request.index == 0 { Answer { hold, ..answer.cut(bytes.len() / 2) } } else { answer })
    };
    let requests = done("silent connections are left", move || demand_all_with(impatient(), stalls));
    drop(release);
    // On a busy machine, another connection may also time out, so there may be more than two requests.
    assert!(requests.iter().all(|&requests| requests >= 2), "{requests:?}");
}

#[test]
fn attempts_without_a_byte_are_counted() {
    let ends = |request: &Request, bytes: &[u8]| {
        Some(match request.index {
            0 => file(request, bytes, TAG).cut(bytes.len() / 2),
            1 => Answer::new(503).with("Retry-After: 0"),
            2 => return None,
            _ => file(request, bytes, TAG).cut(0),
        })
    };
    let requests = demand_failure("6 attempts to go on failed", ends);
    assert_eq!(requests, [7, 7, 7]);
    let forbidden = |request: &Request, bytes: &[u8]| {
        Some(match request.index {
            0 => file(request, bytes, TAG).cut(bytes.len() / 2),
            _ => Answer::new(403),
        })
    };
    let requests =
        demand_failure("the server answers 403 (Forbidden): check whether the link has expired", forbidden);
    assert_eq!(requests, [2, 2, 2]);
}

/// From the second request on, the server has a different file at this URL.
#[test]
fn a_file_that_is_replaced_is_a_failure() {
    let replaced = |request: &Request, bytes: &[u8]| {
        Some(match request.index {
            0 => file(request, bytes, TAG).cut(bytes.len() / 2),
            _ => file(request, &[bytes, bytes].concat(), "\"two\""),
        })
    };
    assert_eq!(demand_failure("it was replaced while it was read: read it again", replaced), [2, 2, 2]);
    // This server ignores `If-Range`.
    let careless = |request: &Request, bytes: &[u8]| {
        let mut answer = file(request, bytes, TAG);
        if request.index > 0 {
            answer.lines[0] = String::from("ETag: \"two\"");
            return Some(answer);
        }
        Some(answer.cut(bytes.len() / 2))
    };
    assert_eq!(demand_failure("it was replaced while it was read: read it again", careless), [2, 2, 2]);
    let longer = |request: &Request, bytes: &[u8]| {
        Some(match request.index {
            0 => file(request, bytes, TAG).cut(bytes.len() / 2),
            _ => file(request, &[bytes, b" "].concat(), TAG),
        })
    };
    assert_eq!(demand_failure("it was replaced while it was read (it had ", longer), [2, 2, 2]);
}

/// The server sends the whole file even if a range is requested.
#[test]
fn a_server_without_ranges_sends_all_again() {
    fn whole(request: &Request, bytes: &[u8], tag: &str) -> Answer {
        let lines = vec![format!("Content-Length: {}", bytes.len()), tag.to_owned()];
        let answer = Answer { lines, body: bytes.to_vec(), ..Answer::new(200) };
        if request.index == 0 { answer.cut(bytes.len() / 2) } else { answer }
    }
    assert_eq!(demand_all(|request, bytes| Some(whole(request, bytes, "ETag: \"one\""))), [2, 2, 2]);
    for tag in ["ETag: W/\"one\"", "Last-Modified: Mon, 05 Jan 2015 10:00:00 GMT"] {
        demand_failure("it sends no ranges", |request, bytes| Some(whole(request, bytes, tag)));
    }
    demand_failure("neither ETag nor date", |request, bytes| Some(whole(request, bytes, "X-Other: 1")));
    // The file is now shorter than before.
    let shrinks = |request: &Request, bytes: &[u8]| {
        Some(whole(request, bytes, "ETag: \"one\"").cut(bytes.len() / if request.index == 0 { 2 } else { 3 }))
    };
    demand_failure("6 attempts to go on failed", shrinks);
}

#[test]
fn wrong_lengths_are_noticed() {
    // The announced length exceeds the length of the body.
    let more = |request: &Request, bytes: &[u8]| {
        let mut answer = file(request, bytes, TAG);
        if request.index == 0 {
            answer.lines[1] = format!("Content-Length: {}", bytes.len() + 1000);
        }
        Some(answer)
    };
    for (name, bytes, expected) in packed() {
        let server = Server::start(move |request| more(request, &bytes));
        let found = read_url(&server.url).unwrap();
        let [(_, told)] = &found.failures[..] else { panic!("{name}: {:?}", found.failures) };
        assert!(told.contains("it was replaced while it was read (it had "), "{name}: {told}");
        assert!(found.games == expected.games, "{name}");
    }
    // The announced length is too small. For a plain file, this cannot be detected; in a compressed file, the end is missing.
    let less = |bytes: &[u8]| {
        let lines = vec![format!("Content-Length: {}", bytes.len() / 2)];
        Answer { lines, body: bytes.to_vec(), ..Answer::new(200) }
    };
    for (name, bytes, expected) in packed() {
        let server = Server::start(move |_| Some(less(&bytes)));
        let found = read_url(&server.url).unwrap();
        assert!(found.games.len() < expected.games.len(), "{name}");
        assert_eq!(found.failures.len(), usize::from(name != "plain"), "{name}: {:?}", found.failures);
    }
}

/// The server sends neither a length nor chunks, so the end of the connection may or may not be the end of the file.
#[test]
fn an_end_that_is_not_told_is_asked_for() {
    let bare = |bytes: &[u8]| Answer {
        body: bytes.to_vec(),
        lines: vec![format!("ETag: {TAG}")],
        ..Answer::new(200)
    };
    let asked = move |request: &Request, bytes: &[u8]| {
        Some(if request.index == 0 { bare(bytes) } else { file(request, bytes, TAG) })
    };
    assert_eq!(demand_all(asked), [2, 2, 2]);
    let cut = move |request: &Request, bytes: &[u8]| {
        Some(if request.index == 0 { bare(bytes).cut(bytes.len() / 2) } else { file(request, bytes, TAG) })
    };
    assert_eq!(demand_all(cut), [2, 2, 2]);
    for (name, bytes, expected) in packed() {
        let server = Server::start(move |_| Some(Answer { lines: Vec::new(), ..bare(&bytes) }));
        let found = read_url(&server.url).unwrap();
        assert!(found.games == expected.games, "{name}");
        let [(_, told)] = &found.failures[..] else { panic!("{name}: {:?}", found.failures) };
        assert!(told.contains("it may be longer"), "{name}: {told}");
    }
}

#[test]
fn redirects_are_followed() {
    let moved = |request: &Request, bytes: &[u8]| {
        Some(match request.target.as_str() {
            "/games" => Answer::new(302).with("Location: /there?key=1").with("Content-Length: 0"),
            _ => file(request, bytes, TAG).cut(bytes.len() / 2 + 1),
        })
    };
    assert_eq!(demand_all(moved), [4, 4, 4]);
    // Another host does not get the password.
    let other = Server::start(|request| Some(file(request, b"1. e4 *", TAG)));
    let location = format!("Location: {}/there", other.url.replace("127.0.0.1", "localhost"));
    let server = Server::start(move |request| {
        Some(Answer::new(302).with(if request.target == "/games" { "Location: /here" } else { &location }))
    });
    let url = format!("{}/games", server.url.replace("//", "//user:password@"));
    assert_eq!(read_url(&url).unwrap().games.len(), 1);
    let sent = |server: &Server| {
        server.requests().iter().map(|request| request.line("authorization").is_some()).collect()
    };
    assert_eq!((sent(&server), sent(&other)), (vec![true, true], vec![false]));
    let server = Server::start(|_| Some(Answer::new(302).with("Location: /games").with("Content-Length: 0")));
    let told = read_url(&format!("{}/games", server.url)).unwrap_err();
    assert!(told.ends_with("/games cannot be read: it is redirected too often: check the link"), "{told}");
}

#[test]
fn what_cannot_be_had_is_told_at_the_start() {
    for (status, reason) in [
        (401, "401 (Unauthorized): check user and password"),
        (403, "403 (Forbidden): check whether the link has expired"),
        (404, "404 (Not Found): check the link"),
        (410, "410 (Gone): check the link"),
        (418, "418 (I'm a teapot)"),
        (501, "501 (Not Implemented)"),
    ] {
        let server = Server::start(move |_| Some(Answer::new(status).with("Content-Length: 0")));
        let told = read_url(&format!("{}/games.pgn?key=secret", server.url)).unwrap_err();
        assert_eq!(told, format!("{}/games.pgn cannot be read: the server answers {reason}", server.url));
        assert_eq!(server.requests().len(), 1);
    }
    // After temporary errors the request is repeated.
    let (_, bytes, _) = packed().remove(0);
    let server = Server::start(move |request| match request.index {
        0 => Some(Answer::new(503).with("Content-Length: 0")),
        1 => None,
        _ => Some(file(request, &bytes, TAG)),
    });
    assert_eq!(read_url(&server.url).unwrap().failures, []);
    let server = Server::start(|_| Some(Answer::new(503).with("Content-Length: 0")));
    let told = read_url(&server.url).unwrap_err();
    assert!(
        told.ends_with("503 (Service Unavailable); 6 further attempts failed as well: try again later"),
        "{told}"
    );
    assert_eq!(server.requests().len(), 7);
    // No program listens at the first address, the second server never responds, and the third host does not exist.
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    // The local port of an open connection cannot be used by another program, so no program listens on it.
    let connection = TcpStream::connect(mute.local_addr().unwrap()).unwrap();
    let told = read_url(&format!("http://{}/games.pgn", connection.local_addr().unwrap())).unwrap_err();
    assert!(told.contains("its host cannot be reached"), "{told}");
    let url = format!("http://{}/games.pgn", mute.local_addr().unwrap());
    let told = read_url_with(&url, impatient()).unwrap_err();
    assert!(told.ends_with("cannot be read: the server is silent for 3s"), "{told}");
    let told = read_url("http://no.such.host.invalid/games.pgn").unwrap_err();
    assert!(told.ends_with("cannot be read: its host is not found: check the name"), "{told}");
    for url in ["http://", "https://host/a b.pgn", "http://host:port/"] {
        let told = read_url(url).unwrap_err();
        assert!(told.contains("cannot be read: "), "{told}");
    }
}

#[test]
fn reels_and_other_files_are_refused() {
    let told = read_url("https://user:secret@host/games.reel?key=secret").unwrap_err();
    let expected =
        "https://host/games.reel is a reel, of which any part may be read at any time: download it first";
    assert_eq!(told, expected);
    for (body, reason) in [
        (&b"\x89REEL\r\n\x1a\n and so on"[..], "download it first"),
        (b"<!doctype html><html><body>Not here.</body></html>", "it is no PGN"),
    ] {
        let server = Server::start(move |request| Some(file(request, body, TAG)));
        let found = read_url(&server.url).unwrap();
        assert!(found.failures[0].1.contains(reason), "{:?}", found.failures);
    }
}

/// Several files are read in order. One of them is replaced before it is read.
#[test]
fn several_files_are_read_in_their_order() {
    let texts = [damage::text(1200), damage::text(700)];
    let changes = Arc::new(AtomicUsize::new(0));
    let (bodies, seen) = (texts.clone(), Arc::clone(&changes));
    let server = Server::start(move |request| {
        let index = usize::from(request.target == "/b");
        let tag = format!("\"{}\"", if index == 1 { seen.load(Ordering::Relaxed) } else { 0 });
        Some(file(request, &bodies[index], &tag))
    });
    let urls = [format!("{}/a", server.url).into(), format!("{}/b", server.url).into()];
    let open = || Sources::open(&urls, options()).unwrap();
    let found = read(open());
    assert_eq!((found.games.len(), found.failures.len()), (1900, 0));
    assert_eq!(
        server.requests().iter().map(|request| &*request.target).collect::<Vec<_>>(),
        ["/a", "/b", "/b"]
    );
    let sources = open();
    changes.fetch_add(1, Ordering::Relaxed);
    let found = read(sources);
    assert_eq!(found.games.len(), 1200);
    assert!(found.failures[0].1.contains("it was replaced while it was read"), "{:?}", found.failures);
}

/// A file from the web is read only once and then kept in memory.
#[test]
fn a_database_holds_what_it_read() {
    let text = damage::text(1500);
    let server = Server::start(move |request| Some(file(request, &text, TAG).cut(text.len() - 100)));
    let open = |bytes_max| {
        DatabaseOptions::new().resident_bytes_max(bytes_max).reading(options()).open([&server.url])
    };
    let database = open(1 << 30).unwrap();
    let query = Query::parse("Bb5 na6").unwrap();
    for _ in 0..2 {
        assert_eq!(database.scan(&query).hits().unwrap().len(), 0);
        let query = Query::parse("Bb5 pa6").unwrap();
        assert_eq!(database.scan(&query).hits().unwrap().len(), 1500);
    }
    assert_eq!(server.requests().len(), 2);
    let told = open(0).err().unwrap().to_string();
    assert!(told.contains("can be read only once and needs more memory"), "{told}");
    let cancel = CancelToken::new();
    cancel.cancel();
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/games.pgn", mute.local_addr().unwrap());
    let found = done("an end without an answer", move || {
        DatabaseOptions::new().cancel_token(&cancel).reading(options()).open([url]).map(drop)
    });
    assert!(matches!(found, Err(DatabaseError::Cancelled)), "{found:?}");
}
