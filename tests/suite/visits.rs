//! Compares position tables with data computed by shakmaty alone: visits, games, dates and novelties. Also tests colliding keys,
//! appended games, and table files that are truncated, altered or made for other games.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
};

use orbit_core::{board::Position, game::Date};
use orbit_database::{BlockStream, StreamOptions};
use orbit_reel::{Block, EncodedBlock, Reel, ReelSource, ReelWriter, Totals};
use orbit_search::choice::ExactPosition;
use orbit_visits::{
    self, DateOrder, Novelty, OpenTables, POSITIONS_MAX, PositionFacts, PositionTable, TableError,
    TableOptions, novelties_in_groups, novelties_without_table, table_path,
};
use shakmaty::{Chess, EnPassantMode, Position as _, fen::Fen, san::SanPlus};
use tempfile::TempDir;

use crate::common::blocks_with;
use crate::database::SAMPLE;

/// Games with transpositions, a repetition, different castling rights, en passant squares at which a capture is legal or not (for
/// instance because the pawn is pinned), Chess960, a start from a FEN, equal games, and dates of all kinds.
pub(crate) const GAMES: &str = r#"
[White "A"]
[Black "B"]
[WhiteElo "2400"]
[Date "2015.??.??"]

1. e4 e5 2. Nf3 Nc6 3. Ng1 Nb8 4. Nf3 Nc6 *

[White "C"]
[Black "D"]
[Date "2015.12.31"]

1. Nf3 Nc6 2. e4 e5 3. Bb5 *

[White "E"]
[Black "F"]
[Date "????.??.??"]

1. e4 e5 2. Ke2 Ke7 3. Ke1 Ke8 *

[White "G"]
[Black "H"]
[Date "2014.01.??"]

1. e4 a6 2. e5 d5 3. Nf3 h6 *

[White "I"]
[Black "J"]
[Date "2014.01.31"]

1. e4 d5 2. e5 a6 3. Nf3 h6 *

[White "K"]
[Black "L"]
[Date "2016.02.02"]
[FEN "4k3/3p4/8/K3P2r/8/8/8/8 b - - 0 1"]

1... d5 2. Kb4 *

[White "K2"]
[Black "L2"]
[Date "2016.02.02"]
[FEN "4k3/8/8/K2pP2r/8/8/8/8 w - - 0 1"]

1. Kb4 *

[White "M"]
[Black "N"]
[Date "2017.05.05"]
[Variant "Chess960"]
[FEN "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1"]

1. Nf3 Nc6 2. e4 e5 *

[White "A"]
[Black "B"]
[WhiteElo "2400"]
[Date "2015.??.??"]

1. e4 e5 2. Nf3 Nc6 3. Ng1 Nb8 4. Nf3 Nc6 *
"#;

/// Returns some sample games, all of which start from the standard position.
pub(crate) fn sample_games(count: usize) -> String {
    let text = fs::read_to_string(SAMPLE).unwrap();
    let games: Vec<&str> = text.split("[Event ").skip(1).take(count).collect();
    assert_eq!(games.len(), count);
    games.iter().map(|game| format!("[Event {game}")).collect()
}

/// Writes a reel (packed games) whose blocks contain about `chunk_bytes` bytes of PGN each. Returns its path.
pub(crate) fn reel_of(folder: &Path, text: &str, chunk_bytes: usize) -> PathBuf {
    let (pgn, path) = (folder.join("games.pgn"), folder.join("games.reel"));
    fs::write(&pgn, text).unwrap();
    append(&path, &pgn, chunk_bytes);
    path
}

pub(crate) fn append(reel: &Path, pgn: &Path, chunk_bytes: usize) {
    let mut options = StreamOptions::default();
    options.pgn.chunk_bytes = chunk_bytes;
    let blocks = blocks_with(pgn, options);
    let mut writer = ReelWriter::append_to(reel).unwrap();
    blocks
        .iter()
        .for_each(|block| writer.append(&EncodedBlock::new(block), &Totals::from_block(block)).unwrap());
    let name = pgn.file_name().unwrap().to_string_lossy().into_owned();
    let reader = orbit_pgn::READER_VERSION;
    writer.finish(&[ReelSource { name, reader, games: 1000, ..ReelSource::default() }]).unwrap();
}

