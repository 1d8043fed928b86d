//! What a query says of a game.

use shakmaty::Bitboard;

use crate::{Answer, MatchSpan, SortValue};

/// What a query says of a whole game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameFound {
    /// Its value at each position, by the numbers of the positions.
    pub values: Vec<PositionAnswer>,
    /// At how many positions it matches.
    pub match_count: u32,
    /// What each `sort` found, if anything.
    pub sorts: Vec<Option<SortValue>>,
    /// Comments in the order in which games show them.
    pub notes: Vec<Note>,
    /// Positions whose comments the output loses.
    pub removed: Vec<usize>,
    /// Tags that the output gets, by name.
    pub tags: Vec<(String, Vec<u8>)>,
    /// The lines that are printed at once, whether the game matches or not.
    pub messages: Vec<Vec<u8>>,
}

/// What a query says of a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PositionAnswer {
    /// Whether it matches.
    pub hit: bool,
    /// The value of the last filter.
    pub value: FoundValue,
    /// The copies of the outermost transform that match, from 0, if they were wanted.
    pub copies: Vec<u32>,
    /// What it consists of, if it matches and that was wanted.
    pub span: Option<MatchSpan>,
}

/// The value of a query at a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FoundValue {
    /// Of a condition.
    Bool(bool),
    /// Of a set of squares.
    Set(Bitboard),
    /// Of a number.
    Num(Option<i32>),
    /// Of a string.
    Str(Option<Vec<u8>>),
    /// The number of a position of the game.
    Position(Option<i32>),
}

impl PositionAnswer {
    /// Nothing, of a position at which the query was not evaluated.
    pub(super) const NONE: PositionAnswer =
        PositionAnswer { hit: false, value: FoundValue::Bool(false), copies: Vec::new(), span: None };

    /// The same as engines for single positions answer.
    pub fn answer(&self) -> Answer {
        match &self.value {
            FoundValue::Bool(_) | FoundValue::Str(_) => Answer::Bool(self.hit),
            FoundValue::Set(squares) => Answer::Set(*squares),
            FoundValue::Num(value) | FoundValue::Position(value) => Answer::Num(*value),
        }
    }
}

/// What a query notes at a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// The number of the position.
    pub at: usize,
    /// What is noted.
    pub what: Noted,
}

/// What can be noted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Noted {
    /// A comment that the query asks for.
    Asked(Vec<u8>),
    /// A comment that filters make of themselves.
    Automatic(Vec<u8>),
    /// The query matches here.
    Matched,
    /// What a filter that matches consists of, if that is wanted.
    Span(MatchSpan),
}
