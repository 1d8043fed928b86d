//! Runs queries and creates the responses.

use std::mem::take;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::answer::{Response, remarks};
use super::desk::OpenDatabases;
use super::fault::{ErrorCode, Fault};
use super::kept::{GameIndex, KeptHits, ListedGames};
use super::request::{Ask, PAGE_ROWS_MAX, checked_rows};
use crate::choice::{Order, TopGames};
use crate::found::BlockResult;
use crate::library::{CancelToken, Progress, Query};
use crate::report::{Column, Columns, HitTotals};
use crate::request::Request;
use crate::run::extras_of;
use orbit_core::diagnostic::Diagnostic;
use orbit_engine::gpu::CardUse;
use orbit_engine::{EngineInfo, Wants};
use orbit_query::Type;

/// The answer of a query.
#[derive(Debug)]
pub struct Answered {
    /// The text of the query.
    pub query: String,
    /// The warnings and notes about the query.
    pub remarks: Vec<Diagnostic>,
    /// Notes about the execution of the query, for example about its engine.
    pub notes: Vec<String>,
    /// The number of games and of positions with hits, after the selection of games and hits. If the search stopped at a limit,
    /// they are counted up to that point.
    pub hit: HitTotals,
    /// The number of all games and positions, or `None` if the search stopped at a limit.
    pub searched: Option<(u64, u64)>,
    /// The engine that answered.
    pub engine: &'static str,
    /// The memory used on the graphics card, if a card ran the query.
    pub card: Option<CardUse>,
    /// The duration of the search.
    pub time: Duration,
    /// The type of the query's value.
    pub ty: Type,
    /// The kept hits, or `None` if hits were only counted, or were sent as they were found.
    pub kept: Option<Arc<KeptHits>>,
    /// The number of rows that are kept or were sent, or `None` if hits were only counted.
    pub rows: Option<u64>,
    /// True if hits were left out because they would exceed the memory limit.
    pub is_cut: bool,
}

impl Answered {
    /// Returns the response, including the rows of the first page if they were requested.
    ///
    /// # Errors
    ///
    /// Fails if a column is unknown, there are too many rows, or the query fails while rows are written.
    pub(super) fn answer(&self, ask: &Ask) -> Result<Response, Fault> {
        let mut answer = Response::from_value(json!({
            "type": self.ty.name(),
            "games_hit": self.hit.games,
            "positions_hit": self.hit.positions,
            "games": self.searched.map(|(games, _)| games),
            "positions": self.searched.map(|(_, positions)| positions),
            "hits": self.rows,
            "cut": self.is_cut,
            "ms": milliseconds(self.time),
            "remarks": remarks(&ask.request, &self.query, &self.remarks),
            "notes": self.notes,
        }));
        tell_engine(&mut answer, self.engine, self.card);
        if let Some(kept) = self.kept.as_ref().filter(|_| ask.rows > 0) {
            let columns = ask.request.columns.as_deref();
            answer.rows = Some(kept.page(0, checked_rows(ask.rows)?, columns)?);
        }
        Ok(answer)
    }
}

