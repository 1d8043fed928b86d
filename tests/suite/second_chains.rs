//! Compares `line` and `path` with an evaluator that was written directly from the language description. The evaluator tries
//! every walk through a game's tree, which shakmaty has replayed.

mod generate;

use std::sync::OnceLock;

use orbit_database::StreamOptions;
use orbit_engine::Answer;

use crate::{
    common::{data, length::trials, pgn_blocks_with},
    differential::Rng,
    game_trees,
    runners::Runner,
};
use evaluators::chains::{
    game::{self, Game},
    query::Body,
    read,
    walks::{self, READINGS, TooMany},
};
use generate::Generator;

/// The maximum number of positions in a game. Larger games have too many walks (sequences of positions).
const NODES_MAX: usize = 60;

fn games() -> &'static [Game] {
    static GAMES: OnceLock<Vec<Game>> = OnceLock::new();
    GAMES.get_or_init(|| {
        let files = ["main.pgn", "vars.pgn", "fens.pgn"].map(|name| data(&format!("games/{name}")));
        let sample = std::fs::read_to_string("games/sample.pgn").expect("it is in the repository");
        let made = (0..16).map(|seed| game_trees::made(1000 + seed, 40).text).collect::<String>();
        let mut out: Vec<Game> =
            files.iter().chain([&sample, &made]).flat_map(|text| game::read(text)).collect();
        out.retain(|game| game.whole && game.nodes.len() <= NODES_MAX);
        out
    })
}

/// A query, the games on which it runs, and the expected value at each position for each reading (interpretation) of the rules.
struct Case {
    body: Body,
    games: Vec<Game>,
    values: Vec<Vec<Vec<Option<i32>>>>,
}

/// The maximum number of candidates for a query. Candidates are generated until one matches neither almost nowhere nor almost
/// everywhere.
const TRIES: u64 = 6;

impl Case {
    /// Returns the case that a seed generates; `None` if there are too many walks (sequences of positions) to try.
    fn new(seed: u64) -> Option<Case> {
        let mut rng = Rng::new(seed);
        let variations = rng.percent(60);
        let fits = |game: &&Game| !variations || game.has_side_lines();
        let pool: Vec<&Game> = games().iter().filter(fits).collect();
        let game = |game: &Game| if variations { game.clone() } else { game.main_line() };
        let games: Vec<Game> = (0..5).map(|_| *rng.pick(&pool)).map(game).collect();
        let body = Generator { rng: &mut rng, games: &games, variations }.body();
        let values = READINGS.map(|reading| {
            games.iter().map(|game| walks::values(&body, game, reading)).collect::<Result<Vec<_>, TooMany>>()
        });
        let values: Vec<_> = values.into_iter().collect::<Result<_, _>>().ok()?;
        Some(Case { body, games, values })
    }

    fn is_balanced(&self) -> bool {
        let nodes: Vec<_> = self.values[0].iter().flatten().collect();
        (2..=98).contains(&(100 * nodes.iter().filter(|value| value.is_some()).count() / nodes.len()))
    }
}

/// Counts of the generated queries and of their results.
#[derive(Default, Debug)]
struct Seen {
    queries: usize,
    nodes: usize,
    hits: usize,
    /// The number of queries that match at 2 % to 98 % of the positions.
    balanced: usize,
    /// The number of games on which the readings (interpretations) of the rules give different values.
    open: usize,
    /// For each reading (interpretation) of the rules, the number of games in `open` for which it agrees with the engine.
    as_reading: [usize; READINGS.len()],
    faults: Vec<String>,
}

/// Returns true if an engine's answer equals the evaluator's value.
fn is_same(answer: Answer, value: Option<i32>) -> bool {
    match answer {
        Answer::Num(number) => number == value,
        answer => answer.is_hit() == value.is_some(),
    }
}

