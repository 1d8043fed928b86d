//! Squares, packed positions and moves: the base of all other modules.
//!
//! Squares (`a1` = 0, `h8` = 63), colours, roles and square sets are types of [`shakmaty`]; the other types are defined here. A
//! *packed position* ([`Position`]) stores the board as four bit planes, and the rest in 32 bits of state. The engines evaluate
//! queries directly on these words. A [`PackedMove`] stores a move in two bytes.
//!
//! This module does not depend on PGN, queries or engines.

pub mod attacks;
mod code;
pub mod legal;
pub mod lines;
pub mod moves;
mod mv;
mod position;
pub mod pure;
mod san;
mod swap;
mod transform;

pub use code::role_name;
pub use code::{Code, PieceSet};
pub use mv::{MoveKind, PackedMove};
pub use position::{Board, Position, State};
pub use shakmaty::{Bitboard, Color, File, Piece, Rank, Role, Square};
pub(crate) use transform::lowest_files;
pub use transform::{Dihedral, SquareMap, full_lines, shift, translate};
