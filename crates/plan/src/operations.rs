//! The operations of the game language. An engine applies them to columns of a block.
//!
//! A program reads one position at a time. Values that depend on moves or on other positions of the game are computed outside of
//! programs, for all positions of a block (a group of whole games). The operands of these operations are columns, which stages
//! (earlier programs) or earlier operations have computed. Each result is a column, too. There are four kinds of operations:
//!
//! * leaves ([`Leaf`]) are values that follow from the moves of the game alone;
//! * tests of moves ([`EdgeTest`]) have their result at the position after the move;
//! * other operations read values at other positions;
//! * automata ([`Walk`]) run along games.
//!
//! A *walk* is a sequence of positions that an automaton accepts. Automata are translated from `line` and `path`.

mod automaton;
mod chain;
mod entries;
mod flat;
mod moves;
mod rays;
mod registers;
mod strings;

use std::sync::Arc;

pub(super) use automaton::ChainPart;
pub use automaton::{Automaton, AutomatonState, Branch};
pub use chain::{FlatChain, FlatFocus, FlatOp, FlatStep, SearchMemory};
pub use entries::{EntryInstr, KeyOrder};
pub use flat::{FlatEdge, FlatProgram, FlatRun, Instr, MoveSeek, PairSearch, PairTest, PairWord};
pub use moves::{FlatMove, LegalValue, MoveInstr};
pub use rays::{Planes, RayInstr, SliderAt};
pub use registers::{Label, RegisterWord};
pub use strings::{EMPTY, LITERALS, TextInstr};

use orbit_core::board::PieceSet;
use orbit_query::tree::{Sibling, Special};

/// An operation that an engine applies to the columns of a block. A column has an entry for each position.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum GameOp {
    /// A value that follows from the moves of the game alone.
    Leaf(Leaf),
    /// Mask at the position after a move: the move passes a test. The operands are sets, which are read at the position before the
    /// move.
    Entered(EdgeTest),
    /// Set at the position after a move: the origin square of the move, if the move passes a test. After castling, the set contains
    /// the origin squares of the king and the rook, as far as they pass the test. If `to` is true, the set contains target squares
    /// instead.
    #[expect(missing_docs, reason = "the sentence says it")]
    Own { test: EdgeTest, to: bool },
    /// Mask: all operands, which are masks, are true at one of the children (the positions after one more move).
    AnyChild,
    /// The number of children at which all operands are true. The operands are masks.
    CountChildren,
    /// The second operand (a word) at the first child at which the first operand (a mask) is true. If there is no such child, the
    /// third operand at the current position.
    FirstChild,
    /// The union of the operand's sets at all children (the positions after one more move).
    UnionChildren,
    /// Mask: the operand is true at the parent. The operand is a mask.
    MaskOfParent,
    /// Mask: the second operand (a mask) is true at the position that the first operand names.
    MaskAt,
    /// The second operand at the position that the first operand names. If there is no such position, the third operand.
    WordAt,
    /// The position whose number is the operand's value, if the game has such a position.
    Numbered,
    /// The child whose index among the children, counted from 0, is the operand's value, if there is one.
    Child,
    /// The last common ancestor of two positions.
    Fork,
    /// The number of moves between two positions.
    Distance,
    /// Mask: the position that the first operand names is a proper ancestor of the one that the second operand names.
    Before,
    /// Mask: an automaton finds a walk (a sequence of positions or moves), whatever its value. The operands are those of
    /// [`GameOp::Walk`].
    AnyWalk(Arc<Walk>),
    /// The value of the walk that an automaton finds, or [`super::NO_VALUE`] if it finds none.
    Walk(Arc<Walk>),
    /// The result of a flat program.
    Flat(Arc<FlatProgram>),
}

/// Facts about a position that follow only from the moves of the game.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Leaf {
    /// Number: the number of the position in its game.
    Number,
    /// The position before this one, if there is one.
    Parent,
    /// Number: the depth to which side lines are nested at the position. It is 0 in the main line.
    Depth,
    /// Mask: the position is in the main line.
    Mainline,
    /// Mask: the moves from the root include no null move, and no move by White that begins a side line.
    VirtualMainline,
    /// Mask: exactly one of the moves from the root is a move by White that begins a side line.
    Try,
    /// Mask: the position is this kind of child of its parent: the first child, or one of the others.
    Sibling(Sibling),
    /// Mask: the previous move was of this kind.
    Arrived(Special),
    /// Mask: the previous move was a null move.
    NullMove,
    /// Set: the origin square of the previous move. For castling, the squares of the king and the rook.
    From,
    /// Set: the target square of the previous move. For castling, the squares of the king and the rook.
    To,
    /// Set: the origin square of the previous move. For castling, only that of the king.
    MovedFrom,
    /// Set: the target square of the previous move. For castling, only that of the king.
    MovedTo,
    /// Set: the square of the piece that the previous move captured.
    Captured,
    /// Set: the square of the pawn that the previous move captured en passant.
    EnPassant,
}

/// A test of one square of a move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SquareTest {
    /// Every square passes.
    Any,
    /// A square passes if it is in `squares`, and its content before the move is in `contents`.
    #[expect(missing_docs, reason = "the sentence says it")]
    Pieces { contents: PieceSet, squares: u64 },
    /// A square passes if it is in a set that is computed for each position. The set is the next operand of the operation.
    Column,
}

