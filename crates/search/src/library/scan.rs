//! Requests to a database.

use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use super::hit::HitMaker;
use super::{CancelToken, Database, DatabaseError, Hit, Progress, Query, QueryError};
use crate::choice::{Choice, Condition, Order, Player};
use crate::executor::{EngineChoice, EngineOptions, Executor, check_engine};
use crate::found::{BlockResult, Names};
use crate::report::HitTotals;
use crate::request::{Chosen, Request, RequestError};
use crate::run::{Collector, GamesTaken, Run, StatisticsCollector, TotalsCollector, wanted_of};
use crate::stats::{Counts, Grouping, Stats, ThemeLabel, ThemeMatrix};
use orbit_database::{BlockStream, MemoryBudget, StreamedBlock, Summary, Turns};
use orbit_engine::verify::Sample;
use orbit_engine::{EngineInfo, Wants};
use orbit_query::Type;
use orbit_reel::{Alike, GameSet};

/// A request, which consists of one or more queries and a selection of games and hits. It runs when its result is requested:
/// [hits](Scan::hits), [counts](Scan::count), [statistics](Scan::statistics), or a [collector](Scan::collect).
///
/// ```
/// use orbit_search::{Database, Query};
///
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// let database = Database::open(["games/sample.pgn"])?;
/// let query = Query::parse("check")?;
/// let hits = database.scan(&query).condition("result=1-0".parse()?).first_per_game().limit(3).hits()?;
/// assert_eq!(hits.len(), 3);
/// assert!(hits.iter().all(|hit| hit.game().outcome().text() == "1-0"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct Scan<'a> {
    pub(super) database: &'a Database,
    pub(super) queries: Vec<Query>,
    pub(crate) choice: Choice,
    hits_max: u64,
    pub(crate) skip: u64,
    pub(crate) games_max: Option<u64>,
    pub(crate) order: Option<(Order, usize)>,
    detail: Wants,
    engine: EngineOptions,
    threads: usize,
    /// The threads that this request shares with other requests. `None` if it has its own threads.
    turns: Option<Turns>,
    /// The rule for recognizing duplicates, if they are omitted.
    pub(crate) unique: Option<Alike>,
    /// The blocks (groups of games) to read. `None` means all blocks.
    blocks: Option<Range<usize>>,
    /// True if some blocks are not read because they cannot contain hits.
    is_narrowed: bool,
    pub(super) cancel: CancelToken,
    watch: Box<dyn FnMut(Progress) + Send + 'a>,
    /// The cell that receives a description of the engine when the request has ended.
    ran: Option<&'a OnceLock<EngineInfo>>,
}

/// The maximum number of hits queued for an iterator. When the queue is full, the search pauses.
const HITS_WAITING_MAX: usize = 512;

/// The iterator returned by [`Scan::iter`].
#[derive(Debug)]
pub struct HitIter {
    hits: Receiver<Result<Hit, DatabaseError>>,
}

impl Iterator for HitIter {
    type Item = Result<Hit, DatabaseError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.hits.recv().ok()
    }
}

