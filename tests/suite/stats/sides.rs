//! Tests the score of the *matching side*, the side whose pieces form the pattern. It is compared with the hits of two queries: one
//! for White's pieces, and one for Black's, with the colours swapped by hand.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use orbit_chess::Color;
use orbit_database::{BlockStream, MemoryBudget, StreamOptions};
use orbit_engine::{Outcome, PreparedQuery, Wants};
use orbit_plan::PlanOptions;
use orbit_search::choice::{Choice, Player};
use orbit_search::executor::{EngineChoice, EngineOptions, Executor};
use orbit_search::found::{BlockResult, Names};
use orbit_search::run::{Run, StatisticsCollector};
use orbit_search::stats::{Counts, Grouping, SideResults, Stats};

use crate::database::SAMPLE;
use crate::game_trees::{made, with_variations};
#[cfg(feature = "gpu")]
use crate::runners::device_options;

/// Sets of three queries for one pattern: for pieces of either colour, for White's pieces alone, and for Black's pieces alone.
const QUERIES: [[&str; 3]; 9] = [
    ["flipcolor {Bh7 kg8}", "{Bh7 kg8}", "{bh2 Kg1}"],
    ["flipcolor {p attacks Q btm}", "{p attacks Q btm}", "{P attacks q wtm}"],
    ["flipvertical flipcolor {Bh7 kg8}", "flipvertical {Bh7 kg8}", "flipvertical {bh2 Kg1}"],
    ["shift flipcolor {Pa2 Pa3 Pa4}", "shift {Pa2 Pa3 Pa4}", "shift {pa7 pa6 pa5}"],
    ["flipcolor Q", "Q", "q"],
    ["flipcolor {power A - power a >= 3}", "power A - power a >= 3", "power a - power A >= 3"],
    ["flipcolor N[x]q", "N[x]q", "n[x]Q"],
    [
        "flipcolor line --> {check wtm} --> . --> {check wtm}",
        "line --> {check wtm} --> . --> {check wtm}",
        "line --> {check btm} --> . --> {check btm}",
    ],
    [
        "flipcolor {(find <-- all ph7) == ply Bh7 kg8 btm check}",
        "{(find <-- all ph7) == ply Bh7 kg8 btm check}",
        "{(find <-- all Ph2) == ply bh2 Kg1 wtm check}",
    ],
];

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

fn sample() -> BlockStream {
    let mut options = StreamOptions::default();
    options.pgn.chunk_bytes = 50_000;
    BlockStream::open(&[SAMPLE.into()], options).unwrap()
}

fn statistics(
    text: &str,
    groupings: &str,
    engine: EngineChoice,
    choice: &Choice,
    database: BlockStream,
) -> Counts {
    let scan = scan(text, engine);
    let collector = StatisticsCollector::new(Stats::new(Grouping::list(groupings).unwrap()).with_sides());
    let (part, _) = Run::new(&scan, choice, &collector).collect(database).unwrap();
    collector.counts(part, [scan.filter()]).remove(0)
}

/// The results of games with hits. If the selected player has Black, wins and losses are swapped. A game has one entry with the key
/// (number of the game, `None`), and one for each range of twenty plies that contains a hit, with the key (number of the game,
/// index of the range).
type List = BTreeMap<(u32, Option<u32>), Outcome>;

fn list(text: &str, choice: &Choice) -> List {
    let mut all = List::new();
    let work = |found: BlockResult<'_>, _: &MemoryBudget| {
        let mut out = Vec::new();
        for game in found.block.games() {
            let side = found.sides.as_ref().and_then(|sides| sides[game.index()]);
            let outcome = match side {
                Some(Color::Black) => game.outcome().colors_swapped(),
                _ => game.outcome(),
            };
            for slot in found.answers[0].hits.slots(game.slots()) {
                let ply = (slot - game.first_slot()) as u32;
                out.extend([((game.number(), None), outcome), ((game.number(), Some(ply / 20)), outcome)]);
            }
        }
        out
    };
    let take = |_, more: Vec<_>| {
        all.extend(more);
        ControlFlow::Continue(())
    };
    let scan = scan(text, EngineChoice::Auto);
    scan.for_each_block(sample(), &[Wants::HITS], choice, &Names::default(), work, take).unwrap();
    all
}