/// A test of a move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EdgeTest {
    /// The test of the move's origin square.
    pub from: SquareTest,
    /// The test of the move's target square.
    pub to: SquareTest,
    /// The test of the square on which the move captures a piece. If present, the move must be a capture.
    pub captures: Option<SquareTest>,
    /// The test of the square of the pawn that the move captures en passant. If present, the move must be an en passant capture.
    pub passing: Option<SquareTest>,
    /// The pieces to which the move may promote. If present, the move must be a promotion.
    pub promotion: Option<PieceSet>,
    /// True if castling counts only as a king's move, not as a rook's move.
    pub kings: bool,
    /// The part of castling to which the test applies. If present, the move must be castling.
    pub part: Option<CastlingPart>,
    /// The kind of move that is required: castling, en passant, or any.
    pub only: Special,
    /// True if the move must be a null move.
    pub null: bool,
    /// The kind of child (a first child, or another one) to which the move must lead. `None` allows every child.
    pub sibling: Option<Sibling>,
}

/// The two moves of which castling consists.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum CastlingPart {
    King,
    Rook,
}

impl EdgeTest {
    /// The test that every move passes.
    pub const ANY: EdgeTest = EdgeTest {
        from: SquareTest::Any,
        to: SquareTest::Any,
        captures: None,
        passing: None,
        promotion: None,
        kings: false,
        part: None,
        only: Special::Any,
        null: false,
        sibling: None,
    };
}

/// An automaton, with the rules by which it searches a game for a walk (a sequence of positions or moves).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Walk {
    /// The automaton. Its operands are the first operands of the [`GameOp::Walk`] or [`GameOp::AnyWalk`]; see [`AutomatonState`]
    /// and [`Branch`].
    pub automaton: Automaton,
    /// True if each state of the automaton consumes a move. Otherwise each consumes a position.
    pub moves: bool,
    /// True if the walk runs backwards, from each position to its parent.
    pub back: bool,
    /// The positions or moves that the automaton reads. It skips all others.
    pub sees: Sees,
    /// The kind of children (first children, or all others) to which the walk may continue. `None` if it may continue to every
    /// child.
    pub sibling: Option<Sibling>,
    /// True if the result is the first walk that the search finds. Otherwise it is the longest walk.
    pub first_match: bool,
    /// True if the result is the walk with the largest number at its last position instead of the longest walk. The number is the
    /// operand after those of the automaton.
    pub largest: bool,
    /// The range in which the value of the walk must lie.
    pub range: (i32, i32),
    /// True if no later walk may begin at a position of a walk that was already found. A further operand is the mask of positions
    /// at which the filter is evaluated.
    pub nestban: bool,
    /// True if the value is the last position of the walk.
    pub end: bool,
}

/// The positions or moves that an automaton reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sees {
    /// All positions or moves.
    All,
    /// The positions or moves of the side that is to move at the start of the walk.
    OneSide,
    /// The moves of the pieces that stand on the squares of the last operand at the start of the walk. If `capture` is true, also
    /// moves that capture one of these pieces.
    #[expect(missing_docs, reason = "the sentence says it")]
    Pieces { capture: bool },
}

impl GameOp {
    /// Returns true if the results of the operation are masks, which are true or false at each position. Otherwise they are 64-bit
    /// words.
    pub fn is_mask(&self) -> bool {
        match self {
            GameOp::Leaf(leaf) => matches!(
                leaf,
                Leaf::Mainline
                    | Leaf::VirtualMainline
                    | Leaf::Try
                    | Leaf::Sibling(_)
                    | Leaf::Arrived(_)
                    | Leaf::NullMove
            ),
            GameOp::Entered(_)
            | GameOp::AnyChild
            | GameOp::MaskOfParent
            | GameOp::MaskAt
            | GameOp::Before
            | GameOp::AnyWalk(_) => true,
            GameOp::Flat(program) => program.is_mask,
            GameOp::Own { .. }
            | GameOp::CountChildren
            | GameOp::FirstChild
            | GameOp::UnionChildren
            | GameOp::WordAt
            | GameOp::Numbered
            | GameOp::Child
            | GameOp::Fork
            | GameOp::Distance
            | GameOp::Walk(_) => false,
        }
    }

    /// Returns true if the operation reads this operand as a mask. Otherwise it reads a whole word.
    pub fn takes_masks(&self, operand: usize) -> bool {
        match self {
            GameOp::AnyChild | GameOp::CountChildren | GameOp::MaskOfParent => true,
            GameOp::FirstChild => operand == 0,
            GameOp::MaskAt => operand == 1,
            GameOp::AnyWalk(walk) | GameOp::Walk(walk) => {
                let masks = walk.automaton.operands;
                operand < masks || walk.nestban && operand == masks + usize::from(walk.largest)
            }
            GameOp::Flat(program) => program.masks[operand],
            _ => false,
        }
    }

    /// Returns the name of the operation in listings.
    pub fn name(&self) -> String {
        match self {
            GameOp::Leaf(leaf) => format!("{leaf:?}").to_lowercase(),
            GameOp::AnyWalk(walk) => format!("any walk of {} states", walk.automaton.states.len()),
            GameOp::Walk(walk) => format!("walk of {} states", walk.automaton.states.len()),
            GameOp::Flat(program) => format!("program of {} instructions", program.code.len()),
            other => {
                let name = format!("{other:?}");
                name.split(['(', ' ', '{']).next().unwrap_or_default().to_lowercase()
            }
        }
    }
}
