//! The result of a query on one game: its values, comments and spans.

use shakmaty::Bitboard;

use orbit_query::answer::{Answer, MatchSpan, SortValue};

/// The result of a query on a whole game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameFound {
    /// The value of the query at each position of the game, in the order of their numbers.
    pub values: Vec<PositionAnswer>,
    /// The number of positions at which the query matches.
    pub match_count: u32,
    /// For each `sort` of the query, its best value in the game, if it has one.
    pub sorts: Vec<Option<SortValue>>,
    /// For each `sort`, the position of its best value; 0 if it has no value.
    pub sorts_at: Vec<usize>,
    /// The comments in the order in which they are written to the game.
    pub notes: Vec<Note>,
    /// The positions whose comments are removed from the output.
    pub removed: Vec<usize>,
    /// The tags that the query sets in the output: their names and values.
    pub tags: Vec<(String, Vec<u8>)>,
    /// The lines that the query prints immediately, even if the game does not match.
    pub messages: Vec<Vec<u8>>,
}

/// The result of a query at one position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PositionAnswer {
    /// True if the query matches.
    pub hit: bool,
    /// The value of the query, which is the value of its last filter.
    pub value: FoundValue,
    /// The copies of the outermost transform that match, numbered from 0, if they were requested.
    pub copies: Vec<u32>,
    /// The span (the positions and moves) of the hit, if the query matches and spans were requested.
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

    /// Converts the result to the form that engines for single positions return.
    pub fn answer(&self) -> Answer {
        match &self.value {
            FoundValue::Bool(_) | FoundValue::Str(_) => Answer::Bool(self.hit),
            FoundValue::Set(squares) => Answer::Set(*squares),
            FoundValue::Num(value) | FoundValue::Position(value) => Answer::Num(*value),
        }
    }
}

/// A note that a query makes about a position while it is evaluated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// The number of the position in the game.
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
    /// The fact that the query matches at the position.
    Matched,
    /// The span of a filter that matches. It is recorded only if spans are requested.
    Span(MatchSpan),
}