/// Returns the wins, draws and losses of the matching side (White in the first list, Black in the second), in the games that
/// satisfy a condition.
fn sum(lists: [Option<&List>; 2], fits: impl Fn(Option<u32>, Outcome) -> bool) -> SideResults {
    let mut sum = SideResults::default();
    for (list, is_black) in lists.into_iter().zip([false, true]) {
        let games = list.into_iter().flatten();
        for (_, outcome) in games.filter(|((_, plies), outcome)| fits(*plies, **outcome)) {
            match (outcome, is_black) {
                (Outcome::WhiteWins, false) | (Outcome::BlackWins, true) => sum.wins += 1,
                (Outcome::Draw, _) => sum.draws += 1,
                (Outcome::BlackWins, false) | (Outcome::WhiteWins, true) => sum.losses += 1,
                (Outcome::Unknown, _) => {}
            }
        }
    }
    sum
}

/// Returns, for each group of a grouping, its name and the results of the matching side (the side whose pieces form the pattern).
fn rows(counts: &Counts, grouping: &str) -> BTreeMap<String, Option<SideResults>> {
    let rows = counts.rows(&grouping.parse().unwrap()).into_iter();
    rows.map(|row| (row.keys[0].to_string(), row.sides)).collect()
}

fn check(choice: &Choice, queries: &[[&str; 3]], results: [&str; 3]) {
    for &[both, white, black] in queries {
        let lists = [white, black].map(|half| list(half, choice));
        let [whites, blacks] = [Some(&lists[0]), Some(&lists[1])];
        let total = sum([whites, blacks], |plies, _| plies.is_none());
        assert!(total.wins + total.losses > 4, "{both}: {total:?}");
        let mut engines = vec![EngineChoice::Cpu, EngineChoice::Reference];
        if cfg!(feature = "gpu") && scan(both, EngineChoice::Cpu).engine().info().name == "cpu" {
            engines.push(EngineChoice::Gpu);
        }
        for engine in engines {
            let counts = statistics(both, "result,ply:20,copy", engine, choice, sample());
            assert_eq!(counts.total().sides, Some(total), "{both} on {engine:?}");
            for (name, outcome) in
                results.into_iter().zip([Outcome::WhiteWins, Outcome::Draw, Outcome::BlackWins])
            {
                let due = sum([whites, blacks], |plies, of| plies.is_none() && of == outcome);
                assert_eq!(rows(&counts, "result")[name], Some(due), "{both}, {name} on {engine:?}");
            }
            for (name, sides) in rows(&counts, "ply:20") {
                let group = name.parse::<u32>().unwrap() / 20;
                let due = sum([whites, blacks], |plies, _| plies == Some(group));
                assert_eq!(sides, Some(due), "{both}, ply {name} on {engine:?}");
            }
            let by_copy = rows(&counts, "copy");
            if scan(both, engine).engine().info().copies[0] == 2 {
                for (copy, lists) in [("1", [whites, None]), ("2", [None, blacks])] {
                    let due = sum(lists, |plies, _| plies.is_none());
                    let sides = by_copy.get(copy).copied().flatten().unwrap_or_default();
                    assert_eq!(sides, due, "{both}, copy {copy} on {engine:?}");
                }
            }
        }
    }
}

#[test(part = 0)]
fn the_score_of_the_matching_side_is_that_of_two_queries() {
    check(&Choice::default(), &QUERIES, ["1-0", "1/2-1/2", "0-1"]);
}

/// The pattern can be formed by the player's pieces or by the opponent's.
#[test]
fn a_player_may_have_the_pattern_or_face_it() {
    let player = Player::new("Carlsen".parse().unwrap());
    let choice = Choice { player: Some(player), ..Choice::default() };
    check(&choice, &[QUERIES[1], QUERIES[4]], ["won", "drawn", "lost"]);
}

/// If the pieces of both sides form the pattern in a game, the game counts for both sides. White's knight reaches f3 in games 1, 2
/// and 4, and Black's knight reaches f6 in game 2.
#[test]
fn a_game_counts_once_for_each_side_that_has_the_pattern() {
    let of = |query: &str, groupings: &str| {
        statistics(query, groupings, EngineChoice::Auto, &Choice::default(), super::pgn(1 << 20))
    };
    let results = |wins, draws, losses| Some(SideResults { wins, draws, losses });
    let counts = of("flipcolor {Nf3}", "copy,result");
    assert_eq!(counts.total().sides, results(2, 1, 1));
    assert_eq!(counts.total().sides.unwrap().score(), Some(0.625));
    assert_eq!(rows(&counts, "copy").into_values().collect::<Vec<_>>(), [results(1, 1, 1), results(1, 0, 0)]);
    assert_eq!(rows(&counts, "result")["0-1"], results(1, 0, 1));
    assert_eq!(rows(&counts, "result")["*"], results(0, 0, 0));
    // For these queries, the statistics contain no score of a matching side (the side whose pieces form the pattern): no copy
    // (transformed pattern) is for a single side, or the query counts copies.
    for query in [
        "Nf3",
        "flip Nf3",
        "reversecolor Nf3",
        "{flipcolor Nf3 not initial}",
        "flipcolor [Nn]",
        "flipcolor count Nf3",
    ] {
        let counts = of(query, "result");
        assert!(counts.total().hit.games > 0 && counts.total().sides.is_none(), "{query}");
        let mut json = Vec::new();
        counts.write_json(&[], &mut json).unwrap();
        assert!(!String::from_utf8(json).unwrap().contains("side_"), "{query}");
    }
}

