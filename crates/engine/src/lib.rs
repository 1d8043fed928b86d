//! Engines: from a query and a reel to hits.
//!
//! A [`PreparedQuery`] holds a query in every form an engine wants: the typed tree for [`mod@reference`], the plan
//! for [`cpu`] and [`gpu`]. An [`Engine`] evaluates any number of queries. It gets blocks of a reel and a [`BlockRequest`],
//! and gives [`Answers`] of each query on each block: a bit for each slot, and what else is wanted at its hits.

#![deny(unsafe_code, missing_docs)]

use shakmaty::Bitboard;

pub use self::commentary::{Commentary, GameCommentary, SortValue};
pub use self::copies::any_side;
pub use self::copies::{CopyDetail, CopyHits};
pub use self::games::{GameAnswer, Rank};
pub use self::hits::{GameEnds, Hits, Values};
use self::hits::{slots_of, within};
pub use self::interrupt::Interrupt;
pub use self::prepared::{PreparedQuery, plans};
pub use self::request::{Answers, BlockRequest, Select};
pub use self::spans::{FindSpan, MatchSpan, SpanKind, Spans};
pub use self::wants::Wants;
use orbit_core::{
    board::{PackedMove, Position},
    diagnostic::Diagnostic,
};
pub use orbit_pgn::{Annotation, AnnotationKind, Outcome};
use orbit_reel::{Block, GameRow};

mod cards;
mod carry;
pub mod columns;
mod commentary;
mod context;
mod copies;
pub mod cpu;
mod facts;
pub mod fallback;
mod game_texts;
mod games;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "without_gpu.rs"]
pub mod gpu;
mod hits;
mod interrupt;
pub mod mixed;
pub mod narrowed;
mod operations;
mod prepared;
pub mod reference;
mod regexes;
mod request;
pub mod settled;
mod spans;
pub mod texts;
pub mod verify;
mod wants;

/// The value of a query at one position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Of a query of type Bool; also of type Str, whether it has a value.
    Bool(bool),
    /// Of a query of type Set.
    Set(Bitboard),
    /// Of a query of type Num; of type Position, the number of the position in its game.
    Num(Option<i32>),
}

impl Answer {
    /// Whether the position is a hit: true, a non-empty set, or a number that has a value.
    pub fn is_hit(self) -> bool {
        match self {
            Answer::Bool(hit) => hit,
            Answer::Set(squares) => squares.any(),
            Answer::Num(value) => value.is_some(),
        }
    }
}

/// What is known of a game besides its moves.
pub trait GameFacts {
    /// The number of the game over all sources, from 1, skipped games included.
    fn number(&self) -> u32;
    /// How the movetext ended.
    fn outcome(&self) -> Outcome;
    /// The value of the first tag of that name, bytes as found.
    fn tag(&self, name: &str) -> Option<&[u8]>;
    /// Whether its sides have changed places, while its moves keep their numbers.
    fn is_swapped(&self) -> bool {
        false
    }
    /// Comments and glyphs, ordered by the numbers of the positions; none where they are not known.
    fn annotations(&self) -> &[Annotation];
}

/// One position in its game: all that a position-level filter may ask about.
#[derive(Clone, Copy)]
pub struct Spot<'a> {
    /// The position.
    pub position: Position,
    /// Half-moves played, 0 at the start of the game.
    pub ply: u32,
    /// Whether it is the first position of its game.
    pub initial: bool,
    /// Whether it is the last position of its line.
    pub terminal: bool,
    /// The number in its game of the position before it; none of the first.
    pub parent: Option<usize>,
    /// The move that led here; none at the first position.
    pub arrival: Option<PackedMove>,
    /// The game.
    pub game: &'a dyn GameFacts,
}

