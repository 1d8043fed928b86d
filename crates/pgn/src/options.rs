//! Options for reading PGN.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Options for reading sources: sizes, threads, and data to record. The defaults suit most uses; tests use small sizes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The approximate number of bytes of text in a chunk.
    pub chunk_bytes: usize,
    /// The maximum length of a game in bytes. A longer game is cut at this length and gets a fault. This bounds the memory needed
    /// for a file without game boundaries.
    pub game_bytes_max: usize,
    /// True to hash the bytes of every source before decompression, for [`Stamp::hash`](super::Stamp::hash). A reel (orbit's file
    /// of games) stores the hash, so a later run can check that its source is unchanged.
    pub hash: bool,
    /// The maximum window of a zst file in bytes. The window takes most of the memory for unpacking. A file with a larger window is
    /// refused as a failure: even a 98 KB file can request a window of 2 GiB.
    pub zstd_window_max: u64,
    /// The number of threads that unpack a text compressed in many members, as written by pzstd, bgzip and pbzip2. If it is 1, the
    /// reading thread unpacks the text itself. The result does not depend on this number.
    pub unpack_threads: usize,
    /// The folders that were passed to [`list`](super::list), if the paths come from that function. A file in one of these folders
    /// that is not PGN is skipped; elsewhere it is a failure.
    pub folders: Vec<PathBuf>,
    /// The options for files on the web.
    pub web: WebOptions,
    /// A flag that the caller sets to make the program stop waiting for servers.
    pub interrupt: Arc<AtomicBool>,
}

/// Timeouts and retries for reading from the web.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct WebOptions {
    /// The maximum time for each step: finding the server, connecting to it, waiting for its response, and waiting for more bytes.
    pub timeout: Duration,
    /// The maximum number of consecutive attempts to resume a download after the connection was lost. The count restarts when bytes
    /// arrive.
    pub attempts_max: u32,
    /// The pause before the first attempt to resume. It doubles with each further attempt, up to `pause_max`.
    pub pause: Duration,
    /// The maximum pause, even if the server asks for a longer one.
    pub pause_max: Duration,
}

impl Default for WebOptions {
    fn default() -> WebOptions {
        WebOptions {
            timeout: Duration::from_secs(30),
            attempts_max: 6,
            pause: Duration::from_secs(1),
            pause_max: Duration::from_secs(30),
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            chunk_bytes: 1 << 20,
            game_bytes_max: 64 << 20,
            hash: false,
            zstd_window_max: 128 << 20,
            unpack_threads: 1,
            folders: Vec::new(),
            web: WebOptions::default(),
            interrupt: Arc::default(),
        }
    }
}
