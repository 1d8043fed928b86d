//! Keeps databases open for many requests, which programs send as JSON lines and people type at a prompt.
//!
//! [`OpenDatabases`] stores the open databases by name and runs one request per call. The hits of a query stay in memory as
//! [`KeptHits`], and clients fetch them page by page. [`converse()`] reads requests and writes responses while queries run. A
//! [`Listener`] starts a conversation with each client of a socket. An `HttpListener` does so over HTTP, and also provides an
//! opening explorer like that of lichess. This module does not use the terminal or the command line. Invariants: rows and counts
//! equal those of `orbit scan`, and all data that stays in memory is subject to a limit.

mod answer;
mod ask;
mod converse;
mod desk;
mod explain;
mod fault;
mod folder;
mod games;
#[cfg(feature = "http")]
mod http;
mod kept;
mod lines;
mod listen;
mod make;
mod memory;
mod place;
mod queue;
mod request;
mod results;
#[cfg(unix)]
mod socket_file;

pub use self::answer::{Response, SERVE_SCHEMA};
pub use self::ask::Answered;
pub use self::converse::{Greeting, Origin, converse};
pub use self::desk::{DATABASES_MAX, OpenDatabases, ServeOptions};
pub use self::explain::Explained;
pub use self::fault::{ErrorCode, Fault};
pub use self::folder::RequestFiles;
#[cfg(feature = "http")]
pub use self::http::{
    BODY_BYTES_MAX, CONNECTIONS_MAX, HEAD_BYTES_MAX, HEAD_TIME, HttpListener, HttpOrigin, TARGET_BYTES_MAX,
};
pub use self::kept::KeptHits;
pub use self::lines::LINE_BYTES_MAX;
pub use self::listen::{CLIENTS_MAX, Listener};
pub use self::place::{Endpoint, ListenError};
pub use self::queue::{QUEUE_MAX, RUNNING_MAX};
pub use self::request::{
    Ask, Batch, Explain, MAIN, Make, Message, Open, PAGE_ROWS_MAX, Page, PositionRequest, RequestId, What,
};
pub use self::results::RESULTS_MAX;
