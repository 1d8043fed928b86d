//! Runs generated queries about games on games with and without side lines (variations). `cpu` and `gpu` are compared with
//! `reference` for all queries that have a plan (code for the fast engines).

use std::collections::BTreeMap;
use std::sync::OnceLock;

use orbit_database::StreamOptions;
use orbit_engine::{Engine as _, PreparedQuery, Wants, reference::Bulk};
use orbit_plan::PlanOptions;
use orbit_query::TypedQuery;
use orbit_reel::Block;

#[cfg(feature = "gpu")]
use super::gpu;
use super::{
    Outcome, Rng, catching, compare,
    game_queries::{Construct, GameQueries, constructs},
    term::Term,
};
use crate::{
    common::{
        data,
        length::{Length, PARTS, length},
        pgn_blocks_with,
    },
    game_trees, runners,
};
use evaluators::chains::game::{self, Game};

/// The number of queries in each part of a long run. After these, more queries are generated for constructs that are still rare in
/// the part.
const QUERIES_DUE: usize = 500;
/// The number of queries in the sample, the short form of the test. The sample need not contain every construct.
const SAMPLE_DUE: usize = 180;
/// The maximum number of seeds that are tried in a sample and in each part of a long run.
const SEEDS_MAX: u64 = 2_000;

/// The maximum number of candidates for a query. Candidates are generated until one matches neither almost nowhere nor almost
/// everywhere.
const TRIES: u64 = 5;

/// One in this many queries with a plan also runs on `gpu`. More would take too long, because a software driver is slow.
const GPU_EVERY: usize = 8;

/// In one of this many queries on `gpu`, the processor instead of the device computes the columns (a bit or a value per position)
/// that carry results along games.
#[cfg(feature = "gpu")]
const BY_HOST_EVERY: usize = 4;

/// The minimum number of queries that must use each construct, in each part of a long run.
const OCCURRENCES_DUE: usize = 5;

/// The constructs that plans do not support yet. For every other construct, at least [`PLANNED_PERCENT`] percent of the generated
/// queries must have a plan.
const INTERPRETED: &[&str] = &[
    "atomic",
    "consecutivemoves",
    "dictionaries",
    "keys of dictionaries",
    "numbers of strings",
    "sort",
    "str",
    "strings",
];
const PLANNED_PERCENT: u64 = 75;

/// The constructs whose queries often contain another construct that plans do not support. For each, at least
/// [`PARTLY_PLANNED_PERCENT`] percent of the generated queries must have a plan.
const PARTLY_PLANNED: &[&str] = &["comment", "comparisons of strings", "pathcount", "tags"];
const PARTLY_PLANNED_PERCENT: u64 = 40;

pub(super) fn pool() -> &'static [Game] {
    static GAMES: OnceLock<Vec<Game>> = OnceLock::new();
    GAMES.get_or_init(|| {
        let files = ["main.pgn", "vars.pgn", "fens.pgn"].map(|name| data(&format!("games/{name}")));
        let sample = std::fs::read_to_string("games/sample.pgn").expect("it is in the repository");
        let made = (0..4).map(|seed| game_trees::made(2000 + seed, 30).text).collect::<String>();
        let mut out: Vec<Game> =
            files.iter().chain([&sample, &made]).flat_map(|text| game::read(text)).collect();
        out.retain(|game| game.whole && (8..=80).contains(&game.nodes.len()));
        out
    })
}

/// A query, and the games on which it runs.
struct Case {
    term: Term,
    query: TypedQuery,
    block: Block,
    used: Vec<&'static str>,
    mask: u32,
    balanced: bool,
}

/// Returns games for a case. They have side lines if the query searches side lines.
pub(super) fn games(rng: &mut Rng, variations: bool) -> (Vec<Game>, Block) {
    let fits = |game: &&Game| game.has_side_lines() == variations;
    let pool: Vec<&Game> = pool().iter().filter(fits).collect();
    let games: Vec<Game> = (0..4).map(|_| (*rng.pick(&pool)).clone()).collect();
    let pgn: String = games.iter().map(|game| format!("{}\n", game.pgn)).collect();
    let mut options = StreamOptions::default();
    options.parse.variations = variations;
    let block = pgn_blocks_with(&pgn, options).remove(0);
    (games, block)
}

/// The reason why a generated query cannot be used.
enum Unfit {
    Unread(String),
    Fault(String),
}

