//! Tests queries about games on the device: played moves, children and parents, and automata along games.
//!
//! The results are compared with those of `cpu` and `reference`. The device counts the stages (parts of plans that run first)
//! whose results it propagates along games, which shows if it or the processor did the work.

use std::sync::Arc;

use orbit_database::StreamOptions;
use orbit_engine::{
    Engine,
    gpu::{Gpu, GpuDevice, GpuLimits, Variant},
};
use orbit_reel::Block;

use crate::{
    common::{block_of_games, data, pgn_blocks_with},
    gpu::{check, check_named, long_game, prepared, short_games},
    runners::{Runner, TIGHT, device_options, open_device},
};

/// Conditions on moves. The squares are given by designators, by computed sets, or as the target of another `--`. The conditions
/// concern captures, promotions, castling and null moves, the move that led to a position, and the move played there.
const EDGES: [&str; 24] = [
    "--(check)",
    "N--",
    "[RBN]--p[a-h4-5]",
    "P--=[RBN]",
    "--=A",
    "[x]",
    "[QR][x][nb](check)",
    "(Q attacks p)--",
    "--(K attacks .)(not check)",
    "flip N[x]p",
    "shift P[a-h2]--(Nf3)",
    "--(--(castle))",
    "N--(from & [a-d1-4])",
    "[Rr]--[d1,f1,d8,f8]",
    "move o-o",
    "move o-o-o",
    "move previous castle",
    "move enpassant",
    "move enpassantsquare [a-h5]",
    "move from Q capture [qr]",
    "move previous from [KR] to .",
    "move promote N",
    "move null",
    "move previous null",
];

/// Queries with numbers and sets that depend on a child position, and with conditions that depend on the parent position or on
/// the position with a given number.
const SHIFTS: [&str; 11] = [
    "countmoves --(check)",
    "--(ply) > 20",
    "--(ply)",
    "move from [Nn]",
    "move to . from K",
    "parent:check",
    "parent:parent:move from P",
    "find --(find <-- check)",
    "(find check):move from [Kk]",
    "(find <-- check):{parent:{N attacks k}}",
    "(position 30):check",
];

/// `line` and `path` queries with one or many constituents, with repetitions, with filters that test a position without consuming
/// it, and with constituents that are tied to moves. Some count only one side's moves, or run backwards through the game.
const WALKS: [&str; 18] = [
    "line --> check",
    "line --> check --> true --> not check",
    "line --> check{2,}",
    "line --> not check{30,}",
    "line --> not check{20,} --> (true --> not check{2})* --> (wtm --> true){12} --> check",
    "line --> (move from N --> true){2,}",
    "line --> move from P --> {check or move capture .} --> .",
    "line primary --> N attacks k --> true --> true",
    "line secondary --> true --> true",
    "line singlecolor --> not check{3,} --> check",
    "line <-- check <-- true",
    "line <-- initial",
    "line singlecolor <-- not check{12} <-- true",
    "flip line --> Nd4 --> move from Nd4 --> true",
    "path -- check -- -- check",
    "path P-- (N-- --)* --=A",
    "path focus A [x] --",
    "path singlecolor N-- -- check",
];

fn all_queries() -> impl DoubleEndedIterator<Item = &'static str> {
    EDGES.into_iter().chain(SHIFTS).chain(WALKS).chain(NUMBERS)
}

/// Queries about the value of a `line` or `path`. They have bounds on the number that is the value, take the longest or the first
/// match, ask for the last position, or have `nestban`, which forbids a match to begin inside another match.
const NUMBERS: [&str; 19] = [
    "(line --> check{2,}) > 1",
    "line 2 --> (true --> true)? --> true",
    "line 3 5 --> not check*",
    "line 5 100 --> not check{20}*",
    "line firstmatch --> true{2,3} --> true{2,3} --> check",
    "line lastposition --> not check*",
    "line lastposition singlecolor --> not check+ --> true",
    "line lastposition firstmatch --> true{2,3} --> not check",
    "line 4 <-- not check*",
    "path 3 5 -- +",
    "path firstmatch -- {2,3} -- {2,3} check",
    "path lastposition singlecolor -- +",
    "line nestban --> {move capture .}{2,}",
    "line nestban --> not check{2,5}",
    "line nestban singlecolor --> not check{2,} --> check",
    "wtm line nestban 3 9 --> not check+",
    "line nestban lastposition --> true{3}",
    "path nestban -- -- --",
    "path nestban singlecolor lastposition -- --",
];

/// Queries whose results no shader can propagate along games, so the processor does.
const BY_THE_PROCESSOR: [&str; 5] = [
    "path max ply -- {2}",
    "(path focus N -- {4,}) > 0",
    "path focus N nestban -- {2,}",
    "((find check):ply) > 3",
    "(Q attacks p)--(from & [a-d1-4])",
];

