//! Files on the web: one request, and further ones where the connection is lost.
//!
//! A thread of its own asks, reads ahead and goes on where a connection was lost, so that a reader never waits longer for the
//! web than it wants to: [`Incoming`] looks after the interrupt while no bytes come. [`head`] decides which answers go on with
//! a file. The invariant: a reader gets the bytes of one state of the file, in order, each once, or an error.

mod head;

use std::fmt;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::percent_decode_str;
use ureq::config::RedirectAuthHeaders;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Error};

use self::head::{Head, Known, Verdict};
use super::pieces::Pieces;
use super::{Options, PgnError, Url, WebOptions};
use orbit_core::sync::lock;

/// Bytes that are handed on at once, at most.
const PIECE: usize = 64 << 10;
/// Pieces that are read ahead of the reader.
const PIECES_AHEAD: usize = 64;
/// How often somebody who waits looks whether it is still worth it.
const LOOK: Duration = Duration::from_millis(20);

/// Asks servers.
pub(super) struct Client {
    agent: Agent,
    options: WebOptions,
}

impl Client {
    pub(super) fn new(options: WebOptions) -> Client {
        let wait = Some(options.timeout);
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .user_agent(concat!("orbit/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls)
            .redirect_auth_headers(RedirectAuthHeaders::SameHost)
            .timeout_resolve(wait)
            .timeout_connect(wait)
            .timeout_send_request(wait)
            .timeout_recv_response(wait)
            .timeout_per_read(wait);
        Client { agent: config.build().into(), options }
    }

    /// Asks for a file from some byte on. The server is to send all of it where it is not what the condition says.
    fn ask(&self, url: &Url, from: u64, condition: Option<&str>) -> Result<(Head, Reader), Trouble> {
        let trouble = |error| Trouble::of(error, self.options.timeout);
        // What was asked for by TLS is not to come without.
        let request = self.agent.get(url.asked()).config().https_only(url.is_encrypted()).build();
        let mut request = request.header("accept-encoding", "identity");
        if let Some(credentials) = url.credentials() {
            // Another host, to which this is redirected, does not get it.
            let credentials: Vec<u8> = percent_decode_str(credentials).collect();
            request =
                request.header("authorization", format!("Basic {}", BASE64_STANDARD.encode(credentials)));
        }
        if from > 0 {
            request = request.header("range", format!("bytes={from}-"));
            if let Some(condition) = condition {
                request = request.header("if-range", condition);
            }
        }
        let answer = request.call().map_err(trouble)?;
        let lines = answer.headers();
        let head = Head::new(answer.status().as_u16(), |name| lines.get(name)?.to_str().ok());
        Ok((head, Box::new(answer.into_body().into_reader())))
    }
}

type Reader = Box<dyn Read + Send>;

/// Why a request was not answered.
enum Trouble {
    /// The connection ended.
    Lost(String),
    /// The server was not found or is silent.
    Silent(String),
    /// The same request will fail again.
    Lasting(String),
}

impl Trouble {
    /// In words that hold nothing of the URL.
    fn of(error: Error, timeout: Duration) -> Trouble {
        use io::ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable};
        let lasting = |reason: &str| Trouble::Lasting(reason.to_owned());
        match error {
            Error::Timeout(_) => Trouble::Silent(format!("the server is silent for {timeout:?}")),
            Error::HostNotFound => Trouble::Silent(String::from(NOT_FOUND)),
            Error::ConnectionFailed => Trouble::Silent(String::from("its host cannot be reached")),
            Error::Io(error) if is_of_tls(&error) => Trouble::Lasting(tls_reason(&error)),
            Error::Io(error) => match error.kind() {
                ConnectionRefused | HostUnreachable | NetworkUnreachable => {
                    Trouble::Silent(format!("its host cannot be reached ({error})"))
                }
                // That is how the standard library tells of names that nobody knows; there is no kind of error for it.
                _ if error.to_string().starts_with("failed to lookup address") => {
                    Trouble::Silent(String::from(NOT_FOUND))
                }
                _ => Trouble::Lost(format!("the connection ends: {error}")),
            },
            Error::Rustls(error) => Trouble::Lasting(tls_reason(&error)),
            Error::Tls(reason) => Trouble::Lasting(tls_reason(&reason)),
            Error::Http(_) | Error::BadUri(_) => lasting(
                "the URL is not understood: write blanks and letters beyond ASCII as %20 and the like",
            ),
            Error::RequireHttpsOnly(_) => {
                lasting("it is redirected to http, which is not encrypted: give that URL if you trust it")
            }
            Error::TooManyRedirects => lasting("it is redirected too often: check the link"),
            Error::InvalidProxyUrl => lasting("the proxy that the environment names is not understood"),
            Error::ConnectProxyFailed(reason) => Trouble::Lasting(format!("the proxy fails: {reason}")),
            Error::Protocol(reason) => Trouble::Lasting(format!("the server speaks no HTTP/1.1: {reason}")),
            _ => lasting("the request fails"),
        }
    }
}

const NOT_FOUND: &str = "its host is not found: check the name";

fn is_of_tls(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>())
}

