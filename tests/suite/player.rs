//! Tests queries from a player's side. They are compared with queries whose colours were swapped by hand, and with counts by
//! python-chess.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use orbit_chess::{Database, DatabaseOptions, Query};
use orbit_database::{BlockStream, MemoryBudget, StreamOptions};
use orbit_engine::{Answer, PreparedQuery, Wants};
use orbit_plan::PlanOptions;
use orbit_search::choice::{Choice, Player, Side};
use orbit_search::executor::{EngineChoice, EngineOptions, Executor};
use orbit_search::found::{BlockResult, Names};
use orbit_search::run::{Run, SpellingsCollector, TotalsCollector};
use orbit_search::stats::{GroupKey, ScoreOf};

use crate::common::{corpus, data};
use crate::database::SAMPLE;
#[cfg(feature = "gpu")]
use crate::runners::device_options;

/// Games with side lines and comments, a game in which Black moves first, castling on both sides, and a tag name in
/// lower case.
const TREES: &str = r#"
[White "Ann"]
[Black "Carlsen, M."]
[WhiteElo "2500"]
[BlackElo "2850"]
[Result "0-1"]

1. e4 c5 (1... e5 2. Nf3 Nc6 (2... Nf6 3. Nxe5 d6) 3. Bb5) 2. Nf3 d6 3. d4 cxd4 {good} 4. Nxd4 Nf6 5. Nc3 g6 6. Be3 Bg7
7. f3 O-O 8. Qd2 Nc6 9. O-O-O d5 0-1

[White "Carlsen,Magnus"]
[Black "Bob"]
[FEN "r3k2r/pppq1ppp/2npbn2/4p3/4P3/2NPBN2/PPPQ1PPP/R3K2R b KQkq - 0 8"]

8... O-O-O (8... O-O 9. O-O-O) 9. O-O d5 10. exd5 Nxd5 11. Nxd5 Bxd5 1-0

[White "Magnus Carlsen"]
[Black "Carlsen,H"]
[black "Somebody"]

1. e4 d5 2. e5 f5 3. exf6 e5 1/2-1/2
"#;

/// Queries, each with an equivalent in which the colours are swapped by hand.
const PAIRS: &[(&str, &str)] = &[
    ("Nd4", "nd5"),
    ("shift {Nd4 kf3}", "shift {nd5 Kf6}"),
    ("shift flip {Ra8 kg8}", "shift flip {ra1 Kg1}"),
    ("flipcolor {Bh7 kg8 btm}", "flipcolor {Bh7 kg8 btm}"),
    ("k attackedby N", "K attackedby n"),
    ("passedpawns", "passedpawns"),
    ("up 1 4 P", "down 1 4 p"),
    ("power A - power a", "power a - power A"),
    ("check btm", "check wtm"),
    ("result 1-0 check", "result 0-1 check"),
    ("elo white >= 2500 check", "elo black >= 2500 check"),
    ("player white \"Carlsen\" check", "player black \"Carlsen\" check"),
    ("movenumber == 10 wtm", "movenumber == 10 btm"),
    ("movenumber", "movenumber"),
    ("ply", "ply"),
    ("line --> P[e4] --> check", "line --> p[e5] --> check"),
    ("flip path N-- [x]", "flip path n-- [x]"),
    ("--(P) [x] a", "--(p) [x] A"),
    ("find Qd2", "find qd7"),
    ("notransform flipcolor Nf3", "notransform flipcolor nf6"),
    ("cql(variations) N attacks p", "cql(variations) n attacks P"),
    ("cql(variations) --(castle)", "cql(variations) --(castle)"),
    ("cql(matchcount 2 5) check btm", "cql(matchcount 2 5) check wtm"),
    ("if initial xx=0 if Nf3 xx+=1 xx", "if initial xx=0 if nf6 xx+=1 xx"),
];

/// A hit: the game, the node, the value, the number of matching copies (transformed patterns), and the hit's moves.
type Hit = (u32, u32, Answer, usize, Option<(Vec<u32>, Vec<u32>)>);

fn player(name: &str, side: Side) -> Choice {
    let mut player = Player::new(name.parse().unwrap());
    player.side = side;
    Choice { player: Some(player), ..Choice::default() }
}

fn scan(text: &str, engine: EngineChoice) -> Executor {
    let parsed = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut options = EngineOptions::default();
    options.engine = engine;
    #[cfg(feature = "gpu")]
    if engine == EngineChoice::Gpu {
        options.gpu = Some(device_options(Default::default()));
    }
    Executor::with_query(parsed, &options).unwrap_or_else(|error| panic!("{text}: {error}")).threads(2)
}

