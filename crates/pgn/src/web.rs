//! Reads files on the web. A file needs a single request, unless the connection is lost.
//!
//! A separate thread sends the requests, reads ahead, and resumes after a lost connection. So the reader, [`WebBytes`], can check
//! the interrupt flag even while no bytes arrive. [`head`] decides whether a response continues the file. Invariant: a reader gets
//! all bytes of one state of the file, in order and without repetition, or an error.

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

use self::head::{AnswerHead, FileIdentity, Verdict};
use super::pieces::PieceAtHand;
use super::{Options, PgnError, Url, WebOptions};
use orbit_core::sync::lock;

/// The maximum number of bytes in one message of the downloading thread.
const PIECE: usize = 64 << 10;
/// The maximum number of messages by which the downloading thread may be ahead of the reader.
const PIECES_AHEAD: usize = 64;
/// The interval at which a waiting thread checks whether to stop.
const LOOK: Duration = Duration::from_millis(20);

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

    /// Requests a file from byte `from` on. If `condition`, an entity tag or a date, no longer matches the file, the server sends
    /// the whole file.
    fn ask(
        &self,
        url: &Url,
        from: u64,
        condition: Option<&str>,
    ) -> Result<(AnswerHead, WebReader), FetchError> {
        let trouble = |error| FetchError::from_error(error, self.options.timeout);
        // A request that began with TLS must not be redirected to plain HTTP.
        let request = self.agent.get(url.asked()).config().https_only(url.is_encrypted()).build();
        let mut request = request.header("accept-encoding", "identity");
        if let Some(credentials) = url.credentials() {
            // The credentials are sent in a header. If the server redirects to another host, that host does not receive them.
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
        let head = AnswerHead::new(answer.status().as_u16(), |name| lines.get(name)?.to_str().ok());
        Ok((head, Box::new(answer.into_body().into_reader())))
    }
}

type WebReader = Box<dyn Read + Send>;

/// The reason why a request got no response.
enum FetchError {
    /// The connection was lost. The text describes how.
    Lost(String),
    /// The server was not found or did not respond.
    Silent(String),
    /// A request that would always fail, so it is not repeated.
    Lasting(String),
}

