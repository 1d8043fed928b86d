//! The dictionaries of flat programs. A dictionary is emptied before each game, unless the query keeps its entries from
//! game to game.

use hashbrown::{HashMap, HashSet};

use super::{FlatMachine, Stopped, strings::FlatStrings};
use orbit_plan::{EntryInstr, FlatProgram, Holds, KeyOrder, Label};

/// The maximum number of entries in all dictionaries of a game. This many entries take about 40 MB. A game that needs
/// more is left to the reference engine.
const ENTRIES_MAX: usize = 1 << 20;

/// The maximum capacity that a dictionary keeps for the next game, in entries.
const KEPT_MAX: usize = 1 << 12;

/// The contents of all dictionaries of a program. Keys and values are register words.
pub(super) struct Entries {
    of: Vec<HashMap<u64, u64>>,
    order: Vec<KeyOrder>,
    life: Vec<EntryLife>,
    /// The entries that were written in the current game into dictionaries of the kind [`EntryLife::RunWithTexts`].
    /// Each is identified by the index of the dictionary and the key.
    new: HashSet<(u16, u64)>,
    /// For each loop over the keys of a dictionary, the keys that are still to be visited. The last key of the list is
    /// visited next.
    open: Vec<Vec<u64>>,
}

/// The time for which a dictionary keeps its entries.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryLife {
    Game,
    /// The entries are kept from game to game, and contain no strings.
    Run,
    /// The entries are kept from game to game, and contain strings.
    RunWithTexts,
}

impl Entries {
    pub(super) fn new(program: &FlatProgram) -> Entries {
        let mut life = vec![EntryLife::Game; program.dictionaries.len()];
        for (dictionary, holds) in program.run.iter().flat_map(|run| &run.dictionaries) {
            let has_texts = holds.iter().flatten().any(|holds| *holds == Holds::Text);
            life[dictionary.0 as usize] = if has_texts { EntryLife::RunWithTexts } else { EntryLife::Run };
        }
        Entries {
            of: vec![HashMap::new(); program.dictionaries.len()],
            life,
            new: HashSet::new(),
            order: program.dictionaries.clone(),
            open: vec![Vec::new(); program.key_loops],
        }
    }

    /// Empties the dictionaries for a new game, except those that keep their entries from game to game.
    pub(super) fn begin(&mut self) {
        let of_game = self.of.iter_mut().zip(&self.life).filter(|(_, life)| **life == EntryLife::Game);
        for (of, _) in of_game {
            of.clear();
            of.shrink_to(KEPT_MAX);
        }
    }

    /// Returns the entries of a dictionary: keys and values.
    pub(super) fn all(&self, dictionary: usize) -> impl Iterator<Item = (u64, u64)> {
        self.of[dictionary].iter().map(|(&key, &value)| (key, value))
    }

    /// Adds an entry that was written before the current game.
    pub(super) fn keep(&mut self, dictionary: usize, key: u64, value: u64) {
        self.of[dictionary].insert(key, value);
    }

    /// Removes the entries that were written since the last call into dictionaries of the kind
    /// [`EntryLife::RunWithTexts`]. Returns the dictionary, the key and the value of each entry.
    pub(super) fn take_new(&mut self) -> Vec<(usize, u64, u64)> {
        let Entries { of, new, .. } = self;
        let taken = new.drain().filter_map(|(dictionary, key)| {
            let dictionary = usize::from(dictionary);
            Some((dictionary, key, of[dictionary].remove(&key)?))
        });
        taken.collect()
    }

    fn put(&mut self, dictionary: u16, key: u64, value: u64) -> Result<(), Stopped> {
        self.of[usize::from(dictionary)].insert(key, value);
        if self.life[usize::from(dictionary)] == EntryLife::RunWithTexts {
            self.new.insert((dictionary, key));
        }
        let entries: usize = self.of.iter().map(HashMap::len).sum();
        if entries > ENTRIES_MAX { Err(Stopped) } else { Ok(()) }
    }

    /// Begins a loop over the keys of a dictionary. `keys` is the index of the loop in `open`.
    fn open(&mut self, keys: u16, dictionary: u16, strings: &FlatStrings) {
        let dictionary = usize::from(dictionary);
        let open = &mut self.open[usize::from(keys)];
        open.clear();
        open.extend(self.of[dictionary].keys());
        match self.order[dictionary] {
            KeyOrder::Sets => open.sort_unstable(),
            KeyOrder::Numbers => open.sort_unstable_by_key(|&key| key as i64),
            KeyOrder::Texts => open.sort_unstable_by(|&a, &b| strings.get(a).cmp(strings.get(b))),
        }
        open.reverse();
    }
}

impl FlatMachine<'_> {
    /// Runs a dictionary instruction. Returns the target if the instruction jumps, or `None` to continue with the next
    /// instruction.
    pub(super) fn entry(&mut self, instr: EntryInstr) -> Result<Option<Label>, Stopped> {
        match instr {
            EntryInstr::Get { to, dictionary, key, no } => {
                match self.entries.of[usize::from(dictionary)].get(&self.get(key)) {
                    Some(&word) => self.set(to, word),
                    None => return Ok(Some(no)),
                }
            }
            EntryInstr::Put { dictionary, key, value } => {
                let (key, value) = (self.get(key), self.get(value));
                self.entries.put(dictionary, key, value)?;
            }
            EntryInstr::Remove { dictionary, key } => {
                let key = self.get(key);
                self.entries.of[usize::from(dictionary)].remove(&key);
            }
            EntryInstr::Clear { dictionary } => self.entries.of[usize::from(dictionary)].clear(),
            EntryInstr::Size { to, dictionary } => {
                let size = self.entries.of[usize::from(dictionary)].len();
                self.set(to, size as u64);
            }
            EntryInstr::Keys { keys, dictionary } => self.entries.open(keys, dictionary, &self.strings),
            EntryInstr::NextKey { keys, to, done } => match self.entries.open[usize::from(keys)].pop() {
                Some(key) => self.set(to, key),
                None => return Ok(Some(done)),
            },
        }
        Ok(None)
    }
}
