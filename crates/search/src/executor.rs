//! Evaluates queries over one database, block by block (a block is a group of whole games). This module selects the engine and
//! contains the only loop over blocks.
//!
//! Callers decide how hits are used: see [`crate::run`] and [`crate::Database`].

mod matches;
mod view;

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use self::matches::MatchCounts;
use self::view::BlockView;
use crate::choice::Choice;
use crate::found::{BlockResult, Names};
use orbit_core::diagnostic::Diagnostic;
use orbit_core::named::choices;
use orbit_core::sync::{WaitingValues, lock};
use orbit_database::{BlockStream, MemoryBudget, StreamError, StreamedBlock, Summary};
use orbit_engine::cpu::Cpu;
use orbit_engine::fallback::Fallback;
use orbit_engine::gpu::{Gpu, GpuDevice, GpuError, GpuOptions};
use orbit_engine::lasting::Lasting;
use orbit_engine::mixed::{EngineGroup, Mixed};
use orbit_engine::narrowed::Narrowed;
use orbit_engine::reference::{Bulk, Commentator, SpanFinder};
use orbit_engine::settled::SettledHits;
use orbit_engine::texts::Texts;
use orbit_engine::verify::{Sample, Verified};
use orbit_engine::{
    Answers, BlockRequest, Engine, EngineError, EngineInfo, FindSpan, Hits, Interrupt, PreparedQuery, Wants,
};
use orbit_plan::PlanOptions;
use orbit_query::{Type, english};
use orbit_reel::Block;
use orbit_transforms::OutermostOrbit as _;
use orbit_transforms::{AsText, Filter};

/// The engine that evaluates queries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum EngineChoice {
    /// The fastest engine for the work: a graphics card (never a software adapter) if there is enough work to justify opening it,
    /// otherwise the processor. If the card fails, the processor completes the work.
    #[default]
    Auto,
    /// The fast engine for processors.
    Cpu,
    /// The engine for graphics cards. Fails if there is no card.
    Gpu,
    /// The reference engine, which is slow and simple.
    Reference,
}

choices! { EngineChoice, "engine",
    EngineChoice::Auto => "auto", "The graphics card if there are so many positions that it is faster, else the processor";
    EngineChoice::Cpu => "cpu", "The processor";
    EngineChoice::Gpu => "gpu", "The graphics card; an error if there is none";
    EngineChoice::Reference => "reference", "A slow engine written apart from the others, to check them";
}

/// Settings of the engine and of its verification. By default, no graphics card is opened, because [`EngineChoice::Auto`] uses a
/// card only if `positions` is large enough.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct EngineOptions {
    /// The engine.
    pub engine: EngineChoice,
    /// The options for opening the graphics card. If `None`, [`EngineChoice::Auto`] uses no card.
    pub gpu: Option<GpuOptions>,
    /// The graphics card, which is opened on first use. Scans with clones of these options share it.
    pub card: Card,
    /// The number of positions to scan, if it is known: see [`BlockStream::positions_known`].
    pub positions: u64,
    /// The range of block numbers to scan, if the blocks are in memory: see [`Block::number_held`].
    pub held: Option<Range<u64>>,
    /// True if an earlier search has already read these blocks from memory. More searches are then likely.
    pub is_repeated: bool,
    /// The sample of results that another engine recomputes.
    pub verify: Option<Sample>,
}

/// A graphics card that is opened on first use and then stays open. Clones share it.
#[derive(Clone, Default)]
pub struct Card(Arc<Mutex<CardState>>);

#[derive(Default)]
enum CardState {
    #[default]
    Unopened,
    Open(Arc<GpuDevice>),
    /// [`EngineChoice::Auto`] found no suitable card.
    Unfit,
}

impl Card {
    /// Returns the card, if it is open.
    fn device(&self) -> Option<Arc<GpuDevice>> {
        // Do not wait for the lock: another thread can hold it for a long time while it opens the card.
        match self.0.try_lock().as_deref() {
            Ok(CardState::Open(device)) => Some(Arc::clone(device)),
            _ => None,
        }
    }

