//! Compares the explorer's responses computed from position tables with those computed from all games, byte for byte.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use orbit_database::{BlockStream, Held, HeldReading, StreamOptions};
use orbit_reel::Reel;
use orbit_search::choice::Choice;
use orbit_search::executor::{EngineOptions, Executor};
use orbit_search::explore::{Explored, Explorer, Parameters};
use orbit_search::run::{Part as _, Run};
use orbit_visits::{OpenTables, table_path};

use super::{all, asked};
use crate::visits::{append, name, reel_of, sample_games, write};

/// Games whose ends, starts and repetitions a faulty table could mistake for moves. One game is skipped, so the game numbers have
/// a gap.
const GAMES: &str = r#"
[Event "Rated Blitz game"]
[White "Two moves"]
[WhiteElo "2500"]
[BlackElo "2301"]
[Date "2015.03.07"]
[TimeControl "300+3"]
[FEN "4k3/3p4/8/K3P2r/8/8/8/8 b - - 0 1"]

1... d5 2. Kb4 1-0

[White "Skipped"]
[FEN "no position"]

1. e4 1-0

[Event "Ends before a start that follows its position"]
[WhiteElo "1800"]
[Date "2016.??.??"]
[TimeControl "15+0"]
[FEN "4k3/3p4/8/K3P2r/8/8/8/8 b - - 0 1"]

1... d5 1/2-1/2

[Event "Casual game"]
[BlackElo "9999"]
[Date "2015.02.??"]
[TimeControl "-"]
[FEN "4k3/8/8/3pP2r/1K6/8/8/8 b - - 1 2"]

1... d4 0-1

[Event "Repeats, and ends in the position"]
[Date "2014.12.31"]

1. Nf3 Nf6 2. Ng1 Ng8 3. e4 e5 4. Nf3 Nf6 5. Ng1 Ng8 1-0

[Event "Plays another move each time"]
[UTCDate "2014.05.05"]
[WhiteElo "1000"]

1. e4 e5 2. Nf3 Nf6 3. Ng1 Ng8 4. d4 Nc6 0-1

[Event "Ends one move before the usual start comes again"]
[TimeControl "600+0"]

1. Nf3 Nf6 2. Ng1 0-1

[Event "Nothing is played"]

*

[Event "Comes from another start"]
[FEN "rnbqkbnr/pppppppp/8/8/8/4P3/PPPP1PPP/RNBQKBNR w KQkq - 0 1"]

1. e4 e5 2. Nf3 1/2-1/2

[Event "Passes"]

1. e4 -- 2. d4 1-0

[Event "Passes again"]

1. e4 -- 2. Nf3 *

[Variant "Chess960"]
[FEN "rk2r3/pppppppp/8/8/8/8/PPPPPPPP/RK2R3 w KQkq - 0 1"]

1. O-O O-O-O 1-0

[Variant "Chess960"]
[FEN "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1"]

1. e4 e5 0-1

[Event "Has a right without a rook"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 w K - 0 1"]

1. e4 Kd8 1/2-1/2

[Event "Has no right"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]

1. e3 Kd8 1-0
"#;

/// Games that reach the same position by different moves, but after the same number of moves. One rating is unknown.
const WAYS: &str = r#"
[WhiteElo "2000"]
[Date "2020.01.01"]

1. e4 h5 2. Na3 a6 1-0

[WhiteElo "2010"]
[BlackElo "2030"]
[Date "2020.01.02"]

1. e4 h5 2. Na3 a6 1-0

[Date "2020.01.02"]

1. Na3 h5 2. e4 a6 0-1
"#;

/// Returns the PGN files and reels (packed games) in a folder, sorted by name, or the path itself if it is a file.
fn files(path: &Path) -> Vec<PathBuf> {
    let Ok(folder) = fs::read_dir(path) else { return vec![path.to_owned()] };
    let mut files: Vec<PathBuf> = folder.map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "pgn" || end == "reel"));
    files.sort();
    files
}

