//! The data that [`Instr::Chain`](super::Instr::Chain) needs to search for a `line` or `path`.
//!
//! A *chain* is the sequence of constituents of such a filter.

use super::registers::{Label, RegisterWord};
use orbit_query::tree::Sibling;

/// A `line` or `path`. The search runs the code of each constituent on demand. This code ends with
/// [`Instr::End`](super::Instr::End) or [`Instr::Fail`](super::Instr::Fail).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct FlatChain {
    /// The index of this chain among the chains of the program.
    pub place: u16,
    /// The constituents of the `line` or `path`. The operations in `ops` refer to them by index.
    pub steps: Vec<FlatStep>,
    /// The operations that determine which constituents may follow one another.
    pub ops: Vec<FlatOp>,
    /// For each operation, true if the chain may end there.
    pub may_end: Vec<bool>,
    /// True for a path, whose constituents are moves; false for a line, whose constituents are positions.
    pub is_path: bool,
    /// True if a path begins with a move, not with a filter.
    pub begins_with_move: bool,
    /// True for a line that runs backwards, from each position to its parent.
    pub back: bool,
    /// True for a line that contains only positions with the same side to move as its first position. The line skips all other
    /// positions.
    pub single_color: bool,
    /// The kind of children (first children, or all others) to which the `line` or `path` may continue. `None` if it may continue
    /// to every child.
    pub sibling: Option<Sibling>,
    /// True if the result is the first match of the `line` or `path` that the search finds. Otherwise it is the longest match.
    pub first_match: bool,
    /// True if no later match of the `line` or `path` may begin at a position of an earlier match.
    pub nestban: bool,
    /// True if the result of the search is the last position of the match. Otherwise it is the value of the `line` or `path`, such
    /// as its length.
    pub end: bool,
    /// The registers with the bounds of the range in which the value of the `line` or `path` must lie. `None` if every value is
    /// allowed.
    pub range: Option<[RegisterWord; 2]>,
    /// The moves that the constituents of a path can match; the search skips all others. `None` if they can match every move.
    pub focus: Option<FlatFocus>,
    /// For a path with `max N`, the code that computes N, and the register in which the code stores it.
    pub largest: Option<(Label, RegisterWord)>,
    /// The first of three registers that the constituents of a path read: the position at which the path begins, the number of
    /// moves so far that are in `focus`, and the number of other moves so far.
    pub of_path: RegisterWord,
    /// The results of earlier searches that this search may reuse.
    pub memory: SearchMemory,
    /// The indices of tests of moves ([`MoveSeek`](super::MoveSeek)). Each match of the `line` or `path` contains moves that pass
    /// these tests, in this order. The search is left out where no such moves follow.
    pub ahead: Vec<u16>,
}

/// A constituent of a `line` or `path`: a filter, or a move with filters after it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FlatStep {
    /// The code that runs before the move. It stores the sets that the test of the move reads.
    pub sides: Option<Label>,
    /// The index of the test that the move must pass. `None` if the constituent is a filter, not a move.
    pub edge: Option<u16>,
    /// The first of the registers for the squares that pass the test: those of the whole move or, after castling, possibly those of
    /// only the king's or the rook's move; see [`Instr::Fits`](super::Instr::Fits).
    pub selected: RegisterWord,
    /// The code of the filters that are evaluated after the move.
    pub behind: Option<Label>,
    /// The register for the number of the position after a move. Present if the constituent is a filter that is evaluated once for
    /// each move by which a line may continue.
    pub tied: Option<RegisterWord>,
}

/// An operation of a `line` or `path`. The operations determine which constituents come next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FlatOp {
    /// Matches a constituent, then continues with the next operation.
    One(u16),
    /// Continues with either of two operations of the chain, given by their indices. The first one is tried first.
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

/// The moves that the constituents of a path can match; all others are skipped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FlatFocus {
    /// The moves of the side that is to move at the start of the path.
    SideToMove,
    /// The moves of the pieces that stand on the squares of a set at the start of the path. If `capture` is true, also moves that
    /// capture one of these pieces.
    Pieces {
        /// The register that contains the set.
        set: RegisterWord,
        /// True if the constituents can also match moves that capture one of these pieces.
        capture: bool,
    },
}

/// The results of a search for a `line` or `path` that are stored for later searches.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum SearchMemory {
    /// No results: the constituents store values, so all continuations must be tried in turn.
    #[default]
    Nothing,
    /// The best continuation from each node, valid only for searches that begin at the same node.
    OfStart,
    /// The best continuation from each node, valid for searches from any node while these variables and registers keep their
    /// values.
    OfWords {
        /// The variables.
        vars: Vec<u16>,
        /// The registers.
        words: Vec<RegisterWord>,
    },
}

impl FlatChain {
    /// Returns all labels that the chain refers to.
    pub(crate) fn labels(&mut self) -> impl Iterator<Item = &mut Label> {
        let steps = self.steps.iter_mut().flat_map(|step| [&mut step.sides, &mut step.behind]);
        steps.flatten().chain(self.largest.as_mut().map(|(code, _)| code))
    }
}