    /// Frees the card memory that holds games, if no query has used the card for the duration `idle`.
    pub fn give_back(&self, idle: Duration) {
        self.device().into_iter().for_each(|device| device.give_back(idle));
    }

    /// Frees the card memory that holds the blocks with these numbers.
    pub fn release(&self, numbers: &Range<u64>) {
        self.device().into_iter().for_each(|device| device.release(numbers));
    }

    /// Returns the number of bytes on the card that hold games for later queries.
    pub fn resident_bytes(&self) -> u64 {
        self.device().map_or(0, |device| device.resident_bytes())
    }

    /// Returns the number of bytes on the card that hold the blocks with these numbers.
    pub(crate) fn bytes_of(&self, numbers: &Range<u64>) -> u64 {
        self.device().map_or(0, |device| device.bytes_of(numbers))
    }
}

impl std::fmt::Debug for Card {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = match *lock(&self.0) {
            CardState::Unopened => "unopened",
            CardState::Open(_) => "open",
            CardState::Unfit => "unfit",
        };
        write!(f, "Card({state})")
    }
}

/// The number of positions that a processor thread evaluates in about a second. With more positions per thread, a graphics card is
/// estimated to be faster, although opening it and compiling a kernel take about half a second. `benches/card` measures this number
/// on the machine where it runs, and prints it as `auto.positions_a_thread_measured`.
const POSITIONS_A_SECOND: u64 = 50_000_000;

/// Returns the number of positions above which [`EngineChoice::Auto`] uses a graphics card on a machine with `threads` threads.
pub fn positions_for_card(threads: usize) -> u64 {
    POSITIONS_A_SECOND.saturating_mul(threads as u64)
}

/// Returns the number of positions above which a card is used for blocks that stay on it. The number is lower than
/// [`positions_for_card`], because later searches reuse the card and the blocks, and only the kernel must be compiled. Both numbers
/// are only estimates.
fn positions_for_resident(threads: usize) -> u64 {
    positions_for_card(threads) / 10
}

/// The number of bytes per position on a card. The moves, and one key position for each segment of 32 positions, need 3.5 bytes per
/// position; the rest depends on the lengths of the games.
const CARD_BYTES_A_POSITION: u64 = 4;

/// The reason why a graphics card is likely to be faster than the processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CardGain {
    /// A single search justifies the cost of opening the card and uploading the blocks.
    AtOnce,
    /// Several searches together justify this cost, if the blocks stay on the card.
    Repeated,
}

/// Returns the reason why a graphics card is likely to search `work` positions faster than the processor, or `None` if it is not.
/// `stay` returns true if the blocks are on the card or worth uploading. It is called only if the result depends on it.
fn gain(work: u64, threads: usize, stay: impl FnOnce() -> bool) -> Option<CardGain> {
    match work {
        _ if work > positions_for_card(threads) => Some(CardGain::AtOnce),
        _ if work > positions_for_resident(threads) && stay() => Some(CardGain::Repeated),
        _ => None,
    }
}

/// The cards that are open in this process. Searches with equal options share a card and the blocks in its memory.
static OPEN: Mutex<Vec<(GpuOptions, Weak<GpuDevice>)>> = Mutex::new(Vec::new());

/// Opens a graphics card, or returns one that is already open with the same options.
fn open_card(options: GpuOptions) -> Result<Arc<GpuDevice>, GpuError> {
    let mut open = lock(&OPEN);
    open.retain(|(_, device)| device.strong_count() > 0);
    let same = open.iter().filter(|(known, _)| *known == options).filter_map(|(_, device)| device.upgrade());
    if let Some(device) = same.into_iter().find(|device| device.is_alive()) {
        return Ok(device);
    }
    let device = Arc::new(GpuDevice::open(options.clone())?);
    open.push((options, Arc::downgrade(&device)));
    Ok(device)
}

