//! Tests the rules that select games and positions among those at which a query matches.

use crate::common::{corpus_blocks, every_nth_game, length, pgn_blocks, some_and_small};
use orbit_core::named::Named;
use orbit_engine::{Answers, GameEnds, HitValues, Hits, Values};
use orbit_reel::{Alike, Block};
use orbit_search::choice::{Choice, Condition, Order, Side, SortKey, TopGames};
use orbit_search::executor::EngineChoice;
use orbit_search::found::{Found, Names};
use orbit_search::report::Rows;

const GAMES: &str = r#"
[Event "A"]
[White "Carlsen, Magnus"]
[Black "So, Wesley"]
[Date "2015.03.07"]
[WhiteElo "2850"]
[BlackElo "2770"]
[ECO "B90"]

1. e4 c5 1-0

[Event "B"]
[White "Ann"]
[Black "CARLSEN, M."]
[Date "2015.??.??"]
[WhiteElo "0"]
[BlackElo "2600"]
[ECO "C42/03"]

1. e4 e5 1/2-1/2

[Event "C"]
[White "Ünal"]
[Date "????.??.??"]
[UTCDate "2016.01.31"]
[TimeControl "300+3"]
[WhiteRatingDiff "-5"]
[BlackRatingDiff "+5"]
[result "0-1"]

1. d4 *
"#;

fn block() -> Block {
    let mut blocks = pgn_blocks(GAMES);
    assert_eq!((blocks.len(), blocks[0].games_len()), (1, 3));
    blocks.remove(0)
}

/// Returns hits (matches) at the slots (positions) for which `test` is true.
fn hits(block: &Block, values: Values, test: impl Fn(usize) -> bool) -> Hits {
    let mut bits = vec![0; block.segments()];
    (0..block.slots()).filter(|&slot| test(slot)).for_each(|slot| bits[slot / 32] |= 1 << (slot % 32));
    Hits { bits, values, main_lines: false }
}

/// Counts the games with hits, and compares the number with a simple count, game by game. The hits are dense, sparse, or at the
/// first or last positions of games.
#[test]
fn games_with_hits_are_counted() {
    // The last block (group of games) has a single segment (32 positions), but the code processes segments in pairs.
    for block in some_and_small(true, 1, length::Length::All.stride(1, 5)).into_iter().chain([block()]) {
        let begins = |slot: usize| block.games().any(|game| game.first_slot() == slot);
        let ends = |slot: usize| block.games().any(|game| game.end_slot() == slot + 1);
        let tests: [&dyn Fn(usize) -> bool; 8] = [
            &|_| true,
            &|_| false,
            &|slot| slot % 7 == 0,
            &|slot| slot % 45 == 3,
            &|slot| slot % 331 == 5,
            &|slot| slot % 10_007 == 9,
            &|slot| slot % 3 == 0 && begins(slot),
            &|slot| slot % 2 == 0 && ends(slot),
        ];
        for (place, test) in tests.into_iter().enumerate() {
            let hits = hits(&block, Values::None, test);
            let due = block.games().filter(|game| hits.count_in(game.slots()) > 0).count();
            assert_eq!(hits.games(&GameEnds::from_block(&block)), due as u64, "test {place}");
        }
    }
}

