//! Encodes the groups of statistics as numbers, which are faster to compare than strings. The codes are valid only while one block
//! (a group of games) is counted.

use hashbrown::HashMap;

use super::GroupKey;

/// The code of a group within one block: the value itself if groups are numbers, and otherwise the index of a string.
pub(super) type GroupCode = i64;

/// The groups that are strings or players. A group's code is its index in `keys`.
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