/// Returns the explorer's response as JSON and text, and the number of position tables that were used. With `in_memory`, blocks
/// (groups of games) are held in memory and not read from the files.
fn explored(path: &Path, parameters: &Parameters, uses_tables: bool, in_memory: bool) -> (String, usize) {
    let explorer = Explorer::new(asked(parameters.clone()));
    let mut database = BlockStream::open(&files(path), StreamOptions::default()).unwrap();
    let (mut part, mut used) = (explorer.none(), 0);
    if uses_tables {
        let has_text = database.positions_of_blocks().is_none();
        let held = in_memory.then(|| Held::read(database.unread(), 1, u64::MAX, |_| ()).unwrap());
        let tabled = explorer.from_tables(database, &OpenTables::default(), |number| match &held {
            Some(HeldReading::Whole(held)) => Some(Arc::clone(&held.block_of_game(number)?.block)),
            _ => None,
        });
        assert!(tabled.unused.is_empty(), "{:?}", tabled.unused);
        let appended: usize = tabled.used.iter().map(|used| used.appended).sum();
        let read: usize = tabled.used.iter().map(|used| used.blocks).sum();
        let reads = !in_memory || has_text || parameters.player.is_some();
        assert!(reads || read == appended, "{:?}", tabled.used);
        (part, database, used) = (tabled.part, tabled.rest, tabled.used.len());
    }
    let parsed = orbit_query::parse(&explorer.asked().query()).unwrap();
    let executor = Executor::with_query(parsed, &EngineOptions::default()).unwrap();
    let (rest, _) = Run::new(&executor, &Choice::default(), &explorer).collect(database).unwrap();
    part.merge(rest).unwrap();
    let explored = Explored::new(explorer.asked(), &part);
    (format!("{}\n{}", explored.json(), explored.text()), used)
}

#[track_caller]
fn compare(path: &Path, parameters: &Parameters, tables: usize) -> String {
    let (read, _) = explored(path, parameters, false, false);
    for in_memory in [false, true] {
        let (told, used) = explored(path, parameters, true, in_memory);
        assert_eq!(told, read, "{parameters:?}, in memory: {in_memory}");
        assert_eq!(used, tables);
    }
    read
}

/// Returns the positions of all games and, for some positions, the moves that lead there from the standard start position.
fn places(reel: &Path) -> (BTreeSet<String>, BTreeSet<String>) {
    let reel = Reel::open(reel).unwrap();
    let (mut fens, mut ways) = (BTreeSet::new(), BTreeSet::new());
    for index in 0..reel.blocks() {
        for game in reel.block(index).unwrap().games() {
            let mut position = game.start();
            let mut way = Some(String::new()).filter(|_| position == orbit_core::board::Position::STANDARD);
            // A null move (a pass) may leave a king in check. shakmaty rejects such positions.
            fens.extend(position.to_chess().ok().map(|chess| name(&chess)));
            for mv in game.moves() {
                way = way.filter(|way| way.len() < 60).map(|way| way + " " + &mv.to_san(&position));
                position.play(*mv);
                let chess = position.to_chess().ok();
                way = way.filter(|_| chess.is_some());
                ways.extend(way.clone());
                fens.extend(chess.map(|chess| name(&chess)));
            }
        }
    }
    (fens, ways)
}

fn filters() -> Vec<Parameters> {
    let text = |text: &str| Some(text.to_owned());
    let none = Parameters::default;
    vec![
        Parameters { top_games: text("500"), recent_games: text("500"), ..none() },
        Parameters { since: text("2015"), until: text("2015-03"), top_games: text("1"), ..none() },
        Parameters { since: text("2014-12-31"), ..none() },
        Parameters { ratings: text("1800,2200,2500"), ..none() },
        Parameters { speeds: text("blitz,correspondence"), recent_games: text("0"), ..none() },
        Parameters { modes: text("rated"), ..none() },
        Parameters { modes: text("casual"), ..none() },
    ]
}

fn at(fen: &str, filter: &Parameters) -> Parameters {
    let Parameters { fen, moves, .. } = all(&format!("{fen} 0 1"));
    Parameters { fen, moves, ..filter.clone() }
}