/// The reason why a scan cannot start or stopped early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScanError {
    /// The query is invalid, or its transforms produce too many copies.
    #[error("{0}")]
    Query(Diagnostic),
    /// The engine rejects the query or fails.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A query searches side lines, but the database was opened without them.
    #[error(
        "the query searches side lines, but the database is read without them: set `ParseOptions::variations`"
    )]
    NoVariations,
    /// The query or the selection of hits needs comments or glyphs, but the database was opened without them.
    #[error(
        "the query, a condition, a grouping or a column needs the comments of the games (clocks and evaluations stand in \
         them), but the database is read without them: set `ParseOptions::annotations`"
    )]
    NoAnnotations,
    /// A reel (a database file of orbit) is damaged. All hits before the damage were reported.
    #[error(transparent)]
    Database(#[from] StreamError),
}

impl From<Diagnostic> for ScanError {
    fn from(diagnostic: Diagnostic) -> ScanError {
        ScanError::Query(diagnostic)
    }
}

/// Prepared queries and the engine that evaluates them.
pub struct Executor {
    queries: Vec<PreparedQuery>,
    engine: Box<dyn Engine>,
    remarks: Vec<Diagnostic>,
    notes: Vec<String>,
    threads: usize,
}

impl Executor {
    /// Prepares a parsed query. By default, a scan uses one thread per core.
    ///
    /// # Errors
    ///
    /// Fails if the query's transforms produce too many copies, the engine rejects the query, or the requested graphics card does
    /// not exist.
    pub fn with_query(parsed: orbit_query::Parsed, options: &EngineOptions) -> Result<Executor, ScanError> {
        let orbit_query::Parsed { query, mut remarks } = parsed;
        let prepared = PreparedQuery::new(query, PlanOptions::default())?;
        remarks.extend(prepared.planner.warnings());
        let scan = Executor::new(vec![prepared], options)?;
        Ok(Executor { remarks, ..scan })
    }

    /// Prepares any number of queries for evaluation in one run. Shared computations are done once.
    ///
    /// # Errors
    ///
    /// Fails if the engine rejects a query or the requested graphics card does not exist.
    pub fn new(queries: Vec<PreparedQuery>, options: &EngineOptions) -> Result<Executor, ScanError> {
        let engine = engine_of(&queries, options)?;
        let mut notes = notes(&queries, &*engine, options);
        notes.extend(options.card.device().and_then(|device| device.take_note()));
        let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
        Ok(Executor { queries, engine, remarks: Vec::new(), notes, threads })
    }

