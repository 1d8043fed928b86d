//! Tests the stages of `find` (parts of a plan that run first), whose results the device or the processor propagates along games.
//!
//! The results are compared with those of `cpu` and `reference`. The device counts the stages whose results it propagates, which
//! shows if it or the processor did the work.

use std::sync::Arc;

use orbit_database::StreamOptions;
use orbit_engine::{
    Engine,
    gpu::{GpuDevice, GpuLimits, Variant},
};
use orbit_pgn::Game;
use orbit_reel::Block;

use crate::{
    common::{block_of_games, data, pgn_blocks_with},
    gpu::{check, check_named, long_game, prepared, short_games},
    runners::{Runner, TIGHT, device_options, open_device},
};

/// Queries with every kind of stage (a part of a plan that runs first), in both directions along games. Some have several stages,
/// constants, or columns with a value for each game.
const QUERIES: [&str; 13] = [
    "find Nf3",
    "find <-- {Nd4 nc6}",
    "(find count Nf3) > 3",
    "find <-- 2 5 nf6",
    "flip find all {Nf3 nc6}",
    "initial shift count find Nf3",
    "terminal flip find <-- {Nf3 nc6}",
    "{x = find Nd4 y = find {Nd4 nc6} x == y}",
    "{x = find <-- Nd4 y = find <-- {Nd4 nc6} x == y}",
    "find {Nf3 find <-- {ng8 find 2 Nd4}}",
    "find <-- count true > gamenumber",
    "not find <-- {not Nf3 find Nd4}",
    "shift find {Nd4 find <-- nc6}",
];

/// Returns games with one slot (position) or many. They begin at the first slot of a segment (32 positions), at its last slot or
/// in between, and are alone in their block (group of games) or follow other games. Blocks end at or within a segment, and some
/// blocks have no games.
fn blocks() -> Vec<Block> {
    let of = |plies: &[usize]| block_of_games(plies.iter().map(|&plies| long_game(plies)));
    let mut blocks = vec![
        of(&[0]),
        of(&[31]),
        Block::default(),
        of(&[30, 0, 0, 31, 31, 32, 5, 63, 0, 64, 200, 1, 2, 3]),
        of(&[300]),
        of(&[6, 700, 6, 7, 8, 9, 10, 11]),
    ];
    blocks.extend(short_games(400).chunks(200).map(|games| block_of_games(games.to_vec())));
    let mixed = short_games(60).into_iter().zip((0..60).map(|k| long_game(7 * k % 45)));
    blocks.push(block_of_games(mixed.flat_map(|(a, b)| [a, b])));
    blocks.push(Block::default());
    blocks
}

/// Returns blocks with several games each. A small upload has room for only one or two of the blocks.
fn long_blocks() -> Vec<Block> {
    let of = |count: usize, plies| block_of_games((0..count).map(|k| long_game((plies + 13 * k) % 300)));
    (0..12).map(|k| of(6 + k, 20 * k)).collect()
}

fn device(limits: GpuLimits) -> Arc<GpuDevice> {
    open_device(device_options(limits))
}

/// Runs a function, and returns the number of stages (parts of plans that run first) whose results the device propagated along
/// games during the call.
fn carried(device: &GpuDevice, work: impl FnOnce()) -> u64 {
    let before = device.stages_carried();
    work();
    device.stages_carried() - before
}

const HOST: &str = "hostcarry";

