//! Jobs: a search in numbered parts, each computed by itself, in any order, perhaps on several machines.
//!
//! A [`Job`] fixes what is searched for, in what, and into which ranges of blocks the database is divided. A part is
//! computed by [`record`](fn@record) and lies in a file of its own; [`Replay`] hands what the files hold to whatever would have taken
//! the blocks of one run. The invariant: merged parts give the bytes of one run. Who computes which part, and where, is
//! not decided here: a part that is computed twice, even at the same time, is the same file.

mod file;
mod plan;
mod record;
mod replay;

pub use self::file::{PartFault, PartWriter};
pub use self::plan::{JOB_NAME, Job, JobError, JobPart, JobRequest, OnePartReason, divide, hash_text};
pub use self::record::{RecordError, record};
pub use self::replay::{Replay, ReplayError};