impl FetchError {
    /// Classifies an error. The text contains no part of the URL.
    fn from_error(error: Error, timeout: Duration) -> FetchError {
        use io::ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable};
        let lasting = |reason: &str| FetchError::Lasting(reason.to_owned());
        match error {
            Error::Timeout(_) => FetchError::Silent(format!("the server is silent for {timeout:?}")),
            Error::HostNotFound => FetchError::Silent(String::from(NOT_FOUND)),
            Error::ConnectionFailed => FetchError::Silent(String::from("its host cannot be reached")),
            Error::Io(error) if is_of_tls(&error) => FetchError::Lasting(tls_reason(&error)),
            Error::Io(error) => match error.kind() {
                ConnectionRefused | HostUnreachable | NetworkUnreachable => {
                    FetchError::Silent(format!("its host cannot be reached ({error})"))
                }
                // The standard library has no error kind for unknown host names; it only has this message.
                _ if error.to_string().starts_with("failed to lookup address") => {
                    FetchError::Silent(String::from(NOT_FOUND))
                }
                _ => FetchError::Lost(format!("the connection ends: {error}")),
            },
            Error::Rustls(error) => FetchError::Lasting(tls_reason(&error)),
            Error::Tls(reason) => FetchError::Lasting(tls_reason(&reason)),
            Error::Http(_) | Error::BadUri(_) => lasting(
                "the URL is not understood: write blanks and letters beyond ASCII as %20 and the like",
            ),
            Error::RequireHttpsOnly(_) => {
                lasting("it is redirected to http, which is not encrypted: give that URL if you trust it")
            }
            Error::TooManyRedirects => lasting("it is redirected too often: check the link"),
            Error::InvalidProxyUrl => lasting("the proxy that the environment names is not understood"),
            Error::ConnectProxyFailed(reason) => FetchError::Lasting(format!("the proxy fails: {reason}")),
            Error::Protocol(reason) => {
                FetchError::Lasting(format!("the server speaks no HTTP/1.1: {reason}"))
            }
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

/// A file on the web that is known to exist. All clones share one state.
#[derive(Clone)]
pub(super) struct Remote(Arc<WebShared>);

struct WebShared {
    client: Arc<Client>,
    url: Url,
    known: FileIdentity,
    /// The response to the first request, from which the first reader of the file continues to read.
    begun: Mutex<Option<WebBytes>>,
}

impl Remote {
    /// Requests a file. If `is_next` is true, the file will be read next, so the connection is kept open for its reader.
    pub(super) fn open(
        client: &Arc<Client>,
        url: Url,
        is_next: bool,
        options: &Options,
    ) -> Result<Remote, PgnError> {
        let failed = |reason| PgnError::Web { name: url.shown(), reason };
        let download = Download { client: Arc::clone(client), url: url.clone(), offset: 0, attempts: 0 };
        let begun = WebBytes::start(download, None, is_next, &options.interrupt)
            .map_err(|error| failed(error.to_string()))?;
        let known = match message(&begun.from, &begun.interrupt) {
            Some(WebMessage::Known(known)) => known,
            Some(WebMessage::Fault(reason)) => return Err(failed(reason)),
            _ if options.interrupt.load(Ordering::Relaxed) => return Err(PgnError::Interrupted),
            _ => return Err(failed(String::from(ENDED))),
        };
        let (client, begun) = (Arc::clone(client), Mutex::new(is_next.then_some(begun)));
        Ok(Remote(Arc::new(WebShared { client, url, known, begun })))
    }

    /// Returns the size of the file in bytes, if the server states it.
    pub(super) fn bytes(&self) -> Option<u64> {
        self.0.known.total
    }

    /// Reads the file from its beginning.
    pub(super) fn read(&self, interrupt: &Arc<AtomicBool>) -> io::Result<WebBytes> {
        let WebShared { client, url, known, begun } = &*self.0;
        let begun = lock(begun).take();
        if let Some(begun) = begun {
            return Ok(WebBytes { interrupt: Arc::clone(interrupt), ..begun });
        }
        let download = Download { client: Arc::clone(client), url: url.clone(), offset: 0, attempts: 0 };
        WebBytes::start(download, Some(known.clone()), true, interrupt)
    }
}

/// The error message for a downloading thread that panicked.
const ENDED: &str = "the thread that reads it ended";

/// A message from the thread that downloads the file.
enum WebMessage {
    /// The file exists, and has this identity.
    Known(FileIdentity),
    Bytes(Vec<u8>),
    End,
    Fault(String),
}

/// A reader of the bytes of a file on the web, as they arrive from the downloading thread.
pub(super) struct WebBytes {
    from: Receiver<WebMessage>,
    _line: ReaderGuard,
    interrupt: Arc<AtomicBool>,
    pieces: PieceAtHand,
}

/// A guard that sets a flag when the reader is dropped. The downloading thread then stops.
struct ReaderGuard(Arc<AtomicBool>);

impl Drop for ReaderGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl WebBytes {
    /// Starts a thread that requests a file. If `is_read` is true, the thread also downloads the content.
    fn start(
        download: Download,
        known: Option<FileIdentity>,
        is_read: bool,
        interrupt: &Arc<AtomicBool>,
    ) -> io::Result<WebBytes> {
        let (to, from) = sync_channel(PIECES_AHEAD);
        let line = ReaderGuard(Arc::default());
        let reader = WebReading { to, is_left: Arc::clone(&line.0) };
        thread::Builder::new()
            .name(String::from("web"))
            .spawn(move || download.run(known, is_read, &reader))?;
        let interrupt = Arc::clone(interrupt);
        Ok(WebBytes { from, _line: line, interrupt, pieces: PieceAtHand::default() })
    }
}

/// Waits for the next message from the downloading thread. Returns `None` after an interrupt, or if that thread has ended.
fn message(from: &Receiver<WebMessage>, interrupt: &AtomicBool) -> Option<WebMessage> {
    loop {
        match from.recv_timeout(LOOK) {
            Ok(message) => return Some(message),
            Err(RecvTimeoutError::Timeout) if !interrupt.load(Ordering::Relaxed) => {}
            Err(_) => return None,
        }
    }
}

impl Read for WebBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let WebBytes { from, interrupt, pieces, .. } = self;
        pieces.read(buffer, || {
            loop {
                match message(from, interrupt) {
                    Some(WebMessage::Bytes(piece)) => return Ok(Some(piece)),
                    Some(WebMessage::End) => return Ok(None),
                    Some(WebMessage::Known(_)) => {}
                    Some(WebMessage::Fault(reason)) => return Err(io::Error::other(reason)),
                    None => return Err(io::Error::other(ENDED)),
                }
            }
        })
    }
}

/// The downloading thread's end of the channel to the reader.
struct WebReading {
    to: SyncSender<WebMessage>,
    is_left: Arc<AtomicBool>,
}

