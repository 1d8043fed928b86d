//! The one reading of the query language that depends on the name of a tag.

use super::{Header, date, tags};

/// A tag as the query language reads it.
pub fn tag_as_cql(game: &impl Header, name: &str) -> Option<Vec<u8>> {
    let value = game.tag_as_cql(name);
    Some(match name {
        "White" | "Black" => tags::name_as_cql(value.unwrap_or(b"?")),
        "Event" | "Site" => value.unwrap_or(b"?").to_vec(),
        "Date" | "EventDate" => date::text_as_cql(value.unwrap_or_default()),
        _ => value?.to_vec(),
    })
}