    /// Sets the number of threads. It does not affect the hits or their order.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Executor {
        self.threads = threads.max(1);
        self
    }

    /// Returns the selected engine.
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// Returns the engine name and the number of search threads, such as `cpu, 4 threads`.
    pub fn engine_and_threads(&self) -> String {
        let EngineInfo { name, in_order, .. } = self.engine.info();
        match if in_order { 1 } else { self.threads } {
            1 => format!("{name}, 1 thread"),
            threads => format!("{name}, {threads} threads"),
        }
    }

    /// Returns whether a query depends on PGN tags. If none does, the stream that [`BlockStream::without_tags`] returns gives the
    /// same hits and is faster to read.
    pub fn reads_tags(&self) -> bool {
        self.queries.iter().any(|prepared| prepared.planner.reads_tags())
    }

    /// Returns whether a query searches side lines. If so, the database must be opened with
    /// [`ParseOptions::variations`](orbit_pgn::ParseOptions::variations).
    pub fn searches_variations(&self) -> bool {
        self.queries.iter().any(|prepared| prepared.query.variations)
    }

    /// Returns whether a query needs comments or glyphs. If so, the database must be opened with
    /// [`ParseOptions::annotations`](orbit_pgn::ParseOptions::annotations).
    pub fn reads_comments(&self) -> bool {
        self.queries.iter().any(|prepared| prepared.query.reads_comments())
    }

    /// Returns whether a query needs the total number of games. If so, the games must be counted before the scan.
    fn asks_for_last_game(&self) -> bool {
        self.queries.iter().any(|prepared| prepared.query.asks_for_last_game())
    }

    /// Returns whether the first query determines the order in which games are listed.
    ///
    /// # Panics
    ///
    /// Panics if there is no query.
    pub fn sorts_games(&self) -> bool {
        let query = &self.queries[0].query;
        !query.sorts.is_empty() || query.header.sort_match_count
    }

    /// Returns whether hits of the first query can be move sequences or span several positions.
    ///
    /// # Panics
    ///
    /// Panics if there is no query.
    pub fn has_spans(&self) -> bool {
        self.queries[0].query.has_spans()
    }

    /// Returns whether the first query compares positions with a board, as `similar` does.
    ///
    /// # Panics
    ///
    /// Panics if there is no query.
    pub fn finds_likeness(&self) -> bool {
        self.queries[0].query.finds_likeness()
    }

    /// Returns warnings and notes about the query, if the executor was created by [`Executor::with_query`].
    pub fn remarks(&self) -> &[Diagnostic] {
        &self.remarks
    }

    /// Returns notes for the user about the execution, for example that the engine is slow, that only one thread searches, or that
    /// no second engine can verify the results.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the queries.
    pub fn queries(&self) -> &[PreparedQuery] {
        &self.queries
    }

    /// Describes the first query as an English sentence without a full stop. `text` is the source text of the query.
    pub fn sentence(&self, text: &str) -> String {
        english::sentence(&self.queries[0].query, text)
    }

    /// Returns the type of the first query's value.
    ///
    /// # Panics
    ///
    /// Panics if there is no query.
    pub fn ty(&self) -> Type {
        self.queries[0].query.body.ty()
    }

    /// Returns the filter of the first query, with its transforms expanded.
    ///
    /// # Panics
    ///
    /// Panics if there is no query.
    pub fn filter(&self) -> &Filter {
        self.queries[0].planner.filter()
    }

    /// Iterates over the filters of all queries, with their transforms expanded.
    pub fn filters(&self) -> impl Iterator<Item = &Filter> {
        self.queries.iter().map(|prepared| prepared.planner.filter())
    }

    /// Returns the first query's distinct copies, as CQL. These are produced by its outermost transform and are in the order in
    /// which [`orbit_engine::CopyHits`] numbers them.
    pub fn copies(&self) -> Vec<String> {
        let filter = self.filter();
        match filter.outermost() {
            Some(orbit) => orbit.copies.iter().map(|copy| AsText(&copy.filter).to_string()).collect(),
            None => vec![AsText(filter).to_string()],
        }
    }

    /// Creates, for each query whose comments or sort values are requested, a commentator that computes them, because engines do
    /// not.
    fn commentators(
        &self,
        outputs: &[Wants],
        last_game: Option<u32>,
    ) -> Result<Vec<Option<Commentator>>, EngineError> {
        let is_wanted = |prepared: &PreparedQuery, outputs: &Wants| {
            let sorts = outputs.contains(Wants::RANKS) && !prepared.query.sorts.is_empty();
            let is_left = prepared.planner.refusal().is_none() && !prepared.lasts();
            (outputs.contains(Wants::COMMENTARY) || sorts) && is_left
        };
        let queries = self.queries.iter().zip(outputs);
        let commentator = |(prepared, outputs): (&PreparedQuery, &Wants)| {
            let new = || Commentator::new(&prepared.query, *outputs, last_game);
            is_wanted(prepared, outputs).then(new).transpose()
        };
        Ok(queries.map(commentator).collect::<Result<_, _>>()?)
    }

    /// Creates a span finder for each query whose spans (the matched moves and positions) are requested. It is used if the engine
    /// does not return spans.
    fn span_finders(
        &self,
        outputs: &[Wants],
        last_game: Option<u32>,
    ) -> Result<Vec<Option<SpanFinder>>, EngineError> {
        let finder = |(prepared, outputs): (&PreparedQuery, &Wants)| {
            let query = &prepared.query;
            let is_wanted = outputs.contains(Wants::SPANS) && query.has_spans() && !query.outlives_games();
            is_wanted.then(|| SpanFinder::new(query, last_game)).transpose()
        };
        Ok(self.queries.iter().zip(outputs).map(finder).collect::<Result<_, _>>()?)
    }

    /// Evaluates every block. For each query, the engine returns the facts in `outputs` about the selected hits. `work` is called
    /// on the scan's threads with the answers for each block, to which `names` is added, and with a memory budget. It must reserve
    /// memory in this budget before it creates a large result. `take` is called on the calling thread with the results of `work`,
    /// in database order, until it breaks.
    ///
    /// # Errors
    ///
    /// Returns the first error of an engine or of [`BlockStream::for_each_block`]. By then, `take` has received the results of all
    /// earlier blocks.
    pub fn for_each_block<T: Send>(
        &self,
        stream: BlockStream,
        outputs: &[Wants],
        choice: &Choice,
        names: &Names,
        work: impl Fn(BlockResult<'_>, &MemoryBudget) -> T + Sync,
        mut take: impl FnMut(StreamedBlock, T) -> ControlFlow<()>,
    ) -> Result<Summary, ScanError> {
        let results = WaitingValues::default();
        let numbered = |result: BlockResult<'_>, room: &MemoryBudget| results.put(work(result, room));
        self.for_each_numbered(stream, outputs, (choice, names), &numbered, &mut |streamed, number| {
            take(streamed, results.take(number))
        })
    }

    /// Implements [`Executor::for_each_block`] without a type parameter, so that it is compiled only once. In place of a result,
    /// `work` returns the number under which the caller stored it.
    fn for_each_numbered(
        &self,
        stream: BlockStream,
        outputs: &[Wants],
        (choice, names): (&Choice, &Names),
        work: &(dyn Fn(BlockResult<'_>, &MemoryBudget) -> usize + Sync),
        take: &mut dyn FnMut(StreamedBlock, usize) -> ControlFlow<()>,
    ) -> Result<Summary, ScanError> {
        let needs_comments = self.reads_comments()
            || choice.reads_comments()
            || outputs.iter().any(|wanted| wanted.contains(Wants::COMMENTS));
        let stream = match (self.searches_variations(), stream.keeps_variations()) {
            (true, false) => return Err(ScanError::NoVariations),
            (true, true) => stream,
            (false, _) => stream.without_variations(needs_comments),
        };
        if needs_comments && !stream.keeps_annotations() {
            return Err(ScanError::NoAnnotations);
        }
        let last_game = match self.asks_for_last_game() {
            true => Some(stream.last_game(self.threads)?),
            false => None,
        };
        let outputs: Vec<Wants> = outputs.iter().map(|&wanted| choice.outputs(wanted)).collect();
        let outputs = &outputs[..];
        let mut fault = None;
        let interrupt = &Interrupt::from_flag(stream.interrupt_flag());
        let (commentators, finders) =
            (self.commentators(outputs, last_game)?, self.span_finders(outputs, last_game)?);
        let EngineInfo { in_order, blocks_at_once: at_once, .. } = self.engine.info();
        let passes_over = !in_order && !outputs.iter().any(|wanted| wanted.contains(Wants::COMMENTARY));
        let scan = |blocks: &[&Arc<Block>], room: &MemoryBudget| {
            let views: Vec<BlockView<'_>> =
                blocks.iter().map(|block| BlockView::new(block, choice)).collect();
            // Blocks without selected games are not evaluated, unless queries have effects on later games, or comments. A card finds
            // the games that it holds by the list of all blocks of a group, so such a group is evaluated as a whole or not at all.
            let is_none = views.iter().all(BlockView::selects_nothing);
            let is_left_out =
                |view: &BlockView<'_>| is_none || at_once == 1 || view.block().number_held().is_none();
            let is_passed = |view: &BlockView<'_>| {
                view.is_empty() || passes_over && view.selects_nothing() && is_left_out(view)
            };
            let asked: Vec<&BlockView<'_>> = views.iter().filter(|view| !is_passed(view)).collect();
            let counting = MatchCounts::new(&self.queries, asked.len());
            let select = |index: usize, block: &Block, query: usize, hits: &mut Hits| {
                counting.count(index, block, query, hits);
                choice.apply(block, asked[index].games_asked(), hits);
            };
            let told = |mut answers: Vec<Vec<Answers>>| {
                for (index, (answers, view)) in answers.iter_mut().zip(&asked).enumerate() {
                    counting.tell(index, answers);
                    for answers in &mut *answers {
                        choice.keep_found(view.block(), view.games_asked(), answers);
                        choice.keep_best(view.block(), answers);
                    }
                    comment(view.block(), (&commentators, choice.keeps_all_hits()), answers, interrupt)?;
                }
                Ok(answers)
            };
            let seen: Vec<&Block> = asked.iter().map(|view| view.block()).collect();
            let request = BlockRequest {
                outputs,
                select: Some(&select),
                games: None,
                last_game,
                interrupt: Some(interrupt),
            };
            let answers = match seen.is_empty() {
                true => Ok(Vec::new()),
                false => self.engine.scan(&seen, &request).and_then(told),
            };
            match answers {
                Ok(answers) => {
                    let mut answers = answers.into_iter();
                    let result = |view: &BlockView<'_>| {
                        let fault = OnceLock::new();
                        let mut answers = match is_passed(view) {
                            true => view.nothing(self, outputs),
                            false => answers.next().expect("each block that was asked has answers"),
                        };
                        let mut late = late_spans(&finders, &answers, (&fault, interrupt));
                        let each = answers.iter_mut().zip(&mut late);
                        each.for_each(|(answers, late)| view.put_back(answers, late));
                        let result = BlockResult {
                            block: Arc::clone(view.whole),
                            games: view.games.as_deref().map(Cow::Borrowed),
                            sides: view.sides.as_deref().map(Cow::Borrowed),
                            answers,
                            late,
                            names: Cow::Borrowed(names),
                        };
                        let made = work(result, room);
                        fault.into_inner().map_or(Ok(made), Err)
                    };
                    views.iter().map(result).collect()
                }
                // All blocks in the group get the same error, because the scan stops at the first error.
                Err(error) => blocks.iter().map(|_| Err(error.clone())).collect(),
            }
        };
        let threads = match (in_order, at_once) {
            (true, _) => 1,
            // Use at least two threads, so that one can read the next group while the other waits for the graphics card.
            (false, 2..) => self.threads.max(2),
            (false, _) => self.threads,
        };
        let summary = stream.for_each_group(threads, at_once, scan, |streamed, result| match result {
            Ok(result) => take(streamed, result),
            // After an interruption, the results of all earlier blocks are still returned.
            Err(EngineError::Interrupted) => ControlFlow::Break(()),
            Err(error) => {
                fault = Some(error);
                ControlFlow::Break(())
            }
        })?;
        fault.map_or(Ok(summary), |error| Err(error.into()))
    }
}

