//! Parses the head of an HTTP request (path, query string, header lines, token), and writes the status, headers and body of
//! responses.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use serde_json::json;

use super::{BODY_BYTES_MAX, HEAD_BYTES_MAX, TARGET_BYTES_MAX};

/// The maximum number of lines in a request head.
const LINES_MAX: usize = 100;

/// The head of a request.
#[derive(Debug)]
pub(super) struct RequestHead {
    pub(super) method: String,
    target: String,
    /// The header lines: lower-case names, and values.
    lines: Vec<(String, String)>,
}

/// The presence of a body in a response. The response to a `HEAD` request has none, and the same head as if it had one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HasBody {
    Yes,
    No,
}

/// A response that rejects a request.
#[derive(Debug)]
pub(super) struct RequestRefusal {
    status: u16,
    message: String,
    /// The methods that the path allows, if the request has another method.
    allowed: Option<&'static str>,
}

impl RequestRefusal {
    pub(super) fn new(status: u16, message: impl Into<String>) -> RequestRefusal {
        RequestRefusal { status, message: message.into(), allowed: None }
    }

    /// Creates the refusal of a method. `allowed` lists the methods that the path allows.
    pub(super) fn with_allowed(allowed: &'static str, message: &str) -> RequestRefusal {
        RequestRefusal { allowed: Some(allowed), ..RequestRefusal::new(405, message) }
    }

    /// Writes the refusal as JSON.
    pub(super) fn write(
        &self,
        stream: &TcpStream,
        origin: Option<&str>,
        has_body: HasBody,
    ) -> io::Result<()> {
        let body = json!({ "error": self.message }).to_string();
        let mut more = format!("Content-Length: {}\r\n", body.len());
        if self.status == 401 {
            more.push_str("WWW-Authenticate: Bearer\r\n");
        }
        self.allowed.iter().for_each(|allowed| more.push_str(&format!("Allow: {allowed}\r\n")));
        begin(stream, self.status, "application/json", &more, origin)?;
        let mut stream = stream;
        match has_body {
            HasBody::Yes => stream.write_all(body.as_bytes()),
            HasBody::No => Ok(()),
        }
    }
}

