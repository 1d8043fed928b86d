//! Serves HTTP: checks the `Host`, the `Origin` and the token of each request, and limits connections, sizes and times. Without the
//! token, a client can use only the opening explorer, which responds like that of lichess. With the token, it can also send all
//! requests that a socket accepts.
//!
//! Each connection serves one request. There are three invariants. First, a request is answered only if its `Host` is an address of
//! this server and its `Origin` is this server or an allowed origin, so that other web pages in a browser can neither read nor
//! request anything. Second, requests without the token reach only the explorer. Third, the memory and time that a client can use
//! up before it is answered are bounded.

mod explorer;
mod head;

use std::io::{self, BufReader, Read};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use self::head::{HasBody, RequestHead, RequestRefusal};
use super::answer::Response;
use super::converse::{Greeting, Origin, converse_until};
use super::desk::OpenDatabases;
use super::folder::RequestFiles;
use super::listen::{FAREWELL, FAREWELL_BYTES, REFUSED_PAUSE, Seats, free_idle_cards};
use super::place::{Endpoint, ListenError};
use orbit_core::sync::lock;

/// The maximum number of simultaneously open connections.
pub const CONNECTIONS_MAX: usize = 32;
/// The maximum length of a request head, in bytes.
pub const HEAD_BYTES_MAX: usize = 32 << 10;
/// The maximum length of a request path, including the query string, in bytes.
pub const TARGET_BYTES_MAX: usize = 16 << 10;
/// The maximum length of a request body, in bytes.
pub const BODY_BYTES_MAX: usize = 16 << 20;
/// The time within which a request head must be complete.
pub const HEAD_TIME: Duration = Duration::from_secs(10);
/// The time within which a request body must be complete, and within which a client must read each piece of a response.
const BODY_TIME: Duration = Duration::from_secs(60);

/// The scheme, host and port of web pages that may send requests, such as `https://example.org`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpOrigin(String);

impl FromStr for HttpOrigin {
    type Err = String;

    fn from_str(text: &str) -> Result<HttpOrigin, String> {
        let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let is_host = |host: &str| {
            !host.is_empty()
                && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.:[]".contains(&byte))
        };
        match host.is_some_and(is_host) {
            true => Ok(HttpOrigin(text.to_ascii_lowercase())),
            false => Err("expected the scheme and the host of a page, such as https://example.org".into()),
        }
    }
}

/// Accepts clients over HTTP.
#[derive(Debug)]
pub struct HttpListener {
    socket: TcpListener,
    address: SocketAddr,
    origins: Vec<HttpOrigin>,
    token: String,
    /// The files that requests with the token may access.
    files: RequestFiles,
}

