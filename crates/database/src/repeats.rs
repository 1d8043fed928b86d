//! Files that a stream reads more than once, by whatever names they were given.

use std::collections::{BTreeSet, HashMap};

use super::{BlockStream, Input};

impl BlockStream {
    /// Adds a note if files are read more than once. The sources before the index `first` do not count.
    pub(super) fn note_repeats(&mut self, first: usize) {
        // A reel may have several parts of one file, which was appended when it had grown.
        let base = |input: &Input| match input {
            Input::Pgn { base, .. } | Input::Reel { base, .. } => Some(*base),
            Input::Passed { .. } | Input::Block(_) | Input::Held { .. } => None,
        };
        let bases: BTreeSet<u32> = self.inputs.iter().filter_map(base).collect();
        let reel_of = |index: u32| bases.range(..=index).next_back();
        let mut read = HashMap::new();
        let mut repeated = Vec::new();
        for (index, source) in (0..).zip(&self.sources).skip(first) {
            let Some(path) = &source.path else { continue };
            let reel = source.reel.is_some().then(|| reel_of(index));
            let is_repeated = read.insert(path, reel).is_some_and(|before| reel.is_none() || before != reel);
            if is_repeated && !repeated.contains(&path) {
                repeated.push(path);
            }
        }
        let name =
            |path| self.sources.iter().find(|source| source.path.as_ref() == Some(path)).map(|it| &it.name);
        let Some(first) = repeated.first().and_then(|path| name(path)) else { return };
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
