//! Runs 122 queries about positions, 14 queries about pure mates and 64 queries about games on two sets of real games, and compares
//! the results with those of CQL 6.2.
//!
//! For each query, `tests/data/golden-*.tsv` contain the set of games, the numbers of games and positions with hits, and the
//! first 16 hexadecimal digits of the SHA-256 hash of the hit list. The list has a line `game ply` for each hit, or `game ply
//! value` for the queries named `v..`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use orbit_engine::{BlockRequest, Engine, Hits, PreparedQuery, Values, Wants};
use orbit_plan::PlanOptions;
use orbit_query::TypedQuery;
use orbit_reel::Block;
use sha2::{Digest, Sha256};

use crate::{
    common::{
        corpus_blocks, data, every_nth_game,
        harness::{self, GPU},
    },
    runners::Runner,
};

/// The number of rows in each table of queries with `puremate` and similar filters.
const MATE_ROWS: usize = 14;
/// The ids of the rows in `golden-game-otb.tsv` whose queries use only `find` and filters about positions.
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
    fn wanted(&self) -> Wants {
        if self.id.starts_with('v') { Wants::VALUES } else { Wants::HITS }
    }

    /// Returns true if the CPU and GPU engines can run the query.
    pub fn is_planned(&self) -> bool {
        let prepared = PreparedQuery::new(self.parsed(), PlanOptions::default());
        prepared.unwrap_or_else(|error| panic!("{}: {error}", self.id)).planner.refusal().is_none()
    }

    pub fn parsed(&self) -> TypedQuery {
        orbit_query::parse(&self.query).unwrap_or_else(|error| panic!("{}: {error}", self.id)).query
    }
}

/// Returns the rows of a table. If it is a table about games, returns only the rows whose queries have a plan (code for the fast
/// engines).
pub fn rows(name: &str) -> Vec<Golden> {
    let mut rows = all_rows(name);
    if name.starts_with("golden-game-") {
        rows.retain(Golden::is_planned);
    }
    rows
}

/// Returns all rows of a table.
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
        // CQL 6.2 was run with 64 queries about games. Eight of them depend on castling and en passant rights, which CQL 6.2 does
        // not read from a FEN.
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
    let answers = engine.scan(&all, &BlockRequest::all(&[golden.wanted()])).unwrap();
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

/// Returns the names of the rows about games that have a plan, as recorded in `planned.txt`.
pub fn planned_rows() -> BTreeSet<String> {
    let text = data("planned.txt");
    let names = text.lines().filter_map(|line| line.strip_prefix("planned\tgolden ")?.split('\t').next());
    names.map(String::from).collect()
}

