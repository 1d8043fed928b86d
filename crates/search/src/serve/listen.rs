//! Serves clients that connect over sockets. Each client has its own conversation.
//!
//! Each client has its own [`OpenDatabases`]. Clients share the memory, the threads, and the databases that were open at the start.
//! Invariants: a socket in the file system accepts connections only from the user who runs the process; an address accepts
//! connections only from this machine, unless the caller allows other machines; no client waits for another client that is idle or
//! slow.

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::json;

use super::answer::{Response, error_line};
use super::converse::{CARD_IDLE, Greeting, Origin, converse};
use super::desk::OpenDatabases;
use super::fault::{ErrorCode, Fault};
use super::place::{Endpoint, ListenError};
#[cfg(unix)]
use super::socket_file::{self, SocketFile};
use orbit_core::sync::lock;

/// The maximum number of simultaneously connected clients.
pub const CLIENTS_MAX: usize = 16;
/// After a conversation, further bytes from the client are read and discarded, for at most this time and up to
/// [`FAREWELL_BYTES`]. Otherwise the client could lose the last bytes that were sent to it.
pub(super) const FAREWELL: Duration = Duration::from_secs(1);
pub(super) const FAREWELL_BYTES: u64 = 1 << 20;
/// The pause after a connection could not be accepted, or its conversation could not be started.
pub(super) const REFUSED_PAUSE: Duration = Duration::from_millis(100);

/// Counts the clients that are connected, up to a maximum number.
pub(super) struct Seats {
    taken: Mutex<usize>,
    max: usize,
}

impl Seats {
    pub(super) fn new(max: usize) -> Seats {
        Seats { taken: Mutex::new(0), max }
    }

    /// Takes a seat until the result is dropped. Returns `None` if none is free.
    pub(super) fn take(&self) -> Option<Seat<'_>> {
        let mut taken = lock(&self.taken);
        (*taken < self.max).then(|| {
            *taken += 1;
            Seat(self)
        })
    }
}

/// The place of a connected client.
pub(super) struct Seat<'a>(&'a Seats);

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        *lock(&self.0.taken) -= 1;
    }
}

/// Accepts clients at an endpoint.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    place: Endpoint,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener, SocketFile),
}

impl Listener {
    /// Listens at an endpoint. An old socket on which no process listens is replaced.
    ///
    /// # Errors
    ///
    /// Fails if other machines can reach the address although this is not allowed, if the endpoint is in use, or if the system does
    /// not permit it.
    pub fn bind(place: &Endpoint, allow_remote: bool) -> Result<Listener, ListenError> {
        let system = |error| ListenError::System(place.clone(), error);
        match place {
            Endpoint::Address(address) if !address.ip().is_loopback() && !allow_remote => {
                Err(ListenError::Remote(*address))
            }
            Endpoint::Address(address) => {
                let listener = TcpListener::bind(address).map_err(system)?;
                let place = Endpoint::Address(listener.local_addr().map_err(system)?);
                Ok(Listener { socket: Socket::Tcp(listener), place })
            }
            #[cfg(unix)]
            Endpoint::Path(path) => {
                let (listener, file) = socket_file::bind(path)?;
                Ok(Listener { socket: Socket::Unix(listener, file), place: place.clone() })
            }
            #[cfg(not(unix))]
            Endpoint::Path(_) => Err(system(io::ErrorKind::Unsupported.into())),
        }
    }

    /// Returns the `listening` event as a line of JSON, with the address for clients.
    pub fn event(&self) -> String {
        Response::from_value(json!({ "event": "listening", "address": self.place.to_string() })).line(None)
    }

    /// Removes the socket from the file system.
    pub fn remove(&self) {
        match &self.socket {
            Socket::Tcp(_) => {}
            #[cfg(unix)]
            Socket::Unix(_, file) => file.remove(),
        }
    }