impl OpenDatabases {
    /// Runs a query. `watch` is called with progress updates.
    ///
    /// # Errors
    ///
    /// Fails if the request or the query has an error, there is no such database, the search stops early, or the request was
    /// cancelled.
    pub fn ask(
        &self,
        ask: &Ask,
        cancel: &CancelToken,
        watch: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Answered, Fault> {
        self.ask_sending(ask, cancel, watch, &mut |_, _| ())
    }

    /// Runs a query. If the request has `stream`, rows are passed to `send` as they are found, with the index of the first of these
    /// rows. `send` may block: the search then waits for it, and computes only a few blocks ahead.
    pub(super) fn ask_sending(
        &self,
        ask: &Ask,
        cancel: &CancelToken,
        watch: &mut (dyn FnMut(Progress) + Send),
        send: &mut dyn FnMut(u64, Vec<String>),
    ) -> Result<Answered, Fault> {
        let begun = Instant::now();
        let database = self.database(&ask.database)?;
        checked_rows(ask.rows)?;
        let request = &ask.request;
        let query = only(request)?;
        let fault = |error| Fault::from_database(error, query.text());
        let scan = database.scan(&query).chosen_by(request).map_err(|error| fault(error.into()))?;
        let mut scan = scan.cancel_token(cancel).progress(watch).in_turn(self.turns());
        let executor = scan.executor().map_err(fault)?;
        let choice = scan.choice.clone();
        let by_query = (executor.sorts_games() && !request.count).then_some(Order::ByQuery);
        let order = scan.order.map(|(order, _)| order).or(by_query);
        if ask.stream && order.is_some() {
            let why =
                "the query sorts the games that it finds, which is known at the end: leave out `stream`";
            return Err(Fault::new(ErrorCode::Request, why));
        }
        let extras = extras_of(&executor, &choice);
        let columns = request.columns.as_deref();
        let shows_comments = columns.is_some_and(|all| Columns::new(all).wants().contains(Wants::COMMENTS));
        // Searches of side lines keep comments in blocks even if nothing else needs them.
        let has_comments = choice.reads_comments() || shows_comments || extras.nodes;
        // If `tells_spans` is false, the spans of hits (the moves and positions that matched) are computed later, when rows are
        // written.
        let asked = &query.prepared().query;
        let is_now = choice.player.is_some() || asked.outlives_games() || asked.asks_for_last_game();
        let tells_spans = extras.spans && is_now;
        let wants = match request.count {
            true => Wants::HITS,
            false => Wants::VALUES | Wants::LOWEST_COPY | Wants::SPANS.when(tells_spans),
        };
        let wants = wants | Wants::COMMENTS.when(shows_comments);
        let wants = wants | order.map_or(Wants::HITS, Order::wants);
        let is_made_anew = database.keeps_variations() && !extras.nodes || scan.unique.is_some();
        let owns_blocks = !database.is_resident() || is_made_anew;
        let mut keeping =
            Keeping::new(order, (scan.skip, scan.games_max), request.count, owns_blocks, self.kept_max());
        let mut kept = KeptHits::new(&query, database.sources().to_vec(), extras, has_comments);
        let mut sending = Sending { send, columns, cancel, rows: 0, fault: None };
        let summary = scan.for_each_kept(&executor, wants, |block| {
            let flow = keeping.take(block);
            if !ask.stream {
                return flow;
            }
            kept.list(keeping.drain());
            sending.send(&kept)?;
            flow
        });
        let summary = summary.map_err(fault)?;
        if let Some(fault) = sending.fault {
            return Err(fault);
        }
        let searched = summary.finished.then(|| (summary.totals.games(), summary.totals.positions));
        let (hit, is_cut) = (keeping.hit(), keeping.is_cut);
        let sent = ask.stream.then_some(sending.rows);
        let kept = (!request.count && !ask.stream).then(|| {
            kept.list(keeping.list());
            Arc::new(kept)
        });
        let EngineInfo { name, card, notice, .. } = executor.engine().info();
        Ok(Answered {
            query: query.text().to_owned(),
            remarks: query.remarks().to_vec(),
            notes: executor.notes().iter().cloned().chain(notice).collect(),
            hit,
            searched,
            engine: name,
            card,
            time: begun.elapsed(),
            ty: executor.ty(),
            rows: kept.as_ref().map(|kept| kept.rows()).or(sent),
            kept,
            is_cut,
        })
    }
}

/// Adds the engine's name to a response, and the memory used on the graphics card if a card was used.
pub(super) fn tell_engine(answer: &mut Response, engine: &str, card: Option<CardUse>) {
    answer.fields.insert("engine".into(), engine.into());
    if let Some(CardUse { uploaded, resident }) = card {
        answer.fields.insert("card".into(), json!({ "uploaded": uploaded, "resident": resident }));
    }
}

/// Returns the query of a request that must have exactly one query.
pub(super) fn only(request: &Request) -> Result<Query, Fault> {
    let queries = Query::from_request(request).map_err(|error| Fault::from_database(error, ""))?;
    Ok(queries.into_iter().next().expect("a request has a query"))
}

/// Collects the hits to keep while a search runs.
struct Keeping {
    order: Option<(Order, TopGames<GameIndex>)>,
    /// The number of games to skip at the beginning.
    skip: u64,
    /// The maximum number of games to find, including skipped ones.
    games_max: u64,
    /// True if hits are to be kept.
    keeps: bool,
    /// True if blocks stay in memory only because the kept hits refer to them. Such blocks are counted in the memory of the hits.
    owns_blocks: bool,
    hit: HitTotals,
    /// The part of `hit` that is due to skipped games.
    skipped: HitTotals,
    /// True once the limit on the number of games has been reached.
    is_ended: bool,
    blocks: Vec<BlockResult<'static>>,
    bytes: u64,
    bytes_max: u64,
    places: Vec<GameIndex>,
    is_cut: bool,
}

impl Keeping {
    fn new(
        order: Option<Order>,
        (skip, limit): (u64, Option<u64>),
        counts: bool,
        owns_blocks: bool,
        bytes_max: u64,
    ) -> Keeping {
        let games_max = limit.map_or(u64::MAX, |limit| limit.saturating_add(skip));
        let room = usize::try_from(games_max).unwrap_or(usize::MAX);
        Keeping {
            order: order.map(|order| (order, order.top(room))),
            skip,
            is_ended: false,
            games_max,
            keeps: !counts,
            owns_blocks,
            hit: HitTotals::default(),
            skipped: HitTotals::default(),
            blocks: Vec::new(),
            bytes: 0,
            bytes_max,
            places: Vec::new(),
            is_cut: false,
        }
    }

