//! Reads the games of any text by the rules of `orbit_pgn`. The code is simple, and shares nothing with that crate's tokenizer.

use super::rules::{Rule, Rules};
use super::visit::{MovetextToken, VisitedGame};
use super::words::{self, WitnessWord};
use orbit_pgn::{Outcome, Tag};

const BOM: &[u8] = b"\xef\xbb\xbf";
const EVENT: &[u8] = b"[Event \"";

/// The section of a game that the scanner is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ScannerSection {
    /// Before the first game.
    Before,
    Tags,
    Moves,
    /// After the result.
    Done,
}

/// Reads the games of a text, each up to `game_bytes_max` bytes. For each game, records the rules that explain how it differs from
/// pgn-reader's reading.
pub(super) fn games(text: &[u8], game_bytes_max: usize) -> Vec<VisitedGame> {
    let mut scanner = Scanner {
        text,
        game_bytes_max,
        limit: game_bytes_max.min(text.len()),
        at: 0,
        section: ScannerSection::Before,
        blank: false,
        words: 0,
        depth: 0,
        opened: 0,
        inner: None,
        has_event: false,
        has_passed: false,
        rules: Rules::default(),
        games: Vec::new(),
    };
    while scanner.at < text.len() {
        scanner.step();
    }
    scanner.close();
    scanner.games
}

struct Scanner<'a> {
    text: &'a [u8],
    game_bytes_max: usize,
    /// The offset at which the current game is cut because it is too long, if it has not ended before.
    limit: usize,
    at: usize,
    section: ScannerSection,
    /// True if an empty line precedes the next token.
    blank: bool,
    /// The number of tokens of the main line so far.
    words: usize,
    depth: usize,
    /// The offset at which the outermost open side line begins.
    opened: usize,
    /// The last result in a side line, if no token and no new side line follows it.
    inner: Option<Outcome>,
    has_event: bool,
    /// True if text other than tag pairs was skipped between tag pairs. pgn-reader ends the tags of a game at such text.
    has_passed: bool,
    /// The reading rules that apply to the text since the last game. They are recorded with the next game.
    rules: Rules,
    games: Vec<VisitedGame>,
}

/// A tag pair on a line.
struct PlainPair {
    name: Vec<u8>,
    value: Vec<u8>,
    /// The place after the tag pair.
    next: usize,
    /// True if the tag pair is written exactly as the PGN standard requires.
    is_strict: bool,
    /// True if the value of the tag pair begins with a quotation mark.
    is_quoted: bool,
}

