//! Conditions and numbers that are constant in a game. They are computed from the game's tags once, and an engine receives them
//! as columns that are indexed by game.

use shakmaty::Color;

use orbit_query::tree::{Cmp, GameResult};

/// A column: a mask or a number for each game.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TagColumn {
    /// Mask: the game ended with this result, according to its movetext.
    Result(GameResult),
    /// Number: the rating of one side, or with `None` the higher of the two ratings. It has no value if the rating is unknown or
    /// below 1.
    Elo(Option<Color>),
    /// Number: the year of the game. It has no value if the year is unknown or below 1.
    Year,
    /// Number: the number of the game.
    GameNumber,
    /// Mask: White and Black of the game are swapped.
    Swapped,
    /// Mask: a test of strings succeeds.
    Text(TextTest),
}

/// A condition on strings. If an operand has no value, `!=` is true and every other condition is false.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TextTest {
    /// The string has a value.
    HasValue(TagText),
    /// The strings, compared byte by byte, are in this relation.
    Compare(Cmp, TagText, TagText),
    /// The first string is a substring of the second.
    In(TagText, TagText),
}

/// A string that is constant in a game.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TagText {
    /// A literal.
    Literal(String),
    /// A literal, normalized in the same way as the names of players.
    Name(String),
    /// The value of a tag. Missing values, names and dates are treated as the language defines.
    Tag(String),
    /// The name of one player, or with `None` both names with a line feed between them.
    Player(Option<Color>),
}
