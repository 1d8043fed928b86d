//! The output that a query writes for a game: comments, values to sort by, tags and messages.
//!
//! This output never changes the positions at which a query matches. It is computed only for the games that match, and
//! only on request.

use serde::{Deserialize, Serialize};

use super::SortValue;

/// The output of a query for the games of one block. Texts are bytes, because they may quote a game, which can be in
/// any encoding.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Commentary {
    /// The output for each matching game, in the order of the games in the block.
    pub games: Vec<GameCommentary>,
    /// The messages of all games, including games that do not match, in the order in which they were written. Each
    /// message is complete, as in `Game: 12 move 3(wtm): text`, except for the line end.
    pub messages: Vec<Vec<u8>>,
}

/// The output of a query for one game that matches.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GameCommentary {
    /// The index of the game in the block.
    pub index: u32,
    /// The number of positions at which the query matches.
    pub matches: u32,
    /// The comments in the order in which they were written, each with its node (the number of a position in the game).
    /// After these, for each `sort` filter, the comments that were written together with its best value. Automatic
    /// comments that the query's header requests are included, except the comment that gives the number of the game and
    /// those that give the values of `sort`.
    pub comments: Vec<(u32, Vec<u8>)>,
    /// The best value of each `sort`, in the order of [`Query::sorts`](orbit_query::TypedQuery::sorts).
    pub sorts: Vec<Option<SortValue>>,
    /// For each `sort`, the node (position number) at which its best value first occurs; 0 if it has no value.
    pub sorts_at: Vec<u32>,
    /// The tags that `settag` sets, with their new values, in order.
    pub tags: Vec<(String, Vec<u8>)>,
    /// The nodes (position numbers) whose comments `removecomment` removes.
    pub removed: Vec<u32>,
}
