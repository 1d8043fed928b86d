//! Measures searches of blocks (groups of games) in memory that skip segments (32 positions), relative to searches that skip
//! none. Selective queries should become faster, and other queries must not become slower.

use std::time::Duration;

use orbit_engine::cpu::Cpu;
use orbit_plan::PlanOptions;
use orbit_reel::Block;

use crate::floors::{hits, positions, prepared};
use crate::table::{Row, Target, figures};
use crate::timing::{in_turn, ns_each, ratio};
use crate::{Bench, Measure};

/// Selective queries: for pieces on exact squares, for material endings, and for positions that only promotions can produce.
const SELECTIVE: &[&str] = &[
    "Bh7 kg8",
    "flip {Rd8 kg8 Pf7}",
    "flipcolor {A==3 R==1 P==1 a==2 r==1}",
    "#[QqRrBbNn]==0",
    "flipcolor Q>1",
];

const OTHERS: &[&str] = &["check", "shift flip flipcolor {Nd4 kf3}", "N attacks k", "#passedpawns >= 3"];

const POSITIONS: u64 = 4_000_000;

pub fn measures() -> Vec<Measure> {
    let selective = SELECTIVE.iter().map(|&query| (query, Target::at_least(3.0)));
    // A search that tries to skip segments may take at most 1.05 times as long as one that does not.
    let others = OTHERS.iter().map(|&query| (query, Target::at_least(0.952)));
    let measure = |(query, target): (&'static str, Target)| {
        Measure::new(format!("screen/{query}"), move |bench: &Bench| vec![screened(bench, query, target)])
    };
    selective.chain(others).map(measure).collect()
}

/// Measures searches of blocks that were searched twice before, so that their piece counts are known.
fn screened(bench: &Bench, query: &str, target: Target) -> Row {
    let shared = bench.inputs.blocks(POSITIONS);
    let engine = |screens| {
        let options = PlanOptions { screens, ..PlanOptions::default() };
        prepared(query, options).cpu().expect("a plan says it")
    };
    let agree = |engine: &Cpu, blocks: &[&Block]| {
        bench.counts.agree("the first blocks", query, hits(engine, blocks));
    };
    // The first and the second search are measured on clones of the blocks that have not been searched before.
    let mut shortest = [Duration::MAX; 2];
    for _ in 0..bench.runs {
        let copies = held(&shared);
        let copies: Vec<&Block> = copies.iter().collect();
        let engine = engine(true);
        for shortest in &mut shortest {
            let [time] = in_turn(1, [&|| agree(&engine, &copies)]);
            *shortest = time.min(*shortest);
        }
    }
    let blocks = held(&shared);
    let blocks: Vec<&Block> = blocks.iter().collect();
    (0..2).for_each(|_| agree(&engine(true), &blocks));
    let (with, without) = (engine(true), engine(false));
    let [fast, slow] = in_turn(bench.runs, [&|| agree(&with, &blocks), &|| agree(&without, &blocks)]);
    let each = |time| figures(ns_each(time, positions(&blocks)));
    let (passed, all) = with.passed_over();
    let share = 100.0 * passed as f64 / all.max(1) as f64;
    Row::new(
        format!("`{query}`, blocks in memory, one thread, as fast as without passing over segments"),
        ratio(slow, fast),
        target,
        format!(
            "{} ns a position; {}; {share:.1} % of segments passed over; {} in the first search, {} in the second",
            each(fast),
            each(slow),
            each(shortest[0]),
            each(shortest[1])
        ),
    )
}

/// Returns clones of blocks, held in memory, that have not been searched before.
fn held(blocks: &[&Block]) -> Vec<Block> {
    let copies: Vec<Block> = blocks.iter().copied().cloned().collect();
    Block::hold_all(copies.iter());
    copies
}