pub(crate) fn write(reel: &Path, change: impl FnOnce(&mut TableOptions)) -> orbit_visits::TableSize {
    let mut options = TableOptions::default();
    options.threads = 2;
    change(&mut options);
    orbit_visits::write_table(reel, &options).unwrap()
}

fn open(reel: &Path) -> (Reel, PositionTable) {
    let reel = Reel::open(reel).unwrap();
    let table = PositionTable::open(&reel).unwrap().unwrap();
    (reel, table)
}

/// A game as shakmaty plays it.
struct Played {
    number: u32,
    date: DateOrder,
    players: [String; 2],
    /// The names of the positions, one more than the number of moves. Equal positions have equal names.
    positions: Vec<String>,
    sans: Vec<String>,
}

/// Returns the games of a reel, replayed by shakmaty from their start positions.
fn played(reel: &Path) -> Vec<Played> {
    let reel = Reel::open(reel).unwrap();
    let mut all = Vec::new();
    for index in 0..reel.blocks() {
        let block = reel.block(index).unwrap();
        for game in block.games() {
            let tag = |wanted: &str| {
                let mut tags = game.tags();
                let found = tags.find(|(name, _)| *name == wanted.as_bytes());
                found.map_or(String::new(), |(_, value)| String::from_utf8_lossy(value).into_owned())
            };
            let mut chess = game.start().to_chess().unwrap();
            let (mut positions, mut sans) = (vec![name(&chess)], Vec::new());
            for mv in game.moves() {
                let mv = mv.to_shakmaty(&chess).unwrap();
                sans.push(SanPlus::from_move(chess.clone(), mv).to_string());
                chess.play_unchecked(mv);
                positions.push(name(&chess));
            }
            let date = DateOrder::from_date(Date::parse(&tag("Date")));
            let players = [tag("White"), tag("Black")];
            all.push(Played { number: game.number(), date, players, positions, sans });
        }
    }
    all
}

/// Returns the name of a position: board, side to move, castling rights, and the en passant square if a capture there is legal,
/// as on lichess.
pub(crate) fn name(chess: &Chess) -> String {
    let fen = Fen::from_position(chess, EnPassantMode::Legal).to_string();
    fen.split(' ').take(4).collect::<Vec<_>>().join(" ")
}

/// The expected table entry for a position.
#[derive(PartialEq, Eq, Debug)]
struct Expected {
    visits: u64,
    games: u64,
    first: (u32, [String; 2]),
    last: (u32, [String; 2]),
}

fn expected(games: &[Played]) -> BTreeMap<String, Expected> {
    let mut visits: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, game) in games.iter().enumerate() {
        game.positions.iter().for_each(|position| visits.entry(position).or_default().push(index));
    }
    let of = |visits: &Vec<usize>| {
        let distinct: BTreeSet<usize> = visits.iter().copied().collect();
        let told = |index: usize| (games[index].number, games[index].players.clone());
        let first = *distinct.iter().min_by_key(|&&index| (games[index].date, index)).unwrap();
        let last = *distinct
            .iter()
            .max_by_key(|&&index| (games[index].date.is_known(), games[index].date, index))
            .unwrap();
        Expected {
            visits: visits.len() as u64,
            games: distinct.len() as u64,
            first: told(first),
            last: told(last),
        }
    };
    visits.iter().map(|(position, visits)| ((*position).to_owned(), of(visits))).collect()
}

fn look_up(reel: &Path, position: &Position) -> PositionFacts {
    let database = BlockStream::open(&[reel.to_owned()], StreamOptions::default()).unwrap();
    orbit_visits::seen(database, position, 1, |error| panic!("{error}")).unwrap().0
}

fn told(seen: &PositionFacts) -> Option<Expected> {
    let [first, last] = seen.ends.as_ref()?;
    let game =
        |game: &orbit_visits::SeenGame| (game.number, game.players.clone().map(Option::unwrap_or_default));
    Some(Expected { visits: seen.visits, games: seen.games, first: game(first), last: game(last) })
}

fn position(fen: &str) -> Position {
    *format!("{fen} 0 1").parse::<ExactPosition>().unwrap().position()
}

