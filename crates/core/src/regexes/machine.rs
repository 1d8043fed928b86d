//! Compiles patterns to programs, and runs the programs on a backtracking machine that counts its steps.

use std::sync::Arc;

use crate::interrupt::Interrupt;

use super::syntax::{ByteSet, SyntaxNode, folded, is_line_end, is_word, tree};

pub(super) const STEPS_MAX: u64 = 10_000_000;
/// The number of steps of a search between two checks for an interrupt.
const STEPS_A_LOOK: u64 = 1 << 16;
/// The maximum number of entries on the undo stack, which the machine needs to backtrack. An entry is an alternative that has not
/// been tried yet, or the old value of a register.
const UNDONE_MAX: usize = 4_000_000;

/// The largest `max` for which `x{0,max}` is written out as `max` operations. Larger loops count their iterations.
const PLAIN_MAX: u32 = 1_000;

/// The maximum number of operations of a program. Patterns of 20,000 bytes need at most half as many, unless they have loops that
/// are written out.
pub const OPS_MAX: usize = 1 << 17;
/// The maximum number of bytes that a program takes. While a vector grows, its old and its new buffer exist together, so the
/// assertion below counts one and a half times the final size.
const PROGRAM_BYTES_MAX: usize = 10_000_000;
const _: () = assert!(OPS_MAX * (size_of::<RegexOp>() + size_of::<bool>()) * 3 / 2 <= PROGRAM_BYTES_MAX);

/// The content of a register that has no value.
const NONE: usize = usize::MAX;

#[derive(Clone, Debug)]
enum RegexOp {
    Set(ByteSet),
    Border {
        end: bool,
        lines: bool,
    },
    Word {
        within: bool,
    },
    Back {
        groups: Arc<[usize]>,
        fold: bool,
    },
    /// Writes the current offset in the text to a register.
    Mark(usize),
    /// Continues at the first operation. If it leads to no match, the search continues at the second one.
    Split(usize, usize),
    Jump(usize),
    /// Begins a loop by setting its count to 0.
    Begin(LoopRegisters),
    /// Decides whether the loop runs again. The operations of the loop's body come next in the program.
    Again {
        of: LoopRegisters,
        min: u32,
        max: Option<u32>,
        greedy: bool,
        exit: usize,
    },
    /// Begins an iteration of a loop: clears the capture groups inside the loop.
    Enter {
        of: LoopRegisters,
        groups: std::ops::Range<usize>,
    },
    /// Ends an iteration of a loop. Continues at the operation [`RegexOp::Again`] of the loop, at the index `again`.
    Repeated {
        of: LoopRegisters,
        min: u32,
        again: usize,
    },
    /// A lookaround: the operations up to the next `Match` must match at this offset or, if `negated` is true, must not.
    Look {
        negated: bool,
        exit: usize,
    },
    Match,
}

/// The registers of a loop: the number of iterations so far, and the offset at which the last one began.
#[derive(Clone, Copy, Debug)]
struct LoopRegisters {
    count: usize,
    start: usize,
}

/// A compiled regular expression.
#[derive(Clone, Debug)]
pub struct CompiledPattern {
    ops: Vec<RegexOp>,
    /// For each operation, true if it reads the text backwards, as in a lookbehind.
    backwards: Vec<bool>,
    registers: usize,
    groups: usize,
}

/// The error for a program that would have more than [`OPS_MAX`] operations, and could then take more than 10 MB of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramTooLarge;

/// The error for a search that took too many steps or was interrupted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLong;

/// The start and end of each group in a match. Group 0 is the match itself.
pub type Captures = Vec<Option<(usize, usize)>>;

impl CompiledPattern {
    /// Compiles a valid pattern.
    ///
    /// # Errors
    ///
    /// Fails if the program would have more than [`OPS_MAX`] operations, because the pattern has too many loops that are written
    /// out.
    pub fn new(pattern: &str) -> Result<CompiledPattern, ProgramTooLarge> {
        let (tree, groups) = tree(pattern.as_bytes());
        let mut out =
            CompiledPattern { ops: Vec::new(), backwards: Vec::new(), registers: 2 * groups, groups };
        out.add(&SyntaxNode::Group(0, Box::new(tree)), false)?;
        out.push(RegexOp::Match, false)?;
        Ok(out)
    }

