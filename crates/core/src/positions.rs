//! Transforms square sets, boards and whole positions: rotates, reflects, shifts, and swaps colours.
//!
//! Positions are transformed to show them from the other side, to compare them up to symmetry, and to make positions for tests. The
//! transforms of a query are in the crate `transforms`, since they change the query's filters and not the positions. This module
//! does not depend on queries, games or engines.
//!
//! | object or task | item |
//! |---|---|
//! | square sets | [`SquareTransform::apply`] |
//! | boards, positions under any function of square sets | [`transform_board`], [`transform_setup`] |
//! | transforms with names | [`Transform`], [`names`] |
//! | colours swapped, the other side's view, Chess960 | [`flip_colors`], [`view_from_black`], [`king_side`] |
//! | symmetry and canonical form | [`SymmetryGroup`], [`Symmetry`], [`canonical`] |
//!
//! Positions have shakmaty's types [`Board`] and [`Setup`]. Invariant: each result has at most one piece on a square; a function of
//! squares that would put two pieces on one square is refused.
//!
//! ```
//! use orbit_core::fen::{FenRecord, Leniency};
//! use orbit_core::positions;
//!
//! let mut record = FenRecord::read(b"4k3/8/8/8/8/8/P7/R3K3 w Q - 0 1", Leniency::NONE).unwrap();
//! for step in positions::names::parse("flip-files,flip-colors", Default::default()).unwrap() {
//!     record.setup = step.transform.setup(&record.setup).unwrap();
//! }
//! assert_eq!(record.to_string(), "3k3r/7p/8/8/8/8/8/3K4 b k - 0 1");
//! ```

pub mod names;
mod setup;
mod squares;
mod symmetry;

pub use setup::{
    NotABoard, Transform, TransformError, flip_colors, king_side, transform_board, transform_setup,
    view_from_black, without_impossible_rights,
};
pub use shakmaty::{Board, Setup};
pub use squares::SquareTransform;
pub use symmetry::{Symmetry, SymmetryGroup, canonical};
