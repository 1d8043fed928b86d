//! What a query writes: comments, values to sort by, tags, messages.
//!
//! Nothing of it changes where a query matches. It is evaluated for the games that match, and only where it is wanted.

use serde::{Deserialize, Serialize};

/// What a query writes about the games of one block. Texts are bytes: they may come from a game, in its encoding.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Commentary {
    /// The games of the block that match, in their order.
    pub games: Vec<GameCommentary>,
    /// The messages of all games, those that do not match included, in the order in which they were made; each as it is
    /// printed, `Game: 12 move 3(wtm): text`, and without a line end.
    pub messages: Vec<Vec<u8>>,
}

/// What a query writes about one game that matches.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GameCommentary {
    /// Its index in the block.
    pub index: u32,
    /// At how many positions the query matches.
    pub matches: u32,
    /// Nodes and texts in the order in which they were made, those of the best values of `sort` last. The automatic ones are
    /// among them as far as the header asks for any, but for the number of the game and the values of `sort`.
    pub comments: Vec<(u32, Vec<u8>)>,
    /// The best value of each `sort`, in the order of [`Query::sorts`](orbit_query::Query::sorts).
    pub sorts: Vec<Option<SortValue>>,
    /// Tags with the values that `settag` gives them, in order.
    pub tags: Vec<(String, Vec<u8>)>,
    /// Nodes whose comments `removecomment` takes away.
    pub removed: Vec<u32>,
}

/// A value that games are sorted by.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum SortValue {
    /// Of a number, or of a set: how many squares it has.
    Number(i32),
    /// Of a string; ordered byte by byte.
    Text(Vec<u8>),
}
