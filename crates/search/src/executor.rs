//! Queries over one database, block by block: the engine that suits, and the one loop over blocks.
//!
//! Knows nothing of what is made of hits: see [`crate::run`] and [`crate::Database`].

mod found;
mod view;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use self::found::FoundCounts;
use self::view::BlockView;
use crate::choice::Choice;
use orbit_core::board::Color;
use orbit_core::diagnostic::Diagnostic;
use orbit_core::named::choices;
use orbit_core::sync::lock;
use orbit_database::{BlockStream, MemoryBudget, StreamError, StreamedBlock, Summary};
use orbit_engine::cpu::Cpu;
use orbit_engine::fallback::Fallback;
use orbit_engine::gpu::{Gpu, GpuDevice, GpuError, GpuOptions};
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
use orbit_query::Type;
use orbit_reel::Block;
use orbit_transforms::OutermostOrbit as _;
use orbit_transforms::{AsText, Filter};

/// Which engine is to evaluate a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum EngineChoice {
    /// The fastest that can: a graphics card where there is a real one and the work outweighs its
    /// start, else the processor. If the card fails, the processor does the rest.
    #[default]
    Auto,
    /// The fast one for processors.
    Cpu,
    /// The one for graphics cards, or nothing.
    Gpu,
    /// The slow and obvious one.
    Reference,
}

choices! { EngineChoice, "engine",
    EngineChoice::Auto => "auto", "The graphics card if there are so many positions that it is faster, else the processor";
    EngineChoice::Cpu => "cpu", "The processor";
    EngineChoice::Gpu => "gpu", "The graphics card; an error if there is none";
    EngineChoice::Reference => "reference", "A slow engine written apart from the others, to check them";
}

/// What evaluates a query, and what checks it. The defaults suit, but touch no graphics card: how much
/// work there is must be known for that.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct EngineOptions {
    /// Which engine.
    pub engine: EngineChoice,
    /// Which graphics card; `None` for none, whatever the engine is.
    pub gpu: Option<GpuOptions>,
    /// That card once it is open: scans with clones of these options share it.
    pub card: Card,
    /// Positions that are known to be scanned: see [`BlockStream::positions_known`].
    pub positions: u64,
    /// The blocks that are scanned, if they are held: see [`Block::number_held`].
    pub held: Option<Range<u64>>,
    /// How much another engine recomputes.
    pub verify: Option<Sample>,
}

/// A graphics card that is opened when it is first wanted, and then stays open. Clones share it.
#[derive(Clone, Default)]
pub struct Card(Arc<Mutex<CardState>>);

#[derive(Default)]
enum CardState {
    #[default]
    Unopened,
    Open(Arc<GpuDevice>),
    /// There is none that an automatic choice may take.
    Unfit,
}

impl Card {
    /// The card, if it is open.
    fn device(&self) -> Option<Arc<GpuDevice>> {
        // Who opens it may hold the lock for long.
        match self.0.try_lock().as_deref() {
            Ok(CardState::Open(device)) => Some(Arc::clone(device)),
            _ => None,
        }
    }

    /// Frees the memory of games that stay on the card if no query has asked for any for so long.
    pub fn give_back(&self, idle: Duration) {
        self.device().into_iter().for_each(|device| device.give_back(idle));
    }

    /// Frees the memory of the blocks that are held by these numbers.
    pub fn release(&self, numbers: &Range<u64>) {
        self.device().into_iter().for_each(|device| device.release(numbers));
    }

    /// Bytes of games that stay on the card for queries to come.
    pub fn resident_bytes(&self) -> u64 {
        self.device().map_or(0, |device| device.resident_bytes())
    }

