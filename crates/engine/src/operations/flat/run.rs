//! The variables and dictionaries that keep their values from one game to the next.
//!
//! When a game ends, the registers of these variables and the entries of these dictionaries stay as they are. But they
//! may refer to strings of the game, which are removed at its end. So these strings are read first and stored again as
//! literals of the program.

use super::{FlatMachine, Stopped};
use orbit_plan::{DictionaryId, FlatRun, Holds, RunValue, RunValues, VarId};

impl FlatMachine<'_> {
    /// Loads the values that earlier blocks have kept.
    pub(super) fn begin_run(&mut self) -> Result<(), Stopped> {
        let (program, games) = (self.program, self.games);
        let Some(run) = &program.run else { return Ok(()) };
        let values = games.runs.begin(run.query);
        for (var, value) in &values.vars {
            self.bound[var.0 as usize] = value.is_some();
            if let Some(value) = value {
                self.words[var.0 as usize] = self.kept_word(value)?;
            }
        }
        for (dictionary, entries) in &values.dictionaries {
            for (key, value) in entries {
                let (key, value) = (self.kept_word(key)?, self.kept_word(value)?);
                self.entries.keep(dictionary.0 as usize, key, value);
            }
        }
        Ok(())
    }

    /// Records the values at the beginning of a game, if they are requested.
    pub(super) fn note_game(&self) {
        if let Some(run) = &self.program.run {
            self.games.runs.begin_game(|| self.run_values(run));
        }
    }

    /// Records the values after the last game of the block.
    pub(super) fn end_run(&self) {
        if let Some(run) = &self.program.run {
            self.games.runs.end(run.query, self.run_values(run));
        }
    }

    fn run_values(&self, run: &FlatRun) -> RunValues {
        let var = |&(var, holds): &(VarId, Holds)| {
            let place = var.0 as usize;
            (var, self.bound[place].then(|| self.run_value(self.words[place], holds)))
        };
        let entries = |&(dictionary, holds): &(DictionaryId, Option<[Holds; 2]>)| {
            let entries = self.entries.all(dictionary.0 as usize);
            let value = |word, holds| self.run_value(word, holds);
            let [keys, values] = holds.unwrap_or([Holds::Number; 2]);
            (dictionary, entries.map(|(key, of)| (value(key, keys), value(of, values))).collect())
        };
        RunValues {
            vars: run.vars.iter().map(var).collect(),
            dictionaries: run.dictionaries.iter().map(entries).collect(),
        }
    }

    fn run_value(&self, word: u64, holds: Holds) -> RunValue {
        match holds {
            Holds::Squares | Holds::Piece => RunValue::Squares(word),
            Holds::Number | Holds::Position => RunValue::Number(word as i64 as i32),
            Holds::Text => RunValue::Text(self.strings.get(word).into()),
        }
    }

    /// Returns the register word of a kept value. A string becomes a literal of the program, so that it stays when a
    /// game ends.
    fn kept_word(&mut self, value: &RunValue) -> Result<u64, Stopped> {
        match value {
            RunValue::Squares(squares) => Ok(*squares),
            RunValue::Number(number) => Ok(i64::from(*number) as u64),
            RunValue::Text(text) => self.strings.keep(text),
        }
    }

    /// Removes the values, entries and strings of the last game, except those that are kept from game to game.
    pub(super) fn begin_values(&mut self) -> Result<(), Stopped> {
        let program = self.program;
        let (vars, dictionaries) = match &program.run {
            Some(run) => (&run.vars[..], &run.dictionaries[..]),
            None => Default::default(),
        };
        let mut lasts = vars.iter().map(|(var, _)| var.0 as usize).peekable();
        for (var, bound) in self.bound.iter_mut().enumerate() {
            *bound &= lasts.next_if_eq(&var).is_some();
        }
        let texts = vars.iter().filter(|(_, holds)| *holds == Holds::Text).map(|(var, _)| var.0 as usize);
        let texts: Vec<usize> = texts.filter(|&var| self.bound[var]).collect();
        let texts: Vec<(usize, RunValue)> =
            texts.into_iter().map(|var| (var, self.run_value(self.words[var], Holds::Text))).collect();
        let new = self.entries.take_new();
        let entry = |(dictionary, key, value): (usize, u64, u64)| {
            let holds = dictionaries.iter().find(|(id, _)| id.0 as usize == dictionary);
            let [keys, values] = holds.and_then(|(_, holds)| *holds).unwrap_or([Holds::Number; 2]);
            (dictionary, [self.run_value(key, keys), self.run_value(value, values)])
        };
        let new: Vec<(usize, [RunValue; 2])> = new.into_iter().map(entry).collect();
        self.strings.begin();
        self.entries.begin();
        for (var, text) in texts {
            self.words[var] = self.kept_word(&text)?;
        }
        for (dictionary, [key, value]) in &new {
            let (key, value) = (self.kept_word(key)?, self.kept_word(value)?);
            self.entries.keep(*dictionary, key, value);
        }
        Ok(())
    }
}
