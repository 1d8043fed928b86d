//! Tables for memoisation in the search for the best way through a *chain*, the sequence of filters in `line` or `path`. A table
//! has entries for each node (position) of a game. The entries of a new table need no initialisation.

/// The maximum number of tables that a chain (a `line` or `path`) can have at the same time.
const TABLES_MAX: usize = 64;

/// The maximum number of entries in the tables of all chains (`line` or `path` filters) together. An entry takes 16
/// bytes.
const ENTRIES_MAX: usize = 8 << 20;

/// The best way to complete a chain (a `line` or `path`) from a given position of the game and a given place in the
/// chain.
#[derive(Clone, Copy)]
pub(super) struct BestWay {
    /// The number of positions or moves on the way or, if the chain uses `max`, the number that the filter in `max`
    /// yields at the end of the way.
    pub(super) value: i64,
    pub(super) end: u32,
}

/// The tables of one chain (a `line` or `path`). Each table is valid only for certain values of variables and
/// registers, which are its key.
#[derive(Default)]
pub(super) struct Tables {
    /// The concatenated keys of all tables. All keys have the same number of words.
    keys: Vec<u64>,
    /// The stamp of each table. An entry is valid only if its stamp equals that of its table.
    stamps: Vec<u32>,
    /// The stamp of the newest table.
    last_stamp: u32,
    /// The concatenated entries of all tables. An entry whose stamp differs from the table's was left by an older
    /// table.
    entries: Vec<KnownEntry>,
    /// The number of entries in each table.
    len: usize,
    /// The maximum number of tables, computed from the size of one table.
    tables_max: usize,
}

#[derive(Clone, Copy, Default)]
struct KnownEntry {
    stamp: u32,
    /// The last position of the best match of the rest of the chain, or [`KnownEntry::NO_END`] if the rest cannot match.
    end: u32,
    value: i64,
}

impl KnownEntry {
    const NO_END: u32 = u32::MAX;
}

impl Tables {
    /// Removes all tables. New tables will have `len` entries. The available memory is divided among `chains` chains.
    pub(super) fn begin_game(&mut self, len: usize, chains: usize) {
        self.clear();
        self.len = len;
        self.tables_max = (ENTRIES_MAX / chains / len).min(TABLES_MAX);
    }

    /// Removes all tables.
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.stamps.clear();
    }

    /// Returns true if there is room for at least one table.
    pub(super) fn has_room(&self) -> bool {
        self.tables_max > 0
    }

    /// Returns the index of the table for a key, and creates the table if necessary. Returns `None` if there is no room
    /// for a table.
    pub(super) fn place(&mut self, key: &[u64]) -> Option<usize> {
        let known = match key.last() {
            None => self.stamps.len().checked_sub(1),
            Some(last) => {
                let mut keys = self.keys.chunks_exact(key.len());
                keys.rposition(|known| known.last() == Some(last) && known == key)
            }
        };
        known.or_else(|| self.begin(key))
    }

    fn begin(&mut self, key: &[u64]) -> Option<usize> {
        if self.tables_max == 0 {
            return None;
        }
        if self.stamps.len() >= self.tables_max {
            self.clear();
        }
        self.last_stamp = self.last_stamp.wrapping_add(1);
        if self.last_stamp == 0 {
            // The stamp has wrapped around, so an old entry could have the stamp of a new table.
            self.entries.clear();
            self.clear();
            self.last_stamp = 1;
        }
        let table = self.stamps.len();
        self.keys.extend_from_slice(key);
        self.stamps.push(self.last_stamp);
        let end = (table + 1) * self.len;
        if self.entries.len() < end {
            self.entries.resize(end, KnownEntry::default());
        }
        Some(table)
    }

    /// Returns the remembered best way from a place (a position of the game and an operation of the chain), or `None` if the table
    /// has no entry for the place. `Some(None)` means that the chain cannot be completed from there.
    pub(super) fn get(&self, table: usize, place: usize) -> Option<Option<BestWay>> {
        let KnownEntry { stamp, end, value } = self.entries[table * self.len + place];
        (stamp == self.stamps[table]).then(|| (end != KnownEntry::NO_END).then_some(BestWay { value, end }))
    }

    /// Records the best way from a place (a position of the game and an operation of the chain). `best` is `None` if the chain
    /// cannot be completed from there.
    pub(super) fn put(&mut self, table: usize, place: usize, best: Option<BestWay>) {
        let (value, end) = best.map_or((0, KnownEntry::NO_END), |best| (best.value, best.end));
        self.entries[table * self.len + place] = KnownEntry { stamp: self.stamps[table], end, value };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_begins_knows_nothing() {
        let mut tables = Tables::default();
        let way = |end| Some(BestWay { value: 3, end });
        let ends = |tables: &Tables, table| tables.get(table, 1).map(|best| best.map(|best| best.end));
        tables.begin_game(4, 1);
        let first = tables.place(&[1, 2]).expect("there is room");
        tables.put(first, 1, way(7));
        let second = tables.place(&[2, 2]).expect("there is room");
        assert_eq!(ends(&tables, second), None);
        tables.put(second, 1, None);
        assert_eq!(tables.place(&[1, 2]), Some(first));
        assert_eq!((ends(&tables, first), ends(&tables, second)), (Some(Some(7)), Some(None)));
        tables.begin_game(3, 1);
        assert_eq!(tables.place(&[2, 2]), Some(0));
        assert_eq!(ends(&tables, 0), None);
        for key in 0..2 * TABLES_MAX as u64 {
            let table = tables.place(&[key, 9]).expect("there is room");
            assert_eq!(ends(&tables, table), None, "{key}");
            tables.put(table, 1, way(key as u32));
        }
    }

    #[test]
    fn tables_that_are_too_large_are_none() {
        let mut tables = Tables::default();
        tables.begin_game(ENTRIES_MAX / 2, 2);
        assert_eq!((tables.tables_max, tables.len), (1, ENTRIES_MAX / 2));
        tables.begin_game(ENTRIES_MAX, 2);
        assert_eq!(tables.place(&[1]), None);
    }
}