/// Returns all data of each hit.
fn hits(text: &str, engine: EngineChoice, choice: &Choice, database: BlockStream) -> Vec<Hit> {
    let mut all = Vec::new();
    let outputs = [Wants::VALUES | Wants::LOWEST_COPY | Wants::SPANS];
    let work = |result: BlockResult<'_>, _: &MemoryBudget| {
        let (found, mut out) = (result.first(), Vec::new());
        let answers = found.answers;
        for game in found.block.games() {
            let copies = answers.copies.as_ref();
            let first = copies.map_or(0, |copies| copies.first_in(&answers.hits, game.first_slot()));
            let slots = answers.hits.slots(game.slots());
            for (slot, hit) in slots.zip(first..) {
                let node = (slot - game.first_slot()) as u32;
                let span = found.span(&game, node).map(|span| (span.nodes.clone(), span.moves.clone()));
                let count = copies.map_or(1, |copies| copies.count(hit));
                out.push((game.number(), node, answers.hits.answer(slot), count, span));
            }
        }
        out
    };
    let summary =
        scan(text, engine).for_each_block(database, &outputs, choice, &Names::default(), work, |_, hits| {
            all.extend(hits);
            ControlFlow::Continue(())
        });
    summary.unwrap_or_else(|error| panic!("{text}: {error}"));
    all
}

fn options() -> StreamOptions {
    let mut options = StreamOptions::default();
    (options.parse.variations, options.parse.annotations) = (true, true);
    options.pgn.chunk_bytes = 20_000;
    options
}

fn sample() -> BlockStream {
    BlockStream::open(&[SAMPLE.into()], options()).unwrap()
}

fn trees() -> BlockStream {
    BlockStream::from_pgn_bytes("trees", TREES.into(), options())
}

/// In games in which the player has White, the query is evaluated as written; in the others, with its colours swapped. This is
/// checked on every engine, with values, matching copies (transformed patterns), spans (moves of hits) and side lines.
#[test(part = 3)]
fn a_query_is_asked_from_the_side_of_the_player() {
    let mut hit = 0;
    for (white, black) in PAIRS {
        for database in [sample, trees] {
            let white_games =
                Choice { conditions: vec!["white~Carlsen".parse().unwrap()], ..Choice::default() };
            let mut black_games = white_games.clone();
            black_games.conditions = vec!["black~Carlsen".parse().unwrap()];
            let cpu = EngineChoice::Auto;
            for (text, by_hand, side, games) in
                [(white, white, Side::White, white_games), (white, black, Side::Black, black_games)]
            {
                let due = hits(by_hand, cpu, &games, database());
                hit += due.len();
                let mut engines = vec![cpu, EngineChoice::Reference];
                if cfg!(feature = "gpu") && scan(text, cpu).engine().info().name == "cpu" {
                    engines.push(EngineChoice::Gpu);
                }
                for engine in engines {
                    let found = hits(text, engine, &player("Carlsen", side), database());
                    assert_eq!(found, due, "{text} as {side:?} on {engine:?}");
                }
            }
        }
    }
    assert!(hit > 10_000, "{hit}");
}

/// A game between two players of the same name is searched from White's side.
#[test]
fn a_game_of_two_namesakes_is_whites() {
    let choice = Choice { player: Some(Player::new("Carlsen".parse().unwrap())), ..Choice::default() };
    let initial = hits("initial wtm", EngineChoice::Auto, &choice, trees());
    let games: Vec<u32> = initial.iter().map(|hit| hit.0).collect();
    // In the first game, the player has Black and moves second. In the second game, the player has White, but Black
    // moves first.
    assert_eq!(games, [3]);
    assert_eq!(hits("initial", EngineChoice::Auto, &choice, trees()).len(), 3);
}

