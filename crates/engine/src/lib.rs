//! The engines, which search blocks of games for the positions at which queries match.
//!
//! A *block* is a group of whole games in packed form; a *slot* is the number of a position within its block. A
//! [`PreparedQuery`] contains a query in every form that an engine can read: the typed tree for [`mod@reference`], and
//! the plan for [`cpu`] and [`gpu`]. An [`Engine`] evaluates any number of queries. It receives blocks and a
//! [`BlockRequest`], and returns the [`Answers`] of each query on each block: one bit for each slot, and the requested
//! data about the hits (matching positions).
//!
//! A *copy* is one of the distinct patterns that the outermost transform of a query generates.

#![deny(unsafe_code, missing_docs)]

pub use self::commentary::{Commentary, GameCommentary};
pub use self::copies::any_side;
pub use self::copies::{CopyDetail, CopyHits};
pub use self::games::{GameAnswer, Rank};
pub use self::hits::{GameEnds, HitValues, Hits, Values};
use self::hits::{slots_of, within};
pub use self::prepared::{PreparedQuery, plans};
pub use self::request::{Answers, BlockRequest, Select};
pub use self::spans::{FindSpan, Spans};
pub use self::wants::Wants;
use orbit_core::diagnostic::Diagnostic;
pub use orbit_core::{interrupt::Interrupt, record::Outcome};
pub use orbit_query::answer::{Answer, MatchSpan, SortValue, SpanKind};
use orbit_reel::{Block, GameRow};

mod cards;
mod carry;
pub mod columns;
mod commentary;
pub mod comments;
mod context;
mod copies;
pub mod cpu;
pub mod fallback;
mod game_texts;
mod games;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "without_gpu.rs"]
pub mod gpu;
mod hits;
pub mod lasting;
pub mod mixed;
pub mod narrowed;
mod operations;
mod prepared;
pub mod reference;
mod request;
pub mod settled;
mod spans;
pub mod texts;
pub mod verify;
mod wants;

/// The errors of engines.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The reference engine refused the query.
    #[error("the reference engine cannot run this query: {0}")]
    Reference(#[from] reference::ReferenceError),
    /// The graphics card failed.
    #[error(transparent)]
    Gpu(#[from] gpu::GpuError),
    /// Two engines give different answers at a position.
    #[error(
        "verification failed: `{engine}` and `{other}` differ on game {game}, {place}: {answers} (hit, value); \
         one of them is wrong: please report it"
    )]
    #[expect(missing_docs, reason = "the message says what they are")]
    Differ { engine: &'static str, other: &'static str, game: u32, place: String, answers: String },
    /// Two engines count different numbers of hits for a copy (a transformed pattern).
    #[error(
        "verification failed: `{engine}` counts copy {copy} {} times, `{other}` {} times; one of them is wrong: \
         please report it", counts.0, counts.1
    )]
    #[expect(missing_docs, reason = "the message says what they are")]
    CountsDiffer { engine: &'static str, other: &'static str, copy: usize, counts: (u64, u64) },
    /// Two engines find different copies (transformed patterns) at the same hit.
    #[error(
        "verification failed: on game {game}, {place}, `{engine}` and `{other}` find copies {copies}; one of \
         them is wrong: please report it"
    )]
    #[expect(missing_docs, reason = "the message says what they are")]
    CopiesDiffer { engine: &'static str, other: &'static str, game: u32, place: String, copies: String },
    /// A query runs into an error in some game. An engine that cannot locate the error returns this, and the reference
    /// engine then locates it.
    #[error("a query runs into an error, which the reference engine tells")]
    Stopped,
    /// The [`Interrupt`] of the request was set.
    #[error("interrupted")]
    Interrupted,
    /// The query runs into an error at a position of a game. For example, it reads a variable that has no value, or an
    /// assertion fails.
    #[error("game {game}, {place}: {diagnostic}")]
    #[expect(missing_docs, reason = "the message says what they are")]
    Query { query: usize, game: u32, place: String, diagnostic: Box<Diagnostic> },
}

