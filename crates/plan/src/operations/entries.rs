//! The instructions of flat programs that read and write dictionaries.

use super::registers::{Label, RegisterWord};
use orbit_query::tree::{Dictionary, Holds};

/// The order in which a loop visits the keys of a dictionary. The type of the keys determines it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KeyOrder {
    /// The keys are sets of squares.
    Sets,
    /// The keys are numbers or positions.
    Numbers,
    /// The keys are strings. They are ordered byte by byte.
    Texts,
}

impl KeyOrder {
    /// Returns the order of the keys of `dictionary`.
    pub fn from_dictionary(dictionary: &Dictionary) -> KeyOrder {
        match dictionary.keys {
            Some(Holds::Text) => KeyOrder::Texts,
            Some(Holds::Squares | Holds::Piece) => KeyOrder::Sets,
            // If no filter writes a key, the dictionary remains empty, so it does not matter which order it has.
            Some(Holds::Number | Holds::Position) | None => KeyOrder::Numbers,
        }
    }
}

/// A dictionary instruction. The keys and values in its registers are never missing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum EntryInstr {
    /// Reads the value of a key. Jumps to `no` if the dictionary does not contain the key.
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
    /// Counts the keys.
    Size {
        to: RegisterWord,
        dictionary: u16,
    },
    /// Begins a loop over the keys that the dictionary contains when the loop begins.
    Keys {
        keys: u16,
        dictionary: u16,
    },
    /// Stores the next key of a loop, in ascending order. Jumps to `done` after the last key.
    NextKey {
        keys: u16,
        to: RegisterWord,
        done: Label,
    },
}

impl EntryInstr {
    /// Returns the label to which the instruction may jump, if it has one.
    pub(super) fn label(&mut self) -> Option<&mut Label> {
        match self {
            EntryInstr::Get { no, .. } => Some(no),
            EntryInstr::NextKey { done, .. } => Some(done),
            _ => None,
        }
    }
}
