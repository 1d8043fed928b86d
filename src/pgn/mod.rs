//! PGN bytes to games.

mod game;

pub use game::{Fault, Game, Outcome, Status, Tag};
