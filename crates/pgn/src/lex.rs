//! Recognises single tokens by their bytes alone: tag pairs, comment ends, move numbers, result tokens, glyphs such as `!?`, and
//! results that touch a move, as in `Qg20-1`.

use memchr::{memchr2, memchr3};

use super::Outcome;
pub(super) use super::letters::{dash, is_blank, past_blanks, wide_blank};
use super::san::{self, SanShape};
use orbit_core::text::is_same;

pub(super) type ByteRange = std::ops::Range<usize>;

/// The byte order mark of UTF-8.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// The start of most games: the beginning of an `Event` tag pair.
pub(super) const EVENT: &[u8] = b"[Event \"";

pub(super) fn is_eol(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns whether only blanks precede the index `at` on its line.
pub(super) fn at_line_start(text: &[u8], at: usize) -> bool {
    let mut pos = at;
    while pos > 0 {
        if text[..pos].ends_with(BOM) {
            pos -= BOM.len();
        } else if is_blank(text[pos - 1]) {
            pos -= 1;
        } else {
            return is_eol(text[pos - 1]);
        }
    }
    true
}

/// Returns whether a line that begins with `[Event "` starts at `at`. Such a line always begins a game, unless other tag pairs
/// directly precede it.
pub(super) fn is_event_line(text: &[u8], at: usize) -> bool {
    if !text[at..].starts_with(EVENT) {
        return false;
    }
    let before = text[..at].strip_suffix(BOM).unwrap_or(&text[..at]);
    before.last().is_none_or(|&byte| is_eol(byte))
}

/// Returns whether the line before the line that starts at `at` looks like a tag pair.
pub(super) fn follows_tag_line(text: &[u8], at: usize) -> bool {
    let before = text[..at].strip_suffix(BOM).unwrap_or(&text[..at]);
    let before = before.strip_suffix(b"\n").map_or_else(
        || before.strip_suffix(b"\r").unwrap_or(before),
        |rest| rest.strip_suffix(b"\r").unwrap_or(rest),
    );
    let start = memchr::memrchr2(b'\n', b'\r', before).map_or(0, |end| end + 1);
    // Blanks and byte order marks before the bracket are skipped. A text may be cut after them, and the result must be the same
    // with and without them.
    let mut line = &before[start..];
    while let Some(rest) = line
        .strip_prefix(BOM)
        .or_else(|| line.split_first().filter(|(byte, _)| is_blank(**byte)).map(|(_, rest)| rest))
    {
        line = rest;
    }
    line.first() == Some(&b'[') && line[1..].trim_ascii_start().first().is_some_and(u8::is_ascii_alphabetic)
}

/// Returns the index of the line end (CR or LF) after the index `from`, or the length of the text if there is none.
pub(super) fn line_end(text: &[u8], from: usize) -> usize {
    memchr2(b'\n', b'\r', &text[from..]).map_or(text.len(), |skip| from + skip)
}

/// Returns the end of a comment: the index of `}` or of a line that begins with `[Event "`. The search stops at `end`.
pub(super) fn comment_end(text: &[u8], from: usize, end: usize) -> Option<usize> {
    let mut pos = from;
    loop {
        pos += memchr3(b'}', b'\n', b'\r', &text[pos..end])?;
        if text[pos] == b'}' {
            return Some(pos);
        }
        pos += 1;
        let line = pos + if text[pos..].starts_with(BOM) { BOM.len() } else { 0 };
        if line < end && text[line..].starts_with(EVENT) {
            return Some(line);
        }
    }
}

pub(super) struct TagPair {
    pub(super) name: ByteRange,
    pub(super) value: ByteRange,
    /// The index after the tag pair.
    pub(super) next: usize,
}

/// Reads a tag pair `[Name "value"]` in its usual form; [`quoted_tag`] and [`tag_value`] read all forms, but more slowly. `likely`
/// is the expected tag name, usually taken from the previous game, or empty.
#[inline(always)]
pub(super) fn plain_tag(text: &[u8], at: usize, likely: &[u8]) -> Option<TagPair> {
    let name = at + 1;
    let is_open = |open: usize| text.get(open - 2..open).is_some_and(|between| between == b" \"");
    let mut open = name + likely.len() + 2;
    let is_likely = !likely.is_empty()
        && is_open(open)
        && text.get(name..open - 2).is_some_and(|name| is_same(name, likely));
    if !is_likely {
        open = name + text[name..].iter().position(|&byte| !NAME[byte as usize])? + 2;
        if !is_open(open) || !text[name].is_ascii_alphabetic() {
            return None;
        }
    }
    let close = plain_value(text, open)?;
    Some(TagPair { name: name..open - 2, value: open..close, next: close + 2 })
}

/// Returns the end of the tag value that begins at `open`, if the value has no escapes or quotes and `"]` follows it.
#[inline(always)]
pub(super) fn plain_value(text: &[u8], open: usize) -> Option<usize> {
    let mut close = open;
    let stop = loop {
        let bytes = window(text, close)?;
        let stops = words::equal(bytes, b'"') | words::equal(bytes, b'\\') | words::below(bytes, b' ');
        if stops != 0 {
            break stops;
        }
        close += 8;
    };
    close += stop.trailing_zeros() as usize / 8;
    text[close..].starts_with(b"\"]").then_some(close)
}

/// Returns the eight bytes at `at` as a little-endian number.
#[inline(always)]
pub(super) fn window(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..at + 8).map(|bytes| u64::from_le_bytes(bytes.try_into().expect("these are eight bytes")))
}