    /// Has the card opened anew when it is next wanted, for instance after it has failed.
    pub fn forget(&self) {
        *lock(&self.0) = CardState::Unopened;
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

/// Positions a thread for which a processor needs about a second; opening a graphics card and
/// compiling a kernel takes about half of that. Not measured on a card yet: `orbit bench --card` prints, as
/// `auto.positions_a_thread_measured`, what this number is to be on the machine where it runs.
const POSITIONS_A_SECOND: u64 = 50_000_000;

/// Positions above which [`EngineChoice::Auto`] takes a graphics card, if there is a real one, on a machine with so
/// many threads.
pub fn positions_for_card(threads: usize) -> u64 {
    POSITIONS_A_SECOND.saturating_mul(threads as u64)
}

/// The same where the card is open and has all blocks: it need not be opened, and nothing goes there. What is left of the cost is
/// that of compiling. An estimate as well.
fn positions_for_resident(threads: usize) -> u64 {
    positions_for_card(threads) / 10
}

/// Tells whether a card is likely to be the faster one. `has_blocks` is asked only if that decides.
fn outweighs(positions: u64, threads: usize, has_blocks: impl FnOnce() -> bool) -> bool {
    positions > positions_for_card(threads) || positions > positions_for_resident(threads) && has_blocks()
}

/// The cards that are open in this process. Whoever wants one with the same options shares it, with what is on it.
static OPEN: Mutex<Vec<(GpuOptions, Weak<GpuDevice>)>> = Mutex::new(Vec::new());

/// Opens a card, or takes one that is open.
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

/// Why a scan cannot be made, or stopped midway.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScanError {
    /// The query is not understood, or has too many copies.
    #[error("{0}")]
    Query(Diagnostic),
    /// The engine refuses the query or fails.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A query is asked of side lines, and the database is read without them.
    #[error(
        "the query searches side lines, but the database is read without them: set `ParseOptions::variations`"
    )]
    NoVariations,
    /// The query or the choice of hits asks for comments or glyphs, and the database is read without them.
    #[error(
        "the query, a condition, a grouping or a column needs the comments of the games (clocks and evaluations stand in \
         them), but the database is read without them: set `ParseOptions::annotations`"
    )]
    NoAnnotations,
    /// A reel is damaged; all hits before were delivered.
    #[error(transparent)]
    Database(#[from] StreamError),
}

impl From<Diagnostic> for ScanError {
    fn from(diagnostic: Diagnostic) -> ScanError {
        ScanError::Query(diagnostic)
    }
}

/// Queries that are ready to run.
pub struct Executor {
    queries: Vec<PreparedQuery>,
    engine: Box<dyn Engine>,
    remarks: Vec<Diagnostic>,
    notes: Vec<String>,
    threads: usize,
}

/// What the queries of a scan answer on one block.
#[derive(Debug)]
#[non_exhaustive]
pub struct BlockAnswers<'a> {
    /// The block.
    pub block: &'a Block,
    /// For each of its games, whether it counts; `None` if all do.
    pub(crate) games: Option<Vec<bool>>,
    /// For each of its games that count, the side of the player from which queries were asked; `None` without a player.
    pub sides: Option<Vec<Option<Color>>>,
    /// Of each query, at the hits that were chosen.
    pub answers: Vec<Answers>,
    /// Of each query what tells of what its hits consist, if that is wanted.
    pub spans: Vec<Option<Box<dyn FindSpan + 'a>>>,
}

impl Executor {
    /// Plans a query that was read, for a thread for each core.
    ///
    /// # Errors
    ///
    /// Copies that are too many, that the engine refuses the query, or that there is no such graphics card.
    pub fn with_query(parsed: orbit_query::Parsed, options: &EngineOptions) -> Result<Executor, ScanError> {
        let orbit_query::Parsed { query, mut remarks } = parsed;
        let prepared = PreparedQuery::new(query, PlanOptions::default())?;
        remarks.extend(prepared.planner.warnings());
        let scan = Executor::new(vec![prepared], options)?;
        Ok(Executor { remarks, ..scan })
    }