/// Adds commentary and sort values, which engines do not compute, to the games that were found.
fn comment(
    block: &Block,
    (commentators, has_all): (&[Option<Commentator>], bool),
    answers: &mut [Answers],
    interrupt: &Interrupt,
) -> Result<(), EngineError> {
    for (number, (answers, commentator)) in answers.iter_mut().zip(commentators).enumerate() {
        if let (None, Some(commentator)) = (&answers.commentary, commentator) {
            let seen = if answers.hits.main_lines { block.main_lines(true) } else { Cow::Borrowed(block) };
            let has_all = has_all && !answers.hits.main_lines;
            let (commentary, told) = commentator.write(&seen, number, (answers, has_all), interrupt)?;
            answers.commentary = commentary;
            if commentator.sorts() {
                answers.sort_by(block, told);
            }
        }
    }
    Ok(())
}

/// Returns a span finder for each query for which the engine returned no spans (the moves and positions of hits). Errors of the
/// finders are stored in `fault`.
fn late_spans<'a>(
    finders: &'a [Option<SpanFinder>],
    answers: &[Answers],
    (fault, interrupt): (&'a OnceLock<EngineError>, &'a Interrupt),
) -> Vec<Option<Box<dyn FindSpan + 'a>>> {
    let of_query = |(number, (finder, answers)): (usize, (&'a Option<SpanFinder>, &Answers))| {
        let finder = finder.as_ref().filter(|_| answers.spans.is_none())?;
        Some(Box::new(finder.late(number, fault, interrupt)) as Box<dyn FindSpan>)
    };
    finders.iter().zip(answers).enumerate().map(of_query).collect()
}

