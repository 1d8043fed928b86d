//! Writes output files. A file gets its final name only when it is complete, and may replace only the files listed in this table:
//!
//! | output | replaces |
//! |---|---|
//! | an [`OutputFile`] of the command line | any ordinary file except inputs and other outputs of the run ([`refuse_clashes`]) |
//! | a new reel (`ReelWriter::create`) | any ordinary file to which no other writer appends, even the source of the reel |
//! | a table of positions | any ordinary file of that name |
//! | the first append to a reel that does not exist yet | nothing: a file that another process created meanwhile stays |
//! | a later append to a reel | bytes that an interrupted append left after the end of the reel |
//!
//! An [`OutputFile`] writes to devices and pipes directly. The command `orbit index` replaces only reels and empty files.
//!
//! This module treats the contents of files as bytes. Invariant: after a failure, an interrupt or a panic, the file with the final
//! name has either its old content or the complete new content. If a run is killed, the next run that writes to the folder removes
//! its temporary file.

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
pub use lock::{is_at, lock_folder, open_alone, release};
pub use output::{OutputError, OutputFile};
pub use place::{Clash, refuse_clashes, target_of};
pub use regular::{open_regular, refuse_special};
pub use shared::SharedFile;
pub use temporary::Temporary;
pub use temporary::Unfinished;