/// Generates a case (a query and the games on which it runs) from a seed. Returns an error if the query cannot be used.
fn attempt(seed: u64, about: &Construct, transformed: bool, variations: bool) -> Result<Case, Unfit> {
    let mut rng = Rng::new(seed);
    let (games, block) = games(&mut rng, variations);
    let mask = if rng.percent(60) { 0 } else { rng.below(runners::NONE as usize + 1) as u32 };
    let mut queries = GameQueries::new(&mut rng, &games);
    let term = queries.query(about, transformed, variations);
    let used = queries.used.into_iter().collect();
    let text = term.text();
    let parsed =
        catching(|| orbit_query::parse(&text).map(|parsed| parsed.query).map_err(|error| error.to_string()));
    let query = match parsed {
        Ok(Ok(query)) => query,
        Ok(Err(error)) => return Err(Unfit::Unread(format!("{text}: {error}"))),
        Err(panic) => return Err(Unfit::Fault(format!("{text}\n  {panic}"))),
    };
    let answer = catching(|| {
        let reference = Bulk::new([&query]).map_err(|error| error.to_string())?;
        reference.answer(&block, Wants::HITS).map_err(|error| error.to_string())
    });
    let hits = match answer {
        Ok(Ok(answers)) => answers.hits.count(),
        Ok(Err(error)) => return Err(Unfit::Unread(format!("{text}: {error}"))),
        Err(panic) => return Err(Unfit::Fault(format!("{text}\n  {panic}"))),
    };
    let balanced = (2..=98).contains(&(100 * hits / block.slots() as u64));
    Ok(Case { term, query, block, used, mask, balanced })
}

/// Returns the text of generated queries, `of_each` for each construct.
pub fn query_texts(of_each: u64) -> String {
    let mut out = String::new();
    for (construct, k) in constructs().iter().flat_map(|&construct| (0..of_each).map(move |k| (construct, k)))
    {
        let mut rng = Rng::new(k);
        let (games, _) = games(&mut rng, k.is_multiple_of(2));
        out += &GameQueries::new(&mut rng, &games).query(construct, k.is_multiple_of(3), false).text();
        out.push('\n');
    }
    out
}

/// Counts of the generated queries and of their results.
#[derive(Default)]
struct Seen {
    queries: usize,
    balanced: usize,
    transformed: usize,
    variations: usize,
    compared: usize,
    gpu: usize,
    /// For each construct, the number of queries that use it.
    constructs: BTreeMap<&'static str, usize>,
    planned: usize,
    unread: Vec<String>,
    faults: Vec<String>,
}

impl Seen {
    /// Runs a generated query about a construct. `of` is the total number of constructs.
    fn run(&mut self, k: u64, seed: u64, about: &Construct, of: u64) {
        // The shares of queries with transforms and with side lines must not depend on the number of seeds without a usable
        // query.
        let turn = k / of + k;
        let transformed = turn.is_multiple_of(2) || 2 * self.transformed < self.queries;
        let variations = turn.is_multiple_of(3) || 3 * self.variations < self.queries;
        let mut chosen = None;
        for attempt_seed in (0..TRIES).map(|k| seed * TRIES + k) {
            match attempt(attempt_seed, about, transformed, variations) {
                Ok(case) => {
                    let enough = case.balanced;
                    chosen = Some(case);
                    if enough {
                        break;
                    }
                }
                Err(Unfit::Unread(text)) => self.unread.push(format!("{}: {text}", about.name)),
                Err(Unfit::Fault(text)) => self.faults.push(format!("seed {seed}: {text}")),
            }
        }
        let Some(case) = chosen else { return };
        self.queries += 1;
        self.balanced += usize::from(case.balanced);
        self.transformed += usize::from(transformed);
        self.variations += usize::from(variations);
        let options = runners::without(case.mask);
        let planned = PreparedQuery::new(case.query.clone(), options)
            .is_ok_and(|prepared| prepared.planner.refusal().is_none());
        for name in &case.used {
            *self.constructs.entry(name).or_default() += 1;
        }
        self.planned += usize::from(planned);
        if !planned {
            return;
        }
        match compare(&case.query, &case.block, options) {
            Outcome::Same(prepared, _) => {
                self.compared += 1;
                if self.compared.is_multiple_of(GPU_EVERY) && !prepared.lasts() {
                    self.ask_gpu(seed, &case, &prepared);
                }
            }
            Outcome::Refused => {}
            Outcome::Differ(fault) => {
                let small = case.term.clone().shrink(&mut |text| {
                    orbit_query::parse(text).is_ok_and(|parsed| {
                        matches!(compare(&parsed.query, &case.block, options), Outcome::Differ(_))
                    })
                });
                self.faults.push(format!("seed {seed}, {options:?}\n  {}\n  {fault}", small.text()));
            }
        }
    }
}