fn tls_reason(error: &dyn fmt::Display) -> String {
    format!(
        "no trusted connection by TLS is made ({error}): check the link, the clock and the system's certificates \
         (SSL_CERT_FILE names others)"
    )
}

/// A file on the web that is there. Clones share what they know of it.
#[derive(Clone)]
pub(super) struct Remote(Arc<Shared>);

struct Shared {
    client: Arc<Client>,
    url: Url,
    known: Known,
    /// The answer to the request that found it, for the first reader.
    begun: Mutex<Option<Incoming>>,
}

impl Remote {
    /// Asks for a file. `is_next` says that it will be read first of all: then the answer is kept.
    pub(super) fn open(
        client: &Arc<Client>,
        url: Url,
        is_next: bool,
        options: &Options,
    ) -> Result<Remote, PgnError> {
        let failed = |reason| PgnError::Web { name: url.shown(), reason };
        let download = Download { client: Arc::clone(client), url: url.clone(), offset: 0, attempts: 0 };
        let begun = Incoming::start(download, None, is_next, &options.interrupt)
            .map_err(|error| failed(error.to_string()))?;
        let known = match message(&begun.from, &begun.interrupt) {
            Some(Message::Known(known)) => known,
            Some(Message::Fault(reason)) => return Err(failed(reason)),
            _ if options.interrupt.load(Ordering::Relaxed) => return Err(PgnError::Interrupted),
            _ => return Err(failed(String::from(ENDED))),
        };
        let (client, begun) = (Arc::clone(client), Mutex::new(is_next.then_some(begun)));
        Ok(Remote(Arc::new(Shared { client, url, known, begun })))
    }

    /// Its size, if the server tells it.
    pub(super) fn bytes(&self) -> Option<u64> {
        self.0.known.total
    }

    /// Reads it from its beginning.
    pub(super) fn read(&self, interrupt: &Arc<AtomicBool>) -> io::Result<Incoming> {
        let Shared { client, url, known, begun } = &*self.0;
        let begun = lock(begun).take();
        if let Some(begun) = begun {
            return Ok(Incoming { interrupt: Arc::clone(interrupt), ..begun });
        }
        let download = Download { client: Arc::clone(client), url: url.clone(), offset: 0, attempts: 0 };
        Incoming::start(download, Some(known.clone()), true, interrupt)
    }
}

/// Of a thread that panicked nothing comes.
const ENDED: &str = "the thread that reads it ended";

/// What the thread that reads from the web says.
enum Message {
    /// The file is there.
    Known(Known),
    Bytes(Vec<u8>),
    End,
    Fault(String),
}

/// The bytes of a file as they come.
pub(super) struct Incoming {
    from: Receiver<Message>,
    _line: Line,
    interrupt: Arc<AtomicBool>,
    pieces: Pieces,
}

/// Tells the thread, when it is dropped, that nobody reads any more.
struct Line(Arc<AtomicBool>);

