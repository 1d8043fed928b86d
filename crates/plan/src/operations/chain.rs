//! What the search of [`Instr::Chain`](super::Instr::Chain) wants to know of a `line` or `path`.

use super::registers::{Label, RegisterWord};
use orbit_query::tree::Sibling;

/// A `line` or `path`. Its constituents are pieces of code that the search runs when it wants them: each ends with
/// [`Instr::End`](super::Instr::End) or [`Instr::Fail`](super::Instr::Fail).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct FlatChain {
    /// Its place among the chains of the program.
    pub place: u16,
    /// Its constituents.
    pub steps: Vec<FlatStep>,
    /// In which order they may come.
    pub ops: Vec<FlatOp>,
    /// For each operation, whether the chain may end there.
    pub may_end: Vec<bool>,
    /// Whether it is a path; else it is a line, whose constituents take positions.
    pub is_path: bool,
    /// Whether a path asks for a move before anything else.
    pub begins_with_move: bool,
    /// A line against the moves.
    pub back: bool,
    /// A line that skips the positions of the other side to move.
    pub single_color: bool,
    /// Which children may be stepped to.
    pub sibling: Option<Sibling>,
    /// The first chain in the order of the search, not the longest one.
    pub first_match: bool,
    /// What it has found begins no other one.
    pub nestban: bool,
    /// The last position is wanted, not the value.
    pub end: bool,
    /// The range in which the value must lie.
    pub range: Option<[RegisterWord; 2]>,
    /// Whose moves count.
    pub focus: Option<FlatFocus>,
    /// The number that is to be largest, and the code that leaves it there.
    pub largest: Option<(Label, RegisterWord)>,
    /// The first of the registers that tell the constituents of a path where it begins, how many moves count so far,
    /// and how many do not.
    pub of_path: RegisterWord,
    /// What one search knows of those before.
    pub memory: SearchMemory,
}

/// A constituent of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FlatStep {
    /// The code that leaves the sets of the move, run before it.
    pub sides: Option<Label>,
    /// The move that it takes; none of a filter.
    pub edge: Option<u16>,
    /// The first of the registers that tell what of the move was selected, as of [`Instr::Fits`](super::Instr::Fits).
    pub selected: RegisterWord,
    /// The code of the filters, run behind the move.
    pub behind: Option<Label>,
    /// Of a filter that is asked of each move by which a line may go on: the register with the child that the move
    /// leads to.
    pub tied: Option<RegisterWord>,
}

/// What may come next in a chain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FlatOp {
    /// A constituent, then the next operation.
    One(u16),
    /// Either of two; the first is tried first.
    Fork(u16, u16),
    /// Another one.
    Jump(u16),
    /// The end.
    Accept,
}

impl FlatOp {
    pub(crate) fn is_end(&self) -> bool {
        matches!(self, FlatOp::Accept)
    }
}

/// Whose moves count in a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FlatFocus {
    /// Those of the side to move at the start.
    SideToMove,
    /// Those of the pieces that stand on a set at the start; with `capture` also those that capture one of them.
    Pieces {
        /// The set.
        set: RegisterWord,
        /// Also captures.
        capture: bool,
    },
}

/// What the search for a chain may remember.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum SearchMemory {
    /// Nothing: its constituents keep state, so all ways are tried in turn.
    #[default]
    Nothing,
    /// The best way on from each node, as long as it has one start.
    OfStart,
    /// The same for all starts, as long as some variables and registers hold the same.
    OfWords {
        /// The variables.
        vars: Vec<u16>,
        /// The registers.
        words: Vec<RegisterWord>,
    },
}

impl FlatChain {
    /// The places in the code that it names.
    pub(crate) fn labels(&mut self) -> impl Iterator<Item = &mut Label> {
        let steps = self.steps.iter_mut().flat_map(|step| [&mut step.sides, &mut step.behind]);
        steps.flatten().chain(self.largest.as_mut().map(|(code, _)| code))
    }
}