#[cfg(feature = "gpu")]
impl Seen {
    fn ask_gpu(&mut self, seed: u64, case: &Case, prepared: &PreparedQuery) {
        let programs = [prepared.planner.hits().program, prepared.planner.values().program];
        if runners::Runner::gpu(0).is_none() || !programs.iter().all(gpu::is_short) {
            return;
        }
        self.gpu += 1;
        // For most queries, the device computes the columns (a bit or a value per position) that carry results along games. For the
        // other queries, the processor computes them.
        let name = if self.gpu.is_multiple_of(BY_HOST_EVERY) { "hostcarry" } else { "default" };
        let variant = name.parse().expect("it is a variant");
        let fault = gpu::fault(&case.query, &case.block, case.mask, true, variant);
        self.faults.extend(
            fault.map(|fault| format!("seed {seed}, gpu ({name})\n  {}\n  {fault}", case.term.text())),
        );
    }
}

#[cfg(not(feature = "gpu"))]
impl Seen {
    fn ask_gpu(&mut self, _: u64, _: &Case, _: &PreparedQuery) {}
}

#[test]
fn engines_agree_on_generated_queries_of_games() {
    length().parts().for_each(|part| compare_part(part as u64));
}

fn compare_part(part: u64) {
    let all = constructs();
    let is_sample = length() == Length::Sample;
    let due = if is_sample { SAMPLE_DUE } else { QUERIES_DUE };
    let mut seen = Seen::default();
    let mut seed = 0;
    while seed < SEEDS_MAX && seen.faults.len() < 10 {
        let rare = |construct: &&&Construct| {
            let count = seen.constructs.get(construct.name);
            !is_sample && count.is_none_or(|&count| count < OCCURRENCES_DUE)
        };
        let about = match seen.queries < due {
            true => Some(&all[(seed % all.len() as u64) as usize]),
            false => all.iter().find(rare),
        };
        let Some(about) = about else { break };
        seen.run(seed, seed * PARTS as u64 + part, about, all.len() as u64);
        seed += 1;
    }
    eprintln!(
        "part {part}: {} queries of {seed} seeds, {} balanced, {} under transforms, {} with side lines, {} texts unread; {} \
         planned, {} compared with cpu, {} with gpu",
        seen.queries,
        seen.balanced,
        seen.transformed,
        seen.variations,
        seen.unread.len(),
        seen.planned,
        seen.compared,
        seen.gpu
    );
    if std::env::var_os("ORBIT_TEST_TABLE").is_some() {
        seen.unread.iter().for_each(|text| eprintln!("unread: {text}"));
        seen.constructs.iter().for_each(|(name, used)| eprintln!("{name}\t{used}"));
    }
    assert!(seen.faults.is_empty(), "{} faults:\n{}", seen.faults.len(), seen.faults.join("\n"));
    assert!(2 * seen.balanced >= seen.queries, "{} of {} are balanced", seen.balanced, seen.queries);
    assert!(100 * seen.unread.len() <= 3 * seen.queries, "unread: {}", seen.unread.join("\n"));
    if is_sample {
        return;
    }
    assert!(2 * seen.transformed >= seen.queries, "{} of {} are transformed", seen.transformed, seen.queries);
    assert!(3 * seen.variations >= seen.queries, "{} of {} see side lines", seen.variations, seen.queries);
    let rare: Vec<_> = all
        .iter()
        .map(|construct| (construct.name, seen.constructs.get(construct.name).copied().unwrap_or(0)))
        .filter(|(_, count)| *count < OCCURRENCES_DUE)
        .collect();
    assert!(rare.is_empty(), "constructs in less than {OCCURRENCES_DUE} queries: {rare:?}");
}

/// The number of queries that are tried for each construct.
const TRIED: u64 = 24;

#[test]
fn plans_say_most_queries_about_a_construct() {
    for construct in constructs().into_iter().filter(|construct| !INTERPRETED.contains(&construct.name)) {
        let (mut read, mut planned) = (0, 0);
        for k in 0..TRIED {
            let mut rng = Rng::new(k);
            let variations = k.is_multiple_of(3);
            let (games, _) = games(&mut rng, variations);
            let term = GameQueries::new(&mut rng, &games).query(construct, k.is_multiple_of(2), variations);
            let Ok(parsed) = orbit_query::parse(&term.text()) else { continue };
            let prepared = PreparedQuery::new(parsed.query, PlanOptions::default());
            read += 1;
            planned += u64::from(prepared.is_ok_and(|prepared| prepared.planner.refusal().is_none()));
        }
        let name = construct.name;
        let percent = if PARTLY_PLANNED.contains(&name) { PARTLY_PLANNED_PERCENT } else { PLANNED_PERCENT };
        assert!(10 * read >= 9 * TRIED, "{name}: {read} of {TRIED} are read");
        assert!(100 * planned >= percent * read, "{name}: {planned} of {read} are planned");
    }
}