impl Drop for Line {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Incoming {
    /// Lets a thread ask for a file, and read it if that is wanted.
    fn start(
        download: Download,
        known: Option<Known>,
        is_read: bool,
        interrupt: &Arc<AtomicBool>,
    ) -> io::Result<Incoming> {
        let (to, from) = sync_channel(PIECES_AHEAD);
        let line = Line(Arc::default());
        let reader = Reading { to, is_left: Arc::clone(&line.0) };
        thread::Builder::new()
            .name(String::from("web"))
            .spawn(move || download.run(known, is_read, &reader))?;
        let interrupt = Arc::clone(interrupt);
        Ok(Incoming { from, _line: line, interrupt, pieces: Pieces::default() })
    }
}

/// Waits for the next message; `None` after an interrupt, or if none comes any more.
fn message(from: &Receiver<Message>, interrupt: &AtomicBool) -> Option<Message> {
    loop {
        match from.recv_timeout(LOOK) {
            Ok(message) => return Some(message),
            Err(RecvTimeoutError::Timeout) if !interrupt.load(Ordering::Relaxed) => {}
            Err(_) => return None,
        }
    }
}

impl Read for Incoming {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Incoming { from, interrupt, pieces, .. } = self;
        pieces.read(buffer, || {
            loop {
                match message(from, interrupt) {
                    Some(Message::Bytes(piece)) => return Ok(Some(piece)),
                    Some(Message::End) => return Ok(None),
                    Some(Message::Known(_)) => {}
                    Some(Message::Fault(reason)) => return Err(io::Error::other(reason)),
                    None => return Err(io::Error::other(ENDED)),
                }
            }
        })
    }
}

/// The reader, as the thread sees it.
struct Reading {
    to: SyncSender<Message>,
    is_left: Arc<AtomicBool>,
}

impl Reading {
    fn say(&self, message: Message) -> Result<(), Stop> {
        self.to.send(message).map_err(|_| Stop::Left)
    }

    fn wait(&self, pause: Duration) -> Result<(), Stop> {
        let end = Instant::now() + pause;
        loop {
            if self.is_left.load(Ordering::Relaxed) {
                return Err(Stop::Left);
            }
            let rest = end.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Ok(());
            }
            thread::sleep(rest.min(LOOK));
        }
    }
}

/// Why the thread ends early.
enum Stop {
    /// Nobody reads any more.
    Left,
    Failed(String),
}

/// The bytes of an answer.
struct Body {
    reader: Reader,
    /// Bytes that are known already.
    skip: u64,
    /// Whether its end can be told from a connection that was lost.
    has_end: bool,
}

/// How an answer ended.
enum Ended {
    /// With the file.
    Whole,
    /// Perhaps with the file.
    Unsure,
    /// Before its end; why.
    Lost(String),
}

/// A file that is being read.
struct Download {
    client: Arc<Client>,
    url: Url,
    /// Bytes that were handed on.
    offset: u64,
    /// Attempts to go on since the last of them.
    attempts: u32,
}

impl Download {
    /// `known` is what was known of the file when it was found.
    fn run(mut self, known: Option<Known>, is_read: bool, reading: &Reading) {
        let read = self.first(known, reading).and_then(|(known, body)| {
            if is_read {
                self.transfer(known, body, reading).and_then(|()| reading.say(Message::End))
            } else {
                Ok(())
            }
        });
        if let Err(Stop::Failed(reason)) = read {
            // Where nobody is left to hear it, it does not matter.
            reading.say(Message::Fault(reason)).ok();
        }
    }

    /// Finds the file, unless it is known.
    fn first(&mut self, known: Option<Known>, reading: &Reading) -> Result<(Known, Option<Body>), Stop> {
        if let Some(known) = known {
            return Ok((known, None));
        }
        loop {
            match self.client.ask(&self.url, 0, None) {
                Ok((head, reader)) if head.status == 200 => {
                    let known = Known::of(&head);
                    reading.say(Message::Known(known.clone()))?;
                    return Ok((known, Some(Body { reader, skip: 0, has_end: head.has_end() })));
                }
                Ok((head, _)) if head.is_passing() => {
                    self.pause(&head.refusal(), head.retry_after, reading)?
                }
                Ok((head, _)) => return Err(Stop::Failed(head.refusal())),
                Err(Trouble::Lost(reason)) => self.pause(&reason, None, reading)?,
                Err(Trouble::Silent(reason) | Trouble::Lasting(reason)) => return Err(Stop::Failed(reason)),
            }
        }
    }

