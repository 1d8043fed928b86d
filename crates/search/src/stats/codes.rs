//! Numbers for the groups of a block. A group has its number only while its block is counted.

use hashbrown::HashMap;

use super::GroupKey;

/// The code of a group within one block: a number itself, or the index of a string.
pub(super) type GroupCode = i64;

/// Strings and players, each with its code.
#[derive(Default)]
pub(super) struct NameCodes {
    pub(super) keys: Vec<GroupKey>,
    codes: HashMap<GroupKey, GroupCode>,
}

impl NameCodes {
    pub(super) fn code(&mut self, text: String) -> GroupCode {
        self.code_of(GroupKey::Text(text))
    }

    pub(super) fn code_of(&mut self, key: GroupKey) -> GroupCode {
        let next = self.keys.len() as GroupCode;
        let NameCodes { keys, codes } = self;
        *codes.entry_ref(&key).or_insert_with(|| {
            keys.push(key.clone());
            next
        })
    }

    pub(super) fn key(&self, code: GroupCode) -> GroupKey {
        self.keys[code as usize].clone()
    }
}
