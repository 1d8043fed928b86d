//! The instructions of flat programs that read and write dictionaries.

use super::registers::{Label, RegisterWord};
use orbit_query::tree::{Dictionary, Holds};

/// How the keys of a dictionary follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KeyOrder {
    /// As sets of squares.
    Sets,
    /// As numbers, or as positions.
    Numbers,
    /// As the bytes of strings.
    Texts,
}

impl KeyOrder {
    /// That of a dictionary.
    pub fn from_dictionary(dictionary: &Dictionary) -> KeyOrder {
        match dictionary.keys {
            Some(Holds::Text) => KeyOrder::Texts,
            Some(Holds::Squares | Holds::Piece) => KeyOrder::Sets,
            // Without a key that is written it stays empty.
            Some(Holds::Number | Holds::Position) | None => KeyOrder::Numbers,
        }
    }
}

/// One instruction. All keys and values are words that have a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum EntryInstr {
    /// What stands behind a key; goes on at `no` if nothing does.
    Get {
        to: RegisterWord,
        dictionary: u16,
        key: RegisterWord,
        no: Label,
    },
    Put {
        dictionary: u16,
        key: RegisterWord,
        value: RegisterWord,
    },
    Remove {
        dictionary: u16,
        key: RegisterWord,
    },
    Clear {
        dictionary: u16,
    },
    /// How many keys it has.
    Size {
        to: RegisterWord,
        dictionary: u16,
    },
    /// A loop over the keys that a dictionary has now.
    Keys {
        keys: u16,
        dictionary: u16,
    },
    /// The next key of a loop, in ascending order; goes on at `done` behind the last one.
    NextKey {
        keys: u16,
        to: RegisterWord,
        done: Label,
    },
}

impl EntryInstr {
    /// Where it may go on, but for the next instruction.
    pub(super) fn label(&mut self) -> Option<&mut Label> {
        match self {
            EntryInstr::Get { no, .. } => Some(no),
            EntryInstr::NextKey { done, .. } => Some(done),
            _ => None,
        }
    }
}