/// Tests the eight bytes of a 64-bit word at once. The lowest set bit of a result belongs to the first byte that passes the test.
/// Higher bits may be wrong.
///
/// Source: "Determine if a word has a zero byte", Bit Twiddling Hacks (Anderson).
pub(super) mod words {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = LOW << 7;

    /// Marks bytes below a limit, which is at most 128.
    #[inline(always)]
    pub(crate) const fn below(word: u64, limit: u8) -> u64 {
        word.wrapping_sub(LOW * limit as u64) & !word & HIGH
    }

    /// Marks bytes that equal `byte`.
    #[inline(always)]
    pub(crate) const fn equal(word: u64, byte: u8) -> u64 {
        below(word ^ (LOW * byte as u64), 1)
    }

    /// Marks the bytes that are not digits. Unlike in the other tests, all bits of the result are exact.
    #[inline(always)]
    pub(crate) const fn no_digits(word: u64) -> u64 {
        let word = word ^ (LOW * b'0' as u64);
        (((word & !HIGH) + LOW * (0x80 - 10)) | word) & HIGH
    }
}

const NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = is_name(byte as u8);
        byte += 1;
    }
    table
};

/// Returns true for a byte that a tag name may contain.
pub(super) const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'+' | b'#' | b'=' | b':' | b'-' | b'.')
}

/// Reads the name of a tag pair in the form `[Name "`.
pub(super) fn quoted_tag(line: &[u8], at: usize) -> Option<ByteRange> {
    let (name, next) = tag_name(line, at)?;
    (line.get(next) == Some(&b'"')).then_some(name)
}

/// Reads the name of a tag pair in the form `[Name value]`, without quotes. If `in_head` is true, other tag pairs precede this one,
/// and any text may follow the name.
pub(super) fn bare_tag(line: &[u8], at: usize, in_head: bool) -> Option<ByteRange> {
    let (name, next) = tag_name(line, at)?;
    let value = line[next..].trim_ascii_end();
    let has_value = next > name.end && value.len() > 1 && value.ends_with(b"]");
    (in_head || line[name.start].is_ascii_uppercase() && has_value).then_some(name)
}

fn tag_name(line: &[u8], at: usize) -> Option<(ByteRange, usize)> {
    let skip = |mut pos: usize, test: fn(u8) -> bool| {
        while line.get(pos).is_some_and(|&byte| test(byte)) {
            pos += 1;
        }
        pos
    };
    let start = skip(at + 1, is_blank);
    let stop = skip(start, is_name);
    line.get(start)?.is_ascii_alphabetic().then(|| (start..stop, past_blanks(line, stop)))
}

/// The maximum number of quotes and backslashes that are examined to find the end of a tag's value. Without this limit, a long line
/// of tag pairs without `]` would take quadratic time.
const QUOTES_MAX: u32 = 1000;

