//! Reads tags and player names by CQL's rules.

use super::{GameHeader, date, tags};
use crate::board::Color;

/// Returns the value of a tag by CQL's rules.
pub fn tag_as_cql(game: &impl GameHeader, name: &str) -> Option<Vec<u8>> {
    let value = game.tag_as_cql(name);
    Some(match name {
        "White" | "Black" => tags::name_as_cql(value.unwrap_or(b"?")),
        "Event" | "Site" => value.unwrap_or(b"?").to_vec(),
        "Date" | "EventDate" => date::text_as_cql(value.unwrap_or_default()),
        _ => value?.to_vec(),
    })
}

/// Returns the name of a player by CQL's rules. If `side` is `None`, returns both names, joined by a line feed.
pub fn player_as_cql(game: &impl GameHeader, side: Option<Color>) -> Option<Vec<u8>> {
    let name = |side| tag_as_cql(game, tags::player_tag(side));
    match side {
        Some(side) => name(side),
        None => Some([name(Color::White)?, name(Color::Black)?].join(&b'\n')),
    }
}