    /// Hands on all of the file.
    fn transfer(&mut self, mut known: Known, mut body: Option<Body>, reading: &Reading) -> Result<(), Stop> {
        let mut is_unsure = false;
        loop {
            let next = match body.take() {
                Some(body) => body,
                None => match self.go_on(&mut known, is_unsure, reading)? {
                    Some(body) => body,
                    None => return Ok(()),
                },
            };
            match self.hand_on(next, &known, reading)? {
                Ended::Whole => return Ok(()),
                Ended::Unsure => is_unsure = true,
                Ended::Lost(reason) => {
                    is_unsure = false;
                    self.pause(&reason, None, reading)?;
                }
            }
        }
    }

    /// Hands on the bytes of an answer.
    fn hand_on(&mut self, mut body: Body, known: &Known, reading: &Reading) -> Result<Ended, Stop> {
        let mut piece = vec![0; PIECE];
        loop {
            let length = match body.reader.read(&mut piece) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => match Trouble::of(Error::from(error), self.client.options.timeout) {
                    Trouble::Lost(reason) | Trouble::Silent(reason) | Trouble::Lasting(reason) => {
                        return Ok(Ended::Lost(reason));
                    }
                },
            };
            if length == 0 {
                return Ok(match known.total {
                    Some(total) if self.offset == total => Ended::Whole,
                    Some(_) => Ended::Lost(String::from("the connection ends early")),
                    None if body.has_end => Ended::Whole,
                    None => Ended::Unsure,
                });
            }
            let skipped = body.skip.min(length as u64);
            body.skip -= skipped;
            let bytes = &piece[skipped as usize..length];
            if !bytes.is_empty() {
                self.offset += bytes.len() as u64;
                if known.total.is_some_and(|total| self.offset > total) {
                    let reason = "the server sends more of it than it announced: read it again";
                    return Err(Stop::Failed(String::from(reason)));
                }
                self.attempts = 0;
                reading.say(Message::Bytes(bytes.to_vec()))?;
            }
        }
    }

    /// Asks for the rest; `None` if there is none.
    fn go_on(&mut self, known: &mut Known, is_unsure: bool, reading: &Reading) -> Result<Option<Body>, Stop> {
        if let Some(reason) = known.refusal(self.offset, is_unsure) {
            return Err(Stop::Failed(reason));
        }
        loop {
            match self.client.ask(&self.url, self.offset, known.condition()) {
                Ok((head, reader)) => match known.judge(&head, self.offset, is_unsure) {
                    Verdict::GoesOn { skip } => {
                        let total = if head.status == 200 {
                            head.length
                        } else {
                            head.range.and_then(|range| range.total)
                        };
                        known.total = known.total.or(total);
                        return Ok(Some(Body { reader, skip, has_end: head.has_end() }));
                    }
                    Verdict::Complete => return Ok(None),
                    Verdict::Later(reason) => self.pause(&reason, head.retry_after, reading)?,
                    Verdict::Failed(reason) => return Err(Stop::Failed(reason)),
                },
                Err(Trouble::Lost(reason) | Trouble::Silent(reason)) => self.pause(&reason, None, reading)?,
                Err(Trouble::Lasting(reason)) => return Err(Stop::Failed(reason)),
            }
        }
    }

    /// Waits before the next attempt, if there is to be one.
    fn pause(&mut self, reason: &str, wanted: Option<Duration>, reading: &Reading) -> Result<(), Stop> {
        let WebOptions { attempts_max, pause, pause_max, .. } = self.client.options;
        if self.attempts >= attempts_max {
            return Err(Stop::Failed(match self.offset {
                0 => format!("{reason}; {attempts_max} further attempts failed as well: try again later"),
                offset => format!(
                    "the connection was lost after {offset} bytes, and {attempts_max} attempts to go on failed ({reason}): \
                     read it again"
                ),
            }));
        }
        let doubled = pause.saturating_mul(1 << self.attempts.min(16));
        self.attempts += 1;
        reading.wait(doubled.max(wanted.unwrap_or_default()).min(pause_max))
    }
}
