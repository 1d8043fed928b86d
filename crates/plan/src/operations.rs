//! Operations of the game language, which an engine applies to columns of a block.
//!
//! A program looks at one position at a time. Values that depend on the game are computed outside of programs, for all positions
//! of a block. These values are leaves, computed from the moves of the game ([`Leaf`]); tests of moves ([`EdgeTest`]), at the
//! position to which a move leads; values at other positions; and automata that run along games ([`Walk`]). Operands are columns
//! that stages or earlier operations have computed; the result is a column.

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
    /// A value that follows from the moves of games alone.
    Leaf(Leaf),
    /// Mask at the position to which a move leads: the move passes a test. The operands are sets at the position before the move.
    Entered(EdgeTest),
    /// Set: for castling, those of the squares left by king and rook that pass the test; for any other move that passes, the
    /// square that it leaves. With `to`, the squares that are reached instead.
    #[expect(missing_docs, reason = "the sentence says it")]
    Own { test: EdgeTest, to: bool },
    /// Mask: at some child, all operands, which are masks, are true.
    AnyChild,
    /// The number of children at which all operands, which are masks, are true.
    CountChildren,
    /// The word of the first child at which a mask is true. The operands are the mask, the words, and the word for positions
    /// without such a child.
    FirstChild,
    /// Union of the sets of all children.
    UnionChildren,
    /// Mask: the operand, a mask, is true at the parent.
    MaskOfParent,
    /// Mask: the second operand, a mask, is true at the position that the first one names.
    MaskAt,
    /// The word of the second operand at the position that the first one names; the third operand where that position does not
    /// exist.
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
    /// Mask: an automaton finds a walk, with any value. The operands are those of [`GameOp::Walk`].
    AnyWalk(Arc<Walk>),
    /// The number that an automaton finds, or [`super::NO_VALUE`].
    Walk(Arc<Walk>),
    /// The result of a flat program.
    Flat(Arc<FlatProgram>),
}

/// Facts about positions that follow from the moves of games.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Leaf {
    /// Number: the number of the position in its game.
    Number,
    /// The position before this one, if there is one.
    Parent,
    /// Number: the depth at which the position lies in nested side lines.
    Depth,
    /// Mask: the position lies in no side line.
    Mainline,
    /// Mask: the way from the root contains no null move, and no alternative (a move that begins a side line) that White played.
    VirtualMainline,
    /// Mask: the way from the root contains exactly one alternative that White played.
    Try,
    /// Mask: the position is this kind of child of its parent.
    Sibling(Sibling),
    /// Mask: the previous move was of this kind.
    Arrived(Special),
    /// Mask: the previous move was a null move.
    NullMove,
    /// Set: the squares that the previous move left; for castling, both.
    From,
    /// Set: the squares that the previous move reached; for castling, both.
    To,
    /// Set: the square that the previous move left; for castling, the king's.
    MovedFrom,
    /// Set: the square that the previous move reached; for castling, the king's.
    MovedTo,
    /// Set: the square of the piece that the previous move captured.
    Captured,
    /// Set: the square of the pawn that the previous move captured en passant.
    EnPassant,
}

/// A test of the squares of a move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SquareTest {
    /// All squares pass.
    Any,
    /// The squares of the set pass whose content before the move is one of these pieces.
    #[expect(missing_docs, reason = "the sentence says it")]
    Pieces { contents: PieceSet, squares: u64 },
    /// The squares in the next operand pass.
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
    /// If present, the move must capture en passant a pawn on a square that passes this test.
    pub passing: Option<SquareTest>,
    /// If present, the move must promote to one of these kinds of pieces.
    pub promotion: Option<PieceSet>,
    /// True if castling counts only as the king's move.
    pub kings: bool,
    /// If present, the move must be castling, and only this part of it is tested.
    pub part: Option<CastlingPart>,
    /// The move must be of this kind.
    pub only: Special,
    /// True if the move must be a null move.
    pub null: bool,
    /// If present, the move must lead to this kind of child.
    pub sibling: Option<Sibling>,
}

/// One of the two moves that make up castling.
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

/// An automaton, and the way in which it runs along games.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Walk {
    /// The automaton. Its operands come first: see [`AutomatonState`] and [`Branch`].
    pub automaton: Automaton,
    /// True if states take moves, false if they take positions.
    pub moves: bool,
    /// True if the walk runs against the moves.
    pub back: bool,
    /// The positions or moves that the automaton sees.
    pub sees: Sees,
    /// The kind of children to which the walk may continue; `None` allows all children.
    pub sibling: Option<Sibling>,
    /// True if the first walk in the order of the search is wanted, not the longest one.
    pub first_match: bool,
    /// True if the value to be maximised is the next operand, a number at the last position; false if it is the length.
    pub largest: bool,
    /// The range of the value.
    pub range: (i32, i32),
    /// True if no other walk may begin at a position of a walk that was found. The next operand is then the mask of positions at
    /// which the walk is evaluated.
    pub nestban: bool,
    /// True if the value is the last position.
    pub end: bool,
}

/// The positions or moves that an automaton sees.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sees {
    /// All positions or moves.
    All,
    /// The positions or moves of the side that is to move at the start.
    OneSide,
    /// Moves of the pieces that stand, at the start, on the squares of the last operand; with `capture` also moves that
    /// capture one of them.
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

    /// Returns true if an operand is a mask, false if it is a whole word.
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