fn variant(name: &str) -> Variant {
    name.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// The device must propagate the results of all stages (parts of plans that run first) along games, unless the kernel variant
/// leaves this to the processor.
#[test(part = 1)]
fn the_device_carries_unless_it_is_told_not_to() {
    let blocks = blocks();
    let blocks: Vec<&Block> = blocks.iter().collect();
    let device = device(GpuLimits::default());
    for name in ["default", HOST, "lanes2,transposed,wg128,segments4", "u64,looped", "u64,hostcarry"] {
        let variant = variant(name);
        if variant.unfit(&device.report()).is_some() {
            continue;
        }
        for text in QUERIES {
            let gpu = prepared(text).gpu_with(&device, variant).unwrap();
            let count = carried(&device, || check_named(&format!("{text} ({name})"), text, &gpu, &blocks));
            assert_eq!(count > 0, !variant.host_carry, "{text} ({name}): {count} stages");
        }
    }
}

#[test]
fn hits_are_those_of_the_reference_engine() {
    // The reference engine is slow, because it searches the whole game from each position. So there are only a few short games.
    let few = short_games(40).into_iter().zip((0..12).map(|k| long_game(7 * k % 45)));
    let blocks = [
        block_of_games([30, 0, 0, 31, 31, 32, 5, 63, 0, 64, 1, 2, 3].map(long_game)),
        block_of_games(few.flat_map(|(a, b)| [a, b])),
    ];
    for text in QUERIES {
        let query = prepared(text).query;
        let reference = Runner::reference().engine(&query).unwrap();
        let [gpu, tight] = Runner::both_gpus().map(|runner| runner.engine(&query).unwrap());
        let mut hits = 0;
        for (index, block) in blocks.iter().enumerate() {
            let expected = reference.hits(&[block]).unwrap();
            hits += expected[0][0].count();
            for engine in [&gpu, &tight] {
                assert_eq!(engine.hits(&[block]).unwrap(), expected, "{text}: block {index}");
            }
        }
        assert!(hits > 0, "{text} matches nowhere");
    }
}

/// Tests that results are propagated along games that stay on the device, in one upload and in several.
#[test]
fn games_that_stay_on_the_device_are_carried_there() {
    let tight = GpuLimits { binding_bytes: 16 << 10, ..GpuLimits::default() };
    for (limits, blocks) in [(GpuLimits::default(), blocks()), (tight, long_blocks())] {
        let blocks: Vec<&Block> = blocks.iter().collect();
        let device = device(limits);
        let resident = device.upload(&blocks).unwrap();
        for text in QUERIES {
            let expected = prepared(text).cpu().unwrap().hits(&blocks).unwrap();
            for name in ["default", HOST, "default"] {
                let gpu = prepared(text).gpu_with(&device, variant(name)).unwrap();
                let count = carried(&device, || match gpu.scan_resident(&resident) {
                    Ok((found, _)) => assert_eq!(found, expected, "{text} ({name})"),
                    // A large upload can need a larger buffer of words than a shader can address.
                    Err(error) => assert!(limits != GpuLimits::default(), "{text} ({name}): {error}"),
                });
                let has_stages = gpu.kernel().all().count() > 1;
                let is_due = limits == GpuLimits::default() && has_stages && name != HOST;
                assert!(count > 0 || !is_due, "{text} ({name})");
                assert!(count == 0 || name != HOST, "{text} ({name}): {count} stages");
            }
        }
        // The stages of a condition (the parts of its plan that run first) need little memory. So the device propagates their
        // results along games even under tight limits, in several uploads.
        let gpu = prepared(QUERIES[0]).gpu(&device).unwrap();
        let count = carried(&device, || drop(gpu.scan_resident(&resident).unwrap()));
        assert_eq!(count > 1, limits != GpuLimits::default(), "{count} uploads");
    }
}

/// The device propagates results along games in several uploads that contain whole blocks. If a block is divided between uploads,
/// the processor does this instead.
#[test(part = 2)]
fn blocks_that_are_cut_are_carried_by_the_processor() {
    let blocks = long_blocks();
    let most = blocks.iter().map(Block::segments).max().unwrap();
    assert!(most > 20, "{most} segments");
    let all: Vec<&Block> = blocks.iter().collect();
    // The moves of a segment take 64 bytes, so this limit determines the number of segments per upload.
    for (segments, is_cut) in
        [(most, false), (most + 3, false), (3 * most, false), (most - 1, true), (20, true)]
    {
        let device = device(GpuLimits { binding_bytes: 64 * segments as u64, ..GpuLimits::default() });
        for text in QUERIES.into_iter().filter(|text| !text.contains("flip") && !text.contains("shift")) {
            let gpu = prepared(text).gpu(&device).unwrap();
            let cpu = prepared(text).cpu().unwrap();
            // For queries with numbers, only a quarter as many segments fit in an upload, so these blocks are divided.
            let has_words = !["find Nf3", "find <-- {Nd4 nc6}"].contains(&text);
            let count = carried(&device, || {
                assert_eq!(gpu.hits(&all).unwrap(), cpu.hits(&all).unwrap(), "{text}, {segments} segments");
            });
            if is_cut || !has_words {
                assert_eq!(count == 0, is_cut, "{text}, {segments} segments: {count} stages");
            }
            if !is_cut && !has_words {
                assert!(segments > 2 * most || count > 3, "{segments} segments: {count} uploads");
            }
            check(text, &gpu, &all);
        }
    }
}

/// Tests that the device propagates the results of stages (parts of plans that run first) along all games if one dispatch cannot
/// process them all.
#[test]
fn games_are_carried_in_as_many_dispatches_as_they_need() {
    let blocks: Vec<Block> =
        short_games(900).chunks(450).map(|games| block_of_games(games.to_vec())).collect();
    let blocks: Vec<&Block> = blocks.iter().collect();
    for workgroups in [1, 2, 5] {
        let device = device(GpuLimits { workgroups, ..GpuLimits::default() });
        for text in ["find Nf3", "find <-- count N > 1", "initial shift count find [Nn]f3"] {
            let gpu = prepared(text).gpu(&device).unwrap();
            assert!(carried(&device, || check(text, &gpu, &blocks)) > 0, "{text}");
        }
    }
}

/// Buffers on the device are reused for several queries and several sets of games. A query must not read results that an earlier
/// run left there for other games.
#[test]
fn what_was_carried_along_other_games_is_forgotten() {
    let device = device(GpuLimits::default());
    let of = |plies: [usize; 3]| block_of_games(plies.map(long_game));
    let blocks = [of([40, 3, 90]), of([2, 60, 0]), of([7, 7, 170]), of([0, 0, 1])];
    let engines = QUERIES.map(|text| (text, prepared(text).gpu(&device).unwrap()));
    let resident = device.upload(&[&blocks[2], &blocks[0]]).unwrap();
    for block in blocks.iter().chain(&blocks) {
        for (text, gpu) in &engines {
            check(text, gpu, &[block]);
            let expected = prepared(text).cpu().unwrap().hits(&[&blocks[2], &blocks[0]]).unwrap();
            assert_eq!(gpu.scan_resident(&resident).unwrap().0, expected, "{text}");
        }
    }
}

/// Tests cases that only the processor can handle: side lines, games that are too long for one invocation, and operations without
/// a shader.
#[test]
fn the_processor_carries_what_the_device_cannot() {
    let mut options = StreamOptions::default();
    options.parse.variations = true;
    let trees = pgn_blocks_with(&data("games/vars.pgn"), options);
    assert!(trees.iter().any(Block::has_lines));
    let long = [block_of_games([long_game(5), Game::default(), long_game(20_000)])];
    let short = [block_of_games([long_game(5), Game::default(), long_game(19_999)])];
    let limits = [GpuLimits::default(), TIGHT];
    for (blocks, texts, is_carried) in [
        (&trees[..], &["find check", "find <-- count wtm > 2", "find <-- Nf3"][..], false),
        (&long, &["find Nf3", "find <-- all Nf3 > 20", "initial shift count find Nf3"], false),
        (&short, &["find Nf3", "find <-- all Nf3 > 20", "initial shift count find Nf3"], true),
        (&short, &["{find Nf3 line --> Nf3 --> nc6}"], true),
        (&short, &["{find Nf3 path focus N --}"], false),
    ] {
        for limits in limits {
            let device = device(limits);
            let blocks: Vec<&Block> = blocks.iter().collect();
            for text in texts {
                let gpu = prepared(text).gpu(&device).unwrap();
                let count = carried(&device, || check(text, &gpu, &blocks));
                let is_tight = limits == TIGHT;
                assert!(count > 0 || !is_carried || is_tight, "{text}: the processor carries it");
                assert!(count == 0 || is_carried, "{text}: the device carries {count} stages");
            }
        }
    }
}
