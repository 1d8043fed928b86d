//! Measures the floors, which are speed limits for any engine, and compares replay and evaluation with them.

use std::hint::black_box;
use std::time::Duration;

use orbit_engine::{Engine, PreparedQuery, Wants};
use orbit_plan::PlanOptions;
use orbit_reel::Block;

use crate::table::{Row, Target, figures};
use crate::timing::{in_turn, ns_each, ratio};
use crate::{Bench, Measure};

/// The number of sums that are computed in parallel.
const LANES: usize = 32;
/// The number of positions, of 32 bytes each, that are summed: 512 MiB, more than caches can hold.
pub const SUM_POSITIONS: u64 = 16 << 20;
/// The number of positions for the reference engine. It is small because this engine is slow.
const REFERENCE_POSITIONS: u64 = 1_000_000;

pub fn measures() -> Vec<Measure> {
    vec![
        Measure::new("floor/sum", sum_row),
        Measure::new("floor/replay", replay),
        Measure::new("floor/reference", reference),
    ]
}

/// The words to sum. They take as much memory as [`SUM_POSITIONS`] unpacked positions.
pub struct Words(Vec<[u64; LANES]>);

impl Words {
    /// Fills the memory with distinct values, because untouched pages would all map to the same physical page.
    pub fn new() -> Words {
        let lines = SUM_POSITIONS * 4 / LANES as u64;
        Words((0..lines).map(|line| std::array::from_fn(|lane| line << 5 | lane as u64)).collect())
    }

    /// Sums all positions.
    pub fn sum(&self) {
        black_box(sum(black_box(&self.0)));
    }
}

/// Sums the words. With any instruction set, memory bandwidth limits the speed.
fn sum(words: &[[u64; LANES]]) -> u64 {
    let mut lanes = [0u64; LANES];
    for line in words {
        for (lane, word) in lanes.iter_mut().zip(line) {
            *lane = lane.wrapping_add(*word);
        }
    }
    lanes.iter().fold(0, |sum, lane| sum.wrapping_add(*lane))
}

pub fn prepared(text: &str, options: PlanOptions) -> PreparedQuery {
    let query = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).query;
    PreparedQuery::new(query, options).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Counts the positions of some blocks.
pub fn positions(blocks: &[&Block]) -> u64 {
    blocks.iter().map(|block| block.slots() as u64).sum()
}

/// Counts the hits of an engine.
pub fn hits(engine: &dyn Engine, blocks: &[&Block]) -> u64 {
    blocks.iter().map(|block| engine.answer(block, Wants::HITS).expect("the engine runs").hits.count()).sum()
}

fn sum_row(bench: &Bench) -> Vec<Row> {
    let words = Words::new();
    let [time] = in_turn(bench.runs, [&|| words.sum()]);
    let rate = SUM_POSITIONS as f64 * 32.0 / 1e9 / time.as_secs_f64();
    vec![
        Row::new(
            "the floor: 32 bytes a position added up from memory, one thread",
            ns_each(time, SUM_POSITIONS),
            Target::NONE,
            format!("{} GB/s", figures(rate)),
        )
        .unit("ns a position"),
    ]
}

/// Returns a row with the time of some work on blocks (groups of games) in memory, relative to the floor: the time to sum 32
/// bytes per position.
fn beside_the_sum(bench: &Bench, what: &str, blocks: &[&Block], work: &dyn Fn()) -> Row {
    let words = Words::new();
    let [time, floor] = in_turn(bench.runs, [work, &|| words.sum()]);
    let each = ns_each(time, positions(blocks));
    let floor = ns_each(floor, SUM_POSITIONS);
    let remark = format!("{} times the floor of {} ns", figures(each / floor), figures(floor));
    Row::new(what, each, Target::NONE, remark).unit("ns a position")
}

/// Measures the replay of moves, with a query that is trivial to evaluate.
fn replay(bench: &Bench) -> Vec<Row> {
    let blocks = bench.inputs.blocks(u64::MAX);
    // Screens are turned off, so no segment (32 positions) is skipped.
    let options = PlanOptions { screens: false, ..PlanOptions::default() };
    let engine = prepared("Ke1", options).cpu().expect("a plan says it");
    let work = || bench.counts.agree("all blocks", "Ke1", hits(&engine, &blocks));
    vec![beside_the_sum(bench, "replay alone: `Ke1` on blocks in memory, one thread", &blocks, &work)]
}

fn reference(bench: &Bench) -> Vec<Row> {
    let text = "shift {Nd4 kf3}";
    let blocks = bench.inputs.blocks(REFERENCE_POSITIONS);
    let prepared = prepared(text, PlanOptions::default());
    let (cpu, reference) =
        (prepared.cpu().expect("a plan says it"), prepared.reference().expect("it runs this query"));
    let agree = |engine: &dyn Engine| bench.counts.agree("the first blocks", text, hits(engine, &blocks));
    let [slow, fast] = in_turn(bench.runs, [&|| agree(&reference), &|| agree(&cpu)]);
    let each = |time: Duration| ns_each(time, positions(&blocks));
    let remark = format!("{} times the {} ns of `cpu`", figures(ratio(slow, fast)), figures(each(fast)));
    let what = format!("the `reference` engine: `{text}` on blocks in memory, one thread");
    vec![Row::new(what, each(slow), Target::NONE, remark).unit("ns a position")]
}
