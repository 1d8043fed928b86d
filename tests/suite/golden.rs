//! What CQL 6.2 answers to 122 queries, 14 with pure mates and 64 of the game language on two sets of real games.
//!
//! `tests/data/golden-*.tsv` hold, for each query, the games, the games and positions hit, and the
//! first 16 hex digits of the SHA-256 of the hit list: `game ply` a line, or `game ply value` for
//! the queries named `v..`.

use std::fmt::Write as _;

use orbit_chess::internals::{
    engine::{Engine, Hits, Outputs, PreparedQuery, Request, Values},
    plan::Options,
    query::{self, Query},
    reel::Block,
};
use sha2::{Digest, Sha256};

use crate::{
    common::{corpus_blocks, data, every_nth_game, harness::GPU},
    runners::Runner,
};

/// Queries with `puremate` and its kin.
const MATE_ROWS: usize = 14;
/// Of the queries of the game language, those that need nothing beyond `find` and position filters.
pub const FIND_ROWS: [&str; 6] = ["g01", "g02", "g03", "v02", "v03", "v29"];

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Golden {
    pub id: String,
    pub query: String,
    pub games: u64,
    pub games_hit: u64,
    pub positions_hit: u64,
    pub digest: String,
}

impl Golden {
    fn wanted(&self) -> Outputs {
        if self.id.starts_with('v') { Outputs::VALUES } else { Outputs::BITS }
    }

    /// Whether the engines for processors and graphics cards run it.
    pub fn is_planned(&self) -> bool {
        let prepared = PreparedQuery::new(self.parsed(), Options::default());
        prepared.unwrap_or_else(|error| panic!("{}: {error}", self.id)).planner.refusal().is_none()
    }

    pub fn parsed(&self) -> Query {
        query::parse(&self.query).unwrap_or_else(|error| panic!("{}: {error}", self.id)).query
    }
}

/// The rows of a table; of a table of the game language those that plans can say.
pub fn rows(name: &str) -> Vec<Golden> {
    let mut rows = all_rows(name);
    if name.starts_with("golden-game-") {
        rows.retain(Golden::is_planned);
    }
    rows
}

/// All rows of a table.
pub fn all_rows(name: &str) -> Vec<Golden> {
    let rows: Vec<Golden> = data(name)
        .lines()
        .skip(1)
        .map(|line| {
            let f: Vec<&str> = line.split('\t').collect();
            Golden {
                id: f[0].into(),
                query: f[1].into(),
                games: f[2].parse().unwrap(),
                games_hit: f[3].parse().unwrap(),
                positions_hit: f[4].parse().unwrap(),
                digest: f[5].into(),
            }
        })
        .collect();
    let due = match name {
        "golden-otb.tsv" | "golden-fen.tsv" => 122,
        "golden-mates-otb.tsv" | "golden-mates-fen.tsv" => MATE_ROWS,
        "golden-sample.tsv" => 122 + MATE_ROWS + FIND_ROWS.len(),
        "golden-game-otb.tsv" => 64,
        // Eight rows rest on castling and en passant rights, which CQL 6.2 does not take from a FEN.
        "golden-game-fen.tsv" => 56,
        "golden-game-variations.tsv" => 59,
        other => panic!("{other} is no table"),
    };
    assert_eq!(rows.len(), due);
    rows
}

pub fn answer(golden: &Golden, engine: &dyn Engine, blocks: &[Block]) -> Golden {
    let mut out =
        Golden { games: 0, games_hit: 0, positions_hit: 0, digest: String::new(), ..golden.clone() };
    let mut hash = Sha256::new();
    let all: Vec<&Block> = blocks.iter().collect();
    let answers = engine.scan(&all, &Request::all(&[golden.wanted()])).unwrap();
    for (block, answers) in blocks.iter().zip(answers) {
        let hits = &answers[0].hits;
        let mut text = String::new();
        for game in block.games() {
            out.games += 1;
            let before = out.positions_hit;
            for slot in hits.slots(game.slots()) {
                out.positions_hit += 1;
                write!(text, "{} {}", game.number(), slot - game.first_slot()).unwrap();
                write_value(&mut text, hits, slot);
                text.push('\n');
            }
            out.games_hit += u64::from(out.positions_hit > before);
        }
        hash.update(&text);
    }
    out.digest = hash.finalize().iter().take(8).fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    });
    out
}