impl Scanner<'_> {
    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }

    fn line_end(&self, from: usize) -> usize {
        memchr::memchr2(b'\n', b'\r', &self.text[from..]).map_or(self.text.len(), |skip| from + skip)
    }

    /// Records a rule that explains a difference in the current game. If there is no game yet, records it for the next one.
    fn rule(&mut self, rule: Rule) {
        match self.games.last_mut() {
            Some(game) => game.rules.add(rule),
            None => self.rules.add(rule),
        }
    }

    fn push(&mut self, place: usize, token: MovetextToken) {
        if let Some(game) = self.games.last_mut() {
            game.tokens.push(token);
            game.places.push(place);
        }
    }

    fn step(&mut self) {
        self.blanks();
        if self.at >= self.limit && self.limit < self.text.len() {
            return self.cut();
        }
        let games = self.games.len();
        // pgn-reader reads text outside games as the movetext of a separate game.
        let is_outside = match self.section {
            ScannerSection::Before => true,
            ScannerSection::Done => self.blank,
            ScannerSection::Tags | ScannerSection::Moves => false,
        };
        let is_there = !self.rest().is_empty();
        let tags = self.tags();
        self.token();
        self.has_passed |= is_there && self.section == ScannerSection::Tags && self.tags() == tags;
        if is_outside && is_there && self.games.len() == games {
            self.rule(Rule::Outside);
        }
    }

    /// Returns the number of games plus the number of tag pairs in the last game. If this sum grows, the token that was just read
    /// was a tag pair.
    fn tags(&self) -> usize {
        self.games.len() + self.games.last().map_or(0, |game| game.tags.len())
    }

    /// Cuts a game that is too long, and skips the text up to the next line that begins with a tag pair.
    fn cut(&mut self) {
        self.close();
        if self.section != ScannerSection::Before {
            self.rule(Rule::TooLong);
            self.push(self.limit, MovetextToken::Unclosed);
        }
        self.section = ScannerSection::Before;
        self.blank = false;
        self.at = self.limit;
        while self.at < self.text.len() {
            let is_tag = self.rest().starts_with(b"[") && self.is_at_line_start(self.at);
            if is_tag && self.pair().is_some_and(|pair| pair.is_quoted) {
                break;
            }
            self.at += 1;
        }
        self.limit = self.at.saturating_add(self.game_bytes_max).min(self.text.len());
    }

    fn token(&mut self) {
        match self.rest() {
            [] => {}
            [b'{', ..] => self.comment(),
            [b'[', ..] => self.bracket(),
            [b';', ..] => self.at = self.line_end(self.at),
            [b'%', ..] if self.is_at_line_start(self.at) => {
                if self.text[..self.at].last().is_some_and(|&byte| is_blank(byte)) {
                    self.rule(Rule::Blanks);
                }
                self.at = self.line_end(self.at);
            }
            [b'(', ..] => {
                self.open();
                self.at += 1;
            }
            [b'}', ..] => {
                self.rule(Rule::Bracket);
                self.at += 1;
            }
            [close @ (b')' | b']'), ..] => {
                if *close == b']' {
                    self.rule(Rule::Bracket);
                }
                if self.section == ScannerSection::Moves {
                    self.push(self.at, MovetextToken::Close);
                }
                self.depth = self.depth.saturating_sub(1);
                self.at += 1;
            }
            [b'$', digits @ ..] => {
                self.at += 1 + digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
                if self.rest().first().is_some_and(|byte| !b" \t\r\n{}()!?$;.*".contains(byte)) {
                    self.rule(Rule::Glued);
                }
            }
            [b'*', ..] => self.result(self.at + 1, Outcome::Unknown),
            _ => self.word(),
        }
    }

    fn blanks(&mut self) {
        let mut lines = 0;
        loop {
            match self.rest() {
                [b'\r', b'\n', ..] => {
                    lines += 1;
                    self.at += 1;
                }
                [b'\n', ..] => lines += 1,
                [b'\r', ..] => {
                    lines += 1;
                    self.rule(Rule::Blanks);
                }
                [b' ' | b'\t', ..] => {}
                [byte, ..] if is_blank(*byte) => self.rule(Rule::Blanks),
                rest => match words::letters(&rest[..rest.len().min(4)]).first() {
                    Some(&(letter, bytes)) if words::is_wide_blank(letter) => {
                        self.rule(Rule::Blanks);
                        self.at += bytes - 1;
                    }
                    _ => break,
                },
            }
            self.at += 1;
        }
        self.blank |= lines >= 2;
        let is_movetext =
            self.section == ScannerSection::Moves || self.section == ScannerSection::Tags && self.has_passed;
        if lines >= 2 && is_movetext && !matches!(self.rest(), [] | [b'[', ..]) {
            self.rule(Rule::EmptyLine);
        }
    }

    /// Returns whether only blanks precede the offset `at` on its line.
    fn is_at_line_start(&self, at: usize) -> bool {
        let mut before = &self.text[..at];
        loop {
            before = match before {
                [] => return true,
                [rest @ .., last] if is_blank(*last) => rest,
                [.., last] if is_eol(*last) => return true,
                _ if before.ends_with(BOM) => &before[..before.len() - BOM.len()],
                _ => return false,
            };
        }
    }

    /// Returns whether a line that begins with `[Event "` starts at the offset `at`.
    fn is_event_line(&self, at: usize) -> bool {
        let before = self.text[..at].strip_suffix(BOM).unwrap_or(&self.text[..at]);
        self.text[at..].starts_with(EVENT) && before.last().is_none_or(|&byte| is_eol(byte))
    }

    fn begin(&mut self, at: usize, section: ScannerSection) {
        self.close();
        self.games.push(VisitedGame {
            start: at,
            rules: std::mem::take(&mut self.rules),
            ..VisitedGame::default()
        });
        self.section = section;
        self.limit = at.saturating_add(self.game_bytes_max).min(self.text.len());
        self.blank = false;
        (self.words, self.depth, self.inner) = (0, 0, None);
        (self.has_event, self.has_passed) = (false, false);
    }

    /// Ends the open side lines of the last game. Records a result inside a side line, if nothing follows it.
    fn close(&mut self) {
        if self.section == ScannerSection::Moves {
            if self.depth > 0 {
                self.rule(Rule::OpenSideLine);
                self.push(self.opened, MovetextToken::Unclosed);
            }
            if let Some(outcome) = self.inner.take() {
                self.rule(Rule::InnerResult);
                self.push(self.at, MovetextToken::Inner(outcome));
            }
        }
    }

    /// Skips a comment. An unclosed comment ends before the next line that begins with `[Event "`.
    fn comment(&mut self) {
        let open = self.at;
        let mut at = open + 1;
        if self.section == ScannerSection::Tags {
            self.section = ScannerSection::Moves;
        }
        loop {
            match self.text.get(at) {
                Some(b'}') => {
                    self.at = at + 1;
                    return;
                }
                Some(_) if at < self.limit && !self.is_event_line(at) => at += 1,
                _ => break,
            }
        }
        self.at = at;
        if self.section == ScannerSection::Before {
            self.begin(open, ScannerSection::Moves);
            self.at = at;
            if let Some(game) = self.games.last_mut() {
                game.broken = Some(Rule::OpenComment);
            }
        }
        self.rule(Rule::OpenComment);
        self.push(open, MovetextToken::Unclosed);
    }

    fn bracket(&mut self) {
        let at = self.at;
        let Some(pair) = self.pair() else { return self.annotation() };
        let is_cut = self.section == ScannerSection::Tags && self.cuts(&pair.name);
        if is_cut {
            self.rule(Rule::OpenTag);
        }
        let begins = match self.section {
            ScannerSection::Tags => is_cut || self.splits(&pair.name),
            _ => true,
        };
        if begins {
            let was = self.section;
            self.begin(at, ScannerSection::Tags);
            match was {
                ScannerSection::Tags => self.rule(Rule::TagsAlone),
                ScannerSection::Before => {}
                ScannerSection::Moves | ScannerSection::Done if at > 0 && self.text[at - 1] == b'\n' => {}
                ScannerSection::Moves | ScannerSection::Done => self.rule(Rule::TagPlace),
            }
        }
        self.has_event |= pair.name == b"Event";
        self.blank = false;
        self.at = pair.next;
        if !pair.is_strict {
            self.rule(Rule::TagForm);
        }
        if self.has_passed {
            self.rule(Rule::TagPlace);
        }
        if let Some(game) = self.games.last_mut() {
            game.tags.push(Tag { name: pair.name, value: pair.value });
        }
    }

    /// Returns whether a tag pair begins another game although an unclosed tag pair precedes it on the same line.
    fn cuts(&self, name: &[u8]) -> bool {
        let Some(first) = self.games.last().and_then(|game| game.tags.first()) else { return false };
        let before = self.text[..self.at].iter().rfind(|&&byte| !is_blank(byte));
        (name == b"Event" || first.name == name)
            && !self.is_at_line_start(self.at)
            && before.is_some_and(|&byte| byte != b']')
    }

    /// Returns whether a tag pair that follows other tag pairs begins another game.
    fn splits(&self, name: &[u8]) -> bool {
        let Some(first) = self.games.last().and_then(|game| game.tags.first()) else { return false };
        if self.is_event_line(self.at) {
            return self.has_event || !self.follows_tag_line();
        }
        self.blank && first.name == name
    }

    /// Returns whether the previous line looks like a tag pair.
    fn follows_tag_line(&self) -> bool {
        let before = self.text[..self.at].strip_suffix(BOM).unwrap_or(&self.text[..self.at]);
        let before = before.strip_suffix(b"\n").unwrap_or(before);
        let before = before.strip_suffix(b"\r").unwrap_or(before);
        let line = memchr::memrchr2(b'\n', b'\r', before).map_or(before, |end| &before[end + 1..]);
        let start =
            line.iter().position(|&byte| !is_blank(byte) && !BOM.contains(&byte)).unwrap_or(line.len());
        let name = line[start..].strip_prefix(b"[").unwrap_or_default();
        name.trim_ascii_start().first().is_some_and(u8::is_ascii_alphabetic)
    }

    /// Reads the tag pair that begins at the current offset.
    fn pair(&self) -> Option<PlainPair> {
        let line = &self.text[self.at..self.line_end(self.at)];
        let count =
            |from: usize, test: fn(u8) -> bool| line[from..].iter().take_while(|&&byte| test(byte)).count();
        let start = 1 + count(1, is_blank);
        let end = start + count(start, |byte| byte.is_ascii_alphanumeric() || b"_+#=:-.".contains(&byte));
        if !line.get(start)?.is_ascii_alphabetic() {
            return None;
        }
        let value = past_blanks(line, end);
        let name = line[start..end].to_vec();
        let is_quoted = line.get(value) == Some(&b'"');
        let pair = |value: &[u8], next: usize, is_strict: bool| {
            Some(PlainPair { name, value: unescaped(value), next: self.at + next, is_strict, is_quoted })
        };
        if is_quoted {
            let (range, next, is_closed) = quoted(line, value + 1);
            let is_strict = is_closed && start == 1 && line[end..value] == *b" ";
            return pair(&line[range], next, is_strict);
        }
        let is_head = matches!(self.section, ScannerSection::Before | ScannerSection::Tags);
        if !self.is_at_line_start(self.at) {
            return None;
        }
        let rest = line[value..].trim_ascii_end();
        let is_whole =
            value > end && rest.len() > 1 && rest.ends_with(b"]") && line[start].is_ascii_uppercase();
        if !is_head && !is_whole {
            return None;
        }
        let close =
            |line: &[u8]| memchr::memchr(b']', &line[value..]).map_or(line.len(), |skip| value + skip);
        // If another tag pair begins on the line, it ends this one.
        let end = close(line);
        let other = (value..end).find(|&at| begins_tag(&line[at..end]));
        let line = &line[..other.unwrap_or(line.len())];
        let close = close(line);
        pair(line[value..close].trim_ascii_end(), (close + 1).min(line.len()), false)
    }

    /// Handles a bracket that does not begin a tag pair. If a digit follows the bracket, it opens a side line. Otherwise the text
    /// up to the next `]` on the line is skipped.
    fn annotation(&mut self) {
        let end = self.line_end(self.at);
        let line = &self.text[self.at + 1..end];
        let next = line.get(past_blanks(line, 0));
        self.rule(Rule::Bracket);
        if self.section == ScannerSection::Moves && next.is_some_and(u8::is_ascii_digit) {
            self.open();
            self.at += 1;
            return;
        }
        let close = memchr::memchr2(b']', b'{', line);
        self.at += match close {
            Some(close) if self.section != ScannerSection::Tags && line[close] == b']' => close + 2,
            _ => 1,
        };
    }

    fn open(&mut self) {
        if self.section == ScannerSection::Tags {
            self.section = ScannerSection::Moves;
        }
        if self.section == ScannerSection::Before {
            return;
        }
        if self.section == ScannerSection::Moves {
            self.push(self.at, MovetextToken::Open);
        }
        if self.depth == 0 {
            self.opened = self.at;
        }
        self.depth += 1;
        self.inner = None;
    }

    fn word(&mut self) {
        let mut end = self.word_end(self.at);
        for glued in [words::glued_result, words::glued_to_castling] {
            let bytes = glued(&self.text[self.at..end]);
            if bytes > 0 {
                self.rule(Rule::Glued);
                end -= bytes;
            }
        }
        if let Some((outcome, end)) = self.parted_result() {
            self.rule(Rule::Results);
            return self.result(end, outcome);
        }
        if matches!(self.section, ScannerSection::Tags | ScannerSection::Moves)
            && let WitnessWord::Move(token, _) = words::word(&self.text[self.at..end])
            && words::lacks_promotion(token)
        {
            end = self.promotion_end(end);
        }
        let bytes = &self.text[self.at..end];
        match words::word(bytes) {
            WitnessWord::Number { bytes: length, value, dotted } => {
                if !bytes[..length].is_ascii() {
                    self.rule(Rule::Glued);
                }
                self.number(length, value, dotted);
            }
            WitnessWord::Result(outcome) => {
                if !words::is_plain_result(&String::from_utf8_lossy(bytes)) {
                    self.rule(Rule::Results);
                }
                self.result(end, outcome);
            }
            WitnessWord::Mark => {
                let sign = bytes.iter().position(|byte| b"!?.".contains(byte)).unwrap_or(bytes.len());
                let is_glued = bytes[sign..].iter().any(|byte| !b"!?.".contains(byte));
                if is_glued || bytes.starts_with("½".as_bytes()) {
                    self.rule(Rule::Glued);
                }
                self.at = end;
            }
            WitnessWord::Move(token, rules) => self.other(end, Some((token, rules))),
            WitnessWord::Junk => self.other(end, None),
        }
    }

    /// Returns the main-line result that begins at the current offset with blanks around its dash, such as `1 - 0`, and its end. Also
    /// returns a result whose dash is a byte of Windows-1252.
    fn parted_result(&self) -> Option<(Outcome, usize)> {
        if self.depth > 0 || !matches!(self.section, ScannerSection::Tags | ScannerSection::Moves) {
            return None;
        }
        let letter = |at: usize| {
            let letters = words::letters(&self.text[at..self.text.len().min(at + 4)]);
            letters.first().map(|&(letter, bytes)| (letter, at + bytes))
        };
        let (digit, next) = letter(self.at)?;
        let (dash, next) = letter(past_blanks(self.text, next))?;
        let at = past_blanks(self.text, next);
        let end = self.word_end(at.min(self.text.len() - 1));
        let outcome = words::parted_result(digit, dash, self.text.get(at..end)?)?;
        let is_parted = self.word_end(self.at) < end;
        (is_parted || str::from_utf8(&self.text[self.at..end]).is_err()).then_some((outcome, end))
    }

    /// Returns the end of the token that begins at the offset `at`.
    fn word_end(&self, at: usize) -> usize {
        let rest = &self.text[at..];
        let is_stop = |byte: &u8| b" \t\0\x0b\x0c\x1a\r\n{}()[];$*".contains(byte);
        let rest = &rest[..rest.iter().position(is_stop).unwrap_or(rest.len())];
        let letters = words::letters(rest);
        let length = letters.iter().take_while(|(letter, _)| !words::is_wide_blank(*letter));
        at + length.map(|(_, bytes)| bytes).sum::<usize>().max(1)
    }

    /// Returns the end of the current move, including a promotion after blanks or in parentheses. `stop` is the end of the move's
    /// token.
    fn promotion_end(&self, stop: usize) -> usize {
        let mut at = past_blanks(self.text, stop);
        while matches!(self.text.get(at), Some(b'=' | b'/' | b'(')) {
            at = past_blanks(self.text, at + 1);
        }
        if !matches!(self.text.get(at), Some(b'Q' | b'R' | b'B' | b'N')) {
            return stop;
        }
        let close = past_blanks(self.text, at + 1);
        at = if self.text.get(close) == Some(&b')') { close + 1 } else { at + 1 };
        let is_going_on = |byte: &u8| byte.is_ascii() && !b" \t\0\x0b\x0c\x1a\r\n{}()[];$*".contains(byte);
        if self.text.get(at).is_some_and(is_going_on) {
            at = self.word_end(at);
        }
        let is_move = matches!(words::word(&self.text[self.at..at]), WitnessWord::Move(..));
        if is_move { at } else { stop }
    }

    fn number(&mut self, length: usize, value: u32, dotted: bool) {
        let follows = self.move_follows(self.at + length);
        let first = value == 1 && dotted;
        let begins = match self.section {
            ScannerSection::Before => dotted || follows == Some(true),
            ScannerSection::Moves => first && self.blank && self.depth == 0 && self.words > 0,
            ScannerSection::Done if self.depth == 0 => match follows {
                Some(follows) => follows && (self.blank || first),
                None => first,
            },
            ScannerSection::Tags | ScannerSection::Done => false,
        };
        if begins {
            self.begin_headless();
        }
        match self.section {
            ScannerSection::Tags => self.section = ScannerSection::Moves,
            ScannerSection::Moves => self.blank = false,
            ScannerSection::Before | ScannerSection::Done => {}
        }
        self.at += length;
    }

    fn begin_headless(&mut self) {
        let is_done = self.section == ScannerSection::Done;
        self.begin(self.at, ScannerSection::Moves);
        if is_done {
            self.rule(Rule::AfterResult);
        }
    }

    /// Returns whether a move follows on the line, or `None` at the end of the line.
    fn move_follows(&self, from: usize) -> Option<bool> {
        let mut at = past_blanks(self.text, from);
        while self.text.get(at) == Some(&b'.') {
            at = past_blanks(self.text, at + 1);
        }
        if self.text.get(at).is_none_or(|&byte| is_eol(byte)) {
            return None;
        }
        Some(matches!(words::word(&self.text[at..self.word_end(at)]), WitnessWord::Move(..)))
    }

    fn result(&mut self, end: usize, outcome: Outcome) {
        if self.section == ScannerSection::Before {
            self.begin_headless();
        }
        match self.section {
            ScannerSection::Tags | ScannerSection::Moves if self.depth > 0 => self.inner = Some(outcome),
            ScannerSection::Tags | ScannerSection::Moves => {
                self.push(self.at, MovetextToken::End(outcome));
                self.section = ScannerSection::Done;
                self.blank = false;
            }
            ScannerSection::Before | ScannerSection::Done => {}
        }
        self.at = end;
    }

    /// Handles all other tokens: moves, and tokens that are not moves.
    fn other(&mut self, end: usize, mv: Option<(MovetextToken, Rules)>) {
        let begins = matches!(&mv, Some((token, _)) if !token.is_null());
        match self.section {
            ScannerSection::Before if begins => self.begin_headless(),
            ScannerSection::Done if begins && self.blank && self.depth == 0 => self.begin_headless(),
            ScannerSection::Before | ScannerSection::Done => {
                self.at = end;
                return;
            }
            ScannerSection::Tags | ScannerSection::Moves => self.section = ScannerSection::Moves,
        }
        self.blank = false;
        self.inner = None;
        if self.depth == 0 {
            self.words += 1;
        }
        match mv {
            Some((token, rules)) => {
                self.push(self.at, token);
                if let Some(game) = self.games.last_mut() {
                    game.rules.extend(rules);
                }
            }
            None => {
                self.push(self.at, MovetextToken::Junk);
                self.rule(Rule::NoMove);
            }
        }
        self.at = end;
    }
}

