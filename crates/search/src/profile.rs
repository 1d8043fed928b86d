//! Player profiles: results by colour and opening, novelties, themes and endings, use of the clock, and the evaluation lost by the
//! player's moves. Each figure is compared with the value expected from the ratings or with the games of other players.
//!
//! A [`ProfileCollector`] examines all games in one run, with the queries returned by [`queries`]. A [`Profile`] contains the
//! figures computed from the sums, and writes them as text, HTML and JSON. Invariant: a profile does not depend on how the games
//! are divided into blocks. All sums are integers, so the order of addition does not matter.

mod collect;
mod figures;
mod novelties;
mod scored;
mod written;

use orbit_core::diagnostic::Diagnostic;
use orbit_engine::PreparedQuery;
use orbit_plan::PlanOptions;

use crate::themes;

pub use self::collect::{
    ClockTally, LossTallies, LossTally, PositionRecord, ProfileCollector, ProfilePart, Record, ThemeTally,
};
pub use self::figures::{
    ClockShare, GapRow, LossRow, Losses, NameGames, OpeningTable, Profile, SideRow, ThemeRow, ThemeShare,
};
pub use self::novelties::{MoveGames, NoveltyRow, PlayerNovelties};
pub use self::scored::Scored;

/// The names, in the catalogue, of the themes that a profile counts. They concern pawn structures, pieces, tactics and mates.
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

/// The types of endings in a profile and their queries. Besides the named pieces, there are only kings and pawns. The condition
/// `not [x]` excludes positions in which the next move of the game is a capture, because a position in the middle of an exchange is
/// not an ending.
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

/// Returns the queries of a profile: the themes, followed by the endings.
///
/// # Errors
///
/// Fails if a query is invalid. A test checks that none is.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::{Choice, Player};
    use crate::executor::{EngineOptions, Executor};
    use crate::run::{Part as _, Run};
    use orbit_database::{BlockStream, StreamOptions};

    #[test]
    fn each_theme_and_ending_has_a_query_about_main_lines() {
        let queries = queries().unwrap();
        assert_eq!((queries.len(), titles().len()), (THEMES.len() + ENDINGS.len(), THEMES.len()));
        assert!(queries.iter().all(|prepared| !prepared.query.variations));
    }

    /// Each position counts only as the ending that its pieces determine, and each game counts for every ending that it reaches.
    #[test]
    fn endings_are_told_by_their_pieces() {
        let position = |fen: &str| format!("[White \"Ann\"]\n[Result \"1-0\"]\n[FEN \"{fen}\"]\n\n1-0\n\n");
        for (fen, due) in [
            ("4k3/4p3/8/8/8/8/8/4K3 w - - 0 1", &["pawns alone"][..]),
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", &[]),
            ("r3k3/4p3/8/8/8/8/8/4K2R w - - 0 1", &["rook against rook"]),
            ("rr2k3/8/8/8/8/8/8/4K1RR w - - 0 1", &["two rooks against two"]),
            ("q3k3/8/8/8/8/8/8/4K2Q w - - 0 1", &["queen against queen"]),
            ("n3k3/8/8/8/8/8/8/4K2N w - - 0 1", &["knight against knight"]),
            ("n3k3/8/8/8/8/8/8/4K2B w - - 0 1", &["bishop against knight"]),
            ("b3k3/8/8/8/8/8/8/4K1N1 w - - 0 1", &["bishop against knight"]),
            ("b3k3/8/8/8/8/8/8/4K2B w - - 0 1", &["bishops of the same colour"]),
            ("b3k3/8/8/8/8/8/8/4KB2 w - - 0 1", &["bishops of the same colour"]),
            ("b3k3/8/8/8/8/8/8/4K1B1 w - - 0 1", &["bishops of opposite colours"]),
            ("rb2k3/8/8/8/8/8/8/4K1NR w - - 0 1", &["rook and minor piece each"]),
            ("r3k3/8/8/8/8/8/8/4K1N1 w - - 0 1", &["rook against minor piece"]),
            ("qr2k3/8/8/8/8/8/8/4K1NR w - - 0 1", &[]),
        ] {
            let part = collected(&position(fen));
            let reached = ENDINGS.iter().zip(&part.endings).filter(|(_, record)| record.games == 1);
            assert_eq!(reached.map(|(ending, _)| ending.0).collect::<Vec<_>>(), due, "{fen}");
            assert_eq!(part.endings[ENDINGS.len()].games, due.len() as u64, "{fen}");
        }
    }

    fn collected(games: &str) -> ProfilePart {
        let scan = Executor::new(queries().unwrap(), &EngineOptions::default()).unwrap();
        let options = StreamOptions::default();
        let database = BlockStream::from_pgn_bytes("games", games.as_bytes().to_vec(), options);
        let collector = ProfileCollector::new(Player::new("Ann".parse().unwrap()), false);
        Run::new(&scan, &Choice::default(), &collector).collect(database).unwrap().0
    }

    #[test]
    fn parts_add_up_to_the_part_of_all_games() {
        let game = |white: &str, black: &str, elo: u32, moves: &str| {
            format!(
                "[White \"{white}\"]\n[Black \"{black}\"]\n[WhiteElo \"{elo}\"]\n[BlackElo \"2317\"]\n\n{moves}\n\n"
            )
        };
        let [one, two] = [
            game("Ann", "Bob", 2411, "1. e4 e6 2. d4 d5 3. e5 c5 1-0")
                + &game("Bob", "Cid", 2100, "1. d4 d5 1/2-1/2"),
            game("Bob", "Ann", 2203, "1. e4 c5 0-1") + &game("Cid", "Ann", 2600, "1. e4 e6 2. d4 d5 3. e5 *"),
        ];
        let mut sum = collected(&one);
        sum.merge(ProfilePart::from_bytes(&collected(&two).to_bytes()).unwrap()).unwrap();
        // `best` and `games_hash` depend on the numbers of games, which differ between the two runs. Profiles show neither.
        let mut whole = collected(&(one + &two));
        sum.tallies.iter_mut().chain(&mut whole.tallies).for_each(|tally| tally.best = None);
        let positions = sum.positions.iter_mut().chain(&mut whole.positions);
        positions.flat_map(|of_side| of_side.values_mut()).for_each(|position| position.games_hash = 0);
        assert_eq!(sum, whole);
        assert_eq!(
            (whole.others, whole.records.map(|record| (record.games, record.rated))),
            (1, [(1, 1), (2, 1)])
        );
        // Ann's rating is 94 points higher than Bob's, so her expected score is 1 / (1 + 10^(-94/400)).
        assert_eq!(whole.records[0].expected_millionths, 632_070);
    }
}
