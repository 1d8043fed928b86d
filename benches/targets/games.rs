//! Measures queries on games, such as moves, `find`, `line` and `path`, as whole processes.

use std::fmt::Write as _;
use std::fs;

use crate::process;
use crate::scans::over_floor;
use crate::table::{Row, Target, figures};
use crate::timing::{in_turn, ns_each, ratio};
use crate::{Bench, Measure};

/// Queries about moves and about other positions of the game.
const QUERIES: &[&str] = &[
    "find check",
    "P--=[RBN]",
    "--(check)",
    "move from Q capture [qr]",
    "find all [x]",
    "line --> check{2,}",
    "line --> (move from N --> true){2,}",
    "line nestban --> {move capture .}{3,}",
    "path -- check -- -- check",
    "path focus N nestban -- {4,}",
    "path focus K -- {8,}",
    "flip path focus Q --up 1 Q --right 1 Q",
    "shift line --> Nd4 --> move from Nd4 --> true",
];

/// A `line` of five filters. `ATOMS` has the same filters without `line`.
const LINE: &str =
    "line --> {R attacks p} --> {N attacks p} --> {Q attacks p} --> {P attacks p} --> {B attacks p}";
const ATOMS: &str = "{{R attacks p} or {N attacks p} or {Q attacks p} or {P attacks p} or {B attacks p}}";

/// Queries that are run directly on PGN. Their times are relative to the time of reading the PGN.
const ON_PGN: &[&str] = &["--(check)", "line --> check{2,}", "path -- check -- -- check"];

/// A query with nested repetitions, each of which can match any number of positions.
const NESTED: &str = "line --> (true* --> true*){3}";
const NESTED_PLIES: usize = 400;

pub fn measures() -> Vec<Measure> {
    let scans = QUERIES.iter().map(|&query| {
        Measure::new(format!("game/{query}"), move |bench: &Bench| {
            vec![over_floor(bench, &bench.inputs.games, query, Target::NONE)]
        })
    });
    let of_pgn = ON_PGN.iter().map(|&query| {
        Measure::new(format!("game/pgn/{query}"), move |bench: &Bench| vec![over_reading(bench, query)])
    });
    let lines = [Measure::new("game/atoms", over_atoms), Measure::new("game/nested", nested)];
    scans.chain(of_pgn).chain(lines).collect()
}

fn over_reading(bench: &Bench, query: &str) -> Row {
    let (games, pgn) = (&bench.inputs.games, &bench.inputs.pgn);
    let count = |query: &str| bench.counts.agree(games.name, query, process::count(query, pgn, 1));
    let [time, reading] = in_turn(bench.runs, [&|| count(query), &|| count("true")]);
    Row::new(
        format!("`orbit scan` of PGN, `{query}`, one thread, time over that of `true`"),
        ratio(time, reading),
        Target::at_most(1.3),
        format!("{} s; {} s", figures(time.as_secs_f64()), figures(reading.as_secs_f64())),
    )
}

fn over_atoms(bench: &Bench) -> Vec<Row> {
    let games = &bench.inputs.games;
    let count = |query: &str| bench.counts.agree(games.name, query, process::count(query, &games.reel, 1));
    let [line, atoms] = in_turn(bench.runs, [&|| count(LINE), &|| count(ATOMS)]);
    let each = |time| figures(ns_each(time, games.positions));
    vec![Row::new(
        format!("reel of {}: `{LINE}`, one thread, time over that of its filters in one query", games.name),
        ratio(line, atoms),
        Target::at_most(3.0),
        format!("{} ns a position; {}", each(line), each(atoms)),
    )]
}

fn nested(bench: &Bench) -> Vec<Row> {
    let mut text = String::from("[Result \"*\"]\n\n");
    for (number, plies) in (1..=NESTED_PLIES / 2).zip(["Nf3 Nf6", "Ng1 Ng8"].into_iter().cycle()) {
        writeln!(text, "{number}. {plies}").expect("a string takes any text");
    }
    text.push_str("*\n");
    let path = bench.inputs.temporary("nested.pgn");
    fs::write(&path, text).expect("the temporary folder can be written to");
    let count =
        || assert_eq!(process::count(NESTED, &path, 1), NESTED_PLIES as u64 + 1, "every position begins one");
    let [time] = in_turn(bench.runs, [&count]);
    vec![
        Row::new(
            format!("`{NESTED}` on a game of {NESTED_PLIES} plies"),
            time.as_secs_f64() * 1e3,
            Target::at_most(10.0),
            "whole process",
        )
        .unit("ms"),
    ]
}