impl<'a> Scan<'a> {
    pub(super) fn new(database: &'a Database, queries: Vec<Query>) -> Scan<'a> {
        let mut engine = database.engine.clone();
        (engine.positions, engine.held) = (database.positions(), database.numbers());
        Scan {
            database,
            queries,
            choice: Choice::default(),
            hits_max: u64::MAX,
            skip: 0,
            games_max: None,
            order: None,
            detail: Wants::VALUES | Wants::LOWEST_COPY,
            engine,
            threads: database.threads,
            turns: None,
            unique: None,
            blocks: None,
            is_narrowed: false,
            cancel: CancelToken::new(),
            watch: Box::new(|_| ()),
            ran: None,
        }
    }

    /// Selects only games that meet a condition, such as `"elo>2500".parse()?`, or only hits at positions that meet it, such as
    /// `"clock<30".parse()?`. If this is called several times, all conditions must be met. Clocks and evaluations are read from
    /// comments, so the database must keep these: see [`DatabaseOptions::variations`](super::DatabaseOptions::variations).
    pub fn condition(mut self, condition: Condition) -> Self {
        self.choice.conditions.push(condition);
        self
    }

    /// Selects only a player's games, and evaluates the queries from the player's side: see [`Player`].
    pub fn player(mut self, player: Player) -> Self {
        self.choice.player = Some(player);
        self
    }

    /// Selects only the first hit of each game.
    pub fn first_per_game(mut self) -> Self {
        self.choice.first = true;
        self
    }

    /// Selects only the hit with the greatest value in each game. Ties go to the first hit. The value of a set is its number of
    /// squares.
    pub fn best_per_game(mut self) -> Self {
        self.choice.best = true;
        self
    }

    /// Sets the selection of games and hits, the order and the engine to those of a request. The queries are not changed.
    ///
    /// # Errors
    ///
    /// Fails if fields of the request are mutually exclusive or unsuitable for the queries.
    pub fn chosen_by(mut self, request: &Request) -> Result<Self, RequestError> {
        let chosen = request.check()?;
        self.queries
            .iter()
            .try_for_each(|query| chosen.check_query(query.value_type(), query.has_spans()))?;
        let Chosen { choice, order, skip, games_max } = chosen;
        (self.choice, self.skip, self.games_max) = (choice, skip, games_max);
        self.order = order.map(|order| (order, usize::MAX));
        self.unique = request.unique;
        self.engine.engine = request.engine.unwrap_or(self.engine.engine);
        self.engine.verify = request.verify.or(self.engine.verify);
        Ok(self)
    }

    /// Stops after this many hits: see [`Scan::hits`] and [`Scan::for_each`].
    pub fn limit(mut self, hits: u64) -> Self {
        self.hits_max = hits;
        self
    }

    /// Stops after this many games have been found: see [`Scan::for_each`], [`Scan::pgn`] and `Scan::table`.
    pub fn limit_games(mut self, games: u64) -> Self {
        self.games_max = Some(games);
        self
    }

    /// Skips the first `games` games that are found: see [`Scan::for_each`], [`Scan::pgn`] and `Scan::table`.
    pub fn skip(mut self, games: u64) -> Self {
        self.skip = games;
        self
    }

    /// Omits duplicates, which are games equal to an earlier game under the rule `alike`. This needs 24 to 48 bytes of memory per
    /// game.
    pub fn unique(mut self, alike: Alike) -> Self {
        self.unique = Some(alike);
        self
    }

    /// Sorts the games by `order` and returns only the hits in the first `games_max` games. The result is known only after all
    /// games have been searched: see [`Scan::hits`] and [`Scan::for_each`].
    pub fn order(mut self, order: Order, games_max: usize) -> Self {
        self.order = Some((order, games_max));
        self
    }

    /// Finds all matching copies of the query at each hit, not only the first: see [`Hit::copies`].
    pub fn all_copies(mut self) -> Self {
        self.detail |= Wants::ALL_COPIES;
        self
    }

    /// Finds the span of each hit, which consists of the matched moves and positions: see [`Hit::span`].
    pub fn spans(mut self) -> Self {
        self.detail |= Wants::SPANS;
        self
    }

    /// Finds only the matching positions, without values and copies of the query. This is faster.
    pub fn places_only(mut self) -> Self {
        self.detail = Wants::HITS;
        self
    }

    /// Sets the engine, instead of using the engine of the database.
    pub fn engine(mut self, choice: EngineChoice) -> Self {
        self.engine.engine = choice;
        self
    }

    /// Recomputes a sample of the results with a second engine. Any difference is reported as an error.
    pub fn verify(mut self, sample: Sample) -> Self {
        self.engine.verify = Some(sample);
        self
    }

    /// Sets the number of threads. Answers do not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Makes the request share the threads in `turns` with other requests: after each block, a thread can serve another request.
    pub(crate) fn in_turn(mut self, turns: &Turns) -> Self {
        self.turns = Some(turns.clone());
        self
    }

    /// Reads only this range of blocks, which are numbered from 0 across all reels: see [`Database::positions_of_blocks`]. The
    /// numbers of games do not change. If the query [splits](Query::splits) and neither games nor hits are limited or sorted, the
    /// concatenated results of consecutive ranges equal the results of all blocks.
    ///
    /// ```
    /// use orbit_search::{Database, Query};
    ///
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// let database = Database::open(["games/sample.pgn"])?;
    /// assert_eq!(database.positions_of_blocks(), None);
    /// assert!(database.scan(&Query::parse("mate")?).blocks(0..1).count().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn blocks(mut self, blocks: Range<usize>) -> Self {
        self.blocks = Some(blocks);
        self
    }