    /// Returns the number of operations of the program.
    #[expect(clippy::len_without_is_empty, reason = "no program is empty")]
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Finds the first match at or after `from`. Sets `steps` to the number of steps taken.
    ///
    /// # Errors
    ///
    /// Fails if the search takes too many steps or is interrupted.
    pub fn find(
        &self,
        text: &[u8],
        from: usize,
        steps: &mut u64,
        interrupt: &Interrupt,
    ) -> Result<Option<Captures>, TooLong> {
        let registers = vec![NONE; self.registers];
        let mut search =
            RegexSearch { pattern: self, text, registers, undo: Vec::new(), steps: 0, interrupt };
        for start in from..=text.len() {
            let end = search.run(0, start);
            *steps = search.steps;
            if end?.is_some() {
                let group = |group: usize| (search.registers[2 * group], search.registers[2 * group + 1]);
                let found = (0..self.groups).map(group);
                return Ok(Some(found.map(|found| Some(found).filter(|found| found.1 != NONE)).collect()));
            }
        }
        Ok(None)
    }

    fn push(&mut self, op: RegexOp, backwards: bool) -> Result<usize, ProgramTooLarge> {
        if self.ops.len() == OPS_MAX {
            return Err(ProgramTooLarge);
        }
        self.ops.push(op);
        self.backwards.push(backwards);
        Ok(self.ops.len() - 1)
    }

    fn add(&mut self, node: &SyntaxNode, backwards: bool) -> Result<(), ProgramTooLarge> {
        match node {
            SyntaxNode::Set(bytes) => _ = self.push(RegexOp::Set(*bytes), backwards)?,
            SyntaxNode::Border { end, lines } => {
                self.push(RegexOp::Border { end: *end, lines: *lines }, backwards)?;
            }
            SyntaxNode::Word { within } => _ = self.push(RegexOp::Word { within: *within }, backwards)?,
            SyntaxNode::Back { groups, fold } => {
                self.push(RegexOp::Back { groups: groups.clone(), fold: *fold }, backwards)?;
            }
            SyntaxNode::Sequence(all) if backwards => {
                all.iter().rev().try_for_each(|node| self.add(node, true))?;
            }
            SyntaxNode::Sequence(all) => all.iter().try_for_each(|node| self.add(node, false))?,
            SyntaxNode::Either(all) => self.either(all, backwards)?,
            SyntaxNode::Group(number, of) => {
                let marks = [2 * number, 2 * number + 1];
                self.push(RegexOp::Mark(marks[usize::from(backwards)]), backwards)?;
                self.add(of, backwards)?;
                self.push(RegexOp::Mark(marks[usize::from(!backwards)]), backwards)?;
            }
            SyntaxNode::Repeat { of, min: 0, max, greedy, groups }
                if groups.is_empty() && takes_one(of) && max.is_none_or(|max| max <= PLAIN_MAX) =>
            {
                self.plain_repeat(of, *max, *greedy, backwards)?;
            }
            SyntaxNode::Repeat { of, min, max, greedy, groups } => {
                let own = LoopRegisters { count: self.registers, start: self.registers + 1 };
                self.registers += 2;
                self.push(RegexOp::Begin(own), backwards)?;
                let (min, max, greedy) = (*min, *max, *greedy);
                let again = self.push(RegexOp::Again { of: own, min, max, greedy, exit: 0 }, backwards)?;
                self.push(RegexOp::Enter { of: own, groups: groups.clone() }, backwards)?;
                self.add(of, backwards)?;
                self.push(RegexOp::Repeated { of: own, min, again }, backwards)?;
                let exit = self.ops.len();
                self.ops[again] = RegexOp::Again { of: own, min, max, greedy, exit };
            }
            SyntaxNode::Look { behind, negated, of } => {
                let look = self.push(RegexOp::Match, backwards)?;
                self.add(of, *behind)?;
                self.push(RegexOp::Match, *behind)?;
                self.ops[look] = RegexOp::Look { negated: *negated, exit: self.ops.len() };
            }
        }
        Ok(())
    }

