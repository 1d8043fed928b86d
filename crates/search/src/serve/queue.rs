//! Requests that run and that wait, and which of them wait for which.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::fault::{ErrorCode, Fault};
use super::kept::KeptHits;
use super::request::{Ask, Close, Explain, GameRequest, Make, Open, Page, RequestId, What};
use super::results::Results;
use crate::library::{Cancel, Progress};

/// Queries and other requests that take long that run at once, at most.
pub const RUNNING_MAX: usize = 4;
/// Requests that may wait for their turn.
pub const QUEUE_MAX: usize = 1000;
/// Bytes of all lines that wait.
const QUEUE_BYTES_MAX: usize = 64 << 20;

#[derive(Default)]
pub(super) struct QueueState {
    /// Queries and all else that takes long, in their order. Some are running.
    pub(super) jobs: Vec<QueuedJob>,
    pub(super) pages: VecDeque<Quick>,
    pub(super) results: Results,
    /// No more requests come.
    pub(super) is_ended: bool,
}

/// A request that takes long.
pub(super) struct QueuedJob {
    pub(super) id: RequestId,
    pub(super) work: Arc<SlowWork>,
    pub(super) bytes: usize,
    pub(super) is_running: bool,
    pub(super) cancel: Cancel,
    pub(super) progress: Arc<Mutex<Progress>>,
    /// The requests that wait for it.
    pub(super) then: Vec<Quick>,
}

pub(super) enum SlowWork {
    Open(Open),
    Close(Close),
    Query(Box<Ask>),
    Make(Box<Make>),
}

/// A request that is answered soon.
pub(super) struct Quick {
    pub(super) id: RequestId,
    pub(super) work: QuickWork,
    pub(super) bytes: usize,
}

pub(super) enum QuickWork {
    Hits(Page, Option<Arc<KeptHits>>),
    Game(GameRequest),
    Explain(Box<Explain>),
}

impl QueueState {
    /// The place of a job that is under way.
    pub(super) fn find(&self, id: &RequestId) -> Option<usize> {
        self.jobs.iter().position(|job| job.id == *id)
    }

    /// The first job that waits for no other one, if another one may run.
    pub(super) fn next_job(&mut self) -> Option<&mut QueuedJob> {
        let waits =
            |at: usize| self.jobs[..at].iter().any(|before| self.jobs[at].work.waits_for(&before.work));
        let at = (0..self.jobs.len()).find(|&at| !self.jobs[at].is_running && !waits(at))?;
        Some(&mut self.jobs[at])
    }

    /// Refuses a request if too many wait.
    pub(super) fn has_room(&self, bytes: usize) -> Result<(), Fault> {
        let waiting = || self.jobs.iter().flat_map(|job| &job.then).chain(&self.pages);
        let count = self.jobs.len() + waiting().count();
        let sum: usize =
            self.jobs.iter().map(|job| job.bytes).chain(waiting().map(|quick| quick.bytes)).sum();
        if count < QUEUE_MAX && sum + bytes <= QUEUE_BYTES_MAX {
            return Ok(());
        }
        Err(Fault::new(
            ErrorCode::Busy,
            format!("{count} requests wait, and more may not: send it again when some are answered"),
        ))
    }
}

impl SlowWork {
    /// The database that it is about.
    fn database(&self) -> &str {
        match self {
            SlowWork::Open(open) => &open.database,
            SlowWork::Close(close) => &close.database,
            SlowWork::Query(ask) => &ask.database,
            SlowWork::Make(make) => &make.database,
        }
    }

    fn opens_or_closes(&self) -> bool {
        matches!(self, SlowWork::Open(_) | SlowWork::Close(_))
    }

    /// Tells whether it changes the databases or a file, which happens in the order of the requests.
    fn changes(&self) -> bool {
        self.opens_or_closes() || matches!(self, SlowWork::Make(make) if matches!(make.what, What::File(_)))
    }

    /// Tells whether it is done after an earlier request, and not beside it.
    fn waits_for(&self, before: &SlowWork) -> bool {
        let is_of_same = self.database() == before.database();
        is_of_same && (self.opens_or_closes() || before.opens_or_closes())
            || self.changes() && before.changes()
    }
}

impl Quick {
    /// Tells whether a job makes the things that it needs.
    pub(super) fn needs(&self, job: &QueuedJob) -> bool {
        match (&self.work, &*job.work) {
            (QuickWork::Hits(page, _), SlowWork::Query(_)) => job.id == page.of,
            (QuickWork::Hits(..), _) => false,
            (QuickWork::Game(game), SlowWork::Open(open)) => open.database == game.database,
            (QuickWork::Game(game), SlowWork::Close(close)) => close.database == game.database,
            _ => false,
        }
    }

    /// Finds the hits that it is about.
    pub(super) fn find(&mut self, results: &Results) -> Result<(), Fault> {
        if let QuickWork::Hits(page, kept) = &mut self.work {
            *kept = Some(results.find(&page.of)?);
        }
        Ok(())
    }
}
