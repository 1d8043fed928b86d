//! Parses ECMAScript regular expressions into syntax trees: escapes, character classes, groups, flags, repetitions, back
//! references. The patterns are valid, because the parser of queries refuses invalid ones.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    pub(super) fn from_test(test: impl Fn(u8) -> bool) -> ByteSet {
        let mut out = ByteSet::default();
        for byte in (0..=u8::MAX).filter(|&byte| test(byte)) {
            out.0[usize::from(byte / 64)] |= 1 << (byte % 64);
        }
        out
    }

    pub(super) fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte / 64)] >> (byte % 64) & 1 != 0
    }
}

#[derive(Clone, Debug)]
pub(super) enum SyntaxNode {
    Set(ByteSet),
    Sequence(Vec<SyntaxNode>),
    /// Alternatives, which are tried in order. The first one that leads to a match counts.
    Either(Vec<SyntaxNode>),
    Group(usize, Box<SyntaxNode>),
    Repeat {
        of: Box<SyntaxNode>,
        min: u32,
        max: Option<u32>,
        greedy: bool,
        /// The capture groups inside the repetition. They are cleared before each iteration.
        groups: Range<usize>,
    },
    /// `^` or `$`. If `lines` is true, they also match at the start and end of each line.
    Border {
        end: bool,
        lines: bool,
    },
    /// `\b`, or `\B` if `within` is true.
    Word {
        within: bool,
    },
    Look {
        behind: bool,
        negated: bool,
        of: Box<SyntaxNode>,
    },
    /// A back reference to the text of one of `groups`: the group with the number in `\1`, or all groups with the name in
    /// `\k<name>`.
    Back {
        groups: Arc<[usize]>,
        fold: bool,
    },
}

/// The flags that groups such as `(?i:...)` set and clear.
#[derive(Clone, Copy, Default)]
struct Flags {
    fold: bool,
    lines: bool,
    dot_all: bool,
}

/// Returns the syntax tree of a pattern, and the number of its capture groups. Group 0 is the whole pattern.
pub(super) fn tree(pattern: &[u8]) -> (SyntaxNode, usize) {
    let (groups_all, names) = names(pattern);
    let mut reader = PatternReader { pattern, at: 0, groups: 1, groups_all, names, flags: Flags::default() };
    let tree = reader.disjunction();
    (tree, reader.groups)
}

