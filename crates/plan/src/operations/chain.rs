//! The data that [`Instr::Chain`](super::Instr::Chain) needs to search for a `line` or `path`.

use super::registers::{Label, RegisterWord};
use orbit_query::tree::Sibling;

/// A `line` or `path`. Its constituents are pieces of code that the search runs when it needs them; each ends with
/// [`Instr::End`](super::Instr::End) or [`Instr::Fail`](super::Instr::Fail).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct FlatChain {
    /// Its index among the chains of the program.
    pub place: u16,
    /// Its constituents.
    pub steps: Vec<FlatStep>,
    /// The order in which the constituents may follow each other.
    pub ops: Vec<FlatOp>,
    /// For each operation, true if the chain may end there.
    pub may_end: Vec<bool>,
    /// True for a path, false for a line.
    pub is_path: bool,
    /// True if a path must begin with a move.
    pub begins_with_move: bool,
    /// True for a line that runs against the moves.
    pub back: bool,
    /// True for a line that skips the positions in which the other side is to move.
    pub single_color: bool,
    /// The children to which the chain may continue; `None` allows all children.
    pub sibling: Option<Sibling>,
    /// True if the first chain in the order of the search is wanted, not the longest one.
    pub first_match: bool,
    /// True if no other chain may begin at a position of this one.
    pub nestban: bool,
    /// True if the last position is wanted, not the value.
    pub end: bool,
    /// The range in which the value must lie.
    pub range: Option<[RegisterWord; 2]>,
    /// The moves that count.
    pub focus: Option<FlatFocus>,
    /// The number that must be as large as possible: code that computes it, and the register in which the code leaves it.
    pub largest: Option<(Label, RegisterWord)>,
    /// The first of the registers that tell the constituents of a path where it begins, how many moves count so far, and how many
    /// do not.
    pub of_path: RegisterWord,
    /// The results that a search may keep from earlier ones.
    pub memory: SearchMemory,
}

/// A constituent of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FlatStep {
    /// Code that runs before the move and leaves the sets for its test.
    pub sides: Option<Label>,
    /// The index of the test of its move; `None` for a filter.
    pub edge: Option<u16>,
    /// The first of the registers that tell which part of the move was selected, as for [`Instr::Fits`](super::Instr::Fits).
    pub selected: RegisterWord,
    /// Code of the filters that are evaluated after the move.
    pub behind: Option<Label>,
    /// For a filter that is evaluated for each move by which a line may continue: the register with the child to which the move
    /// leads.
    pub tied: Option<RegisterWord>,
}

/// An operation of a chain, which determines the next constituents.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FlatOp {
    /// A constituent, then the next operation.
    One(u16),
    /// Either of two operations; the first one is tried first.
    Fork(u16, u16),
    /// Continues at another operation.
    Jump(u16),
    /// The end of the chain.
    Accept,
}

impl FlatOp {
    pub(crate) fn is_end(&self) -> bool {
        matches!(self, FlatOp::Accept)
    }
}

/// The moves that count in a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FlatFocus {
    /// The moves of the side to move at the start.
    SideToMove,
    /// The moves of the pieces that stand on a set at the start; with `capture` also moves that capture one of them.
    Pieces {
        /// The set.
        set: RegisterWord,
        /// True if captures of these pieces count too.
        capture: bool,
    },
}

/// The results that the search for a chain may remember.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum SearchMemory {
    /// Nothing: its constituents keep state, so all continuations are tried in turn.
    #[default]
    Nothing,
    /// The best continuation from each node, as long as the start is the same.
    OfStart,
    /// The same for all starts, as long as some variables and registers keep their values.
    OfWords {
        /// The variables.
        vars: Vec<u16>,
        /// The registers.
        words: Vec<RegisterWord>,
    },
}

impl FlatChain {
    /// Returns the labels to which the chain refers.
    pub(crate) fn labels(&mut self) -> impl Iterator<Item = &mut Label> {
        let steps = self.steps.iter_mut().flat_map(|step| [&mut step.sides, &mut step.behind]);
        steps.flatten().chain(self.largest.as_mut().map(|(code, _)| code))
    }
}