    /// The same for any number of queries, which are answered in one run. What they have in common is computed once.
    ///
    /// # Errors
    ///
    /// That the engine refuses one of them, or that there is no such graphics card.
    pub fn new(queries: Vec<PreparedQuery>, options: &EngineOptions) -> Result<Executor, ScanError> {
        let engine = engine_of(&queries, options)?;
        let mut notes = notes(&queries, &*engine, options);
        notes.extend(options.card.device().and_then(|device| device.take_note()));
        let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
        Ok(Executor { queries, engine, remarks: Vec::new(), notes, threads })
    }

    /// Sets the number of threads; the hits and their order do not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Executor {
        self.threads = threads.max(1);
        self
    }

    /// The engine that was chosen.
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// Whether a query depends on the tags of games; else a [`BlockStream::without_tags`] gives the same
    /// hits sooner.
    pub fn reads_tags(&self) -> bool {
        self.queries.iter().any(|prepared| prepared.planner.reads_tags())
    }

    /// Whether a query is asked of side lines, so that a database must be opened with
    /// [`ParseOptions::variations`](orbit_pgn::ParseOptions::variations).
    pub fn searches_variations(&self) -> bool {
        self.queries.iter().any(|prepared| prepared.query.variations)
    }

    /// Whether a query asks for comments or glyphs, so that a database must be opened with
    /// [`ParseOptions::annotations`](orbit_pgn::ParseOptions::annotations).
    pub fn reads_comments(&self) -> bool {
        self.queries.iter().any(|prepared| prepared.query.reads_comments())
    }

    /// Whether a query asks for the number of games, so that they are counted first.
    fn asks_for_last_game(&self) -> bool {
        self.queries.iter().any(|prepared| prepared.query.asks_for_last_game())
    }

    /// Whether the first query says in which order games are listed.
    ///
    /// # Panics
    ///
    /// Without a query.
    pub fn sorts_games(&self) -> bool {
        let query = &self.queries[0].query;
        !query.sorts.is_empty() || query.header.sort_match_count
    }

    /// Whether a hit of the first query can consist of moves or of several positions.
    ///
    /// # Panics
    ///
    /// Without a query.
    pub fn has_spans(&self) -> bool {
        self.queries[0].query.has_spans()
    }

    /// Whether the first query compares positions with a board, as `similar` does.
    ///
    /// # Panics
    ///
    /// Without a query.
    pub fn finds_likeness(&self) -> bool {
        self.queries[0].query.finds_likeness()
    }

    /// Warnings and notes about a query that [`Executor::with_query`] and its kin have read.
    pub fn remarks(&self) -> &[Diagnostic] {
        &self.remarks
    }

    /// What a user should know of how the queries are run: a slow engine, a single thread, nothing to compare with.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The queries.
    pub fn queries(&self) -> &[PreparedQuery] {
        &self.queries
    }

    /// The type of the first query's value.
    ///
    /// # Panics
    ///
    /// Without a query.
    pub fn ty(&self) -> Type {
        self.queries[0].query.body.ty()
    }

    /// The first query's filter with its transforms expanded.
    ///
    /// # Panics
    ///
    /// Without a query.
    pub fn filter(&self) -> &Filter {
        self.queries[0].planner.filter()
    }

    /// The typed trees of all queries with their transforms expanded.
    pub fn filters(&self) -> impl Iterator<Item = &Filter> {
        self.queries.iter().map(|prepared| prepared.planner.filter())
    }

    /// The distinct copies of the first query's outermost transform as CQL, in the order in which
    /// [`orbit_engine::CopyHits`] numbers them.
    pub fn copies(&self) -> Vec<String> {
        let filter = self.filter();
        match filter.outermost() {
            Some(orbit) => orbit.copies.iter().map(|copy| AsText(&copy.filter).to_string()).collect(),
            None => vec![AsText(filter).to_string()],
        }
    }

    /// For each query of which it is wanted what it writes or sorts games by, what tells that: plans leave it out.
    fn commentators(&self, outputs: &[Wants]) -> Result<Vec<Option<Commentator>>, EngineError> {
        let is_wanted = |prepared: &PreparedQuery, outputs: &Wants| {
            let sorts = outputs.contains(Wants::RANKS) && !prepared.query.sorts.is_empty();
            (outputs.contains(Wants::COMMENTARY) || sorts) && prepared.planner.refusal().is_none()
        };
        let queries = self.queries.iter().zip(outputs);
        let commentator = |(prepared, outputs): (&PreparedQuery, &Wants)| {
            let new = || Commentator::new(&prepared.query, *outputs);
            is_wanted(prepared, outputs).then(new).transpose()
        };
        Ok(queries.map(commentator).collect::<Result<_, _>>()?)
    }

    /// For each query of which it is wanted of what its hits consist, what finds that, should its engine not tell it.
    fn span_finders(&self, outputs: &[Wants]) -> Result<Vec<Option<SpanFinder>>, EngineError> {
        let finder = |(prepared, outputs): (&PreparedQuery, &Wants)| {
            let query = &prepared.query;
            let is_wanted = outputs.contains(Wants::SPANS) && query.has_spans() && !query.outlives_games();
            is_wanted.then(|| SpanFinder::new(query)).transpose()
        };
        Ok(self.queries.iter().zip(outputs).map(finder).collect::<Result<_, _>>()?)
    }

    /// Evaluates every block, for `outputs` of each query at the hits that are chosen, runs `work` on the answers on
    /// the scan's threads, and hands the results to `take` in database order, on the caller's thread, until it breaks.
    /// What takes much memory is reserved by `work` in the room before it is made.
    ///
    /// # Errors
    ///
    /// The first of an engine or of [`BlockStream::for_each_block`]; all blocks before it have been taken then.
    pub fn for_each_block<T: Send>(
        &self,
        stream: BlockStream,
        outputs: &[Wants],
        choice: &Choice,
        work: impl Fn(BlockAnswers<'_>, &MemoryBudget) -> T + Sync,
        mut take: impl FnMut(StreamedBlock, T) -> ControlFlow<()>,
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
        let (commentators, finders) = (self.commentators(outputs)?, self.span_finders(outputs)?);
        let scan = |blocks: &[&Block], room: &MemoryBudget| {
            let views: Vec<BlockView<'_>> =
                blocks.iter().map(|block| BlockView::new(block, choice)).collect();
            // Blocks without a game of the player are not evaluated.
            let asked: Vec<&BlockView<'_>> = views.iter().filter(|view| !view.is_empty()).collect();
            let counting = FoundCounts::new(&self.queries, asked.len());
            let select = |index: usize, block: &Block, query: usize, hits: &mut Hits| {
                counting.count(index, block, query, hits);
                choice.apply(block, asked[index].games_asked(), hits);
            };
            let told = |mut answers: Vec<Vec<Answers>>| {
                for (index, (answers, view)) in answers.iter_mut().zip(&asked).enumerate() {
                    counting.tell(index, answers);
                    for answers in &mut *answers {
                        drop_games(answers, view.games_asked());
                        choice.keep_best(view.block(), answers);
                        choice.keep_found(view.block(), answers);
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
                        let fault = OnceCell::new();
                        let mut answers = match view.is_empty() {
                            true => view.nothing(self, outputs),
                            false => answers.next().expect("each block that was asked has answers"),
                        };
                        let spans = view.spans(spans(&finders, &mut answers, (&fault, interrupt)), &answers);
                        let answers = answers.into_iter().map(|answers| view.put_back(answers)).collect();
                        let (games, sides) = (view.games.clone(), view.sides.clone());
                        let made =
                            work(BlockAnswers { block: view.whole, games, sides, answers, spans }, room);
                        fault.into_inner().map_or(Ok(made), Err)
                    };
                    views.iter().map(result).collect()
                }
                // The first block stands for all: nothing is taken after an error.
                Err(error) => blocks.iter().map(|_| Err(error.clone())).collect(),
            }
        };
        let EngineInfo { in_order, blocks_at_once: at_once, .. } = self.engine.info();
        let threads = match (in_order, at_once) {
            (true, _) => 1,
            // While one group waits for a graphics card, another one is read.
            (false, 2..) => self.threads.max(2),
            (false, _) => self.threads,
        };
        let summary =
            stream.for_each_group_in_room(threads, at_once, scan, |streamed, result| match result {
                Ok(result) => take(streamed, result),
                // The blocks before it are all that is taken.
                Err(EngineError::Interrupted) => ControlFlow::Break(()),
                Err(error) => {
                    fault = Some(error);
                    ControlFlow::Break(())
                }
            })?;
        fault.map_or(Ok(summary), |error| Err(error.into()))
    }
}

