//! Conditions and numbers that are constant in a game. They are computed from its tags once per game, and an engine gets them as
//! columns indexed by game.

use shakmaty::Color;

use orbit_query::tree::{Cmp, GameResult};

/// One column.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TagColumn {
    /// Mask: the game ended with this result, by its movetext.
    Result(GameResult),
    /// Number, if known and at least 1: the rating of one side, or for `None` the higher of both.
    Elo(Option<Color>),
    /// Number, if known and at least 1: the year.
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
    /// Bytewise comparison.
    Compare(Cmp, TagText, TagText),
    /// The first is a substring of the second.
    In(TagText, TagText),
}

/// A string that is constant in a game.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TagText {
    /// A literal.
    Literal(String),
    /// A literal, normalized as names of players are.
    Name(String),
    /// The value of a tag; missing values, names and dates are read as the language does.
    Tag(String),
    /// `White`, `Black`, or both with a line feed between.
    Player(Option<Color>),
}
