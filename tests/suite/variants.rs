//! Tests that all kernel variants have the same results as the default variant, and thus as `cpu`.
//!
//! In addition to these tests, the rows of the tables run with two variants (`Runner::other_kernels`), and golden rows and
//! generated queries run with each variant in turn.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use orbit_engine::{
    Engine,
    gpu::{Gpu, GpuDevice, GpuError, GpuLimits, Kernel, Variant},
};
use orbit_reel::Block;

use crate::{
    common::{block_of_games, length::stride},
    gpu::{check_named, long_game, prepared, short_games},
    runners::{Runner, TIGHT, device_options, open_device},
};

/// Queries of several kinds: a condition, numbers, loops over tables whose rows are combined in every way, and many copies
/// (transformed patterns).
const CHEAP: [&str; 5] = [
    "Ra1",
    "ply",
    "flip count {xray (R n k) Pa2}",
    "flip max(1000*#(R & a2) #(xray (N n k)))",
    "shift flip flipcolor {Nd4 Pe4}",
];

/// Queries of further kinds, which take longer than [`CHEAP`]: with whole positions, with columns that have a value for each game,
/// with results at other positions of the game (stored as bits or as numbers), with signed numbers, and with moves of all pieces.
const DEAR: [&str; 7] = [
    "legal --",
    "gamenumber",
    "{check or ray(Q a) or mate}",
    "initial shift count find Nf3",
    "terminal flip find <-- {Nf3 nc6}",
    "(ply - 40) * (3 - #N) / (2 - ply) + (0 - ply) % 7",
    "#([QRBNK] attacks A) + (rank K) * (file k) + (sqrt ply)",
];

/// Returns blocks with many start positions, and with segments (32 positions) that are full, end after one slot or end before
/// their last slot. The numbers of games and segments are not multiples of a workgroup, and one block has no games.
fn blocks() -> Vec<Block> {
    let mut blocks: Vec<Block> = [63, 64, 94, 0, 1400].map(|plies| block_of_games([long_game(plies)])).into();
    blocks.push(Block::default());
    blocks.extend(short_games(700).chunks(350).map(|games| block_of_games(games.to_vec())));
    blocks
}

/// A guard that keeps all threads from starting further variants if its thread panics.
struct EndOnPanic<'a>(&'a AtomicUsize);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(usize::MAX / 2, Ordering::Relaxed);
        }
    }
}

fn for_each(variants: &[Variant], work: impl Fn(Variant) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let _end = EndOnPanic(&next);
                while let Some(&variant) = variants.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(variant);
                }
            });
        }
    });
}

/// Runs the queries with kernels of a variant on a device with the usual limits. If the variant differs from the default in at
/// most one setting, also runs them with limits so small that all work is split.
fn check_all(variant: Variant, texts: &[&str], blocks: &[&Block]) {
    let tight = (variant.changes() <= 1).then(|| Runner::tight_variant(variant)).flatten();
    for runner in Runner::variant(0, variant).into_iter().chain(tight) {
        for text in texts {
            let engine = runner.engine(&prepared(text).query);
            let engine = engine.unwrap_or_else(|error| panic!("{text}, {}: {error}", runner.name));
            check_named(&format!("{text} ({})", runner.name), text, &*engine, blocks);
        }
    }
}

fn device() -> Arc<GpuDevice> {
    open_device(device_options(GpuLimits::default()))
}

#[test]
fn every_pair_of_changes_answers_as_the_default() {
    let mut pairs = Runner::every_variant();
    pairs.retain(|variant| variant.changes() <= 2);
    let device = device();
    // A variant can change the workgroup size (three other values), the number of lanes (one other value), the number of segments
    // (three other values) and three switches. With 64-bit integers, there is a fourth switch.
    let wide = usize::from(device.report().has_wide_integers);
    assert_eq!(pairs.len(), 1 + (10 + wide) + (39 + 10 * wide), "of 3 workgroups, 1 + 3 lanes and segments");
    let blocks = blocks();
    let blocks: Vec<&Block> = blocks.iter().collect();
    let pairs: Vec<Variant> = stride(1, 8).of(pairs.into_iter()).collect();
    for_each(&pairs, |variant| check_all(variant, &CHEAP, &blocks));
}

