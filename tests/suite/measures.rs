//! Checks the clock times and evaluations in comments against those that python-chess finds. `tests/tools/measures.py` created
//! the games and the table of expected values.

use orbit_chess::{Color, Database, DatabaseError, DatabaseOptions, EngineChoice, Query};
use orbit_core::game::{Eval, Measure};
use orbit_database::StreamOptions;
use orbit_reel::GameMeasures;

use crate::common::{blocks_with, data};
#[cfg(feature = "gpu")]
use crate::runners::device_options;

const GAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/games/measures.pgn");
/// The query whose hits are counted in the rows `group` and `where` of `measures.tsv`.
const QUERY: &str = "Nf3 btm";

/// Returns the rows of one kind.
fn rows(table: &str, kind: &str) -> Vec<Vec<String>> {
    let rows = table.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    rows.filter(|row| row[0] == kind).collect()
}

fn options(engine: EngineChoice) -> DatabaseOptions<'static> {
    let options = DatabaseOptions::new().variations(true).engine(engine).threads(2);
    #[cfg(feature = "gpu")]
    let options = options.gpu((engine == EngineChoice::Gpu).then(|| device_options(Default::default())));
    options
}

fn engines() -> Vec<EngineChoice> {
    let mut engines = vec![EngineChoice::Cpu, EngineChoice::Reference];
    engines.extend(cfg!(feature = "gpu").then_some(EngineChoice::Gpu));
    engines
}

/// The clock times and evaluations in the comments of each game, including side lines, must be those that python-chess finds.
#[test]
fn comments_say_what_python_chess_reads() {
    let mut options = StreamOptions::default();
    (options.parse.variations, options.parse.annotations) = (true, true);
    let rows = rows(&data("measures.tsv"), "game");
    let mut seen = [0; 4];
    let mut games = 0;
    for block in blocks_with(GAMES.as_ref(), options) {
        for (game, row) in block.games().zip(&rows[games..]) {
            let told = GameMeasures::from_game(&game);
            // For each measure, `sums` has the number of values, their sum, and the sum of each value times its ply.
            let mut sums = [[0; 3]; 4];
            for node in 0..game.positions() as u32 {
                let measures = told.at(node);
                let eval = match measures.eval {
                    Some(Eval::Centipawns(number)) => [Some(number), None],
                    Some(Eval::Mate(Color::White, moves)) => [None, Some(i64::from(moves))],
                    Some(Eval::Mate(Color::Black, moves)) => [None, Some(-i64::from(moves))],
                    None => [None, None],
                };
                let found = [measures.clock, told.elapsed(node), eval[0], eval[1]];
                for ((sum, seen), number) in sums.iter_mut().zip(&mut seen).zip(found) {
                    let Some(number) = number else { continue };
                    *seen += 1;
                    let ply = i64::from(game.ply_of(node));
                    [1, number, ply * number].iter().zip(sum).for_each(|(more, sum)| *sum += more);
                }
            }
            let due: Vec<i64> = row[2..].iter().map(|cell| cell.parse().unwrap()).collect();
            assert_eq!(sums.as_flattened(), due, "game {}", game.number());
        }
        games += block.games_len();
    }
    assert_eq!(games, rows.len());
    assert!(games >= 200 && seen.iter().all(|&seen| seen > 100), "{games}, {seen:?}");
}

/// On every engine, the numbers of games and positions in each group, in total and with hits, must equal those of python-chess.
#[test]
fn groups_are_those_of_python_chess() {
    let rows = rows(&data("measures.tsv"), "group");
    let query = Query::parse(QUERY).unwrap();
    let mut groupings: Vec<&str> = rows.iter().map(|row| &*row[1]).collect();
    groupings.dedup();
    assert!(groupings.len() >= 8, "{groupings:?}");
    for engine in engines() {
        let database = options(engine).open([GAMES]).unwrap();
        let counts = database.scan(&query).statistics(&groupings.join(",")).unwrap();
        for grouping in &groupings {
            let found = counts.rows(&grouping.parse().unwrap());
            let mut found: Vec<Vec<String>> = found
                .iter()
                .map(|row| {
                    let numbers = [row.all.games, row.all.positions, row.hit.games, row.hit.positions];
                    let cells = numbers.map(|number| number.to_string());
                    std::iter::once(row.keys[0].to_string()).chain(cells).collect()
                })
                .collect();
            let mut due: Vec<Vec<String>> =
                rows.iter().filter(|row| row[1] == *grouping).map(|row| row[2..].to_vec()).collect();
            found.sort();
            due.sort();
            assert_eq!(found, due, "{grouping} on {engine:?}");
        }
    }
}

