//! Tests the outputs of requests (games as PGN, reports and pictures) and their limits.

use std::fs;

use orbit_chess::{Bitboard, Database, DatabaseError, Order, Query, SortKey, Square, board_svg, load_themes};

use super::SAMPLE;

fn database() -> Database {
    Database::open([SAMPLE]).unwrap()
}

#[test]
fn games_are_written_as_their_source_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let (database, query) = (database(), Query::parse("mate").unwrap());
    let (all, five) = (folder.path().join("all.pgn"), folder.path().join("five.pgn.zst"));
    let games = database.scan(&query).count().unwrap()[0].games;
    assert_eq!(database.scan(&query).pgn(&all).unwrap(), games);
    assert_eq!(database.scan(&query).limit_games(5).pgn(&five).unwrap(), 5);
    let written = fs::read_to_string(&all).unwrap();
    let sample = fs::read_to_string(SAMPLE).unwrap();
    assert!(written.split("\n\n[Event ").all(|game| sample.contains(game.trim_end())));
    let again = Database::open([&five]).unwrap();
    assert_eq!(
        (again.summary().unwrap().totals.games(), again.scan(&query).count().unwrap()[0].games),
        (5, 5)
    );
    let refused = Database::open([&all]).unwrap().scan(&query).pgn(&all);
    assert!(matches!(refused, Err(DatabaseError::Clash(_))), "{refused:?}");
    assert_eq!(fs::read_to_string(&all).unwrap(), written);
    let nowhere = database.scan(&query).pgn(&folder.path().join("none").join("all.pgn"));
    assert!(matches!(nowhere, Err(DatabaseError::Output(_))), "{nowhere:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing unfinished is left");
}

#[test]
fn requests_reach_as_many_games_as_they_may() {
    let (database, query) = (database(), Query::parse("check").unwrap());
    let all = database.scan(&query).hits().unwrap();
    let mut numbers: Vec<u32> = all.iter().map(|hit| hit.game().number()).collect();
    numbers.dedup();
    // Some games without checks come before the 400th game with checks, so a limit that counted all games would give different
    // results.
    for games in [0, 1, 7, 400, 100_000] {
        let hits = database.scan(&query).limit_games(games as u64).hits().unwrap();
        let wanted: Vec<_> = all
            .iter()
            .filter(|hit| numbers.iter().take(games).any(|&number| number == hit.game().number()))
            .map(|hit| (hit.game().number(), hit.node()))
            .collect();
        let found: Vec<_> = hits.iter().map(|hit| (hit.game().number(), hit.node())).collect();
        assert_eq!(found, wanted, "{games}");
    }
    let by_date = Order::Sorted { key: SortKey::Date, reverse: false };
    let newest = database.scan(&query).order(by_date, 9).limit_games(2).hits().unwrap();
    let mut games: Vec<u32> = newest.iter().map(|hit| hit.game().number()).collect();
    games.dedup();
    assert_eq!(games.len(), 2);
}

/// With `matchcount 0 9`, a game matches even if none of its positions is a hit. A limit on the number of games must count such a
/// game, too, whatever the order of the games is.
#[test]
fn games_without_hits_count_in_every_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.pgn");
    let game = |elo: u32, moves: &str| format!("[WhiteElo \"{elo}\"]\n\n{moves} *\n\n");
    let checks = "1. e4 f5 2. Qh5+ g6";
    let games = [(2700, "1. e4 e5"), (2600, checks), (2500, checks)].map(|(elo, moves)| game(elo, moves));
    fs::write(&path, games.concat()).unwrap();
    let (database, query) =
        (Database::open([&path]).unwrap(), Query::parse("cql(matchcount 0 9) check").unwrap());
    let scan = || database.scan(&query).limit_games(2);
    let numbers =
        |hits: Vec<orbit_chess::Hit>| hits.iter().map(|hit| hit.game().number()).collect::<Vec<_>>();
    assert_eq!(numbers(scan().hits().unwrap()), [2]);
    let by_elo = Order::Sorted { key: SortKey::Elo, reverse: false };
    assert_eq!(numbers(scan().order(by_elo, 9).hits().unwrap()), [2]);
}

#[test]
fn reports_show_what_was_found() {
    let (database, query) = (database(), Query::parse("shift {Nd4 kf3}").unwrap());
    let search = database.scan(&query).condition("year>=2000".parse().unwrap());
    let findings = search.findings(4, 0).unwrap();
    let count = database.scan(&query).condition("year>=2000".parse().unwrap()).count().unwrap()[0];
    assert_eq!((findings.totals.games_hit, findings.totals.positions_hit), (count.games, count.positions));
    assert_eq!(findings.chosen, "games with year>=2000");
    assert!(findings.page().contains("shift {Nd4 kf3}"));
    assert!(findings.heat_map().unwrap().contains("<svg"));
    let mates = database.scan(&Query::parse("mate").unwrap()).findings(0, 0).unwrap();
    assert_eq!(mates.heat_map(), None);
    assert!(mates.sample.is_empty());
    let search = || database.scan(&query);
    let sampled = Order::Sampled { seed: 1 };
    for limited in [search().skip(1), search().limit_games(9), search().order(sampled, usize::MAX)] {
        let fault = limited.findings(4, 0).unwrap_err().to_string();
        assert!(fault.contains("of all games: leave out `skip`, `limit` and `sample`"), "{fault}");
    }
}

