//! The state of the parser that concerns names declared in the query, and values that outlast a position.

use std::rc::Rc;

use super::{
    token::Token,
    tree::{Dictionary, Holds, Sort, VarId},
};
use orbit_core::diagnostic::Span;

/// The maximum number of variables of a query, and of dictionaries and sorts.
pub(super) const NAMES_MAX: usize = 4096;

/// Names other than those of variables, and other state of the parser.
#[derive(Clone, Default)]
pub(super) struct ParserState {
    pub functions: Vec<Function>,
    pub dictionaries: Vec<Dictionary>,
    pub sorts: Vec<Sort>,
    /// Variables that were named before they were assigned, with the places where they were named.
    pub unassigned: Vec<(VarId, Span)>,
    /// The parameters of the current call.
    pub parameters: Vec<(String, VarId)>,
    /// The current calls, as indices of their functions, outermost first.
    pub calls: Vec<usize>,
    /// The number of tokens that all calls have read.
    pub tokens_called: usize,
    /// True inside `comment(...)` and `str(...)`, where a string after a filter such as `player` is not a part of that filter.
    pub joins: bool,
    /// True if side lines are searched.
    pub variations: bool,
    /// The types of dictionaries that are read before they are written, as earlier readings of the text found them.
    pub foreseen: Vec<Foreseen>,
}

/// A function that was declared.
#[derive(Clone)]
pub(super) struct Function {
    pub name: String,
    pub parameters: Vec<String>,
    pub body: Rc<[Token]>,
}

/// A type of a dictionary that was needed before the text determined it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Foreseen {
    pub dictionary: String,
    pub part: EntryPart,
    pub holds: Holds,
    /// True if the text determines the type later.
    pub certain: bool,
}

/// A part of the entries of a dictionary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EntryPart {
    Key,
    Value,
}

impl Foreseen {
    /// Assumes the next type; returns false if all were tried.
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
