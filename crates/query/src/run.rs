//! The values that a query keeps from one game to the next.

use std::collections::BTreeMap;

use super::tree::{DictionaryId, Holds, Life, TypedQuery, VarId};

/// A value that outlasts a game. It is never a position or a piece, because these belong to a game.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RunValue {
    /// A set of squares.
    Squares(u64),
    /// A number.
    Number(i32),
    /// A string.
    Text(Box<[u8]>),
}

/// The persistent variables and dictionaries of a query, with their values between two games.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunValues {
    /// The value of each persistent variable; `None` if the variable is not bound.
    pub vars: BTreeMap<VarId, Option<RunValue>>,
    /// The entries of each dictionary.
    pub dictionaries: BTreeMap<DictionaryId, BTreeMap<RunValue, RunValue>>,
}

impl RunValues {
    /// Returns the values before the first game. Each variable is 0, "" or [], depending on its type, and all dictionaries are
    /// empty.
    pub fn new(query: &TypedQuery) -> RunValues {
        let vars = query.vars.iter().zip(0..).filter(|(var, _)| var.life.outlives_games());
        let first = |holds| match holds {
            Holds::Squares => Some(RunValue::Squares(0)),
            Holds::Number => Some(RunValue::Number(0)),
            Holds::Text => Some(RunValue::Text(Box::default())),
            Holds::Position | Holds::Piece => None,
        };
        let dictionaries = query.dictionaries.iter().zip(0..).filter(|(of, _)| of.life.outlives_games());
        RunValues {
            vars: vars.map(|(var, id)| (VarId(id), first(var.holds))).collect(),
            dictionaries: dictionaries.map(|(_, id)| (DictionaryId(id), BTreeMap::new())).collect(),
        }
    }
}

impl Life {
    /// Returns true if a value with this lifetime is kept from game to game.
    pub fn outlives_games(self) -> bool {
        matches!(self, Life::Run { .. })
    }
}
