//! The result of a query on one game: its values, comments and spans.

use shakmaty::Bitboard;

use orbit_query::answer::{Answer, MatchSpan, SortValue};

/// The results of a query on a whole game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameFound {
    /// The result of the query at each position of the game, in numerical order.
    pub values: Vec<PositionAnswer>,
    /// The number of positions at which the query matches.
    pub match_count: u32,
    /// For each `sort` in the query, its best value in the game. `None` if it has no value.
    pub sorts: Vec<Option<SortValue>>,
    /// For each `sort` in the query, the position of its best value, or 0 if it has no value.
    pub sorts_at: Vec<usize>,
    /// The comments, in the order in which they will be written into the game.
    pub notes: Vec<Note>,
    /// The positions whose comments are removed when the game is written.
    pub removed: Vec<usize>,
    /// The tags, as names and values, that the query sets in the written game.
    pub tags: Vec<(String, Vec<u8>)>,
    /// The lines to print immediately, even if the game does not match.
    pub messages: Vec<Vec<u8>>,
}

/// The result of a query at one position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PositionAnswer {
    /// True if the query matches.
    pub hit: bool,
    /// The value of the query. If it consists of several filters, this is the value of the last one.
    pub value: FoundValue,
    /// The numbers of the copies (transformed filters) of the outermost transform that match, counted from 0. Empty unless copies
    /// were requested.
    pub copies: Vec<u32>,
    /// The span of the hit, that is, its positions and moves. `None` unless the query matches and spans were requested.
    pub span: Option<MatchSpan>,
}

/// The value of a query at a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FoundValue {
    /// The value of a condition: true or false.
    Bool(bool),
    /// The value of a set filter.
    Set(Bitboard),
    /// The value of a numeric filter, if it has one.
    Num(Option<i32>),
    /// The value of a string filter, if it has one.
    Str(Option<Vec<u8>>),
    /// The value of a position filter: the number of a position in the game.
    Position(Option<i32>),
}

impl PositionAnswer {
    /// The result at a position at which the query was not evaluated.
    pub(super) const NONE: PositionAnswer =
        PositionAnswer { hit: false, value: FoundValue::Bool(false), copies: Vec::new(), span: None };

    /// Converts the result to the type returned by the engines that evaluate single positions.
    pub fn answer(&self) -> Answer {
        match &self.value {
            FoundValue::Bool(_) | FoundValue::Str(_) => Answer::Bool(self.hit),
            FoundValue::Set(squares) => Answer::Set(*squares),
            FoundValue::Num(value) | FoundValue::Position(value) => Answer::Num(*value),
        }
    }
}

/// A note about a position, such as a comment, that a query adds during evaluation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// The number of the position within the game.
    pub at: usize,
    /// The content of the note.
    pub what: Noted,
}

/// The content of a note.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Noted {
    /// A comment that the query writes explicitly.
    Asked(Vec<u8>),
    /// A comment that a filter writes automatically.
    Automatic(Vec<u8>),
    /// The query matches at the position.
    Matched,
    /// The span of a matching filter. It is recorded only if spans are requested.
    Span(MatchSpan),
}
