//! The instructions of flat programs that look at moves.

use super::registers::RegisterWord;
use orbit_core::board::PieceSet;
use orbit_query::tree::{MoveValue, Sibling, Special};

/// What `move` asks of moves that were played. Of castling it sees the king's move alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlatMove {
    /// Of the one that led here; else of those that leave the position.
    pub previous: bool,
    /// What is wanted of those that pass; never their number.
    pub value: MoveValue,
    /// The set in which the square that it leaves must lie.
    pub from: Option<RegisterWord>,
    /// The set in which the square that it reaches must lie.
    pub to: Option<RegisterWord>,
    /// The set in which the square on which it captures must lie.
    pub capture: Option<RegisterWord>,
    /// The set in which the pawn must stand that it captures in passing.
    pub passing: Option<RegisterWord>,
    /// It is a promotion to one of these kinds of pieces.
    pub promotion: Option<PieceSet>,
    /// Castling, a capture in passing, or any move.
    pub only: Special,
    /// It is a null move.
    pub null: bool,
    /// It leads to such a child.
    pub sibling: Option<Sibling>,
    /// The register with the child that alone counts, if it is one of this position.
    pub tied: Option<RegisterWord>,
}

/// What is asked of moves that could be played.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LegalValue {
    /// The squares that they leave.
    Left,
    /// The squares that they reach.
    Reached,
    /// How many there are.
    Count,
}

/// One instruction. `to` is the register that gets the result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum MoveInstr {
    /// The squares of the moves that pass a test, or with [`MoveValue::Whether`] a set that is not empty if there is one.
    Played { to: RegisterWord, of: u16 },
    /// Of the moves from and to some squares.
    Legal {
        to: RegisterWord,
        from: RegisterWord,
        squares: RegisterWord,
        pseudo: bool,
        only: Special,
        value: LegalValue,
    },
    /// How many moves in a row are the same on the ways that lead to two nodes behind their last common ancestor; none if
    /// there are no such moves, or if one node is an ancestor of the other one.
    CommonRun { to: RegisterWord, a: RegisterWord, b: RegisterWord },
}