/// On every engine, the hits that meet a condition must equal those of python-chess.
#[test]
fn conditions_leave_the_hits_of_python_chess() {
    let rows = rows(&data("measures.tsv"), "where");
    assert!(rows.len() >= 9);
    let query = Query::parse(QUERY).unwrap();
    for engine in engines() {
        let database = options(engine).open([GAMES]).unwrap();
        for row in &rows {
            let [_, condition, games, positions] = &row[..] else { panic!("{row:?}") };
            let search = || database.scan(&query).condition(condition.parse().unwrap());
            let found = search().count().unwrap();
            let due = (games.parse().unwrap(), positions.parse().unwrap());
            assert_eq!((found[0].games, found[0].positions), due, "{condition} on {engine:?}");
            assert_eq!(search().hits().unwrap().len() as u64, due.1, "{condition} on {engine:?}");
            // The statistics of the same search must have the numbers of games and positions with hits that the table lists.
            let total = search().statistics("clock").unwrap().total();
            assert_eq!((total.hit.games, total.hit.positions), due, "{condition} on {engine:?}");
            assert!(due.1 > 50, "{condition}: {due:?}");
        }
    }
}

/// If a search takes the viewpoint of a player with the black pieces, conditions on evaluations and clocks must still refer to
/// the game as it was played.
#[test]
fn evaluations_are_whites_whoever_asks() {
    let database = options(EngineChoice::Cpu).open([GAMES]).unwrap();
    let query = Query::parse("initial or not initial").unwrap();
    let mut seen = 0;
    for condition in ["eval>=2", "eval<=-100", "loss>=2", "clock<10", "spent<1"] {
        let of = |side: &str| {
            let search = database.scan(&query).condition(condition.parse().unwrap());
            let games = search.condition(format!("{side}~eljanov").parse().unwrap());
            games.count().unwrap()[0].positions
        };
        let player = orbit_chess::Player::new("Eljanov, Pavel".parse().unwrap());
        let asked = database.scan(&query).condition(condition.parse().unwrap()).player(player);
        let found = asked.count().unwrap()[0].positions;
        assert_eq!(found, of("white") + of("black"), "{condition}");
        seen += found;
    }
    assert!(seen > 10, "{seen}");
}

/// Checks that each position is in exactly one class (range of values) of each measure, and that each class is named after its
/// lower bound.
#[test]
fn classes_hold_all_positions() {
    let database = options(EngineChoice::Cpu).open([GAMES]).unwrap();
    let query = Query::parse(QUERY).unwrap();
    for measure in Measure::ALL {
        assert!(measure.borders().is_sorted());
        let name = measure.name();
        let counts = database.scan(&query).statistics(name).unwrap();
        let rows = counts.rows(&name.parse().unwrap());
        let positions: u64 = rows.iter().map(|row| row.all.positions).sum();
        assert_eq!(positions, counts.total().all.positions, "{name}");
        assert!(rows.len() > 8, "{name}");
    }
    let keys = database.scan(&query).statistics("eval,time-control").unwrap();
    let shown = |name: &str| -> Vec<String> {
        keys.rows(&name.parse().unwrap()).iter().map(|row| row.keys[0].to_string()).collect()
    };
    let due =
        ["Black mates", "below -10", "-10", "-5", "-3", "-2", "-1", "-0.5", "0.5", "1", "2", "3", "5", "10"];
    let found = shown("eval");
    assert_eq!(found[..due.len().min(found.len())], due[..], "{found:?}");
    assert_eq!(found[due.len()..], ["White mates", "?"]);
    let due = ["ultrabullet", "bullet", "blitz", "rapid", "classical", "correspondence", "?"];
    assert_eq!(shown("time-control"), due);
}

/// Without comments, measures (clock times and evaluations) are unknown. So a condition on one is an error, and the message
/// suggests a remedy.
#[test]
fn a_database_without_comments_says_so() {
    let database = Database::open([GAMES]).unwrap();
    let query = Query::parse(QUERY).unwrap();
    let refused = |error: DatabaseError| {
        assert!(matches!(error, DatabaseError::NoAnnotations), "{error}");
        assert!(error.to_string().contains("option `variations`"), "{error}");
    };
    refused(database.scan(&query).statistics("clock").unwrap_err());
    refused(database.scan(&query).condition("eval<0".parse().unwrap()).count().unwrap_err());
    assert!(database.scan(&query).statistics("time-control,title,termination").is_ok());
}
