//! Parses the queries in tables of results, if the evaluator supports all their constructs.

use shakmaty::{Bitboard, Color, Square};

use super::query::{Amount, Atom, Body, Chain, Dash, Designator, Filter, Focus, Query};

const WORDS: [&str; 8] = ["true", "check", "mate", "initial", "terminal", "primary", "secondary", "mainline"];
const TRANSFORMS: [&str; 6] = ["flipcolor", "flipvertical", "fliphorizontal", "flip", "rotate90", "shift"];
/// Keywords that affect only comments, not values.
const QUIET: [&str; 4] = ["quiet", "keepallbest", "piecepath", "verbose"];

/// Parses a query. Returns `None` if it contains a construct that the evaluator does not support.
pub fn body(text: &str) -> Option<Body> {
    let mut reader = Reader { rest: text.trim() };
    let variations = reader.sign("cql(variations)");
    let word = TRANSFORMS.into_iter().find(|word| reader.word(word));
    let transform = word.map(|word| (word, reader.word("count")));
    let braced = reader.sign("{");
    let query = reader.query()?;
    if braced && !reader.sign("}") {
        return None;
    }
    reader.space();
    reader.rest.is_empty().then_some(Body { variations, transform, before: vec![], query })
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Reads a sign, which blanks may precede.
    fn sign(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(sign);
        rest.map(|rest| self.rest = rest).is_some()
    }

    /// Reads a whole word.
    fn word(&mut self, word: &str) -> bool {
        match self.rest.trim_start().strip_prefix(word) {
            Some(rest) if !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn number(&mut self) -> Option<i32> {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..end].parse().ok()?;
        self.rest = &rest[end..];
        Some(number)
    }

    /// Calls `read`. If it fails, restores the place in the text at which it began.
    fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let before = self.rest;
        let read = read(self);
        if read.is_none() {
            self.rest = before;
        }
        read
    }

    fn query(&mut self) -> Option<Query> {
        let path = self.word("path");
        if !path && !self.word("line") {
            return None;
        }
        let mut query = Query {
            path,
            range: None,
            back: false,
            single_color: false,
            focus: None,
            max: None,
            nestban: false,
            first_match: false,
            sibling: None,
            last_position: false,
            words: vec![],
            chain: Chain::Sequence(vec![]),
        };
        if let Some(low) = self.number() {
            query.range = Some((low, self.number().unwrap_or(low)));
        }
        loop {
            if self.word("focus") {
                let capture = self.word("capture");
                self.space();
                query.focus = Some(Focus::Pieces { capture, of: self.designator()? });
            } else if self.word("singlecolor") {
                query.single_color = !path;
                query.focus = if path { Some(Focus::SingleColor) } else { None };
            } else if self.word("max") {
                query.max = Some(self.amount()?);
            } else if self.word("nestban") {
                query.nestban = true;
            } else if self.word("firstmatch") {
                query.first_match = true;
            } else if self.word("lastposition") {
                query.last_position = true;
            } else if let Some(word) = ["primary", "secondary"].into_iter().find(|word| self.word(word)) {
                query.sibling = Some(word);
            } else if !QUIET.iter().any(|word| self.word(word)) {
                break;
            }
        }
        query.chain = match path {
            true => Chain::Sequence(self.path_parts()?),
            false => {
                query.back = self.rest.trim_start().starts_with("<--");
                let arrow = if query.back { "<--" } else { "-->" };
                self.sign(arrow).then_some(())?;
                self.line_chain(arrow)?
            }
        };
        Some(query)
    }

    fn amount(&mut self) -> Option<Amount> {
        if self.word("ply") {
            return Some(Amount::Ply);
        }
        if self.word("pathcount") {
            return Some(Amount::PathCount);
        }
        let power = self.word("power");
        if !power && !self.sign("#") {
            return None;
        }
        self.space();
        let of = self.designator()?;
        Some(if power { Amount::Power(of) } else { Amount::Count(of) })
    }

    fn line_chain(&mut self, arrow: &str) -> Option<Chain> {
        let mut all = vec![self.line_part(arrow)?];
        while self.sign(arrow) {
            all.push(self.line_part(arrow)?);
        }
        Some(Chain::Sequence(all))
    }

    fn line_part(&mut self, arrow: &str) -> Option<Chain> {
        let mut chain = if self.sign("(") {
            let chain = self.line_chain(arrow)?;
            self.sign(")").then_some(())?;
            chain
        } else {
            Chain::One(Atom::Position(self.filter()?))
        };
        while let Some((min, max)) = self.suffix() {
            chain = Chain::Repeat { of: Box::new(chain), min, max, suffix: String::new() };
        }
        Some(chain)
    }

    fn path_parts(&mut self) -> Option<Vec<Chain>> {
        let mut out = Vec::new();
        while !self.rest.trim_start().starts_with([')', '}']) && !self.rest.trim().is_empty() {
            let part = if self.sign("(") {
                let all = self.path_parts()?;
                self.sign(")").then_some(())?;
                Chain::Sequence(all)
            } else if let Some(dash) = self.attempt(Self::dash) {
                Chain::One(Atom::Move(dash))
            } else {
                out.push(Chain::One(Atom::Test(self.filter()?)));
                continue;
            };
            out.push(match self.suffix() {
                Some((min, max)) => Chain::Repeat { of: Box::new(part), min, max, suffix: String::new() },
                None => part,
            });
        }
        Some(out)
    }

    fn dash(&mut self) -> Option<Dash> {
        self.space();
        let from = self.attempt(Self::designator);
        let capture = self.rest.starts_with("[x]");
        self.rest = self.rest.strip_prefix(if capture { "[x]" } else { "--" })?;
        let to = self.attempt(Self::designator);
        let promotion = match self.rest.strip_prefix('=') {
            Some(rest) => {
                self.rest = rest.get(1..)?;
                rest.chars().next().filter(|letter| letter.is_ascii_alphabetic())
            }
            None => None,
        };
        let mut targets = Vec::new();
        loop {
            let rest = self.rest.trim_start();
            let ends = rest.is_empty() || rest.starts_with(['(', ')', '}', '*', '+', '?']);
            let mut ahead = Reader { rest };
            let is_next = ahead.attempt(Reader::dash).is_some() || ahead.suffix().is_some();
            if ends || is_next {
                break;
            }
            targets.push(self.filter()?);
        }
        Some(Dash { capture, from, to, promotion, targets })
    }

    fn suffix(&mut self) -> Option<(usize, Option<usize>)> {
        for (sign, min, max) in [("*", 0, None), ("+", 1, None), ("?", 0, Some(1))] {
            if self.sign(sign) {
                return Some((min, max));
            }
        }
        self.attempt(|reader| {
            reader.sign("{").then_some(())?;
            let low = reader.number().map(|low| low as usize);
            let high = match reader.sign(",") {
                true => reader.number().map(|high| high as usize),
                false => Some(low?),
            };
            reader.sign("}").then_some((low.unwrap_or(0), high))
        })
    }

    fn filter(&mut self) -> Option<Filter> {
        let first = self.primary()?;
        if self.word("or") {
            return Some(Filter::Or(Box::new(first), Box::new(self.filter()?)));
        }
        Some(first)
    }

    fn primary(&mut self) -> Option<Filter> {
        for (open, close) in [("{", "}"), ("(", ")")] {
            if self.rest.trim_start().starts_with(open) {
                self.sign(open);
                let mut all = vec![self.filter()?];
                while !self.sign(close) {
                    all.push(self.filter()?);
                }
                // A list of filters matches if none of them fails, so it is represented as `not (not F or not G)`.
                let not = |of| Filter::Not(Box::new(of));
                let either = |a, b| Filter::Or(Box::new(a), Box::new(b));
                return match all.len() {
                    1 => all.pop(),
                    _ => all.into_iter().map(not).reduce(either).map(not),
                };
            }
        }
        if self.word("not") {
            return Some(Filter::Not(Box::new(self.primary()?)));
        }
        if self.word("move") {
            if self.word("secondary") {
                return Some(Filter::MoveSecondary);
            }
            let word = ["from", "to", "capture"].into_iter().find(|word| self.word(word))?;
            self.space();
            let of = self.designator()?;
            let rest = self.rest.trim_start();
            return (!["from", "to", "capture"].iter().any(|word| rest.starts_with(word)))
                .then_some(Filter::Move(word, of));
        }
        if let Some(word) = WORDS.into_iter().find(|word| self.word(word)) {
            return Some(Filter::Word(word));
        }
        for (word, color) in [("wtm", Color::White), ("btm", Color::Black)] {
            if self.word(word) {
                return Some(Filter::ToMove(color));
            }
        }
        if ["path", "line"].iter().any(|word| self.rest.trim_start().starts_with(word)) {
            return Some(Filter::Chain(Box::new(self.query()?)));
        }
        self.space();
        if let Some(rest) = self.rest.strip_prefix('.') {
            self.rest = rest;
            return Some(Filter::Word("true"));
        }
        self.attempt(Self::designator).map(Filter::Holds)
    }

    fn designator(&mut self) -> Option<Designator> {
        const LETTERS: &str = "KQRBNPkqrbnpAa_";
        let is_letter = |c: char| LETTERS.contains(c);
        let mut rest = self.rest;
        let mut pieces: Vec<char> = Vec::new();
        if let Some(list) = rest.strip_prefix('[')
            && let Some((letters, after)) = list.split_once(']')
            && !letters.is_empty()
            && letters.chars().all(is_letter)
        {
            (pieces, rest) = (letters.chars().collect(), after);
        } else if let Some(first) = rest.chars().next().filter(|&c| is_letter(c)) {
            // A file letter followed by a rank is part of a square, not a piece.
            let second = rest[1..].chars().next();
            if !(('a'..='h').contains(&first)
                && second.is_some_and(|c| c.is_ascii_digit() || c == '-' && !rest[1..].starts_with("--")))
            {
                (pieces, rest) = (vec![first], &rest[1..]);
            }
        }
        let mut squares = Bitboard::EMPTY;
        if let Some(list) = rest.strip_prefix('[')
            && !rest.starts_with("[x]")
        {
            let (names, after) = list.split_once(']')?;
            for name in names.split(',') {
                squares |= name.parse::<Square>().ok()?;
            }
            rest = after;
        } else if let Some((of_name, after)) = square_range(rest) {
            (squares, rest) = (of_name, after);
        } else if pieces.is_empty() {
            return None;
        } else {
            squares = Bitboard::FULL;
        }
        let ends =
            rest.starts_with("[x]") || !rest.starts_with(|c: char| c.is_alphanumeric() || "_$[]".contains(c));
        pieces.sort_unstable();
        self.rest = rest;
        ends.then_some(Designator { pieces, squares })
    }
}

/// Splits off a range of squares, such as `e4` or `a-c1-8`, from the beginning of a text.
fn square_range(text: &str) -> Option<(Bitboard, &str)> {
    let axis = |text: &str, first: char| -> Option<(u32, u32, usize)> {
        let mut letters = text.chars();
        let at = |c: char| (c as u32).checked_sub(first as u32).filter(|&index| index < 8);
        let low = at(letters.next()?)?;
        match (letters.next(), letters.next().and_then(at)) {
            (Some('-'), Some(high)) => Some((low, high, 3)),
            _ => Some((low, low, 1)),
        }
    };
    let (file, file_end, read) = axis(text, 'a')?;
    let text = &text[read..];
    let (rank, rank_end, read) = axis(text, '1')?;
    let squares = (rank..=rank_end).flat_map(|y| (file..=file_end).map(move |x| Square::new(8 * y + x)));
    Some((squares.collect(), &text[read..]))
}