/// Returns whether a line begins with a tag pair `[Name "` and the name begins with a capital letter.
fn begins_tag(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"[") else { return false };
    let past = |rest: &[u8], test: fn(u8) -> bool| rest.iter().take_while(|&&byte| test(byte)).count();
    let rest = &rest[past(rest, is_blank)..];
    let name = past(rest, |byte| byte.is_ascii_alphanumeric() || b"_+#=:-.".contains(&byte));
    let value = &rest[name..];
    rest.first().is_some_and(u8::is_ascii_uppercase) && value[past_blanks(value, 0)..].starts_with(b"\"")
}

/// Returns the index of the first character from `at` on that is not a blank.
fn past_blanks(text: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = text.get(at) {
        let letter = words::letters(&text[at..text.len().min(at + 4)]).first().copied();
        match letter {
            Some((letter, bytes)) if is_blank(byte) || words::is_wide_blank(letter) => at += bytes,
            _ => break,
        }
    }
    at
}

fn is_eol(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns whether a byte is a blank, but not a line end.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0 | 0x0b | 0x0c | 0x1a)
}

/// Finds the end of a value that begins after the quotation mark at `open`. Returns the range of the value, the index at which the
/// line continues, and a flag that is true if the value ends with `"]` and contains no other quotation mark. If another tag pair
/// begins on the line, the value ends before it.
fn quoted(line: &[u8], open: usize) -> (std::ops::Range<usize>, usize, bool) {
    let mut first = None;
    let mut at = open;
    while at < line.len() {
        if line[at] == b'"' {
            let next = past_blanks(line, at + 1);
            let skip = next - at - 1;
            match line.get(next) {
                Some(b']') => return (open..at, next + 1, first.is_none() && skip == 0),
                None | Some(b'[') => return (open..at, next, false),
                _ => {
                    let bracket =
                        line[open..at].iter().rposition(|&byte| byte == b'[').map(|skip| open + skip);
                    if let Some(other) = bracket.filter(|&bracket| begins_tag(&line[bracket..=at])) {
                        let (range, next, _) = quoted(&line[..other], open);
                        return (range, next, false);
                    }
                    first = first.or(Some(at));
                }
            }
        }
        at += if line[at] == b'\\' { 2 } else { 1 };
    }
    if let Some(quote) = first {
        return (open..quote, quote + 1, false);
    }
    let value = line[open..].trim_ascii_end();
    let value = value.strip_suffix(b"]").unwrap_or(value);
    let value = value.strip_suffix(b"\"").unwrap_or(value);
    (open..open + value.len(), line.len(), false)
}

/// Replaces each escape `\"` or `\\` in a tag value by its second character.
pub(super) fn unescaped(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = value.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let next = bytes.next_if(|next| byte == b'\\' && matches!(next, b'"' | b'\\'));
        out.push(next.unwrap_or(byte));
    }
    out
}
