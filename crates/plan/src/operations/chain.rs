//! The data that [`Instr::Chain`](super::Instr::Chain) needs to search for a `line` or `path`.

use super::registers::{Label, RegisterWord};
use orbit_query::tree::Sibling;

/// A `line` or `path`. Its constituents are pieces of code that the search runs when it needs them. Each piece ends with
/// [`Instr::End`](super::Instr::End) or [`Instr::Fail`](super::Instr::Fail).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct FlatChain {
    /// The index of this chain among the chains of the program.
    pub place: u16,
    /// The constituents. The operations refer to them by index.
    pub steps: Vec<FlatStep>,
    /// The operations that determine which constituents may follow each other.
    pub ops: Vec<FlatOp>,
    /// For each operation, true if the chain may end there.
    pub may_end: Vec<bool>,
    /// True for a path, whose constituents are moves; false for a line, whose constituents are positions.
    pub is_path: bool,
    /// True if a path must begin with a move.
    pub begins_with_move: bool,
    /// True for a line that runs backwards, from a position to its parent.
    pub back: bool,
    /// True for a line that skips the positions in which the other side is to move.
    pub single_color: bool,
    /// The kind of children to which the chain may continue; `None` if it may continue to all of them.
    pub sibling: Option<Sibling>,
    /// True if the result is the first chain in the order of the search, not the longest one.
    pub first_match: bool,
    /// True if no other chain may begin at a position of this chain.
    pub nestban: bool,
    /// True if the result is the last position of the chain, not its value.
    pub end: bool,
    /// The range in which the value must lie.
    pub range: Option<[RegisterWord; 2]>,
    /// The moves that count; `None` if all moves count.
    pub focus: Option<FlatFocus>,
    /// The number that must be as large as possible: the code that computes it, and the register in which the code stores it.
    pub largest: Option<(Label, RegisterWord)>,
    /// The first of three registers that the constituents of a path read: the node at which the path begins, the number of moves
    /// so far that count, and the number of those that do not.
    pub of_path: RegisterWord,
    /// The results of earlier searches that a search may use.
    pub memory: SearchMemory,
}

/// A constituent of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FlatStep {
    /// The code that runs before the move, and stores the sets that its test reads.
    pub sides: Option<Label>,
    /// The index of the test of the move; `None` if the constituent is a filter.
    pub edge: Option<u16>,
    /// The first of the registers that show which part of the move was selected, as for [`Instr::Fits`](super::Instr::Fits).
    pub selected: RegisterWord,
    /// The code of the filters that are evaluated after the move.
    pub behind: Option<Label>,
    /// If the constituent is a filter that is evaluated for each move by which a line may continue, the register that contains
    /// the child to which the move leads.
    pub tied: Option<RegisterWord>,
}

/// An operation of a chain, which determines the next constituents.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FlatOp {
    /// Matches a constituent, then continues with the next operation.
    One(u16),
    /// Continues with either of two operations. The first is tried first.
    Fork(u16, u16),
    /// Continues with another operation.
    Jump(u16),
    /// Ends the chain.
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
    /// The moves of the side that is to move at the start.
    SideToMove,
    /// The moves of the pieces that are on the squares of a set at the start. If `capture` is true, also moves that
    /// capture one of these pieces.
    Pieces {
        /// The register that contains the set.
        set: RegisterWord,
        /// True if captures of these pieces count too.
        capture: bool,
    },
}

/// The results that the search for a chain may store for later searches.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum SearchMemory {
    /// No result. The constituents keep state, so all continuations are tried in turn.
    #[default]
    Nothing,
    /// The best continuation from each node. It is valid as long as the start is the same.
    OfStart,
    /// The best continuation from each node, for any start. It is valid as long as these variables and registers keep their
    /// values.
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
