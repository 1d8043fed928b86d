//! The parser's state: the names that a query declares, and the values that it keeps from one position to the next.

use std::rc::Rc;

use super::{
    patterns::QueryPatterns,
    token::Token,
    tree::{Dictionary, Holds, Sort, VarId},
};
use orbit_core::diagnostic::Span;

/// The maximum number of variables in a query. The same limit applies to dictionaries and to sorts.
pub(super) const NAMES_MAX: usize = 4096;

/// The part of the parser's state that outlasts a single filter: functions, dictionaries, sorts and the calls being read.
#[derive(Clone, Default)]
pub(super) struct ParserState {
    pub functions: Vec<Function>,
    pub dictionaries: Vec<Dictionary>,
    pub sorts: Vec<Sort>,
    /// Variables that the text uses before it assigns them, with the spans of these uses.
    pub unassigned: Vec<(VarId, Span)>,
    /// The parameters of the function call that is being read, with their variables.
    pub parameters: Vec<(String, VarId)>,
    /// The function calls that are being read, outermost first. Each is the index of its function.
    pub calls: Vec<usize>,
    /// The number of tokens that all function calls have read so far.
    pub tokens_called: usize,
    /// True inside `comment(...)` and `str(...)`. A string after a filter such as `player` is then a separate item, not a part of
    /// that filter.
    pub joins: bool,
    /// True if the query searches side lines (variations).
    pub variations: bool,
    /// The types of the dictionaries that the text reads before it writes to them. The previous pass of the parser over the text
    /// found or assumed these types.
    pub foreseen: Vec<Foreseen>,
    /// The regular expressions that have been read.
    pub patterns: QueryPatterns,
}

#[derive(Clone)]
pub(super) struct Function {
    pub name: String,
    pub parameters: Vec<String>,
    pub body: Rc<[Token]>,
}

/// The type that the parser assumed for the keys or values of a dictionary, because it needed the type before it had read the part
/// of the text that determines it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Foreseen {
    pub dictionary: String,
    pub part: EntryPart,
    pub holds: Holds,
    /// True if a later part of the text has determined the type. False while the type is only assumed.
    pub certain: bool,
}

/// Selects the keys or the values of a dictionary.
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
