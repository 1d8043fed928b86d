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

/// The reason why no hits are stored for a request that was answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoHits {
    /// The request does not list hits.
    NotAsked,
    /// The request failed or was cancelled.
    Failed,
    /// The hits were sent as they were found.
    Sent,
    /// Newer hits took their place.
    Replaced,
    /// Their database was closed.
    Closed,
}

/// The hits of queries, by query id.
#[derive(Default)]
pub(super) struct Results {
    /// The queries whose results are stored, oldest first.
    kept: VecDeque<One>,
    /// The ids of requests whose hits are not stored, oldest first, and the reasons.
    dropped: VecDeque<(RequestId, NoHits)>,
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
            self.drop(oldest.id, NoHits::Replaced);
        }
    }

    /// Records that a long request was answered without hits to store.
    pub(super) fn note(&mut self, id: RequestId, why: NoHits) {
        self.forget(&id);
        self.drop(id, why);
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
        closed.into_iter().for_each(|one| self.drop(one.id, NoHits::Closed));
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
        let unknown = |message: String| Err(Fault::new(ErrorCode::UnknownQuery, message));
        let dropped = |why: &str| {
            let message = format!("the hits of query {name} were dropped, since {why}: ask the query again");
            Err(Fault::new(ErrorCode::Dropped, message))
        };
        match self.dropped.iter().find(|(dropped, _)| dropped == id).map(|(_, why)| why) {
            None => unknown(format!("no query {name} has hits: `of` is the id of a query")),
            Some(NoHits::NotAsked) => {
                unknown(format!("request {name} asked for no list of hits: ask with `query`"))
            }
            Some(NoHits::Failed) => {
                unknown(format!("query {name} failed or was cancelled and has no hits: ask it again"))
            }
            Some(NoHits::Sent) => dropped("they were sent as they were found"),
            Some(NoHits::Replaced) => dropped("newer hits took their place"),
            Some(NoHits::Closed) => dropped("their database was closed"),
        }
    }

    fn drop(&mut self, id: RequestId, why: NoHits) {
        self.dropped.push_back((id, why));
        if self.dropped.len() > DROPPED_MAX {
            self.dropped.pop_front();
        }
    }
}