/// What can go wrong in an engine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The reference engine refused the query.
    #[error("the reference engine cannot run this query: {0}")]
    Reference(#[from] reference::ReferenceError),
    /// The graphics card failed.
    #[error(transparent)]
    Gpu(#[from] gpu::GpuError),
    /// Two engines answer differently.
    #[error(
        "verification failed: `{engine}` and `{other}` differ on game {game}, {place}: {answers} (hit, value); \
         one of them is wrong: please report it"
    )]
    #[expect(missing_docs, reason = "the message says what they are")]
    Differ { engine: &'static str, other: &'static str, game: u32, place: String, answers: String },
    /// Two engines count differently.
    #[error(
        "verification failed: `{engine}` counts copy {copy} {} times, `{other}` {} times; one of them is wrong: \
         please report it", counts.0, counts.1
    )]
    #[expect(missing_docs, reason = "the message says what they are")]
    CountsDiffer { engine: &'static str, other: &'static str, copy: usize, counts: (u64, u64) },
    /// Two engines tell other copies apart.
    #[error(
        "verification failed: on game {game}, {place}, `{engine}` and `{other}` find copies (from 0) {copies}; one of \
         them is wrong: please report it"
    )]
    #[expect(missing_docs, reason = "the message says what they are")]
    CopiesDiffer { engine: &'static str, other: &'static str, game: u32, place: String, copies: String },
    /// A query went wrong in some game, and the engine cannot say how: the reference engine can.
    #[error("a query runs into an error, which the reference engine tells")]
    Stopped,
    /// The [`Interrupt`] of the request was set.
    #[error("interrupted")]
    Interrupted,
    /// The query went wrong at some position of a game: a variable was read that has no value, an assertion failed.
    #[error("game {game}, {place}: {diagnostic}")]
    #[expect(missing_docs, reason = "the message says what they are")]
    Query { query: usize, game: u32, place: String, diagnostic: Box<Diagnostic> },
}

/// Everything that is to be known of an engine besides its answers.
///
/// An engine on top of another one changes what it knows better, and has the rest from below: there are no defaults that it
/// could forget to pass on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EngineInfo {
    /// `reference`, `cpu`, `gpu`, or several of them.
    pub name: &'static str,
    /// For each query the number of distinct copies of its outermost transform, 1 without one.
    pub copies: Vec<usize>,
    /// True where answers on a block depend on the blocks before it, so that blocks must come in order, on one thread.
    pub in_order: bool,
    /// The number of blocks that it is best given together.
    pub blocks_at_once: usize,
    /// A sentence about how the run went, for users.
    pub notice: Option<String>,
    /// The persistent variables that are printed at the end of a run, and their values.
    pub persistent: Vec<(String, Vec<u8>)>,
    /// The number of positions that another engine has recomputed, and its name, if one does.
    pub verified: Option<(u64, &'static str)>,
    /// Bytes on the graphics card, if it answers.
    pub card: Option<cards::CardUse>,
}

impl EngineInfo {
    /// An engine that takes blocks one by one, in any order, and has nothing to tell.
    pub fn plain(name: &'static str, copies: Vec<usize>) -> EngineInfo {
        let (notice, persistent, verified, card) = (None, Vec::new(), None, None);
        EngineInfo { name, copies, in_order: false, blocks_at_once: 1, notice, persistent, verified, card }
    }

    /// The number of queries.
    pub fn queries(&self) -> usize {
        self.copies.len()
    }
}

/// Evaluates queries on blocks: positions are replayed once for all of them, and what queries or outputs have in
/// common is computed once. Engines are shared between threads.
pub trait Engine: Send + Sync {
    /// Everything that is to be known of it besides its answers. Some of it changes while it runs.
    fn info(&self) -> EngineInfo;

    /// Evaluates every slot of some blocks: for each block what each query answers. The request names as many
    /// outputs as there are queries.
    ///
    /// # Errors
    ///
    /// Whatever keeps the engine from finishing one of the blocks.
    fn scan(&self, blocks: &[&Block], request: &BlockRequest<'_>) -> Result<Vec<Vec<Answers>>, EngineError>;

    /// What the first query answers on one block.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::scan`].
    ///
    /// # Panics
    ///
    /// Without a query.
    fn answer(&self, block: &Block, outputs: Wants) -> Result<Answers, EngineError> {
        let mut all = vec![Wants::HITS; self.info().queries()];
        all[0] = outputs;
        let answers = self.scan(&[block], &BlockRequest::all(&all))?;
        Ok(answers.into_iter().flatten().next().expect("one block has one answer of each query"))
    }

    /// Where each query matches: for each query the hits on each block.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::scan`].
    fn hits(&self, blocks: &[&Block]) -> Result<Vec<Vec<Hits>>, EngineError> {
        let mut out = vec![Vec::with_capacity(blocks.len()); self.info().queries()];
        for answers in self.scan(blocks, &BlockRequest::all(&vec![Wants::HITS; self.info().queries()]))? {
            out.iter_mut().zip(answers).for_each(|(out, answers)| out.push(answers.hits));
        }
        Ok(out)
    }
}

/// Where a slot is in its game: `ply 12`, in a side line `node 60 (ply 12)`.
fn place(game: &GameRow<'_>, slot: usize) -> String {
    let node = (slot - game.first_slot()) as u32;
    match game.line_of(node) {
        None => format!("ply {node}"),
        Some(_) => format!("node {node} (ply {})", game.ply_of(node)),
    }
}
