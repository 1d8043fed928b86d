//! Reads the dates of games.

use std::borrow::Cow;
use std::fmt;

use super::{GameHeader, tags};

/// A date whose month or day may be unknown: `2015.03.??`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Date {
    /// The year.
    pub year: u16,
    /// The month, 1 to 12, if it is known.
    pub month: Option<u8>,
    /// The day of the month, 1 to 31, if it is known. It can be known only if the month is known.
    pub day: Option<u8>,
}

impl Date {
    /// Reads a date such as `2015.03.07`, `2015-03-07`, `2015/3/7`, `2015.03` or `2015`. A month or day that is not a number is
    /// unknown. Returns `None` for the year 0.
    pub fn parse(text: &str) -> Option<Date> {
        let mut parts = text.trim().splitn(3, ['.', '-', '/']);
        // Only digits are accepted, since `str::parse` alone would accept a sign.
        let number = |text: &str| -> Option<u16> {
            text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
        };
        let year = parts.next().filter(|year| year.len() == 4).and_then(number).filter(|&year| year > 0)?;
        let mut part = |max| {
            let part = number(parts.next()?.trim()).and_then(|part| u8::try_from(part).ok());
            part.filter(|part| (1..=max).contains(part))
        };
        let month = part(12);
        Some(Date { year, month, day: part(31).filter(|_| month.is_some()) })
    }

    /// Reads the date in a tag value, as [`Date::parse`] does.
    pub fn from_value(value: &[u8]) -> Option<Date> {
        Date::parse(&tags::text(value))
    }

    /// Returns the date of a game: the value of the tag `Date` or, if that is unknown, of `UTCDate`.
    pub fn from_game(game: &impl GameHeader) -> Option<Date> {
        Date::from_value(game.tag_named(tag(game))?)
    }

    /// Returns the date in the form `2015-03-07`, if the day is known and exists in the month.
    pub fn iso(self) -> Option<String> {
        let Date { year, month: Some(month), day: Some(day) } = self else { return None };
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            2 => 28 + u8::from(is_leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        (day <= days).then(|| format!("{year:04}-{month:02}-{day:02}"))
    }

    /// Returns the year, the month and the day. Unknown parts are `None`.
    pub fn parts(self) -> [Option<u16>; 3] {
        [Some(self.year), self.month.map(u16::from), self.day.map(u16::from)]
    }
}

impl fmt::Display for Date {
    /// Writes the date as in PGN, with `?` for unknown parts: `2015.03.??`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}", self.year)?;
        [self.month, self.day].iter().try_for_each(|part| match part {
            Some(part) => write!(f, ".{part:02}"),
            None => f.write_str(".??"),
        })
    }
}

/// The tags that may contain the date of a game, in order of preference.
pub const TAGS: [&str; 2] = ["Date", "UTCDate"];

/// Returns the name of the tag from which the date of a game is read: `UTCDate` if only that tag has a known date, and otherwise
/// `Date`.
pub fn tag(game: &impl GameHeader) -> &'static str {
    let is_known = |name: &&str| game.tag_named(name).and_then(Date::from_value).is_some();
    TAGS.into_iter().find(is_known).unwrap_or(TAGS[0])
}

/// Returns the date of a game as the tag spells it, or `None` if the tag is missing or its value means "unknown".
pub fn known_text(game: &impl GameHeader) -> Option<Cow<'_, str>> {
    tags::known(game, tag(game))
}

/// Returns the year by CQL's rule: the first four bytes of the tag `Date`, if they are digits and not all 0.
pub fn year_as_cql(game: &impl GameHeader) -> Option<i32> {
    let year = game.tag_as_cql("Date")?.get(..4)?;
    let is_number = year.iter().all(u8::is_ascii_digit);
    let number = || year.iter().fold(0, |number, digit| 10 * number + i32::from(digit - b'0'));
    is_number.then(number).filter(|&year| year >= 1)
}

/// Completes a date as CQL does, with `?` for missing parts and leading zeros: `2015` becomes `2015.??.??`, `2015.5.3` becomes
/// `2015.05.03`. Text that is not a date is not changed.
pub(super) fn text_as_cql(date: &[u8]) -> Vec<u8> {
    let part = |text: &[u8], digits: usize| match text {
        text if text.len() <= digits && text.iter().all(|&b| b == b'?') => Some(vec![b'?'; digits]),
        text if text.len() == digits && text.iter().all(u8::is_ascii_digit) => Some(text.to_vec()),
        [digit] if digits == 2 && digit.is_ascii_digit() => Some(vec![b'0', *digit]),
        _ => None,
    };
    let mut parts = date.split(|&b| b == b'.');
    match [4, 2, 2].map(|digits| part(parts.next().unwrap_or_default(), digits)) {
        [Some(year), Some(month), Some(day)] if parts.next().is_none() => [year, month, day].join(&b'.'),
        _ => date.to_vec(),
    }
}
