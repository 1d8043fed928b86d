//! What a chain knows of the ways from nodes of a game, in tables that cost nothing to begin.

/// How many tables a chain has at once.
const TABLES_MAX: usize = 64;

/// How many entries the tables of all chains have at once, of 16 bytes each.
const ENTRIES_MAX: usize = 8 << 20;

/// The best way from some place on.
#[derive(Clone, Copy)]
pub(super) struct BestWay {
    /// By how much it makes the chain longer, or with `max` the largest number.
    pub(super) value: i64,
    pub(super) end: u32,
}

/// Tables, each of which holds as long as variables and registers hold some words.
#[derive(Default)]
pub(super) struct Tables {
    /// The words of each table, one after the other; a chain has as many in each.
    keys: Vec<u64>,
    /// The stamps of the entries that each table has filled.
    stamps: Vec<u32>,
    /// The stamp of the last table that was begun.
    last_stamp: u32,
    /// Room for the tables, one after the other; only entries with its stamp are a table's own.
    entries: Vec<KnownEntry>,
    /// How many entries each has.
    len: usize,
    /// How many tables there may be.
    tables_max: usize,
}

#[derive(Clone, Copy, Default)]
struct KnownEntry {
    stamp: u32,
    /// [`KnownEntry::NO_END`] if no way goes on.
    end: u32,
    value: i64,
}

impl KnownEntry {
    const NO_END: u32 = u32::MAX;
}

impl Tables {
    /// Forgets all tables; those to come have so many entries, and so many chains share the room.
    pub(super) fn begin_game(&mut self, len: usize, chains: usize) {
        self.clear();
        self.len = len;
        self.tables_max = (ENTRIES_MAX / chains / len).min(TABLES_MAX);
    }

    /// Forgets all tables.
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.stamps.clear();
    }

    /// The table for some words; none if it has no room.
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
            // Entries that are older than that would seem to be new.
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

    /// The best way from a place on, if it is known.
    pub(super) fn get(&self, table: usize, place: usize) -> Option<Option<BestWay>> {
        let KnownEntry { stamp, end, value } = self.entries[table * self.len + place];
        (stamp == self.stamps[table]).then(|| (end != KnownEntry::NO_END).then_some(BestWay { value, end }))
    }

    /// Remembers the best way from a place on.
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
