//! Detects files that a stream reads more than once, even if they were given under different names.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use super::{BlockStream, Input};
use orbit_pgn::canonical;

impl BlockStream {
    /// Adds a note if files or reels are read more than once. The sources before the index `first` do not count.
    ///
    /// Two reels may have the same source, because each of them has some of its games.
    pub(super) fn note_repeats(&mut self, first: usize) {
        let base = |input: &Input| match input {
            Input::Pgn { base, .. } | Input::Reel { base, .. } => Some(*base),
            Input::Passed { .. } | Input::Block(_) | Input::Held { .. } => None,
        };
        let bases: BTreeSet<u32> = self.inputs.iter().filter_map(base).collect();
        let mut read = HashMap::new();
        let mut repeated: Vec<String> = Vec::new();
        let mut last = None;
        for (index, source) in (0..).zip(&self.sources).skip(first) {
            let (path, name) = match &source.reel {
                Some(reel) => {
                    // The sources of one reel have the same base, so they count once.
                    let base = bases.range(..=index).next_back();
                    if last.replace(base) == Some(base) {
                        continue;
                    }
                    (canonical(reel), reel.display().to_string())
                }
                None => (source.path.clone(), source.name.clone()),
            };
            match path.map(|path| read.entry(path)) {
                Some(Entry::Vacant(entry)) => {
                    entry.insert(name);
                }
                Some(Entry::Occupied(entry)) if !repeated.contains(entry.get()) => {
                    repeated.push(entry.get().clone());
                }
                _ => {}
            }
        }
        let Some(first) = repeated.first() else { return };
        let (what, whose) = match repeated.len() - 1 {
            0 => (format!("{first} is"), "its"),
            1 => (format!("{first} and 1 more file are"), "their"),
            more => (format!("{first} and {more} more files are"), "their"),
        };
        self.notes.push(format!(
            "{what} read more than once, so {whose} games count more than once: leave the other paths out"
        ));
    }
}
