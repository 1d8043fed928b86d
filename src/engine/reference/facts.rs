//! What the tags of a game say: numbers and strings that are constant in it.

use shakmaty::Color;

use crate::engine::GameFacts;

/// The rating of a side, or the larger one: the leading digits of the tag, at least 1.
pub(super) fn elo(game: &dyn GameFacts, color: Option<Color>) -> Option<i32> {
    let rating = |name| at_least_1(leading_digits(game.tag(name)?));
    match color {
        Some(Color::White) => rating("WhiteElo"),
        Some(Color::Black) => rating("BlackElo"),
        // `None` is less than any rating.
        None => rating("WhiteElo").max(rating("BlackElo")),
    }
}

/// The year of the date tag, whose first four bytes must be digits; at least 1.
pub(super) fn year(game: &dyn GameFacts) -> Option<i32> {
    let digits = leading_digits(game.tag("Date")?.get(..4)?);
    if digits.len() == 4 { at_least_1(digits) } else { None }
}

/// The name of a side, or both with a line feed between.
pub(super) fn player(game: &dyn GameFacts, color: Option<Color>) -> Option<Vec<u8>> {
    match color {
        Some(Color::White) => game.tag("White").map(<[u8]>::to_vec),
        Some(Color::Black) => game.tag("Black").map(<[u8]>::to_vec),
        None => {
            let (white, black) = (game.tag("White"), game.tag("Black"));
            if white.is_none() && black.is_none() {
                return None;
            }
            Some([white.unwrap_or_default(), b"\n", black.unwrap_or_default()].concat())
        }
    }
}

/// Whether the one text occurs in the other; the empty one occurs everywhere.
pub(super) fn occurs_in(needle: &[u8], text: &[u8]) -> bool {
    (0..=text.len()).any(|start| text[start..].starts_with(needle))
}

fn leading_digits(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}

/// A number of at least 1; none if it does not fit 32 bits.
fn at_least_1(digits: &[u8]) -> Option<i32> {
    let value: i32 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (value >= 1).then_some(value)
}
