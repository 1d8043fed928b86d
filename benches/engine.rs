//! Measures how fast games are converted to blocks (groups of games), and how fast blocks are searched. See `benches/README.md`.

use std::{hint::black_box, ops::ControlFlow, path::Path, time::Duration};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use orbit_database::{BlockStream, StreamOptions};
use orbit_engine::{Engine, PreparedQuery, Wants, cpu::Cpu, reference::Bulk};
use orbit_plan::PlanOptions;
use orbit_reel::{Block, EncodedBlock, replay::SegmentColumns};

/// The number of times that the sample is repeated. A single sample, packed into blocks, would fit in the second-level cache.
const REPEATS: usize = 8;

/// The queries: name, text, and number of hits in `games/sample.pgn`.
const QUERIES: &[(&str, &str, u64)] = &[
    ("anchors", "shift {Nd4 kf3}", 21),
    ("anchors_flip", "shift flip {Nd4 kf3}", 328),
    ("anchors_flip_color", "shift flip flipcolor {Nd4 kf3}", 633),
    ("pawns", "shift {P[a2,b2,c2] p[a3]}", 50_924),
    ("ranges_and_not", "shift flip flipcolor {R[a-c1-2] not P[a-c2-3] k[g-h7-8]}", 17_309),
    ("flip_fianchetto", "flip {Kg1 Rf1 P[f2,g2,h2] Nf3 Bg2 pd5}", 554),
    ("knight_attacks", "N attacks k", 328),
    ("passed_pawns", "#passedpawns >= 3", 4_409),
    ("check", "check", 4_797),
    ("xray", "R->A->k", 293),
    ("pin", "pin from r through N to K", 148),
    ("count", "(shift count {Pa2 Pb3}) >= 3", 3_501),
    ("table", "shift {Na1 attacks qb3}", 157),
    ("material", "power A - power a >= 5", 1_028),
    ("mate", "mate", 25),
];

struct Games {
    text: Vec<u8>,
    blocks: Vec<Block>,
    /// The number of times that the sample is repeated; `None` for other games.
    repeats: Option<u64>,
}

impl Games {
    fn open() -> Games {
        let own = std::env::var_os("ORBIT_BENCH_PGN");
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("games/sample.pgn");
        let repeats = if own.is_some() { 1 } else { REPEATS };
        let path = own.as_ref().map_or(sample.as_path(), Path::new);
        let text = std::fs::read(path).expect("the games can be read").repeat(repeats);
        let blocks = blocks(&text);
        Games { text, blocks, repeats: own.is_none().then_some(repeats as u64) }
    }

    fn positions(&self) -> u64 {
        self.blocks.iter().map(|block| block.slots() as u64).sum()
    }
}

fn blocks(text: &[u8]) -> Vec<Block> {
    let mut out = Vec::new();
    let database = BlockStream::from_pgn_bytes("games", text.to_vec(), StreamOptions::default());
    let take = |taken: orbit_database::StreamedBlock, ()| {
        out.push(std::sync::Arc::unwrap_or_clone(taken.block));
        ControlFlow::Continue(())
    };
    database.for_each_block(1, |_| (), take).expect("PGN gives blocks");
    out
}

fn hits(engine: &dyn Engine, blocks: &[Block]) -> u64 {
    blocks.iter().map(|block| engine.answer(block, Wants::HITS).expect("the engine runs").hits.count()).sum()
}

/// Sums the bit planes of all positions, so that the compiler cannot optimise any of them away.
fn sum(planes: &[[u64; 4]]) -> u64 {
    planes.iter().fold(0u64, |sum, [a, b, c, d]| sum.wrapping_add(a ^ b ^ c ^ d))
}

/// Creates the engine for a query and counts the query's hits.
fn engine_for(text: &str, options: PlanOptions, blocks: &[Block]) -> (Cpu, u64) {
    let query = orbit_query::parse(text).expect("the queries are CQL").query;
    let engine =
        PreparedQuery::new(query, options).expect("they can be planned").cpu().expect("a plan says it");
    let found = hits(&engine, blocks);
    (engine, found)
}

fn reading(c: &mut Criterion) {
    let games = Games::open();
    let mut group = c.benchmark_group("read");
    group.sample_size(10).throughput(Throughput::Bytes(games.text.len() as u64));
    group.bench_function("blocks", |b| {
        b.iter(|| {
            let positions: usize = blocks(&games.text).iter().map(Block::slots).sum();
            assert_eq!(positions as u64, games.positions());
        });
    });
    group.finish();

    let mut group = c.benchmark_group("index");
    group.sample_size(10).throughput(Throughput::Elements(games.positions()));
    let bytes =
        |blocks: &[Block]| blocks.iter().map(|block| EncodedBlock::new(block).bytes().len()).sum::<usize>();
    let expected = bytes(&games.blocks);
    group.bench_function("bytes", |b| b.iter(|| assert_eq!(bytes(&games.blocks), expected)));
    group.finish();
}

fn floors(c: &mut Criterion) {
    let games = Games::open();
    let mut positions = Vec::new();
    let mut columns = SegmentColumns::new();
    for block in &games.blocks {
        for segment in 0..block.segments() {
            columns.replay(block, segment);
            let slots = columns.masks.valid.count_ones() as usize;
            positions.extend((0..slots).map(|i| columns.planes.map(|plane| plane[i])));
        }
    }
    assert_eq!(positions.len() as u64, games.positions());
    let expected = sum(&positions);
    let mut group = c.benchmark_group("floor");
    group.throughput(Throughput::Elements(games.positions()));
    group.bench_function("sum", |b| b.iter(|| assert_eq!(sum(black_box(&positions)), expected)));
    // The query is trivial to evaluate and no segment (32 positions) is skipped, so this measures the replay of moves.
    let options = PlanOptions { screens: false, ..PlanOptions::default() };
    let (engine, found) = engine_for("Ke1", options, &games.blocks);
    let kings_at_home = positions.iter().filter(|&&[p0, p1, p2, p3]| !p0 & p1 & p2 & !p3 & 1 << 4 != 0);
    assert_eq!(kings_at_home.count() as u64, found);
    group.bench_function("replay", |b| b.iter(|| assert_eq!(hits(&engine, black_box(&games.blocks)), found)));
    group.finish();
}

fn scanning(c: &mut Criterion) {
    let games = Games::open();
    let mut group = c.benchmark_group("scan");
    group.throughput(Throughput::Elements(games.positions()));
    for &(name, text, expected) in QUERIES {
        let (engine, found) = engine_for(text, PlanOptions::default(), &games.blocks);
        match games.repeats {
            Some(repeats) => assert_eq!(found, expected * repeats, "{text}"),
            None => {
                let query = orbit_query::parse(text).expect("it was parsed above").query;
                let reference = Bulk::new([&query]).expect("it runs all queries");
                let first = &games.blocks[..1];
                assert_eq!(hits(&engine, first), hits(&reference, first), "{text}");
            }
        }
        group.bench_function(name, |b| b.iter(|| assert_eq!(hits(&engine, black_box(&games.blocks)), found)));
    }
    group.finish();
}

criterion_group! {
    name = all;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    targets = reading, floors, scanning
}
criterion_main!(all);