/// Creates an engine for all queries. Separate engines are needed for queries over side lines, for queries over main lines, for
/// queries that no plan (code for the fast engines) can express, and for each planned query that keeps values from game to game.
fn engine_of(queries: &[PreparedQuery], options: &EngineOptions) -> Result<Box<dyn Engine>, ScanError> {
    queries.iter().try_for_each(|prepared| check_engine(prepared, options.engine))?;
    let kind = |query: usize| {
        let prepared = &queries[query];
        let lasting = prepared.lasts().then_some(query);
        (!prepared.query.variations, prepared.planner.refusal().is_some(), lasting)
    };
    let mut kinds: Vec<_> = (0..queries.len()).map(kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if let &[] | &[_] = &kinds[..] {
        return engine_for(queries, options);
    }
    let have_side_lines = kinds.iter().any(|(main_lines, ..)| !main_lines);
    let group = |of: (bool, bool, Option<usize>)| -> Result<EngineGroup, ScanError> {
        let chosen: Vec<usize> = (0..queries.len()).filter(|&query| kind(query) == of).collect();
        let of_group: Vec<PreparedQuery> = chosen.iter().map(|&query| queries[query].clone()).collect();
        let engine = engine_for(&of_group, options)?;
        Ok(EngineGroup { engine, queries: chosen, main_lines: have_side_lines && of.0 })
    };
    Ok(Box::new(Mixed::new(kinds.into_iter().map(group).collect::<Result<_, _>>()?)))
}

/// Checks that an engine can run a query.
///
/// # Errors
///
/// Fails if the engine cannot run a part of the query. The error points to this part.
pub fn check_engine(prepared: &PreparedQuery, choice: EngineChoice) -> Result<(), Diagnostic> {
    let name = match choice {
        EngineChoice::Cpu => "cpu",
        EngineChoice::Gpu => "gpu",
        EngineChoice::Auto | EngineChoice::Reference => return Ok(()),
    };
    let lasting = prepared.query.keeps_state.as_ref().filter(|_| name == "gpu" && prepared.lasts());
    let Some(refusal) = prepared.planner.refusal().or(lasting) else { return Ok(()) };
    Err(Diagnostic::error(refusal.span, format!("engine `{name}` cannot run this query"), &refusal.message)
        .help("use --engine auto or --engine reference: the reference engine runs all queries, slowly"))
}

fn notes(queries: &[PreparedQuery], engine: &dyn Engine, options: &EngineOptions) -> Vec<String> {
    let refused = queries.iter().filter(|prepared| prepared.planner.refusal().is_some()).count();
    let which = |count: usize| match (count, queries.len()) {
        (_, 1) => String::from("the query"),
        (1, _) => String::from("one of the queries"),
        (count, all) if count == all => String::from("the queries"),
        (count, all) => format!("{count} of the {all} queries"),
    };
    let lasting = queries.iter().filter(|prepared| prepared.lasts()).count();
    let (in_order, which) = (which(refused + lasting), which(refused));
    let mut notes = Vec::new();
    if refused > 0 && options.engine == EngineChoice::Auto {
        notes.push(format!("only the reference engine can run {which}, and it is slow"));
    }
    if refused > 0 && options.verify.is_some() {
        notes.push(format!("no positions are recomputed for {which}: no second engine can run it"));
    }
    if engine.info().in_order {
        notes.push(format!("{in_order} needs the games in their order: one thread searches them"));
    }
    notes
}

/// Creates the requested engine, or the best one, and its verification. Either all of the queries or none of them can be compiled
/// for the fast engines.
fn engine_for(queries: &[PreparedQuery], options: &EngineOptions) -> Result<Box<dyn Engine>, ScanError> {
    let bulk = || Bulk::new(queries.iter().map(|prepared| &prepared.query)).map_err(EngineError::from);
    let reference = || -> Result<Box<dyn Engine>, EngineError> { Ok(Box::new(bulk()?)) };
    if queries.iter().any(|prepared| prepared.planner.refusal().is_some()) {
        return match options.engine {
            EngineChoice::Auto => Ok(Box::new(Narrowed::new(queries)?)),
            _ => Ok(reference()?),
        };
    }
    let plans = orbit_engine::plans(queries)?;
    let is_lasting = queries.iter().any(PreparedQuery::lasts);
    let is_program = queries.iter().any(|prepared| prepared.planner.is_program());
    // Each query that keeps values from game to game has an engine of its own.
    let processor = || -> Result<Box<dyn Engine>, EngineError> {
        let cpu = Cpu::new(Arc::clone(&plans));
        Ok(if is_lasting { Box::new(Lasting::new(&queries[0], cpu)?) } else { Box::new(cpu) })
    };
    let settled = |engine: Box<dyn Engine>| -> Result<Box<dyn Engine>, EngineError> {
        Ok(if is_program && !is_lasting { Box::new(SettledHits::new(engine, bulk()?)) } else { engine })
    };
    let work = options.positions.saturating_mul(queries.len() as u64);
    let card = if is_lasting { None } else { card(options, work)? };
    let engine: Box<dyn Engine> = match (options.engine, card) {
        (EngineChoice::Reference, _) => reference()?,
        (_, None) => processor()?,
        (choice, Some(device)) => {
            let gpu = Box::new(Gpu::new(Arc::clone(&plans), device));
            if choice == EngineChoice::Auto { Box::new(Fallback::new(gpu, processor()?)) } else { gpu }
        }
    };
    let engine = settled(engine)?;
    let engine = match options.verify {
        None => engine,
        Some(sample) => {
            // The results of a query that keeps values from game to game depend on all earlier games, so all results are verified.
            let sample = if is_lasting { Sample::All } else { sample };
            let other = if engine.info().name == "cpu" { reference()? } else { settled(processor()?)? };
            Box::new(Verified::new(engine, other, sample))
        }
    };
    if options.engine == EngineChoice::Reference
        || queries.iter().all(|prepared| prepared.planner.ty() != Type::Str)
    {
        return Ok(engine);
    }
    Ok(Box::new(Texts::new(engine, bulk()?)))
}

/// Returns the graphics card to use, and opens it if necessary. For [`EngineChoice::Gpu`], fails if the card cannot be opened. For
/// [`EngineChoice::Auto`], returns `None` unless the card can be opened, it is not a software adapter, and `work`, a number of
/// positions, justifies the cost of opening it. For all other engines, returns `None`.
fn card(options: &EngineOptions, work: u64) -> Result<Option<Arc<GpuDevice>>, EngineError> {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    let has_blocks = |device: &Arc<GpuDevice>| options.held.as_ref().is_some_and(|held| device.holds(held));
    let stay = || {
        options.held.is_some()
            && (options.is_repeated || options.card.device().is_some_and(|it| has_blocks(&it)))
    };
    let (gpu, gain) = match (options.engine, &options.gpu) {
        (EngineChoice::Gpu, gpu) => (gpu.clone().unwrap_or_default(), None),
        (EngineChoice::Auto, Some(gpu)) => match gain(work, threads, stay) {
            Some(gain) => (gpu.clone(), Some(gain)),
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    let is_auto = options.engine == EngineChoice::Auto;
    let mut state = lock(&options.card.0);
    let device = match &*state {
        // A card that has failed is opened again.
        CardState::Open(device) if device.is_alive() => Arc::clone(device),
        CardState::Unfit if is_auto => return Ok(None),
        _ => match open_card(gpu) {
            Ok(device) if !is_auto || !device.report().is_software() => device,
            Err(error) if !is_auto => return Err(error.into()),
            // The next search tries again.
            Err(GpuError::Open { .. } | GpuError::OutOfMemory { .. }) => return Ok(None),
            _ => {
                *state = CardState::Unfit;
                return Ok(None);
            }
        },
    };
    *state = CardState::Open(Arc::clone(&device));
    let bytes = options.positions.saturating_mul(CARD_BYTES_A_POSITION);
    let have_room = || bytes <= device.resident_bytes_max() || has_blocks(&device);
    let suits =
        !is_auto || !device.report().is_software() && (gain != Some(CardGain::Repeated) || have_room());
    Ok(suits.then_some(device))
}