/// Reads the value of a tag pair. Returns the range of the value and the index after the tag pair. The value ends at a quote before
/// `]`. If the line has no such quote, the value ends at the next quote, at `]`, or at the end of the line. The start of another
/// tag pair also ends it.
pub(super) fn tag_value(line: &[u8], after_name: usize) -> (ByteRange, usize) {
    let mut pos = past_blanks(line, after_name);
    if line.get(pos) != Some(&b'"') {
        let stop = memchr::memchr(b']', &line[pos..]).map_or(line.len(), |skip| pos + skip);
        let stop = (pos..stop).find(|&at| is_quoted_tag(&line[..stop], at)).unwrap_or(stop);
        let value = line[pos..stop].trim_ascii_end();
        let next = stop + usize::from(line.get(stop) == Some(&b']'));
        return (pos..pos + value.len(), next);
    }
    let open = pos + 1;
    pos = open;
    let (mut first, mut before, mut looked) = (None, open, 0);
    while let Some(skip) = memchr2(b'"', b'\\', &line[pos..]) {
        looked += 1;
        if looked > QUOTES_MAX {
            break;
        }
        pos += skip;
        if line[pos] == b'\\' {
            pos = (pos + 2).min(line.len());
            continue;
        }
        match next_after(line, pos + 1) {
            (Some(b']'), at) => return (open..pos, at + 1),
            (None | Some(b'['), at) => return (open..pos, at),
            _ => {}
        }
        let bracket = memchr::memrchr(b'[', &line[before..pos]).map(|skip| before + skip);
        if let Some(at) = bracket.filter(|&at| is_quoted_tag(&line[..=pos], at)) {
            return tag_value(&line[..at], after_name);
        }
        first.get_or_insert(pos);
        pos += 1;
        before = pos;
    }
    if let Some(quote) = first {
        return (open..quote, quote + 1);
    }
    let end = line.trim_ascii_end();
    let end = end.strip_suffix(b"]").unwrap_or(end);
    let end = end.strip_suffix(b"\"").unwrap_or(end).len().max(open);
    (open..end, line.len())
}

/// Returns whether a tag pair `[Name "` begins at `at` and its name begins with a capital letter.
fn is_quoted_tag(line: &[u8], at: usize) -> bool {
    line[at] == b'[' && quoted_tag(line, at).is_some_and(|name| line[name.start].is_ascii_uppercase())
}

/// Returns whether a tag pair without `]` precedes the bracket at `at` on its line.
pub(super) fn follows_open_tag(text: &[u8], at: usize) -> bool {
    !at_line_start(text, at)
        && text[..at].iter().rfind(|&&byte| !is_blank(byte)).is_some_and(|&byte| byte != b']')
}

/// Returns the start of the tag pair on the last line of a text, if that line begins with a tag pair and contains no `]`.
pub(super) fn open_tag(text: &[u8]) -> Option<usize> {
    let line = memchr::memrchr2(b'\n', b'\r', text).map_or(0, |end| end + 1);
    let at = past_blanks(text, line);
    (text.get(at) == Some(&b'[') && !text[at..].contains(&b']') && tag_name(text, at).is_some()).then_some(at)
}

/// Returns the first byte at or after `from` that is not a blank, and its index.
pub(super) fn next_after(line: &[u8], from: usize) -> (Option<u8>, usize) {
    let at = past_blanks(line, from);
    (line.get(at).copied(), at)
}

/// The bytes at which a token may end: the delimiters, and all bytes that are not ASCII.
const STOPS: [bool; 256] = {
    let mut table = [false; 256];
    let stops = b" \t\0\x0b\x0c\x1a\r\n{}()[];$*";
    let mut k = 0;
    while k < stops.len() {
        table[stops[k] as usize] = true;
        k += 1;
    }
    k = 0x80;
    while k < table.len() {
        table[k] = true;
        k += 1;
    }
    table
};

/// Returns the end of the token that begins at `start`.
pub(super) fn word_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(skip) = text[at..].iter().position(|&byte| STOPS[byte as usize]) {
        at += skip;
        if text[at].is_ascii() {
            return at.max(start + 1);
        }
        match wide_blank(&text[at..]) {
            0 => at += letter_bytes(&text[at..]),
            bytes => return if at > start { at } else { start + bytes },
        }
    }
    text.len()
}

