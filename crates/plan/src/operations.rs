//! The operations of the game language. An engine applies them to columns of a block.
//!
//! A program sees one position at a time. Values that depend on other positions or moves of the game are computed outside of
//! programs, for all positions of a block. Operands are columns that stages or earlier operations have computed, and each result
//! is a column. There are four kinds of operations:
//!
//! * leaves ([`Leaf`]) follow from the moves of the game;
//! * tests of moves ([`EdgeTest`]) have their results at the position to which a move leads;
//! * other operations read values at other positions;
//! * automata ([`Walk`]) run along games.

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
pub use flat::{FlatEdge, FlatProgram, Instr, MoveSeek, PairSearch, PairTest, PairWord};
pub use moves::{FlatMove, LegalValue, MoveInstr};
pub use rays::{Planes, RayInstr, SliderAt};
pub use registers::{Label, RegisterWord};
pub use strings::{EMPTY, LITERALS, TextInstr};

use orbit_core::board::PieceSet;
use orbit_query::tree::{Sibling, Special};

/// An operation of an engine on columns of a block.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum GameOp {
    /// A value that follows only from the moves of games.
    Leaf(Leaf),
    /// Mask, at the position to which a move leads: the move passes a test. The operands are sets, which are read at the position
    /// before the move.
    Entered(EdgeTest),
    /// Set, at the position to which a move leads: the square that the move leaves, if the move passes a test. For castling, the
    /// set has those squares of king and rook that pass the test. With `to`, the squares that the move reaches instead.
    #[expect(missing_docs, reason = "the sentence says it")]
    Own { test: EdgeTest, to: bool },
    /// Mask: all operands, which are masks, are true at one of the children.
    AnyChild,
    /// The number of children at which all operands, which are masks, are true.
    CountChildren,
    /// The value, at the first child at which the first operand is true, of the second operand. The first operand is a mask, the
    /// second a word; the third is the result at positions without such a child.
    FirstChild,
    /// The union, over all children, of the operand, a set.
    UnionChildren,
    /// Mask: the operand, a mask, is true at the parent.
    MaskOfParent,
    /// Mask: the second operand, a mask, is true at the position that the first operand names.
    MaskAt,
    /// The word of the second operand at the position that the first operand names. If that position does not exist, the word of
    /// the third operand.
    WordAt,
    /// The position whose number is the operand, if the game has one.
    Numbered,
    /// The child whose number is the operand, if there is one.
    Child,
    /// The last common ancestor of two positions.
    Fork,
    /// The number of moves between two positions.
    Distance,
    /// Mask: the first position is a proper ancestor of the second.
    Before,
    /// Mask: an automaton finds a walk, whatever its value. The operands are those of [`GameOp::Walk`].
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
    /// Number: the depth of nested side lines at the position; 0 in the main line.
    Depth,
    /// Mask: the position lies in no side line.
    Mainline,
    /// Mask: on the way from the root there is no null move, and White played no alternative to the first continuation.
    VirtualMainline,
    /// Mask: on the way from the root, White played exactly one alternative to the first continuation.
    Try,
    /// Mask: the position is a child of this kind.
    Sibling(Sibling),
    /// Mask: the previous move was of this kind.
    Arrived(Special),
    /// Mask: the previous move was a null move.
    NullMove,
    /// Set: the square that the previous move left; for castling, those of king and rook.
    From,
    /// Set: the square that the previous move reached; for castling, those of king and rook.
    To,
    /// Set: the square that the previous move left; for castling, only the king's.
    MovedFrom,
    /// Set: the square that the previous move reached; for castling, only the king's.
    MovedTo,
    /// Set: the square of the piece that the previous move captured.
    Captured,
    /// Set: the square of the pawn that the previous move captured en passant.
    EnPassant,
}

/// A test of a square of a move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SquareTest {
    /// Every square passes.
    Any,
    /// A square passes if it is in the set and its content before the move is one of these pieces.
    #[expect(missing_docs, reason = "the sentence says it")]
    Pieces { contents: PieceSet, squares: u64 },
    /// A square passes if it is in the next operand.
    Column,
}

/// A test of a move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EdgeTest {
    /// The test of the square that the move leaves.
    pub from: SquareTest,
    /// The test of the square that the move reaches.
    pub to: SquareTest,
    /// If present, the move must capture a piece on a square that passes this test.
    pub captures: Option<SquareTest>,
    /// If present, the move must be an en passant capture of a pawn on a square that passes this test.
    pub passing: Option<SquareTest>,
    /// If present, the move must promote to one of these pieces.
    pub promotion: Option<PieceSet>,
    /// True if castling counts only as the king's move.
    pub kings: bool,
    /// If present, the move must be castling, and only this part of it is tested.
    pub part: Option<CastlingPart>,
    /// The move must be of this kind.
    pub only: Special,
    /// True if the move must be a null move.
    pub null: bool,
    /// If present, the move must lead to a child of this kind.
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

/// An automaton, and the rules by which it runs along games.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Walk {
    /// The automaton. Its operands come first among those of the operation: see [`AutomatonState`] and [`Branch`].
    pub automaton: Automaton,
    /// True if states take moves, false if they take positions.
    pub moves: bool,
    /// True if the walk runs backwards, from a position to its parent.
    pub back: bool,
    /// The positions or moves that the automaton sees.
    pub sees: Sees,
    /// The kind of children to which the walk may continue; `None` if it may continue to all of them.
    pub sibling: Option<Sibling>,
    /// True if the result is the first walk in the order of the search, not the longest one.
    pub first_match: bool,
    /// True if the walk with the largest number at its last position is wanted, not the longest walk. The next operand is this
    /// number.
    pub largest: bool,
    /// The range in which the value must lie.
    pub range: (i32, i32),
    /// True if no other walk may begin at a position that belongs to a walk. The next operand is the mask of positions at which
    /// the walk is evaluated.
    pub nestban: bool,
    /// True if the value is the last position of the walk.
    pub end: bool,
}

/// The positions or moves that an automaton sees.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sees {
    /// All positions or moves.
    All,
    /// The positions or moves of the side that is to move at the start.
    OneSide,
    /// The moves of the pieces that are, at the start, on the squares of the last operand. If `capture` is true, also
    /// moves that capture one of these pieces.
    #[expect(missing_docs, reason = "the sentence says it")]
    Pieces { capture: bool },
}

impl GameOp {
    /// Returns true if the results are masks, false if they are whole words.
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

    /// Returns true if an operand is read as a mask, false if it is read as a whole word.
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