impl RequestHead {
    /// Reads a request head. Also returns the bytes of the body that were read together with it.
    pub(super) fn read(input: &mut impl Read) -> Result<(RequestHead, Vec<u8>), RequestRefusal> {
        let mut bytes = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let read = match input.read(&mut buffer) {
                Ok(0) => return Err(RequestRefusal::new(400, "the request ends in its head")),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Err(RequestRefusal::new(408, "the request took too long")),
            };
            bytes.extend_from_slice(&buffer[..read]);
            let mut lines = [httparse::EMPTY_HEADER; LINES_MAX];
            let mut request = httparse::Request::new(&mut lines);
            match request.parse(&bytes) {
                Ok(httparse::Status::Complete(end)) => {
                    let head = RequestHead::from_request(&request)?;
                    return Ok((head, bytes.split_off(end)));
                }
                Ok(httparse::Status::Partial) if bytes.len() < HEAD_BYTES_MAX => {}
                Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                    let is_path = !bytes.contains(&b'\n');
                    let status = if is_path { 414 } else { 431 };
                    return Err(RequestRefusal::new(status, "the head of the request is too long"));
                }
                Err(error) => return Err(RequestRefusal::new(400, format!("no request of HTTP: {error}"))),
            }
        }
    }

    fn from_request(request: &httparse::Request) -> Result<RequestHead, RequestRefusal> {
        let target = request.path.unwrap_or_default().to_owned();
        if target.len() > TARGET_BYTES_MAX {
            return Err(RequestRefusal::new(414, format!("a path has at most {TARGET_BYTES_MAX} bytes")));
        }
        let line = |line: &httparse::Header| {
            let value = str::from_utf8(line.value).ok()?.trim().to_owned();
            Some((line.name.to_ascii_lowercase(), value))
        };
        let lines = request.headers.iter().map(line).collect::<Option<Vec<_>>>();
        let lines = lines.ok_or_else(|| RequestRefusal::new(400, "a line of the head is no text"))?;
        Ok(RequestHead { method: request.method.unwrap_or_default().to_owned(), target, lines })
    }

    /// Returns whether the response to the request has a body.
    pub(super) fn has_body(&self) -> HasBody {
        if self.method == "HEAD" { HasBody::No } else { HasBody::Yes }
    }

    /// Iterates over the values of all header lines with this name.
    pub(super) fn all(&self, name: &'static str) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(move |line| line.0 == name).map(|line| line.1.as_str())
    }

    /// Returns the path, without the query.
    pub(super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// Returns the decoded names and values of the query string.
    pub(super) fn query(&self) -> Result<Vec<(String, String)>, RequestRefusal> {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name)?, decoded(value)?))
        };
        let pairs: Option<Vec<_>> = pairs.map(pair).collect();
        pairs.ok_or_else(|| RequestRefusal::new(400, "a value of the query is no UTF-8 behind %"))
    }

    /// Returns true if the request contains the token. All bytes are compared, so the duration reveals nothing about the token.
    pub(super) fn has_token(&self, token: &str) -> bool {
        let shown = self.all("authorization").next().and_then(|value| {
            let (scheme, shown) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("Bearer").then(|| shown.trim_start())
        });
        shown.is_some_and(|shown| {
            let differing = shown.bytes().zip(token.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
            shown.len() == token.len() && differing == 0
        })
    }

    pub(super) fn body_bytes(&self) -> Result<u64, RequestRefusal> {
        let mut lengths = self.all("content-length");
        let length = match (lengths.next(), lengths.next(), self.all("transfer-encoding").next()) {
            (Some(length), None, None) if length.bytes().all(|byte| byte.is_ascii_digit()) => {
                length.parse::<u64>().ok()
            }
            _ => None,
        };
        match length {
            None => Err(RequestRefusal::new(411, "give the Content-Length of the requests")),
            Some(bytes) if bytes > BODY_BYTES_MAX as u64 => Err(RequestRefusal::new(
                413,
                format!("requests have at most {BODY_BYTES_MAX} bytes together"),
            )),
            Some(bytes) => Ok(bytes),
        }
    }
}

/// Decodes a part of a query string by replacing `%` escapes and `+`. Returns `None` if the part is invalid.
fn decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || (bytes.next()? as char).to_digit(16);
                (16 * digit()? + digit()?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(out).ok()
}

fn begin(stream: &TcpStream, status: u16, kind: &str, more: &str, origin: Option<&str>) -> io::Result<()> {
    let reason = match status {
        200 => "OK",
        204 => "No Content",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        414 => "URI Too Long",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    };
    let origin = origin.map_or(String::new(), |origin| format!("Access-Control-Allow-Origin: {origin}\r\n"));
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\n{more}{origin}Vary: Origin\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
    );
    let mut stream = stream;
    stream.write_all(head.as_bytes())
}

/// Writes a response of known length.
pub(super) fn whole(stream: &TcpStream, kind: &str, body: &[u8], origin: Option<&str>) -> io::Result<()> {
    begin(stream, 200, kind, &format!("Content-Length: {}\r\n", body.len()), origin)?;
    let mut stream = stream;
    stream.write_all(body)
}

/// Answers a preflight request. A browser sends one before it lets a page of another origin send requests.
pub(super) fn preflight(stream: &TcpStream, origin: Option<&str>) -> io::Result<()> {
    let more = "Access-Control-Allow-Methods: GET, POST\r\n\
                Access-Control-Allow-Headers: Authorization, Content-Type\r\n";
    begin(stream, 204, "text/plain", more, origin)
}

/// Begins a response of unknown length.
pub(super) fn begin_chunks(stream: &TcpStream, kind: &str, origin: Option<&str>) -> io::Result<()> {
    begin(stream, 200, kind, "Transfer-Encoding: chunked\r\n", origin)
}

pub(super) fn chunk(mut stream: &TcpStream, text: &str) -> io::Result<()> {
    stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
}

pub(super) fn end_chunks(mut stream: &TcpStream) -> io::Result<()> {
    stream.write_all(b"0\r\n\r\n")
}
