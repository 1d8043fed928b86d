//! Runs an HTTP server on the loopback interface, whose responses the test determines.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request that the server received.
#[derive(Clone, Debug)]
pub struct Request {
    /// The index of the request, counted from 0 over all requests to the server.
    pub index: usize,
    /// The path with the query.
    pub target: String,
    lines: Vec<(String, String)>,
}

impl Request {
    /// Returns a header's value. The name must be in lower case.
    pub fn line(&self, name: &str) -> Option<&str> {
        self.lines.iter().find(|line| line.0 == name).map(|line| line.1.as_str())
    }

    /// Returns the offset of the first requested byte, or 0 if no range is requested.
    pub fn from(&self) -> usize {
        let range = self.line("range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-'));
        range.map_or(0, |first| first.parse().unwrap())
    }
}

/// The response to a request.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub status: u16,
    pub lines: Vec<String>,
    pub body: Vec<u8>,
    /// The chunk size, in bytes, in which the body is sent.
    pub chunks: Option<usize>,
    /// The number of body bytes after which the connection is closed.
    pub cut: Option<usize>,
    /// If present, sending stops in the middle of the body until the test releases it.
    pub hold: Option<Hold>,
}

impl Answer {
    pub fn new(status: u16) -> Answer {
        Answer { status, ..Answer::default() }
    }

    pub fn with(mut self, line: &str) -> Answer {
        self.lines.push(line.to_owned());
        self
    }

    pub fn cut(self, bytes: usize) -> Answer {
        Answer { cut: Some(bytes), ..self }
    }

    fn send(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        let mut head = format!("HTTP/1.1 {} Status\r\nConnection: close\r\n", self.status);
        self.lines.iter().for_each(|line| head += &format!("{line}\r\n"));
        if self.chunks.is_some() {
            head += "Transfer-Encoding: chunked\r\n";
        }
        stream.write_all(format!("{head}\r\n").as_bytes())?;
        let body = &self.body[..self.cut.unwrap_or(usize::MAX).min(self.body.len())];
        match self.chunks {
            None => stream.write_all(body)?,
            Some(size) => {
                for chunk in body.chunks(size) {
                    stream.write_all(format!("{:x}\r\n", chunk.len()).as_bytes())?;
                    stream.write_all(chunk)?;
                    stream.write_all(b"\r\n")?;
                }
                if self.cut.is_none() {
                    stream.write_all(b"0\r\n\r\n")?;
                }
            }
        }
        if let Some(hold) = &self.hold {
            stream.flush()?;
            hold.wait();
        }
        Ok(())
    }
}

/// A gate that holds back responses until the test drops its [`Release`].
#[derive(Clone, Debug)]
pub struct Hold {
    released: Arc<Mutex<Receiver<()>>>,
    met: Arc<AtomicUsize>,
}

/// The counterpart of a [`Hold`]. Dropping it releases the responses that are held back.
pub struct Release(Sender<()>);

impl Hold {
    pub fn new() -> (Hold, Release) {
        let (release, released) = channel();
        (Hold { released: Arc::new(Mutex::new(released)), met: Arc::default() }, Release(release))
    }

    pub fn wait(&self) {
        self.met.fetch_add(1, Ordering::SeqCst);
        // No message is ever sent, so this call returns when the sender is dropped.
        self.released.lock().unwrap().recv().ok();
    }

    /// Returns the number of responses that were held back so far.
    pub fn met(&self) -> usize {
        self.met.load(Ordering::SeqCst)
    }
}

/// Returns a response that contains a file, as a well-behaved server sends it: with its length, a strong entity tag, and support
/// for ranges.
pub fn file(request: &Request, body: &[u8], tag: &str) -> Answer {
    let (from, total) = (request.from(), body.len());
    let is_same = request.line("if-range").is_none_or(|condition| condition == tag);
    let answer = Answer::default().with(&format!("ETag: {tag}"));
    if request.line("range").is_none() || !is_same {
        let answer = answer.with(&format!("Content-Length: {total}"));
        return Answer { status: 200, body: body.to_vec(), ..answer };
    }
    if from >= total {
        return Answer { status: 416, ..answer.with(&format!("Content-Range: bytes */{total}")) };
    }
    let answer = answer.with(&format!("Content-Range: bytes {from}-{}/{total}", total - 1));
    let answer = answer.with(&format!("Content-Length: {}", total - from));
    Answer { status: 206, body: body[from..].to_vec(), ..answer }
}

pub struct Server {
    /// `http://127.0.0.1:PORT`.
    pub url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Starts a server that responds to each request with the result of a function. If the result is `None`, the connection is
    /// closed without a response.
    pub fn start(answer: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&requests), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, seen, answer) = (stream.unwrap(), Arc::clone(&seen), Arc::clone(&answer));
                thread::spawn(move || {
                    let Some(request) = read(&mut stream, &seen) else { return };
                    if let Some(answer) = answer(&request) {
                        // It is not an error if a client disconnects before the response is complete.
                        answer.send(&mut stream).ok();
                    }
                    stream.shutdown(Shutdown::Both).ok();
                });
            }
        });
        Server { url, requests }
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn read(stream: &mut TcpStream, seen: &Mutex<Vec<Request>>) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    while !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut buffer).ok()? {
            0 => return None,
            length => bytes.extend_from_slice(&buffer[..length]),
        }
    }
    let text = String::from_utf8(bytes).unwrap();
    let mut lines = text.lines();
    let target = lines.next()?.split(' ').nth(1)?.to_owned();
    let pair =
        |line: &str| line.split_once(": ").map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
    let lines = lines.filter_map(pair).collect();
    let mut seen = seen.lock().unwrap();
    let request = Request { index: seen.len(), target, lines };
    seen.push(request.clone());
    Some(request)
}
