//! Measures start-up, disk space and memory.

use std::cell::Cell;

use crate::reading::{QUERY, seconds_text};
use crate::table::{Row, Target, figures};
use crate::timing::in_turn;
use crate::{Bench, Measure, process};

pub fn measures() -> Vec<Measure> {
    vec![
        Measure::new("size/bytes", bytes),
        Measure::new("size/startup", startup),
        Measure::new("size/memory", memory),
    ]
}

fn startup(bench: &Bench) -> Vec<Row> {
    let pgn = bench.inputs.ten_games();
    let scan = || drop(process::run(process::orbit().args(["scan", "--quiet", QUERY]).arg(&pgn)));
    let [time] = in_turn(bench.runs, [&scan]);
    vec![
        Row::new(
            format!("start-up: `orbit scan '{QUERY}'` of ten games, with all defaults"),
            time.as_secs_f64() * 1e3,
            Target::at_most(20.0).beyond(5.0),
            "whole process",
        )
        .unit("ms"),
    ]
}

/// Measures the number of bytes that a reel (packed games) needs per position.
fn bytes(bench: &Bench) -> Vec<Row> {
    let info = process::info(&bench.inputs.games.reel);
    let number = |value: &serde_json::Value| value.as_u64().expect("`orbit info` counts") as f64;
    let (all, positions) = (number(&info["bytes"]), number(&info["positions"]));
    let without = all - number(&info["sections"]["tags"]);
    vec![
        Row::new(
            "bytes of a reel a position, without tags",
            without / positions,
            Target::at_most(4.0).beyond(3.2),
            format!("{} with tags", figures(all / positions)),
        )
        .unit("bytes"),
    ]
}

/// Measures the memory that indexing needs, and checks that it does not grow with the input.
fn memory(bench: &Bench) -> Vec<Row> {
    let text = std::env::var("ORBIT_BENCH_GB").unwrap_or_else(|_| "1".into());
    let gigabytes: f64 = text.parse().expect("ORBIT_BENCH_GB is a number");
    let size = (gigabytes * 1e9) as u64;
    let reel = bench.inputs.temporary("memory.reel");
    let index = |bytes: u64| process::index_peak(&bench.inputs.pgn, bytes, &reel);
    let what =
        format!("peak memory of `orbit index -`, {gigabytes} GB of PGN on standard input, two threads");
    let target = Target::at_most(1024.0);
    let tenth = index(size / 10);
    let all = Cell::new(None);
    let [time] = in_turn(1, [&|| all.set(index(size))]);
    let (Some(all), Some(tenth)) = (all.get(), tenth) else {
        return vec![Row::left_out(what, target, "the system does not tell the peak of a process")];
    };
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    vec![
        Row::new(what, mib(all), target, seconds_text(size, time)).unit("MiB"),
        Row::new(
            "peak memory of `orbit index -` over that for a tenth of the input",
            all as f64 / tenth as f64,
            Target::AT_MOST.beyond(1.1),
            format!("{} MiB; {} MiB", figures(mib(all)), figures(mib(tenth))),
        ),
    ]
}