#[test(part = 1)]
fn what_a_bench_tries_answers_dear_queries_as_the_default() {
    let device = device();
    let all = Variant::all(&device.report());
    assert_eq!(all.first(), Some(&Variant::default()));
    assert!((10..=16).contains(&all.len()), "{} variants", all.len());
    let distinct: std::collections::HashSet<&Variant> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
    let blocks = blocks();
    let blocks: Vec<&Block> = blocks.iter().collect();
    for_each(&all, |variant| check_all(variant, &DEAR, &blocks));
}

#[test(part = 2)]
fn blocks_that_stay_serve_all_variants_of_their_layout() {
    let blocks = blocks();
    let blocks: Vec<&Block> = blocks.iter().collect();
    for limits in [GpuLimits::default(), GpuLimits { binding_bytes: 16 << 10, ..TIGHT }] {
        let device = open_device(device_options(limits));
        let all = Variant::all(&device.report());
        for transposed in [false, true] {
            let layout = all.iter().find(|it| it.transposed == transposed).expect("both are tried");
            let resident = device.upload_as(&blocks, *layout).unwrap();
            for text in CHEAP {
                let expected = prepared(text).cpu().unwrap().hits(&blocks).unwrap().remove(0);
                for &variant in &all {
                    let found = prepared(text).gpu_with(&device, variant).unwrap().scan_resident(&resident);
                    if variant.transposed == transposed {
                        assert_eq!(found.unwrap().0[0], expected, "{text}, {variant}");
                    } else {
                        let error = found.unwrap_err();
                        assert!(matches!(error, GpuError::OtherLayout { .. }), "{error}");
                    }
                }
            }
        }
    }
}

#[test]
fn queries_that_share_a_kernel_answer_as_alone() {
    let device = device();
    let blocks = blocks();
    let blocks: Vec<&Block> = blocks.iter().collect();
    let queries: Vec<_> = (0..4).flat_map(|_| CHEAP.map(prepared)).collect();
    for variant in Variant::all(&device.report()) {
        let gpu = Gpu::with_variant(orbit_engine::plans(&queries).unwrap(), Arc::clone(&device), variant);
        let together = gpu.hits(&blocks).unwrap();
        assert_eq!(together.len(), queries.len());
        for (prepared, hits) in queries.iter().zip(&together) {
            let alone = prepared.cpu().unwrap().hits(&blocks).unwrap().remove(0);
            assert_eq!(*hits, alone, "{variant}: {:?}", prepared.query.body);
        }
    }
}

/// Returns the kernel of the first pass, which computes the hits of a query.
fn kernel(text: &str, variant: &str) -> Kernel {
    let plan = prepared(text).planner.hits();
    let variant = variant.parse().unwrap_or_else(|error| panic!("{error}"));
    Kernel::hits(&plan.program, &[plan.hit], plan.columns.len(), variant)
}

/// Short tables are compiled to literals. Long tables, and all tables in the variant `looped`, are compiled to loops that read a
/// buffer.
#[test]
fn short_tables_are_written_out() {
    let text = "flip {xray (R n k) Pa2}";
    let (short, looped) = (kernel(text, "default"), kernel(text, "looped"));
    assert!(short.tables.is_empty() && !short.evaluate().contains("for ("), "{}", short.evaluate());
    assert!(!looped.tables.is_empty() && looped.evaluate().contains("for ("), "{}", looped.evaluate());
    assert!(looped.turns > 8 && short.turns == 0, "{} and {} turns", looped.turns, short.turns);
    let long = kernel("shift xray (Ra1 n k)", "default");
    assert!(!long.tables.is_empty() && long.evaluate().contains("for ("), "{}", long.evaluate());
}
