//! Tests the parts of the benchmark that need no card: the crossover between processor and card, dates and folders, counts of
//! wrong answers, and messages about the time budget.

use std::time::{Duration, Instant};

use orbit_command::measuring::{BenchGames, DialectArgs, positions, read};
use orbit_core::diagnostic::Severity;
use orbit_engine::Hits;
use serde_json::{Map, json};

use crate::card_program::{
    crossover::{Costs, auto, rows},
    measure::{Check, KnownAnswer},
    place::{Moment, folder},
    recorder::Recorder,
};

#[test]
fn a_card_pays_where_its_start_is_made_up_for() {
    // The card needs 1.5 s to start. The processor evaluates 100 M positions per second and the card 1,000 M, so the crossover x
    // satisfies x / 100 M = 1.5 s + x / 1,000 M.
    let costs = Costs { compile_s: 0.5, cpu: 1e8, card: 1e9 };
    let from = costs.from(1.0).unwrap();
    assert!((166_666_666..=166_666_668).contains(&from), "{from}");
    assert_eq!(Costs { compile_s: 0.5, cpu: 1e9, card: 1e9 }.from(1.0), None);
    assert_eq!(Costs { compile_s: 0.5, cpu: 2e9, card: 1e9 }.from(1.0), None);
    let row = costs.row("a", 1.0, 1);
    let at = &row["sizes"][2];
    assert_eq!((at["positions"].as_u64(), at["cpu_s"].as_f64()), (Some(100_000_000), Some(1.0)));
    assert!((at["card_s"].as_f64().unwrap() - 1.6).abs() < 1e-9);
}

#[test]
fn rows_come_of_what_agrees() {
    let row = |kind: &str, name: &str, agree: bool| json!({ "kind": kind, "name": name, "agree": agree, "open_s": 0.5, "compile_s": 0.1, "positions_s": 1e9 });
    let mut all = vec![row("device", "", true)];
    for name in ["a", "b"] {
        all.push(row("resident", name, true));
        all.push(row("streamed", name, name == "a"));
        let mut cpu = row("cpu", name, true);
        cpu["positions_s"] = json!(1e8);
        all.push(cpu);
    }
    let found = rows(&all);
    assert_eq!(found.iter().map(|row| row["name"].as_str().unwrap()).collect::<Vec<_>>(), ["a"]);
    let from = found[0]["from_positions"].as_u64().unwrap();
    assert_eq!(auto(&found, false)["from_positions_measured"], from);
    assert!(rows(&all[1..]).is_empty(), "without the time to open a card there is nothing to say");
}

#[test]
fn moments_are_written_as_dates() {
    let cases = [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_399, "2000-02-28T23:59:59Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
        (1_795_325_459, "2026-11-22T05:30:59Z"),
    ];
    for (seconds, text) in cases {
        assert_eq!(Moment(seconds).text(), text);
    }
}

#[test]
fn folders_are_named_by_date_and_device() {
    let folder = folder(Moment(1_795_325_459), "NVIDIA H200 (x/../y)").display().to_string();
    assert_eq!(folder, "card-2026-11-22-nvidia-h200-x-y");
}

fn known(games: &BenchGames) -> KnownAnswer {
    let mut read = read(None, "check\tcheck\n", DialectArgs::default(), Severity::Hint).unwrap();
    KnownAnswer::new(read.pop().unwrap(), games).unwrap()
}

/// Every kind of wrong answer is counted.
#[test]
fn wrong_answers_are_counted() {
    let games = BenchGames::open(&[], 300_000, 1).unwrap();
    let known = known(&games);
    let blocks = games.blocks(u64::MAX / 2);
    assert!(blocks.len() > games.blocks.len(), "the games repeat");
    let right: Vec<Hits> = known.truth.iter().cycle().take(blocks.len()).cloned().collect();
    assert!(right.iter().map(Hits::count).sum::<u64>() > 10_000);
    let check = Check { spoil: None };
    let differing = |mut found: Vec<Hits>| check.differing("check", &known.truth, &mut found, &blocks);
    assert_eq!(differing(right.clone()), 0);
    let mut one = right.clone();
    one[blocks.len() - 1].bits[7] ^= 4;
    assert_eq!(differing(one), 1);
    let mut short = right.clone();
    short.pop();
    assert_eq!(differing(short), blocks[blocks.len() - 1].slots() as u64);
    assert_eq!(differing(Vec::new()), positions(&blocks));
    let mut cut = right.clone();
    cut[0].bits.pop();
    assert_eq!(differing(cut), blocks[0].slots() as u64);
    let spoiled = Check { spoil: Some("check".into()) };
    assert_eq!(spoiled.differing("check", &known.truth, &mut right.clone(), &blocks), 1);
    assert_eq!(spoiled.differing("mate", &known.truth, &mut right.clone(), &blocks), 0);
}

#[test]
fn what_the_budget_cut_off_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let budget = Duration::from_secs(600);
    let head = Map::from_iter([("software".into(), json!(true))]);
    let recorder = Recorder::begin(&folder.path().join("run"), head, Instant::now(), budget).unwrap();
    recorder.plan(["first", "second", "third"].map(|name| ("resident".into(), name.into())));
    let mut ended = None;
    recorder.task("resident", "first", 0.0, || {
        // Simulates the watchdog thread, which ends the run during a task.
        ended = recorder.end("cut off by the budget");
        Ok(json!({}))
    });
    let (document, _) = ended.unwrap();
    let skipped = document["skipped"].as_array().unwrap();
    let names: Vec<&str> = skipped.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["first", "second", "third"]);
    assert!(recorder.end("finished").is_none());
}
