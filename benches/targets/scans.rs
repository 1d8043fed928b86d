//! Measures `orbit scan --count` of reels (packed games), as whole processes.

use crate::floors::{SUM_POSITIONS, Words};
use crate::inputs::Games;
use crate::process;
use crate::table::{Row, Target, figures};
use crate::timing::{in_turn, ns_each, ratio};
use crate::{Bench, Measure};

/// The queries, each with its targets as multiples of the floor (the time to sum 32 bytes per position).
const QUERIES: &[(&str, f64, f64)] = &[
    ("shift {Nd4 kf3}", 4.4, 2.0),
    ("shift flip flipcolor {Nd4 kf3}", 7.5, 3.0),
    ("flip {Kg1 Rf1 P[f2,g2,h2] Nf3 Bg2 pd5}", 6.0, 3.0),
    ("shift flip flipcolor {R[a-c1-2] not P[a-c2-3] k[g-h7-8]}", 31.0, 15.0),
    ("N attacks k", 12.0, 6.0),
    ("#passedpawns >= 3", 12.0, 6.0),
    ("check", 12.0, 6.0),
    ("R->A->k", 12.0, 6.0),
    ("pin from r through N to K", 12.0, 6.0),
];

/// A query of medium cost.
const MIDDLING: &str = "#passedpawns >= 3";

pub fn measures() -> Vec<Measure> {
    let of = |group: &'static str, games: fn(&Bench) -> Option<&Games>| {
        QUERIES.iter().map(move |&(query, reach, beyond)| {
            let target = Target::at_most(reach).beyond(beyond);
            let run = move |bench: &Bench| {
                games(bench).map(|games| over_floor(bench, games, query, target)).into_iter().collect()
            };
            Measure::new(format!("{group}/{query}"), run)
        })
    };
    let all = of("scan", |bench| Some(&bench.inputs.games));
    let distinct = of("distinct", |bench| bench.inputs.distinct.as_ref());
    all.chain(distinct).chain([Measure::new("scan/threads", threads)]).collect()
}

/// Measures one query on one thread, relative to the floor (the time to sum 32 bytes per position).
pub fn over_floor(bench: &Bench, games: &Games, query: &str, target: Target) -> Row {
    let words = Words::new();
    let count = || bench.counts.agree(games.name, query, process::count(query, &games.reel, 1));
    let [time, floor] = in_turn(bench.runs, [&count, &|| words.sum()]);
    let (each, floor) = (ns_each(time, games.positions), ns_each(floor, SUM_POSITIONS));
    Row::new(
        format!("reel of {}: `{query}`, one thread, over the floor", games.name),
        each / floor,
        target,
        format!("{} ns a position; floor {}", figures(each), figures(floor)),
    )
}

fn threads(bench: &Bench) -> Vec<Row> {
    let games = &bench.inputs.games;
    let count = |threads| {
        bench.counts.agree(games.name, MIDDLING, process::count(MIDDLING, &games.reel, threads));
    };
    let [two, one] = in_turn(bench.runs, [&|| count(2), &|| count(1)]);
    let each = |time| figures(ns_each(time, games.positions));
    vec![Row::new(
        format!("reel of {}: `{MIDDLING}`, two threads, as fast as one", games.name),
        ratio(one, two),
        Target::at_least(1.9),
        format!("{} ns a position; {}", each(two), each(one)),
    )]
}
