//! Engines: from a query and a reel to hits.
//!
//! An [`Answer`] is what a query yields on one position; engines that work in bulk return columns
//! of the same.

use shakmaty::Bitboard;

use crate::board::Position;
pub use crate::pgn::Outcome;

mod facts;
pub mod reference;

/// The value of a query at one position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Of a query of type Bool; also of type Str, whether it has a value.
    Bool(bool),
    /// Of a query of type Set.
    Set(Bitboard),
    /// Of a query of type Num.
    Num(Option<i32>),
}

impl Answer {
    /// Whether the position is a hit: true, a non-empty set, or a number that has a value.
    pub fn is_hit(self) -> bool {
        match self {
            Answer::Bool(hit) => hit,
            Answer::Set(squares) => squares.any(),
            Answer::Num(value) => value.is_some(),
        }
    }
}

/// What is known of a game besides its moves.
pub trait GameFacts {
    /// The number of the game over all sources, from 1, skipped games included.
    fn number(&self) -> u32;
    /// How the movetext ended.
    fn outcome(&self) -> Outcome;
    /// The value of the first tag of that name, bytes as found.
    fn tag(&self, name: &str) -> Option<&[u8]>;
}

/// One position in its game: all that a position-level filter may ask about.
#[derive(Clone, Copy)]
pub struct Spot<'a> {
    /// The position.
    pub position: Position,
    /// Half-moves played, 0 at the start of the game.
    pub ply: u32,
    /// Whether it is the first position of its game.
    pub initial: bool,
    /// Whether it is the last position of its game.
    pub terminal: bool,
    /// The game.
    pub game: &'a dyn GameFacts,
}
