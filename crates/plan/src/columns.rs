//! Conditions and numbers that are constant in a game. They are computed from its tags once per game, and an engine gets them as
//! columns indexed by game.

use shakmaty::Color;

use orbit_query::tree::{Cmp, GameResult};

/// A column: a mask or a number with one entry for each game.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TagColumn {
    /// Mask: the game ended with this result, according to its movetext.
    Result(GameResult),
    /// Number: the rating of one side, or for `None` the higher rating. There is no value if the rating is unknown or below 1.
    Elo(Option<Color>),
    /// Number: the year of the game. There is no value if the year is unknown or below 1.
    Year,
    /// Number: the number of the game.
    GameNumber,
    /// Mask: the sides of the game are swapped.
    Swapped,
    /// Mask: a test of strings holds.
    Text(TextTest),
}

/// A condition on strings. If an operand has no value, `!=` is true and every other condition is false.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TextTest {
    /// The string has a value.
    HasValue(TagText),
    /// Compares two strings byte by byte.
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
    /// The value of a tag. Missing values, names and dates follow the rules of the language.
    Tag(String),
    /// The name of one player, or for `None` both names with a line feed between them.
    Player(Option<Color>),
}
