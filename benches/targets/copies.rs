//! Compares two ways to evaluate a transform: all copies (transformed patterns) together, and one copy at a time. Also compares
//! the evaluation of numbers with that of conditions.

use std::cell::Cell;

use orbit_engine::{Engine as _, Values, Wants, cpu::Cpu};
use orbit_plan::PlanOptions;
use orbit_reel::Block;

use crate::floors::{hits, positions, prepared};
use crate::process;
use crate::table::{Row, Target, figures};
use crate::timing::{in_turn, ns_each, ratio};
use crate::{Bench, Measure};

const QUERIES: &[&str] = &[
    // The first and the last query compare a number with a constant. A number has a value at every position, so without the
    // comparison the engine would not have to evaluate anything.
    "(#(shift {Nd4 & N})) >= 3",
    "shift flip flipcolor {Na1 attacks qb3}",
    "shift {#(Pa2 | Pb2 | Pc2 | Pd2) == 4}",
];

/// The number of positions. It is small because evaluating the copies (transformed patterns) one at a time is slow.
const COPIES_POSITIONS: u64 = 1_000_000;
const VALUES_POSITIONS: u64 = 4_000_000;

const CONDITION: &str = "flip shift flipcolor {Nd4 kf3}";
const VALUE: &str = "flip shift flipcolor count {Nd4 kf3}";

/// Each row contains a query that counts the copies (transformed patterns) that match at a later position, the same query for the
/// current position, and true if the ratio of their times has a target. Queries with up to 64 copies have a target.
const FINDS: &[(&str, &str, bool)] = &[
    ("(shift count find Qa1) >= 2", "(shift count Qa1) >= 2", true),
    ("(flip count find {Qa1 qh8}) >= 1", "(flip count {Qa1 qh8}) >= 1", true),
    ("(shift count find {Nd4 kf3}) >= 2", "(shift count {Nd4 kf3}) >= 2", true),
    (
        "(shift flip flipcolor count find {Nd4 kf3}) >= 2",
        "(shift flip flipcolor count {Nd4 kf3}) >= 2",
        false,
    ),
    ("(flip find all {Qa1 qh8}) >= 1", "(flip count {Qa1 qh8}) >= 1", false),
];

pub fn measures() -> Vec<Measure> {
    let copies = QUERIES.iter().map(|&query| {
        Measure::new(format!("copies/{query}"), move |bench: &Bench| vec![copy_by_copy(bench, query)])
    });
    let values = [Measure::new("values/scan", at_least), Measure::new("values/memory", values)];
    let finds = FINDS.iter().map(|&(find, here, is_aimed)| {
        Measure::new(format!("find/{find}"), move |bench: &Bench| vec![found(bench, find, here, is_aimed)])
    });
    values.into_iter().chain(copies).chain(finds).collect()
}

fn copy_by_copy(bench: &Bench, query: &str) -> Row {
    let blocks = bench.inputs.blocks(COPIES_POSITIONS);
    let together = prepared(query, PlanOptions::default()).cpu().expect("a plan says it");
    // Each copy (transformed pattern) is evaluated separately, and copies share no results.
    let apart = PlanOptions {
        anchors: false,
        grids: false,
        tables: false,
        pointwise: false,
        sharing: false,
        ..PlanOptions::default()
    };
    let apart = prepared(query, apart).cpu().expect("a plan says it");
    let agree = |engine: &Cpu| bench.counts.agree("the first blocks", query, hits(engine, &blocks));
    let [fast, slow] = in_turn(bench.runs, [&|| agree(&together), &|| agree(&apart)]);
    let each = |time| figures(ns_each(time, positions(&blocks)));
    Row::new(
        format!("`{query}`, blocks in memory, one thread, as fast as copy by copy"),
        ratio(slow, fast),
        Target::at_least(10.0).beyond(40.0),
        format!("{} ns a position; {}", each(fast), each(slow)),
    )
}

/// Measures a query that matches a position if at least two copies of its pattern do. So the engine must count the matching copies
/// at every position. The result is relative to the time of [`CONDITION`], which computes no number.
fn at_least(bench: &Bench) -> Vec<Row> {
    let games = &bench.inputs.games;
    let query = format!("({VALUE}) >= 2");
    let count = |query: &str| bench.counts.agree(games.name, query, process::count(query, &games.reel, 1));
    let [value, condition] = in_turn(bench.runs, [&|| count(&query), &|| count(CONDITION)]);
    let each = |time| figures(ns_each(time, games.positions));
    vec![Row::new(
        format!("reel of {}: `{query}`, one thread, time over that of `{CONDITION}`", games.name),
        ratio(value, condition),
        Target::at_most(2.0),
        format!("{} ns a position; {}", each(value), each(condition)),
    )]
}

/// Measures a search through the later positions of games, relative to the same query for the current position.
fn found(bench: &Bench, find: &str, here: &str, is_aimed: bool) -> Row {
    let games = &bench.inputs.games;
    let count = |query: &str| bench.counts.agree(games.name, query, process::count(query, &games.reel, 1));
    let [ahead, at_once] = in_turn(bench.runs, [&|| count(find), &|| count(here)]);
    let each = |time| figures(ns_each(time, games.positions));
    Row::new(
        format!("reel of {}: `{find}`, one thread, time over that of `{here}`", games.name),
        ratio(ahead, at_once),
        if is_aimed { Target::at_most(3.0) } else { Target::NONE },
        format!("{} ns a position; {}", each(ahead), each(at_once)),
    )
}

/// Measures the time to compute a value at every position, relative to the time to evaluate a condition.
fn values(bench: &Bench) -> Vec<Row> {
    let blocks = bench.inputs.blocks(VALUES_POSITIONS);
    let engines = [VALUE, CONDITION]
        .map(|query| prepared(query, PlanOptions::default()).cpu().expect("a plan says it"));
    let found = Cell::new(0);
    let value = || found.set(blocks.iter().map(|block| values_of(&engines[0], block)).sum());
    let agree = || bench.counts.agree("blocks for values", CONDITION, hits(&engines[1], &blocks));
    let [value, condition] = in_turn(bench.runs, [&value, &agree]);
    bench.counts.agree("blocks for values", CONDITION, found.get());
    let each = |time| figures(ns_each(time, positions(&blocks)));
    vec![Row::new(
        format!("`{VALUE}` with its values, blocks in memory, one thread, time over that of `{CONDITION}`"),
        ratio(value, condition),
        Target::at_most(2.0),
        format!("{} ns a position; {}", each(value), each(condition)),
    )]
}

/// Computes the query's value at every slot (position), and returns how many values are greater than 0.
fn values_of(engine: &Cpu, block: &Block) -> u64 {
    let hits = engine.answer(block, Wants::VALUES).expect("the engine runs").hits;
    let Values::Numbers(numbers) = &hits.values else { panic!("{VALUE} is a number") };
    hits.slots(0..block.slots()).filter(|&slot| numbers[slot] > 0).count() as u64
}