/// Scores are those of the player from whose side the search runs. In a table by player, each row has the score of its own
/// player.
#[test]
fn scores_are_those_of_whom_the_table_names() {
    let database = DatabaseOptions::new().open_bytes("trees", TREES.into()).unwrap();
    let query = Query::parse("initial").unwrap();
    let shown = |counts: &orbit_chess::Counts, grouping: &str| -> Vec<(String, u64, Option<f64>, ScoreOf)> {
        let rows = counts.rows(&grouping.parse().unwrap());
        let row = |row: &orbit_search::stats::GroupRow| {
            let name =
                if let GroupKey::Text(text) = &row.keys[0] { text.clone() } else { row.keys[0].to_string() };
            (name, row.all.games, row.all.score(), row.score_of)
        };
        rows.iter().map(row).collect()
    };
    let of = |name: &str, games, score, of| (String::from(name), games, Some(score), of);
    let counts = database.scan(&query).statistics("player,result").unwrap();
    let mut players = shown(&counts, "player");
    players.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(
        players,
        [
            of("Ann", 1, 0.0, ScoreOf::Player),
            of("Bob", 1, 0.0, ScoreOf::Player),
            of("Carlsen,H", 1, 0.5, ScoreOf::Player),
            of("Carlsen,Magnus", 3, 2.5 / 3.0, ScoreOf::Player),
        ]
    );
    assert_eq!((counts.total().all.score(), counts.total().score_of), (Some(0.5), ScoreOf::White));

    let search = || database.scan(&query).player(Player::new("Carlsen".parse().unwrap()));
    let counts = search().statistics("result,opponent,side,playerelo,opponentelo").unwrap();
    let total = counts.total();
    assert_eq!((total.all.games, total.all.score(), total.score_of), (3, Some(2.5 / 3.0), ScoreOf::Player));
    let player = ScoreOf::Player;
    assert_eq!(shown(&counts, "result"), [of("won", 2, 1.0, player), of("drawn", 1, 0.5, player)]);
    assert_eq!(shown(&counts, "side"), [of("black", 1, 1.0, player), of("white", 2, 0.75, player)]);
    assert_eq!(shown(&counts, "playerelo"), [of("2800", 1, 1.0, player), of("?", 2, 0.75, player)]);
    assert_eq!(shown(&counts, "opponentelo"), [of("2500", 1, 1.0, player), of("?", 2, 0.75, player)]);
    let mut opponents = shown(&counts, "opponent");
    opponents.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(
        opponents,
        [of("Ann", 1, 1.0, player), of("Bob", 1, 1.0, player), of("Carlsen,H", 1, 0.5, player)]
    );
}

/// The questions of `tests/tools/players.py`, as queries.
const QUESTIONS: [(&str, &str); 5] = [
    ("queen", "Qh7"),
    ("knight", "k attackedby N"),
    ("ahead", "power A - power a >= 3"),
    ("mate", "mate btm"),
    ("check", "movenumber <= 10 wtm check"),
];

/// The counts for five players must equal those of python-chess: the number of games, the scores, and the number of positions
/// with each of five features.
#[test]
fn counts_of_players_are_those_of_python_chess() {
    let path = corpus().join("otb.pgn");
    let table = data("players.tsv");
    let mut lines = table.lines().map(|line| line.split('\t').collect::<Vec<&str>>());
    let columns = lines.next().unwrap();
    let prepared = |(_, text): &(&str, &str)| {
        PreparedQuery::new(orbit_query::parse(text).unwrap().query, PlanOptions::default()).unwrap()
    };
    let scan = Executor::new(QUESTIONS.iter().map(prepared).collect(), &EngineOptions::default()).unwrap();
    let mut checked = 0;
    for line in lines {
        let due: BTreeMap<&str, &str> = columns.iter().copied().zip(line).collect();
        let side = due["side"].parse().unwrap();
        let choice = player(due["player"], side);
        let number = |name: &str| due[name].parse::<u64>().unwrap();
        let (part, _) = Run::new(&scan, &choice, &TotalsCollector).collect(open(&path)).unwrap();
        assert_eq!(part.passing, Some(number("games")), "{due:?}");
        for ((name, _), hits) in QUESTIONS.iter().zip(&part.queries) {
            let due_hits = (number(&format!("{name}_games")), number(&format!("{name}_positions")));
            assert_eq!((hits.games, hits.positions), due_hits, "{name} of {due:?}");
            checked += hits.positions;
        }
        let database = Database::open([&path]).unwrap();
        let search = database.scan(&Query::parse("initial").unwrap()).player(choice.player.clone().unwrap());
        let total = search.statistics("side").unwrap().total().all;
        assert_eq!((total.half_points, total.results), (number("half_points"), number("results")), "{due:?}");
        let spellings = SpellingsCollector::new(due["player"].parse().unwrap());
        let (spellings, _) = Run::new(&scan, &choice, &spellings).collect(open(&path)).unwrap();
        let games: u64 = spellings.player.values().flatten().sum();
        assert_eq!(games, number("games"));
    }
    assert!(checked > 1_000, "{checked}");
}

fn open(path: &Path) -> BlockStream {
    BlockStream::open(&[path.to_owned()], StreamOptions::default()).unwrap()
}
