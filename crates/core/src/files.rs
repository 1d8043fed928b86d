//! Files that are written: where, when they get their names, and what they may replace.
//!
//! What each writer may replace:
//!
//! | what is written | replaces |
//! |---|---|
//! | an [`OutputFile`]: hits, games, tables, pictures, statistics, lists of problems | any ordinary file that the run neither reads nor writes otherwise ([`refuse_clashes`]); devices and pipes are written to as they are |
//! | a new reel (`ReelWriter::create`) | any ordinary file to which no other writer adds, even one that it is made from; the command `orbit index` refuses all but reels and empty files |
//! | a table of positions | any ordinary file of that name |
//! | the first append to a reel that does not exist yet | nothing: a file that another process has created by then stays |
//! | a later append to a reel | the bytes after the end of the reel |
//!
//! Knows nothing of what is written. The invariant: after a failure, a stop or a panic the final name has what it had
//! before, or all that was written. A temporary file that a killed run leaves is removed by the next run that writes to
//! its folder.

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
