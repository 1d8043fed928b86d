//! Numbers for the groups of statistics, so that counting does not compare strings. They are valid only while one block of games is
//! counted.

use hashbrown::HashMap;

use super::GroupKey;

/// The number of a group within one block: the value itself if groups are numbers, or the index of a string.
pub(super) type GroupCode = i64;

/// The groups that are strings or players. The code of a group is its index in `keys`.
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
