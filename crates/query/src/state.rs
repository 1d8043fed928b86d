//! The state of the parser that concerns names declared in the query, and values that are kept from one position to the next.

use std::rc::Rc;

use super::{
    token::Token,
    tree::{Dictionary, Holds, Sort, VarId},
};
use orbit_core::diagnostic::Span;

/// The maximum number of variables in a query. The same limit applies to dictionaries and to sorts.
pub(super) const NAMES_MAX: usize = 4096;

/// The part of the parser's state that is not about single tokens: functions, dictionaries, sorts and open calls.
#[derive(Clone, Default)]
pub(super) struct ParserState {
    pub functions: Vec<Function>,
    pub dictionaries: Vec<Dictionary>,
    pub sorts: Vec<Sort>,
    /// Variables that occur in the text before they are assigned, with the places where they occur.
    pub unassigned: Vec<(VarId, Span)>,
    /// The parameters of the call that is being read, with their variables.
    pub parameters: Vec<(String, VarId)>,
    /// The calls that are being read, outermost first, each as the index of its function.
    pub calls: Vec<usize>,
    /// The number of tokens that all calls have read so far.
    pub tokens_called: usize,
    /// True inside `comment(...)` and `str(...)`, where a string after a filter such as `player` is not a part of that filter.
    pub joins: bool,
    /// True if the query searches side lines (variations).
    pub variations: bool,
    /// The types of those dictionaries that the query reads earlier in its text than it writes them. The parser found or assumed
    /// these types when it read the text before.
    pub foreseen: Vec<Foreseen>,
}

/// A function that was declared.
#[derive(Clone)]
pub(super) struct Function {
    pub name: String,
    pub parameters: Vec<String>,
    pub body: Rc<[Token]>,
}

/// The type that was assumed for the keys or values of a dictionary, because the parser needed it before it read the text that
/// determines it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Foreseen {
    pub dictionary: String,
    pub part: EntryPart,
    pub holds: Holds,
    /// True if the text determines the type at a later place.
    pub certain: bool,
}

/// The keys or the values of a dictionary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EntryPart {
    Key,
    Value,
}

impl Foreseen {
    /// Replaces the assumed type with the next one to try. Returns false if all types have been tried.
    pub fn advance(&mut self) -> bool {
        self.holds = match self.holds {
            Holds::Number => Holds::Squares,
            Holds::Squares | Holds::Piece => Holds::Text,
            Holds::Text => Holds::Position,
            Holds::Position => return false,
        };
        true
    }
}