    fn either(&mut self, all: &[SyntaxNode], backwards: bool) -> Result<(), ProgramTooLarge> {
        let Some((last, others)) = all.split_last() else { return Ok(()) };
        let mut ends = Vec::new();
        for node in others {
            let split = self.push(RegexOp::Match, backwards)?;
            self.add(node, backwards)?;
            ends.push(self.push(RegexOp::Match, backwards)?);
            self.ops[split] = RegexOp::Split(split + 1, self.ops.len());
        }
        self.add(last, backwards)?;
        for end in ends {
            self.ops[end] = RegexOp::Jump(self.ops.len());
        }
        Ok(())
    }

    /// Compiles `x*` or `x{0,max}` for an `x` that matches one byte. Such a loop needs no registers: `x*` does not count its
    /// iterations, and `x{0,max}` is written out. Leaving out one `x` also leaves out all later ones, as in `(x(x)?)?`. With `x?x?`
    /// instead, a failing search would try every subset of the `x`s.
    fn plain_repeat(
        &mut self,
        of: &SyntaxNode,
        max: Option<u32>,
        greedy: bool,
        backwards: bool,
    ) -> Result<(), ProgramTooLarge> {
        let mut splits = Vec::new();
        for _ in 0..max.unwrap_or(1) {
            splits.push(self.push(RegexOp::Match, backwards)?);
            self.add(of, backwards)?;
        }
        if max.is_none() {
            self.push(RegexOp::Jump(splits[0]), backwards)?;
        }
        let exit = self.ops.len();
        for split in splits {
            let body = split + 1;
            self.ops[split] = if greedy { RegexOp::Split(body, exit) } else { RegexOp::Split(exit, body) };
        }
        Ok(())
    }
}

fn takes_one(node: &SyntaxNode) -> bool {
    matches!(node, SyntaxNode::Set(_))
}

/// An action to carry out when the search backtracks.
enum Undo {
    Write { register: usize, value: usize },
    Try { op: usize, at: usize },
}

struct RegexSearch<'p> {
    pattern: &'p CompiledPattern,
    text: &'p [u8],
    registers: Vec<usize>,
    undo: Vec<Undo>,
    steps: u64,
    interrupt: &'p Interrupt,
}

