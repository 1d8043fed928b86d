//! Output files: where they are written, when they get their names, and what they may replace.
//!
//! Files that each writer may replace:
//!
//! | output | replaces |
//! |---|---|
//! | an [`OutputFile`] of the command | any ordinary file but inputs and other outputs of the run ([`refuse_clashes`]) |
//! | a new reel (`ReelWriter::create`) | any ordinary file to which no other writer adds, even its own source |
//! | a table of positions | any ordinary file of that name |
//! | the first append to a reel that does not exist yet | nothing: a file that another process created meanwhile stays |
//! | a later append to a reel | the bytes after the end of the reel |
//!
//! An [`OutputFile`] writes to devices and pipes directly. The command `orbit index` replaces only reels and empty files.
//!
//! Knows nothing of the contents. The invariant: after a failure, an interrupt or a panic, the final name has either its old
//! content or the complete new one. A temporary file of a killed run is removed by the next run that writes to its folder.

mod caches;
mod early;
mod lock;
mod output;
mod place;
mod regular;
mod shared;
mod temporary;

pub use caches::user_caches;
pub use early::Early;
pub use lock::{is_at, open_alone, release};
pub use output::{OutputError, OutputFile};
pub use place::{Clash, refuse_clashes, target_of};
pub use regular::{open_regular, refuse_special};
pub use shared::SharedFile;
pub use temporary::Temporary;
pub use temporary::Unfinished;