fn write_value(text: &mut String, hits: &Hits, slot: usize) {
    match &hits.values {
        Values::None => {}
        Values::Numbers(numbers) => write!(text, " {}", numbers[slot]).unwrap(),
        Values::Sets(_) | Values::Texts(_) => panic!("no golden query of kind v has a set or a string"),
    }
}

/// Calls `check` on every row, on two threads, and panics with the faults that it returns.
pub fn for_each_row(rows: Vec<Golden>, check: impl Fn(&Golden) -> Vec<String> + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let wrong = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    let faults = check(row).into_iter().map(|fault| format!("{} {fault}", row.id));
                    wrong.lock().unwrap().extend(faults);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

/// Every row of a table, on all games.
fn check_all(table: &str, games: &str, runner: &Runner) {
    let blocks = corpus_blocks(games);
    for_each_row(rows(table), |golden| {
        let ours = answer(golden, &*runner.engine(&golden.parsed()).unwrap(), &blocks);
        if ours == *golden { vec![] } else { vec![format!("is due\n  {golden:?}\nfound\n  {ours:?}")] }
    });
}

#[test]
fn cpu_answers_as_cql_on_tournament_games() {
    check_all("golden-otb.tsv", "otb.pgn", &Runner::cpu(0));
    check_all("golden-game-otb.tsv", "otb.pgn", &Runner::cpu(0));
}

#[test]
fn cpu_answers_as_cql_on_problems() {
    check_all("golden-fen.tsv", "fen.pgn", &Runner::cpu(0));
    check_all("golden-game-fen.tsv", "fen.pgn", &Runner::cpu(0));
}

/// What the tests above answer by machine code, where there is some.
#[test]
fn cpu_answers_as_cql_by_kernels() {
    check_all("golden-otb.tsv", "otb.pgn", &Runner::kernels());
    check_all("golden-fen.tsv", "fen.pgn", &Runner::kernels());
}

#[test]
fn gpu_answers_as_cql_on_tournament_games() {
    check_all("golden-otb.tsv", "otb.pgn", &GPU.met(Runner::gpu(0)));
    check_all("golden-game-otb.tsv", "otb.pgn", &GPU.met(Runner::gpu(0)));
}

#[test]
fn gpu_answers_as_cql_on_problems() {
    check_all("golden-fen.tsv", "fen.pgn", &GPU.met(Runner::gpu(0)));
    check_all("golden-game-fen.tsv", "fen.pgn", &GPU.met(Runner::gpu(0)));
}

/// With everything split that can be split.
#[test]
fn gpu_within_tight_limits_answers_as_cql() {
    check_all("golden-otb.tsv", "otb.pgn", &GPU.met(Runner::tight_gpu()));
    check_all("golden-fen.tsv", "fen.pgn", &GPU.met(Runner::tight_gpu()));
    check_all("golden-game-otb.tsv", "otb.pgn", &GPU.met(Runner::tight_gpu()));
    check_all("golden-game-fen.tsv", "fen.pgn", &GPU.met(Runner::tight_gpu()));
}

#[test]
fn cpu_finds_the_pure_mates_of_cql() {
    check_all("golden-mates-otb.tsv", "otb.pgn", &Runner::cpu(0));
    check_all("golden-mates-fen.tsv", "fen.pgn", &Runner::cpu(0));
}

#[test]
fn gpu_finds_the_pure_mates_of_cql() {
    for runner in Runner::both_gpus() {
        check_all("golden-mates-otb.tsv", "otb.pgn", &runner);
        check_all("golden-mates-fen.tsv", "fen.pgn", &runner);
    }
}

/// Pure mates are rare, so all problems are asked.
#[test]
fn reference_finds_the_pure_mates_of_cql() {
    check_all("golden-mates-fen.tsv", "fen.pgn", &Runner::reference());
}

/// Every row on a few games, `gpu` against `cpu`, with everything split that can be split.
#[test]
fn tight_limits_change_nothing() {
    let tight = GPU.met(Runner::tight_gpu());
    for (table, games, wanted) in [
        ("golden-otb.tsv", "otb.pgn", 500),
        ("golden-fen.tsv", "fen.pgn", 2000),
        ("golden-game-otb.tsv", "otb.pgn", 500),
        ("golden-game-fen.tsv", "fen.pgn", 2000),
        ("golden-mates-otb.tsv", "otb.pgn", 500),
        ("golden-mates-fen.tsv", "fen.pgn", 2000),
    ] {
        let blocks = corpus_blocks(games);
        let step = blocks.iter().map(Block::games_len).sum::<usize>() / wanted;
        let sample = every_nth_game(&blocks, step / 4, step);
        // More than one dispatch of three workgroups.
        assert!(sample.segments() > 3 * 64, "{}", sample.segments());
        for_each_row(rows(table), |golden| differences(golden, &sample, &[Runner::cpu(0), tight.clone()]));
    }
}

/// Every row on a few games, `gpu` with kernels of a variant against `cpu`: each row another variant.
#[test]
fn variants_change_nothing() {
    GPU.met(Runner::gpu(0));
    let variants = Runner::every_variant();
    let next = std::sync::atomic::AtomicUsize::new(0);
    for (table, games, wanted) in [
        ("golden-otb.tsv", "otb.pgn", 200),
        ("golden-fen.tsv", "fen.pgn", 800),
        ("golden-game-otb.tsv", "otb.pgn", 200),
        ("golden-game-fen.tsv", "fen.pgn", 800),
    ] {
        let blocks = corpus_blocks(games);
        let step = blocks.iter().map(Block::games_len).sum::<usize>() / wanted;
        let sample = every_nth_game(&blocks, step / 5, step);
        for_each_row(rows(table), |golden| {
            // A step that has no divisor in common with their number comes to all of them.
            let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let variant = variants[number * 37 % variants.len()];
            let runner = Runner::variant(0, variant).expect("the adapter runs it");
            differences(golden, &sample, &[Runner::cpu(0), runner])
        });
    }
}

/// All that two engines can answer on one block: bits, values and counts of copies.
fn differences(golden: &Golden, block: &Block, runners: &[Runner]) -> Vec<String> {
    let query = golden.parsed();
    let mut engines = runners.iter().map(|runner| (&runner.name, runner.engine(&query).unwrap()));
    let whole = |engine: &dyn Engine| {
        let answers = engine.answer(block, Outputs::VALUES | Outputs::COPY_COUNTS).unwrap();
        (answers.hits, answers.copies.map_or(Vec::new(), |copies| copies.sums().to_vec()))
    };
    let (first, engine) = engines.next().expect("two runners are compared");
    let (hits, counts) = whole(&*engine);
    let mut out = Vec::new();
    for (name, engine) in engines {
        let (other, other_counts) = whole(&*engine);
        let what = if other.bits != hits.bits {
            "bits"
        } else if !same_values(&hits, &other, block) {
            "values"
        } else if other_counts != counts {
            "counts of copies"
        } else {
            continue;
        };
        out.push(format!("`{first}` and `{name}` differ in {what}: {}", golden.query));
    }
    out
}

fn same_values(a: &Hits, b: &Hits, block: &Block) -> bool {
    match (&a.values, &b.values) {
        (Values::Numbers(x), Values::Numbers(y)) => {
            (0..block.slots()).all(|slot| !a.contains(slot) || x[slot] == y[slot])
        }
        (x, y) => x == y,
    }
}

/// Every row on a sample of games, `cpu` against `reference`.
fn check_sample(table: &str, games: &str, games_wanted: usize) {
    let blocks = corpus_blocks(games);
    let step = blocks.iter().map(Block::games_len).sum::<usize>() / games_wanted;
    let sample = every_nth_game(&blocks, step / 2, step);
    assert!(sample.games_len() >= games_wanted);
    for_each_row(rows(table), |golden| differences(golden, &sample, &Runner::engines()));
}

#[test]
fn reference_agrees_on_tournament_games() {
    check_sample("golden-otb.tsv", "otb.pgn", 500);
    check_sample("golden-game-otb.tsv", "otb.pgn", 500);
}

#[test]
fn reference_agrees_on_problems() {
    check_sample("golden-fen.tsv", "fen.pgn", 500);
    check_sample("golden-game-fen.tsv", "fen.pgn", 500);
}

/// Every row on a few games, `cpu` with and without each optimisation.
#[test]
fn optimisations_change_nothing() {
    for (table, games) in [
        ("golden-otb.tsv", "otb.pgn"),
        ("golden-fen.tsv", "fen.pgn"),
        ("golden-game-otb.tsv", "otb.pgn"),
        ("golden-game-fen.tsv", "fen.pgn"),
        ("golden-mates-fen.tsv", "fen.pgn"),
    ] {
        let blocks = corpus_blocks(games);
        let step = blocks.iter().map(Block::games_len).sum::<usize>() / 20;
        let sample = every_nth_game(&blocks, step / 3, step);
        let mut runners = vec![Runner::cpu(0)];
        runners.extend(Runner::reduced());
        for_each_row(rows(table), |golden| differences(golden, &sample, &runners));
    }
}
