//! An opening explorer: the moves that were played in a position, with results and ratings, and games, as lichess's has them.
//!
//! [`ExplorerRequest`] is a position and the games that count, read from texts as the command line and HTTP have them; a query finds the
//! positions with its men, an [`Explorer`] collects those that are the same to the last right, and an [`Explored`] writes them as
//! lichess does, or as a table. The invariant: a game counts once for a position, whichever way it came there and however often.

mod asked;
mod collect;
mod written;

pub use self::asked::{AskError, ExplorerRequest, LISTED_MAX, Parameters};
pub use self::collect::{ExploredGame, ExploredMove, Explorer, ExplorerPart};
pub use self::written::Explored;