    /// Sets a token that can cancel the request.
    pub fn cancel_token(mut self, cancel: &CancelToken) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// Calls `watch` with the progress after each block of games, on the thread that runs the request. If the whole database is
    /// read, the last call receives the total numbers of games, positions and bytes.
    pub fn progress(mut self, watch: impl FnMut(Progress) + Send + 'a) -> Self {
        self.watch = Box::new(watch);
        self
    }

    /// Stores a description of the engine in `ran` when the request has ended.
    pub(crate) fn tells_engine(mut self, ran: &'a OnceLock<EngineInfo>) -> Self {
        self.ran = Some(ran);
        self
    }

    /// Returns all hits of the first query, in database order or in the order set by [`Scan::order`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Scan::for_each`].
    pub fn hits(self) -> Result<Vec<Hit>, DatabaseError> {
        let mut hits = Vec::new();
        self.for_each(|hit| {
            hits.push(hit);
            ControlFlow::Continue(())
        })?;
        Ok(hits)
    }

    /// Calls `take` for every hit of the first query until `take` breaks. Hits are in database order or in the order set by
    /// [`Scan::order`].
    ///
    /// # Errors
    ///
    /// Fails if the engine or the database stops early or the request is cancelled. `take` has then received the hits before the
    /// error.
    ///
    /// # Panics
    ///
    /// Panics if there is no query.
    pub fn for_each(
        mut self,
        mut take: impl FnMut(Hit) -> ControlFlow<()>,
    ) -> Result<Summary, DatabaseError> {
        let mut left = self.hits_max;
        let mut take = move |hit| {
            left -= 1;
            let flow = take(hit);
            if left == 0 { ControlFlow::Break(()) } else { flow }
        };
        let mut games = GamesTaken::new(self.skip, self.games_max);
        if left == 0 || games.are_all() {
            return Ok(Summary::default());
        }
        let (skip, mut top) = (self.skip, self.order.map(|(order, max)| (order, order.top(self.room(max)))));
        let wants = self.wants_of_hits();
        let (executor, database) = (self.executor()?, self.database);
        let query = self.queries[0].clone();
        let hits = HitMaker::new(&query, &database.sources);
        let summary = self.for_each_kept(&executor, wants, |kept| {
            let (block, found) = (&kept.block, kept.first());
            match &mut top {
                None => found.games_found().try_for_each(|game| {
                    if games.takes_next() {
                        hits.at(block, &found, &game).try_for_each(&mut take)?;
                    }
                    if games.are_all() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                }),
                Some((order, top)) => {
                    for game in found.games_found() {
                        top.offer(order.rank(&game, &found), game.number(), || {
                            hits.at(block, &found, &game).collect::<Vec<Hit>>()
                        });
                    }
                    ControlFlow::Continue(())
                }
            }
        })?;
        if let Some((_, top)) = top {
            let _ = top.list(skip).flatten().try_for_each(&mut take);
        }
        Ok(summary)
    }