#[test]
fn conditions_hold_where_they_should() {
    let block = block();
    for (condition, expected) in [
        ("white~carlsen", "1"),
        ("player~carlsen", "12"),
        ("player!~carlsen", "3"),
        ("black=so, wesley", "1"),
        ("black=so", ""),
        ("black=s*y", "1"),
        ("black=*", "12"),
        ("white~ÜNAL", "3"),
        ("elo>=2600", "12"),
        ("elo > 2600", "1"),
        ("elo=2600", "2"),
        // A rating of 0 counts as unknown. A query for the text of the tag still finds it.
        ("whiteelo<3000", "1"),
        ("whiteelo=0", "2"),
        ("blackelo=2600", "2"),
        ("blackelo=26*", "2"),
        ("WhiteElo>=1", "1"),
        ("blackelo!=2600", "13"),
        ("date>=2015", "123"),
        ("date>2015", "3"),
        ("date=2015", "12"),
        ("date!=2015", "3"),
        ("date>=2015.03", "13"),
        ("date<2015.03.08", "1"),
        ("date=2015-03", "1"),
        ("date=2015.*", "12"),
        ("date=2016.*", "3"),
        ("date~2016.01", "3"),
        ("date!=2016.*", "12"),
        ("date=2015.??.??", "2"),
        ("date<2015", ""),
        ("year<=2015", "12"),
        ("year=2016", "3"),
        ("utcdate<2017", "3"),
        ("eco=B9*", "1"),
        ("eco=b9*", "1"),
        ("eco!=B9*", "23"),
        ("eco=B9", "1"),
        ("eco=b", "1"),
        ("eco!=B9", "23"),
        ("eco=C42", "2"),
        ("eco=C42/03", "2"),
        ("eco!=C42", "13"),
        ("eco~/03", "2"),
        ("eco=B90-C42", "12"),
        ("eco=b90-b99", "1"),
        ("eco=B90-99", "1"),
        ("eco=B..C", "12"),
        ("eco=C4\u{2013}E", "2"),
        ("eco!=B90-B99", "23"),
        ("eco>=B91", "2"),
        ("eco>B", "2"),
        ("eco<=B9", "1"),
        ("eco<C42", "1"),
        ("result=1-0", "1"),
        ("result=1/2", "2"),
        ("result~draw", "2"),
        ("result!~draw", "13"),
        ("result=*", "3"),
        ("result!=*", "12"),
        ("timecontrol=300+3", "3"),
        ("timecontrol>=300", "3"),
        ("whiteratingdiff<0", "3"),
        ("whiteratingdiff=-5", "3"),
        ("blackratingdiff=5", "3"),
        ("blackratingdiff>=5", "3"),
        ("blackratingdiff>5", ""),
        ("tag:nosuchtag=1", ""),
        ("tag:nosuchtag!=1", "123"),
        ("tag:White~carlsen", "1"),
        ("tag::white~carlsen", "1"),
        ("white~carlsen or year=2016", "13"),
        ("year=2016 or player~carlsen and elo=2600", "23"),
        ("(year=2016 or player~carlsen) and elo=2600", "2"),
        ("player~carlsen and(black=\"so, wesley\" or eco=C42)", "12"),
        ("( white~(x) )or year=2016", "3"),
        ("white~\"a or b\" or year=2016", "3"),
        // The time for reading a condition grows with its length, and not with the square of it.
        (&format!("white=a{}b or year=2016", " ".repeat(300_000)), "3"),
    ] {
        let choice = Choice { conditions: vec![condition.parse().unwrap()], ..Choice::default() };
        let games = choice.games(&block).unwrap();
        let found: String =
            ["1", "2", "3"].into_iter().zip(games).filter_map(|(game, fits)| fits.then_some(game)).collect();
        assert_eq!(found, expected, "{condition}");
    }
}

/// A side line does not count, even if it is longer than the main line. Two half-moves are one move, even if the game starts with
/// Black to move.
#[test]
fn moves_of_games_are_counted() {
    let games = "*\n\n1. e4 *\n\n1. e4 e5 *\n\n1. e4 e5 2. Nf3 (2. d4 exd4 3. Qxd4 Nc6) *\n\n\
        [FEN \"4k3/8/8/8/8/8/8/4K3 b - - 0 9\"]\n\n9... Kd8 10. Kd1 Kc8 *\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *\n";
    let blocks = pgn_blocks(games);
    let [block] = blocks.as_slice() else { panic!("{} blocks", blocks.len()) };
    for (condition, expected) in [
        ("moves=0", "1"),
        ("moves=1", "23"),
        ("moves=2", "45"),
        ("moves>=2", "456"),
        ("moves!=2", "1236"),
        ("moves<3 and moves>1", "45"),
        ("moves>3", ""),
    ] {
        let choice = Choice { conditions: vec![condition.parse().unwrap()], ..Choice::default() };
        let found: String = (1..)
            .zip(choice.games(block).unwrap())
            .filter(|(_, fits)| *fits)
            .map(|(game, _)| game.to_string())
            .collect();
        assert_eq!(found, expected, "{condition}");
    }
}

