//! How text is read.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Sizes, and what is noted beside the games. The defaults suit; tests inject small sizes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Bytes of text in a chunk, about.
    pub chunk_bytes: usize,
    /// The longest game that is read to its end, in bytes. A longer one is cut there, with a fault;
    /// this bounds the memory that a file without any game boundary takes.
    pub game_bytes_max: usize,
    /// Hashes the bytes of every source as they are stored, for [`Stamp::hash`](super::Stamp::hash): whoever makes a reel wants to know
    /// the file again.
    pub hash: bool,
    /// The memory that a zst file may ask for to be unpacked (its window). A file that asks for more is a failure that
    /// says so: 98 KB can ask for 2 GiB.
    pub zstd_window_max: u64,
    /// Threads that unpack a packed text of many members, such as those of pzstd, bgzip and pbzip2; with one, who reads the text unpacks it.
    /// What is read does not depend on it.
    pub unpack_threads: usize,
    /// Folders whose files are given one by one, as [`list`](super::list) does: what is no PGN among them is skipped, not refused.
    pub folders: Vec<PathBuf>,
    /// How files on the web are read.
    pub web: WebOptions,
    /// Ends waiting for the web when it becomes true.
    pub interrupt: Arc<AtomicBool>,
}

/// How patient a reader of the web is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct WebOptions {
    /// How long a server may take to be found, to connect, to answer, and between two bytes.
    pub timeout: Duration,
    /// How often it is tried in sequence to go on with a file after its connection was lost. Each byte that comes sets the count
    /// back.
    pub attempts_max: u32,
    /// The pause before the first of these attempts; it doubles with each up to [`WebOptions::pause_max`].
    pub pause: Duration,
    /// The longest pause, also where the server asks for a longer one.
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
