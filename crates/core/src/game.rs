//! What a game says of itself: tags, ratings, dates, players, openings, addresses, the numbers of its moves, and
//! what comments say of clocks.
//!
//! Each fact has one reader here, and everything that asks for the fact goes through it: the columns of the engines, the
//! conditions of `--where`, the groups of `--stats`, tables and reports. Where the query language asks, the rule of CQL holds, and
//! its reader ends in `as_cql`; everything else asks by the rule of `docs/tags.md`. The two stand side by side:
//!
//! | fact | the query language | everything else |
//! |---|---|---|
//! | a tag's name | as it is spelt | whatever the case of its letters |
//! | a text | bytes as found; a missing `White`, `Black`, `Event` or `Site` is `?` | [`tags::text`]: decoded, without blanks around it |
//! | a rating | [`rating::value_as_cql`]: digits from the first byte on, at least 1 | [`rating::of_value`]: the number after blanks, 1 to 9999 |
//! | a year | [`date::year_as_cql`]: the first four bytes of `Date` | [`Date`]: parts with `.`, `-` or `/` between them, of `Date`, or else of `UTCDate` |
//! | a name | [`tags::name_as_cql`]: one blank behind each comma | as a text; `?` and `-` are nobody |
//! | a FIDE number | as a text | [`fide`]: digits alone, more than 0 |
//! | an opening | as a text | [`eco::of_value`]: a letter and two digits |
//! | the name of an opening | not at all | [`Opening`]: by positions, whatever tags say |
//! | a title, an end, a time control | as a text | [`title`], [`termination`], [`Speed`] |
//! | clocks and evaluations | not at all | [`measures`]: commands in comments |
//!
//! The reference engine has readings of its own, so that it can disagree. How a game ended is read with its moves:
//! `Outcome`.
//!
//! Nothing here knows a block, a query or an output. The invariant: a fact depends on the header of its game alone.

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
pub use moves::MoveNumbers;
pub use names::{Nearness, NoName, PlayerName, are_alike};
pub use opening::Opening;
pub use people::{Mention, who_is_who};
pub use rating::Rating;
pub use time_control::Speed;
pub use url::url;

#[cfg(test)]
mod tests;
