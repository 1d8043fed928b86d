//! Jobs, which are searches in numbered parts. Each part is computed separately, in any order, and on any machine.
//!
//! A [`Job`] contains the query, the sources, and the ranges of blocks (groups of games) into which the database is divided.
//! [`record`](fn@record) computes a part and writes it to its own file. [`Replay`] passes the contents of these files to the code
//! that processes the blocks of one run. The invariant: the merged parts produce the same bytes as one run over the whole database.
//! This module does not decide who computes which part: a part that is computed twice, even at the same time, gives the same file.

mod file;
mod plan;
mod record;
mod replay;

pub use self::file::{PartFault, PartWriter};
pub use self::plan::{JOB_NAME, Job, JobError, JobPart, JobRequest, OnePartReason, divide, hash_text};
pub use self::record::{RecordError, record};
pub use self::replay::{Replay, ReplayError};
