//! The functions of the module `transform` in chessops, a TypeScript library, under their original names.
//!
//! Two of the names have the opposite meaning in CQL: CQL names the line across which a position is reflected; chessops names the
//! direction in which squares move.
//!
//! | chessops | squares | CQL's reflection | here |
//! |---|---|---|---|
//! | `flipVertical` | 1 <-> 8 | **`fliphorizontal`** | `flip-ranks` |
//! | `flipHorizontal` | a <-> h | **`flipvertical`** | `flip-files` |
//! | `flipDiagonal` | a1-h8 stays | `flipdiagonal` of CQL 5 | `flip-diagonal` |
//! | `rotate180` | a1 <-> h8 | one of the turns of `rotate90` | `rotate180` |
//! | `shiftLeft` ... | shift around the edge | none: CQL 6 drops such squares, CQL 5 smears them | `wrap-left` ... |
//!
//! None of these functions swaps colours or the side to move. `flip_colors` is CQL's colour flip.
//!
//! Source: chessops documentation, transform.

use orbit_core::board::{Bitboard, Dihedral};
use orbit_core::positions::SquareTransform;

pub use orbit_core::positions::{transform_board, transform_setup};

/// Exchanges ranks, 1 <-> 8. **CQL calls this reflection `fliphorizontal`.**
pub fn flip_vertical(set: Bitboard) -> Bitboard {
    SquareTransform::Dihedral(Dihedral::ReflectRanks).apply(set)
}

/// Exchanges files, a <-> h. **CQL calls this reflection `flipvertical`.**
pub fn flip_horizontal(set: Bitboard) -> Bitboard {
    SquareTransform::Dihedral(Dihedral::ReflectFiles).apply(set)
}

/// Exchanges files and ranks; the diagonal a1-h8 stays.
pub fn flip_diagonal(set: Bitboard) -> Bitboard {
    SquareTransform::Dihedral(Dihedral::ReflectMain).apply(set)
}

/// Rotates by half a turn.
pub fn rotate180(set: Bitboard) -> Bitboard {
    SquareTransform::Dihedral(Dihedral::Rotate180).apply(set)
}

/// Shifts by one file to the left; the a-file becomes the h-file.
pub fn shift_left(set: Bitboard) -> Bitboard {
    SquareTransform::Wrap(-1, 0).apply(set)
}

/// Shifts by one file to the right; the h-file becomes the a-file.
pub fn shift_right(set: Bitboard) -> Bitboard {
    SquareTransform::Wrap(1, 0).apply(set)
}

/// Shifts by one rank up; rank 8 becomes rank 1.
pub fn shift_up(set: Bitboard) -> Bitboard {
    SquareTransform::Wrap(0, 1).apply(set)
}

/// Shifts by one rank down; rank 1 becomes rank 8.
pub fn shift_down(set: Bitboard) -> Bitboard {
    SquareTransform::Wrap(0, -1).apply(set)
}
