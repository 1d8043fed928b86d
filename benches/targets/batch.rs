//! Measures fifty queries in one run.

use std::path::{Path, PathBuf};

use orbit_engine::{Engine as _, Hits, PreparedQuery, cpu::Cpu};
use orbit_plan::PlanOptions;

use crate::floors::{hits, positions, prepared};
use crate::reading::QUERY;
use crate::table::{Row, Target, figures};
use crate::timing::{in_turn, ns_each, ratio};
use crate::{Bench, Measure, process};

const QUERIES: &str = include_str!("queries.txt");
/// The number of positions. It is small because each measurement consists of fifty runs.
const POSITIONS: u64 = 4_000_000;

pub fn measures() -> Vec<Measure> {
    vec![Measure::new("batch/pgn", pgn), Measure::new("batch/memory", memory)]
}

/// Returns the texts of the queries, without names and remarks.
fn queries() -> Vec<&'static str> {
    let lines = QUERIES.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once('\t').map_or(line, |(_, query)| query)).collect()
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/targets/queries.txt")
}

/// Measures searches of PGN, as whole processes.
fn pgn(bench: &Bench) -> Vec<Row> {
    let (queries, file) = (queries(), file());
    let agree = |query: &str, hits: u64| bench.counts.agree(bench.inputs.games.name, query, hits);
    let all = || {
        let counts = process::survey(&file, &bench.inputs.pgn, 2);
        assert_eq!(counts.len(), queries.len(), "each query is counted");
        queries.iter().zip(counts).for_each(|(query, count)| agree(query, count));
    };
    let one = || agree(QUERY, process::count(QUERY, &bench.inputs.pgn, 2));
    let [all, one] = in_turn(bench.runs, [&all, &one]);
    for query in &queries {
        agree(query, process::count(query, &bench.inputs.games.reel, 2));
    }
    vec![Row::new(
        format!(
            "`orbit scan --queries` of PGN, {} queries, two threads, time over that of `{QUERY}` alone",
            queries.len()
        ),
        ratio(all, one),
        Target::at_most(2.5),
        format!("{} s; {} s", figures(all.as_secs_f64()), figures(one.as_secs_f64())),
    )]
}

/// Measures searches in memory, without start-up and planning.
fn memory(bench: &Bench) -> Vec<Row> {
    let (queries, blocks) = (queries(), bench.inputs.blocks(POSITIONS));
    let prepared: Vec<PreparedQuery> =
        queries.iter().map(|query| prepared(query, PlanOptions::default())).collect();
    let engine = Cpu::new(orbit_engine::plans(&prepared).expect("a plan says it"));
    let engines: Vec<Cpu> = prepared.iter().map(|prepared| prepared.cpu().expect("a plan says it")).collect();
    let agree = |query: &str, hits: u64| bench.counts.agree("blocks for batches", query, hits);
    let together = || {
        let found = engine.hits(&blocks).expect("the engine runs");
        queries.iter().zip(found).for_each(|(query, hits)| agree(query, hits.iter().map(Hits::count).sum()));
    };
    let apart = || {
        queries.iter().zip(&engines).for_each(|(query, engine)| agree(query, hits(engine, &blocks)));
    };
    let [together, apart] = in_turn(bench.runs, [&together, &apart]);
    let each = |time| figures(ns_each(time, positions(&blocks)));
    vec![Row::new(
        format!(
            "{} queries at once, blocks in memory, one thread, as fast as one after the other",
            queries.len()
        ),
        ratio(apart, together),
        Target::at_least(2.0).beyond(4.0),
        format!("{} ns a position for all; {}", each(together), each(apart)),
    )]
}