/// Compares every `step`-th position of a reel with counts computed by shakmaty.
fn compare(reel: &Path, step: usize) {
    let expected = expected(&played(reel));
    let mut compared = 0;
    for (fen, wanted) in
        expected.iter().filter(|(_, wanted)| wanted.visits > 1).chain(expected.iter().step_by(step)).take(500)
    {
        let seen = look_up(reel, &position(fen));
        assert_eq!(told(&seen).as_ref(), Some(wanted), "{fen}");
        compared += 1;
    }
    assert!(compared >= 20, "{compared}");
}

#[test]
fn a_table_stays_open_until_its_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = reel_of(folder.path(), GAMES, 300);
    let (reel, tables) = (Reel::open(&path).unwrap(), OpenTables::default());
    assert!(tables.table(&reel).unwrap().is_none());
    write(&path, |_| {});
    let first = tables.table(&reel).unwrap().unwrap();
    assert!(Arc::ptr_eq(&first, &tables.table(&reel).unwrap().unwrap()));
    // Simulates another program that writes a table of a different size for the same reel.
    write(&path, |options| options.key_bits = 2);
    let second = tables.table(&reel).unwrap().unwrap();
    assert!(!Arc::ptr_eq(&first, &second) && first.bytes() != second.bytes());
    fs::write(table_path(&path), b"no table").unwrap();
    assert!(matches!(tables.table(&reel), Err(TableError::Damaged { .. })));
    fs::remove_file(table_path(&path)).unwrap();
    assert!(tables.table(&reel).unwrap().is_none());
    // Another reel replaces the file. The table of the replaced reel, which still has its old modification time, must be rejected.
    write(&path, |_| {});
    assert!(tables.table(&reel).unwrap().is_some());
    let table = fs::read(table_path(&path)).unwrap();
    let times = fs::metadata(table_path(&path)).unwrap().modified().unwrap();
    fs::remove_file(&path).unwrap();
    let other = Reel::open(&reel_of(folder.path(), &sample_games(20), 5000)).unwrap();
    fs::write(table_path(&path), table).unwrap();
    fs::File::options().write(true).open(table_path(&path)).unwrap().set_modified(times).unwrap();
    assert!(matches!(tables.table(&other), Err(TableError::Foreign { .. })));
}

#[test]
fn positions_are_counted_as_shakmaty_counts() {
    let folder = tempfile::tempdir().unwrap();
    let reel = reel_of(folder.path(), GAMES, 300);
    let size = write(&reel, |_| {});
    let all = expected(&played(&reel));
    assert!(Reel::open(&reel).unwrap().blocks() > 3);
    assert_eq!(size.positions, all.len() as u64);
    assert_eq!(size.visits, all.values().map(|expected| expected.visits).sum::<u64>());
    compare(&reel, 1);
    let count = |text: &str| {
        let seen = look_up(&reel, text.parse::<ExactPosition>().unwrap().position());
        (seen.visits, seen.games)
    };
    // This position is reached by transposition, is repeated, occurs in a game that starts from a Chess960 position, and occurs
    // in two equal games.
    assert_eq!(count("e4 e5 Nf3 Nc6"), (6, 4));
    assert_eq!(count("Nf3 Nc6 e4 e5"), (6, 4));
    // The kings have moved, so the castling rights are lost.
    assert_eq!(count("e4 e5"), (5, 3));
    assert_eq!(count("e4 e5 Ke2 Ke7 Ke1 Ke8"), (1, 1));
    // The pawn on d5 can be captured en passant on d6, because White's pawn is already on e5.
    assert_eq!(count("e4 a6 e5 d5"), (1, 1));
    assert_eq!(count("e4 d5 e5 a6"), (1, 1));
    assert_eq!(count("e4 a6 e5 d5 Nf3 h6"), (2, 2));
    // The pawn that could capture is pinned, so the en passant square is not part of the position.
    assert_eq!(count("4k3/8/8/K2pP2r/8/8/8/8 w - d6"), (2, 2));
    assert_eq!(count("4k3/8/8/K2pP2r/8/8/8/8 w - -"), (2, 2));
    assert_eq!(count("e4 e5 Nf3 Nc6 Bc4"), (0, 0));
    // Without a table, the result is computed from the reel itself.
    let with = look_up(&reel, &Position::STANDARD);
    fs::remove_file(table_path(&reel)).unwrap();
    let without = look_up(&reel, &Position::STANDARD);
    assert_eq!((told(&with), with.used.len(), without.used.len()), (told(&without), 1, 0));
}