/// Returns the number of capture groups in a pattern and, for each name, the numbers of the groups with this name.
fn names(pattern: &[u8]) -> (usize, BTreeMap<Vec<u8>, Arc<[usize]>>) {
    let (mut names, mut groups) = (BTreeMap::<Vec<u8>, Vec<usize>>::new(), 1);
    let (mut at, mut in_class) = (0, false);
    while at < pattern.len() {
        match pattern[at] {
            b'\\' => at += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'(' if !in_class && pattern.get(at + 1) != Some(&b'?') => groups += 1,
            b'(' if !in_class => {
                if let Some(rest) = pattern[at..].strip_prefix(b"(?<")
                    && !rest.starts_with(b"=")
                    && !rest.starts_with(b"!")
                {
                    let name = rest.split(|&byte| byte == b'>').next().unwrap_or_default();
                    names.entry(name.to_vec()).or_default().push(groups);
                    groups += 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    (groups, names.into_iter().map(|(name, groups)| (name, groups.into())).collect())
}

struct PatternReader<'p> {
    pattern: &'p [u8],
    at: usize,
    groups: usize,
    /// The number of capture groups, including those that have not been read yet.
    groups_all: usize,
    /// For each name, the numbers of the capture groups with this name.
    names: BTreeMap<Vec<u8>, Arc<[usize]>>,
    flags: Flags,
}

impl PatternReader<'_> {
    fn peek(&self) -> Option<u8> {
        self.pattern.get(self.at).copied()
    }

    fn eat(&mut self, text: &[u8]) -> bool {
        let found = self.pattern[self.at..].starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn disjunction(&mut self) -> SyntaxNode {
        let mut all = vec![self.sequence()];
        while self.eat(b"|") {
            all.push(self.sequence());
        }
        if all.len() == 1 { all.remove(0) } else { SyntaxNode::Either(all) }
    }

    fn sequence(&mut self) -> SyntaxNode {
        let mut all = Vec::new();
        while !matches!(self.peek(), None | Some(b'|' | b')')) {
            let first = self.groups;
            let term = self.term();
            all.push(self.repeated(term, first));
        }
        SyntaxNode::Sequence(all)
    }

    fn repeated(&mut self, of: SyntaxNode, first: usize) -> SyntaxNode {
        let signs = [(&b"*"[..], (0, None)), (b"+", (1, None)), (b"?", (0, Some(1)))];
        let sign = signs.into_iter().find_map(|(sign, counts)| self.eat(sign).then_some(counts));
        let Some((min, max)) = sign.or_else(|| self.counts()) else { return of };
        let greedy = !self.eat(b"?");
        SyntaxNode::Repeat { of: Box::new(of), min, max, greedy, groups: first..self.groups }
    }

    /// Reads `{2}`, `{2,}` or `{2,3}`. Returns `None` at any other brace, which is an ordinary character.
    fn counts(&mut self) -> Option<(u32, Option<u32>)> {
        let start = self.at;
        let counts = self.eat(b"{").then(|| self.counts_inside()).flatten();
        if counts.is_none() {
            self.at = start;
        }
        counts
    }

    fn counts_inside(&mut self) -> Option<(u32, Option<u32>)> {
        let min = self.number()?;
        let max = if !self.eat(b",") {
            Some(min)
        } else if self.peek() == Some(b'}') {
            None
        } else {
            Some(self.number()?)
        };
        self.eat(b"}").then_some((min, max))
    }

    fn number(&mut self) -> Option<u32> {
        let start = self.at;
        let mut number = 0u32;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            number = number.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
            self.at += 1;
        }
        (self.at > start).then_some(number)
    }

    fn term(&mut self) -> SyntaxNode {
        let Flags { lines, dot_all, .. } = self.flags;
        let looks = [
            (&b"(?="[..], false, false),
            (b"(?!", false, true),
            (b"(?<=", true, false),
            (b"(?<!", true, true),
        ];
        if let Some((_, behind, negated)) = looks.into_iter().find(|(sign, ..)| self.eat(sign)) {
            return SyntaxNode::Look { behind, negated, of: Box::new(self.closed()) };
        }
        if self.eat(b"(?<") {
            while !matches!(self.peek(), None | Some(b'>')) {
                self.at += 1;
            }
            self.at += 1;
            return self.group();
        }
        if self.eat(b"(?") {
            return self.modified();
        }
        if self.eat(b"(") {
            return self.group();
        }
        match self.pattern[self.at] {
            b'^' | b'$' => {
                self.at += 1;
                SyntaxNode::Border { end: self.pattern[self.at - 1] == b'$', lines }
            }
            b'.' => {
                self.at += 1;
                SyntaxNode::Set(ByteSet::from_test(|byte| dot_all || !is_line_end(byte)))
            }
            b'[' => {
                self.at += 1;
                self.class()
            }
            b'\\' => self.escape(),
            letter => {
                self.at += 1;
                self.letter(letter.into())
            }
        }
    }

    fn group(&mut self) -> SyntaxNode {
        let number = self.groups;
        self.groups += 1;
        SyntaxNode::Group(number, Box::new(self.closed()))
    }

    /// Reads the rest of a group, including its closing parenthesis.
    fn closed(&mut self) -> SyntaxNode {
        let flags = self.flags;
        let of = self.disjunction();
        self.flags = flags;
        self.at += 1;
        of
    }

    /// Reads the rest of a group such as `(?:...)`, `(?i:...)` or `(?i-s:...)`, starting after the question mark.
    fn modified(&mut self) -> SyntaxNode {
        let (flags, mut on) = (self.flags, true);
        while let Some(flag) = self.peek() {
            self.at += 1;
            match flag {
                b'i' => self.flags.fold = on,
                b'm' => self.flags.lines = on,
                b's' => self.flags.dot_all = on,
                b'-' => on = false,
                _ => break,
            }
        }
        let of = self.closed();
        self.flags = flags;
        of
    }

    fn letter(&self, letter: u32) -> SyntaxNode {
        SyntaxNode::Set(self.such(&[(letter, letter)], false))
    }

    /// Returns the set of bytes in `ranges` or, if `negated` is true, of all other bytes.
    fn such(&self, ranges: &[(u32, u32)], negated: bool) -> ByteSet {
        // If case is ignored, no character above this code point equals a byte, so ranges are tested only up to it.
        const FOLDED_MAX: u32 = 0x3ff;
        let has = |byte: u32| ranges.iter().any(|range| (range.0..=range.1).contains(&byte));
        if !self.flags.fold {
            return ByteSet::from_test(|byte| has(byte.into()) != negated);
        }
        let folded: Vec<u32> = (0..=FOLDED_MAX).filter(|&letter| has(letter)).map(folded).collect();
        ByteSet::from_test(|byte| folded.contains(&self::folded(byte.into())) != negated)
    }

    fn escape(&mut self) -> SyntaxNode {
        if self.eat(b"\\b") || self.eat(b"\\B") {
            return SyntaxNode::Word { within: self.pattern[self.at - 1] == b'B' };
        }
        self.at += 1;
        if let Some(back) = self.back() {
            return back;
        }
        if let Some(ranges) = self.class_escape() {
            return SyntaxNode::Set(self.such(&ranges, false));
        }
        let letter = self.character(false);
        self.letter(letter)
    }

    /// Reads a back reference such as `\1` or `\k<name>`, starting after the backslash.
    fn back(&mut self) -> Option<SyntaxNode> {
        let (start, fold) = (self.at, self.flags.fold);
        if !self.names.is_empty() && self.eat(b"k<") {
            let rest = &self.pattern[self.at..];
            let name = rest.split(|&byte| byte == b'>').next().unwrap_or_default();
            self.at += name.len() + 1;
            let groups = self.names.get(name).cloned().unwrap_or_default();
            return Some(SyntaxNode::Back { groups, fold });
        }
        let number = if self.peek() == Some(b'0') { None } else { self.number() };
        match number.map(|number| number as usize).filter(|&number| number < self.groups_all) {
            Some(group) => Some(SyntaxNode::Back { groups: Arc::new([group]), fold }),
            None => {
                self.at = start;
                None
            }
        }
    }

    /// Reads a class such as `\d`, starting after the backslash.
    fn class_escape(&mut self) -> Option<Vec<(u32, u32)>> {
        let such: fn(u8) -> bool = match self.peek()?.to_ascii_lowercase() {
            b'd' => |byte| byte.is_ascii_digit(),
            b'w' => is_word,
            b's' => |byte| matches!(byte, 9..=13 | b' ' | 0xa0),
            _ => return None,
        };
        let negated = self.pattern[self.at].is_ascii_uppercase();
        self.at += 1;
        let bytes = (0..=u8::MAX).filter(|&byte| such(byte) != negated);
        Some(bytes.map(|byte| (byte.into(), byte.into())).collect())
    }

    /// Reads an escape, starting after the backslash, and returns the character that it represents.
    fn character(&mut self, in_class: bool) -> u32 {
        let Some(letter) = self.peek() else { return b'\\'.into() };
        self.at += 1;
        match letter {
            b'b' if in_class => 8,
            b't' => 9,
            b'n' => 10,
            b'v' => 11,
            b'f' => 12,
            b'r' => 13,
            b'c' => match self.peek() {
                Some(control) if control.is_ascii_alphabetic() || in_class && is_word(control) => {
                    self.at += 1;
                    u32::from(control % 32)
                }
                _ => {
                    self.at -= 1;
                    b'\\'.into()
                }
            },
            b'x' => self.hexadecimal(2).unwrap_or(letter.into()),
            b'u' => self.hexadecimal(4).unwrap_or(letter.into()),
            b'0'..=b'7' => {
                self.at -= 1;
                self.octal()
            }
            _ => letter.into(),
        }
    }

    fn hexadecimal(&mut self, digits: usize) -> Option<u32> {
        let text = self.pattern.get(self.at..self.at + digits)?;
        let text =
            str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        self.at += digits;
        u32::from_str_radix(text, 16).ok()
    }

    /// Reads up to three octal digits whose value fits in a byte.
    fn octal(&mut self) -> u32 {
        let mut number = 0;
        while let Some(digit @ b'0'..=b'7') = self.peek()
            && number < 32
        {
            number = number * 8 + u32::from(digit - b'0');
            self.at += 1;
        }
        number
    }

    /// Reads a class such as `[a-z]`, starting after its opening bracket.
    fn class(&mut self) -> SyntaxNode {
        let negated = self.eat(b"^");
        let mut ranges = Vec::new();
        while !self.eat(b"]") {
            let first = self.class_atom();
            let is_range = self.peek() == Some(b'-') && self.pattern.get(self.at + 1) != Some(&b']');
            if !is_range {
                ranges.extend(first);
                continue;
            }
            self.at += 1;
            let last = self.class_atom();
            match (&first[..], &last[..]) {
                (&[(low, same)], &[(high, also)]) if low == same && high == also => ranges.push((low, high)),
                _ => {
                    ranges.push((b'-'.into(), b'-'.into()));
                    ranges.extend(first.into_iter().chain(last));
                }
            }
        }
        SyntaxNode::Set(self.such(&ranges, negated))
    }

    fn class_atom(&mut self) -> Vec<(u32, u32)> {
        let letter = match self.eat(b"\\") {
            true => match self.class_escape() {
                Some(ranges) => return ranges,
                None => self.character(true),
            },
            false => {
                self.at += 1;
                self.pattern.get(self.at - 1).copied().map_or(0, u32::from)
            }
        };
        vec![(letter, letter)]
    }
}

pub(super) fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the character that represents a letter in comparisons that ignore case.
pub(super) fn folded(letter: u32) -> u32 {
    let Some(own) = char::from_u32(letter) else { return letter };
    let mut upper = own.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(one), None) if letter < 128 || !one.is_ascii() => one.into(),
        _ => letter,
    }
}
