//! The instructions of flat programs that look at moves.

use super::registers::RegisterWord;
use orbit_core::board::PieceSet;
use orbit_query::tree::{MoveValue, Sibling, Special};

/// The test of a `move` filter on played moves. For castling it sees only the king's move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlatMove {
    /// True for the move that led here, false for the moves that leave the position.
    pub previous: bool,
    /// The value that is wanted of the moves that pass the test. It is never their number.
    pub value: MoveValue,
    /// The set that must contain the square that the move leaves.
    pub from: Option<RegisterWord>,
    /// The set that must contain the square that the move reaches.
    pub to: Option<RegisterWord>,
    /// The set that must contain the square on which the move captures.
    pub capture: Option<RegisterWord>,
    /// The set that must contain the square of the pawn that the move captures en passant.
    pub passing: Option<RegisterWord>,
    /// The pieces to which the move must promote.
    pub promotion: Option<PieceSet>,
    /// The kind of the move: castling, a capture en passant, or any.
    pub only: Special,
    /// True if the move must be a null move.
    pub null: bool,
    /// The child to which the move must lead: the first one or another one. `None` allows every child.
    pub sibling: Option<Sibling>,
    /// The register that holds the number of a node. If this node is a child of the current position, only the move to it counts.
    pub tied: Option<RegisterWord>,
}

/// The value that is wanted of the moves that could be played.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LegalValue {
    /// The squares that the moves leave.
    Left,
    /// The squares that the moves reach.
    Reached,
    /// The number of moves.
    Count,
}

/// An instruction that looks at moves. `to` is the register for the result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum MoveInstr {
    /// The squares of the moves that pass a test; with [`MoveValue::Whether`], a set that is nonempty if there is such a move.
    Played { to: RegisterWord, of: u16 },
    /// The value of the moves between the given squares.
    Legal {
        to: RegisterWord,
        from: RegisterWord,
        squares: RegisterWord,
        pseudo: bool,
        only: Special,
        value: LegalValue,
    },
    /// Compares the moves on the ways from the last common ancestor of two nodes to these nodes. The result is the number of
    /// consecutive moves that are the same on both ways. There is no value if there are no such moves, or if one node is an
    /// ancestor of the other.
    CommonRun { to: RegisterWord, a: RegisterWord, b: RegisterWord },
}