/// Returns the rows of the golden tables as tests. Each table is given with the set of games on which its queries run.
fn table(tables: &[(&str, &'static str)], check: fn(&Golden, usize, &'static str)) -> Vec<harness::Row> {
    let planned = planned_rows();
    let of_table = |&(table, games): &(&str, &'static str)| {
        let is_run = |row: &Golden| !table.starts_with("golden-game-") || planned.contains(&row.id);
        let set = table.trim_start_matches("golden-").trim_end_matches(".tsv");
        let rows = all_rows(table).into_iter().filter(is_run).enumerate();
        let row = |(number, row): (usize, Golden)| {
            harness::Row::new(format!("{set}::{}", row.id), move || check(&row, number, games))
        };
        rows.map(row).collect::<Vec<_>>()
    };
    tables.iter().flat_map(of_table).collect()
}

/// Checks a row on all games.
pub fn check(row: &Golden, runner: &Runner, blocks: &[Block]) {
    let ours = answer(row, &*runner.engine(&row.parsed()).unwrap(), blocks);
    assert_eq!(ours, *row);
}

const ON_OTB: [(&str, &str); 2] = [("golden-otb.tsv", "otb.pgn"), ("golden-game-otb.tsv", "otb.pgn")];
const ON_FEN: [(&str, &str); 2] = [("golden-fen.tsv", "fen.pgn"), ("golden-game-fen.tsv", "fen.pgn")];
const MATES: [(&str, &str); 2] = [("golden-mates-otb.tsv", "otb.pgn"), ("golden-mates-fen.tsv", "fen.pgn")];

#[table]
fn cpu_answers_as_cql() -> Vec<harness::Row> {
    let tables = [ON_OTB, ON_FEN, MATES].concat();
    table(&tables, |row, _, games| check(row, &Runner::cpu(0), &corpus_blocks(games)))
}

/// Runs some rows of the test `cpu_answers_as_cql` on the CPU engine's kernels (precompiled loops), instead of on machine code that
/// is generated at run time. The other test uses machine code on every processor for which it can be generated.
#[table(in_parts)]
fn cpu_answers_as_cql_by_kernels() -> Vec<harness::Row> {
    table(&[ON_OTB[0], ON_FEN[0]], |row, _, games| check(row, &Runner::kernels(), &corpus_blocks(games)))
}

#[table(in_parts)]
fn gpu_answers_as_cql() -> Vec<harness::Row> {
    let tables = [ON_OTB, ON_FEN, MATES].concat();
    table(&tables, |row, _, games| {
        check(row, &GPU.met(Runner::gpu(0)), &corpus_blocks(games));
    })
}

/// Runs the rows on a device whose limits are so small that all work is split.
#[table(in_parts)]
fn gpu_within_tight_limits_answers_as_cql() -> Vec<harness::Row> {
    let tables = [ON_OTB, ON_FEN, MATES].concat();
    table(&tables, |row, _, games| {
        check(row, &GPU.met(Runner::tight_gpu()), &corpus_blocks(games));
    })
}

/// Pure mates are rare, so all problems are searched instead of a sample.
#[table]
fn reference_finds_the_pure_mates_of_cql() -> Vec<harness::Row> {
    table(&MATES[1..], |row, _, games| check(row, &Runner::reference(), &corpus_blocks(games)))
}

/// Returns about `wanted` evenly spaced games of a file. The number of games before the first one is the spacing divided by
/// `share`.
fn some_games(games: &'static str, wanted: usize, share: usize) -> Arc<Block> {
    type Key = (&'static str, usize, usize);
    static MADE: Mutex<BTreeMap<Key, Arc<Block>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let block = made.entry((games, wanted, share)).or_insert_with(|| {
        let blocks = corpus_blocks(games);
        let step = blocks.iter().map(Block::games_len).sum::<usize>() / wanted;
        let block = every_nth_game(&blocks, step / share, step);
        assert!(block.games_len() >= wanted, "{} games", block.games_len());
        Arc::new(block)
    });
    Arc::clone(block)
}

/// Returns some games of a set: `of_otb` games if it contains tournament games, and `of_fen` games if it contains problems.
/// Problems are short, so tests use more of them.
fn some(games: &'static str, of_otb: usize, of_fen: usize, share: usize) -> Arc<Block> {
    some_games(games, if games == "otb.pgn" { of_otb } else { of_fen }, share)
}

/// With limits so small that all work is split, `gpu` must have the same results as `cpu` on a few games.
#[table(in_parts)]
fn tight_limits_change_nothing() -> Vec<harness::Row> {
    table(&[ON_OTB, ON_FEN, MATES].concat(), |row, _, games| {
        let block = some(games, 500, 2000, 4);
        // The kernel needs more than one dispatch of three workgroups for this many segments. A segment has 32 positions.
        assert!(block.segments() > 3 * 64, "{}", block.segments());
        differ_nowhere(row, &block, &[Runner::cpu(0), GPU.met(Runner::tight_gpu())]);
    })
}

/// Compares `gpu` with `cpu` on a few games. Each row uses a different kernel variant.
#[table(in_parts)]
fn variants_change_nothing() -> Vec<harness::Row> {
    table(&[ON_OTB, ON_FEN].concat(), |row, number, games| {
        GPU.met(Runner::gpu(0));
        let variants = Runner::every_variant();
        // The step (37) and the number of variants are coprime, so all variants are used.
        let variant = variants[(number * 37 + row.id.len() + games.len()) % variants.len()];
        let runner = Runner::variant(0, variant).expect("the adapter runs it");
        differ_nowhere(row, &some(games, 200, 800, 5), &[Runner::cpu(0), runner]);
    })
}

/// Compares `cpu` with `reference` on a sample of games.
#[table(in_parts)]
fn reference_agrees() -> Vec<harness::Row> {
    table(&[ON_OTB, ON_FEN].concat(), |row, _, games| {
        differ_nowhere(row, &some(games, 500, 500, 2), &Runner::engines());
    })
}

/// Compares `cpu` with and without each optimisation on a few games.
#[table(in_parts)]
fn optimisations_change_nothing() -> Vec<harness::Row> {
    table(&[&ON_OTB[..], &ON_FEN, &MATES[1..]].concat(), |row, _, games| {
        let runners: Vec<Runner> = [Runner::cpu(0)].into_iter().chain(Runner::reduced()).collect();
        differ_nowhere(row, &some(games, 20, 20, 3), &runners);
    })
}

fn differ_nowhere(row: &Golden, block: &Block, runners: &[Runner]) {
    let faults = differences(row, block, runners);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Returns the differences between the runners' results on one block (group of games): hits, values and the numbers of matching
/// copies (transformed patterns).
fn differences(golden: &Golden, block: &Block, runners: &[Runner]) -> Vec<String> {
    let query = golden.parsed();
    let mut engines = runners.iter().map(|runner| (&runner.name, runner.engine(&query).unwrap()));
    let whole = |engine: &dyn Engine| {
        let answers = engine.answer(block, Wants::VALUES | Wants::COPY_COUNTS).unwrap();
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
