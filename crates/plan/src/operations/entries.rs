//! The instructions of flat programs that read and write dictionaries.

use super::registers::{Label, RegisterWord};
use orbit_query::tree::{Dictionary, Holds};

/// The order of the keys of a dictionary.
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
    /// Returns the order of the keys of `dictionary`.
    pub fn from_dictionary(dictionary: &Dictionary) -> KeyOrder {
        match dictionary.keys {
            Some(Holds::Text) => KeyOrder::Texts,
            Some(Holds::Squares | Holds::Piece) => KeyOrder::Sets,
            // A dictionary that no filter writes a key to stays empty.
            Some(Holds::Number | Holds::Position) | None => KeyOrder::Numbers,
        }
    }
}

/// An instruction. All keys and values are words that have a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum EntryInstr {
    /// Reads the value of a key; jumps to `no` if the dictionary does not have the key.
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
    /// The number of keys.
    Size {
        to: RegisterWord,
        dictionary: u16,
    },
    /// Begins a loop over the keys that a dictionary has now.
    Keys {
        keys: u16,
        dictionary: u16,
    },
    /// The next key of a loop, in ascending order; jumps to `done` after the last one.
    NextKey {
        keys: u16,
        to: RegisterWord,
        done: Label,
    },
}

impl EntryInstr {
    /// Returns the label to which the instruction may jump.
    pub(super) fn label(&mut self) -> Option<&mut Label> {
        match self {
            EntryInstr::Get { no, .. } => Some(no),
            EntryInstr::NextKey { done, .. } => Some(done),
            _ => None,
        }
    }
}
