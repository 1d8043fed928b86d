//! Decides where each game in a PGN text begins and ends, and yields its parts in order: tag pairs, moves, side lines, comments and
//! the result.
//!
//! The tokenizer recognises the form of a move but does not know the rules of chess. It alone defines the boundaries of games. The
//! code that cuts chunks and the code that reads games both use it, so they always agree.
//!
//! Invariant: every decision depends only on the text from the last game boundary to the end of the current line. So for any prefix
//! of a text that ends with a line end, the tokenizer finds the boundaries that it finds in the whole text.

mod plain;

use memchr::memchr2;

pub(super) use self::plain::{PlainMove, San};

use super::Outcome;
use super::lex::{
    self, BOM, ByteRange, MovetextWord, TagPair, at_line_start, is_blank, is_eol, is_event_line, word_end,
};
use super::san::SanShape;

/// The events that a tokenizer yields, in the order of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// A game begins at this byte. The bytes before it are part of the previous game.
    Start(usize),
    /// A tag pair. If `escaped` is true, the value may contain escapes, which are still to be resolved.
    Tag { name: ByteRange, value: ByteRange, escaped: bool },
    /// A token of the main line that should be a move.
    Word(ByteRange),
    /// The terminator of the movetext.
    End(Outcome),
    /// The structure of the game has an error at this byte.
    Fault(usize, StructureError),
    /// A side line (variation) begins at this byte. It is an alternative to the move before it. Only a tokenizer created with
    /// [`Tokenizer::whole`] yields this event, the moves of side lines, and the events below.
    Open(usize),
    /// A side line ends.
    Close,
    /// A comment, without its braces.
    Comment(ByteRange),
    /// An annotation glyph: its number (1 for `$1` or `!`) and its range in the text.
    Glyph(u16, ByteRange),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StructureError {
    /// A `{` without `}` before the next game or the end of the text.
    OpenComment,
    /// A `(` without `)` before the next game or the end of the text.
    OpenVariation,
    /// The game exceeds this maximum number of bytes.
    TooLong(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum GameSection {
    /// Before the first token of a game.
    Start,
    Tags,
    Moves,
    /// After the terminator.
    Done,
}

/// The offset of unusual text that was read like its usual form, and the text of a note about it.
pub(super) type TextRepair = (usize, &'static str);

const BLANK: &str = "an unusual blank is read as a blank";
const CASTLING: &str = "castling that touches the next token is read as a move of its own";
const RESULT: &str = "an unusual form of a result is read as the result";

/// An iterator over the [`Event`]s of a text that begins at a game boundary.
pub(super) struct Tokenizer<'a> {
    text: &'a [u8],
    pos: usize,
    /// The last possible end of the current game: the end of the text, or `cap` bytes after the first byte of the game. A token or
    /// tag pair that begins before this end is read completely, so no game boundary depends on `cap`.
    end: usize,
    cap: usize,
    region: usize,
    /// The end of the line with the bracket that was examined last. It is kept so that a line with many brackets is searched only
    /// once.
    line_end: usize,
    /// The range from a bracket to the next `]` or `{` of its line, or to the end of the line. It is kept so that a line with many
    /// brackets is searched only once.
    to_bracket: ByteRange,
    /// The range of the token that was examined last. It is kept so that a token with many move numbers is searched only once.
    token: ByteRange,
    section: GameSection,
    /// True if a game begins at the next token, because its move number has already ended the game before.
    begins: bool,
    depth: u32,
    /// The index of the `(` that opened the outermost open variation.
    opened: usize,
    /// The last terminator inside a variation, if no token and no variation follows it.
    inner: Option<Outcome>,
    /// True if an empty line precedes the next token.
    blank: bool,
    /// The number of move tokens of the main line so far.
    words: u32,
    /// The number of variations: see [`Tokenizer::side_lines`].
    side_lines: u64,
    /// The start of the movetext: see [`Tokenizer::movetext`].
    movetext: Option<usize>,
    first_name: ByteRange,
    has_event: bool,
    /// The first unusual blank, castling or result of the main line since the last call of [`Tokenizer::take_repair`].
    repair: Option<TextRepair>,
    /// True if more text follows after the end of `text`.
    partial: bool,
    /// True to yield side lines, comments and glyphs.
    whole: bool,
}

impl<'a> Tokenizer<'a> {
    /// Creates a tokenizer for `text`. A game longer than `cap` bytes is cut at this length, and reading resumes at the next line
    /// with a tag pair.
    pub(super) fn new(text: &'a [u8], cap: usize) -> Tokenizer<'a> {
        Tokenizer {
            text,
            pos: 0,
            end: text.len().min(cap),
            cap,
            region: 0,
            line_end: 0,
            to_bracket: 0..0,
            token: 0..0,
            section: GameSection::Start,
            begins: false,
            depth: 0,
            opened: 0,
            inner: None,
            blank: false,
            words: 0,
            side_lines: 0,
            movetext: None,
            first_name: 0..0,
            has_event: false,
            repair: None,
            partial: false,
            whole: false,
        }
    }

    /// Creates a tokenizer that also yields side lines, comments and glyphs. It finds the same games as one created with
    /// [`Tokenizer::new`].
    pub(super) fn whole(text: &'a [u8], cap: usize) -> Tokenizer<'a> {
        Tokenizer { whole: true, ..Tokenizer::new(text, cap) }
    }

    /// Like [`Tokenizer::new`], but for a `text` of complete lines that is followed by more text.
    pub(super) fn partial(text: &'a [u8], cap: usize) -> Tokenizer<'a> {
        Tokenizer { partial: true, ..Tokenizer::new(text, cap) }
    }

    /// Returns the start of the current game's movetext: its first move number, move or terminator outside variations. The fast
    /// paths do not record it, so it is known only if they were not used.
    pub(super) fn movetext(&self) -> Option<usize> {
        self.movetext
    }

    /// Returns the number of variations in all games so far, including nested ones.
    pub(super) fn side_lines(&self) -> u64 {
        self.side_lines
    }

    /// Returns the index at which reading continues.
    pub(super) fn position(&self) -> usize {
        self.pos
    }

    /// Returns whether [`Tokenizer::take_repair`] would return unusual text.
    pub(super) fn has_repair(&self) -> bool {
        self.repair.is_some()
    }

    /// Returns the first unusual blank, castling or result that has been read since the last call. Only the general path reads such
    /// text; the fast paths stop before it.
    pub(super) fn take_repair(&mut self) -> Option<TextRepair> {
        self.repair.take()
    }

    #[cold]
    fn repaired(&mut self, at: usize, reason: &'static str) {
        if self.depth == 0 && matches!(self.section, GameSection::Tags | GameSection::Moves) {
            self.repair.get_or_insert((at, reason));
        }
    }

    fn begin(&mut self, at: usize, section: GameSection) -> Option<Event> {
        let Tokenizer { partial, whole, side_lines, line_end, .. } = *self;
        let new = Tokenizer::new(self.text, self.cap);
        *self = Tokenizer { pos: at, region: at, section, partial, whole, side_lines, line_end, ..new };
        self.end = at.saturating_add(self.cap).min(self.text.len());
        Some(Event::Start(at))
    }

    /// Returns the end of the token that contains the byte at `pos`.
    fn token_end(&mut self, pos: usize) -> usize {
        if !self.token.contains(&pos) {
            self.token = pos..word_end(self.text, pos);
        }
        self.token.end
    }

    /// Ends the movetext. Returns one event per call: a fault if a variation is still open, otherwise a terminator that was found
    /// inside a variation.
    fn close(&mut self) -> Option<Event> {
        if self.section == GameSection::Moves {
            if self.depth > 0 {
                self.depth = 0;
                return Some(Event::Fault(self.opened, StructureError::OpenVariation));
            }
            if let Some(outcome) = self.inner.take() {
                self.section = GameSection::Done;
                return Some(Event::End(outcome));
            }
        }
        None
    }

    fn finish(&mut self) -> Option<Event> {
        self.pos = self.end;
        if let Some(event) = self.close() {
            return Some(event);
        }
        if self.end - self.region < self.cap || self.end == self.text.len() && !self.partial {
            return None;
        }
        let cut = self.end;
        self.pos = resync(self.text, cut, cut > 0 && is_eol(self.text[cut - 1])).unwrap_or(self.text.len());
        self.region = self.pos;
        self.end = self.pos.saturating_add(self.cap).min(self.text.len());
        let section = std::mem::replace(&mut self.section, GameSection::Start);
        self.blank = false;
        if section == GameSection::Start {
            self.next()
        } else {
            Some(Event::Fault(cut, StructureError::TooLong(self.cap)))
        }
    }

    fn skip_blanks(&mut self) {
        let mut lines = 0;
        while self.pos < self.end {
            match self.text[self.pos] {
                b'\n' => lines += 1,
                b'\r' => lines += u32::from(self.text.get(self.pos + 1) != Some(&b'\n')),
                byte if is_blank(byte) => {}
                byte if byte.is_ascii() => break,
                _ => match lex::wide_blank(&self.text[self.pos..]) {
                    0 => break,
                    bytes => {
                        if self.section == GameSection::Moves {
                            self.repaired(self.pos, BLANK);
                        }
                        self.pos += bytes - 1;
                    }
                },
            }
            self.pos += 1;
        }
        self.blank |= lines >= 2;
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.pos..self.end];
        self.pos += memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    }

    /// Returns `event`, a comment or a glyph, if the tokenizer yields such events and a game is open.
    fn remark(&self, event: Event) -> Option<Event> {
        (self.whole && matches!(self.section, GameSection::Moves | GameSection::Done)).then_some(event)
    }

    /// Skips a comment in braces. A line that begins with `[Event "` also ends it, so an unclosed brace does not swallow the
    /// following games. An unclosed comment before the first game counts as a game, and its fault is therefore reported.
    fn skip_comment(&mut self) -> Option<Event> {
        let open = self.pos;
        self.pos += 1;
        if self.section == GameSection::Tags {
            self.section = GameSection::Moves;
        }
        match lex::comment_end(self.text, self.pos, self.end) {
            Some(end) if self.text[end] == b'}' => {
                self.pos = end + 1;
                return self.remark(Event::Comment(open + 1..end));
            }
            Some(line) => self.pos = line,
            None if self.partial && self.end == self.text.len() => {
                self.pos = self.end;
                return None;
            }
            None => self.pos = self.end,
        }
        if self.section == GameSection::Start {
            return self.begin(open, GameSection::Moves);
        }
        Some(Event::Fault(open, StructureError::OpenComment))
    }

    fn bracket(&mut self) -> Option<Event> {
        let at = self.pos;
        if let Some(TagPair { name, value, next }) = lex::plain_tag(self.text, at, b"") {
            return self.tag(at, name, |_| (value, next, false));
        }
        if self.line_end <= at {
            self.line_end = lex::line_end(self.text, at);
        }
        let line = &self.text[..self.line_end];
        let in_head = matches!(self.section, GameSection::Start | GameSection::Tags);
        let name = match lex::quoted_tag(line, at) {
            Some(name) => name,
            None => match at_line_start(self.text, at).then(|| lex::bare_tag(line, at, in_head)).flatten() {
                Some(name) => name,
                None => {
                    return self.annotation(line);
                }
            },
        };
        self.tag(at, name, |after_name| {
            let (value, next) = lex::tag_value(line, after_name);
            (value, next, true)
        })
    }

    /// Reads a tag pair, unless it begins a new game. `value` returns the range of the tag's value, the index after the tag pair,
    /// and whether the value may contain escapes.
    fn tag(
        &mut self,
        at: usize,
        name: ByteRange,
        value: impl FnOnce(usize) -> (ByteRange, usize, bool),
    ) -> Option<Event> {
        if self.section != GameSection::Tags || self.splits_tags(at, &name) {
            return self.close().or_else(|| self.begin(at, GameSection::Tags));
        }
        if self.first_name.is_empty() {
            self.first_name = name.clone();
        }
        self.has_event |= &self.text[name.clone()] == b"Event";
        self.blank = false;
        let (value, next, escaped) = value(name.end);
        self.pos = next;
        Some(Event::Tag { name, value, escaped })
    }

    /// Returns whether a tag pair that follows other tag pairs begins a new game, instead of belonging to the same game as they do.
    fn splits_tags(&self, at: usize, name: &ByteRange) -> bool {
        if self.first_name.is_empty() {
            return false;
        }
        if is_event_line(self.text, at) {
            return self.has_event || !lex::follows_tag_line(self.text, at);
        }
        let name = &self.text[name.clone()];
        let is_first = *name == self.text[self.first_name.clone()];
        self.blank && is_first || (is_first || name == b"Event") && lex::follows_open_tag(self.text, at)
    }

    /// Handles a bracket that does not begin a tag pair. A bracket before a digit opens a variation, as in old ChessBase files. Any
    /// other bracket begins an annotation, which is skipped up to `]`, if the line has one.
    fn annotation(&mut self, line: &[u8]) -> Option<Event> {
        if self.section == GameSection::Moves
            && lex::next_after(line, self.pos + 1).0.is_some_and(|b| b.is_ascii_digit())
        {
            return self.open_paren();
        }
        self.pos += 1;
        if self.section != GameSection::Tags {
            if !(self.to_bracket.start..=self.to_bracket.end).contains(&self.pos) {
                let skip = memchr2(b']', b'{', &line[self.pos..]);
                self.to_bracket = self.pos..skip.map_or(line.len(), |skip| self.pos + skip);
            }
            if line.get(self.to_bracket.end) == Some(&b']') {
                self.pos = self.to_bracket.end + 1;
            }
        }
        None
    }

    fn word(&mut self) -> Option<Event> {
        let start = self.pos;
        let mut stop = self.token_end(start);
        stop -= lex::glued_result(&self.text[start..stop]);
        let behind = lex::glued_to_castling(&self.text[start..stop]);
        if behind > 0 {
            stop -= behind;
            self.repaired(start, CASTLING);
        }
        // A result with blanks (`1 - 0`) counts only in the main line, since the fast paths skip single digits in variations.
        if self.depth == 0
            && matches!(self.section, GameSection::Tags | GameSection::Moves)
            && let Some((outcome, stop)) = lex::parted_result(self.text, start)
        {
            return self.terminator(stop, outcome);
        }
        match MovetextWord::from_bytes(&self.text[start..stop]) {
            MovetextWord::Number { length, value, dotted } => self.number(start, length, value, dotted),
            MovetextWord::Result(outcome) => self.terminator(stop, outcome),
            MovetextWord::Mark => {
                self.pos = stop;
                let glyph = self.whole.then(|| lex::glyph(&self.text[start..stop])).flatten();
                glyph.and_then(|glyph| self.remark(Event::Glyph(glyph, start..stop)))
            }
            MovetextWord::Null | MovetextWord::Other => self.other(start, stop),
        }
    }

    fn number(&mut self, start: usize, length: usize, value: u32, dotted: bool) -> Option<Event> {
        let begins = match self.section {
            _ if std::mem::take(&mut self.begins) => true,
            GameSection::Start => dotted || self.move_follows(start + length) == Some(true),
            GameSection::Moves => value == 1 && dotted && self.blank && self.depth == 0 && self.words > 0,
            GameSection::Done if self.depth == 0 => {
                // A text may be cut before this number. So a game may begin here only if the remaining text alone would begin with
                // a game.
                match self.move_follows(start + length) {
                    Some(follows) => follows && (self.blank || value == 1 && dotted),
                    None => value == 1 && dotted,
                }
            }
            GameSection::Tags | GameSection::Done => false,
        };
        if begins {
            // A result inside a variation counts, because the text may be cut here, and then the game ends with it.
            if let Some(end) = self.close() {
                self.begins = true;
                return Some(end);
            }
            return self.begin(start, GameSection::Moves);
        }
        if self.section == GameSection::Tags {
            self.section = GameSection::Moves;
        }
        if self.section == GameSection::Moves {
            self.blank = false;
            if self.depth == 0 {
                self.movetext.get_or_insert(start);
            }
        }
        self.pos = start + length;
        None
    }

    /// Returns whether the next token has the form of a move, or `None` at the end of the line.
    fn move_follows(&mut self, from: usize) -> Option<bool> {
        let mut pos = lex::past_blanks(self.text, from);
        while self.text.get(pos) == Some(&b'.') {
            pos = lex::past_blanks(self.text, pos + 1);
        }
        if pos >= self.text.len() || is_eol(self.text[pos]) {
            return None;
        }
        let end = self.token_end(pos);
        Some(SanShape::parse(&self.text[pos..end]).is_some())
    }

    fn terminator(&mut self, stop: usize, outcome: Outcome) -> Option<Event> {
        match self.section {
            GameSection::Start => return self.begin(self.pos, GameSection::Moves),
            GameSection::Done => {}
            GameSection::Tags | GameSection::Moves if self.depth > 0 => self.inner = Some(outcome),
            GameSection::Tags | GameSection::Moves => {
                if !lex::is_usual_result(&self.text[self.pos..stop]) {
                    self.repaired(self.pos, RESULT);
                }
                self.section = GameSection::Done;
                self.blank = false;
                self.movetext.get_or_insert(self.pos);
                self.pos = stop;
                return Some(Event::End(outcome));
            }
        }
        self.pos = stop;
        None
    }

    fn other(&mut self, start: usize, stop: usize) -> Option<Event> {
        let is_move =
            || SanShape::parse(&self.text[start..stop]).is_some_and(|shape| shape != SanShape::Null);
        match self.section {
            GameSection::Start if is_move() => return self.begin(start, GameSection::Moves),
            GameSection::Done if self.blank && self.depth == 0 && is_move() => {
                return self.begin(start, GameSection::Moves);
            }
            GameSection::Start | GameSection::Done => {
                self.pos = stop;
                return None;
            }
            GameSection::Tags => self.section = GameSection::Moves,
            GameSection::Moves => {}
        }
        self.pos = stop;
        self.blank = false;
        self.inner = None;
        if self.depth > 0 && !self.whole {
            return None;
        }
        if self.depth == 0 {
            self.words += 1;
            self.movetext.get_or_insert(start);
        }
        self.pos = lex::parted_promotion(self.text, start, stop);
        Some(Event::Word(start..self.pos))
    }

    /// Extends the move token just read to include a promotion after blanks or in parentheses. Returns `None` if no promotion
    /// follows.
    #[cold]
    pub(super) fn with_promotion(&mut self, word: &ByteRange) -> Option<ByteRange> {
        let stop = lex::parted_promotion(self.text, word.start, word.end);
        (stop > word.end).then(|| {
            self.pos = stop;
            word.start..stop
        })
    }

    fn open_paren(&mut self) -> Option<Event> {
        if self.section == GameSection::Tags {
            self.section = GameSection::Moves;
        }
        let at = self.pos;
        self.pos += 1;
        if self.section == GameSection::Start {
            return None;
        }
        if self.depth == 0 {
            self.opened = at;
        }
        self.depth += 1;
        self.side_lines += 1;
        self.inner = None;
        self.whole.then_some(Event::Open(at))
    }

    fn close_paren(&mut self) -> Option<Event> {
        self.pos += 1;
        let was_open = self.depth > 0;
        self.depth = self.depth.saturating_sub(1);
        (self.whole && was_open).then_some(Event::Close)
    }

    /// Skips a glyph such as `$1`.
    fn dollar(&mut self) -> Option<Event> {
        self.pos += 1;
        let from = self.pos;
        while self.pos < self.end && self.text[self.pos].is_ascii_digit() {
            self.pos += 1;
        }
        let digits = std::str::from_utf8(&self.text[from..self.pos]).ok();
        let glyph = digits.filter(|_| self.whole).and_then(|digits| digits.parse().ok());
        glyph.and_then(|glyph| self.remark(Event::Glyph(glyph, from - 1..self.pos)))
    }
}

impl Iterator for Tokenizer<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        loop {
            if self.depth > 0 && !self.whole {
                self.skip_variation();
            }
            self.skip_blanks();
            if self.pos >= self.end {
                return self.finish();
            }
            let event = match self.text[self.pos] {
                b'{' => self.skip_comment(),
                b'[' => self.bracket(),
                b';' => {
                    let from = self.pos + 1;
                    self.skip_line();
                    self.remark(Event::Comment(from..self.pos))
                }
                b'%' if at_line_start(self.text, self.pos) => {
                    self.skip_line();
                    None
                }
                b'(' => self.open_paren(),
                b')' | b']' => self.close_paren(),
                b'}' => {
                    self.pos += 1;
                    None
                }
                b'$' => self.dollar(),
                b'*' => self.terminator(self.pos + 1, Outcome::Unknown),
                _ => self.word(),
            };
            if event.is_some() {
                return event;
            }
        }
    }
}

/// Returns the start of the last line at which a game certainly begins. The first line of `text` does not count.
pub(super) fn last_event_line(text: &[u8]) -> Option<usize> {
    memchr::memmem::rfind_iter(text, lex::EVENT)
        .take_while(|&at| at > 0)
        .find(|&at| is_event_line(text, at) && !lex::follows_tag_line(text, at))
}

/// Returns whether a text may be cut at the game boundary `at`. It may be cut at the start of any line but the first.
pub(super) fn may_cut(text: &[u8], at: usize) -> bool {
    at > 0 && at_line_start(text, at)
}

/// Returns the start of the first line with a tag pair at or after `from`. `fresh` is true if a line begins at `from`.
pub(super) fn resync(text: &[u8], from: usize, fresh: bool) -> Option<usize> {
    let mut pos = from;
    let mut fresh = fresh;
    loop {
        if fresh {
            let end = lex::line_end(text, pos);
            let mut at = pos;
            while at < end && (is_blank(text[at]) || text[at..end].starts_with(BOM)) {
                at += if is_blank(text[at]) { 1 } else { BOM.len() };
            }
            if at < end && lex::quoted_tag(&text[..end], at).is_some() {
                return Some(at);
            }
        }
        pos += memchr2(b'\n', b'\r', text.get(pos..)?)? + 1;
        fresh = true;
    }
}
