//! Reads facts about a game from its header: tags, ratings, dates, players, openings, web addresses, and move numbers. It also
//! reads the clocks and evaluations in comments.
//!
//! Each fact is read by one function here, which all other code calls: the engines, the conditions of `--where`, the groups of
//! `--stats`, tables and reports. There are two rules for reading a fact. Queries follow CQL's rule, in functions whose names end
//! in `as_cql`. Everything else follows the rule of `docs/tags.md`. The table compares the two rules:
//!
//! | fact | the query language | everything else |
//! |---|---|---|
//! | the name of a tag | upper and lower case differ | upper and lower case are the same |
//! | a text | unchanged bytes; `?` if `White`, `Black`, `Event` or `Site` is missing | [`tags::text`]: decoded and trimmed |
//! | a rating | [`rating::value_as_cql`]: leading digits, at least 1 | [`rating::of_value`]: the number after blanks, 1 to 9999 |
//! | a year | [`date::year_as_cql`]: the first four bytes of `Date` | [`Date`]: parts of `Date`, or else of `UTCDate` |
//! | a player's name | [`tags::name_as_cql`]: one blank after each comma | as a text; `?` and `-` mean "unknown" |
//! | a FIDE number | as a text | [`fide`]: digits alone, not 0 |
//! | an opening | as a text | [`eco::of_value`]: a letter and two digits |
//! | the name of an opening | not read | [`Opening`]: by positions, not by tags |
//! | a title, a termination, a time control | as a text | [`title`], [`termination`], [`Speed`] |
//! | clocks and evaluations | not read | [`measures`]: commands in comments |
//!
//! The reference engine has its own functions for these facts, so a comparison of the engines can find bugs here. The result of a
//! game is not read here, but with its movetext, as an `Outcome`.
//!
//! This module does not depend on blocks, queries or outputs. Invariant: a fact depends only on its own game and, except for
//! openings, clocks and evaluations, only on the header of that game.

mod cql;
pub mod date;
pub mod eco;
pub mod fide;
mod header;
pub mod known;
pub mod measures;
mod moves;
mod names;
mod opening;
mod people;
pub mod rating;
pub mod tags;
pub mod termination;
pub mod time_control;
pub mod title;
mod url;

pub use cql::{player_as_cql, tag_as_cql};
pub use date::Date;
pub use eco::Eco;
pub use header::GameHeader;
pub use measures::{Eval, Measure, Measures};
pub use moves::{MoveNumbers, fen_counter};
pub use names::{Nearness, NoName, PlayerName, are_alike};
pub use opening::Opening;
pub use people::{Mention, who_is_who};
pub use rating::Rating;
pub use time_control::Speed;
pub use url::{lichess_id, url};

#[cfg(test)]
mod tests;