#[test]
fn real_games_are_counted_as_shakmaty_counts() {
    let folder = tempfile::tempdir().unwrap();
    let reel = reel_of(folder.path(), &sample_games(200), 20_000);
    // With so little memory, positions are sorted with the help of a temporary file.
    let size = write(&reel, |options| options.memory_bytes = 1 << 16);
    compare(&reel, 40);
    let spilt = fs::read(table_path(&reel)).unwrap();
    write(&reel, |options| options.threads = 1);
    assert!(spilt == fs::read(table_path(&reel)).unwrap(), "memory and threads change nothing");
    assert!(size.bytes <= 8 * size.positions + 4 * size.visits, "{size:?}");
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 3, "no temporary file is left");
}

#[test]
fn keys_that_collide_change_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let reel = reel_of(folder.path(), &format!("{GAMES}\n{}", sample_games(20)), 2000);
    let strong = write(&reel, |_| {});
    let new = novelties(&reel);
    let weak = write(&reel, |options| options.key_bits = 2);
    assert_eq!((strong.positions, strong.visits), (weak.positions, weak.visits));
    assert_eq!(novelties(&reel), new);
    compare(&reel, 8);
    assert_eq!(look_up(&reel, &position("8/8/8/4k3/4P3/4K3/8/8 w - -")).visits, 0);
    let (reel, table) = open(&reel);
    let found = table.find(&reel, &Position::STANDARD).unwrap().unwrap();
    assert_eq!((found.first.moves, found.last.moves), (0, 0));
}

#[test]
fn lists_of_many_visits_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let reel = reel_of(folder.path(), &sample_games(150), 10_000);
    write(&reel, |_| {});
    let (open_reel, table) = open(&reel);
    let found = table.find(&open_reel, &Position::STANDARD).unwrap().unwrap();
    assert_eq!((found.visits, found.games), (150, 150));
    let blocks = table.blocks_with(&open_reel, &Position::STANDARD).unwrap();
    assert_eq!(blocks, (0..open_reel.blocks()).collect::<Vec<_>>());
}

#[test]
fn tables_that_are_cut_altered_or_of_other_games_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let reel = reel_of(folder.path(), GAMES, 300);
    assert!(PositionTable::open(&Reel::open(&reel).unwrap()).unwrap().is_none());
    write(&reel, |_| {});
    let path = table_path(&reel);
    let whole = fs::read(&path).unwrap();
    let asks = ["e4 e5", "e4 a6 e5 d5 Nf3 h6", "e4 e5 Nf3 Nc6"];
    let answers = || -> Result<Vec<u64>, TableError> {
        let reel = Reel::open(&reel).unwrap();
        let table = PositionTable::open(&reel)?.unwrap();
        let count = |text: &&str| {
            let found = table.find(&reel, text.parse::<ExactPosition>().unwrap().position())?;
            Ok(found.map_or(0, |found| found.visits))
        };
        asks.iter().map(count).collect()
    };
    let right = answers().unwrap();
    assert_eq!(right, [5, 2, 6]);
    for end in (0..whole.len()).step_by(37) {
        fs::write(&path, &whole[..end]).unwrap();
        assert!(matches!(answers(), Err(TableError::Damaged { .. })), "{end}");
    }
    let mut refused = 0;
    for byte in (0..whole.len()).step_by(5) {
        let mut altered = whole.clone();
        altered[byte] ^= 0x10;
        fs::write(&path, &altered).unwrap();
        match answers() {
            Ok(found) => assert_eq!(found, right, "{byte}"),
            Err(TableError::Damaged { .. }) => refused += 1,
            Err(error) => panic!("{byte}: {error}"),
        }
    }
    assert!(refused > whole.len() / 10, "{refused}");
    // The new games differ only in one name of the same length, so all sizes are unchanged.
    fs::write(&path, &whole).unwrap();
    fs::remove_file(&reel).unwrap();
    reel_of(folder.path(), &GAMES.replace("\"C\"", "\"X\""), 300);
    let foreign = answers().unwrap_err();
    assert!(matches!(foreign, TableError::Foreign { .. }), "{foreign}");
}

