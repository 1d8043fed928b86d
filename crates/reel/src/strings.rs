//! Lists of byte strings, in the order of their first appearance.

use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};

use orbit_core::text::is_same;

/// A list of byte strings, stored back to back in a single allocation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Strings {
    bytes: Vec<u8>,
    /// The end of each string. Each string begins at the end of the previous one.
    ends: Vec<usize>,
}

impl Strings {
    /// Returns the number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no strings.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the approximate size of the strings in memory, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&self.ends[..])
    }

    /// Returns the string with the index `index`; `None` if there is none.
    pub fn get(&self, index: u32) -> Option<&[u8]> {
        let index = index as usize;
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Some(&self.bytes[start..end])
    }

    /// Returns true if the string with the index `index` exists and equals `string`.
    pub(super) fn is(&self, index: u32, string: &[u8]) -> bool {
        self.get(index).is_some_and(|known| is_same(known, string))
    }

    /// Returns all strings in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.bytes[std::mem::replace(&mut start, end)..end])
    }

    /// Returns the index of the first string that equals `string`. The search is linear.
    pub fn find(&self, string: &[u8]) -> Option<u32> {
        self.iter().position(|known| known == string).map(|index| index as u32)
    }

    /// Appends a string, even if the list already contains it, and returns its index.
    pub fn push(&mut self, string: &[u8]) -> u32 {
        self.bytes.extend_from_slice(string);
        self.ends.push(self.bytes.len());
        (self.ends.len() - 1) as u32
    }
}

/// The number of strings after which the hash table is enlarged to hold [`MANY`] strings.
const FEW: usize = 64;
/// The approximate number of distinct strings in the tags of a block.
const MANY: usize = 6000;

/// A list of distinct strings, which gives equal strings the same index.
#[derive(Default)]
pub(super) struct Interner {
    strings: Strings,
    /// For each string, its hash and its index. Because the hash is stored, most comparisons and all table resizes need not read
    /// the strings.
    table: HashTable<(u64, u32)>,
    /// The hasher. It affects only the table layout, since indices follow the order of appearance.
    hasher: DefaultHashBuilder,
}

impl Interner {
    /// Returns the index of a string. Appends the string if it is new.
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

    pub(super) fn is(&self, index: u32, string: &[u8]) -> bool {
        self.strings.is(index, string)
    }

    /// Returns the strings, in order of their first appearance.
    pub(super) fn finish(self) -> Strings {
        self.strings
    }
}
