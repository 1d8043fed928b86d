//! The output of a query: comments, values to sort by, tags, messages.
//!
//! The output never changes where a query matches. It is computed for the games that match, and only on request.

use serde::{Deserialize, Serialize};

/// The output of a query about the games of one block. Texts are bytes: they may come from a game, in its encoding.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Commentary {
    /// The games of the block that match, in their order.
    pub games: Vec<GameCommentary>,
    /// The messages of all games, including those that do not match, in the order in which they were written. Each has
    /// the form in which it is printed, `Game: 12 move 3(wtm): text`, without a line end.
    pub messages: Vec<Vec<u8>>,
}

/// The output of a query about one game that matches.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GameCommentary {
    /// The index of the game in the block.
    pub index: u32,
    /// The number of positions at which the query matches.
    pub matches: u32,
    /// Nodes and texts in the order in which they were written, followed by those of the best values of `sort`.
    /// Automatic comments that the header requests are included, except for the number of the game and the values of
    /// `sort`.
    pub comments: Vec<(u32, Vec<u8>)>,
    /// The best value of each `sort`, in the order of [`Query::sorts`](orbit_query::TypedQuery::sorts).
    pub sorts: Vec<Option<SortValue>>,
    /// The tags with the values that `settag` gives them, in order.
    pub tags: Vec<(String, Vec<u8>)>,
    /// The nodes whose comments `removecomment` removes.
    pub removed: Vec<u32>,
}

/// A value that games are sorted by.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum SortValue {
    /// The value of a number, or the number of squares of a set.
    Number(i32),
    /// The value of a string; ordered byte by byte.
    Text(Vec<u8>),
}
