//! An opening explorer like lichess's. It shows the moves played in a position, with their results and ratings, and example games.
//!
//! An [`ExplorerRequest`] is a position and a selection of games, read from the strings of a command line or an HTTP request. Its
//! query finds the positions with the same pieces. An [`Explorer`] keeps only the positions that also have the same castling and en
//! passant rights. An [`Explored`] writes the result in lichess's JSON format or as a table. Invariant: a game counts once for a
//! position, no matter by which moves and how often it reaches the position. A [table of positions](orbit_visits) provides most of
//! the result without reading the games.

mod asked;
mod collect;
mod tabled;
mod totalled;
mod written;

pub use self::asked::{AskError, ExplorerRequest, LISTED_MAX, Parameters};
pub use self::collect::{ExploredGame, ExploredMove, Explorer, ExplorerPart};
pub use self::tabled::TabledGames;
pub use self::written::Explored;