/// A description of an engine.
///
/// An engine that wraps another engine copies the description of the inner engine and changes the fields that differ.
/// The description is a struct rather than a set of methods with defaults in [`Engine`], because a wrapper could forget
/// to forward such a method. A wrapper that lists the fields and leaves one out does not compile:
///
/// ```compile_fail,E0063
/// use orbit_engine::EngineInfo;
///
/// let inner = EngineInfo::plain("cpu", vec![1]);
/// let EngineInfo { copies, in_order, blocks_at_once, persistent, verified, card, .. } = inner;
/// let wrapper = EngineInfo { name: "wrapper", copies, in_order, blocks_at_once, persistent, verified, card };
/// ```
///
/// With the field `notice`, it compiles:
///
/// ```
/// use orbit_engine::EngineInfo;
///
/// let inner = EngineInfo::plain("cpu", vec![1]);
/// let EngineInfo { copies, in_order, blocks_at_once, notice, persistent, verified, card, .. } = inner;
/// let wrapper = EngineInfo { name: "wrapper", copies, in_order, blocks_at_once, notice, persistent, verified, card };
/// assert_eq!(wrapper.queries(), 1);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EngineInfo {
    /// The name of the engine: `reference`, `cpu`, `gpu`, or a combination of them.
    pub name: &'static str,
    /// For each query, the number of distinct copies that its outermost transform generates; 1 for a query without a transform.
    pub copies: Vec<usize>,
    /// True if the answers for a block depend on earlier blocks. A single thread must then pass all blocks to the
    /// engine in order.
    pub in_order: bool,
    /// The number of blocks per call for which [`Engine::scan`] is most efficient.
    pub blocks_at_once: usize,
    /// A message for users about the search, for example that the graphics card failed.
    pub notice: Option<String>,
    /// The persistent variables and their values, which are printed at the end of the search.
    pub persistent: Vec<(String, Vec<u8>)>,
    /// The number of positions that a second engine has recomputed for comparison, and the name of that engine; `None`
    /// if there is no second engine.
    pub verified: Option<(u64, &'static str)>,
    /// The memory that games occupy on the graphics card, if the engine uses one.
    pub card: Option<cards::CardUse>,
}

impl EngineInfo {
    /// Returns the description of an engine that accepts single blocks in any order and has no notice.
    pub fn plain(name: &'static str, copies: Vec<usize>) -> EngineInfo {
        let (notice, persistent, verified, card) = (None, Vec::new(), None, None);
        EngineInfo { name, copies, in_order: false, blocks_at_once: 1, notice, persistent, verified, card }
    }

    /// Returns the number of queries.
    pub fn queries(&self) -> usize {
        self.copies.len()
    }
}

/// An engine, which evaluates queries on blocks of games. It replays the positions of a block once for all queries, and
/// computes common parts of queries and outputs only once. Several threads may share an engine.
pub trait Engine: Send + Sync {
    /// Returns a description of the engine. Some of its fields change while the engine runs.
    fn info(&self) -> EngineInfo;

    /// Evaluates all queries on the given blocks, and returns the answers of each query for each block.
    /// `request.outputs` must contain one entry for each query.
    ///
    /// # Errors
    ///
    /// Returns any error that prevents the engine from finishing one of the blocks.
    fn scan(&self, blocks: &[&Block], request: &BlockRequest<'_>) -> Result<Vec<Vec<Answers>>, EngineError>;

    /// Returns the answers of the first query on one block.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Engine::scan`].
    ///
    /// # Panics
    ///
    /// Panics if the engine has no query.
    fn answer(&self, block: &Block, outputs: Wants) -> Result<Answers, EngineError> {
        let mut all = vec![Wants::HITS; self.info().queries()];
        all[0] = outputs;
        let answers = self.scan(&[block], &BlockRequest::all(&all))?;
        Ok(answers.into_iter().flatten().next().expect("one block has one answer of each query"))
    }

    /// Returns the hits of each query in each block.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Engine::scan`].
    fn hits(&self, blocks: &[&Block]) -> Result<Vec<Vec<Hits>>, EngineError> {
        let mut out = vec![Vec::with_capacity(blocks.len()); self.info().queries()];
        for answers in self.scan(blocks, &BlockRequest::all(&vec![Wants::HITS; self.info().queries()]))? {
            out.iter_mut().zip(answers).for_each(|(out, answers)| out.push(answers.hits));
        }
        Ok(out)
    }
}

/// Returns a description of a slot's place in its game, such as `ply 12` or, in a side line, `node 60 (ply 12)`.
fn place(game: &GameRow<'_>, slot: usize) -> String {
    let node = (slot - game.first_slot()) as u32;
    match game.line_of(node) {
        None => format!("ply {node}"),
        Some(_) => format!("node {node} (ply {})", game.ply_of(node)),
    }
}