#[test]
fn counts_are_of_all_games() {
    let (database, query) = (database(), Query::parse("shift {Nd4 kf3}").unwrap());
    let search = || database.scan(&query);
    let by_date = Order::Sorted { key: SortKey::Date, reverse: true };
    let limited = |way: usize| match way {
        0 => search().skip(1),
        1 => search().limit_games(9),
        2 => search().limit(9),
        _ => search().order(by_date, usize::MAX),
    };
    for way in 0..4 {
        let faults = [
            limited(way).count().unwrap_err(),
            limited(way).statistics("year").unwrap_err(),
            limited(way).matrix(Vec::new(), None).unwrap_err(),
            limited(way).heat().unwrap_err(),
        ];
        for fault in faults {
            let fault = fault.to_string();
            assert!(
                fault.contains("of all games: leave out `skip`, `limit`, `sort` and `sample`"),
                "{fault}"
            );
        }
    }
    let (heat, report) = (search().heat().unwrap(), search().findings(4, 0).unwrap());
    assert_eq!(heat.heat_map(), report.heat_map());
    for (groupings, why) in [
        ("year,opponent", "`opponent` groups the games of one player: add `player: NAME`"),
        ("length", "`groupings: length` counts the moves of which hits consist"),
    ] {
        let fault = search().statistics(groupings).unwrap_err().to_string();
        assert!(fault.contains(why), "{fault}");
    }
}

/// A report with a sort order must list the first games in this order, as the command does.
#[test]
fn reports_have_an_order() {
    let (database, query) = (database(), Query::parse("mate").unwrap());
    let by_date = Order::Sorted { key: SortKey::Date, reverse: true };
    let oldest = database.scan(&query).order(by_date, usize::MAX).hits().unwrap();
    let findings = database.scan(&query).order(by_date, usize::MAX).findings(4, 0).unwrap();
    let numbers = |hits: &[orbit_chess::Hit]| {
        hits.iter().take(4).map(|hit| u64::from(hit.game().number())).collect::<Vec<u64>>()
    };
    assert_eq!(findings.sample.iter().map(|hit| hit.game).collect::<Vec<_>>(), numbers(&oldest));
    let listed: Vec<u64> = findings.games.iter().take(4).map(|game| game.game).collect();
    assert_eq!(listed, numbers(&oldest));
    let limited = database.scan(&query).order(by_date, 9).findings(4, 0);
    assert!(limited.is_err(), "a limit has no effect");
}

#[test]
fn boards_are_queries() {
    let (database, board) = (database(), "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b");
    let hits = database.scan(&Query::board(board, &[]).unwrap()).hits().unwrap();
    assert!(hits.len() > 10 && hits.iter().all(|hit| hit.fen().starts_with(board)));
    let like = database.scan(&Query::similar(board, &["flip"]).unwrap()).best_per_game().hits().unwrap();
    assert!(like.iter().any(|hit| hit.value() == orbit_chess::Answer::Num(Some(100))));
    let fault = Query::board("8/9 w", &[]).unwrap_err();
    assert!(fault.to_string().contains('^') && fault.text() == "8/9 w");
}

#[test]
fn boards_are_pictures() {
    let lit = Bitboard::from(Square::E4) | Bitboard::from(Square::D5);
    let svg = board_svg("<kings>", "8/8/8/3pk3/4P3/4K3/8/8 w - - 0 1", lit, &[[Square::E4, Square::D5]]);
    assert_eq!((svg.matches("class=\"lit\"").count(), svg.matches("arrow first").count()), (2, 1));
    assert!(svg.contains("&lt;kings&gt;") && svg.contains("--light-square"));
    let database = database();
    let hit = database.scan(&Query::parse("N attacks q").unwrap()).limit(1).hits().unwrap().remove(0);
    assert!(hit.svg().contains("class=\"lit\"") && hit.svg().contains("arrow first"));
    let game = hit.game().pgn_text();
    assert!(game.starts_with("[Event ") && game.trim_end().ends_with(hit.game().outcome().text()));
}

#[test]
fn themes_are_read() {
    assert!(
        load_themes(orbit_chess::CATALOGUE.as_ref()).unwrap().iter().any(|theme| theme.name == "greek-gift")
    );
    assert!(load_themes("nowhere.toml".as_ref()).is_err());
}