    /// Iterates over the hits of the first query while a thread in `scope` searches. Hits are in database order or in the order set
    /// by [`Scan::order`]. The search pauses when a few hundred hits are pending and stops when the iterator is dropped. If an
    /// error occurs, it is the last item.
    ///
    /// ```
    /// use orbit_search::{Database, Query};
    ///
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// let database = Database::open(["games/sample.pgn"])?;
    /// let mates: Query = "mate".parse()?;
    /// let queens = std::thread::scope(|scope| {
    ///     let mut hits = database.scan(&mates).iter(scope);
    ///     hits.find(|hit| hit.as_ref().is_ok_and(|hit| hit.san_before().is_some_and(|san| san.starts_with('Q'))))
    /// });
    /// assert_eq!(queens.unwrap()?.san_after(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If [`Scan::for_each`] would fail, the last item is its error.
    ///
    /// # Panics
    ///
    /// If there is no query, the scope panics when it ends.
    pub fn iter<'scope>(self, scope: &'scope thread::Scope<'scope, '_>) -> HitIter
    where
        'a: 'scope,
    {
        let (sender, hits) = mpsc::sync_channel(HITS_WAITING_MAX);
        scope.spawn(move || {
            let flow =
                |is_taken: bool| if is_taken { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
            if let Err(error) = self.for_each(|hit| flow(sender.send(Ok(hit)).is_ok())) {
                // If the iterator was dropped, nothing can receive the error, so a failure to send it is ignored.
                let _ = sender.send(Err(error));
            }
        });
        HitIter { hits }
    }

    /// Folds the hits of the first query on all threads. For each block of games, `init` creates the initial value, and `fold` adds
    /// the block's hits to it one by one. `merge` combines the result for all earlier blocks with the result for this block, in
    /// database order. If hits are limited or [sorted](Scan::order), they are treated as a single block, which one thread folds.
    ///
    /// ```
    /// use orbit_search::{Database, Query};
    ///
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// let database = Database::open(["games/sample.pgn"])?;
    /// let mates: Query = "mate".parse()?;
    /// // The number of mates on each move of a game.
    /// let moves = database.scan(&mates).fold(
    ///     || [0; 300],
    ///     |mut counts, hit| {
    ///         counts[hit.ply() as usize / 2] += 1;
    ///         counts
    ///     },
    ///     |sum, more| std::array::from_fn(|number| sum[number] + more[number]),
    /// )?;
    /// assert_eq!(moves.iter().sum::<u64>(), database.scan(&mates).count()?[0].positions);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Scan::for_each`].
    ///
    /// # Panics
    ///
    /// Panics if there is no query.
    pub fn fold<T: Send>(
        mut self,
        init: impl Fn() -> T + Sync,
        fold: impl Fn(T, Hit) -> T + Sync,
        mut merge: impl FnMut(T, T) -> T,
    ) -> Result<T, DatabaseError> {
        let mut sum = Some(init());
        if !self.takes_all() {
            self.for_each(|hit| {
                sum = sum.take().map(|sum| fold(sum, hit));
                ControlFlow::Continue(())
            })?;
        } else {
            let (executor, database, names) = (self.executor()?, self.database, Names::default());
            let query = self.queries[0].clone();
            let hits = HitMaker::new(&query, &database.sources);
            let work = |result: BlockResult<'_>, _: &MemoryBudget| {
                let (block, found) = (&result.block, result.first());
                let games = found.games_found();
                games.fold(init(), |sum, game| hits.at(block, &found, &game).fold(sum, &fold))
            };
            let (wants, choice) = (self.wants_of_hits(), self.choice.clone());
            let outputs = self.outputs(wants);
            self.run(&executor, &outputs, &choice, &names, work, |_, more| {
                sum = sum.take().into_iter().chain([more]).reduce(&mut merge);
                ControlFlow::Continue(())
            })?;
        }
        Ok(sum.expect("a sum is put back after each step"))
    }

    /// For each query, returns the facts that the engine must report if the caller needs the facts in `wants`.
    fn outputs(&self, wants: Wants) -> Vec<Wants> {
        let wants = wants | self.choice.wants();
        self.queries.iter().map(|query| wanted_of(wants, query.filter())).collect()
    }

    /// Passes the answers of the first query for each block to `take`, in database order, until `take` breaks. `wants` are the
    /// facts that the caller needs; the facts that the selection needs are added. `executor` is the result of [`Scan::executor`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Scan::for_each`].
    pub(crate) fn for_each_kept(
        &mut self,
        executor: &Executor,
        wants: Wants,
        mut take: impl FnMut(BlockResult<'static>) -> ControlFlow<()>,
    ) -> Result<Summary, DatabaseError> {
        let outputs = self.outputs(wants);
        let work = |result: BlockResult<'_>, _: &MemoryBudget| result.keep_first();
        let (choice, names) = (self.choice.clone(), Names::default());
        self.run(executor, &outputs, &choice, &names, work, |_, kept| take(kept))
    }

    /// Calls `work` with the answers for each block, on the scan's threads, and passes its results to `take` in database order,
    /// until `take` breaks.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Scan::for_each`].
    pub(super) fn run<T: Send>(
        &mut self,
        executor: &Executor,
        outputs: &[Wants],
        choice: &Choice,
        names: &Names,
        work: impl Fn(BlockResult<'_>, &MemoryBudget) -> T + Sync,
        mut take: impl FnMut(&StreamedBlock, T) -> ControlFlow<()>,
    ) -> Result<Summary, DatabaseError> {
        let stream = self.stream(false)?;
        let mut progress = self.begin(&stream);
        let summary = executor.for_each_block(stream, outputs, choice, names, work, |streamed, made| {
            self.step(&mut progress, &streamed);
            take(&streamed, made)
        })?;
        self.finish(progress, executor, &summary)?;
        Ok(summary)
    }

    pub(crate) fn stream(&self, with_texts: bool) -> Result<BlockStream, DatabaseError> {
        let stream = match &self.blocks {
            None => self.database.stream(&self.cancel, with_texts),
            Some(blocks) => self.database.stream_of_blocks(&self.cancel, blocks.clone()),
        };
        let stream = stream?.in_turn(self.turns.as_ref());
        match self.unique {
            None => Ok(stream),
            Some(alike) => Ok(stream.without_duplicates(GameSet::new(alike))),
        }
    }

    /// Returns the number of games to skip at the start of the results.
    pub(super) fn skipped(&self) -> usize {
        usize::try_from(self.skip).unwrap_or(usize::MAX)
    }

    /// Returns the number of games to keep while sorting, if `max` games are wanted. This includes the skipped games, which are
    /// known only after sorting.
    pub(super) fn room(&self, max: usize) -> usize {
        let listed = self.games_max.map_or(usize::MAX, |max| usize::try_from(max).unwrap_or(usize::MAX));
        listed.min(max).saturating_add(self.skipped())
    }

    pub(super) fn begin(&self, stream: &BlockStream) -> Progress {
        Progress { bytes_total: stream.bytes_total(), ..Progress::default() }
    }

    /// Counts a block as read, and reports the progress to the caller.
    pub(super) fn step(&mut self, progress: &mut Progress, streamed: &StreamedBlock) {
        progress.add(streamed);
        (self.watch)(*progress);
    }

    /// Returns true if the games and hits are not limited, skipped or sorted.
    fn takes_all(&self) -> bool {
        self.hits_max == u64::MAX && self.games_max.is_none() && self.skip == 0 && self.order.is_none()
    }

    pub(super) fn check_takes_all(&self) -> Result<(), RequestError> {
        let why = "counts, statistics and heat maps are of all games: leave out {skip}, {limit}, {sort} and {sample}";
        if self.takes_all() { Ok(()) } else { Err(RequestError::new(why)) }
    }

    /// Counts the matching positions of each query and the games that contain them.
    ///
    /// # Errors
    ///
    /// Fails if games or hits are limited, skipped or sorted, or if [`Scan::collect`] fails.
    pub fn count(self) -> Result<Vec<HitTotals>, DatabaseError> {
        self.check_takes_all()?;
        let queries = self.queries.len();
        let (part, _) = self.collect(&TotalsCollector)?;
        let mut totals = part.queries;
        totals.resize(queries, HitTotals::default());
        Ok(totals)
    }

    /// Groups the hits of the first query, for example by `"year,eco,year*result"`. [`Grouping`] documents the syntax.
    ///
    /// # Errors
    ///
    /// Fails if the groupings are invalid or need moves or a player that the request does not have, if games or hits are limited,
    /// skipped or sorted, or if [`Scan::collect`] fails.
    pub fn statistics(self, groupings: &str) -> Result<Counts, DatabaseError> {
        self.check_takes_all()?;
        let groupings = Grouping::list(groupings)?;
        self.choice.check_groupings(&groupings, self.queries.first().is_some_and(Query::has_spans))?;
        let is_number = self.queries.first().is_some_and(|query| query.value_type() == Type::Num);
        let stats = Stats::new(groupings);
        let stats = if is_number { stats.with_values() } else { stats };
        let none = stats.none();
        Ok(self.grouped(stats)?.into_iter().next().unwrap_or(none))
    }

    /// Counts the hits of each query, in total and by group, as `orbit batch` does. `labels` are the names of the queries, in the
    /// same order. If `by` is `None`, there are no groups.
    ///
    /// ```
    /// use orbit_search::stats::ThemeLabel;
    /// use orbit_search::{Database, Query, Theme, load_themes};
    ///
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    /// let database = Database::open(["games/sample.pgn"])?;
    /// let themes = load_themes("catalogue".as_ref())?;
    /// let mates: Vec<&Theme> = themes.iter().filter(|theme| theme.group == "mates").collect();
    /// let queries = mates.iter().map(|theme| Query::from_theme(theme)).collect::<Result<Vec<_>, _>>()?;
    /// let labels = mates.iter().map(|theme| ThemeLabel::from(*theme)).collect();
    /// let matrix = database.scan_all(&queries).matrix(labels, Some("result"))?;
    /// let smothered = matrix.themes().find(|theme| theme.label.theme == "smothered-mate").unwrap();
    /// assert_eq!(smothered.groups[0].len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the groupings are invalid or unsuitable for themes, if games or hits are limited, skipped or sorted, or if
    /// [`Scan::collect`] fails.
    pub fn matrix(self, labels: Vec<ThemeLabel>, by: Option<&str>) -> Result<ThemeMatrix, DatabaseError> {
        self.check_takes_all()?;
        if labels.len() != self.queries.len() {
            return Err(RequestError::new("each query of a matrix needs the label of a theme").into());
        }
        let groupings = by.map_or(Ok(Vec::new()), Grouping::list)?;
        self.choice.check_theme_groupings(&groupings)?;
        let counts = self.grouped(Stats::new(groupings.clone()))?;
        Ok(ThemeMatrix::new(labels, counts, &groupings))
    }

    /// Counts the hits of each query by group. Scores are those of the selected player or, if there is none, of White. Game results
    /// are also counted for the sides whose patterns matched.
    fn grouped(self, stats: Stats) -> Result<Vec<Counts>, DatabaseError> {
        let stats = if self.choice.player.is_some() { stats.for_player() } else { stats };
        let collector = StatisticsCollector::new(stats.with_sides());
        let queries = self.queries.clone();
        let (part, _) = self.collect(&collector)?;
        Ok(collector.counts(part, queries.iter().map(Query::filter)))
    }

    /// Returns the result of a collector for the answers of all queries, and a summary of the games that were read. The summary
    /// contains dates and ratings only if tags were read.
    ///
    /// # Errors
    ///
    /// Fails if the engine or the database stops early, the collector cannot process a block, or the request is cancelled.
    pub fn collect<C: Collector>(self, collector: &C) -> Result<(C::Part, Summary), DatabaseError> {
        self.collect_from(collector, |_| None)
    }

    /// Returns the result of a collector as [`Scan::collect`] does, but reads only the stream that `narrow` returns. If `narrow`
    /// returns `None`, all blocks of the scan are read.
    pub(crate) fn collect_from<C: Collector>(
        mut self,
        collector: &C,
        narrow: impl FnOnce(&Self) -> Option<BlockStream>,
    ) -> Result<(C::Part, Summary), DatabaseError> {
        let executor = self.executor()?;
        let run = Run::new(&executor, &self.choice, collector);
        let narrowed = narrow(&self);
        self.is_narrowed = narrowed.is_some();
        let stream = match narrowed {
            Some(stream) => stream,
            None => self.stream(run.wants().contains(Wants::GAME_TEXTS))?,
        };
        let mut progress = Progress { bytes_total: stream.bytes_total(), ..Progress::default() };
        let watch = &mut self.watch;
        let (part, summary) = run.collect_watched(stream, |streamed: &StreamedBlock| {
            progress.add(streamed);
            watch(progress);
        })?;
        self.finish(progress, &executor, &summary)?;
        Ok((part, summary))
    }

    /// Returns the name of the engine that the request will use: `cpu`, `gpu` or `reference`. If it uses a graphics card, the card
    /// is opened.
    ///
    /// # Errors
    ///
    /// Fails if the engine rejects a query or the requested graphics card does not exist.
    pub fn engine_name(&self) -> Result<&'static str, DatabaseError> {
        Ok(self.executor()?.engine().info().name)
    }

    fn wants_of_hits(&self) -> Wants {
        let order = self.order.map_or(Wants::HITS, |(order, _)| order.wants());
        self.detail | self.choice.wants() | order
    }

    /// Prepares the queries for the selected engine.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Scan::engine_name`].
    pub(crate) fn executor(&self) -> Result<Executor, DatabaseError> {
        if self.queries.is_empty() {
            return Err(DatabaseError::NoQuery);
        }
        for query in &self.queries {
            check_engine(query.prepared(), self.engine.engine)
                .map_err(|refusal| QueryError::new(query.text(), refusal))?;
        }
        let queries = self.queries.iter().map(|query| query.prepared().clone()).collect();
        Ok(Executor::new(queries, &self.engine_options())?.threads(self.threads))
    }

    fn engine_options(&self) -> EngineOptions {
        // If duplicates are omitted or only a range of blocks is read, the blocks that are scanned are not those in memory. So the
        // search does not count as a repeated one.
        let is_of_held = self.unique.is_none() && self.blocks.is_none();
        let is_repeated = is_of_held && self.database.is_repeated();
        EngineOptions { is_repeated, ..self.engine.clone() }
    }

    /// Completes a request: reports the final progress, and stores the number of positions.
    pub(super) fn finish(
        &mut self,
        mut progress: Progress,
        executor: &Executor,
        summary: &Summary,
    ) -> Result<(), DatabaseError> {
        if let Some(ran) = self.ran {
            ran.get_or_init(|| executor.engine().info());
        }
        if self.cancel.is_cancelled() && !summary.finished {
            return Err(DatabaseError::Cancelled);
        }
        self.database.note_failures(summary);
        if summary.finished {
            progress.finish(summary);
            (self.watch)(progress);
        }
        if self.blocks.is_none() && self.unique.is_none() && !self.is_narrowed {
            self.database.learn(summary, executor.searches_variations());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::DatabaseOptions;

    fn is_repeated(scan: &Scan<'_>) -> bool {
        scan.engine_options().is_repeated
    }

    #[test]
    fn searches_of_games_in_memory_are_repeated_after_the_first() {
        let query = Query::parse("true").unwrap();
        let open = |bytes, variations| {
            let options = DatabaseOptions::new().resident_bytes_max(bytes).variations(variations);
            options.open_bytes("games", b"1. e4 e5 *".to_vec()).unwrap()
        };
        let database = open(1 << 30, false);
        assert!(!is_repeated(&database.scan(&query)));
        database.scan(&query).limit(1).hits().unwrap();
        assert!(!is_repeated(&database.scan(&query)), "the first did not read all games");
        database.scan(&query).count().unwrap();
        assert!(is_repeated(&database.scan(&query)));
        assert!(!is_repeated(&database.scan(&query).unique(Alike::Moves)), "its blocks are made anew");
        for (bytes, variations) in [(0, false), (1 << 30, true)] {
            let database = open(bytes, variations);
            database.scan(&query).count().unwrap();
            assert!(!is_repeated(&database.scan(&query)), "its blocks are read or made anew");
        }
    }
}
