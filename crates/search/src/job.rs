//! Jobs. A job is a search that is divided into numbered parts. Each part is computed separately, in any order and on any machine.
//!
//! A [`Job`] stores the query, the sources, and the range of blocks (groups of whole games) that each part searches.
//! [`record`](fn@record) computes a part and writes its results to a file. [`Replay`] reads the files of all parts and passes their
//! results on as if one run had computed them. The invariant: the output from merged parts is byte for byte the output of a single
//! run. The caller decides which machine computes which part. If a part is computed twice, even at the same time, its file is the
//! same.

mod file;
mod plan;
mod record;
mod replay;

pub use self::file::{PartFault, PartWriter};
pub use self::plan::{JOB_NAME, Job, JobError, JobPart, JobRequest, OnePartReason, divide, hash_text};
pub use self::record::{RecordError, record};
pub use self::replay::{Replay, ReplayError};