fn compare_all(reel: &Path, step: usize, tables: usize) {
    let (fens, ways) = places(reel);
    for (number, filter) in filters().iter().enumerate() {
        let step = if number == 0 { step } else { 2 * step };
        fens.iter().step_by(step).for_each(|fen| drop(compare(reel, &at(fen, filter), tables)));
        for way in ways.iter().step_by(step) {
            compare(reel, &Parameters { play: Some(way.clone()), ..filter.clone() }, tables);
        }
    }
}

fn made(text: &str, chunk_bytes: usize) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let reel = reel_of(folder.path(), text, chunk_bytes);
    (folder, reel)
}

#[test]
fn tables_tell_the_moves_that_games_tell() {
    // With the larger chunk size, all games are in one block. With the smaller one, most games are near a block boundary.
    for (chunk_bytes, totals_from) in [(100_000, u64::MAX), (200, u64::MAX), (100_000, 1), (200, 1)] {
        let (_folder, reel) = made(GAMES, chunk_bytes);
        write(&reel, |options| options.totals_from = totals_from);
        compare_all(&reel, 1, 1);
        let played =
            |play: &str| compare(&reel, &Parameters { play: Some(play.into()), ..Parameters::default() }, 1);
        assert!(played("e4 e5").contains("2 of 4 games came to this position by other moves"));
        assert!(played("e4 e5 Nf3 Nf6 Ng1 Ng8").contains(r#""san":"d4""#));
        assert!(played("Nf3 Nf6 Ng1 Ng8").contains("of 7 games came"));
    }
}

#[test]
fn real_games_and_games_of_all_kinds_are_told_by_tables() {
    let (folder, reel) = made(&format!("{}\n{GAMES}\n{}", crate::visits::GAMES, sample_games(150)), 20_000);
    write(&reel, |_| {});
    compare_all(&reel, 150, 1);
    for way in ["", "e4", "d4", "e4 c5", "e4 c5 Nf3", "d4 Nf6 c4", "Nf3 d5 d4", "c4 e5"] {
        for filter in filters() {
            compare(&reel, &Parameters { play: Some(way.to_owned()), ..filter }, 1);
        }
    }
    // A request for a player needs names, so the games themselves are read.
    let player = Parameters { player: Some("Carlsen, Magnus".into()), ..Parameters::default() };
    compare(&reel, &player, 1);
    // Games that were appended are read.
    let more = folder.path().join("more.pgn");
    fs::write(&more, format!("{GAMES}\n{}", super::GAMES)).unwrap();
    append(&reel, &more, 300);
    compare_all(&reel, 300, 1);
}

#[test]
fn keys_that_collide_tell_the_same_moves() {
    let (_folder, reel) = made(&format!("{}\n{GAMES}", super::GAMES), 500);
    for totals_from in [u64::MAX, 1] {
        write(&reel, |options| (options.key_bits, options.totals_from) = (2, totals_from));
        compare_all(&reel, 5, 1);
    }
}

#[test]
fn totals_tell_what_visits_tell_and_leave_the_rest_to_visits() {
    let (folder, reel) = made(&format!("{GAMES}\n{WAYS}\n{}", sample_games(150)), 20_000);
    write(&reel, |options| options.totals_from = 2);
    compare_all(&reel, 60, 1);
    let text = |text: &str| Some(text.to_owned());
    let none = Parameters::default;
    // Each request is paired with the number of games that are counted one by one although the table has totals for the position,
    // or with `None` if the totals contain the result.
    let asks = [
        (none(), None),
        (Parameters { play: text("e4"), ..none() }, None),
        (
            Parameters { since: text("2010-03"), until: text("2015"), ratings: text("2200,2500"), ..none() },
            None,
        ),
        (Parameters { speeds: text("blitz"), modes: text("rated"), ..none() }, None),
        (Parameters { recent_games: text("16"), top_games: text("0"), ..none() }, None),
        (Parameters { since: text("2010-03-01"), ..none() }, Some(160)),
        (Parameters { recent_games: text("60"), ..none() }, Some(160)),
        // The totals of a position are stored for one sequence of moves that leads to it. The first two of these requests use a
        // different sequence, so they do not use the totals.
        (Parameters { play: text("Nf3 Nf6 Ng1 Ng8"), ..none() }, Some(160)),
        (Parameters { play: text("Na3 h5 e4"), ..none() }, Some(3)),
        (Parameters { play: text("e4 h5 Na3"), ..none() }, None),
    ];
    for (ask, due) in asks {
        compare(&reel, &ask, 1);
        let database = BlockStream::open(std::slice::from_ref(&reel), StreamOptions::default()).unwrap();
        let explorer = Explorer::new(asked(ask.clone()));
        let used = explorer.from_tables(database, &OpenTables::default(), |_| None).used;
        assert_eq!(used[0].untotalled, due, "{ask:?}");
    }
    // Appended games are not in the totals, so they are also read.
    let more = folder.path().join("more.pgn");
    fs::write(&more, GAMES).unwrap();
    append(&reel, &more, 300);
    compare_all(&reel, 300, 1);
}

#[test]
fn top_games_are_first_those_of_two_rated_players() {
    let game = |tags: &str| format!("{tags}\n[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n");
    let ratings =
        [(Some(2882), None), (Some(1900), Some(1800)), (None, Some(2600)), (Some(2400), Some(2500))];
    let mut games = String::new();
    for (white, black) in ratings {
        let tag = |name: &str, rating: Option<u32>| {
            rating.map_or(String::new(), |rating| format!("[{name} \"{rating}\"]\n"))
        };
        games += &game(&format!("[Event \"Open\"]\n{}{}", tag("WhiteElo", white), tag("BlackElo", black)));
    }
    let (_folder, reel) = made(&games, 100_000);
    for totals_from in [u64::MAX, 1] {
        write(&reel, |options| options.totals_from = totals_from);
        for (top, due) in [("3", &["4", "2", "1"][..]), ("1", &["4"])] {
            let told =
                compare(&reel, &Parameters { top_games: Some(top.into()), ..Parameters::default() }, 1);
            let json: serde_json::Value = serde_json::from_str(told.lines().next().unwrap()).unwrap();
            let ids = json["topGames"].as_array().unwrap().iter().map(|game| game["id"].as_str().unwrap());
            assert_eq!(ids.collect::<Vec<_>>(), due);
        }
    }
}

#[test]
fn reels_of_a_folder_and_files_before_reels_are_told() {
    let (folder, reel) = made(&format!("{GAMES}\n{}", super::GAMES), 500);
    write(&reel, |options| options.totals_from = 20);
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    let second = reel_of(&other, super::GAMES, 700);
    fs::copy(&second, folder.path().join("second.reel")).unwrap();
    write(&folder.path().join("second.reel"), |_| {});
    fs::remove_dir_all(&other).unwrap();
    fs::remove_file(folder.path().join("games.pgn")).unwrap();
    for filter in filters() {
        compare(folder.path(), &Parameters { play: Some("d4 Nf6 c4 e6".into()), ..filter.clone() }, 2);
        compare(folder.path(), &Parameters { play: Some("e4".into()), ..filter }, 2);
    }
    // If a PGN file precedes a reel (packed games), the numbers of the reel's games are unknown until the PGN has been read.
    fs::write(folder.path().join("a.pgn"), super::GAMES).unwrap();
    for filter in filters() {
        compare(folder.path(), &Parameters { play: Some("e4".into()), ..filter }, 2);
    }
    // A damaged table is not used.
    let table = table_path(&reel);
    let bytes = fs::read(&table).unwrap();
    let mut refused = 0;
    fs::remove_file(folder.path().join("a.pgn")).unwrap();
    let due = explored(&reel, &Parameters::default(), false, false).0;
    for byte in (0..bytes.len()).step_by(41) {
        let mut altered = bytes.clone();
        altered[byte] ^= 0x10;
        fs::write(&table, &altered).unwrap();
        let explorer = Explorer::new(asked(Parameters::default()));
        let database = BlockStream::open(std::slice::from_ref(&reel), StreamOptions::default()).unwrap();
        let tabled = explorer.from_tables(database, &OpenTables::default(), |_| None);
        refused += tabled.unused.len();
        if tabled.unused.is_empty() {
            assert_eq!(explored(&reel, &Parameters::default(), true, false).0, due, "{byte}");
        }
    }
    assert!(refused > 10, "{refused}");
}
