//! Tests openings determined by the moves of games. The expected openings come from games that pgn-reader parses and shakmaty
//! replays. Positions count as equal if their FENs without counters are equal.

use std::collections::BTreeMap;

use orbit_chess::{Database, DatabaseOptions, Query};
use orbit_search::stats::Counts;

use super::next::sample;
use crate::common::openings::{epd, listed};
use crate::database::SAMPLE;

/// Returns the number of games with hits in each group.
fn shown(counts: &Counts, grouping: &str) -> BTreeMap<String, u64> {
    let rows = counts.rows(&grouping.parse().unwrap()).into_iter();
    rows.map(|row| (row.keys[0].to_string(), row.hit.games)).collect()
}

#[test]
fn openings_are_those_of_the_last_position_that_has_a_name() {
    let listed = listed();
    let mut due: BTreeMap<String, u64> = BTreeMap::new();
    let mut codes: BTreeMap<String, u64> = BTreeMap::new();
    for game in sample() {
        let named = game.positions.iter().take(41).rev().find_map(|chess| listed.get(&epd(chess)));
        let (eco, name) = named.cloned().unwrap_or_else(|| ("?".into(), "?".into()));
        *due.entry(name).or_default() += 1;
        *codes.entry(eco[..eco.len().min(2)].to_owned()).or_default() += 1;
    }
    let database = Database::open([SAMPLE]).unwrap();
    let initial = Query::parse("initial").unwrap();
    let counts = database.scan(&initial).statistics("opening-name,opening-eco:2").unwrap();
    assert_eq!(shown(&counts, "opening-name"), due);
    assert_eq!(shown(&counts, "opening-eco:2"), codes);
    assert!(due.len() > 300, "{}", due.len());
    let games = |condition: &str| {
        let search = database.scan(&initial).condition(condition.parse().unwrap());
        search.count().unwrap()[0].games
    };
    let sum = |fits: &dyn Fn(&str) -> bool| {
        due.iter().filter(|(name, _)| fits(name)).map(|(_, games)| games).sum::<u64>()
    };
    assert_eq!(games("opening-name~najdorf"), sum(&|name| name.contains("Najdorf")));
    assert_eq!(games("opening-name!~najdorf"), 1000 - games("opening-name~najdorf"));
    assert_eq!(games("opening-name=Sicilian*"), sum(&|name| name.starts_with("Sicilian")));
    let b9 = codes["B9"];
    assert_eq!(
        (
            games("opening-eco=B9*"),
            games("opening-eco=B90-B99"),
            games("opening-eco>=B9 and opening-eco<=B9")
        ),
        (b9, b9, b9)
    );
    assert!(games("opening-name~najdorf") > 10 && b9 > 10);
}

const GAMES: &str = r#"
[White "Fischerandom"]
[Variant "Chess960"]
[FEN "rk2r3/pppppppp/8/8/8/8/PPPPPPPP/RK2R3 w KQkq - 0 1"]

1. O-O *

[White "From a position"]
[FEN "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq c6 0 2"]

1. Nf3 *

[White "Without castling"]
[FEN "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w - - 0 2"]

1. Nf3 *

[White "A side line"]

1. e4 (1. d4 d5 2. c4) 1... c5 *

[White "Late"]

1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. Nf3 Nf6 6. Ng1 Ng8 7. Nf3 Nf6 8. Ng1 Ng8 9. Nf3 Nf6 10. Ng1 Ng8 11. e4 *

[White "Too late"]

1. a3 a6 2. Nf3 Nf6 3. Ng1 Ng8 4. Nf3 Nf6 5. Ng1 Ng8 6. Nf3 Nf6 7. Ng1 Ng8 8. Nf3 Nf6 9. Ng1 Ng8 10. Nf3 Nf6 11. Ng1 Ng8
12. Nf3 Nf6 13. Ng1 Ng8 14. Nf3 Nf6 15. Ng1 Ng8 16. Nf3 Nf6 17. Ng1 Ng8 18. Nf3 Nf6 19. Ng1 Ng8 20. Nf3 Nf6 21. b4 *
"#;

#[test]
fn openings_of_other_starts_and_of_side_lines() {
    let database =
        DatabaseOptions::new().variations(true).open_bytes("games", GAMES.as_bytes().to_vec()).unwrap();
    let counts = database.scan(&Query::parse("initial").unwrap()).statistics("white*opening-name").unwrap();
    let rows = counts.rows(&"white*opening-name".parse().unwrap());
    let rows: Vec<String> = rows.iter().map(|row| format!("{}: {}", row.keys[0], row.keys[1])).collect();
    let due = [
        "A side line: Sicilian Defense",
        "Fischerandom: ?",
        "From a position: Sicilian Defense",
        "Late: King's Pawn Game",
        "Too late: Anderssen's Opening",
        "Without castling: ?",
    ];
    let mut sorted = rows.clone();
    sorted.sort();
    assert_eq!(sorted, due, "{rows:?}");
}