fn games(files: &[&str]) -> Vec<Block> {
    let text: String = files.iter().map(|name| data(&format!("games/{name}"))).collect();
    pgn_blocks_with(&text, StreamOptions::default())
}

/// Returns real games, and games with every kind of move. The games have one slot (position) or many, and begin at the first slot
/// of a segment (32 positions), at its last slot or in between.
fn blocks() -> Vec<Block> {
    let sample = std::fs::read_to_string("games/sample.pgn").expect("it is in the repository");
    let some: String = sample.split_inclusive("\n\n").take(2 * 120).collect();
    let mut blocks = pgn_blocks_with(&some, StreamOptions::default());
    blocks.extend(games(&["main.pgn", "fens.pgn", "comm.pgn", "rep.pgn", "main.pgn"]));
    blocks.push(Block::default());
    let plies = [30, 0, 0, 31, 31, 32, 5, 63, 0, 64, 200, 1, 2, 3];
    blocks.push(block_of_games(plies.map(long_game)));
    let mixed = short_games(300).into_iter().zip((0..300).map(|k| long_game(7 * k % 45)));
    blocks.push(block_of_games(mixed.flat_map(|(a, b)| [a, b])));
    blocks
}

/// Runs a function, and returns the number of stages (parts of plans that run first) whose results the device propagated along
/// games during the call.
fn carried(device: &GpuDevice, work: impl FnOnce()) -> u64 {
    let before = device.stages_carried();
    work();
    device.stages_carried() - before
}

