//! Collects the hits and games of lists that are sorted or sampled.

use serde::{Deserialize, Serialize};

use super::findings::merge_games;
use super::games::{Comment, WrittenGame};
use super::lists::ReportRoom;
use super::{Collector, Part, PartError, TakeError};
use crate::choice::{Order, TopGames};
use crate::found::BlockResult;
use crate::report::{Format, Report};
use orbit_database::{GameTexts, MemoryBudget, StreamedBlock, TextError};
use orbit_engine::Wants;
use orbit_reel::GameRow;

/// Keeps the games that come first in an order, each with its lines in all list formats.
#[derive(Debug)]
pub struct OrderedCollector {
    order: Order,
    /// The maximum number of games to keep.
    games_max: usize,
    formats: Vec<Format>,
    /// The comments in games that are written as PGN, or `None` if no games are written.
    comment: Option<Comment>,
    room: ReportRoom,
}

/// A game that is kept until the end of the run, because lists are sorted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HeldGame {
    /// The lines about the game in each of the list formats.
    pub reports: Vec<Report>,
    /// The text of the game, if games are written as PGN.
    pub text: Option<WrittenGame>,
}

/// The games that come first in the order, out of all games so far.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct OrderedPart {
    /// The games that come first so far, or `None` before the first block.
    top: Option<TopGames<HeldGame>>,
}

impl OrderedCollector {
    /// Creates a collector that keeps at most `games_max` games. If `comment` is `Some`, games are also written as PGN;
    /// [`Comment::None`] means PGN without comments.
    pub fn new(
        order: Order,
        games_max: usize,
        formats: Vec<Format>,
        comment: Option<Comment>,
    ) -> OrderedCollector {
        OrderedCollector { order, games_max, room: ReportRoom::new(formats.len()), formats, comment }
    }
}

impl OrderedPart {
    /// Returns the kept games, sorted by the order of the list.
    pub fn list(self) -> Vec<HeldGame> {
        self.top.map_or(Vec::new(), |top| top.list(0).collect())
    }
}

impl Collector for OrderedCollector {
    type Part = OrderedPart;

    fn wants(&self) -> Wants {
        let formats: Wants = self.formats.iter().map(|format| format.wants()).collect();
        let games = self.comment.as_ref().map_or(Wants::HITS, Comment::wants);
        formats | self.order.wants() | games
    }

    fn look(&self, result: &BlockResult, room: &MemoryBudget) -> OrderedPart {
        let found = result.first();
        let mut best = self.order.top(self.games_max);
        for game in found.games_found() {
            best.offer(self.order.rank(&game, &found), game.number(), || game);
        }
        let hits = |game: &GameRow| found.answers.hits.count_in(game.slots());
        let count = best.iter().map(hits).sum();
        let hold = || {
            best.map(|game| {
                let one = game.index()..game.index() + 1;
                let reports = self.formats.iter().map(|format| format.report(&found, one.clone()));
                let text = self.comment.as_ref().map(|comment| WrittenGame::new(&game, &found, comment));
                HeldGame { reports: reports.collect(), text }
            })
        };
        let bytes = |held: &HeldGame| -> u64 {
            held.reports.iter().map(|report| report.text.capacity() as u64).sum()
        };
        let top = self.room.make(count, room, hold, |top: &TopGames<HeldGame>| top.iter().map(bytes).sum());
        OrderedPart { top: Some(top) }
    }

    /// Reads the texts of games in the block, but only of those that are among the first in the order so far.
    fn take(
        &self,
        sum: &mut OrderedPart,
        part: OrderedPart,
        streamed: &StreamedBlock,
        texts: &mut GameTexts,
    ) -> Result<(), TakeError> {
        let Some(mut next) = part.top else { return Ok(()) };
        if let Some(top) = &sum.top {
            next.retain(|rank, number| top.admits(rank, number));
        }
        let next = next.try_map(|mut held| {
            if let Some(text) = &mut held.text {
                text.read(streamed, texts)?;
            }
            Ok::<_, TextError>(held)
        })?;
        Ok(sum.merge(OrderedPart { top: Some(next) })?)
    }
}

impl Part for OrderedPart {
    fn merge(&mut self, next: OrderedPart) -> Result<(), PartError> {
        merge_games(&mut self.top, next.top, "orders")
    }

    fn check(&self, _: u64) -> Result<(), &'static str> {
        self.top.iter().flat_map(TopGames::iter).try_for_each(|held| {
            held.reports.iter().try_for_each(Report::check)?;
            held.text.as_ref().map_or(Ok(()), WrittenGame::check)
        })
    }
}