fn compare(case: &Case, runner: &Runner, seen: &mut Seen) {
    let text = case.body.to_string();
    let pgn: String = case.games.iter().map(|game| format!("{}\n", game.pgn)).collect();
    let mut options = StreamOptions::default();
    options.parse.variations = case.body.variations;
    let blocks = pgn_blocks_with(&pgn, options);
    let [block] = &blocks[..] else { panic!("{} blocks", blocks.len()) };
    let lengths: Vec<usize> = block.games().map(|game| game.positions()).collect();
    assert_eq!(lengths, case.games.iter().map(|game| game.nodes.len()).collect::<Vec<_>>(), "{pgn}");
    let answers = match orbit_query::parse(&text) {
        Ok(_) => runner.answers(&text, block),
        Err(error) => Err(error.to_string()),
    };
    let answers = match answers {
        Ok(answers) => answers,
        Err(error) => return seen.faults.push(format!("{text}: {error}")),
    };
    for (index, row) in block.games().enumerate() {
        let found = &answers[row.slots()];
        let same = |reading: &Vec<Vec<Option<i32>>>| {
            found.iter().zip(&reading[index]).position(|(&answer, &value)| !is_same(answer, value))
        };
        let faults: Vec<Option<usize>> = case.values.iter().map(same).collect();
        if case.values.iter().any(|reading| reading[index] != case.values[0][index]) {
            seen.open += 1;
            seen.as_reading
                .iter_mut()
                .zip(&faults)
                .for_each(|(sum, fault)| *sum += usize::from(fault.is_none()));
        }
        if let Some(node) = faults[0].filter(|_| faults.iter().all(Option::is_some)) {
            let answers: Vec<_> = case.values.iter().map(|reading| reading[index][node]).collect();
            seen.faults.push(format!(
                "{text}\n  position {node} of\n{}\n  {} {:?}, second reading {answers:?}",
                case.games[index].pgn, runner.name, found[node]
            ));
        }
    }
    let hits = case.values[0].iter().flatten().flatten().count();
    let nodes = answers.len();
    seen.queries += 1;
    seen.nodes += nodes;
    seen.hits += hits;
    seen.balanced += usize::from(case.is_balanced());
}

/// Runs the query of each seed, except queries that the engine rejects.
fn run(runner: &Runner) {
    let mut seen = Seen::default();
    let (mut seeds, mut skipped) = (0, 0);
    for seed in trials(500, 100).map(|seed| seed as u64) {
        if seen.faults.len() >= 10 {
            break;
        }
        seeds += 1;
        let mut tried: Vec<Option<Case>> = Vec::new();
        while tried.len() < TRIES as usize
            && !tried.last().is_some_and(|case| case.as_ref().is_some_and(Case::is_balanced))
        {
            tried.push(Case::new(seed * TRIES + tried.len() as u64));
        }
        skipped += tried.iter().filter(|case| case.is_none()).count();
        let case = tried.into_iter().flatten().next_back();
        if let Some(case) = case.filter(|case| !runner.refuses(&case.body.to_string())) {
            compare(&case, runner, &mut seen);
        }
    }
    eprintln!(
        "{} queries at {} positions, {} hits, {} balanced, {skipped} with too many walks; {} games are open, {:?}",
        seen.queries, seen.nodes, seen.hits, seen.balanced, seen.open, seen.as_reading
    );
    assert!(seen.faults.is_empty(), "{} faults:\n{}", seen.faults.len(), seen.faults.join("\n"));
    assert!(10 * seen.queries >= 8 * seeds, "{} of {seeds} seeds give a query", seen.queries);
    assert!(2 * seen.balanced >= seen.queries, "{} of {} are balanced", seen.balanced, seen.queries);
    assert!(10 * skipped <= seen.queries, "{skipped} have too many walks");
}

#[test(part = 3)]
fn an_evaluator_from_the_text_alone_agrees() {
    run(&Runner::reference());
}

#[test]
fn it_agrees_with_plans() {
    run(&Runner::cpu(0));
}

/// Compares the evaluator with the results of CQL itself, for the queries that the evaluator supports.
#[test]
fn the_evaluator_answers_as_cql_does() {
    let (mut read, mut faults) = (0, Vec::new());
    for line in data("game-vectors.tsv").lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let &[id, text, file, expected] = &columns[..] else { continue };
        let (Some(body), true) = (read::body(text), expected != "ERROR") else { continue };
        let answer = |(number, game): (usize, Game)| {
            let game = if body.variations { game } else { game.main_line() };
            let values = walks::values(&body, &game, READINGS[0])?;
            let of_node = |(node, value): (usize, &Option<i32>)| {
                value.map(|value| match id.starts_with('b') {
                    true => format!("{number}:{node}"),
                    false => format!("{number}:{node}:{value}"),
                })
            };
            Ok(values.iter().enumerate().filter_map(of_node).collect::<Vec<_>>())
        };
        let games = (1..).zip(game::read(&data(&format!("games/{file}"))));
        let Ok(found) = games.map(answer).collect::<Result<Vec<_>, TooMany>>() else { continue };
        let found = found.concat();
        read += 1;
        if found.join(" ") != expected.trim() {
            faults.push(format!("{id}: {text}\n  found    {}\n  expected {expected}", found.join(" ")));
        }
    }
    assert!(faults.is_empty(), "{} of {read} differ:\n{}", faults.len(), faults.join("\n"));
    assert!(read >= 120, "{read}");
}