/// Returns the length in bytes of the non-ASCII character at the start of a text, or 1 if the bytes are not UTF-8.
fn letter_bytes(text: &[u8]) -> usize {
    let is_letter = |bytes: &usize| text.get(..*bytes).is_some_and(|letter| str::from_utf8(letter).is_ok());
    (2..=4).find(is_letter).unwrap_or(1)
}

/// Returns the length of a terminator that is joined to the end of a move, as in `Qg20-1`, including one punctuation mark after it.
pub(super) fn glued_result(word: &[u8]) -> usize {
    if word[0].is_ascii_digit() {
        return 0;
    }
    let sign = usize::from(matches!(word, [_, .., b'.' | b',' | b':' | b'\'' | b'"' | b'`']));
    let stem = &word[..word.len() - sign];
    if !matches!(stem, [.., b'0' | b'1' | b'2']) {
        return 0;
    }
    let is_glued = |&at: &usize| {
        matches!(stem[at], b'0' | b'1')
            && outcome(&stem[at..]).is_some()
            && SanShape::parse(&stem[..at]).is_some()
    };
    (2..stem.len()).find(is_glued).map_or(0, |at| word.len() - at)
}

/// The maximum length of a token that is divided after a castling move, in bytes. A longer token may be a chain of thousands of
/// moves, and its division would take long.
const GLUED_BYTES_MAX: usize = 64;

/// Returns the number of bytes of the token that directly follows a castling move, without a blank, as in `O-OO-O` and `0-01-0`.
pub(super) fn glued_to_castling(word: &[u8]) -> usize {
    let is_castling = word.len() <= GLUED_BYTES_MAX && matches!(word[0], b'O' | b'0' | b'o');
    if !is_castling || SanShape::parse(word).is_some() {
        return 0;
    }
    let is_glued = |bytes: &usize| {
        let rest = &word[*bytes..];
        !rest.is_empty()
            && match MovetextWord::from_bytes(rest) {
                MovetextWord::Result(_) | MovetextWord::Number { dotted: true, .. } | MovetextWord::Null => {
                    true
                }
                MovetextWord::Other => SanShape::parse(rest).is_some() || glued_to_castling(rest) > 0,
                MovetextWord::Number { .. } | MovetextWord::Mark => false,
            }
    };
    san::castlings(word).find(is_glued).map_or(0, |bytes| word.len() - bytes)
}

/// Returns the end of a promotion that follows a move on the same line, after blanks or in parentheses: `e8(Q)`, `e8 = Q`. `start`
/// and `stop` are the start and the end of the move's token. Returns `stop` if no promotion follows.
pub(super) fn parted_promotion(text: &[u8], start: usize, stop: usize) -> usize {
    if !SanShape::parse(&text[start..stop]).is_some_and(SanShape::lacks_promotion) {
        return stop;
    }
    let mut at = past_blanks(text, stop);
    while let Some(b'=' | b'/' | b'(') = text.get(at) {
        at = past_blanks(text, at + 1);
    }
    if !matches!(text.get(at), Some(b'Q' | b'R' | b'B' | b'N')) {
        return stop;
    }
    at += 1;
    let close = past_blanks(text, at);
    if text.get(close) == Some(&b')') {
        at = close + 1;
    }
    let end = if text.get(at).is_some_and(|byte| !STOPS[*byte as usize]) { word_end(text, at) } else { at };
    if SanShape::parse(&text[start..end]).is_some() { end } else { stop }
}

/// The kind of a token in movetext.
pub(super) enum MovetextWord {
    /// A move number. `length` is its number of bytes at the start of the token, including dots.
    Number { length: usize, value: u32, dotted: bool },
    /// A terminator.
    Result(Outcome),
    /// A null move.
    Null,
    /// A token that [`is_mark`] accepts, an evaluation, or another sign without letters and digits. Bytes that are not UTF-8 count
    /// as signs, since some chess fonts use these bytes for signs.
    Mark,
    /// A move, or a token without a known meaning.
    Other,
}

