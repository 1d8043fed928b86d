//! Facts about a game from its header: tags, ratings, dates, players, openings, addresses, the numbers of its moves; and the
//! clocks and evaluations in its comments.
//!
//! Each fact has one reader here, and all code that needs the fact uses it: the columns of the engines, the conditions of
//! `--where`, the groups of `--stats`, tables and reports. For the query language the rule of CQL holds, and the reader's name
//! ends in `as_cql`; everything else follows the rule of `docs/tags.md`. The two rules side by side:
//!
//! | fact | the query language | everything else |
//! |---|---|---|
//! | a tag's name | as it is spelt | in any case of its letters |
//! | a text | unchanged bytes; `?` if `White`, `Black`, `Event` or `Site` is missing | [`tags::text`]: decoded and trimmed |
//! | a rating | [`rating::value_as_cql`]: leading digits, at least 1 | [`rating::of_value`]: the number after blanks, 1 to 9999 |
//! | a year | [`date::year_as_cql`]: the first four bytes of `Date` | [`Date`]: parts of `Date`, or else of `UTCDate` |
//! | a name | [`tags::name_as_cql`]: one blank after each comma | as a text; `?` and `-` mean "unknown" |
//! | a FIDE number | as a text | [`fide`]: digits alone, not 0 |
//! | an opening | as a text | [`eco::of_value`]: a letter and two digits |
//! | the name of an opening | not at all | [`Opening`]: by positions, whatever tags say |
//! | a title, an end, a time control | as a text | [`title`], [`termination`], [`Speed`] |
//! | clocks and evaluations | not at all | [`measures`]: commands in comments |
//!
//! The reference engine has readers of its own, so that it can disagree. The result of a game is read with its moves: `Outcome`.
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
