//! Conditions and numbers that are constant in a game: computed once a game from its tags, and
//! handed to an engine as columns indexed by game.

use shakmaty::Color;

use orbit_query::tree::{Cmp, GameResult};

/// One column.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TagColumn {
    /// Mask: the movetext ended so.
    Result(GameResult),
    /// Number, if known and at least 1: the rating of one side, or the larger of both.
    Elo(Option<Color>),
    /// Number, if known and at least 1.
    Year,
    /// Number.
    GameNumber,
    /// Mask: the sides of the game have changed places.
    Swapped,
    /// Mask.
    Text(TextTest),
}

/// A condition on strings. Where an operand has no value `!=` is true, all else false.
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
    /// A literal that is spelt as names are.
    Name(String),
    /// The value of a tag, missing ones, names and dates as the language reads them.
    Tag(String),
    /// `White`, `Black`, or both with a line feed between.
    Player(Option<Color>),
}