impl MovetextWord {
    /// Classifies a token that is not empty.
    pub(super) fn from_bytes(word: &[u8]) -> MovetextWord {
        let first = word[0];
        if first.is_ascii_alphabetic() {
            return if is_mark(word) { MovetextWord::Mark } else { MovetextWord::Other };
        }
        if let Some(outcome) = outcome(word) {
            return MovetextWord::Result(outcome);
        }
        if first.is_ascii_digit() {
            return MovetextWord::digits(word);
        }
        match SanShape::parse(word) {
            Some(SanShape::Null) => MovetextWord::Null,
            Some(_) => MovetextWord::Other,
            None => match outcome_among_signs(word) {
                Some(outcome) => MovetextWord::Result(outcome),
                None if word.iter().any(u8::is_ascii_alphanumeric) && !is_mark(word) => {
                    MovetextWord::dots(word)
                }
                None if has_wide_letter(word) => MovetextWord::Other,
                None => MovetextWord::Mark,
            },
        }
    }

    /// Classifies a token such as `...e5` or `…e5`.
    fn dots(word: &[u8]) -> MovetextWord {
        match dot_count(word) {
            0 => MovetextWord::Other,
            length => MovetextWord::Number { length, value: 0, dotted: false },
        }
    }

    fn digits(word: &[u8]) -> MovetextWord {
        let dash = dash(&word[1..]);
        if dash > 0 && word[0] == b'0' && word.get(1 + dash) == Some(&b'0') || word.starts_with(b"0000") {
            return MovetextWord::Other;
        }
        let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let value = word[..digits.min(6)].iter().fold(0, |sum, &byte| sum * 10 + u32::from(byte - b'0'));
        let dots = dot_count(&word[digits..]);
        let rest = word.get(digits);
        let number = MovetextWord::Number { length: digits + dots, value, dotted: dots > 0 };
        if dots > 0 || rest.is_none_or(u8::is_ascii_alphabetic) {
            return number;
        }
        match outcome_among_signs(word) {
            Some(outcome) => MovetextWord::Result(outcome),
            None if rest.is_some_and(|byte| !byte.is_ascii()) => number,
            None => MovetextWord::Other,
        }
    }
}

/// Returns whether a token contains a non-ASCII letter, such as the Cyrillic `О` of a castling move.
fn has_wide_letter(word: &[u8]) -> bool {
    word.utf8_chunks()
        .any(|chunk| chunk.valid().chars().any(|letter| !letter.is_ascii() && letter.is_alphabetic()))
}

/// Returns the length in bytes of the dots (`.` or `…`) at the start of a token. The byte 0x85 is the `…` of Windows-1252.
fn dot_count(word: &[u8]) -> usize {
    let mut length = 0;
    loop {
        match &word[length..] {
            [b'.' | 0x85, ..] => length += 1,
            [0xe2, 0x80, 0xa6, ..] => length += 3,
            _ => return length,
        }
    }
}

/// Returns whether a token annotates a move but is not a move itself, such as `e.p.`, `N` (novelty), `D` (diagram) or `mate`.
fn is_mark(word: &[u8]) -> bool {
    matches!(word, b"ep" | b"e.p." | b"e.p" | b"N" | b"TN" | b"D" | b"mate" | b"ch" | b"dbl" | b"x")
}

/// Returns the number of a glyph. The glyph is the whole token (`!?`, `+-`, `N`), or the end of a move (`Nf3!?`).
pub(super) fn glyph(word: &[u8]) -> Option<u16> {
    let marks = word.iter().rev().take_while(|byte| matches!(byte, b'!' | b'?')).count();
    let glyph = if marks > 0 { &word[word.len() - marks..] } else { word };
    Some(match glyph {
        b"!" => 1,
        b"?" => 2,
        b"!!" => 3,
        b"??" => 4,
        b"!?" => 5,
        b"?!" => 6,
        b"=" => 10,
        b"+/=" | b"+=" => 14,
        b"=/+" | b"=+" => 15,
        b"+/-" => 16,
        b"-/+" => 17,
        b"+-" => 18,
        b"-+" => 19,
        b"N" | b"TN" => 146,
        b"D" => 220,
        _ => return None,
    })
}