fn variant(name: &str) -> Variant {
    name.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn check_all(queries: &[&str]) {
    let blocks = blocks();
    let blocks: Vec<&Block> = blocks.iter().collect();
    let device = open_device(device_options(GpuLimits::default()));
    let mut hits = 0;
    for text in queries {
        let any = prepared(text).cpu().unwrap().hits(&blocks).unwrap()[0].iter().any(|hits| hits.count() > 0);
        hits += usize::from(any);
        for name in ["default", "hostcarry", "lanes2,transposed,wg128,segments4", "u64,looped"] {
            let variant = variant(name);
            if variant.unfit(&device.report()).is_some() {
                continue;
            }
            let gpu = prepared(text).gpu_with(&device, variant).unwrap();
            let count = carried(&device, || check_named(&format!("{text} ({name})"), text, &gpu, &blocks));
            assert_eq!(count > 0, !variant.host_carry, "{text} ({name}): {count} stages");
        }
    }
    assert!(hits + 2 >= queries.len(), "{hits} of {} queries match somewhere", queries.len());
}

#[test(part = 0)]
fn the_device_tests_the_moves_that_were_played() {
    check_all(&EDGES);
}

#[test(part = 3)]
fn the_device_brings_answers_to_parents_and_children() {
    check_all(&SHIFTS);
}

#[test(part = 1)]
fn the_device_runs_automata_along_games() {
    check_all(&WALKS);
}

#[test(part = 0)]
fn the_device_tells_the_values_of_walks() {
    check_all(&NUMBERS);
}

#[test(part = 2)]
fn hits_are_those_of_the_reference_engine() {
    let sample = std::fs::read_to_string("games/sample.pgn").expect("it is in the repository");
    let some: String = sample.split_inclusive("\n\n").take(2 * 6).collect();
    let mut blocks = games(&["main.pgn", "fens.pgn", "comm.pgn", "rep.pgn"]);
    blocks.extend(pgn_blocks_with(&some, StreamOptions::default()));
    blocks.push(block_of_games([30, 0, 0, 31, 1, 2, 3].map(long_game)));
    for text in all_queries() {
        let query = prepared(text).query;
        let reference = Runner::reference().engine(&query).unwrap();
        let [gpu, tight] = Runner::both_gpus().map(|runner| runner.engine(&query).unwrap());
        for (index, block) in blocks.iter().enumerate() {
            let expected = reference.hits(&[block]).unwrap();
            for engine in [&gpu, &tight] {
                assert_eq!(engine.hits(&[block]).unwrap(), expected, "{text}: block {index}");
            }
        }
    }
}

/// Tests games that stay on the device, including queries for which the processor computes columns (a value per position) from
/// the moves.
#[test(part = 0)]
fn games_that_stay_on_the_device_are_carried_there() {
    let blocks = blocks();
    let blocks: Vec<&Block> = blocks.iter().collect();
    let device = open_device(device_options(GpuLimits::default()));
    let resident = device.upload(&blocks).unwrap();
    for text in all_queries() {
        let expected = prepared(text).cpu().unwrap().hits(&blocks).unwrap();
        for name in ["default", "hostcarry", "default"] {
            let gpu = prepared(text).gpu_with(&device, variant(name)).unwrap();
            let count = carried(&device, || {
                assert_eq!(gpu.scan_resident(&resident).unwrap().0, expected, "{text} ({name})");
            });
            // The device must have propagated results if and only if the kernel has shaders for that. With `hostcarry`, it has
            // none.
            let is_carried = !gpu.kernel().carriers().is_empty();
            assert_eq!(count > 0, is_carried, "{text} ({name}): {count} stages");
            assert!(!is_carried || name == "default", "{text} ({name})");
        }
    }
}

/// Queries that run together share kernels, and a stage (a part of a plan that runs first) that several queries have is computed
/// only once. If the processor propagates the results of one stage of a kernel along games, it does so for all stages of this
/// kernel.
#[test(part = 3)]
fn queries_that_share_a_kernel_answer_as_alone() {
    let blocks = blocks();
    let blocks: Vec<&Block> = blocks.iter().collect();
    let device = open_device(device_options(GpuLimits::default()));
    for texts in [all_queries().collect(), Vec::from_iter(all_queries().chain(BY_THE_PROCESSOR).rev())] {
        let queries: Vec<_> = texts.iter().map(|text| prepared(text)).collect();
        for name in ["default", "hostcarry"] {
            let plans = orbit_engine::plans(&queries).unwrap();
            let gpu = Gpu::with_variant(plans, Arc::clone(&device), variant(name));
            let mut together = Vec::new();
            let count = carried(&device, || together = gpu.hits(&blocks).unwrap());
            assert_eq!(count > 0, name == "default", "{name}: {count} stages");
            for ((text, prepared), hits) in texts.iter().zip(&queries).zip(&together) {
                let alone = prepared.cpu().unwrap().hits(&blocks).unwrap().remove(0);
                assert_eq!(*hits, alone, "{text} ({name})");
            }
        }
    }
}

/// Tests that the device propagates the results of stages (parts of plans that run first) along all games if one dispatch cannot
/// process them all, in one upload and in several.
#[test]
fn games_take_as_many_dispatches_as_they_need() {
    let of = |games: &[_]| block_of_games(games.iter().cloned());
    let mut blocks: Vec<Block> = short_games(900).chunks(450).map(of).collect();
    blocks.extend((0..6).map(|k| block_of_games((0..8).map(|game| long_game((40 * k + 13 * game) % 300)))));
    let most = blocks.iter().map(Block::segments).max().unwrap();
    let blocks: Vec<&Block> = blocks.iter().collect();
    for (workgroups, uploads) in [(1, 1), (2, 3), (5, 1)] {
        // The moves of a segment take 64 bytes, so this limit determines the number of segments per upload.
        let binding_bytes = if uploads > 1 { 64 * (most as u64 + 3) } else { u64::MAX };
        let device =
            open_device(device_options(GpuLimits { workgroups, binding_bytes, ..GpuLimits::default() }));
        for text in ["--(Nf3)", "[Nn]--", "line --> N --> true", "path -- (n-- --)*", "parent:Nf3"] {
            let gpu = prepared(text).gpu(&device).unwrap();
            assert!(carried(&device, || check(text, &gpu, &blocks)) >= uploads, "{text}");
        }
    }
}

/// Tests cases that the card leaves to the processor: side lines, games that are too long for one invocation, and filters without a
/// shader.
#[test]
fn the_processor_makes_what_the_device_cannot() {
    let mut options = StreamOptions::default();
    options.parse.variations = true;
    let trees = pgn_blocks_with(&data("games/vars.pgn"), options);
    assert!(trees.iter().any(Block::has_lines));
    let long = [block_of_games([long_game(5), long_game(20_000)])];
    let short = [block_of_games([long_game(5), long_game(19_999)])];
    let walks =
        ["line nestban --> true{3}", "line --> true --> Nf3", "path N-- n--", "N--(Nd4)", "countmoves N--"];
    let main_lines = blocks();
    for limits in [GpuLimits::default(), TIGHT] {
        let device = open_device(device_options(limits));
        let queries = [
            (&trees[..], &walks[..], false),
            (&long, &walks, false),
            (&short, &walks, true),
            (&main_lines, &BY_THE_PROCESSOR, false),
        ];
        for (blocks, texts, is_carried) in queries {
            let blocks: Vec<&Block> = blocks.iter().collect();
            for text in texts {
                let gpu = prepared(text).gpu(&device).unwrap();
                let count = carried(&device, || check(text, &gpu, &blocks));
                assert!(count > 0 || !is_carried || limits == TIGHT, "{text}: the processor carries it");
                assert!(count == 0 || is_carried, "{text}: the device carries {count} stages");
            }
        }
    }
}
