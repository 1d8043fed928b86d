//! Operations of the game language, as what an engine makes of columns of a block.
//!
//! A program looks at one position. What the game says of it is computed beside programs, for all positions of a
//! block: leaves from its moves ([`Leaf`]), tests of moves ([`EdgeTest`]) at the position that a move leads to, values
//! brought from other positions, and automata that run along games ([`Walk`]). Operands are columns that stages found
//! or that were made before; the result is a column.

mod automaton;
mod chain;
mod entries;
mod flat;
mod moves;
mod registers;
mod strings;

use std::sync::Arc;

pub(super) use automaton::ChainPart;
pub use automaton::{Automaton, AutomatonState, Branch};
pub use chain::{FlatChain, FlatFocus, FlatOp, FlatStep, SearchMemory};
pub use entries::{EntryInstr, KeyOrder};
pub use flat::{FlatEdge, FlatProgram, Instr, MoveSeek, PairSearch, PairTest, PairWord};
pub use moves::{FlatMove, LegalValue, MoveInstr};
pub use registers::{Label, RegisterWord};
pub use strings::{EMPTY, LITERALS, TextInstr};

use orbit_core::board::PieceSet;
use orbit_query::tree::{Sibling, Special};

/// What an engine makes of columns of a block.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum GameOp {
    /// Told by the moves of games alone.
    Leaf(Leaf),
    /// Mask at the position that a move leads to: it passes a test. The operands are sets at the position before it.
    Entered(EdgeTest),
    /// Set: of castling, the squares that king and rook leave, as far as they pass the test; with `to` those that they
    /// reach. Of other moves that pass, the one square.
    #[expect(missing_docs, reason = "the sentence says it")]
    Own { test: EdgeTest, to: bool },
    /// Mask: all operands, masks, hold at a child.
    AnyChild,
    /// Number of the children at which all operands, masks, hold.
    CountChildren,
    /// The word of the first child at which a mask holds: the operands are the mask, words, and the word where there is
    /// no such child.
    FirstChild,
    /// Union of the sets of all children.
    UnionChildren,
    /// Mask: the operand, a mask, holds at the parent.
    MaskOfParent,
    /// Mask: the second operand, a mask, holds at the position that the first one names.
    MaskAt,
    /// The word of the second operand at the position that the first one names, and the third operand where there is
    /// none.
    WordAt,
    /// The position with that number, if the game has one.
    Numbered,
    /// The child with that number, if there is one.
    Child,
    /// The last common ancestor of two positions.
    Fork,
    /// How many moves lie between two positions.
    Distance,
    /// Mask: the first position is a proper ancestor of the second.
    Before,
    /// Mask: an automaton finds a walk, whatever its value. The operands are those of [`GameOp::Walk`].
    AnyWalk(Arc<Walk>),
    /// What an automaton finds: a number, or [`super::NO_VALUE`].
    Walk(Arc<Walk>),
    /// What a flat program finds.
    Flat(Arc<FlatProgram>),
}

/// What the moves of games tell of positions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Leaf {
    /// Number: of the position in its game.
    Number,
    /// Position before this one, if there is one.
    Parent,
    /// Number of the side lines that it lies in.
    Depth,
    /// Mask: it lies in no side line.
    Mainline,
    /// Mask: no null move, and no alternative that White played, on the way from the root.
    VirtualMainline,
    /// Mask: one alternative that White played on the way from the root.
    Try,
    /// Mask: which child of its parent it is.
    Sibling(Sibling),
    /// Mask: so was the move that led here.
    Arrived(Special),
    /// Mask: the move that led here was none.
    NullMove,
    /// Set: the squares that the move which led here left; of castling both.
    From,
    /// Set: the squares that it reached; of castling both.
    To,
    /// Set: the square that it left; of castling the king's.
    MovedFrom,
    /// Set: the square that it reached; of castling the king's.
    MovedTo,
    /// Set: the square of the piece that it captured.
    Captured,
    /// Set: the square of the pawn that it captured in passing.
    EnPassant,
}

/// Which squares of a move pass.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SquareTest {
    /// All.
    Any,
    /// Those of the set whose content before the move is one of these pieces.
    #[expect(missing_docs, reason = "the sentence says it")]
    Pieces { contents: PieceSet, squares: u64 },
    /// Those in the next operand.
    Column,
}

/// A test of a move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EdgeTest {
    /// The square that it leaves.
    pub from: SquareTest,
    /// The square that it reaches.
    pub to: SquareTest,
    /// It captures something on such a square.
    pub captures: Option<SquareTest>,
    /// It captures in passing a pawn on such a square.
    pub passing: Option<SquareTest>,
    /// It is a promotion to one of these kinds of pieces.
    pub promotion: Option<PieceSet>,
    /// Of castling only the king's move counts.
    pub kings: bool,
    /// It is castling, of which this part is tested, not both.
    pub part: Option<CastlingPart>,
    /// It is such a move.
    pub only: Special,
    /// It is a null move.
    pub null: bool,
    /// It leads to such a child.
    pub sibling: Option<Sibling>,
}

/// One of the two moves that castling is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum CastlingPart {
    King,
    Rook,
}

impl EdgeTest {
    /// What every move passes.
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

/// How an automaton runs along games.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Walk {
    /// The automaton. Its operands come first: see [`AutomatonState`] and [`Branch`].
    pub automaton: Automaton,
    /// Its states stand for moves, not for positions.
    pub moves: bool,
    /// Against the moves.
    pub back: bool,
    /// Which positions or moves it sees.
    pub sees: Sees,
    /// Which children it may go to.
    pub sibling: Option<Sibling>,
    /// The first walk in the order of the search, not the longest one.
    pub first_match: bool,
    /// The next operand, a number at the last position, is to be largest, not the length.
    pub largest: bool,
    /// Between which numbers the value must lie.
    pub range: (i32, i32),
    /// Positions of a walk begin no other one; the next operand is the mask of positions at which it is evaluated.
    pub nestban: bool,
    /// The value is the last position.
    pub end: bool,
}

/// Which positions or moves an automaton sees.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sees {
    /// All.
    All,
    /// Those of the side that is to move at the start.
    OneSide,
    /// Moves of the pieces that stand, at the start, on the squares of the last operand; with `capture` also moves that
    /// capture one of them.
    #[expect(missing_docs, reason = "the sentence says it")]
    Pieces { capture: bool },
}

impl GameOp {
    /// Whether masks are made, not whole words.
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

    /// Whether an operand is a mask, not whole words.
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

    /// A word for it.
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
