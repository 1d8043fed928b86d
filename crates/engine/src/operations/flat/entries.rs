//! The dictionaries of flat programs. All of them are emptied before each game.

use hashbrown::HashMap;

use super::{FlatMachine, Stopped, strings::FlatStrings};
use orbit_plan::{EntryInstr, FlatProgram, KeyOrder, Label};

/// The maximum number of entries in all dictionaries of a game. This many entries take about 40 MB. A game that needs
/// more is left to the reference engine.
const ENTRIES_MAX: usize = 1 << 20;

/// The maximum capacity that a dictionary keeps for the next game, in entries.
const KEPT_MAX: usize = 1 << 12;

/// The contents of all dictionaries of a program. Keys and values are register words.
pub(super) struct Entries {
    of: Vec<HashMap<u64, u64>>,
    order: Vec<KeyOrder>,
    /// For each loop over the keys of a dictionary, the keys that are still to be visited. The last key of the list is
    /// visited next.
    open: Vec<Vec<u64>>,
}

impl Entries {
    pub(super) fn new(program: &FlatProgram) -> Entries {
        Entries {
            of: vec![HashMap::new(); program.dictionaries.len()],
            order: program.dictionaries.clone(),
            open: vec![Vec::new(); program.key_loops],
        }
    }

    /// Empties all dictionaries for a new game.
    pub(super) fn begin(&mut self) {
        for of in &mut self.of {
            of.clear();
            of.shrink_to(KEPT_MAX);
        }
    }

    fn put(&mut self, dictionary: u16, key: u64, value: u64) -> Result<(), Stopped> {
        self.of[usize::from(dictionary)].insert(key, value);
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
