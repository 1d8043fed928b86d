//! Options for reading text.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Sizes, and what is recorded beside the games. The defaults are fine for most uses; tests inject small sizes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The approximate number of bytes of text in a chunk.
    pub chunk_bytes: usize,
    /// The longest game that is read to its end, in bytes. A longer game is cut there, with a fault; this bounds the memory for a
    /// file without any game boundary.
    pub game_bytes_max: usize,
    /// True to hash the bytes of every source as they are stored, for [`Stamp::hash`](super::Stamp::hash). A builder of reels
    /// needs the hash to recognise the file later.
    pub hash: bool,
    /// The most memory that unpacking a zst file may take (its window). A file that needs more is a failure that says so: 98 KB
    /// can ask for 2 GiB.
    pub zstd_window_max: u64,
    /// The number of threads that unpack a compressed text of many members, such as those of pzstd, bgzip and pbzip2. With 1, the
    /// reading thread unpacks it. The result does not depend on the number.
    pub unpack_threads: usize,
    /// Folders whose files are given one by one, as [`list`](super::list) returns them: files in them that are no PGN are
    /// skipped, not refused.
    pub folders: Vec<PathBuf>,
    /// The options for files on the web.
    pub web: WebOptions,
    /// Setting this flag ends waiting for the web.
    pub interrupt: Arc<AtomicBool>,
}

/// Timeouts and retries for reading from the web.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct WebOptions {
    /// The longest time for finding a server, for connecting, for its answer, and between two bytes.
    pub timeout: Duration,
    /// The most attempts in a row to resume a file after its connection was lost. Each byte received resets the count.
    pub attempts_max: u32,
    /// The pause before the first of these attempts; it doubles with each attempt up to [`WebOptions::pause_max`].
    pub pause: Duration,
    /// The longest pause, even if the server asks for a longer one.
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
