//! Searches with regular expressions, and the groups of the last match.

use std::rc::Rc;

use super::{FlatMachine, Stopped};
use orbit_core::regexes::Captures;
use orbit_plan::{Label, NO_VALUE, RegisterWord};

/// The groups of a match: the string that was searched, and the range of each group in it.
#[derive(Clone)]
pub(super) struct MatchGroups {
    string: u64,
    ranges: Rc<Captures>,
}

impl FlatMachine<'_> {
    /// Stores the first part of a string that matches a pattern, and the groups of this match.
    pub(super) fn first_match(
        &mut self,
        to: RegisterWord,
        of: RegisterWord,
        pattern: u16,
    ) -> Result<(), Stopped> {
        let string = self.get(of);
        if string as i64 == NO_VALUE {
            self.set(to, string);
            return Ok(());
        }
        if let Some((known, groups)) = self.strings.matches.get(&(pattern, string)) {
            let known = *known;
            if groups.is_some() {
                self.strings.groups = groups.clone();
            }
            self.set(to, known);
            return Ok(());
        }
        let groups = self.match_from(string, pattern, 0)?;
        self.put_string(to, |this, out| {
            let (start, end) = groups.as_ref()?.ranges[0]?;
            out.extend_from_slice(&this.strings.get(string)[start..end]);
            Some(())
        })?;
        let known = self.get(to);
        self.strings.matches.insert((pattern, string), (known, groups.clone()));
        if groups.is_some() {
            self.strings.groups = groups;
        }
        Ok(())
    }

    /// Finds the next match at or after the index in `from`, and stores its groups. Sets `from` to the end of the match
    /// or, after an empty match, to the index after this end. Returns `done` if there is no match.
    pub(super) fn next_match(
        &mut self,
        of: RegisterWord,
        from: RegisterWord,
        pattern: u16,
        done: Label,
    ) -> Result<Option<Label>, Stopped> {
        self.turn()?;
        let (string, start) = (self.get(of), self.get(from) as usize);
        if start > self.strings.get(string).len() {
            return Ok(Some(done));
        }
        let Some(groups) = self.match_from(string, pattern, start)? else { return Ok(Some(done)) };
        if let Some((start, end)) = groups.ranges[0] {
            self.set(from, if start == end { end + 1 } else { end } as u64);
        }
        self.strings.groups = Some(groups);
        Ok(None)
    }

    /// Returns the groups of the first match in a string at or after an index.
    fn match_from(&mut self, string: u64, pattern: u16, from: usize) -> Result<Option<MatchGroups>, Stopped> {
        let mut steps = 0;
        let pattern = &self.strings.patterns[usize::from(pattern)];
        let found = pattern.find(self.strings.get(string), from, &mut steps, self.games.interrupt());
        self.look_at(steps as usize)?;
        Ok(found.map_err(|_| Stopped)?.map(|ranges| MatchGroups { string, ranges: Rc::new(ranges) }))
    }

    /// Returns the string of the last match and the range of one of its groups, or `None` if the group is not part of the match.
    fn group(&self, group: u32) -> Result<Option<(u64, usize, usize)>, Stopped> {
        let groups = self.strings.groups.as_ref().ok_or(Stopped)?;
        let range = groups.ranges.get(group as usize).ok_or(Stopped)?;
        Ok(range.map(|(start, end)| (groups.string, start, end)))
    }

    /// Stores the text of a group of the last match.
    pub(super) fn group_text(&mut self, to: RegisterWord, group: u32) -> Result<(), Stopped> {
        let found = self.group(group)?;
        self.put_string(to, |this, out| {
            let (string, start, end) = found?;
            out.extend_from_slice(&this.strings.get(string)[start..end]);
            Some(())
        })
    }

    /// Stores the index at which a group of the last match begins.
    pub(super) fn group_start(&mut self, to: RegisterWord, group: u32) -> Result<(), Stopped> {
        let start = self.group(group)?.map(|(_, start, _)| start as i32);
        self.set_value(to, start);
        Ok(())
    }
}
