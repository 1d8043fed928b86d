//! Jobs: searches that are divided into numbered parts. The parts can be computed in any order and on different machines.
//!
//! A [`Job`] stores the query, the sources, and the range of blocks (groups of whole games) that each part searches.
//! [`record`](fn@record) computes a part and writes its results to a file. [`Replay`] reads the files of all parts and replays
//! their results as if a single run had computed them. Invariant: the merged output is byte for byte that of a single run. The
//! caller assigns parts to machines. If a part is computed twice, even concurrently, the resulting files are equal.

mod file;
mod plan;
mod record;
mod replay;

pub use self::file::{PartFault, PartWriter};
pub use self::plan::{JOB_NAME, Job, JobError, JobPart, JobRequest, OnePartReason, divide, hash_text};
pub use self::record::{RecordError, record};
pub use self::replay::{Replay, ReplayError};