impl RegexSearch<'_> {
    /// Runs the program from the operation `op` to the next `Match`, and returns the offset in the text at which the match ends.
    /// Without a match, all register writes are undone.
    fn run(&mut self, op: usize, at: usize) -> Result<Option<usize>, TooLong> {
        let base = self.undo.len();
        let mut next = Some((op, at));
        loop {
            let Some((op, at)) = next.take().or_else(|| self.back(base)) else { return Ok(None) };
            self.steps += 1;
            if self.steps > STEPS_MAX || self.undo.len() > UNDONE_MAX {
                return Err(TooLong);
            }
            if self.steps.is_multiple_of(STEPS_A_LOOK) && self.interrupt.is_set() {
                return Err(TooLong);
            }
            if matches!(self.pattern.ops[op], RegexOp::Match) {
                return Ok(Some(at));
            }
            next = self.step(op, at)?;
        }
    }

    /// Undoes register writes until it finds an untried alternative, and returns its operation and offset.
    fn back(&mut self, base: usize) -> Option<(usize, usize)> {
        while self.undo.len() > base {
            match self.undo.pop()? {
                Undo::Write { register, value } => self.registers[register] = value,
                Undo::Try { op, at } => return Some((op, at)),
            }
        }
        None
    }

    fn write(&mut self, register: usize, value: usize) {
        let value = std::mem::replace(&mut self.registers[register], value);
        self.undo.push(Undo::Write { register, value });
    }

    fn otherwise(&mut self, op: usize, at: usize) {
        self.undo.push(Undo::Try { op, at });
    }

    /// Runs one operation. Returns the next operation and offset, or `None` if the operation does not match.
    fn step(&mut self, op: usize, at: usize) -> Result<Option<(usize, usize)>, TooLong> {
        let pattern = self.pattern;
        let on = Some((op + 1, at));
        let backwards = pattern.backwards[op];
        Ok(match &pattern.ops[op] {
            RegexOp::Set(bytes) => {
                let next = if backwards { at.checked_sub(1) } else { Some(at + 1) };
                let byte = if backwards { at.checked_sub(1) } else { Some(at) };
                let fits =
                    byte.and_then(|byte| self.text.get(byte)).is_some_and(|&byte| bytes.contains(byte));
                next.filter(|_| fits).map(|next| (op + 1, next))
            }
            RegexOp::Border { end, lines } => on.filter(|_| self.at_border(*end, *lines, at)),
            RegexOp::Word { within } => {
                let is_word = |place: Option<usize>| {
                    place.and_then(|at| self.text.get(at)).is_some_and(|&byte| is_word(byte))
                };
                on.filter(|_| (is_word(at.checked_sub(1)) == is_word(Some(at))) == *within)
            }
            RegexOp::Back { groups, fold } => self.again(groups, *fold, at, backwards).map(|at| (op + 1, at)),
            RegexOp::Mark(register) => {
                self.write(*register, at);
                on
            }
            RegexOp::Split(first, second) => {
                self.otherwise(*second, at);
                Some((*first, at))
            }
            RegexOp::Jump(to) => Some((*to, at)),
            RegexOp::Begin(of) => {
                self.write(of.count, 0);
                on
            }
            RegexOp::Again { of, min, max, greedy, exit } => {
                let count = self.registers[of.count];
                if count < *min as usize {
                    on
                } else if max.is_some_and(|max| count >= max as usize) {
                    Some((*exit, at))
                } else if *greedy {
                    self.otherwise(*exit, at);
                    on
                } else {
                    self.otherwise(op + 1, at);
                    Some((*exit, at))
                }
            }
            RegexOp::Enter { of, groups } => {
                self.write(of.count, self.registers[of.count] + 1);
                self.write(of.start, at);
                for register in 2 * groups.start..2 * groups.end {
                    self.write(register, NONE);
                }
                on
            }
            RegexOp::Repeated { of, min, again } => {
                let is_empty = self.registers[of.start] == at && self.registers[of.count] > *min as usize;
                (!is_empty).then_some((*again, at))
            }
            RegexOp::Look { negated, exit } => {
                let base = self.undo.len();
                let matches = self.run(op + 1, at)?.is_some();
                if matches && *negated {
                    while self.back(base).is_some() {}
                } else if matches {
                    self.keep_writes(base);
                }
                (matches != *negated).then_some((*exit, at))
            }
            RegexOp::Match => None,
        })
    }

    /// Drops the untried alternatives inside a lookaround that matched. Its writes to registers stay on the stack, since they may
    /// have to be undone later.
    fn keep_writes(&mut self, base: usize) {
        let inside = self.undo.split_off(base);
        self.undo.extend(inside.into_iter().filter(|undo| matches!(undo, Undo::Write { .. })));
    }

    fn at_border(&self, end: bool, lines: bool, at: usize) -> bool {
        let is_end = |byte: Option<&u8>| byte.is_some_and(|&byte| is_line_end(byte));
        match end {
            true => at == self.text.len() || lines && is_end(self.text.get(at)),
            false => at == 0 || lines && is_end(self.text.get(at - 1)),
        }
    }

    /// Matches a back reference at the offset `at`: the text there must be the text that the first of `groups` with a match has
    /// captured. Returns the offset at which the text ends. If none of the groups has matched, matches the empty text.
    fn again(&mut self, groups: &[usize], fold: bool, at: usize, backwards: bool) -> Option<usize> {
        let set = groups.iter().map(|group| (self.registers[2 * group], self.registers[2 * group + 1]));
        let Some((from, to)) = set.into_iter().find(|set| set.0 != NONE && set.1 != NONE) else {
            return Some(at);
        };
        let length = to - from;
        self.steps += length as u64;
        let (start, next) = match backwards {
            true => (at.checked_sub(length)?, at.checked_sub(length)?),
            false => (at, at + length),
        };
        let (one, other) = (&self.text[from..to], self.text.get(start..start + length)?);
        let same = |(a, b): (&u8, &u8)| a == b || fold && folded((*a).into()) == folded((*b).into());
        one.iter().zip(other).all(same).then_some(next)
    }
}
