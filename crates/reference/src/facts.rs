//! Reads numbers and strings from the tags of a game. The results are the same at all positions of the game.

use std::cmp::Ordering;

use shakmaty::Color;

use orbit_core::{record::GameFacts, text::decode};

/// Returns the rating of a side or, without a side, the higher of the two ratings. A rating is the number at the start of the tag
/// value, if it is at least 1.
pub(super) fn elo(game: &dyn GameFacts, color: Option<Color>) -> Option<i32> {
    let rating = |name| at_least_1(leading_digits(game.tag(name)?));
    match color {
        Some(Color::White) => rating("WhiteElo"),
        Some(Color::Black) => rating("BlackElo"),
        // `None` is less than any rating.
        None => rating("WhiteElo").max(rating("BlackElo")),
    }
}

/// Returns the year of the date tag, if its first four bytes are digits and the year is at least 1.
pub(super) fn year(game: &dyn GameFacts) -> Option<i32> {
    let digits = leading_digits(game.tag("Date")?.get(..4)?);
    if digits.len() == 4 { at_least_1(digits) } else { None }
}

/// Returns the name of a player or, without a side, both names with a line feed in between.
pub(super) fn player(game: &dyn GameFacts, color: Option<Color>) -> Option<Vec<u8>> {
    match color {
        Some(Color::White) => tag(game, "White"),
        Some(Color::Black) => tag(game, "Black"),
        None => Some([tag(game, "White")?, tag(game, "Black")?].join(&b'\n')),
    }
}

/// Returns a tag value in the normalised form that filters compare.
pub(super) fn tag(game: &dyn GameFacts, name: &str) -> Option<Vec<u8>> {
    let value = game.tag(name);
    match name {
        "White" | "Black" => Some(spelt(value.unwrap_or(b"?"))),
        "Event" | "Site" => Some(value.unwrap_or(b"?").to_vec()),
        "Date" | "EventDate" => Some(filled(value.unwrap_or(b"?"))),
        _ => value.map(<[u8]>::to_vec),
    }
}

/// Normalises a name: one space after each comma, no repeated spaces, and no space at the end.
pub(super) fn spelt(name: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::new();
    for &byte in name {
        if out.last() == Some(&b',') && byte != b' ' && byte != b'\t' {
            out.push(b' ');
        }
        match byte {
            b' ' | b'\t' if out.last() == Some(&b' ') => {}
            b' ' | b'\t' => out.push(b' '),
            _ => out.push(byte),
        }
    }
    while out.last() == Some(&b' ') {
        out.pop();
    }
    out
}

/// Normalises a date to the form `2015.05.??`: year, month and day, with `?` for each unknown digit. A string that is
/// not a date is returned unchanged.
fn filled(date: &[u8]) -> Vec<u8> {
    let mut parts: Vec<&[u8]> = date.split(|&byte| byte == b'.').collect();
    parts.resize(parts.len().max(3), b"");
    let mut out = Vec::new();
    for (part, digits) in parts.iter().zip([4, 2, 2]) {
        let missing = digits - part.len().min(digits);
        if part.iter().all(|&byte| byte == b'?') && part.len() <= digits {
            out.push(vec![b'?'; digits]);
        } else if part.iter().all(u8::is_ascii_digit)
            && missing <= usize::from(digits == 2)
            && part.len() <= digits
        {
            out.push([&b"0"[..missing], part].concat());
        } else {
            return date.to_vec();
        }
    }
    if parts.len() > 3 { date.to_vec() } else { out.join(&b'.') }
}

/// Returns true if `needle` occurs in `text`, compared by bytes or by letters. The empty string occurs in every string.
pub(super) fn occurs_in(needle: &[u8], text: &[u8]) -> bool {
    memchr::memmem::find(text, needle).is_some() || decode(text).contains(decode(needle).as_ref())
}

/// Compares two strings by their decoded letters. Strings with equal bytes are equal and need not be decoded.
pub(super) fn order(a: &[u8], b: &[u8]) -> Ordering {
    if a == b { Ordering::Equal } else { decode(a).cmp(&decode(b)) }
}

fn leading_digits(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}

/// Parses digits. Returns the number if it is at least 1 and fits in 32 bits.
fn at_least_1(digits: &[u8]) -> Option<i32> {
    let value: i32 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (value >= 1).then_some(value)
}