/// Adds what the engine does not know of the games that are found.
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

/// Of each query what tells of what its hits consist: what the engine has told, or what finds it when it is asked for.
/// `fault` gets what goes wrong then.
fn spans<'a>(
    finders: &'a [Option<SpanFinder>],
    answers: &mut [Answers],
    (fault, interrupt): (&'a OnceCell<EngineError>, &'a Interrupt),
) -> Vec<Option<Box<dyn FindSpan + 'a>>> {
    let of_query =
        |(number, (finder, answers)): (usize, (&'a Option<SpanFinder>, &mut Answers))| match answers
            .spans
            .take()
        {
            Some(told) => Some(Box::new(told) as Box<dyn FindSpan>),
            None => finder.as_ref().map(|finder| Box::new(finder.late(number, fault, interrupt)) as _),
        };
    finders.iter().zip(answers).enumerate().map(of_query).collect()
}

/// Takes away what is said of games that do not count.
fn drop_games(answers: &mut Answers, games: Option<&[bool]>) {
    let Some(games) = games else { return };
    if let Some(told) = &mut answers.games {
        told.iter_mut().zip(games).for_each(|(told, counts)| told.is_found &= counts);
    }
    if let Some(commentary) = &mut answers.commentary {
        commentary.games.retain(|game| games[game.index as usize]);
    }
}

/// An engine for all queries: for those that are asked of side lines and those that are not, and for those that no plan can
/// say.
fn engine_of(queries: &[PreparedQuery], options: &EngineOptions) -> Result<Box<dyn Engine>, ScanError> {
    queries.iter().try_for_each(|prepared| check_engine(prepared, options.engine))?;
    let kind = |prepared: &PreparedQuery| (!prepared.query.variations, prepared.planner.refusal().is_some());
    let mut kinds: Vec<(bool, bool)> = queries.iter().map(kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if let &[] | &[_] = &kinds[..] {
        return engine_for(queries, options);
    }
    let have_side_lines = kinds.iter().any(|(main_lines, _)| !main_lines);
    let group = |of: (bool, bool)| -> Result<EngineGroup, ScanError> {
        let chosen: Vec<usize> = (0..queries.len()).filter(|&query| kind(&queries[query]) == of).collect();
        let of_group: Vec<PreparedQuery> = chosen.iter().map(|&query| queries[query].clone()).collect();
        let engine = engine_for(&of_group, options)?;
        Ok(EngineGroup { engine, queries: chosen, main_lines: have_side_lines && of.0 })
    };
    Ok(Box::new(Mixed::new(kinds.into_iter().map(group).collect::<Result<_, _>>()?)))
}

/// Says why an engine cannot run a query.
///
/// # Errors
///
/// What of the query the engine cannot say.
pub fn check_engine(prepared: &PreparedQuery, choice: EngineChoice) -> Result<(), Diagnostic> {
    let name = match choice {
        EngineChoice::Cpu => "cpu",
        EngineChoice::Gpu => "gpu",
        EngineChoice::Auto | EngineChoice::Reference => return Ok(()),
    };
    let Some(refusal) = prepared.planner.refusal() else { return Ok(()) };
    Err(Diagnostic::error(refusal.span, format!("engine `{name}` cannot run this query"), &refusal.message)
        .help("use --engine auto or --engine reference: the reference engine runs all queries, slowly"))
}

/// What is to be said of how queries are run.
fn notes(queries: &[PreparedQuery], engine: &dyn Engine, options: &EngineOptions) -> Vec<String> {
    let refused = queries.iter().filter(|prepared| prepared.planner.refusal().is_some()).count();
    let which = match (refused, queries.len()) {
        (_, 1) => String::from("the query"),
        (1, _) => String::from("one of the queries"),
        (refused, all) if refused == all => String::from("the queries"),
        (refused, all) => format!("{refused} of the {all} queries"),
    };
    let mut notes = Vec::new();
    if refused > 0 && options.engine == EngineChoice::Auto {
        notes.push(format!("only the reference engine can run {which}, and it is slow"));
    }
    if refused > 0 && options.verify.is_some() {
        notes.push(format!("no positions are recomputed for {which}: no second engine can run it"));
    }
    if engine.info().in_order {
        notes.push(format!("{which} needs the games in their order: one thread searches them"));
    }
    notes
}

/// The engine that is wanted, or the best one, and what checks it. Either plans can say all queries, or none of them.
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
    let cpu = || Box::new(Cpu::new(Arc::clone(&plans)));
    let work = options.positions.saturating_mul(queries.len() as u64);
    let card = card(&EngineOptions { positions: work, ..options.clone() })?;
    let engine: Box<dyn Engine> = match (options.engine, card) {
        (EngineChoice::Reference, _) => reference()?,
        (_, None) => cpu(),
        (choice, Some(device)) => {
            let gpu = Box::new(Gpu::new(Arc::clone(&plans), device));
            if choice == EngineChoice::Auto { Box::new(Fallback::new(gpu, cpu())) } else { gpu }
        }
    };
    let engine: Box<dyn Engine> = match queries.iter().any(|prepared| prepared.planner.is_program()) {
        true => Box::new(SettledHits::new(engine, bulk()?)),
        false => engine,
    };
    let engine = match options.verify {
        None => engine,
        Some(sample) => {
            let other = if engine.info().name == "cpu" { reference()? } else { cpu() };
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

/// The graphics card to use: the one that was asked for; or, if the choice is ours, a real one if the
/// work outweighs its start, none if it cannot be opened.
fn card(options: &EngineOptions) -> Result<Option<Arc<GpuDevice>>, EngineError> {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    let has_blocks = || {
        let device = options.card.device();
        device.zip(options.held.as_ref()).is_some_and(|(device, held)| device.holds(held))
    };
    let gpu = match (options.engine, &options.gpu) {
        (EngineChoice::Gpu, gpu) => gpu.clone().unwrap_or_default(),
        (EngineChoice::Auto, Some(gpu)) if outweighs(options.positions, threads, has_blocks) => gpu.clone(),
        _ => return Ok(None),
    };
    let is_ours = options.engine == EngineChoice::Auto;
    let mut state = lock(&options.card.0);
    match &*state {
        CardState::Open(device) if !is_ours || !device.report().is_software() => {
            return Ok(Some(Arc::clone(device)));
        }
        CardState::Open(_) => return Ok(None),
        CardState::Unfit if is_ours => return Ok(None),
        CardState::Unopened | CardState::Unfit => {}
    }
    match open_card(gpu) {
        Ok(device) if !is_ours || !device.report().is_software() => {
            *state = CardState::Open(Arc::clone(&device));
            Ok(Some(device))
        }
        Err(error) if !is_ours => Err(error.into()),
        _ => {
            *state = CardState::Unfit;
            Ok(None)
        }
    }
}
