//! The running and waiting requests of a conversation, and the rules by which requests wait for each other.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::desk::OpenDatabases;
use super::fault::{ErrorCode, Fault};
use super::games::GameAnswer;
use super::kept::KeptHits;
use super::request::{Ask, Close, Explain, GameRequest, Make, Open, Page, PositionRequest, RequestId, What};
use super::results::Results;
use crate::library::{CancelToken, Progress};

/// The maximum number of long requests that run at the same time.
pub const RUNNING_MAX: usize = 4;
/// The maximum number of waiting requests.
pub const QUEUE_MAX: usize = 1000;
/// The maximum total length in bytes of the lines of all waiting requests.
const QUEUE_BYTES_MAX: usize = 64 << 20;

#[derive(Default)]
pub(super) struct QueueState {
    /// The running and waiting long requests, in the order in which they arrived.
    pub(super) jobs: Vec<QueuedJob>,
    /// The short requests that wait for nothing but their turn.
    pub(super) pages: VecDeque<Quick>,
    /// The id of the short request that is being answered.
    pub(super) answering: Option<RequestId>,
    pub(super) results: Results,
    /// True if no more requests will be read.
    pub(super) is_ended: bool,
}

/// A running or waiting long request.
pub(super) struct QueuedJob {
    pub(super) id: RequestId,
    pub(super) work: Arc<SlowWork>,
    pub(super) bytes: usize,
    pub(super) is_running: bool,
    pub(super) cancel: CancelToken,
    pub(super) progress: Arc<Mutex<Progress>>,
    /// The short requests that wait for this long request.
    pub(super) then: Vec<Quick>,
}

pub(super) enum SlowWork {
    Open(Open),
    Close(Close),
    Query(Box<Ask>),
    Make(Box<Make>),
    Positions(Box<PositionRequest>),
}

/// A short request, which is answered quickly: for hits, for a game, or for an explanation.
pub(super) struct Quick {
    pub(super) id: RequestId,
    pub(super) work: QuickWork,
    pub(super) bytes: usize,
}

pub(super) enum QuickWork {
    Hits(Page, Option<Arc<KeptHits>>),
    Game(GameRequest, Option<GameAnswer>),
    Explain(Box<Explain>),
}

impl QueueState {
    /// Returns the index of the running or waiting long request with this id.
    pub(super) fn find(&self, id: &RequestId) -> Option<usize> {
        self.jobs.iter().position(|job| job.id == *id)
    }

    /// Returns whether a short request with this id waits.
    pub(super) fn has_waiting(&self, id: &RequestId) -> bool {
        let mut waiting = self.pages.iter().chain(self.jobs.iter().flat_map(|job| &job.then));
        waiting.any(|quick| quick.id == *id)
    }

    /// Removes the first waiting short request with this id. Returns whether there was one.
    pub(super) fn remove_waiting(&mut self, id: &RequestId) -> bool {
        if let Some(at) = self.pages.iter().position(|quick| quick.id == *id) {
            return self.pages.remove(at).is_some();
        }
        for job in &mut self.jobs {
            if let Some(at) = job.then.iter().position(|quick| quick.id == *id) {
                job.then.remove(at);
                return true;
            }
        }
        false
    }

    /// Returns the first long request that is not running and has no earlier request to wait for.
    pub(super) fn next_job(&mut self) -> Option<&mut QueuedJob> {
        let waits =
            |at: usize| self.jobs[..at].iter().any(|before| self.jobs[at].work.waits_for(&before.work));
        let at = (0..self.jobs.len()).find(|&at| !self.jobs[at].is_running && !waits(at))?;
        Some(&mut self.jobs[at])
    }

    /// Returns an error if the queue has no room for another request, whose line has `bytes` bytes.
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
    fn database(&self) -> &str {
        match self {
            SlowWork::Open(open) => &open.database,
            SlowWork::Close(close) => &close.database,
            SlowWork::Query(ask) => &ask.database,
            SlowWork::Make(make) => &make.database,
            SlowWork::Positions(position) => &position.database,
        }
    }

    pub(super) fn opens_or_closes(&self) -> bool {
        matches!(self, SlowWork::Open(_) | SlowWork::Close(_))
    }

    /// Returns whether the request changes the list of databases or a file. Such requests run in the order in which they arrived.
    fn changes(&self) -> bool {
        self.opens_or_closes()
            || matches!(self, SlowWork::Make(make) if matches!(make.what, What::File { .. }))
    }

    /// Returns whether the request must wait for the earlier request `before`.
    fn waits_for(&self, before: &SlowWork) -> bool {
        let is_of_same = self.database() == before.database();
        is_of_same && (self.opens_or_closes() || before.opens_or_closes())
            || self.changes() && before.changes()
    }
}

impl Quick {
    /// Returns whether this request must wait for the long request `job`, because `job` runs the query or opens or closes the
    /// database to which this request refers.
    pub(super) fn needs(&self, job: &QueuedJob) -> bool {
        match (&self.work, &*job.work) {
            (QuickWork::Hits(page, _), SlowWork::Query(_)) => job.id == page.of,
            (QuickWork::Hits(..), _) => false,
            (QuickWork::Game(game, _), SlowWork::Open(open)) => open.database == game.database,
            (QuickWork::Game(game, _), SlowWork::Close(close)) => close.database == game.database,
            _ => false,
        }
    }

    /// Looks up the hits or the database to which the request refers, and stores them in the request. So a later `close` does not
    /// affect the answer.
    pub(super) fn find(&mut self, results: &Results, desk: &OpenDatabases) -> Result<(), Fault> {
        match &mut self.work {
            QuickWork::Hits(page, kept) => *kept = Some(results.find(&page.of)?),
            QuickWork::Game(game, answer) => *answer = Some(desk.game_answer(game)?),
            QuickWork::Explain(_) => {}
        }
        Ok(())
    }
}