#[test]
fn games_that_are_appended_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let reel = reel_of(folder.path(), GAMES, 300);
    write(&reel, |_| {});
    let blocks = Reel::open(&reel).unwrap().blocks();
    let more = folder.path().join("more.pgn");
    fs::write(&more, format!("[White \"Y\"]\n[Black \"Z\"]\n[Date \"2001.01.01\"]\n\n1. e4 e5 *\n{GAMES}"))
        .unwrap();
    append(&reel, &more, 300);
    let (open_reel, table) = open(&reel);
    assert!(table.blocks() == blocks && open_reel.blocks() > blocks);
    compare(&reel, 3);
    let seen = look_up(&reel, "e4 e5".parse::<ExactPosition>().unwrap().position());
    assert_eq!((seen.visits, seen.games), (11, 7));
    assert_eq!(seen.ends.as_ref().unwrap()[0].players[0].as_deref(), Some("Y"));
    let used = &seen.used[0];
    assert_eq!((used.blocks, used.appended), (open_reel.blocks() - blocks, open_reel.blocks() - blocks));
}

#[test]
fn a_table_that_cannot_be_written_leaves_the_one_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let reel = reel_of(folder.path(), GAMES, 300);
    write(&reel, |_| {});
    let before = fs::read(table_path(&reel)).unwrap();
    let options = TableOptions::default();
    options.interrupt.store(true, Ordering::Relaxed);
    let error = orbit_visits::write_table(&reel, &options).unwrap_err();
    assert!(matches!(error, TableError::Interrupted { .. }), "{error}");
    assert!(fs::read(table_path(&reel)).unwrap() == before);
    let nowhere = folder.path().join("none.reel");
    assert!(matches!(
        orbit_visits::write_table(&nowhere, &TableOptions::default()),
        Err(TableError::Reel(_))
    ));
    fs::remove_file(table_path(&reel)).unwrap();
    fs::create_dir(table_path(&reel)).unwrap();
    let error = orbit_visits::write_table(&reel, &TableOptions::default()).unwrap_err();
    assert!(matches!(error, TableError::Write { .. }), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "no temporary file is left");
}

/// A novelty: the number of the game; the number of half-moves that lead to the new position; the last of these half-moves; the
/// moves that earlier games played instead of it, each with its number of games; and the number of all earlier games that reached
/// the position before it.
type Found = (u32, usize, Option<String>, Vec<(String, u64)>, u64);

/// Returns the first new position of each game, computed by brute force.
fn novelties_by_hand(games: &[Played]) -> Vec<Found> {
    let mut order: Vec<usize> = (0..games.len()).collect();
    order.sort_by_key(|&index| (games[index].date, index));
    let mut seen: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut all = Vec::new();
    for &index in &order {
        let game = &games[index];
        let new = game.positions.iter().position(|position| !seen.contains_key(position.as_str()));
        if let Some(new) = new {
            let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
            let before = new.checked_sub(1).map(|parent| game.positions[parent].as_str());
            let earlier: BTreeSet<usize> =
                before.and_then(|parent| seen.get(parent)).into_iter().flatten().copied().collect();
            for &other in &earlier {
                let other = &games[other];
                let here = (0..other.sans.len()).filter(|&ply| Some(other.positions[ply].as_str()) == before);
                let moves: BTreeSet<&str> = here.map(|ply| other.sans[ply].as_str()).collect();
                moves.into_iter().for_each(|san| *counts.entry(san).or_default() += 1);
            }
            let mut counts: Vec<(String, u64)> =
                counts.into_iter().map(|(san, count)| (san.to_owned(), count)).collect();
            counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            let san = new.checked_sub(1).map(|ply| game.sans[ply].clone());
            all.push((game.number, new, san, counts, earlier.len() as u64));
        }
        game.positions.iter().for_each(|position| seen.entry(position).or_default().push(index));
    }
    all.sort();
    all
}

fn novelties(reel: &Path) -> Vec<Novelty> {
    let (reel, table) = open(reel);
    let mut all = Vec::new();
    orbit_visits::novelties(&reel, &table, |novelty| {
        all.push(novelty);
        ControlFlow::Continue(())
    })
    .unwrap();
    all
}

