//! Reads the titles of players.

use super::tags;
use crate::board::Color;

/// Returns the name of the tag that contains the title of the player of `side`.
pub const fn tag(side: Color) -> &'static str {
    match side {
        Color::White => "WhiteTitle",
        Color::Black => "BlackTitle",
    }
}

/// Returns the title in capital letters, such as `GM`, `WIM` or `BOT`. Returns `None` if the value is empty, `?` or `-`.
pub fn of_value(value: &[u8]) -> Option<String> {
    let text = tags::text(value);
    (!matches!(&*text, "" | "?" | "-")).then(|| text.to_uppercase())
}
