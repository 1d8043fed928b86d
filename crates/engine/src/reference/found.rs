//! The result of a query on a game.

use shakmaty::Bitboard;

use crate::{Answer, MatchSpan, SortValue};

/// The result of a query on a whole game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameFound {
    /// The value of the query at each position, by the numbers of the positions.
    pub values: Vec<PositionAnswer>,
    /// The number of positions at which the query matches.
    pub match_count: u32,
    /// The value of each `sort`, if there is one.
    pub sorts: Vec<Option<SortValue>>,
    /// Comments in the order in which games show them.
    pub notes: Vec<Note>,
    /// The positions whose comments are removed from the output.
    pub removed: Vec<usize>,
    /// The tags that are set in the output, by name.
    pub tags: Vec<(String, Vec<u8>)>,
    /// The lines that are printed at once, whether or not the game matches.
    pub messages: Vec<Vec<u8>>,
}

/// The result of a query at one position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PositionAnswer {
    /// True if the query matches.
    pub hit: bool,
    /// The value of the last filter.
    pub value: FoundValue,
    /// The copies of the outermost transform that match, numbered from 0, if they were wanted.
    pub copies: Vec<u32>,
    /// The span of the hit, if the query matches and spans were wanted.
    pub span: Option<MatchSpan>,
}

/// The value of a query at a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FoundValue {
    /// The value of a condition.
    Bool(bool),
    /// The value of a set of squares.
    Set(Bitboard),
    /// The value of a number.
    Num(Option<i32>),
    /// The value of a string.
    Str(Option<Vec<u8>>),
    /// The value of a position: its number in the game.
    Position(Option<i32>),
}

impl PositionAnswer {
    /// The result at a position where the query was not evaluated.
    pub(super) const NONE: PositionAnswer =
        PositionAnswer { hit: false, value: FoundValue::Bool(false), copies: Vec::new(), span: None };

    /// Converts to the answer that engines for single positions give.
    pub fn answer(&self) -> Answer {
        match &self.value {
            FoundValue::Bool(_) | FoundValue::Str(_) => Answer::Bool(self.hit),
            FoundValue::Set(squares) => Answer::Set(*squares),
            FoundValue::Num(value) | FoundValue::Position(value) => Answer::Num(*value),
        }
    }
}

/// A note that a query makes at a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// The number of the position.
    pub at: usize,
    /// The content of the note.
    pub what: Noted,
}

/// The content of a note.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Noted {
    /// A comment that the query requests.
    Asked(Vec<u8>),
    /// A comment that filters make automatically.
    Automatic(Vec<u8>),
    /// A match of the query at this position.
    Matched,
    /// The span of a filter that matches, if spans are wanted.
    Span(MatchSpan),
}
