//! Reads tag values as text, and the names of players.

use std::borrow::Cow;

use super::{GameHeader, known};
use crate::board::Color;
use crate::text::decode;

/// Returns the tag that names the player of a side: `White` or `Black`.
pub const fn player_tag(side: Color) -> &'static str {
    match side {
        Color::White => "White",
        Color::Black => "Black",
    }
}

/// Returns the value of a tag as text, without blanks around it.
pub fn text(value: &[u8]) -> Cow<'_, str> {
    match decode(value) {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}

/// Returns the value of a tag as text, or `None` if the value means "unknown". An empty value and `?` mean "unknown" in every tag.
/// In the tags of players and events, `-` also means "unknown". In dates, so does any value without letters and digits.
pub fn known_value<'a>(name: &str, value: &'a [u8]) -> Option<Cow<'a, str>> {
    let text = text(value);
    let is_person_or_event =
        || ["White", "Black", "Event"].iter().any(|known| known.eq_ignore_ascii_case(name));
    let is_unknown = match &*text {
        "" | "?" => true,
        "-" if is_person_or_event() => true,
        text => known::is_date(name) && !text.bytes().any(|byte| byte.is_ascii_alphanumeric()),
    };
    (!is_unknown).then_some(text)
}

/// Returns the value of the first tag named `name`, unless it means "unknown" by the rule of [`known_value`].
pub fn known<'a>(game: &'a impl GameHeader, name: &str) -> Option<Cow<'a, str>> {
    known_value(name, game.tag_named(name)?)
}

/// Returns the name of a player, if it is known.
pub fn player(game: &impl GameHeader, side: Color) -> Option<Cow<'_, str>> {
    known(game, player_tag(side))
}

/// Returns a name as CQL compares it, with one blank after each comma, and without repeated or trailing blanks.
pub fn name_as_cql(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len() + 4);
    let mut after_blank = false;
    for &byte in name {
        if matches!(byte, b' ' | b'\t') {
            after_blank = true;
            continue;
        }
        if after_blank || out.last() == Some(&b',') {
            out.push(b' ');
        }
        after_blank = false;
        out.push(byte);
    }
    out
}