#[test]
fn wrong_conditions_are_refused_with_a_remedy() {
    for (condition, part) in [
        ("white", "compares nothing"),
        ("", "compares nothing"),
        ("=1", "lacks a name or a value"),
        ("white==Carlsen", "one operator"),
        ("tag:=A", "name of a tag"),
        ("tag:a:b=A", "name of a tag"),
        ("nosuchtag=1", "no known tag `nosuchtag`; write"),
        ("whit=A", "did you mean `White`?"),
        ("tag:Whit=A", "did you mean `White`?"),
        ("white~", "lacks a name or a value"),
        ("white>Carlsen", "compares numbers and dates"),
        ("elo>=high", "is no number"),
        ("year=20x5", "is no number"),
        ("moves<short", "`short` is no number: `moves` is compared with a whole number"),
        ("move<20", "did you mean `moves`?"),
        ("date>=15", "is no date"),
        ("date>=2015.13.01", "is no date"),
        ("date=2015.O3", "is no date"),
        ("date=2015.??", "is no date"),
        ("date=2015-??-??", "is no date"),
        ("date>0000", "is no date"),
        ("result=2-0", "is no result"),
        ("eco>=F10", "is no opening"),
        ("eco<Sicilian", "is no opening"),
        ("eco=B99-B90", "is no opening and no range of openings"),
        ("eco=B90-", "is no opening and no range of openings"),
        ("eco=B90-X", "is no opening and no range of openings"),
        ("result>1-0", "`result` is neither a number nor a date: compare it with =, !=, ~ or !~"),
        ("time-control>=180", "`time-control` is neither a number nor a date"),
        ("title>=5", "`title` is neither"),
        ("opening-name>5", "`opening-name` is neither"),
        ("player<5", "`player` is neither"),
        ("event~now or never", "at character 14: `never` behind `or` compares nothing"),
        ("year=2015 and", "at character 14: a condition is missing"),
        ("year=2015 or elo>=x", "at character 14: `x` is no number"),
        ("(year=2015", "the bracket at character 1 is not closed"),
        ("(year=2015) elo>1", "at character 13: `elo>1` follows a condition"),
        ("()", "at character 2: a condition is missing"),
    ] {
        let error = condition.parse::<Condition>().unwrap_err().to_string();
        assert!(error.contains(part), "{condition}: {error}");
    }
}

