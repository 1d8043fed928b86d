//! Reads the ratings of players.

use std::str::FromStr;

use super::GameHeader;
use crate::board::Color;

/// The highest number that counts as a rating.
pub const RATING_MAX: u32 = 9_999;

/// A rating of a game: the rating of one player, or a number computed from the ratings of both.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rating {
    /// The higher rating of the two players, or the rating of the only rated player, as the query filter `elo` defines it.
    Higher,
    /// The mean of both ratings, rounded down, or the rating of the only rated player.
    Mean,
    /// White's rating.
    White,
    /// Black's rating.
    Black,
    /// White's rating minus Black's, if both ratings are known.
    Difference,
}

impl Rating {
    /// Computes this rating from the ratings of the two sides, where `None` means unknown.
    pub fn of_players(self, white: Option<u32>, black: Option<u32>) -> Option<i64> {
        let (white, black) = (white.map(i64::from), black.map(i64::from));
        match self {
            Rating::Higher => white.max(black),
            Rating::Mean => white.zip(black).map(|(white, black)| (white + black) / 2).or(white).or(black),
            Rating::White => white,
            Rating::Black => black,
            Rating::Difference => white.zip(black).map(|(white, black)| white - black),
        }
    }

    /// Returns this rating of `game`, or `None` if it is unknown.
    pub fn of_game(self, game: &impl GameHeader) -> Option<i64> {
        let [white, black] =
            [Color::White, Color::Black].map(|side| game.tag_named(tag(side)).and_then(of_value));
        self.of_players(white, black)
    }
}

/// Returns the name of the tag that contains the rating of the player of `side`.
pub const fn tag(side: Color) -> &'static str {
    match side {
        Color::White => "WhiteElo",
        Color::Black => "BlackElo",
    }
}

/// Reads the rating at the start of a tag value, after any blanks: `2700`, ` 2700 (FIDE)`, `1500?`. Returns `None` if it is not a
/// number from 1 to 9999.
pub fn of_value(value: &[u8]) -> Option<u32> {
    leading_number(value.trim_ascii()).filter(|rating| (1..=RATING_MAX).contains(rating))
}

/// Reads the rating at the start of a tag value by CQL's rule. Returns `None` unless it is a number from 1 to 2147483647.
pub fn value_as_cql(value: &[u8]) -> Option<i32> {
    leading_number(value).filter(|&rating| rating >= 1)
}

/// Returns the rating of a side by CQL's rule. If `side` is `None`, returns the higher of the two ratings.
pub fn of_game_as_cql(game: &impl GameHeader, side: Option<Color>) -> Option<i32> {
    let rating = |side| game.tag_as_cql(tag(side)).and_then(value_as_cql);
    match side {
        Some(side) => rating(side),
        None => rating(Color::White).max(rating(Color::Black)),
    }
}

/// Reads the digits at the start of a text as a number. Returns `None` if there are none, or if the number does not fit the type.
fn leading_number<N: FromStr>(text: &[u8]) -> Option<N> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    str::from_utf8(&text[..digits]).ok()?.parse().ok()
}
