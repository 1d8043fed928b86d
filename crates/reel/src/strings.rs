//! Byte strings in the order of their first appearance.

use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};

use orbit_core::text::is_same;

/// A list of byte strings, end to end in one allocation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Strings {
    bytes: Vec<u8>,
    /// Where each string ends; each begins where the one before it ends.
    ends: Vec<usize>,
}

impl Strings {
    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The memory that they take, about.
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&self.ends[..])
    }

    /// The string of that index.
    pub fn get(&self, index: u32) -> Option<&[u8]> {
        let index = index as usize;
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Some(&self.bytes[start..end])
    }

    /// Whether there is a string of that index, and it is this one.
    pub(super) fn is(&self, index: u32, string: &[u8]) -> bool {
        self.get(index).is_some_and(|known| is_same(known, string))
    }

    /// All strings in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.bytes[std::mem::replace(&mut start, end)..end])
    }

    /// The index of the first string that equals this one, found by looking at each.
    pub fn find(&self, string: &[u8]) -> Option<u32> {
        self.iter().position(|known| known == string).map(|index| index as u32)
    }

    /// Appends a string, known or not, and returns its index.
    pub fn push(&mut self, string: &[u8]) -> u32 {
        self.bytes.extend_from_slice(string);
        self.ends.push(self.bytes.len());
        (self.ends.len() - 1) as u32
    }
}

/// A table that holds as many strings will hold many.
const FEW: usize = 64;
/// About as many as the tags of a block have.
const MANY: usize = 6000;

/// Gives equal strings the same index.
#[derive(Default)]
pub(super) struct Interner {
    strings: Strings,
    /// Hashes and indices: with the hash beside it an index is placed anew, and told from most others, without a look at its
    /// string.
    table: HashTable<(u64, u32)>,
    /// Only placement in the table depends on it; indices follow the order of appearance.
    hasher: DefaultHashBuilder,
}

impl Interner {
    /// The index of a string, appended when it is new.
    pub(super) fn intern(&mut self, string: &[u8]) -> u32 {
        let Interner { strings, table, hasher } = self;
        let hash = hasher.hash_one(string);
        let same = |&(known, id): &(u64, u32)| known == hash && strings.is(id, string);
        if let Some(&(_, id)) = table.find(hash, same) {
            return id;
        }
        let id = strings.push(string);
        if table.len() == FEW {
            table.reserve(MANY, |&(hash, _)| hash);
        }
        table.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        id
    }

    /// Whether the string of that index is this one.
    pub(super) fn is(&self, index: u32, string: &[u8]) -> bool {
        self.strings.is(index, string)
    }

    /// The strings, in order of their first appearance.
    pub(super) fn finish(self) -> Strings {
        self.strings
    }
}