fn check_novelties(folder: &TempDir, text: &str, chunk_bytes: usize) -> usize {
    let reel = reel_of(folder.path(), text, chunk_bytes);
    write(&reel, |_| {});
    let told: Vec<_> = novelties(&reel)
        .into_iter()
        .map(|novelty| {
            let san = novelty.label.map(|label| label.rsplit(' ').next().unwrap().to_owned());
            let before =
                novelty.before.into_iter().map(|played| (played.san, played.games)).collect::<Vec<_>>();
            (novelty.game.number, novelty.game.moves, san, before, novelty.games_before)
        })
        .collect();
    assert_eq!(told, novelties_by_hand(&played(&reel)));
    compare_groups(&reel, &novelties(&reel));
    compare_chosen(&reel, chunk_bytes, &novelties(&reel));
    told.len()
}

/// Finds the novelties in groups of different sizes, and compares them with those in `all`. In groups with few visits, the moves of
/// the games before one novelty are read in several steps.
#[track_caller]
fn compare_groups(reel: &Path, all: &[Novelty]) {
    let (reel, table) = open(reel);
    let few = if all.len() < 10 { [1, 2] } else { [50, 300] };
    for limits in [few, [few[0], usize::MAX], [usize::MAX, few[1]]] {
        let mut found = Vec::new();
        let take = |novelty: Novelty| {
            found.push(novelty);
            if found.len() == all.len() - 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        novelties_in_groups(&reel, &table, limits, take).unwrap();
        assert_eq!(found, all[..all.len() - 1], "{limits:?}");
    }
}

/// Finds the novelties of all games and of every third game without a position table, both from the reel and from text, and
/// compares them with those in `all`, which were found with the table.
#[track_caller]
fn compare_chosen(reel: &Path, chunk_bytes: usize, all: &[Novelty]) {
    let mut options = StreamOptions::default();
    options.pgn.chunk_bytes = chunk_bytes;
    for (threads, path) in [(1, reel.to_owned()), (2, reel.with_extension("pgn"))] {
        for (every, rest) in [(1, 0), (3, 0), (3, 1)] {
            let database = BlockStream::open(std::slice::from_ref(&path), options.clone()).unwrap();
            let choose = |block: &Block| -> Vec<Option<u32>> {
                let chosen = |number: u32| (number % every == rest).then_some(number);
                block.games().map(|game| chosen(game.number())).collect()
            };
            let mut blocks = 0;
            let found =
                orbit_visits::novelties_of(&database, threads, choose, |_| blocks += 1).unwrap().unwrap();
            assert!(blocks > 6 && found.left_out == 0 && found.games.is_sorted_by_key(|(number, _)| *number));
            assert!(found.games.iter().all(|(number, _)| number % every == rest));
            let new: Vec<&Novelty> = found.games.iter().filter_map(|(_, novelty)| novelty.as_ref()).collect();
            let due: Vec<&Novelty> =
                all.iter().filter(|novelty| novelty.game.number % every == rest).collect();
            assert_eq!(new, due, "{} {every} {rest}", path.display());
        }
        let database = BlockStream::open(std::slice::from_ref(&path), options.clone()).unwrap();
        let few = if all.len() < 10 { 1 } else { 20_000 };
        for positions_max in [few, POSITIONS_MAX] {
            let mut found = Vec::new();
            let summary = novelties_without_table(&database, threads, positions_max, |novelty| {
                found.push(novelty);
                ControlFlow::Continue(())
            });
            assert_eq!(found, all, "{} {positions_max}", path.display());
            assert!(summary.unwrap().unwrap().finished);
        }
    }
}

#[test]
fn novelties_are_those_of_brute_force() {
    let folder = tempfile::tempdir().unwrap();
    // If two games are equal, only the first one has the novelty.
    assert_eq!(check_novelties(&folder, GAMES, 300), 6);
    let ratings =
        novelties(&folder.path().join("games.reel")).into_iter().map(|novelty| novelty.game.ratings);
    assert_eq!(ratings.collect::<Vec<_>>()[0], [Some(2400), None]);
    let (folder, text) = (tempfile::tempdir().unwrap(), sample_games(500));
    let found = check_novelties(&folder, &text, 30_000);
    assert!(found > 400, "{found}");
    // If each game occurs twice, the novelties are unchanged, because the duplicates only increase the counts of earlier games.
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(check_novelties(&folder, &format!("{text}\n{text}"), 30_000), found);
}
