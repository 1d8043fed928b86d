//! Numbers for the groups of a block: a group has one as long as the block is counted.

use hashbrown::HashMap;

use super::Key;

/// A group within one block: a number as it is, or the index of a text.
pub(super) type Code = i64;

/// Texts and players, each with one code.
#[derive(Default)]
pub(super) struct Names {
    pub(super) keys: Vec<Key>,
    codes: HashMap<Key, Code>,
}

impl Names {
    pub(super) fn code(&mut self, text: String) -> Code {
        self.code_of(Key::Text(text))
    }

    pub(super) fn code_of(&mut self, key: Key) -> Code {
        let next = self.keys.len() as Code;
        let Names { keys, codes } = self;
        *codes.entry_ref(&key).or_insert_with(|| {
            keys.push(key.clone());
            next
        })
    }

    pub(super) fn key(&self, code: Code) -> Key {
        self.keys[code as usize].clone()
    }
}
