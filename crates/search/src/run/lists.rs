//! Collects hits as lists in various formats.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::{Collector, Part, PartError};
use crate::found::BlockResult;
use crate::report::{Format, Report};
use orbit_database::MemoryBudget;
use orbit_engine::Wants;

/// Lists hits in several formats at once, up to a maximum number of games.
#[derive(Debug)]
pub struct ListsCollector {
    formats: Vec<Format>,
    reach: ListReach,
    room: ReportRoom,
}

/// The lines about the games of some blocks (groups of games) in one format. A part has at most as many games as the list skips and
/// lists in total.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ListPart {
    /// The lines.
    pub report: Report,
    /// The maximum number of games with hits.
    games_max: Option<u64>,
}

/// The limits on lists. They are applied when parts are merged, because only then is the number of games before a part known.
/// Before that, each part contains at most as many games as the list skips and lists in total.
#[derive(Debug, Default)]
pub struct ListReach {
    games_max: Option<u64>,
    is_reached: AtomicBool,
}

impl ListReach {
    /// Creates the limits for lists that skip `skip` games with hits and then list at most `games_max`.
    pub fn new(skip: u64, games_max: Option<u64>) -> ListReach {
        let games_max = games_max.map(|max| max.saturating_add(skip));
        ListReach { games_max, is_reached: AtomicBool::new(false) }
    }

    /// Returns the maximum number of games with hits in a part.
    pub fn games_max(&self) -> Option<u64> {
        self.games_max
    }

    /// Marks the lists as complete. Parts (results for blocks) that are computed later are empty.
    pub fn end(&self) {
        self.is_reached.store(true, Ordering::Relaxed);
    }

    /// Returns whether the lists are complete.
    pub fn is_reached(&self) -> bool {
        self.is_reached.load(Ordering::Relaxed)
    }
}

impl ListsCollector {
    /// Lists hits in these formats.
    pub fn new(formats: Vec<Format>, reach: ListReach) -> ListsCollector {
        ListsCollector { room: ReportRoom::new(formats.len()), formats, reach }
    }

    /// Returns the limits of the lists.
    pub fn reach(&self) -> &ListReach {
        &self.reach
    }
}

impl Collector for ListsCollector {
    type Part = Vec<ListPart>;

    fn wants(&self) -> Wants {
        self.formats.iter().map(|format| format.wants()).collect()
    }

    fn look(&self, result: &BlockResult, room: &MemoryBudget) -> Vec<ListPart> {
        if self.reach.is_reached() {
            return Vec::new();
        }
        let found = result.first();
        let lists_all = self.formats.iter().any(|format| matches!(format, Format::Values { all: true }));
        let hits = if lists_all { result.block.slots() as u64 } else { found.answers.hits.count() };
        let games = 0..result.block.games_len();
        let reports = || self.formats.iter().map(|format| format.report(&found, games.clone())).collect();
        let reports: Vec<Report> = self.room.make(hits, room, reports, |reports: &Vec<Report>| {
            reports.iter().map(|report| report.text.capacity() as u64).sum()
        });
        reports.into_iter().map(|report| ListPart::new(report, self.reach.games_max)).collect()
    }
}

impl ListPart {
    fn new(report: Report, games_max: Option<u64>) -> ListPart {
        let mut part = ListPart { report, games_max };
        part.shorten();
        part
    }

    /// Removes the games after the last one that can be listed.
    fn shorten(&mut self) {
        let Some(max) = self.games_max else { return };
        let mut hit = self.report.games.iter().enumerate().filter(|(_, game)| game.is_found);
        if let Some((next, _)) = usize::try_from(max).ok().and_then(|max| hit.nth(max)) {
            self.report.truncate(next);
        }
    }
}

impl Part for ListPart {
    fn merge(&mut self, next: ListPart) -> Result<(), PartError> {
        if *self == ListPart::default() {
            *self = next;
            return Ok(());
        }
        if self.games_max != next.games_max && next != ListPart::default() {
            return Err(PartError::Differ("limits"));
        }
        self.report.append(next.report);
        self.shorten();
        Ok(())
    }

    fn check(&self, _: u64) -> Result<(), &'static str> {
        self.report.check()
    }
}

/// The assumed number of bytes per hit before any report was measured: the size of a JSON object with tags.
const HIT_BYTES: u64 = 512;

/// Reserves memory for reports before they are written. The size is estimated from earlier reports.
#[derive(Debug)]
pub(crate) struct ReportRoom {
    formats: u64,
    /// An estimate of the number of bytes per hit, based on the largest reports so far. It decays over time, and is 0 before the
    /// first report.
    hit_bytes: AtomicU64,
}

impl ReportRoom {
    pub(crate) fn new(formats: usize) -> ReportRoom {
        ReportRoom { formats: formats as u64, hit_bytes: AtomicU64::new(0) }
    }

    /// Waits until there is memory for reports on `hits` hits, and writes them.
    pub(crate) fn make<T>(
        &self,
        hits: u64,
        room: &MemoryBudget,
        make: impl FnOnce() -> T,
        bytes: impl FnOnce(&T) -> u64,
    ) -> T {
        let known = self.hit_bytes.load(Ordering::Relaxed);
        let hit_bytes = if known == 0 { HIT_BYTES * self.formats } else { known };
        room.reserve(hits * hit_bytes);
        let made = make();
        let bytes = bytes(&made);
        room.correct(hits * hit_bytes, bytes);
        // The estimate decays, so that a single hit with a large report does not inflate it until the end of the run.
        self.hit_bytes.store(bytes.div_ceil(hits.max(1)).max(known - known / 8), Ordering::Relaxed);
        made
    }
}
