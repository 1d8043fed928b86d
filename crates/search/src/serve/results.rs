//! Stores the hits of the most recent queries.

use std::collections::VecDeque;
use std::sync::Arc;

use super::fault::{ErrorCode, Fault};
use super::kept::KeptHits;
use super::request::RequestId;

/// The maximum number of queries whose hits are stored.
pub const RESULTS_MAX: usize = 16;
/// The maximum memory for all stored hits, in bytes.
const BYTES_MAX: u64 = 512 << 20;
/// The maximum number of answered long requests, and of answered short ones, whose ids are remembered although no hits are stored
/// for them.
const DROPPED_MAX: usize = 1000;

/// The reason that is stored for a request that does not list hits.
const NO_LIST: &str = "";
/// The reason that is stored for a query whose hits were sent as they were found.
const SENT: &str = "they were sent as they were found";

/// The reason that is stored for a request that failed or was cancelled.
const FAILED: &str = "it failed or was cancelled";

/// The hits of queries, by query id.
#[derive(Default)]
pub(super) struct Results {
    /// The queries whose results are stored, oldest first.
    kept: VecDeque<One>,
    /// The ids of requests whose hits are not stored, oldest first, and the reasons.
    dropped: VecDeque<(RequestId, &'static str)>,
    /// The ids of short requests that were answered, oldest first. A short request may have the id of a query, whose hits stay.
    short: VecDeque<RequestId>,
}

/// The answer to one query.
struct One {
    id: RequestId,
    /// The name of the database.
    database: String,
    /// The hits, or `None` if the query only counted them.
    kept: Option<Arc<KeptHits>>,
}

impl Results {
    /// Stores the hits of a query. If a limit is exceeded, the hits of the oldest queries are dropped.
    pub(super) fn add(&mut self, id: RequestId, database: &str, kept: Option<Arc<KeptHits>>) {
        self.forget(&id);
        self.kept.push_back(One { id, database: database.to_owned(), kept });
        let bytes = |one: &One| one.kept.as_ref().map_or(0, |kept| kept.bytes());
        let mut sum: u64 = self.kept.iter().map(bytes).sum();
        while self.kept.len() > RESULTS_MAX || sum > BYTES_MAX && self.kept.len() > 1 {
            let Some(oldest) = self.kept.pop_front() else { break };
            sum -= bytes(&oldest);
            self.drop(oldest.id, "newer hits took their place");
        }
    }

    /// Records that a request was answered and does not list hits.
    pub(super) fn note(&mut self, id: RequestId) {
        self.forget(&id);
        self.drop(id, NO_LIST);
    }

    /// Records that a query was answered and its hits were sent as they were found.
    pub(super) fn note_sent(&mut self, id: RequestId) {
        self.forget(&id);
        self.drop(id, SENT);
    }

    /// Records that a long request failed or was cancelled.
    pub(super) fn note_failed(&mut self, id: RequestId) {
        self.forget(&id);
        self.drop(id, FAILED);
    }

    /// Records that a short request was answered.
    pub(super) fn note_short(&mut self, id: RequestId) {
        self.short.push_back(id);
        if self.short.len() > DROPPED_MAX {
            self.short.pop_front();
        }
    }

    /// Forgets the results of an earlier request with this id, because a new request uses the id.
    pub(super) fn forget(&mut self, id: &RequestId) {
        self.kept.retain(|one| one.id != *id);
        self.dropped.retain(|(dropped, _)| dropped != id);
    }

    /// Drops the hits in a database that was closed.
    pub(super) fn close(&mut self, database: &str) {
        let (closed, kept) = self.kept.drain(..).partition(|one| one.database == database);
        self.kept = kept;
        let closed: VecDeque<One> = closed;
        closed.into_iter().for_each(|one| self.drop(one.id, "their database was closed"));
    }

    /// Returns whether an answered request with this id is still remembered.
    pub(super) fn know(&self, id: &RequestId) -> bool {
        self.kept.iter().any(|one| one.id == *id)
            || self.dropped.iter().any(|(dropped, _)| dropped == id)
            || self.short.contains(id)
    }

    /// Returns the hits of a query.
    ///
    /// # Errors
    ///
    /// Fails if there is no such query, or if its hits were dropped or only counted.
    pub(super) fn find(&self, id: &RequestId) -> Result<Arc<KeptHits>, Fault> {
        let name = id.json();
        if let Some(one) = self.kept.iter().find(|one| one.id == *id) {
            return one.kept.clone().ok_or_else(|| {
                let message = format!("the hits of query {name} were only counted: ask it without `count`");
                Fault::new(ErrorCode::UnknownQuery, message)
            });
        }
        if self.dropped.contains(&(id.clone(), NO_LIST)) {
            let message = format!("request {name} asked for no list of hits: ask with `query`");
            return Err(Fault::new(ErrorCode::UnknownQuery, message));
        }
        if self.dropped.contains(&(id.clone(), FAILED)) {
            let message = format!("query {name} failed or was cancelled and has no hits: ask it again");
            return Err(Fault::new(ErrorCode::UnknownQuery, message));
        }
        if let Some((_, why)) = self.dropped.iter().find(|(dropped, _)| dropped == id) {
            let message = format!("the hits of query {name} were dropped, since {why}: ask the query again");
            return Err(Fault::new(ErrorCode::Dropped, message));
        }
        Err(Fault::new(
            ErrorCode::UnknownQuery,
            format!("no query {name} has hits: `of` is the id of a query"),
        ))
    }

    fn drop(&mut self, id: RequestId, why: &'static str) {
        self.dropped.push_back((id, why));
        if self.dropped.len() > DROPPED_MAX {
            self.dropped.pop_front();
        }
    }
}
