//! What the parser knows of names that are no words of the language, and of what outlasts a position.

use std::rc::Rc;

use super::{
    token::Token,
    tree::{Dictionary, Holds, Sort, VarId},
};
use orbit_core::diagnostic::Span;

/// How many variables, dictionaries and sorts a query may have.
pub(super) const NAMES_MAX: usize = 4096;

/// Names beside those of variables, and what stands in the query text for more than itself.
#[derive(Clone, Default)]
pub(super) struct ParserState {
    pub functions: Vec<Function>,
    pub dictionaries: Vec<Dictionary>,
    pub sorts: Vec<Sort>,
    /// Variables that were named before anything was assigned to them, and where.
    pub unassigned: Vec<(VarId, Span)>,
    /// The parameters of the call at hand.
    pub parameters: Vec<(String, VarId)>,
    /// The calls at hand, as indices of their functions, outermost first.
    pub calls: Vec<usize>,
    /// How many tokens calls have read in all.
    pub tokens_called: usize,
    /// A string that follows a filter such as `player` is no part of it: so within `comment(...)` and `str(...)`.
    pub joins: bool,
    /// Whether side lines are searched.
    pub variations: bool,
    /// What dictionaries hold that are read before they are written, as earlier readings of the text found it.
    pub foreseen: Vec<Foreseen>,
}

/// A function that was declared.
#[derive(Clone)]
pub(super) struct Function {
    pub name: String,
    pub parameters: Vec<String>,
    pub body: Rc<[Token]>,
}

/// A type of a dictionary that was needed before the text said it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Foreseen {
    pub dictionary: String,
    pub part: EntryPart,
    pub holds: Holds,
    /// Whether the text says so further on.
    pub certain: bool,
}

/// A part of the entries of a dictionary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EntryPart {
    Key,
    Value,
}

impl Foreseen {
    /// Supposes the next type; false if all were tried.
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
