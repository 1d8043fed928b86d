//! The endpoints to which clients connect.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::{fmt, io};

/// An endpoint to which clients connect: `127.0.0.1:4000`, `[::1]:0`, `unix:PATH`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Endpoint {
    /// A network address. Port 0 means any free port.
    Address(SocketAddr),
    /// The path of a socket in the file system. Available only on Unix.
    Path(PathBuf),
}

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Endpoint, String> {
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return match cfg!(unix) {
                true => Ok(Endpoint::Path(path.into())),
                false => {
                    Err("this system has no sockets with a path: listen on an address, such as 127.0.0.1:0"
                        .into())
                }
            };
        }
        let wrong = "expected an address with a port, such as 127.0.0.1:0 or [::1]:4000, or unix:PATH";
        text.parse().map(Endpoint::Address).map_err(|_| wrong.into())
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Address(address) => address.fmt(f),
            Endpoint::Path(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// The reason why the program cannot listen at an endpoint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// Other machines can reach the address.
    #[error(
        "other machines may reach {0}, and who reaches it can read and write files as you: listen on 127.0.0.1, or allow it \
         with --allow-remote"
    )]
    Remote(SocketAddr),
    /// Another process listens at the endpoint.
    #[error("another process listens at {0}: end it, or name another path")]
    Taken(Endpoint),
    /// The path exists and is not a socket.
    #[error("{0} exists and is no socket: name another path")]
    NoSocket(PathBuf),
    /// The system does not permit listening at the endpoint.
    #[error("nothing can listen at {0} ({1}): name another place")]
    System(Endpoint, io::Error),
}
