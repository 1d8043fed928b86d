//! A player's profile: the results by colour and opening, the themes and endings of the games, and the clock, each against what
//! ratings or the other games let expect.
//!
//! A [`ProfileCollector`] looks at all games in one pass, with the queries of [`queries`]. A [`Profile`] has the figures, and writes
//! them as text, as a page and as JSON. The invariant: all sums are whole numbers, so that a profile does not depend on the division
//! of the games into blocks.

mod collect;
mod figures;
mod written;

use orbit_core::diagnostic::Diagnostic;
use orbit_engine::PreparedQuery;
use orbit_plan::PlanOptions;

use crate::themes;

pub use self::collect::{ClockTally, ProfileCollector, ProfilePart, Record, ThemeTally};
pub use self::figures::{
    ClockShare, GapRow, NameGames, OpeningTable, Profile, Scored, SideRow, ThemeRow, ThemeShare,
};

/// The themes of a profile, by their names in the catalogue: structures, pieces, tactics and mates.
pub const THEMES: [&str; 20] = [
    "isolated-queens-pawn",
    "hanging-pawns",
    "doubled-isolated-pawns",
    "protected-passed-pawn",
    "carlsbad-structure",
    "maroczy-bind",
    "stonewall",
    "hedgehog",
    "french-chain",
    "kings-indian-chain",
    "opposite-castling",
    "bishop-pair",
    "bad-bishop",
    "knight-outpost",
    "rook-on-the-seventh",
    "exchange-ahead",
    "royal-fork",
    "greek-gift",
    "back-rank-mate",
    "smothered-mate",
];

/// The kinds of endings of a profile, with their queries. Kings and pawns stand on the board besides the pieces that a name tells. In
/// none of these positions does a capture follow at once, so that an exchange under way is no ending.
pub const ENDINGS: [(&str, &str); 10] = [
    ("pawns alone", "{not [x] [Pp] not [QRBNqrbn]}"),
    ("rook against rook", "{not [x] R == 1 r == 1 not [QBNqbn]}"),
    ("two rooks against two", "{not [x] R == 2 r == 2 not [QBNqbn]}"),
    ("queen against queen", "{not [x] Q == 1 q == 1 not [RBNrbn]}"),
    ("knight against knight", "{not [x] N == 1 n == 1 not [QRBqrb]}"),
    ("bishop against knight", "flipcolor {not [x] B == 1 n == 1 not [QRNqrb]}"),
    (
        "bishops of the same colour",
        "{not [x] B == 1 b == 1 not [QRNqrn] {light B light b} or {dark B dark b}}",
    ),
    (
        "bishops of opposite colours",
        "{not [x] B == 1 b == 1 not [QRNqrn] {light B dark b} or {dark B light b}}",
    ),
    ("rook and minor piece each", "{not [x] R == 1 r == 1 [BN] == 1 [bn] == 1 not [Qq]}"),
    ("rook against minor piece", "flipcolor {not [x] R == 1 [bn] == 1 not [QBNqr]}"),
];

/// Returns the queries of a profile: those of the themes, and those of the endings after them.
///
/// # Errors
///
/// A query cannot be read or planned; a test runs all of them.
pub fn queries() -> Result<Vec<PreparedQuery>, Diagnostic> {
    let mut catalogue = themes::built_in();
    catalogue.retain(|theme| THEMES.contains(&&*theme.name));
    catalogue.sort_by_key(|theme| THEMES.iter().position(|name| theme.name == *name));
    let endings = ENDINGS.iter().map(|(_, query)| Ok(orbit_query::parse(query)?.query));
    let queries = catalogue.into_iter().map(|theme| Ok(theme.parsed.query)).chain(endings);
    queries.map(|query| PreparedQuery::new(query?, PlanOptions::default())).collect()
}

/// Returns the titles of the themes, in the order of [`THEMES`].
fn titles() -> Vec<String> {
    let catalogue = themes::built_in();
    let title =
        |name: &&str| catalogue.iter().find(|theme| theme.name == *name).map(|theme| theme.title.clone());
    THEMES.iter().filter_map(title).collect()
}
