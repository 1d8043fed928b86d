//! The instructions of flat programs that read moves.

use super::registers::RegisterWord;
use orbit_core::board::PieceSet;
use orbit_query::tree::{MoveValue, Sibling, Special};

/// The test by which a `move` filter selects played moves. Castling counts only as the king's move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlatMove {
    /// True if the filter tests the move that led to the position. False if it tests the moves that are played from the position.
    pub previous: bool,
    /// The kind of value that the filter computes from the moves that satisfy all conditions below. It is never
    /// [`MoveValue::Count`].
    pub value: MoveValue,
    /// The register of the squares that the move may leave. `None` allows all squares.
    pub from: Option<RegisterWord>,
    /// The register of the squares that the move may reach. `None` allows all squares.
    pub to: Option<RegisterWord>,
    /// The register of the squares on which the move may capture. If present, the move must be a capture.
    pub capture: Option<RegisterWord>,
    /// The register of the squares on which the move may capture a pawn en passant. If present, the move must be an en passant
    /// capture.
    pub passing: Option<RegisterWord>,
    /// The pieces to which the move may promote. If present, the move must be a promotion.
    pub promotion: Option<PieceSet>,
    /// The kind of move that is required: castling, en passant, or any.
    pub only: Special,
    /// True if the move must be a null move.
    pub null: bool,
    /// The kind of child (a first child, or another one) to which the move must lead. `None` allows every child.
    pub sibling: Option<Sibling>,
    /// The register with the number of a position. If this position is a child of the current one, only the move to it counts.
    /// `None` if all moves count.
    pub tied: Option<RegisterWord>,
}

/// The value of a filter on the legal or pseudolegal moves of a position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LegalValue {
    /// The origin squares of the moves.
    Left,
    /// The target squares of the moves.
    Reached,
    /// The number of moves.
    Count,
}

/// An instruction that reads moves. `to` is the register of the result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum MoveInstr {
    /// Stores the squares (selected by [`FlatMove::value`]) of the moves that pass a test. For [`MoveValue::Whether`], stores a set
    /// that is non-empty if such a move exists.
    Played { to: RegisterWord, of: u16 },
    /// Stores the origin squares, the target squares or the number of the legal (or pseudolegal) moves from a square of `from` to a
    /// square of `squares`.
    Legal {
        to: RegisterWord,
        from: RegisterWord,
        squares: RegisterWord,
        pseudo: bool,
        only: Special,
        value: LegalValue,
    },
    /// Compares the two move sequences that lead from the last common ancestor of two positions to these positions. Stores the
    /// length of the longest run of moves that occurs in both. There is no value if they have no moves in common, or if one
    /// position is an ancestor of the other.
    CommonRun { to: RegisterWord, a: RegisterWord, b: RegisterWord },
}