/// The query alone determines if the table has columns for the results of the matching side (the side whose pieces form the
/// pattern). The columns exist even if there are no games.
#[test]
fn columns_of_sides_are_those_of_the_query() {
    let csv = |database| {
        let counts = statistics("flipcolor {Nf3}", "year", EngineChoice::Auto, &Choice::default(), database);
        let mut out = Vec::new();
        counts.write_csv(&[], &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let none = BlockStream::from_pgn_bytes("none", Vec::new(), StreamOptions::default());
    let [some, none] = [super::pgn(1 << 20), none].map(csv);
    let sides = ",pattern,side_wins,side_draws,side_losses,side_score,wins,draws,losses,hits_share";
    assert!(some.lines().next().unwrap().ends_with(sides), "{some}");
    assert_eq!(some.lines().next(), none.lines().next());
    assert!(some.lines().nth(1).unwrap().contains(",2,1,1,0.625,"), "{some}");
    assert!(none.lines().nth(1).unwrap().ends_with(",0,0,0,,0,0,0,"), "{none}");
}

#[test]
fn the_matching_side_has_a_column_of_text() {
    let counts = statistics(
        "flipcolor {Nf3}",
        "copy,player",
        EngineChoice::Auto,
        &Choice::default(),
        super::pgn(1 << 20),
    );
    let mut out = Vec::new();
    counts.write_text(20, &[String::from("Nf3"), String::from("nf6")], false, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(
        text,
        " copy  games hit  games               share  positions hit  positions    share  White's score  of all  matching side's score  pattern
    1          3      4  75.0 % (30.1-95.4)              8         16  50.00 %         50.0 %  50.0 %      50.0 % (+1 =1 -1)  Nf3
    2          1      4   25.0 % (4.6-69.9)              1         16   6.25 %          0.0 %  50.0 %     100.0 % (+1 =0 -0)  nf6
total          3      4  75.0 % (30.1-95.4)              8         16  50.00 %         50.0 %  50.0 %      62.5 % (+2 =1 -1)

player  games hit  games                 share  positions hit  positions    share  player's score   of all  matching side's score
A               2      3    66.7 % (20.8-93.9)              5         11  45.45 %         100.0 %  100.0 %      66.7 % (+2 =0 -1)
B               2      2  100.0 % (34.2-100.0)              5          9  55.56 %           0.0 %    0.0 %      66.7 % (+2 =0 -1)
?               1      1  100.0 % (20.7-100.0)              3          5  60.00 %          50.0 %   50.0 %      50.0 % (+0 =1 -0)
total           3      4    75.0 % (30.1-95.4)              8         16  50.00 %                               62.5 % (+2 =1 -1)
"
    );
}

/// A query over main lines must give the same results for the matching side (the side whose pieces form the pattern), even if
/// another query in the run adds side lines to the blocks (groups of games).
#[test]
fn sides_do_not_depend_on_side_lines_that_another_query_asks_for() {
    let text = made(5, 60).text;
    let counts = |texts: &[&str]| {
        let prepared = texts.iter().map(|text| {
            let query = orbit_query::parse(text).unwrap().query;
            PreparedQuery::new(query, PlanOptions::default()).unwrap()
        });
        let scan = Executor::new(prepared.collect(), &EngineOptions::default()).unwrap().threads(1);
        let stats = Stats::new(Grouping::list("ply:2").unwrap()).with_sides();
        let collector = StatisticsCollector::new(stats);
        let database = BlockStream::from_pgn_bytes("made", text.clone().into_bytes(), with_variations());
        let (part, _) = Run::new(&scan, &Choice::default(), &collector).collect(database).unwrap();
        collector.counts(part, scan.filters()).pop().unwrap()
    };
    let query = "flipcolor {N attacks p}";
    let (alone, beside) = (counts(&[query]), counts(&["cql(variations) check", query]));
    assert!(alone.total().hit.positions > 100, "{}", alone.total().hit.positions);
    assert_eq!(rows(&alone, "ply:2"), rows(&beside, "ply:2"));
    assert_eq!(alone.total().sides, beside.total().sides);
}
