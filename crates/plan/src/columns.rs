//! Conditions and numbers that are constant in a game. They are computed only once for each game, most of them from its tags. An
//! engine receives them as columns with one entry for each game.

use shakmaty::Color;

use orbit_query::tree::{Cmp, GameResult};

/// A column, that is, one mask or number for each game.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TagColumn {
    /// Mask: the game ended with this result, according to its movetext.
    Result(GameResult),
    /// Number: the rating of one side or, with `None`, the higher of the two ratings. There is no value if the rating is unknown or
    /// below 1.
    Elo(Option<Color>),
    /// Number: the year of the game. There is no value if the year is unknown or below 1.
    Year,
    /// Number: the number of the game in its database.
    GameNumber,
    /// Number: the number of the last game of the database. It has no value if it is unknown.
    LastGameNumber,
    /// Mask: the game is evaluated with White and Black swapped, so that a given player is always on the same side.
    Swapped,
    /// Mask: a condition on strings is true.
    Text(TextTest),
}

/// A condition on strings. If an operand has no value, `!=` is true and every other condition is false.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TextTest {
    /// The string has a value.
    HasValue(TagText),
    /// The two strings, compared byte by byte, are in the given relation.
    Compare(Cmp, TagText, TagText),
    /// The first string is a substring of the second.
    In(TagText, TagText),
}

/// A string that is the same throughout a game.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TagText {
    /// A literal.
    Literal(String),
    /// A literal that is compared with player names, and is normalized like them.
    Name(String),
    /// The value of a tag. Missing values, names and dates are normalized as the language requires.
    Tag(String),
    /// The name of one player or, with `None`, both names, separated by a line feed.
    Player(Option<Color>),
}