fn outcome(word: &[u8]) -> Option<Outcome> {
    // This fast test rejects move numbers, which are most of the tokens tested here.
    if word.len() > 24
        || !matches!(word, [0xbd, ..] | [0xc2, ..] | [_, b'-' | b'/', ..])
            && word.get(1).is_none_or(u8::is_ascii)
    {
        return None;
    }
    if let Some(usual) = usual_outcome(word) {
        return Some(usual);
    }
    let mut plain = [0u8; 24];
    let mut length = 0;
    let mut rest = word;
    while let [first, ..] = *rest {
        let (piece, skip): (&[u8], usize) = match (dash(rest), rest) {
            (0, [0xc2, 0xbd, ..]) => (b"1/2", 2),
            (0, [0xbd, ..]) => (b"1/2", 1),
            (0, [0xe2, 0x81, 0x84, ..] | [0xe2, 0x88, 0x95, ..] | [0xef, 0xbc, 0x8f, ..]) => (b"/", 3),
            (0, [0xef, 0xbc, 0x90, ..]) => (b"0", 3),
            (0, [0xef, 0xbc, 0x91, ..]) => (b"1", 3),
            (0, [0xef, 0xbc, 0x92, ..]) => (b"2", 3),
            (0, _) => (&[first], 1),
            (bytes, _) => (b"-", bytes),
        };
        plain.get_mut(length..length + piece.len())?.copy_from_slice(piece);
        length += piece.len();
        rest = &rest[skip..];
    }
    match &plain[..length] {
        b"1/2" => Some(Outcome::Draw),
        plain => usual_outcome(plain),
    }
}

/// Reads a result as the standard of PGN writes it.
fn usual_outcome(word: &[u8]) -> Option<Outcome> {
    match word {
        b"1-0" => Some(Outcome::WhiteWins),
        b"0-1" => Some(Outcome::BlackWins),
        b"1/2-1/2" => Some(Outcome::Draw),
        _ => None,
    }
}

/// Returns whether a result has one of the forms that most programs write or read.
pub(super) fn is_usual_result(word: &[u8]) -> bool {
    matches!(word, b"1-0" | b"0-1" | b"1/2-1/2" | b"1/2" | b"*")
}

/// Reads a terminator between punctuation marks, such as `1-0.` and `"0-1"`.
fn outcome_among_signs(word: &[u8]) -> Option<Outcome> {
    let text = str::from_utf8(word).ok()?;
    let trimmed = text.trim_matches(|letter: char| !letter.is_alphanumeric());
    (trimmed.len() < text.len()).then(|| outcome(trimmed.as_bytes())).flatten()
}

/// Reads a result with blanks around its dash, such as `1 - 0`. `start` is the start of its first token. Returns the result and its
/// end.
pub(super) fn parted_result(text: &[u8], start: usize) -> Option<(Outcome, usize)> {
    let digit = match &text[start..] {
        [b'0' | b'1', ..] => 1,
        [0xef, 0xbc, 0x90 | 0x91, ..] => 3,
        _ => return None,
    };
    let sign = past_blanks(text, start + digit);
    let at = match dash(&text[sign..]) {
        0 => return None,
        bytes => past_blanks(text, sign + bytes),
    };
    let stop = if at < text.len() { word_end(text, at) } else { at };
    let joined = [&text[start..start + digit], b"-", &text[at..stop]].concat();
    Some((outcome(&joined).or_else(|| outcome_among_signs(&joined))?, stop))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_may_have_blanks_around_their_dash() {
        for (text, outcome, stop) in [
            ("1 - 0 ", Outcome::WhiteWins, 5),
            ("0\u{a0}–1.\n", Outcome::BlackWins, 8),
            ("1- 0{x}", Outcome::WhiteWins, 4),
            ("０ － １", Outcome::BlackWins, 11),
        ] {
            assert_eq!(parted_result(text.as_bytes(), 0), Some((outcome, stop)), "{text}");
        }
        for text in ["1 -\n0", "1 - 2", "1 0", "1", "0 - 0-0", "2 - 0", "1 - ", "1. - 0"] {
            assert_eq!(parted_result(text.as_bytes(), 0), None, "{text}");
        }
    }

    #[test]
    fn a_tag_pair_at_the_end_may_be_open() {
        for (text, at) in [("[Event \"a\"]\n [White \"b", Some(13)), ("[White", Some(0))] {
            assert_eq!(open_tag(text.as_bytes()), at, "{text}");
        }
        for text in ["", "[White \"b\"]", "[White \"b\"]\n\u{1a}", "[%csl Ra1", "1. e4 [x"] {
            assert_eq!(open_tag(text.as_bytes()), None, "{text}");
        }
    }
}
