//! Databases that stay open for many requests. The requests come from a program, as lines of JSON, or from a person.
//!
//! [`OpenDatabases`] keeps databases open under names and runs one request per call. It stores the hits of a query as [`KeptHits`],
//! so that a client can request them page by page. [`converse()`] reads requests and writes answers while queries run. A
//! [`Listener`] has such a conversation with each client of a socket, and an `HttpListener` with each client over HTTP. HTTP
//! clients can also use an opening explorer with the interface of the lichess explorer. The module does not depend on a terminal or
//! a command line. The invariant: rows and counts are those that `orbit scan` writes, and all data that is kept in memory is
//! limited in size.

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
pub use self::request::{Ask, Explain, MAIN, Make, Message, Open, PAGE_ROWS_MAX, Page, RequestId, What};
pub use self::results::RESULTS_MAX;