    /// Adds the hits of the next block. Returns `Break` if no more games are needed.
    fn take(&mut self, kept: BlockResult<'static>) -> ControlFlow<()> {
        let found = kept.first();
        // The block with which the hits exceed the memory limit is still kept, but no later blocks are.
        let (at, is_full) = (self.blocks.len() as u32, self.bytes > self.bytes_max);
        let (mut is_kept, mut flow) = (false, ControlFlow::Continue(()));
        for game in found.games_found() {
            let hits = found.answers.hits.count_in(game.slots());
            self.hit.games += 1;
            self.hit.positions += hits;
            if self.hit.games <= self.skip {
                self.skipped = self.hit;
            }
            let place = (at, game.index() as u32, hits);
            is_kept |= self.keeps
                && match &mut self.order {
                    None if self.hit.games <= self.skip => false,
                    None => {
                        if !is_full {
                            self.places.push(place);
                        }
                        true
                    }
                    Some((order, top)) => {
                        let rank = order.rank(&game, &found);
                        let is_best = top.admits(&rank, game.number());
                        if is_best && !is_full {
                            top.offer(rank, game.number(), || place);
                        }
                        is_best
                    }
                };
            if self.order.is_none() && self.hit.games == self.games_max {
                self.is_ended = true;
                flow = ControlFlow::Break(());
                break;
            }
        }
        if !is_kept || is_full {
            self.is_cut |= is_kept;
            return flow;
        }
        self.bytes += self.bytes_of(&kept);
        self.blocks.push(kept);
        if self.bytes > self.bytes_max {
            self.prune();
        }
        flow
    }

    /// Returns the number of games and of positions with hits. If hits are only counted, or if the search stopped at a limit,
    /// skipped games are excluded.
    fn hit(&self) -> HitTotals {
        let HitTotals { games, positions } = self.hit;
        match self.keeps && !self.is_ended {
            true => self.hit,
            false => {
                HitTotals { games: games - self.skipped.games, positions: positions - self.skipped.positions }
            }
        }
    }

    /// Drops the blocks that contain none of the games that come first in the order.
    fn prune(&mut self) {
        let Some((order, top)) = self.order.take() else { return };
        let mut places = vec![None; self.blocks.len()];
        top.iter().for_each(|&(block, ..)| places[block as usize] = Some(0));
        for (place, block) in places.iter_mut().zip(take(&mut self.blocks)) {
            if let Some(place) = place {
                *place = self.blocks.len() as u32;
                self.blocks.push(block);
            }
        }
        self.bytes = self.blocks.iter().map(|block| self.bytes_of(block)).sum();
        let place = |(block, index, hits): GameIndex| (places[block as usize].unwrap_or(0), index, hits);
        self.order = Some((order, top.map(place)));
    }

    fn bytes_of(&self, block: &BlockResult) -> u64 {
        block.bytes() + if self.owns_blocks { block.block.memory_bytes() } else { 0 }
    }

    /// Returns the games to list, in order.
    fn list(mut self) -> ListedGames {
        self.prune();
        let is_ordered = self.order.is_some();
        let places = match self.order {
            None => self.places,
            Some((_, top)) => top.list(self.skip).collect(),
        };
        ListedGames { blocks: self.blocks, bytes: self.bytes, places, is_ordered }
    }

    /// Returns the games that were found since the last call, and removes them.
    fn drain(&mut self) -> ListedGames {
        let (blocks, places) = (take(&mut self.blocks), take(&mut self.places));
        ListedGames { blocks, bytes: take(&mut self.bytes), places, is_ordered: false }
    }
}

/// Sends rows as they are found.
struct Sending<'a> {
    send: &'a mut dyn FnMut(u64, Vec<String>),
    columns: Option<&'a [Column]>,
    cancel: &'a CancelToken,
    /// The number of rows sent so far.
    rows: u64,
    fault: Option<Fault>,
}

impl Sending<'_> {
    /// Sends all rows, in pages.
    fn send(&mut self, kept: &KeptHits) -> ControlFlow<()> {
        let mut from = 0;
        while from < kept.rows() && !self.cancel.is_cancelled() {
            match kept.page_begin(from, PAGE_ROWS_MAX, self.columns) {
                Ok((rows, _)) => {
                    let first = self.rows;
                    from += rows.len() as u64;
                    self.rows += rows.len() as u64;
                    (self.send)(first, rows);
                }
                Err(fault) => {
                    self.fault = Some(fault);
                    return ControlFlow::Break(());
                }
            }
        }
        if self.cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Returns a time in milliseconds, rounded to a tenth.
pub(super) fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e4).round() / 10.0
}