impl WebReading {
    fn say(&self, message: WebMessage) -> Result<(), Stop> {
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

enum Stop {
    /// The reader was dropped.
    Left,
    Failed(String),
}

struct AnswerBody {
    reader: WebReader,
    /// The number of bytes to skip at the start of the response body, because the reader already has them.
    skip: u64,
    /// True if the end of the response body can be distinguished from a lost connection: see [`AnswerHead::has_end`].
    has_end: bool,
}

/// The way in which a response ended.
enum Ended {
    /// The file is complete.
    Whole,
    /// The connection ended, and the file may be complete: its length is unknown.
    Unsure,
    /// The connection was lost, for this reason.
    Lost(String),
}

struct Download {
    client: Arc<Client>,
    url: Url,
    /// The number of bytes that the reader has received so far.
    offset: u64,
    /// The number of attempts to resume since a byte last arrived.
    attempts: u32,
}

impl Download {
    /// Runs the downloading thread. `known` is the identity of the file, if an earlier request found it.
    fn run(mut self, known: Option<FileIdentity>, is_read: bool, reading: &WebReading) {
        let read = self.first(known, reading).and_then(|(known, body)| {
            if is_read {
                self.transfer(known, body, reading).and_then(|()| reading.say(WebMessage::End))
            } else {
                Ok(())
            }
        });
        if let Err(Stop::Failed(reason)) = read {
            // An error means that the reader is gone, so the message is not needed.
            reading.say(WebMessage::Fault(reason)).ok();
        }
    }

    /// Sends the first request, unless the identity of the file is known. Returns the identity and, if a request was sent, the body
    /// of the response.
    fn first(
        &mut self,
        known: Option<FileIdentity>,
        reading: &WebReading,
    ) -> Result<(FileIdentity, Option<AnswerBody>), Stop> {
        if let Some(known) = known {
            return Ok((known, None));
        }
        loop {
            match self.client.ask(&self.url, 0, None) {
                Ok((head, reader)) if head.status == 200 => {
                    let known = FileIdentity::from_head(&head);
                    reading.say(WebMessage::Known(known.clone()))?;
                    return Ok((known, Some(AnswerBody { reader, skip: 0, has_end: head.has_end() })));
                }
                Ok((head, _)) if head.is_passing() => {
                    self.pause(&head.refusal(), head.retry_after, reading)?
                }
                Ok((head, _)) => return Err(Stop::Failed(head.refusal())),
                Err(FetchError::Lost(reason)) => self.pause(&reason, None, reading)?,
                Err(FetchError::Silent(reason) | FetchError::Lasting(reason)) => {
                    return Err(Stop::Failed(reason));
                }
            }
        }
    }

    /// Sends the whole file to the reader, and resumes the download after lost connections.
    fn transfer(
        &mut self,
        mut known: FileIdentity,
        mut body: Option<AnswerBody>,
        reading: &WebReading,
    ) -> Result<(), Stop> {
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

    /// Sends the bytes of one response to the reader.
    fn hand_on(
        &mut self,
        mut body: AnswerBody,
        known: &FileIdentity,
        reading: &WebReading,
    ) -> Result<Ended, Stop> {
        let mut piece = vec![0; PIECE];
        loop {
            let length = match body.reader.read(&mut piece) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => match FetchError::from_error(Error::from(error), self.client.options.timeout) {
                    FetchError::Lost(reason) | FetchError::Silent(reason) | FetchError::Lasting(reason) => {
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
                reading.say(WebMessage::Bytes(bytes.to_vec()))?;
            }
        }
    }

    /// Requests the rest of the file. Returns `None` if the file is already complete.
    fn go_on(
        &mut self,
        known: &mut FileIdentity,
        is_unsure: bool,
        reading: &WebReading,
    ) -> Result<Option<AnswerBody>, Stop> {
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
                        return Ok(Some(AnswerBody { reader, skip, has_end: head.has_end() }));
                    }
                    Verdict::Complete => return Ok(None),
                    Verdict::Later(reason) => self.pause(&reason, head.retry_after, reading)?,
                    Verdict::Failed(reason) => return Err(Stop::Failed(reason)),
                },
                Err(FetchError::Lost(reason) | FetchError::Silent(reason)) => {
                    self.pause(&reason, None, reading)?
                }
                Err(FetchError::Lasting(reason)) => return Err(Stop::Failed(reason)),
            }
        }
    }

    /// Waits before the next attempt. Fails if the maximum number of attempts is reached.
    fn pause(&mut self, reason: &str, wanted: Option<Duration>, reading: &WebReading) -> Result<(), Stop> {
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