#[test]
fn only_what_counts_is_left() {
    let block = block();
    let all = || hits(&block, Values::None, |_| true);
    let slots = |choice: &Choice| {
        let mut hits = all();
        choice.apply(&block, choice.games(&block).as_deref(), &mut hits);
        hits.slots(0..block.slots()).collect::<Vec<_>>()
    };
    assert_eq!(slots(&Choice::default()), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(slots(&Choice { first: true, ..Choice::default() }), [0, 3, 6]);
    let conditions = vec!["player~carlsen".parse().unwrap(), "eco=C*".parse().unwrap()];
    assert_eq!(slots(&Choice { conditions: conditions.clone(), ..Choice::default() }), [3, 4, 5]);
    assert_eq!(slots(&Choice { conditions, first: true, ..Choice::default() }), [3]);
}

#[test]
fn games_are_ranked() {
    let block = block();
    let numbers: HitValues<i32> = [1, 9, 2, -5, 100, 3, 9, i32::MAX].into_iter().enumerate().collect();
    let numbers = Values::Numbers(numbers);
    let answers = Answers::new(hits(&block, numbers, |slot| !matches!(slot, 4 | 7)), None);
    let names = Names::default();
    let found = Found::new(&block, &answers, &names);
    let order = |key, reverse| {
        let mut top = TopGames::new(3);
        let order = Order::Sorted { key, reverse };
        for game in block.games() {
            top.offer(order.rank(&game, &found), game.number(), || game.number());
        }
        top.list(0).collect::<Vec<u32>>()
    };
    assert_eq!(order(SortKey::Value, false), [1, 3, 2]);
    assert_eq!(order(SortKey::Value, true), [2, 1, 3]);
    assert_eq!(order(SortKey::Elo, false), [1, 2, 3]);
    assert_eq!(order(SortKey::Elo, true), [2, 1, 3]);
    assert_eq!(order(SortKey::Date, false), [3, 1, 2]);
    assert_eq!(order(SortKey::Date, true), [2, 1, 3]);
}

#[test]
fn the_top_keeps_the_best_in_little_room() {
    let mut made = 0;
    let mut top = TopGames::new(3);
    for (number, rank) in (1..).zip([5, 9, 1, 5, 0, 9, 5]) {
        top.offer(rank, number, || {
            made += 1;
            number
        });
    }
    assert_eq!(top.list(0).collect::<Vec<u32>>(), [5, 3, 1]);
    assert_eq!(made, 5);
    let mut distinct = TopGames::distinct(2);
    for (number, rank) in (1..).zip([5, 5, 9, 9, 1, 1, 5]) {
        distinct.offer(rank, number, || number);
    }
    assert_eq!(distinct.list(0).collect::<Vec<u32>>(), [1, 5]);
    let mut none = TopGames::new(0);
    none.offer(1, 1, || panic!("there is no room"));
    assert_eq!(none.list(0).collect::<Vec<()>>(), []);
}

/// A sample of games depends only on the seed and the games, not on their order or their numbers in the database.
#[test]
fn samples_are_of_games_not_of_places() {
    let blocks = corpus_blocks("otb.pgn");
    let sample = |blocks: &[&Block], seed| {
        let mut top = TopGames::new(200);
        let names = Names::default();
        for block in blocks {
            let none = Answers::new(Hits::new(block), None);
            let found = Found::new(block, &none, &names);
            for game in block.games() {
                let rank = Order::Sampled { seed }.rank(&game, &found);
                top.offer(rank, game.number(), || game.moves().to_vec());
            }
        }
        let mut games = top.list(0).collect::<Vec<_>>();
        games.sort_unstable_by_key(|moves| moves.iter().map(|mv| mv.0).collect::<Vec<u16>>());
        games
    };
    let forward: Vec<&Block> = blocks.iter().collect();
    let backward: Vec<&Block> = blocks.iter().rev().collect();
    assert!(sample(&forward, 1) == sample(&backward, 1));
    // These blocks contain the same games as `forward`, with different numbers.
    let thirds: Vec<Block> = (0..3).map(|first| every_nth_game(&blocks, first, 3)).collect();
    assert!(sample(&forward, 1) == sample(&thirds.iter().collect::<Vec<_>>(), 1));
    assert!(sample(&forward, 1) != sample(&forward, 2));
}

/// The types of the Python options must list the same names as this crate's tables.
#[test]
fn python_types_list_the_same_names() {
    fn listed<T: Named>() -> String {
        let names = T::TABLE.iter().map(|row| format!("\"{}\"", row.1));
        format!("Literal[{}]", names.collect::<Vec<_>>().join(", "))
    }
    let options = include_str!("../../python/orbit_chess/_options.py");
    for (field, names) in [
        ("side", listed::<Side>()),
        ("unique", listed::<Alike>()),
        ("sort", listed::<SortKey>()),
        ("engine", listed::<EngineChoice>()),
        ("rows", listed::<Rows>()),
    ] {
        let line = options.lines().find_map(|line| line.trim_start().strip_prefix(&format!("{field}: ")));
        let line = line.map(|line| line.trim_end_matches(" | None"));
        assert_eq!(line, Some(&*names), "{field}");
    }
}