    /// Serves clients until the process ends, each on threads of its own.
    pub fn serve(&self, desk: &OpenDatabases, greeting: Greeting<'_>) {
        let clients = Clients { desk, greeting, seats: Seats::new(CLIENTS_MAX) };
        std::thread::scope(|scope| {
            free_idle_cards(scope, desk);
            loop {
                let come = match &self.socket {
                    Socket::Tcp(listener) => {
                        listener.accept().map(|(stream, _)| Box::new(stream) as Box<dyn ClientStream>)
                    }
                    #[cfg(unix)]
                    Socket::Unix(listener, _) => listener.accept().map(|(stream, _)| Box::new(stream) as _),
                };
                let come = come.and_then(|stream| clients.take(scope, stream));
                // The connection cannot be served: the client has gone, or the system has no more file handles or threads. Other
                // clients may connect later.
                if come.is_err() {
                    std::thread::sleep(REFUSED_PAUSE);
                }
            }
        })
    }
}

/// Starts a thread that frees the memory on idle graphics cards until the process ends. Each conversation also does so; the thread
/// does so while there are no conversations.
pub(super) fn free_idle_cards<'scope>(
    scope: &'scope std::thread::Scope<'scope, '_>,
    desk: &'scope OpenDatabases,
) {
    let look = move || {
        loop {
            std::thread::sleep(CARD_IDLE);
            desk.give_back(CARD_IDLE);
        }
    };
    let _ = std::thread::Builder::new().spawn_scoped(scope, look);
}

/// The clients that are connected.
struct Clients<'a> {
    desk: &'a OpenDatabases,
    greeting: Greeting<'a>,
    seats: Seats,
}

impl Clients<'_> {
    /// Starts a conversation on a new thread, unless there are too many clients.
    fn take<'scope>(
        &'scope self,
        scope: &'scope std::thread::Scope<'scope, '_>,
        stream: Box<dyn ClientStream>,
    ) -> io::Result<()> {
        let Some(seat) = self.seats.take() else {
            let message = format!(
                "{CLIENTS_MAX} clients are connected, and more may not: come again when one has left"
            );
            return stream.say(&error_line(None, &Fault::new(ErrorCode::Busy, message)));
        };
        let talk = move || {
            let _seat = seat;
            self.talk(&*stream);
        };
        std::thread::Builder::new().spawn_scoped(scope, talk).map(|_| ())
    }

    fn talk(&self, stream: &dyn ClientStream) {
        let out = Mutex::new(());
        let say = |line: &str| {
            let _whole = lock(&out);
            if stream.say(line).is_err() {
                // The client has gone. The thread that reads requests then sees the end of the input.
                stream.shut(Shutdown::Both);
            }
        };
        let input = (&mut BufReader::new(ClientBytes { stream, until: None }), Origin::Client);
        // A connection error ends only this conversation.
        let _ = converse(&self.desk.for_client(), self.greeting, input, &say);
        stream.shut(Shutdown::Write);
        let farewell = ClientBytes { stream, until: Some(Instant::now() + FAREWELL) };
        let _ = io::copy(&mut farewell.take(FAREWELL_BYTES), &mut io::sink());
    }
}

/// A connection.
trait ClientStream: Send + Sync {
    /// Reads the bytes that have been received.
    fn hear(&self, buffer: &mut [u8]) -> io::Result<usize>;
    /// Writes a line.
    fn say(&self, line: &str) -> io::Result<()>;
    /// Shuts down one direction of the connection, or both.
    fn shut(&self, how: Shutdown);
    /// Sets the time after which reading fails.
    fn set_timeout(&self, timeout: Duration) -> io::Result<()>;
}

macro_rules! stream {
    ($name:ident) => {
        impl ClientStream for $name {
            fn hear(&self, buffer: &mut [u8]) -> io::Result<usize> {
                let mut stream = self;
                stream.read(buffer)
            }

            fn say(&self, line: &str) -> io::Result<()> {
                let mut stream = self;
                stream.write_all(format!("{line}\n").as_bytes())
            }

            fn shut(&self, how: Shutdown) {
                let _ = self.shutdown(how);
            }

            fn set_timeout(&self, timeout: Duration) -> io::Result<()> {
                self.set_read_timeout(Some(timeout))
            }
        }
    };
}

stream!(TcpStream);
#[cfg(unix)]
stream!(UnixStream);

/// A reader of the bytes that a client sends.
struct ClientBytes<'a> {
    stream: &'a dyn ClientStream,
    /// The time after which reading fails.
    until: Option<Instant>,
}

impl Read for ClientBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(until) = self.until {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_timeout(left)?;
        }
        self.stream.hear(buffer)
    }
}