impl HttpListener {
    /// Listens at an address, and creates a new token.
    ///
    /// # Errors
    ///
    /// Fails if other machines can reach the address although this is not allowed, if the address is in use, or if the system does
    /// not permit it.
    pub fn bind(
        address: SocketAddr,
        allow_remote: bool,
        origins: Vec<HttpOrigin>,
        files: RequestFiles,
    ) -> Result<HttpListener, ListenError> {
        if !address.ip().is_loopback() && !allow_remote {
            return Err(ListenError::Remote(address));
        }
        let system = |error| ListenError::System(Endpoint::Address(address), error);
        let socket = TcpListener::bind(address).map_err(system)?;
        let address = socket.local_addr().map_err(system)?;
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| system(io::Error::other(error)))?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(HttpListener { socket, address, origins, token, files })
    }

    /// Returns the `listening` event as a line of JSON, with the address and the token for clients.
    pub fn event(&self) -> String {
        let address = format!("http://{}", self.address);
        Response::from_value(json!({ "event": "listening", "address": address, "token": self.token }))
            .line(None)
    }

    /// Serves clients until the process ends, each on a thread of its own.
    pub fn serve(&self, desk: &OpenDatabases, greeting: Greeting<'_>) {
        let seats = Seats::new(CONNECTIONS_MAX);
        std::thread::scope(|scope| {
            free_idle_cards(scope, desk);
            loop {
                let Ok((stream, _)) = self.socket.accept() else {
                    std::thread::sleep(REFUSED_PAUSE);
                    continue;
                };
                let Some(seat) = seats.take() else {
                    let refusal =
                        RequestRefusal::new(503, "too many clients are connected: come again later");
                    // The response fits into the socket's buffer, so this does not block.
                    let _ = refusal.write(&stream, None, HasBody::Yes);
                    continue;
                };
                let talk = move || {
                    let _seat = seat;
                    // An error ends only this connection.
                    let _ = self.talk(&stream, desk, greeting);
                };
                if std::thread::Builder::new().spawn_scoped(scope, talk).is_err() {
                    std::thread::sleep(REFUSED_PAUSE);
                }
            }
        })
    }

    fn talk(&self, stream: &TcpStream, desk: &OpenDatabases, greeting: Greeting<'_>) -> io::Result<()> {
        stream.set_write_timeout(Some(BODY_TIME))?;
        let mut input = Timed { stream, until: Instant::now() + HEAD_TIME };
        let answered = match RequestHead::read(&mut input) {
            Ok((head, rest)) => self.answer(stream, &head, rest, desk, greeting),
            Err(refusal) => refusal.write(stream, None, HasBody::Yes),
        };
        stream.shutdown(Shutdown::Write)?;
        // If a connection is closed before all received bytes are read, the client may lose the last bytes that were sent to it.
        let farewell = Timed { stream, until: Instant::now() + FAREWELL };
        let _ = io::copy(&mut farewell.take(FAREWELL_BYTES), &mut io::sink());
        answered
    }

    fn answer(
        &self,
        stream: &TcpStream,
        head: &RequestHead,
        rest: Vec<u8>,
        desk: &OpenDatabases,
        greeting: Greeting<'_>,
    ) -> io::Result<()> {
        let origin = match self.check(head) {
            Ok(origin) => origin,
            Err(refusal) => return refusal.write(stream, None, head.has_body()),
        };
        let refuse = |refusal: RequestRefusal| refusal.write(stream, origin, head.has_body());
        match (head.method.as_str(), head.path()) {
            ("OPTIONS", _) => head::preflight(stream, origin),
            ("GET", path) if explorer::is_explorer(path) => match explorer::answer(desk, head) {
                Ok((kind, body)) => head::whole(stream, kind, body.as_bytes(), origin),
                Err(refusal) => refuse(refusal),
            },
            ("POST", "/requests") => {
                if !head.has_token(&self.token) {
                    return refuse(RequestRefusal::new(401, "give the token: Authorization: Bearer TOKEN"));
                }
                match head.body_bytes() {
                    Ok(bytes) => self.converse(stream, (rest, bytes), desk, greeting, origin),
                    Err(refusal) => refuse(refusal),
                }
            }
            (_, "/requests") => {
                refuse(RequestRefusal::with_allowed("POST, OPTIONS", "send requests by POST"))
            }
            (_, path) if explorer::is_explorer(path) => {
                refuse(RequestRefusal::with_allowed("GET, OPTIONS", "ask by GET"))
            }
            _ => refuse(RequestRefusal::new(404, "there are /masters, /lichess, /player and /requests")),
        }
    }

    /// Checks that a request does not come from the web page of another site. Returns the origin of the request if it is an allowed
    /// origin.
    fn check<'a>(&self, head: &'a RequestHead) -> Result<Option<&'a str>, RequestRefusal> {
        let hosts: Vec<&str> = head.all("host").collect();
        let [host] = hosts[..] else {
            return Err(RequestRefusal::new(400, "a request has one Host"));
        };
        if !self.is_own(host) {
            return Err(RequestRefusal::new(421, "the Host is none of this server: ask it by its address"));
        }
        let is_allowed = |origin: &str| {
            let own = origin.strip_prefix("http://").is_some_and(|origin| origin.eq_ignore_ascii_case(host));
            own || self.origins.iter().any(|allowed| allowed.0.eq_ignore_ascii_case(origin))
        };
        let mut origins = head.all("origin");
        match (origins.next(), origins.next()) {
            (Some(origin), None) if is_allowed(origin) => Ok(Some(origin)),
            (Some(_), _) => {
                Err(RequestRefusal::new(403, "pages of this Origin may not ask: see --allow-origin"))
            }
            // Browsers send `Sec-Fetch-Site` even in requests without `Origin`, for example when a page loads an image or the user
            // follows a link.
            (None, _)
                if head.all("sec-fetch-site").any(|site| matches!(site, "cross-site" | "same-site")) =>
            {
                Err(RequestRefusal::new(403, "other pages may not ask"))
            }
            (None, _) => Ok(None),
        }
    }

    /// Returns true if a host is `localhost` or an IP address, with the port of this server. All other names are rejected, because
    /// the owner of a name can bind it to any address (DNS rebinding).
    fn is_own(&self, host: &str) -> bool {
        let port = self.address.port();
        let (name, own) = match host.rsplit_once(':') {
            Some((name, digits)) if !digits.ends_with(']') => (name, digits.parse() == Ok(port)),
            _ => (host, port == 80),
        };
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        let is_address = bare.parse::<IpAddr>().is_ok_and(|ip| {
            ip == self.address.ip()
                || self.address.ip().is_unspecified()
                || ip.is_loopback() && self.address.ip().is_loopback()
        });
        own && (is_address || name.eq_ignore_ascii_case("localhost"))
    }

    /// Reads requests as lines, and writes each response as a line as soon as it is available. If a line cannot be written, because
    /// the client has left, its queries are cancelled.
    fn converse(
        &self,
        stream: &TcpStream,
        (rest, bytes): (Vec<u8>, u64),
        desk: &OpenDatabases,
        greeting: Greeting<'_>,
        origin: Option<&str>,
    ) -> io::Result<()> {
        head::begin_chunks(stream, "application/x-ndjson", origin)?;
        let (out, has_left) = (Mutex::new(stream), AtomicBool::new(false));
        let say = |line: &str| {
            if head::chunk(*lock(&out), &format!("{line}\n")).is_err() {
                // The client has left.
                has_left.store(true, Ordering::Relaxed);
                let _ = stream.shutdown(Shutdown::Both);
            }
        };
        let body = Timed { stream, until: Instant::now() + BODY_TIME };
        let mut input = BufReader::new(io::Cursor::new(rest).chain(body).take(bytes));
        let desk = desk.for_client().with_files(self.files.clone());
        converse_until(&desk, greeting, (&mut input, Origin::Input), &say, &has_left)?;
        head::end_chunks(stream)
    }
}

/// A reader of the bytes that a client sends. It fails after a deadline.
struct Timed<'a> {
    stream: &'a TcpStream,
    until: Instant,
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut stream = self.stream;
        stream.read(buffer)
    }
}
